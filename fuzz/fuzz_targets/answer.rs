//! Any answer through each stack. The input is a byte for the stack, one for the cuts, two that name the recording which it answers,
//! and the body.
#![no_main]

mod hostile;
#[path = "../../tests/kit/mod.rs"]
mod kit;

use bytes::Bytes;
use hostile::answers::{self, Given};
use hostile::dress::dress;
use hostile::requests::Sent;
use hostile::stacks::{STACKS, Stack};
use hostile::{catalogue, recording, run};
use libfuzzer_sys::fuzz_target;

/// Its answers are those that have tools in a text.
const LIST_TOOLS: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"list_tools"}}"#;

fuzz_target!(|input: &[u8]| {
    let [choice, cut, one, two, body @ ..] = input else { return };
    let recording = recording([*one, *two]);
    let stack = STACKS[usize::from(*choice) % STACKS.len()];
    let mut sent = Sent {
        http_method: recording.http_method.clone(),
        headers: recording.headers.clone(),
        body: recording.compact.clone(),
        cuts: Vec::new(),
    };
    dress(stack, &mut sent);
    if stack == Stack::MetaTools && recording.method == "tools/list" {
        sent.body = LIST_TOOLS.into();
    }
    let given = Given {
        status: recording.status,
        headers: recording.answer_headers.clone(),
        body: Bytes::copy_from_slice(body),
        cuts: (1..5).map(|part| usize::from(*cut) * part).collect(),
        knows_length: *cut % 2 == 0,
    };
    run(answers::check(stack, &sent, &given, &catalogue::of(recording)));
});
