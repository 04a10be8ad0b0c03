//! A record, or a finding, as a line of JSON.

use std::time::UNIX_EPOCH;

use crate::exchange::{Reason, Record};
use crate::json::write_string;
use crate::lint::Finding;
use crate::protocol::ToolVisibility;

impl Record {
    /// The record as one JSON object without a line break, for logs of JSON lines. What is not known is left out.
    ///
    /// | member | |
    /// |---|---|
    /// | `time_ms` | when the request came, in milliseconds of Unix time |
    /// | `method`, `tool`, `uri`, `id` | what was asked; the id as it stood |
    /// | `target` | what a call of a [meta-tool](crate::concern::MetaTools) names |
    /// | `audience` | `model`, `app`, `host` (either of the two, it cannot be told) or `unknown` |
    /// | `known_by` | `declaration`, `setting`, `header`, `extension` or `closure` |
    /// | `visibility` | `both`, `model`, `app` or `nobody` |
    /// | `decision`, `reason` | `forwarded`, `answered` by a layer itself, `undecided` (the client went away first), or `refused` and a [`Reason`] |
    /// | `session`, `protocol_version` | the session is hashed |
    /// | `messages` | how many the batch had whose status, duration and bytes these are |
    /// | `status`, `duration_us`, `bytes` | of the answer; the duration in microseconds, to its last byte |
    /// | `end` | `complete`, `client_gone` or `failed` |
    pub fn to_json(&self) -> Vec<u8> {
        let mut line = Line(Vec::with_capacity(384));
        let time = self.time().duration_since(UNIX_EPOCH).unwrap_or_default();
        line.number("time_ms", time.as_millis());
        line.text("method", self.method());
        line.text("tool", self.tool());
        line.text("uri", self.uri());
        line.text("target", self.target());
        line.raw("id", self.id());
        line.text("audience", Some(self.audience_name()));
        line.text("known_by", self.known_by().map(|known_by| known_by.as_str()));
        line.text("visibility", self.visibility().map(ToolVisibility::as_str));
        line.text("decision", Some(self.decision_name()));
        line.text("reason", self.reason().map(Reason::as_str));
        line.text("session", self.session());
        line.text("protocol_version", self.protocol_version());
        if self.messages() > 1 {
            line.number("messages", self.messages());
        }
        if let Some(status) = self.status() {
            line.number("status", status.as_u16());
        }
        line.number("duration_us", self.duration().as_micros());
        line.number("bytes", self.bytes());
        line.text("end", Some(self.end().as_str()));
        line.0.push(b'}');
        line.0
    }
}

impl Finding {
    /// The finding as one JSON object without a line break, for logs of JSON lines. What is not known is left out.
    ///
    /// | member | |
    /// |---|---|
    /// | `finding` | the [rule](Finding::rule); records have no such member |
    /// | `method`, `tool`, `uri`, `path` | where it is |
    /// | `message` | what is wrong |
    pub fn to_json(&self) -> Vec<u8> {
        let mut line = Line(Vec::with_capacity(256));
        line.text("finding", Some(self.rule().as_str()));
        line.text("method", Some(self.method()));
        line.text("tool", self.tool());
        line.text("uri", self.uri());
        line.text("path", Some(self.path()));
        line.text("message", Some(self.message()));
        line.0.push(b'}');
        line.0
    }
}

struct Line(Vec<u8>);

impl Line {
    fn raw(&mut self, name: &str, value: Option<&[u8]>) {
        let Some(value) = value else { return };
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        write_string(name, &mut self.0);
        self.0.push(b':');
        self.0.extend_from_slice(value);
    }

    fn number(&mut self, name: &str, value: impl ToString) {
        self.raw(name, Some(value.to_string().as_bytes()));
    }

    fn text(&mut self, name: &str, value: Option<&str>) {
        let Some(value) = value else { return };
        self.raw(name, Some(b""));
        write_string(value, &mut self.0);
    }
}
