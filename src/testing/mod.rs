//! Testing your stack: a server and a client in the process, and assertions on the bytes between them. Feature `testing`.
//!
//! ```toml
//! [dev-dependencies]
//! tower-mcp-apps = { version = "0.1", features = ["testing"] }
//! ```
//!
//! # A stack in ten lines
//!
//! [`FakeServer`] is the service inside, [`TestClient`] whoever asks. The stack is yours, between them:
//!
//! ```
//! use tower_mcp_apps::testing::{FakeServer, TestClient, assert_hidden, assert_only_changed, assert_refused};
//! # use serde_json::json;
//! # use tower::Layer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), tower_mcp_apps::testing::Unanswered> {
//! let server = FakeServer::new()
//!     .tool(r#"{"name": "pay", "maximum": 10.00, "_meta": {"ui/resourceUri": "ui://pay"}}"#)
//!     .tool(json!({"name": "confirm", "_meta": {"ui": {"visibility": ["app"]}}}))
//!     .ui("ui://pay", "<!doctype html><title>Pay</title>");
//! let stack = tower_mcp_apps::AppsLayer::new().layer(server.clone());
//!
//! let (mut bare, mut host) = (TestClient::new(server.clone()).with_apps(), TestClient::new(stack.clone()).with_apps());
//! let (before, after) = (bare.request("tools/list", "{}").await?, host.request("tools/list", "{}").await?);
//! assert_only_changed(&before, &after, &["/result/tools/0/_meta"]); // The link is where hosts look for it.
//!
//! let mut model = TestClient::new(stack).legacy();
//! assert_hidden(&model.request("tools/list", "{}").await?, "confirm");
//! assert_refused(&model.call("confirm", "{}").await?, -32602);
//! assert!(server.calls().is_empty()); // It never reached the server.
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here needs a runtime, a socket or a clock, but for [`slow`](Reply::slow) and [`delayed`](Reply::delayed)
//! answers: the futures run on whichever executor the tests have.
//!
//! # What to test
//!
//! | question | with |
//! |---|---|
//! | Does each client get what is for it? | a [`TestClient`] as [`modern`](TestClient::modern) and [`legacy`](TestClient::legacy), [`with_apps`](TestClient::with_apps) and without, [`as_app`](TestClient::as_app); [`assert_hidden`], [`assert_refused`] |
//! | Is the rest left alone? | a client on the server and one on the stack; [`assert_unchanged`], [`assert_only_changed`] |
//! | What reached the server? | [`FakeServer::requests`], [`calls`](FakeServer::calls), [`methods`](FakeServer::methods) |
//! | What if the server misbehaves? | [`FakeServer::tamper`] and [`on`](FakeServer::on), with a [`Reply`] that is cut, hangs, is gzip-coded, has another id, … |
//! | What if many ask at once? | [`Hold`], which keeps answers back until a test lets them go |
//! | Do streams stay streams? | [`TestClient::open`], [`Body::channel`], [`FakeServer::streaming`] |
//! | Does the outcome depend on how bodies are cut? | [`assert_same_however_cut`] |
//! | Does it work with that server out there? | [`TestClient::recorded`] once, then [`Recording::server`] |
//! | Is what the server says about its UIs right? | [`lint()`] |
//!
//! # A server of your own
//!
//! The client takes any service, so a test of a server has no [`FakeServer`]. [`lint()`] asks it for all it says about its
//! UIs, and tells what is wrong:
//!
//! ```
//! # async fn test<S, R>(service: S)
//! # where
//! #     S: tower::Service<
//! #             http::Request<tower_mcp_apps::concern::RequestBody<tower_mcp_apps::testing::Body>>,
//! #             Response = http::Response<R>,
//! #         > + Clone,
//! #     S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
//! #     R: http_body::Body<Data = bytes::Bytes>,
//! #     R::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
//! # {
//! use tower_mcp_apps::testing;
//!
//! let findings = testing::lint(service).await.expect("the server answers");
//! assert_eq!(findings, []);
//! # }
//! ```

mod body;
mod channel;
mod client;
mod collected;
mod compare;
mod cuts;
mod delay;
mod gzip;
mod hold;
mod lint;
mod misuse;
mod received;
mod recording;
mod reply;
mod server;
mod spelling;
mod text;
mod unanswered;

pub use body::{Body, BrokenOff};
pub use channel::Sender;
pub use client::{Answer, OpenAnswer, TestClient};
pub use compare::{
    Wire, assert_hidden, assert_only_changed, assert_refused, assert_same_however_cut, assert_unchanged,
};
pub use cuts::Cuts;
pub use hold::Hold;
pub use lint::lint;
pub use received::Received;
pub use recording::{RecordedExchange, Recording};
pub use reply::Reply;
pub use server::{FakeResponse, FakeServer};
pub use unanswered::Unanswered;
