//! The rules once more, on a tree, as plainly as they can be said.

use tower_mcp_apps::normalize::{FlatKey, OpenAiKeys};
use tower_mcp_apps::protocol::Audience;

use crate::kit::tree::Tree;

const UI: &str = "io.modelcontextprotocol/ui";
const APP_HTML: &str = "text/html;profile=mcp-app";
const FLAT: &str = "ui/resourceUri";

/// What the layers were told, and what the request says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) negotiates: bool,
    pub(crate) normalizes: bool,
    pub(crate) filters: bool,
    pub(crate) flat_key: FlatKey,
    pub(crate) openai_keys: OpenAiKeys,
    pub(crate) audience: Audience,
    /// Whether another caller could be of another audience.
    pub(crate) varies: bool,
    pub(crate) is_modern: bool,
}

impl Rules {
    /// What becomes of a message, or of a batch of them. `asked` are the requests: id and method.
    ///
    /// An answer to which nobody wants anything is not read; where it is read, what answers another request is taken by its shape.
    pub(crate) fn apply(&self, mut answer: Tree, asked: &[(Tree, String)]) -> Tree {
        if !asked.iter().any(|(_, method)| self.reads(method)) {
            return answer;
        }
        match &mut answer {
            Tree::List(messages) => messages.iter_mut().for_each(|message| self.message(message, asked)),
            message => self.message(message, asked),
        }
        answer
    }

    fn reads(&self, method: &str) -> bool {
        let reads_openai = self.normalizes && self.openai_keys == OpenAiKeys::Read;
        match method {
            "initialize" | "server/discover" => self.negotiates,
            "tools/list" => {
                let links = self.normalizes && self.flat_key != FlatKey::Keep;
                let filters = self.filters && (self.varies || self.audience != Audience::Host);
                links || reads_openai || filters
            }
            "resources/list" | "resources/templates/list" | "resources/read" => reads_openai,
            _ => false,
        }
    }

    fn message(&self, message: &mut Tree, asked: &[(Tree, String)]) {
        let id = message.get("id").filter(|_| message.count("id") == 1).cloned();
        let method = asked.iter().find(|(asked, _)| Some(asked) == id.as_ref()).map(|(_, method)| method.as_str());
        let hides = self.filters && self.audience != Audience::Host;
        if hides && method == Some("tools/list") && has_other_list(message) {
            *message = unreadable(id);
            return;
        }
        if let Tree::Object(members) = message {
            for (name, value) in members {
                if name == "result" && value.is_object() {
                    self.result(value, method);
                }
            }
        }
    }

    fn result(&self, result: &mut Tree, method: Option<&str>) {
        let answers = |candidates: &[&str]| method.is_none_or(|method| candidates.contains(&method));
        let lists = [
            ("tools", "tools/list"),
            ("resources", "resources/list"),
            ("resourceTemplates", "resources/templates/list"),
            ("contents", "resources/read"),
        ];
        let is_list = |name: &str, value: &Tree| {
            value.is_list() && lists.iter().any(|(list, method)| *list == name && answers(&[method]))
        };
        let has_list = result.members().iter().any(|(name, value)| is_list(name, value));
        let has_version = result.get("protocolVersion").or(result.get("supportedVersions")).is_some();
        let is_complete = result
            .members()
            .iter()
            .filter(|(name, _)| name == "resultType")
            .filter_map(|(_, value)| value.as_text())
            .next_back()
            .is_none_or(|kind| kind == "complete");

        let says_capabilities =
            result.members().iter().any(|(name, value)| name == "capabilities" && value.is_object())
                && method.map_or(has_version, |method| ["initialize", "server/discover"].contains(&method));

        if let Tree::Object(members) = result {
            for (name, value) in members.iter_mut().filter(|(name, value)| is_list(name, value)) {
                let Tree::List(entries) = value else { continue };
                if name == "tools" {
                    entries.retain_mut(|tool| self.tool(tool));
                } else {
                    entries.iter_mut().for_each(|page| self.page(name, page));
                }
            }
            if self.negotiates && says_capabilities && is_complete {
                let mut capabilities = members.iter_mut().rev().filter(|(name, _)| name == "capabilities");
                // Of doubles the last that is an object.
                if let Some((_, capabilities)) = capabilities.find(|(_, value)| value.is_object()) {
                    advertise(capabilities);
                }
            }
        }
        if self.filters && self.varies && answers(&["tools/list"]) {
            self.keep_private(result, (has_list || says_capabilities) && is_complete);
        }
    }

    fn keep_private(&self, result: &mut Tree, is_cacheable: bool) {
        if result.get("cacheScope").is_none() && self.is_modern && is_cacheable {
            result.set("cacheScope", Tree::text("private"));
        }
        if let Tree::Object(members) = result {
            for (_, value) in members.iter_mut().filter(|(name, _)| name == "cacheScope") {
                *value = Tree::text("private");
            }
        }
    }

    /// Whether the tool stays.
    fn tool(&self, tool: &mut Tree) -> bool {
        let hides = self.filters && self.audience != Audience::Host;
        let says_two = ["name", "uri", "_meta"].iter().any(|key| tool.count(key) > 1) || meta_says_two(tool);
        if says_two || !tool.is_object() {
            return !hides;
        }
        if self.normalizes {
            if self.openai_keys == OpenAiKeys::Read {
                read_openai_tool(tool);
            }
            self.link(tool);
        }
        !hides || self.is_visible(tool)
    }

    fn is_visible(&self, tool: &Tree) -> bool {
        let wanted = if self.audience == Audience::App { "app" } else { "model" };
        let ui = tool.get("_meta").and_then(|meta| meta.get("ui"));
        match ui.and_then(|ui| ui.get("visibility")) {
            None => true,
            Some(Tree::List(names)) => names.iter().any(|name| name.as_text() == Some(wanted)),
            Some(_) => false,
        }
    }

    fn link(&self, tool: &mut Tree) {
        let Some(meta) = tool.get_mut("_meta") else { return };
        let flat = link(meta.get(FLAT));
        if let Some(flat) = &flat {
            let may_have_nested = meta.get("ui").is_none_or(|ui| ui.is_object() && ui.get("resourceUri").is_none());
            if self.flat_key != FlatKey::Keep && may_have_nested {
                set_in_ui(meta, "resourceUri", flat.clone());
            }
        }
        let Some(nested) = link(meta.get("ui").and_then(|ui| ui.get("resourceUri"))) else { return };
        match self.flat_key {
            FlatKey::Add if flat.is_some() => meta.set(FLAT, nested),
            FlatKey::Both if flat.is_some() || meta.get(FLAT).is_none() => meta.set(FLAT, nested),
            FlatKey::Strip if flat.is_some() => meta.remove(FLAT),
            _ => {}
        }
    }

    fn page(&self, list: &str, page: &mut Tree) {
        if !self.normalizes || self.openai_keys == OpenAiKeys::Ignore {
            return;
        }
        // What says what the entry is; other members may stand twice.
        let keys: &[&str] = match list {
            "resourceTemplates" => &["name", "uriTemplate", "mimeType", "_meta"],
            "resources" => &["name", "uri", "mimeType", "_meta"],
            _ => &["name", "uri", "mimeType", "text", "blob", "_meta"],
        };
        if keys.iter().any(|key| page.count(key) > 1) || meta_says_two(page) {
            return;
        }
        let Some(meta) = page.get_mut("_meta").filter(|meta| meta.is_object()) else { return };
        if meta.get("ui").is_some_and(|ui| !ui.is_object()) {
            return;
        }
        for (theirs, ours) in [("openai/widgetDomain", "domain"), ("openai/widgetPrefersBorder", "prefersBorder")] {
            let fits = |value: &&Tree| {
                if ours == "domain" { value.as_text().is_some() } else { matches!(value, Tree::Bool(_)) }
            };
            let is_missing = meta.get("ui").is_none_or(|ui| ui.get(ours).is_none());
            if let Some(value) = meta.get(theirs).filter(fits).cloned().filter(|_| is_missing) {
                set_in_ui(meta, ours, value);
            }
        }
    }
}

/// Whether entries may stand in a result where no list of tools is.
fn has_other_list(message: &Tree) -> bool {
    let results = message.members().iter().filter(|(name, _)| name == "result");
    results.map(|(_, result)| result).any(|result| {
        result.is_list() || result.members().iter().any(|(name, value)| name == "tools" && value.is_object())
    })
}

fn unreadable(id: Option<Tree>) -> Tree {
    let text = "the server's answer has another shape than a list, so it could not be filtered";
    let error = vec![("code".to_owned(), Tree::Number((-32603).into())), ("message".to_owned(), Tree::text(text))];
    let mut members = vec![("jsonrpc".to_owned(), Tree::text("2.0"))];
    members.extend(id.map(|id| ("id".to_owned(), id)));
    members.push(("error".to_owned(), Tree::Object(error)));
    Tree::Object(members)
}

/// A `ui://` string.
fn link(value: Option<&Tree>) -> Option<Tree> {
    value.filter(|value| value.as_text().is_some_and(|uri| uri.starts_with("ui://"))).cloned()
}

fn meta_says_two(entry: &Tree) -> bool {
    entry.get("_meta").is_some_and(|meta| meta.has_doubles() || meta.get("ui").is_some_and(Tree::has_doubles))
}

/// Sets a member of a `ui` that is an object or missing.
fn set_in_ui(meta: &mut Tree, key: &str, value: Tree) {
    if meta.get("ui").is_none() {
        meta.set("ui", Tree::Object(Vec::new()));
    }
    if let Some(ui) = meta.get_mut("ui") {
        ui.set(key, value);
    }
}

fn read_openai_tool(tool: &mut Tree) {
    let Some(meta) = tool.get_mut("_meta").filter(|meta| meta.is_object()) else { return };
    let template = link(meta.get("openai/outputTemplate"));
    let is_private = meta.get("openai/visibility").map(|value| value.as_text() == Some("private"));
    let is_accessible = meta.get("openai/widgetAccessible").map(|value| *value == Tree::Bool(true));
    let speaks_apps = meta.get("ui").is_some_and(Tree::is_object);
    if meta.get("ui").is_some_and(|ui| !ui.is_object()) {
        return;
    }
    let has = |meta: &Tree, key: &str| meta.get("ui").is_some_and(|ui| ui.get(key).is_some());
    if let Some(template) = &template
        && link(meta.get(FLAT)).is_none()
        && !has(meta, "resourceUri")
    {
        set_in_ui(meta, "resourceUri", template.clone());
    }
    let says_anything = template.is_some() || is_private.is_some() || is_accessible.is_some();
    if !says_anything || has(meta, "visibility") {
        return;
    }
    let mut names = Vec::new();
    if is_private != Some(true) {
        names.push(Tree::text("model"));
    }
    if is_accessible.unwrap_or(speaks_apps) {
        names.push(Tree::text("app"));
    }
    if names.len() < 2 {
        set_in_ui(meta, "visibility", Tree::List(names));
    }
}

fn advertise(capabilities: &mut Tree) {
    let has_resources = capabilities.get("resources").is_some_and(|resources| *resources != Tree::Null);
    if !has_resources || capabilities.count("extensions") > 1 {
        return;
    }
    if capabilities.get("extensions").is_none() {
        capabilities.set("extensions", Tree::Object(Vec::new()));
    }
    let Some(extensions) = capabilities.get_mut("extensions").filter(|extensions| extensions.is_object()) else {
        return;
    };
    if extensions.count(UI) > 1 {
        return;
    }
    let mut settings = extensions.get(UI).cloned().unwrap_or(Tree::Object(Vec::new()));
    if !settings.is_object() || settings.count("mimeTypes") > 1 {
        return;
    }
    let mut types = match settings.get("mimeTypes") {
        None => Vec::new(),
        Some(Tree::List(types)) => types.clone(),
        Some(_) => return,
    };
    if !types.iter().any(|media_type| media_type.as_text() == Some(APP_HTML)) {
        types.push(Tree::text(APP_HTML));
        settings.set("mimeTypes", Tree::List(types));
        extensions.set(UI, settings);
    }
}
