//! What a client's message declares, found and edited: the capabilities in `initialize`, and in `_meta` of the modern era.

use bytes::Bytes;

use super::Capabilities;
use crate::frames::Frames;
use crate::json::{Depth, Error, Kind, Reader, Splice};
use crate::protocol::{Method, meta};

/// Edits the capabilities that a client declares in a body, which is one message or a batch, wherever they stand as an
/// object: what is none declares nothing. `None` where nothing is to be edited.
///
/// # Errors
///
/// The body is not JSON, or nests deeper than `depth`.
pub(crate) fn redeclare(
    body: &Bytes,
    depth: Depth,
    edit: impl FnMut(&mut Capabilities<'_>),
) -> Result<Option<Frames>, Error> {
    let mut reader = Reader::with_depth(body, depth);
    let mut declarations = Declarations { edit, splice: Splice::default() };
    if reader.peek()? == Kind::Array {
        reader.enter_array()?;
        while reader.element()? {
            declarations.message(&mut reader)?;
        }
    } else {
        declarations.message(&mut reader)?;
    }
    reader.end()?;
    Ok(declarations.apply(body))
}

/// The same in the JSON text of a `_meta`, which is an object.
///
/// # Errors
///
/// It is no object.
pub(crate) fn redeclare_meta(meta: &Bytes, edit: impl FnMut(&mut Capabilities<'_>)) -> Result<Option<Frames>, Error> {
    let mut declarations = Declarations { edit, splice: Splice::default() };
    // It was read before, and to its end.
    declarations.meta(&mut Reader::with_depth(meta, Depth::MAX))?;
    Ok(declarations.apply(meta))
}

/// The same in the JSON text of capabilities.
///
/// # Errors
///
/// It is no object.
pub(crate) fn edit_capabilities(text: &[u8], edit: impl FnMut(&mut Capabilities<'_>)) -> Result<Vec<u8>, Error> {
    let mut declarations = Declarations { edit, splice: Splice::default() };
    let mut reader = Reader::new(text);
    declarations.capabilities(&mut reader)?;
    reader.end()?;
    let mut out = Vec::new();
    declarations.splice.apply_into(text, &mut out);
    Ok(out)
}

struct Declarations<F> {
    edit: F,
    splice: Splice,
}

impl<F: FnMut(&mut Capabilities<'_>)> Declarations<F> {
    fn apply(self, source: &Bytes) -> Option<Frames> {
        (!self.splice.is_empty()).then(|| self.splice.apply(source))
    }

    fn message(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        if reader.peek()? != Kind::Object {
            reader.skip()?;
            return Ok(());
        }
        // The method may stand behind the parameters.
        let start = reader.checkpoint();
        let mut is_initialize = false;
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            if key.is("method") && reader.peek()? == Kind::String {
                let method = reader.string()?.decode();
                is_initialize |= method.is_ok_and(|name| Method::from_name(&name) == Method::Initialize);
            } else {
                reader.skip()?;
            }
        }
        reader.rewind(start);
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            if key.is("params") && reader.peek()? == Kind::Object {
                self.params(reader, is_initialize)?;
            } else {
                reader.skip()?;
            }
        }
        Ok(())
    }

    fn params(&mut self, reader: &mut Reader<'_>, is_initialize: bool) -> Result<(), Error> {
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let is_object = reader.peek()? == Kind::Object;
            if is_object && key.is("_meta") {
                self.meta(reader)?;
            } else if is_object && is_initialize && key.is("capabilities") {
                self.capabilities(reader)?;
            } else {
                reader.skip()?;
            }
        }
        Ok(())
    }

    fn meta(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            if key.is(meta::CLIENT_CAPABILITIES) && reader.peek()? == Kind::Object {
                self.capabilities(reader)?;
            } else {
                reader.skip()?;
            }
        }
        Ok(())
    }

    fn capabilities(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let mut capabilities = Capabilities::default();
        capabilities.read(reader)?;
        (self.edit)(&mut capabilities);
        capabilities.emit(&mut self.splice);
        Ok(())
    }
}
