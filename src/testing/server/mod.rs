//! A server in the process, from a few lines, which remembers what it was asked.

mod catalogue;
mod future;
mod protocol;

use std::convert::Infallible;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use serde_json::json;
use tower_service::Service;

use self::catalogue::Catalogue;
pub use self::future::FakeResponse;
use self::future::Waiting;
use self::protocol::Speaks;
use super::unanswered::BoxError;
use super::{Body, Received, Reply};
use crate::protocol::APP_MEDIA_TYPE;

/// An MCP server in the process: a `tower` service from a few lines, generic over its request body.
///
/// It answers `initialize`, `server/discover`, `ping`, lists, reads and calls as the specifications have it, in
/// whichever era it is asked, and [misbehaves](Self::tamper) on demand. It keeps [every request](Self::requests) as it
/// came. Clones are the same server; the methods that describe it come before.
///
/// What it has is given as anything that displays as JSON: a [`Value`](serde_json::Value), or a text, whose bytes it keeps.
///
/// - In the modern era it wants the headers that mirror the body (MCP 2026-07-28, "Standard Request Headers"): one that
///   is missing or contradicts is `-32020`, so that a layer which changes a name in one place alone is found out.
/// - A call of a tool that it has and has no [result](Self::result) for gives the text "NAME was called".
/// - A GET is 405, a DELETE too unless it has [sessions](Self::sessions); batches are answered one by one.
///
/// ```
/// use serde_json::json;
/// use tower::Layer;
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::testing::{FakeServer, TestClient, Unanswered};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Unanswered> {
/// let server = FakeServer::new()
///     .tool(json!({"name": "weather", "_meta": {"ui": {"resourceUri": "ui://weather"}}}))
///     .tool(r#"{"name": "zoom", "maximum": 1.0, "_meta": {"ui": {"visibility": ["app"]}}}"#)
///     .ui("ui://weather", "<!doctype html><title>Weather</title>")
///     .result("weather", json!({"content": [], "structuredContent": {"celsius": 21}}));
///
/// // A model gets the one tool that is for it.
/// let mut model = TestClient::new(AppsLayer::new().layer(server.clone()));
/// assert_eq!(model.tool_names().await?, ["weather"]);
/// let answer = model.call("weather", json!({"city": "Bonn"})).await?;
/// assert_eq!(answer.result()["structuredContent"]["celsius"], 21);
/// assert_eq!(server.calls(), ["weather"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct FakeServer {
    script: Arc<Script>,
    log: Arc<Log>,
}

type Act = Arc<dyn Fn(&Received) -> Reply + Send + Sync>;
type Tamper = Arc<dyn Fn(Reply) -> Reply + Send + Sync>;

/// What it does.
#[derive(Clone, Default)]
struct Script {
    speaks: Speaks,
    catalogue: Catalogue,
    has_sessions: bool,
    streams: bool,
    acts: Vec<(Option<String>, Act)>,
    tampers: Vec<(Option<String>, Tamper)>,
}

/// What happened.
#[derive(Default)]
struct Log {
    received: Mutex<Vec<Received>>,
    /// Those that are open, by their number, and how many there were.
    sessions: Mutex<(Vec<u64>, u64)>,
    cuts: Mutex<Option<Vec<usize>>>,
    longest: Mutex<usize>,
}

impl Default for FakeServer {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FakeServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeServer").field("received", &lock(&self.log.received)).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeServer {
    /// A server of both eras that has nothing yet.
    pub fn new() -> Self {
        Self { script: Arc::default(), log: Arc::default() }
    }

    /// One that speaks 2026-07-28 alone.
    pub fn modern() -> Self {
        Self::new().with(|script| script.speaks = Speaks::Modern)
    }

    /// One that knows `initialize` alone: 2025-11-25 and what came before.
    pub fn legacy() -> Self {
        Self::new().with(|script| script.speaks = Speaks::Legacy)
    }

    /// One that answers every request as this function does, and knows nothing of MCP itself.
    ///
    /// ```
    /// use tower_mcp_apps::testing::{FakeServer, Reply};
    ///
    /// let server = FakeServer::answering(|_| Reply::json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#));
    /// # drop(server);
    /// ```
    pub fn answering(act: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        Self::new().with(|script| script.acts.push((None, Arc::new(act))))
    }

    /// Adds a tool.
    pub fn tool(self, tool: impl Display) -> Self {
        self.with(|script| script.catalogue.tools.add(tool, "name"))
    }

    /// Adds a resource to the list. What a read of it gives is for [`contents`](Self::contents) to say.
    pub fn resource(self, resource: impl Display) -> Self {
        self.with(|script| script.catalogue.resources.add(resource, "uri"))
    }

    /// Adds a resource template.
    pub fn template(self, template: impl Display) -> Self {
        self.with(|script| script.catalogue.templates.add(template, "uriTemplate"))
    }

    /// Adds a prompt, which gives one message, the text of its name.
    pub fn prompt(self, prompt: impl Display) -> Self {
        self.with(|script| script.catalogue.prompts.add(prompt, "name"))
    }

    /// Adds what a read of a URI gives: an item of `contents`. The URI need not be in the list.
    pub fn contents(self, uri: &str, item: impl Display) -> Self {
        self.with(|script| script.catalogue.contents.push((uri.to_owned(), item.to_string())))
    }

    /// Adds an MCP App: a resource of its media type in the list, and this HTML for those who read it.
    pub fn ui(self, uri: &str, html: &str) -> Self {
        self.resource(json!({ "uri": uri, "name": uri, "mimeType": APP_MEDIA_TYPE }))
            .contents(uri, json!({ "uri": uri, "mimeType": APP_MEDIA_TYPE, "text": html }))
    }

    /// What a call of a tool gives. In the modern era it gets `resultType`, where it has none.
    pub fn result(self, tool: &str, result: impl Display) -> Self {
        self.with(|script| script.catalogue.results.push((tool.to_owned(), result.to_string())))
    }

    /// Declares these capabilities. Else it declares `tools`, `resources` and `prompts`, where it has some.
    pub fn capabilities(self, capabilities: impl Display) -> Self {
        self.with(|script| script.catalogue.capabilities = Some(capabilities.to_string()))
    }

    /// What results of the modern era that can be cached say of it; else `0` and `private`.
    pub fn cache(self, ttl_ms: u64, scope: &str) -> Self {
        self.with(|script| script.catalogue.cache = (ttl_ms, scope.to_owned()))
    }

    /// At most so many entries on a page of a list.
    pub fn page_size(self, entries: usize) -> Self {
        self.with(|script| script.catalogue.page_size = Some(entries.max(1)))
    }

    /// Answers in event streams, not in JSON.
    pub fn streaming(self) -> Self {
        self.with(|script| script.streams = true)
    }

    /// Has sessions in the legacy era: `initialize` opens one, others need it (400 without, 404 with an unknown one),
    /// DELETE ends it.
    pub fn sessions(self) -> Self {
        self.with(|script| script.has_sessions = true)
    }

    /// Answers a method as this function does. `GET` and `DELETE` stand for these verbs. The last one for a method counts.
    ///
    /// ```
    /// use serde_json::json;
    /// use tower_mcp_apps::testing::{FakeServer, Reply};
    ///
    /// let server = FakeServer::new().on("completion/complete", |request| {
    ///     Reply::result(request, json!({"completion": {"values": ["Bonn"]}}))
    /// });
    /// # drop(server);
    /// ```
    pub fn on(self, method: &str, act: impl Fn(&Received) -> Reply + Send + Sync + 'static) -> Self {
        self.with(|script| script.acts.push((Some(method.to_owned()), Arc::new(act))))
    }

    /// Spoils, or mends, what it answers to a method (or to `GET` or `DELETE`).
    ///
    /// ```
    /// use tower_mcp_apps::testing::FakeServer;
    ///
    /// let server = FakeServer::new()
    ///     .tool(r#"{"name": "weather"}"#)
    ///     .tamper("tools/list", |reply| reply.doubled("result"))
    ///     .tamper("tools/call", |reply| reply.id(r#""another""#))
    ///     .tamper("server/discover", |reply| reply.content_type("text/html"));
    /// # drop(server);
    /// ```
    pub fn tamper(self, method: &str, tamper: impl Fn(Reply) -> Reply + Send + Sync + 'static) -> Self {
        self.with(|script| script.tampers.push((Some(method.to_owned()), Arc::new(tamper))))
    }

    /// Spoils all that it answers.
    pub fn tamper_all(self, tamper: impl Fn(Reply) -> Reply + Send + Sync + 'static) -> Self {
        self.with(|script| script.tampers.push((None, Arc::new(tamper))))
    }

    /// Every request so far, as it came.
    pub fn requests(&self) -> Vec<Received> {
        lock(&self.log.received).clone()
    }

    /// Every request since this was asked last.
    pub fn take_requests(&self) -> Vec<Received> {
        std::mem::take(&mut *lock(&self.log.received))
    }

    /// The JSON-RPC methods of the requests so far; of those that have none the verb.
    pub fn methods(&self) -> Vec<String> {
        let requests = lock(&self.log.received);
        requests.iter().map(|request| protocol::method_of(request).to_owned()).collect()
    }

    /// The names of the tools that were called so far.
    pub fn calls(&self) -> Vec<String> {
        let requests = lock(&self.log.received);
        let calls = requests.iter().filter(|request| request.rpc_method() == Some("tools/call"));
        calls.map(|request| request.json()["params"]["name"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Cuts every answer from now on at these places.
    pub(super) fn cut_answers(&self, places: Option<Vec<usize>>) {
        *lock(&self.log.cuts) = places;
    }

    /// The length of the longest body since this was asked last.
    pub(super) fn take_longest(&self) -> usize {
        std::mem::take(&mut *lock(&self.log.longest))
    }

    /// How many requests came so far.
    pub(super) fn count(&self) -> usize {
        lock(&self.log.received).len()
    }

    /// The body of the last request, if more than so many came.
    pub(super) fn last_after(&self, count: usize) -> Option<Bytes> {
        let received = lock(&self.log.received);
        received.last().filter(|_| received.len() > count).map(|last| last.bytes().clone())
    }

    /// Forgets all but the first requests.
    pub(super) fn forget_after(&self, count: usize) {
        lock(&self.log.received).truncate(count);
    }

    fn with(mut self, change: impl FnOnce(&mut Script)) -> Self {
        change(Arc::make_mut(&mut self.script));
        self
    }

    /// Answers a request, and remembers it. `None` where it never answers.
    fn answer(&self, received: Received) -> Option<Waiting> {
        let method = protocol::method_of(&received);
        let act = self.script.acts.iter().rev().find(|(of, _)| of.as_deref().is_none_or(|of| of == method));
        let reply = match act {
            Some((_, act)) => act(&received),
            None => protocol::answer(&self.script, &self.log, &received),
        };
        let tampers = self.script.tampers.iter().filter(|(of, _)| of.as_deref().is_none_or(|of| of == method));
        let reply = tampers.fold(reply, |reply, (_, tamper)| tamper(reply));
        lock(&self.log.received).push(received);
        let (delay, ticket) = reply.wait();
        let response = reply.into_response(lock(&self.log.cuts).as_deref())?;
        let mut longest = lock(&self.log.longest);
        *longest = response.body().len().max(*longest);
        drop(longest);
        Some(Waiting { response, delay, ticket })
    }
}

impl<B> Service<Request<B>> for FakeServer
where
    B: HttpBody<Data = Bytes>,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = FakeResponse<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> FakeResponse<B> {
        FakeResponse::new(self.clone(), request)
    }
}
