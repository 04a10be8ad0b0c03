//! A request as it came to a server.

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Uri};
use serde_json::Value;

use super::collected::Collected;
use super::text;

/// A request as it came to a [`FakeServer`](super::FakeServer): its head, and its body's bytes.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().tool(json!({"name": "weather"}));
/// TestClient::new(server.clone()).call("weather", json!({"city": "Bonn"})).await?;
///
/// let request = &server.requests()[0];
/// assert_eq!(request.rpc_method(), Some("tools/call"));
/// assert_eq!(request.header("mcp-name"), Some("weather"));
/// assert_eq!(request.json()["params"]["arguments"]["city"], "Bonn");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Received {
    parts: Parts,
    body: Collected,
    bytes: Bytes,
    json: Value,
}

impl Received {
    pub(super) fn new(parts: Parts, body: Collected) -> Self {
        let bytes = body.bytes();
        let json = serde_json::from_slice(&bytes).unwrap_or_default();
        Self { parts, body, bytes, json }
    }

    /// Its head, with the extensions that came along.
    pub fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The verb.
    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    /// The target.
    pub fn uri(&self) -> &Uri {
        &self.parts.uri
    }

    /// The headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// A header, where it is there and text; the first, where there are several.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.parts.headers, name)
    }

    /// The body as it came, up to its end or its error.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The frames that the body came in.
    pub fn frames(&self) -> &[Bytes] {
        &self.body.frames
    }

    /// The trailers behind the body.
    pub fn trailers(&self) -> Option<&HeaderMap> {
        self.body.trailers.as_ref()
    }

    /// How the body failed, where it did.
    pub fn error(&self) -> Option<&str> {
        self.body.error.as_deref()
    }

    /// The body as a value to look at; null where it is no JSON. Numbers may lose digits, and of duplicate members only
    /// the last is there: for these see [`bytes`](Self::bytes).
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The method of the JSON-RPC message that the body is; `None` where it is a batch, an answer, or none.
    pub fn rpc_method(&self) -> Option<&str> {
        self.json["method"].as_str()
    }

    /// The id of the JSON-RPC message, as it is written.
    pub fn id(&self) -> Option<&str> {
        text::member(&self.bytes, "id").and_then(|id| std::str::from_utf8(id).ok())
    }
}

pub(super) fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    headers.get(name)?.to_str().ok()
}
