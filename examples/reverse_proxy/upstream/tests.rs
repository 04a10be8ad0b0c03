//! The answers that the proxy gives in the upstream's place.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Empty};
use tower::ServiceExt;

use super::{Upstream, error_response};

#[tokio::test]
async fn an_error_has_the_id_where_it_is_known() {
    for (id, text) in [
        (Some(r#""a""#), r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32603,"message":"no \"way\""}}"#),
        (Some("1.0"), r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-32603,"message":"no \"way\""}}"#),
        (None, r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"no \"way\""}}"#),
    ] {
        let response = error_response(StatusCode::BAD_GATEWAY, id, "no \"way\"");
        assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
        assert_eq!(response.headers()["content-type"], "application/json");
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, text);
    }
}

#[tokio::test]
async fn an_upstream_that_is_away_is_a_bad_gateway() {
    // Bound and dropped, so that nobody listens there.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let upstream = Upstream::new(format!("http://{address}/mcp").parse().unwrap());
    let request = Request::post("/mcp").body(Empty::<Bytes>::new()).unwrap();
    let response = upstream.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
}

/// Linux answers no more connections than fit into the queue of those that nobody accepts.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_upstream_that_lets_the_time_to_connect_run_out_is_a_gateway_timeout() {
    use tokio::net::{TcpSocket, TcpStream};

    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut queued = Vec::new();
    while let Ok(connection) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect(address)).await {
        queued.push(connection.unwrap());
    }
    let upstream = Upstream::new(format!("http://{address}/mcp").parse().unwrap());
    let request = Request::post("/mcp").body(Empty::<Bytes>::new()).unwrap();
    let response = upstream.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn a_tunnel_is_not_opened() {
    let upstream = Upstream::new("http://127.0.0.1:9/mcp".parse().unwrap());
    let request = Request::connect("h:443").body(Empty::<Bytes>::new()).unwrap();
    let response = upstream.oneshot(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_IMPLEMENTED);
}
