//! The `_meta` of an entry, with its nested `ui`, and the edits that concerns ask of it.

use crate::json::{Error, Key, Kind, Object, Reader, Span, Splice, Value};
use crate::protocol::meta;

/// How a member that should be an object stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// There is none.
    #[default]
    Absent,
    /// It is an object.
    Object,
    /// It is something else, and so says nothing.
    Other,
}

/// The `_meta` of an entry, with its nested `ui` object: a small ordered object of raw values.
#[derive(Debug, Default)]
pub struct Meta<'a> {
    state: Shape,
    /// Where it is `null`, which some servers write for all that they do not have.
    null: Option<Span>,
    object: Object<'a>,
    ui_state: Shape,
    ui: Object<'a>,
    is_ambiguous: bool,
}

impl<'a> Meta<'a> {
    /// The value of a member, pending edits included. The members of `ui` have [their own](Self::ui_get).
    pub fn get(&self, key: &str) -> Option<Value<'_>> {
        self.object.get(key)
    }

    /// The names of its members, pending edits included.
    pub fn keys(&self) -> impl Iterator<Item = Key<'_>> {
        self.object.members().map(|(key, _)| key)
    }

    /// The value of a member as it came.
    pub fn original(&self, key: &str) -> Option<Value<'a>> {
        (self.state == Shape::Object).then(|| self.object.original(key)).flatten()
    }

    /// Sets a member to this JSON text, in its place or behind the others. No effect where `_meta` is there and is
    /// neither an object nor `null`, and where the member is the same text, however it is spelt.
    pub fn set(&mut self, key: &str, raw: impl AsRef<[u8]>) {
        if self.can_be_edited() && !is_text(self.get(key), raw.as_ref()) {
            self.object.set(key, raw);
        }
    }

    /// Gives a member the JSON text that `change` makes of its value, however often it stands there; `None` leaves it.
    pub fn change(&mut self, key: &str, change: impl Fn(Value<'_>) -> Option<Vec<u8>>) {
        self.object.change(key, change);
    }

    /// The same of a member of `ui`.
    pub fn ui_change(&mut self, key: &str, change: impl Fn(Value<'_>) -> Option<Vec<u8>>) {
        if self.ui() == Shape::Object {
            self.ui.change(key, change);
        }
    }

    /// Removes a member, however often it stands there.
    pub fn remove(&mut self, key: &str) {
        self.object.remove(key);
    }

    /// How `_meta` itself stands, as it came.
    pub fn state(&self) -> Shape {
        self.state
    }

    /// How `ui` stands, pending edits included.
    pub fn ui(&self) -> Shape {
        match self.ui_state {
            Shape::Absent if self.ui.is_edited() => Shape::Object,
            Shape::Object if self.object.get(meta::UI).is_none() => Shape::Absent,
            state => state,
        }
    }

    /// The value of a member of `ui`, pending edits included.
    pub fn ui_get(&self, key: &str) -> Option<Value<'_>> {
        (self.ui() == Shape::Object).then(|| self.ui.get(key)).flatten()
    }

    /// Sets a member of `ui` to this JSON text, and makes `ui` (and `_meta`) where they are missing. No effect
    /// where one of them is there and is no object, but for a `_meta` that is `null`, and where the member is the same text,
    /// however it is spelt.
    pub fn ui_set(&mut self, key: &str, raw: impl AsRef<[u8]>) {
        if !is_text(self.ui_get(key), raw.as_ref()) && self.make_ui() {
            self.ui.set(key, raw);
        }
    }

    /// Removes `ui`, and all that was asked of it.
    pub fn remove_ui(&mut self) {
        self.object.remove(meta::UI);
        self.ui.start_empty();
        self.ui_state = Shape::Absent;
    }

    /// Sets a member of `ui` to the value that a member of `_meta` has, as [`ui_set`](Self::ui_set) would. No effect
    /// where there is none.
    pub fn ui_set_from(&mut self, ui_key: &str, key: &str) {
        if self.object.get(key).is_some()
            && self.make_ui()
            && let Some(value) = self.object.get(key)
        {
            self.ui.set(ui_key, value.bytes());
        }
    }

    /// Makes `ui` where it is missing. False where it, or `_meta`, cannot be edited.
    fn make_ui(&mut self) -> bool {
        if !self.can_be_edited() || self.ui_state == Shape::Other {
            return false;
        }
        if self.ui_state == Shape::Absent && !self.ui.is_edited() {
            // Its place is behind what is there now, whatever is added before it is written.
            self.object.set(meta::UI, "{}");
        }
        true
    }

    /// Sets a member to the value that a member of `ui` has, as [`set`](Self::set) would. No effect where there is none.
    pub fn set_from_ui(&mut self, key: &str, ui_key: &str) {
        if self.can_be_edited()
            && self.ui() == Shape::Object
            && let Some(value) = self.ui.get(ui_key)
            && !is_text(self.get(key), value.bytes())
        {
            self.object.set(key, value.bytes());
        }
    }

    /// Removes a member of `ui`.
    pub fn ui_remove(&mut self, key: &str) {
        self.ui.remove(key);
    }

    /// Becomes the `_meta` of an entry that has none.
    pub(super) fn clear(&mut self) {
        self.state = Shape::Absent;
        self.null = None;
        self.object.start_empty();
        self.ui_state = Shape::Absent;
        self.ui.start_empty();
        self.is_ambiguous = false;
    }

    /// Whether it, a member within, or one of its `ui`, says two things.
    pub(super) fn is_ambiguous(&self) -> bool {
        self.is_ambiguous
    }

    /// Reads the next value as a `_meta`, over what was in this one.
    pub(super) fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.clear();
        if reader.peek()? != Kind::Object {
            self.state = Shape::Other;
            let is_null = reader.peek()? == Kind::Null;
            self.null = Some(reader.skip()?).filter(|_| is_null);
            return Ok(());
        }
        self.state = Shape::Object;
        self.object.read(reader)?;
        self.is_ambiguous = self.object.has_duplicates();
        let Some(ui) = self.object.original(meta::UI) else { return Ok(()) };
        match ui.span() {
            Some(span) if ui.is_object() => {
                self.ui_state = Shape::Object;
                self.ui.read(&mut Reader::within(reader.source(), span))?;
                self.is_ambiguous |= self.ui.has_duplicates();
            }
            _ => self.ui_state = Shape::Other,
        }
        Ok(())
    }

    fn can_be_edited(&self) -> bool {
        self.state != Shape::Other || self.null.is_some()
    }

    fn is_edited(&self) -> bool {
        self.object.is_edited() || self.ui.is_edited()
    }

    /// Writes the pending edits down, of a `_meta` that stands in the source.
    pub(super) fn emit_in_place(&mut self, splice: &mut Splice) {
        if self.state != Shape::Absent {
            self.emit(0, false, splice);
        }
    }

    /// Writes the pending edits down: in the source where `_meta` stands there, else as a member behind `end`.
    pub(super) fn emit(&mut self, end: usize, is_first: bool, splice: &mut Splice) {
        if self.ui_state == Shape::Absent {
            if self.ui.is_edited() {
                let ui = &self.ui;
                self.object.set_with(meta::UI, |out| ui.render(out));
            } else {
                self.object.remove(meta::UI);
            }
        }
        if !self.is_edited() {
            return;
        }
        match self.state {
            Shape::Object => {
                self.object.emit(splice);
                if self.ui_state == Shape::Object && self.object.is_untouched(meta::UI) {
                    self.ui.emit(splice);
                }
            }
            Shape::Absent => splice.insert_with(end, |out| {
                out.extend_from_slice(if is_first { b"\"_meta\":" } else { b",\"_meta\":" });
                self.object.render(out);
            }),
            Shape::Other => {
                if let Some(null) = self.null {
                    splice.replace_with(null, |out| self.object.render(out));
                }
            }
        }
    }
}

/// Whether a value is the text that this JSON text is, too: one that is spelt in another way is no other.
fn is_text(value: Option<Value<'_>>, raw: &[u8]) -> bool {
    value
        .and_then(|value| value.string())
        .is_some_and(|own| raw.starts_with(b"\"") && Reader::new(raw).string().is_ok_and(|text| own.same(&text)))
}
