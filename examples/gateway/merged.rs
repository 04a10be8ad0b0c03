//! One event stream made of those of several upstreams, event by event as each is complete.
//!
//! Dropping it, as happens when the client leaves, drops the upstreams' streams with it. When one of them ends, all end:
//! the client then opens a new stream, and sees who takes part in it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body as _, Frame};
use http_body_util::BodyExt;
use tokio::time::{Sleep, sleep};
use tower::BoxError;
use tower_mcp_apps::json::Frames;
use tower_mcp_apps::sse::{Block, Splitter};

use crate::acknowledged::Acknowledged;
use crate::answer::LONGEST;
use crate::asked_of_client;
use crate::caching;
use crate::caller::Caller;
use crate::event;
use crate::response::Body;
use crate::upstreams::Upstream;

/// The stream of one upstream.
struct Part {
    upstream: Upstream,
    body: Body,
    events: Splitter,
    /// What the upstream said that it will tell, in a stream that begins with that.
    acknowledged: Option<Acknowledged>,
}

/// What a stream of the gateway's is.
enum Kind {
    /// Of the legacy era, where servers may ask their client something: in the client's place the gateway answers.
    Legacy(Arc<Caller>),
    /// The answer to a `subscriptions/listen` with this id.
    Listening(Bytes),
    /// An answer whose result its caller alone may keep.
    Private,
}

/// Several streams as one.
pub(crate) struct Merged {
    kind: Kind,
    parts: Vec<Part>,
    /// Which part is looked at first, so that none waits for the others for ever.
    first: usize,
    /// What goes out next.
    out: Frames,
    /// Until when all parts must have said what they will tell, as long as some have not.
    opening: Option<Pin<Box<Sleep>>>,
    is_over: bool,
}

/// What a part did.
enum Step {
    Event(Block),
    Ended,
}

impl Merged {
    /// The stream of one upstream that answers one request.
    pub(crate) fn of_legacy_answer(caller: &Arc<Caller>, upstream: &Upstream, body: Body) -> Self {
        Self::new(Kind::Legacy(Arc::clone(caller)), vec![(upstream.clone(), body)], None)
    }

    /// The stream of one upstream that answers one request, with a result that its caller alone may keep.
    pub(crate) fn of_private_answer(upstream: &Upstream, body: Body) -> Self {
        Self::new(Kind::Private, vec![(upstream.clone(), body)], None)
    }

    /// The streams of several upstreams on which they say what they like.
    pub(crate) fn of_legacy(caller: &Arc<Caller>, streams: Vec<(Upstream, Body)>) -> Self {
        Self::new(Kind::Legacy(Arc::clone(caller)), streams, None)
    }

    /// The streams of several upstreams that answer a `subscriptions/listen` with this id. Those that do not begin as they
    /// should within `patience` take no part.
    pub(crate) fn of_subscriptions(id: Bytes, streams: Vec<(Upstream, Body)>, patience: Duration) -> Self {
        Self::new(Kind::Listening(id), streams, Some(Box::pin(sleep(patience))))
    }

    fn new(kind: Kind, streams: Vec<(Upstream, Body)>, opening: Option<Pin<Box<Sleep>>>) -> Self {
        let part = |(upstream, body)| Part { upstream, body, events: Splitter::default(), acknowledged: None };
        let parts = streams.into_iter().map(part).collect();
        Self { kind, parts, first: 0, out: Frames::default(), opening, is_over: false }
    }

    /// As the body of an answer.
    pub(crate) fn boxed(self) -> Body {
        BodyExt::boxed_unsync(self)
    }

    /// Waits until each part has said what it will tell; then the client is told all of it at once.
    fn poll_opening(&mut self, cx: &mut Context<'_>, id: &Bytes) -> Poll<Result<(), BoxError>> {
        let Some(deadline) = &mut self.opening else { return Poll::Ready(Ok(())) };
        let is_late = deadline.as_mut().poll(cx).is_ready();
        let mut at = 0;
        while let Some(part) = self.parts.get_mut(at) {
            if part.acknowledged.is_some() {
                at += 1;
                continue;
            }
            match part.poll(cx) {
                Poll::Ready(Ok(Step::Event(block))) => match Acknowledged::read(&block.data()) {
                    Some(acknowledged) => part.acknowledged = Some(acknowledged),
                    // Comments may come first, nothing else.
                    None if block.data().is_empty() => {}
                    None => drop(self.parts.remove(at)),
                },
                Poll::Ready(Ok(Step::Ended) | Err(_)) => drop(self.parts.remove(at)),
                Poll::Pending if is_late => drop(self.parts.remove(at)),
                Poll::Pending => at += 1,
            }
        }
        if self.parts.iter().any(|part| part.acknowledged.is_none()) {
            return Poll::Pending;
        }
        self.opening = None;
        let told = self.parts.iter().filter_map(|part| part.acknowledged.as_ref());
        self.out.extend(event::of(Acknowledged::united(told).to_message(id)));
        // Who tells nothing may end: that is no loss.
        self.parts.retain(|part| part.acknowledged.as_ref().is_some_and(|it| !it.is_nothing()));
        Poll::Ready(Ok(()))
    }

    fn poll_parts(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        let count = self.parts.len();
        for turn in 0..count {
            let at = (self.first + turn) % count;
            match self.parts[at].poll(cx)? {
                Poll::Ready(Step::Event(block)) => {
                    self.first = at + 1;
                    self.take(at, block);
                    return Poll::Ready(Ok(()));
                }
                Poll::Ready(Step::Ended) => {
                    // Some clients read an event to which the blank line is missing.
                    if let Kind::Private = self.kind {
                        while let Some(block) = self.parts[at].events.finish() {
                            self.take(at, block);
                        }
                    }
                    self.is_over = true;
                    return Poll::Ready(Ok(()));
                }
                Poll::Pending => {}
            }
        }
        Poll::Pending
    }

    /// Takes an event of a part in.
    fn take(&mut self, at: usize, block: Block) {
        let caller = match &self.kind {
            Kind::Listening(_) => {
                // The upstream ends its subscription in good order: what it says stands for all.
                self.is_over = event::is_response(&block.data());
                return self.out.extend(block.frames());
            }
            Kind::Private => {
                let edited = caching::for_caller_alone(&block.data());
                return self.out.extend(match edited {
                    Some(edited) => block.with_data(edited),
                    None => block.frames(),
                });
            }
            Kind::Legacy(caller) => caller,
        };
        let data = block.data();
        if data.is_empty() {
            return self.out.push(event::COMMENT);
        }
        match asked_of_client::reply(&data) {
            Some(reply) => asked_of_client::send(caller, &self.parts[at].upstream, reply),
            // Without the upstream's event id: no stream can go on where it broke off.
            None => self.out.extend(event::of(data)),
        }
    }
}

impl Part {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<Step, BoxError>> {
        loop {
            if let Some(block) = self.events.next_block() {
                return Poll::Ready(Ok(Step::Event(block)));
            }
            if self.events.buffered() > LONGEST {
                return Poll::Ready(Err(format!("an event of {} is too long", self.upstream.name()).into()));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(cx)?) {
                Some(frame) => {
                    if let Ok(data) = frame.into_data() {
                        self.events.push(data);
                    }
                }
                None => return Poll::Ready(Ok(Step::Ended)),
            }
        }
    }
}

impl http_body::Body for Merged {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            if let Some(frame) = self.out.next() {
                return Poll::Ready(Some(Ok(Frame::data(frame))));
            }
            if self.is_over {
                self.parts.clear();
                return Poll::Ready(None);
            }
            if let Kind::Listening(id) = &self.kind {
                let id = id.clone();
                ready!(self.poll_opening(cx, &id)?);
                if self.out.is_empty() && self.parts.is_empty() {
                    self.out.extend(event::of(Acknowledged::end(&id)));
                    self.is_over = true;
                }
            }
            if self.out.is_empty() {
                ready!(self.poll_parts(cx)?);
            }
        }
    }
}
