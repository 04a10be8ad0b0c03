//! Streaming stays streaming: heads at once, events as they are complete, nothing held, nothing kept open.

mod ends;
mod events;
mod heads;
#[path = "../kit/mod.rs"]
mod kit;
mod labels;
mod limits;
mod requests;

use std::pin::Pin;
use std::sync::Mutex;
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body as _;
use http_body_util::BodyExt;
use kit::server::{Server, labelled};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::apps::Fused;
use tower_mcp_apps::concern::ResponseBody;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::{Body, Sender};

const CALL: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"open"}}"#;
const NOTICE: &str = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\n";

/// A list of which a model gets `open` only, and gets it with a nested link.
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"none","_meta":{"ui":{"visibility":[]}}},{"name":"open","_meta":{"ui/resourceUri":"ui://s/a"}}]}}"#;
const FILTERED: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"open","_meta":{"ui/resourceUri":"ui://s/a","ui":{"resourceUri":"ui://s/a"}}}]}}"#;

fn model() -> AppsLayer {
    AppsLayer::new().audience(Fixed(Audience::Model))
}

fn host() -> AppsLayer {
    AppsLayer::new().audience(Fixed(Audience::Host))
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

type Answered = Response<ResponseBody<Body, Fused>>;

/// Asks a server that answers this once and lets the test feed its body.
async fn ask(layer: &AppsLayer, request: Request<Body>, head: Response<()>) -> (Sender, Answered) {
    let (feed, body) = Body::channel();
    let answer = Mutex::new(Some(head.map(|()| body)));
    let server = Server::new(move |_| answer.lock().expect("no panic").take().expect("asked once"));
    let answer = layer.layer(server).oneshot(request);
    let answer = tokio::time::timeout(Duration::from_secs(5), answer).await.expect("the head goes out at once");
    (feed, answer.expect("the service does not fail"))
}

fn stream_head() -> Response<()> {
    labelled("text/event-stream", Body::default()).map(drop)
}

/// The next frame as text, which must be there without waiting.
async fn next(answer: &mut Answered) -> String {
    let frame = tokio::time::timeout(Duration::from_secs(5), answer.body_mut().frame()).await.expect("a frame is due");
    let data = frame.expect("the body goes on").expect("the body does not fail").into_data().expect("data");
    String::from_utf8(data.to_vec()).expect("text")
}

/// Whether nothing is to be had without waiting.
async fn is_pending(answer: &mut Answered) -> bool {
    std::future::poll_fn(|cx| Poll::Ready(Pin::new(answer.body_mut()).poll_frame(cx).is_pending())).await
}
