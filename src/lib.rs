//! Tower layers that make any HTTP service speaking MCP aware of MCP Apps, on the wire.

#![forbid(unsafe_code)]
#![warn(unreachable_pub, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frames;

pub mod apps;
pub mod concern;
pub mod exchange;
pub mod json;
pub mod message;
pub mod negotiate;
pub mod normalize;
pub mod protocol;
pub mod sse;
pub mod visibility;

pub use apps::AppsLayer;
pub use exchange::McpContext;
