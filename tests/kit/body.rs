//! Bodies read to their end, whose hints have to be true.

use bytes::Bytes;
use http::HeaderMap;
use http_body::Body;
use http_body_util::BodyExt;
use tower_mcp_apps::testing::BrokenOff;

/// The error that any body's error can become.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How a body failed, whatever layers made of it: with an error that says what went wrong.
fn broken_off(error: impl Into<BoxError>) -> BrokenOff {
    assert!(!error.into().to_string().is_empty());
    BrokenOff
}

/// Reads a body to its end: its frames, trailers and error. Its hints must be true before every frame.
pub(crate) async fn drain<B>(body: B) -> (Vec<Bytes>, Option<HeaderMap>, Option<BrokenOff>)
where
    B: Body<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    let mut body = Box::pin(body);
    let (mut frames, mut trailers, mut error) = (Vec::new(), None, None);
    let mut hints = Vec::new();
    loop {
        let is_over = body.is_end_stream();
        let read = frames.iter().map(Bytes::len).sum::<usize>() as u64;
        hints.push((read, body.size_hint()));
        let frame = body.frame().await;
        assert!(!is_over || frame.is_none(), "something came after the end");
        match frame {
            None => break,
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => frames.push(data),
                Err(frame) => trailers = frame.into_trailers().ok(),
            },
            Some(Err(failure)) => {
                error = Some(broken_off(failure));
                break;
            }
        }
    }
    let read = frames.iter().map(Bytes::len).sum::<usize>() as u64;
    for (before, hint) in hints {
        let rest = read - before;
        // A body that fails may promise what it could not keep.
        assert!(error.is_some() || hint.lower() <= rest, "{hint:?} of {rest}");
        assert!(hint.upper().is_none_or(|upper| rest <= upper), "{hint:?} of {rest}");
    }
    (frames, trailers, error)
}
