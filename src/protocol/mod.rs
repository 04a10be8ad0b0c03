//! Names, codes, media types and versions of MCP and MCP Apps: constants and small parsers, no logic.

mod audience;
mod era;
mod host;
mod media_type;
mod method;
mod mirrored;
mod namespace;
mod origin;
mod source;
mod text;
mod tool_visibility;
mod ui_uri;

pub use audience::{Audience, UnknownAudience};
pub use era::Era;
pub(crate) use host::{host, is_address};
pub use media_type::MediaType;
pub use method::Method;
pub use mirrored::{InvalidMirror, decode_mirrored, encode_mirrored};
pub use namespace::{InvalidNamespace, Namespace, UiShape};
pub use origin::{InvalidOrigin, Origin, Scheme};
pub use source::Source;
pub(crate) use text::checked_text;
pub use tool_visibility::ToolVisibility;
pub use ui_uri::{InvalidUiUri, UiUri};

/// The notification that the server's tools changed (MCP 2025-11-25, "Tools", List Changed Notification).
pub const TOOLS_CHANGED: &str = "notifications/tools/list_changed";

/// The identifier of MCP Apps in `capabilities.extensions` (MCP Apps, "Extension Identifier").
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The JSON text of `capabilities.extensions` as nearly all clients write it that declare MCP Apps, and nothing else (MCP Apps,
/// "Client\<\>Server Capability Negotiation").
pub(crate) const USUAL_EXTENSIONS: &[u8] =
    br#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#;

/// How deep [`USUAL_EXTENSIONS`] nests.
pub(crate) const USUAL_EXTENSIONS_LEVELS: usize = 3;

/// The media type of an MCP App's HTML (MCP Apps, "UI Resource Format").
pub const APP_MEDIA_TYPE: &str = "text/html;profile=mcp-app";

/// The URI scheme of UI resources, with its slashes (MCP Apps, "UI Resource Format").
pub const UI_SCHEME: &str = "ui://";

/// Keys of `_meta` objects, and of the `ui` objects in them.
pub mod meta {
    /// The nested member of MCP Apps on tools, resources and contents.
    pub const UI: &str = "ui";
    /// The deprecated flat spelling of `ui.resourceUri` on tools (MCP Apps, "Resource Discovery").
    pub const FLAT_RESOURCE_URI: &str = "ui/resourceUri";
    /// The link of a tool, in [`UI`] (the same section).
    pub const RESOURCE_URI: &str = "resourceUri";
    /// The link of a tool in OpenAI's Apps SDK.
    pub const OUTPUT_TEMPLATE: &str = "openai/outputTemplate";
    /// For whom a tool is, in [`UI`] (the same section).
    pub const VISIBILITY: &str = "visibility";
    /// Per-request protocol version of the modern era (MCP 2026-07-28, "General fields", `_meta`).
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// Per-request client capabilities of the modern era (the same section).
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
}

/// HTTP header names, in the lower case that `http` wants.
pub mod header {
    use http::HeaderName;

    /// The session of the legacy era (MCP 2025-11-25, "Session Management").
    pub const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
    /// The protocol version (MCP 2026-07-28, "Protocol Version Header").
    pub const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
    /// The mirrored `method` (MCP 2026-07-28, "Standard Request Headers").
    pub const METHOD: HeaderName = HeaderName::from_static("mcp-method");
    /// The mirrored `params.name` or `params.uri` (the same section).
    pub const NAME: HeaderName = HeaderName::from_static("mcp-name");
}

/// JSON-RPC error codes (JSON-RPC 2.0, section 5.1; MCP 2026-07-28, "Error Codes").
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i32 = -32700;
    /// The JSON is no valid request.
    pub const INVALID_REQUEST: i32 = -32600;
    /// The method does not exist, or not for this caller.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// The parameters are not valid; also an unknown tool.
    pub const INVALID_PARAMS: i32 = -32602;
    /// Something failed on the way to an answer.
    pub const INTERNAL_ERROR: i32 = -32603;
    /// There is no such resource, in the legacy era (MCP 2025-11-25, "Resources", Error Handling).
    pub const RESOURCE_NOT_FOUND: i32 = -32002;
    /// What an unknown resource is answered with: the code changed with the era (MCP 2026-07-28, "Resources", Error
    /// Handling).
    pub fn resource_not_found(era: super::Era) -> i32 {
        if era == super::Era::Modern { INVALID_PARAMS } else { RESOURCE_NOT_FOUND }
    }

    /// A mirrored header is missing, malformed or contradicts the body.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The client lacks a capability that the request needs.
    pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
}
