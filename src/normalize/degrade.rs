//! What is left out for clients that cannot render UIs.

use crate::exchange::Exchange;
use crate::message::{Entry, EntryKind};
use crate::protocol::{Audience, UI_SCHEME, meta};

/// Leaves out of an entry, or with it, what the client cannot use.
///
/// An app gets everything: it runs in a host that can render, whatever the request says.
pub(super) fn degrade(exchange: &Exchange, entry: &mut Entry<'_>) {
    let context = exchange.context();
    if context.audience() == Audience::App {
        return;
    }
    match entry.kind() {
        EntryKind::Tool if context.supports_apps() => {}
        // Without its metadata nobody behind us can tell whom the tool is for, so that is settled here.
        EntryKind::Tool if !entry.visibility().includes(Audience::Model) => entry.remove(),
        EntryKind::Tool => {
            entry.meta_mut().remove_ui();
            entry.meta_mut().remove(meta::FLAT_RESOURCE_URI);
        }
        EntryKind::Resource | EntryKind::Template => {
            let is_ui = entry.uri().is_some_and(|uri| uri.starts_with(UI_SCHEME));
            let is_declared = match entry.mime_type().and_then(|media_type| media_type.as_str()) {
                Some(media_type) => context.declared().supports_media_type(&media_type),
                None => true,
            };
            if is_ui && !(context.supports_apps() && is_declared) {
                entry.remove();
            }
        }
        EntryKind::Contents | EntryKind::Prompt | EntryKind::Link | EntryKind::Embedded => {}
    }
}
