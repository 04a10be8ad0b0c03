//! A UI for a server that has none: what hosts and text clients see of it, in both eras, as JSON and as event streams.

mod client;
mod content;
#[path = "../kit/mod.rs"]
mod kit;
mod lists;
mod seen;
