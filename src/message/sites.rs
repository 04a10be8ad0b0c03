//! What the sites of a server's message are shown to, and what decides which sites it has.

use bytes::Bytes;

use super::{CallResult, Capabilities, Entry, EntryKind, Meta, MetaRole, MetaTools, Reason, Wants};
use crate::json::Str;
use crate::protocol::{Era, Method};

/// What a message of the server answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// A request with this method: the method says what its members mean.
    To(Method),
    /// A request that is not known here, such as on a GET stream that replays an earlier answer: its shape decides.
    Unknown,
}

/// What the sites of a message are shown to: the places in a server's answers that a concern may edit.
pub trait Sites {
    /// What a message answers that has this id (its JSON text). Notifications, and requests of the server, have none or
    /// their own.
    fn answer(&self, id: Option<&[u8]>) -> Answer;

    /// What the next message most likely answers, before its id is read. A wrong guess costs a second reading, nothing else.
    fn likely_answer(&self) -> Answer;

    /// What is looked at in such an answer.
    fn wants(&self, answer: Answer) -> Wants;

    /// The era of the request, which decides what may be added to a result.
    fn era(&self) -> Era;

    /// What the tool does whose call a message with this id answers, where that is a meta-tool.
    fn role(&self, id: Option<&[u8]>) -> Option<MetaRole> {
        let _ = id;
        None
    }

    /// The same of the [likely answer](Self::likely_answer).
    fn likely_role(&self) -> Option<MetaRole> {
        None
    }

    /// The meta-tools that are declared: what their results have entries in.
    fn meta_tools(&self) -> Option<&MetaTools> {
        None
    }

    /// The server said that its tools changed, by a `notifications/tools/list_changed`.
    fn tools_changed(&self);

    /// Entries that join the end of such a list, as JSON texts. They are then shown as all others.
    fn added(&self, answer: Answer, list: EntryKind) -> Vec<Bytes> {
        let _ = (answer, list);
        Vec::new()
    }

    /// The JSON text of the result that takes the place of the server's word that it does not know the method. Its
    /// sites are then shown as all others.
    fn instead(&self, answer: Answer) -> Option<Bytes> {
        let _ = answer;
        None
    }

    /// The result of a call to a tool, if it was wanted. The id (its JSON text) is that of the call.
    fn call_result(&self, id: &[u8], result: &mut CallResult<'_>) {
        let _ = (id, result);
    }

    /// The text of a message that answers this, if it was wanted whole. The id (its JSON text) is that of the request.
    fn whole(&self, answer: Answer, id: &[u8], message: &[u8]) {
        let _ = (answer, id, message);
    }

    /// An entry of a list, or an item of contents. If it is refused, an error takes the place of the message.
    fn entry(&self, entry: &mut Entry<'_>);

    /// The capabilities of the server.
    fn capabilities(&self, capabilities: &mut Capabilities<'_>);

    /// A link or an embedded resource among content blocks, if [`Wants::LINKS`] was wanted.
    fn link(&self, link: &mut Entry<'_>) {
        let _ = link;
    }

    /// The `_meta` of a result or of a content block, likewise.
    fn meta(&self, meta: &mut Meta<'_>) {
        let _ = meta;
    }

    /// A URI that stands for itself, in a notification ([`Wants::UPDATES`]) or an error ([`Wants::LINKS`]): the JSON text
    /// that takes its place, if one does.
    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        let _ = uri;
        None
    }
}

/// What a pass over a message came to, beyond the edits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Walked {
    /// Whatever the message said, it says still.
    #[default]
    Same,
    /// An error gave way to a result.
    Mended,
    /// A result gave way to an error, for this reason.
    Refused(Option<Reason>),
}
