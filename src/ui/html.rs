//! The document of a UI.

use std::fmt;

use crate::protocol::checked_text;

/// An HTML document that a browser reads in standards mode (MCP Apps, "UI Resource Format", Content Requirements).
///
/// Checked is what tells a document from a fragment or another file: `<!doctype html>` first, then `<html`, with white
/// space and comments around them; no NUL. A byte order mark is refused, too: in a JSON string it is a character before
/// the doctype, which puts the page in quirks mode. What follows the `<html` is not looked at.
///
/// ```
/// use tower_mcp_apps::ui::{Html, InvalidHtml};
///
/// assert!(Html::try_from("<!DOCTYPE html>\n<html lang=\"en\"><title>Usage</title></html>").is_ok());
/// assert_eq!(Html::try_from("<p>Usage"), Err(InvalidHtml::Doctype));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Html {
    text: String,
}

impl Html {
    fn parse(text: &str) -> Result<Self, InvalidHtml> {
        text.to_owned().try_into()
    }

    /// The document.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

checked_text!(Html, InvalidHtml);

impl TryFrom<String> for Html {
    type Error = InvalidHtml;

    fn try_from(text: String) -> Result<Self, InvalidHtml> {
        if text.contains('\0') {
            return Err(InvalidHtml::Nul);
        }
        if text.starts_with('\u{feff}') {
            return Err(InvalidHtml::ByteOrderMark);
        }
        let root = behind_doctype(skip_comments(&text)).ok_or(InvalidHtml::Doctype)?;
        match strip_word(skip_comments(root), "<html") {
            Some(rest) if rest.starts_with([' ', '\t', '\n', '\r', '\u{c}', '>']) => Ok(Self { text }),
            _ => Err(InvalidHtml::Root),
        }
    }
}

const SPACE: [char; 5] = [' ', '\t', '\n', '\r', '\u{c}'];

fn behind_doctype(text: &str) -> Option<&str> {
    let name = strip_word(text, "<!doctype")?;
    let rest = name.strip_prefix(SPACE)?.trim_start_matches(SPACE);
    strip_word(rest, "html")?.trim_start_matches(SPACE).strip_prefix('>')
}

/// The text without white space and comments before it. A comment that breaks the rules for its text (HTML, section
/// 13.1.6) stays, since browsers end it elsewhere.
fn skip_comments(mut text: &str) -> &str {
    loop {
        text = text.trim_start_matches(SPACE);
        match text.strip_prefix("<!--").and_then(|behind| behind.split_once("-->")) {
            Some((comment, rest)) if is_comment_text(comment) => text = rest,
            _ => return text,
        }
    }
}

fn is_comment_text(text: &str) -> bool {
    !(text.starts_with('>')
        || text.starts_with("->")
        || text.contains("<!--")
        || text.contains("--!>")
        || text.ends_with("<!-"))
}

fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// Why a text is no [`Html`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidHtml {
    /// It does not begin with `<!doctype html>`.
    Doctype,
    /// `<html` does not follow the doctype.
    Root,
    /// It has a NUL.
    Nul,
    /// It begins with a byte order mark.
    ByteOrderMark,
}

impl fmt::Display for InvalidHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Doctype => "the document does not begin with <!doctype html>",
            Self::Root => "<html does not follow the doctype",
            Self::Nul => "the document has a NUL",
            Self::ByteOrderMark => "the document begins with a byte order mark",
        })
    }
}

impl std::error::Error for InvalidHtml {}
