//! Lists that came before: an equal one is not read and edited again.
//!
//! A server says the same list to all who ask alike, over and over, and answers differ by their ids. What became of a list is kept
//! beside its text, and an equal text, but for the id, becomes the same. Equal is equal to the byte, so nothing is judged otherwise
//! than it would be by reading it. Where a list says how long it is, it is compared as it comes, and what is equal is not kept.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::handling::Edited;
use crate::exchange::{CallInfo, McpContext, ResolvedAudience};
use crate::frames::Frames;
use crate::json::{Depth, Error, Kind, Reader, Span, Splice};
use crate::protocol::{Era, Method};

/// Shorter lists are edited as soon as they are found here.
const SHORTEST: usize = 1024;

/// How long a list is remembered.
const LIFETIME: Duration = Duration::from_secs(600);

/// The most lists that are remembered.
const MOST_LISTS: usize = 64;

/// The most lists that are not kept in a row, after many were kept in vain.
const MOST_SKIPS: usize = 63;

/// What the edits of a list go by, beside its text. See [`Concern::edits_alike`](super::Concern::edits_alike).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Basis<'a> {
    method: Method,
    has_cursor: bool,
    era: Era,
    audience: ResolvedAudience,
    extensions: Option<Cow<'a, [u8]>>,
}

impl<'a> Basis<'a> {
    /// What the edits of the answer to this call go by; `None` where no list is asked for.
    pub(super) fn of(context: &'a McpContext, call: &CallInfo) -> Option<Self> {
        let method = call.method()?;
        let is_list =
            matches!(method, Method::ToolsList | Method::PromptsList | Method::ResourcesList | Method::TemplatesList);
        is_list.then(|| Self {
            method,
            has_cursor: call.has_cursor(),
            era: context.era,
            audience: context.audience,
            extensions: context.declared.extensions().map(Cow::Borrowed),
        })
    }

    fn bytes(&self) -> usize {
        self.extensions.as_ref().map_or(0, |extensions| extensions.len())
    }

    fn into_owned(self) -> Basis<'static> {
        Basis { extensions: self.extensions.map(|extensions| Cow::Owned(extensions.into_owned())), ..self }
    }
}

/// An answer that may have come before.
pub(super) struct Answer<'a> {
    pub(super) basis: Basis<'a>,
    /// The JSON text of the id of what was asked.
    pub(super) id: Bytes,
    pub(super) message: &'a Bytes,
}

/// The lists that came lately: of those that are equally long, and whose edits go by the same, one.
#[derive(Debug)]
pub(super) struct Remembered {
    /// The most bytes that are kept.
    most: usize,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The first goes next, unless it was used since it was last looked at.
    kept: VecDeque<Arc<Kept>>,
    bytes: usize,
    /// How many lists are not kept after the next one that was kept in vain: lists that never come again are not worth a copy.
    penalty: usize,
    skips: usize,
}

/// A list, and what became of it.
#[derive(Debug)]
struct Kept {
    basis: Basis<'static>,
    came: Identified,
    /// `None` where there was nothing to edit.
    became: Option<Identified>,
    until: Instant,
    was_used: AtomicBool,
}

/// The text of an answer, and where its id stands. A copy: a part of what came would keep the whole buffer that it came in.
#[derive(Debug)]
struct Identified {
    text: Bytes,
    id: Span,
}

impl Remembered {
    /// Remembers so many bytes at most.
    pub(super) fn new(most: usize) -> Self {
        Self { most, state: RwLock::default() }
    }

    /// Whether a text of this length is one to be remembered.
    pub(super) fn takes(&self, length: usize) -> bool {
        SHORTEST <= length && length <= self.most / 4
    }

    /// The list with which an answer of this length (in bytes) is to be compared, that has this id.
    pub(super) fn compare(&self, basis: &Basis<'_>, id: Bytes, length: usize) -> Option<Comparison> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let kept = state.kept.iter().find(|kept| kept.stands_for(basis, &id, length))?;
        let is_fresh = Instant::now() <= kept.until;
        is_fresh.then(|| Comparison { kept: Arc::clone(kept), id, at: 0 })
    }

    /// What became of an equal answer.
    pub(super) fn recall(&self, answer: &Answer<'_>) -> Option<Edited> {
        let mut comparison = self.compare(&answer.basis, answer.id.clone(), answer.message.len())?;
        (comparison.goes_on(answer.message) && comparison.is_whole()).then(|| comparison.became())
    }

    /// Keeps what became of an answer.
    pub(super) fn keep(&self, answer: Answer<'_>, depth: Depth, edited: &Edited) {
        let became = match edited {
            Edited::Not => None,
            Edited::To(frames) => Some(frames),
            // What takes the place of an answer is about more than its text.
            Edited::Mended(_) | Edited::Refused(..) | Edited::Unreadable => return,
        };
        let bytes = answer.message.len() + became.map_or(0, Frames::len) + answer.basis.bytes();
        if bytes > self.most || !self.state.write().unwrap_or_else(PoisonError::into_inner).admits(&answer) {
            return;
        }
        let Some(came) = Identified::of_result(answer.message, &answer.id, depth) else { return };
        let became = match became.map(|frames| came.edited_to(frames)) {
            None => None,
            Some(Some(became)) => Some(became),
            Some(None) => return,
        };
        let until = Instant::now() + LIFETIME;
        let kept = Kept { basis: answer.basis.into_owned(), came, became, until, was_used: AtomicBool::new(false) };
        self.state.write().unwrap_or_else(PoisonError::into_inner).keep(Arc::new(kept), self.most);
    }
}

impl State {
    /// Whether an answer is to be kept, which is not known.
    fn admits(&mut self, answer: &Answer<'_>) -> bool {
        let now = Instant::now();
        self.kept.retain(|kept| now <= kept.until);
        self.bytes = self.kept.iter().map(|kept| kept.bytes()).sum();
        if self.skips > 0 {
            self.skips -= 1;
            return false;
        }
        let other = self.kept.iter().find(|kept| kept.stands_for(&answer.basis, &answer.id, answer.message.len()));
        !other.is_some_and(|other| other.was_used.swap(false, Ordering::Relaxed))
    }

    /// Keeps a list where there is room, or others go that were not used of late.
    fn keep(&mut self, kept: Arc<Kept>, most: usize) {
        if let Some(at) = self.kept.iter().position(|other| other.is_for_same(&kept)) {
            // Who asked at the same time has kept it.
            if self.kept[at].came.parts() == kept.came.parts() {
                return;
            }
            self.drop_unused(at);
        }
        while self.kept.len() == MOST_LISTS || self.bytes + kept.bytes() > most {
            let Some(first) = self.kept.front() else { return };
            // Each gets a second chance, so that of more lists than there is room for some stay.
            if first.was_used.swap(false, Ordering::Relaxed) {
                self.kept.rotate_left(1);
                self.penalty = 0;
                return;
            }
            self.drop_unused(0);
        }
        self.bytes += kept.bytes();
        self.kept.push_back(kept);
    }

    fn drop_unused(&mut self, at: usize) {
        if let Some(unused) = self.kept.remove(at) {
            self.bytes -= unused.bytes();
            self.penalty = (2 * self.penalty + 1).min(MOST_SKIPS);
            self.skips = self.penalty;
        }
    }
}

impl Kept {
    fn bytes(&self) -> usize {
        self.came.text.len() + self.became.as_ref().map_or(0, |became| became.text.len()) + self.basis.bytes()
    }

    /// Whether this is the one with which an answer is compared.
    fn stands_for(&self, basis: &Basis<'_>, id: &[u8], length: usize) -> bool {
        self.came.length() + id.len() == length && self.basis == *basis
    }

    fn is_for_same(&self, other: &Self) -> bool {
        self.came.length() == other.came.length() && self.basis == other.basis
    }
}

impl Identified {
    /// The text of an answer, a result and no more, that has this id; `None` of any other.
    fn of_result(text: &[u8], id: &[u8], depth: Depth) -> Option<Self> {
        let place = id_of_result(text, depth).ok().flatten().filter(|place| place.of(text) == id)?;
        Some(Self { text: Bytes::copy_from_slice(text), id: place })
    }

    /// What this was edited to. All edits are on one side of the id, since all are in the result.
    fn edited_to(&self, edited: &Frames) -> Option<Self> {
        let mut text = Vec::with_capacity(edited.len());
        edited.clone().for_each(|piece| text.extend_from_slice(&piece));
        let (before, behind) = (&self.text[..self.id.end], &self.text[self.id.start..]);
        let start = if text.starts_with(before) {
            self.id.start
        } else {
            text.ends_with(behind).then(|| text.len() - behind.len())?
        };
        let id = Span::new(start, start + self.id.len());
        Some(Self { text: text.into(), id })
    }

    /// How long the text is without the id.
    fn length(&self) -> usize {
        self.text.len() - self.id.len()
    }

    /// What stands before the id, and behind it.
    fn parts(&self) -> (&[u8], &[u8]) {
        (&self.text[..self.id.start], &self.text[self.id.end..])
    }

    /// The text with another id.
    fn with(&self, id: &[u8]) -> Frames {
        let mut splice = Splice::default();
        splice.replace(self.id, id);
        splice.apply(&self.text)
    }
}

/// An answer that is compared as it comes: what is as it was before need not be kept.
#[derive(Debug)]
pub(super) struct Comparison {
    kept: Arc<Kept>,
    id: Bytes,
    /// How many bytes came, all of them as before.
    at: usize,
}

impl Comparison {
    /// Whether a piece that came is the next of the text, with the answer's id in it.
    pub(super) fn goes_on(&mut self, piece: &[u8]) -> bool {
        let (before, behind) = self.kept.came.parts();
        let (mut from, mut rest) = (self.at, piece);
        for part in [before, &self.id, behind] {
            let Some(expected) = part.get(from..) else {
                from -= part.len();
                continue;
            };
            let (here, further) = rest.split_at(rest.len().min(expected.len()));
            if !expected.starts_with(here) {
                return false;
            }
            (from, rest) = (0, further);
        }
        let is_next = rest.is_empty();
        if is_next {
            self.at += piece.len();
        }
        is_next
    }

    /// Whether all of the text came.
    pub(super) fn is_whole(&self) -> bool {
        self.at == self.kept.came.length() + self.id.len()
    }

    /// What came so far.
    pub(super) fn came(&self) -> Frames {
        let whole = self.kept.came.with(&self.id);
        if self.is_whole() { whole } else { whole.to_bytes().slice(..self.at).into() }
    }

    /// What becomes of the answer, now that all of it came.
    pub(super) fn became(&self) -> Edited {
        // Only written where it must be, so that those who read at the same time do not wait for each other.
        if !self.kept.was_used.load(Ordering::Relaxed) {
            self.kept.was_used.store(true, Ordering::Relaxed);
        }
        self.kept.became.as_ref().map_or(Edited::Not, |became| Edited::To(became.with(&self.id)))
    }
}

/// Where the id stands in a message that has one, a result, and otherwise nothing but its version.
fn id_of_result(message: &[u8], depth: Depth) -> Result<Option<Span>, Error> {
    let mut reader = Reader::with_depth(message, depth);
    if reader.peek()? != Kind::Object {
        return Ok(None);
    }
    let (mut id, mut results) = (None, 0);
    reader.enter_object()?;
    while let Some(key) = reader.member()? {
        let span = reader.skip()?;
        if key.is("id") && id.is_none() {
            id = Some(span);
        } else if key.is("result") {
            results += 1;
        } else if !key.is("jsonrpc") {
            return Ok(None);
        }
    }
    reader.end()?;
    Ok(id.filter(|_| results == 1))
}

#[cfg(test)]
mod tests;
