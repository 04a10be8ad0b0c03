//! Results of tools that have a UI, and something for those who do not see it.

use std::fmt;

use serde_json::{Map, Value, json};

/// The result of a tool call, with data for the UI and always a text for the model and for hosts without UIs
/// (MCP Apps, "Client<>Server Capability Negotiation", Graceful Degradation: "MUST return meaningful content array").
///
/// Servers of the modern era add `resultType`, which SDKs do by themselves.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::ui::ToolResult;
///
/// # fn main() -> Result<(), tower_mcp_apps::ui::InvalidToolResult> {
/// let result = ToolResult::new("Balance: 42 EUR")?.with_structured(json!({"balance": 42, "currency": "EUR"}))?;
/// assert_eq!(result.to_value(), json!({
///     "content": [{"type": "text", "text": "Balance: 42 EUR"}],
///     "structuredContent": {"balance": 42, "currency": "EUR"},
/// }));
/// assert!(ToolResult::new(" \n").is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    text: String,
    structured: Option<Map<String, Value>>,
    meta: Map<String, Value>,
    is_error: bool,
}

impl ToolResult {
    /// With a text.
    ///
    /// # Errors
    ///
    /// [`InvalidToolResult::Text`] where the text has nothing but white space and control characters.
    pub fn new(text: impl Into<String>) -> Result<Self, InvalidToolResult> {
        let text = text.into();
        if text.chars().all(|character| character.is_whitespace() || character.is_control()) {
            return Err(InvalidToolResult::Text);
        }
        Ok(Self { text, structured: None, meta: Map::new(), is_error: false })
    }

    /// With data for the UI, whose JSON is the text, too (MCP 2025-11-25, "Structured Content").
    ///
    /// # Errors
    ///
    /// [`InvalidToolResult::Structured`] where the data is no object.
    pub fn from_structured(structured: Value) -> Result<Self, InvalidToolResult> {
        Self::new(structured.to_string())?.with_structured(structured)
    }

    /// Adds data for the UI, as `structuredContent`.
    ///
    /// # Errors
    ///
    /// [`InvalidToolResult::Structured`] where the data is no object, as versions before 2026-07-28 demand.
    pub fn with_structured(mut self, structured: Value) -> Result<Self, InvalidToolResult> {
        let Value::Object(structured) = structured else { return Err(InvalidToolResult::Structured) };
        self.structured = Some(structured);
        Ok(self)
    }

    /// Gives the result's `_meta`: for the UI, not for the model.
    #[must_use]
    pub fn with_meta(mut self, meta: Map<String, Value>) -> Self {
        self.meta = meta;
        self
    }

    /// Says that the call failed and the text is why.
    #[must_use]
    pub fn into_error(mut self) -> Self {
        self.is_error = true;
        self
    }

    /// The `result` of the answer.
    pub fn to_value(&self) -> Value {
        let mut result = Map::new();
        result.insert("content".to_owned(), json!([{"type": "text", "text": self.text}]));
        if let Some(structured) = &self.structured {
            result.insert("structuredContent".to_owned(), structured.clone().into());
        }
        if self.is_error {
            result.insert("isError".to_owned(), true.into());
        }
        if !self.meta.is_empty() {
            result.insert("_meta".to_owned(), self.meta.clone().into());
        }
        result.into()
    }
}

/// What a [`ToolResult`] cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InvalidToolResult {
    /// The text is empty or blank.
    Text,
    /// The structured content is no object.
    Structured,
}

impl fmt::Display for InvalidToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "the text of a tool's result is blank",
            Self::Structured => "the structured content of a tool's result is no object",
        })
    }
}

impl std::error::Error for InvalidToolResult {}
