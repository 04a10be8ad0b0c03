//! Mistakes in a test itself, which nothing but a panic tells at the right line.

use http::{HeaderName, HeaderValue, Uri};

/// A header as a test writes it.
///
/// # Panics
///
/// Where it is none: the test is wrong.
#[track_caller]
#[allow(clippy::panic, reason = "a test that is wrong shall fail where it is")]
pub(super) fn header(name: &str, value: &str) -> (HeaderName, HeaderValue) {
    match (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value)) {
        (Ok(name), Ok(value)) => (name, value),
        _ => panic!("{name:?}: {value:?} is no header"),
    }
}

/// A path as a test writes it.
///
/// # Panics
///
/// Where it is none: the test is wrong.
#[track_caller]
#[allow(clippy::panic, reason = "a test that is wrong shall fail where it is")]
pub(super) fn path(path: &str) -> Uri {
    match path.parse() {
        Ok(uri) => uri,
        Err(error) => panic!("{path:?} is no path: {error}"),
    }
}

/// Fails the test.
#[track_caller]
#[allow(clippy::panic, reason = "this is how an assertion tells")]
pub(super) fn fail(message: &str) -> ! {
    panic!("{message}")
}
