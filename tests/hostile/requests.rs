//! What must hold of any request: what is hidden is not called, and what went on was understood as others understand it.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use tower_mcp_apps::McpContext;
use tower_mcp_apps::exchange::CallInfo;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use super::catalogue::Catalogue;
use super::lax::{self, Lax};
use super::stacks::Stack;
use super::{dress, grammar, seen, sse};
use crate::kit::Answer;
use crate::kit::server::{Received, Server, event_answer, json_answer};

/// A request as a client sends it.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) http_method: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where the body is cut into frames.
    pub(crate) cuts: Vec<usize>,
}

impl Sent {
    pub(crate) fn request(&self) -> Request<Body> {
        let mut request = Request::new(Body::frames(cut(&self.body, &self.cuts)));
        *request.method_mut() = self.http_method.clone();
        *request.headers_mut() = self.headers.clone();
        request
    }
}

/// The pieces of a body that is cut at these places, none of them empty.
pub(crate) fn cut(body: &Bytes, cuts: &[usize]) -> Vec<Bytes> {
    let mut start = 0;
    let mut pieces = Vec::new();
    for end in cuts.iter().copied().chain([body.len()]) {
        let end = end.clamp(start, body.len());
        if end > start {
            pieces.push(body.slice(start..end));
        }
        start = end;
    }
    pieces
}

/// One message as a reader understands it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Understood {
    pub(crate) method: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) uri: Option<String>,
    pub(crate) id: Option<Id>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Id {
    Number(f64),
    Text(String),
}

impl Understood {
    /// What the layers understood.
    fn judged(call: &CallInfo) -> Self {
        Self {
            method: call.method_name().map(str::to_owned),
            name: call.name().map(str::to_owned),
            uri: call.uri().map(str::to_owned),
            id: call.id().and_then(|id| Id::of(&lax::read(id))),
        }
    }

    /// What a reader understands who takes the first or the last of two members.
    pub(crate) fn of(message: &Lax, is_last: bool) -> Self {
        fn member<'m>(of: &'m Lax, name: &'m str, is_last: bool) -> Option<&'m Lax> {
            if is_last { of.all(name).last() } else { of.all(name).next() }
        }
        let params = member(message, "params", is_last);
        let text = |of: Option<&Lax>, name| {
            let member = of.and_then(|of| member(of, name, is_last)).and_then(Lax::text);
            member.map(str::to_owned)
        };
        Self {
            method: text(Some(message), "method"),
            name: text(params, "name"),
            uri: text(params, "uri"),
            id: member(message, "id", is_last).and_then(Id::of),
        }
    }
}

impl Id {
    pub(crate) fn of(id: &Lax) -> Option<Self> {
        match id {
            Lax::Text(text) => Some(Self::Text(text.clone())),
            Lax::Number(text) => text.parse().ok().map(Self::Number),
            _ => None,
        }
    }
}

/// A request that went on under a gate, and what was judged.
#[derive(Clone, Debug)]
pub(crate) struct Forwarded {
    pub(crate) body: Bytes,
    pub(crate) judged: Vec<Understood>,
    pub(crate) ids: Vec<Option<Bytes>>,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    Refused,
    /// It went on, where nothing is enforced.
    Passed,
    Forwarded(Forwarded),
}

/// The methods that an app may use, beside notifications.
const FOR_APPS: [&str; 8] = [
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// Sends a request through a stack to a server with this catalogue, and checks what must hold of any.
pub(crate) async fn check(stack: Stack, sent: &Sent, catalogue: &Arc<Catalogue>, is_stream: bool) -> Outcome {
    let server = server(Arc::clone(catalogue), is_stream);
    let answer = stack.send(server.clone(), sent.request()).await;
    let (look_ups, own): (Vec<_>, Vec<_>) = server.take().into_iter().partition(|request| is_look_up(request, sent));
    // Twice where there are two catalogues: the server's own tools, and those behind them.
    let catalogues = if stack == Stack::MetaTools { 2 } else { 1 };
    assert!(look_ups.len() <= catalogues, "it was asked for its tools again");
    check_answer(&answer);
    let Some(arrived) = own.first() else {
        check_refusal(&answer);
        return Outcome::Refused;
    };
    assert_eq!(own.len(), 1, "it ran twice");
    assert_eq!(arrived.error, None);
    let context = arrived.parts.extensions.get::<McpContext>().expect("all requests are MCP here");
    let audience = context.audience();
    if let Some(known) = stack.audience() {
        assert_eq!(audience, known);
    }
    let mut read = lax::read(&sent.body);
    if stack == Stack::Namespaced {
        read = dress::strip(&read);
        assert_eq!(lax::read(&arrived.bytes()), read, "more than the prefix was taken off");
    } else {
        assert_eq!(arrived.bytes(), sent.body);
    }
    if audience == Audience::Host {
        assert!(stack == Stack::Host || declares_apps(&read), "nothing was declared");
        return Outcome::Passed;
    }
    check_forwarded(stack, arrived, context, &read, catalogue)
}

fn check_forwarded(
    stack: Stack,
    arrived: &Received,
    context: &McpContext,
    read: &Lax,
    catalogue: &Catalogue,
) -> Outcome {
    let audience = context.audience();
    let targets = if stack == Stack::MetaTools { seen::targets(read) } else { Vec::new() };
    for name in seen::runs(read).into_iter().chain(targets) {
        assert!(!catalogue.hides(name, audience), "{name} is hidden, and its call arrived");
    }
    if audience == Audience::App {
        for method in seen::methods(read) {
            assert!(FOR_APPS.contains(&method) || method.starts_with("notifications/"), "an app used {method}");
        }
    }
    let judged: Vec<Understood> = context.calls().iter().map(Understood::judged).collect();
    let messages = match read {
        Lax::List(messages) => &messages[..],
        Lax::Object(_) => std::slice::from_ref(read),
        _ => &[],
    };
    for is_last in [false, true] {
        let understood: Vec<Understood> = messages.iter().map(|message| Understood::of(message, is_last)).collect();
        assert_eq!(judged, understood, "what was judged and what others read");
    }
    let ids = context.calls().iter().map(|call| call.id().map(Bytes::copy_from_slice)).collect();
    Outcome::Forwarded(Forwarded { body: arrived.bytes(), judged, ids })
}

/// Whether a request is none of the client's, but asks for the tools in its name.
pub(crate) fn is_look_up(request: &Received, sent: &Sent) -> bool {
    if request.bytes() == sent.body {
        return false;
    }
    // It carries the caller's metadata, which not every reader reads.
    let message = lax::read(&request.bytes());
    let ids: Vec<&str> = message.all("id").filter_map(Lax::text).collect();
    let [id] = ids[..] else { return false };
    let lists = seen::methods(&message) == ["tools/list"] || seen::runs(&message) == ["list_tools"];
    lists && id.len() >= 22 && !String::from_utf8_lossy(&sent.body).contains(id)
}

/// A server that lists its tools, and runs all that it is asked for.
fn server(catalogue: Arc<Catalogue>, is_stream: bool) -> Server {
    Server::new(move |received| {
        let message = received.json();
        let id = &message["id"];
        let answer = match message["method"].as_str() {
            Some("tools/list") => catalogue.answer(id),
            Some("tools/call") if message["params"]["name"] == "list_tools" => catalogue.answer_in_text(id),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#),
        };
        if is_stream {
            event_answer(Body::frames([format!("event: message\ndata: {answer}\n\n")]))
        } else {
            json_answer(answer)
        }
    })
}

/// Whether anybody may read a declaration of MCP Apps in it.
fn declares_apps(value: &Lax) -> bool {
    match value {
        Lax::Text(text) => text.to_ascii_lowercase().contains("mcp-app"),
        Lax::List(items) => items.iter().any(declares_apps),
        Lax::Object(members) => members.iter().any(|(_, value)| declares_apps(value)),
        Lax::Number(_) | Lax::Other => false,
    }
}

/// Whatever was asked: what comes back is one JSON text, whole. Not every reader reads an id that is echoed in it.
fn check_answer(answer: &Answer) {
    assert_eq!(answer.error, None);
    let text = message_of(answer);
    assert!(grammar::parse(&text, 512).is_some(), "{}", String::from_utf8_lossy(&text));
}

/// The answer, or the data of its only event.
fn message_of(answer: &Answer) -> Vec<u8> {
    let body = answer.bytes();
    match &sse::events(&body)[..] {
        [event] => event.data.clone(),
        _ => body.to_vec(),
    }
}

/// What goes no further is answered with an error, or each call of a batch is.
fn check_refusal(answer: &Answer) {
    let message = lax::read(&message_of(answer));
    let errors = match &message {
        Lax::List(errors) => &errors[..],
        error => std::slice::from_ref(error),
    };
    for error in errors {
        let mut codes = error.all("error").flat_map(|error| error.all("code"));
        assert!(codes.all(|code| matches!(code, Lax::Number(_))) && error.all("error").count() == 1, "{message:?}");
        assert_eq!(error.all("result").count(), 0, "{message:?}");
        assert!(error.all("id").all(|id| Id::of(id).is_some()), "{message:?}");
    }
}
