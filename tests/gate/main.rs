//! The gate: which calls run, how the inner service is asked for its tools, and for how long its answer counts.

#[path = "../kit/mod.rs"]
mod kit;

mod apps;
mod asking;
mod cached;
mod changes;
mod failures;
mod processes;
mod queue;
mod refusals;
mod replicas;
mod shared;
#[path = "../kit/socket.rs"]
mod socket;
mod spellings;
mod timeouts;
mod world;
