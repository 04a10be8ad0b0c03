//! What the stack makes of any answer is what the rules make of its tree.

use proptest::collection::vec;
use proptest::prelude::*;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::visibility::VisibilityLayer;

use super::rules::Rules;
use super::run::{Given, answered};
use super::{Requests, audience, flat_key, openai_keys, requests, texts};
use crate::kit::tree::Tree;

fn asked(requests: &Requests) -> Vec<(Tree, String)> {
    let ids = 1u32..;
    ids.zip(&requests.methods).map(|(id, method)| (Tree::Number(id.into()), (*method).to_owned())).collect()
}

fn rules() -> impl Strategy<Value = Rules> {
    (flat_key(), openai_keys(), audience(), any::<bool>()).prop_map(|(flat_key, openai_keys, audience, varies)| Rules {
        negotiates: true,
        normalizes: true,
        filters: true,
        flat_key,
        openai_keys,
        // What varies is known by declaration, and these clients declare nothing.
        audience: if varies { Audience::Model } else { audience },
        varies,
        is_modern: false,
    })
}

fn apps(rules: &Rules) -> AppsLayer {
    let layer = AppsLayer::new().flat_key(rules.flat_key).openai_keys(rules.openai_keys);
    if rules.varies { layer } else { layer.audience(Fixed(rules.audience)) }
}

/// The data of the events of a stream, as a client reads them.
pub(crate) fn events(stream: &[u8]) -> Vec<Vec<u8>> {
    let stream = stream.strip_prefix("\u{feff}".as_bytes()).unwrap_or(stream);
    let text = String::from_utf8_lossy(stream).replace("\r\n", "\n").replace('\r', "\n");
    let mut events = Vec::new();
    for block in text.split("\n\n") {
        // A field without a colon has an empty value.
        let data = block.lines().filter_map(|line| if line == "data" { Some("") } else { line.strip_prefix("data:") });
        let data: Vec<_> = data.map(|data| data.strip_prefix(' ').unwrap_or(data)).collect();
        if !data.is_empty() {
            events.push(data.join("\n").into_bytes());
        }
    }
    events
}

proptest! {
    #[test]
    fn json_answers(rules in rules(), requests in requests(), answer in texts::answer()) {
        let rules = Rules { is_modern: requests.is_modern, ..rules };
        let before = Tree::read(answer.as_bytes()).expect("the generator makes JSON");
        let got = answered(&apps(&rules), &requests.body, &Given::json(answer.clone()));
        if answer.trim_start().starts_with(['{', '[']) {
            let after = Tree::read(&got.bytes()).expect("what comes out is JSON");
            prop_assert_eq!(after, rules.apply(before, &asked(&requests)));
        }
    }

    #[test]
    fn events_of_streams(
        rules in rules(),
        requests in requests(),
        stream in texts::stream(vec(texts::answer(), 0..4)),
    ) {
        let rules = Rules { is_modern: requests.is_modern, ..rules };
        let want: Vec<_> = events(stream.as_bytes())
            .iter()
            .map(|data| rules.apply(Tree::read(data).expect("the generator makes JSON"), &asked(&requests)))
            .collect();
        let got = answered(&apps(&rules), &requests.body, &Given::events(stream));
        let got: Vec<_> = events(&got.bytes()).iter().map(|data| Tree::read(data).expect("JSON")).collect();
        prop_assert_eq!(got, want);
    }

    #[test]
    fn each_concern_alone(rules in rules(), requests in requests(), answer in texts::answer()) {
        prop_assume!(answer.trim_start().starts_with(['{', '[']));
        let before = Tree::read(answer.as_bytes()).expect("the generator makes JSON");
        let given = Given::json(answer);
        let off = Rules { negotiates: false, normalizes: false, filters: false, is_modern: requests.is_modern, ..rules };

        let got = answered(&NegotiateLayer::new(), &requests.body, &given);
        let want = Rules { negotiates: true, ..off }.apply(before.clone(), &asked(&requests));
        prop_assert_eq!(Tree::read(&got.bytes()), Some(want));

        let layer = NormalizeLayer::new().flat_key(rules.flat_key).openai_keys(rules.openai_keys);
        let got = answered(&layer, &requests.body, &given);
        let want = Rules { normalizes: true, ..off }.apply(before.clone(), &asked(&requests));
        prop_assert_eq!(Tree::read(&got.bytes()), Some(want));

        let layer = VisibilityLayer::new();
        let layer = if rules.varies { layer } else { layer.audience(Fixed(rules.audience)) };
        let got = answered(&layer, &requests.body, &given);
        let want = Rules { filters: true, ..off }.apply(before, &asked(&requests));
        prop_assert_eq!(Tree::read(&got.bytes()), Some(want));
    }
}
