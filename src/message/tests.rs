//! What becomes of a message in which an entry is refused.

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
