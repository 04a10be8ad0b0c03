//! What of a list an audience gets, and which requests it may make.

use std::collections::HashMap;
use std::sync::Arc;

use http::StatusCode;

use super::judge;
use crate::concern::{Asked, Concern, Tools, Verdict, sealed::Sealed};
use crate::exchange::{Exchange, Said};
use crate::message::{Answer, Entry, EntryKind, Meta, Named, Reason, Refusal, Shape, Wants};
use crate::protocol::{Audience, Method, ToolVisibility, code, meta};

/// The concern: each tool for those it is for.
#[derive(Clone, Debug)]
pub struct Visibility {
    declared: Arc<HashMap<Box<str>, ToolVisibility>>,
    pub(super) app_resources: AppResources,
    refusal: (StatusCode, i32),
}

/// Which resources an app may read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AppResources {
    /// All that the inner service gives it.
    #[default]
    Any,
    /// Those whose URI begins with `ui://`.
    Ui,
}

impl Visibility {
    /// By the declarations of the tools alone.
    pub fn new() -> Self {
        Self {
            declared: Arc::default(),
            app_resources: AppResources::Any,
            refusal: (StatusCode::OK, code::INVALID_PARAMS),
        }
    }

    /// Declares whom a tool is for. This only narrows: what the tool itself says holds, too. Lists state it in
    /// `_meta.ui.visibility`, since a host goes by that; a tool whose `_meta` is no object cannot say it, and is left out.
    #[must_use]
    pub fn tool(mut self, name: impl Into<Box<str>>, audiences: impl IntoIterator<Item = Audience>) -> Self {
        let (mut for_model, mut for_app) = (false, false);
        for audience in audiences {
            for_model |= audience == Audience::Model;
            for_app |= audience == Audience::App;
        }
        let visible = ToolVisibility::new(for_model, for_app);
        let declared = Arc::make_mut(&mut self.declared);
        declared.entry(name.into()).and_modify(|before| *before = before.and(visible)).or_insert(visible);
        self
    }

    /// Chooses which resources an app may read.
    #[must_use]
    pub fn app_resources(mut self, resources: AppResources) -> Self {
        self.app_resources = resources;
        self
    }

    /// Chooses the HTTP status and JSON-RPC code of the answer to a call of a hidden tool. By default it is that of an
    /// unknown tool: 200 and `-32602` (MCP 2026-07-28, "Tools", Error Handling).
    #[must_use]
    pub fn refusal(mut self, status: StatusCode, code: i32) -> Self {
        self.refusal = (status, code);
        self
    }

    /// What the deployer declared of a tool.
    fn declared(&self, name: &str) -> ToolVisibility {
        self.declared.get(name).copied().unwrap_or(ToolVisibility::Both)
    }

    /// The answer to a call of a tool that is not for the caller: that of a tool that does not exist.
    fn unknown_tool(&self, exchange: &Exchange, name: &str) -> Refusal {
        let (status, code) = self.refusal;
        let refusal = Refusal::unknown(Named::Tool, Some(name), code).with_status(status).because(Reason::Hidden);
        match exchange.context().call() {
            Some(_) => refusal,
            None => refusal.of_batch(),
        }
    }
}

impl Default for Visibility {
    fn default() -> Self {
        Self::new()
    }
}

impl Sealed for Visibility {}

impl Concern for Visibility {
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        let context = exchange.context();
        let audience = context.audience();
        if audience == Audience::Host {
            return Verdict::Forward;
        }
        if let Some(refusal) = judge::refusal(self, exchange, asked) {
            return Verdict::Refuse(refusal);
        }
        let mut calls = context.called_tools().chain(context.called_through()).peekable();
        if calls.peek().is_none() {
            return Verdict::Forward;
        }
        // Without a declaration no name need be read as text.
        match calls.find(|name| !self.declared.is_empty() && !self.declared(name.as_str()).includes(audience)) {
            Some(hidden) => Verdict::Refuse(self.unknown_tool(exchange, hidden.as_str())),
            None => Verdict::LookUp,
        }
    }

    fn call(&self, exchange: &Exchange, tools: &Tools) -> Result<(), Refusal> {
        let is_hidden = |name: &Said<'_>| tools.find(*name).is_some_and(|tool| !tool.is_listed);
        let hides_behind = |name: &Said<'_>| tools.hides_behind(*name);
        let context = exchange.context();
        let hidden = context.called_tools().find(is_hidden).or_else(|| context.called_through().find(hides_behind));
        match hidden {
            Some(hidden) => Err(self.unknown_tool(exchange, hidden.as_str())),
            None => Ok(()),
        }
    }

    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        let hides = exchange.context().audience() != Audience::Host;
        let edits = hides || !self.declared.is_empty();
        let list = (Wants::TOOLS | Wants::ENFORCED).when(edits) | Wants::PRIVATE.when(exchange.audience_varies());
        let notices = Wants::NOTICES.when(hides || exchange.audience_varies());
        match answer {
            Answer::To(Method::ToolsList) => list,
            Answer::To(Method::SubscriptionsListen) => notices,
            Answer::To(Method::ToolsCall) => Wants::NOTICES.when(hides),
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => list | notices,
        }
    }

    fn edits_alike(&self) -> bool {
        true
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        let audience = exchange.context().audience();
        if entry.kind() != EntryKind::Tool || (audience == Audience::Host && self.declared.is_empty()) {
            return;
        }
        let declared = match entry.name().map(|name| name.decode()) {
            Some(Ok(name)) => self.declared(&name),
            _ => ToolVisibility::Both,
        };
        let stated = entry.visibility();
        let visible = stated.and(declared);
        if !visible.includes(audience) || (visible != stated && !state(visible, entry.meta_mut())) {
            entry.remove();
        }
    }
}

/// Lets a tool say whom it is for: a host that filters for its agent goes by that. False where it cannot be said.
fn state(visible: ToolVisibility, meta: &mut Meta<'_>) -> bool {
    if meta.ui() == Shape::Other {
        meta.remove_ui();
    }
    meta.ui_set(meta::VISIBILITY, visible.as_json());
    meta.ui_get(meta::VISIBILITY).is_some()
}
