//! Behaviour of the `json` floor on hand-made input; `tests/json` have the generated input.

use bytes::Bytes;

use super::*;

fn skip(text: impl AsRef<[u8]>) -> Result<Span, ErrorKind> {
    let mut reader = Reader::new(text.as_ref());
    let span = reader.skip().map_err(|error| error.kind())?;
    reader.end().map_err(|error| error.kind())?;
    Ok(span)
}

fn string(text: &str) -> Str<'_> {
    Reader::new(text.as_bytes()).string().unwrap()
}

/// Reads `source` as an object, edits it and gives what comes of it.
fn edited(source: &str, edit: impl FnOnce(&mut Object<'_>)) -> String {
    let mut object = Object::default();
    object.read(&mut Reader::new(source.as_bytes())).unwrap();
    edit(&mut object);
    let mut splice = Splice::default();
    object.emit(&mut splice);
    let (mut emitted, mut rendered) = (Vec::new(), Vec::new());
    splice.apply_into(source.as_bytes(), &mut emitted);
    assert_eq!(splice.is_empty(), !object.is_edited());
    object.render(&mut rendered);
    assert_eq!(String::from_utf8_lossy(&rendered), String::from_utf8_lossy(&emitted).trim());
    String::from_utf8(emitted).unwrap()
}

/// What ends a block, or a run of plain text, at each place of a long string, beside each other such thing.
#[test]
fn long_strings_are_read_as_serde_json_reads_them() {
    let pieces = [
        "", "x", "\"", "\\", "\\\"", "\\\\", "\\n", "\\/", "\\b", "\\f", "\\x", "\\u0041", "\\u00", "\\ud800", "\n",
        "\u{1f}", "\u{7f}", "é",
    ];
    for at in 100..280 {
        for (first, second) in pieces.iter().flat_map(|first| pieces.iter().map(move |second| (first, second))) {
            for gap in ["", "-", "------------"] {
                let plain = "p".repeat(at);
                let text = format!("\"{plain}{first}{gap}{second}{}\"", "q".repeat(70));
                let mut expected =
                    serde_json::Deserializer::from_str(&text).into_iter::<&serde_json::value::RawValue>();
                let expected = expected.next().unwrap().map(|value| value.get()).ok();
                let mut reader = Reader::new(text.as_bytes());
                let read = reader.string().ok();
                assert_eq!(read.map(|read| &text[read.span().start..read.span().end]), expected, "{text}");
                if let Some(read) = read {
                    assert_eq!(read.has_escapes(), read.raw().contains('\\'), "{text}");
                }
            }
        }
    }
}

#[test]
fn errors_say_what_and_where() {
    use ErrorKind::*;
    for (text, kind, offset) in [
        ("", Eof, 0),
        (" ", Eof, 1),
        ("[", Eof, 1),
        ("[1", Eof, 2),
        ("[1,", Eof, 3),
        ("[1,]", ExpectedValue, 3),
        ("[,1]", ExpectedValue, 1),
        ("[1 2]", ExpectedCommaOrEnd, 3),
        ("[1}", ExpectedCommaOrEnd, 2),
        ("{1:2}", ExpectedKey, 1),
        ("{\"a\" 1}", ExpectedColon, 5),
        ("{\"a\":1,}", ExpectedKey, 7),
        ("{\"a\":1]", ExpectedCommaOrEnd, 6),
        ("\"ab", Eof, 3),
        ("\"a\\", Eof, 3),
        ("\"a\\x\"", InvalidEscape, 3),
        ("\"a\\u12g4\"", InvalidEscape, 2),
        ("\"a\\u12", Eof, 6),
        ("\"a\nb\"", ControlCharacter, 2),
        ("tru", Eof, 3),
        ("trux", InvalidLiteral, 0),
        ("01", InvalidNumber, 1),
        ("-", Eof, 1),
        ("1.x", InvalidNumber, 2),
        ("1e+", Eof, 3),
        ("+1", ExpectedValue, 0),
        ("1 x", TrailingCharacters, 2),
        ("\u{feff}1", ExpectedValue, 0),
        ("\u{a0}1", ExpectedValue, 0),
    ] {
        let mut reader = Reader::new(text.as_bytes());
        let error = reader.skip().and_then(|_| reader.end()).unwrap_err();
        assert_eq!((error.kind(), error.offset()), (kind, offset), "{text:?}");
    }
    let error = Reader::new(b"[\"a\xff\"]").skip().unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::Utf8, 3));
}

#[test]
fn a_stop_is_found_at_every_place_of_a_string() {
    for length in 0..200 {
        for at in 0..length {
            let mut text = vec![b'a'; length + 2];
            (text[0], text[length + 1]) = (b'"', b'"');
            for (stop, kind) in [
                (b'\n', ErrorKind::ControlCharacter),
                (0, ErrorKind::ControlCharacter),
                (0x1f, ErrorKind::ControlCharacter),
                (0x80, ErrorKind::Utf8),
                (0xff, ErrorKind::Utf8),
            ] {
                text[at + 1] = stop;
                let error = Reader::new(&text).string().unwrap_err();
                assert_eq!((error.kind(), error.offset()), (kind, at + 1));
            }
            text[at + 1] = b'"';
            let short = Reader::new(&text).string().unwrap();
            assert_eq!(short.span(), Span::new(0, at + 2));
            for plain in [b' ', b'!', b'#', b'[', b']', 0x7f] {
                text[at + 1] = plain;
                let whole = Reader::new(&text).string().unwrap();
                assert_eq!(whole.span(), Span::new(0, length + 2));
                assert!(!whole.has_escapes());
            }
        }
    }
}

#[test]
fn white_space_ends_at_every_place() {
    for length in 0..20 {
        for place in 0..=length {
            for byte in 0..=u8::MAX {
                let mut space = vec![b' '; length];
                space.insert(place, byte);
                let is_space = matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
                for text in [r#"[_1_,_"a"_]"#, r#"{_"a"_:_[_]_,_"b"_:_{_}_}"#] {
                    let parts: Vec<_> = text.split('_').map(str::as_bytes).collect();
                    let (valid, gaps) = (parts.join(&b' '), parts.len() - 1);
                    assert!(skip(&valid).is_ok());
                    for gap in 0..gaps {
                        let mut text = parts[..=gap].join(&b' ');
                        text.extend_from_slice(&space);
                        text.extend(parts[gap + 1..].join(&b' '));
                        // A digit, or a sign of the text itself, may be right there.
                        if is_space || !byte.is_ascii_graphic() {
                            assert_eq!(skip(&text).is_ok(), is_space, "{}", text.escape_ascii());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn depth_is_bounded_without_recursion() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(skip(nested(300)).is_ok());
    assert!(skip(nested(512)).is_ok());
    assert_eq!(skip(nested(513)), Err(ErrorKind::TooDeep));
    assert_eq!(skip("[".repeat(100_000)), Err(ErrorKind::TooDeep));
    assert_eq!(skip("{\"\":".repeat(100_000)), Err(ErrorKind::TooDeep));
    let most = nested(1024);
    assert!(Reader::with_depth(most.as_bytes(), Depth::MAX).skip().is_ok());

    let two = Depth::try_from(2).unwrap();
    let mut reader = Reader::with_depth(b"[[[]]]", two);
    reader.enter_array().unwrap();
    assert!(reader.element().unwrap());
    let before = reader.checkpoint();
    assert_eq!(reader.skip().unwrap_err().kind(), ErrorKind::TooDeep);
    reader.rewind(before);
    reader.enter_array().unwrap();
    assert!(reader.element().unwrap());
    assert_eq!(reader.enter_array().unwrap_err().kind(), ErrorKind::TooDeep);
}

#[test]
fn another_kind_leaves_the_reader_usable() {
    let mut reader = Reader::new(b" [1]");
    assert_eq!(reader.enter_object().unwrap_err().kind(), ErrorKind::UnexpectedKind);
    assert_eq!(reader.string().unwrap_err().kind(), ErrorKind::UnexpectedKind);
    assert_eq!(reader.peek(), Ok(Kind::Array));
    assert_eq!(reader.skip(), Ok(Span::new(1, 4)));
    assert_eq!(reader.end(), Ok(()));
}

#[test]
fn calls_out_of_turn_are_errors() {
    let mut reader = Reader::new(b"[1 2]}");
    let out_of_turn = |error: Error| error.kind() == ErrorKind::OutOfTurn;
    assert!(reader.element().is_err_and(out_of_turn));
    reader.enter_array().unwrap();
    assert!(reader.skip().is_err_and(out_of_turn));
    assert!(reader.element().unwrap());
    assert!(reader.element().is_err_and(out_of_turn));
    reader.skip().unwrap();
    assert!(reader.skip().is_err_and(out_of_turn));
    assert!(reader.end().is_err_and(out_of_turn));
    let mut reader = Reader::new(b"1}");
    reader.skip().unwrap();
    assert!(reader.member().is_err_and(out_of_turn));
}

#[test]
fn a_reader_within_a_span_keeps_the_offsets() {
    let source = br#"{"a": {"b": 1}, "c"}"#;
    let mut reader = Reader::within(source, Span::new(6, 14));
    reader.enter_object().unwrap();
    assert_eq!(reader.member().unwrap().unwrap().span(), Span::new(7, 10));
    assert_eq!(reader.skip(), Ok(Span::new(12, 13)));
    assert!(reader.member().unwrap().is_none());
    assert_eq!(reader.end(), Ok(()));
    assert!(Reader::within(source, Span::new(99, 100)).skip().is_err());
}

#[test]
fn strings_compare_decoded() {
    let escaped = string(r#""\u0075i\/\ud83d\ude00\n""#);
    assert!(escaped.is("ui/😀\n"));
    assert!(!escaped.is("ui/😀"));
    assert!(!escaped.is("ui/😀\n "));
    assert!(escaped.is_ignoring_ascii_case("UI/😀\n"));
    assert!(escaped.starts_with("ui/"));
    assert!(!escaped.starts_with("ui/😀\n!"));
    assert!(escaped.same(&string("\"ui/😀\\u000A\"")));
    assert_eq!(escaped.decode().unwrap(), "ui/😀\n");
    assert!(string("\"Name\"").is_ignoring_ascii_case("nAME"));
    assert!(!string("\"Ä\"").is_ignoring_ascii_case("ä"));
}

#[test]
fn lone_surrogates_are_told_and_compared() {
    let lone = string(r#""a\ud800b""#);
    assert_eq!(lone.decode().unwrap_err().offset(), 2);
    assert!(!lone.is("a\u{fffd}b"));
    assert!(lone.starts_with("a") && !lone.starts_with("a\u{fffd}"));
    assert!(lone.same(&string(r#""\u0061\uD800b""#)));
    assert!(!lone.same(&string(r#""a\ud801b""#)));
    // High, high, low: the first is alone.
    assert!(string(r#""\ud83d\ud83d\ude00""#).decode().is_err());
    assert!(string(r#""\ude00\ud83d""#).decode().is_err());
    assert!(string(r#""\ud83d\\ude00""#).decode().is_err());
}

#[test]
fn written_strings_decode_to_the_text() {
    let text: String = (0..0x300).filter_map(char::from_u32).chain(['😀']).collect();
    let mut out = Vec::new();
    write_string(&text, &mut out);
    assert_eq!(Reader::new(&out).string().unwrap().decode().unwrap(), text);
    assert_eq!(serde_json::from_slice::<String>(&out).unwrap(), text);
    assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
}

#[test]
fn members_go_with_their_commas() {
    let source = r#" { "a" : 1 , "b":2,  "c": 3 } "#;
    let without = |keys: &[&str]| edited(source, |o| keys.iter().for_each(|key| assert!(o.remove(key))));
    assert_eq!(without(&[]), source);
    assert_eq!(without(&["a"]), r#" { "b":2,  "c": 3 } "#);
    assert_eq!(without(&["b"]), r#" { "a" : 1,  "c": 3 } "#);
    assert_eq!(without(&["c"]), r#" { "a" : 1 , "b":2 } "#);
    assert_eq!(without(&["a", "b"]), r#" { "c": 3 } "#);
    assert_eq!(without(&["b", "c"]), r#" { "a" : 1 } "#);
    assert_eq!(without(&["c", "b", "a"]), " {  } ");
}

#[test]
fn members_are_set_in_place_or_behind_the_last() {
    let set = |source: &str| edited(source, |o| o.set("n", "[0]"));
    assert_eq!(set(r#"{ "n" : 1.0 , "b":2}"#), r#"{ "n" : [0] , "b":2}"#);
    assert_eq!(set(r#"{ "b":2 }"#), r#"{ "b":2,"n":[0] }"#);
    assert_eq!(set("{ }"), r#"{"n":[0] }"#);
    assert_eq!(set(r#"{"n":[0]}"#), r#"{"n":[0]}"#);
    assert_eq!(set(r#"{"\u006e":1,"x":2,"n":3}"#), r#"{"x":2,"n":[0]}"#);
    assert_eq!(set(r#"{"n":1,"x":2,"n":[0]}"#), r#"{"x":2,"n":[0]}"#);

    let source = r#"{"a":1,"b":2}"#;
    assert_eq!(
        edited(source, |o| {
            o.remove("b");
            o.set("c", "3");
        }),
        r#"{"a":1,"c":3}"#
    );
    assert_eq!(
        edited(source, |o| {
            o.remove("a");
            o.remove("b");
            o.set("c\n", "3");
        }),
        r#"{"c\n":3}"#
    );
    assert_eq!(
        edited(source, |o| {
            o.remove("a");
            o.set("a", "1");
        }),
        source
    );
    assert_eq!(
        edited(source, |o| {
            o.set("a", "7");
            o.set("a", "1");
        }),
        source
    );
    assert_eq!(
        edited(source, |o| {
            o.set("c", "7");
            o.remove("c");
        }),
        source
    );
}

#[test]
fn pending_state_is_what_is_seen() {
    let mut object = Object::default();
    let source = br#"{"a":1,"\u0061":"x","b":null}"#;
    object.read(&mut Reader::new(source)).unwrap();
    assert!(object.has_duplicates() && object.is_in_source() && !object.is_edited());
    assert_eq!(object.count("a"), 2);
    assert_eq!(object.get("a").unwrap().as_str().unwrap(), "x");
    assert!(object.is_untouched("a"));

    object.set("a", "2");
    assert_eq!(object.count("a"), 1);
    assert!(!object.is_untouched("a") && object.is_edited());
    assert_eq!(object.get("a").unwrap().bytes(), b"2");
    assert_eq!(object.get("a").unwrap().span(), None);
    assert_eq!(object.original("a").unwrap().bytes(), br#""x""#);
    object.set("z", "{}");
    assert!(object.get("z").unwrap().is_object());
    assert!(object.remove("b") && !object.remove("b"));
    let keys: Vec<_> = object.members().map(|(key, _)| key.decode().unwrap()).collect();
    assert_eq!(keys, ["a", "z"]);

    object.start_empty();
    assert!(object.is_empty() && !object.is_in_source() && !object.is_edited());
    object.set("k", "1");
    object.set("l", "2");
    let mut out = Vec::new();
    object.render(&mut out);
    assert_eq!(out, br#"{"k":1,"l":2}"#);
    assert!(object.read(&mut Reader::new(b"{\"a\":1,")).is_err());
    assert!(object.is_empty());
}

#[test]
fn duplicates_are_seen_among_many_members() {
    let mut many: Vec<String> = (0..100).map(|n| format!("\"k{n}\":0")).collect();
    let read = |members: &[String]| {
        let source = format!("{{{}}}", members.join(","));
        let mut object = Object::default();
        object.read(&mut Reader::new(source.as_bytes())).unwrap();
        object.has_duplicates()
    };
    assert!(!read(&many));
    many.push(r#""\u006b50":1"#.into());
    assert!(read(&many));
}

#[test]
fn no_edit_gives_the_source_itself() {
    let source = Bytes::from(vec![b'x'; 100]);
    let mut frames = Splice::default().apply(&source);
    assert_eq!((frames.len(), frames.size_hint()), (100, (1, Some(1))));
    assert_eq!(frames.next().unwrap().as_ptr(), source.as_ptr());
    assert!(frames.is_empty() && frames.next().is_none());
}

#[test]
fn long_untouched_runs_are_not_copied() {
    let source: Bytes = (0..4 * FRAME).map(|at| at as u8).collect();
    let mut splice = Splice::default();
    // Asked for out of order.
    splice.remove(Span::new(3 * FRAME, 3 * FRAME + 10));
    splice.insert(3 * FRAME + 10, b"new");
    splice.replace(Span::new(10, 20), b"first");
    let mut expected = Vec::new();
    splice.apply_into(&source, &mut expected);
    let frames: Vec<Bytes> = splice.apply(&source).collect();
    assert_eq!(frames.concat(), expected);
    let lengths: Vec<usize> = frames.iter().map(Bytes::len).collect();
    assert_eq!(lengths, [15, 3 * FRAME - 20, 3 + FRAME - 10]);
    assert_eq!(frames[1].as_ptr(), source[20..].as_ptr());
}

#[test]
fn edits_are_forgotten_back_to_a_mark() {
    let mut splice = Splice::default();
    splice.insert(1, b"a");
    let mark = splice.mark();
    splice.insert(2, b"b");
    splice.rewind(mark);
    splice.insert(3, b"c");
    let mut out = Vec::new();
    splice.apply_into(b"0123", &mut out);
    assert_eq!(out, b"0a12c3");
    splice.clear();
    assert!(splice.is_empty());
}
