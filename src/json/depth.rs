//! `Depth`: how deep values may nest.

use std::fmt;

/// How deep arrays and objects may nest: a scalar has depth 0, `[]` depth 1, `[[]]` depth 2.
///
/// The default is 512, the most is [`Depth::MAX`]. RFC 8259, section 9, lets an implementation set such a limit.
///
/// ```
/// # use tower_mcp_apps::json::Depth;
/// assert_eq!(Depth::default().get(), 512);
/// assert!(Depth::try_from(1025).is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Depth(u16);

impl Depth {
    /// The most that the reader can follow: 1024.
    pub const MAX: Self = Self(1024);

    /// The limit as a number.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for Depth {
    fn default() -> Self {
        Self(512)
    }
}

impl TryFrom<usize> for Depth {
    type Error = DepthOutOfRange;

    fn try_from(depth: usize) -> Result<Self, DepthOutOfRange> {
        match u16::try_from(depth) {
            Ok(depth) if depth <= Self::MAX.0 => Ok(Self(depth)),
            _ => Err(DepthOutOfRange(())),
        }
    }
}

/// The depth asked for is more than [`Depth::MAX`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthOutOfRange(());

impl fmt::Display for DepthOutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the nesting depth may be at most {}", Depth::MAX.0)
    }
}

impl std::error::Error for DepthOutOfRange {}
