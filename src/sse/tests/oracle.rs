//! The slow, obviously right reader of a whole event stream: the standard's algorithm, word for word.

/// What a client gets of one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) data: Vec<u8>,
    pub(super) event_type: Vec<u8>,
    pub(super) last_id: Vec<u8>,
    pub(super) retry: Vec<u8>,
}

/// The events of a stream. One that its end cuts short is dropped.
pub(super) fn events(stream: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut event = Event::default();
    for line in lines(stream) {
        if line.is_empty() {
            // The id and the retry time stay for the events that follow.
            let next = Event { data: Vec::new(), event_type: Vec::new(), ..event.clone() };
            let mut done = std::mem::replace(&mut event, next);
            if done.data.pop().is_some() {
                events.push(done);
            }
            continue;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (field, mut value) = match colon {
            Some(0) => continue,
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (&line[..], &[][..]),
        };
        value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                event.data.extend_from_slice(value);
                event.data.push(b'\n');
            }
            b"event" => event.event_type = value.to_vec(),
            b"id" if !value.contains(&0) => event.last_id = value.to_vec(),
            b"retry" if value.iter().all(u8::is_ascii_digit) => event.retry = value.to_vec(),
            _ => {}
        }
    }
    events
}

/// The lines that have an end.
fn lines(stream: &[u8]) -> Vec<Vec<u8>> {
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    let mut lines = Vec::new();
    let mut line = Vec::new();
    let mut bytes = stream.iter().peekable();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\r' => {
                bytes.next_if_eq(&&b'\n');
                lines.push(std::mem::take(&mut line));
            }
            b'\n' => lines.push(std::mem::take(&mut line)),
            _ => line.push(byte),
        }
    }
    lines
}
