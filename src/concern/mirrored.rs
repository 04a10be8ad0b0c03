//! Headers in which a client repeats what its message says (MCP 2026-07-28, "Server Validation").

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::message::{Call, Reason, Refusal};
use crate::protocol::{Era, Method, code, decode_mirrored, header};

/// What the headers of a request say that repeat its message.
pub(crate) struct Mirrored<'h> {
    version: Mirror<'h>,
    method: Mirror<'h>,
    name: Mirror<'h>,
    /// Whether any header says that the version is of the modern era.
    is_modern: bool,
}

/// A header that repeats a part of the message.
#[derive(Clone, Copy)]
enum Mirror<'h> {
    Missing,
    Once(&'h HeaderValue),
    Twice,
}

impl<'h> Mirrored<'h> {
    /// Reads the headers in one pass: to look each up by its name is to hash that.
    pub(crate) fn read(headers: &'h HeaderMap) -> Self {
        let missing = Mirror::Missing;
        let mut read = Self { version: missing, method: missing, name: missing, is_modern: false };
        for (name, value) in headers {
            let mirror = if *name == header::PROTOCOL_VERSION {
                read.is_modern |= value.to_str().is_ok_and(|version| Era::of_version(version) == Era::Modern);
                &mut read.version
            } else if *name == header::METHOD {
                &mut read.method
            } else if *name == header::NAME {
                &mut read.name
            } else {
                continue;
            };
            *mirror = if let Mirror::Missing = mirror { Mirror::Once(value) } else { Mirror::Twice };
        }
        read
    }

    /// Whether any header says that the version is of the modern era.
    pub(crate) fn is_modern(&self) -> bool {
        self.is_modern
    }

    /// Why the headers do not say what the message says. All must be there.
    pub(crate) fn mismatch(&self, call: &Call<'_>) -> Option<Refusal> {
        self.pairs(call).into_iter().find_map(|(name, mirror, body)| mirror.mismatch(&name, body))
    }

    /// Why those that are there do not say what the message says. One that is missing misleads nobody; and a legacy message has
    /// no version of its own.
    pub(crate) fn contradicted(&self, call: &Call<'_>) -> Option<Refusal> {
        let says = |name: &HeaderName| call.era() == Era::Modern || *name != header::PROTOCOL_VERSION;
        let there = self.pairs(call).into_iter().filter(|(_, mirror, _)| !matches!(mirror, Mirror::Missing));
        there.filter(|(name, ..)| says(name)).find_map(|(name, mirror, body)| mirror.mismatch(&name, body))
    }

    /// Each header, and what it repeats of the message.
    fn pairs<'c>(&self, call: &'c Call<'_>) -> [(HeaderName, Mirror<'h>, Option<&'c str>); 3] {
        let named = if call.method() == Some(Method::ResourcesRead) { &call.uri } else { &call.name };
        [
            (header::PROTOCOL_VERSION, self.version, call.version.as_deref()),
            (header::METHOD, self.method, call.method.as_deref()),
            (header::NAME, self.name, named.as_deref()),
        ]
    }
}

impl Mirror<'_> {
    /// Why the header of this name does not say what the message says.
    fn mismatch(self, name: &HeaderName, body: Option<&str>) -> Option<Refusal> {
        let what = match self {
            Self::Missing => "is missing",
            Self::Twice => "stands twice",
            Self::Once(value) => match said(name, value) {
                None => "cannot be read",
                Some(value) if Some(&*value) != body => "differs from the body",
                Some(_) => return None,
            },
        };
        let message = format!("header mismatch: {name} {what}");
        let refusal = Refusal::new(StatusCode::BAD_REQUEST, code::HEADER_MISMATCH, message);
        Some(refusal.because(Reason::HeaderMismatch))
    }
}

/// The value of the body that a header stands for, if it can be read.
fn said<'v>(name: &HeaderName, value: &'v HeaderValue) -> Option<Cow<'v, str>> {
    if name == header::NAME {
        return decode_mirrored(value.as_bytes()).ok();
    }
    value.to_str().ok().map(Cow::Borrowed)
}
