//! A glance at a server's message, for those that need no more: most events of a stream only tell of progress.

use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

/// What stands in every message that has a site, unless it is written with escapes or [`Wants::UPDATES`](super::Wants::UPDATES) are
/// wanted: the names of an answer's member, and the end of the one notification that is listened to.
static WORDS: LazyLock<[Finder<'static>; 3]> =
    LazyLock::new(|| ["result", "error", "list_changed"].map(|word| Finder::new(word.as_bytes())));

/// Whether [`walk`](super::walk) may find a site in a message. It looks at bytes, and errs only on this side. Whether it is a
/// message at all it does not say.
pub(crate) fn may_have_sites(message: &[u8]) -> bool {
    memchr(b'\\', message).is_some() || WORDS.iter().any(|word| word.find(message).is_some())
}

#[cfg(test)]
mod tests {
    use super::may_have_sites;

    #[test]
    fn answers_and_word_of_changed_tools_are_seen_however_they_are_written() {
        for message in [
            r#"{"id":1,"result":{}}"#,
            r#"{"id":1,"error":{"code":-32601}}"#,
            r#"[{"method":"x"},{"id":1,"result":{}}]"#,
            r#"{"id":1,"r\u0065sult":{}}"#,
            r#"{"method":"notifications/tools/list_changed"}"#,
            r#"{"method":"notifications\/tools\/list_chang\u0065d"}"#,
        ] {
            assert!(may_have_sites(message.as_bytes()), "{message}");
        }
        let progress = r#"{"method":"notifications/progress","params":{"progressToken":1,"progress":2,"message":"Ä"}}"#;
        assert!(!may_have_sites(progress.as_bytes()));
    }
}
