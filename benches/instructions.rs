//! One piece of work, done as often as asked, for `instructions.py` to count its instructions. Without arguments, the
//! names of all there are.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::hint::black_box;
use std::time::Duration;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower::{Layer, Service};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::concern::LookUp;
use tower_mcp_apps::negotiate::NegotiateLayer;
use tower_mcp_apps::normalize::NormalizeLayer;
use tower_mcp_apps::visibility::VisibilityLayer;

use support::corpus;
use support::peers::{LISTS, engine, limits, value};
use support::service::{
    HOST, HOST_SESSION, NO_APPS, NO_SESSION, Server, call, exchange, few_tools, get, legacy_call, modern, server,
};

/// Does one piece of work this many times.
type Work = Box<dyn FnMut(usize)>;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match &arguments[..] {
        [name, times] => {
            let work = works().into_iter().find(|(known, _)| known == name);
            work.expect("a name that there is").1()(times.parse().unwrap());
        }
        _ => works().iter().for_each(|(name, _)| println!("{name}")),
    }
}

fn works() -> Vec<(String, Box<dyn Fn() -> Work>)> {
    let mut works: Vec<(String, Box<dyn Fn() -> Work>)> = Vec::new();
    let mut add = |name: &str, make: fn() -> Work| works.push((name.to_owned(), Box::new(make)));
    add("read/page-1MiB/tower-mcp-apps", || on(corpus::page(1 << 20), |body| drop(black_box(engine::read(body)))));
    add("read/page-1MiB/ignored-any", || on(corpus::page(1 << 20), |body| drop(black_box(limits::ignored_any(body)))));
    add("read/page-1MiB/value", || on(corpus::page(1 << 20), |body| drop(black_box(value::read(body)))));
    add("call/image-5MiB/tower-mcp-apps", || on(corpus::image(5 << 20), |body| drop(black_box(engine::look(body)))));
    add("host-call/bare", || exchanges(server(), call(HOST)));
    add("host-call/negotiate", || exchanges(NegotiateLayer::new().layer(server()), call(HOST)));
    add("host-call/normalize", || exchanges(NormalizeLayer::new().layer(server()), call(HOST)));
    add("host-call/visibility", || exchanges(VisibilityLayer::new().layer(server()), call(HOST)));
    add("host-call/apps", || exchanges(AppsLayer::new().layer(server()), call(HOST)));
    add("host-call-legacy/bare", || exchanges(server(), legacy_call(HOST_SESSION)));
    add("host-call-legacy/apps", || exchanges(AppsLayer::new().layer(server()), legacy_call(HOST_SESSION)));
    add("gate/hot", || exchanges(AppsLayer::new().layer(server()), call(NO_APPS)));
    add("gate/hot-bearer-1KiB", || {
        let mut call = call(NO_APPS);
        call.headers_mut().insert(AUTHORIZATION, format!("Bearer {:0>1017}", 1).parse().unwrap());
        exchanges(AppsLayer::new().layer(server()), call)
    });
    add("gate/hot-legacy", || exchanges(AppsLayer::new().layer(server()), legacy_call(NO_SESSION)));
    add("gate/never-fresh", || {
        let at_its_word = LookUp::new().at_least(Duration::ZERO).at_most(Duration::ZERO);
        exchanges(AppsLayer::new().look_up(at_its_word).layer(server()), call(NO_APPS))
    });
    add("list/bare", || exchanges(server(), modern("tools/list", "", NO_APPS)));
    add("list/apps", || {
        let forgetful = AppsLayer::new().remembered_bytes(0);
        exchanges(forgetful.layer(server()), modern("tools/list", "", NO_APPS))
    });
    add("list/remembered", || exchanges(AppsLayer::new().layer(server()), modern("tools/list", "", NO_APPS)));
    add("stream-1000-events/bare", || exchanges(stream(), call(HOST)));
    add("stream-1000-events/host-call", || exchanges(AppsLayer::new().layer(stream()), call(HOST)));
    add("stream-1000-events/model-call", || exchanges(AppsLayer::new().layer(stream()), call(NO_APPS)));
    add("stream-1000-events/get", || exchanges(AppsLayer::new().layer(stream()), get(NO_SESSION)));
    add("stream-1000-events/host-get", || exchanges(AppsLayer::new().layer(stream()), get(HOST_SESSION)));
    add("stream-1MiB-event/bare", || exchanges(large_event(), call(HOST)));
    add("stream-1MiB-event/model-call", || exchanges(AppsLayer::new().layer(large_event()), call(NO_APPS)));
    add("stream-1MiB-event/get", || exchanges(AppsLayer::new().layer(large_event()), get(NO_SESSION)));
    for (name, list) in LISTS {
        let make = move || on(corpus::tools(3, 100), move |body| drop(black_box(list(body))));
        works.push((format!("list/{name}"), Box::new(make)));
    }
    works
}

fn on(body: Bytes, work: impl Fn(&Bytes) + 'static) -> Work {
    Box::new(move |times| (0..times).for_each(|_| work(&body)))
}

fn exchanges<S, R>(mut service: S, request: Request<Full<Bytes>>) -> Work
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>> + 'static,
    R: Body<Data = Bytes>,
{
    // Making the request costs the same with and without layers.
    Box::new(move |times| {
        (0..times).for_each(|_| {
            black_box(exchange(&mut service, request.clone()));
        })
    })
}

fn stream() -> Server {
    Server::events(&few_tools(), corpus::progress(1_000))
}

/// One event, in chunks of 1 KiB.
fn large_event() -> Server {
    Server::events(&few_tools(), corpus::chunks(&corpus::one_event(&corpus::page(1 << 20)), 1024))
}
