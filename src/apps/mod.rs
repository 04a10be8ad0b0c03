//! Middleware that makes an MCP service aware of MCP Apps: all concerns of this crate in one pass.
//!
//! [`AppsLayer`] fuses what the other layers do one by one, so that each message is read once. The result
//! is that of the layers stacked in this order, from the inner service outwards:
//!
//! 1. [`lint`](crate::lint), if it is asked for: what is wrong with what the server says;
//! 2. [`restore`](crate::restore), for an aggregator: what its upstreams said and it lost is there again;
//! 3. [`serve`](crate::serve), if there is an app: the server has a UI;
//! 4. [`negotiate`](crate::negotiate): the server advertises MCP Apps if it has resources;
//! 5. [`normalize`](crate::normalize): tools link their UI by the nested key;
//! 6. [`policy`](crate::policy), if there is one: UIs declare no more than it allows;
//! 7. [`visibility`](crate::visibility): each tool is for those it says it is for;
//! 8. [`namespace`](crate::namespace), if it has one: names and URIs carry a prefix;
//! 9. [`audit`](crate::audit), where it has a sink: who called what.
//!
//! See the modules for what each does, and for their caveats.
//!
//! # Example
//!
//! ```
//! use axum::{Router, routing::post};
//! use tower_mcp_apps::AppsLayer;
//!
//! async fn mcp(body: String) -> String {
//!     body
//! }
//!
//! // The layer belongs on the MCP route alone: other routes may carry any JSON.
//! let app: Router = Router::new()
//!     .route("/mcp", post(mcp).layer(AppsLayer::new()))
//!     .route("/health", post(|| async {}));
//! # drop(app);
//! ```

mod layer;

pub use layer::{AppsLayer, Fused};
