//! `Object`: the members of one object and the edits pending on them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::error::Error;
use super::list::Removals;
use super::reader::Reader;
use super::span::Span;
use super::splice::Splice;
use super::string::{LoneSurrogate, Str, write_string};
use super::value::Value;

/// A small ordered object of raw values: where its members stand in the source, and what shall become of them.
///
/// Made to be used again for the next object: [`read`](Object::read) and [`start_empty`](Object::start_empty) forget
/// the members and keep the memory. A member takes some 70 bytes, so bound the source; looking a member up goes
/// through all of them.
///
/// Keys are compared decoded. Where a key stands more than once, its value is the last one's, as nearly every parser
/// reads it.
///
/// # What an edit leaves
/// A member that goes takes comma and white space along as in [`Removals`]. A new one is written compactly behind the
/// last one of the source. A changed value is written in the place of the old one. All else stays as it is. A member
/// that is removed and then set again has never moved.
///
/// # An object within the object
/// The member's value can be read into a second `Object`, see [`Reader::within`], and both can
/// [`emit`](Object::emit) into the same [`Splice`]. The child must do so only where the parent
/// [leaves the member as it came](Object::is_untouched); a child that is not in the source is
/// [rendered](Object::render) into the parent.
///
/// ```
/// # use tower_mcp_apps::json::{Error, Object, Reader, Splice};
/// # fn main() -> Result<(), Error> {
/// let source = br#"{ "ui": {"a": 1.0}, "x": 2 }"#;
/// let (mut meta, mut ui) = (Object::default(), Object::default());
/// meta.read(&mut Reader::new(source))?;
/// if let Some(span) = meta.original("ui").and_then(|value| value.span()) {
///     ui.read(&mut Reader::within(source, span))?;
/// }
/// ui.set("b", "[]");
/// meta.remove("x");
///
/// let mut splice = Splice::default();
/// meta.emit(&mut splice);
/// if meta.is_untouched("ui") {
///     ui.emit(&mut splice);
/// }
/// let mut out = Vec::new();
/// splice.apply_into(source, &mut out);
/// assert_eq!(out, br#"{ "ui": {"a": 1.0,"b":[]} }"#);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default, Debug)]
pub struct Object<'a> {
    source: &'a [u8],
    span: Option<Span>,
    /// Those of the source, then the added ones.
    members: Vec<Member<'a>>,
    /// Names and values that edits wrote.
    ink: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Member<'a> {
    origin: Origin<'a>,
    state: State,
}

#[derive(Clone, Copy, Debug)]
enum Origin<'a> {
    Source {
        key: Str<'a>,
        value: Span,
    },
    /// The name, as a JSON string in the ink.
    Added(Span),
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Kept,
    Removed,
    /// The value, in the ink.
    Set(Span),
}

/// The name of a member of an [`Object`].
#[derive(Clone, Copy, Debug)]
pub struct Key<'v> {
    text: Str<'v>,
    in_source: bool,
}

impl<'v> Key<'v> {
    /// Whether it stands for `text`, see [`Str::is`].
    pub fn is(&self, text: &str) -> bool {
        self.text.is(text)
    }

    /// The text it stands for.
    ///
    /// # Errors
    /// It has a lone surrogate.
    pub fn decode(&self) -> Result<Cow<'v, str>, LoneSurrogate> {
        self.text.decode()
    }

    /// The string as it stands in the source; `None` for an added member.
    pub fn in_source(&self) -> Option<Str<'v>> {
        self.in_source.then_some(self.text)
    }
}

impl<'a> Object<'a> {
    /// Reads the next value, which must be an object, in the place of what was here; gives its span.
    ///
    /// # Errors
    /// The next value is not a valid object; then this is a new, empty one.
    pub fn read(&mut self, reader: &mut Reader<'a>) -> Result<Span, Error> {
        self.start_empty();
        let read = self.read_members(reader);
        if read.is_err() {
            self.start_empty();
        }
        read
    }

    fn read_members(&mut self, reader: &mut Reader<'a>) -> Result<Span, Error> {
        reader.enter_object()?;
        let start = reader.position() - 1;
        while let Some(key) = reader.member()? {
            let value = reader.skip()?;
            self.members.push(Member { origin: Origin::Source { key, value }, state: State::Kept });
        }
        let span = Span::new(start, reader.position());
        self.source = reader.source();
        self.span = Some(span);
        Ok(span)
    }

    /// Becomes a new object that is not in a source yet.
    pub fn start_empty(&mut self) {
        self.span = None;
        self.members.clear();
        self.ink.clear();
    }

    /// Whether it was read from a source.
    pub fn is_in_source(&self) -> bool {
        self.span.is_some()
    }

    /// Where it stands in the source.
    pub fn span(&self) -> Option<Span> {
        self.span
    }

    /// The value of `key` as it will be.
    pub fn get(&self, key: &str) -> Option<Value<'_>> {
        let mut newest_first = self.members.iter().rev();
        newest_first.find_map(|member| {
            let live = member.state != State::Removed && self.key(member).is(key);
            live.then(|| self.value(member)).flatten()
        })
    }

    /// The value of `key` as it came.
    pub fn original(&self, key: &str) -> Option<Value<'a>> {
        let mut newest_first = self.members.iter().rev();
        newest_first.find_map(|member| match member.origin {
            Origin::Source { key: name, value } if name.is(key) => Some(Value::in_source(self.source, value)),
            _ => None,
        })
    }

    /// How many members will have this key.
    pub fn count(&self, key: &str) -> usize {
        self.members().filter(|(name, _)| name.is(key)).count()
    }

    /// Whether some key stands more than once in the source.
    pub fn has_duplicates(&self) -> bool {
        // Comparing each with each is the fastest for few members, but not what an attacker's object may cost.
        const FEW: usize = 16;
        let names = || {
            self.members.iter().filter_map(|member| match &member.origin {
                Origin::Source { key, .. } => Some(key),
                Origin::Added(_) => None,
            })
        };
        if self.members.len() <= FEW {
            let mut rest = names();
            while let Some(name) = rest.next() {
                if rest.clone().any(|other| name.same(other)) {
                    return true;
                }
            }
            return false;
        }
        let mut seen = HashSet::with_capacity(self.members.len());
        !names().all(|name| seen.insert(name.identity()))
    }

    /// The members as they will be, in order.
    pub fn members(&self) -> impl Iterator<Item = (Key<'_>, Value<'_>)> {
        self.members.iter().filter_map(|member| Some((self.key(member), self.value(member)?)))
    }

    /// Whether the member `key` is in the source and will be there as it came, so that edits within its value stand.
    pub fn is_untouched(&self, key: &str) -> bool {
        self.get(key).is_some_and(|value| value.span().is_some())
    }

    /// Gives `key` the value `raw`, which must be JSON text without white space around it. See
    /// [`set_with`](Object::set_with).
    pub fn set(&mut self, key: &str, raw: impl AsRef<[u8]>) {
        self.set_with(key, |ink| ink.extend_from_slice(raw.as_ref()));
    }

    /// Gives `key` the value that `write` appends, which must be JSON text without white space around it; `write`
    /// must only append.
    ///
    /// Afterwards there is exactly one such member: of duplicates the last takes the value and the others go. A
    /// value that is the old one byte for byte is no edit.
    pub fn set_with(&mut self, key: &str, write: impl FnOnce(&mut Vec<u8>)) {
        // Spares the first steps of growth.
        self.ink.reserve(64);
        let start = self.ink.len();
        write(&mut self.ink);
        let text = Span::new(start, self.ink.len());
        debug_assert!(is_value(text.of(&self.ink)), "the value of {key} is not JSON");

        let mut found = None;
        for member in self.members.iter_mut().rev() {
            if member.key(&self.ink).is(key) {
                match found {
                    None => found = Some(member),
                    Some(_) => member.state = State::Removed,
                }
            }
        }
        let Some(member) = found else {
            let name = self.ink.len();
            write_string(key, &mut self.ink);
            self.members
                .push(Member { origin: Origin::Added(Span::new(name, self.ink.len())), state: State::Set(text) });
            return;
        };
        let new = text.of(&self.ink);
        member.state = match (member.origin, member.state) {
            (Origin::Source { value, .. }, _) if value.of(self.source) == new => State::Kept,
            (_, State::Set(old)) if old.of(&self.ink) == new => State::Set(old),
            _ => State::Set(text),
        };
        if member.state != State::Set(text) {
            self.ink.truncate(start);
        }
    }

    /// Gives each member with this key the JSON text that `change` makes of its value; `None` leaves it. Of duplicates each is
    /// changed, and all stay.
    pub fn change(&mut self, key: &str, change: impl Fn(Value<'_>) -> Option<Vec<u8>>) {
        for at in 0..self.members.len() {
            let member = self.members[at];
            if member.state == State::Removed || !member.key(&self.ink).is(key) {
                continue;
            }
            let Some(new) = self.value(&member).and_then(&change) else { continue };
            debug_assert!(is_value(&new), "the value of {key} is not JSON");
            let start = self.ink.len();
            self.ink.extend_from_slice(&new);
            self.members[at].state = State::Set(Span::new(start, self.ink.len()));
        }
    }

    /// Removes every member with this key; says whether there was one.
    pub fn remove(&mut self, key: &str) -> bool {
        let mut removed = false;
        for member in &mut self.members {
            if member.state != State::Removed && member.key(&self.ink).is(key) {
                member.state = State::Removed;
                removed = true;
            }
        }
        removed
    }

    /// Whether it will differ from what it was.
    pub fn is_edited(&self) -> bool {
        self.members.iter().any(|member| match member.origin {
            Origin::Source { .. } => member.state != State::Kept,
            Origin::Added(_) => member.state != State::Removed,
        })
    }

    /// Whether it will have no member.
    pub fn is_empty(&self) -> bool {
        let mut members = self.members.iter();
        members.all(|member| member.state == State::Removed)
    }

    /// Asks `splice` for the pending edits. An object that is not in a source has none; see
    /// [`render`](Object::render).
    pub fn emit(&self, splice: &mut Splice) {
        let Some(span) = self.span.filter(|_| self.is_edited()) else {
            return;
        };
        let mut removals = Removals::default();
        // Where new members go, and whether one of the source stays before them.
        let mut end = span.start + 1;
        let mut any = false;
        for member in &self.members {
            let Origin::Source { key, value } = member.origin else {
                break;
            };
            let place = Span::new(key.span().start, value.end);
            end = place.end;
            if member.state == State::Removed {
                removals.drop(place, splice);
                continue;
            }
            removals.keep(place, splice);
            any = true;
            if let State::Set(text) = member.state {
                splice.replace(value, text.of(&self.ink));
            }
        }
        removals.finish(splice);
        if self.added().next().is_some() {
            splice.insert_with(end, |out| self.write_added(any, out));
        }
    }

    /// Appends the whole object as it will be to `out`: compactly, where it is not in a source, else as an edit of
    /// the source would leave it.
    pub fn render(&self, out: &mut Vec<u8>) {
        let Some(span) = self.span else {
            out.push(b'{');
            self.write_added(false, out);
            out.push(b'}');
            return;
        };
        let mut splice = Splice::default();
        self.emit(&mut splice);
        splice.apply_within(self.source, span, out);
    }

    /// Name and value, in the ink, of the members that are added.
    fn added(&self) -> impl Iterator<Item = (Span, Span)> {
        self.members.iter().filter_map(|member| match (member.origin, member.state) {
            (Origin::Added(name), State::Set(value)) => Some((name, value)),
            _ => None,
        })
    }

    fn write_added(&self, mut comma: bool, out: &mut Vec<u8>) {
        for (name, value) in self.added() {
            if comma {
                out.push(b',');
            }
            comma = true;
            out.extend_from_slice(name.of(&self.ink));
            out.push(b':');
            out.extend_from_slice(value.of(&self.ink));
        }
    }

    fn key<'v>(&'v self, member: &Member<'v>) -> Key<'v> {
        Key { text: member.key(&self.ink), in_source: matches!(member.origin, Origin::Source { .. }) }
    }

    fn value(&self, member: &Member<'_>) -> Option<Value<'_>> {
        match (member.state, member.origin) {
            (State::Set(text), _) => Some(Value::written(text.of(&self.ink))),
            (State::Kept, Origin::Source { value, .. }) => Some(Value::in_source(self.source, value)),
            _ => None,
        }
    }
}

impl<'a> Member<'a> {
    #[inline]
    fn key<'v>(&self, ink: &'v [u8]) -> Str<'v>
    where
        'a: 'v,
    {
        match self.origin {
            Origin::Source { key, .. } => key,
            Origin::Added(name) => {
                // Between the quotes that `write_string` made.
                let raw = Span::new(name.start + 1, name.end.saturating_sub(1)).of(ink);
                Str::new(raw, 0, memchr::memchr(b'\\', raw).is_some())
            }
        }
    }
}

fn is_value(text: &[u8]) -> bool {
    let mut reader = Reader::within(text, Span::new(0, text.len()));
    let whole = Span::new(0, text.len());
    reader.skip() == Ok(whole) && reader.end().is_ok()
}
