//! A server without resources, an app for it, and clients of each kind.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::serve::{App, ServeLayer};
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::ui::{Csp, Html};

use crate::kit::body::BoxError;
use crate::kit::server::{Received, Server, event_answer, json_answer};
use crate::kit::{Answer, apps_capabilities, initialize, modern, post, send, with};

pub(crate) const URI: &str = "ui://accounts/usage";
pub(crate) const HTML: &str = "<!doctype html>\n<html><title>\"Usage\" \\ ✓</title></html>\n";
pub(crate) const SESSION: &str = "mcp-session-id";

pub(crate) fn app() -> App {
    let html = Html::try_from(HTML).expect("a document");
    let csp = Csp::new().connect("https://api.example").expect("an origin");
    App::new(URI.parse().expect("a URI"), html).title("Usage by day").csp(csp).link("usage")
}

pub(crate) fn serve() -> ServeLayer {
    ServeLayer::new().app(app())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Json,
    Events,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Apps,
    Text,
}

pub(crate) const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];
pub(crate) const FORMS: [Form; 2] = [Form::Json, Form::Events];

/// A server with two tools and without resources.
pub(crate) fn account(era: Era, form: Form) -> Server {
    Server::new(move |received| answer(received, era, form))
}

pub(crate) fn answer(received: &Received, era: Era, form: Form) -> Response<Body> {
    let message = received.json();
    let hints = r#""resultType":"complete","ttlMs":60000,"cacheScope":"public""#;
    let hints = if era == Era::Modern { format!(",{hints}") } else { String::new() };
    let result = match message["method"].as_str() {
        Some("initialize") => r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#.to_owned(),
        Some("server/discover") => {
            format!(r#""result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{}}}}{hints}}}"#)
        }
        Some("tools/list") => format!(
            r#""result":{{"tools":[ {{"name":"usage","x": 1.0,"_meta":{{"k":1}}}}, {{"name":"pay"}} ]{hints}}}"#
        ),
        Some("tools/call") => r#""result":{"content":[],"structuredContent":{"a": [1.0]}}"#.to_owned(),
        _ => r#""error":{"code":-32601,"message":"Method not found"}"#.to_owned(),
    };
    let body = format!(r#"{{"jsonrpc":"2.0","id":{},{result}}}"#, message["id"]);
    match form {
        Form::Events => event_answer(Body::new(format!("event: message\ndata: {body}\n\n"))),
        Form::Json => {
            let mut response = json_answer(body);
            if era == Era::Modern && result.starts_with(r#""error""#) {
                *response.status_mut() = StatusCode::NOT_FOUND;
            }
            response
        }
    }
}

/// A client that has initialized, where its era does so.
pub(crate) struct Client<S> {
    pub(crate) service: S,
    pub(crate) server: Server,
    pub(crate) era: Era,
    pub(crate) kind: Kind,
    pub(crate) session: Option<String>,
    pub(crate) opening: Answer,
}

impl<S, R> Client<S>
where
    S: tower::Service<Request<Body>, Response = Response<R>> + Clone,
    S::Error: std::fmt::Debug,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    pub(crate) async fn connect(layer: impl Layer<Server, Service = S>, server: Server, era: Era, kind: Kind) -> Self {
        let capabilities = capabilities(kind);
        let request = match era {
            Era::Legacy => post(initialize(&capabilities)),
            Era::Modern => modern("server/discover", &json!({}), &capabilities),
        };
        let service = layer.layer(server.clone());
        let opening = send(service.clone(), request).await;
        server.take();
        let session = opening.header(SESSION).map(str::to_owned);
        Self { service, server, era, kind, session, opening }
    }

    pub(crate) fn request(&self, method: &str, params: &Value) -> Request<Body> {
        match self.era {
            Era::Modern => modern(method, params, &capabilities(self.kind)),
            Era::Legacy => {
                let message = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": params});
                self.in_session(post(message.to_string()))
            }
        }
    }

    pub(crate) fn in_session(&self, request: Request<Body>) -> Request<Body> {
        match &self.session {
            Some(session) => with(request, SESSION, session),
            None => request,
        }
    }

    pub(crate) async fn ask(&self, method: &str, params: Value) -> Answer {
        send(self.service.clone(), self.request(method, &params)).await
    }

    /// What the server says without anything between.
    pub(crate) async fn bare(&self, method: &str, params: Value) -> Answer {
        let answer = send(self.server.clone(), self.request(method, &params)).await;
        self.server.take();
        answer
    }
}

pub(crate) fn capabilities(kind: Kind) -> Value {
    if kind == Kind::Apps { apps_capabilities() } else { json!({}) }
}

pub(crate) fn extensions() -> Value {
    json!({"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}})
}

pub(crate) fn meta() -> Value {
    json!({"ui": {"csp": {"connectDomains": ["https://api.example"]}}})
}

/// The result, without what only the modern era says; that it says it is checked.
pub(crate) fn result(answer: &Answer, era: Era) -> Value {
    assert_eq!(answer.status, StatusCode::OK);
    let mut result = answer.json()["result"].clone();
    let members = result.as_object_mut().expect("a result");
    let hints = ["resultType", "ttlMs", "cacheScope"].map(|name| members.remove(name));
    match era {
        Era::Legacy => assert_eq!(hints, [None, None, None]),
        Era::Modern => {
            assert_eq!(hints[0], Some("complete".into()));
            assert!(hints[1].as_ref().is_some_and(Value::is_u64), "{hints:?}");
            assert_eq!(hints[2], Some("private".into()));
        }
    }
    result
}
