//! `InnerText`: JSON text that stands within a JSON string, read decoded and edited where it stands.

use std::borrow::Cow;

use super::span::Span;
use super::splice::Splice;
use super::string::{LoneSurrogate, Str, unescape, write_escaped};

/// JSON text within a JSON string, such as a server writes into a result that is meant for a model.
///
/// It is read as the [text](InnerText::text) that it stands for. What is asked of that text is then asked of the
/// source in which the string stands: only what an edit is about changes there, all else keeps its escapes, byte for
/// byte. What an edit writes has the escapes that it must have and no others.
///
/// ```
/// # use tower_mcp_apps::json::{InnerText, Object, Reader, Splice};
/// let source = br#"{"text":"{\u0022a\":1.0,\"b\":\"\u00e9\"}"}"#;
/// let mut reader = Reader::new(source);
/// reader.enter_object().unwrap();
/// reader.member().unwrap();
/// let inner = InnerText::new(reader.string().unwrap()).unwrap();
///
/// let (mut object, mut edits, mut splice) = (Object::default(), Splice::default(), Splice::default());
/// object.read(&mut Reader::new(inner.text().as_bytes())).unwrap();
/// object.set("c", "\"x\"");
/// object.emit(&mut edits);
/// inner.emit(&edits, &mut splice);
/// let mut out = Vec::new();
/// splice.apply_into(source, &mut out);
/// assert_eq!(out, br#"{"text":"{\u0022a\":1.0,\"b\":\"\u00e9\",\"c\":\"x\"}"}"#);
/// ```
#[derive(Clone, Debug)]
pub struct InnerText<'a> {
    string: Str<'a>,
    text: Cow<'a, str>,
}

impl<'a> InnerText<'a> {
    /// The text that a string stands for.
    ///
    /// # Errors
    /// It has a lone surrogate, so it stands for none.
    pub fn new(string: Str<'a>) -> Result<Self, LoneSurrogate> {
        Ok(Self { string, text: string.decode()? })
    }

    /// The text, for a reader.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Asks `splice`, whose source has the string, for all edits of the text.
    ///
    /// Edits must begin and end between characters, as those of JSON do.
    pub fn emit(&self, edits: &Splice, splice: &mut Splice) {
        let mut way = Way { raw: self.string.raw().as_bytes(), at: 0, decoded: 0 };
        // Behind the opening quote.
        let start = self.string.span().start + 1;
        for (span, ink) in edits.ordered() {
            let from = way.to(span.start);
            let to = way.to(span.end);
            let ink = String::from_utf8_lossy(ink);
            splice.replace_with(Span::new(start + from, start + to), |out| write_escaped(&ink, out));
        }
    }
}

/// A place in a string, once as it stands and once decoded. It only goes on.
struct Way<'a> {
    raw: &'a [u8],
    at: usize,
    decoded: usize,
}

impl Way<'_> {
    /// Where this offset of the decoded text stands.
    fn to(&mut self, decoded: usize) -> usize {
        while self.decoded < decoded {
            let rest = self.raw.get(self.at..).unwrap_or_default();
            match rest.split_first() {
                Some((b'\\', escape)) => {
                    let (code, used) = unescape(escape);
                    self.at += 1 + used;
                    self.decoded += char::from_u32(code).map_or(3, char::len_utf8);
                }
                Some(_) => {
                    let run = memchr::memchr(b'\\', rest).unwrap_or(rest.len()).min(decoded - self.decoded);
                    self.at += run;
                    self.decoded += run;
                }
                None => break,
            }
        }
        self.at
    }
}
