//! What readers may see in a message: the tools that a request runs, the tools that an answer shows and hides.

use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::sse::{Sniff, sniff};

use super::lax::{self, Lax};
use super::sse;

/// The messages of a body: one, or those of a batch.
fn messages(body: &Lax) -> &[Lax] {
    match body {
        Lax::List(messages) => messages,
        message => std::slice::from_ref(message),
    }
}

/// The methods that any reader may find in a request.
pub(crate) fn methods(body: &Lax) -> Vec<&str> {
    messages(body).iter().flat_map(|message| message.all_folded("method")).filter_map(Lax::text).collect()
}

/// The tools that any reader of a request may run.
pub(crate) fn runs(body: &Lax) -> Vec<&str> {
    let calls = messages(body).iter().filter(|message| message.all_folded("method").any(is_call));
    let params = calls.flat_map(|call| call.all_folded("params"));
    params.flat_map(|params| params.all_folded("name")).filter_map(Lax::text).collect()
}

/// The tools that any reader may run through a meta-tool.
pub(crate) fn targets(body: &Lax) -> Vec<&str> {
    let calls = messages(body).iter().filter(|message| message.all_folded("method").any(is_call));
    let params = calls.flat_map(|call| call.all_folded("params"));
    let through = params.filter(|params| params.all_folded("name").any(|name| name.text() == Some("call_tool")));
    let arguments = through.flat_map(|params| params.all_folded("arguments"));
    arguments.flat_map(|arguments| arguments.all_folded("name")).filter_map(Lax::text).collect()
}

fn is_call(method: &Lax) -> bool {
    method.text() == Some("tools/call")
}

/// Whether any reader of this entry of a list may take it for one that is not for this audience.
pub(crate) fn is_hidden(entry: &Lax, audience: Audience) -> bool {
    let wanted = match audience {
        Audience::Host => return false,
        Audience::Model => "model",
        Audience::App => "app",
    };
    let Lax::Object(_) = entry else { return true };
    let says = |visibility: &Lax| match visibility {
        Lax::List(names) => !names.iter().any(|name| name.text() == Some(wanted)),
        _ => true,
    };
    entry.all("_meta").flat_map(|meta| meta.all("ui")).flat_map(|ui| ui.all("visibility")).any(says)
}

/// The entries of all lists of tools that any reader may find in a message of the server.
pub(crate) fn entries(body: &Lax) -> impl Iterator<Item = &Lax> {
    let results = messages(body).iter().flat_map(|message| message.all("result"));
    results.flat_map(|result| result.all("tools")).flat_map(Lax::items)
}

/// The messages that any reader may find in an answer: the whole of it, and where it says that it is a stream, or begins like
/// one, the data of its events, the last of them cut short.
pub(crate) fn heard(body: &[u8], is_stream: bool) -> Vec<Lax> {
    let whole = [body.to_vec()].into_iter();
    let is_stream = is_stream || sniff(body) == Sniff::EventStream;
    let events = if is_stream { sse::events(&[body, b"\n\n"].concat()) } else { Vec::new() };
    let texts = whole.chain(events.into_iter().map(|event| event.data));
    texts.filter(|text| text.contains(&b'{')).map(|text| lax::read(&text)).collect()
}

/// The first entry in the results of meta-tools that somebody may read although it is not for this audience.
pub(crate) fn nested_leak(body: &[u8], is_stream: bool, audience: Audience) -> Option<Lax> {
    let messages = heard(body, is_stream);
    let results = messages.iter().flat_map(self::messages).flat_map(|message| message.all("result"));
    let mut found = results.flat_map(|result| {
        let blocks = result.all("content").flat_map(Lax::items);
        let texts = blocks.flat_map(|block| block.all("text")).filter_map(Lax::text);
        let texts = texts.filter(|text| text.contains('{')).map(|text| lax::read(text.as_bytes()));
        texts.chain(result.all("structuredContent").cloned()).collect::<Vec<_>>()
    });
    found.find_map(|value| nested_entry(&value, audience))
}

fn nested_entry(value: &Lax, audience: Audience) -> Option<Lax> {
    match value {
        Lax::List(items) => items.iter().find_map(|item| nested_entry(item, audience)),
        Lax::Object(members) => {
            let is_entry = value.all("name").any(|name| name.text().is_some());
            if is_entry && is_hidden(value, audience) {
                return Some(value.clone());
            }
            members.iter().find_map(|(_, value)| nested_entry(value, audience))
        }
        _ => None,
    }
}

/// The first entry of a list in an answer that somebody may read although it is not for this audience.
pub(crate) fn leak(body: &[u8], is_stream: bool, audience: Audience) -> Option<Lax> {
    let messages = heard(body, is_stream);
    let mut found = messages.iter().flat_map(entries);
    found.find(|entry| is_hidden(entry, audience)).cloned()
}
