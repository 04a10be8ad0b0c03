//! JSON-RPC messages of MCP as views on bytes: what a client's message asks, and the sites of a server's
//! message that can be edited. Nothing here knows HTTP, nor who may see what.

mod capabilities;
mod entry;
mod incoming;
mod outgoing;
mod refusal;
#[cfg(test)]
mod tests;
mod visible;
mod wants;

pub use capabilities::Capabilities;
pub use entry::{Entry, EntryKind, Meta, Ui};
pub use incoming::{Call, Fault, Payload, Unreadable};
pub use outgoing::{Answer, Sites, walk};
pub use refusal::Refusal;
pub use visible::Visible;
pub use wants::Wants;
