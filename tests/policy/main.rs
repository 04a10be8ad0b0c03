//! UI declarations held to a policy: whole exchanges, and properties over generated policies and metadata.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that cannot go on fails")]

mod flows;
mod log;
mod matching;
mod properties;
mod server;
mod tree;
