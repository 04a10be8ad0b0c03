//! A request that a concern rewrites before anything further in looks at it.

use bytes::Bytes;
use http::HeaderMap;

use crate::exchange::{CallInfo, McpContext};
use crate::json::{Depth, Splice, Str};
use crate::message::{Call, Fault, MetaTools, Named, Payload, Unreadable, walk_places, walk_targets};

/// A request on its way in, whose names and URIs a concern may rewrite. Everything further in sees what it becomes, as if
/// the caller had written it.
#[derive(Debug)]
pub struct Incoming<'a> {
    headers: &'a mut HeaderMap,
    body: Bytes,
    depth: Depth,
    meta_tools: &'a MetaTools,
    is_edited: bool,
    /// The messages once meta-tools were called by the names that were declared, and what these were to do was not yet renamed.
    meta_calls: Vec<CallInfo>,
}

impl<'a> Incoming<'a> {
    /// A request whose body was read and holds messages.
    pub(super) fn new(headers: &'a mut HeaderMap, body: Bytes, depth: Depth, meta_tools: &'a MetaTools) -> Self {
        Self { headers, body, depth, meta_tools, is_edited: false, meta_calls: Vec::new() }
    }

    /// The headers. They must go on saying what the body says.
    pub fn headers(&mut self) -> &mut HeaderMap {
        self.headers
    }

    /// What the body says, rewritten as it is by now.
    ///
    /// # Errors
    ///
    /// None but by an edit that wrote no JSON.
    pub fn payload(&self) -> Result<Payload<'_>, Unreadable> {
        Payload::read_with(&self.body, self.depth, self.meta_tools)
    }

    /// Shows all places in the body that name something, and puts what `edit` gives, a JSON string with its quotes, in their
    /// place. See [`walk_places`].
    ///
    /// # Errors
    ///
    /// As [`payload`](Self::payload) has them.
    pub fn edit(
        &mut self,
        edit: impl FnMut(&Call<'_>, Named, Option<Str<'_>>) -> Option<Vec<u8>>,
    ) -> Result<(), Unreadable> {
        let mut splice = Splice::default();
        walk_places(&self.body, self.depth, &self.payload()?, &mut splice, edit)?;
        if !splice.is_empty() {
            self.body = splice.apply(&self.body).to_bytes();
            self.is_edited = true;
        }
        Ok(())
    }

    /// What is ambiguous about the arguments of meta-tools, once these have the names that were declared.
    pub fn target_fault(&self) -> Option<Fault> {
        if self.meta_tools.is_empty() {
            return None;
        }
        let payload = self.payload().ok()?;
        let mut asked = payload.calls().iter().filter(|call| !call.is_response);
        asked.find_map(|call| call.fault)
    }

    /// As [`edit`](Self::edit) of what the arguments of meta-tools name, once these have the names that were declared.
    ///
    /// # Errors
    ///
    /// As of [`edit`](Self::edit).
    pub fn edit_targets(
        &mut self,
        edit: impl FnMut(&Call<'_>, Named, Option<Str<'_>>) -> Option<Vec<u8>>,
    ) -> Result<(), Unreadable> {
        if self.meta_tools.is_empty() {
            return Ok(());
        }
        let mut splice = Splice::default();
        let payload = self.payload()?;
        walk_targets(&self.body, self.depth, &payload, self.meta_tools, &mut splice, edit)?;
        if self.meta_calls.is_empty() && payload.calls().iter().any(|call| call.role.is_some()) {
            self.meta_calls = payload.calls().iter().map(|call| CallInfo::new(call, &self.body)).collect();
        }
        if !splice.is_empty() {
            self.body = splice.apply(&self.body).to_bytes();
            self.is_edited = true;
        }
        Ok(())
    }

    /// What observers outside are told, and the body, if it was edited. Meta-tools are known by the names that they have further
    /// in, so only now it is known what they do, and what the caller named.
    pub(super) fn done(self, context: McpContext) -> (McpContext, Option<Bytes>) {
        let context = if self.meta_calls.is_empty() { context } else { context.with_targets_of(&self.meta_calls) };
        (context, self.is_edited.then_some(self.body))
    }
}
