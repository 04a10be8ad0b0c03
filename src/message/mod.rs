//! JSON-RPC messages of MCP as views on bytes: what a client's message asks, and the sites of a server's
//! message that can be edited. Nothing here knows HTTP, but for the status of a [`Refusal`], nor who asks.
//!
//! Inwards, [`Payload::read`] gives [`Call`]s, each with what it asks, what its sender declares, and the first
//! [`Fault`] in its spelling. Outwards, [`walk`] goes once over a message and shows its [`Sites`]: an [`Entry`] for
//! each tool, resource, template and item of contents, the [`Capabilities`], and a [`CallResult`]. What concerns ask of
//! them becomes one splice. A [`Refusal`] is an error of our own making.

mod answered;
mod arguments;
mod call_result;
mod capabilities;
mod declaration;
mod entry;
mod glance;
mod id;
mod incoming;
mod links;
mod meta;
mod meta_tools;
mod nested;
mod next;
mod outgoing;
mod places;
mod reason;
mod refusal;
mod sites;
#[cfg(test)]
mod tests;
mod visible;
mod wants;

pub(crate) use answered::result_message;
pub use call_result::CallResult;
pub use capabilities::Capabilities;
pub(crate) use declaration::{edit_capabilities, redeclare, redeclare_meta};
pub use entry::{Entry, EntryKind};
pub(crate) use glance::may_have_sites;
pub(crate) use id::IdKey;
pub use incoming::{Call, Fault, Payload, Unreadable};
pub use meta::{Meta, Shape};
pub(crate) use meta_tools::MetaTool;
pub use meta_tools::{MetaRole, MetaTools, Unlisted};
pub(crate) use nested::Nested;
pub(crate) use next::Next;
pub use outgoing::walk;
pub(crate) use places::walk_targets;
pub use places::{Named, walk_places};
pub use reason::Reason;
pub use refusal::Refusal;
pub use sites::{Answer, Sites, Walked};
pub use wants::Wants;
