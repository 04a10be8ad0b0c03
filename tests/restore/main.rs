//! What an aggregator loses of its upstreams' metadata is put back: whose, for how long, for whom, and never more.

#[path = "../kit/mod.rs"]
mod kit;

mod callers;
mod entries;
mod freshness;
mod meta_tools;
mod properties;
mod rmcp_aggregator;
#[path = "../kit/socket.rs"]
mod socket;
mod stacks;
mod unknown;
#[cfg(feature = "valkey")]
mod valkey;
mod world;
