//! What is advertised, and where nothing is touched.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceExt, service_fn};

use super::NegotiateLayer;

const OURS: &str = r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#;

/// The answer to a request with this method, behind the layer.
async fn answer(method: &str, answer: String) -> String {
    let server = service_fn(move |_: Request<_>| {
        let answer = Full::new(Bytes::from(answer.clone()));
        let answer = Response::builder().header("content-type", "application/json").body(answer);
        async { Ok::<_, Infallible>(answer.unwrap()) }
    });
    let request = Request::post("/mcp").header("content-type", "application/json");
    let request = request.body(Full::<Bytes>::from(format!(r#"{{"id":1,"method":"{method}"}}"#))).unwrap();
    let layer = NegotiateLayer::new();
    let answer = layer.layer(server).oneshot(request).await.unwrap().into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(answer.to_vec()).unwrap()
}

/// The capabilities of a server, behind the layer.
async fn capabilities(capabilities: &str) -> String {
    let (before, after) = (r#"{"id":1,"result":{"capabilities":"#, r#","protocolVersion":"2025-11-25"}}"#);
    let got = answer("initialize", format!("{before}{capabilities}{after}")).await;
    got.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

#[tokio::test]
async fn apps_are_advertised_where_there_are_resources() {
    for (before, want) in [
        (r#"{"resources":{}}"#, format!(r#"{{"resources":{{}},"extensions":{OURS}}}"#)),
        (
            r#"{ "extensions" : {} , "resources":{"x":1.0}}"#,
            format!(r#"{{ "extensions" : {OURS} , "resources":{{"x":1.0}}}}"#),
        ),
        (
            r#"{"resources":{},"extensions":{"com.example/x":{ }}}"#,
            format!(r#"{{"resources":{{}},"extensions":{{"com.example/x":{{ }},{}}}"#, &OURS[1..]),
        ),
    ] {
        assert_eq!(capabilities(before).await, want);
        assert_eq!(capabilities(&want).await, want, "twice is once");
    }
}

#[tokio::test]
async fn what_the_server_says_of_apps_stays() {
    for (before, want) in [
        (r#"{}"#, r#"{"mimeTypes":["text/html;profile=mcp-app"]}"#),
        (r#"{ "x" : 1.0 }"#, r#"{ "x" : 1.0,"mimeTypes":["text/html;profile=mcp-app"] }"#),
        (r#"{"mimeTypes":[]}"#, r#"{"mimeTypes":["text/html;profile=mcp-app"]}"#),
        (r#"{"mimeTypes":[ "a/b" , 1 ]}"#, r#"{"mimeTypes":[ "a/b" , 1,"text/html;profile=mcp-app" ]}"#),
        // Ours is there, in other words.
        (r#"{"mimeTypes":["Text/HTML; Profile=\"mcp-app\""]}"#, r#"{"mimeTypes":["Text/HTML; Profile=\"mcp-app\""]}"#),
        // What we do not understand is the server's to say.
        (r#"{"mimeTypes":"text/html"}"#, r#"{"mimeTypes":"text/html"}"#),
        (r#"{"mimeTypes":[],"mimeTypes":[]}"#, r#"{"mimeTypes":[],"mimeTypes":[]}"#),
        ("true", "true"),
        ("null", "null"),
        ("[]", "[]"),
    ] {
        let whole = |settings: &str| {
            format!(r#"{{"resources":{{}},"extensions":{{"io.modelcontextprotocol/ui":{settings}}}}}"#)
        };
        assert_eq!(capabilities(&whole(before)).await, whole(want));
        assert_eq!(capabilities(&whole(want)).await, whole(want), "twice is once");
    }
}

#[tokio::test]
async fn nothing_is_advertised_that_cannot_be_served_or_told() {
    for same in [
        "{}",
        r#"{"tools":{}}"#,
        r#"{"resources":null}"#,
        r#"{"Resources":{}}"#,
        "[]",
        "null",
        r#"{"resources":{},"extensions":[]}"#,
        r#"{"resources":{},"extensions":null}"#,
        r#"{"resources":{},"extensions":{},"extensions":{}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol\/ui":{}}}"#,
    ] {
        assert_eq!(capabilities(same).await, same);
    }
}

#[tokio::test]
async fn only_complete_results_of_the_two_methods_are_edited() {
    let result = r#""capabilities":{"resources":{}}"#;
    for (method, same) in [
        ("initialize", format!(r#"{{"id":1,"error":{{{result}}}}}"#)),
        ("initialize", format!(r#"{{"id":1,"params":{{{result}}}}}"#)),
        ("server/discover", format!(r#"{{"id":1,"result":{{"resultType":"input_required",{result}}}}}"#)),
        ("tools/list", format!(r#"{{"id":1,"result":{{{result}}}}}"#)),
        ("ping", format!(r#"{{"id":1,"result":{{{result},"protocolVersion":"2025-11-25"}}}}"#)),
        // The answer to another request, whose shape says nothing.
        ("initialize", format!(r#"{{"id":2,"result":{{{result}}}}}"#)),
    ] {
        assert_eq!(answer(method, same.clone()).await, same, "{method}");
    }
    for method in ["initialize", "server/discover"] {
        let got = answer(
            method,
            format!(r#"{{"id":1,"result":{{{result},"resultType":"complete","cacheScope":"public"}}}}"#),
        )
        .await;
        let want = format!(
            r#"{{"id":1,"result":{{"capabilities":{{"resources":{{}},"extensions":{OURS}}},"resultType":"complete","cacheScope":"public"}}}}"#
        );
        assert_eq!(got, want, "{method}: the same for everybody, so it may stay public");
    }
}
