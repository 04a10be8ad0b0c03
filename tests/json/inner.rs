//! Edits of JSON text within a string give what a slow twin gives that knows how each character is spelt.

use proptest::prelude::*;
use tower_mcp_apps::json::{InnerText, Reader, Span, Splice, write_string};

use crate::texts;

/// How one character is spelt.
type Spelt = (char, String);

/// A spelling of a character: plain where that is allowed, with a short escape where there is one, or in hexadecimal digits.
fn spell(character: char, choice: u8) -> String {
    let short = match character {
        '"' => Some("\\\""),
        '\\' => Some("\\\\"),
        '/' => Some("\\/"),
        '\u{8}' => Some("\\b"),
        '\u{c}' => Some("\\f"),
        '\n' => Some("\\n"),
        '\r' => Some("\\r"),
        '\t' => Some("\\t"),
        _ => None,
    };
    let must = character < ' ' || matches!(character, '"' | '\\');
    match (choice % 8, short) {
        (0, _) => {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }
        (1, Some(short)) => short.to_owned(),
        (_, Some(short)) if must => short.to_owned(),
        (2, _) if character.len_utf16() == 2 => {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04X}")).collect()
        }
        (_, None) if must => format!("\\u{:04X}", u32::from(character)),
        _ => character.to_string(),
    }
}

fn spelt() -> impl Strategy<Value = Vec<Spelt>> {
    (texts::value(), prop::collection::vec(any::<u8>(), 1..40)).prop_map(|(text, choices)| {
        let spelling = |(at, character): (usize, char)| (character, spell(character, choices[at % choices.len()]));
        text.chars().enumerate().map(spelling).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_no_edit_is_about_keeps_its_escapes(
        spelt in spelt(),
        wishes in prop::collection::vec((any::<prop::sample::Index>(), 0..6usize, "[ -~é😀\n\"\\\\]{0,6}"), 0..6),
    ) {
        let raw: String = spelt.iter().map(|(_, raw)| raw.as_str()).collect();
        let source = format!("[1, \"{raw}\" ]");
        let decoded: String = spelt.iter().map(|(character, _)| character).collect();
        let mut reader = Reader::new(source.as_bytes());
        reader.enter_array().unwrap();
        reader.element().unwrap();
        reader.skip().unwrap();
        reader.element().unwrap();
        let inner = InnerText::new(reader.string().unwrap()).unwrap();
        prop_assert_eq!(inner.text(), &decoded);

        // Edits of characters, none over another, in any order.
        let mut edits = Splice::default();
        let mut model: Vec<String> = spelt.iter().map(|(_, raw)| raw.clone()).collect();
        model.push(String::new());
        let mut taken = vec![false; spelt.len() + 1];
        let byte = |at: usize| spelt[..at].iter().map(|(character, _)| character.len_utf8()).sum::<usize>();
        for (at, length, text) in &wishes {
            let at = at.index(spelt.len() + 1);
            let end = (at + length).min(spelt.len());
            if taken[at..=end].iter().any(|taken| *taken) {
                continue;
            }
            taken[at..=end].fill(true);
            edits.replace(Span::new(byte(at), byte(end)), text.as_bytes());
            let mut escaped = Vec::new();
            write_string(text, &mut escaped);
            let escaped = String::from_utf8(escaped).unwrap();
            model[at..end].fill(String::new());
            model[at].insert_str(0, &escaped[1..escaped.len() - 1]);
        }

        let mut splice = Splice::default();
        inner.emit(&edits, &mut splice);
        let mut out = Vec::new();
        splice.apply_into(source.as_bytes(), &mut out);
        let expected = format!("[1, \"{}\" ]", model.concat());
        prop_assert_eq!(String::from_utf8(out).unwrap(), expected.clone());

        // And it stands for the edited text.
        let mut whole = Vec::new();
        edits.apply_into(decoded.as_bytes(), &mut whole);
        let read: serde_json::Value = serde_json::from_str(&expected).unwrap();
        prop_assert_eq!(read[1].as_str().map(str::as_bytes), Some(whole.as_slice()));
    }
}

#[test]
fn a_text_with_a_lone_surrogate_is_none() {
    let string = Reader::new(br#""{\"a\":\"\ud800\"}""#).string().unwrap();
    assert!(InnerText::new(string).is_err());
}
