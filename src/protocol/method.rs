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
        match name {
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            "ping" => Self::Ping,
            "tools/list" => Self::ToolsList,
            "tools/call" => Self::ToolsCall,
            "resources/list" => Self::ResourcesList,
            "resources/templates/list" => Self::TemplatesList,
            "resources/read" => Self::ResourcesRead,
            "resources/subscribe" => Self::ResourcesSubscribe,
            "resources/unsubscribe" => Self::ResourcesUnsubscribe,
            "prompts/list" => Self::PromptsList,
            "prompts/get" => Self::PromptsGet,
            "completion/complete" => Self::Complete,
            "tasks/get" => Self::TasksGet,
            "tasks/result" => Self::TasksResult,
            "subscriptions/listen" => Self::SubscriptionsListen,
            name if name.starts_with("notifications/") => Self::Notification,
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
