//! How a difference is told.

use std::fmt;

/// So much of a text is shown before the place where it differs.
const BEFORE: usize = 40;
/// So much behind it.
const BEHIND: usize = 120;

/// What differs, and where.
#[derive(Debug)]
pub(super) struct Difference {
    at: String,
    what: &'static str,
    texts: Option<(String, String)>,
}

impl Difference {
    /// Two texts that differ.
    pub(super) fn new(at: impl fmt::Display, what: &'static str, before: &[u8], after: &[u8]) -> Self {
        let same = before.iter().zip(after).take_while(|(before, after)| before == after).count();
        let texts = Some((excerpt(before, same), excerpt(after, same)));
        Self { at: at.to_string(), what, texts }
    }

    /// What is there on one side only.
    pub(super) fn one_sided(
        at: impl fmt::Display,
        what: &'static str,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
    ) -> Self {
        let text = |side: Option<&[u8]>| side.map_or_else(|| "nothing".to_owned(), |text| excerpt(text, 0));
        Self { at: at.to_string(), what, texts: Some((text(before), text(after))) }
    }

    pub(super) fn within(self, outer: impl fmt::Display) -> Self {
        Self { at: format!("{}, in {outer}", self.at), ..self }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "  at {}: {}", self.at, self.what)?;
        match &self.texts {
            Some((before, after)) => write!(f, "\n    before: {before}\n    after:  {after}"),
            None => Ok(()),
        }
    }
}

/// A text around a place, with marks where there is more of it.
pub(super) fn excerpt(text: &[u8], place: usize) -> String {
    let start = place.saturating_sub(BEFORE);
    let end = text.len().min(place.saturating_add(BEHIND));
    let shown = String::from_utf8_lossy(text.get(start..end).unwrap_or_default());
    // White space is what some differences are about.
    let shown = shown.replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t");
    let (head, tail) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    if shown.trim() == shown && !shown.is_empty() {
        format!("{head}{shown}{tail}")
    } else {
        format!("{head}{shown:?}{tail}")
    }
}
