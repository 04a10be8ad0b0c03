//! Edits of an object, or of a list of objects, against edits of the slow twin's tree. The input is a byte that says how many bytes
//! of edits follow, these, and JSON.
#![no_main]

#[path = "../../tests/json/edit.rs"]
mod edit;
#[path = "../../tests/json/oracle.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod oracle;

use bytes::Bytes;
use edit::{Edit, edit_object, edit_tree, emit};
use libfuzzer_sys::fuzz_target;
use oracle::Node;
use tower_mcp_apps::json::{Depth, Kind, Object, Reader, Removals, Splice};

const KEYS: [&str; 16] = [
    "_meta", "ui", "name", "uri", "tools", "result", "id", "jsonrpc", "visibility", "ui/resourceUri", "é", "\u{1f600}", "", "a",
    "odd\"\n\\", "params",
];

const VALUES: [&str; 4] = ["1.0", r#""x""#, r#"{"a": [1 ]}"#, "null"];

/// Edits of one object, none of them inside another.
fn flat(code: &[u8]) -> Vec<Edit> {
    let each = code.iter().map(|byte| {
        let key = KEYS[usize::from(byte & 15)];
        match byte >> 4 {
            value @ 0..4 => Edit::Set(key, VALUES[usize::from(value)].into()),
            _ => Edit::Remove(key),
        }
    });
    each.collect()
}

/// One child at most is emitted beside its parent, after the parent's own edits.
fn edits(code: &[u8]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut within = None;
    for part in code.chunks(3) {
        let key = KEYS[usize::from(part[0] & 15)];
        match part[0] >> 4 {
            0..10 => edits.extend(flat(part)),
            10 | 11 => edits.push(Edit::Nest(key, flat(&part[1..]))),
            12 | 13 => edits.push(Edit::Rendered(key, flat(&part[1..]))),
            _ => within = Some(Edit::Within(key, flat(&part[1..]))),
        }
    }
    edits.extend(within);
    edits
}

fuzz_target!(|input: &[u8]| {
    let Some((length, rest)) = input.split_first() else { return };
    let Some((code, text)) = rest.split_at_checked(usize::from(*length)) else { return };
    let Some((before, mut node, after)) = oracle::parse(text, Depth::default().get()) else { return };
    let source = Bytes::copy_from_slice(text);
    let (mut object, mut splice) = (Object::default(), Splice::default());
    let mut reader = Reader::new(&source);
    match &mut node {
        Node::Object(..) => {
            let edits = edits(code);
            edit_tree(&mut node, &edits);
            object.read(&mut reader).expect("the twin reads it");
            let beside = edit_object(&mut object, &source, &edits);
            emit(&object, beside.as_ref(), &mut splice);
        }
        Node::Array(items, _) => {
            let mut removals = Removals::default();
            reader.enter_array().expect("the twin reads it");
            let mut wishes = code.chunks(5).cycle();
            for item in items {
                assert!(reader.element().expect("the twin reads it"));
                let wish = wishes.next().unwrap_or_default();
                item.removed = wish.first().is_some_and(|byte| byte % 3 == 0);
                let mark = splice.mark();
                let span = if reader.peek().expect("the twin reads it") == Kind::Object {
                    let edits = edits(wish);
                    edit_tree(&mut item.node, &edits);
                    let span = object.read(&mut reader).expect("the twin reads it");
                    let beside = edit_object(&mut object, &source, &edits);
                    emit(&object, beside.as_ref(), &mut splice);
                    span
                } else {
                    reader.skip().expect("the twin reads it")
                };
                if item.removed {
                    splice.rewind(mark);
                    removals.drop(span, &mut splice);
                } else {
                    removals.keep(span, &mut splice);
                }
            }
            assert!(!reader.element().expect("the twin reads it"));
            removals.finish(&mut splice);
        }
        Node::Leaf(_) => return,
    }
    let mut right = before;
    node.print(&mut right);
    right.extend(after);
    let is_untouched = splice.is_empty();
    let frames: Vec<Bytes> = splice.apply(&source).collect();
    assert_eq!(frames.concat(), right);
    if is_untouched && !source.is_empty() {
        assert_eq!(frames[0].as_ptr(), source.as_ptr());
    }
});
