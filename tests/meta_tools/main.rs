//! Aggregators that hide their catalogue behind tools: what their results show to whom, and which calls run.

#[path = "../kit/mod.rs"]
mod kit;

mod calls;
mod lists;
mod look_ups;
mod namespace;
mod shapes;
#[path = "../kit/socket.rs"]
mod socket;
mod streams;
mod typed;
mod world;
