//! An event stream on its way out: edited event by event, each forwarded as its blank line arrives.

use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::{Body, Frame};

use super::Concern;
use super::answers::{UNREADABLE, event};
use super::collect::MOST_LEADING_SPACE;
use super::handling::{Edited, Handling};
use super::head;
use crate::frames::Frames;
use crate::json::{Depth, Reader};
use crate::message::may_have_sites;
use crate::sse::{Block, Sniff, Splitter, sniff};

/// A body that is, or says that it is, an event stream.
pub(super) struct Events<B: Body, C> {
    // None once the stream is over, or was ended from this side, so that the inner service's side closes at once.
    body: Option<Pin<Box<B>>>,
    edit: Edit<C>,
    // What comes behind the last bytes.
    end: Option<Result<HeaderMap, B::Error>>,
    // Whether there was nothing to be had for once before the error in `end`, so that what was held until then is sent.
    is_flushed: bool,
}

impl<B: Body, C> Events<B, C> {
    pub(super) fn is_end(&self) -> bool {
        self.body.is_none() && self.edit.out.is_empty() && self.end.is_none()
    }
}

impl<B, C> Events<B, C>
where
    B: Body<Data = Bytes>,
    C: Concern,
{
    pub(super) fn new(body: Pin<Box<B>>, handling: Handling<C>) -> Self {
        let glance = match handling.edits_no_notification() {
            false => Glance::Useless,
            true if handling.enforces_events() => Glance::IfJson,
            true => Glance::Enough,
        };
        let phase = Phase::Sniffing(Frames::default());
        let edit = Edit { handling, glance, phase, passes: false, out: Frames::default() };
        Self { body: Some(body), edit, end: None, is_flushed: false }
    }

    /// A body of which these frames were read already, and begin like events.
    pub(super) fn begun(frames: Frames, body: Pin<Box<B>>, handling: Handling<C>) -> Self {
        let mut events = Self::new(body, handling);
        frames.for_each(|piece| events.edit.push(piece));
        events
    }

    pub(super) fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        loop {
            if let Some(piece) = self.edit.out.next() {
                return Poll::Ready(Some(Ok(Frame::data(piece))));
            }
            if self.edit.is_over() {
                self.body = None;
            }
            let Some(body) = &mut self.body else {
                // Where a body fails, hyper's server drops what it has not sent yet. It sends that while it has to wait.
                if matches!(self.end, Some(Err(_))) && !mem::replace(&mut self.is_flushed, true) {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                return Poll::Ready(self.end.take().map(|end| end.map(Frame::trailers)));
            };
            match ready!(body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(piece) => self.edit.push(piece),
                    Err(frame) => {
                        self.end = frame.into_trailers().ok().map(|mut trailers| {
                            // Like the head, they say nothing of bytes that may have been edited.
                            head::unsettle(&mut trailers);
                            Ok(trailers)
                        });
                        self.edit.finish();
                    }
                },
                Some(Err(error)) => {
                    self.end = Some(Err(error));
                    self.edit.break_off();
                }
                None => self.edit.finish(),
            }
        }
    }
}

/// What is done to the bytes.
struct Edit<C> {
    handling: Handling<C>,
    glance: Glance,
    phase: Phase,
    /// The event that has begun is too long to be read where nothing is enforced: what is left of it passes as it comes.
    passes: bool,
    out: Frames,
}

/// What it is worth that a glance at an event finds nothing to edit.
#[derive(Clone, Copy)]
enum Glance {
    /// The event passes.
    Enough,
    /// The event passes if it is JSON: a filter must see that it can be read.
    IfJson,
    /// Nothing: notifications are edited, which no glance looks for.
    Useless,
}

enum Phase {
    /// Not yet known whether it is what it says.
    Sniffing(Frames),
    Events(Splitter),
    /// It is JSON, whatever it says: read whole, then edited.
    Json(Frames),
    /// Too long to be read where nothing is enforced: the rest passes as it comes.
    Through,
    /// Ended from this side.
    Over,
}

impl<C: Concern> Edit<C> {
    fn push(&mut self, piece: Bytes) {
        match &mut self.phase {
            Phase::Sniffing(frames) => {
                frames.push(piece);
                let start = frames.to_bytes();
                let frames = mem::take(frames);
                self.phase = match sniff(&start) {
                    Sniff::Json => Phase::Json(Frames::default()),
                    Sniff::Unknown if start.len() <= MOST_LEADING_SPACE => {
                        self.phase = Phase::Sniffing(frames);
                        return;
                    }
                    Sniff::EventStream | Sniff::Other | Sniff::Unknown => Phase::Events(Splitter::default()),
                };
                frames.for_each(|piece| self.push(piece));
            }
            Phase::Events(splitter) => {
                splitter.push(piece);
                let most = self.handling.limits().response_bytes;
                let is_enforced = self.handling.is_enforced();
                while let Some(block) = splitter.next_block() {
                    // Also where it came in one piece, so that the same bytes always fare alike.
                    let is_too_long = mem::take(&mut self.passes) || block.len() > most;
                    if is_too_long && is_enforced {
                        return self.too_large(Frames::default());
                    } else if is_too_long {
                        block.push_to(&mut self.out);
                    } else {
                        pass_on(&self.handling, self.glance, block, &mut self.out);
                    }
                }
                if self.passes || splitter.buffered() > most {
                    if is_enforced {
                        return self.too_large(Frames::default());
                    }
                    self.passes = true;
                    self.out.extend(splitter.release());
                }
            }
            Phase::Json(frames) => {
                frames.push(piece);
                if frames.len() > self.handling.limits().response_bytes {
                    let held = mem::take(frames);
                    self.too_large(held);
                }
            }
            Phase::Through => self.out.push(piece),
            Phase::Over => {}
        }
    }

    fn too_large(&mut self, held: Frames) {
        if self.handling.is_enforced() {
            self.out.push(error_event(&self.handling, "a message of the server is too long to be filtered"));
            self.phase = Phase::Over;
        } else {
            self.out.extend(held);
            self.phase = Phase::Through;
        }
    }

    /// The stream is over: what is left is edited as if it were whole, since some clients read it so.
    fn finish(&mut self) {
        match mem::replace(&mut self.phase, Phase::Over) {
            Phase::Sniffing(frames) => self.out.extend(frames),
            Phase::Events(mut splitter) => {
                while let Some(block) = splitter.finish() {
                    match mem::take(&mut self.passes) {
                        true => block.push_to(&mut self.out),
                        false => pass_on(&self.handling, self.glance, block, &mut self.out),
                    }
                }
            }
            Phase::Json(frames) => {
                let edited = match self.handling.edit(&frames.to_bytes()) {
                    Edited::Not => frames,
                    Edited::To(edited) | Edited::Mended(edited) | Edited::Refused(edited, _) => edited,
                    Edited::Unreadable if self.handling.is_enforced() => error_event(&self.handling, UNREADABLE).into(),
                    Edited::Unreadable => frames,
                };
                self.out.extend(edited);
            }
            Phase::Through | Phase::Over => {}
        }
    }

    /// The stream failed: what is held goes before the error, unless a filter would have to read it.
    fn break_off(&mut self) {
        let held = match mem::replace(&mut self.phase, Phase::Over) {
            // White space or the start of a name: no filter would have to read it.
            Phase::Sniffing(frames) => return self.out.extend(frames),
            Phase::Json(frames) => frames,
            Phase::Events(mut splitter) => splitter.take_buffered(),
            Phase::Through | Phase::Over => return,
        };
        if !self.handling.is_enforced() {
            self.out.extend(held);
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.phase, Phase::Over)
    }
}

/// Adds what becomes of an event.
fn pass_on<C: Concern>(handling: &Handling<C>, glance: Glance, block: Block, out: &mut Frames) {
    match edited(handling, glance, &block) {
        Some(edited) => out.extend(edited),
        None => block.push_to(out),
    }
}

/// What becomes of an event; `None` where it stays as it came.
fn edited<C: Concern>(handling: &Handling<C>, glance: Glance, block: &Block) -> Option<Frames> {
    let joined;
    let data = match block.data_in_place() {
        Some(data) => data,
        None => {
            joined = block.data();
            &joined
        }
    };
    // Only a JSON object or array can hold what a concern looks at; other events are not JSON-RPC's.
    if !may_hold_a_message(data) {
        return None;
    }
    let passes = match glance {
        Glance::Enough => !may_have_sites(data),
        Glance::IfJson => !may_have_sites(data) && is_json(data, handling.limits().depth),
        Glance::Useless => false,
    };
    if passes {
        return None;
    }
    match handling.edit(&block.data()) {
        Edited::Not => None,
        Edited::To(edited) | Edited::Mended(edited) | Edited::Refused(edited, _) => Some(block.with_data(edited)),
        Edited::Unreadable if handling.enforces_events() => {
            let message = "an event of the server could not be read, so it could not be filtered";
            Some(match block.is_ended() {
                true => block.with_data([Bytes::from(handling.error(message))]),
                false => error_event(handling, message).into(),
            })
        }
        Edited::Unreadable => None,
    }
}

/// Whether an object or array begins behind what some readers trim away before they read JSON, though JSON does not allow it
/// there: white space of any kind, control characters, a byte order mark.
fn may_hold_a_message(data: &[u8]) -> bool {
    // Nearly always it begins at once.
    if let [b'{' | b'[', ..] = data {
        return true;
    }
    let is_trimmed = |letter: &char| letter.is_whitespace() || letter.is_control() || *letter == '\u{feff}';
    let mut letters = data.utf8_chunks().flat_map(|chunk| {
        let invalid = (!chunk.invalid().is_empty()).then_some(char::REPLACEMENT_CHARACTER);
        chunk.valid().chars().chain(invalid)
    });
    matches!(letters.find(|letter| !is_trimmed(letter)), Some('{' | '['))
}

/// Whether these bytes are one JSON text, no deeper than this.
fn is_json(data: &[u8], depth: Depth) -> bool {
    let mut reader = Reader::with_depth(data, depth);
    reader.skip().and_then(|_| reader.end()).is_ok()
}

/// An event of our own with a JSON-RPC error, in one piece.
fn error_event<C: Concern>(handling: &Handling<C>, message: &'static str) -> Bytes {
    event(Bytes::from(handling.error(message)).into()).to_bytes()
}
