//! Why a service could not be asked.

use std::error::Error;
use std::fmt;

use http::StatusCode;

/// An error of the service's or its body's.
pub(super) type BoxError = Box<dyn Error + Send + Sync>;

/// A service did not answer what a test has to know.
#[derive(Debug)]
pub struct Unanswered {
    method: String,
    why: Why,
}

#[derive(Debug)]
pub(super) enum Why {
    /// The service failed.
    Service(BoxError),
    /// The body of its answer failed.
    Body(BoxError),
    /// There is no answer to the request in what came.
    NoAnswer(StatusCode),
    /// It answered with a JSON-RPC error.
    Error { code: i64, message: String },
    /// It gave the same cursor again, or pages without end.
    Endless,
}

impl Unanswered {
    pub(super) fn new(method: &str, why: Why) -> Self {
        Self { method: method.to_owned(), why }
    }

    /// The method that was asked; empty where that was no JSON-RPC request.
    pub fn method(&self) -> &str {
        &self.method
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.method)?;
        self.why.fmt(f)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(_) => f.write_str("the service failed"),
            Self::Body(_) => f.write_str("the answer broke off"),
            Self::NoAnswer(status) => write!(f, "there is no JSON-RPC answer, the status is {status}"),
            Self::Error { code, message } => write!(f, "the answer is error {code}, {message:?}"),
            Self::Endless => f.write_str("the pages of the list have no end"),
        }
    }
}

impl Error for Unanswered {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.why {
            Why::Service(error) | Why::Body(error) => Some(&**error),
            Why::NoAnswer(_) | Why::Error { .. } | Why::Endless => None,
        }
    }
}
