//! How the server speaks MCP: eras, sessions, mirrored headers and methods.

use std::borrow::Cow;

use http::{Method as Verb, StatusCode};
use serde_json::Value;

use super::catalogue::Outcome;
use super::{Log, Script, lock};
use crate::protocol::{Era, Method, code, decode_mirrored, header, meta};
use crate::testing::text::{self, quoted};
use crate::testing::{Received, Reply};

/// Which eras the server speaks.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Speaks {
    #[default]
    Both,
    Modern,
    Legacy,
}

/// The revisions of the legacy era, the newest first.
const LEGACY: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What an id of a session starts with.
const SESSION: &str = "fake-session-";

/// The method of a request, or its verb.
pub(super) fn method_of(received: &Received) -> &str {
    received.rpc_method().unwrap_or(received.method().as_str())
}

pub(super) fn answer(script: &Script, log: &Log, received: &Received) -> Reply {
    match *received.method() {
        Verb::POST => {}
        Verb::DELETE if script.has_sessions => return end_session(log, received),
        _ => return Reply::empty(StatusCode::METHOD_NOT_ALLOWED).header("allow", "POST"),
    }
    let message = received.json();
    if message.is_null() {
        let error = text::error(None, code::PARSE_ERROR, "Parse error");
        return Reply::json(error).status(StatusCode::BAD_REQUEST);
    }
    let is_legacy = !is_modern(message);
    let needs_session = is_legacy && script.has_sessions && message["method"] != "initialize";
    if needs_session && let Err(status) = check_session(log, received) {
        return Reply::empty(status);
    }
    let (reply, has_answer) = match message {
        Value::Array(messages) if is_legacy && !messages.is_empty() => {
            let answers: Vec<_> = messages.iter().filter_map(|message| one(script, received, message)).collect();
            let texts: Vec<_> = answers.iter().map(|(text, _)| text.as_str()).collect();
            (Reply::json(format!("[{}]", texts.join(","))), !answers.is_empty())
        }
        Value::Object(_) => match one(script, received, message) {
            Some((text, status)) => (Reply::json(text).status(status), true),
            None => (Reply::empty(StatusCode::ACCEPTED), false),
        },
        _ => {
            let error = text::error(None, code::INVALID_REQUEST, "Invalid Request");
            return Reply::json(error).status(StatusCode::BAD_REQUEST);
        }
    };
    if !has_answer {
        return Reply::empty(StatusCode::ACCEPTED);
    }
    let reply = if script.streams { reply.as_events() } else { reply };
    if is_legacy && script.has_sessions && message["method"] == "initialize" {
        return reply.header(header::SESSION_ID.as_str(), &open_session(log));
    }
    reply
}

/// The answer to one message, and the status that it wants; `None` to a notification and to an answer.
fn one(script: &Script, received: &Received, message: &Value) -> Option<(String, StatusCode)> {
    let (id, method) = (message.get("id")?, message["method"].as_str()?);
    // As it is written, where it is the only one.
    let id = received.id().map_or_else(|| Cow::Owned(id.to_string()), Cow::Borrowed);
    let is_modern = is_modern(message);
    let outcome = check(script, received, message, method).and_then(|()| result(script, message, method));
    Some(match outcome {
        Ok(result) if is_modern => {
            let is_cacheable =
                !matches!(Method::from_name(method), Method::ToolsCall | Method::PromptsGet | Method::Ping);
            (text::result(&id, &script.catalogue.modernised(result, is_cacheable)), StatusCode::OK)
        }
        Ok(result) => (text::result(&id, &result), StatusCode::OK),
        Err((code, message)) => {
            let status = match code {
                code::METHOD_NOT_FOUND if is_modern => StatusCode::NOT_FOUND,
                code::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
                _ => StatusCode::OK,
            };
            (text::error(Some(&id), code, &message), status)
        }
    })
}

fn is_modern(message: &Value) -> bool {
    let version = message["params"]["_meta"][meta::PROTOCOL_VERSION].as_str();
    version.is_some_and(|version| Era::of_version(version) == Era::Modern)
}

/// Whether the server speaks as it is spoken to.
fn check(script: &Script, received: &Received, message: &Value, method: &str) -> Result<(), (i32, String)> {
    match (is_modern(message), script.speaks) {
        (true, Speaks::Legacy) => Err((code::METHOD_NOT_FOUND, format!("Method not found: {method}"))),
        (false, Speaks::Modern) => Err((code::INVALID_PARAMS, format!("No {} in _meta", meta::PROTOCOL_VERSION))),
        (false, _) => Ok(()),
        (true, _) => {
            let name = match Method::from_name(method) {
                Method::ToolsCall | Method::PromptsGet => message["params"]["name"].as_str(),
                Method::ResourcesRead => message["params"]["uri"].as_str(),
                _ => None,
            };
            let version = message["params"]["_meta"][meta::PROTOCOL_VERSION].as_str();
            let mirrored = [(header::PROTOCOL_VERSION, version), (header::METHOD, Some(method)), (header::NAME, name)];
            for (header, expected) in mirrored {
                let value = received.headers().get(&header).map(|value| decode_mirrored(value.as_bytes()));
                let value = value.and_then(Result::ok);
                if expected.is_some_and(|expected| value.as_deref() != Some(expected)) {
                    return Err((code::HEADER_MISMATCH, format!("{header} is {value:?}, not {expected:?}")));
                }
            }
            Ok(())
        }
    }
}

fn result(script: &Script, message: &Value, method: &str) -> Outcome {
    let (has, params) = (&script.catalogue, &message["params"]);
    let cursor = params["cursor"].as_str();
    let named = |name: &str| params[name].as_str().ok_or_else(|| (code::INVALID_PARAMS, format!("No {name}")));
    let info = r#""serverInfo":{"name":"fake","version":"1"}"#;
    match method {
        "initialize" => {
            let asked = params["protocolVersion"].as_str().filter(|version| LEGACY.contains(version));
            let version = quoted(asked.unwrap_or(LEGACY[0]));
            Ok(format!(r#"{{"protocolVersion":{version},"capabilities":{},{info}}}"#, has.declared()))
        }
        "server/discover" if is_modern(message) => {
            let versions = quoted(Era::FIRST_MODERN);
            Ok(format!(r#"{{"supportedVersions":[{versions}],"capabilities":{},{info}}}"#, has.declared()))
        }
        "ping" => Ok("{}".to_owned()),
        "tools/list" => has.page("tools", &has.tools, cursor),
        "tools/call" => has.call(named("name")?),
        "resources/list" => has.page("resources", &has.resources, cursor),
        "resources/templates/list" => has.page("resourceTemplates", &has.templates, cursor),
        "resources/read" => has.read(named("uri")?),
        "prompts/list" => has.page("prompts", &has.prompts, cursor),
        "prompts/get" => has.prompt(named("name")?),
        _ => Err((code::METHOD_NOT_FOUND, format!("Method not found: {method}"))),
    }
}

fn open_session(log: &Log) -> String {
    let (open, count) = &mut *lock(&log.sessions);
    *count += 1;
    open.push(*count);
    format!("{SESSION}{count}")
}

fn check_session(log: &Log, received: &Received) -> Result<u64, StatusCode> {
    let id = received.header(header::SESSION_ID.as_str()).ok_or(StatusCode::BAD_REQUEST)?;
    let number = id.strip_prefix(SESSION).and_then(|number| number.parse().ok());
    number.filter(|number| lock(&log.sessions).0.contains(number)).ok_or(StatusCode::NOT_FOUND)
}

fn end_session(log: &Log, received: &Received) -> Reply {
    match check_session(log, received) {
        Ok(number) => {
            lock(&log.sessions).0.retain(|open| *open != number);
            Reply::empty(StatusCode::NO_CONTENT)
        }
        Err(status) => Reply::empty(status),
    }
}
