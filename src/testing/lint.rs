//! Asks a service for everything about its UIs, and compares.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};
use tower_layer::Layer;
use tower_service::Service;

use super::Body;
use super::client::TestClient;
use super::spelling::meaning;
use super::unanswered::{BoxError, Unanswered};
use crate::concern::RequestBody;
use crate::lint::{Finding, LintLayer, Place, Rule};
use crate::message::EntryKind;
use crate::protocol::{Method, UI_SCHEME, meta};
use crate::ui::ToolMeta;

/// Asks a service for all its tools and resources, reads every UI, and gives all that is wrong with them.
///
/// All rules of [`lint`](crate::lint) hold, and two that take a comparison: [`Rule::LinkSpelling`] and
/// [`Rule::NotReadable`]. [`Rule::EmptyContent`] cannot be found, since no tool is called: put a
/// [`LintLayer`] where your tests call them.
///
/// The service is asked as a host with MCP Apps would ask it, at the path `/mcp` of `localhost`: in the modern era, or where
/// it does not answer `server/discover`, in the legacy one. Without our layers around it, it is judged by what it writes
/// itself; with them, by what a client gets. It must be generic over its request body, see [`concern`](crate::concern).
/// There is no timeout.
///
/// # Errors
///
/// [`Unanswered`] where the service does not shake hands, or does not list what it declares to have.
///
/// # Example
///
/// ```
/// use axum::{Json, Router, routing::post};
/// use serde_json::{Value, json};
/// use tower_mcp_apps::lint::Rule;
/// use tower_mcp_apps::testing;
///
/// async fn mcp(Json(message): Json<Value>) -> Json<Value> {
///     let result = match message["method"].as_str() {
///         Some("server/discover") => json!({"capabilities": {"tools": {}, "resources": {}}}),
///         Some("tools/list") => json!({"tools": [{"name": "usage", "_meta": {"ui": {"resourceUri": "ui://Usage"}}}]}),
///         Some("resources/list") => json!({"resources": [{"uri": "ui://usage", "name": "usage"}]}),
///         Some("resources/read") if message["params"]["uri"] == "ui://usage" => json!({"contents": [{
///             "uri": "ui://usage", "mimeType": "text/html;profile=mcp-app", "text": "<!doctype html><html></html>",
///         }]}),
///         _ => return Json(json!({"id": message["id"], "error": {"code": -32602, "message": "there is none"}})),
///     };
///     Json(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), testing::Unanswered> {
/// let findings = testing::lint(Router::new().route("/mcp", post(mcp))).await?;
/// let rules: Vec<_> = findings.iter().map(|finding| finding.rule()).collect();
/// assert_eq!(rules, [Rule::LinkSpelling, Rule::NotReadable]);
/// # Ok(())
/// # }
/// ```
pub async fn lint<S, R>(service: S) -> Result<Vec<Finding>, Unanswered>
where
    S: Service<Request<RequestBody<Body>>, Response = Response<R>> + Clone,
    S::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let found = Found::default();
    let passing = found.clone();
    let layer = LintLayer::new(move |finding: &Finding| passing.add(finding.clone()));
    let mut client = TestClient::new(layer.layer(service)).with_apps().connect().await?;
    let tools = list(&mut client, "tools", "tools/list", "tools").await?;
    let resources = list(&mut client, "resources", "resources/list", "resources").await?;
    // Templates are looked at as they pass; that there are none is no fault.
    drop(client.list("resources/templates/list", "resourceTemplates").await);

    let links: Vec<_> = tools.iter().filter_map(Link::of).collect();
    let listed = resources.iter().filter_map(|resource| resource["uri"].as_str());
    let listed: BTreeSet<_> = listed.filter(|uri| meaning(uri).starts_with(UI_SCHEME.as_bytes())).collect();
    for link in &links {
        let same = listed.iter().find(|uri| meaning(uri) == meaning(&link.uri));
        if let Some(uri) = same.filter(|_| !listed.contains(link.uri.as_str())) {
            let message = format!("{:?} is listed as {uri:?}: hosts compare them as they stand", link.uri);
            found.add(link.finding(Rule::LinkSpelling, &message));
        }
    }
    let linked = links.iter().map(|link| link.uri.as_str());
    for uri in linked.chain(listed).collect::<BTreeSet<_>>() {
        let Some(why) = unreadable(&mut client, uri).await else { continue };
        let message = format!("{uri:?} cannot be read: {why}");
        let mut links = links.iter().filter(|link| link.uri == uri).peekable();
        if links.peek().is_none() {
            let place = Place::entry(EntryKind::Resource, Some(uri));
            found.add(Finding::new(Rule::NotReadable, place, "uri", &message));
        }
        links.for_each(|link| found.add(link.finding(Rule::NotReadable, &message)));
    }
    // The lint is done, whatever comes of it.
    drop(client.close().await);
    Ok(found.take())
}

/// All entries of a list; none where the service neither declares nor knows it.
async fn list<S, R>(
    client: &mut TestClient<S>,
    capability: &str,
    method: &str,
    member: &str,
) -> Result<Vec<Value>, Unanswered>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    match client.list(method, member).await {
        Err(_) if !client.has(capability) => Ok(Vec::new()),
        result => result,
    }
}

/// Why a resource cannot be read, where it cannot.
async fn unreadable<S, R>(client: &mut TestClient<S>, uri: &str) -> Option<String>
where
    S: Service<Request<Body>, Response = Response<R>>,
    S::Error: Into<BoxError>,
    R: http_body::Body<Data = Bytes>,
    R::Error: Into<BoxError>,
{
    let result = match client.ask("resources/read", json!({ "uri": uri })).await {
        Ok(result) => result,
        Err(unanswered) => return Some(unanswered.to_string()),
    };
    let has_text = |item: &Value| {
        let texts = [&item["text"], &item["blob"]];
        texts.into_iter().any(|text| text.as_str().is_some_and(|text| !text.trim().is_empty()))
    };
    let items = result["contents"].as_array();
    (!items.is_some_and(|items| items.iter().any(has_text))).then(|| "there is neither text nor blob".to_owned())
}

/// A tool's link.
struct Link {
    tool: Option<String>,
    uri: String,
    path: String,
}

impl Link {
    fn of(tool: &Value) -> Option<Self> {
        let uri = ToolMeta::parse(&tool["_meta"]).value.resource_uri()?.to_owned();
        let is_nested = tool["_meta"][meta::UI][meta::RESOURCE_URI] == uri;
        let path =
            if is_nested { "_meta.ui.resourceUri".to_owned() } else { format!("_meta.{}", meta::FLAT_RESOURCE_URI) };
        Some(Self { tool: tool["name"].as_str().map(str::to_owned), uri, path })
    }

    fn finding(&self, rule: Rule, message: &str) -> Finding {
        Finding::new(rule, Place::tool(Method::ToolsList, self.tool.as_deref()), &self.path, message)
    }
}

/// What was found so far.
#[derive(Clone, Default)]
struct Found(Arc<Mutex<Vec<Finding>>>);

impl Found {
    fn add(&self, finding: Finding) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(finding);
    }

    fn take(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
