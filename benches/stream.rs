//! What event streams cost, from `Service::call` to their last frame: `cargo bench --bench stream`.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BatchSize, BenchmarkGroup, Criterion, Throughput, measurement::WallTime};
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tower::{Layer, Service};
use tower_mcp_apps::AppsLayer;

use support::corpus;
use support::peers::events;
use support::service::{HOST, HOST_SESSION, NO_APPS, NO_SESSION, Server, call, exchange, few_tools, get};

fn main() {
    let criterion = &mut support::criterion();
    let tools = few_tools();
    let small = corpus::progress(10_000);
    streams(criterion, "stream/10000-small", &tools, &small);
    let page = corpus::one_event(&corpus::page(1 << 20));
    streams(criterion, "stream/page-in-1KiB-chunks", &tools, &corpus::chunks(&page, 1024));
    let list = corpus::one_event(&corpus::tools(0, 1_000));
    streams(criterion, "stream/list-in-1KiB-chunks", &tools, &corpus::chunks(&list, 1024));
    criterion.final_summary();
}

fn streams(criterion: &mut Criterion, name: &str, tools: &Bytes, chunks: &[Bytes]) {
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).throughput(Throughput::Bytes(chunks.iter().map(Bytes::len).sum::<usize>() as u64));
    let server = || Server::events(tools, chunks.to_vec());
    measure(&mut group, "bare", server(), &call(HOST));
    // The answer to a host's call is not looked into.
    measure(&mut group, "apps/host-call", AppsLayer::new().layer(server()), &call(HOST));
    // That to a model's is, for word of changed tools. Its events pass as they came.
    measure(&mut group, "apps/model-call", AppsLayer::new().layer(server()), &call(NO_APPS));
    // A stream of one's own may replay anything. A model's is filtered: every event is read as what it might be.
    measure(&mut group, "apps/host-get", AppsLayer::new().layer(server()), &get(HOST_SESSION));
    measure(&mut group, "apps/model-get", AppsLayer::new().layer(server()), &get(NO_SESSION));
    group.bench_function("value", |bencher| bencher.iter(|| black_box(events::by_values(chunks))));
}

fn measure<S, R>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut service: S, request: &Request<Full<Bytes>>)
where
    S: Service<Request<Full<Bytes>>, Response = Response<R>>,
    R: Body<Data = Bytes>,
{
    group.bench_function(name, |bencher| {
        bencher.iter_batched(|| request.clone(), |request| exchange(&mut service, request), BatchSize::SmallInput);
    });
}
