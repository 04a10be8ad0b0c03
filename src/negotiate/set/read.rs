//! What is read of a server's `extensions`.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::{Extension, ExtensionSet, Said};
use crate::json::{Depth, Error, Reader};

/// The longest map that is read: what is compared and united must be small.
const LONGEST: usize = 64 * 1024;

/// How deep settings may nest.
const DEPTH: usize = 64;

/// Why a text is no map of extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidExtensions {
    /// It is not the JSON text of an object, or nests deeper than 64.
    Json(Error),
    /// It is longer than 64 KiB.
    TooLong,
    /// An extension stands twice: readers differ on which counts.
    Doubled(String),
    /// An identifier is no text: it has a lone surrogate.
    NoText,
}

impl fmt::Display for InvalidExtensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "extensions must be a JSON object: {error}"),
            Self::TooLong => write!(f, "extensions are longer than {LONGEST} bytes, the most that is read"),
            Self::Doubled(identifier) => write!(f, "the extension {identifier} stands twice"),
            Self::NoText => f.write_str("the identifier of an extension has a lone surrogate"),
        }
    }
}

impl std::error::Error for InvalidExtensions {}

impl From<Error> for InvalidExtensions {
    fn from(error: Error) -> Self {
        Self::Json(error)
    }
}

impl ExtensionSet {
    /// What a server with this name says in `capabilities.extensions`, as JSON text.
    ///
    /// # Errors
    ///
    /// [`InvalidExtensions`] where this is no object, too long or too deep, or has an identifier twice.
    pub fn read(server: impl Into<Arc<str>>, extensions: &[u8]) -> Result<Self, InvalidExtensions> {
        let server = server.into();
        if extensions.len() > LONGEST {
            return Err(InvalidExtensions::TooLong);
        }
        let extensions = Bytes::copy_from_slice(extensions);
        let (mut set, mut seen) = (Self::new(), HashSet::new());
        let mut reader = reader(&extensions);
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let identifier = key.decode().map_err(|_| InvalidExtensions::NoText)?;
            let identifier = Arc::<str>::from(identifier);
            if !seen.insert(Arc::clone(&identifier)) {
                return Err(InvalidExtensions::Doubled(identifier.to_string()));
            }
            let span = reader.skip()?;
            let settings = extensions.slice(span.start..span.end);
            set.extensions.push(Extension { identifier, said: vec![Said { server: Arc::clone(&server), settings }] });
        }
        reader.end()?;
        Ok(set)
    }

    /// With one more word of a server: these settings, as JSON text, of an extension.
    ///
    /// # Errors
    ///
    /// [`InvalidExtensions`] where the settings are no JSON, too long or too deep.
    pub fn with(
        mut self,
        server: impl Into<Arc<str>>,
        identifier: impl Into<Arc<str>>,
        settings: impl AsRef<[u8]>,
    ) -> Result<Self, InvalidExtensions> {
        let settings = settings.as_ref();
        if settings.len() > LONGEST {
            return Err(InvalidExtensions::TooLong);
        }
        let mut reader = reader(settings);
        let span = reader.skip()?;
        reader.end()?;
        let settings = Bytes::copy_from_slice(span.of(settings));
        self.add(&identifier.into(), Said { server: server.into(), settings });
        Ok(self)
    }
}

/// A reader of settings, or of a map of them.
pub(super) fn reader(text: &[u8]) -> Reader<'_> {
    Reader::with_depth(text, Depth::try_from(DEPTH).unwrap_or_default())
}
