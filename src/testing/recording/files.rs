//! The folder of a recording.

use std::path::Path;
use std::{fs, io};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, request};
use serde_json::{Map, Value, json};

use super::{RecordedExchange, head};
use crate::json::Reader;
use crate::testing::text::member;

const REQUEST: &str = ".request.json";
const RESPONSE: &str = ".http-response";

pub(super) fn read(folder: &Path) -> io::Result<Vec<RecordedExchange>> {
    let entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<_> = names.filter_map(|name| name.strip_suffix(REQUEST).map(str::to_owned)).collect();
    names.sort();
    let mut exchanges = Vec::new();
    for name in names {
        let (request, response) = (format!("{name}{REQUEST}"), format!("{name}{RESPONSE}"));
        let text = fs::read(folder.join(&request))?;
        let wrong = |file: &str, why: String| io::Error::new(io::ErrorKind::InvalidData, format!("{file}: {why}"));
        let is_http = member(&text, "http").is_some() || serde_json::from_slice::<Value>(&text).is_err();
        if !is_http || !folder.join(&response).exists() {
            continue;
        }
        let (head, asked) = read_request(&text).map_err(|why| wrong(&request, why))?;
        let is_broken = member(&text, "broken") == Some(b"true");
        let (status, headers, answered) =
            head::read(&fs::read(folder.join(&response))?).map_err(|why| wrong(&response, why))?;
        exchanges.push(RecordedExchange { name: Some(name), head, asked, status, headers, answered, is_broken });
    }
    Ok(exchanges)
}

fn read_request(text: &[u8]) -> Result<(request::Parts, Bytes), String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let http = &value["http"];
    let said = |name: &str| http[name].as_str().ok_or_else(|| format!("http.{name} is missing"));
    let mut request = Request::builder().method(said("method")?).uri(said("path")?);
    for (name, value) in http["headers"].as_object().into_iter().flatten() {
        let values = value.as_array().map_or(std::slice::from_ref(value), |values| &**values);
        for value in values {
            let value = value.as_str().ok_or_else(|| format!("http.headers.{name} is no text"))?;
            request = request.header(&**name, value);
        }
    }
    let body = match (value["text"].as_str(), value["hex"].as_str(), member(text, "body")) {
        (Some(text), ..) => Bytes::copy_from_slice(text.as_bytes()),
        (_, Some(hex), _) => unhex(hex).ok_or("hex is no pairs of hexadecimal digits")?,
        (.., None | Some(b"null")) => Bytes::new(),
        (.., Some(body)) => Bytes::copy_from_slice(body),
    };
    let request = request.body(()).map_err(|error| error.to_string())?;
    Ok((request.into_parts().0, body))
}

pub(super) fn write(folder: &Path, exchanges: &[RecordedExchange]) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (index, exchange) in exchanges.iter().enumerate() {
        let name = exchange.name.clone().unwrap_or_else(|| {
            let method = exchange.method();
            let safe = |character: char| if character.is_ascii_alphanumeric() { character } else { '_' };
            format!("{:02}-{}", index + 1, method.chars().map(safe).collect::<String>())
        });
        fs::write(folder.join(format!("{name}{REQUEST}")), write_request(exchange))?;
        let answer = head::write(exchange.status, &exchange.headers, &exchange.answered);
        fs::write(folder.join(format!("{name}{RESPONSE}")), answer)?;
    }
    Ok(())
}

fn write_request(exchange: &RecordedExchange) -> Vec<u8> {
    let mut headers = Map::new();
    for name in exchange.head.headers.keys() {
        headers.insert(name.to_string(), values(exchange, name));
    }
    let path = exchange.head.uri.path_and_query().map_or("/", |path| path.as_str());
    let http = json!({ "method": exchange.head.method.as_str(), "path": path, "headers": headers });
    let mut out = format!("{{\n\"http\": {http},\n").into_bytes();
    if exchange.is_broken {
        out.extend_from_slice(b"\"broken\": true,\n");
    }
    let body = &exchange.asked;
    match std::str::from_utf8(body) {
        _ if body.is_empty() => out.extend_from_slice(b"\"body\": null"),
        // As it is, so that what is read again are the very bytes. Null would be taken for none.
        Ok(text) if is_json(body) && text.trim() == text && text != "null" => {
            out.extend_from_slice(b"\"body\": ");
            out.extend_from_slice(body);
        }
        Ok(text) => out.extend_from_slice(format!("\"text\": {}", Value::from(text)).as_bytes()),
        Err(_) => out.extend_from_slice(format!("\"hex\": \"{}\"", hex(body)).as_bytes()),
    }
    out.extend_from_slice(b"\n}\n");
    out
}

fn values(exchange: &RecordedExchange, name: &HeaderName) -> Value {
    let text = |value: &HeaderValue| Value::from(String::from_utf8_lossy(value.as_bytes()));
    let mut values: Vec<_> = exchange.head.headers.get_all(name).iter().map(text).collect();
    if values.len() == 1 { values.remove(0) } else { values.into() }
}

fn is_json(text: &[u8]) -> bool {
    let mut reader = Reader::new(text);
    // Both parsers must take it: the one that reads the file, and ours.
    reader.skip().is_ok() && reader.end().is_ok() && serde_json::from_slice::<Value>(text).is_ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Bytes> {
    let digits = text.as_bytes();
    let is_hex = digits.len().is_multiple_of(2) && digits.iter().all(u8::is_ascii_hexdigit);
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    is_hex.then(|| digits.chunks(2).map(pair).collect::<Option<Vec<_>>>())?.map(Bytes::from)
}
