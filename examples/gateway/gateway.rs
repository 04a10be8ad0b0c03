//! The gateway as a Tower service: reads a request, and hands it to who answers it.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::ALLOW;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tower::{BoxError, Service};
use tower_mcp_apps::exchange::{Content, Encoding};
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::{Era, code};

use crate::asked::Asked;
use crate::caller::Caller;
use crate::fan_out;
use crate::response::{self, Body, invalid_request, unknown_method};
use crate::upstreams::{Scope, Upstream};
use crate::{greeting, listen, lists, route};

/// The path of the gateway's endpoint.
pub(crate) const PATH: &str = "/mcp";

/// The longest request body, as `Limits` has it.
const LONGEST: usize = 4 << 20;

/// What was settled for all requests.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) app_header: Option<HeaderName>,
    pub(crate) audience_header: Option<HeaderName>,
    /// The upstream that gets names without a prefix.
    pub(crate) bare: Option<String>,
    /// How long upstreams may take where several are asked.
    pub(crate) patience: Duration,
}

/// Several MCP servers as one. Its clones are the same gateway, and remember nothing of an exchange.
#[derive(Clone)]
pub(crate) struct Gateway {
    upstreams: Arc<[Upstream]>,
    settings: Arc<Settings>,
}

impl Gateway {
    pub(crate) fn new(upstreams: Vec<Upstream>, settings: Settings) -> Self {
        Self { upstreams: upstreams.into(), settings: Arc::new(settings) }
    }

    async fn answer<B>(&self, request: Request<B>) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let (parts, body) = request.into_parts();
        if parts.uri.path() != PATH {
            return response::empty(StatusCode::NOT_FOUND);
        }
        let Settings { app_header, audience_header, bare, .. } = &*self.settings;
        let caller = match Caller::read(&parts.headers, app_header.as_ref(), audience_header.as_ref()) {
            Ok(caller) => caller,
            Err(refusal) => return response::refused(&refusal, None),
        };
        let all = Scope::all(&self.upstreams, bare.as_deref());
        let scope = match &caller.app {
            Some(name) => all.app(name),
            None => Some(all),
        };
        let Some(scope) = scope else {
            return response::refused(&invalid_request("the app header names no upstream"), None);
        };
        let outcome = match parts.method {
            Method::POST => return self.post(scope, caller, &parts, body).await,
            Method::GET => self.get(scope, caller).await,
            Method::DELETE => self.delete(scope, caller).await,
            _ => {
                let mut response = response::empty(StatusCode::METHOD_NOT_ALLOWED);
                response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, POST, DELETE"));
                return response;
            }
        };
        outcome.unwrap_or_else(|refusal| response::refused(&refusal, None))
    }

    async fn post<B>(&self, scope: Scope<'_>, caller: Caller, parts: &Parts, body: B) -> Response<Body>
    where
        B: http_body::Body<Data = Bytes> + Send,
        B::Error: Into<BoxError>,
    {
        let body = match read(parts, body).await {
            Ok(body) => body,
            Err(refusal) => return response::refused(&refusal, None),
        };
        let asked = match Asked::read(body) {
            Ok(asked) => asked,
            Err((refusal, id)) => return response::refused(&refusal, id.as_deref()),
        };
        let outcome = self.message(scope, caller, &asked).await;
        outcome.unwrap_or_else(|refusal| response::refused(&refusal, asked.id.as_deref()))
    }

    async fn message(&self, scope: Scope<'_>, mut caller: Caller, asked: &Asked) -> Result<Response<Body>, Refusal> {
        let settings = &*self.settings;
        let Some(method) = asked.method.as_deref() else {
            return Err(invalid_request("nothing was asked of the client, so there is nothing to answer"));
        };
        if asked.era == Era::Legacy && method != "initialize" {
            caller.join_session()?;
        }
        let caller = Arc::new(caller);
        let Some(id) = asked.id.as_deref() else {
            // A notification: for whomever it concerns.
            let (body, spelling) = (&asked.body, scope.spelling());
            fan_out::ask_same(scope.upstreams(), &caller, body, spelling, settings.patience).await;
            return Ok(response::empty(StatusCode::ACCEPTED));
        };
        if let Some(found) = route::find(scope, asked, method) {
            let (upstream, spelling) = found?;
            return Ok(route::forward(settings, &caller, asked, upstream, spelling).await);
        }
        if let Some(member) = lists::member(method) {
            return match scope.the_app() {
                Some(upstream) => Ok(route::forward(settings, &caller, asked, upstream, scope.spelling()).await),
                None => lists::list(settings, scope, &caller, asked, method, member).await,
            };
        }
        match (method, asked.era) {
            ("initialize", _) => greeting::initialize(settings, scope, &caller, asked).await,
            ("server/discover", _) => greeting::discover(settings, scope, &caller, asked).await,
            ("subscriptions/listen", Era::Modern) => listen::subscriptions(settings, scope, &caller, asked).await,
            ("ping", Era::Legacy) => Ok(response::result(id, b"{}")),
            ("logging/setLevel", Era::Legacy) => {
                let (body, spelling) = (&asked.body, scope.spelling());
                let told = fan_out::ask_same(scope.upstreams(), &caller, body, spelling, settings.patience).await;
                // Not all servers write logs.
                let is_set = told.iter().any(|(_, outcome)| outcome.is_ok());
                if is_set { Ok(response::result(id, b"{}")) } else { Err(unknown_method(asked.era, method)) }
            }
            (method, era) => Err(unknown_method(era, method)),
        }
    }

    async fn get(&self, scope: Scope<'_>, mut caller: Caller) -> Result<Response<Body>, Refusal> {
        caller.join_session()?;
        listen::get(&self.settings, scope, &Arc::new(caller)).await
    }

    /// Ends the session with every upstream. Those that keep sessions to themselves (405) change nothing.
    async fn delete(&self, scope: Scope<'_>, mut caller: Caller) -> Result<Response<Body>, Refusal> {
        caller.join_session()?;
        if !caller.is_in_session() {
            return Err(invalid_request("there is no session to end: Mcp-Session-Id is missing"));
        }
        let takes_part = scope.upstreams().iter().filter(|upstream| caller.can_ask(upstream));
        let questions = takes_part.map(|upstream| fan_out::Question {
            upstream: upstream.clone(),
            request: caller.bodiless(Method::DELETE, upstream),
        });
        let heads = |_| async { Ok(()) };
        fan_out::each(questions.collect(), scope.spelling(), self.settings.patience, heads).await;
        Ok(response::empty(StatusCode::NO_CONTENT))
    }
}

/// Reads a body that a message can be in.
async fn read<B>(parts: &Parts, body: B) -> Result<Bytes, Refusal>
where
    B: http_body::Body<Data = Bytes> + Send,
    B::Error: Into<BoxError>,
{
    if Content::of(&parts.headers) != Content::Json || Encoding::of(&parts.headers) == Encoding::Encoded {
        let message = "the body must be application/json in UTF-8, without a Content-Encoding";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::INVALID_REQUEST, message));
    }
    match Limited::new(body, LONGEST).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            let message = format!("the body is longer than {LONGEST} bytes");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, code::INVALID_REQUEST, message))
        }
        Err(_) => Err(invalid_request("the body broke off")),
    }
}

impl<B> Service<Request<B>> for Gateway
where
    B: http_body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let gateway = self.clone();
        Box::pin(async move { Ok(gateway.answer(request).await) })
    }
}
