//! What is for one upstream: which one it is, and how its answer comes back.

use std::sync::Arc;

use http::header::{CONTENT_LENGTH, SET_COOKIE};
use http::{Response, StatusCode};
use tower_mcp_apps::exchange::{Content, Encoding};
use tower_mcp_apps::json::Object;
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::{Era, code, header};

use crate::asked::Asked;
use crate::caller::Caller;
use crate::gateway::Settings;
use crate::merged::Merged;
use crate::response::{self, Body, invalid_params, upstream_failed};
use crate::upstreams::{Scope, Spelling, Upstream};
use crate::{answer, caching};

/// The upstream that a request is for; `None` where the method is for none.
///
/// # Errors
///
/// The name or URI that the request is about is no upstream's, or not one that this caller may ask.
pub(crate) fn find<'u>(
    scope: Scope<'u>,
    asked: &Asked,
    method: &str,
) -> Option<Result<(&'u Upstream, Spelling), Refusal>> {
    let found = match method {
        "tools/call" => by_name(scope, asked.name.as_deref(), "tool"),
        "prompts/get" => by_name(scope, asked.name.as_deref(), "prompt"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            by_uri(scope, asked.uri.as_deref(), asked.era)
        }
        "completion/complete" => by_reference(scope, asked),
        _ => return None,
    };
    Some(found)
}

fn by_name<'u>(scope: Scope<'u>, name: Option<&str>, what: &str) -> Result<(&'u Upstream, Spelling), Refusal> {
    let name = name.ok_or_else(|| invalid_params(format!("the request names no {what}")))?;
    scope.by_name(name).ok_or_else(|| invalid_params(format!("Unknown {what}: {name}")))
}

fn by_uri<'u>(scope: Scope<'u>, uri: Option<&str>, era: Era) -> Result<(&'u Upstream, Spelling), Refusal> {
    let uri = uri.ok_or_else(|| invalid_params("the request names no resource"))?;
    scope.by_uri(uri).ok_or_else(|| match era {
        Era::Modern => invalid_params(format!("Resource not found: {uri}")),
        Era::Legacy => Refusal::new(StatusCode::OK, code::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}")),
    })
}

/// What is to be completed belongs to a prompt, or to a resource template.
fn by_reference<'u>(scope: Scope<'u>, asked: &Asked) -> Result<(&'u Upstream, Spelling), Refusal> {
    let params = asked.params();
    let mut reference = Object::default();
    let is_object = params.original("ref").is_some_and(|value| reference.read(&mut value.reader()).is_ok());
    // Where two of them stand, or both, they could be of different servers.
    if !is_object || params.count("ref") > 1 || reference.count("name") + reference.count("uri") != 1 {
        return Err(invalid_params("params.ref is no reference to one prompt or template"));
    }
    let text = |key| reference.get(key).and_then(|text| Some(text.as_str()?.into_owned()));
    match text("uri") {
        Some(uri) => by_uri(scope, Some(&uri), asked.era),
        None => by_name(scope, text("name").as_deref(), "prompt"),
    }
}

/// Sends a request to its upstream, and gives the answer as it comes. Only, where a header decides which upstream that is, shared
/// caches must not keep it: they know nothing of that header.
pub(crate) async fn forward(
    settings: &Settings,
    caller: &Arc<Caller>,
    asked: &Asked,
    upstream: &Upstream,
    spelling: Spelling,
) -> Response<Body> {
    let refuse = |what: String| {
        let refusal = upstream_failed(format!("the upstream {} {what}", upstream.name()));
        response::refused(&refusal, asked.id.as_deref())
    };
    if !caller.can_ask(upstream) {
        return refuse("was not available when this session began: initialize again".to_owned());
    }
    let request = caller.post(upstream, asked.body.clone());
    let mut response = upstream.send(spelling, request).await;
    // The upstream's own session is part of the gateway's; a client would take it for the whole.
    response.headers_mut().remove(header::SESSION_ID);
    if !upstream.gets_credentials() {
        // It would come back to others.
        response.headers_mut().remove(SET_COOKIE);
    }
    // The client would follow it, and tell another server its call and the session ids of all upstreams.
    if response.status().is_redirection() {
        return refuse(format!("answered {}, which is not followed", response.status()));
    }
    let method = asked.method.as_deref().unwrap_or_default();
    let is_private = settings.app_header.is_some() && asked.era == Era::Modern && caching::may_be_kept(method);
    let is_expected = response.status().is_success() || response.status().is_client_error();
    match Content::of(response.headers()) {
        Content::Events if asked.era == Era::Legacy => {
            if Encoding::of(response.headers()) == Encoding::Encoded {
                return refuse("encoded its stream, which was not asked for".to_owned());
            }
            response.headers_mut().remove(CONTENT_LENGTH);
            response.map(|body| Merged::of_legacy_answer(caller, upstream, body).boxed())
        }
        Content::Json | Content::Events if is_private && Encoding::of(response.headers()) == Encoding::Encoded => {
            refuse("encoded its answer, which was not asked for".to_owned())
        }
        Content::Json if is_private => {
            let (mut parts, body) = response.into_parts();
            let message = match answer::whole(body).await {
                Ok(message) => message,
                Err(failure) => return refuse(format!("failed: {}", failure.text())),
            };
            parts.headers.remove(CONTENT_LENGTH);
            let message = caching::for_caller_alone(&message).map_or(message, |edited| edited.to_bytes());
            Response::from_parts(parts, response::whole(message))
        }
        Content::Events if is_private => {
            response.headers_mut().remove(CONTENT_LENGTH);
            response.map(|body| Merged::of_private_answer(upstream, body).boxed())
        }
        Content::Json | Content::Events => response,
        // Such as 202, or 401 with a challenge.
        Content::Unlabelled | Content::Other if is_expected && asked.id.is_none() => response,
        Content::Unlabelled | Content::Other if response.status().is_client_error() => response,
        _ => refuse(format!("answered {} and no JSON", response.status())),
    }
}
