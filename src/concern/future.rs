//! An exchange on its way: the request is read, the inner service asked, its answer read where it may be edited.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::answers::{Answered, refuse};
use super::catalogue::Found;
use super::collect::{Collect, Collected, Step};
use super::gate::{Call, Gate, Passed};
use super::handling::{Begun, Handling, Refused};
use super::held::{Held, open};
use super::prepared::{Prepared, Way};
use super::recorder::Recorder;
use super::service::{Shared, has_no_message};
use super::{Concern, Preparation, RequestBody, ResponseBody, Unread};
use crate::exchange::{End, SessionTag, Text};
use crate::message::{Payload, Reason, Refusal};
use crate::protocol::code;
use crate::sse::Sniff;

pin_project! {
    /// The future of [`ConcernService`](super::ConcernService).
    pub struct ResponseFuture<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        #[pin]
        state: State<S, C, B, R>,
        recorder: Option<Box<Recorder>>,
    }
}

pin_project! {
    #[project = StateProjection]
    enum State<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        // Not MCP.
        Through { #[pin] future: S::Future },
        // Refused before the inner service was asked.
        Refused { refused: Option<Box<Refused>> },
        // Answered before the inner service was asked.
        Answered { answer: Option<Box<Answered<C>>> },
        // The request's body is being read.
        Asking { #[pin] body: B, collect: Collect, start: Option<Start<S, C>> },
        // What a concern asked for is being done.
        Preparing { preparation: Preparation, prepared: Option<Box<Prepared<S, C, B>>> },
        // The call waits for a look-up, to be judged. Boxed, since the futures of all exchanges would have room for it.
        Gated { gate: Pin<Box<Gate<S, C, B, R>>> },
        // The inner service is at work.
        Waiting { #[pin] future: S::Future, handling: Option<Handling<C>> },
        // The answer's body is being read.
        Reading { collect: Collect, held: Option<Box<Held<R, C>>> },
    }
}

/// What an exchange comes to.
type Outcome<R, C, E> = Result<Response<ResponseBody<R, C>>, E>;

/// What an exchange starts with.
pub(super) struct Start<S, C> {
    /// The one that was polled ready.
    pub(super) service: S,
    pub(super) shared: Arc<Shared<C>>,
    pub(super) parts: Parts,
    pub(super) tag: Option<SessionTag>,
    /// The protocol version that a header names.
    pub(super) version: Option<Text>,
    /// Why the body is no message, should there be one after all.
    pub(super) foreign: Option<Unread>,
}

impl<S, C, B, R> ResponseFuture<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>>,
    C: Concern,
    B: Body,
{
    pub(super) fn through(future: S::Future) -> Self {
        Self { state: State::Through { future }, recorder: None }
    }

    /// A request whose body is to be read.
    pub(super) fn asking(start: Start<S, C>, body: B, recorder: Option<Box<Recorder>>) -> Self {
        let collect = Collect::new(start.shared.settings.limits.request_bytes);
        Self { state: State::Asking { body, collect, start: Some(start) }, recorder }
    }

    /// A request whose body is not read: it has none, or for this reason.
    pub(super) fn unread(
        start: Start<S, C>,
        body: B,
        reason: Option<Unread>,
        mut recorder: Option<Box<Recorder>>,
    ) -> Self {
        let payload = reason.map_or(Ok(None), Err);
        let state = start.judge(payload, &Bytes::new(), RequestBody::through(body), &mut recorder);
        state.show(&mut recorder);
        Self { state, recorder }
    }
}

impl<S, C, B, R> State<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>>,
    C: Concern,
    B: Body,
{
    /// Shows a state that comes next to the recorder.
    fn show(&self, recorder: &mut Option<Box<Recorder>>) {
        let Some(recorder) = recorder else { return };
        match self {
            Self::Waiting { .. } => recorder.forwarded(),
            Self::Preparing { prepared: Some(prepared), .. } => recorder.judged(Some(prepared.context())),
            Self::Answered { answer: Some(answer) } => recorder.judged(Some(answer.handling.outside())),
            Self::Refused { refused: Some(refused) } => recorder.judged(refused.context.as_ref()),
            _ => {}
        }
    }
}

impl<S, C: Concern> Start<S, C> {
    fn judge<B, R>(
        mut self,
        payload: Result<Option<&Payload<'_>>, Unread>,
        bytes: &Bytes,
        body: RequestBody<B>,
        recorder: &mut Option<Box<Recorder>>,
    ) -> State<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        match Handling::begin(self.shared, &mut self.parts, self.tag, self.version, payload, bytes) {
            Begun::GoOn { handling, way, preparation, rewritten } => {
                let (service, parts) = (self.service, self.parts);
                let body = match rewritten {
                    Some(frames) => body.rewritten(frames),
                    None => body,
                };
                let Some(preparation) = preparation else {
                    return State::go_on(service, parts, body, handling, way, recorder);
                };
                let prepared = Prepared { service, parts, body, handling, way };
                State::Preparing { preparation, prepared: Some(Box::new(prepared)) }
            }
            Begun::Answer(handling, message) => {
                let answered = Answered { handling, message, request: self.parts.headers };
                State::Answered { answer: Some(Box::new(answered)) }
            }
            Begun::Refuse(refusal, context) => Refused::new(refusal, Some(context), self.parts.headers).into(),
        }
    }

    /// The request was read to its end, or to where it failed.
    fn judge_read<B, R>(self, read: Collected<B::Error>, recorder: &mut Option<Box<Recorder>>) -> State<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        let bytes = read.frames.to_bytes();
        let depth = self.shared.settings.limits.depth;
        if read.frames.is_empty() && read.error.is_none() && has_no_message(&self.parts.method) {
            return self.judge(Ok(None), &bytes, RequestBody::read(read), recorder);
        }
        let whole;
        let payload = match (self.foreign, &read.error) {
            (Some(foreign), _) => Err(foreign),
            (None, None) => {
                whole = Payload::read_with(&bytes, depth, &self.shared.settings.meta_tools);
                whole.as_ref().map(Some).map_err(|why| Unread::Unreadable(*why))
            }
            (None, Some(_)) => Err(Unread::Broken),
        };
        self.judge(payload, &bytes, RequestBody::read(read), recorder)
    }
}

impl<S, C, B, R> Future for ResponseFuture<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone,
    C: Concern,
    B: Body<Data = Bytes>,
    R: Body<Data = Bytes>,
{
    type Output = Outcome<R, C, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = ready!(this.state.poll_answer(cx, this.recorder));
        let Some(mut recorder) = this.recorder.take() else { return Poll::Ready(answer) };
        Poll::Ready(match answer {
            Ok(response) => {
                recorder.answered(&response);
                Ok(response.map(|body| body.recorded(recorder)))
            }
            Err(error) => {
                recorder.finish(End::Failed);
                Err(error)
            }
        })
    }
}

impl<S, C, B, R> State<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>, Response = Response<R>> + Clone,
    C: Concern,
    B: Body<Data = Bytes>,
    R: Body<Data = Bytes>,
{
    /// Goes from state to state until there is an answer.
    fn poll_answer(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        recorder: &mut Option<Box<Recorder>>,
    ) -> Poll<Outcome<R, C, S::Error>> {
        let mut state = self;
        loop {
            let next = match state.as_mut().project() {
                StateProjection::Through { future } => {
                    return future.poll(cx).map_ok(|response| response.map(ResponseBody::through));
                }
                StateProjection::Refused { refused } => {
                    let Some(refused) = refused.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(refuse(*refused)));
                }
                StateProjection::Answered { answer } => {
                    let Some(answer) = answer.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(answer.close()));
                }
                StateProjection::Asking { body, collect, start } => {
                    let step = if collect.is_announced_too_large(&*body) {
                        Step::TooLarge
                    } else {
                        ready!(collect.poll_step(body, cx))
                    };
                    let end = match step {
                        Step::More => continue,
                        Step::Whole(trailers) => Some((trailers, None)),
                        Step::Failed(error) => Some((None, Some(error))),
                        Step::TooLarge => None,
                    };
                    let frames = std::mem::take(&mut collect.frames);
                    let Some(start) = start.take() else { return Poll::Pending };
                    match end {
                        Some((trailers, error)) => start.judge_read(Collected { frames, trailers, error }, recorder),
                        None => too_large(start).into(),
                    }
                }
                StateProjection::Preparing { preparation, prepared } => {
                    ready!(preparation.as_mut().poll(cx));
                    let Some(prepared) = prepared.take() else { return Poll::Pending };
                    let Prepared { service, parts, body, handling, way } = *prepared;
                    Self::go_on(service, parts, body, handling, way, recorder)
                }
                StateProjection::Gated { gate } => match ready!(gate.as_mut().poll(cx))? {
                    Passed::Entered(future, handling) => State::Waiting { future, handling: Some(handling) },
                    Passed::Refused(refused) => refused.into(),
                },
                StateProjection::Waiting { future, handling } => {
                    let response = ready!(future.poll(cx))?;
                    let Some(handling) = handling.take() else { return Poll::Pending };
                    match open(response, handling) {
                        ControlFlow::Break(response) => return Poll::Ready(Ok(response)),
                        ControlFlow::Continue(held) => State::Reading {
                            collect: Collect::new(held.handling.limits().response_bytes).joining(),
                            held: Some(held),
                        },
                    }
                }
                StateProjection::Reading { collect, held } => {
                    let Some(reading) = held else { return Poll::Pending };
                    let mut step = ready!(collect.poll_step(reading.body.as_mut(), cx));
                    if matches!(step, Step::More) {
                        if reading.goes_on_as_before(&mut collect.frames) {
                            continue;
                        }
                        match collect.sniff() {
                            Sniff::EventStream | Sniff::Other => {}
                            // Not before the first bytes told what it is: a stream is never too long.
                            Sniff::Json if collect.is_announced_too_large(&*reading.body) => step = Step::TooLarge,
                            Sniff::Json | Sniff::Unknown => continue,
                        }
                    }
                    let Some(held) = held.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(held.close(std::mem::take(&mut collect.frames), step)));
                }
            };
            next.show(recorder);
            state.set(next);
        }
    }
}

fn too_large<S, C>(start: Start<S, C>) -> Refused {
    let limit = start.shared.settings.limits.request_bytes;
    let message = format!("the request's body is longer than {limit} bytes, the most that is read here");
    let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST, message);
    Refused::new(refusal.because(Reason::TooLarge), None, start.parts.headers)
}

impl<S, C, B, R> State<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>>,
    C: Concern,
    B: Body,
{
    /// Goes on to the inner service, at once or once a look-up is over.
    fn go_on(
        mut service: S,
        parts: Parts,
        body: RequestBody<B>,
        mut handling: Handling<C>,
        way: Way,
        recorder: &mut Option<Box<Recorder>>,
    ) -> Self {
        // Before the inner service is asked: it may panic, and its call leaves a record all the same.
        if let Some(recorder) = recorder {
            recorder.judged(Some(handling.outside()));
        }
        if let Way::LookUp { meta, capabilities } = way {
            let keys = handling.keys(&parts, capabilities.as_deref());
            match handling.find(&keys) {
                Found::Tools(tools) => {
                    if let Err(refusal) = handling.judge(&tools) {
                        return handling.refused(refusal, parts.headers).into();
                    }
                }
                found => {
                    let call = Call { parts, body, handling, meta };
                    return Self::Gated { gate: Box::pin(Gate::new(service, call, keys, found)) };
                }
            }
        }
        let future = service.call(Request::from_parts(parts, body));
        Self::Waiting { future, handling: Some(handling) }
    }
}

impl<S, C, B, R> From<Refused> for State<S, C, B, R>
where
    S: Service<Request<RequestBody<B>>>,
    B: Body,
{
    fn from(refused: Refused) -> Self {
        Self::Refused { refused: Some(Box::new(refused)) }
    }
}
