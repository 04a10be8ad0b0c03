//! What tools the inner service has, and whom they are for: asked of it when a call must be judged.
//!
//! To judge a call, its tool's visibility must be known. A list that happened to pass says little: another
//! replica saw it, it was page 2, or there was a restart. So the inner service is asked for `tools/list`, all
//! pages, as the caller, and the answer is kept for a short time.
//!
//! - **Whose**: kept under the URI, the protocol version, the audience, the capabilities that the client declared, and all
//!   headers but a neutral list (tracing, what belongs to one request, what says how to answer), by a hash with
//!   secret keys, so that no credential is kept. Credentials that are in no header count where a deployer names them
//!   ([`LookUp::caller`]). An answer that says `"cacheScope":"public"` is shared by callers that differ in nothing but
//!   their credentials.
//! - **How long**: for `ttlMs`, but at least one second and at most a minute; five seconds where the server
//!   says nothing ([`LookUp`] for other bounds). A `notifications/tools/list_changed` on any stream that is
//!   read drops everything.
//! - **Unknown names**: asked for again, at most once a second, then left to the inner service, whose word it
//!   is: servers with tool search or aliases run tools that they do not list.
//! - **Behind meta-tools** ([`MetaTools`](crate::concern::MetaTools)): what `tools/list` does not have is asked of the tool that
//!   describes or lists what is behind them, with the same rules. That answer is never shared by callers.
//! - **Together**: callers that miss at the same time share one look-up. One that waits gives up its readiness,
//!   or a concurrency limit would deadlock. If the one that asks goes away, another takes over.
//! - **Failures** refuse the call, and are never kept. Cursors that come again and catalogues without end are failures, too.

mod flight;
mod key;
mod look_up;
mod page;
mod store;
mod tools;

pub use look_up::LookUp;
pub use tools::{Tool, Tools};

pub(super) use flight::{Failure, Flight, Landed, Lead};
pub(super) use key::Keys;
pub(crate) use key::Role;
pub(super) use look_up::Question;
pub(super) use page::{Behind, Heard, Page, read_behind, read_page};
pub(super) use store::{Catalogue, Found, Store};
