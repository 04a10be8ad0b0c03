//! What is looked at, and who is told.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::judge::judge;
use super::told::Told;
use super::{Finding, Findings, Place, Rule, TracingFindings};
use crate::concern::{Concern, sealed::Sealed};
use crate::exchange::{CallInfo, Exchange};
use crate::message::{Answer, CallResult, Entry, EntryKind, Wants};
use crate::protocol::Method;

/// The concern: looks at what passes, and tells.
///
/// A clone has told nothing yet, so that every service tells of its own.
pub struct Lint {
    findings: Vec<Arc<dyn Findings>>,
    allowed: Vec<Rule>,
    told: Told,
}

impl Lint {
    /// Findings go here.
    pub fn new(findings: impl Findings) -> Self {
        Self { findings: vec![Arc::new(findings)], allowed: Vec::new(), told: Told::default() }
    }

    /// Findings go here, too.
    #[must_use]
    pub fn also(mut self, findings: impl Findings) -> Self {
        self.findings.push(Arc::new(findings));
        self
    }

    /// Does not tell of what is against this rule. Results of calls are read for [`Rule::EmptyContent`] alone.
    #[must_use]
    pub fn allow(mut self, rule: Rule) -> Self {
        self.allowed.push(rule);
        self
    }

    fn tell(&self, rule: Rule, place: impl FnOnce() -> Place, path: &str, message: &str) {
        if self.allowed.contains(&rule) {
            return;
        }
        let finding = Finding::new(rule, place(), path, message);
        if !self.told.is_new(&finding) {
            return;
        }
        for findings in &self.findings {
            // A panic here would take the answer with it. What was broken by it is its owner's alone.
            drop(catch_unwind(AssertUnwindSafe(|| findings.finding(&finding))));
        }
    }
}

impl Default for Lint {
    /// Findings go to `tracing`.
    fn default() -> Self {
        Self::new(TracingFindings)
    }
}

impl Clone for Lint {
    fn clone(&self) -> Self {
        Self { findings: self.findings.clone(), allowed: self.allowed.clone(), told: Told::default() }
    }
}

impl fmt::Debug for Lint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lint").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Sealed for Lint {}

impl Concern for Lint {
    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        match answer {
            Answer::To(Method::ToolsList) => Wants::TOOLS,
            Answer::To(Method::ResourcesList) => Wants::RESOURCES,
            Answer::To(Method::TemplatesList) => Wants::TEMPLATES,
            Answer::To(Method::ResourcesRead) => Wants::CONTENTS,
            Answer::To(Method::ToolsCall) => Wants::CALL_RESULT.when(!self.allowed.contains(&Rule::EmptyContent)),
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => Wants::TOOLS | Wants::RESOURCES | Wants::TEMPLATES | Wants::CONTENTS,
        }
    }

    fn entry(&self, _: &Exchange, entry: &mut Entry<'_>) {
        // Prompts are here only if another concern looks at them.
        if entry.is_added() || entry.kind() == EntryKind::Prompt {
            return;
        }
        let entry = &*entry;
        let text = if entry.kind() == EntryKind::Tool { entry.name() } else { entry.uri() };
        let place = || Place::entry(entry.kind(), text.and_then(|text| text.decode().ok()).as_deref());
        judge(entry, |rule, path, message| self.tell(rule, place, path, message));
    }

    fn call_result(&self, call: &CallInfo, result: &mut CallResult<'_>) {
        if !result.is_empty() {
            return;
        }
        let place = || Place::tool(Method::ToolsCall, call.name());
        let message = "there is no item: a model, and a client without UIs, gets nothing of the result";
        self.tell(Rule::EmptyContent, place, "content", message);
    }
}
