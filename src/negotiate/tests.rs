//! What becomes of a server's capabilities.

use http::request::Parts;

use super::{ExtensionSet, NegotiateLayer};
use crate::McpContext;
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

/// The capabilities in the answer to `server/discover`, behind this layer. Twice is once.
async fn said_through(layer: &NegotiateLayer, capabilities: &str) -> String {
    let (before, after) = (r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":"#, "}}");
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}"#;
    let answer = format!("{before}{capabilities}{after}");
    let got = through(layer, request, &answer).await;
    assert_eq!(through(layer, request, &got).await, got, "twice: {got}");
    got.strip_prefix(before).unwrap().strip_suffix(after).unwrap().to_owned()
}

#[tokio::test]
async fn what_is_withheld_is_said_in_no_spelling() {
    let layer = NegotiateLayer::new().without_advertising().withhold("a/b").withhold("com.example/x");
    for (capabilities, want) in [
        (r#"{ "extensions" : { "a/b":{}, "c/d": {"n":1.0} } }"#, r#"{ "extensions" : { "c/d": {"n":1.0} } }"#),
        (r#"{"extensions":{"c/d":{},"a\/b":7}}"#, r#"{"extensions":{"c/d":{}}}"#),
        (r#"{"extensions":{"a/b":{},"com.example/x":[]}}"#, r#"{"extensions":{}}"#),
        // What readers may differ on says nothing any more.
        (r#"{"x":1.0,"extensions":["a/b"]}"#, r#"{"x":1.0}"#),
        (r#"{"extensions":{"c/d":{}},"x":1.0,"extensions":{"a/b":{}}}"#, r#"{"x":1.0}"#),
        (r#"{"extensions":{"c/d":{},"c/d":{}},"x":1.0}"#, r#"{"x":1.0}"#),
        (r#"{"extensions":{"\ud800":{}},"x":1.0}"#, r#"{"x":1.0}"#),
        // Nothing to withhold.
        (r#"{"extensions":{"A/b":{},"c/d":null}}"#, r#"{"extensions":{"A/b":{},"c/d":null}}"#),
        ("{}", "{}"),
    ] {
        assert_eq!(said_through(&layer, capabilities).await, want, "{capabilities}");
    }
    let ui = r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{}}}"#;
    let layer = NegotiateLayer::new().withhold("io.modelcontextprotocol/ui");
    assert_eq!(said_through(&layer, ui).await, r#"{"resources":{},"extensions":{}}"#);
    // A filter passes nothing that it could not read.
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"extensions":{"a/b":{}}}"#;
    let got = through(&layer, r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#, answer).await;
    assert!(got.contains("-32603") && !got.contains("a/b"), "{got}");
}

#[tokio::test]
async fn other_extensions_are_advertised_beside_what_the_server_says() {
    let also = ExtensionSet::read("gateway", br#"{"a/b":{"l":[2.0]},"io.modelcontextprotocol/ui":{"x":1}}"#).unwrap();
    let layer = NegotiateLayer::new().without_advertising().advertise(&also);
    for (capabilities, want) in [
        // Nobody can show a page that cannot be read.
        ("{}", r#"{"extensions":{"a/b":{"l":[2.0]}}}"#),
        (
            r#"{"resources":{}}"#,
            r#"{"resources":{},"extensions":{"a/b":{"l":[2.0]},"io.modelcontextprotocol/ui":{"x":1}}}"#,
        ),
        (
            r#"{"extensions":{ "c/d" : { } , "a/b" : { "l" : [1] } }}"#,
            r#"{"extensions":{ "c/d" : { } , "a/b" : {"l":[1,2.0]} }}"#,
        ),
        (r#"{"extensions":{"a/b":true}}"#, r#"{"extensions":{"a/b":true}}"#),
        (r#"{"extensions":{"c/d":1,"c/d":2}}"#, r#"{"extensions":{"c/d":1,"c/d":2,"a/b":{"l":[2.0]}}}"#),
        (r#"{"extensions":null}"#, r#"{"extensions":null}"#),
    ] {
        assert_eq!(said_through(&layer, capabilities).await, want, "{capabilities}");
    }
}

#[tokio::test]
async fn a_deployer_decides_for_each_request() {
    let layer = NegotiateLayer::new().advertise_by(|request: &Parts, server: ExtensionSet| {
        let context = request.extensions.get::<McpContext>().expect("the layer found it out");
        assert!(request.headers.contains_key("content-type"));
        let ui = br#"{"io.modelcontextprotocol/ui":{"mimeTypes":["a/b"]}}"#;
        let ui = ExtensionSet::read("closure", ui).unwrap();
        if context.supports_apps() { server.union(&ui) } else { server.deny("a/b") }
    });
    let ask = |extensions: &str| {
        let capabilities = format!(r#"{{"extensions":{extensions}}}"#);
        let meta = format!(r#"{{"io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{meta}}}}}"#)
    };
    let answer =
        r#"{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"extensions":{"a/b":{ }}},"cacheScope":"public"}}"#;
    let got = through(&layer, &ask("{}"), answer).await;
    assert_eq!(got, answer.replace(r#""a/b":{ }"#, "").replace("public", "private"));
    let apps = ask(&format!("{{{APP}}}"));
    // Not beyond what is behind: there are no resources.
    assert_eq!(through(&layer, &apps, answer).await, answer.replace("public", "private"));
    let answer = answer.replace(r#""extensions":"#, r#""resources":{},"extensions":"#);
    let ui = r#","io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app","a/b"]}"#;
    let want = answer.replace(r#""a/b":{ }"#, &format!(r#""a/b":{{ }}{ui}"#)).replace("public", "private");
    assert_eq!(through(&layer, &apps, &answer).await, want);
}
