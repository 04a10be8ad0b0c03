//! Where prefixes go and come off, place by place, and what is refused.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tower::{Layer, ServiceExt, service_fn};

use super::{Namespace, NamespaceLayer, UiShape};
use crate::exchange::{Decision, McpContext, Reason};
use crate::protocol::ToolVisibility;

const UI: &str =
    r#""io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/protocolVersion":"2026-07-28""#;

fn layer() -> NamespaceLayer {
    NamespaceLayer::new(Namespace::new("a").unwrap())
}

/// What an exchange came to: what the inner service was asked, and what the caller got.
struct Tried {
    asked: Option<(HeaderMap, String)>,
    response: Response<()>,
    answer: String,
}

async fn try_through(layer: &NamespaceLayer, request: Request<Full<Bytes>>, kind: &'static str, answer: &str) -> Tried {
    let seen = Arc::new(Mutex::new(None));
    let (asked, answer) = (Arc::clone(&seen), answer.to_owned());
    let server = service_fn(move |request: Request<crate::concern::RequestBody<Full<Bytes>>>| {
        let (asked, answer) = (Arc::clone(&asked), answer.clone());
        async move {
            let context = request.extensions().get::<McpContext>().cloned().unwrap();
            let (parts, body) = request.into_parts();
            let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
            *asked.lock().unwrap() = Some((parts.headers, body));
            let mut response = Response::new(Full::<Bytes>::from(answer));
            response.headers_mut().insert("content-type", kind.parse().unwrap());
            if let Some(tool) = context.tool() {
                response.extensions_mut().insert(Decision::forwarded().with_tool(tool, ToolVisibility::App));
            }
            Ok::<_, std::convert::Infallible>(response)
        }
    });
    let (parts, body) = layer.layer(server).oneshot(request).await.unwrap().into_parts();
    let answer = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let asked = seen.lock().unwrap().take();
    Tried { asked, response: Response::from_parts(parts, ()), answer }
}

fn post(body: &str) -> Request<Full<Bytes>> {
    let request = Request::post("/").header("content-type", "application/json").header("content-length", body.len());
    request.body(Full::from(body.to_owned())).unwrap()
}

/// What the inner service is asked for a message.
async fn asked(body: &str) -> String {
    let tried = try_through(&layer(), post(body), "application/json", "{}").await;
    let (headers, asked) = tried.asked.unwrap_or_else(|| panic!("{body} was refused: {}", tried.answer));
    assert_eq!(headers["content-length"], asked.len().to_string(), "{body}");
    asked
}

#[tokio::test]
async fn what_a_request_names_loses_the_prefix() {
    for (body, own) in [
        (
            r#"{"id":1,"method":"tools/call","params":{"name":"a__f"}}"#,
            r#"{"id":1,"method":"tools/call","params":{"name":"f"}}"#,
        ),
        // Whatever the order and the escapes; what else stands there is data.
        (
            r#"{ "params":{"arguments":{"name":"a__f","uri":"ui://a+s"}, "name":"\u0061__\u0066" },"method":"tools\/call","id":1.0}"#,
            r#"{ "params":{"arguments":{"name":"a__f","uri":"ui://a+s"}, "name":"\u0066" },"method":"tools\/call","id":1.0}"#,
        ),
        (
            r#"{"id":1,"method":"prompts/get","params":{"name":"a__p"}}"#,
            r#"{"id":1,"method":"prompts/get","params":{"name":"p"}}"#,
        ),
        (
            r#"{"id":1,"method":"resources/read","params":{"uri":"ui:\/\/a+s"}}"#,
            r#"{"id":1,"method":"resources/read","params":{"uri":"ui:\/\/s"}}"#,
        ),
        (
            r#"{"id":1,"method":"resources/subscribe","params":{"uri":"a+file:///x"}}"#,
            r#"{"id":1,"method":"resources/subscribe","params":{"uri":"file:///x"}}"#,
        ),
        (
            r#"{"id":1,"method":"resources/unsubscribe","params":{"uri":"a+x"}}"#,
            r#"{"id":1,"method":"resources/unsubscribe","params":{"uri":"x"}}"#,
        ),
        (
            r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a__p"},"argument":{"name":"a__x","value":""}}}"#,
            r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a__x","value":""}}}"#,
        ),
        (
            r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"ui://a+s/{x}"}}}"#,
            r#"{"id":1,"method":"completion/complete","params":{"ref":{"type":"ref/resource","uri":"ui://s/{x}"}}}"#,
        ),
        (
            r#"{"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["ui://a+x", "a+b:c"]}}}"#,
            r#"{"id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["ui://x", "b:c"]}}}"#,
        ),
        (
            r#"[{"id":1,"method":"tools/call","params":{"name":"a__a__f"}},{"method":"notifications/initialized"}]"#,
            r#"[{"id":1,"method":"tools/call","params":{"name":"a__f"}},{"method":"notifications/initialized"}]"#,
        ),
    ] {
        assert_eq!(asked(body).await, own);
    }
}

#[tokio::test]
async fn what_names_nothing_passes_as_it_came() {
    for body in [
        r#"{"id":1,"method":"tools/list","params":{"name":"f"}}"#,
        r#"{"id":1,"method":"tools/call","params":{}}"#,
        r#"{"id":1,"method":"x/y","params":{"name":"f","uri":"ui://s"}}"#,
        r#"{"id":1,"result":{"roots":[{"uri":"file:///x"}]}}"#,
        r#"{"method":"notifications/cancelled","params":{"requestId":1}}"#,
        "no JSON",
        "[]",
    ] {
        assert_eq!(asked(body).await, body);
    }
}

#[tokio::test]
async fn what_lacks_the_prefix_is_another_servers() {
    let modern = format!(r#"{{"id":1,"method":"resources/read","params":{{"_meta":{{{UI}}},"uri":"ui://s"}}}}"#);
    for (body, status, code) in [
        (r#"{"id":1,"method":"tools/call","params":{"name":"f"}}"#, 200, -32602),
        (r#"{"id":1,"method":"tools/call","params":{"name":"b__f"}}"#, 200, -32602),
        (r#"{"id":1,"method":"tools/call","params":{"name":"ab__f"}}"#, 200, -32602),
        (r#"{"id":1,"method":"tools/call","params":{"name":5}}"#, 200, -32602),
        (r#"{"id":1,"method":"prompts/get","params":{"name":"A__f"}}"#, 200, -32602),
        (r#"{"id":1,"method":"resources/read","params":{"uri":"ui://b+s"}}"#, 200, -32002),
        (r#"{"id":1,"method":"resources/read","params":{"uri":"UI://a+s"}}"#, 200, -32002),
        (r#"{"id":1,"method":"resources/subscribe","params":{"uri":"file:///x"}}"#, 200, -32002),
        (r#"{"id":1,"method":"completion/complete","params":{"ref":{"name":"p"}}}"#, 200, -32602),
        (
            r#"{"id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["ui://a+x","ui://x"]}}}"#,
            200,
            -32002,
        ),
        (&modern, 200, -32602),
        (
            r#"[{"id":1,"method":"tools/call","params":{"name":"a__f"}},{"id":2,"method":"tools/call","params":{"name":"f"}}]"#,
            400,
            -32600,
        ),
        // Readers differ on which of two counts.
        (r#"{"id":1,"method":"tools/call","params":{"name":"a__f","name":"a__g"}}"#, 400, -32600),
        (r#"{"id":1,"method":"ping","method":"tools/call","params":{"name":"f"}}"#, 400, -32600),
        (r#"{"id":1,"method":"tools/call","params":{"name":"a__f","NAME":"f"}}"#, 400, -32600),
        // It is no message.
        (r#"{"id":1,"params":{"name":"a__f"}}"#, 400, -32600),
    ] {
        let tried = try_through(&layer(), post(body), "application/json", "{}").await;
        assert!(tried.asked.is_none(), "{body}");
        assert_eq!(tried.response.status(), status, "{body}");
        assert!(tried.answer.contains(&format!(r#""code":{code},"#)), "{body}: {}", tried.answer);
        assert_eq!(tried.answer.contains(r#""id":1,"#), !body.starts_with('['), "{body}: {}", tried.answer);
    }
}

#[tokio::test]
async fn the_header_that_mirrors_the_body_is_renamed_with_it() {
    let call = r#"{"id":1,"method":"tools/call","params":{"name":"a__größe"}}"#;
    let read = r#"{"id":1,"method":"resources/read","params":{"uri":"ui://a+s"}}"#;
    for (body, name, own) in [
        (call, "=?base64?YV9fZ3LDtsOfZQ==?=", "=?base64?Z3LDtsOfZQ==?="),
        (call, "a__other", "other"),
        (read, "ui://a+s", "ui://s"),
    ] {
        let mut request = post(body);
        request.headers_mut().insert("mcp-name", name.parse().unwrap());
        let tried = try_through(&layer(), request, "application/json", "{}").await;
        assert_eq!(tried.asked.unwrap().0["mcp-name"], own);
    }
    // As if it had said the same, had it come through.
    for name in ["größe", "b__x", "=?base64?@?=", ""] {
        let mut request = post(call);
        request.headers_mut().insert("mcp-name", http::HeaderValue::from_bytes(name.as_bytes()).unwrap());
        let tried = try_through(&layer(), request, "application/json", "{}").await;
        assert!(tried.asked.is_none(), "{name}");
        assert_eq!(tried.response.status(), StatusCode::BAD_REQUEST);
        assert!(tried.answer.contains("-32020"), "{}", tried.answer);
        let decision = tried.response.extensions().get::<Decision>().unwrap();
        assert_eq!(decision.reason(), Some(Reason::HeaderMismatch));
    }
    // The task that it names is no name of the server's.
    let mut request = post(r#"{"id":1,"method":"tasks/get","params":{"taskId":"t"}}"#);
    request.headers_mut().insert("mcp-name", "t".parse().unwrap());
    let tried = try_through(&layer(), request, "application/json", "{}").await;
    assert_eq!(tried.asked.unwrap().0["mcp-name"], "t");
}

/// What the caller gets as the answer to a method.
async fn answered(method: &str, answer: &str) -> String {
    // With a name of each kind: the others do not matter.
    let body =
        format!(r#"{{"id":1,"method":"{method}","params":{{"name":"a__f","uri":"a+x","ref":{{"name":"a__p"}}}}}}"#);
    try_through(&layer(), post(&body), "application/json", answer).await.answer
}

#[tokio::test]
async fn what_an_answer_names_gets_the_prefix() {
    for (method, answer, named) in [
        (
            "tools/list",
            r#"{"id":1,"result":{"tools":[{"name":"f","_meta":{"ui":{"resourceUri":"ui:\/\/s"},"ui/resourceUri":"ui://s","openai/outputTemplate":"ui://s","x":"ui://s"}},{"name":"g"},7],"_meta":{"ui/resourceUri":"ui://s"}}}"#,
            r#"{"id":1,"result":{"tools":[{"name":"a__f","_meta":{"ui":{"resourceUri":"ui:\/\/a+s"},"ui/resourceUri":"ui://a+s","openai/outputTemplate":"ui://a+s","x":"ui://s"}},{"name":"a__g"},7],"_meta":{"ui/resourceUri":"ui://a+s"}}}"#,
        ),
        (
            "prompts/list",
            r#"{"id":1,"result":{"prompts":[{"name":"p","arguments":[{"name":"x"}]}]}}"#,
            r#"{"id":1,"result":{"prompts":[{"name":"a__p","arguments":[{"name":"x"}]}]}}"#,
        ),
        (
            "resources/list",
            r#"{"id":1,"result":{"resources":[{"uri":"ui://s","name":"ui://s"},{"name":"x","uri":"file:///x"}]}}"#,
            r#"{"id":1,"result":{"resources":[{"uri":"ui://a+s","name":"ui://a+s"},{"name":"x","uri":"a+file:///x"}]}}"#,
        ),
        (
            "resources/templates/list",
            r#"{"id":1,"result":{"resourceTemplates":[{"uriTemplate":"ui://s/{id}"},{"uriTemplate":"{+x}"}]}}"#,
            r#"{"id":1,"result":{"resourceTemplates":[{"uriTemplate":"ui://a+s/{id}"},{"uriTemplate":"a+{+x}"}]}}"#,
        ),
        (
            "resources/read",
            r#"{"id":1,"result":{"contents":[{"uri":"ui://s","text":"ui://s"}]}}"#,
            r#"{"id":1,"result":{"contents":[{"uri":"ui://a+s","text":"ui://s"}]}}"#,
        ),
        (
            "tools/call",
            r#"{"id":1,"result":{"content":[{"uri":"ui://s","type":"resource_link"},{"type":"resource","resource":{"uri":"x:y"},"_meta":{"ui":{"resourceUri":"ui://s"}}},{"type":"text","text":"ui://s","uri":"ui://s"}],"structuredContent":{"uri":"ui://s","content":[{"type":"resource_link","uri":"ui://s"}]}}}"#,
            r#"{"id":1,"result":{"content":[{"uri":"ui://a+s","type":"resource_link"},{"type":"resource","resource":{"uri":"a+x:y"},"_meta":{"ui":{"resourceUri":"ui://a+s"}}},{"type":"text","text":"ui://s","uri":"ui://s"}],"structuredContent":{"uri":"ui://s","content":[{"type":"resource_link","uri":"ui://s"}]}}}"#,
        ),
        (
            "prompts/get",
            r#"{"id":1,"result":{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://s"}}},{"content":[{"type":"resource_link","uri":"x:"}]}]}}"#,
            r#"{"id":1,"result":{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"ui://a+s"}}},{"content":[{"type":"resource_link","uri":"a+x:"}]}]}}"#,
        ),
        (
            "tasks/get",
            r#"{"id":1,"result":{"status":"completed","result":{"content":[{"type":"resource_link","uri":"x:"}],"_meta":{"ui":{"resourceUri":"ui://s"}}}}}"#,
            r#"{"id":1,"result":{"status":"completed","result":{"content":[{"type":"resource_link","uri":"a+x:"}],"_meta":{"ui":{"resourceUri":"ui://a+s"}}}}}"#,
        ),
        (
            "tasks/result",
            r#"{"id":1,"result":{"content":[{"type":"resource_link","uri":"x:"}]}}"#,
            r#"{"id":1,"result":{"content":[{"type":"resource_link","uri":"a+x:"}]}}"#,
        ),
        (
            "resources/read",
            r#"{"id":1,"error":{"code":-32002,"message":"ui://s","data":{"uri":"ui://s"}}}"#,
            r#"{"id":1,"error":{"code":-32002,"message":"ui://s","data":{"uri":"ui://a+s"}}}"#,
        ),
        ("completion/complete", r#"{"id":1,"result":{"completion":{"values":["ui://s"]}}}"#, ""),
        (
            "x/y",
            r#"{"id":1,"result":{"contents":[{"uri":"ui://s"}],"content":[{"type":"resource_link","uri":"x:"}]}}"#,
            "",
        ),
        ("tools/list", r#"{"id":1,"result":{"tools":[{"name":"f"}"#, ""),
    ] {
        let named = if named.is_empty() { answer } else { named };
        assert_eq!(answered(method, answer).await, named, "{method}");
    }
}

#[tokio::test]
async fn both_of_two_names_get_the_prefix() {
    let answer = r#"{"id":1,"result":{"tools":[{"name":"f","name":"g"}]}}"#;
    let named = r#"{"id":1,"result":{"tools":[{"name":"a__f","name":"a__g"}]}}"#;
    assert_eq!(answered("tools/list", answer).await, named);
}

#[tokio::test]
async fn notifications_are_renamed_on_any_stream() {
    let stream = [
        r#"{"method":"notifications/resources/updated","params":{"uri":"ui://s"}}"#,
        r#"{"params":{"notifications":{"resourceSubscriptions":["x:"]}},"method":"notifications/subscriptions/acknowledged"}"#,
        r#"{"method":"notifications/tasks","params":{"result":{"content":[{"type":"resource_link","uri":"x:"}]}}}"#,
        r#"{"id":9,"method":"notifications/resources/updated","params":{"uri":"ui://s"}}"#,
        r#"{"method":"notifications/message","params":{"uri":"ui://s"}}"#,
        r#"{"id":1,"result":{}}"#,
    ];
    let named = stream.map(|event| match event {
        event if event.contains(r#""id":9"#) || event.contains("message") => event.to_owned(),
        event => event.replace("ui://s", "ui://a+s").replace("x:", "a+x:"),
    });
    let events = |messages: &[&str]| messages.iter().map(|data| format!("data: {data}\n\n")).collect::<String>();
    let get = Request::get("/").body(Full::default()).unwrap();
    for request in [post(r#"{"id":1,"method":"subscriptions/listen","params":{}}"#), get] {
        let tried = try_through(&layer(), request, "text/event-stream", &events(&stream)).await;
        assert_eq!(tried.answer, events(&named.each_ref().map(String::as_str)));
    }
}

#[tokio::test]
async fn the_shape_can_be_chosen() {
    let namespace = Namespace::new("a").unwrap().separator(".").unwrap().ui_shape(UiShape::Path);
    let layer = NamespaceLayer::new(namespace);
    let list = r#"{"id":1,"result":{"tools":[{"name":"f","_meta":{"ui":{"resourceUri":"ui://s/v"}}}]}}"#;
    let tried = try_through(&layer, post(r#"{"id":1,"method":"tools/list"}"#), "application/json", list).await;
    assert_eq!(tried.answer, list.replace(r#""f""#, r#""a.f""#).replace("ui://s/v", "ui://a/s/v"));
    let read = r#"{"id":1,"method":"resources/read","params":{"uri":"ui://a/s/v"}}"#;
    let tried = try_through(&layer, post(read), "application/json", "{}").await;
    assert_eq!(tried.asked.unwrap().1, read.replace("ui://a/s/v", "ui://s/v"));
}

#[tokio::test]
async fn observers_outside_see_the_name_that_the_caller_wrote() {
    let call = r#"{"id":1,"method":"tools/call","params":{"name":"a__f"}}"#;
    let tried = try_through(&layer(), post(call), "application/json", "{}").await;
    let extensions = tried.response.extensions();
    assert_eq!(extensions.get::<McpContext>().unwrap().tool(), Some("a__f"));
    assert_eq!(extensions.get::<Decision>().unwrap().visibility("a__f"), Some(ToolVisibility::App));
}
