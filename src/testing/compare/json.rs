//! Two texts of JSON side by side, by their bytes.

use super::difference::Difference;
use super::pointer::{Allowed, Path, Step};
use crate::json::{Error, Kind, Reader, Span};

/// Compares two texts, and notes what differs where it may not.
pub(super) fn compare(before: &[u8], after: &[u8], allowed: &mut Allowed) -> Vec<Difference> {
    let mut comparison = Comparison { before, after, allowed, found: Vec::new() };
    if before == after {
        return comparison.found;
    }
    match (root(before), root(after)) {
        (Ok(was), Ok(is)) => {
            comparison.space(
                "white space before the message",
                &before[..was.start],
                &after[..is.start],
                &Path::default(),
            );
            comparison.value(&Path::default(), was, is);
            comparison.space("white space behind the message", &before[was.end..], &after[is.end..], &Path::default());
        }
        (Ok(_), Err(_)) => comparison.note(&Path::default(), "it is no JSON any more", before, after),
        (Err(_), _) => comparison.note(&Path::default(), "the bytes differ", before, after),
    }
    comparison.found
}

fn root(text: &[u8]) -> Result<Span, Error> {
    let mut reader = Reader::new(text);
    let span = reader.skip()?;
    reader.end()?;
    Ok(span)
}

struct Comparison<'t> {
    before: &'t [u8],
    after: &'t [u8],
    allowed: &'t mut Allowed,
    found: Vec<Difference>,
}

/// A member or element, and what stands around it.
struct Part<'t> {
    /// The key as it is written, and as it reads; of an element there is none.
    key: &'t [u8],
    name: String,
    /// From the end of what is before.
    gap: &'t [u8],
    /// Between key and value.
    colon: &'t [u8],
    value: Span,
}

struct Parts<'t> {
    parts: Vec<Part<'t>>,
    /// From the end of the last one to the end of the container.
    tail: &'t [u8],
}

impl Comparison<'_> {
    fn note(&mut self, at: &Path, what: &'static str, before: &[u8], after: &[u8]) {
        self.found.push(Difference::new(at, what, before, after));
    }

    fn space(&mut self, what: &'static str, before: &[u8], after: &[u8], at: &Path) {
        if before != after {
            self.note(at, what, before, after);
        }
    }

    fn value(&mut self, path: &Path, was: Span, is: Span) {
        let (before, after) = (was.of(self.before), is.of(self.after));
        if before == after {
            return;
        }
        if self.allowed.allows(path) {
            self.allowed.hit(path);
            return;
        }
        let first = (before.first(), after.first());
        let parts = (parts(self.before, was), parts(self.after, is));
        match (first, parts) {
            ((Some(b'{'), Some(b'{')), (Ok(was), Ok(is))) => self.members(path, &was, &is),
            ((Some(b'['), Some(b'[')), (Ok(was), Ok(is))) => self.elements(path, &was, &is, before, after),
            _ => self.note(path, "the value differs", before, after),
        }
    }

    fn members(&mut self, path: &Path, was: &Parts<'_>, is: &Parts<'_>) {
        let (mut left, mut right) = (was.parts.iter().peekable(), is.parts.iter().peekable());
        // What stands around a member that may come or go may do so, too.
        let mut is_loose = false;
        loop {
            let place = |part: &Part<'_>| path.then(Step::Member(part.name.clone()));
            match (left.peek().copied(), right.peek().copied()) {
                (None, None) => break,
                (Some(was), Some(is)) if was.key == is.key => {
                    let path = place(was);
                    self.around(&path, is_loose, was, is);
                    is_loose = false;
                    self.value(&path, was.value, is.value);
                    left.next();
                    right.next();
                }
                (Some(part), _) if self.allowed.allows(&place(part)) => {
                    self.allowed.hit(&place(part));
                    is_loose = true;
                    left.next();
                }
                (_, Some(part)) if self.allowed.allows(&place(part)) => {
                    self.allowed.hit(&place(part));
                    is_loose = true;
                    right.next();
                }
                (Some(part), other) if other.is_none() || !right.clone().any(|is| is.key == part.key) => {
                    let text = part.value.of(self.before);
                    self.found.push(Difference::one_sided(place(part), "the member is gone", Some(text), None));
                    is_loose = true;
                    left.next();
                }
                (other, Some(part)) if other.is_none() || !left.clone().any(|was| was.key == part.key) => {
                    let text = part.value.of(self.after);
                    self.found.push(Difference::one_sided(place(part), "the member is new", None, Some(text)));
                    is_loose = true;
                    right.next();
                }
                (was, is) => {
                    let key = |part: Option<&Part<'_>>| part.map(|part| part.key.to_vec()).unwrap_or_default();
                    return self.note(path, "the order of the members differs", &key(was), &key(is));
                }
            }
        }
        if !is_loose {
            self.space("white space at the end differs", was.tail, is.tail, path);
        }
    }

    fn elements(&mut self, path: &Path, was: &Parts<'_>, is: &Parts<'_>, before: &[u8], after: &[u8]) {
        let place = |index| path.then(Step::Element(index));
        let mut may_go = (0..was.parts.len()).filter(|index| self.allowed.allows(&place(*index))).count();
        let mut have_gone = was.parts.len().saturating_sub(is.parts.len());
        let may_come = self.allowed.allows(&path.then(Step::End));
        if have_gone > may_go || (is.parts.len() > was.parts.len() && !may_come) {
            let what = if have_gone > 0 { "there are fewer elements" } else { "there are more elements" };
            return self.note(path, what, before, after);
        }
        let mut right = is.parts.iter().peekable();
        let mut is_loose = false;
        for (index, part) in was.parts.iter().enumerate() {
            let is_allowed = self.allowed.allows(&place(index));
            let differs = right.peek().is_none_or(|is| is.value.of(self.after) != part.value.of(self.before));
            let has_gone = is_allowed && have_gone > 0 && (differs || may_go <= have_gone);
            may_go -= usize::from(is_allowed);
            if has_gone {
                self.allowed.hit(&place(index));
                have_gone -= 1;
                is_loose = true;
            } else if let Some(is) = right.next() {
                self.around(&place(index), is_loose, part, is);
                is_loose = false;
                self.value(&place(index), part.value, is.value);
            }
        }
        if right.next().is_some() {
            self.allowed.hit(&path.then(Step::End));
        } else if !is_loose {
            self.space("white space at the end differs", was.tail, is.tail, path);
        }
    }

    fn around(&mut self, path: &Path, is_loose: bool, was: &Part<'_>, is: &Part<'_>) {
        if !is_loose {
            self.space("white space before it differs", was.gap, is.gap, path);
        }
        self.space("white space around the colon differs", was.colon, is.colon, path);
    }
}

/// What an object or a list is made of.
fn parts(text: &[u8], span: Span) -> Result<Parts<'_>, Error> {
    let mut reader = Reader::within(text, span);
    let mut parts = Vec::new();
    let mut end = span.start + 1;
    let mut add = |start: usize, key: Span, name: String, value: Span| {
        parts.push(Part {
            key: key.of(text),
            name,
            gap: Span::new(end, start).of(text),
            colon: Span::new(key.end, value.start).of(text),
            value,
        });
        end = value.end;
    };
    match reader.peek()? {
        Kind::Object => {
            reader.enter_object()?;
            while let Some(key) = reader.member()? {
                let name = key.decode().map_or_else(|_| key.raw().to_owned(), |name| name.into_owned());
                let value = reader.skip()?;
                add(key.span().start, key.span(), name, value);
            }
        }
        Kind::Array => {
            reader.enter_array()?;
            while reader.element()? {
                let value = reader.skip()?;
                add(value.start, Span::new(value.start, value.start), String::new(), value);
            }
        }
        _ => {}
    }
    let tail = Span::new(end, span.end).of(text);
    Ok(Parts { parts, tail })
}
