//! `_meta.ui` of a tool: its link to a UI, and who may use it.

use serde_json::{Map, Value};

use super::problem::{Parsed, ProblemKind};
use super::walk::{Problems, walk_ui};
use crate::protocol::{Audience, ToolVisibility, UI_SCHEME, UiUri, meta};

/// `_meta.ui` of a tool (MCP Apps, "Resource Discovery").
///
/// The two members do not need each other: a tool that only its app may call has a visibility and often no UI.
///
/// ```
/// use tower_mcp_apps::ui::{ToolMeta, ToolVisibility};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let show = ToolMeta::new().with_resource_uri("ui://accounts/dashboard".parse()?);
/// assert_eq!(show.to_value(), serde_json::json!({"resourceUri": "ui://accounts/dashboard"}));
///
/// let refresh = ToolMeta::new().with_visibility(ToolVisibility::App);
/// assert_eq!(refresh.to_value(), serde_json::json!({"visibility": ["app"]}));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolMeta {
    /// A [`UiUri`], or of foreign metadata anything that begins with `ui://`.
    resource_uri: Option<String>,
    visibility: Option<ToolVisibility>,
}

impl ToolMeta {
    /// States nothing: no UI, and visible to the model and to apps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Links the tool to a UI, which the server must have.
    #[must_use]
    pub fn with_resource_uri(mut self, uri: UiUri) -> Self {
        self.resource_uri = Some(uri.as_str().to_owned());
        self
    }

    /// States who may see and call the tool.
    #[must_use]
    pub fn with_visibility(mut self, visibility: ToolVisibility) -> Self {
        self.visibility = Some(visibility);
        self
    }

    /// The link. It begins with `ui://`; of foreign metadata it need not be a [`UiUri`].
    pub fn resource_uri(&self) -> Option<&str> {
        self.resource_uri.as_deref()
    }

    /// Who may see and call the tool, where it is stated.
    pub fn visibility(&self) -> Option<ToolVisibility> {
        self.visibility
    }

    /// The value of `ui`.
    pub fn to_value(&self) -> Value {
        let mut ui = Map::new();
        self.insert_members(&mut ui);
        ui.into()
    }

    /// A `_meta` with `ui` alone.
    pub fn to_meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        self.insert_into(&mut meta);
        meta
    }

    /// Puts what is stated into a `_meta`, whose other members stay, also those of `ui`: a link that is added to an
    /// app-only tool leaves it app-only. The deprecated flat key goes where a link is stated. A `ui` that is no object
    /// is replaced.
    pub fn insert_into(&self, meta: &mut Map<String, Value>) {
        if self.resource_uri.is_some() {
            meta.remove(meta::FLAT_RESOURCE_URI);
        }
        if let Some(Value::Object(ui)) = meta.get_mut(meta::UI) {
            self.insert_members(ui);
        } else {
            meta.insert(meta::UI.to_owned(), self.to_value());
        }
    }

    fn insert_members(&self, ui: &mut Map<String, Value>) {
        if let Some(uri) = &self.resource_uri {
            ui.insert(meta::RESOURCE_URI.to_owned(), uri.as_str().into());
        }
        if let Some(visibility) = self.visibility {
            ui.insert(meta::VISIBILITY.to_owned(), visibility_value(visibility));
        }
    }

    /// Reads the `_meta` of a tool that someone else wrote.
    ///
    /// The nested link wins over the flat one. A link that begins with `ui://` is taken as it stands even where it is no
    /// [`UiUri`], since it has to be asked for by that name. A visibility that is no array is nobody's, as in
    /// the [visibility](crate::visibility) layer. Of members that stand twice `serde_json` has kept the last.
    ///
    /// ```
    /// use tower_mcp_apps::ui::{ToolMeta, ToolVisibility};
    ///
    /// let parsed = ToolMeta::parse(&serde_json::json!({
    ///     "ui/resourceUri": "ui://accounts/dashboard",
    ///     "ui": {"visibility": ["app", "robot"]},
    /// }));
    /// assert_eq!(parsed.value.resource_uri(), Some("ui://accounts/dashboard"));
    /// assert_eq!(parsed.value.visibility(), Some(ToolVisibility::App));
    /// assert_eq!(parsed.problems.len(), 2);
    /// ```
    pub fn parse(meta: &Value) -> Parsed<Self> {
        let mut value = Self::new();
        let mut found = Vec::new();
        walk_ui(meta, &mut found, |key, member, mut problems| match key {
            meta::RESOURCE_URI => value.resource_uri = parse_link(member, problems),
            meta::VISIBILITY => value.visibility = Some(parse_visibility(member, problems)),
            "csp" | "permissions" | "domain" | "prefersBorder" => problems.add(ProblemKind::Misplaced),
            _ => problems.add(ProblemKind::Unknown),
        });
        if let Some(flat) = meta.get(meta::FLAT_RESOURCE_URI) {
            value.parse_flat(flat, Problems::new("_meta", &mut found).member(meta::FLAT_RESOURCE_URI));
        }
        Parsed { value, problems: found }
    }

    fn parse_flat(&mut self, flat: &Value, mut problems: Problems<'_>) {
        match &self.resource_uri {
            Some(nested) if flat == nested => {}
            Some(_) => problems.add(ProblemKind::FlatKeyDiffers),
            None => {
                problems.add(ProblemKind::FlatKeyAlone);
                self.resource_uri = parse_link(flat, problems);
            }
        }
    }
}

/// The value of `visibility`.
fn visibility_value(visibility: ToolVisibility) -> Value {
    let name = |audience: Audience| visibility.includes(audience).then_some(audience.as_str());
    [name(Audience::Model), name(Audience::App)].into_iter().flatten().map(Value::from).collect()
}

fn parse_visibility(value: &Value, mut problems: Problems<'_>) -> ToolVisibility {
    let (mut for_model, mut for_app) = (false, false);
    for (index, item) in problems.array(value).unwrap_or_default().iter().enumerate() {
        match item.as_str() {
            Some("model") => for_model = true,
            Some("app") => for_app = true,
            _ => problems.item(index).add(ProblemKind::Unknown),
        }
    }
    ToolVisibility::new(for_model, for_app)
}

fn parse_link(value: &Value, mut problems: Problems<'_>) -> Option<String> {
    let uri = problems.text(value)?;
    if let Err(fault) = UiUri::try_from(uri) {
        problems.add(ProblemKind::Link { uri: uri.to_owned(), fault });
    }
    uri.starts_with(UI_SCHEME).then(|| uri.to_owned())
}
