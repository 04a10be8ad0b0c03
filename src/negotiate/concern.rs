//! What is looked at in a server's capabilities, and what is asked for.

use std::sync::Arc;

use super::advertise::Choice;
use super::require::Required;
use super::require::ambiguity;
use super::{Advertise, ClientCapabilities, ExtensionSet};
use crate::concern::{Asked, Concern, Verdict, sealed::Sealed};
use crate::exchange::Exchange;
use crate::json::{Kind, Object, Reader, write_string};
use crate::message::{Answer, Capabilities, Wants};
use crate::protocol::{APP_MEDIA_TYPE, MediaType, Method, UI_EXTENSION};

const MIME_TYPES: &str = "mimeTypes";

/// The concern: MCP Apps is advertised where the server can serve it, and what is required was declared.
#[derive(Clone, Debug, Default)]
pub struct Negotiate {
    advertises: Advertises,
    choice: Choice,
    client: ClientCapabilities,
    required: Required,
}

/// What is advertised in the server's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Advertises {
    #[default]
    Apps,
    Nothing,
}

impl Negotiate {
    /// Advertises MCP Apps with `text/html;profile=mcp-app`, and requires nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Does not advertise MCP Apps of its own accord.
    #[must_use]
    pub fn without_advertising(mut self) -> Self {
        self.advertises = Advertises::Nothing;
        self
    }

    /// Advertises these extensions, too, united with what the server says of them: for what this stack can do by itself.
    #[must_use]
    pub fn advertise(mut self, extensions: &ExtensionSet) -> Self {
        self.choice.also = self.choice.also.union(extensions);
        self
    }

    /// Advertises the extension with this identifier no more, whoever says it; may be repeated.
    #[must_use]
    pub fn withhold(mut self, identifier: impl Into<Box<str>>) -> Self {
        self.choice.withheld.push(identifier.into());
        self
    }

    /// Chooses for each request what is advertised. See [`Advertise`].
    #[must_use]
    pub fn advertise_by(mut self, advertise: impl Advertise) -> Self {
        self.choice.by = Some(Arc::new(advertise));
        self
    }

    /// Chooses what the server hears of the client's capabilities. See the [module docs](super#capabilities-of-the-client).
    #[must_use]
    pub fn client_capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.client = capabilities;
        self
    }

    /// Requires that the client declared the extension with this identifier; may be repeated. See the
    /// [module docs](super#required-extensions).
    #[must_use]
    pub fn require(mut self, identifier: impl Into<Box<str>>) -> Self {
        self.required.add(identifier.into());
        self
    }
}

impl Sealed for Negotiate {}

impl Concern for Negotiate {
    const GOES_BY_NAMES: bool = false;

    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        match self.required.judge(exchange, asked) {
            // What is not understood in one way could not be edited in one way.
            Verdict::Forward if self.redeclares() => ambiguity(asked).map_or(Verdict::Forward, Verdict::Refuse),
            verdict => verdict,
        }
    }

    fn redeclares(&self) -> bool {
        !self.client.is_forwarded()
    }

    fn redeclare(&self, _: &Exchange, capabilities: &mut Capabilities<'_>) {
        self.client.edit(capabilities);
    }

    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        let says_capabilities = matches!(answer, Answer::To(Method::Initialize | Method::Discover) | Answer::Unknown);
        let edits = self.advertises == Advertises::Apps || !self.choice.is_none();
        let wants = Wants::CAPABILITIES.when(edits)
            | Wants::ENFORCED.when(self.choice.narrows())
            | Wants::PRIVATE.when(self.choice.varies());
        wants.when(says_capabilities)
    }

    fn edits_alike(&self) -> bool {
        true
    }

    fn needs_head(&self) -> bool {
        self.choice.varies()
    }

    fn capabilities(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        if self.advertises == Advertises::Apps {
            advertise_apps(capabilities);
        }
        if !self.choice.is_none() {
            self.choice.apply(exchange, capabilities);
        }
    }
}

/// Adds MCP Apps with its media type where it is missing and can be served.
fn advertise_apps(capabilities: &mut Capabilities<'_>) {
    if !capabilities.has("resources") || capabilities.count_extension(UI_EXTENSION) > 1 {
        return;
    }
    let mut settings = Object::default();
    match capabilities.extension(UI_EXTENSION) {
        None => settings.start_empty(),
        Some(theirs) if theirs.is_object() && settings.read(&mut theirs.reader()).is_ok() => {}
        // The server says something that we do not understand: it is left to say it.
        Some(_) => return,
    }
    let types = match settings.get(MIME_TYPES) {
        None => with_app(b"[]"),
        Some(types) if types.is_array() && settings.count(MIME_TYPES) == 1 => with_app(types.bytes()),
        Some(_) => None,
    };
    if let Some(types) = types {
        settings.set(MIME_TYPES, types);
        let mut text = Vec::new();
        settings.render(&mut text);
        capabilities.set_extension(UI_EXTENSION, text);
    }
}

/// A list of media types with ours behind the others; `None` where it is among them.
fn with_app(types: &[u8]) -> Option<Vec<u8>> {
    let app = MediaType::parse(APP_MEDIA_TYPE)?;
    let mut reader = Reader::new(types);
    reader.enter_array().ok()?;
    let mut end = reader.position();
    let mut is_empty = true;
    while reader.element().ok()? {
        if reader.peek().ok()? == Kind::String {
            let text = reader.string().ok()?.decode().unwrap_or_default();
            if MediaType::parse(&text).is_some_and(|own| own.is_covered_by(app)) {
                return None;
            }
        } else {
            reader.skip().ok()?;
        }
        is_empty = false;
        end = reader.position();
    }
    let (before, after) = types.split_at(end);
    let mut list = before.to_vec();
    if !is_empty {
        list.push(b',');
    }
    write_string(APP_MEDIA_TYPE, &mut list);
    list.extend_from_slice(after);
    Some(list)
}
