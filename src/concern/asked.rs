//! A request as a concern judges it.

use http::StatusCode;
use http::request::Parts;

use crate::message::{Payload, Reason, Refusal, Unreadable};
use crate::protocol::code;

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

impl Unread {
    /// What a filter or gate tells the caller: what could not be read is not forwarded.
    pub fn refusal(self) -> Refusal {
        let (reason, status, code, message) = match self {
            Self::Foreign => (
                Reason::UnsupportedMediaType,
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                code::INVALID_REQUEST,
                "the body must be application/json, without a Content-Encoding".to_owned(),
            ),
            Self::Charset => {
                let message = "the body must be JSON in UTF-8".to_owned();
                (Reason::Unreadable, StatusCode::BAD_REQUEST, code::PARSE_ERROR, message)
            }
            Self::Broken => {
                (Reason::Unreadable, StatusCode::BAD_REQUEST, code::PARSE_ERROR, "the body broke off".to_owned())
            }
            Self::Unreadable(why) => {
                let code = if why.is_grammatical() { code::INVALID_REQUEST } else { code::PARSE_ERROR };
                (Reason::Unreadable, StatusCode::BAD_REQUEST, code, why.to_string())
            }
        };
        Refusal::new(status, code, message).because(reason)
    }
}
