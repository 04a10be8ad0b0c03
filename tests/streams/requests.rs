//! Requests arrive as they came.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use tower::Layer;
use tower_mcp_apps::testing::Body;

use crate::kit::server::Server;
use crate::kit::{LIST, only, post, send};
use crate::{ANSWER, host, model};

#[tokio::test]
async fn an_upload_that_is_not_read_flows() {
    let (feed, body) = Body::channel();
    let request = only(post(""), "content-type", "application/octet-stream").map(|_| body);
    let server = tower::service_fn(|request: Request<_>| async move {
        let mut body: tower_mcp_apps::concern::RequestBody<Body> = request.into_body();
        let first = body.frame().await.expect("a frame").expect("no failure").into_data().expect("data");
        Ok::<_, std::convert::Infallible>(Response::new(Body::new(first)))
    });
    feed.send_data("first");
    let got = send(host().layer(server), request).await;
    assert_eq!(got.text(), "first", "though the upload goes on");
    drop(feed);
}

#[tokio::test]
async fn a_request_arrives_in_the_frames_that_came() {
    let frames = [Bytes::from(&LIST[..5]), Bytes::from(&LIST[5..6]), Bytes::from(&LIST[6..])];
    for layer in [model(), host()] {
        let server = Server::saying(ANSWER);
        send(layer.layer(server.clone()), post("").map(|_| Body::frames(frames.clone()))).await;
        let received = server.only();
        let pointers = |frames: &[Bytes]| frames.iter().map(|frame| frame.as_ptr()).collect::<Vec<_>>();
        assert_eq!(pointers(&received.frames), pointers(&frames));
    }
    // Thousands of tiny frames are joined: their handles would outweigh them.
    let long = format!("{LIST}{}", " ".repeat(5000));
    let tiny = || post("").map(|_| Body::frames(long.bytes().map(|byte| Bytes::copy_from_slice(&[byte]))));
    let server = Server::saying(ANSWER);
    assert_eq!(send(model().layer(server.clone()), tiny()).await.tools(), ["open"]);
    let received = server.only();
    assert_eq!(received.bytes(), long);
    assert!(received.frames.len() < 1100, "{}", received.frames.len());
}
