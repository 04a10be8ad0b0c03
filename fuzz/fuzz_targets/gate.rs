//! Any request through each stack. The input is a byte for the stack and whether mirrored headers follow the body, two that name the
//! recording whose headers and server it has, and the body.
#![no_main]

mod hostile;
#[path = "../../tests/kit/mod.rs"]
mod kit;

use bytes::Bytes;
use hostile::requests::{self, Sent};
use hostile::stacks::STACKS;
use hostile::{catalogue, headers, recording, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [choice, one, two, body @ ..] = input else { return };
    let recording = recording([*one, *two]);
    let stack = STACKS[usize::from(*choice) % STACKS.len()];
    let mut sent = Sent {
        http_method: recording.http_method.clone(),
        headers: recording.headers.clone(),
        body: Bytes::copy_from_slice(body),
        cuts: vec![usize::from(*two)],
    };
    if usize::from(*choice) / STACKS.len() % 4 > 0 {
        headers::mirror(&mut sent.headers, &sent.body);
    }
    run(requests::check(stack, &sent, &catalogue::of(recording), *two % 2 == 0));
});
