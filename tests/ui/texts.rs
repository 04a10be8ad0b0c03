//! Generated texts: plausible origins and URIs, and the same with something hostile inside.

use proptest::prelude::*;
use proptest::sample::select;

const HOSTS: [&str; 18] = [
    "a.com",
    "API.Example.com",
    "localhost",
    "*.example.com",
    "*.com",
    "*",
    "127.0.0.1",
    "127.1",
    "0x7f.1",
    "1.2.3.04",
    "256.1.1.1",
    "[::1]",
    "a.com.",
    "-a.com",
    "a--b.c-d.example",
    "xn--bcher-kva.example",
    "xn--a.com",
    "",
];

fn scheme() -> impl Strategy<Value = &'static str> {
    select(vec!["https", "http", "wss", "ws", "HTTPS", "Ws", "ftp", "data", "ui", "javascript", ""])
}

fn host() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(HOSTS.as_slice()).prop_map(str::to_owned),
        2 => "([a-zA-Z0-9-]{1,6}\\.){0,3}[a-zA-Z0-9-]{1,6}",
        1 => "[0-9a-fx]{1,4}(\\.[0-9a-fx]{1,4}){0,4}",
    ]
}

fn origin() -> impl Strategy<Value = String> {
    let slashes = prop_oneof![8 => Just("://"), 1 => select(vec![":", ":/", ":///", ":\\\\", "//"])];
    let port = prop_oneof![
        4 => Just(String::new()),
        2 => select(vec![":443", ":80", ":8443", ":", ":0", ":080", ":65536", ":*"]).prop_map(str::to_owned),
        1 => (0u32..70_000).prop_map(|port| format!(":{port}")),
    ];
    let tail = prop_oneof![8 => Just(""), 1 => select(vec!["/", "/x", "?x", "#x", "."])];
    (scheme(), slashes, host(), port, tail)
        .prop_map(|(scheme, slashes, host, port, tail)| [scheme, slashes, &host, &port, tail].concat())
}

/// What could end a source, a directive or a policy, or be read differently by another parser.
fn junk() -> impl Strategy<Value = String> {
    let known = [
        " ",
        "\t",
        "\n",
        "\r",
        "\u{c}",
        "\0",
        "\u{7f}",
        "\u{a0}",
        "\u{feff}",
        ";",
        ",",
        "'",
        "\"",
        "\\",
        "@",
        "u:p@",
        "%",
        "%3b",
        "*",
        "//",
        "ü",
        "。",
        ";script-src-elem\tevil.com",
        " https://evil.com",
        "'unsafe-eval'",
        "{x}",
        "<",
        "`",
    ];
    prop_oneof![3 => select(known.to_vec()).prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)]
}

/// The text, in most cases with something put into it.
fn spoiled(text: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (text, prop::collection::vec((any::<prop::sample::Index>(), junk()), 0..3)).prop_map(|(mut text, spots)| {
        for (at, junk) in spots {
            let mut at = at.index(text.len() + 1);
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            text.insert_str(at, &junk);
        }
        text
    })
}

/// An origin or source, or what someone may take for one.
pub(crate) fn source() -> impl Strategy<Value = String> {
    prop_oneof![4 => origin(), 4 => spoiled(origin()), 1 => any::<String>()]
}

/// A `ui://` URI, or what someone may take for one.
pub(crate) fn uri() -> impl Strategy<Value = String> {
    let segment = select(vec!["a", "Dash.html", "..", ".", "%2e", ".%2E", "%20", "%zz", "a+b", "~x", "", "v1:2@3"]);
    let path = prop::collection::vec(segment, 0..4).prop_map(|segments| segments.join("/"));
    let start = prop_oneof![6 => Just("ui://"), 1 => select(vec!["UI://", "ui:", "ui:/", "ui:///", "https://", ""])];
    let authority = select(vec!["s", "My.Server", "ns+s", "a%20b", "..", "u@s", "s:80", "s:", "[::1]", ""]);
    let slash = prop_oneof![4 => Just("/"), 1 => Just("")];
    let tail = prop_oneof![8 => Just(""), 1 => select(vec!["?v=1", "#x", "/"])];
    let uri = (start, authority, slash, path, tail)
        .prop_map(|(start, authority, slash, path, tail)| [start, authority, slash, &path, tail].concat());
    prop_oneof![8 => spoiled(uri), 1 => any::<String>()]
}
