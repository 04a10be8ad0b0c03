//! Edits on spans give, byte for byte, what the slow twin's edits on its tree give.

use bytes::Bytes;
use proptest::prelude::*;
use tower_mcp_apps::json::{Kind, Object, Reader, Removals, Span, Splice};

use crate::edit::{Edit, edit_object, edit_tree, emit};
use crate::oracle::{self, Node};
use crate::texts;

fn edits() -> BoxedStrategy<Vec<Edit>> {
    let flat = || {
        prop_oneof![
            3 => (texts::plain_key(), texts::value()).prop_map(|(key, raw)| Edit::Set(key, raw)),
            1 => texts::plain_key().prop_map(|key| Edit::Set(key, "1.0".into())),
            2 => texts::plain_key().prop_map(Edit::Remove),
        ]
    };
    let inner = || (texts::plain_key(), prop::collection::vec(flat(), 0..4));
    let edit = prop_oneof![
        6 => flat(),
        1 => inner().prop_map(|(key, edits)| Edit::Nest(key, edits)),
        1 => inner().prop_map(|(key, edits)| Edit::Rendered(key, edits)),
    ];
    // One child at most is emitted beside its parent, after the parent's own edits.
    (prop::collection::vec(edit, 0..5), prop::option::of(inner()))
        .prop_map(|(mut edits, within)| {
            edits.extend(within.map(|(key, inner)| Edit::Within(key, inner)));
            edits
        })
        .boxed()
}

fn check(source: &Bytes, splice: Splice, (before, node, after): (Vec<u8>, Node, Vec<u8>)) -> Result<(), TestCaseError> {
    let mut right = before;
    node.print(&mut right);
    right.extend(after);
    let mut out = Vec::new();
    splice.apply_into(source, &mut out);
    prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&right));
    let untouched = splice.is_empty();
    let frames: Vec<Bytes> = splice.apply(source).collect();
    prop_assert_eq!(frames.concat(), right);
    if untouched {
        prop_assert_eq!(frames.len(), 1);
        prop_assert_eq!(frames[0].as_ptr(), source.as_ptr());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn the_tree_prints_what_it_read(text in texts::value(), space in texts::space()) {
        let text = format!("{space}{text}{space}").into_bytes();
        let tree = oracle::parse(&text, 512).unwrap();
        check(&Bytes::from(text), Splice::default(), tree)?;
    }

    #[test]
    fn an_object_is_edited_as_the_twin_does(
        text in texts::object(texts::value()),
        edits in edits(),
        space in texts::space(),
    ) {
        let source = Bytes::from(format!("{space}{text}{space}"));
        let mut tree = oracle::parse(&source, 512).unwrap();
        let original = tree.1.live();
        edit_tree(&mut tree.1, &edits);

        let mut object = Object::default();
        object.read(&mut Reader::new(&source)).unwrap();
        let mut keys: Vec<_> = original.iter().map(|(key, _)| key).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(object.has_duplicates(), keys.len() < original.len());
        let beside = edit_object(&mut object, &source, &edits);
        let mut splice = Splice::default();
        emit(&object, beside.as_ref(), &mut splice);

        if beside.is_none() {
            let live = tree.1.live();
            let members: Vec<_> = object.members().map(|(_, value)| value.bytes().to_vec()).collect();
            prop_assert_eq!(&members, &live.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>());
            prop_assert_eq!(object.is_empty(), live.is_empty());
            prop_assert_eq!(object.is_edited(), !splice.is_empty());
            for key in ["a", "b", "ui", "é", "😀", "", "new", "odd\"\n\\"] {
                let units: Vec<u16> = key.encode_utf16().collect();
                let mut right = live.iter().rev().filter(|(name, _)| *name == units);
                prop_assert_eq!(object.count(key), right.clone().count());
                let value = object.get(key).map(|value| value.bytes());
                prop_assert_eq!(value, right.next().map(|(_, text)| &text[..]));
                let mut right = original.iter().rev().filter(|(name, _)| *name == units);
                let value = object.original(key).map(|value| value.bytes());
                prop_assert_eq!(value, right.next().map(|(_, text)| &text[..]));
            }
        }
        check(&source, splice, tree)?;
    }

    #[test]
    fn a_list_is_filtered_and_edited_as_the_twin_does(
        text in texts::array(prop_oneof![1 => texts::value(), 3 => texts::object(texts::value())]),
        wishes in prop::collection::vec((any::<bool>(), edits()), 6),
        space in texts::space(),
    ) {
        let source = Bytes::from(format!("{space}{text}{space}"));
        let mut tree = oracle::parse(&source, 512).unwrap();
        let Node::Array(items, _) = &mut tree.1 else { panic!("no array") };
        for (item, (drop, edits)) in items.iter_mut().zip(&wishes) {
            item.removed = *drop;
            if let Node::Object(..) = item.node {
                edit_tree(&mut item.node, edits);
            }
        }

        let (mut object, mut removals, mut splice) = (Object::default(), Removals::default(), Splice::default());
        let mut reader = Reader::new(&source);
        reader.enter_array().unwrap();
        let mut wishes = wishes.iter();
        while reader.element().unwrap() {
            let (drop, edits) = wishes.next().unwrap();
            let mark = splice.mark();
            let span: Span;
            if reader.peek().unwrap() == Kind::Object {
                span = object.read(&mut reader).unwrap();
                let beside = edit_object(&mut object, &source, edits);
                emit(&object, beside.as_ref(), &mut splice);
            } else {
                span = reader.skip().unwrap();
            }
            if *drop {
                splice.rewind(mark);
                removals.drop(span, &mut splice);
            } else {
                removals.keep(span, &mut splice);
            }
        }
        reader.end().unwrap();
        removals.finish(&mut splice);
        check(&source, splice, tree)?;
    }
}
