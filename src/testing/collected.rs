//! A body, read to its end.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;

use super::unanswered::BoxError;
use crate::exchange::Content;
use crate::sse::{Sniff, sniff};

/// What came of a body.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    pub(super) frames: Vec<Bytes>,
    pub(super) trailers: Option<HeaderMap>,
    /// How it failed, where it did.
    pub(super) error: Option<String>,
}

impl Collected {
    /// Reads on, and is ready at the end.
    pub(super) fn poll_from<B>(&mut self, mut body: Pin<&mut B>, cx: &mut Context<'_>) -> Poll<()>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<BoxError>,
    {
        loop {
            match ready!(body.as_mut().poll_frame(cx)) {
                None => return Poll::Ready(()),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.frames.push(data),
                    Err(frame) => self.trailers = frame.into_trailers().ok(),
                },
                Some(Err(error)) => {
                    self.error = Some(describe(error));
                    return Poll::Ready(());
                }
            }
        }
    }

    pub(super) fn bytes(&self) -> Bytes {
        match &*self.frames {
            [one] => one.clone(),
            frames => frames.concat().into(),
        }
    }
}

/// Whether a body is an event stream. The label may lie.
pub(super) fn is_stream(headers: &HeaderMap, body: &[u8]) -> bool {
    match sniff(body) {
        Sniff::EventStream => true,
        Sniff::Json => false,
        Sniff::Other | Sniff::Unknown => Content::of(headers) == Content::Events,
    }
}

/// An error with all its sources.
pub(super) fn describe(error: impl Into<BoxError>) -> String {
    let error = error.into();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(": ");
        text.push_str(&error.to_string());
        source = error.source();
    }
    text
}
