//! For whom a tool says it is.

use super::Audience;

/// For whom a tool is (MCP Apps, "Resource Discovery", Visibility).
///
/// ```
/// use tower_mcp_apps::protocol::{Audience, ToolVisibility};
///
/// let visibility = ToolVisibility::Both.and(ToolVisibility::App);
/// assert!(visibility.includes(Audience::App) && !visibility.includes(Audience::Model));
/// assert!(visibility.includes(Audience::Host), "which filters for its own agent");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolVisibility {
    /// For models and for apps.
    Both,
    /// For models alone.
    Model,
    /// For apps alone.
    App,
    /// For neither.
    Nobody,
}

impl ToolVisibility {
    /// The visibility of a tool that is for models, for apps, for both or for neither.
    pub fn new(for_model: bool, for_app: bool) -> Self {
        match (for_model, for_app) {
            (true, true) => Self::Both,
            (true, false) => Self::Model,
            (false, true) => Self::App,
            (false, false) => Self::Nobody,
        }
    }

    /// Whether the tool is for this audience. A host gets every tool.
    pub fn includes(self, audience: Audience) -> bool {
        match audience {
            Audience::Host => true,
            Audience::Model => matches!(self, Self::Both | Self::Model),
            Audience::App => matches!(self, Self::Both | Self::App),
        }
    }

    /// Whom both are for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let both_include = |audience| self.includes(audience) && other.includes(audience);
        Self::new(both_include(Audience::Model), both_include(Audience::App))
    }

    /// The JSON text of `_meta.ui.visibility`.
    pub(crate) fn as_json(self) -> &'static str {
        match self {
            Self::Both => r#"["model","app"]"#,
            Self::Model => r#"["model"]"#,
            Self::App => r#"["app"]"#,
            Self::Nobody => "[]",
        }
    }

    /// The name in records: `both`, `model`, `app` or `nobody`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Model => "model",
            Self::App => "app",
            Self::Nobody => "nobody",
        }
    }
}
