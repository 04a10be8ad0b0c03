//! Strategies for JSON texts: odd white space, escapes in keys, duplicates, long numbers, non-ASCII, long strings.

use proptest::prelude::*;

pub(crate) fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![8 => Just(""), 2 => Just(" "), 1 => Just("\n\t"), 1 => Just(" \r\n          ")]
}

/// Few, so that they meet; each with its disguises.
pub(crate) fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        r#""a""#,
        r#""\u0061""#,
        r#""b""#,
        r#""ui""#,
        r#""\u0075i""#,
        r#""ui\/x""#,
        r#""é""#,
        r#""\u00e9""#,
        r#""\ud83d\ude00""#,
        r#""😀""#,
        r#""\ud800""#,
        r#""\uD800""#,
        r#""""#,
    ])
}

/// What edits name; all but the last two can be met.
pub(crate) fn plain_key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b", "ui", "ui/x", "é", "😀", "", "new", "odd\"\n\\"])
}

pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => "[ -!#-\\[\\]-~]{0,12}",
        1 => "[ -!#-\\[\\]-~]{30,100}",
        2 => "[é😀漢\u{7f}\u{80}\u{2028}]{1,3}",
        2 => r#"\\(["\\/bfnrt]|u[0-9a-fA-F]{4}|ud8[0-9a-f]{2}|ud[c-f][0-9a-f]{2}|ud83d\\ude0[0-9])"#,
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => string(),
        1 => "-?(0|[1-9][0-9]{0,3}|[1-9][0-9]{28,32})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        1 => prop::sample::select(vec!["true", "false", "null", "1.0", "-0.0", "{}", "[]"])
            .prop_map(str::to_owned),
    ]
}

/// A value without white space around it.
pub(crate) fn value() -> BoxedStrategy<String> {
    scalar().prop_recursive(4, 40, 5, |inner| prop_oneof![1 => array(inner.clone()), 2 => object(inner)]).boxed()
}

pub(crate) fn array(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let item = (space(), inner, space()).prop_map(|(a, b, c)| format!("{a}{b}{c}"));
    (prop::collection::vec(item, 0..6), space()).prop_map(|(items, empty)| match items.len() {
        0 => format!("[{empty}]"),
        _ => format!("[{}]", items.join(",")),
    })
}

pub(crate) fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let spaces = [space(), space(), space(), space()];
    let member = (spaces, key(), inner).prop_map(|([a, b, c, d], key, value)| format!("{a}{key}{b}:{c}{value}{d}"));
    (prop::collection::vec(member, 0..6), space()).prop_map(|(members, empty)| match members.len() {
        0 => format!("{{{empty}}}"),
        _ => format!("{{{}}}", members.join(",")),
    })
}
