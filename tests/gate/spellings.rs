//! For any catalogue, audience and spelling of a call: what is hidden never arrives, and what is visible is not refused.

use std::fmt::Write as _;

use bytes::Bytes;
use http::{HeaderName, Request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Auto, ByHeader, Fixed};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use crate::kit::server::{Received, Server, event_answer, labelled};
use crate::kit::tree::Tree;
use crate::kit::{apps_capabilities, post, send, with};
use crate::world::ran;

/// Names that are near to each other.
const NAMES: [&str; 8] = ["poll", "Poll", "pol", "poll ", "größe", "a/b\"\\", "\u{1f600}", "\u{0}"];

/// What an entry says of whom it is for, as JSON text of its other members, and whether models and apps get it.
const SAYINGS: [(&str, bool, bool); 12] = [
    ("", true, true),
    (r#","_meta":{"ui":{"visibility":["app"]}}"#, false, true),
    (r#","_meta":{"ui":{"visibility":["model"]}}"#, true, false),
    (r#","_meta":{"ui":{"visibility":["model","app","x"]}}"#, true, true),
    (r#","_meta":{"ui":{"visibility":[]}}"#, false, false),
    (r#","_meta":{"ui":{"visibility":"app"}}"#, false, false),
    (r#","_meta":{"ui":{"visibility":null}}"#, false, false),
    (r#","_meta":{"ui":{"v\u0069sibility":["\u0061pp"]}}"#, false, true),
    (r#","_meta":{"ui":{"visibility":["app"],"visibility":["model"]}}"#, false, false),
    (r#","_meta":{"ui":{"visibility":["model"]}},"_meta":{}"#, false, false),
    (r#","_meta":{"ui":7}"#, true, true),
    (r#","x":{"_meta":{"ui":{"visibility":[]}}},"_meta":{}"#, true, true),
];

/// Choices for a writer. Without any left it writes plainly, so that what fails shrinks to what is plain.
#[derive(Clone, Debug)]
struct Whims {
    whims: Vec<u8>,
    at: usize,
}

impl Whims {
    fn next(&mut self) -> u8 {
        let whim = self.whims.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        whim
    }

    fn space(&mut self) -> &'static str {
        ["", "", "", " ", "\n", "\t\r\n", "   "][usize::from(self.next() % 7)]
    }

    /// A JSON string with any of its characters escaped.
    fn string(&mut self, text: &str) -> String {
        let mut out = String::from('"');
        for letter in text.chars() {
            match (letter, self.next() % 4) {
                ('"' | '\\' | '/', 1) => {
                    out.push('\\');
                    out.push(letter);
                }
                ('"' | '\\' | '\0'..='\u{1f}', _) | (_, 2 | 3) => {
                    let is_upper = self.next() % 2 == 1;
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        let hex = format!("\\u{unit:04x}");
                        out += &if is_upper { hex.to_ascii_uppercase().replace("\\U", "\\u") } else { hex };
                    }
                }
                _ => out.push(letter),
            }
        }
        out + "\""
    }

    /// An object of members in any order.
    fn object(&mut self, mut members: Vec<(String, String)>) -> String {
        let mut out = String::from('{');
        let mut separator = "";
        while !members.is_empty() {
            let (key, value) = members.remove(usize::from(self.next()) % members.len());
            let key = if key.starts_with('"') { key } else { self.string(&key) };
            let _ =
                write!(out, "{separator}{}{key}{}:{}{value}{}", self.space(), self.space(), self.space(), self.space());
            separator = ",";
        }
        out + "}"
    }
}

/// Who calls, and how the layer knows.
#[derive(Clone, Copy, Debug)]
enum Who {
    Fixed(Audience),
    Declared(bool),
    Header(Audience),
}

impl Who {
    fn audience(self) -> Audience {
        match self {
            Self::Fixed(audience) | Self::Header(audience) => audience,
            Self::Declared(true) => Audience::Host,
            Self::Declared(false) => Audience::Model,
        }
    }
}

/// What readers may understand differently about a call, or what is missing from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// A second member of this name: in the message, or in its `params`.
    Doubled(&'static str),
    /// A member that is one of these but for case.
    Cased(&'static str, &'static str),
    Id(&'static str),
    NoId,
    Name(&'static str),
    NoName,
    /// A header that says something else, that stands twice or that is missing. Legacy calls have none to miss.
    Header(&'static str),
    DoubledHeader(&'static str),
    NoHeader(&'static str),
}

#[derive(Clone, Debug)]
struct Case {
    who: Who,
    is_modern: bool,
    is_batch: bool,
    /// Names and what they say, by index.
    entries: Vec<(usize, usize)>,
    pages: usize,
    is_stream: bool,
    chunk: usize,
    /// Names that are called, and the ids of the calls.
    calls: Vec<(usize, String)>,
    fault: Fault,
    /// The name that a fault puts beside the first one.
    other: usize,
    whims: Whims,
}

fn ids() -> impl Strategy<Value = Vec<String>> {
    let ids =
        ["7", "-0.0", "1e2", "0.5E+3", "123456789012345678901234567890", r#""a""#, r#""\u0062""#, r#""""#, r#""7""#];
    let ids: Vec<String> = ids.map(str::to_owned).into();
    Just(ids).prop_shuffle()
}

fn faults() -> impl Strategy<Value = Fault> {
    let headers = ["mcp-name", "mcp-method", "mcp-protocol-version"];
    let faults = vec![
        select(vec!["method", "id", "params", "name", "_meta"]).prop_map(Fault::Doubled).boxed(),
        select(vec![
            ("method", "Method"),
            ("id", "ID"),
            ("params", "PARAMS"),
            ("params", "param\u{17f}"),
            ("name", "Name"),
            ("name", "NAME"),
            ("_meta", "_META"),
        ])
        .prop_map(|(name, cased)| Fault::Cased(name, cased))
        .boxed(),
        select(vec!["null", "true", "[7]", "{}", r#""\ud800""#]).prop_map(Fault::Id).boxed(),
        Just(Fault::NoId).boxed(),
        select(vec!["7", "null", r#"["poll"]"#, r#""poll\ud800""#, "{}"]).prop_map(Fault::Name).boxed(),
        Just(Fault::NoName).boxed(),
        select(headers.to_vec()).prop_map(Fault::Header).boxed(),
        select(headers.to_vec()).prop_map(Fault::DoubledHeader).boxed(),
        select(headers.to_vec()).prop_map(Fault::NoHeader).boxed(),
    ];
    prop_oneof![2 => Just(Fault::None), 1 => proptest::strategy::Union::new(faults)]
}

fn cases() -> impl Strategy<Value = Case> {
    let audiences = || select(vec![Audience::Model, Audience::App, Audience::Host]);
    let who = prop_oneof![
        3 => audiences().prop_map(Who::Fixed),
        1 => any::<bool>().prop_map(Who::Declared),
        1 => audiences().prop_map(Who::Header),
    ];
    let entries = vec((0..NAMES.len() - 1, 0..SAYINGS.len()), 0..10);
    let catalogue = (entries, 1..4_usize, any::<bool>(), select(vec![1_usize, 13, 4096]));
    let calls = (vec(0..NAMES.len(), 1..4), ids());
    let shape = (any::<bool>(), any::<bool>());
    (who, shape, catalogue, calls, faults(), 0..NAMES.len(), vec(any::<u8>(), 0..200)).prop_map(
        |(who, (is_modern, is_batch), (entries, pages, is_stream, chunk), (names, ids), fault, other, whims)| {
            let is_batch = is_batch && !is_modern;
            let calls = names.into_iter().zip(ids).take(if is_batch { 3 } else { 1 }).collect();
            let whims = Whims { whims, at: 0 };
            Case { who, is_modern, is_batch, entries, pages, is_stream, chunk, calls, fault, other, whims }
        },
    )
}

impl Case {
    /// What the caller may run: all entries of a name must be for it, and a name that is not listed is the server's word.
    fn is_visible(&self, name: usize) -> bool {
        self.entries.iter().filter(|(entry, _)| *entry == name).all(|(_, says)| {
            let (_, for_model, for_app) = SAYINGS[*says];
            match self.who.audience() {
                Audience::Host => true,
                Audience::Model => for_model,
                Audience::App => for_app,
            }
        })
    }

    /// Whether the table of bad input refuses it.
    fn is_faulty(&self) -> bool {
        match self.fault {
            Fault::None => false,
            // Legacy calls need no such header, and no version in it that is not theirs.
            Fault::NoHeader(_) => self.is_modern,
            Fault::Header("mcp-protocol-version") | Fault::DoubledHeader("mcp-protocol-version") => self.is_modern,
            _ => true,
        }
    }

    /// Whether readers may differ on what the message says at all.
    fn is_two_faced(&self) -> bool {
        match self.fault {
            Fault::Doubled(_) | Fault::Cased(..) | Fault::Id(_) => true,
            Fault::Name(odd) => odd.contains("\\ud800"),
            _ => false,
        }
    }

    fn server(&self) -> Server {
        let entries: Vec<String> = self
            .entries
            .iter()
            .map(|(name, says)| format!(r#"{{"name":{}{}}}"#, json!(NAMES[*name]), SAYINGS[*says].0))
            .collect();
        let each = entries.len().div_ceil(self.pages).max(1);
        let pages: Vec<String> = entries.chunks(each).map(|entries| entries.join(",")).collect();
        let (is_stream, chunk) = (self.is_stream, self.chunk);
        Server::new(move |received| {
            if received.method() != "tools/list" {
                return ran(received);
            }
            let message = received.json();
            let page = message["params"]["cursor"].as_u64().unwrap_or_default() as usize;
            let next = if page + 1 < pages.len() { format!(r#","nextCursor":{}"#, page + 1) } else { String::new() };
            let tools = pages.get(page).map_or("", String::as_str);
            let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[{tools}]{next}}}}}"#, message["id"]);
            let text = if is_stream { format!("id: 1\ndata: {answer}\n\n") } else { answer };
            let body = Body::frames(text.as_bytes().chunks(chunk).map(Bytes::copy_from_slice).collect::<Vec<_>>());
            if is_stream { event_answer(body) } else { labelled("application/json", body) }
        })
    }

    /// The text of one call. The fault is in the first.
    fn message(&mut self, index: usize) -> String {
        let (name, id) = self.calls[index].clone();
        let fault = if index == 0 { self.fault } else { Fault::None };
        let (name, other) = (NAMES[name], NAMES[self.other]);
        let arguments =
            (String::from("arguments"), String::from(r#"{"name":"poll","Name":1.0,"method":"tools/call"}"#));
        let mut params = vec![arguments];
        match fault {
            Fault::NoName => {}
            Fault::Name(odd) => params.push(("name".into(), odd.into())),
            _ => params.push(("name".into(), self.whims.string(name))),
        }
        let extra = self.whims.string(other);
        let mut meta = vec![("progressToken".to_owned(), "1".to_owned())];
        if self.is_modern {
            let capabilities = if matches!(self.who, Who::Declared(true)) { apps_capabilities() } else { json!({}) };
            meta.push(("io.modelcontextprotocol/protocolVersion".into(), r#""2026-07-28""#.into()));
            meta.push(("io.modelcontextprotocol/clientCapabilities".into(), capabilities.to_string()));
        }
        let meta = self.whims.object(meta);
        match fault {
            Fault::Doubled("name") => params.push(("name".into(), extra.clone())),
            Fault::Cased("name", cased) => params.push((cased.into(), extra.clone())),
            Fault::Doubled("_meta") => params.push(("_meta".into(), "{}".into())),
            Fault::Cased("_meta", cased) => params.push((cased.into(), "{}".into())),
            _ => {}
        }
        params.push(("_meta".into(), meta));
        let params = self.whims.object(params);
        let method = self.whims.string("tools/call");
        let mut members = vec![
            ("jsonrpc".to_owned(), r#""2.0""#.to_owned()),
            ("method".to_owned(), method.clone()),
            ("params".to_owned(), params),
        ];
        match fault {
            Fault::NoId => {}
            Fault::Id(odd) => members.push(("id".into(), odd.into())),
            _ => members.push(("id".into(), id.clone())),
        }
        let twin = match fault {
            Fault::Doubled(name) => Some((name, name)),
            Fault::Cased(name, cased) => Some((name, cased)),
            _ => None,
        };
        match twin {
            Some(("method", twin)) => members.push((twin.into(), method)),
            Some(("id", twin)) => members.push((twin.into(), id)),
            Some(("params", twin)) => members.push((twin.into(), format!(r#"{{"name":{extra}}}"#))),
            _ => {}
        }
        self.whims.object(members)
    }

    fn body(&mut self) -> String {
        let messages: Vec<String> = (0..self.calls.len()).map(|index| self.message(index)).collect();
        if self.is_batch { format!("[{}]", messages.join(" ,")) } else { messages[0].clone() }
    }

    fn request(&self, body: &str) -> Request<Body> {
        let mut request = post(body.to_owned());
        if let Who::Header(audience) = self.who {
            request = with(request, "x-audience", audience.as_str());
        }
        let name = base64(NAMES[self.calls[0].0]);
        let mut headers =
            vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", &*name)];
        if !self.is_modern {
            headers.clear();
        }
        match self.fault {
            Fault::NoHeader(missing) => headers.retain(|(name, _)| *name != missing),
            Fault::Header(odd) => {
                headers.retain(|(name, _)| *name != odd);
                headers.push((odd, "2025-11-25"));
            }
            Fault::DoubledHeader(odd) => {
                let value = headers.iter().find(|(name, _)| *name == odd).map_or("2025-11-25", |(_, value)| *value);
                headers.push((odd, value));
                if !self.is_modern {
                    headers.push((odd, value));
                }
            }
            _ => {}
        }
        headers.into_iter().fold(request, |request, (name, value)| with(request, name, value))
    }
}

/// The form of a mirrored value that has any character.
fn base64(text: &str) -> String {
    use base64::Engine as _;

    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(text))
}

/// The values of all members that any reader may take for this one.
fn all<'t>(message: &'t Tree, name: &'t str) -> impl Iterator<Item = &'t Tree> {
    let folded = |key: &str| key.replace('\u{17f}', "s").to_lowercase();
    message.members().iter().filter(move |(key, _)| folded(key) == name).map(|(_, value)| value)
}

/// The tools that any reader may run.
fn runs(message: &Tree) -> Vec<&str> {
    if let Tree::List(messages) = message {
        return messages.iter().flat_map(runs).collect();
    }
    let calls = all(message, "method").any(|method| method.as_text() == Some("tools/call"));
    let names = all(message, "params").flat_map(|params| all(params, "name")).filter(|_| calls);
    names.filter_map(Tree::as_text).collect()
}

/// Whatever was sent, this must hold of what arrived. And the caller hears of each call.
async fn holds(mut case: Case) -> Result<(), TestCaseError> {
    let body = case.body();
    let server = case.server();
    let layer = match case.who {
        Who::Fixed(audience) => AppsLayer::new().audience(Fixed(audience)),
        Who::Declared(_) => AppsLayer::new().audience(Auto),
        Who::Header(_) => AppsLayer::new().audience(ByHeader::new(HeaderName::from_static("x-audience"))),
    };
    // Apps are declared in the message: a legacy call without a session declares nothing, nor does one that is two-faced.
    if matches!(case.who, Who::Declared(true)) && (!case.is_modern || case.is_two_faced()) {
        case.who = Who::Declared(false);
    }
    let is_host = case.who.audience() == Audience::Host;
    let gate = layer.layer(server.clone());
    // On a cold catalogue, and on one that is known.
    for round in 0..2 {
        let answer = send(gate.clone(), case.request(&body)).await;
        let received = server.take();
        let (look_ups, arrived): (Vec<&Received>, Vec<&Received>) =
            received.iter().partition(|received| received.method() == "tools/list");
        for arrived in &arrived {
            let tree = match Tree::read(&arrived.bytes()) {
                Some(tree) => tree,
                None if is_host => Tree::Null,
                None => return Err(TestCaseError::fail("what cannot be read was forwarded")),
            };
            let hidden = runs(&tree)
                .into_iter()
                .find(|ran| NAMES.iter().position(|name| name == ran).is_some_and(|name| !case.is_visible(name)));
            prop_assert!(hidden.is_none(), "{hidden:?} ran: {body}");
            prop_assert_eq!(&arrived.bytes(), body.as_bytes());
        }
        if is_host {
            prop_assert_eq!((arrived.len(), look_ups.len()), (1, 0));
            continue;
        }
        let is_listed = |name: usize| case.entries.iter().any(|(entry, _)| *entry == name);
        let are_known = case.calls.iter().all(|(name, _)| is_listed(*name));
        prop_assert!(round == 0 || look_ups.is_empty() || !are_known);
        if case.is_faulty() {
            prop_assert!(arrived.is_empty(), "{:?} was forwarded: {body}", case.fault);
            prop_assert_eq!(answer.status.as_u16(), 400, "{}", answer.text());
            continue;
        }
        if case.calls.iter().all(|(name, _)| case.is_visible(*name)) {
            prop_assert_eq!(arrived.len(), 1, "{} {}", body, answer.text());
            prop_assert!(answer.status.is_success());
            continue;
        }
        prop_assert!(arrived.is_empty());
        let code = if case.is_batch { -32600 } else { -32602 };
        prop_assert_eq!(answer.error_code(), code, "{}", answer.text());
        if !case.is_batch {
            prop_assert!(answer.text().contains(&format!(r#""id":{},"#, case.calls[0].1)), "{}", answer.text());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn what_is_hidden_never_arrives_and_what_is_visible_is_not_refused(case in cases()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(holds(case))?;
    }
}

#[test]
fn the_lax_reader_of_these_tests_sees_every_reading() {
    for (body, expected) in [
        (r#"{"method":"tools/call","params":{"name":"a","Name":"b"}}"#, &["a", "b"][..]),
        (r#"{"Method":"tools/call","method":"ping","params":{"name":"a"},"PARAM\u017f":{"name":"b"}}"#, &["a", "b"]),
        (r#"[{"method":"ping","params":{"name":"a"}},{"method":"tools/call","params":{"name":"b"}}]"#, &["b"]),
        (r#"{"params":{"name":"a"},"result":{}}"#, &[]),
    ] {
        assert_eq!(runs(&Tree::read(body.as_bytes()).expect("JSON")), expected, "{body}");
    }
}
