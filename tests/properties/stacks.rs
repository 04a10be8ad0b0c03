//! Twice is once, and the layers stacked in the design's order are the fused one, byte for byte.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tower::layer::util::Stack;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::Settings;
use tower_mcp_apps::exchange::{Auto, Fixed};
use tower_mcp_apps::namespace::{Namespace, NamespaceLayer};
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::{Degradation, NormalizeLayer};
use tower_mcp_apps::policy::{List, OnViolation, Policy, PolicyLayer};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::serve::{App, ServeLayer, TextFallback};
use tower_mcp_apps::ui::Html;
use tower_mcp_apps::visibility::VisibilityLayer;

use super::model::events;
use super::run::{Given, exchange};
use super::{Requests, audience, flat_key, kit, openai_keys, requests, texts};
use crate::kit::Answer;
use crate::kit::tree::Tree;

/// What a server answers: mostly right, sometimes broken, in JSON or as a stream, sometimes with the wrong label.
pub(crate) fn given() -> impl Strategy<Value = Given> {
    let json = (texts::answer(), texts::damage()).prop_map(|(text, damage)| texts::damaged(&text, &damage));
    let stream = (texts::stream(vec(texts::answer(), 0..4)), texts::damage());
    let stream = stream.prop_map(|(text, damage)| texts::damaged(&text, &damage));
    let content_type = |right| {
        prop_oneof![
            12 => Just(Some(right)),
            1 => Just(Some("application/json")),
            1 => Just(Some("text/event-stream")),
            1 => Just(None),
            1 => Just(Some("text/plain")),
        ]
    };
    let body = prop_oneof![(json, content_type("application/json")), (stream, content_type("text/event-stream"))];
    let status = prop_oneof![8 => Just(200), 1 => Just(404), 1 => Just(500)];
    (body, status, any::<bool>(), prop::bool::weighted(0.1)).prop_map(
        |((body, content_type), status, knows_length, fails)| Given {
            status,
            content_type,
            frames: vec![body.into()],
            knows_length,
            fails,
        },
    )
}

/// All of an answer that must be the same; session ids may differ.
pub(crate) fn seen(answer: &Answer) -> impl PartialEq + std::fmt::Debug {
    let headers = answer.headers.iter().filter(|(name, _)| *name != "mcp-session-id");
    let headers: Vec<_> = headers.map(|(name, value)| (name.clone(), value.clone())).collect();
    (answer.status, headers, answer.bytes(), answer.error)
}

/// Whether all messages that can be read answer one of the requests. What answers another is edited by its shape where it is
/// read at all; and the layers of a stack read only what they themselves look at, while the fused one reads for all.
fn answers_what_was_asked(given: &Given, requests: &Requests) -> bool {
    let body = given.frames.concat();
    let readable = events(&body).into_iter().chain([body]).filter_map(|message| Tree::read(&message));
    let asked = |message: &Tree| {
        let id = message.get("id").filter(|_| message.count("id") == 1);
        let mut ids = 1u32..=if requests.methods.len() > 1 { 2 } else { 1 };
        message.get("result").is_none() || ids.any(|asked| id == Some(&Tree::Number(asked.into())))
    };
    readable.into_iter().all(|message| match message {
        Tree::List(messages) => messages.iter().all(asked),
        message => asked(&message),
    })
}

/// Of a stream that says it is JSON and breaks off in its first event, an outer layer sees nothing, which is no stream.
fn tells_what_it_is(given: &Given) -> bool {
    !given.fails || given.content_type == Some("text/event-stream")
}

fn settings(audience: Option<Audience>) -> Settings {
    match audience {
        Some(audience) => Settings::new().audience(Fixed(audience)),
        None => Settings::new().audience(Auto),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn twice_is_once(
        requests in requests(),
        given in given(),
        audience in prop::option::of(audience()),
        flat_key in flat_key(),
        openai_keys in openai_keys(),
    ) {
        prop_assume!(tells_what_it_is(&given));
        macro_rules! check {
            ($layer:expr) => {{
                let layer = $layer;
                let (once, arrived) = exchange(&layer, kit::post(requests.body.clone()), &given);
                let twice = Stack::new(layer.clone(), layer);
                let (twice, arrived_twice) = exchange(&twice, kit::post(requests.body.clone()), &given);
                prop_assert_eq!(seen(&once), seen(&twice));
                prop_assert_eq!(arrived.len(), arrived_twice.len());
            }};
        }
        check!(NegotiateLayer::new());
        check!(VisibilityLayer::new().settings(settings(audience)));
        check!(NormalizeLayer::new().flat_key(flat_key).openai_keys(openai_keys));
        let apps = AppsLayer::new().flat_key(flat_key).openai_keys(openai_keys);
        match audience {
            Some(audience) => check!(apps.audience(Fixed(audience))),
            None => check!(apps),
        }
    }

    #[test]
    fn stacked_is_fused(
        requests in requests(),
        given in given(),
        audience in prop::option::of(audience()),
        flat_key in flat_key(),
        openai_keys in openai_keys(),
    ) {
        prop_assume!(answers_what_was_asked(&given, &requests));
        prop_assume!(tells_what_it_is(&given));
        // Only a filter looks into what says that it is neither JSON nor a stream.
        prop_assume!(given.content_type != Some("text/plain"));
        let fused = AppsLayer::new().flat_key(flat_key).openai_keys(openai_keys);
        let fused = match audience {
            Some(audience) => fused.audience(Fixed(audience)),
            None => fused,
        };
        let normalize = NormalizeLayer::new().flat_key(flat_key).openai_keys(openai_keys);
        // The first of a stack is the innermost.
        let stacked = Stack::new(
            NegotiateLayer::new().settings(settings(audience)),
            Stack::new(
                normalize.settings(settings(audience)),
                VisibilityLayer::new().settings(settings(audience)),
            ),
        );
        let (fused, arrived) = exchange(&fused, kit::post(requests.body.clone()), &given);
        let (stacked, arrived_stacked) = exchange(&stacked, kit::post(requests.body.clone()), &given);
        prop_assert_eq!(seen(&fused), seen(&stacked));
        prop_assert_eq!(arrived.len(), arrived_stacked.len());
        for (one, other) in arrived.iter().zip(&arrived_stacked) {
            prop_assert_eq!(&one.frames, &other.frames);
            prop_assert_eq!(&one.parts.headers, &other.parts.headers);
        }
    }

    #[test]
    fn stacked_is_fused_with_all_that_can_be_switched_on(
        requests in requests(),
        given in given(),
        audience in audience(),
        flat_key in flat_key(),
        degradation in select(vec![Degradation::None, Degradation::Strip]),
        on_violation in select(vec![OnViolation::Restrict, OnViolation::Refuse, OnViolation::Report]),
        text_fallback in any::<bool>(),
    ) {
        prop_assume!(answers_what_was_asked(&given, &requests));
        prop_assume!(tells_what_it_is(&given));
        // Only a filter looks into what says that it is neither JSON nor a stream.
        prop_assume!(given.content_type != Some("text/plain"));
        let policy = Policy::new().allow(List::Connect, "https://a.example").expect("an origin");
        let policy = policy.deny(List::Resource, "https://b.example").expect("an origin").on_violation(on_violation);
        let html = Html::try_from("<!doctype html><html></html>").expect("a page");
        let app = App::new("ui://c".parse().expect("a URI"), html).link("open");
        let fallback = if text_fallback { TextFallback::StructuredContent } else { TextFallback::Off };
        let settings = || settings(Some(audience));

        let fused = AppsLayer::new().text_fallback(fallback).flat_key(flat_key).degradation(degradation);
        let namespace = || Namespace::new("n").expect("a name");
        let fused = fused.policy(policy.clone()).namespace(namespace()).audience(Fixed(audience));
        let serve = ServeLayer::new().text_fallback(fallback).settings(settings());
        // What one layer adds and the next takes away leaves an empty `_meta` or the framing of a rewritten event; in the
        // fused one it leaves nothing.
        let (fused, serve) = match degradation {
            Degradation::None => (fused.app(app.clone()), serve.app(app)),
            Degradation::Strip => (fused, serve),
        };
        let stacked = Stack::new(
            serve,
            Stack::new(
                NegotiateLayer::new().settings(settings()),
                Stack::new(
                    NormalizeLayer::new().flat_key(flat_key).degradation(degradation).settings(settings()),
                    Stack::new(
                        PolicyLayer::new(policy).settings(settings()),
                        Stack::new(
                            VisibilityLayer::new().settings(settings()),
                            NamespaceLayer::new(namespace()).settings(settings()),
                        ),
                    ),
                ),
            ),
        );
        let (fused, arrived) = exchange(&fused, kit::post(requests.body.clone()), &given);
        let (stacked, arrived_stacked) = exchange(&stacked, kit::post(requests.body.clone()), &given);
        prop_assert_eq!(seen(&fused), seen(&stacked));
        prop_assert_eq!(arrived.len(), arrived_stacked.len());
    }
}
