//! What is left out for clients that cannot render UIs.

use super::Pages;
use crate::exchange::Exchange;
use crate::json::Value;
use crate::message::{Entry, EntryKind, Meta};
use crate::protocol::{Audience, UI_SCHEME, meta};

/// Leaves out of an entry, or with it, what the client cannot use.
///
/// An app gets everything: it runs in a host that can render, whatever the request says.
pub(super) fn degrade(pages: &Pages, exchange: &Exchange, entry: &mut Entry<'_>) {
    let context = exchange.context();
    if context.audience() == Audience::App {
        return;
    }
    match entry.kind() {
        // Whom the tool is for stays: the host goes by it.
        EntryKind::Tool if context.supports_apps() => unlink(pages, exchange, entry.meta_mut()),
        // Without its metadata nobody behind us can tell whom the tool is for, so that is settled here.
        EntryKind::Tool if !entry.visibility().includes(Audience::Model) => entry.remove(),
        EntryKind::Tool => {
            entry.meta_mut().remove_ui();
            entry.meta_mut().remove(meta::FLAT_RESOURCE_URI);
        }
        EntryKind::Resource | EntryKind::Template | EntryKind::Link | EntryKind::Embedded => {
            let stated = entry.mime_type().and_then(|media_type| media_type.as_str());
            let page = entry.uri().filter(|uri| uri.starts_with(UI_SCHEME)).map(|uri| uri.decode().unwrap_or_default());
            if page.is_none_or(|uri| pages.can_be_rendered(&uri, stated.as_deref(), context.declared())) {
                // What is itself no page may name one all the same.
                unlink(pages, exchange, entry.meta_mut());
            } else {
                entry.remove();
            }
        }
        EntryKind::Contents | EntryKind::Prompt => {}
    }
}

/// Takes off the links to pages that the client cannot render.
pub(super) fn unlink(pages: &Pages, exchange: &Exchange, meta: &mut Meta<'_>) {
    let context = exchange.context();
    if context.audience() == Audience::App {
        return;
    }
    let is_shown = |link: Option<Value<'_>>| {
        let uri = link.and_then(|link| link.string()).filter(|uri| uri.starts_with(UI_SCHEME));
        uri.is_none_or(|uri| pages.can_be_rendered(&uri.decode().unwrap_or_default(), None, context.declared()))
    };
    if !is_shown(meta.ui_get(meta::RESOURCE_URI)) {
        meta.ui_remove(meta::RESOURCE_URI);
    }
    if !is_shown(meta.get(meta::FLAT_RESOURCE_URI)) {
        meta.remove(meta::FLAT_RESOURCE_URI);
    }
}
