//! What billing and payment need: who made a call, before it is served and afterwards.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::{HeaderName, HeaderValue, Request, Response, StatusCode};
use tower::{Layer, Service};
use tower_mcp_apps::audit::Record;
use tower_mcp_apps::exchange::{ByHeader, KnownBy};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::{AppsLayer, McpContext};

use crate::kit::{Server, call, keep, post, send};

const EDGE: HeaderName = HeaderName::from_static("x-audience");

/// A host that knows MCP Apps: it calls for its model and for its apps.
const HOST_CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{
    "io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":
    {"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}}}}"#;

/// What a call costs: a model's is paid by the user's plan, an app's by its maker. Where the origin is the caller's own
/// word, or a host's for either, nobody is charged before somebody has looked.
fn payer(record: &Record) -> &'static str {
    match (record.audience(), record.known_by()) {
        (None | Some(Audience::Host), _) | (_, Some(KnownBy::Declaration) | None) => "to be clarified",
        (Some(Audience::Model), _) => "the plan",
        (Some(Audience::App), _) => "the app's maker",
    }
}

#[tokio::test]
async fn calls_of_models_of_apps_and_of_whom_nobody_knows() {
    let (sink, kept) = keep();
    let layer = AppsLayer::new().audience(ByHeader::new(EDGE)).audit(sink);
    let service = Server::json("{}").within(layer);
    let mut bill = Vec::new();
    for (edge, request) in [
        (Some("model"), call("x")),
        (Some("app"), call("x")),
        (Some("host"), call("x")),
        (None, post(HOST_CALL)),
        (None, call("x")),
        (Some("odd"), call("x")),
    ] {
        let mut request = request;
        if let Some(edge) = edge {
            request.headers_mut().insert(EDGE, edge.parse().expect("a value"));
        }
        send(service.clone(), request).await;
        bill.push(payer(&kept.try_recv().expect("one record")));
    }
    let unclear = "to be clarified";
    assert_eq!(bill, ["the plan", "the app's maker", unclear, unclear, unclear, unclear]);
}

/// A payment layer between ours and the server: offers where nothing is paid, a receipt where it is.
#[derive(Clone)]
struct Payment<S> {
    inner: S,
    ledger: Arc<Mutex<Vec<String>>>,
}

impl<S, B> Service<Request<B>> for Payment<S>
where
    S: Service<Request<B>, Response = Response<Body>, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let is_paid = request.headers().contains_key("x-payment");
        let context = request.extensions().get::<McpContext>().expect("our layer stands outside");
        // Lists are free, also those that our layer asks for.
        let Some(tool) = context.tool() else { return Box::pin(self.inner.call(request)) };
        let entry = format!(
            "{} {} by {} ({})",
            if is_paid { "settle" } else { "offer" },
            tool,
            context.audience(),
            context.audience_known_by().as_str(),
        );
        self.ledger.lock().expect("no test panics here").push(entry);
        if !is_paid {
            let offer = Response::builder()
                .status(StatusCode::PAYMENT_REQUIRED)
                .header("content-type", "application/json")
                .header("payment-required", "eyJhIjoxfQ==")
                .header("www-authenticate", "Payment id=\"1\"")
                .header("www-authenticate", "Payment id=\"2\"");
            return Box::pin(async move { Ok(offer.body(Body::new(OFFER)).expect("it is well formed")) });
        }
        let answer = self.inner.call(request);
        Box::pin(async move {
            let mut response = answer.await?;
            response.headers_mut().insert("payment-response", HeaderValue::from_static("cmVjZWlwdA=="));
            Ok(response)
        })
    }
}

const OFFER: &str = r#"{ "x402Version" : 1.0, "accepts" : [ {"amount":"10000"} ] }"#;
const RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"_meta":{"paid":1.0}}}"#;

#[tokio::test]
async fn a_payment_layer_inside() {
    let ledger = Arc::default();
    let payment = Payment { inner: Server::json(RESULT).bare(), ledger: Arc::clone(&ledger) };
    let (sink, kept) = keep();
    let layer = AppsLayer::new().audience(ByHeader::new(EDGE)).audit(sink);
    let service = layer.layer(payment);
    for edge in ["app", "model"] {
        let mut unpaid = call("x");
        unpaid.headers_mut().insert(EDGE, edge.parse().expect("a value"));
        let mut paid = call("x");
        paid.headers_mut().insert(EDGE, edge.parse().expect("a value"));
        paid.headers_mut().insert("x-payment", "c2lnbmVk".parse().expect("a value"));

        let offered = send(service.clone(), unpaid).await;
        assert_eq!(offered.status(), StatusCode::PAYMENT_REQUIRED);
        assert_eq!(offered.headers()["payment-required"], "eyJhIjoxfQ==");
        assert_eq!(offered.headers().get_all("www-authenticate").iter().count(), 2);
        assert_eq!(offered.headers().len(), 4);
        assert_eq!(offered.text(), OFFER);

        let served = send(service.clone(), paid).await;
        assert_eq!(served.status(), StatusCode::OK);
        assert_eq!(served.headers()["payment-response"], "cmVjZWlwdA==");
        assert_eq!(served.text(), RESULT);

        // An offer is the inner service's answer, no refusal of ours.
        let statuses: Vec<_> = kept.try_iter().map(|record| (record.is_refused(), record.status())).collect();
        assert_eq!(statuses, [(false, Some(StatusCode::PAYMENT_REQUIRED)), (false, Some(StatusCode::OK))]);
    }
    let ledger = ledger.lock().expect("no test panics here");
    assert_eq!(
        *ledger,
        [
            "offer x by app (header)",
            "settle x by app (header)",
            "offer x by model (header)",
            "settle x by model (header)"
        ]
    );
}
