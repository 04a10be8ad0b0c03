//! What readers may see in a message: the tools that a request runs, the tools that an answer shows and hides.

use tower_mcp_apps::protocol::Audience;

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

/// The messages that any reader may find in an answer: the whole of it, and the data of its events, the last of them cut short.
pub(crate) fn heard(body: &[u8]) -> Vec<Lax> {
    let whole = [body.to_vec()].into_iter();
    let events = sse::events(&[body, b"\n\n"].concat()).into_iter().map(|event| event.data);
    let texts = whole.chain(events);
    texts.filter(|text| text.contains(&b'{')).map(|text| lax::read(&text)).collect()
}

/// The first entry of a list in an answer that somebody may read although it is not for this audience.
pub(crate) fn leak(body: &[u8], audience: Audience) -> Option<Lax> {
    let messages = heard(body);
    let mut found = messages.iter().flat_map(entries);
    found.find(|entry| is_hidden(entry, audience)).cloned()
}
