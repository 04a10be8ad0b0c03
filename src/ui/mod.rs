//! Typed builders for those who declare a UI.
//!
//! A server says in `_meta.ui` which tool has which UI, who may call it, and what the UI may reach; hosts build the
//! sandbox and its Content Security Policy from that (MCP Apps, "UI Resource Format" and "Resource Discovery"). The
//! builders make these declarations:
//!
//! | for | type | gives |
//! |---|---|---|
//! | a tool | [`ToolMeta`], [`ToolVisibility`] | `_meta.ui.resourceUri`, `_meta.ui.visibility` |
//! | a resource | [`ResourceMeta`], [`Csp`], [`Permission`], [`SandboxDomain`] | `_meta.ui` |
//! | the same | [`UiResource`], [`Html`] | the entry in a list and the content item |
//! | a result | [`ToolResult`] | `content` that is never empty, `structuredContent` |
//!
//! - **Strict in what they build.** A [`Source`](crate::protocol::Source) of the policy is a plain origin as it is
//!   serialised, or in `resourceDomains` a wildcard for its subdomains. Whatever could end a source, a directive or a
//!   policy, or would mean something else to another parser, is an error. `wss` and `ws` stand in `connectDomains` alone.
//! - **Restrictive by default.** What is not stated is left out, and hosts then allow nothing. Nothing here falls back to more.
//! - **One form.** Only the nested `ui` is written, never the deprecated `ui/resourceUri`; the media type is always
//!   [`APP_MEDIA_TYPE`](crate::protocol::APP_MEDIA_TYPE). Other members of `_meta` stay.
//! - **Lenient in what they read.** [`ToolMeta::parse`] and [`ResourceMeta::parse`] read what others wrote into a value
//!   and a list of [`Problem`]s. What is odd is left out and told.
//!
//! Declarations are requests: whether a host honours them, and that nothing undeclared is reachable, is the host's duty.
//!
//! # Example
//!
//! The `_meta` is a `serde_json` map, as rmcp has it; tower-mcp wants a `Value`, which [`From`] makes of the map.
//!
//! ```
//! use rmcp::model::{MetaObject, Resource, Tool};
//! use tower_mcp_apps::protocol::APP_MEDIA_TYPE;
//! use tower_mcp_apps::ui::{Csp, ResourceMeta, ToolMeta};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let meta = ToolMeta::new().with_resource_uri("ui://accounts/usage".parse()?).to_meta();
//! let tool = Tool::new("usage_by_day", "Usage by day", serde_json::Map::new()).with_meta(MetaObject(meta));
//! assert_eq!(serde_json::to_value(&tool)?["_meta"]["ui"]["resourceUri"], "ui://accounts/usage");
//!
//! let meta = ResourceMeta::new().with_csp(Csp::new().connect("https://api.example.com")?).to_meta();
//! let resource =
//!     Resource::new("ui://accounts/usage", "usage").with_mime_type(APP_MEDIA_TYPE).with_meta(MetaObject(meta));
//! let resource = serde_json::to_value(&resource)?;
//! assert_eq!(resource["_meta"]["ui"]["csp"]["connectDomains"][0], "https://api.example.com");
//! # Ok(())
//! # }
//! ```

mod csp;
mod domain;
mod html;
mod permission;
mod problem;
mod resource;
mod resource_meta;
#[cfg(test)]
mod tests;
mod tool_meta;
mod tool_result;
mod walk;

pub use crate::protocol::ToolVisibility;
pub use csp::{Csp, Directive, InvalidSource, SourceFault};
pub use domain::{InvalidDomain, SandboxDomain};
pub use html::{Html, InvalidHtml};
pub use permission::{Permission, UnknownPermission};
pub use problem::{Parsed, Problem, ProblemKind};
pub use resource::UiResource;
pub use resource_meta::ResourceMeta;
pub use tool_meta::ToolMeta;
pub use tool_result::{InvalidToolResult, ToolResult};
