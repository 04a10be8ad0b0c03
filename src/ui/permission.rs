//! `_meta.ui.permissions`: what a UI asks the browser for.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value};

use super::problem::ProblemKind;
use super::walk::Problems;

/// A browser capability that a UI can ask for (MCP Apps, "UI Resource Format", `permissions`). A host may say no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// `camera`.
    Camera,
    /// `microphone`.
    Microphone,
    /// `geolocation`.
    Geolocation,
    /// `clipboardWrite`, the feature `clipboard-write` of Permissions Policy.
    ClipboardWrite,
}

impl Permission {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Camera, Self::Microphone, Self::Geolocation, Self::ClipboardWrite];

    /// The member of `permissions`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Microphone => "microphone",
            Self::Geolocation => "geolocation",
            Self::ClipboardWrite => "clipboardWrite",
        }
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text is the name of no [`Permission`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownPermission;

impl fmt::Display for UnknownPermission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a permission is one of camera, microphone, geolocation and clipboardWrite")
    }
}

impl std::error::Error for UnknownPermission {}

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        Self::ALL.into_iter().find(|permission| permission.as_str() == text).ok_or(UnknownPermission)
    }
}

/// The value of `permissions`.
pub(super) fn permissions_value(permissions: &BTreeSet<Permission>) -> Value {
    permissions
        .iter()
        .map(|permission| (permission.as_str().to_owned(), Map::new().into()))
        .collect::<Map<_, _>>()
        .into()
}

pub(super) fn parse_permissions(value: &Value, mut problems: Problems<'_>) -> BTreeSet<Permission> {
    let mut permissions = BTreeSet::new();
    for (key, value) in problems.object(value).into_iter().flatten() {
        let mut problems = problems.member(key);
        match key.parse() {
            Ok(permission) if problems.object(value).is_some() => drop(permissions.insert(permission)),
            Ok(_) => {}
            Err(UnknownPermission) => problems.add(ProblemKind::Unknown),
        }
    }
    permissions
}
