//! The test kit: its server, client, assertions, recordings and lint.

mod bodies;
mod client;
mod comparing;
mod cutting;
mod lint;
mod recordings;
mod server;
#[allow(dead_code, reason = "a part of it is used here")]
#[path = "../servers/mod.rs"]
mod servers;
mod stacks;

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a failing assertion tells.
fn told(assertion: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(assertion)).expect_err("the assertion does not hold");
    *panic.downcast::<String>().expect("a text")
}
