//! The question for a catalogue, and what a deployer may choose about it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Method, Request};

use super::{Failure, Role};
use crate::concern::head::JSON;
use crate::exchange::McpContext;
use crate::json::{Object, Reader, write_string};
use crate::message::MetaTool;
use crate::protocol::{Era, encode_mirrored, header};

/// Changes the head of a look-up before it is sent. Gets the head of the call that is judged, too.
type Prepare = dyn Fn(&Parts, &mut Parts) + Send + Sync;

/// Names the caller of a request.
type NameCaller = dyn Fn(&Parts) -> Vec<u8> + Send + Sync;

/// How the inner service is asked for its tools, and how long its answer is fresh.
///
/// It is asked as the caller: with the headers and extensions of the call that is judged, but without what belongs to
/// that one request (`Content-*`, `Digest`, `If-*`, `Range`, `Mcp-Name`, `Mcp-Param-*`, `Idempotency-Key`, `DPoP`, `Signature*`,
/// `X-Payment`) or to its connection (`Transfer-Encoding` and the like). Of callers that sign their requests (`Signature*`, RFC 9421) no two requests
/// are taken for the same caller's, so each of their calls costs a look-up.
/// All pages together are bounded by [`Limits::response_bytes`](crate::exchange::Limits::response_bytes), and those of each list in number by 1000.
///
/// # How long it may take
///
/// This crate has no timers, since it needs no runtime: a call waits for its look-up as long as the inner service takes, unless
/// another layer bounds it.
///
/// - **Outside** it bounds everything until the head of the call's answer, look-up included. Whoever has waited too long leaves. If
///   that is the one who asks, one of those who wait for the same look-up asks anew, in the time that is left to it.
/// - **Inside** it bounds the head of every answer, so that of each page and that of each call by itself. One that answers, such as
///   `tower_http::timeout::TimeoutLayer`, makes the look-up fail: all who wait for it get that status, with a JSON-RPC error
///   (`-32603`) and their own id. One that fails, such as `tower::timeout::TimeoutLayer`, fails for the one who asks, as any
///   error of the inner service does, and the others get 502 with such an error. A body that begins and does not end is
///   bounded by the layer outside alone.
///
/// ```
/// use std::convert::Infallible;
/// use std::time::Duration;
/// use bytes::Bytes;
/// use http::{Request, Response, StatusCode};
/// use http_body_util::{BodyExt, Full};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_http::timeout::TimeoutLayer;
/// use tower_mcp_apps::visibility::VisibilityLayer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let timeout = |time| TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, time);
/// let service = ServiceBuilder::new()
///     .layer(timeout(Duration::from_secs(60)))
///     .layer(VisibilityLayer::new())
///     .layer(timeout(Duration::from_millis(10)))
///     // Hangs, whatever it is asked.
///     .service(service_fn(|_| std::future::pending::<Result<Response<Full<Bytes>>, Infallible>>()));
///
/// let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"poll"}}"#;
/// let request = Request::post("/mcp").header("content-type", "application/json").body(Full::<Bytes>::from(call))?;
/// let answer = service.oneshot(request).await?;
/// assert_eq!(answer.status(), StatusCode::GATEWAY_TIMEOUT);
/// let error = answer.into_body().collect().await.map_err(|error| error.to_string())?.to_bytes();
/// assert!(error.starts_with(br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#));
/// # Ok(())
/// # }
/// ```
///
/// # Example
///
/// ```
/// use std::time::Duration;
/// use http::HeaderValue;
/// use tower_mcp_apps::concern::LookUp;
/// use tower_mcp_apps::visibility::VisibilityLayer;
///
/// # fn proof() -> HeaderValue { HeaderValue::from_static("eyJ0eXAi") }
/// let look_up = LookUp::new()
///     .where_unsaid(Duration::from_secs(30))
///     .prepare(|_call, look_up| drop(look_up.headers.insert("dpop", proof())));
/// let layer = VisibilityLayer::new().look_up(look_up);
/// # drop(layer);
/// ```
#[derive(Clone)]
pub struct LookUp {
    pub(super) at_least: Duration,
    pub(super) at_most: Duration,
    pub(super) unsaid: Duration,
    prepare: Option<Arc<Prepare>>,
    caller: Option<Arc<NameCaller>>,
}

impl LookUp {
    /// Fresh for `ttlMs`, but at least one second and at most a minute; five seconds where the server says nothing.
    pub fn new() -> Self {
        Self {
            at_least: Duration::from_secs(1),
            at_most: Duration::from_secs(60),
            unsaid: Duration::from_secs(5),
            prepare: None,
            caller: None,
        }
    }

    /// The least time for which a catalogue is fresh. Servers say `"ttlMs":0` nearly everywhere; with zero here they are taken
    /// at their word, and each call costs a look-up.
    #[must_use]
    pub fn at_least(mut self, time: Duration) -> Self {
        self.at_least = time;
        self
    }

    /// The most time for which a catalogue is fresh, whatever the server says.
    #[must_use]
    pub fn at_most(mut self, time: Duration) -> Self {
        self.at_most = time;
        self
    }

    /// The time for which a catalogue is fresh where the server says nothing, as in the legacy era.
    #[must_use]
    pub fn where_unsaid(mut self, time: Duration) -> Self {
        self.unsaid = time;
        self
    }

    /// Changes the head of each look-up, given the head of the call that is judged: for credentials that
    /// hold for one request only, such as a DPoP proof, and so cannot be repeated.
    #[must_use]
    pub fn prepare(mut self, prepare: impl Fn(&Parts, &mut Parts) + Send + Sync + 'static) -> Self {
        self.prepare = Some(Arc::new(prepare));
        self
    }

    /// Tells callers apart whose credentials are in no header, such as a client certificate, or a user that an outer
    /// layer left among the extensions: those with different names share no answer but a `public` one. **Without it, what
    /// differs in nothing but extensions counts as one caller.** The name is hashed, never kept.
    ///
    /// ```
    /// use http::request::Parts;
    /// use tower_mcp_apps::concern::LookUp;
    ///
    /// #[derive(Clone)]
    /// struct User(u64);
    ///
    /// let look_up = LookUp::new().caller(|call: &Parts| {
    ///     let user = call.extensions.get::<User>();
    ///     user.map_or_else(Vec::new, |user| user.0.to_be_bytes().to_vec())
    /// });
    /// # drop(look_up);
    /// ```
    #[must_use]
    pub fn caller(mut self, name: impl Fn(&Parts) -> Vec<u8> + Send + Sync + 'static) -> Self {
        self.caller = Some(Arc::new(name));
        self
    }

    /// The name of the caller of this request, where a deployer gives one.
    pub(super) fn name_caller(&self, call: &Parts) -> Option<Vec<u8>> {
        self.caller.as_ref().map(|name| name(call))
    }
}

impl Default for LookUp {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LookUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LookUp")
            .field("at_least", &self.at_least)
            .field("at_most", &self.at_most)
            .field("unsaid", &self.unsaid)
            .finish_non_exhaustive()
    }
}

/// The `tools/list` that is asked in a caller's name, page by page.
#[derive(Debug)]
pub(in crate::concern) struct Question {
    /// The JSON text of the id. Unguessable, since a server with sessions routes answers by it: it must not be one that the client uses.
    pub(in crate::concern) id: Bytes,
    /// The JSON text of the caller's `_meta`, in the modern era.
    meta: Option<Vec<u8>>,
}

impl Question {
    /// The question in the name of the caller whose request has this `_meta` (its JSON text).
    pub(in crate::concern) fn new(context: &McpContext, meta: Option<&[u8]>) -> Result<Self, Failure> {
        let mut random = [0; 16];
        getrandom::fill(&mut random).map_err(|_| Failure::new("there is no randomness to ask for the tools with"))?;
        let id = Bytes::from(format!("\"apps-{}\"", URL_SAFE_NO_PAD.encode(random)));
        let meta = meta.filter(|_| context.era() == Era::Modern).and_then(without_progress);
        Ok(Self { id, meta })
    }

    /// The request for the first page, or for the one behind this cursor (its JSON text).
    pub(in crate::concern) fn request(
        &self,
        call: &Parts,
        context: &McpContext,
        options: &LookUp,
        cursor: Option<&[u8]>,
    ) -> (Parts, Bytes) {
        let mut params = Object::default();
        if let Some(cursor) = cursor {
            params.set("cursor", cursor);
        }
        self.send(call, &context.for_look_up(&self.id), options, params)
    }

    /// The call of a meta-tool: of one that describes a tool with this name, else of one that lists all, from its start or from
    /// behind this cursor (its JSON text).
    pub(in crate::concern) fn call(
        &self,
        call: &Parts,
        context: &McpContext,
        options: &LookUp,
        tool: &MetaTool,
        name: Option<&str>,
        cursor: Option<&[u8]>,
    ) -> (Parts, Bytes) {
        let mut arguments = Object::default();
        if let Some(cursor) = cursor {
            arguments.set("cursor", cursor);
        }
        if let (Some(argument), Some(name)) = (&tool.argument, name) {
            arguments.set_with(argument, |out| write_string(name, out));
        }
        let mut params = Object::default();
        params.set_with("name", |out| write_string(&tool.name, out));
        params.set_with("arguments", |out| arguments.render(out));
        self.send(call, &context.for_call(&self.id, &tool.name, tool.role, name), options, params)
    }

    /// A request of our own, with these `params` and the caller's `_meta`.
    fn send(&self, call: &Parts, asking: &McpContext, options: &LookUp, mut params: Object<'_>) -> (Parts, Bytes) {
        if let Some(meta) = &self.meta {
            params.set("_meta", meta);
        }
        let method = asking.method().unwrap_or_default();
        let mut body = [br#"{"jsonrpc":"2.0","id":"#, &self.id[..], br#","method":""#].concat();
        body.extend_from_slice(method.as_bytes());
        body.extend_from_slice(br#"","params":"#);
        params.render(&mut body);
        body.push(b'}');

        let (mut parts, ()) = Request::new(()).into_parts();
        parts.method = Method::POST;
        parts.uri = call.uri.clone();
        parts.version = call.version;
        parts.extensions = call.extensions.clone();
        parts.extensions.insert(asking.clone());
        for (name, value) in &call.headers {
            if Role::of(name).is_repeated() {
                parts.headers.append(name, value.clone());
            }
        }
        parts.headers.insert(CONTENT_TYPE, JSON);
        parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        parts.headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        parts.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if asking.era() == Era::Modern {
            parts.headers.insert(header::METHOD, encode_mirrored(method));
            if let Some(tool) = asking.tool() {
                parts.headers.insert(header::NAME, encode_mirrored(tool));
            }
        }
        if let Some(prepare) = &options.prepare {
            prepare(call, &mut parts);
        }
        (parts, Bytes::from(body))
    }
}

/// A `_meta` without the token that asks for progress of the one call.
fn without_progress(meta: &[u8]) -> Option<Vec<u8>> {
    let mut object = Object::default();
    object.read(&mut Reader::new(meta)).ok()?;
    object.remove("progressToken");
    let mut text = Vec::with_capacity(meta.len());
    object.render(&mut text);
    Some(text)
}
