//! How often the layers allocate, what an idle stream holds, and that what is not edited goes out as the very bytes that came.

#[path = "../../benches/support/corpus.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod corpus;
mod counting;
#[path = "../../benches/support/peers/engine.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod engine;
#[path = "../../benches/support/service.rs"]
#[allow(dead_code, reason = "a part of it is used here")]
mod service;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use tower::{Layer, Service};
use tower_mcp_apps::AppsLayer;

use counting::{allocations, left_in_use};
use service::{
    HOST, HOST_SESSION, NO_APPS, NO_SESSION, Server, call, exchange, few_tools, get, legacy_call, now, server,
};

/// Allocations of one exchange, after a first one that warms up what is kept.
fn counted<S, R>(mut service: S, request: &Request<Full<Bytes>>) -> usize
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    exchange(&mut service, request.clone());
    let request = request.clone();
    allocations(|| exchange(&mut service, request)).1
}

#[track_caller]
fn at_most(bound: usize, what: &str, count: usize) {
    assert!(count <= bound, "{what}: {count}, but at most {bound} were promised");
    println!("{what}: {count} of at most {bound}");
}

#[test]
fn an_edit_of_a_list_takes_a_few_allocations_whatever_its_length() {
    for (tools, bound) in [(100, 12), (1_000, 16)] {
        let list = corpus::tools(3, tools);
        let (edited, count) = allocations(|| engine::list(&list));
        assert!(edited.len() < list.len());
        at_most(bound, &format!("allocations for {tools} tools"), count);
    }
}

#[test]
fn a_hosts_call_costs_six_allocations() {
    // All of them for the context among the extensions of request and answer; and the id of the server's session, as it was.
    for (what, request, bound) in [
        ("modern", call(HOST), 6),
        ("in a session of the layer's", legacy_call("apps1-a~c2Vzc2lvbi0wMDAx"), 6),
        ("in a session of the server's", legacy_call(HOST_SESSION), 7),
    ] {
        let bare = counted(server(), &request);
        let layered = counted(AppsLayer::new().layer(server()), &request);
        at_most(bound, &format!("allocations over bare, {what}"), layered - bare);
    }
}

#[test]
fn a_call_through_the_hot_gate_costs_few_more() {
    let ungated = counted(AppsLayer::new().layer(server()), &call(HOST));
    let hot = counted(AppsLayer::new().layer(server()), &call(NO_APPS));
    at_most(3, "allocations over an ungated call", hot.saturating_sub(ungated));
}

#[test]
fn what_is_not_edited_is_the_servers_own_bytes() {
    // Some events in a chunk each, and one in many.
    let mut pieces = corpus::progress(5);
    pieces.extend(corpus::chunks(&corpus::one_event(&corpus::called()), 32));
    let service = Server::events(&few_tools(), pieces.clone());
    for request in [call(HOST), call(NO_APPS), get(NO_SESSION), get(HOST_SESSION)] {
        let response = now(AppsLayer::new().layer(service.clone()).call(request)).expect("the server does not fail");
        let (mut body, mut sent) = (response.into_body(), Vec::new());
        while let Some(frame) = now(body.frame()) {
            sent.extend(frame.ok().and_then(|frame| frame.into_data().ok()));
        }
        let places = |pieces: &[Bytes]| pieces.iter().map(|piece| (piece.as_ptr(), piece.len())).collect::<Vec<_>>();
        assert_eq!(places(&sent), places(&pieces));
    }
}

#[test]
fn events_that_pass_cost_no_allocation() {
    let tools = few_tools();
    for request in [call(HOST), call(NO_APPS), get(NO_SESSION), get(HOST_SESSION)] {
        let few = counted(AppsLayer::new().layer(Server::events(&tools, corpus::progress(10))), &request);
        let many = counted(AppsLayer::new().layer(Server::events(&tools, corpus::progress(1_000))), &request);
        assert_eq!(few, many, "{request:?}");
    }
}

#[test]
fn an_idle_stream_takes_less_than_a_kibibyte_more() {
    fn held<S, R>(mut service: S, request: &Request<Full<Bytes>>) -> usize
    where
        S: Service<Request<Full<Bytes>>, Response = Response<R>>,
        R: Body<Data = Bytes>,
    {
        const STREAMS: usize = 64;
        exchange(&mut service, request.clone());
        let open = |_| {
            let response = now(service.call(request.clone())).ok().expect("the server does not fail");
            // A server keeps the body, not the head.
            Box::new(response.into_body())
        };
        let (streams, bytes) = left_in_use(|| (0..STREAMS).map(open).collect::<Vec<_>>());
        bytes / streams.len()
    }
    let stream = || Server::events(&few_tools(), corpus::progress(10));
    for (what, request) in [
        ("a host's call", call(HOST)),
        ("a model's call", call(NO_APPS)),
        ("GET of a model", get(NO_SESSION)),
        ("GET of a host", get(HOST_SESSION)),
    ] {
        let bare = held(stream(), &request);
        let layered = held(AppsLayer::new().layer(stream()), &request);
        at_most(1024, &format!("bytes over bare of an idle stream, {what}"), layered - bare);
    }
}
