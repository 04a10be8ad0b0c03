//! `initialize` and `server/discover`: what all upstreams say of themselves becomes what the gateway says of itself.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use tower_mcp_apps::json::{Object, Value, write_string};
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::{code, header};

use crate::answer::{Answer, Failure};
use crate::asked::Asked;
use crate::caching::Caching;
use crate::caller::Caller;
use crate::capabilities::{ASKED_OF_CLIENTS, Instructions, United};
use crate::fan_out::{self, Question, Told};
use crate::gateway::Settings;
use crate::opened::Opened;
use crate::response::{self, Body, upstream_failed};
use crate::session::Session;
use crate::unavailable::Unavailable;
use crate::upstreams::{Scope, Upstream};
use crate::versions::Versions;

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Opens a session with all upstreams, in the one version that all of them speak. An upstream that cannot be had is left
/// out, and named in the result's `_meta`.
///
/// # Errors
///
/// No upstream takes part, or their session ids together are too long.
pub(crate) async fn initialize(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Arc<Caller>,
    asked: &Asked,
) -> Result<Response<Body>, Refusal> {
    let (common, told) = settled(settings, scope, caller, asked).await;
    let (mut united, mut instructions) = (United::default(), Instructions::default());
    let (mut session, mut unavailable) = (Session::default(), Unavailable::default());
    for (upstream, outcome) in &told {
        match outcome {
            Ok(Greeting { answer, opened }) => {
                let result = answer.result();
                united.add(upstream.name(), result.get("capabilities"));
                instructions.add(upstream.namespace().name_prefix(), result.get("instructions"));
                session.join(upstream.name(), opened.as_ref().map(|opened| opened.id().clone()));
            }
            Err(failure) => unavailable.add(upstream.name(), failure),
        }
    }
    if unavailable.count() == told.len() {
        return Err(nobody(&unavailable));
    }
    let mut result = Object::default();
    result.set_with("protocolVersion", |out| write_string(&common, out));
    result.set_with("capabilities", |out| united.render(out));
    result.set("serverInfo", server_info());
    instructions.to_json().into_iter().for_each(|text| result.set("instructions", text));
    unavailable.write(&mut result);
    let Some(session) = session.encode() else {
        let message = "the session ids of the upstreams are too long together";
        return Err(upstream_failed(message));
    };
    let mut response = answer(asked, &result);
    response.headers_mut().insert(header::SESSION_ID, session);
    told.into_iter().filter_map(|(_, outcome)| outcome.ok()?.opened).for_each(Opened::keep);
    Ok(response)
}

/// What an upstream says to `initialize`, and the session that it opened.
struct Greeting {
    answer: Answer,
    opened: Option<Opened>,
}

/// Sends an `initialize` to these upstreams. What they open is closed where nobody keeps it, also once the client has left.
async fn open(
    settings: &Settings,
    scope: Scope<'_>,
    upstreams: impl Iterator<Item = &Upstream>,
    caller: &Arc<Caller>,
    body: &Bytes,
) -> Vec<Told<Greeting>> {
    let questions =
        upstreams.map(|upstream| Question { upstream: upstream.clone(), request: caller.post(upstream, body.clone()) });
    let (spelling, patience, caller) = (scope.spelling(), settings.patience, Arc::clone(caller));
    let read = move |upstream, response: Response<Body>| {
        let opened = Opened::by(upstream, spelling, &caller, &response, patience);
        async move { Ok(Greeting { answer: Answer::read(response, false).await?, opened }) }
    };
    fan_out::each_to_its_end(questions.collect(), spelling, patience, read).await
}

/// The version that all upstreams speak that answer at all, and their answers in this version.
async fn settled(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Arc<Caller>,
    asked: &Asked,
) -> (String, Vec<Told<Greeting>>) {
    let body = asked.with_params(|params| withhold(params, "capabilities", &ASKED_OF_CLIENTS));
    let mut told = open(settings, scope, scope.upstreams().iter(), caller, &body).await;
    // Versions are dates, so the least is the one that most speak.
    let versions = told.iter().filter_map(|(_, outcome)| version(&outcome.as_ref().ok()?.answer));
    let common = versions.min().unwrap_or_default();
    let other = Asked { body, ..asked.clone() }.with_params(|params| {
        params.set_with("protocolVersion", |out| write_string(&common, out));
    });
    let speaks_it = |greeting: &Greeting| version(&greeting.answer).as_ref() == Some(&common);
    let mut again = Vec::new();
    for (upstream, outcome) in &mut told {
        if outcome.as_ref().is_ok_and(|greeting| !speaks_it(greeting)) {
            // With the answer ends its session, which is of no use.
            *outcome = Err(Failure::Unavailable(format!("it does not speak {common}, as others do")));
            again.push(upstream.clone());
        }
    }
    for (upstream, outcome) in open(settings, scope, again.iter(), caller, &other).await {
        if outcome.as_ref().is_ok_and(|greeting| !speaks_it(greeting)) {
            continue;
        }
        if let Some(told) = told.iter_mut().find(|(known, _)| known.name() == upstream.name()) {
            told.1 = outcome;
        }
    }
    (common, told)
}

/// Says what all upstreams are. Where one speaks no modern version, the gateway does not either, so that a client which
/// speaks both falls back to `initialize` and gets all of them.
///
/// # Errors
///
/// No upstream answers, or one is not of the modern era.
pub(crate) async fn discover(
    settings: &Settings,
    scope: Scope<'_>,
    caller: &Caller,
    asked: &Asked,
) -> Result<Response<Body>, Refusal> {
    let told = fan_out::ask_same(scope.upstreams(), caller, &asked.body, scope.spelling(), settings.patience).await;
    let (mut united, mut instructions) = (United::default(), Instructions::default());
    let (mut caching, mut unavailable) = (Caching::default(), Unavailable::default());
    // Whose app asks, a header says, of which shared caches know nothing.
    caching.private = settings.app_header.is_some();
    let mut versions = Versions::default();
    for (upstream, outcome) in &told {
        match outcome {
            Ok(answer) => {
                let result = answer.result();
                united.add(upstream.name(), result.get("capabilities"));
                instructions.add(upstream.namespace().name_prefix(), result.get("instructions"));
                caching.add(&result);
                versions.add(result.get("supportedVersions"));
            }
            Err(failure) if versions.add_refusal(failure) => {}
            Err(failure) if is_legacy(failure) => {
                let message = format!("the upstream {} is not of the modern era: initialize", upstream.name());
                return Err(Refusal::new(StatusCode::NOT_FOUND, code::METHOD_NOT_FOUND, message));
            }
            Err(failure) => {
                // It may fail for this caller alone, and the result says why.
                caching.private = true;
                unavailable.add(upstream.name(), failure);
            }
        }
    }
    if unavailable.count() == told.len() {
        return Err(nobody(&unavailable));
    }
    if let Some(refused) = versions.refusal(asked) {
        return Ok(refused);
    }
    let mut meta = Object::default();
    meta.set(SERVER_INFO, server_info());
    unavailable.note_in(&mut meta);
    let mut result = Object::default();
    result.set("resultType", "\"complete\"");
    result.set_with("supportedVersions", |out| versions.render(out));
    result.set_with("capabilities", |out| united.render(out));
    result.set_with("_meta", |out| meta.render(out));
    instructions.to_json().into_iter().for_each(|text| result.set("instructions", text));
    caching.write(unavailable.count() == 0, &mut result);
    Ok(answer(asked, &result))
}

/// Takes members out of an object within an object.
fn withhold(parent: &mut Object<'_>, key: &str, members: &[&str]) {
    if let Some(mut child) = object(parent.original(key)) {
        for member in members {
            child.remove(member);
        }
        parent.set_with(key, |out| child.render(out));
    }
}

fn object(value: Option<Value<'_>>) -> Option<Object<'_>> {
    let mut object = Object::default();
    object.read(&mut value?.reader()).ok()?;
    Some(object)
}

/// The version that an answer to `initialize` settles on.
fn version(answer: &Answer) -> Option<String> {
    answer.result().get("protocolVersion")?.as_str().map(Cow::into_owned)
}

/// Whether a server that fails so at `server/discover` knows the legacy era only: it answers with none of the errors that
/// the modern one has (MCP 2026-07-28, "Backward Compatibility with Initialization-Based Versions").
fn is_legacy(failure: &Failure) -> bool {
    const MODERN: [i32; 3] = [code::HEADER_MISMATCH, code::MISSING_CLIENT_CAPABILITY, code::INTERNAL_ERROR];
    // These are about the caller, in either era.
    const ELSE: [StatusCode; 3] = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN, StatusCode::TOO_MANY_REQUESTS];
    match failure {
        Failure::Error { code, .. } => !MODERN.contains(code),
        Failure::Rejected(status) => !ELSE.contains(status),
        Failure::SessionGone | Failure::Unavailable(_) => false,
    }
}

fn nobody(unavailable: &Unavailable) -> Refusal {
    upstream_failed(format!("no upstream can be had: {}", unavailable.text()))
}

fn answer(asked: &Asked, result: &Object<'_>) -> Response<Body> {
    let mut text = Vec::new();
    result.render(&mut text);
    response::result(asked.id.as_deref().unwrap_or_default(), &text)
}

fn server_info() -> &'static str {
    concat!(r#"{"name":"tower-mcp-apps-gateway","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#)
}
