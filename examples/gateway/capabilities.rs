//! What the upstreams can do together, as far as it can be reached through the gateway.

use tower_mcp_apps::json::{Object, Value, write_string};
use tower_mcp_apps::negotiate::ExtensionSet;

/// The features whose methods and notifications the gateway passes on, and the flags that each can have.
///
/// `tasks` is missing: their ids name no upstream. `experimental` is, since nobody knows what belongs to it.
const FEATURES: [(&str, &[&str]); 5] = [
    ("completions", &[]),
    ("logging", &[]),
    ("prompts", &["listChanged"]),
    ("resources", &["listChanged", "subscribe"]),
    ("tools", &["listChanged"]),
];

/// The extension whose ids name no upstream: neither side hears that the other has it.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The members of a client's capabilities that let a server ask it something. Such a request could not be answered:
/// the id of a client's answer names no upstream.
pub(crate) const ASKED_OF_CLIENTS: [&str; 4] = ["sampling", "elicitation", "roots", "tasks"];

/// The capabilities of several upstreams in one: whatever is here, at least one of them can do.
#[derive(Debug, Default)]
pub(crate) struct United {
    /// One for each of [`FEATURES`]: whether it is there, and which flags are set.
    features: [Option<Vec<&'static str>>; FEATURES.len()],
    extensions: ExtensionSet,
}

impl United {
    /// Adds the capabilities of one upstream.
    pub(crate) fn add(&mut self, upstream: &str, capabilities: Option<Value<'_>>) {
        let mut members = Object::default();
        if capabilities.is_none_or(|capabilities| members.read(&mut capabilities.reader()).is_err()) {
            return;
        }
        for ((feature, flags), united) in FEATURES.iter().zip(&mut self.features) {
            let mut settings = Object::default();
            let Some(value) = members.get(feature) else { continue };
            if settings.read(&mut value.reader()).is_err() {
                continue;
            }
            let united = united.get_or_insert_default();
            for flag in *flags {
                let is_set = settings.get(flag).is_some_and(|value| value.bytes() == b"true");
                if is_set && !united.contains(flag) {
                    united.push(flag);
                }
            }
        }
        // What is no map of extensions says nothing.
        if let Some(Ok(extensions)) = members.get("extensions").map(|map| ExtensionSet::read(upstream, map.bytes())) {
            self.extensions = std::mem::take(&mut self.extensions).union(&extensions);
        }
    }

    /// The JSON text.
    pub(crate) fn render(&self, out: &mut Vec<u8>) {
        let mut capabilities = Object::default();
        for ((feature, _), flags) in FEATURES.iter().zip(&self.features) {
            let Some(flags) = flags else { continue };
            let mut settings = Object::default();
            flags.iter().for_each(|flag| settings.set(flag, "true"));
            capabilities.set_with(feature, |out| settings.render(out));
        }
        if !self.extensions.is_empty() {
            capabilities.set("extensions", self.extensions.to_json());
        }
        capabilities.render(out);
    }
}

/// The instructions of the upstreams, one after the other, each under its name.
#[derive(Debug, Default)]
pub(crate) struct Instructions(String);

impl Instructions {
    /// Adds those of one upstream, if it has any.
    pub(crate) fn add(&mut self, prefix: &str, instructions: Option<Value<'_>>) {
        if let Some(text) = instructions.and_then(|text| text.as_str()) {
            if !self.0.is_empty() {
                self.0.push_str("\n\n");
            }
            self.0.push_str(&format!("About what begins with {prefix}:\n{text}"));
        }
    }

    /// The JSON text; `None` where no upstream has any.
    pub(crate) fn to_json(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        write_string(&self.0, &mut out);
        (!self.0.is_empty()).then_some(out)
    }
}
