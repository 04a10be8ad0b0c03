//! What a server hears of its client's capabilities.

use bytes::Bytes;

use crate::json::{Error, Reader};
use crate::message::{Capabilities, edit_capabilities};

/// What the server hears of what its client declares: all of it, none, something else, and so for each extension.
///
/// See [`Negotiate::client_capabilities`](super::Negotiate::client_capabilities).
///
/// ```
/// use tower_mcp_apps::negotiate::{ClientCapabilities, NegotiateLayer};
///
/// # fn main() -> Result<(), tower_mcp_apps::json::Error> {
/// // The server is to offer its pages whoever asks, but hears nothing of tasks.
/// let client = ClientCapabilities::forwarded()
///     .replace("io.modelcontextprotocol/ui", r#"{"mimeTypes":["text/html;profile=mcp-app"]}"#)?
///     .withhold("io.modelcontextprotocol/tasks");
/// let layer = NegotiateLayer::new().client_capabilities(client);
/// # drop(layer);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientCapabilities {
    /// The JSON text of all of them.
    whole: Option<Bytes>,
    /// The JSON text of the settings of each extension that is not as the client says.
    extensions: Vec<(Box<str>, Option<Bytes>)>,
}

impl ClientCapabilities {
    /// Everything as the client declares it.
    pub fn forwarded() -> Self {
        Self::default()
    }

    /// Nothing, whatever the client declares.
    pub fn withheld() -> Self {
        Self { whole: Some(Bytes::from_static(b"{}")), extensions: Vec::new() }
    }

    /// This JSON text of a capabilities object, whatever the client declares.
    ///
    /// # Errors
    ///
    /// The text is not that of an object.
    pub fn replaced(capabilities: impl AsRef<[u8]>) -> Result<Self, Error> {
        let whole = edit_capabilities(capabilities.as_ref().trim_ascii(), |_| ())?;
        Ok(Self { whole: Some(whole.into()), extensions: Vec::new() })
    }

    /// No word of the extension with this identifier.
    #[must_use]
    pub fn withhold(self, identifier: impl Into<Box<str>>) -> Self {
        self.choose(identifier.into(), None)
    }

    /// These settings (JSON text) for the extension with this identifier, whether the client declares it or not.
    ///
    /// # Errors
    ///
    /// The settings are not the JSON text of an object.
    pub fn replace(self, identifier: impl Into<Box<str>>, settings: impl AsRef<[u8]>) -> Result<Self, Error> {
        let settings = settings.as_ref();
        let mut reader = Reader::new(settings);
        let start = reader.checkpoint();
        reader.enter_object()?;
        reader.rewind(start);
        let span = reader.skip()?;
        reader.end()?;
        Ok(self.choose(identifier.into(), Some(Bytes::copy_from_slice(span.of(settings)))))
    }

    fn choose(mut self, identifier: Box<str>, settings: Option<Bytes>) -> Self {
        self.extensions.retain(|(other, _)| *other != identifier);
        self.extensions.push((identifier, settings));
        if let Some(whole) = self.whole.take() {
            let edited = edit_capabilities(&whole, |capabilities| self.edit_extensions(capabilities));
            self.whole = Some(edited.map_or(whole, Bytes::from));
        }
        self
    }

    /// Whether the server hears all as it is.
    pub(super) fn is_forwarded(&self) -> bool {
        self.whole.is_none() && self.extensions.is_empty()
    }

    pub(super) fn edit(&self, capabilities: &mut Capabilities<'_>) {
        match &self.whole {
            Some(whole) => capabilities.replace(whole),
            None if self.extensions.is_empty() => {}
            None => capabilities.edit(|capabilities| self.edit_extensions(capabilities)),
        }
    }

    fn edit_extensions(&self, capabilities: &mut Capabilities<'_>) {
        // What is no map says nothing, and would leave no room for what is to be said.
        if capabilities.has_odd_extensions() {
            capabilities.clear_extensions();
        }
        for (identifier, settings) in &self.extensions {
            match settings {
                Some(settings) => capabilities.set_extension(identifier, settings),
                None => capabilities.remove_extension(identifier),
            }
        }
    }
}
