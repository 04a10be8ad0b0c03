//! The example `reverse_proxy` between an upstream and clients that fail, each by hand on a socket: what one side breaks
//! reaches the other, nobody takes a part for the whole, and everybody else is served meanwhile.

mod clients;
#[path = "../kit/mod.rs"]
mod kit;
mod upstreams;

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use kit::example::Proxy;
use memchr::memmem::find;
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

/// For whatever must happen at all.
const PATIENCE: Duration = Duration::from_secs(10);
const A_SECOND: Duration = Duration::from_secs(1);

/// A list with a tool that a model may not see, and what it sees.
const LIST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
const TOOLS: &str = concat!(
    r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"hidden","inputSchema":{},"_meta":{"ui":{"visibility":["app"]}}},"#,
    r#"{"name":"shown","inputSchema":{}}]}}"#
);
const EVENT_STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
const NOTICE: &str = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n";

/// A server that reads a request, and then does as it is told with the connection.
async fn upstream<F, O>(act: F) -> SocketAddr
where
    F: Fn(TcpStream) -> O + Send + Sync + Clone + 'static,
    O: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let act = act.clone();
            tokio::spawn(async move {
                read_request(&mut stream).await;
                act(stream).await;
            });
        }
    });
    address
}

/// Reads a request whole.
async fn read_request(stream: &mut TcpStream) {
    let (mut request, mut bytes) = (Vec::new(), [0; 4096]);
    while Message::of(&request).is_none_or(|message| !message.is_whole) {
        match stream.read(&mut bytes).await {
            Ok(read) if read > 0 => request.extend_from_slice(&bytes[..read]),
            _ => return,
        }
    }
}

/// The proxy before this server, for this audience.
async fn proxy(upstream: SocketAddr, audience: &'static str) -> Proxy {
    let started = tokio::task::spawn_blocking(move || {
        Proxy::start(&["--upstream", &format!("http://{upstream}/mcp"), "--audience", audience])
    });
    started.await.expect("it starts")
}

fn address(proxy: &Proxy) -> String {
    proxy.endpoint.authority().expect("a host").to_string()
}

/// A connection on which this request was sent.
async fn ask(proxy: &Proxy, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address(proxy)).await.expect("it listens");
    stream.write_all(request(body.len()).as_bytes()).await.expect("it reads");
    stream.write_all(body.as_bytes()).await.expect("it reads");
    stream
}

fn request(length: usize) -> String {
    format!("POST /mcp HTTP/1.1\r\nhost: proxy\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n")
}

/// All that comes, up to the end of the answer or of the connection.
async fn answer(stream: &mut TcpStream) -> Message {
    let (mut got, mut bytes) = (Vec::new(), [0; 4096]);
    let reading = async {
        while Message::of(&got).is_none_or(|message| !message.is_whole) {
            match stream.read(&mut bytes).await {
                Ok(read) if read > 0 => got.extend_from_slice(&bytes[..read]),
                // Closed or reset.
                _ => break,
            }
        }
    };
    timeout(PATIENCE, reading).await.expect("it ends");
    Message::of(&got).unwrap_or_else(|| panic!("no head: {}", String::from_utf8_lossy(&got)))
}

/// A chunk of a chunked body.
fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// A request or an answer, as far as it has come.
#[derive(Debug)]
struct Message {
    head: String,
    body: String,
    /// Whether its own framing says that this is all.
    is_whole: bool,
}

impl Message {
    fn of(bytes: &[u8]) -> Option<Self> {
        let end = find(bytes, b"\r\n\r\n")? + 4;
        let (head, mut rest) = (String::from_utf8_lossy(&bytes[..end]).to_lowercase(), &bytes[end..]);
        if !head.contains("transfer-encoding: chunked") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length = length.map_or(0, |length| length.parse().expect("a number"));
            let body = String::from_utf8_lossy(rest).into_owned();
            return Some(Self { head, is_whole: rest.len() >= length, body });
        }
        let mut body = Vec::new();
        while let Some(at) = find(rest, b"\r\n") {
            let size = String::from_utf8_lossy(&rest[..at]).into_owned();
            let size = usize::from_str_radix(&size, 16).expect("a size");
            let Some(data) = rest.get(at + 2..at + 2 + size) else {
                body.extend_from_slice(&rest[at + 2..]);
                break;
            };
            if size == 0 {
                return Some(Self { head, body: String::from_utf8_lossy(&body).into_owned(), is_whole: true });
            }
            body.extend_from_slice(data);
            rest = rest.get(at + 4 + size..).unwrap_or_default();
        }
        Some(Self { head, body: String::from_utf8_lossy(&body).into_owned(), is_whole: false })
    }

    fn status(&self) -> &str {
        self.head.split(' ').nth(1).expect("a status line")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON-RPC error that it is: its code and id.
    fn error(&self) -> (i64, i64) {
        let json = self.json();
        let error = json["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {json}"));
        (error, json["id"].as_i64().expect("the request's id"))
    }
}
