//! What a layer decided about a request, for observers outside it.

use super::Text;
use crate::message::Reason;
use crate::protocol::ToolVisibility;

/// What a layer decided about a request: a response extension, so that a layer outside sees what the caller must not.
///
/// Every refusal of a layer of this crate carries one. It never reaches the wire.
///
/// ```
/// use http::Response;
/// use tower_mcp_apps::exchange::{Decision, Reason};
///
/// fn was_hidden<B>(response: &Response<B>) -> bool {
///     let decision = response.extensions().get::<Decision>();
///     decision.is_some_and(|decision| decision.reason() == Some(Reason::Hidden))
/// }
/// # assert!(!was_hidden(&Response::new(())));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    outcome: Outcome,
    reason: Option<Reason>,
    /// What was found out about a tool that is called. Most requests call one, which needs no list.
    tool: Option<(Text, ToolVisibility)>,
    others: Vec<(Text, ToolVisibility)>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It went on to the inner service.
    #[default]
    Forwarded,
    /// A layer answered it.
    Answered,
    /// A layer refused it, or withheld the answer to it.
    Refused,
}

impl Outcome {
    /// The name in records.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Forwarded => "forwarded",
            Self::Answered => "answered",
            Self::Refused => "refused",
        }
    }
}

impl Decision {
    /// The request went on to the inner service.
    pub fn forwarded() -> Self {
        Self::default()
    }

    /// The request was answered by the layer itself.
    pub fn answered() -> Self {
        Self { outcome: Outcome::Answered, ..Self::default() }
    }

    /// The request, or the answer to it, went no further.
    pub fn refused(reason: Option<Reason>) -> Self {
        Self { outcome: Outcome::Refused, reason, ..Self::default() }
    }

    /// The same, of a request that went no further.
    #[must_use]
    pub(crate) fn refuse(self, reason: Option<Reason>) -> Self {
        Self { outcome: Outcome::Refused, reason, ..self }
    }

    /// Adds what was found out about a tool that is called.
    #[must_use]
    pub fn with_tool(mut self, name: impl AsRef<str>, visibility: ToolVisibility) -> Self {
        let tool = (Text::copy(name.as_ref()), visibility);
        match &self.tool {
            None => self.tool = Some(tool),
            Some(_) => self.others.push(tool),
        }
        self
    }

    /// What was found out about the tools that are called.
    pub(crate) fn about(mut tools: impl Iterator<Item = (Text, ToolVisibility)>) -> Self {
        Self { tool: tools.next(), others: tools.collect(), ..Self::default() }
    }

    /// Calls the tools by other names: each pair has what one is called here, and then outside.
    pub(crate) fn rename<'t>(&mut self, names: impl Iterator<Item = (&'t [u8], Text)>) {
        if self.tool.is_none() {
            return;
        }
        let names: Vec<_> = names.collect();
        for (name, _) in self.tool.iter_mut().chain(&mut self.others) {
            if let Some((_, outside)) = names.iter().find(|(here, _)| *here == name.as_bytes()) {
                *name = outside.clone();
            }
        }
    }

    /// Whether there is anything to tell an observer.
    pub(crate) fn says_anything(&self) -> bool {
        self.outcome != Outcome::Forwarded || self.tool.is_some()
    }

    /// Whether the caller got an error of the layer's in the place of an answer.
    pub fn is_refused(&self) -> bool {
        self.outcome == Outcome::Refused
    }

    /// Whether the caller got a result of the layer's own, and the inner service was not asked.
    pub fn is_answered(&self) -> bool {
        self.outcome == Outcome::Answered
    }

    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Why, where it was refused.
    pub fn reason(&self) -> Option<Reason> {
        self.reason
    }

    /// For whom a called tool is, where the layer found it out.
    pub fn visibility(&self, tool: &str) -> Option<ToolVisibility> {
        self.tool.iter().chain(&self.others).find(|(name, _)| name.as_str() == tool).map(|(_, visibility)| *visibility)
    }
}

#[cfg(test)]
mod tests {
    use super::Decision;
    use crate::exchange::Text;
    use crate::protocol::ToolVisibility;

    #[test]
    fn a_new_name_is_not_renamed_again() {
        let [a, b, c] = ["a", "b", "c"].map(Text::of_static);
        let tools = [(a.clone(), ToolVisibility::App), (b.clone(), ToolVisibility::Model)];
        let mut decision = Decision::about(tools.into_iter());
        decision.rename([(a.as_bytes(), b.clone()), (b.as_bytes(), c)].into_iter());
        assert_eq!(decision.visibility("b"), Some(ToolVisibility::App));
        assert_eq!(decision.visibility("c"), Some(ToolVisibility::Model));
    }
}
