//! Texts of messages as servers could send them: odd, doubled, in any order and spelling, and mostly right.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// JSON white space, mostly none.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![14 => Just(""), 1 => Just(" "), 1 => Just("\n\t"), 1 => Just("\r\n  ")]
}

/// A JSON string of this text, now and then with an escape that need not be.
fn spelled(text: &'static str) -> BoxedStrategy<String> {
    let plain = format!("\"{text}\"");
    let Some(first) = text.chars().next().filter(char::is_ascii) else { return Just(plain).boxed() };
    let escaped = format!("\"\\u{:04x}{}\"", u32::from(first), &text[1..]);
    let slashed = plain.replace('/', "\\/");
    prop_oneof![10 => Just(plain), 1 => Just(escaped), 1 => Just(slashed)].boxed()
}

fn one_of(values: &'static [&'static str]) -> BoxedStrategy<String> {
    select(values).prop_map(str::to_owned).boxed()
}

/// An object or array of these parts, with white space anywhere.
fn joined(brackets: [char; 2], parts: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = String> {
    (parts, vec(space(), 16)).prop_map(move |(parts, spaces)| {
        let mut spaces = spaces.into_iter().cycle();
        let mut next = || spaces.next().unwrap_or_default();
        let parts: Vec<_> = parts.into_iter().map(|part| format!("{}{part}{}", next(), next())).collect();
        format!("{}{}{}{}", brackets[0], next(), parts.join(","), brackets[1])
    })
}

fn member(key: &'static str, value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (spelled(key), space(), space(), value).prop_map(|(key, a, b, value)| format!("{key}{a}:{b}{value}")).boxed()
}

/// An object of some of these members, in any order; now and then one stands twice.
fn object(members: Vec<(u32, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let count = members.len();
    let any_member = prop::strategy::Union::new_weighted(members.clone());
    let each: Vec<_> = members
        .into_iter()
        .map(|(weight, member)| prop::option::weighted(f64::from(weight.min(9)) / 10.0, member))
        .collect();
    let distinct = each.prop_map(|members| members.into_iter().flatten().collect::<Vec<_>>()).prop_shuffle();
    let doubled = vec(any_member, 0..=count);
    joined(['{', '}'], prop_oneof![8 => distinct, 1 => doubled]).boxed()
}

fn scalar() -> BoxedStrategy<String> {
    one_of(&[
        "null",
        "true",
        "false",
        "0",
        "-0.0",
        "1.0",
        "1e5",
        "12345678901234567890123",
        r#""""#,
        r#""a\"b\\""#,
        r#""\u0000""#,
        "\"😀\"",
        "\"\u{2028}\"",
    ])
}

/// Any JSON.
pub(crate) fn any_json() -> BoxedStrategy<String> {
    scalar()
        .prop_recursive(3, 16, 4, |inner| {
            let list = joined(['[', ']'], vec(inner.clone(), 0..4));
            let member = (one_of(&[r#""a""#, r#""tools""#, r#""_meta""#]), inner)
                .prop_map(|(key, value)| format!("{key}:{value}"));
            prop_oneof![list.boxed(), joined(['{', '}'], vec(member, 0..4)).boxed()]
        })
        .boxed()
}

fn or_any(value: BoxedStrategy<String>) -> BoxedStrategy<String> {
    prop_oneof![12 => value, 1 => any_json()].boxed()
}

fn uri() -> BoxedStrategy<String> {
    or_any(prop_oneof![spelled("ui://a/b"), spelled("ui://c"), spelled("https://d"), spelled("UI://e")].boxed())
}

fn visibility() -> BoxedStrategy<String> {
    let name = prop_oneof![4 => spelled("model"), 4 => spelled("app"), 1 => scalar()];
    or_any(prop_oneof![8 => joined(['[', ']'], vec(name, 0..3)).boxed(), 1 => spelled("app")].boxed())
}

fn csp() -> BoxedStrategy<String> {
    let origin = prop_oneof![spelled("https://a.example"), spelled("https://b.example"), spelled("*"), scalar()];
    let list = or_any(joined(['[', ']'], vec(origin, 0..3)).boxed());
    or_any(object(vec![(6, member("connectDomains", list.clone())), (3, member("resourceDomains", list))]))
}

fn ui() -> BoxedStrategy<String> {
    or_any(object(vec![
        (4, member("resourceUri", uri())),
        (5, member("visibility", visibility())),
        (1, member("domain", spelled("https://x"))),
        (2, member("csp", csp())),
        (1, member("prefersBorder", one_of(&["true", "false"]))),
    ]))
}

fn meta() -> BoxedStrategy<String> {
    or_any(object(vec![
        (6, member("ui", ui())),
        (4, member("ui/resourceUri", uri())),
        (1, member("openai/outputTemplate", uri())),
        (1, member("openai/visibility", or_any(prop_oneof![spelled("private"), spelled("public")].boxed()))),
        (1, member("openai/widgetAccessible", one_of(&["true", "false", "1"]))),
        (1, member("openai/widgetDomain", scalar())),
        (1, member("openai/widgetPrefersBorder", scalar())),
        (1, member("com.example/k", any_json())),
    ]))
}

fn entry(names: &'static [&'static str]) -> BoxedStrategy<String> {
    let name = prop::strategy::Union::new(names.iter().map(|name| spelled(name)));
    or_any(object(vec![
        (9, member("name", name.boxed())),
        (7, member("_meta", meta())),
        (3, member("uri", uri())),
        (2, member("mimeType", spelled("text/html;profile=mcp-app"))),
        (2, member("inputSchema", any_json())),
        (2, member("title", scalar())),
        (1, member("text", scalar())),
    ]))
}

/// A list of tools, or of something else that lists can be of.
pub(crate) fn entries() -> BoxedStrategy<String> {
    or_any(joined(['[', ']'], vec(entry(&["open", "poll", "größe"]), 0..5)).boxed())
}

fn settings() -> BoxedStrategy<String> {
    let media_type = prop_oneof![spelled("text/html;profile=mcp-app"), spelled("text/plain"), scalar()];
    let types = or_any(joined(['[', ']'], vec(media_type, 0..3)).boxed());
    or_any(object(vec![(7, member("mimeTypes", types)), (2, member("x", any_json()))]))
}

fn capabilities() -> BoxedStrategy<String> {
    let extensions = or_any(object(vec![
        (6, member("io.modelcontextprotocol/ui", settings())),
        (2, member("com.example/x", any_json())),
    ]));
    or_any(object(vec![
        (8, member("resources", one_of(&["{}", "null", "{\"subscribe\":true}"]))),
        (5, member("tools", one_of(&["{}"]))),
        (5, member("extensions", extensions)),
    ]))
}

/// A result of any method.
pub(crate) fn result() -> BoxedStrategy<String> {
    or_any(object(vec![
        (7, member("tools", entries())),
        (2, member("resources", entries())),
        (1, member("resourceTemplates", entries())),
        (1, member("contents", entries())),
        (4, member("capabilities", capabilities())),
        (4, member("protocolVersion", spelled("2025-11-25"))),
        (1, member("supportedVersions", one_of(&["[]"]))),
        (
            3,
            member("resultType", or_any(prop_oneof![5 => spelled("complete"), 1 => spelled("input_required")].boxed())),
        ),
        (3, member("cacheScope", or_any(prop_oneof![spelled("public"), spelled("private")].boxed()))),
        (2, member("nextCursor", scalar())),
    ]))
}

/// A message of the server, mostly the answer to this id.
pub(crate) fn message(id: &'static str) -> BoxedStrategy<String> {
    let id = prop_oneof![9 => Just(id.to_owned()), 1 => one_of(&["2", "99", "\"1\"", "null"])];
    or_any(object(vec![
        (9, member("jsonrpc", one_of(&["\"2.0\""]))),
        (9, member("id", id.boxed())),
        (9, member("result", result())),
        (1, member("method", spelled("notifications/tools/list_changed"))),
        (1, member("error", any_json())),
    ]))
}

/// An answer to the requests 1 and 2: a message or a batch.
pub(crate) fn answer() -> BoxedStrategy<String> {
    let single = (space(), message("1"), space()).prop_map(|(a, message, b)| format!("{a}{message}{b}"));
    let batch = joined(['[', ']'], vec(prop_oneof![message("1"), message("2")], 0..3));
    prop_oneof![4 => single, 1 => batch].boxed()
}

/// An event stream of these messages, framed in any way.
pub(crate) fn stream(messages: impl Strategy<Value = Vec<String>>) -> impl Strategy<Value = String> {
    let framing =
        (select(vec!["\n", "\r\n", "\r"]), select(vec!["data: ", "data:"]), select(vec!["", "id: 1", ": c", "retry"]));
    (messages, vec(framing, 8), select(vec!["", "\u{feff}"]), any::<bool>()).prop_map(
        |(messages, framings, start, is_ended)| {
            let mut stream = start.to_owned();
            let count = messages.len();
            for (at, (message, (end, data, before))) in
                messages.into_iter().zip(framings.into_iter().cycle()).enumerate()
            {
                if !before.is_empty() {
                    stream.extend([before, end]);
                }
                for line in message.split(['\n', '\r']) {
                    // One space behind the colon is not the data's.
                    let data = if line.starts_with(' ') { "data: " } else { data };
                    stream.extend([data, line, end]);
                }
                if is_ended || at + 1 < count {
                    stream.push_str(end);
                }
            }
            stream
        },
    )
}

/// Where to cut a body.
pub(crate) fn cuts() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop_oneof![vec(any::<prop::sample::Index>(), 0..6), vec(any::<prop::sample::Index>(), 200)]
}

/// Small damage: a byte that is put in, taken out or replaced.
pub(crate) fn damage() -> impl Strategy<Value = Vec<(prop::sample::Index, Option<u8>, bool)>> {
    let byte = prop::option::of(select(b"{}[]\",:\\ \n\r\0ad0\xff\xef".to_vec()));
    vec((any::<prop::sample::Index>(), byte, any::<bool>()), 0..3)
}

pub(crate) fn damaged(text: &str, damage: &[(prop::sample::Index, Option<u8>, bool)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (at, byte, replaces) in damage {
        let at = at.index(bytes.len() + 1);
        if (*replaces || byte.is_none()) && at < bytes.len() {
            bytes.remove(at);
        }
        bytes.splice(at..at, *byte);
    }
    bytes
}
