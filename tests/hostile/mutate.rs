//! Mutations of bodies: blind ones of bytes, and those of somebody who knows where two readers of JSON differ.

use super::dice::Dice;

/// What is done to a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mutation {
    /// A bit of a byte.
    Flip,
    /// Bytes go.
    Cut,
    /// The end goes.
    BreakOff,
    /// Bytes stand twice.
    Double,
    /// Bytes stand many times.
    Repeat,
    /// The start of this and the end of another.
    Splice,
    /// Bytes that mean something to a reader are put in.
    Insert,
    /// A member's name in other cases.
    Case,
    /// A member stands twice, with another value.
    DoubleMember,
    /// A member gets another value.
    Value,
    /// A string is written with escapes.
    Respell,
    /// A batch of this and another.
    Batch,
    /// Something follows.
    Trail,
}

const MUTATIONS: [Mutation; 18] = [
    Mutation::Flip,
    Mutation::Cut,
    Mutation::BreakOff,
    Mutation::Double,
    Mutation::Repeat,
    Mutation::Splice,
    Mutation::Insert,
    Mutation::Insert,
    Mutation::Case,
    Mutation::Case,
    Mutation::DoubleMember,
    Mutation::DoubleMember,
    Mutation::Value,
    Mutation::Value,
    Mutation::Respell,
    Mutation::Respell,
    Mutation::Batch,
    Mutation::Trail,
];

/// What means something to one reader or another.
const PIECES: [&[u8]; 40] = [
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":",
    b"\\",
    b"\n",
    b"\r",
    b"\n\n",
    b"\r\n\r\n",
    b" ",
    b"\t",
    b"\0",
    b"\x0b",
    b"\x1f",
    b"\x7f",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xa8",
    b"\xc2\xa0",
    b"\\ud800",
    b"\\udc00",
    b"\\u0000",
    b"\\u0022",
    b"/**/",
    b"//",
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"-0",
    b"123456789012345678901234567890",
    b"null",
    b"data: ",
    b"{}",
    b"[]",
    b"\"\"",
];

/// Values that a member may get, as JSON texts; names of tools come beside them.
const VALUES: [&str; 30] = [
    "null",
    "true",
    "7",
    "-0.0",
    "1e2",
    "1e999",
    "9007199254740993",
    "123456789012345678901234567890",
    "\"\"",
    "\"7\"",
    "\"\\ud800\"",
    "\"a\\u0000\"",
    "[]",
    "{}",
    "[{}]",
    "[\"app\"]",
    "[\"model\"]",
    "[\"model\",\"app\"]",
    "\"app\"",
    "\"tools/call\"",
    "\"tools/list\"",
    "\"resources/read\"",
    "\"ping\"",
    "\"2.0\"",
    "\"2026-07-28\"",
    "\"2025-11-25\"",
    "\"complete\"",
    "{\"ui\":{\"visibility\":[\"app\"]}}",
    "{\"name\":\"x\"}",
    "\"ui://a/b\"",
];

/// Mutates a body in one way, and says in which. `others` are bodies to splice with, `names` those of tools, as JSON texts.
pub(crate) fn mutate(body: &mut Vec<u8>, dice: &mut Dice, others: &[&[u8]], names: &[String]) -> Mutation {
    let mutation = *dice.pick(&MUTATIONS);
    let at = dice.below(body.len() + 1);
    let length = 1 + if dice.once_in(3) { dice.below(body.len() + 1) } else { dice.below(12) };
    let until = (at + length).min(body.len());
    match mutation {
        Mutation::Flip => {
            if let Some(byte) = body.get_mut(at) {
                *byte ^= 1 << dice.below(8);
            }
        }
        Mutation::Cut => drop(body.drain(at..until)),
        Mutation::BreakOff => body.truncate(at),
        Mutation::Double => {
            let twice = body[at..until].to_vec();
            insert(body, at, &twice);
        }
        Mutation::Repeat => {
            let part = &body[at..until.min(at + 200)];
            let times = if dice.once_in(8) { 600 } else { 2 + dice.below(20) };
            insert(body, at, &part.repeat(times));
        }
        Mutation::Splice => {
            let other = *dice.pick(others);
            body.truncate(at);
            body.extend_from_slice(&other[dice.below(other.len() + 1)..]);
        }
        Mutation::Insert => {
            let piece = dice.pick(&PIECES);
            insert(body, at, piece);
        }
        Mutation::Case => case(body, dice),
        Mutation::DoubleMember => double_member(body, dice, names),
        Mutation::Value => {
            if let Some((start, end)) = member(body, dice) {
                let start = value_start(body, start);
                let value = value(dice, names);
                body.splice(start..end, value.into_bytes());
            }
        }
        Mutation::Respell => respell(body, dice),
        Mutation::Batch => {
            let other = *dice.pick(others);
            let parts: [&[u8]; 2] = if dice.once_in(2) { [body, other] } else { [other, body] };
            *body = [b"[", parts[0], b",", parts[1], b"]"].concat();
        }
        Mutation::Trail => {
            let other = *dice.pick(others);
            let tail = if dice.once_in(2) { other } else { *dice.pick(&PIECES) };
            body.extend_from_slice(tail);
        }
    }
    mutation
}

fn insert(body: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    body.splice(at..at, bytes.iter().copied());
}

fn value(dice: &mut Dice, names: &[String]) -> String {
    if dice.once_in(2) && !names.is_empty() { dice.pick(names).clone() } else { (*dice.pick(&VALUES)).to_owned() }
}

/// The strings of a text with their quotes, found without reading JSON: it may be none.
fn strings(body: &[u8]) -> Vec<(usize, usize)> {
    let mut strings = Vec::new();
    let (mut start, mut is_escaped) = (None, false);
    for (at, byte) in body.iter().enumerate() {
        match (start, byte) {
            (_, _) if is_escaped => is_escaped = false,
            (None, b'"') => start = Some(at),
            (Some(_), b'\\') => is_escaped = true,
            (Some(from), b'"') => {
                strings.push((from, at + 1));
                start = None;
            }
            _ => {}
        }
    }
    strings
}

fn keys(body: &[u8]) -> Vec<(usize, usize)> {
    let is_key = |(_, end): &(usize, usize)| body[*end..].trim_ascii_start().starts_with(b":");
    strings(body).into_iter().filter(is_key).collect()
}

/// Some member, from its key to the end of its value. The outer ones, which decide most, come more often.
fn member(body: &[u8], dice: &mut Dice) -> Option<(usize, usize)> {
    let keys = keys(body);
    if keys.is_empty() {
        return None;
    }
    let most = if dice.once_in(2) { keys.len() } else { keys.len().min(12) };
    let (start, _) = keys[dice.below(most)];
    let value = value_start(body, start);
    let mut depth = 0_usize;
    let mut at = value;
    let strings = strings(body);
    while let Some(byte) = body.get(at) {
        match byte {
            b'"' => match strings.binary_search_by_key(&at, |(start, _)| *start) {
                Ok(which) => at = strings[which].1 - 1,
                Err(_) => return None,
            },
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => break,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => break,
            _ => {}
        }
        at += 1;
    }
    Some((start, at))
}

/// Where the value of the member whose key starts here begins.
fn value_start(body: &[u8], key: usize) -> usize {
    let colon = strings(body).iter().find(|(start, _)| *start == key).map_or(key, |(_, end)| *end);
    colon + body[colon..].iter().position(|byte| *byte == b':').map_or(0, |at| at + 1)
}

fn double_member(body: &mut Vec<u8>, dice: &mut Dice, names: &[String]) {
    let Some((start, end)) = member(body, dice) else { return };
    let from = value_start(body, start);
    let (key, same) = (&body[start..from], &body[from..end]);
    let value = if dice.once_in(4) { same.to_vec() } else { value(dice, names).into_bytes() };
    let mut twin = [key, &value].concat();
    if dice.once_in(3) {
        case(&mut twin, dice);
    }
    let (at, twin) = match dice.below(2) {
        0 => (start, [&twin, &b","[..]].concat()),
        _ => (end, [&b","[..], &twin].concat()),
    };
    insert(body, at, &twin);
}

fn case(body: &mut Vec<u8>, dice: &mut Dice) {
    let keys = keys(body);
    if keys.is_empty() {
        return;
    }
    let most = if dice.once_in(2) { keys.len() } else { keys.len().min(12) };
    let (start, end) = keys[dice.below(most)];
    let key = String::from_utf8_lossy(&body[start + 1..end - 1]).into_owned();
    let which = dice.below(key.len().max(1));
    let other = |at: usize, letter: char| match letter {
        's' | 'S' if at.is_multiple_of(2) => '\u{17f}',
        'k' | 'K' if at.is_multiple_of(2) => '\u{212a}',
        'i' | 'I' if at.is_multiple_of(2) => '\u{131}',
        letter if letter.is_ascii_lowercase() => letter.to_ascii_uppercase(),
        letter => letter.to_ascii_lowercase(),
    };
    let cased: String = match dice.below(3) {
        0 => key.to_uppercase(),
        1 => key.chars().enumerate().map(|(at, letter)| if at == which { other(at, letter) } else { letter }).collect(),
        _ => key.chars().map(|letter| other(which, letter)).collect(),
    };
    body.splice(start + 1..end - 1, cased.into_bytes());
}

fn respell(body: &mut Vec<u8>, dice: &mut Dice) {
    let strings = strings(body);
    if strings.is_empty() {
        return;
    }
    let most = if dice.once_in(2) { strings.len() } else { strings.len().min(16) };
    let (start, end) = strings[dice.below(most)];
    let text = &body[start + 1..end - 1];
    if text.contains(&b'\\') || text.len() > 200 {
        return;
    }
    let one = dice.below(text.len().max(1));
    let all = dice.once_in(3);
    let mut spelled = String::new();
    for (at, letter) in String::from_utf8_lossy(text).char_indices() {
        if all || at == one {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                spelled += &format!("\\u{unit:04x}");
            }
        } else {
            spelled.push(letter);
        }
    }
    body.splice(start + 1..end - 1, spelled.into_bytes());
}
