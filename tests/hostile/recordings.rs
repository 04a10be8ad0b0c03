//! The recordings of `tests/data/recordings`.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One exchange as it was recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    /// The server, by its folder.
    pub(crate) server: String,
    /// The file without its ending.
    pub(crate) name: String,
    pub(crate) http_method: Method,
    pub(crate) headers: HeaderMap,
    /// The JSON-RPC method, or `""`.
    pub(crate) method: String,
    /// As it stands in the file, with its white space.
    pub(crate) body: Bytes,
    /// Without white space, as most clients send it.
    pub(crate) compact: Bytes,
    pub(crate) status: u16,
    pub(crate) answer_headers: HeaderMap,
    pub(crate) answer: Bytes,
}

#[derive(Deserialize)]
struct RequestFile {
    http: Head,
    body: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Head {
    method: String,
    headers: std::collections::BTreeMap<String, String>,
}

/// All of them, in the order of their names.
pub(crate) fn all() -> &'static [Recording] {
    static ALL: OnceLock<Vec<Recording>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut files = Vec::new();
        // The fuzz targets lie a folder deeper.
        let package = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder =
            package.ancestors().map(|folder| folder.join("tests/data/recordings")).find(|folder| folder.is_dir());
        for server in fs::read_dir(folder.expect("the recordings are there")).expect("a folder") {
            let server = server.expect("a folder").path();
            let entries = fs::read_dir(&server).into_iter().flatten();
            files.extend(entries.map(|file| file.expect("a file").path()));
        }
        files.sort();
        let requests = files.iter().filter_map(|file| {
            let name = file.file_name()?.to_str()?.strip_suffix(".request.json")?;
            Some(read(file, name))
        });
        requests.collect()
    })
}

fn read(file: &Path, name: &str) -> Recording {
    let text = fs::read_to_string(file).expect("text");
    let request: RequestFile = serde_json::from_str(&text).expect("a request");
    let response = fs::read(file.with_file_name(format!("{name}.http-response"))).expect("its answer");
    let end = response.windows(4).position(|window| window == b"\r\n\r\n").expect("a head");
    let head = std::str::from_utf8(&response[..end]).expect("text");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a status");
    let headers = |lines: &mut dyn Iterator<Item = (&str, &str)>| -> HeaderMap {
        let connection = ["connection", "transfer-encoding", "content-length", "keep-alive"];
        let kept = lines.filter(|(name, _)| !connection.contains(&&*name.to_ascii_lowercase()));
        let pairs = kept.map(|(name, value)| {
            let name: HeaderName = name.parse().expect("a name");
            (name, HeaderValue::from_str(value).expect("a value"))
        });
        pairs.collect()
    };
    let sent = &mut request.http.headers.iter().map(|(name, value)| (&**name, &**value));
    let came = &mut lines.map(|line| line.split_once(": ").unwrap_or((line, "")));
    let body = request.body.map_or(Bytes::new(), |body| Bytes::from(body.get().to_owned()));
    let message: Option<serde_json::Value> = serde_json::from_slice(&body).ok();
    let method = message.as_ref().and_then(|message| message["method"].as_str()).unwrap_or_default().to_owned();
    let folder = file.parent().and_then(Path::file_name).expect("a folder");
    Recording {
        server: folder.to_str().expect("text").to_owned(),
        name: name.to_owned(),
        http_method: request.http.method.parse().expect("a method"),
        headers: headers(sent),
        method,
        compact: message.map_or(body.clone(), |message| message.to_string().into()),
        body,
        status: status.parse().expect("a number"),
        answer_headers: headers(came),
        answer: Bytes::copy_from_slice(&response[end + 4..]),
    }
}
