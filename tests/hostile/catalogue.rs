//! A server's tools: those that were recorded, and some more that are hidden.

use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::value::RawValue;
use tower_mcp_apps::protocol::Audience;

use super::lax::{self, Lax};
use super::recordings::{self, Recording};
use super::{seen, sse};

/// Tools that every server here has: one for each audience, one for nobody.
const MORE: &str = r#"{"name":"hidden-from-models","_meta":{"ui":{"visibility":["app"]}}},{"name":"hidden-from-apps","_meta":{"ui":{"visibility":["model"]}}},{"name":"nobody's","_meta":{"ui":{"visibility":[]}}}"#;

#[derive(Debug)]
pub(crate) struct Catalogue {
    server: String,
    /// The entries, as JSON text without brackets.
    entries: String,
    read: Lax,
}

#[derive(Deserialize)]
struct List {
    result: ListResult,
}

#[derive(Deserialize)]
struct ListResult {
    tools: Box<RawValue>,
}

impl Catalogue {
    fn of(recordings: &[&Recording]) -> Self {
        let lists = recordings.iter().filter(|recording| recording.method == "tools/list");
        let texts = lists.flat_map(|recording| {
            let events = sse::events(&recording.answer).into_iter().map(|event| event.data);
            events.chain([recording.answer.to_vec()]).collect::<Vec<_>>()
        });
        let list =
            texts.filter_map(|text| serde_json::from_slice::<List>(&text).ok()).next().expect("a list was recorded");
        let tools = list.result.tools.get().trim().trim_start_matches('[').trim_end_matches(']').trim().to_owned();
        let entries = if tools.is_empty() { MORE.to_owned() } else { format!("{MORE},{tools}") };
        let read = lax::read(format!("[{entries}]").as_bytes());
        Self { server: recordings[0].server.clone(), entries, read }
    }

    /// The answer to a `tools/list` with this id.
    pub(crate) fn answer(&self, id: &serde_json::Value) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{}]}}}}"#, self.entries)
    }

    /// The same, as a meta-tool answers.
    pub(crate) fn answer_in_text(&self, id: &serde_json::Value) -> String {
        let text = serde_json::Value::from(format!(r#"{{ "tools" : [{}] }}"#, self.entries));
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#)
    }

    /// The names of all tools, as JSON texts.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.read.items().iter().flat_map(|entry| entry.all("name")).filter_map(Lax::text);
        names.map(|name| serde_json::Value::from(name).to_string()).collect()
    }

    /// Whether a tool of this name is not for this audience.
    pub(crate) fn hides(&self, name: &str, audience: Audience) -> bool {
        let mut entries = self.read.items().iter().filter(|entry| entry.all("name").any(|it| it.text() == Some(name)));
        entries.any(|entry| seen::is_hidden(entry, audience))
    }
}

/// The catalogue of this recording's server.
pub(crate) fn of(recording: &Recording) -> Arc<Catalogue> {
    static ALL: OnceLock<Vec<Arc<Catalogue>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let mut catalogues: Vec<Arc<Catalogue>> = Vec::new();
        let recordings = recordings::all();
        for recording in recordings {
            if catalogues.iter().all(|catalogue| catalogue.server != recording.server) {
                let own: Vec<&Recording> = recordings.iter().filter(|other| other.server == recording.server).collect();
                catalogues.push(Arc::new(Catalogue::of(&own)));
            }
        }
        catalogues
    });
    all.iter().find(|catalogue| catalogue.server == recording.server).cloned().expect("each server has one")
}
