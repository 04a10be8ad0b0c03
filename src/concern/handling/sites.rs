//! What concerns say to the places of an answer, as the walk over it comes to them.

use bytes::Bytes;

use super::{Handling, answer_to};
use crate::concern::Concern;
use crate::exchange::CallInfo;
use crate::json::Str;
use crate::message::{Answer, CallResult, Capabilities, Entry, EntryKind, Meta, MetaRole, MetaTools, Sites, Wants};
use crate::protocol::Era;

impl<C: Concern> Sites for Handling<C> {
    fn answer(&self, id: Option<&[u8]>) -> Answer {
        let asked = id.and_then(|id| self.call(id));
        asked.and_then(|call| answer_to(call, &self.settings().meta_tools)).unwrap_or(Answer::Unknown)
    }

    fn likely_answer(&self) -> Answer {
        let first = self.exchange.context.calls().first();
        first.and_then(|call| answer_to(call, &self.settings().meta_tools)).unwrap_or(Answer::Unknown)
    }

    fn role(&self, id: Option<&[u8]>) -> Option<MetaRole> {
        match id.and_then(|id| self.call(id)) {
            Some(call) => call.role(),
            // No shape tells a meta-tool's result from others; some reader may take it for the answer all the same.
            None => self.context().calls().iter().find_map(CallInfo::role),
        }
    }

    fn likely_role(&self) -> Option<MetaRole> {
        self.exchange.context.calls().first().and_then(CallInfo::role)
    }

    fn meta_tools(&self) -> Option<&MetaTools> {
        Some(&self.settings().meta_tools).filter(|meta_tools| !meta_tools.is_empty())
    }

    fn wants(&self, answer: Answer) -> Wants {
        self.shared.concern.wants(&self.exchange, answer)
    }

    fn era(&self) -> Era {
        self.exchange.context.era
    }

    fn tools_changed(&self) {
        self.shared.store.forget();
    }

    fn added(&self, answer: Answer, list: EntryKind) -> Vec<Bytes> {
        let mut entries = Vec::new();
        self.shared.concern.add(&self.exchange, answer, list, &mut entries);
        entries
    }

    fn instead(&self, answer: Answer) -> Option<Bytes> {
        self.may_mend.then(|| self.shared.concern.instead(&self.exchange, answer)).flatten()
    }

    fn call_result(&self, id: &[u8], result: &mut CallResult<'_>) {
        if let Some(call) = self.call(id) {
            self.shared.concern.call_result(call, result);
        }
    }

    fn whole(&self, answer: Answer, id: &[u8], message: &[u8]) {
        self.shared.concern.whole(&self.exchange, answer, self.call(id), message);
    }

    fn entry(&self, entry: &mut Entry<'_>) {
        self.shared.concern.entry(&self.exchange, entry);
    }

    fn capabilities(&self, capabilities: &mut Capabilities<'_>) {
        self.shared.concern.capabilities(&self.exchange, capabilities);
    }

    fn link(&self, link: &mut Entry<'_>) {
        self.shared.concern.link(&self.exchange, link);
    }

    fn meta(&self, meta: &mut Meta<'_>) {
        self.shared.concern.meta(&self.exchange, meta);
    }

    fn uri(&self, uri: Str<'_>) -> Option<Vec<u8>> {
        self.shared.concern.uri(uri)
    }
}
