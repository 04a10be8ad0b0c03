//! The two eras of MCP.

/// How a request says what its sender can do (MCP 2026-07-28, "Versioning and Compatibility", Terminology).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// 2025-11-25 and earlier: `initialize` says it once, a session remembers.
    Legacy,
    /// 2026-07-28 and later: every request says it in its `_meta`.
    Modern,
}

impl Era {
    /// The first version of the modern era.
    pub const FIRST_MODERN: &str = "2026-07-28";

    /// The revision of MCP with this name, if there is one.
    pub(crate) fn known_version(version: &[u8]) -> Option<&'static str> {
        const REVISIONS: [&str; 5] = [Era::FIRST_MODERN, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
        REVISIONS.into_iter().find(|known| known.as_bytes() == version)
    }

    /// The era of a protocol version. Versions are dates, so they compare as text; what is no date is
    /// legacy, since only a version that is known to be modern may promise per-request metadata.
    ///
    /// ```
    /// use tower_mcp_apps::protocol::Era;
    ///
    /// assert_eq!(Era::of_version("2026-07-28"), Era::Modern);
    /// assert_eq!(Era::of_version("2025-11-25"), Era::Legacy);
    /// assert_eq!(Era::of_version("latest"), Era::Legacy);
    /// ```
    pub fn of_version(version: &str) -> Self {
        let is_date = version.len() == 10
            && version.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if is_date && version >= Self::FIRST_MODERN { Self::Modern } else { Self::Legacy }
    }
}
