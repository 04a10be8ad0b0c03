//! A glance at a server's message, for those that need no more: most events of a stream only tell of progress.

/// How many places are looked at together: the compiler uses the vector unit for a fold over so many.
const BLOCK: usize = 32;

/// Whether [`walk`](super::walk) may find a site in a message, unless [`Wants::UPDATES`](super::Wants::UPDATES) are wanted. It looks at
/// bytes, and errs only on this side. Whether it is a message at all it does not say.
///
/// What stands in every message that has a site are the names of an answer's member, `result` and `error`, or the end of the
/// one notification that is listened to, `list_changed`. Escapes can only stand for such letters as `\u`.
pub(crate) fn may_have_sites(message: &[u8]) -> bool {
    let (Some(second), Some(third)) = (message.get(1..), message.get(2..)) else { return false };
    let firsts = &message[..third.len()];
    let seconds = &second[..third.len()];
    let any = |firsts: &[u8; BLOCK], seconds: &[u8; BLOCK], thirds: &[u8; BLOCK]| {
        let places = firsts.iter().zip(seconds).zip(thirds);
        places.fold(false, |any, ((first, second), third)| any | begins_a_word(*first, *second, *third))
    };
    let blocks = firsts.as_chunks().0.iter().zip(seconds.as_chunks().0).zip(third.as_chunks().0);
    if blocks.into_iter().any(|((firsts, seconds), thirds)| any(firsts, seconds, thirds)) {
        return true;
    }
    // What is left is looked at with what stands before it, for a block.
    match (firsts.last_chunk(), seconds.last_chunk(), third.last_chunk()) {
        (Some(firsts), Some(seconds), Some(thirds)) => any(firsts, seconds, thirds),
        _ => message.windows(3).any(|place| begins_a_word(place[0], place[1], place[2])),
    }
}

/// Whether such a word may begin with these bytes: `"re`, `"er`, `_c` and `\u`. Without branches, so that many are looked at together.
#[inline(always)]
fn begins_a_word(first: u8, second: u8, third: u8) -> bool {
    let is_member = ((second == b'r') & (third == b'e')) | ((second == b'e') & (third == b'r'));
    ((first == b'"') & is_member) | ((first == b'_') & (second == b'c')) | ((first == b'\\') & (second == b'u'))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use bytes::Bytes;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::may_have_sites;
    use crate::json::{Depth, Reader, Splice, Str};
    use crate::message::{Answer, Capabilities, Entry, MetaTools, Sites, Wants, walk};
    use crate::protocol::{Era, Method};

    #[test]
    fn answers_and_word_of_changed_tools_are_seen_however_they_are_written() {
        for message in [
            r#"{"id":1,"result":{}}"#,
            r#"{"id":1,"error":{"code":-32601}}"#,
            r#"[{"method":"x"},{"id":1,"result":{}}]"#,
            r#"{"id":1,"r\u0065sult":{}}"#,
            r#"{"id":1,"\u0072esult":{}}"#,
            r#"{"method":"notifications/tools/list_changed"}"#,
            r#"{"method":"notifications\/tools\/list_chang\u0065d"}"#,
        ] {
            for padding in 0..70 {
                let padding = " ".repeat(padding);
                assert!(may_have_sites(format!("{padding}{message}").as_bytes()), "{message}");
                assert!(may_have_sites(format!("{message}{padding}").as_bytes()), "{message}");
            }
        }
        for progress in [
            r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":2,"message":"Ä"}}"#,
            r#"{"method":"notifications/message","params":{"data":"a \"word\"\nof the error's result, request_id"}}"#,
        ] {
            assert!(!may_have_sites(progress.as_bytes()));
        }
    }

    /// Edits whatever there is.
    #[derive(Default)]
    struct Everything {
        meta_tools: MetaTools,
        answer: Option<Method>,
        changes: Cell<usize>,
    }

    impl Sites for Everything {
        fn answer(&self, _: Option<&[u8]>) -> Answer {
            self.answer.map_or(Answer::Unknown, Answer::To)
        }
        fn likely_answer(&self) -> Answer {
            Answer::To(Method::ToolsList)
        }
        fn wants(&self, _: Answer) -> Wants {
            let lists = Wants::TOOLS | Wants::RESOURCES | Wants::TEMPLATES | Wants::CONTENTS | Wants::PROMPTS;
            let others =
                Wants::CAPABILITIES | Wants::PRIVATE | Wants::UNKNOWN_METHOD | Wants::CALL_RESULT | Wants::LINKS;
            lists | others | Wants::ENFORCED | Wants::NOTICES | Wants::WHOLE
        }
        fn era(&self) -> Era {
            Era::Modern
        }
        fn meta_tools(&self) -> Option<&MetaTools> {
            Some(&self.meta_tools)
        }
        fn tools_changed(&self) {
            self.changes.set(self.changes.get() + 1);
        }
        fn instead(&self, _: Answer) -> Option<Bytes> {
            Some(Bytes::from_static(b"{}"))
        }
        fn whole(&self, _: Answer, _: &[u8], _: &[u8]) {
            self.changes.set(self.changes.get() + 1);
        }
        fn entry(&self, entry: &mut Entry<'_>) {
            entry.remove();
        }
        fn capabilities(&self, _: &mut Capabilities<'_>) {}
        fn uri(&self, _: Str<'_>) -> Option<Vec<u8>> {
            Some(b"\"x:\"".to_vec())
        }
    }

    /// A message, or nearly one.
    fn message() -> impl Strategy<Value = String> {
        let keys =
            ["id", "method", "params", "jsonrpc", "other", "result", "error", r"r\u0065sult", r"\u0065rror", "Result"];
        let values = [
            "1",
            r#""é""#,
            r#""notifications/tools/list_changed""#,
            r#""notifications/tasks""#,
            r#""notifications/x\n""#,
            r#"{"result":{"content":[{"type":"text","text":"[{\"name\":\"a\"}]"}]}}"#,
            r#"{"tools":[{"name":"a"}]}"#,
            r#"{"code":-32601,"data":{"uri":"a:b"}}"#,
            r#"{"uri":"a:b","content":[[[]]]}"#,
            "[]",
        ];
        let member =
            (select(keys.to_vec()), select(values.to_vec())).prop_map(|(key, value)| format!("\"{key}\":{value}"));
        let padding = "x{0,40}".prop_map(|padding| format!("\"padding\":\"{padding}\""));
        let members = vec(prop_oneof![3 => member, 1 => padding], 0..5);
        let message = members.prop_map(|members| format!("{{{}}}", members.join(",")));
        let batch = vec(message.clone(), 0..3).prop_map(|messages| format!("[{}]", messages.join(",")));
        prop_oneof![4 => message, 1 => batch]
    }

    fn damaged() -> impl Strategy<Value = Vec<u8>> {
        let damage = select(&b"{}[],:\"\\u1 \xff\0"[..]);
        (message(), any::<Index>(), damage, 0..6).prop_map(|(message, at, damage, how)| {
            let mut message = message.into_bytes();
            let at = at.index(message.len());
            match how {
                0 => message[at] = damage,
                1 => message.insert(at, damage),
                2 => message.truncate(at),
                _ => {}
            }
            message
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Then it only matters whether it is JSON.
        #[test]
        fn where_nothing_is_seen_there_is_nothing(message in damaged(), depth in 1..6_usize, is_list in any::<bool>()) {
            if may_have_sites(&message) {
                return Ok(());
            }
            let depth = Depth::try_from(depth).expect("within the most");
            let sites = Everything { answer: is_list.then_some(Method::ToolsList), ..Everything::default() };
            let mut splice = Splice::default();
            let walked = walk(&message, depth, &sites, &mut splice);
            let mut reader = Reader::with_depth(&message, depth);
            prop_assert_eq!(walked.is_ok(), reader.skip().and_then(|_| reader.end()).is_ok());
            prop_assert!(walked.is_err() || splice.is_empty());
            prop_assert_eq!(sites.changes.get(), 0);
        }
    }
}
