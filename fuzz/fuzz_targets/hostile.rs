//! What the tests of `tests/hostile` hold of any exchange.

#![allow(dead_code, reason = "each target uses a part of it")]

#[path = "../../tests/hostile/answers.rs"]
pub(crate) mod answers;
#[path = "../../tests/hostile/catalogue.rs"]
pub(crate) mod catalogue;
#[path = "../../tests/json/oracle.rs"]
pub(crate) mod grammar;
#[path = "../../tests/hostile/headers.rs"]
pub(crate) mod headers;
#[path = "../../tests/hostile/dice.rs"]
mod dice;
#[path = "../../tests/hostile/dress.rs"]
pub(crate) mod dress;
#[path = "../../tests/hostile/lax.rs"]
pub(crate) mod lax;
#[path = "../../tests/hostile/recordings.rs"]
pub(crate) mod recordings;
#[path = "../../tests/hostile/requests.rs"]
pub(crate) mod requests;
#[path = "../../tests/hostile/seen.rs"]
pub(crate) mod seen;
#[path = "../../src/sse/tests/oracle.rs"]
mod sse;
#[path = "../../tests/hostile/stacks.rs"]
pub(crate) mod stacks;

use recordings::Recording;

/// Runs an exchange to its end.
pub(crate) fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(work)
}

/// The recording that two bytes name.
pub(crate) fn recording(place: [u8; 2]) -> &'static Recording {
    let all = recordings::all();
    &all[usize::from(u16::from_be_bytes(place)) % all.len()]
}
