//! A service that remembers lists answers as one that reads each.

use std::sync::{Arc, Mutex};

use http::header::ETAG;
use http::{HeaderMap, HeaderValue, Response};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::json;
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::exchange::ByHeader;
use tower_mcp_apps::namespace::Namespace;
use tower_mcp_apps::normalize::{Degradation, FlatKey};
use tower_mcp_apps::serve::App;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::ui::Html;

use super::run::{Given, RUNTIME};
use super::stacks::seen;
use super::{flat_key, kit, texts};
use crate::kit::server::Server;
use crate::kit::{apps_capabilities, send, with};

/// The id in a text, for which each request's own is put. No other number there has these digits.
const ID: &str = "77001";

/// Who asks for what.
#[derive(Clone, Debug)]
struct Asker {
    audience: &'static str,
    method: &'static str,
    declares_apps: bool,
    is_modern: bool,
    has_cursor: bool,
}

impl Asker {
    fn body(&self, id: &str) -> String {
        let capabilities = if self.declares_apps { apps_capabilities() } else { json!({}) };
        let mut params = json!({});
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        if self.has_cursor {
            params["cursor"] = json!("next");
        }
        let method = self.method;
        json!({ "jsonrpc": "2.0", "id": ID, "method": method, "params": params })
            .to_string()
            .replace(&format!("{ID:?}"), id)
    }
}

/// Two who ask, of whom one differs from the other in one thing.
fn askers() -> impl Strategy<Value = [Asker; 2]> {
    let audience = || select(vec!["host", "model", "app"]);
    let method = || select(vec!["tools/list", "tools/list", "resources/list", "resources/read"]);
    let asker = (audience(), method(), any::<[bool; 3]>());
    (asker, audience(), method(), 0..5).prop_map(
        |((audience, method, [declares_apps, is_modern, has_cursor]), other_audience, other_method, differs)| {
            let one = Asker { audience, method, declares_apps, is_modern, has_cursor };
            let other = one.clone();
            let other = match differs {
                0 => Asker { audience: other_audience, ..other },
                1 => Asker { method: other_method, ..other },
                2 => Asker { declares_apps: !declares_apps, ..other },
                3 => Asker { is_modern: !is_modern, ..other },
                _ => Asker { has_cursor: !has_cursor, ..other },
            };
            [one, other]
        },
    )
}

/// How an answer comes: in frames that end at these places, with its length or without, and perhaps not as it was before.
fn comings() -> impl Strategy<Value = (Vec<Index>, bool, Ending)> {
    let ending = prop_oneof![
        8 => Just(Ending::Whole),
        1 => any::<Index>().prop_map(Ending::OtherByte),
        1 => any::<Index>().prop_map(Ending::Short),
        1 => any::<Index>().prop_map(Ending::Fails),
        1 => Just(Ending::Longer),
        1 => Just(Ending::Trailers),
    ];
    (vec(any::<Index>(), 0..4), prop::bool::weighted(0.8), ending)
}

#[derive(Clone, Debug)]
enum Ending {
    Whole,
    /// One byte is another.
    OtherByte(Index),
    /// The body ends here.
    Short(Index),
    /// The body fails here, whatever length it announced.
    Fails(Index),
    /// One byte more.
    Longer,
    Trailers,
}

fn response(given: &Given, (cuts, knows_length, ending): &(Vec<Index>, bool, Ending)) -> Response<Body> {
    let mut bytes = given.frames.concat();
    let mut announced = bytes.len();
    match ending {
        Ending::OtherByte(at) => *at.get_mut(&mut bytes) ^= 1,
        Ending::Short(at) | Ending::Fails(at) => bytes.truncate(at.index(bytes.len())),
        Ending::Longer => bytes.push(b' '),
        Ending::Whole | Ending::Trailers => {}
    }
    if !matches!(ending, Ending::Fails(_)) {
        announced = bytes.len();
    }
    let frames = vec![bytes.into()];
    let given = Given { frames, fails: matches!(ending, Ending::Fails(_)), ..given.clone() }.cut(cuts);
    given.response().map(|body| {
        let body = if *knows_length { body.of_length(announced as u64) } else { body };
        match ending {
            Ending::Trailers => body.trailers(HeaderMap::from_iter([(ETAG, HeaderValue::from_static("x"))])),
            _ => body,
        }
    })
}

/// A text long enough to be remembered, and whether it comes as an event.
fn text() -> impl Strategy<Value = (String, bool)> {
    let padded = texts::message(ID).prop_map(|text| text + &" ".repeat(1100));
    (padded, any::<bool>()).prop_map(|(text, is_event)| {
        let text = if is_event { format!("data: {}\n\n", text.replace(['\r', '\n'], " ")) } else { text };
        (text, is_event)
    })
}

fn layer(
    flat_key: FlatKey,
    degradation: Degradation,
    (serves, prefixes): (bool, bool),
    remembered: usize,
) -> AppsLayer {
    let settings = Settings::new().audience(ByHeader::new("x-audience".parse().expect("a name")));
    let mut layer = AppsLayer::new().settings(settings.remembered_bytes(remembered));
    layer = layer.flat_key(flat_key).degradation(degradation);
    if serves {
        let html = Html::try_from("<!doctype html><html></html>").expect("a page");
        layer = layer.app(App::new("ui://c".parse().expect("a URI"), html).link("open"));
    }
    if prefixes {
        layer = layer.namespace(Namespace::new("n").expect("a name"));
    }
    layer
}

proptest! {
    #[test]
    fn remembered_is_read(
        texts in vec(text(), 2),
        askers in askers(),
        turns in vec((0..2_usize, 0..2_usize, select(vec!["1", "2", "99", "\"a b\"", ID]), comings()), 20),
        flat_key in flat_key(),
        degradation in select(vec![Degradation::None, Degradation::Strip]),
        has in any::<(bool, bool)>(),
    ) {
        let given = Arc::new(Mutex::new((Given::json(""), (Vec::new(), false, Ending::Whole))));
        let answers = Arc::clone(&given);
        let server = Server::new(move |_| {
            let (given, coming) = &*answers.lock().expect("no panic");
            response(given, coming)
        });
        let remembers = layer(flat_key, degradation, has, 1 << 20).layer(server.clone());
        let reads = layer(flat_key, degradation, has, 0).layer(server);
        for (text, asker, id, coming) in turns {
            let (text, is_event) = &texts[text];
            let text = text.replace(ID, id);
            let text = if *is_event { Given::events(text) } else { Given::json(text) };
            *given.lock().expect("no panic") = (text, coming);
            let asker = &askers[asker];
            let request = || with(kit::post(asker.body(id)), "x-audience", asker.audience);
            let (remembered, read) = RUNTIME.with_borrow(|runtime| runtime.block_on(async {
                (send(remembers.clone(), request()).await, send(reads.clone(), request()).await)
            }));
            prop_assert_eq!(seen(&remembered), seen(&read));
        }
    }
}
