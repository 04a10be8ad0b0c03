//! Answers of our own making: results, and errors.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, Response, StatusCode, response};
use http_body::Body;

use super::handling::{Edited, Handling, Refused};
use super::head::{self, EVENTS, JSON};
use super::{Concern, ResponseBody};
use crate::exchange::{Decision, McpContext};
use crate::frames::Frames;
use crate::message::Reason;
use crate::protocol::MediaType;

/// What a caller is told in the place of an answer that a filter could not read.
pub(super) const UNREADABLE: &str = "the server's answer could not be read, so it could not be filtered";

/// A request that a concern answered.
pub(super) struct Answered<C> {
    pub(super) handling: Handling<C>,
    pub(super) message: Frames,
    // The headers of the request.
    pub(super) request: HeaderMap,
}

impl<C: Concern> Answered<C> {
    /// The answer, once all concerns have seen it.
    pub(super) fn close<R: Body>(self) -> Response<ResponseBody<R, C>> {
        let Self { mut handling, mut message, request } = self;
        let (mut parts, ()) = Response::new(()).into_parts();
        handling.mark_head(&mut parts);
        parts.extensions.insert(Decision::answered());
        if handling.wanted().needs_reading() {
            match handling.edit(&message.to_bytes()) {
                Edited::Not => {}
                Edited::To(edited) | Edited::Mended(edited) => message = edited,
                Edited::Refused(edited, reason) => {
                    handling.withhold(reason, &mut parts);
                    message = edited;
                }
                Edited::Unreadable if handling.is_enforced() => {
                    return replace(parts, &handling, "the answer could not be read, so it could not be filtered");
                }
                Edited::Unreadable => {}
            }
        }
        parts.headers.insert(CONTENT_TYPE, JSON);
        if wants_events(&request) {
            parts.headers.insert(CONTENT_TYPE, EVENTS);
            message = event(message);
        }
        Response::from_parts(parts, ResponseBody::read(message.into()))
    }
}

/// A JSON-RPC error, or those of a batch, in the place of an answer that a filter could not read.
pub(super) fn replace<R: Body, C: Concern>(
    mut parts: response::Parts,
    handling: &Handling<C>,
    message: &'static str,
) -> Response<ResponseBody<R, C>> {
    let error = Bytes::from(handling.errors(message));
    head::replace(&mut parts, error.len());
    handling.refuse_answer(Some(Reason::UnreadableAnswer), &mut parts);
    Response::from_parts(parts, ResponseBody::read(Frames::from(error).into()))
}

/// A message of our own, without line breaks, as an event.
pub(super) fn event(message: Frames) -> Frames {
    let mut event = Frames::from(Bytes::from_static(b"event: message\ndata: "));
    event.extend(message);
    event.push(Bytes::from_static(b"\n\n"));
    event
}

/// The answer to a request that goes no further: JSON, or one event where a success is to be a stream.
pub(super) fn refuse<R: Body, C>(refused: Refused) -> Response<ResponseBody<R, C>> {
    let Refused { refusal, context, request, headers, decision } = refused;
    let id = context.as_ref().and_then(McpContext::id);
    let status = match refusal.status() {
        // What asks for no answer hears by the status alone that it goes no further (MCP 2025-11-25 and 2026-07-28, "Sending
        // Messages").
        success if success.is_success() && id.is_none() => StatusCode::BAD_REQUEST,
        status => status,
    };
    let mut body = Frames::from(Bytes::from(refusal.to_json(id)));
    let mut content_type = JSON;
    if status.is_success() && wants_events(&request) {
        body = event(body);
        content_type = EVENTS;
    }
    let mut response = Response::new(ResponseBody::read(body.into()));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.extensions_mut().insert(decision.refuse(refusal.reason()));
    if let Some(context) = context {
        response.extensions_mut().insert(context);
    }
    response
}

/// Whether a client takes event streams and no JSON (MCP 2025-11-25, "Sending Messages to the Server": it should take both).
fn wants_events(request: &HeaderMap) -> bool {
    let accepts = |wanted: &[&str]| {
        let lists = request.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
        lists.flat_map(|list| list.split(',')).filter_map(MediaType::parse).any(|range| {
            // A weight of zero means "not acceptable" (RFC 9110, section 12.4.2).
            let is_barred = range.parameter("q").is_some_and(|weight| weight.parse() == Ok(0.0));
            !is_barred && wanted.iter().any(|wanted| range.is(wanted))
        })
    };
    accepts(&["text/event-stream", "text/*"]) && !accepts(&["application/json", "application/*", "*/*"])
}
