//! Mutations of recorded exchanges: never a panic, a hang, a cut body or a leak, whatever comes; `MUTATIONS=1000000` for longer.

mod answers;
mod catalogue;
mod dice;
mod differential;
mod dress;
#[path = "../json/oracle.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod grammar;
mod headers;
#[path = "../kit/mod.rs"]
mod kit;
mod lax;
mod mutate;
mod recordings;
mod requests;
mod run;
mod seen;
#[path = "../../src/sse/tests/oracle.rs"]
mod sse;
mod stacks;
