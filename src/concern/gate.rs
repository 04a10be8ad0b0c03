//! A call that waits for the catalogue: found, waited for, or asked for, and then judged.

mod inquiry;

use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, Request, Response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use self::inquiry::{Inquiry, Turned};
use super::catalogue::{Behind, Failure, Flight, Found, Heard, Keys, Landed, Page, Question, Tools};
use super::collect::{Collect, Step};
use super::handling::{Handling, Refused};
use super::{Concern, RequestBody};
use crate::exchange::Encoding;
use crate::message::{Reason, Refusal};
use crate::protocol::code;
use crate::sse::{Sniff, Splitter};

pin_project! {
    /// A call on its way through the gate.
    pub(super) struct Gate<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        service: S,
        // Whether the service was polled ready and not called since.
        is_ready: bool,
        call: Option<Call<C, B>>,
        keys: Keys,
        #[pin]
        phase: Phase<S::Future, R>,
    }
}

/// The call that is judged.
pub(super) struct Call<C, B: Body> {
    pub(super) parts: Parts,
    pub(super) body: RequestBody<B>,
    pub(super) handling: Handling<C>,
    /// The JSON text of its `_meta`.
    pub(super) meta: Option<Bytes>,
}

pin_project! {
    #[project = PhaseProjection]
    enum Phase<F, R> {
        // The store was looked into.
        Found { found: Option<Found> },
        // Somebody else is asking.
        Waiting { flight: Arc<Flight> },
        // About to ask for a page, once the service is ready.
        Asking { inquiry: Option<Box<Inquiry>> },
        // The service is at work on a page.
        Asked { #[pin] future: F, inquiry: Option<Box<Inquiry>> },
        // A page is being read.
        Reading { page: Option<Box<Reading<R>>> },
        // The call may run, once the service is ready.
        Entering,
    }
}

struct Reading<R> {
    body: Pin<Box<R>>,
    collect: Collect,
    splitter: Option<Splitter>,
    inquiry: Box<Inquiry>,
}

/// How a call leaves the gate.
pub(super) enum Passed<F, C> {
    /// The inner service is at work on it.
    Entered(F, Handling<C>),
    /// It goes no further.
    Refused(Refused),
}

impl<S, C, B, R> Gate<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>>,
    C: Concern,
    B: Body,
{
    /// A call that must be judged, what the store had for it, and the service that was polled ready for it.
    pub(super) fn new(service: S, call: Call<C, B>, keys: Keys, found: Found) -> Self {
        Self { service, is_ready: true, call: Some(call), keys, phase: Phase::Found { found: Some(found) } }
    }
}

impl<S, C, B, R> Future for Gate<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone,
    C: Concern,
    B: Body<Data = Bytes>,
    R: Body<Data = Bytes>,
{
    type Output = Result<Passed<S::Future, C>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            let Some(call) = this.call.as_mut() else { return Poll::Pending };
            let found = match this.phase.as_mut().project() {
                PhaseProjection::Found { found } => match found.take() {
                    Some(Found::Tools(tools)) => Ok(tools),
                    Some(Found::Wait(flight)) => {
                        // What waits must hold nothing that the one who asks may need.
                        *this.service = this.service.clone();
                        *this.is_ready = false;
                        this.phase.set(Phase::Waiting { flight });
                        continue;
                    }
                    Some(Found::Ask(lead, base)) => {
                        match Question::new(call.handling.context(), call.meta.as_deref()) {
                            Ok(question) => {
                                let inquiry = Inquiry::new(lead, question, base, call);
                                this.phase.set(Phase::Asking { inquiry: Some(Box::new(inquiry)) });
                                continue;
                            }
                            Err(failure) => call.handling.store().land(lead, this.keys, Err(failure)),
                        }
                    }
                    None => return Poll::Pending,
                },
                PhaseProjection::Waiting { flight } => match ready!(flight.poll(cx)) {
                    // Those who asked may have named other tools.
                    Landed::Done(result) if !result.as_ref().is_ok_and(|tools| call.lacks(tools)) => result,
                    Landed::Done(_) | Landed::Abandoned => {
                        let found = Some(call.handling.find(this.keys));
                        this.phase.set(Phase::Found { found });
                        continue;
                    }
                },
                PhaseProjection::Asking { inquiry } => {
                    if !*this.is_ready
                        && let Err(error) = ready!(this.service.poll_ready(cx))
                    {
                        call.give_up(inquiry.take(), this.keys);
                        return Poll::Ready(Err(error));
                    }
                    *this.is_ready = false;
                    let Some(inquiry) = inquiry.take() else { return Poll::Pending };
                    let request = inquiry.request(call);
                    let future = this.service.call(request);
                    this.phase.set(Phase::Asked { future, inquiry: Some(inquiry) });
                    continue;
                }
                PhaseProjection::Asked { future, inquiry } => {
                    let response = ready!(future.poll(cx));
                    let response = match response {
                        Ok(response) => response,
                        Err(error) => {
                            call.give_up(inquiry.take(), this.keys);
                            return Poll::Ready(Err(error));
                        }
                    };
                    let Some(inquiry) = inquiry.take() else { return Poll::Pending };
                    match page_body(response) {
                        Ok(body) => {
                            let collect = Collect::new(inquiry.left).joining();
                            let page = Reading { body: Box::pin(body), collect, splitter: None, inquiry };
                            this.phase.set(Phase::Reading { page: Some(Box::new(page)) });
                            continue;
                        }
                        Err(failure) => call.handling.store().land(inquiry.lead, this.keys, Err(failure)),
                    }
                }
                PhaseProjection::Reading { page } => {
                    let Some(reading) = page.as_mut() else { return Poll::Pending };
                    let read = ready!(reading.poll(cx, &call.handling));
                    let Some(mut reading) = page.take() else { return Poll::Pending };
                    reading.inquiry.left = reading.collect.left();
                    match reading.inquiry.turn(read, call) {
                        Turned::Next(inquiry) => {
                            this.phase.set(Phase::Asking { inquiry: Some(inquiry) });
                            continue;
                        }
                        Turned::Over(lead, found) => call.handling.store().land(lead, this.keys, found),
                    }
                }
                PhaseProjection::Entering => {
                    if !*this.is_ready {
                        ready!(this.service.poll_ready(cx))?;
                    }
                    let Some(Call { parts, body, handling, .. }) = this.call.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(Passed::Entered(
                        this.service.call(Request::from_parts(parts, body)),
                        handling,
                    )));
                }
            };
            let (refusal, headers) = match found {
                Ok(tools) => match call.handling.judge(&tools) {
                    Ok(()) => {
                        this.phase.set(Phase::Entering);
                        continue;
                    }
                    Err(refusal) => (refusal, HeaderMap::new()),
                },
                Err(failure) => (failure.refusal(), failure.headers),
            };
            let Some(Call { parts, handling, .. }) = this.call.take() else { return Poll::Pending };
            return Poll::Ready(Ok(Passed::Refused(Refused { headers, ..handling.refused(refusal, parts.headers) })));
        }
    }
}

impl Failure {
    fn refusal(&self) -> Refusal {
        Refusal::new(self.status, code::INTERNAL_ERROR, self.message).because(Reason::LookUpFailed)
    }
}

impl<C: Concern, B: Body> Call<C, B> {
    /// The tools that a meta-tool must be asked for beyond these.
    fn missing(&self, tools: &Tools) -> Vec<Box<str>> {
        let asks = self.handling.settings().meta_tools.catalogue().is_some() && !tools.is_listed_behind();
        if asks { tools.missing(self.handling.context()) } else { Vec::new() }
    }

    fn lacks(&self, tools: &Tools) -> bool {
        !self.missing(tools).is_empty()
    }

    /// The service failed while it was asked. Its error goes to the one who asked; those who wait get a refusal, since each of
    /// them would meet the same failure, one after the other.
    fn give_up(&self, inquiry: Option<Box<Inquiry>>, keys: &Keys) {
        let Some(inquiry) = inquiry else { return };
        let failure =
            Failure::new("the server failed while it was asked for its tools, so the call could not be judged");
        drop(self.handling.store().land(inquiry.lead, keys, Err(failure)));
    }
}

/// The body of a page, if the head says that there is one.
fn page_body<R>(response: Response<R>) -> Result<R, Failure> {
    let (parts, body) = response.into_parts();
    if !parts.status.is_success() {
        // The caller must hear why it was refused, such as that it has to log in or to start a new session.
        let mut failure =
            Failure::new("the server does not list its tools for this caller, so the call could not be judged");
        if parts.status.is_client_error() || parts.status.is_server_error() {
            failure.status = parts.status;
        }
        for name in [WWW_AUTHENTICATE, RETRY_AFTER] {
            for value in parts.headers.get_all(&name) {
                failure.headers.append(&name, value.clone());
            }
        }
        return Err(failure);
    }
    if Encoding::of(&parts.headers) == Encoding::Encoded {
        return Err(Failure::new("the server's list of tools is encoded although identity was asked for"));
    }
    Ok(body)
}

impl<R: Body<Data = Bytes>> Reading<R> {
    fn poll<C: Concern>(&mut self, cx: &mut Context<'_>, handling: &Handling<C>) -> Poll<Result<Page, Failure>> {
        loop {
            if self.collect.is_announced_too_large(&*self.body) {
                return Poll::Ready(Err(Failure::new("the server's list of tools is too long")));
            }
            let step = ready!(self.collect.poll_step(self.body.as_mut(), cx));
            let is_over = match step {
                Step::More => false,
                Step::Whole(_) => true,
                Step::TooLarge => return Poll::Ready(Err(Failure::new("the server's list of tools is too long"))),
                Step::Failed(_) => return Poll::Ready(Err(Failure::new("the server's list of tools broke off"))),
            };
            if self.splitter.is_none() && self.collect.sniff() == Sniff::EventStream {
                self.splitter = Some(Splitter::default());
            }
            if let Some(page) = self.page(is_over, handling).transpose() {
                return Poll::Ready(page);
            }
            if is_over {
                return Poll::Ready(Err(Failure::new("the server did not answer with its list of tools")));
            }
        }
    }

    /// The page, as soon as it is there.
    fn page<C: Concern>(&mut self, is_over: bool, handling: &Handling<C>) -> Result<Option<Page>, Failure> {
        let Inquiry { question, tools, is_behind, missing, next, .. } = &mut *self.inquiry;
        let meta_tools = &handling.settings().meta_tools;
        let behind = meta_tools.catalogue().filter(|_| *is_behind).map(|tool| Behind {
            meta_tools,
            role: tool.role,
            name: missing.last().map(|name| &**name).filter(|_| tool.argument.is_some()),
            goes_on: next.is_some(),
            depth: handling.limits().depth,
        });
        let mut read = |message: &Bytes| match behind {
            Some(behind) => handling.read_behind(message, &question.id, behind, tools),
            None => handling.read_page(message, &question.id, tools),
        };
        let Some(splitter) = &mut self.splitter else {
            if !is_over || self.collect.frames.is_empty() {
                return Ok(None);
            }
            return Ok(match read(&self.collect.frames.to_bytes())? {
                Heard::Page(page) => Some(page),
                Heard::Change | Heard::Other => None,
            });
        };
        mem::take(&mut self.collect.frames).for_each(|piece| splitter.push(piece));
        while let Some(block) = if is_over { splitter.finish() } else { splitter.next_block() } {
            let data = block.data();
            if data.trim_ascii_start().first() != Some(&b'{') {
                continue;
            }
            match read(&data)? {
                Heard::Page(page) => return Ok(Some(page)),
                // What is read now may be from before the change: it decides about this call, and is not kept.
                Heard::Change => handling.store().forget(),
                Heard::Other => {}
            }
        }
        Ok(None)
    }
}
