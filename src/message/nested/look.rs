//! What the objects in a meta-tool's result look like: entries, lists of entries, or what has them somewhere within.

use crate::json::{Error, Kind, Reader, Str};
use crate::message::outgoing::list_named;
use crate::message::{EntryKind, MetaRole, MetaTools};

/// How far lists are looked for in objects and arrays within a result. This is recursion, so it has an end.
pub(super) const DEEPEST: usize = 8;

/// By what entries are told from other values: what was declared of the meta-tool, and how entries are written.
#[derive(Clone, Copy)]
pub(super) struct Shapes<'t> {
    pub(super) tools: &'t MetaTools,
    /// `None` where it is not known what the result answers: then its shape decides.
    pub(super) role: Option<MetaRole>,
}

/// Which members an object has that tell what it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// One of its members is a list.
    pub(super) list: bool,
    /// A list with an object in it stands deeper.
    below: bool,
    pub(super) name: bool,
    uri: bool,
    template: bool,
    body: bool,
    pub(super) schema: bool,
    pub(super) meta: bool,
    /// What may be the entry that is described, within another object.
    pub(super) wrapped: bool,
}

impl Look {
    /// Whether it is no entry but has some, in lists: a server of several, say.
    pub(super) fn is_group(self) -> bool {
        (self.list || self.below) && !self.schema && !self.meta
    }
}

impl<'t> Shapes<'t> {
    pub(super) fn new(tools: &'t MetaTools, role: Option<MetaRole>) -> Self {
        Self { tools, role }
    }

    pub(super) fn describes(&self) -> bool {
        matches!(self.role, Some(MetaRole::Describe(_)))
    }

    /// What a member with this name lists.
    pub(super) fn list_in(&self, key: Str<'_>) -> Option<EntryKind> {
        let declared = || self.role.filter(|_| key.is("result") || self.tools.has_member(|member| key.is(member)));
        list_named(key).or_else(|| declared().and_then(MetaRole::entries))
    }

    /// Whether a member of this name is the entry that is described.
    pub(super) fn is_wrapper(&self, key: Str<'_>) -> bool {
        ["tool", "resource", "result"].iter().any(|name| key.is(name)) || self.tools.has_member(|member| key.is(member))
    }

    /// What the next value, an object, looks like. It is still to be read afterwards.
    pub(super) fn look(&self, reader: &mut Reader<'_>) -> Result<Look, Error> {
        let mut look = Look::default();
        let here = reader.checkpoint();
        reader.enter_object()?;
        while let Some(key) = reader.member()? {
            let kind = reader.peek()?;
            let is_text = kind == Kind::String;
            look.list |= matches!(kind, Kind::Array | Kind::Null) && self.list_in(key).is_some();
            if matches!(kind, Kind::Array | Kind::Object)
                && !["inputSchema", "outputSchema", "_meta"].iter().any(|own| key.is(own))
            {
                let value = reader.checkpoint();
                look.below |= self.has_list(reader, 1)?;
                reader.rewind(value);
            }
            look.name |= is_text && key.is("name");
            look.uri |= is_text && key.is("uri");
            look.template |= is_text && key.is("uriTemplate");
            look.body |= is_text && (key.is("text") || key.is("blob"));
            look.schema |= key.is("inputSchema");
            look.meta |= key.is("_meta");
            look.wrapped |= kind == Kind::Object && self.describes() && self.is_wrapper(key);
            reader.skip()?;
        }
        reader.rewind(here);
        Ok(look)
    }

    /// Whether a list with an object in it stands below the next value, an object or array.
    fn has_list(&self, reader: &mut Reader<'_>, level: usize) -> Result<bool, Error> {
        let mut found = false;
        let is_object = reader.peek()? == Kind::Object;
        if is_object {
            reader.enter_object()?
        } else {
            reader.enter_array()?
        }
        loop {
            let key = if is_object { reader.member()? } else { None };
            if if is_object { key.is_none() } else { !reader.element()? } {
                return Ok(found);
            }
            let kind = reader.peek()?;
            if kind == Kind::Array && key.is_some_and(|key| self.list_in(key).is_some()) {
                let list = reader.checkpoint();
                reader.enter_array()?;
                while reader.element()? {
                    found |= reader.peek()? == Kind::Object;
                    reader.skip()?;
                }
                reader.rewind(list);
            }
            if matches!(kind, Kind::Array | Kind::Object) && level < DEEPEST && !found {
                found = self.has_list(reader, level + 1)?;
            } else {
                reader.skip()?;
            }
        }
    }

    /// What an object is an entry of, if it is one.
    pub(super) fn kind_of(&self, look: Look) -> Option<EntryKind> {
        let Some(role) = self.role else {
            return match look {
                Look { template: true, .. } => Some(EntryKind::Template),
                Look { uri: true, body: true, .. } => Some(EntryKind::Contents),
                Look { uri: true, .. } => Some(EntryKind::Resource),
                Look { name: true, schema, meta, .. } if schema || meta => Some(EntryKind::Tool),
                _ => None,
            };
        };
        role.entries().filter(|kind| match kind {
            EntryKind::Tool => look.name || look.schema,
            EntryKind::Template => look.template,
            EntryKind::Contents => look.uri && look.body,
            _ => look.uri,
        })
    }
}
