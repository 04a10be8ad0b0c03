//! What went on under a gate, written for other parsers of JSON to read: `tests/differential/run`.

use std::env;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use serde_json::{Value, json};

use super::requests::{Id, Understood};
use super::run::each_request;

/// What `serde_json` reads in a body; `null` where it takes it for no JSON.
fn read(body: &[u8]) -> Value {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return Value::Null };
    let messages = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
    let each = messages.iter().map(|message| {
        let params = &message["params"];
        let id = match &message["id"] {
            Value::String(text) => json!({ "text": text }),
            Value::Number(number) => json!({ "number": number.to_string() }),
            _ => Value::Null,
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        json!({ "method": text(&message["method"]), "name": text(&params["name"]), "uri": text(&params["uri"]), "id": id })
    });
    each.collect()
}

fn judged(message: &Understood, id: Option<&[u8]>) -> Value {
    let id = match (&message.id, id) {
        (Some(Id::Text(text)), _) => json!({ "text": text }),
        (Some(Id::Number(_)), Some(id)) => json!({ "number": String::from_utf8_lossy(id) }),
        _ => Value::Null,
    };
    json!({ "method": message.method, "name": message.name, "uri": message.uri, "id": id })
}

/// Writes bodies, each behind four bytes with its length, what was judged of them, and what `serde_json` reads, a line each.
#[test]
#[ignore = "tests/differential/run calls it"]
fn forwarded_requests_are_written() {
    let folder = env::var("FORWARDED").expect("FORWARDED names a folder");
    let file = |name: &str| BufWriter::new(File::create(format!("{folder}/{name}")).expect("a file"));
    let (mut bodies, mut lines, mut serde) = (file("bodies"), file("judged"), file("serde_json"));
    each_request("requests", |request| {
        if request.body.is_empty() {
            return;
        }
        let length = u32::try_from(request.body.len()).expect("a short body");
        bodies.write_all(&length.to_be_bytes()).and_then(|()| bodies.write_all(&request.body)).expect("it is written");
        let messages = request.judged.iter().zip(&request.ids).map(|(message, id)| judged(message, id.as_deref()));
        writeln!(lines, "{}", Value::from_iter(messages)).expect("it is written");
        writeln!(serde, "{}", read(&request.body)).expect("it is written");
    });
}
