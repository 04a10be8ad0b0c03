//! The protocol versions that all upstreams speak, in the modern era, where each request names one.

use std::borrow::Cow;

use http::{Response, StatusCode};
use tower_mcp_apps::json::{Object, Reader, Value, write_string};
use tower_mcp_apps::protocol::meta;

use crate::answer::Failure;
use crate::asked::Asked;
use crate::response::{self, Body};

/// The error code of a request in a version that the server does not speak (MCP 2026-07-28, "Error Codes").
pub(crate) const UNSUPPORTED: i32 = -32022;

/// What several upstreams speak.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    /// `None` before the first upstream.
    common: Option<Vec<String>>,
    is_refused: bool,
}

impl Versions {
    /// Adds what an upstream says that it speaks, as an array of strings.
    pub(crate) fn add(&mut self, spoken: Option<Value<'_>>) {
        let spoken = texts(spoken);
        self.common = Some(match self.common.take() {
            Some(common) => common.into_iter().filter(|version| spoken.contains(version)).collect(),
            None => spoken,
        });
    }

    /// Adds what an upstream speaks that refused the version of the request; whether it did.
    pub(crate) fn add_refusal(&mut self, failure: &Failure) -> bool {
        let Failure::Error { code: UNSUPPORTED, data, .. } = failure else { return false };
        let mut members = Object::default();
        let is_object = data.as_ref().is_some_and(|data| members.read(&mut Reader::new(data)).is_ok());
        self.add(members.get("supported").filter(|_| is_object));
        self.is_refused = true;
        true
    }

    /// The JSON text of the list.
    pub(crate) fn render(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        for (at, version) in self.common.iter().flatten().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(version, out);
        }
        out.push(b']');
    }

    /// The answer that refuses the request, where an upstream did, with the versions to choose from.
    pub(crate) fn refusal(&self, asked: &Asked) -> Option<Response<Body>> {
        if !self.is_refused {
            return None;
        }
        let (params, mut request_meta) = (asked.params(), Object::default());
        let declared = params.original("_meta").filter(|meta| request_meta.read(&mut meta.reader()).is_ok());
        let requested = declared.and_then(|_| request_meta.get(meta::PROTOCOL_VERSION));
        let mut data = Object::default();
        data.set_with("supported", |out| self.render(out));
        data.set("requested", requested.map_or(&b"null"[..], |version| version.bytes()));
        let mut error = Object::default();
        error.set("code", UNSUPPORTED.to_string());
        error.set("message", "\"Unsupported protocol version\"");
        error.set_with("data", |out| data.render(out));
        let mut message = Object::default();
        message.set("jsonrpc", "\"2.0\"");
        asked.id.iter().for_each(|id| message.set("id", id));
        message.set_with("error", |out| error.render(out));
        let mut text = Vec::new();
        message.render(&mut text);
        Some(response::json(StatusCode::BAD_REQUEST, text))
    }
}

fn texts(list: Option<Value<'_>>) -> Vec<String> {
    let mut texts = Vec::new();
    let Some(mut reader) = list.map(|list| list.reader()) else { return texts };
    if reader.enter_array().is_ok() {
        while let Ok(true) = reader.element() {
            let Ok(value) = reader.value() else { break };
            texts.extend(value.as_str().map(Cow::into_owned));
        }
    }
    texts
}
