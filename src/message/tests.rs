//! What becomes of a message in which an entry is refused, and of one that answers another request than was guessed.

use std::cell::Cell;

use http::StatusCode;

use super::{Answer, Capabilities, Entry, Refusal, Sites, Wants, walk};
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
