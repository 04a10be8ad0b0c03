//! What is put back, and in what.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::request::Parts;

use super::capture::next_number;
use super::fill::{Extent, Fill, Members, by_default};
use super::place::now;
use super::{Credentials, Place, Renaming, Said, Store, Unknown};
use crate::concern::{Concern, MetaRole, Preparation, sealed::Sealed};
use crate::exchange::{Asker, Exchange};
use crate::message::{Answer, Entry, EntryKind, Wants};
use crate::protocol::Method;

/// The concern: puts back what an upstream said and the aggregator lost.
#[derive(Clone)]
pub struct Restore {
    number: u64,
    store: Arc<dyn Store>,
    upstreams: Vec<Upstream>,
    unknown: Unknown,
    members: Arc<Members>,
    /// The second in which was last told of a hidden tool.
    warned: Arc<AtomicU64>,
}

#[derive(Clone)]
struct Upstream {
    name: Arc<str>,
    renaming: Arc<dyn Renaming>,
    credentials: Credentials,
}

impl Restore {
    /// Puts back what this store remembers.
    pub fn new(store: impl Store) -> Self {
        Self {
            number: next_number(),
            store: Arc::new(store),
            upstreams: Vec::new(),
            unknown: Unknown::Hide,
            members: Arc::new(by_default),
            warned: Arc::default(),
        }
    }

    /// Adds an upstream, with what the aggregator makes of its names. The name is that of its [`Capture`](super::Capture).
    #[must_use]
    pub fn upstream(self, name: impl Into<String>, renaming: impl Renaming) -> Self {
        self.upstream_with(name, renaming, Credentials::of_request())
    }

    /// Adds an upstream whose callers are told apart like this.
    #[must_use]
    pub fn upstream_with(mut self, name: impl Into<String>, renaming: impl Renaming, credentials: Credentials) -> Self {
        self.upstreams.push(Upstream { name: name.into().into(), renaming: Arc::new(renaming), credentials });
        self
    }

    /// Chooses what becomes of a tool of an upstream of which nothing is remembered.
    #[must_use]
    pub fn unknown(mut self, unknown: Unknown) -> Self {
        self.unknown = unknown;
        self
    }

    /// Chooses which members are put back. The path of a member begins in the entry: `["title"]`, `["_meta", "ui", "csp"]`,
    /// `["annotations", "readOnlyHint"]`. By default all but `outputSchema` and `execution`, which the aggregator itself would have
    /// to keep; of `_meta.ui` there is no asking about `visibility`.
    #[must_use]
    pub fn members(mut self, restores: impl Fn(EntryKind, &[&str]) -> bool + Send + Sync + 'static) -> Self {
        self.members = Arc::new(restores);
        self
    }

    /// What was said about an entry of this upstream, and whether it is fresh.
    fn recall(
        &self,
        asker: &Asker,
        exchange: &Exchange,
        nth: usize,
        kind: EntryKind,
        own: &str,
    ) -> Option<(Said, bool)> {
        let whose = asker.whose.get(nth).copied().flatten()?;
        let place = match kind {
            EntryKind::Contents => match exchange.context().uri() {
                Some(uri) => Place::contents(whose, &self.upstreams.get(nth)?.renaming.resource(uri)?),
                // Of a batch, or on a stream that answers others: what was read is most likely this.
                None => Place::contents(whose, own),
            },
            kind => Place::list(whose, kind),
        };
        // What comes on a stream that answers no request came now.
        let asked = if exchange.context().calls().is_empty() { now() } else { asker.asked };
        let said = self.store.recall(&place, own, asked)?;
        let is_fresh = said.is_fresh(asked);
        Some((said, is_fresh))
    }

    /// Where what may be put back in this exchange is remembered.
    fn places(&self, exchange: &Exchange, whose: &[Option<[u8; 32]>]) -> Vec<Place> {
        let mut lists = Vec::new();
        let mut reads = Vec::new();
        for call in exchange.context().calls() {
            match call.method() {
                Some(Method::ToolsList) => lists.push(EntryKind::Tool),
                Some(Method::ResourcesList) => lists.push(EntryKind::Resource),
                Some(Method::TemplatesList) => lists.push(EntryKind::Template),
                Some(Method::ResourcesRead) => reads.extend(call.uri()),
                Some(Method::ToolsCall) => {
                    // A call is judged by what the list says; the result of a meta-tool has entries of its own.
                    lists.push(EntryKind::Tool);
                    match call.role().and_then(MetaRole::entries) {
                        Some(EntryKind::Contents) => reads.extend(call.target()),
                        Some(kind) => lists.push(kind),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        if exchange.context().calls().is_empty() {
            lists.extend([EntryKind::Tool, EntryKind::Resource, EntryKind::Template]);
        }
        let mut places = Vec::new();
        for (upstream, whose) in self.upstreams.iter().zip(whose) {
            let Some(whose) = *whose else { continue };
            for kind in [EntryKind::Tool, EntryKind::Resource, EntryKind::Template] {
                places.extend(lists.contains(&kind).then(|| Place::list(whose, kind)));
            }
            let own = reads.iter().filter_map(|uri| upstream.renaming.resource(uri));
            places.extend(own.map(|uri| Place::contents(whose, &uri)));
        }
        places
    }
}

impl fmt::Debug for Restore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let upstreams: Vec<_> = self.upstreams.iter().map(|upstream| (&upstream.name, &upstream.credentials)).collect();
        f.debug_struct("Restore").field("upstreams", &upstreams).field("unknown", &self.unknown).finish_non_exhaustive()
    }
}

impl Sealed for Restore {}

impl Concern for Restore {
    fn prepare(&self, exchange: &mut Exchange, parts: &Parts) -> Option<Preparation> {
        // Before anything is waited for: what is said from now on is not older than the request.
        let asked = now();
        let whose = self.upstreams.iter().map(|upstream| upstream.credentials.whose(&upstream.name, parts));
        let whose: Vec<_> = whose.collect();
        let places = self.places(exchange, &whose);
        exchange.askers.push(Asker { concern: self.number, whose, asked });
        if places.is_empty() { None } else { self.store.refresh(places) }
    }

    fn wants(&self, _: &Exchange, answer: Answer) -> Wants {
        if self.upstreams.is_empty() {
            return Wants::NOTHING;
        }
        let private = Wants::PRIVATE.when(self.upstreams.iter().any(|upstream| upstream.credentials.vary()));
        let tools = Wants::TOOLS | Wants::ENFORCED.when(self.unknown == Unknown::Hide);
        match answer {
            Answer::To(Method::ToolsList) => tools | private,
            Answer::To(Method::ResourcesList) => Wants::RESOURCES | private,
            Answer::To(Method::TemplatesList) => Wants::TEMPLATES | private,
            Answer::To(Method::ResourcesRead) => Wants::CONTENTS | private,
            Answer::To(_) => Wants::NOTHING,
            Answer::Unknown => tools | Wants::RESOURCES | Wants::TEMPLATES | Wants::CONTENTS | private,
        }
    }

    fn entry(&self, exchange: &Exchange, entry: &mut Entry<'_>) {
        let kind = entry.kind();
        let is_listed =
            [EntryKind::Tool, EntryKind::Resource, EntryKind::Template, EntryKind::Contents].contains(&kind);
        // What says two things about itself is nobody's to complete.
        if !is_listed || entry.is_added() || exchange.is_answered || !entry.is_object() || entry.is_ambiguous() {
            return;
        }
        let Some(asker) = exchange.asker(self.number) else { return };
        let may_hide = kind == EntryKind::Tool && self.unknown == Unknown::Hide;
        let name = if kind == EntryKind::Tool { entry.name() } else { entry.uri() };
        let Some(Ok(name)) = name.map(|name| name.decode().map(Cow::into_owned)) else {
            // Nobody knows whose it is.
            if may_hide {
                entry.remove();
            }
            return;
        };
        let is_held = match self.find(asker, exchange, kind, &name) {
            Found::One(upstream, said, is_fresh) => {
                let extent = if is_fresh { Extent::All } else { Extent::Narrowing };
                Fill { renaming: &*upstream.renaming, members: &*self.members, extent }.fill(entry, &said.text)
            }
            Found::Nothing => !may_hide,
            Found::NotTheirs => true,
        };
        if !is_held {
            self.warn(&name);
            entry.remove();
        }
    }
}

impl Restore {
    /// Tells of a tool that is hidden: once a second, since it may be all of them, in every list.
    fn warn(&self, tool: &str) {
        let second = now() / 1000;
        if self.warned.swap(second, Ordering::Relaxed) != second {
            tracing::warn!(
                target: "tower_mcp_apps::restore",
                tool,
                "tools are hidden, this one among them: it is not known for whom the upstream says they are; \
                 do both layers have the same store, names of upstreams, and credentials?",
            );
        }
    }
}

/// What is remembered about an entry.
enum Found<'r> {
    /// One upstream said this, and whether it is fresh.
    One(&'r Upstream, Said, bool),
    /// Nothing, or different things by upstreams that may both be meant: nobody knows whose entry it is.
    Nothing,
    /// No upstream has an entry of this name.
    NotTheirs,
}

impl Restore {
    fn find(&self, asker: &Asker, exchange: &Exchange, kind: EntryKind, name: &str) -> Found<'_> {
        let mut found = Found::NotTheirs;
        let mut several = false;
        for (nth, upstream) in self.upstreams.iter().enumerate() {
            let own = match kind {
                EntryKind::Tool => upstream.renaming.tool(name),
                _ => upstream.renaming.resource(name),
            };
            let Some(own) = own else { continue };
            let said = self.recall(asker, exchange, nth, kind, &own);
            found = match (found, said) {
                (Found::One(first, before, is_fresh), said) => {
                    several |= said.is_some_and(|(said, _)| said.text != before.text);
                    Found::One(first, before, is_fresh)
                }
                (_, Some((said, is_fresh))) => Found::One(upstream, said, is_fresh),
                (_, None) => Found::Nothing,
            };
        }
        if several { Found::Nothing } else { found }
    }
}
