//! An answer of the inner service: it goes out at once, or is held until its body was read.

use std::mem;
use std::ops::ControlFlow;
use std::pin::Pin;

use bytes::Bytes;
use http::{Response, StatusCode, response};
use http_body::Body;

use super::answers::{UNREADABLE, replace};
use super::collect::{Collected, Step, sniff_frames};
use super::handling::{Edited, Handling};
use super::head;
use super::remembered::Comparison;
use super::stream::Events;
use super::{Concern, ResponseBody};
use crate::exchange::{Content, Encoding};
use crate::frames::Frames;
use crate::message::Wants;
use crate::sse::Sniff;

/// An answer whose body must be read before its head can go.
pub(super) struct Held<R, C> {
    parts: response::Parts,
    // Boxed, since a body that was polled can be moved no more, and what is left of it may have to go on.
    pub(super) body: Pin<Box<R>>,
    pub(super) handling: Handling<C>,
    /// The list of before that the answer is compared with as it comes, as long as it is the same.
    comparison: Option<Comparison>,
}

/// An answer that goes out, or one whose body is being read.
type Opened<R, C> = ControlFlow<Response<ResponseBody<R, C>>, Box<Held<R, C>>>;

/// Decides by its head what an answer needs: it goes out now, or continues with its body being read.
pub(super) fn open<R, C>(response: Response<R>, mut handling: Handling<C>) -> Opened<R, C>
where
    R: Body<Data = Bytes>,
    C: Concern,
{
    let (mut parts, body) = response.into_parts();
    let wanted = handling.wanted();
    // Where nothing is wanted, it makes no difference, and most answers are spared the look.
    let content = if wanted.is_nothing() { Content::Other } else { Content::of(&parts.headers) };
    let is_readable = !matches!(content, Content::Other) || handling.is_enforced();
    let is_looked_at = wanted.needs_reading() || (content == Content::Events && wanted.has(Wants::OF_EVENTS));
    if !is_looked_at || body.is_end_stream() || !is_readable {
        handling.leave(&mut parts);
        return ControlFlow::Break(Response::from_parts(parts, ResponseBody::through(body)));
    }
    handling.mark_head(&mut parts);
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
        head::unsettle(&mut parts.headers);
        let events = Events::new(Box::pin(body), handling);
        return ControlFlow::Break(Response::from_parts(parts, ResponseBody::events(events)));
    }
    let comparison = body.size_hint().exact().and_then(|length| handling.compare(length));
    ControlFlow::Continue(Box::new(Held { parts, body: Box::pin(body), handling, comparison }))
}

impl<R, C> Held<R, C>
where
    R: Body<Data = Bytes>,
    C: Concern,
{
    /// Whether what came is as it was before; then it is not kept. Where it is not, it comes behind what was.
    pub(super) fn goes_on_as_before(&mut self, came: &mut Frames) -> bool {
        let Some(comparison) = &mut self.comparison else { return false };
        let piece = mem::take(came).to_bytes();
        if comparison.goes_on(&piece) {
            return true;
        }
        *came = comparison.came();
        came.push(piece);
        self.comparison = None;
        false
    }

    /// Decides what goes out, once enough of the body was read.
    pub(super) fn close(mut self, mut frames: Frames, step: Step<R::Error>) -> Response<ResponseBody<R, C>> {
        let mut as_before = None;
        if let Some(comparison) = self.comparison.take() {
            if matches!(step, Step::Whole(_)) && comparison.is_whole() {
                as_before = Some(comparison);
            } else {
                let last = mem::replace(&mut frames, comparison.came());
                frames.extend(last);
            }
        }
        // What came before was read as JSON.
        let sniffed = if as_before.is_some() { Sniff::Json } else { sniff_frames(&frames) };
        let enforced = self.handling.is_enforced();
        let must_be_read = enforced && self.may_be_answer(sniffed);
        // Whatever its head says: had it been read to its end, it would have been filtered.
        let is_cut_json = enforced && (must_be_read || sniffed == Sniff::Json);
        let (trailers, error) = match step {
            Step::More | Step::TooLarge if sniffed == Sniff::EventStream => return self.stream(frames),
            // Read no further than to see that there is nothing to edit.
            Step::More | Step::TooLarge if must_be_read && sniffed == Sniff::Other => {
                return replace(self.parts, &self.handling, UNREADABLE);
            }
            Step::TooLarge if is_cut_json || (enforced && sniffed == Sniff::Unknown) => {
                return replace(self.parts, &self.handling, "the server's answer is too long to be filtered");
            }
            Step::More | Step::TooLarge => {
                return Response::from_parts(self.parts, ResponseBody::resumed(frames, self.body));
            }
            Step::Failed(_) if is_cut_json => {
                return replace(
                    self.parts,
                    &self.handling,
                    "the server's answer broke off, so it could not be filtered",
                );
            }
            Step::Failed(error) => (None, Some(error)),
            Step::Whole(trailers) => (trailers, None),
        };
        let edited = match (&as_before, sniffed) {
            (Some(comparison), _) => comparison.became(),
            _ if error.is_some() || frames.is_empty() => Edited::Not,
            (None, Sniff::Json) => self.handling.edit(&frames.to_bytes()),
            _ => Edited::Unreadable,
        };
        if let (Some(comparison), Edited::Not) = (&as_before, &edited) {
            frames = comparison.came();
        }
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
                head::settle(&mut self.parts.headers, edited.len());
                read.trailers.iter_mut().for_each(|trailers| head::unsettle(trailers));
                read.frames = edited;
            }
            Edited::Unreadable if must_be_read => return replace(self.parts, &self.handling, UNREADABLE),
            Edited::Unreadable | Edited::Not => {}
        }
        Response::from_parts(self.parts, ResponseBody::read(read))
    }

    /// An event stream that says it is something else.
    fn stream(mut self, frames: Frames) -> Response<ResponseBody<R, C>> {
        head::unsettle(&mut self.parts.headers);
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
