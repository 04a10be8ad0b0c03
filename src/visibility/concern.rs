//! What of a list an audience gets, and which requests it may make.

use super::{is_visible, judge};
use crate::concern::{Asked, Concern, Verdict, sealed::Sealed};
use crate::exchange::Exchange;
use crate::message::{Answer, Entry, EntryKind, Wants};
use crate::protocol::{Audience, Method};

/// The concern: each tool for those it is for.
#[derive(Clone, Debug, Default)]
pub struct Visibility {}

impl Visibility {
    /// By the declarations of the tools alone.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Sealed for Visibility {}

impl Concern for Visibility {
    fn request(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        judge::judge(exchange, asked)
    }

    fn wants(&self, exchange: &Exchange, answer: Answer) -> Wants {
        let hides = exchange.context().audience() != Audience::Host;
        let list = (Wants::TOOLS | Wants::ENFORCED).when(hides) | Wants::PRIVATE.when(exchange.audience_varies());
        list.when(matches!(answer, Answer::To(Method::ToolsList) | Answer::Unknown))
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        if entry.kind() == EntryKind::Tool && !is_visible(entry, exchange.context().audience()) {
            entry.remove();
        }
    }
}
