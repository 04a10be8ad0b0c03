//! What is written as nearly all clients write it is compared and not read: it must come to the same.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::de::IgnoredAny;

use super::{Payload, Unreadable};
use crate::json::{Depth, ErrorKind};
use crate::message::MetaTools;

/// Names of members of a message, of its `params`, of `_meta` and of capabilities.
const LEVELS: [&[&str]; 4] = [
    &["method", "id", "params", "result", "error", "jsonrpc", "Method", "params2", "p\\u0061rams", "x"],
    &[
        "name",
        "uri",
        "_meta",
        "protocolVersion",
        "capabilities",
        "arguments",
        "cursor",
        "NAME",
        "argumentſ",
        "_m\\u0065ta",
        "",
    ],
    &[
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol\\/clientCapabilities",
        "io.modelcontextprotocol/clientinfo",
        "io.modelcontextprotocol/clientInfo",
        "x",
    ],
    &["extensions", "Extensions", "ext\\u0065nsions", "x"],
];
/// Values that stand as they are.
const VALUES: &[&str] = &[
    "7",
    "null",
    "\"\"",
    "\"2.0\"",
    "\"2.0\\u0030\"",
    "\"tools/call\"",
    "\"initialize\"",
    "\"2026-07-28\"",
    "\"2026-07-29\"",
    "\"\\ud800\"",
    "[]",
    "[{}]",
    "{}",
    r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#,
    r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]},"x":1}"#,
    r#"{"tool":"a"}"#,
];

/// A value: one of those that stand as they are, or an object.
#[derive(Clone, Debug)]
enum Json {
    Text(&'static str),
    Object(Vec<(&'static str, Json)>),
}

/// An object of this level, in which those of the levels behind it may stand.
fn object(level: usize) -> BoxedStrategy<Json> {
    let leaf = select(VALUES).prop_map(Json::Text).boxed();
    let value =
        (level + 1..LEVELS.len()).fold(leaf, |value, level| prop_oneof![1 => value, 2 => object(level)].boxed());
    proptest::collection::vec((select(LEVELS[level]), value), 0..6).prop_map(Json::Object).boxed()
}

impl Json {
    /// The text with a space at these places about each member: before its name, its colon and its value, and behind it.
    fn write(&self, spaced: [bool; 4], out: &mut String) {
        let [name_space, colon_space, value_space, end_space] =
            spaced.map(|is_spaced| if is_spaced { " " } else { "" });
        match self {
            Self::Text(text) => out.push_str(text),
            Self::Object(members) => {
                out.push('{');
                for (at, (name, value)) in members.iter().enumerate() {
                    out.push_str(if at > 0 { "," } else { "" });
                    *out += &format!("{name_space}\"{name}\"{colon_space}:{value_space}");
                    value.write(spaced, out);
                    out.push_str(end_space);
                }
                out.push('}');
            }
        }
    }

    /// What is read of it, without the space.
    fn read(&self, spaced: [bool; 4], depth: Depth, meta_tools: &MetaTools) -> String {
        let mut text = String::new();
        self.write(spaced, &mut text);
        match Payload::read_with(text.as_bytes(), depth, meta_tools) {
            Ok(Payload::Single(call)) => {
                let texts = [call.id, call.extensions, call.meta, call.capabilities];
                let texts = texts.map(|text| text.map(|text| String::from_utf8_lossy(text).replace(' ', "")));
                let said = (&call.method, &call.name, &call.uri, &call.role, &call.target, &call.version);
                let is = (call.is_wrapped, call.has_cursor, call.declares_version, call.declares_capabilities);
                format!("{texts:?} {said:?} {is:?} {} {:?}", call.is_response, call.fault)
            }
            Ok(batch) => format!("{batch:?}"),
            Err(Unreadable::Json(error)) => format!("{:?}", error.kind()),
            Err(error) => format!("{error:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn a_message_says_the_same_however_it_is_spaced(
        message in object(0),
        spaced in any::<[bool; 4]>(),
        depth in 1_usize..8,
        meta in any::<bool>(),
    ) {
        let meta_tools = if meta { MetaTools::new().call_tool("tools/call", "tool") } else { MetaTools::new() };
        let depth = Depth::try_from(depth).expect("in range");
        prop_assert_eq!(message.read([false; 4], depth, &meta_tools), message.read(spaced, depth, &meta_tools));
    }

    #[test]
    fn a_message_without_one_of_its_bytes_is_read_where_it_is_still_json(message in object(0), at in any::<Index>()) {
        let mut text = String::new();
        message.write([false; 4], &mut text);
        let at = at.index(text.len());
        prop_assume!(text.is_char_boundary(at) && text.is_char_boundary(at + 1));
        text.remove(at);
        let is_json = serde_json::from_str::<IgnoredAny>(&text).is_ok();
        let read = Payload::read(text.as_bytes(), Depth::default());
        prop_assert_eq!(!matches!(read, Err(Unreadable::Json(_))), is_json, "{}", text);
    }
}

#[test]
fn what_is_known_counts_as_deep_as_it_is() {
    let message = r#"{"method":"initialize","params":{"capabilities":{"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}}"#;
    let read = |depth| Payload::read(message.as_bytes(), Depth::try_from(depth).expect("in range")).map(|_| ());
    assert_eq!(read(6), Ok(()));
    let Err(Unreadable::Json(error)) = read(5) else { panic!("it is too deep") };
    assert_eq!(error.kind(), ErrorKind::TooDeep);
    let Err(Unreadable::Json(error)) = Payload::read(br#"{"jsonrpc":"2.0"x}"#, Depth::default()).map(|_| ()) else {
        panic!("it is no JSON")
    };
    assert_eq!((error.kind(), error.offset()), (ErrorKind::ExpectedCommaOrEnd, 16));
}
