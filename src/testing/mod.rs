//! What tests of a server, or of a stack of layers, need: behind the feature `testing`.
//!
//! [`lint()`] asks a server for all it says about its UIs, and tells what is wrong. A test of a server is three lines:
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
mod client;
mod lint;
mod spelling;
mod unanswered;

pub use body::Body;
pub use lint::lint;
pub use unanswered::Unanswered;
