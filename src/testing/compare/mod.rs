//! Assertions on what went over the wire, which tell where and what differs.

mod assert;
mod cut;
mod difference;
mod json;
mod pointer;
mod wire;

pub use self::assert::{assert_hidden, assert_only_changed, assert_refused, assert_unchanged};
pub use self::cut::assert_same_however_cut;
pub use self::wire::Wire;
