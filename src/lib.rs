//! Tower layers that make any HTTP service speaking MCP aware of MCP Apps, on the wire.

mod frames;

pub mod apps;
pub mod concern;
pub mod exchange;
pub mod json;
pub mod message;
pub mod negotiate;
pub mod normalize;
pub mod policy;
pub mod protocol;
pub mod sse;
pub mod ui;
pub mod visibility;

pub use apps::AppsLayer;
pub use exchange::McpContext;
