//! What becomes of a server's capabilities.

use super::NegotiateLayer;
use crate::tried::through;

const APP: &str = r#""io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}"#;

/// The capabilities in the answer to a method, behind the layer.
async fn said(method: &str, capabilities: &str) -> String {
    let (before, after) = (r#"{"jsonrpc":"2.0","id":1,"result":{"x":1.0,"capabilities":"#, r#","ttlMs":0}}"#);
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#);
    let answer = format!("{before}{capabilities}{after}");
    let got = through(&NegotiateLayer::new(), &request, &answer).await;
    assert_eq!(through(&NegotiateLayer::new(), &request, &got).await, got, "twice: {got}");
    got.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

#[tokio::test]
async fn mcp_apps_is_advertised_where_there_are_resources() {
    for method in ["initialize", "server/discover"] {
        let got = said(method, r#"{"resources":{}}"#).await;
        assert_eq!(got, format!(r#"{{"resources":{{}},"extensions":{{{APP}}}}}"#));
        let got =
            said(method, r#"{ "resources" : {"subscribe": true}, "extensions" : { "a/b" : { "k":1.0 } } }"#).await;
        let want =
            format!(r#"{{ "resources" : {{"subscribe": true}}, "extensions" : {{ "a/b" : {{ "k":1.0 }},{APP} }} }}"#);
        assert_eq!(got, want);
    }
}

#[tokio::test]
async fn what_the_server_says_of_it_stays() {
    for (settings, want) in [
        ("{}", r#"{"mimeTypes":["text/html;profile=mcp-app"]}"#),
        (r#"{ "x": 1.0 }"#, r#"{ "x": 1.0,"mimeTypes":["text/html;profile=mcp-app"] }"#),
        (r#"{"mimeTypes":[ ]}"#, r#"{"mimeTypes":["text/html;profile=mcp-app" ]}"#),
        (r#"{"mimeTypes":[ "a/b" , 7 ],"x":[]}"#, r#"{"mimeTypes":[ "a/b" , 7,"text/html;profile=mcp-app" ],"x":[]}"#),
    ] {
        let capabilities = |settings: &str| {
            format!(r#"{{"resources":{{}},"extensions":{{"io.modelcontextprotocol/ui":{settings}}}}}"#)
        };
        assert_eq!(said("initialize", &capabilities(settings)).await, capabilities(want));
    }
}

#[tokio::test]
async fn what_needs_no_word_of_ours_or_would_not_understand_it_is_left_alone() {
    for capabilities in [
        // No resources, so no UI can be read.
        "{}",
        r#"{"tools":{}}"#,
        r#"{"resources":null}"#,
        r#"{"Resources":{}}"#,
        // It is there, by whatever spelling.
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["Text/HTML; profile=\"mcp-app\""]}}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol\/ui":{"mimeTypes":["text\/html;profile=mcp-app"]}}}"#,
        // Odd, or said twice.
        r#"{"resources":{},"extensions":null}"#,
        r#"{"resources":{},"extensions":[]}"#,
        r#"{"resources":{},"extensions":{},"extensions":{}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":true}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":"a/b"}}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":[],"mimeTypes":[]}}}"#,
        r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{},"io.modelcontextprotocol\/ui":{}}}"#,
        "7",
    ] {
        assert_eq!(said("initialize", capabilities).await, capabilities);
    }
}

#[tokio::test]
async fn only_answers_that_have_capabilities_are_changed() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"capabilities":{"resources":{}}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","capabilities":{"resources":{}}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"resources":{}}"#,
        // The answer to another request, whose shape says nothing.
        r#"{"jsonrpc":"2.0","id":2,"result":{"capabilities":{"resources":{}}}}"#,
    ] {
        assert_eq!(through(&NegotiateLayer::new(), initialize, answer).await, answer);
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[],"capabilities":{"resources":{}}}}"#;
    assert_eq!(through(&NegotiateLayer::new(), list, answer).await, answer);
}

/// All callers get the same.
#[tokio::test]
async fn what_was_public_stays_so() {
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"resources":{}},"cacheScope":"public"}}"#;
    let want = answer.replace("{}}", &format!(r#"{{}},"extensions":{{{APP}}}}}"#));
    assert_eq!(through(&NegotiateLayer::new(), discover, answer).await, want);
}
