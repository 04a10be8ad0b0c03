//! Who asks, by the head of the request, and the requests that go to upstreams in that name.

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, EXPECT};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use tower_mcp_apps::message::Refusal;
use tower_mcp_apps::protocol::{Audience, code, header};

use crate::response::{invalid_request, session_gone};
use crate::session::Session;
use crate::upstreams::Upstream;

/// Headers in which credentials are, beside the two that are in the standard.
const KEYS: [&str; 4] = ["api-key", "x-access-token", "x-api-key", "x-auth-token"];

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// What the head of a request says.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// What goes on to the upstreams.
    headers: HeaderMap,
    /// The gateway's session id.
    session_id: Option<HeaderValue>,
    session: Option<Session>,
    /// The upstream whose app asks.
    pub(crate) app: Option<String>,
}

impl Caller {
    /// Reads a head. `app_header` names the upstream whose app asks, `audience_header` says for whom the answer is.
    ///
    /// # Errors
    ///
    /// A trusted header is doubled, or says that an app asks but not whose; or an old event is asked for.
    pub(crate) fn read(
        headers: &HeaderMap,
        app_header: Option<&HeaderName>,
        audience_header: Option<&HeaderName>,
    ) -> Result<Self, Refusal> {
        let mut headers = headers.clone();
        let app = app_header.map(|name| only(&headers, name)).transpose()?.flatten();
        let audience = audience_header.map(|name| only(&headers, name)).transpose()?.flatten();
        // Else an app could call what is for the apps of another server alone.
        if app.is_none() && audience.is_some_and(|audience| audience == Audience::App.as_str()) {
            return Err(invalid_request("an app asks, but nothing says of which server: the app header is missing"));
        }
        if headers.contains_key(LAST_EVENT_ID) {
            let message = "the gateway keeps no events, so a stream cannot go on where it broke off: open a new one";
            return Err(Refusal::new(StatusCode::BAD_REQUEST, code::INVALID_REQUEST, message));
        }
        let session_id = only(&headers, &header::SESSION_ID)?;
        for name in [header::SESSION_ID, CONTENT_LENGTH, EXPECT].iter().chain(app_header) {
            headers.remove(name);
        }
        // All answers are looked into.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let app = match app.map(|app| app.to_str().map(str::to_owned)) {
            Some(Err(_)) => return Err(invalid_request("the app header names no upstream")),
            Some(Ok(app)) => Some(app),
            None => None,
        };
        Ok(Self { headers, session_id, session: None, app })
    }

    /// Goes on with the session whose id the request has, if it has one.
    ///
    /// # Errors
    ///
    /// The id is not one of the gateway's.
    pub(crate) fn join_session(&mut self) -> Result<(), Refusal> {
        if let Some(id) = &self.session_id {
            self.session = Some(Session::decode(id).ok_or_else(session_gone)?);
        }
        Ok(())
    }

    /// Whether the request is part of a session.
    pub(crate) fn is_in_session(&self) -> bool {
        self.session.is_some()
    }

    /// Whether the upstream can be asked: it may have been away when the session began.
    pub(crate) fn can_ask(&self, upstream: &Upstream) -> bool {
        self.session.as_ref().is_none_or(|session| session.has(upstream.name()))
    }

    /// A POST to an upstream.
    pub(crate) fn post(&self, upstream: &Upstream, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = self.request(Method::POST, upstream, body);
        let headers = request.headers_mut();
        // What the gateway has to say itself may be said in the name of one who only listens.
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        request
    }

    /// A request without a body to an upstream.
    pub(crate) fn bodiless(&self, method: Method, upstream: &Upstream) -> Request<Full<Bytes>> {
        self.request(method, upstream, Bytes::new())
    }

    /// The same caller in a session of this upstream alone.
    pub(crate) fn with_session(&self, upstream: &Upstream, id: HeaderValue) -> Self {
        let mut session = Session::default();
        session.join(upstream.name(), Some(id));
        Self { session: Some(session), ..self.clone() }
    }

    fn request(&self, method: Method, upstream: &Upstream, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = method;
        *request.headers_mut() = self.headers.clone();
        let headers = request.headers_mut();
        if !upstream.gets_credentials() {
            headers.remove(AUTHORIZATION);
            headers.remove(COOKIE);
            for name in KEYS {
                headers.remove(name);
            }
        }
        if let Some(id) = self.session.as_ref().and_then(|session| session.id_of(upstream.name())) {
            headers.insert(header::SESSION_ID, id.clone());
        }
        if self.app.is_some() {
            request.extensions_mut().insert(Audience::App);
        }
        request
    }
}

/// The value of a header that may stand once.
fn only(headers: &HeaderMap, name: &HeaderName) -> Result<Option<HeaderValue>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(invalid_request(format!("the header {name} stands twice"))),
        (value, None) => Ok(value.cloned()),
    }
}
