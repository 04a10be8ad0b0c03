//! What is done about one exchange: decided when the request was read, applied to its answer.

mod context;
mod sites;

use std::mem;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use http::header::ACCEPT_ENCODING;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};

use self::context::{read_calls, read_context};
use super::catalogue::{Behind, Failure, Found, Heard, Keys, Store, Tools, read_behind, read_page};
use super::prepared::Way;
use super::remembered::{self, Basis, Comparison};
use super::service::Shared;
use super::{Asked, Concern, Incoming, Preparation, Settings, Unread, Verdict, head, redeclare};
use crate::exchange::{CallInfo, Decision, Exchange, KnownBy, Limits, McpContext, ResolvedAudience, SessionTag, Text};
use crate::frames::Frames;
use crate::json::Splice;
use crate::message::{
    Answer, IdKey, MetaRole, MetaTools, Payload, Reason, Refusal, Walked, Wants, result_message, walk,
};
use crate::protocol::{Method, code};

/// What is done about one exchange.
pub(super) struct Handling<C> {
    shared: Arc<Shared<C>>,
    exchange: Exchange,
    /// The context as the caller wrote it, where a concern rewrote the request.
    as_it_came: Option<Box<McpContext>>,
    wants: Wants,
    tag: Option<SessionTag>,
    answers_initialize: bool,
    /// Whether a result may take the place of an error. Not of one that is about something else than the method.
    may_mend: bool,
    /// What was found out about the tools that are called.
    decision: Decision,
}

/// How an exchange goes on once its request was read.
pub(super) enum Begun<C> {
    GoOn {
        handling: Handling<C>,
        way: Way,
        /// What must be done before.
        preparation: Option<Preparation>,
        /// What the inner service gets in place of the body that came.
        rewritten: Option<Frames>,
    },
    Refuse(Refusal, McpContext),
    /// With the answer's message.
    Answer(Handling<C>, Frames),
}

/// A request that goes no further, and what its answer is made of.
pub(super) struct Refused {
    pub(super) refusal: Refusal,
    /// What was found out about the request; `None` where it was not read.
    pub(super) context: Option<McpContext>,
    /// The headers of the request.
    pub(super) request: HeaderMap,
    /// The headers of the answer.
    pub(super) headers: HeaderMap,
    /// What was found out about the tools that are called.
    pub(super) decision: Decision,
}

impl Refused {
    pub(super) fn new(refusal: Refusal, context: Option<McpContext>, request: HeaderMap) -> Self {
        Self { refusal, context, request, headers: HeaderMap::new(), decision: Decision::forwarded() }
    }
}

/// What editing a message came to.
pub(super) enum Edited {
    /// It stays as it came.
    Not,
    /// It becomes this.
    To(Frames),
    /// It becomes this: a result where there was an error.
    Mended(Frames),
    /// It becomes this: an error where there was a result.
    Refused(Frames, Option<Reason>),
    /// It could not be read.
    Unreadable,
}

impl<C: Concern> Handling<C> {
    /// Judges a request whose body, if it is a POST's, was read. Prepares its head for the inner service.
    pub(super) fn begin(
        shared: Arc<Shared<C>>,
        parts: &mut Parts,
        tag: Option<SessionTag>,
        version: Option<Text>,
        payload: Result<Option<&Payload<'_>>, Unread>,
        body: &Bytes,
    ) -> Begun<C> {
        let settings = &shared.settings;
        let mut context = read_context(payload.ok().flatten(), body, tag.as_ref(), version);
        match settings.audience.resolve(parts, &context.declared) {
            Ok(audience) => context.audience = audience,
            Err(odd) => {
                let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, odd.to_string());
                return Begun::Refuse(refusal.because(Reason::OddAudience), context);
            }
        }
        settings.audience.remove_headers(&mut parts.headers);
        if !shared.concern.rewrites() || !matches!(payload, Ok(Some(_))) {
            return Self::decide(shared, parts, tag, payload, body, context);
        }
        let depth = settings.limits.depth;
        let mut incoming = Incoming::new(&mut parts.headers, body.clone(), depth, &settings.meta_tools);
        let verdict = shared.concern.incoming(&context, &mut incoming);
        let (context, rewritten) = incoming.done(context);
        if let Err(refusal) = verdict {
            return Begun::Refuse(refusal, context);
        }
        let Some(rewritten) = rewritten else {
            return Self::decide(shared, parts, tag, payload, body, context);
        };
        head::settle(&mut parts.headers, rewritten.len());
        let payload = Payload::read_with(&rewritten, depth, &settings.meta_tools).map_err(Unread::Unreadable);
        let payload = payload.as_ref().map(Some).map_err(|unread| *unread);
        let calls = read_calls(payload.ok().flatten(), &rewritten);
        let as_it_came = Some(Box::new(context.clone()));
        match Self::decide(shared, parts, tag, payload, &rewritten, McpContext { calls, ..context }) {
            Begun::GoOn { handling, way, preparation, rewritten: redeclared } => Begun::GoOn {
                handling: Self { as_it_came, ..handling },
                way,
                preparation,
                rewritten: redeclared.or_else(|| Some(rewritten.into())),
            },
            Begun::Answer(handling, message) => Begun::Answer(Self { as_it_came, ..handling }, message),
            Begun::Refuse(refusal, context) => Begun::Refuse(refusal, as_it_came.map_or(context, |context| *context)),
        }
    }

    /// Decides about a request that everything here sees as it is.
    fn decide(
        shared: Arc<Shared<C>>,
        parts: &mut Parts,
        tag: Option<SessionTag>,
        payload: Result<Option<&Payload<'_>>, Unread>,
        body: &Bytes,
        context: McpContext,
    ) -> Begun<C> {
        let settings = &shared.settings;
        let mut exchange = Exchange::new(context, settings.audience.varies());
        let verdict = shared.concern.request(&exchange, &Asked { parts, payload });
        if let Verdict::Refuse(refusal) = verdict {
            return Begun::Refuse(refusal, exchange.context);
        }
        let wants = match payload {
            Ok(Some(_)) => {
                let calls = exchange.context.calls().iter();
                let answers = calls.filter_map(|call| Some((answer_to(call, &settings.meta_tools)?, call.role())));
                // Where no POST asks, the server may not go by the body at all, and open a stream that replays anything.
                let stream = (parts.method != http::Method::POST).then_some((Answer::Unknown, None));
                let wants = |answer| shared.concern.wants(&exchange, answer);
                answers.chain(stream).fold(Wants::NOTHING, |all, (answer, role)| {
                    all | match role.and_then(MetaRole::entries) {
                        Some(entries) => wants(answer).of_meta_tool(wants(entries.wanted_as().0)),
                        None => wants(answer),
                    }
                })
            }
            Ok(None) => shared.concern.wants(&exchange, Answer::Unknown),
            // Whatever this asks, only a filter has to look at what comes back.
            Err(_) => {
                let wants = shared.concern.wants(&exchange, Answer::Unknown);
                wants.when(wants.has(Wants::ENFORCED))
            }
        };
        if wants.needs_reading() || wants.has(Wants::UPDATES) {
            parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        }
        // Where nothing is looked at, now or by a look-up, nothing is to be prepared.
        let is_read = wants.needs_reading() || verdict == Verdict::LookUp;
        let preparation = is_read.then(|| shared.concern.prepare(&mut exchange, parts)).flatten();
        exchange.is_answered = matches!(verdict, Verdict::Answer(_)) && exchange.context.id().is_some();
        parts.extensions.insert(exchange.context.clone());
        if shared.concern.needs_head() {
            exchange.head = Some(Arc::new(parts.clone()));
        }
        let goes_on = matches!(payload, Ok(Some(_))) && !exchange.is_answered;
        let redeclared = match goes_on {
            true => redeclare::request(&shared.concern, &exchange, &mut parts.headers, body, settings.limits.depth),
            false => Ok(None),
        };
        let rewritten = match redeclared {
            Ok(rewritten) => rewritten,
            Err(refusal) => return Begun::Refuse(refusal, exchange.context),
        };
        let answers_initialize = exchange.context.call().is_some_and(|call| call.method() == Some(Method::Initialize));
        let answers_initialize = answers_initialize && shared.settings.tags;
        let tag = if answers_initialize { Some(SessionTag::of(&exchange.context.declared)) } else { tag };
        let mut answer = None;
        let way = match verdict {
            Verdict::Answer(result) => {
                answer = exchange.context.id().map(|id| result_message(id, result));
                Way::Forward
            }
            Verdict::LookUp => {
                let first = payload.ok().flatten().and_then(|payload| payload.calls().first());
                let part = |text| body.slice_ref(text);
                let own = first.and_then(|call| Some((part(call.meta?), call.capabilities.map(part))));
                let told = own.and_then(|(meta, capabilities)| {
                    redeclare::look_up(&shared.concern, &exchange, meta, capabilities)
                });
                let (meta, capabilities) = told.unzip();
                Way::LookUp { meta, capabilities: capabilities.flatten() }
            }
            Verdict::Forward | Verdict::Refuse(_) => Way::Forward,
        };
        let decision = Decision::forwarded();
        let as_it_came = None;
        let handling = Self { shared, exchange, as_it_came, wants, tag, answers_initialize, may_mend: false, decision };
        match answer {
            Some(message) => Begun::Answer(handling, message),
            None => Begun::GoOn { handling, way, preparation, rewritten },
        }
    }

    /// Judges the calls of the exchange by what the look-up found.
    pub(super) fn judge(&mut self, tools: &Tools) -> Result<(), Refusal> {
        let context = &self.exchange.context;
        let called = context.called_tools().chain(context.called_through());
        let known = called.filter_map(|name| Some((name.to_text(), tools.find(name)?.visibility)));
        self.decision = Decision::about(known);
        self.shared.concern.call(&self.exchange, tools)
    }

    /// Reads a page of the catalogue. See [`read_page`].
    pub(super) fn read_page(&self, message: &Bytes, id: &[u8], tools: &mut Tools) -> Result<Heard, Failure> {
        read_page(message, id, self.limits().depth, &self.shared.concern, &self.exchange, tools)
    }

    /// Reads what a meta-tool says of this tool, or of all. See [`read_behind`].
    pub(super) fn read_behind(
        &self,
        message: &Bytes,
        id: &[u8],
        behind: Behind<'_>,
        tools: &mut Tools,
    ) -> Result<Heard, Failure> {
        read_behind(message, id, behind, &self.shared.concern, &self.exchange, tools)
    }

    /// Settles what the head of the answer says whatever its body is.
    pub(super) fn mark_head(&mut self, parts: &mut http::response::Parts) {
        self.settle_head(parts);
        let mut outside = self.outside().clone();
        outside.audience = self.told_audience(parts);
        parts.extensions.insert(outside);
    }

    /// The same of an answer that passes as it is.
    pub(super) fn leave(mut self, parts: &mut http::response::Parts) {
        self.settle_head(parts);
        let audience = self.told_audience(parts);
        let mut outside = match self.as_it_came {
            Some(as_it_came) => *as_it_came,
            None => self.exchange.context,
        };
        outside.audience = audience;
        parts.extensions.insert(outside);
    }

    /// The audience that observers outside are told.
    fn told_audience(&self, parts: &http::response::Parts) -> ResolvedAudience {
        let own = self.outside().audience;
        // What an inner layer was told by its deployer says more than what the client declared.
        let inner = parts.extensions.get().map(|inner: &McpContext| inner.audience);
        let known_better =
            inner.filter(|inner| own.known_by == KnownBy::Declaration && inner.known_by != KnownBy::Declaration);
        known_better.unwrap_or(own)
    }

    fn settle_head(&mut self, parts: &mut http::response::Parts) {
        if let Some(tag) = self.tag.as_ref().filter(|_| parts.status.is_success()) {
            crate::exchange::tag_answer(tag, self.answers_initialize, &mut parts.headers);
        }
        // A method that is not known is 404 in the modern era (MCP 2026-07-28, "Protocol Version Header").
        self.may_mend = parts.status.is_success() || parts.status == StatusCode::NOT_FOUND;
        // A layer inside that refused has the last word: nothing went further.
        if self.decision.says_anything() && !parts.extensions.get().is_some_and(Decision::is_refused) {
            parts.extensions.insert(mem::take(&mut self.decision));
        }
        if let Some(as_it_came) = &self.as_it_came
            && let Some(decision) = parts.extensions.get_mut::<Decision>()
        {
            decision.rename(self.exchange.context.renamed(as_it_came));
        }
    }

    /// Says for records that the answer was withheld. Of a batch the other answers were not.
    pub(super) fn withhold(&self, reason: Option<Reason>, parts: &mut http::response::Parts) {
        if self.exchange.context.call().is_some() {
            self.refuse_answer(reason, parts);
        }
    }

    /// Says for records that the answer, whose head was marked, goes no further.
    pub(super) fn refuse_answer(&self, reason: Option<Reason>, parts: &mut http::response::Parts) {
        let decision = parts.extensions.remove::<Decision>().unwrap_or_default();
        parts.extensions.insert(decision.refuse(reason));
    }

    /// Whether an event that cannot be read must not pass. Where there are meta-tools, the result of a task may come on any stream.
    pub(super) fn enforces_events(&self) -> bool {
        let is_filtered = || self.shared.concern.wants(&self.exchange, Answer::Unknown).has(Wants::ENFORCED);
        self.is_enforced() || (!self.shared.settings.meta_tools.is_empty() && is_filtered())
    }

    /// Whether nobody edits notifications, so that a glance at an event may tell that there is nothing to edit.
    pub(super) fn edits_no_notification(&self) -> bool {
        let of_notifications = self.shared.concern.wants(&self.exchange, Answer::Unknown);
        !(self.wants | of_notifications).has(Wants::UPDATES)
    }

    /// Edits one message, or a batch of them.
    pub(super) fn edit(&self, message: &Bytes) -> Edited {
        let Some(answer) = self.memorable(message) else { return self.edit_anew(message) };
        let remembered = &self.shared.remembered;
        remembered.recall(&answer).unwrap_or_else(|| {
            let edited = self.edit_anew(message);
            remembered.keep(answer, self.limits().depth, &edited);
            edited
        })
    }

    /// The message as an answer that may have come before; `None` where it must be read.
    fn memorable<'a>(&'a self, message: &'a Bytes) -> Option<remembered::Answer<'a>> {
        let (basis, id) = self.memorable_list(message.len())?;
        Some(remembered::Answer { basis, id, message })
    }

    /// What tells a list of this length that may have come before.
    fn memorable_list(&self, length: usize) -> Option<(Basis<'_>, Bytes)> {
        let alike = self.shared.concern.edits_alike() && !self.exchange.is_answered;
        let call = self.context().call().filter(|_| alike && self.shared.remembered.takes(length))?;
        Some((Basis::of(self.context(), call)?, call.id_bytes()?))
    }

    /// What an answer of this length is to be compared with as it comes.
    pub(super) fn compare(&self, length: u64) -> Option<Comparison> {
        let length = usize::try_from(length).ok()?;
        let (basis, id) = self.memorable_list(length)?;
        self.shared.remembered.compare(&basis, id, length)
    }

    fn edit_anew(&self, message: &Bytes) -> Edited {
        let mut splice = Splice::default();
        match walk(message, self.limits().depth, self, &mut splice) {
            Err(_) => Edited::Unreadable,
            Ok(_) if splice.is_empty() => Edited::Not,
            Ok(Walked::Same) => Edited::To(splice.apply(message)),
            Ok(Walked::Mended) => Edited::Mended(splice.apply(message)),
            Ok(Walked::Refused(reason)) => Edited::Refused(splice.apply(message), reason),
        }
    }
}

impl<C> Handling<C> {
    /// What is looked at in the answer.
    pub(super) fn wanted(&self) -> Wants {
        self.wants
    }

    /// The message of the exchange that has this id (its JSON text). A server that reads ids may spell them in another way:
    /// `"a\/b"` in place of `"a/b"`, `1` in place of `1.0`.
    fn call(&self, id: &[u8]) -> Option<&CallInfo> {
        let calls = self.context().calls();
        calls.iter().find(|call| call.id() == Some(id)).or_else(|| {
            let key = IdKey::of(id)?;
            calls.iter().find(|call| call.id().is_some_and(|id| key.is(id)))
        })
    }

    /// What was found out about the tools that are called, as the caller names them.
    pub(super) fn decision(&self) -> Decision {
        let mut decision = self.decision.clone();
        decision.rename(self.exchange.context.renamed(self.outside()));
        decision
    }

    /// What was found out about the request, as the caller wrote it: for observers outside.
    pub(super) fn outside(&self) -> &McpContext {
        self.as_it_came.as_deref().unwrap_or(&self.exchange.context)
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// The keys of the catalogue by which this request is judged; its first call declares these capabilities in its `_meta`.
    pub(super) fn keys(&self, parts: &Parts, capabilities: Option<&[u8]>) -> Keys {
        self.store().keys(parts, self.context(), capabilities, &self.settings().look_up)
    }

    /// The catalogue, or who has to ask for it.
    pub(super) fn find(&self, keys: &Keys) -> Found {
        self.store().find(keys, self.context(), &self.settings().meta_tools, Instant::now())
    }

    /// The end of a request that was judged, and goes no further.
    pub(super) fn refused(&self, refusal: Refusal, request: HeaderMap) -> Refused {
        let context = Some(self.outside().clone());
        Refused { refusal, context, request, headers: HeaderMap::new(), decision: self.decision() }
    }

    pub(super) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Whether what cannot be read must not pass.
    pub(super) fn is_enforced(&self) -> bool {
        self.wants.has(Wants::ENFORCED)
    }

    /// What was found out about the request.
    pub(super) fn context(&self) -> &McpContext {
        &self.exchange.context
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.shared.settings.limits
    }

    /// A JSON-RPC error in the place of an answer, with the request's id.
    pub(super) fn error(&self, message: &'static str) -> Vec<u8> {
        Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message).to_json(self.exchange.context.id())
    }

    /// The same in the place of all that answers the exchange: of a batch an error for each of its requests.
    pub(super) fn errors(&self, message: &'static str) -> Vec<u8> {
        let context = &self.exchange.context;
        let requests = context.calls().iter().filter(|call| call.method().is_some());
        let mut ids = requests.filter_map(CallInfo::id).peekable();
        if context.call().is_some() || ids.peek().is_none() {
            return self.error(message);
        }
        let refusal = Refusal::new(StatusCode::BAD_GATEWAY, code::INTERNAL_ERROR, message);
        let mut errors = Vec::new();
        for id in ids {
            errors.push(if errors.is_empty() { b'[' } else { b',' });
            errors.append(&mut refusal.to_json(Some(id)));
        }
        errors.push(b']');
        errors
    }
}

/// What an answer to a message is. That to a question for a task may be the result of a meta-tool: its shape tells.
fn answer_to(call: &CallInfo, meta_tools: &MetaTools) -> Option<Answer> {
    let method = call.method()?;
    let is_task = !meta_tools.is_empty() && matches!(method, Method::TasksGet | Method::TasksResult);
    Some(if is_task { Answer::Unknown } else { Answer::To(method) })
}
