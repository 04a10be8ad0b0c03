//! UI declarations held to a policy: whole exchanges, and properties over generated policies and metadata.

mod exchange;
mod flows;
#[path = "../kit/mod.rs"]
mod kit;
mod log;
mod matching;
mod properties;
