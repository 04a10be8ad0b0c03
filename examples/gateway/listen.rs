//! Opens the streams on which servers tell of changes: `subscriptions/listen`, and the GET stream of the legacy era.

use std::sync::Arc;

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use tower_mcp_apps::exchange::{Content, Encoding};
use tower_mcp_apps::json::Object;
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::code;

use crate::acknowledged::Acknowledged;
use crate::answer::{Answer, Failure};
use crate::asked::Asked;
use crate::caller::Caller;
use crate::fan_out::{self, Question};
use crate::gateway::Settings;
use crate::merged::Merged;
use crate::response::{self, Body, invalid_params, session_gone, unknown_method, upstream_failed};
use crate::unavailable::Unavailable;
use crate::upstreams::{Scope, Upstream};

/// Asks proxies such as nginx to pass each event at once (MCP 2026-07-28, "Receiving Messages").
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Listens to all upstreams that could tell what is asked for, each with its part of the filter. What none of them tells is
/// missing from the acknowledgment.
///
/// # Errors
///
/// There is no filter, or no upstream that could tell opens a stream.
pub(crate) async fn subscriptions(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Caller,
    asked: &Asked,
) -> Result<Response<Body>, Refusal> {
    let params = asked.params();
    let mut notifications = Object::default();
    let filter = params.original("notifications").filter(|_| params.count("notifications") == 1);
    if filter.is_none_or(|filter| notifications.read(&mut filter.reader()).is_err()) {
        return Err(invalid_params("params.notifications is no filter"));
    }
    let filter = Acknowledged::of(&notifications);
    let questions = scope.upstreams().iter().filter_map(|upstream| {
        let part = filter.part_of(|uri| scope.by_uri(uri).is_some_and(|(owner, _)| owner.name() == upstream.name()));
        let body = asked.with_params(|params| params.set_with("notifications", |out| part.render(out)));
        let request = caller.post(upstream, body);
        (!part.is_nothing()).then(|| Question { upstream: upstream.clone(), request })
    });
    let (streams, failures) = open(settings, scope, questions.collect(), false).await?;
    if streams.is_empty() && !failures.is_empty() {
        let mut unavailable = Unavailable::default();
        let knows = |failure: &Failure| !matches!(failure, Failure::Error { code: code::METHOD_NOT_FOUND, .. });
        let failed = failures.iter().filter(|(_, failure)| knows(failure));
        failed.for_each(|(upstream, failure)| unavailable.add(upstream.name(), failure));
        return Err(match unavailable.count() {
            0 => unknown_method(asked.era, "subscriptions/listen"),
            _ => upstream_failed(format!("nothing can be listened to: {}", unavailable.text())),
        });
    }
    let id = asked.id.clone().unwrap_or_default();
    Ok(events(Merged::of_subscriptions(id, streams, settings.patience)))
}

/// The GET stream: whatever the upstreams of a session tell without being asked. 405 where none of them has such a stream.
///
/// # Errors
///
/// An upstream does not know its session any longer.
pub(crate) async fn get(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Arc<Caller>,
) -> Result<Response<Body>, Refusal> {
    let takes_part = scope.upstreams().iter().filter(|upstream| caller.can_ask(upstream));
    let questions = takes_part
        .map(|upstream| Question { upstream: upstream.clone(), request: caller.bodiless(Method::GET, upstream) });
    let (streams, _) = open(settings, scope, questions.collect(), caller.is_in_session()).await?;
    if streams.is_empty() {
        return Ok(response::empty(StatusCode::METHOD_NOT_ALLOWED));
    }
    Ok(events(Merged::of_legacy(caller, streams)))
}

/// The streams that are opened, and why the others are not.
async fn open(
    settings: &Settings,
    scope: Scope<'_>,
    questions: Vec<Question>,
    in_session: bool,
) -> Result<(Vec<(Upstream, Body)>, Vec<(Upstream, Failure)>), Refusal> {
    let opened = fan_out::each(questions, scope.spelling(), settings.patience, move |response| async move {
        let is_stream = response.status().is_success() && Content::of(response.headers()) == Content::Events;
        if is_stream && Encoding::of(response.headers()) == Encoding::Identity {
            return Ok(response.into_body());
        }
        // What is no stream is an answer, and that says why.
        match Answer::read(response, in_session).await {
            Ok(_) => Err(Failure::Unavailable("it answered at once".into())),
            Err(failure) => Err(failure),
        }
    });
    let (mut streams, mut failures) = (Vec::new(), Vec::new());
    for (upstream, outcome) in opened.await {
        match outcome {
            Ok(body) => streams.push((upstream, body)),
            Err(Failure::SessionGone) => return Err(session_gone()),
            Err(failure) => failures.push((upstream, failure)),
        }
    }
    Ok((streams, failures))
}

fn events(stream: Merged) -> Response<Body> {
    let mut response = Response::new(stream.boxed());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(BUFFERING, HeaderValue::from_static("no"));
    response
}
