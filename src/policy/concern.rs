//! What is looked at in an entry, and what becomes of one that is not within the policy.

use http::StatusCode;

use super::judge::{self, Member, Violations};
use super::pins::is_ui;
use super::{List, OnViolation, Policy};
use crate::concern::{Concern, sealed::Sealed};
use crate::exchange::Exchange;
use crate::message::{Answer, Entry, EntryKind, Reason, Refusal, Wants};
use crate::protocol::{Method, code};

impl Sealed for Policy {}

impl Concern for Policy {
    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        let metadata = self.judges_metadata();
        let pages = metadata || self.judges_media_types();
        let tools = Wants::TOOLS.when(metadata);
        let resources = Wants::RESOURCES.when(pages);
        let templates = Wants::TEMPLATES.when(pages);
        let contents = Wants::CONTENTS.when(pages || !self.pins.is_empty());
        let wants = match answer {
            Answer::To(Method::ToolsList) => tools,
            Answer::To(Method::ResourcesList) => resources,
            Answer::To(Method::TemplatesList) => templates,
            Answer::To(Method::ResourcesRead) => contents,
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => tools | resources | templates | contents,
        };
        wants | Wants::ENFORCED.when(self.on_violation != OnViolation::Report && !wants.is_nothing())
    }

    // A list that is not within the policy is told of each time.
    fn edits_alike(&self) -> bool {
        !self.judges_metadata() && !self.judges_media_types()
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        // Another concern may have wanted what this policy has no rule about.
        let (answer, wanted) = entry.kind().wanted_as();
        if !self.wants(exchange, answer).has(wanted) {
            return;
        }
        let mut violations = Violations::default();
        let fault = self.fault(exchange, entry);
        let cannot_be_shown = fault.is_some();
        if let Some((member, offending)) = fault {
            violations.add(member, offending);
        }
        judge::judge(self, entry.meta_mut(), &mut violations);
        if violations.is_empty() {
            return;
        }
        let action = match self.on_violation {
            OnViolation::Report => "reported",
            OnViolation::Restrict if !cannot_be_shown => "restricted",
            // A list can do without the entry, an answer without its content would say that there is none.
            OnViolation::Restrict if entry.kind() != EntryKind::Contents => {
                entry.remove();
                "removed"
            }
            OnViolation::Restrict | OnViolation::Refuse => {
                entry.refuse(refusal(&violations));
                "refused"
            }
        };
        tell(entry, &violations, action);
    }
}

impl Policy {
    /// Why an entry cannot be shown at all, with a part of it that says so.
    fn fault<'a>(&self, exchange: &Exchange, entry: &'a Entry<'_>) -> Option<(Member, &'a [u8])> {
        if !entry.is_object() {
            return Some((Member::new("(no object)"), b""));
        }
        // Which of two members counts is the reader's choice, so neither was judged.
        if entry.is_ambiguous() {
            return Some((Member::new("(a member twice)"), b""));
        }
        let media_type = entry.mime_type();
        if !self.allows_media_type(entry) {
            return Some((Member::new("mimeType"), media_type.map_or(b"", |value| value.bytes())));
        }
        let is_off_pin = entry.kind() == EntryKind::Contents && !self.pins.allow(exchange, entry);
        is_off_pin.then_some((Member::new("(not the pinned content)"), b""))
    }

    /// A list may leave the media type to the content.
    fn allows_media_type(&self, entry: &Entry<'_>) -> bool {
        let rules = self.rules(List::MediaTypes);
        if !rules.is_set() || entry.kind() == EntryKind::Tool {
            return true;
        }
        let uri = entry.uri().map(|uri| uri.decode().ok());
        if !is_ui(uri.flatten().as_deref()) {
            return true;
        }
        match entry.mime_type() {
            Some(media_type) => judge::is_allowed(rules, List::MediaTypes, media_type),
            None => entry.kind() != EntryKind::Contents,
        }
    }
}

fn refusal(violations: &Violations) -> Refusal {
    let members: Vec<_> = violations.iter().map(|violation| violation.member.to_string()).collect();
    let message = format!("the server's answer is not within the policy for UIs: {}", members.join(", "));
    Refusal::new(StatusCode::OK, code::INTERNAL_ERROR, message).because(Reason::OutsidePolicy)
}

fn tell(entry: &Entry<'_>, violations: &Violations, action: &'static str) {
    let name = entry.uri().or(entry.name()).and_then(|name| name.decode().ok());
    for violation in violations.iter() {
        tracing::warn!(
            target: "tower_mcp_apps::policy",
            action,
            entry = ?name,
            member = %violation.member,
            count = violation.count,
            example = ?violation.example,
            "a UI declaration is not within the policy",
        );
    }
}
