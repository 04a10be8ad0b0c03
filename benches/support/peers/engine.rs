//! This crate's way: one walk over the message, one splice.

use bytes::{Bytes, BytesMut};
use tower_mcp_apps::json::{Depth, Frames, Splice};
use tower_mcp_apps::message::{Answer, Capabilities, Entry, EntryKind, Sites, Wants, walk};
use tower_mcp_apps::protocol::{Audience, Era, Method};

/// What is asked of a message that answers this method.
struct Edit(Method);

impl Sites for Edit {
    fn answer(&self, _: Option<&[u8]>) -> Answer {
        Answer::To(self.0)
    }

    fn likely_answer(&self) -> Answer {
        Answer::To(self.0)
    }

    fn wants(&self, answer: Answer) -> Wants {
        match answer {
            Answer::To(Method::ToolsList) => Wants::TOOLS,
            Answer::To(Method::ResourcesRead) => Wants::CONTENTS,
            _ => Wants::NOTICES,
        }
    }

    fn era(&self) -> Era {
        Era::Legacy
    }

    fn tools_changed(&self) {}

    fn entry(&self, entry: &mut Entry<'_>) {
        if entry.kind() == EntryKind::Contents {
            entry.meta_mut().ui_set("prefersBorder", "false");
            return;
        }
        if !entry.visibility().includes(Audience::Model) {
            entry.remove();
            return;
        }
        let meta = entry.meta_mut();
        if meta.ui_get("resourceUri").is_none() {
            meta.ui_set_from("resourceUri", "ui/resourceUri");
        }
    }

    fn capabilities(&self, _: &mut Capabilities<'_>) {}
}

fn edit(method: Method, body: &Bytes) -> Frames {
    let mut splice = Splice::default();
    walk(body, Depth::default(), &Edit(method), &mut splice).unwrap();
    splice.apply(body)
}

/// The edited list in one piece: it is shorter than what is worth a frame of its own, but for that of a very long run.
pub fn list(body: &Bytes) -> Bytes {
    let mut frames = edit(Method::ToolsList, body);
    match frames.next() {
        Some(first) if frames.is_empty() => first,
        first => frames
            .fold(BytesMut::from(first.unwrap_or_default()), |mut whole, frame| {
                whole.extend_from_slice(&frame);
                whole
            })
            .freeze(),
    }
}

/// The edited answer to a read, in the frames that go out.
pub fn read(body: &Bytes) -> Frames {
    edit(Method::ResourcesRead, body)
}

/// A result that is looked through, and left as it is.
pub fn look(body: &Bytes) -> Frames {
    edit(Method::ToolsCall, body)
}
