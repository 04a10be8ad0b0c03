//! The gateway's cursors: those of all upstreams that have more, in one, so that nothing is remembered here.
//!
//! Base64url of `{"list":METHOD,"private":BOOLEAN,"next":{NAME:CURSOR…}}`. The upstreams' cursors stand in it as they wrote them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use tower_mcp_apps::json::{Object, Reader, write_string};

/// The longest cursor: it comes back in a request's body, together with what else that has.
const LONGEST: usize = 64 * 1024;

/// Where in a merged list the next page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// Whether the pages before were for one caller only: then all are (MCP 2026-07-28, "Caching", Interaction with Pagination).
    pub(crate) private: bool,
    /// The upstreams that have more, and the JSON strings that are their cursors.
    pub(crate) next: Vec<(String, Vec<u8>)>,
}

impl Cursor {
    /// The text of the cursor in a list of `method`; `None` where it would be too long.
    pub(crate) fn encode(&self, method: &str) -> Option<String> {
        let mut next = Object::default();
        for (name, cursor) in &self.next {
            next.set(name, cursor);
        }
        let mut cursor = Object::default();
        cursor.set_with("list", |out| write_string(method, out));
        cursor.set("private", if self.private { "true" } else { "false" });
        cursor.set_with("next", |out| next.render(out));
        let mut text = Vec::new();
        cursor.render(&mut text);
        Some(URL_SAFE_NO_PAD.encode(text)).filter(|text| text.len() <= LONGEST)
    }

    /// What a text says that [`encode`](Self::encode) wrote for the same list; `None` for any other.
    pub(crate) fn decode(method: &str, text: &str) -> Option<Self> {
        let text = URL_SAFE_NO_PAD.decode(Some(text).filter(|text| text.len() <= LONGEST)?).ok()?;
        let mut reader = Reader::new(&text);
        let mut cursor = Object::default();
        cursor.read(&mut reader).ok()?;
        reader.end().ok()?;
        let private = match cursor.get("private")?.bytes() {
            b"true" => true,
            b"false" => false,
            _ => return None,
        };
        let mut next = Object::default();
        next.read(&mut cursor.original("next")?.reader()).ok()?;
        if cursor.get("list")?.as_str()? != method || cursor.has_duplicates() || next.has_duplicates() {
            return None;
        }
        let next = next.members().map(|(name, cursor)| {
            let is_text = cursor.as_str().is_some();
            Some((name.decode().ok()?.into_owned(), is_text.then(|| cursor.bytes().to_vec())?))
        });
        next.collect::<Option<Vec<_>>>().filter(|next| !next.is_empty()).map(|next| Self { private, next })
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;

    use super::{Cursor, LONGEST};

    #[test]
    fn it_comes_back_as_it_went() {
        let next = vec![("maps".to_owned(), br#""p\u00e4ge=2""#.to_vec()), ("notes".to_owned(), b"\"\"".to_vec())];
        for private in [false, true] {
            let cursor = Cursor { private, next: next.clone() };
            let text = cursor.encode("tools/list").expect("it is short");
            assert_eq!(Cursor::decode("tools/list", &text), Some(cursor));
            assert_eq!(Cursor::decode("prompts/list", &text), None, "a cursor of another list");
        }
    }

    #[test]
    fn what_is_foreign_is_none() {
        for foreign in [
            "",
            "{}",
            "null",
            r#"{"list":"tools/list","private":false,"next":{}}"#,
            r#"{"list":"tools/list","private":0,"next":{"a":"1"}}"#,
            r#"{"list":"tools/list","private":false,"next":{"a":1}}"#,
            r#"{"list":"tools/list","private":false,"next":{"a":"1","a":"2"}}"#,
            r#"{"list":"tools/list","private":false,"next":["a"]}"#,
            r#"{"list":"tools/list","private":false,"next":{"a":"\ud800"}}"#,
            r#"{"list":"tools/list","private":false,"next":{"a":"1"}} x"#,
        ] {
            assert_eq!(Cursor::decode("tools/list", &URL_SAFE_NO_PAD.encode(foreign)), None, "{foreign}");
            assert_eq!(Cursor::decode("tools/list", foreign), None, "{foreign}");
        }
    }

    #[test]
    fn it_is_bounded() {
        let cursor = Cursor { private: false, next: vec![("a".into(), format!("\"{}\"", "x".repeat(LONGEST)).into())] };
        assert_eq!(cursor.encode("tools/list"), None);
    }
}
