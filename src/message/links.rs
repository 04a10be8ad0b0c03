//! What points to resources outside of lists: in content blocks, in `_meta` of results, in notifications and errors.

use super::outgoing::Walk;
use super::{Answer, Entry, EntryKind, Meta, Nested, Sites};
use crate::json::{Checkpoint, Error, Kind, Reader, Removals, Span, Str};

/// The notifications that name resources, or bring a result (MCP 2026-07-28, "Subscriptions"; MCP 2025-11-25, "Resources",
/// Subscriptions; the tasks extension, "Task Status Notifications").
const UPDATED: &str = "notifications/resources/updated";
const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const TASK: &str = "notifications/tasks";

impl<S: Sites> Walk<'_, '_, S> {
    /// Reads the member of a result that was just named, if it may have links.
    pub(super) fn link_member(&mut self, key: Str<'_>, kind: Kind) -> Result<bool, Error> {
        match kind {
            Kind::Object if key.is("_meta") => self.meta_of_result()?,
            Kind::Array if key.is("content") => self.blocks()?,
            Kind::Array if key.is("messages") => self.messages()?,
            // Of a task that is done.
            Kind::Object if key.is("result") => self.linked_result()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The result of a task, which has the members of that of the request.
    fn linked_result(&mut self) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            let kind = self.reader.peek()?;
            if !self.link_member(key, kind)? {
                self.reader.skip()?;
            }
        }
        Ok(())
    }

    fn meta_of_result(&mut self) -> Result<(), Error> {
        let mut meta = Meta::default();
        meta.read(&mut self.reader)?;
        self.sites.meta(&mut meta);
        meta.emit_in_place(self.splice);
        Ok(())
    }

    /// The messages of a prompt: each has one block, or, as some servers write it, an array of them. One whose only block
    /// is left out goes with it.
    fn messages(&mut self) -> Result<(), Error> {
        self.elements(|walk| {
            let mut is_removed = false;
            walk.reader.enter_object()?;
            while let Some(key) = walk.reader.member()? {
                match walk.reader.peek()? {
                    Kind::Object if key.is("content") => is_removed |= walk.block()?,
                    Kind::Array if key.is("content") => walk.blocks()?,
                    _ => drop(walk.reader.skip()?),
                }
            }
            Ok(is_removed)
        })
    }

    fn blocks(&mut self) -> Result<(), Error> {
        self.elements(Self::block)
    }

    /// Reads the objects of an array; those go of which this is told.
    fn elements(&mut self, is_removed: impl Fn(&mut Self) -> Result<bool, Error>) -> Result<(), Error> {
        let mut removals = Removals::default();
        self.reader.enter_array()?;
        while self.reader.element()? {
            let kind = self.reader.peek()?;
            let start = self.reader.position();
            let mark = self.splice.mark();
            let is_removed = match kind {
                Kind::Object => is_removed(self)?,
                _ => {
                    self.reader.skip()?;
                    false
                }
            };
            let element = Span::new(start, self.reader.position());
            if is_removed {
                self.splice.rewind(mark);
                removals.drop(element, self.splice);
            } else {
                removals.keep(element, self.splice);
            }
        }
        removals.finish(self.splice);
        Ok(())
    }

    /// One content block. What it is stands in `type`, behind or before what matters. True if it is to be left out.
    fn block(&mut self) -> Result<bool, Error> {
        let start = self.reader.checkpoint();
        let mut is_link = false;
        let (mut meta, mut resource) = (None, None);
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            let kind = self.reader.peek()?;
            if key.is("type") && kind == Kind::String {
                is_link |= self.reader.string()?.is("resource_link");
                continue;
            }
            if kind == Kind::Object && key.is("_meta") {
                meta = Some(self.reader.checkpoint());
            } else if kind == Kind::Object && key.is("resource") {
                resource = Some(self.reader.checkpoint());
            }
            self.reader.skip()?;
        }
        let end = self.reader.checkpoint();
        let mut is_removed = false;
        if is_link {
            is_removed |= self.linked(start, EntryKind::Link)?;
        } else if let Some(meta) = meta {
            self.reader.rewind(meta);
            self.meta_of_result()?;
        }
        // Whatever `type` says: what stands there is a resource to some reader.
        if let Some(resource) = resource {
            is_removed |= self.linked(resource, EntryKind::Embedded)?;
        }
        self.reader.rewind(end);
        Ok(is_removed)
    }

    /// Shows a link. True if it is to be left out.
    fn linked(&mut self, at: Checkpoint, kind: EntryKind) -> Result<bool, Error> {
        self.reader.rewind(at);
        self.entry.read(kind, &mut self.reader)?;
        self.sites.link(&mut self.entry);
        self.refusal = self.refusal.take().or_else(|| self.entry.take_refusal());
        if !self.entry.is_removed() {
            self.entry.emit(self.splice);
        }
        Ok(self.entry.is_removed())
    }

    /// The `params` of a notification with this method.
    pub(super) fn notification(&mut self, method: Str<'_>, params: Checkpoint) -> Result<(), Error> {
        let here = self.reader.checkpoint();
        self.reader.rewind(params);
        if method.is(UPDATED) {
            self.uri_member()?;
        } else if method.is(ACKNOWLEDGED) {
            self.subscriptions()?;
        } else if method.is(TASK) && self.nested_task()? {
            self.reader.rewind(params);
            self.reader.enter_object()?;
            while let Some(key) = self.reader.member()? {
                if key.is("result") && self.reader.peek()? == Kind::Object {
                    self.linked_result()?;
                } else {
                    self.reader.skip()?;
                }
            }
        }
        self.reader.rewind(here);
        Ok(())
    }

    /// The result of a task may be a meta-tool's. Whether links may still be looked for in it.
    fn nested_task(&mut self) -> Result<bool, Error> {
        let sites = self.sites;
        let Some(tools) = sites.meta_tools() else { return Ok(true) };
        let wants = sites.wants(Answer::Unknown);
        let mut nested = Nested::new(tools, None, wants, self.depth, |entry: &mut Entry<'_>| sites.entry(entry));
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            let kind = self.reader.peek()?;
            if kind == Kind::Object && key.is("result") {
                nested.member(key, &mut self.reader, self.splice)?;
            } else {
                self.reader.skip()?;
            }
        }
        let leaves_links = nested.leaves_links();
        self.refusal = self.refusal.take().or_else(|| nested.finish());
        Ok(leaves_links)
    }

    fn subscriptions(&mut self) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if !key.is("notifications") || self.reader.peek()? != Kind::Object {
                self.reader.skip()?;
                continue;
            }
            self.reader.enter_object()?;
            while let Some(key) = self.reader.member()? {
                if !key.is("resourceSubscriptions") || self.reader.peek()? != Kind::Array {
                    self.reader.skip()?;
                    continue;
                }
                self.reader.enter_array()?;
                while self.reader.element()? {
                    self.uri()?;
                }
            }
        }
        Ok(())
    }

    /// The next value is an object that may say with a `uri` what it is about, as the `data` of an error does (MCP 2025-11-25,
    /// "Resources", Error Handling).
    pub(super) fn uri_member(&mut self) -> Result<(), Error> {
        self.reader.enter_object()?;
        while let Some(key) = self.reader.member()? {
            if key.is("uri") {
                self.uri()?;
            } else {
                self.reader.skip()?;
            }
        }
        Ok(())
    }

    /// The next value, if it is a string, is a URI.
    fn uri(&mut self) -> Result<(), Error> {
        if self.reader.peek()? != Kind::String {
            return self.reader.skip().map(drop);
        }
        let uri = self.reader.string()?;
        if let Some(new) = self.sites.uri(uri) {
            debug_assert!(Reader::new(&new).string().is_ok(), "a URI is a JSON string");
            self.splice.replace(uri.span(), &new);
        }
        Ok(())
    }
}
