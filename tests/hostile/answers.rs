//! What must hold of any answer: it comes out as JSON or as it came, whole, and shows nothing that is hidden.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use super::catalogue::Catalogue;
use super::requests::{Sent, cut, is_look_up};
use super::stacks::Stack;
use super::{grammar, lax, seen, sse};
use crate::kit::Answer;
use crate::kit::server::{Server, json_answer};
use crate::kit::tree::Tree;

/// An answer as a server gives it.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where the body is cut into frames.
    pub(crate) cuts: Vec<usize>,
    pub(crate) knows_length: bool,
}

impl Given {
    fn response(&self) -> Response<Body> {
        let mut body = Body::frames(cut(&self.body, &self.cuts));
        if self.knows_length {
            body = body.of_length(self.body.len() as u64);
        }
        let mut response = Response::new(body);
        *response.status_mut() = StatusCode::from_u16(self.status).expect("a status");
        *response.headers_mut() = self.headers.clone();
        response
    }
}

/// Lets a server give this answer to a request through a stack, and checks what must hold of any. False where the request went
/// no further.
pub(crate) async fn check(stack: Stack, sent: &Sent, given: &Given, catalogue: &Arc<Catalogue>) -> bool {
    let (answer, asked) = (given.clone(), sent.clone());
    let catalogue = Arc::clone(catalogue);
    let server = Server::new(move |received| {
        // A call is judged before it runs.
        if !is_look_up(received, &asked) {
            return answer.response();
        }
        let message = received.json();
        let is_list = message["method"] == "tools/list";
        json_answer(if is_list { catalogue.answer(&message["id"]) } else { catalogue.answer_in_text(&message["id"]) })
    });
    let got = stack.send(server.clone(), sent.request()).await;
    let received = server.take();
    let Some(arrived) = received.iter().find(|request| !is_look_up(request, sent)) else { return false };
    let context = arrived.parts.extensions.get::<McpContext>().expect("all requests are MCP here");

    let (came, out) = (&given.body, got.bytes());
    assert_eq!(got.error, None);
    assert!(is_whole(&out, came), "it is neither as it came nor JSON");
    let lists = sent.body.is_empty() || context.calls().iter().any(|call| call.method_name() == Some("tools/list"));
    if lists {
        check_leak(&got, context.audience());
    }
    if stack == Stack::MetaTools && context.tool() == Some("list_tools") {
        let leak = seen::nested_leak(&out, says(&got, "text/event-stream"), context.audience());
        assert!(leak.is_none(), "hidden, and shown in a text: {leak:?}");
    }
    if stack == Stack::Filter
        && let (Some(before), Some(after)) = (Tree::read(came), Tree::read(&out))
    {
        assert!(after.is_within(&before) || is_error(&after), "a filter did more than to take away");
    }
    true
}

fn is_json(text: &[u8]) -> bool {
    // The depth is that of the layers.
    grammar::parse(text, 512).is_some()
}

fn is_error(message: &Tree) -> bool {
    match message {
        Tree::List(messages) => messages.iter().all(is_error),
        message => message.get("error").is_some() && message.get("result").is_none(),
    }
}

/// Whether nothing was lost: it is as it came, or it is JSON, or each of its events is.
fn is_whole(out: &[u8], came: &[u8]) -> bool {
    if out == came || is_json(out) {
        return true;
    }
    let (before, after) = (sse::events(came), sse::events(out));
    // JSON that says it is a stream, and cannot be read: an error took its place.
    if let [only] = &after[..]
        && Tree::read(&only.data).is_some_and(|message| is_error(&message))
        && out == [b"event: message\ndata: ", &only.data[..], b"\n\n"].concat()
    {
        return true;
    }
    let same = before.iter().zip(&after).all(|(before, after)| {
        let fields = |event: &sse::Event| (event.event_type.clone(), event.last_id.clone(), event.retry.clone());
        let is_right = before.data == after.data || is_json(&after.data);
        is_right && fields(before) == fields(after)
    });
    // What the end cut short may have become an error.
    let more = after.get(before.len()..);
    same && match more {
        None => false,
        Some([]) => beside_data(out) == beside_data(came),
        Some([error]) => is_json(&error.data),
        Some(_) => false,
    }
}

/// The lines that are no data.
fn beside_data(stream: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stream).replace("\r\n", "\n").replace('\r', "\n");
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_data = |line: &&str| line.split(':').next() == Some("data");
    text.split('\n').filter(|line| !is_data(line)).map(str::to_owned).collect()
}

fn says(got: &Answer, media_type: &str) -> bool {
    got.headers.get("content-type").is_some_and(|value| value.as_bytes().starts_with(media_type.as_bytes()))
}

fn check_leak(got: &Answer, audience: Audience) {
    let out = got.bytes();
    let is_stream = says(got, "text/event-stream");
    let says_so = is_stream || says(got, "application/json");
    // The page that says why a request failed is read by nobody as a list, unless it is one.
    let is_encoded = got.headers.contains_key("content-encoding");
    if !got.status.is_success() && !says_so && (is_encoded || !is_json(&out)) {
        return;
    }
    let leak = seen::leak(&out, is_stream, audience);
    assert!(leak.is_none(), "hidden, and shown: {leak:?}");
}

/// What must hold of a look-up that is answered so: a call that ran is of no tool that the answer hides. `answer` has `"@"` for the id.
/// Says whether it ran.
pub(crate) async fn check_catalogue(stack: Stack, sent: &Sent, name: &str, answer: &Bytes, is_stream: bool) -> bool {
    let (body, page) = (sent.body.clone(), answer.clone());
    let server = Server::new(move |received| {
        let message = received.json();
        if received.bytes() == body {
            return json_answer(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#, message["id"]));
        }
        let id = message["id"].to_string();
        let mut answer = Vec::new();
        let mut rest = &page[..];
        while let Some(at) = rest.windows(3).position(|part| part == b"\"@\"") {
            answer.extend_from_slice(&rest[..at]);
            answer.extend_from_slice(id.as_bytes());
            rest = &rest[at + 3..];
        }
        answer.extend_from_slice(rest);
        let content_type = if is_stream { "text/event-stream" } else { "application/json" };
        crate::kit::server::labelled(content_type, Body::frames([Bytes::from(answer)]))
    });
    let got = stack.send(server.clone(), sent.request()).await;
    assert_eq!(got.error, None);
    let ran = server.take().iter().any(|request| request.bytes() == sent.body);
    let audience = stack.audience().unwrap_or(Audience::Model);
    if ran {
        // Of a stream the first answer counts.
        let texts: Vec<Vec<u8>> =
            if is_stream { sse::events(answer).into_iter().map(|it| it.data).collect() } else { vec![answer.to_vec()] };
        let mut lists = texts.iter().filter(|text| is_json(text)).map(|text| lax::read(text));
        if let Some(list) = lists.next().filter(|_| texts.len() == 1) {
            let named = |entry: &&lax::Lax| entry.all("name").any(|it| it.text() == Some(name));
            let hidden = seen::entries(&list).filter(named).find(|entry| seen::is_hidden(entry, audience));
            assert!(hidden.is_none(), "{name} ran, and is hidden: {hidden:?}");
        }
    }
    ran
}
