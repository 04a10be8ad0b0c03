//! Lint: what is found in messages as they pass, who is told and how often, and that nothing is changed.

mod kit;

use std::sync::mpsc::{Receiver, channel};

use http::Request;
use kit::server::{Server, event_answer, json_answer};
use kit::{LIST, post, send};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::{Audit, Background, Record, Sink};
use tower_mcp_apps::lint::{Finding, Lint, LintLayer, Rule};
use tower_mcp_apps::testing::Body;

/// A layer, and what it tells.
fn layer() -> (LintLayer, Receiver<Finding>) {
    let (told, findings) = channel();
    (LintLayer::new(move |finding: &Finding| told.send(finding.clone()).expect("the test listens")), findings)
}

fn ask(method: &str) -> Request<Body> {
    post(
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "name": "t", "uri": "ui://s/a" } })
            .to_string(),
    )
}

fn answer(result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()
}

/// What is told of this answer to this method, after it passed unchanged as JSON and as an event.
async fn findings(method: &str, result: &Value) -> Vec<Finding> {
    let json = answer(result);
    let events = format!("event: message\ndata: {json}\n\n");
    let (layer, findings) = layer();
    let passed = send(layer.layer(Server::saying(json.clone())), ask(method)).await;
    assert_eq!(passed.text(), json);
    let told: Vec<_> = findings.try_iter().collect();
    let passed = send(layer.layer(Server::streaming(events.clone())), ask(method)).await;
    assert_eq!(passed.text(), events);
    assert_eq!(findings.try_iter().collect::<Vec<_>>(), told, "another service tells of its own");
    told
}

/// Rule and path of what is told.
async fn told(method: &str, result: &Value) -> Vec<(Rule, String)> {
    findings(method, result).await.iter().map(|finding| (finding.rule(), finding.path().to_owned())).collect()
}

async fn told_of_tool(meta: Value) -> Vec<(Rule, String)> {
    told("tools/list", &json!({ "tools": [{ "name": "t", "_meta": meta }] })).await
}

async fn told_of_page(page: &Value) -> Vec<(Rule, String)> {
    let told_of_contents = told("resources/read", &json!({ "contents": [page] })).await;
    assert_eq!(told("resources/list", &json!({ "resources": [page] })).await, told_of_contents);
    told_of_contents
}

#[tokio::test]
async fn what_is_wrong_with_a_tool() {
    let good =
        json!({ "ui": { "resourceUri": "ui://s/a", "visibility": ["app"] }, "x": [1], "ui/resourceUri": "ui://s/a" });
    assert_eq!(told_of_tool(good).await, []);
    for (meta, rule, path) in [
        (json!({ "ui": { "csp": {} } }), Rule::Misplaced, "_meta.ui.csp"),
        (json!({ "ui/resourceUri": "ui://s/a" }), Rule::FlatKeyAlone, "_meta.ui/resourceUri"),
        (
            json!({ "ui/resourceUri": "ui://s/a", "ui": { "resourceUri": "ui://s/b" } }),
            Rule::FlatKeyDiffers,
            "_meta.ui/resourceUri",
        ),
        (
            json!({ "io.modelcontextprotocol/ui": { "resourceUri": "ui://s/a" } }),
            Rule::ExtensionKey,
            "_meta.io.modelcontextprotocol/ui",
        ),
        (json!({ "ui": { "resourceUri": "https://s/a" } }), Rule::Link, "_meta.ui.resourceUri"),
        (json!({ "ui": { "visibility": "app" } }), Rule::Shape, "_meta.ui.visibility"),
        (json!({ "ui": { "visiblity": ["app"] } }), Rule::Unknown, "_meta.ui.visiblity"),
        (json!({ "ui": true }), Rule::Shape, "_meta.ui"),
        (json!([]), Rule::Shape, "_meta"),
    ] {
        assert_eq!(told_of_tool(meta.clone()).await, [(rule, path.to_owned())], "{meta}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_resource() {
    let page =
        |media_type: &str, ui: Value| json!({ "uri": "ui://s/a", "mimeType": media_type, "_meta": { "ui": ui } });
    let app = "text/html;profile=mcp-app";
    let good = json!({ "domain": "a.example.com", "csp": { "connectDomains": ["https://a.com"] } });
    assert_eq!(told_of_page(&page("Text/HTML; profile=\"mcp-app\"", good)).await, []);
    for (page, rule, path) in [
        (page("text/html", json!({})), Rule::MediaType, "mimeType"),
        (page("text/html+skybridge", json!({})), Rule::MediaType, "mimeType"),
        (page(app, json!({ "domain": "https://a.example.com" })), Rule::Domain, "_meta.ui.domain"),
        (
            page(app, json!({ "csp": { "frameDomains": ["https://a.com", "https://b.com/x"] } })),
            Rule::Source,
            "_meta.ui.csp.frameDomains[1]",
        ),
        (page(app, json!({ "visibility": ["app"] })), Rule::Misplaced, "_meta.ui.visibility"),
    ] {
        assert_eq!(told_of_page(&page).await, [(rule, path.to_owned())], "{page}");
    }
    // Only a list may leave the media type to the content.
    let unlabelled = json!({ "uri": "ui://s/a", "text": "<html>" });
    assert_eq!(told("resources/list", &json!({ "resources": [unlabelled] })).await, []);
    let expected = [(Rule::MediaType, "mimeType".to_owned())];
    assert_eq!(told("resources/read", &json!({ "contents": [unlabelled] })).await, expected);
    // What is no UI may be any HTML.
    assert_eq!(told_of_page(&json!({ "uri": "https://s/a", "mimeType": "text/html" })).await, []);
    let template = json!({ "uriTemplate": "ui://s/{x}", "mimeType": "text/html" });
    let findings = findings("resources/templates/list", &json!({ "resourceTemplates": [template] })).await;
    assert_eq!(findings[0].uri(), Some("ui://s/{x}"));
    assert_eq!((findings[0].method(), findings[0].tool()), ("resources/templates/list", None));
}

#[tokio::test]
async fn a_member_that_stands_twice() {
    let list = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"t","_meta":{"ui":{"visibility":[],"visibility":["app"]}}}]}}"#;
    let (layer, findings) = layer();
    assert_eq!(send(layer.layer(Server::saying(list)), ask("tools/list")).await.text(), list);
    assert_eq!(findings.try_iter().map(|finding| finding.rule()).collect::<Vec<_>>(), [Rule::Duplicate]);
}

#[tokio::test]
async fn a_result_without_content() {
    for result in [
        json!({ "content": [] }),
        json!({ "structuredContent": { "n": 1 } }),
        json!({ "structuredContent": {}, "content": [], "isError": true, "resultType": "complete" }),
    ] {
        let found = findings("tools/call", &result).await;
        assert_eq!(found.len(), 1, "{result}");
        assert_eq!((found[0].rule(), found[0].method()), (Rule::EmptyContent, "tools/call"));
        assert_eq!((found[0].tool(), found[0].uri(), found[0].path()), (Some("t"), None, "content"));
    }
    for result in [
        json!({ "content": [{ "type": "text", "text": "1" }] }),
        json!({ "content": null }),
        // The result comes later.
        json!({ "task": { "taskId": "a" } }),
        json!({ "resultType": "task", "taskId": "a" }),
        json!({ "resultType": "input_required", "inputRequests": {} }),
    ] {
        assert_eq!(told("tools/call", &result).await, [], "{result}");
    }
    assert_eq!(told("prompts/get", &json!({ "content": [] })).await, []);
}

#[tokio::test]
async fn of_a_batch_the_tool_whose_result_it_is() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"one"}},
        {"jsonrpc":"2.0","id":"2","method":"tools/call","params":{"name":"two"}}]"#;
    let answers = r#"[{"id":"2","result":{"content":[ ]}},{"result":{"content":[{}]},"id":1}]"#;
    let (layer, findings) = layer();
    assert_eq!(send(layer.layer(Server::saying(answers)), post(batch)).await.text(), answers);
    let told: Vec<_> = findings.try_iter().collect();
    assert_eq!(told.iter().map(Finding::tool).collect::<Vec<_>>(), [Some("two")]);
}

#[tokio::test]
async fn each_finding_once_and_none_that_is_allowed() {
    let list = answer(&json!({ "tools": [
        { "name": "a", "_meta": { "ui/resourceUri": "ui://s/a" } },
        { "name": "b", "_meta": { "ui/resourceUri": "ui://s/a", "ui": { "domain": "x.com" } } },
    ] }));
    let (layer, findings) = layer();
    let service = layer.clone().layer(Server::saying(list.clone()));
    for _ in 0..3 {
        send(service.clone(), post(LIST.replace('7', "1"))).await;
    }
    assert_eq!(findings.try_iter().count(), 3);

    let service = layer.allow(Rule::FlatKeyAlone).allow(Rule::EmptyContent).layer(Server::saying(list));
    send(service.clone(), ask("tools/list")).await;
    assert_eq!(findings.try_iter().map(|finding| finding.rule()).collect::<Vec<_>>(), [Rule::Misplaced]);
}

#[tokio::test]
async fn calls_are_not_read_where_an_empty_content_is_allowed() {
    let server = Server::saying(answer(&json!({ "content": [] })));
    let (layer, findings) = layer();
    send(layer.clone().allow(Rule::EmptyContent).layer(server.clone()), ask("tools/call")).await;
    assert_eq!(server.only().header("accept-encoding"), None);
    assert_eq!(findings.try_iter().count(), 0);
    send(layer.layer(server.clone()), ask("tools/call")).await;
    assert_eq!(server.only().header("accept-encoding"), Some("identity"));
}

#[tokio::test]
async fn what_cannot_be_read_passes() {
    let odd = r#"{"ui":{"csp":"\ud800"}}"#;
    for body in ["nothing", r#"{"id":1,"result":{"tools":[{"_meta":"#, odd, r#"{"id":1,"result":{"tools":[1,null]}}"#] {
        let (layer, findings) = layer();
        assert_eq!(send(layer.layer(Server::saying(body)), ask("tools/list")).await.text(), body);
        assert_eq!(findings.try_iter().count(), 0, "{body}");
    }
}

#[tokio::test]
async fn one_who_panics_takes_no_answer_along() {
    let list = answer(&json!({ "tools": [{ "name": "a", "_meta": { "ui/resourceUri": "ui://s/a" } }] }));
    let (told, findings) = channel();
    let layer = LintLayer::new(|_: &Finding| panic!("this one panics"))
        .also(move |finding: &Finding| told.send(finding.rule()).expect("the test listens"));
    assert_eq!(send(layer.layer(Server::saying(list.clone())), ask("tools/list")).await.text(), list);
    assert_eq!(findings.try_recv(), Ok(Rule::FlatKeyAlone));
}

/// Keeps the lines of what it gets.
struct Lines(std::sync::mpsc::Sender<String>);

impl Sink for Lines {
    fn record(&self, record: &Record) {
        self.0.send(String::from_utf8_lossy(&record.to_json()).into()).expect("the test listens");
    }

    fn finding(&self, finding: &Finding) {
        self.0.send(String::from_utf8_lossy(&finding.to_json()).into()).expect("the test listens");
    }
}

const LINE: &str = concat!(
    r#"{"finding":"flat_key_alone","method":"tools/list","tool":"a","path":"_meta.ui/resourceUri","#,
    r#""message":"is deprecated: the link belongs in ui.resourceUri"}"#
);

#[tokio::test]
async fn the_sink_of_the_audit_is_told_what_the_server_wrote() {
    let list = answer(&json!({ "tools": [{ "name": "a", "_meta": { "ui/resourceUri": "ui://s/a" } }] }));
    let server = Server::saying(list);
    let (lines, kept) = channel();
    let background = Background::new(Lines(lines)).expect("there is a thread");
    let layer = AppsLayer::new().audit(background.clone()).lint(Lint::default());
    let answer = send(layer.layer(server.clone()), ask("tools/list")).await;
    // Although another layer repaired it.
    assert!(answer.text().contains(r#""ui":{"resourceUri":"ui://s/a"}"#));
    assert!(background.flush(std::time::Duration::from_secs(20)));
    assert_eq!(kept.try_iter().collect::<Vec<_>>(), [LINE]);

    let (lines, kept) = channel();
    let stacked = LintLayer::default().also(Audit::new(Lines(lines)));
    send(stacked.layer(server), ask("tools/list")).await;
    assert_eq!(kept.try_iter().collect::<Vec<_>>(), [LINE]);
}

#[tokio::test]
async fn a_replayed_answer_is_told_by_its_shape() {
    let list = answer(&json!({ "tools": [{ "name": "a", "_meta": { "ui/resourceUri": "ui://s/a" } }] }));
    let events = format!("id: 7\ndata: {list}\n\n");
    let body = events.clone();
    let server = Server::new(move |_| event_answer(Body::frames([body.clone()])));
    let (layer, findings) = layer();
    let request = Request::get("/mcp").header("accept", "text/event-stream").body(Body::new("")).expect("a request");
    assert_eq!(send(layer.layer(server), request).await.text(), events);
    assert_eq!(findings.try_iter().count(), 1);
}

#[tokio::test]
async fn long_texts_are_cut_and_controls_escaped() {
    let uri = format!("https://a\n{}", "é".repeat(5_000));
    let tool = json!({ "name": uri, "_meta": { "ui": { "resourceUri": uri, (uri.as_str()): 1 } } });
    let (layer, findings) = layer();
    let server = Server::new(move |_| json_answer(answer(&json!({ "tools": [tool] }))));
    send(layer.layer(server), ask("tools/list")).await;
    let told: Vec<_> = findings.try_iter().collect();
    assert_eq!(told.len(), 2);
    for finding in told {
        assert!(finding.tool().is_some_and(|tool| tool.len() <= 1024));
        assert!(finding.message().len() <= 1024 && finding.path().len() <= 1024);
        assert!(!finding.to_string().contains('\n'), "{finding}");
    }
}
