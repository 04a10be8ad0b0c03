//! Handshakes, and the sessions that they leave behind.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method as Verb, Request, Response};
use http_body::Body as HttpBody;
use serde_json::{Value, json};
use tower_service::Service;

use super::{Answer, TestClient};
use crate::protocol::{Era, header};
use crate::testing::Body;
use crate::testing::unanswered::{BoxError, Unanswered};

/// What a handshake of the legacy era left behind.
#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) id: Option<HeaderValue>,
    pub(super) version: Option<HeaderValue>,
}

impl<S, R> TestClient<S>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: HttpBody<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    /// Shakes hands in the era that the service speaks: the modern one, or else the legacy one.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where it speaks neither.
    pub async fn connect(self) -> Result<Self, Unanswered> {
        let mut client = self.modern();
        if let Ok(discovered) = client.ask("server/discover", json!({})).await {
            client.server = discovered["capabilities"].clone();
            return Ok(client);
        }
        let mut client = client.legacy();
        let request = client.initializing();
        let initialized = client.open(request).await?.into_result("initialize").await?;
        client.initialized(&initialized).await?;
        Ok(client)
    }

    /// Whether the service declared a capability when [hands were shaken](Self::connect).
    pub(in crate::testing) fn has(&self, capability: &str) -> bool {
        self.server.get(capability).is_some()
    }

    /// `initialize`, and the notification that follows a result. Only where a test looks at the answer need it be called.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn initialize(&mut self) -> Result<Answer, Unanswered> {
        let request = self.initializing();
        let answer = self.send(request).await?;
        self.keep_session(answer.headers());
        if !answer.result().is_null() {
            let result = answer.result().clone();
            self.initialized(&(answer.headers().clone(), result)).await?;
        }
        Ok(answer)
    }

    /// Ends the session, where there is one.
    ///
    /// # Errors
    ///
    /// [`Unanswered`] where the service fails.
    pub async fn close(&mut self) -> Result<(), Unanswered> {
        if self.session.as_ref().is_some_and(|session| session.id.is_some()) {
            let request = self.head(Verb::DELETE, Body::default());
            self.send(request).await?;
        }
        self.session = None;
        Ok(())
    }

    /// Initialises, where that has to come first.
    pub(super) async fn shake_hands(&mut self) -> Result<(), Unanswered> {
        if self.era() == Era::Legacy && self.session.is_none() {
            self.initialize().await?.into_result("initialize")?;
        }
        Ok(())
    }

    fn initializing(&mut self) -> Request<Body> {
        self.session = None;
        let info = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": self.version, "capabilities": self.capabilities, "clientInfo": info });
        self.prepare("initialize", params)
    }

    fn keep_session(&mut self, headers: &HeaderMap) {
        let id = headers.get(header::SESSION_ID).cloned();
        self.session = Some(Session { id, version: HeaderValue::from_str(&self.version).ok() });
    }

    async fn initialized(&mut self, (headers, result): &(HeaderMap, Value)) -> Result<(), Unanswered> {
        self.keep_session(headers);
        self.server = result["capabilities"].clone();
        let chosen = result["protocolVersion"].as_str().and_then(|version| HeaderValue::from_str(version).ok());
        if let Some(session) = &mut self.session {
            session.version = chosen;
        }
        let request = self.prepare_notification("notifications/initialized", "{}");
        self.send(request).await.map(drop)
    }
}
