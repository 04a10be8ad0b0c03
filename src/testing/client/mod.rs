//! A client that asks a service in the process, in either era.

mod answer;
mod handshake;
mod open;
mod request;

use std::future::poll_fn;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, Uri};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower_service::Service;

pub use self::answer::Answer;
use self::handshake::Session;
pub use self::open::OpenAnswer;
use super::recording::{RecordedExchange, Recording};
use super::unanswered::{BoxError, Unanswered, Why};
use super::{Body, misuse};
use crate::protocol::{APP_MEDIA_TYPE, Audience, Era, UI_EXTENSION};

const LEGACY: &str = "2025-11-25";

/// More pages than this are no list.
const MOST_PAGES: usize = 1000;

/// An MCP client in the process, over any `tower` service.
///
/// It speaks 2026-07-28 and declares nothing, unless it is told otherwise. In the legacy era it shakes hands before the
/// first request, and keeps its session. It needs no runtime, and has no timeout.
///
/// What it asks comes back as an [`Answer`], whatever that is: an error of JSON-RPC, and a body that broke off, are
/// answers, too. Only a service that fails is an error. [`tools`](Self::tools) and the other lists want a result.
///
/// ```
/// use serde_json::json;
/// use tower::Layer;
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered, assert_refused};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new().tool(json!({"name": "zoom", "_meta": {"ui": {"visibility": ["app"]}}}));
/// let stack = AppsLayer::new().layer(server);
///
/// let mut model = TestClient::new(stack.clone());
/// assert_refused(&model.call("zoom", json!({})).await?, -32602);
///
/// let mut host = TestClient::new(stack).legacy().with_apps();
/// assert_eq!(host.call("zoom", json!({})).await?.result()["content"][0]["text"], "zoom was called");
/// # Ok(())
/// # }
/// ```
///
/// # Who asks
///
/// [`with_apps`](Self::with_apps) declares MCP Apps, which by default makes the client a host. A stack whose
/// [audience](crate::exchange::AudienceSource) comes from elsewhere is told by [`as_app`](Self::as_app), as an extension
/// of the request, and by [`audience_header`](Self::audience_header); or by a [`header`](Self::header) or a
/// [`path`](Self::path) of your own.
#[derive(Clone, Debug)]
pub struct TestClient<S> {
    service: S,
    path: Uri,
    version: String,
    capabilities: Value,
    headers: HeaderMap,
    audience: Option<Audience>,
    audience_header: Option<HeaderName>,
    session: Option<Session>,
    last_id: u64,
    /// What the server declared.
    server: Value,
    recording: Option<Recording>,
}

impl<S> TestClient<S> {
    /// A client of the modern era that declares nothing.
    pub fn new(service: S) -> Self {
        Self {
            service,
            path: Uri::from_static("/mcp"),
            version: Era::FIRST_MODERN.to_owned(),
            capabilities: json!({}),
            headers: HeaderMap::new(),
            audience: None,
            audience_header: None,
            session: None,
            last_id: 0,
            server: Value::Null,
            recording: None,
        }
    }

    /// Speaks 2026-07-28, as it does anyway.
    pub fn modern(self) -> Self {
        self.version(Era::FIRST_MODERN)
    }

    /// Speaks 2025-11-25.
    pub fn legacy(self) -> Self {
        self.version(LEGACY)
    }

    /// Speaks this revision, in [its era](Era::of_version).
    pub fn version(mut self, version: &str) -> Self {
        version.clone_into(&mut self.version);
        self
    }

    /// Declares MCP Apps, as hosts that render UIs do.
    pub fn with_apps(mut self) -> Self {
        let apps = json!({ "mimeTypes": [APP_MEDIA_TYPE] });
        // A test that declares what is no object wants that.
        if let Some(declared) = self.capabilities.as_object_mut() {
            let extensions = declared.entry("extensions").or_insert_with(|| json!({}));
            if let Some(extensions) = extensions.as_object_mut() {
                extensions.insert(UI_EXTENSION.to_owned(), apps);
            }
        }
        self
    }

    /// Declares these capabilities, and no others.
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Says that an app asks: see [`audience`](Self::audience).
    pub fn as_app(self) -> Self {
        self.audience(Audience::App)
    }

    /// Says who asks, among the extensions of each request, where [`ByExtension`](crate::exchange::ByExtension) finds it.
    /// A stack with another [`AudienceSource`](crate::exchange::AudienceSource) does not look there.
    ///
    /// ```
    /// use tower::Layer;
    /// use tower_mcp_apps::AppsLayer;
    /// use tower_mcp_apps::exchange::ByExtension;
    /// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Unanswered> {
    /// let server = FakeServer::new().tool(r#"{"name": "ask", "_meta": {"ui": {"visibility": ["model"]}}}"#);
    /// let stack = AppsLayer::new().audience(ByExtension::new()).layer(server);
    /// assert!(TestClient::new(stack).as_app().tool_names().await?.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn audience(mut self, audience: Audience) -> Self {
        self.audience = Some(audience);
        self
    }

    /// Says who asks in this header, too, for [`ByHeader`](crate::exchange::ByHeader).
    pub fn audience_header(mut self, name: HeaderName) -> Self {
        self.audience_header = Some(name);
        self
    }

    /// Sends this header with each request.
    ///
    /// # Panics
    ///
    /// Where this is no header.
    #[track_caller]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        let (name, value) = misuse::header(name, value);
        self.headers.append(name, value);
        self
    }

    /// Sends each request to this path; else it is `/mcp`.
    ///
    /// # Panics
    ///
    /// Where this is no path.
    #[track_caller]
    pub fn path(mut self, path: &str) -> Self {
        self.path = misuse::path(path);
        self
    }

    /// Keeps what is asked and answered from here on, for [`recording`](Self::recording).
    pub fn recorded(mut self) -> Self {
        self.recording = Some(Recording::default());
        self
    }

    /// What was asked and answered since it is [recorded](Self::recorded); answers that were [opened](Self::open) are not.
    pub fn recording(&self) -> Recording {
        self.recording.clone().unwrap_or_default()
    }

    /// The service.
    pub fn get_ref(&self) -> &S {
        &self.service
    }

    /// The service, to change what it does.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.service
    }

    fn era(&self) -> Era {
        Era::of_version(&self.version)
    }
}

impl<S, R> TestClient<S>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    /// `server/discover`.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn discover(&mut self) -> Result<Answer, Unanswered> {
        self.request("server/discover", "{}").await
    }

    /// Calls a tool.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn call(&mut self, tool: &str, arguments: impl std::fmt::Display) -> Result<Answer, Unanswered> {
        let params = format!(r#"{{"name":{},"arguments":{arguments}}}"#, Value::from(tool));
        self.request("tools/call", params).await
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn read(&mut self, uri: &str) -> Result<Answer, Unanswered> {
        self.request("resources/read", json!({ "uri": uri })).await
    }

    /// All tools, from all pages.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where a page is no result, or there is no last one.
    pub async fn tools(&mut self) -> Result<Vec<Value>, Unanswered> {
        self.list("tools/list", "tools").await
    }

    /// The names of all tools, from all pages.
    ///
    /// # Errors
    ///
    /// Those of [`tools`](Self::tools).
    pub async fn tool_names(&mut self) -> Result<Vec<String>, Unanswered> {
        let tools = self.tools().await?;
        Ok(tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect())
    }

    /// All resources, from all pages.
    ///
    /// # Errors
    ///
    /// Those of [`tools`](Self::tools).
    pub async fn resources(&mut self) -> Result<Vec<Value>, Unanswered> {
        self.list("resources/list", "resources").await
    }

    /// All resource templates, from all pages.
    ///
    /// # Errors
    ///
    /// Those of [`tools`](Self::tools).
    pub async fn templates(&mut self) -> Result<Vec<Value>, Unanswered> {
        self.list("resources/templates/list", "resourceTemplates").await
    }

    /// All prompts, from all pages.
    ///
    /// # Errors
    ///
    /// Those of [`tools`](Self::tools).
    pub async fn prompts(&mut self) -> Result<Vec<Value>, Unanswered> {
        self.list("prompts/list", "prompts").await
    }

    /// Any method, with these params: anything that displays as JSON. The modern era's `_meta` is added.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails, or the handshake does that has to come before.
    pub async fn request(&mut self, method: &str, params: impl std::fmt::Display) -> Result<Answer, Unanswered> {
        self.shake_hands().await?;
        let request = self.prepare(method, params);
        self.send(request).await
    }

    /// Sends a request as it is, and reads the answer to its end.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn send(&mut self, request: Request<Body>) -> Result<Answer, Unanswered> {
        let recorded = self.recording.is_some().then(|| RecordedExchange::asked(&request));
        let answer = self.open(request).await?.finish().await;
        if let (Some(recording), Some(exchange)) = (&mut self.recording, recorded) {
            recording.add(exchange.answered(&answer));
        }
        Ok(answer)
    }

    /// Sends a request as it is, and gives the answer as soon as its head is there: for streams that stay open.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn open(&mut self, request: Request<Body>) -> Result<OpenAnswer<R>, Unanswered> {
        let asked = request.body().data_so_far();
        let failed = |error: S::Error| {
            let asked: Value = serde_json::from_slice(&asked).unwrap_or_default();
            Unanswered::new(asked["method"].as_str().unwrap_or_default(), Why::Service(error.into()))
        };
        poll_fn(|cx| self.service.poll_ready(cx)).await.map_err(failed)?;
        let response = self.service.call(request).await.map_err(failed)?;
        Ok(OpenAnswer::new(&asked, response))
    }

    /// All entries of a list.
    pub(in crate::testing) async fn list(&mut self, method: &str, member: &str) -> Result<Vec<Value>, Unanswered> {
        let (mut entries, mut params) = (Vec::new(), json!({}));
        for _ in 0..MOST_PAGES {
            let mut page = self.ask(method, params.clone()).await?;
            let mut take = |member: &str| page.get_mut(member).map(Value::take).unwrap_or_default();
            if let Value::Array(more) = take(member) {
                entries.extend(more);
            }
            let cursor = take("nextCursor");
            if cursor.is_null() {
                return Ok(entries);
            }
            if params["cursor"] == cursor {
                break;
            }
            params["cursor"] = cursor;
        }
        Err(Unanswered::new(method, Why::Endless))
    }

    /// The result of one request. Of an event stream no more is read than that takes.
    pub(in crate::testing) async fn ask(&mut self, method: &str, params: Value) -> Result<Value, Unanswered> {
        if self.recording.is_some() {
            return self.request(method, params).await?.into_result(method);
        }
        self.shake_hands().await?;
        let request = self.prepare(method, params);
        let (_, result) = self.open(request).await?.into_result(method).await?;
        Ok(result)
    }
}
