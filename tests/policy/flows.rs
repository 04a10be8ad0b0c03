//! Whole exchanges: lists and reads, JSON and streams, and what becomes of violations.

use base64::Engine as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::audit::Record;
use tower_mcp_apps::exchange::{Fixed, Reason};
use tower_mcp_apps::policy::{Digest, InvalidRule, List, OnViolation, Policy, PolicyLayer};
use tower_mcp_apps::protocol::Audience;
use tower_mcp_apps::testing::Body;

use crate::exchange::{post, request, send};
use crate::kit::server::Server;
use crate::kit::{self, Answer};
use crate::log;

const TEMPLATE: &str = "<!doctype html><html></html>";

fn api_only() -> Policy {
    Policy::new().allow(List::Connect, "https://api.example").expect("a rule")
}

fn answer(result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string()
}

/// Lists and a read, each with the same metadata, and the pointer to it.
fn answers(meta: &Value) -> [(&'static str, String, &'static str); 4] {
    let entry =
        |key: &str| json!({ "name": "v", key: "ui://s/v", "mimeType": "text/html;profile=mcp-app", "_meta": meta });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "_meta": meta });
    let contents =
        json!({ "uri": "ui://s/v", "mimeType": "text/html;profile=mcp-app", "text": TEMPLATE, "_meta": meta });
    [
        ("resources/list", answer(&json!({ "resources": [entry("uri")] })), "/result/resources/0/_meta"),
        (
            "resources/templates/list",
            answer(&json!({ "resourceTemplates": [entry("uriTemplate")] })),
            "/result/resourceTemplates/0/_meta",
        ),
        ("resources/read", answer(&json!({ "contents": [contents] })), "/result/contents/0/_meta"),
        ("tools/list", answer(&json!({ "tools": [tool] })), "/result/tools/0/_meta"),
    ]
}

fn ask(policy: Policy, method: &str, body: &str) -> Answer {
    let uri = (method == "resources/read").then_some("ui://s/v");
    post(&PolicyLayer::new(policy), Server::saying(body.to_owned()), &request(method, uri))
}

fn is_refused(got: &Answer) -> bool {
    let error = got.json();
    error["id"] == 1
        && error["error"]["code"] == -32603
        && error.get("result").is_none()
        && got.status == StatusCode::OK
}

#[test]
fn metadata_is_held_to_the_policy_wherever_it_stands() {
    let meta = json!({ "ui": {
        "csp": {
            "connectDomains": ["https://api.example", "https://evil.example"],
            "resourceDomains": ["https://cdn.example"],
        },
        "permissions": { "camera": {}, "clipboardWrite": {} },
        "prefersBorder": false,
        "domain": "x.example",
    }, "k": 1.0 });
    let policy = api_only()
        .allow(List::Permissions, "clipboardWrite")
        .and_then(|policy| policy.deny(List::Domain, "x.example"))
        .expect("rules");
    for (method, body, pointer) in answers(&meta) {
        let got = ask(policy.clone(), method, &body);
        let expected = json!({ "ui": {
            "csp": { "connectDomains": ["https://api.example"], "resourceDomains": ["https://cdn.example"] },
            "permissions": { "clipboardWrite": {} },
            "prefersBorder": false,
        }, "k": 1.0 });
        assert_eq!(got.json().pointer(pointer), Some(&expected), "{method}");
        assert_eq!(got.status, StatusCode::OK);

        let refused = ask(policy.clone().on_violation(OnViolation::Refuse), method, &body);
        assert!(is_refused(&refused), "{method}: {refused:?}");
        let message = refused.json()["error"]["message"].to_string();
        for member in ["csp.connectDomains", "permissions", "domain"] {
            assert!(message.contains(member), "{message}");
        }
        assert!(!message.contains("evil"), "what a server wrote is not in our error");
        assert_eq!(ask(policy.clone().on_violation(OnViolation::Report), method, &body).text(), body);
    }
}

#[test]
fn what_is_within_the_policy_keeps_its_bytes() {
    let meta = json!({ "ui": { "csp": { "connectDomains": ["https://api.example"], "frameDomains": ["*"] } } });
    for (method, body, _) in answers(&meta) {
        let body = body.replace(':', " : ").replace("ui : //", "ui://").replace("https : //", "https://");
        for on_violation in [OnViolation::Restrict, OnViolation::Refuse, OnViolation::Report] {
            assert_eq!(ask(api_only().on_violation(on_violation), method, &body).text(), body);
        }
    }
}

#[test]
fn null_states_nothing_and_what_cannot_be_read_goes() {
    for (csp, expected) in [
        ("null", "null"),
        (r#"{"connectDomains":null}"#, r#"{"connectDomains":null}"#),
        (r#"{"connectDomains":"https://api.example","x":1}"#, r#"{"x":1}"#),
        (r#"{"connectDomains":{}}"#, "{}"),
        (r#"{"connectDomains":["https://api.example"],"connectDomains":[]}"#, "{}"),
        (
            r#"{"connectDomains":[["https://api.example"],1,"https://api.example"]}"#,
            r#"{"connectDomains":["https://api.example"]}"#,
        ),
        (r#"{"connect\u0044omains":["https://evil.example"]}"#, r#"{"connect\u0044omains":[]}"#),
    ] {
        let body = |csp: &str| {
            answer(&json!({ "contents": [{ "uri": "ui://s/v", "_meta": { "ui": { "csp": "CSP" } } }] }))
                .replace("\"CSP\"", csp)
        };
        assert_eq!(ask(api_only(), "resources/read", &body(csp)).text(), body(expected));
    }
    for csp in ["[]", "\"https://api.example\"", "true"] {
        let body =
            format!(r#"{{"id":1,"result":{{"contents":[{{"uri":"ui://s/v","_meta":{{"ui":{{"csp":{csp}}}}}}}]}}}}"#);
        assert_eq!(ask(api_only(), "resources/read", &body).text(), body.replace(&format!("\"csp\":{csp}"), ""));
    }
}

#[test]
fn a_permission_is_asked_for_by_its_name() {
    let policy = Policy::new().allow(List::Permissions, "camera").expect("a rule");
    for (permissions, expected) in [
        (r#"{"microphone":{},"camera":{}}"#, r#"{"camera":{}}"#),
        (r#"{"camera":null,"microphone":null}"#, r#"{"camera":null}"#),
        (r#"{"c\u0061mera":true,"Camera":{},"camera ":{}}"#, r#"{"c\u0061mera":true}"#),
        (r#"{"\ud800":{},"usb":{}}"#, "{}"),
        ("null", "null"),
    ] {
        let body = |permissions: &str| {
            format!(
                r#"{{"id":1,"result":{{"contents":[{{"uri":"ui://s/v","_meta":{{"ui":{{"permissions":{permissions}}}}}}}]}}}}"#
            )
        };
        assert_eq!(ask(policy.clone(), "resources/read", &body(permissions)).text(), body(expected));
    }
    let body = r#"{"id":1,"result":{"contents":[{"uri":"ui://s/v","_meta":{"ui":{"permissions":["camera"]}}}]}}"#;
    let expected = r#"{"id":1,"result":{"contents":[{"uri":"ui://s/v","_meta":{"ui":{}}}]}}"#;
    assert_eq!(ask(policy, "resources/read", body).text(), expected);
}

#[test]
fn presets_drop_directives_that_are_not_known() {
    let csp =
        json!({ "connectDomains": ["https://a.example", "https://b.example"], "scriptDomains": ["https://a.example"] });
    let read = |policy| {
        let meta = json!({ "ui": { "csp": csp } });
        let (method, body, pointer) = answers(&meta)[2].clone();
        ask(policy, method, &body).json().pointer(pointer).map(|meta| meta["ui"]["csp"].clone())
    };
    assert_eq!(read(Policy::no_network()), Some(json!({ "connectDomains": [] })));
    let origin = "https://a.example".parse().expect("an origin");
    assert_eq!(read(Policy::same_origin(origin)), Some(json!({ "connectDomains": ["https://a.example"] })));
    assert_eq!(read(Policy::new()), Some(csp.clone()));
}

#[test]
fn the_keys_of_openai_are_held_to_it_too() {
    let meta = json!({
        "openai/widgetCSP": { "connect_domains": ["https://api.example", "https://evil.example"], "redirect_domains": ["https://evil.example"] },
        "openai/widgetDomain": "evil.example",
    });
    let policy = api_only().deny(List::Domain, "evil.example").expect("a rule").allow_nothing(List::LinkTrusted);
    for (method, body, pointer) in answers(&meta) {
        let expected =
            json!({ "openai/widgetCSP": { "connect_domains": ["https://api.example"], "redirect_domains": [] } });
        assert_eq!(ask(policy.clone(), method, &body).json().pointer(pointer), Some(&expected));
    }
}

/// A member that stands twice is what each reader takes it for.
#[test]
fn an_entry_that_says_two_things_is_not_shown() {
    let evil = r#""_meta":{"ui":{"csp":{"connectDomains":["https://evil.example"]}}}"#;
    let good = r#""_meta":{"ui":{"csp":{"connectDomains":["https://api.example"]}}}"#;
    for entry in [
        format!(r#"{{"uri":"ui://s/v",{evil},{good}}}"#),
        r#"{"uri":"ui://s/v","_meta":{"ui":{"csp":{"connectDomains":["https://evil.example"]}},"ui":{}}}"#.to_owned(),
        r#"{"uri":"ui://s/v","_meta":{"ui":{"csp":{"connectDomains":["https://evil.example"]},"csp":{}}}}"#.to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
    ] {
        let list = |entries: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"resources":[{entries}]}}}}"#);
        let plain = format!(r#"{{"uri":"ui://s/w",{good}}}"#);
        assert_eq!(ask(api_only(), "resources/list", &list(&format!("{entry}, {plain}"))).text(), list(&plain));
        let read =
            ask(api_only(), "resources/read", &format!(r#"{{"id":1,"result":{{"contents":[{plain},{entry}]}}}}"#));
        assert!(is_refused(&read), "{read:?}");
    }
}

#[test]
fn media_types_of_ui_resources_are_judged() {
    let policy = Policy::new().allow(List::MediaTypes, "text/html;profile=mcp-app").expect("a rule");
    let list = |resources: Value| answer(&json!({ "resources": resources }));
    let app = json!({ "uri": "ui://s/app", "mimeType": "text/html; profile=\"mcp-app\"" });
    let untyped = json!({ "uri": "ui://s/untyped" });
    let file = json!({ "uri": "file:///a.txt", "mimeType": "text/plain" });
    let other = json!({ "uri": "UI://s/other", "mimeType": "text/html+skybridge" });
    let odd = json!({ "uri": "ui://s/odd", "mimeType": ["text/html;profile=mcp-app"] });
    let got = ask(policy.clone(), "resources/list", &list(json!([app, other, untyped, odd, file])));
    assert_eq!(got.text(), list(json!([app, untyped, file])));

    let read = |item: &Value| ask(policy.clone(), "resources/read", &answer(&json!({ "contents": [item] })));
    assert!(!is_refused(&read(&app)) && !is_refused(&read(&file)));
    assert!(is_refused(&read(&other)) && is_refused(&read(&odd)) && is_refused(&read(&untyped)));
}

#[test]
fn a_pinned_template_passes_as_text_and_as_blob() {
    let policy = Policy::new().pin("ui://s/v", Digest::of(TEMPLATE.as_bytes()));
    let blob = base64::engine::general_purpose::STANDARD.encode(TEMPLATE);
    let escaped = TEMPLATE.replace('<', "\\u003c");
    for (content, passes) in [
        (format!(r#""text":"{TEMPLATE}""#), true),
        (format!(r#""text":"{escaped}""#), true),
        (format!(r#""blob":"{blob}""#), true),
        (format!(r#""blob":"{blob}","text":"{TEMPLATE}""#), true),
        (format!(r#""text":"{TEMPLATE} ""#), false),
        (format!(r#""blob":"{blob}","text":"x""#), false),
        (format!(r#""blob":"{}","text":"{TEMPLATE}""#, blob.trim_end_matches('=')), false),
        (format!(r#""text":["{TEMPLATE}"]"#), false),
        (format!(r#""text":"x","text":"{TEMPLATE}""#), false),
        (r#""k":1"#.to_owned(), false),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"contents":[{{"uri":"ui://s/v",{content}}}]}}}}"#);
        for on_violation in [OnViolation::Restrict, OnViolation::Refuse] {
            let got = ask(policy.clone().on_violation(on_violation), "resources/read", &body);
            assert_eq!(got.text() == body, passes, "{body}");
            assert!(passes || is_refused(&got), "{got:?}");
        }
        assert_eq!(ask(policy.clone().on_violation(OnViolation::Report), "resources/read", &body).text(), body);
    }
    let rolling = policy.pin("ui://s/v", Digest::of(b"x"));
    let body = answer(&json!({ "contents": [{ "uri": "ui://s/v", "text": "x" }] }));
    assert_eq!(ask(rolling, "resources/read", &body).text(), body);
}

/// What is shown is what was asked for, whatever URI it claims.
#[test]
fn a_pin_holds_for_what_was_asked_for() {
    let policy = Policy::new().pin("ui://s/v", Digest::of(TEMPLATE.as_bytes()));
    let layer = PolicyLayer::new(policy.clone());
    let read = |asked: &Value, uri: &str, text: &str| {
        let body = answer(&json!({ "contents": [{ "uri": uri, "mimeType": "text/html", "text": text }] }));
        !is_refused(&post(&layer, Server::saying(body), asked))
    };
    let pinned = request("resources/read", Some("ui://s/v"));
    assert!(read(&pinned, "ui://s/other", TEMPLATE) && !read(&pinned, "ui://s/other", "x"));
    let other = request("resources/read", Some("ui://s/other"));
    assert!(read(&other, "ui://s/other", "x") && !read(&other, "ui://s/v", "x"));
    let batch =
        json!([other, { "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": "ui://s/v" } }]);
    assert!(read(&batch, "ui://s/other", "x") && !read(&batch, "ui://s/third", "x"));

    let only = PolicyLayer::new(policy.only_pinned());
    for (uri, media_type, passes) in
        [("ui://s/other", "text/plain", false), ("x:y", "text/html", false), ("x:y", "text/plain", true)]
    {
        let body = answer(&json!({ "contents": [{ "uri": uri, "mimeType": media_type, "text": "x" }] }));
        let got = post(&only, Server::saying(body.clone()), &request("resources/read", Some(uri)));
        assert_eq!(got.text() == body, passes, "{uri} {media_type}");
    }
}

#[test]
fn a_stream_is_held_to_it_event_by_event() {
    let event = |id: u32, sources: &str| {
        format!(
            "event: message\nid: {id}\ndata: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"contents\":[{{\"uri\":\"ui://s/v\",\"text\":\"x\",\"_meta\":{{\"ui\":{{\"csp\":{{\"connectDomains\":[{sources}]}}}}}}}}]}}}}\n\n"
        )
    };
    let notice = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n";
    let [evil, good] = ["\"https://api.example\",\"https://evil.example\"", "\"https://api.example\""];
    let stream = [notice, &event(1, evil), ": ping\n\n", &event(2, good)].concat();
    let read = request("resources/read", Some("ui://s/v"));

    let got = post(&PolicyLayer::new(api_only()), Server::streaming(stream.clone()), &read);
    assert_eq!(got.text(), [notice, &event(1, good), ": ping\n\n", &event(2, good)].concat());
    let refuse = PolicyLayer::new(api_only().on_violation(OnViolation::Refuse));
    let got = post(&refuse, Server::streaming(stream.clone()), &read);
    let error = "event: message\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,\"message\":\"the server's answer is not within the policy for UIs: csp.connectDomains\"}}\n\n";
    assert_eq!(got.text(), [notice, error, ": ping\n\n", &event(2, good)].concat());
    let report = PolicyLayer::new(api_only().on_violation(OnViolation::Report));
    assert_eq!(post(&report, Server::streaming(stream.clone()), &read).text(), stream);

    // A GET stream that replays the answer.
    let get = |layer| {
        send(&layer, Server::streaming(stream.clone()), Request::get("/mcp").body(Body::default()).expect("a request"))
    };
    assert_eq!(get(refuse).text(), got.text());
    let pin = PolicyLayer::new(Policy::new().pin("ui://s/w", Digest::of(b"x")));
    assert!(
        !get(pin).text().contains("contents"),
        "the request is not known, so a template without a pin does not pass"
    );
}

#[test]
fn a_batch_loses_only_the_refused_answer() {
    let read = |id: u32, source: &str| {
        json!({ "jsonrpc": "2.0", "id": id, "result": { "contents": [
            { "uri": "ui://s/v", "text": "x", "_meta": { "ui": { "csp": { "connectDomains": [source] } } } },
        ] } })
    };
    let asked =
        |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": { "uri": "ui://s/v" } });
    let body = json!([read(1, "https://api.example"), read(2, "https://evil.example")]);
    let refuse = PolicyLayer::new(api_only().on_violation(OnViolation::Refuse));
    let got = post(&refuse, Server::saying(body.to_string()), &json!([asked(1), asked(2)])).json();
    assert_eq!(got[0], body[0]);
    assert_eq!((&got[1]["id"], &got[1]["error"]["code"]), (&json!(2), &json!(-32603)));
}

#[test]
fn an_answer_that_cannot_be_read_passes_only_where_it_is_reported() {
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{"contents":["#;
    for on_violation in [OnViolation::Restrict, OnViolation::Refuse] {
        let got = ask(api_only().on_violation(on_violation), "resources/read", body);
        assert_eq!((got.status, &got.json()["error"]["code"]), (StatusCode::BAD_GATEWAY, &json!(-32603)));
    }
    assert_eq!(ask(api_only().on_violation(OnViolation::Report), "resources/read", body).text(), body);
    assert_eq!(ask(api_only(), "tools/call", body).text(), body);
    assert_eq!(ask(Policy::new(), "resources/read", body).text(), body);
}

#[test]
fn the_head_fits_what_is_left() {
    let meta = json!({ "ui": { "csp": { "connectDomains": ["https://evil.example"] } } });
    let (method, body, _) = answers(&meta)[2].clone();
    for on_violation in [OnViolation::Restrict, OnViolation::Refuse] {
        let got = ask(api_only().on_violation(on_violation), method, &body);
        assert_eq!(got.headers[CONTENT_TYPE], "application/json");
        assert!(got.headers.get(CONTENT_LENGTH).is_none_or(|length| length == got.text().len().to_string().as_str()));
    }
}

/// What is normalised is judged, and what is refused stays hidden from those who may not see it.
#[test]
fn the_fused_layer_judges_between_normalising_and_hiding() -> Result<(), InvalidRule> {
    let meta = json!({ "ui": { "visibility": ["app"], "csp": { "connectDomains": ["https://evil.example"] } } });
    let tool = |name: &str| json!({ "name": name, "_meta": meta });
    let body = answer(&json!({ "tools": [tool("a"), { "name": "b" }] }));
    let names = |got: &Answer| {
        let tools = got.json()["result"]["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let list = request("tools/list", None);
    for (audience, expected) in
        [(Audience::Host, &["a", "b"][..]), (Audience::App, &["a", "b"]), (Audience::Model, &["b"])]
    {
        let layer = AppsLayer::new().audience(Fixed(audience)).policy(api_only());
        let got = post(&layer, Server::saying(body.clone()), &list);
        assert_eq!(names(&got), expected, "{audience}");
        assert!(!got.text().contains("evil"));
    }
    let layer = AppsLayer::new().policy(api_only().on_violation(OnViolation::Refuse));
    assert!(is_refused(&post(&layer, Server::saying(body), &list)));

    let page = answer(
        &json!({ "contents": [{ "uri": "ui://s/v", "text": "x", "_meta": { "openai/widgetCSP": { "frame_domains": ["https://a.example", "https://b.example"] } } }] }),
    );
    let layer = AppsLayer::new()
        .openai_keys(tower_mcp_apps::normalize::OpenAiKeys::Read)
        .policy(Policy::new().allow(List::Frame, "https://a.example")?);
    let got = post(&layer, Server::saying(page), &request("resources/read", Some("ui://s/v"))).json();
    assert_eq!(got["result"]["contents"][0]["_meta"]["ui"]["csp"], json!({ "frameDomains": ["https://a.example"] }));
    Ok(())
}

#[test]
fn records_tell_what_was_refused() {
    let meta = json!({ "ui": { "csp": { "connectDomains": ["https://evil.example"] } } });
    let (method, body, _) = answers(&meta)[2].clone();
    for (on_violation, reason) in
        [(OnViolation::Refuse, Some(Reason::OutsidePolicy)), (OnViolation::Restrict, None), (OnViolation::Report, None)]
    {
        let (records, kept) = std::sync::mpsc::channel();
        let sink =
            move |record: &Record| records.send((record.is_refused(), record.reason())).expect("the test listens");
        let layer = AppsLayer::new().policy(api_only().on_violation(on_violation)).audit(sink);
        post(&layer, Server::saying(body.clone()), &request(method, Some("ui://s/v")));
        assert_eq!(kept.try_recv(), Ok((reason.is_some(), reason)));
    }
}

#[test]
fn each_violation_is_told_of_once_for_a_member() {
    let meta = json!({ "ui": { "csp": { "connectDomains": ["https://evil.example", "'self'", "https://api.example"] }, "domain": "x\ny" } });
    let policy = api_only().allow(List::Domain, "*.example").expect("a rule");
    for (on_violation, action) in
        [(OnViolation::Report, "reported"), (OnViolation::Restrict, "restricted"), (OnViolation::Refuse, "refused")]
    {
        let (method, body, _) = answers(&meta)[2].clone();
        let lines = log::during(|| ask(policy.clone().on_violation(on_violation), method, &body));
        assert_eq!(
            lines,
            [
                format!(
                    r#"WARN a UI declaration is not within the policy action="{action}" entry=Some("ui://s/v") member=csp.connectDomains count=2 example="\"https://evil.example\"""#
                ),
                format!(
                    r#"WARN a UI declaration is not within the policy action="{action}" entry=Some("ui://s/v") member=domain count=1 example="\"x\\ny\"""#
                ),
            ]
        );
    }
}

#[test]
fn a_violation_is_told_of_each_time_its_list_comes() {
    log::install();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let media_types = Policy::new().deny(List::MediaTypes, "text/html;profile=mcp-app").expect("a rule");
    for policy in [api_only(), media_types] {
        let meta = json!({ "ui": { "csp": { "connectDomains": ["https://evil.example"] } }, "pad": "x".repeat(2000) });
        let (method, body, _) = answers(&meta)[0].clone();
        let layer = PolicyLayer::new(policy.on_violation(OnViolation::Report));
        let service = layer.layer(Server::saying(body));
        for time in 1..=3 {
            let request = kit::post(request(method, None).to_string());
            let lines = log::during(|| runtime.block_on(kit::send(service.clone(), request)));
            assert_eq!(lines.len(), 1, "{time}");
        }
    }
}
