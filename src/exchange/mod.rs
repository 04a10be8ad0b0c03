//! One HTTP exchange: what the request says about its era, its caller and its calls, and what that means
//! for the answer.
//!
//! Everything here is worked out from the request alone, so any replica comes to the same result.
//!
//! - [`McpContext`] is what was found out, for the inner service and for observers outside: the calls, the era, what
//!   the client [declared](Declared), and the audience.
//! - [`AudienceSource`] says who the answer is for, [`Predicate`] what is MCP at all, [`Limits`] how much is read.
//! - [`Content`] and [`Encoding`] tell what a body is, by its headers.
//!
//! # Session tags
//!
//! A client of the legacy era declares its capabilities once, at `initialize`, and then sends its `Mcp-Session-Id`
//! (MCP 2025-11-25, "Session Management"). So that id carries the declaration: `apps1-CODE.ID` around an id of the
//! inner service, `apps1-CODE~RANDOM` where that gave none. The tag goes only on 2xx answers, and off before the inner
//! service sees the request; each layer puts one in front and takes one off, so layers stack. It is not signed: a client
//! could as well have declared what it forges, and a declaration is compatibility, not authorisation.

mod audience;
mod call_info;
mod content;
mod context;
mod decision;
mod declared;
mod head;
mod limits;
mod predicate;
mod record;
mod session;

use std::sync::Arc;

use http::request::Parts;

pub use crate::message::Reason;
pub use audience::{AudienceSource, Auto, ByExtension, ByHeader, Fixed, KnownBy, OddAudience, ResolvedAudience};
pub use call_info::CallInfo;
pub(crate) use call_info::Said;
pub use content::{Content, Encoding};
pub use context::McpContext;
pub(crate) use context::{Calls, Text};
pub use decision::Decision;
pub use declared::Declared;
pub(crate) use head::RequestHead;
pub use limits::Limits;
pub use predicate::{EveryRequest, Predicate};
pub(crate) use record::cut;
pub use record::{End, Record};
pub(crate) use session::{SessionTag, session_hash, tag_answer};

/// One exchange, as concerns see it: what the request says, and what was settled for all requests.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub(crate) context: McpContext,
    pub(crate) audience_varies: bool,
    /// Kept where a concern asked for it.
    pub(crate) head: Option<Arc<Parts>>,
    /// Whether a concern answers, so that what is shown is not the inner service's word.
    pub(crate) is_answered: bool,
    /// What concerns found out about who asks, before the request went on.
    pub(crate) askers: Vec<Asker>,
}

/// What a concern found out about who asks, under the number that the concern has.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    pub(crate) concern: u64,
    /// For each of the servers behind, a hash that stands for it and the credentials; `None` where requests of one caller cannot be
    /// told from those of others.
    pub(crate) whose: Vec<Option<[u8; 32]>>,
    /// When the request came, in milliseconds since 1970.
    pub(crate) asked: u64,
}

impl Exchange {
    pub(crate) fn new(context: McpContext, audience_varies: bool) -> Self {
        Self { context, audience_varies, head: None, is_answered: false, askers: Vec::new() }
    }

    /// What the concern of this number found out about who asks.
    pub(crate) fn asker(&self, concern: u64) -> Option<&Asker> {
        self.askers.iter().find(|asker| asker.concern == concern)
    }

    /// What was found out about the request.
    pub fn context(&self) -> &McpContext {
        &self.context
    }

    /// The head of the request with its extensions, [`McpContext`] among them, as the inner service sees it; `None` unless
    /// a concern asked for it.
    pub fn head(&self) -> Option<&Parts> {
        self.head.as_deref()
    }

    /// Whether another caller could be of another audience: then what depends on the audience is private to the caller.
    pub fn audience_varies(&self) -> bool {
        self.audience_varies
    }
}
