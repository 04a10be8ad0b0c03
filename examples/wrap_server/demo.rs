//! The demo around the server: a page that acts as host, its audiences' routes, the audit records as events.

use std::collections::HashMap;
use std::convert::Infallible;

use axum::extract::Query;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse};
use axum::{Json, Router, routing::get};
use serde_json::{Value, json};
use tokio::sync::broadcast;
use tokio_stream::{StreamExt, wrappers::BroadcastStream};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::ui::{Directive, ResourceMeta};

/// What the layers send: a record in JSON.
pub(crate) type Records = broadcast::Sender<Vec<u8>>;

/// The demo page at `/`, and the account once per audience.
///
/// A host knows for whom it calls; by the route it says so. Here nothing keeps a caller from the route that it likes:
/// in production the routes, or a header that the edge writes, need authentication.
pub(crate) fn router(account: Router, layer: AppsLayer, records: Records, frame_origin: String) -> Router {
    let wrapped = |audience| account.clone().layer(layer.clone().audience(Fixed(audience)));
    Router::new()
        .route("/", get(Html(include_str!("demo.html"))))
        .route("/settings", get(Json(json!({ "frameOrigin": frame_origin }))))
        .route("/audit", get(async move || events(&records)))
        .merge(account.clone().layer(layer.clone()))
        .nest("/model", wrapped(Audience::Model))
        .nest("/app", wrapped(Audience::App))
        .nest("/bare", account)
}

fn events(records: &Records) -> impl IntoResponse + use<> {
    let records = BroadcastStream::new(records.subscribe());
    // A reader that is too slow misses records.
    let records = records.filter_map(Result::ok);
    let events = records.map(|record| Ok::<_, Infallible>(Event::default().data(String::from_utf8_lossy(&record))));
    Sse::new(events).keep_alive(KeepAlive::default())
}

/// The other origin: a page that holds one frame, under the policy that the resource's `_meta` asks for.
pub(crate) fn frames() -> Router {
    Router::new().route("/", get(frame))
}

async fn frame(Query(query): Query<HashMap<String, String>>) -> Result<impl IntoResponse, StatusCode> {
    let meta = query.get("meta").map(|meta| serde_json::from_str(meta)).transpose();
    let meta: Value = meta.map_err(|_| StatusCode::BAD_REQUEST)?.unwrap_or_default();
    let policy = HeaderValue::from_str(&policy(&meta)).map_err(|_| StatusCode::BAD_REQUEST)?;
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        // So that the demo can show the policy.
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("content-security-policy")),
    ];
    Ok((headers, Html(include_str!("frame.html"))))
}

/// The Content Security Policy for a UI with this `_meta` (MCP Apps, "Content Security Policy Enforcement").
///
/// What is not declared is `'none'`; what cannot be read counts as not declared.
fn policy(meta: &Value) -> String {
    let ui = ResourceMeta::parse(meta).value;
    let declared = |directive| {
        let sources = ui.csp().map_or(&[][..], |csp| csp.sources(directive));
        sources.iter().map(|source| format!(" {source}")).collect::<String>()
    };
    let or_none = |sources: String| if sources.is_empty() { " 'none'".to_owned() } else { sources };
    let resource = declared(Directive::Resource);
    [
        "default-src 'none'".to_owned(),
        format!("script-src 'unsafe-inline'{resource}"),
        format!("style-src 'unsafe-inline'{resource}"),
        format!("img-src data:{resource}"),
        format!("media-src data:{resource}"),
        format!("font-src{}", or_none(resource)),
        format!("connect-src{}", or_none(declared(Directive::Connect))),
        format!("frame-src{}", or_none(declared(Directive::Frame))),
        format!("base-uri{}", or_none(declared(Directive::BaseUri))),
        "object-src 'none'".to_owned(),
        "form-action 'none'".to_owned(),
    ]
    .join("; ")
}
