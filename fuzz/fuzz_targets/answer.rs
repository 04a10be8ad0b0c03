//! Any answer through each stack. The input is a byte for the stack, one for the cuts, two that name the recording which it answers,
//! and the body.
#![no_main]

mod hostile;
#[path = "../../tests/kit/mod.rs"]
mod kit;

use bytes::Bytes;
use hostile::answers::{self, Given};
use hostile::requests::Sent;
use hostile::stacks::STACKS;
use hostile::{catalogue, recording, run};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [choice, cut, one, two, body @ ..] = input else { return };
    let recording = recording([*one, *two]);
    let stack = STACKS[usize::from(*choice) % STACKS.len()];
    let sent = Sent {
        http_method: recording.http_method.clone(),
        headers: recording.headers.clone(),
        body: recording.compact.clone(),
        cuts: Vec::new(),
    };
    let given = Given {
        status: recording.status,
        headers: recording.answer_headers.clone(),
        body: Bytes::copy_from_slice(body),
        cuts: (1..5).map(|part| usize::from(*cut) * part).collect(),
        knows_length: *cut % 2 == 0,
    };
    run(answers::check(stack, &sent, &given, &catalogue::of(recording)));
});
