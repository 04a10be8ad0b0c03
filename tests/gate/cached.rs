//! Whose catalogue an answer is, and for how long. Time that passes exactly is in `src/concern/catalogue/store/tests.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use http::{Request, Uri};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::LookUp;
use tower_mcp_apps::exchange::ByHeader;
use tower_mcp_apps::testing::Body;
use tower_mcp_apps::visibility::VisibilityLayer;

use crate::kit::server::{Server, json_answer};
use crate::kit::{apps_capabilities, modern, only, with};
use crate::world::{
    call, for_apps, for_models, gate, is_hidden, legacy_call, listing, look_ups, result, runs, seen, tool, tools,
    with_page,
};

fn page(more: &Value) -> Server {
    let mut page = json!({ "tools": tools() });
    page.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    with_page(page)
}

/// How many look-ups two calls cost together.
async fn cost(server: &Server, first: Request<Body>, second: Request<Body>) -> usize {
    let gate = gate(server);
    runs(&gate, first).await;
    runs(&gate, second).await;
    look_ups(server)
}

fn at(uri: &'static str, mut request: Request<Body>) -> Request<Body> {
    *request.uri_mut() = Uri::from_static(uri);
    request
}

fn declaring(capabilities: &Value) -> Request<Body> {
    modern("tools/call", &json!({ "name": "open" }), capabilities)
}

/// Pairs of calls whose senders may get different lists, whatever the server says about who else may get them.
fn strangers() -> Vec<(&'static str, Request<Body>, Request<Body>)> {
    let later = |request| only(request, "mcp-protocol-version", "2025-06-18");
    let vendor = |value: &str| declaring(&json!({ "extensions": { "com.example/x": { "a": value } } }));
    vec![
        ("path", call("open"), at("http://127.0.0.1/other", call("open"))),
        ("query", at("http://127.0.0.1/mcp?a=1", call("open")), at("http://127.0.0.1/mcp?a=2", call("open"))),
        ("authority", call("open"), at("http://localhost/mcp", call("open"))),
        ("era", call("open"), legacy_call("open")),
        ("version", legacy_call("open"), later(legacy_call("open"))),
        ("an extension", call("open"), declaring(&apps_capabilities())),
        ("its settings", vendor("1"), vendor("2")),
        ("a capability", call("open"), declaring(&json!({ "sampling": {} }))),
        ("its settings", declaring(&json!({ "roots": { "a": 1 } })), declaring(&json!({ "roots": { "a": 2 } }))),
        ("a header", call("open"), with(call("open"), "x-tenant", "a")),
        ("its value", with(call("open"), "x-tenant", "a"), with(call("open"), "x-tenant", "b")),
        (
            "a second value",
            with(call("open"), "x-tenant", "a"),
            with(with(call("open"), "x-tenant", "a"), "x-tenant", "a"),
        ),
        (
            "the order of values",
            with(with(call("open"), "x-tenant", "a"), "x-tenant", "b"),
            with(with(call("open"), "x-tenant", "b"), "x-tenant", "a"),
        ),
        (
            "where a value ends",
            with(with(call("open"), "x-tenant", "ab"), "x-tenant", "c"),
            with(with(call("open"), "x-tenant", "a"), "x-tenant", "bc"),
        ),
        (
            "whose value it is",
            with(with(call("open"), "x-one", "a"), "x-two", "b"),
            with(with(call("open"), "x-one", "b"), "x-two", "a"),
        ),
        ("user agent", with(call("open"), "user-agent", "a"), with(call("open"), "user-agent", "b")),
        ("origin", call("open"), with(call("open"), "origin", "https://a.example")),
        ("proxy", call("open"), with(call("open"), "x-forwarded-for", "1.2.3.4")),
    ]
}

/// Pairs of calls that differ in nothing but who sends them.
fn callers() -> Vec<(&'static str, Request<Body>, Request<Body>)> {
    ["authorization", "cookie", "mcp-session-id", "x-api-key", "api-key", "x-auth-token", "x-access-token"]
        .into_iter()
        .flat_map(|name| {
            [
                (name, with(legacy_call("open"), name, "a"), with(legacy_call("open"), name, "b")),
                (name, with(legacy_call("open"), name, "a"), legacy_call("open")),
                (name, call("open"), with(call("open"), name, "b")),
            ]
        })
        .collect()
}

#[tokio::test]
async fn one_caller_asks_once() {
    for (first, second) in [
        (call("open"), call("open")),
        (call("open"), call("admin")),
        (legacy_call("open"), legacy_call("admin")),
        (with(call("open"), "authorization", "a"), with(call("admin"), "authorization", "a")),
        (with(with(call("open"), "x-one", "a"), "x-two", "b"), with(with(call("open"), "x-two", "b"), "x-one", "a")),
    ] {
        assert_eq!(cost(&page(&json!({})), first, second).await, 1);
    }
}

#[tokio::test]
async fn what_belongs_to_one_request_makes_no_other_caller() {
    for name in [
        "accept",
        "accept-encoding",
        "baggage",
        "b3",
        "cf-ray",
        "content-digest",
        "date",
        "dpop",
        "idempotency-key",
        "mcp-param-region",
        "sentry-trace",
        "te",
        "traceparent",
        "tracestate",
        "x-amzn-trace-id",
        "x-b3-spanid",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-datadog-trace-id",
        "x-payment",
        "x-request-id",
    ] {
        let server = page(&json!({}));
        assert_eq!(cost(&server, only(call("open"), name, "a"), only(call("open"), name, "b")).await, 1, "{name}");
    }
}

#[tokio::test]
async fn an_answer_is_one_callers_unless_it_says_otherwise() {
    for scope in [
        json!({}),
        json!({ "cacheScope": "private" }),
        json!({ "cacheScope": "Public" }),
        json!({ "cacheScope": true }),
    ] {
        for (what, first, second) in callers().into_iter().chain(strangers()) {
            assert_eq!(cost(&page(&scope), first, second).await, 2, "{what} {scope}");
        }
    }
}

#[tokio::test]
async fn a_public_answer_is_shared_across_credentials_and_nothing_else() {
    let public = page(&json!({ "cacheScope": "public" }));
    for (what, first, second) in callers() {
        assert_eq!(cost(&public, first, second).await, 1, "{what}");
    }
    for (what, first, second) in strangers() {
        assert_eq!(cost(&public, first, second).await, 2, "{what}");
    }
}

#[tokio::test]
async fn an_answer_is_public_only_if_all_its_pages_are_and_say_so_once() {
    for (first, second) in [
        (r#""cacheScope":"public","#, ""),
        ("", r#""cacheScope":"public","#),
        (r#""cacheScope":"public","cacheScope":"public","#, r#""cacheScope":"public","#),
        (r#""cacheScope":"private","cacheScope":"public","#, r#""cacheScope":"public","#),
    ] {
        let server = listing(move |received| {
            let page = match received.json()["params"]["cursor"].as_str() {
                None => format!(r#"{{{first}"tools":[],"nextCursor":"2"}}"#),
                Some(_) => format!(r#"{{{second}"tools":[{{"name":"open"}}]}}"#),
            };
            json_answer(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{page}}}"#, received.json()["id"]))
        });
        let asked = cost(&server, with(call("open"), "cookie", "a"), with(call("open"), "cookie", "b")).await;
        assert_eq!(asked, 4, "{first} {second}");
    }
}

#[tokio::test]
async fn audiences_share_nothing() {
    let server = page(&json!({ "cacheScope": "public" }));
    let gate =
        VisibilityLayer::new().audience(ByHeader::new("x-audience".parse().expect("a name"))).layer(server.clone());
    is_hidden(&gate, with(call("poll"), "x-audience", "model")).await;
    runs(&gate, with(call("poll"), "x-audience", "app")).await;
    is_hidden(&gate, with(call("admin"), "x-audience", "app")).await;
    runs(&gate, with(call("admin"), "x-audience", "model")).await;
    assert_eq!(look_ups(&server), 2);
}

#[tokio::test]
async fn requests_that_are_signed_are_nobodys() {
    // The signature may be all that tells one caller from another, and it is another one in each request.
    let signed = || with(call("open"), "signature", "sig=:abc:");
    assert_eq!(cost(&page(&json!({})), signed(), signed()).await, 1, "the same request again");
    for name in ["signature", "signature-input", "signature-agent"] {
        let server = page(&json!({}));
        assert_eq!(cost(&server, with(signed(), name, "a"), with(signed(), name, "b")).await, 2, "{name}");
    }
    let server = page(&json!({ "cacheScope": "public" }));
    assert_eq!(cost(&server, with(signed(), "signature", "a"), with(signed(), "signature", "b")).await, 1);
}

#[tokio::test]
async fn a_deployer_tells_callers_apart_that_no_header_does() {
    #[derive(Clone)]
    struct User(&'static str);

    let of = |user: &'static str| {
        let mut request = call("open");
        request.extensions_mut().insert(User(user));
        request
    };
    let look_up = LookUp::new().caller(|call: &http::request::Parts| {
        call.extensions.get().map_or_else(Vec::new, |User(name)| name.as_bytes().to_vec())
    });
    for (scope, asked) in [("private", 2), ("public", 1)] {
        let server = page(&json!({ "cacheScope": scope }));
        let gate = for_models().look_up(look_up.clone()).layer(server.clone());
        for user in ["ann", "bob", "ann", "bob"] {
            runs(&gate, of(user)).await;
        }
        assert_eq!(look_ups(&server), asked, "{scope}");
    }
}

#[tokio::test]
async fn clones_of_a_service_share_and_services_do_not() {
    let server = page(&json!({}));
    let layer = for_models();
    let (one, other) = (layer.layer(server.clone()), layer.layer(server.clone()));
    for service in [&one, &one.clone(), &other, &other.clone(), &one] {
        runs(service, call("open")).await;
    }
    assert_eq!(look_ups(&server), 2);
}

#[tokio::test]
async fn zero_costs_a_look_up_for_each_call_only_on_request() {
    for (ttl, at_least, expected) in
        [(json!(0), None, 1), (json!(-5), None, 1), (json!(0), Some(0), 3), (json!(-5), Some(0), 3)]
    {
        let server = page(&json!({ "ttlMs": ttl }));
        let look_up = at_least.map_or_else(LookUp::new, |time| LookUp::new().at_least(Duration::from_secs(time)));
        let gate = for_models().look_up(look_up).layer(server.clone());
        for name in ["open", "admin", "open"] {
            runs(&gate, call(name)).await;
        }
        assert_eq!(look_ups(&server), expected, "{ttl} {at_least:?}");
    }
}

#[tokio::test]
async fn a_catalogue_that_is_no_longer_fresh_is_asked_for_again() {
    const SHORT: Duration = Duration::from_millis(40);
    let options = || LookUp::new().at_least(Duration::ZERO);
    let cases = [
        (json!({ "ttlMs": 60_000 }), options().at_most(SHORT)),
        (json!({ "ttlMs": 40 }), options()),
        (json!({ "ttlMs": 4e1 }), options()),
        (json!({ "ttlMs": 0 }), LookUp::new().at_least(SHORT)),
        (json!({}), options().where_unsaid(SHORT)),
        (json!({ "ttlMs": "odd" }), options().where_unsaid(SHORT)),
    ];
    let gates: Vec<_> = cases
        .into_iter()
        .map(|(ttl, look_up)| {
            let server = page(&ttl);
            (for_models().look_up(look_up).layer(server.clone()), server, ttl)
        })
        .collect();
    for (gate, ..) in &gates {
        runs(gate, call("open")).await;
    }
    tokio::time::sleep(SHORT).await;
    for (gate, server, ttl) in &gates {
        runs(gate, call("open")).await;
        assert_eq!(look_ups(server), 2, "{ttl}");
    }
}

#[tokio::test]
async fn an_unknown_name_is_the_servers_word_and_asks_again_at_most_once_a_second() {
    let server = listing(|received| json_answer(result(received, &json!({ "tools": tools(), "ttlMs": 60_000 }))));
    let apps = for_apps().layer(server.clone());
    let models = gate(&server);
    for gate in [&apps, &models] {
        let began = Instant::now();
        for name in ["no-such", "Open", "open ", "no-such", ""] {
            runs(gate, call(name)).await;
        }
        let seen = seen(&server);
        assert_eq!(seen.ran, ["no-such", "Open", "open ", "no-such", ""]);
        assert!(seen.look_ups <= 1 + began.elapsed().as_secs() as usize, "{seen:?}");
    }
    tokio::time::sleep(Duration::from_millis(1010)).await;
    for (gate, hidden) in [(&apps, "admin"), (&models, "poll")] {
        // What is known is still fresh.
        is_hidden(gate, call(hidden)).await;
        assert_eq!(look_ups(&server), 0);
        let began = Instant::now();
        for name in ["no-such", "no-such", "other"] {
            runs(gate, call(name)).await;
        }
        let asked = look_ups(&server);
        assert!((1..=1 + began.elapsed().as_secs() as usize).contains(&asked), "{asked}");
    }
}

#[tokio::test]
async fn a_tool_that_is_new_is_known_once_it_is_asked_for_again() {
    // No word of a change: the server has no stream to tell it on.
    let is_new = Arc::new(AtomicBool::new(false));
    let server = listing({
        let is_new = is_new.clone();
        move |received| {
            let mut tools = tools();
            if is_new.load(Ordering::SeqCst) {
                tools.as_array_mut().expect("a list").push(tool("new", &["app"]));
            }
            json_answer(result(received, &json!({ "tools": tools, "ttlMs": 60_000 })))
        }
    });
    let gate = gate(&server);
    runs(&gate, call("open")).await;
    is_new.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1010)).await;
    is_hidden(&gate, call("new")).await;
}
