//! Which requests of a model or an app go no further.
//!
//! What is judged must be what runs. So where readers may understand a message differently, or a header
//! says something else than the body, it is refused; and what could not be read is never forwarded.

use std::collections::HashSet;

use http::StatusCode;
use http::request::Parts;

use super::{AppResources, Visibility};
use crate::concern::{Asked, Mirrored};
use crate::exchange::Exchange;
use crate::message::{Call, EntryKind, IdKey, MetaRole, Named, Payload, Reason, Refusal};
use crate::protocol::{Audience, Era, Method, UI_SCHEME, code};

/// Why a request of a model or an app goes no further, if it does not.
pub(super) fn refusal(rules: &Visibility, exchange: &Exchange, asked: &Asked<'_>) -> Option<Refusal> {
    let payload = match asked.payload {
        Ok(payload) => payload?,
        Err(unread) => return Some(unread.refusal()),
    };
    let judged = |call: &Call<'_>| {
        let mirrored = || is_gated(call, rules, exchange).then(|| mirrored(call, asked.parts)).flatten();
        spelling(call).or_else(|| allowed(call, rules, exchange)).or_else(mirrored)
    };
    match payload {
        Payload::Single(call) => judged(call),
        Payload::Batch(calls) => doubled_id(calls).or_else(|| {
            let refusal = calls.iter().find_map(judged)?;
            Some(refusal.of_batch())
        }),
    }
}

/// What readers may understand differently about a message.
fn spelling(call: &Call<'_>) -> Option<Refusal> {
    if let Some(fault) = call.fault {
        return Some(Refusal::ambiguous(fault.to_string()));
    }
    if call.method() != Some(Method::ToolsCall) {
        return None;
    }
    if call.id.is_none() {
        return Some(Refusal::ambiguous("a tools/call needs an id that is a string or a number"));
    }
    if call.is_wrapped {
        return Some(Refusal::ambiguous("the tools that call others may not be called through each other"));
    }
    if call.role == Some(MetaRole::Call) && call.target.is_none() {
        return Some(Refusal::ambiguous("a call of this tool needs arguments that name the tool to be called"));
    }
    call.name.is_none().then(|| Refusal::ambiguous("a tools/call needs a params.name that is text"))
}

/// Whether an app may use the method. A model may use all.
fn allowed(call: &Call<'_>, rules: &Visibility, exchange: &Exchange) -> Option<Refusal> {
    if exchange.context().audience() != Audience::App {
        return None;
    }
    match call.method()? {
        Method::ResourcesRead => resource(call.uri.as_deref(), rules, code::resource_not_found(call.era())),
        Method::ToolsCall if matches!(call.role, Some(MetaRole::Read | MetaRole::Describe(EntryKind::Resource))) => {
            resource(call.target.as_deref(), rules, code::INVALID_PARAMS)
        }
        Method::Initialize
        | Method::Discover
        | Method::Ping
        | Method::ToolsList
        | Method::ToolsCall
        | Method::ResourcesList
        | Method::TemplatesList
        | Method::Notification => None,
        _ => {
            // The modern era answers an unknown method with 404 (MCP 2026-07-28, "Protocol Version Header").
            let status = if call.era() == Era::Modern { StatusCode::NOT_FOUND } else { StatusCode::OK };
            let refusal = Refusal::new(status, code::METHOD_NOT_FOUND, "Method not found");
            Some(refusal.because(Reason::MethodNotForApps))
        }
    }
}

/// Whether an app may read a resource.
fn resource(uri: Option<&str>, rules: &Visibility, code: i32) -> Option<Refusal> {
    if rules.app_resources == AppResources::Any || uri.is_some_and(|uri| uri.starts_with(UI_SCHEME)) {
        return None;
    }
    Some(Refusal::unknown(Named::Resource, None, code).because(Reason::ResourceNotForApps))
}

/// Whether what the call names decides about it, so that nobody behind may go by another name.
fn is_gated(call: &Call<'_>, rules: &Visibility, exchange: &Exchange) -> bool {
    match call.method() {
        Some(Method::ToolsCall) => true,
        Some(Method::ResourcesRead) => {
            rules.app_resources == AppResources::Ui && exchange.context().audience() == Audience::App
        }
        _ => false,
    }
}

/// Why the mirrored headers of a gated call do not say what its body says (MCP 2026-07-28, "Server Validation").
fn mirrored(call: &Call<'_>, parts: &Parts) -> Option<Refusal> {
    let mirrored = Mirrored::read(&parts.headers);
    let missing = match call.era() {
        // Legacy clients send no such header; but where one stands, somebody on the way may go by it.
        Era::Legacy if !mirrored.is_modern() => return mirrored.contradicted(call),
        Era::Legacy => {
            "a request of this protocol version needs its version and the client's capabilities in params._meta"
        }
        Era::Modern if call.declares_version && call.declares_capabilities => return mirrored.mismatch(call),
        Era::Modern => "params._meta needs both the protocol version and the client's capabilities",
    };
    Some(Refusal::missing_metadata(missing))
}

/// Two requests of a batch with one id: their answers could not be told apart.
fn doubled_id(calls: &[Call<'_>]) -> Option<Refusal> {
    let mut ids = HashSet::new();
    let mut requests = calls.iter().filter(|call| !call.is_response).filter_map(|call| IdKey::of(call.id?));
    requests.any(|id| !ids.insert(id)).then(|| Refusal::ambiguous("two messages of the batch have the same id"))
}
