//! What is looked at in a tool, and what is asked for.

use super::degrade::{degrade, unlink};
use super::{Degradation, FlatKey, OpenAiKeys, Pages};
use crate::concern::{Concern, sealed::Sealed};
use crate::exchange::Exchange;
use crate::json::{Kind, Object, Value};
use crate::message::{Answer, Entry, EntryKind, Meta, Shape, Wants};
use crate::protocol::{Audience, Method, ToolVisibility, UI_SCHEME, meta};

/// The concern: links of tools in their one right place.
#[derive(Clone, Debug, Default)]
pub struct Normalize {
    flat_key: FlatKey,
    openai_keys: OpenAiKeys,
    degradation: Degradation,
    pages: Pages,
}

impl Normalize {
    /// With [`FlatKey::Add`] and [`OpenAiKeys::Ignore`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Chooses what becomes of the flat key.
    #[must_use]
    pub fn flat_key(mut self, flat_key: FlatKey) -> Self {
        self.flat_key = flat_key;
        self
    }

    /// Chooses whether OpenAI's keys are read.
    #[must_use]
    pub fn openai_keys(mut self, openai_keys: OpenAiKeys) -> Self {
        self.openai_keys = openai_keys;
        self
    }

    /// Chooses what clients get that cannot render UIs.
    #[must_use]
    pub fn degradation(mut self, degradation: Degradation) -> Self {
        self.degradation = degradation;
        self
    }

    /// Says which media types the server's pages have, where a degradation depends on it.
    #[must_use]
    pub fn pages(mut self, pages: Pages) -> Self {
        self.pages = pages;
        self
    }
}

impl Sealed for Normalize {}

impl Concern for Normalize {
    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        let reads_openai = self.openai_keys == OpenAiKeys::Read;
        let strips = self.degradation == Degradation::Strip && exchange.context().audience() != Audience::App;
        let links = self.flat_key != FlatKey::Keep || reads_openai;
        // With degradation, what a client gets depends on what it declared.
        let depends = Wants::PRIVATE.when(self.degradation == Degradation::Strip);
        let tools = Wants::TOOLS.when(links || strips) | depends;
        let lists = (Wants::RESOURCES | Wants::TEMPLATES).when(reads_openai || strips) | depends;
        let contents = Wants::CONTENTS.when(reads_openai);
        let linked = Wants::LINKS.when(strips);
        match answer {
            Answer::To(Method::ToolsList) => tools,
            Answer::To(Method::ResourcesList | Method::TemplatesList) => lists,
            Answer::To(Method::ResourcesRead) => contents,
            Answer::To(Method::ToolsCall | Method::PromptsGet | Method::TasksGet | Method::TasksResult) => linked,
            // A task that is done brings its result.
            Answer::To(Method::SubscriptionsListen) => Wants::UPDATES.when(strips),
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => tools | lists | contents | linked | Wants::UPDATES.when(strips),
        }
    }

    fn edits_alike(&self) -> bool {
        true
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        // An entry that says two things about itself is nobody's to repair: it would then seem to say one.
        if !entry.is_ambiguous() {
            self.repair(entry.kind(), entry.meta_mut());
        }
        if self.degradation == Degradation::Strip {
            degrade(&self.pages, exchange, entry);
        }
    }

    fn link(&self, exchange: &Exchange, link: &mut Entry<'_>) {
        if self.degradation == Degradation::Strip {
            degrade(&self.pages, exchange, link);
        }
    }

    fn meta(&self, exchange: &Exchange, meta: &mut Meta<'_>) {
        if self.degradation == Degradation::Strip {
            unlink(&self.pages, exchange, meta);
        }
    }
}

impl Normalize {
    fn repair(&self, kind: EntryKind, meta: &mut Meta<'_>) {
        if self.openai_keys == OpenAiKeys::Read {
            match kind {
                EntryKind::Tool => read_openai_tool(meta),
                EntryKind::Resource | EntryKind::Template | EntryKind::Contents => read_openai_page(meta),
                EntryKind::Prompt | EntryKind::Link | EntryKind::Embedded => {}
            }
        }
        if kind == EntryKind::Tool {
            self.relink(meta);
        }
    }

    fn relink(&self, meta: &mut Meta<'_>) {
        let has_nested = is_ui(meta.ui_get(meta::RESOURCE_URI));
        let has_flat = is_ui(meta.get(meta::FLAT_RESOURCE_URI));
        match self.flat_key {
            FlatKey::Keep => {}
            FlatKey::Add if has_nested && has_flat => meta.set_from_ui(meta::FLAT_RESOURCE_URI, meta::RESOURCE_URI),
            FlatKey::Add if has_flat => add_nested(meta, meta::FLAT_RESOURCE_URI),
            FlatKey::Add => {}
            // A flat key that is there and odd is not ours to repair.
            FlatKey::Both if has_nested && (has_flat || meta.get(meta::FLAT_RESOURCE_URI).is_none()) => {
                meta.set_from_ui(meta::FLAT_RESOURCE_URI, meta::RESOURCE_URI);
            }
            FlatKey::Both if has_flat => add_nested(meta, meta::FLAT_RESOURCE_URI),
            FlatKey::Both => {}
            FlatKey::Strip => {
                if has_flat && !has_nested {
                    add_nested(meta, meta::FLAT_RESOURCE_URI);
                }
                // Not before the nested key really has the link: `ui` may be no object.
                if has_flat && is_ui(meta.ui_get(meta::RESOURCE_URI)) {
                    meta.remove(meta::FLAT_RESOURCE_URI);
                }
            }
        }
    }
}

/// Adds the nested link that stands in another member, unless the nested key or `ui` is there and odd.
fn add_nested(meta: &mut Meta<'_>, from: &str) {
    if meta.ui_get(meta::RESOURCE_URI).is_none() {
        meta.ui_set_from(meta::RESOURCE_URI, from);
    }
}

/// Whether a value is a string that begins with `ui://`.
fn is_ui(value: Option<Value<'_>>) -> bool {
    value.and_then(|value| value.string()).is_some_and(|text| text.starts_with(UI_SCHEME))
}

/// Adds what OpenAI's keys on a tool say and MCP Apps' keys do not.
fn read_openai_tool(meta: &mut Meta<'_>) {
    let has_template = is_ui(meta.get(meta::OUTPUT_TEMPLATE));
    let visibility = meta.get("openai/visibility").map(|value| value.as_str().is_some_and(|text| text == "private"));
    let accessible = meta.get("openai/widgetAccessible").map(|value| value.kind() == Kind::True);
    let has_own_ui = meta.ui() == Shape::Object;
    if !has_template && visibility.is_none() && accessible.is_none() {
        return;
    }
    if has_template && !is_ui(meta.get(meta::FLAT_RESOURCE_URI)) {
        add_nested(meta, meta::OUTPUT_TEMPLATE);
    }
    if meta.ui_get(meta::VISIBILITY).is_some() {
        return;
    }
    let for_model = visibility != Some(true);
    // OpenAI's default is that a widget may not call the tool, MCP Apps' that an app may: a tool that speaks MCP Apps means the latter.
    let for_app = accessible.unwrap_or(has_own_ui);
    // What both may use needs no word.
    let visibility = ToolVisibility::new(for_model, for_app);
    if visibility != ToolVisibility::Both {
        meta.ui_set(meta::VISIBILITY, visibility.as_json());
    }
}

/// Adds what OpenAI's keys on a resource or its contents say and MCP Apps' keys do not.
fn read_openai_page(meta: &mut Meta<'_>) {
    for (theirs, ours, kinds) in [
        ("openai/widgetDomain", "domain", &[Kind::String][..]),
        ("openai/widgetPrefersBorder", "prefersBorder", &[Kind::True, Kind::False]),
    ] {
        let value = meta.get(theirs).filter(|value| kinds.contains(&value.kind())).map(|value| value.bytes().to_vec());
        if let Some(value) = value.filter(|_| meta.ui_get(ours).is_none()) {
            meta.ui_set(ours, value);
        }
    }
    if let Some(csp) = meta.get("openai/widgetCSP").and_then(openai_csp).filter(|_| meta.ui_get("csp").is_none()) {
        meta.ui_set("csp", csp);
    }
}

/// `openai/widgetCSP` in MCP Apps' words: the lists that both know, as they stand.
fn openai_csp(value: Value<'_>) -> Option<Vec<u8>> {
    const DIRECTIVES: [(&str, &str); 4] = [
        ("connect_domains", "connectDomains"),
        ("resource_domains", "resourceDomains"),
        ("frame_domains", "frameDomains"),
        ("base_uri_domains", "baseUriDomains"),
    ];
    let mut theirs = Object::default();
    theirs.read(&mut value.reader()).ok()?;
    let mut ours = Object::default();
    for (their_name, our_name) in DIRECTIVES {
        if let Some(list) = theirs.get(their_name).filter(Value::is_array) {
            ours.set(our_name, list.bytes());
        }
    }
    let mut text = Vec::new();
    ours.render(&mut text);
    ours.is_edited().then_some(text)
}
