//! Which requests go no further because their client did not declare what is required.
//!
//! What is judged must be what runs: a message that readers may understand differently is refused, and so is what could
//! not be read.

use bytes::Bytes;
use http::{Method as Verb, StatusCode};

use crate::concern::{Asked, Mirrored, Verdict};
use crate::exchange::{Declared, Exchange, SessionTag};
use crate::json::write_string;
use crate::message::{Call, Payload, Reason, Refusal};
use crate::protocol::{APP_MEDIA_TYPE, Era, Method, UI_EXTENSION, code};

/// Extensions that every client must have declared.
#[derive(Clone, Debug, Default)]
pub(super) struct Required(Vec<Box<str>>);

impl Required {
    pub(super) fn add(&mut self, identifier: Box<str>) {
        if !self.0.contains(&identifier) {
            self.0.push(identifier);
        }
    }

    /// What becomes of a request.
    pub(super) fn judge(&self, exchange: &Exchange, asked: &Asked<'_>) -> Verdict {
        if self.0.is_empty() {
            return Verdict::Forward;
        }
        self.refusal(exchange, asked).map_or(Verdict::Forward, Verdict::Refuse)
    }

    fn refusal(&self, exchange: &Exchange, asked: &Asked<'_>) -> Option<Refusal> {
        let declared = exchange.context().declared();
        match asked.payload {
            Err(unread) => Some(unread.refusal()),
            // A preflight can bring neither a session nor a body; whether it is allowed says nothing about MCP.
            Ok(None) if asked.parts.method == Verb::OPTIONS => None,
            // Every other request without a message belongs to a session of the legacy era.
            Ok(None) => {
                self.missing(declared).map(|missing| missing.refuse(StatusCode::BAD_REQUEST, code::INVALID_PARAMS))
            }
            Ok(Some(Payload::Single(call))) => self.call(call, declared, asked),
            Ok(Some(Payload::Batch(calls))) => {
                let of_batch =
                    |call: &Call<'_>| opens_a_session(call).or_else(|| self.call(call, &own(call, declared), asked));
                calls.iter().find_map(of_batch).map(|refusal| refusal.of_batch())
            }
        }
    }

    /// Why one message goes no further, if it does not.
    fn call(&self, call: &Call<'_>, declared: &Declared, asked: &Asked<'_>) -> Option<Refusal> {
        if let Some(fault) = call.fault {
            return Some(Refusal::ambiguous(fault.to_string()));
        }
        let method = call.method();
        match method {
            // This is how a client learns what is required.
            Some(Method::Discover) => return None,
            // They ask for nothing.
            Some(Method::Notification) if call.id.is_none() => return None,
            None if call.is_response => return None,
            Some(Method::Initialize) => return self.initialize(call, declared),
            _ => {}
        }
        if call.era() == Era::Modern {
            let missing = self.missing(declared)?;
            if !call.declares_capabilities {
                return Some(Refusal::missing_metadata("params._meta needs the client's capabilities"));
            }
            return Some(missing.refuse(StatusCode::BAD_REQUEST, code::MISSING_CLIENT_CAPABILITY));
        }
        // Somebody behind may go by the header, and then there is no session that declared anything.
        if Mirrored::read(&asked.parts.headers).is_modern() {
            let message = "a request of this protocol version needs the client's capabilities in params._meta";
            return Some(Refusal::missing_metadata(message));
        }
        self.missing(declared).map(|missing| missing.refuse(legacy_status(call), code::INVALID_PARAMS))
    }

    fn initialize(&self, call: &Call<'_>, declared: &Declared) -> Option<Refusal> {
        let missing = self.missing(declared).or_else(|| {
            // Else the session would open, and each of its requests be refused.
            let mut forgotten = self.missing(&SessionTag::of(declared).declared())?;
            forgotten.why = "what the client declares is longer than what its session can remember";
            Some(forgotten)
        })?;
        Some(missing.refuse(legacy_status(call), code::INVALID_PARAMS))
    }

    /// What this client did not declare, if anything.
    fn missing(&self, declared: &Declared) -> Option<Missing<'_>> {
        let is_missing = |identifier: &&str| match *identifier {
            UI_EXTENSION => !declared.supports_apps(),
            other => declared.settings(other).is_none(),
        };
        let identifiers: Vec<_> = self.0.iter().map(|identifier| &**identifier).filter(is_missing).collect();
        let why = "the client did not declare in capabilities.extensions what is required here";
        (!identifiers.is_empty()).then_some(Missing { identifiers, why })
    }
}

/// What readers may understand differently about a request, or what could not be read of it.
pub(super) fn ambiguity(asked: &Asked<'_>) -> Option<Refusal> {
    let payload = match asked.payload {
        Ok(payload) => payload?,
        Err(unread) => return Some(unread.refusal()),
    };
    let refusal = |call: &Call<'_>| Some(Refusal::ambiguous(call.fault?.to_string()));
    match payload {
        Payload::Single(call) => refusal(call),
        Payload::Batch(calls) => calls.iter().find_map(refusal).map(|refusal| refusal.of_batch()),
    }
}

/// Why no `initialize` goes further in a batch: it must not stand in one (MCP 2025-03-26, "Lifecycle", Initialization), and its
/// session would not remember what it declares.
fn opens_a_session(call: &Call<'_>) -> Option<Refusal> {
    let is_initialize = call.method() == Some(Method::Initialize);
    is_initialize.then(|| Refusal::ambiguous("initialize must not be part of a batch"))
}

/// What a message of a batch is judged by: its own declaration, where it has to bring one.
fn own(call: &Call<'_>, session: &Declared) -> Declared {
    if call.era() == Era::Legacy {
        return session.clone();
    }
    call.extensions.map_or(Declared::NOTHING, |extensions| Declared::read(Bytes::copy_from_slice(extensions)))
}

/// What is not answered with a message must say by its status that it was not accepted (MCP 2025-11-25, "Sending Messages
/// to the Server").
fn legacy_status(call: &Call<'_>) -> StatusCode {
    if call.id.is_some() { StatusCode::OK } else { StatusCode::BAD_REQUEST }
}

/// Extensions that are required and were not declared.
struct Missing<'r> {
    identifiers: Vec<&'r str>,
    why: &'static str,
}

impl Missing<'_> {
    /// The refusal that names them (MCP 2026-07-28, `MissingRequiredClientCapabilityError`).
    fn refuse(&self, status: StatusCode, code: i32) -> Refusal {
        let message = format!("{}: {}", self.why, self.identifiers.join(", "));
        let mut data = br#"{"requiredCapabilities":{"extensions":{"#.to_vec();
        for (nth, identifier) in self.identifiers.iter().enumerate() {
            if nth > 0 {
                data.push(b',');
            }
            write_string(identifier, &mut data);
            data.push(b':');
            if *identifier == UI_EXTENSION {
                data.extend_from_slice(br#"{"mimeTypes":["#);
                write_string(APP_MEDIA_TYPE, &mut data);
                data.extend_from_slice(b"]}");
            } else {
                data.extend_from_slice(b"{}");
            }
        }
        data.extend_from_slice(b"}}}");
        Refusal::new(status, code, message).with_data(data).because(Reason::MissingCapability)
    }
}
