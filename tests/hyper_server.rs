//! What hyper's server makes of the bodies that the layers hand outwards, where they fail.

mod kit;

use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use hyper::{client, server};
use hyper_util::rt::TokioIo;
use kit::server::{Received, Server, event_answer, labelled};
use kit::{LIST, post};
use tokio::net::{TcpListener, TcpStream};
use tower::{Layer, ServiceExt};
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::Fixed;
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

/// What a client gets of an answer that breaks off.
async fn got(answer: impl Fn(&Received) -> Response<Body> + Clone + Send + Sync + 'static) -> Bytes {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let host = AppsLayer::new().audience(Fixed(Audience::Host)).layer(Server::new(answer));
    tokio::spawn(async move {
        let (socket, _) = listener.accept().await.expect("a connection");
        let service = hyper::service::service_fn(|request| host.clone().oneshot(request));
        // It ends with the body's error.
        let _ = server::conn::http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
    });
    let socket = TcpStream::connect(address).await.expect("the server listens");
    let (mut client, connection) = client::conn::http1::handshake(TokioIo::new(socket)).await.expect("a connection");
    tokio::spawn(connection);
    let response = client.send_request(post(LIST)).await.expect("the head goes out");
    let mut body = response.into_body();
    let mut got = Vec::new();
    loop {
        match body.frame().await {
            Some(Ok(frame)) => got.extend(frame.into_data().expect("there are no trailers")),
            Some(Err(_)) => return got.into(),
            None => panic!("the end was not a failure"),
        }
    }
}

#[tokio::test]
async fn what_came_before_an_answer_broke_off_goes_out() {
    let json = r#"{"jsonrpc":"2.0","id":7,"result":{"tools":[{"na"#;
    assert_eq!(got(move |_| labelled("application/json", Body::frames([json]).then_fail())).await, json);
    let events = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\ndata: {\"id\"";
    assert_eq!(got(move |_| event_answer(Body::frames([events]).then_fail())).await, events);
}
