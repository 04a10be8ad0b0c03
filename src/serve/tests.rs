//! What is written once: an app's page.

use super::app::Versions;
use super::page::{Page, hints, is_version};
use super::{App, CacheScope};
use crate::protocol::Era;
use crate::ui::Html;

#[test]
fn a_result_is_the_content_item_with_the_uri_that_was_asked_for() {
    let html = Html::try_from("<!doctype html><html>\"\\\u{2028}").unwrap();
    let app = App::new("ui://a".parse().unwrap(), html.clone());
    assert_eq!(app.resource().name(), "a");
    let page = Page::new(app.resource(), &html, Versions::ByContent);
    let version = page.uri.strip_prefix("ui://a/").unwrap();
    assert!(is_version(version));

    let mut item = app.resource().to_contents(&html);
    item["uri"] = page.uri.as_str().into();
    let hints = hints(Era::Modern, (5, CacheScope::Public));
    let result: serde_json::Value = serde_json::from_slice(&page.result(&page.uri, &hints).to_bytes()).unwrap();
    let expected = serde_json::json!({
        "contents": [item], "resultType": "complete", "ttlMs": 5, "cacheScope": "public",
    });
    assert_eq!(result, expected);
}
