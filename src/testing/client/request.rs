//! Requests as clients of either era send them.

use std::fmt::Display;

use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method as Verb, Request};
use serde_json::Value;

use super::{Body, TestClient};
use crate::protocol::{Era, Method, encode_mirrored, header, meta};
use crate::testing::text::{member, quoted, with_member};

impl<S> TestClient<S> {
    /// A request of this method, as [`request`](Self::request) sends it: to be changed, and [sent](Self::send).
    ///
    /// ```
    /// use serde_json::json;
    /// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered, assert_refused};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Unanswered> {
    /// let mut client = TestClient::new(FakeServer::modern().tool(json!({"name": "weather"})));
    /// let mut request = client.prepare("tools/call", json!({"name": "weather"}));
    /// request.headers_mut().remove("mcp-name");
    /// assert_refused(&client.send(request).await?, -32020);
    /// # Ok(())
    /// # }
    /// ```
    pub fn prepare(&mut self, method: &str, params: impl Display) -> Request<Body> {
        self.last_id += 1;
        self.post(method, &params.to_string(), Some(self.last_id))
    }

    /// A notification of this method, to be [sent](Self::send).
    pub fn prepare_notification(&mut self, method: &str, params: impl Display) -> Request<Body> {
        self.post(method, &params.to_string(), None)
    }

    /// A POST of this text, whatever it is, with the headers that do not depend on it; to be [sent](Self::send).
    pub fn raw(&self, body: impl Into<Body>) -> Request<Body> {
        let mut request = self.head(Verb::POST, body.into());
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        request
    }

    /// A GET, for the stream of the legacy era; to be [opened](Self::open).
    pub fn get(&self) -> Request<Body> {
        self.head(Verb::GET, Body::default())
    }

    fn post(&self, method: &str, params: &str, id: Option<u64>) -> Request<Body> {
        let is_modern = self.era() == Era::Modern;
        let params = if is_modern { self.with_meta(params) } else { params.to_owned() };
        let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let name = match Method::from_name(method) {
            Method::ToolsCall | Method::PromptsGet => string(&params, "name"),
            Method::ResourcesRead => string(&params, "uri"),
            _ => None,
        };
        let message = format!(r#"{{"jsonrpc":"2.0",{id}"method":{},"params":{params}}}"#, quoted(method));
        let mut request = self.raw(message);
        if is_modern {
            set(request.headers_mut(), header::METHOD, method);
            if let Some(name) = name {
                request.headers_mut().insert(header::NAME, encode_mirrored(&name));
            }
        }
        request
    }

    /// Params with what the modern era says in each request, beside what is in their `_meta`.
    fn with_meta(&self, params: &str) -> String {
        let given = member(params.as_bytes(), "_meta").and_then(|text| std::str::from_utf8(text).ok());
        let said = [
            (meta::PROTOCOL_VERSION, quoted(&self.version)),
            (meta::CLIENT_CAPABILITIES, self.capabilities.to_string()),
        ];
        let meta = said.iter().fold(given.unwrap_or("{}").to_owned(), |meta, (name, value)| match given {
            Some(given) if member(given.as_bytes(), name).is_some() => meta,
            _ => with_member(&meta, name, value),
        });
        with_member(params, "_meta", &meta)
    }

    pub(super) fn head(&self, verb: Verb, body: Body) -> Request<Body> {
        let mut request = Request::new(body);
        *request.method_mut() = verb;
        request.uri_mut().clone_from(&self.path);
        let headers = request.headers_mut();
        // Servers that guard against DNS rebinding look at the host.
        headers.insert(HOST, HeaderValue::from_static("localhost"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        match (self.era(), &self.session) {
            (Era::Modern, _) => set(headers, header::PROTOCOL_VERSION, &self.version),
            (Era::Legacy, Some(session)) => {
                let sent = [(header::SESSION_ID, &session.id), (header::PROTOCOL_VERSION, &session.version)];
                headers.extend(sent.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
            }
            (Era::Legacy, None) => {}
        }
        if let (Some(audience), Some(name)) = (self.audience, &self.audience_header) {
            set(headers, name.clone(), audience.as_str());
        }
        headers.extend(self.headers.clone());
        if let Some(audience) = self.audience {
            request.extensions_mut().insert(audience);
        }
        request
    }
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

fn string(object: &str, name: &str) -> Option<String> {
    let value: Value = serde_json::from_slice(member(object.as_bytes(), name)?).ok()?;
    value.as_str().map(str::to_owned)
}
