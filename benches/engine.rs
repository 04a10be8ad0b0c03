//! How long it takes to edit a message, beside other ways to do the same: `cargo bench --bench engine`.

#![allow(missing_docs, clippy::unwrap_used)]

mod support;

use std::hint::black_box;

use bytes::Bytes;
use criterion::{BenchmarkId, Criterion, Throughput};
use serde_json::Value;

use support::corpus;
use support::peers::{LISTS, engine, limits, simd, sonic, value};

fn main() {
    let mix = corpus::mix();
    for body in &mix {
        same(body);
    }
    let criterion = &mut support::criterion();
    lists_in_a_mix(criterion, &mix);
    lists_by_size(criterion);
    page(criterion);
    image(criterion);
    criterion.final_summary();
}

/// All ways give the same message.
fn same(body: &Bytes) {
    let parse = |body: &Bytes| serde_json::from_slice::<Value>(body).unwrap();
    let expected = parse(&value::list(body));
    for (name, list) in LISTS {
        if !["ignored-any", "skip", "memcpy"].contains(&name) {
            assert_eq!(parse(&list(body)), expected, "{name}");
        }
    }
}

fn lists_in_a_mix(criterion: &mut Criterion, mix: &[Bytes]) {
    let mut group = criterion.benchmark_group("list/mix");
    let bytes = mix.iter().map(Bytes::len).sum::<usize>() / mix.len();
    group.throughput(Throughput::Bytes(bytes as u64));
    for (name, list) in LISTS {
        let mut bodies = mix.iter().cycle();
        group.bench_function(name, |bencher| {
            bencher.iter(|| bodies.next().map(|body| black_box(list(body))));
        });
    }
}

fn lists_by_size(criterion: &mut Criterion) {
    for (shape, make) in [("compact", identity as fn(&[u8]) -> Bytes), ("pretty", corpus::pretty)] {
        for tools in [10, 100, 1_000, 10_000] {
            // As many different bodies as make up the mix in bytes, but at least two.
            let bodies: Vec<Bytes> =
                (0..(10_000 / tools).max(2)).map(|seed| make(&corpus::tools(seed, tools))).collect();
            let mut group = criterion.benchmark_group(format!("list/{shape}"));
            group.throughput(Throughput::Bytes(bodies[0].len() as u64));
            for (name, list) in LISTS.into_iter().filter(|(name, _)| ["tower-mcp-apps", "value"].contains(name)) {
                let mut bodies = bodies.iter().cycle();
                group.bench_function(BenchmarkId::new(name, tools), |bencher| {
                    bencher.iter(|| bodies.next().map(|body| black_box(list(body))));
                });
            }
        }
    }
}

fn identity(message: &[u8]) -> Bytes {
    Bytes::copy_from_slice(message)
}

fn page(criterion: &mut Criterion) {
    let page = corpus::page(1 << 20);
    let expected: Value = serde_json::from_slice(&value::read(&page)).unwrap();
    assert_eq!(expected, serde_json::from_slice::<Value>(&engine::read(&page).collect::<Vec<_>>().concat()).unwrap());
    let mut group = criterion.benchmark_group("read/page-1MiB");
    group.throughput(Throughput::Bytes(page.len() as u64));
    group.bench_function("tower-mcp-apps", |bencher| bencher.iter(|| black_box(engine::read(&page))));
    group.bench_function("value", |bencher| bencher.iter(|| black_box(value::read(&page))));
    group.bench_function("simd-json", |bencher| bencher.iter(|| black_box(simd::read(&page))));
    group.bench_function("sonic-rs", |bencher| bencher.iter(|| black_box(sonic::read(&page))));
    group.bench_function("ignored-any", |bencher| bencher.iter(|| black_box(limits::ignored_any(&page))));
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(limits::memcpy(&page))));
}

fn image(criterion: &mut Criterion) {
    let image = corpus::image(5 << 20);
    assert_eq!(engine::look(&image).to_bytes().as_ptr(), image.as_ptr());
    let mut group = criterion.benchmark_group("call/image-5MiB");
    group.throughput(Throughput::Bytes(image.len() as u64));
    group.bench_function("tower-mcp-apps", |bencher| bencher.iter(|| black_box(engine::look(&image))));
    group.bench_function("value", |bencher| bencher.iter(|| black_box(value::look(&image))));
    group.bench_function("simd-json", |bencher| bencher.iter(|| black_box(simd::look(&image))));
    group.bench_function("ignored-any", |bencher| bencher.iter(|| black_box(limits::ignored_any(&image))));
    group.bench_function("memcpy", |bencher| bencher.iter(|| black_box(limits::memcpy(&image))));
}
