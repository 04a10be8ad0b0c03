//! Capabilities: the server's in an `initialize` or `server/discover` result, and those that a client declares.

use super::edit_capabilities;
use crate::json::{Error, Key, Kind, Object, Reader, Splice, Value};

const EXTENSIONS: &str = "extensions";

/// The `capabilities` of a server, or those that a client declares, with the `extensions` map in them, and the edits
/// that concerns ask of it.
#[derive(Debug, Default)]
pub struct Capabilities<'a> {
    object: Object<'a>,
    extensions: Object<'a>,
    /// `extensions` is there and cannot be edited: it is no object, or stands twice.
    is_odd: bool,
    /// What takes the place of all.
    whole: Option<Vec<u8>>,
    source: &'a [u8],
}

impl<'a> Capabilities<'a> {
    /// Whether the capability is there, and is not `null`.
    pub fn has(&self, capability: &str) -> bool {
        self.object.get(capability).is_some_and(|value| value.kind() != Kind::Null)
    }

    /// Sets a capability to this JSON text, in its place or behind the others.
    pub fn set(&mut self, capability: &str, settings: impl AsRef<[u8]>) {
        self.object.set(capability, settings);
    }

    /// How often an extension stands in the map; more than once, readers differ on which counts.
    pub fn count_extension(&self, identifier: &str) -> usize {
        self.extensions.count(identifier)
    }

    /// The settings of an extension, pending edits included; of doubles the last.
    pub fn extension(&self, identifier: &str) -> Option<Value<'_>> {
        self.extensions.get(identifier)
    }

    /// The extensions of the map with their settings, pending edits included, in order. None where it cannot be edited.
    pub fn extensions(&self) -> impl Iterator<Item = (Key<'_>, Value<'_>)> {
        self.extensions.members()
    }

    /// Whether `extensions` is there and cannot be edited: it is no object, or stands twice.
    pub fn has_odd_extensions(&self) -> bool {
        self.is_odd
    }

    /// Takes an extension out of the map.
    pub fn remove_extension(&mut self, identifier: &str) {
        self.extensions.remove(identifier);
    }

    /// Takes the whole map out, whatever it is; extensions that are set then make it anew.
    pub fn clear_extensions(&mut self) {
        self.object.remove(EXTENSIONS);
        self.extensions.start_empty();
        self.is_odd = false;
    }

    /// Sets the settings of an extension to this JSON text, in its place or behind the others; `extensions` is made where
    /// it is missing. No effect where it is no object, or stands twice.
    pub fn set_extension(&mut self, identifier: &str, settings: impl AsRef<[u8]>) {
        if !self.is_odd {
            self.extensions.set(identifier, settings);
        }
    }

    /// Puts this JSON text of an object in the place of all that is there, and of all edits. Only [`edit`](Self::edit)
    /// shows it.
    pub fn replace(&mut self, capabilities: impl AsRef<[u8]>) {
        self.whole = Some(capabilities.as_ref().to_vec());
    }

    /// Shows what is there by now: these capabilities, or what took [the place](Self::replace) of them.
    pub fn edit(&mut self, mut edit: impl FnMut(&mut Capabilities<'_>)) {
        match self.whole.take() {
            // That is an object, as its own text says.
            Some(whole) => self.whole = Some(edit_capabilities(&whole, edit).unwrap_or(whole)),
            None => edit(self),
        }
    }

    /// Reads the next value, an object, over what was in this one.
    pub(super) fn read(&mut self, reader: &mut Reader<'a>) -> Result<(), Error> {
        self.object.read(reader)?;
        self.whole = None;
        self.source = reader.source();
        self.extensions.start_empty();
        self.is_odd = self.object.count(EXTENSIONS) > 1;
        if let Some(extensions) = self.object.original(EXTENSIONS) {
            match extensions.span() {
                Some(span) if extensions.is_object() => {
                    self.extensions.read(&mut Reader::within(reader.source(), span))?;
                }
                _ => self.is_odd = true,
            }
        }
        Ok(())
    }

    pub(super) fn emit(&mut self, splice: &mut Splice) {
        if let Some(whole) = &self.whole {
            if let Some(span) = self.object.span().filter(|span| *span.of(self.source) != **whole) {
                splice.replace(span, whole);
            }
            return;
        }
        if self.extensions.is_in_source() {
            self.extensions.emit(splice);
        } else if self.extensions.is_edited() {
            let extensions = &self.extensions;
            self.object.set_with(EXTENSIONS, |out| extensions.render(out));
        }
        self.object.emit(splice);
    }
}
