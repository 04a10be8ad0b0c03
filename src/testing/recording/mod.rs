//! Exchanges that were recorded: kept in files, and played again.

mod files;
mod head;
mod replay;

use std::io;
use std::path::Path;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Request, StatusCode};
use serde_json::Value;

use super::collected::is_stream;
use super::{Answer, Body, FakeServer, Reply};

/// Exchanges, in the order in which they happened.
///
/// [`TestClient::recorded`](super::TestClient::recorded) makes one of what a client does, and
/// [`server`](Self::server) plays one as a server does.
///
/// # Files
///
/// A recording is a folder with two files for each exchange, in the order of their names:
///
/// - `NAME.request.json`: `{"http": {"method": …, "path": …, "headers": {…}}, "body": …}`. A header that stands more than
///   once has a list for a value. The body is the JSON that was sent, as it was written; in its place is `"text"` for a
///   body that is no JSON, `"hex"` for one that is no UTF-8, and `null` for none. `"broken": true` says that the body of the
///   answer broke off.
/// - `NAME.http-response`: the answer as HTTP/1.1 writes it, without chunks: a status line, headers, a blank line, then
///   all bytes to the end of the file. Lines may end with LF alone.
///
/// Requests without an answer or without `http` (recorded from another transport), and other files, are passed over.
///
/// ```
/// use serde_json::json;
/// use tower_mcp_apps::testing::{FakeServer, Recording, TestClient, assert_unchanged};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("recording-{}", std::process::id()));
/// let server = FakeServer::new().tool(json!({"name": "weather"}));
/// let mut client = TestClient::new(server).recorded();
/// let answer = client.call("weather", json!({"city": "Bonn"})).await?;
/// client.recording().write(&folder)?; // 01-tools_call.request.json, 01-tools_call.http-response
///
/// let mut again = TestClient::new(Recording::read(&folder)?.server());
/// assert_unchanged(&answer, &again.call("weather", json!({"city": "Bonn"})).await?);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recording {
    exchanges: Vec<RecordedExchange>,
}

/// One exchange of a [`Recording`].
#[derive(Clone, Debug)]
pub struct RecordedExchange {
    name: Option<String>,
    head: Parts,
    asked: Bytes,
    status: StatusCode,
    headers: HeaderMap,
    answered: Bytes,
    is_broken: bool,
}

impl Recording {
    /// Reads a folder.
    ///
    /// # Errors
    ///
    /// Those of the file system, and [`InvalidData`](io::ErrorKind::InvalidData) with the name of the file that is none of a
    /// recording.
    pub fn read(folder: impl AsRef<Path>) -> io::Result<Self> {
        files::read(folder.as_ref()).map(|exchanges| Self { exchanges })
    }

    /// Writes two files for each exchange into this folder, which is made where it is not there. Exchanges that have no
    /// name get their number and method for one.
    ///
    /// # Errors
    ///
    /// Those of the file system.
    pub fn write(&self, folder: impl AsRef<Path>) -> io::Result<()> {
        files::write(folder.as_ref(), &self.exchanges)
    }

    /// The exchanges.
    pub fn exchanges(&self) -> &[RecordedExchange] {
        &self.exchanges
    }

    /// A server that answers as it was recorded.
    ///
    /// A request gets the answer to the one that is most like it: the same bytes, or else the same JSON-RPC method and
    /// params, or else these but for `_meta` in the same era. Of several alike each is used once, then the last one again.
    /// The id becomes that of the request. Where there is none, the answer is 404.
    pub fn server(&self) -> FakeServer {
        replay::server(self.exchanges.clone())
    }

    pub(super) fn add(&mut self, exchange: RecordedExchange) {
        self.exchanges.push(exchange);
    }
}

impl RecordedExchange {
    /// What a client asks. The answer is to come.
    pub(super) fn asked(request: &Request<Body>) -> Self {
        let mut head = Request::new(()).into_parts().0;
        head.method.clone_from(request.method());
        head.uri.clone_from(request.uri());
        head.headers.clone_from(request.headers());
        let asked = request.body().data_so_far();
        let (status, headers) = (StatusCode::OK, HeaderMap::new());
        Self { name: None, head, asked, status, headers, answered: Bytes::new(), is_broken: false }
    }

    pub(super) fn answered(mut self, answer: &Answer) -> Self {
        self.status = answer.status();
        self.headers.clone_from(answer.headers());
        self.answered = answer.bytes().clone();
        self.is_broken = answer.error().is_some();
        self
    }

    /// The name of its files, where it was read.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The request.
    pub fn request(&self) -> Request<Body> {
        let mut request = Request::new(Body::new(self.asked.clone()));
        request.method_mut().clone_from(&self.head.method);
        request.uri_mut().clone_from(&self.head.uri);
        request.headers_mut().clone_from(&self.head.headers);
        request
    }

    /// The body of the request.
    pub fn request_bytes(&self) -> &Bytes {
        &self.asked
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers of the answer.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The body of the answer.
    pub fn answer_bytes(&self) -> &Bytes {
        &self.answered
    }

    /// The answer as a server gives it: without the headers of a connection, and a `Content-Length` only where it is right.
    pub fn reply(&self) -> Reply {
        replay::reply(self, None)
    }

    /// The method of the JSON-RPC message that was sent; else the verb.
    fn method(&self) -> String {
        let message: Value = serde_json::from_slice(&self.asked).unwrap_or_default();
        message["method"].as_str().unwrap_or(self.head.method.as_str()).to_owned()
    }

    fn is_stream(&self) -> bool {
        is_stream(&self.headers, &self.answered)
    }
}
