//! How much is read.

use crate::json::Depth;

/// Bounds on what a layer reads into memory. They do not apply to bodies that pass unread.
///
/// Each is per exchange: what all exchanges together may take is for `ConcurrencyLimit` or the like to bound.
///
/// ```
/// use tower_mcp_apps::{AppsLayer, exchange::Limits};
///
/// let layer = AppsLayer::new().limits(Limits::new().request_bytes(64 << 10).response_bytes(1 << 20));
/// # drop(layer);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) request_bytes: usize,
    pub(crate) response_bytes: usize,
    pub(crate) depth: Depth,
}

impl Limits {
    /// The defaults: 4 MiB of a request, 16 MiB of a response or of one event, [`Depth::default`].
    pub fn new() -> Self {
        Self { request_bytes: 4 << 20, response_bytes: 16 << 20, depth: Depth::default() }
    }

    /// The most bytes of a request's body, 4 GiB at most. A longer one is refused, whoever asks: 413 with `-32600`.
    #[must_use]
    pub fn request_bytes(mut self, bytes: usize) -> Self {
        self.request_bytes = bytes.min(u32::MAX as usize);
        self
    }

    /// The most bytes of a response's body, or of one event of a stream. A longer one streams untouched where
    /// nothing is enforced, and is refused with `-32603` where a filter applies.
    #[must_use]
    pub fn response_bytes(mut self, bytes: usize) -> Self {
        self.response_bytes = bytes;
        self
    }

    /// How deep the values of a message may nest; a deeper message counts as unreadable.
    #[must_use]
    pub fn depth(mut self, depth: Depth) -> Self {
        self.depth = depth;
        self
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn places_in_a_request_fit_into_four_bytes() {
        // What a call names could otherwise not be told, and would not be judged.
        assert!(u32::try_from(Limits::new().request_bytes(usize::MAX).request_bytes).is_ok());
    }
}
