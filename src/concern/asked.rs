//! A request as a concern judges it.

use http::request::Parts;

use crate::message::{Payload, Unreadable};

/// A request as a concern judges it: its head, and what its body says.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The head, with the session tag and headers for the layer alone taken off. Its headers decide nothing about what the
    /// body asks; a filter compares them with it.
    pub parts: &'a Parts,
    /// The messages; or why there are none. `Ok(None)` where none is asked for, as by a GET.
    pub payload: Result<Option<&'a Payload<'a>>, Unread>,
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unread {
    /// It is no `application/json`, or is encoded.
    Foreign,
    /// It is `application/json` in another charset than UTF-8.
    Charset,
    /// It failed before its end. What came of it may look whole, to a reader that does not wait for the end.
    Broken,
    /// It is no message.
    Unreadable(Unreadable),
}
