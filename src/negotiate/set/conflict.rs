//! `Conflict`: settings that servers do not agree on.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// One place in the settings of an extension where servers said things that do not unite. The first one's value is advertised.
///
/// ```
/// use tower_mcp_apps::negotiate::ExtensionSet;
///
/// # fn main() -> Result<(), tower_mcp_apps::negotiate::InvalidExtensions> {
/// let one = ExtensionSet::read("one", br#"{"com.example/x":{"limits":{"pages":10}}}"#)?;
/// let two = ExtensionSet::read("two", br#"{"com.example/x":{"limits":{"pages":20}}}"#)?;
/// let both = one.union(&two);
///
/// assert_eq!(both.to_json(), br#"{"com.example/x":{"limits":{"pages":10}}}"#);
/// let conflicts = both.conflicts();
/// assert_eq!((conflicts[0].extension(), conflicts[0].pointer()), ("com.example/x", "/limits/pages"));
/// assert_eq!(conflicts[0].values().collect::<Vec<_>>(), [("one", &b"10"[..]), ("two", b"20")]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub(super) extension: Arc<str>,
    pub(super) pointer: String,
    pub(super) values: Vec<(Arc<str>, Bytes)>,
}

impl Conflict {
    /// The identifier of the extension.
    pub fn extension(&self) -> &str {
        &self.extension
    }

    /// Where in the settings: a JSON pointer (RFC 6901), empty for the settings as a whole.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What each server said there: its name, and a JSON text. Servers that said nothing there are not among them.
    pub fn values(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.values.iter().map(|(server, value)| (&**server, &**value))
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the settings of {} differ at {:?}:", self.extension, self.pointer)?;
        for (server, value) in self.values() {
            write!(f, " {server} says {};", String::from_utf8_lossy(value))?;
        }
        Ok(())
    }
}
