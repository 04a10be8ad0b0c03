//! What an entry's metadata declares that is not allowed, and the metadata without it.

use std::fmt;

use super::pattern::{Pattern, Rules};
use super::{List, OnViolation, Policy, UnknownDirectives};
use crate::json::{Error, Kind, Object, Removals, Span, Splice, Str, Value};
use crate::message::Meta;

/// How long a part of an offending value is told of.
const EXAMPLE: usize = 128;

/// Where a set of directives stands, and under which names.
struct Csp {
    name: &'static str,
    directives: &'static [(&'static str, List)],
}

/// `_meta.ui.csp` (MCP Apps, "UI Resource Format").
const CSP: Csp = Csp {
    name: "csp",
    directives: &[
        (List::Connect.as_str(), List::Connect),
        (List::Resource.as_str(), List::Resource),
        (List::Frame.as_str(), List::Frame),
        (List::BaseUri.as_str(), List::BaseUri),
    ],
};

/// `_meta["openai/widgetCSP"]`, which hosts of OpenAI's Apps SDK obey.
const OPENAI_CSP: Csp = Csp {
    name: "openai/widgetCSP",
    directives: &[
        ("connect_domains", List::Connect),
        ("resource_domains", List::Resource),
        ("frame_domains", List::Frame),
        ("base_uri_domains", List::BaseUri),
        ("redirect_domains", List::LinkTrusted),
    ],
};

const OPENAI_DOMAIN: &str = "openai/widgetDomain";

/// What stands where something is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    within: Option<&'static str>,
    name: &'static str,
}

impl Member {
    pub(super) const fn new(name: &'static str) -> Self {
        Self { within: None, name }
    }
}

impl fmt::Display for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.within {
            Some(within) => write!(f, "{within}.{}", self.name),
            None => f.write_str(self.name),
        }
    }
}

/// How often a member declares what is not allowed, and the first of it.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) member: Member,
    pub(super) count: usize,
    pub(super) example: String,
}

/// The violations of one entry, one for each member however many there are.
#[derive(Debug, Default)]
pub(super) struct Violations(Vec<Violation>);

impl Violations {
    pub(super) fn add(&mut self, member: Member, offending: &[u8]) {
        if let Some(known) = self.0.iter_mut().find(|known| known.member == member) {
            known.count += 1;
            return;
        }
        let example = String::from_utf8_lossy(&offending[..offending.len().min(EXAMPLE)]).into_owned();
        self.0.push(Violation { member, count: 1, example });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.0.iter()
    }
}

/// What becomes of a value.
#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Kept,
    Removed,
    /// This JSON text takes its place.
    Restricted(Vec<u8>),
}

/// Judges an entry's metadata, and restricts it where the policy says so.
pub(super) fn judge(policy: &Policy, meta: &mut Meta<'_>, violations: &mut Violations) {
    let restricts = policy.on_violation == OnViolation::Restrict;
    let links = List::LinkTrusted.as_str();
    let permissions = List::Permissions.as_str();
    let domain = List::Domain.as_str();

    let mut judge_ui = |key: &str, judge: &mut dyn FnMut(Value<'_>) -> Judged| {
        let judged = meta.ui_get(key).map_or(Judged::Kept, judge);
        match judged {
            Judged::Removed if restricts => meta.ui_remove(key),
            Judged::Restricted(text) if restricts => meta.ui_set(key, text),
            _ => {}
        }
    };
    judge_ui(CSP.name, &mut |value| policy.csp(&CSP, value, violations));
    judge_ui(links, &mut |value| policy.list(List::LinkTrusted, Member::new(links), value, violations));
    judge_ui(permissions, &mut |value| policy.permissions(value, violations));
    judge_ui(domain, &mut |value| policy.domain(Member::new(domain), value, violations));

    let mut judge_other = |key: &str, judge: &mut dyn FnMut(Value<'_>) -> Judged| {
        let judged = meta.get(key).map_or(Judged::Kept, judge);
        match judged {
            Judged::Removed if restricts => meta.remove(key),
            Judged::Restricted(text) if restricts => meta.set(key, text),
            _ => {}
        }
    };
    judge_other(OPENAI_CSP.name, &mut |value| policy.csp(&OPENAI_CSP, value, violations));
    judge_other(OPENAI_DOMAIN, &mut |value| policy.domain(Member::new(OPENAI_DOMAIN), value, violations));
}

impl Policy {
    fn csp(&self, csp: &Csp, value: Value<'_>, violations: &mut Violations) -> Judged {
        let drops_unknown = self.unknown_directives == UnknownDirectives::Drop;
        let is_judged = |(_, list): &(&str, List)| self.rules(*list).is_set();
        if !(drops_unknown || csp.directives.iter().any(is_judged)) || value.kind() == Kind::Null {
            return Judged::Kept;
        }
        self.directives(csp, value, violations).unwrap_or_else(|_| {
            violations.add(Member::new(csp.name), value.bytes());
            Judged::Removed
        })
    }

    fn directives(&self, csp: &Csp, value: Value<'_>, violations: &mut Violations) -> Result<Judged, Error> {
        let known = match self.unknown_directives {
            UnknownDirectives::Keep => None,
            UnknownDirectives::Drop => keep_members(value, |name| {
                let is_known = csp.directives.iter().any(|(directive, _)| name.is(directive));
                if !is_known {
                    violations.add(Member { within: Some(csp.name), name: "(unknown)" }, name.raw().as_bytes());
                }
                is_known
            })?,
        };
        let mut object = Object::default();
        object.read(&mut crate::json::Reader::new(known.as_deref().unwrap_or(value.bytes())))?;
        for &(directive, list) in csp.directives.iter().filter(|(_, list)| self.rules(*list).is_set()) {
            let member = Member { within: Some(csp.name), name: directive };
            let judged = match object.get(directive) {
                None => continue,
                // Which of them counts is the reader's choice, so none of them does.
                Some(value) if object.count(directive) > 1 => {
                    violations.add(member, value.bytes());
                    Judged::Removed
                }
                Some(value) => self.list(list, member, value, violations),
            };
            match judged {
                Judged::Kept => {}
                Judged::Removed => drop(object.remove(directive)),
                Judged::Restricted(text) => object.set(directive, text),
            }
        }
        if !object.is_edited() {
            return Ok(known.map_or(Judged::Kept, Judged::Restricted));
        }
        let mut text = Vec::new();
        object.render(&mut text);
        Ok(Judged::Restricted(text))
    }

    /// Judges a list of sources. `null` states nothing.
    fn list(&self, list: List, member: Member, value: Value<'_>, violations: &mut Violations) -> Judged {
        let rules = self.rules(list);
        if !rules.is_set() || value.kind() == Kind::Null {
            return Judged::Kept;
        }
        let kept = keep_elements(value, |element| {
            let is_allowed = is_allowed(rules, list, element);
            if !is_allowed {
                violations.add(member, element.bytes());
            }
            is_allowed
        });
        judged(kept, member, value, violations)
    }

    /// Judges `permissions`. A permission is asked for by its name, whatever its value.
    fn permissions(&self, value: Value<'_>, violations: &mut Violations) -> Judged {
        let rules = self.rules(List::Permissions);
        let member = Member::new(List::Permissions.as_str());
        if !rules.is_set() || value.kind() == Kind::Null {
            return Judged::Kept;
        }
        let kept = keep_members(value, |name| {
            let stated = name.decode().ok().map(|name| Pattern::Name(name.into_owned()));
            let is_allowed = rules.allows(stated.as_ref());
            if !is_allowed {
                violations.add(member, name.raw().as_bytes());
            }
            is_allowed
        });
        judged(kept, member, value, violations)
    }

    fn domain(&self, member: Member, value: Value<'_>, violations: &mut Violations) -> Judged {
        let rules = self.rules(List::Domain);
        if value.kind() == Kind::Null || is_allowed(rules, List::Domain, value) {
            return Judged::Kept;
        }
        violations.add(member, value.bytes());
        Judged::Removed
    }
}

/// Whether a value is a string that states something allowed.
pub(super) fn is_allowed(rules: &Rules, list: List, value: Value<'_>) -> bool {
    rules.allows(value.as_str().and_then(|text| Pattern::stated(list, &text)).as_ref())
}

/// What becomes of a list of which this is kept. One that could not be read goes.
fn judged(
    kept: Result<Option<Vec<u8>>, Error>,
    member: Member,
    value: Value<'_>,
    violations: &mut Violations,
) -> Judged {
    match kept {
        Ok(kept) => kept.map_or(Judged::Kept, Judged::Restricted),
        Err(_) => {
            violations.add(member, value.bytes());
            Judged::Removed
        }
    }
}

/// The array with only the elements that are to be kept; `None` where that is all of them.
fn keep_elements(value: Value<'_>, mut keep: impl FnMut(Value<'_>) -> bool) -> Result<Option<Vec<u8>>, Error> {
    let mut reader = value.reader();
    let mut kept = Kept::default();
    reader.enter_array()?;
    while reader.element()? {
        let element = reader.value()?;
        let end = reader.position();
        kept.note(Span::new(end - element.bytes().len(), end), keep(element));
    }
    Ok(kept.finish(value))
}

/// The object with only the members that are to be kept; `None` where that is all of them.
fn keep_members(value: Value<'_>, mut keep: impl FnMut(Str<'_>) -> bool) -> Result<Option<Vec<u8>>, Error> {
    let mut reader = value.reader();
    let mut kept = Kept::default();
    reader.enter_object()?;
    while let Some(name) = reader.member()? {
        let end = reader.skip()?.end;
        kept.note(Span::new(name.span().start, end), keep(name));
    }
    Ok(kept.finish(value))
}

#[derive(Default)]
struct Kept {
    removals: Removals,
    splice: Splice,
}

impl Kept {
    fn note(&mut self, span: Span, is_kept: bool) {
        if is_kept {
            self.removals.keep(span, &mut self.splice);
        } else {
            self.removals.drop(span, &mut self.splice);
        }
    }

    fn finish(mut self, value: Value<'_>) -> Option<Vec<u8>> {
        self.removals.finish(&mut self.splice);
        let mut text = Vec::new();
        (!self.splice.is_empty()).then(|| self.splice.apply_into(value.bytes(), &mut text))?;
        Some(text)
    }
}
