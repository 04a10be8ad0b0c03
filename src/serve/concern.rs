//! What is answered for the server, and what is added to its answers.

use std::sync::Arc;

use bytes::Bytes;
use http::StatusCode;

use super::link::Strength;
use super::page::hints;
use super::served::Served;
use super::{App, CacheScope, TextFallback};
use crate::concern::{Asked, Concern, Mirrored, Verdict, sealed::Sealed};
use crate::exchange::{CallInfo, Exchange};
use crate::message::{Answer, Call, CallResult, Capabilities, Entry, EntryKind, Meta, Payload, Reason, Refusal, Wants};
use crate::protocol::{Audience, Era, Method, UI_SCHEME, code, meta};

/// The concern: UIs for a server that has none.
#[derive(Clone, Debug, Default)]
pub struct Serve {
    apps: Vec<Arc<Served>>,
    text_fallback: TextFallback,
}

impl Serve {
    /// Without an app, and with [`TextFallback::Off`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers an app. One that is registered under the same URI goes.
    #[must_use]
    pub fn app(mut self, app: App) -> Self {
        self.apps.retain(|served| !served.is_at(app.resource().uri().as_str()));
        self.apps.push(Arc::new(Served::new(app)));
        self
    }

    /// Chooses whether tool results get a text.
    #[must_use]
    pub fn text_fallback(mut self, fallback: TextFallback) -> Self {
        self.text_fallback = fallback;
        self
    }

    /// Whether the caller is to see the apps.
    fn is_for(&self, exchange: &Exchange) -> bool {
        let context = exchange.context();
        !self.apps.is_empty() && (context.supports_apps() || context.audience() != Audience::Model)
    }

    /// The app that is served under a URI.
    fn find(&self, uri: &str) -> Option<&Arc<Served>> {
        let exact = self.apps.iter().find(|served| served.is_at(uri));
        exact.or_else(|| self.apps.iter().find(|served| served.is_version_at(uri)))
    }

    /// The app that a message asks for, and by which URI. A message that readers may understand differently is not ours
    /// to answer.
    fn asked<'a>(&self, call: &'a Call<'_>) -> Option<(&Arc<Served>, &'a str)> {
        if call.method() != Some(Method::ResourcesRead) || call.id.is_none() || call.fault.is_some() {
            return None;
        }
        let uri = call.uri.as_deref()?;
        Some((self.find(uri)?, uri))
    }

    /// The app that a tool points at. Of equal links that of the app that was registered first counts.
    fn linked(&self, tool: &str) -> Option<(&Arc<Served>, Strength)> {
        let mut best = None;
        for served in &self.apps {
            let Some(strength) = served.app().link_strength(tool) else { continue };
            if best.is_none_or(|(_, before)| strength > before) {
                best = Some((served, strength));
            }
        }
        best
    }

    fn link(&self, tool: &mut Entry<'_>) {
        // Readers of a tool that says two things about itself would differ on the link, too.
        let Some(Ok(name)) = tool.name().map(|name| name.decode()).filter(|_| !tool.is_ambiguous()) else { return };
        let Some((served, strength)) = self.linked(&name) else { return };
        let meta = tool.meta_mut();
        if strength < Strength::Named && has_link(meta) {
            return;
        }
        let uri = serde_json::Value::from(served.page().uri.as_str()).to_string();
        if meta.get(meta::FLAT_RESOURCE_URI).is_some() {
            meta.set(meta::FLAT_RESOURCE_URI, &uri);
        }
        meta.ui_set(meta::RESOURCE_URI, uri);
    }

    /// An entry of the server's own may not have the URI of an app: which of the two is read would depend on who asks.
    fn clash(&self, entry: &mut Entry<'_>) {
        let Some(Ok(uri)) = entry.uri().map(|uri| uri.decode()) else { return };
        let Some(served) = self.find(&uri).filter(|_| !entry.is_added()) else { return };
        let theirs = entry.name().and_then(|name| name.decode().ok()).unwrap_or_default();
        let ours = served.app().resource().name();
        tracing::error!(%uri, resource = %theirs, app = ours, "a resource of the server and an app have the same URI");
        let message = format!("the server's resource {theirs:?} and the app {ours:?} both have the URI {uri}");
        let refusal = Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message);
        entry.refuse(refusal.because(Reason::Clash));
    }

    /// What a list that the server does not have says about itself. It depends on the caller.
    fn list_hints(&self, era: Era) -> String {
        let ttl = self.apps.iter().map(|served| served.app().cache().0).min();
        hints(era, (ttl.unwrap_or_default(), CacheScope::Private))
    }
}

impl Sealed for Serve {}

impl Concern for Serve {
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        let Ok(Some(payload)) = asked.payload else { return Verdict::Forward };
        if !self.is_for(exchange) || asked.parts.method != http::Method::POST {
            return Verdict::Forward;
        }
        match payload {
            Payload::Single(call) => match self.asked(call) {
                Some((served, uri)) => {
                    // Somebody on the way may have gone by the header.
                    if let Some(refusal) = Mirrored::read(&asked.parts.headers).contradicted(call) {
                        return Verdict::Refuse(refusal);
                    }
                    let hints = hints(exchange.context().era(), served.app().cache());
                    Verdict::Answer(served.page().result(uri, &hints))
                }
                None => Verdict::Forward,
            },
            Payload::Batch(calls) => match calls.iter().find_map(|call| self.asked(call)) {
                Some((_, uri)) => {
                    let message = format!("{uri} is read by a message of its own, not in a batch");
                    let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message);
                    Verdict::Refuse(refusal.because(Reason::InBatch))
                }
                None => Verdict::Forward,
            },
        }
    }

    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        let text = Wants::CALL_RESULT.when(self.text_fallback == TextFallback::StructuredContent);
        if self.apps.is_empty() {
            return text.when(answer == Answer::To(Method::ToolsCall));
        }
        let is_for = self.is_for(exchange);
        let tools = Wants::TOOLS.when(is_for);
        // Only where the audience is fixed, and not to a model, what the client declared makes no difference.
        let context = exchange.context();
        let varies = exchange.audience_varies() || context.audience() == Audience::Model;
        let private = Wants::PRIVATE.when(varies && context.era() == Era::Modern);
        let has_links = self.apps.iter().any(|served| served.app().has_links());
        match answer {
            Answer::To(Method::Initialize | Method::Discover) => Wants::CAPABILITIES.when(is_for) | private,
            Answer::To(Method::ToolsList) => (tools | private).when(has_links),
            Answer::To(Method::ResourcesList) => (Wants::RESOURCES | Wants::UNKNOWN_METHOD).when(is_for) | private,
            Answer::To(Method::TemplatesList) => Wants::UNKNOWN_METHOD.when(is_for),
            Answer::To(Method::ToolsCall) => text,
            Answer::To(_) => Wants::NOTHING,
            // Which page of the resources a replayed answer was, nobody can tell.
            Answer::Unknown => (tools | private).when(has_links),
        }
    }

    fn edits_alike(&self) -> bool {
        self.apps.iter().all(|served| served.app().stays_as_it_is())
    }

    fn add(&self, exchange: &Exchange, answer: Answer, list: EntryKind, entries: &mut Vec<Bytes>) {
        let is_list = |call: &&CallInfo| call.method() == Some(Method::ResourcesList);
        let is_first_page = || !exchange.context().calls().iter().filter(is_list).any(CallInfo::has_cursor);
        let is_ours = list == EntryKind::Resource && answer == Answer::To(Method::ResourcesList);
        if is_ours && self.is_for(exchange) && is_first_page() {
            entries.extend(self.apps.iter().map(|served| served.page().entry.clone()));
        }
    }

    fn instead(&self, exchange: &Exchange, answer: Answer) -> Option<Bytes> {
        let list = match answer {
            Answer::To(Method::ResourcesList) => "resources",
            Answer::To(Method::TemplatesList) => "resourceTemplates",
            Answer::To(_) | Answer::Unknown => return None,
        };
        let result = || format!(r#"{{"{list}":[]{}}}"#, self.list_hints(exchange.context().era()));
        self.is_for(exchange).then(|| result().into())
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        if !self.is_for(exchange) || !entry.is_object() {
            return;
        }
        match entry.kind() {
            EntryKind::Tool => self.link(entry),
            EntryKind::Resource => self.clash(entry),
            _ => {}
        }
    }

    fn call_result(&self, _: &CallInfo, result: &mut CallResult<'_>) {
        if self.text_fallback == TextFallback::StructuredContent {
            result.give_text();
        }
    }

    fn capabilities(&self, exchange: &Exchange, capabilities: &mut Capabilities<'_>) {
        if self.is_for(exchange) && !capabilities.has("resources") {
            capabilities.set("resources", "{}");
        }
    }
}

/// Whether a tool points at a UI of its own.
fn has_link(meta: &Meta<'_>) -> bool {
    let links = [meta.ui_get(meta::RESOURCE_URI), meta.get(meta::FLAT_RESOURCE_URI)];
    links.into_iter().flatten().any(|link| link.string().is_some_and(|uri| uri.starts_with(UI_SCHEME)))
}
