//! The JSON-RPC methods that the layers tell apart.

use std::fmt;

/// A method of MCP, as far as a layer has to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// `initialize`: the handshake of the legacy era.
    Initialize,
    /// `server/discover`: the server's capabilities in the modern era.
    Discover,
    /// `ping`.
    Ping,
    /// `tools/list`.
    ToolsList,
    /// `tools/call`.
    ToolsCall,
    /// `resources/list`.
    ResourcesList,
    /// `resources/templates/list`.
    TemplatesList,
    /// `resources/read`.
    ResourcesRead,
    /// `resources/subscribe`, of the legacy era.
    ResourcesSubscribe,
    /// `resources/unsubscribe`, of the legacy era.
    ResourcesUnsubscribe,
    /// `prompts/list`.
    PromptsList,
    /// `prompts/get`, whose name is mirrored in a header, too.
    PromptsGet,
    /// `completion/complete`.
    Complete,
    /// `tasks/get`, whose answer has the result of the task in the tasks extension.
    TasksGet,
    /// `tasks/result`, whose answer is the result of the task (MCP 2025-11-25, "Tasks").
    TasksResult,
    /// `subscriptions/listen`: the notification stream of the modern era.
    SubscriptionsListen,
    /// Any `notifications/…`.
    Notification,
    /// Every other method; [`McpContext::method`](crate::McpContext::method) has its name.
    Other,
}

impl Method {
    /// The method of this name. Names are case-sensitive.
    pub fn from_name(name: &str) -> Self {
        Self::from_bytes(name.as_bytes())
    }

    pub(crate) fn from_bytes(name: &[u8]) -> Self {
        match name {
            b"initialize" => Self::Initialize,
            b"server/discover" => Self::Discover,
            b"ping" => Self::Ping,
            b"tools/list" => Self::ToolsList,
            b"tools/call" => Self::ToolsCall,
            b"resources/list" => Self::ResourcesList,
            b"resources/templates/list" => Self::TemplatesList,
            b"resources/read" => Self::ResourcesRead,
            b"resources/subscribe" => Self::ResourcesSubscribe,
            b"resources/unsubscribe" => Self::ResourcesUnsubscribe,
            b"prompts/list" => Self::PromptsList,
            b"prompts/get" => Self::PromptsGet,
            b"completion/complete" => Self::Complete,
            b"tasks/get" => Self::TasksGet,
            b"tasks/result" => Self::TasksResult,
            b"subscriptions/listen" => Self::SubscriptionsListen,
            name if name.starts_with(b"notifications/") => Self::Notification,
            _ => Self::Other,
        }
    }

    /// The name on the wire; `None` for the two kinds that have many.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Initialize => "initialize",
            Self::Discover => "server/discover",
            Self::Ping => "ping",
            Self::ToolsList => "tools/list",
            Self::ToolsCall => "tools/call",
            Self::ResourcesList => "resources/list",
            Self::TemplatesList => "resources/templates/list",
            Self::ResourcesRead => "resources/read",
            Self::ResourcesSubscribe => "resources/subscribe",
            Self::ResourcesUnsubscribe => "resources/unsubscribe",
            Self::PromptsList => "prompts/list",
            Self::PromptsGet => "prompts/get",
            Self::Complete => "completion/complete",
            Self::TasksGet => "tasks/get",
            Self::TasksResult => "tasks/result",
            Self::SubscriptionsListen => "subscriptions/listen",
            Self::Notification | Self::Other => return None,
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name().unwrap_or(match self {
            Self::Notification => "notification",
            _ => "other",
        }))
    }
}
