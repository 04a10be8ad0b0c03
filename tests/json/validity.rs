//! The reader accepts exactly what the slow twin accepts, by `skip` and by a walk alike.

use proptest::prelude::*;
use tower_mcp_apps::json::{Depth, ErrorKind, Reader};

use crate::{oracle, suite, texts};

#[derive(Clone, Debug)]
enum Mutation {
    Flip(u8),
    Put(u8),
    Insert(u8),
    Cut(usize),
    Double(usize),
    End,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let byte = || prop::sample::select(b"{}[]:,\"\\ \n\t0123.-+eEutfn/\x00\x1f\x7f\x80\xc3\xed\xff".to_vec());
    prop_oneof![
        (0..8u8).prop_map(|bit| Mutation::Flip(1 << bit)),
        byte().prop_map(Mutation::Put),
        byte().prop_map(Mutation::Insert),
        (1..9usize).prop_map(Mutation::Cut),
        (1..9usize).prop_map(Mutation::Double),
        Just(Mutation::End),
    ]
}

fn mutate(text: &mut Vec<u8>, at: prop::sample::Index, mutation: Mutation) {
    if text.is_empty() {
        return;
    }
    let at = at.index(text.len());
    let until = |length: usize| (at + length).min(text.len());
    match mutation {
        Mutation::Flip(bit) => text[at] ^= bit,
        Mutation::Put(byte) => text[at] = byte,
        Mutation::Insert(byte) => text.insert(at, byte),
        Mutation::Cut(length) => drop(text.drain(at..until(length))),
        Mutation::Double(length) => {
            let part = text[at..until(length)].to_vec();
            text.splice(at..at, part);
        }
        Mutation::End => text.truncate(at),
    }
}

fn judge(text: &[u8]) -> Result<(), TestCaseError> {
    let skipped = suite::skip(text);
    let shown = String::from_utf8_lossy(text);
    prop_assert_eq!(skipped, suite::walk(text), "{}", shown);
    let right = oracle::parse(text, Depth::default().get()).is_some();
    prop_assert_eq!(skipped.is_ok(), right, "{:?}: {}", skipped, shown);
    // serde_json refuses some valid texts (depth, lone surrogates, huge numbers), but accepts no invalid one.
    if serde_json::from_slice::<serde_json::Value>(text).is_ok() {
        prop_assert_eq!(skipped, Ok(()));
    }
    if let Err(error) = skipped {
        prop_assert!(error.offset() <= text.len());
        // What comes before the offset can be the start of a valid text: cut there, only the end is missing.
        let cut = suite::skip(&text[..error.offset()]).map_err(|error| error.kind());
        let plausible = matches!(cut, Ok(()) | Err(ErrorKind::Eof | ErrorKind::InvalidNumber));
        let escape = error.kind() == ErrorKind::InvalidEscape;
        prop_assert!(plausible || escape || error.kind() == ErrorKind::Utf8, "{}: {}", error, shown);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn generated_texts_are_accepted(text in texts::value(), before in texts::space(), after in texts::space()) {
        let whole = format!("{before}{text}{after}");
        prop_assert_eq!(suite::skip(whole.as_bytes()), Ok(()));
        let span = Reader::new(whole.as_bytes()).skip().unwrap();
        prop_assert_eq!(span.of(whole.as_bytes()), text.as_bytes());
        judge(whole.as_bytes())?;
    }

    #[test]
    fn mutated_texts_are_judged_as_the_twin_does(
        text in texts::value(),
        mutations in prop::collection::vec((any::<prop::sample::Index>(), mutation()), 1..4),
    ) {
        let mut text = text.into_bytes();
        for (at, mutation) in mutations {
            mutate(&mut text, at, mutation);
        }
        judge(&text)?;
    }

    #[test]
    fn soup_is_judged_as_the_twin_does(
        text in prop::collection::vec(prop::sample::select(b"{}[]:,\"\\ 0123.-eE\x1f\x80ua".to_vec()), 0..24),
    ) {
        judge(&text)?;
    }
}

/// Every text of up to five bytes of an alphabet in which most of the grammar can be written.
#[test]
fn short_texts_are_judged_as_the_twin_does() {
    fn extend(text: &mut Vec<u8>, left: usize) {
        let right = oracle::parse(text, 512).is_some();
        let shown = String::from_utf8_lossy(text);
        assert_eq!(suite::skip(text).is_ok(), right, "{shown}");
        if left == 0 {
            return;
        }
        for byte in b"[]{}\",:\\10-. " {
            text.push(*byte);
            extend(text, left - 1);
            text.pop();
        }
    }
    extend(&mut Vec::new(), 5);
}
