//! UI declarations held to a policy: whole exchanges, and properties over generated policies and metadata.

mod flows;
mod log;
mod matching;
mod properties;
mod server;
mod tree;
