//! What becomes of a message in which an entry is refused or added, of an error, and of an answer that was not guessed.

use std::cell::Cell;

use bytes::Bytes;
use http::StatusCode;

use super::{Answer, Capabilities, Entry, EntryKind, Refusal, Sites, Walked, Wants, walk};
use crate::json::{Depth, Splice};
use crate::protocol::{Era, Method, code};

/// Refuses entries whose URI is `ui://bad`, and removes those whose URI is `ui://gone`.
struct Picky;

impl Sites for Picky {
    fn answer(&self, _: Option<&[u8]>) -> Answer {
        Answer::Unknown
    }

    fn likely_answer(&self) -> Answer {
        Answer::To(Method::ResourcesRead)
    }

    fn wants(&self, answer: Answer) -> Wants {
        Wants::CONTENTS | Wants::RESOURCES.when(answer == Answer::Unknown)
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn tools_changed(&self) {}

    fn entry(&self, entry: &mut Entry<'_>) {
        if entry.uri().is_some_and(|uri| uri.is("ui://gone")) {
            entry.remove();
        }
        if entry.uri().is_some_and(|uri| uri.is("ui://bad")) {
            entry.refuse(Refusal::new(StatusCode::OK, code::INTERNAL_ERROR, "no"));
            entry.refuse(Refusal::new(StatusCode::OK, code::INTERNAL_ERROR, "not the first"));
        }
    }

    fn capabilities(&self, _: &mut Capabilities<'_>) {}
}

fn walked(source: &str) -> String {
    let mut splice = Splice::default();
    walk(source.as_bytes(), Depth::default(), &Picky, &mut splice).expect("the message is JSON");
    let mut out = Vec::new();
    splice.apply_into(source.as_bytes(), &mut out);
    String::from_utf8(out).expect("an answer is UTF-8")
}

#[test]
fn an_error_takes_the_place_of_its_message_alone() {
    let error = |id: &str| format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32603,"message":"no"}}}}"#);
    let good = r#"{"id":1,"result":{"contents":[{"uri":"ui://good"},{"uri":"ui://gone"}]}}"#;
    let bad = r#"{"result":{"contents":[{"uri":"ui://gone"},{"uri":"ui://bad"},{"uri":"ui://good"}]},"id" : "a"}"#;
    assert_eq!(walked(bad), error(r#""id":"a","#));
    let kept = good.replace(r#",{"uri":"ui://gone"}"#, "");
    assert_eq!(walked(&format!("[{good}, {bad} ,{good}]")), format!("[{kept}, {} ,{kept}]", error(r#""id":"a","#)));
}

#[test]
fn an_id_that_cannot_be_told_is_left_out() {
    let error = r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}"#;
    for id in ["", r#""id":null,"#, r#""id":1,"id":2,"#, r#""id":{},"#] {
        assert_eq!(walked(&format!(r#"{{{id}"result":{{"resources":[{{"uri":"ui://bad"}}]}}}}"#)), error, "{id}");
    }
}

/// Removes all that is listed in the answer to the request with the id 1, for templates, or 2, for resources.
#[derive(Default)]
struct Emptying {
    changes: Cell<usize>,
}

impl Sites for Emptying {
    fn answer(&self, id: Option<&[u8]>) -> Answer {
        match id {
            Some(b"1") => Answer::To(Method::TemplatesList),
            Some(b"2") => Answer::To(Method::ResourcesList),
            _ => Answer::Unknown,
        }
    }

    fn likely_answer(&self) -> Answer {
        Answer::To(Method::TemplatesList)
    }

    fn wants(&self, _: Answer) -> Wants {
        Wants::RESOURCES | Wants::TEMPLATES
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn tools_changed(&self) {
        self.changes.set(self.changes.get() + 1);
    }

    fn entry(&self, entry: &mut Entry<'_>) {
        entry.remove();
    }

    fn capabilities(&self, _: &mut Capabilities<'_>) {}
}

fn emptied(source: &str) -> (String, usize) {
    let (mut splice, sites) = (Splice::default(), Emptying::default());
    walk(source.as_bytes(), Depth::default(), &sites, &mut splice).expect("the message is JSON");
    let mut out = Vec::new();
    splice.apply_into(source.as_bytes(), &mut out);
    (String::from_utf8(out).expect("an answer is UTF-8"), sites.changes.get())
}

#[test]
fn the_id_decides_what_a_list_is_and_not_the_guess() {
    let both = r#""result":{"resources":[1],"resourceTemplates":[2]}"#;
    for (id, left) in [
        (r#""id":1"#, r#""result":{"resources":[1],"resourceTemplates":[]}"#),
        (r#""id":2"#, r#""result":{"resources":[],"resourceTemplates":[2]}"#),
        (r#""id":3"#, r#""result":{"resources":[],"resourceTemplates":[]}"#),
        (r#""id":1,"id":1"#, r#""result":{"resources":[],"resourceTemplates":[]}"#),
        (r#""id":null"#, r#""result":{"resources":[],"resourceTemplates":[]}"#),
    ] {
        assert_eq!(emptied(&format!("{{{both},{id}}}")).0, format!("{{{left},{id}}}"));
        assert_eq!(emptied(&format!("{{{id},{both}}}")).0, format!("{{{id},{left}}}"));
    }
}

#[test]
fn a_change_is_told_once() {
    let notice = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(emptied(notice), (notice.to_owned(), 1));
    let batch = format!("[{notice},{notice}]");
    assert_eq!(emptied(&batch), (batch.clone(), 2));
}

/// Adds `{}` and `{"uri":"ui://b"}` to resources, removes numbers, and names the others.
struct Adding;

impl Sites for Adding {
    fn answer(&self, id: Option<&[u8]>) -> Answer {
        id.map_or(Answer::Unknown, |_| Answer::To(Method::ResourcesList))
    }

    fn likely_answer(&self) -> Answer {
        Answer::To(Method::ResourcesList)
    }

    fn wants(&self, _: Answer) -> Wants {
        Wants::RESOURCES | Wants::UNKNOWN_METHOD | Wants::PRIVATE
    }

    fn era(&self) -> Era {
        Era::Modern
    }

    fn tools_changed(&self) {}

    fn added(&self, answer: Answer, list: EntryKind) -> Vec<Bytes> {
        let is_ours = (answer, list) == (Answer::To(Method::ResourcesList), EntryKind::Resource);
        let texts: &[&str] = if is_ours { &["{}", r#"{"uri":"ui://b"}"#, "0"] } else { &[] };
        texts.iter().map(|text| Bytes::from(*text)).collect()
    }

    fn instead(&self, _: Answer) -> Option<Bytes> {
        Some(Bytes::from_static(br#"{"resources":[]}"#))
    }

    fn entry(&self, entry: &mut Entry<'_>) {
        if entry.is_object() {
            let added = if entry.is_added() { "true" } else { "false" };
            entry.meta_mut().set("added", added);
        } else {
            entry.remove();
        }
    }

    fn capabilities(&self, _: &mut Capabilities<'_>) {}
}

fn added(source: &str) -> (String, Walked) {
    let mut splice = Splice::default();
    let walked = walk(source.as_bytes(), Depth::default(), &Adding, &mut splice).expect("the message is JSON");
    let mut out = Vec::new();
    splice.apply_into(source.as_bytes(), &mut out);
    (String::from_utf8(out).expect("an answer is UTF-8"), walked)
}

const ADDED: &str = r#"{"_meta":{"added":true}},{"uri":"ui://b","_meta":{"added":true}}"#;

#[test]
fn entries_are_added_behind_those_that_stay_and_are_seen_as_they_are() {
    for (list, edited) in [
        ("[]", "[ADDED]"),
        ("[ ]", "[ADDED ]"),
        ("[1, 2]", "[ADDED]"),
        ("[{ } ,1 ]", r#"[{"_meta":{"added":false} },ADDED ]"#),
        ("[1 ,{ }]", r#"[{"_meta":{"added":false} },ADDED]"#),
    ] {
        let message = |list| format!(r#"{{"id":1,"result":{{"resources":{list},"cacheScope":"private"}}}}"#);
        let expected = message(edited.replace("ADDED", ADDED));
        assert_eq!(added(&message(list.to_owned())), (expected, Walked::Same));
    }
    let unknown = r#"{"result":{"resources":[],"cacheScope":"private"}}"#;
    assert_eq!(added(unknown).0, unknown);
}

#[test]
fn a_result_takes_the_place_of_an_error_of_its_message_alone() {
    let mended = format!(r#"{{"jsonrpc":"2.0","id":"a","result":{{"resources":[{ADDED}],"cacheScope":"private"}}}}"#);
    let error = r#"{"error":{"code":-32601,"message":"no"} ,"id":"a"}"#;
    assert_eq!(added(error), (mended.clone(), Walked::Mended));
    for spelling in ["-32601.0", "-326.01e2"] {
        assert_eq!(added(&error.replace("-32601", spelling)), (mended.clone(), Walked::Mended));
    }
    let other = r#"{"id":1,"error":{"code":-32602}}"#;
    assert_eq!(added(&format!("[{other} , {error}]")), (format!("[{other} , {mended}]"), Walked::Mended));
    for kept in [
        other,
        r#"{"id":1,"error":{"code":-32601.5}}"#,
        r#"{"error":{"code":-32601}}"#,
        r#"{"id":1,"error":-32601}"#,
        r#"{"id":1,"error":{"code":"-32601"}}"#,
    ] {
        assert_eq!(added(kept), (kept.to_owned(), Walked::Same));
    }
}
