//! A look-up under way: page by page, and then what is behind meta-tools.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body::Body;

use super::super::catalogue::{Catalogue, Failure, Lead, Page, Question, Tools};
use super::super::{Concern, RequestBody};
use super::Call;
use crate::frames::Frames;
use crate::message::MetaTool;

/// The most pages of one catalogue. With a cursor for each that never came before, nothing else bounds them.
const MOST_PAGES: usize = 1000;

/// A look-up under way.
pub(super) struct Inquiry {
    pub(super) lead: Lead,
    pub(super) question: Question,
    pub(super) tools: Tools,
    fresh_for: Option<Duration>,
    is_public: bool,
    cursors: HashSet<Bytes>,
    /// The JSON text of the cursor of the page that is asked next.
    pub(super) next: Option<Bytes>,
    /// Whether `tools/list` was read to its end, so that meta-tools are asked.
    pub(super) is_behind: bool,
    /// The tools that a meta-tool is still to describe, the next one last; of one that lists all, anything.
    pub(super) missing: Vec<Box<str>>,
    /// How many bytes the pages that are to come may have together.
    pub(super) left: usize,
}

/// What a page led to.
pub(super) enum Turned {
    Next(Box<Inquiry>),
    Over(Lead, Result<Catalogue, Failure>),
}

impl Inquiry {
    /// A look-up of everything, or of what is behind meta-tools beyond what is known.
    pub(super) fn new<C: Concern, B: Body>(
        lead: Lead,
        question: Question,
        base: Option<(Arc<Tools>, Duration)>,
        call: &Call<C, B>,
    ) -> Self {
        let is_behind = base.is_some();
        let (mut tools, fresh_for) = match base {
            Some((tools, fresh_for)) => (Tools::clone(&tools), Some(fresh_for)),
            None => (Tools::new(Instant::now()), None),
        };
        tools.refuse_unlisted(call.handling.settings().meta_tools.refuses_unlisted());
        let missing = if is_behind { call.missing(&tools) } else { Vec::new() };
        let left = call.handling.limits().response_bytes;
        let cursors = HashSet::new();
        Self { lead, question, tools, fresh_for, is_public: !is_behind, cursors, next: None, is_behind, missing, left }
    }

    /// The request for the next page, or the next call of a meta-tool.
    pub(super) fn request<C: Concern, B: Body>(&self, call: &Call<C, B>) -> Request<RequestBody<B>> {
        let settings = call.handling.settings();
        let (options, context) = (&settings.look_up, call.handling.context());
        let (parts, body) = match self.asks(call) {
            Some((tool, name)) => self.question.call(&call.parts, context, options, tool, name, self.next.as_deref()),
            None => self.question.request(&call.parts, context, options, self.next.as_deref()),
        };
        Request::from_parts(parts, RequestBody::read(Frames::from(body).into()))
    }

    /// The meta-tool that is asked next, and of which tool; `None` while `tools/list` is.
    fn asks<'h, C: Concern, B: Body>(&'h self, call: &'h Call<C, B>) -> Option<(&'h MetaTool, Option<&'h str>)> {
        let tool = call.handling.settings().meta_tools.catalogue().filter(|_| self.is_behind)?;
        Some((tool, self.missing.last().map(|name| &**name).filter(|_| tool.argument.is_some())))
    }

    /// A meta-tool answered, of a list with its last page. Goes on to the next, or ends.
    fn turn_behind<C: Concern, B: Body>(mut self: Box<Self>, call: &Call<C, B>) -> Turned {
        if let Some((_, name)) = self.asks(call).map(|(tool, name)| (tool.role, name.map(Box::<str>::from))) {
            self.tools.asked_behind(name.as_deref());
            self.missing.pop();
            if name.is_none() {
                self.missing.clear();
            }
        }
        if self.missing.is_empty() { self.over() } else { Turned::Next(self) }
    }

    fn over(self: Box<Self>) -> Turned {
        let found = Catalogue {
            tools: Arc::new(self.tools),
            fresh_for: self.fresh_for.unwrap_or_default(),
            is_public: self.is_public,
        };
        Turned::Over(self.lead, Ok(found))
    }

    /// Goes on to the next page, or ends.
    pub(super) fn turn<C: Concern, B: Body>(
        mut self: Box<Self>,
        read: Result<Page, Failure>,
        call: &Call<C, B>,
    ) -> Turned {
        let page = match read {
            Ok(page) => page,
            Err(failure) => return Turned::Over(self.lead, Err(failure)),
        };
        let fresh_for = call.handling.settings().look_up.fresh_for(page.ttl_ms);
        self.fresh_for = Some(self.fresh_for.map_or(fresh_for, |before| before.min(fresh_for)));
        self.is_public &= page.is_public;
        let Some(cursor) = page.next else {
            self.next = None;
            if self.is_behind {
                return self.turn_behind(call);
            }
            self.missing = call.missing(&self.tools);
            if self.missing.is_empty() {
                return self.over();
            }
            // Another list, which has cursors of its own.
            self.is_behind = true;
            self.cursors.clear();
            return Turned::Next(self);
        };
        let failure = if !self.cursors.insert(cursor.clone()) {
            "the server's list of tools has a cursor that came before"
        } else if self.cursors.len() >= MOST_PAGES {
            "the server's list of tools is too long"
        } else {
            self.next = Some(cursor);
            return Turned::Next(self);
        };
        Turned::Over(self.lead, Err(Failure::new(failure)))
    }
}
