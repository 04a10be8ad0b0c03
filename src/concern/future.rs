//! An exchange on its way: the request is read, the inner service asked, its answer read where it may be edited.

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response, StatusCode, response};
use http_body::Body;
use pin_project_lite::pin_project;
use tower_service::Service;

use super::answers::{Answered, refuse, replace};
use super::collect::{Collect, Collected, Step, sniff_frames};
use super::gate::{Gate, Passed};
use super::handling::{self, Begun, Edited, Handling, Refused};
use super::recorder::Recorder;
use super::service::{Shared, has_no_message};
use super::stream::Events;
use super::{Concern, RequestBody, ResponseBody, Unread};
use crate::exchange::{Content, Encoding, End, SessionTag};
use crate::frames::Frames;
use crate::message::{Payload, Reason, Refusal, Wants};
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
        // The call waits to be judged.
        Gated { #[pin] gate: Gate<S, C, B, R> },
        // The inner service is at work.
        Waiting { #[pin] future: S::Future, handling: Option<Handling<C>> },
        // The answer's body is being read.
        Reading { collect: Collect, answer: Option<Answer<R, C>> },
    }
}

/// An answer whose body must be read before its head can go.
struct Answer<R, C> {
    parts: response::Parts,
    // Boxed, since a body that was polled can be moved no more, and what is left of it may have to go on.
    body: Pin<Box<R>>,
    handling: Handling<C>,
}

const UNREADABLE: &str = "the server's answer could not be read, so it could not be filtered";

/// What an exchange comes to.
type Outcome<R, C, E> = Result<Response<ResponseBody<R, C>>, E>;

/// What an exchange starts with.
struct Start<S, C> {
    service: S,
    shared: Arc<Shared<C>>,
    parts: Parts,
    tag: Option<SessionTag>,
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

    pub(super) fn asking(
        service: S,
        shared: Arc<Shared<C>>,
        parts: Parts,
        body: B,
        tag: Option<SessionTag>,
        recorder: Option<Box<Recorder>>,
    ) -> Self {
        let collect = Collect::new(shared.settings.limits.request_bytes);
        let start = Some(Start { service, shared, parts, tag });
        Self { state: State::Asking { body, collect, start }, recorder }
    }

    /// A request whose body is not read.
    pub(super) fn judged(
        service: S,
        shared: Arc<Shared<C>>,
        parts: Parts,
        body: B,
        tag: Option<SessionTag>,
        payload: Result<Option<&Payload<'_>>, Unread>,
        mut recorder: Option<Box<Recorder>>,
    ) -> Self {
        let start = Start { service, shared, parts, tag };
        let state = start.judge(payload, &Bytes::new(), RequestBody::through(body));
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
            Self::Waiting { handling: Some(handling), .. } => {
                recorder.judged(Some(handling.context()));
                recorder.forwarded();
            }
            Self::Gated { gate } => recorder.judged(gate.context()),
            Self::Answered { answer: Some(answer) } => recorder.judged(Some(answer.handling.context())),
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
    ) -> State<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        match Handling::begin(self.shared, &mut self.parts, self.tag, payload, bytes) {
            Begun::Forward(handling) => State::Waiting {
                future: self.service.call(Request::from_parts(self.parts, body)),
                handling: Some(handling),
            },
            Begun::LookUp(handling, meta) => {
                State::Gated { gate: Gate::new(self.service, self.parts, body, handling, meta) }
            }
            Begun::Answer(handling, message) => {
                let answered = Answered { handling, message, request: self.parts.headers };
                State::Answered { answer: Some(Box::new(answered)) }
            }
            Begun::Refuse(refusal, context) => Refused::new(refusal, Some(context), self.parts.headers).into(),
        }
    }

    /// The request was read to its end, or to where it failed.
    fn judge_read<B, R>(self, read: Collected<B::Error>) -> State<S, C, B, R>
    where
        S: Service<Request<RequestBody<B>>>,
        B: Body,
    {
        let bytes = read.frames.to_bytes();
        let depth = self.shared.settings.limits.depth;
        if read.frames.is_empty() && read.error.is_none() && has_no_message(&self.parts.method) {
            return self.judge(Ok(None), &bytes, RequestBody::read(read));
        }
        let payload = match read.error {
            None => Payload::read(&bytes, depth).map_err(Unread::Unreadable),
            Some(_) => Err(Unread::Broken),
        };
        let payload = payload.as_ref().map(Some).map_err(|unread| *unread);
        self.judge(payload, &bytes, RequestBody::read(read))
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
                    let (trailers, error) = match step {
                        Step::More => continue,
                        Step::Whole(trailers) => (trailers, None),
                        Step::Failed(error) => (None, Some(error)),
                        Step::TooLarge => {
                            let Some(start) = start.take() else { return Poll::Pending };
                            let next = State::from(too_large(start));
                            next.show(recorder);
                            state.set(next);
                            continue;
                        }
                    };
                    let frames = std::mem::take(&mut collect.frames);
                    let Some(start) = start.take() else { return Poll::Pending };
                    start.judge_read(Collected { frames, trailers, error })
                }
                StateProjection::Gated { gate } => match ready!(gate.poll(cx))? {
                    Passed::Entered(future, handling) => State::Waiting { future, handling: Some(handling) },
                    Passed::Refused(refused) => refused.into(),
                },
                StateProjection::Waiting { future, handling } => {
                    let response = ready!(future.poll(cx))?;
                    let Some(handling) = handling.take() else { return Poll::Pending };
                    match open(response, handling) {
                        ControlFlow::Break(response) => return Poll::Ready(Ok(response)),
                        ControlFlow::Continue(answer) => State::Reading {
                            collect: Collect::new(answer.handling.limits().response_bytes),
                            answer: Some(answer),
                        },
                    }
                }
                StateProjection::Reading { collect, answer } => {
                    let Some(reading) = answer else { return Poll::Pending };
                    let mut step = ready!(collect.poll_step(reading.body.as_mut(), cx));
                    if matches!(step, Step::More) {
                        match collect.sniff() {
                            Sniff::EventStream | Sniff::Other => {}
                            // Not before the first bytes told what it is: a stream is never too long.
                            Sniff::Json if collect.is_announced_too_large(&*reading.body) => step = Step::TooLarge,
                            Sniff::Json | Sniff::Unknown => continue,
                        }
                    }
                    let Some(answer) = answer.take() else { return Poll::Pending };
                    return Poll::Ready(Ok(answer.close(std::mem::take(&mut collect.frames), step)));
                }
            };
            next.show(recorder);
            state.set(next);
        }
    }
}

/// Decides by its head what an answer needs: it goes out now, or continues with its body being read.
fn open<R, C>(
    response: Response<R>,
    mut handling: Handling<C>,
) -> ControlFlow<Response<ResponseBody<R, C>>, Answer<R, C>>
where
    R: Body<Data = Bytes>,
    C: Concern,
{
    let (mut parts, body) = response.into_parts();
    handling.mark_head(&mut parts);
    let content = Content::of(&parts.headers);
    let is_readable = !matches!(content, Content::Other) || handling.is_enforced();
    let wanted = handling.wanted();
    let is_looked_at = wanted.needs_reading() || (content == Content::Events && wanted.has(Wants::NOTICES));
    if !is_looked_at || body.is_end_stream() || !is_readable {
        return ControlFlow::Break(Response::from_parts(parts, ResponseBody::through(body)));
    }
    if Encoding::of(&parts.headers) == Encoding::Encoded {
        // The page that says why a request failed is no answer to a method, encoded or not.
        if !handling.is_enforced() || (content == Content::Other && !parts.status.is_success()) {
            return ControlFlow::Break(Response::from_parts(parts, ResponseBody::through(body)));
        }
        let message = "the server's answer is encoded although identity was asked for, so it could not be filtered";
        return ControlFlow::Break(replace(parts, &handling, message));
    }
    if content == Content::Events {
        // Even where only notices are wanted, an event may answer another request and be edited by its shape.
        handling::unsettle(&mut parts.headers);
        let events = Events::new(Box::pin(body), handling);
        return ControlFlow::Break(Response::from_parts(parts, ResponseBody::events(events)));
    }
    ControlFlow::Continue(Answer { parts, body: Box::pin(body), handling })
}

impl<R, C> Answer<R, C>
where
    R: Body<Data = Bytes>,
    C: Concern,
{
    /// Decides what goes out, once enough of the body was read.
    fn close(mut self, frames: Frames, step: Step<R::Error>) -> Response<ResponseBody<R, C>> {
        let sniffed = sniff_frames(&frames);
        let must_be_read = self.handling.is_enforced() && self.may_be_answer(sniffed);
        let (trailers, error) = match step {
            Step::More | Step::TooLarge if sniffed == Sniff::EventStream => return self.stream(frames),
            Step::TooLarge if must_be_read || (self.handling.is_enforced() && sniffed == Sniff::Unknown) => {
                return replace(self.parts, &self.handling, "the server's answer is too long to be filtered");
            }
            // Read no further than to see that there is nothing to edit.
            Step::More if must_be_read => return replace(self.parts, &self.handling, UNREADABLE),
            Step::More | Step::TooLarge => {
                return Response::from_parts(self.parts, ResponseBody::resumed(frames, self.body));
            }
            Step::Failed(_) if must_be_read => {
                return replace(
                    self.parts,
                    &self.handling,
                    "the server's answer broke off, so it could not be filtered",
                );
            }
            Step::Failed(error) => (None, Some(error)),
            Step::Whole(trailers) => (trailers, None),
        };
        let edited = match sniffed {
            _ if error.is_some() || frames.is_empty() => Edited::Not,
            Sniff::Json => self.handling.edit(&frames.to_bytes()),
            _ => Edited::Unreadable,
        };
        let mut read = Collected { frames, trailers, error };
        match edited {
            Edited::Mended(_) => self.parts.status = StatusCode::OK,
            Edited::Refused(_, reason) => {
                // Where a result was made up for an unknown method, the refusal is of that.
                if self.parts.status == StatusCode::NOT_FOUND {
                    self.parts.status = StatusCode::OK;
                }
                self.handling.withhold(reason, &mut self.parts);
            }
            Edited::Not | Edited::To(_) | Edited::Unreadable => {}
        }
        match edited {
            Edited::To(edited) | Edited::Mended(edited) | Edited::Refused(edited, _) => {
                handling::settle(&mut self.parts.headers, edited.len());
                read.trailers.iter_mut().for_each(handling::unsettle);
                read.frames = edited;
            }
            Edited::Unreadable if must_be_read => return replace(self.parts, &self.handling, UNREADABLE),
            Edited::Unreadable | Edited::Not => {}
        }
        Response::from_parts(self.parts, ResponseBody::read(read))
    }

    /// An event stream that says it is something else.
    fn stream(mut self, frames: Frames) -> Response<ResponseBody<R, C>> {
        handling::unsettle(&mut self.parts.headers);
        Response::from_parts(self.parts, ResponseBody::events(Events::begun(frames, self.body, self.handling)))
    }

    /// Whether a body that could not be read may be an answer to the method all the same: it says that it is
    /// JSON, or it looks so and nothing says that the request failed.
    fn may_be_answer(&self, sniffed: Sniff) -> bool {
        match Content::of(&self.parts.headers) {
            Content::Json | Content::ForeignJson => true,
            _ => sniffed == Sniff::Json && self.parts.status.is_success(),
        }
    }
}

fn too_large<S, C>(start: Start<S, C>) -> Refused {
    let limit = start.shared.settings.limits.request_bytes;
    let message = format!("the request's body is longer than {limit} bytes, the most that is read here");
    let refusal = Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST, message);
    Refused::new(refusal.because(Reason::TooLarge), None, start.parts.headers)
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
