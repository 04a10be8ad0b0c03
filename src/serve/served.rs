//! An app that is registered: what it is now, and which URIs are its.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::app::{App, File, Versions, modified};
use super::page::{Page, is_version};

/// An app that is registered.
#[derive(Debug)]
pub(super) struct Served {
    app: App,
    pages: Pages,
}

#[derive(Debug)]
enum Pages {
    Fixed(Arc<Page>),
    /// With the time of the last change that was seen.
    Watched(Mutex<(Option<SystemTime>, Arc<Page>)>),
}

impl Served {
    pub(super) fn new(app: App) -> Self {
        let page = Arc::new(Page::new(app.resource(), app.html(), app.versions()));
        let pages = match app.watched() {
            None => Pages::Fixed(page),
            Some(file) => Pages::Watched(Mutex::new((file.modified, page))),
        };
        Self { app, pages }
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    /// Whether it is registered under this URI.
    pub(super) fn is_at(&self, uri: &str) -> bool {
        self.app.resource().uri().as_str() == uri
    }

    /// Whether the URI is that of a version of it.
    pub(super) fn is_version_at(&self, uri: &str) -> bool {
        let base = self.app.resource().uri().as_str();
        let segment = uri.strip_prefix(base).and_then(|rest| rest.strip_prefix('/'));
        self.app.versions() == Versions::ByContent && segment.is_some_and(is_version)
    }

    /// What it is now.
    pub(super) fn page(&self) -> Arc<Page> {
        let (watched, file) = match (&self.pages, self.app.watched()) {
            (Pages::Fixed(page), _) => return Arc::clone(page),
            (Pages::Watched(watched), file) => (watched, file),
        };
        // A panic while it was held left the page as it was.
        let mut watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
        let (seen, page) = &mut *watched;
        if let Some(file) = file {
            let changed = modified(&file.path);
            if changed != *seen {
                // What cannot be used is not tried again before the next change.
                *seen = changed;
                match File::read(file.path.clone()) {
                    Ok((_, html)) => {
                        *page = Arc::new(Page::new(self.app.resource(), &html, self.app.versions()));
                    }
                    Err(error) => tracing::warn!(%error, "the app stays as it was"),
                }
            }
        }
        Arc::clone(page)
    }
}
