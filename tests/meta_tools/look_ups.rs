//! How the catalogue behind meta-tools is asked, and for how long its answer counts.

use http::StatusCode;
use serde_json::{Value, json};
use tower::Layer;
use tower_mcp_apps::concern::{LookUp, MetaTools, Unlisted};
use tower_mcp_apps::protocol::Audience;

use crate::kit::server::{Received, Server, json_answer};
use crate::kit::{send, with};
use crate::world::{aggregator, layer, legacy, now, ran, result, text, through, tools};

/// What was asked, in short.
fn asked(server: &Server) -> Vec<String> {
    let short = |received: &Received| {
        let message = received.json();
        let name = |value: &Value| value.as_str().map(|name| format!(" {name}")).unwrap_or_default();
        let params = &message["params"];
        let method = message["method"].as_str().unwrap().to_owned();
        method + &name(&params["name"]) + &name(&params["arguments"]["name"])
    };
    server.take().iter().map(short).collect()
}

#[tokio::test]
async fn it_is_asked_for_what_is_not_known() {
    let server = aggregator(tools());
    let gate = layer(Audience::Model).layer(server.clone());
    send(gate.clone(), through("open")).await;
    assert_eq!(asked(&server), ["tools/list", "tools/call describe_tool open", "tools/call call_tool open"]);
    send(gate.clone(), through("open")).await;
    assert_eq!(asked(&server), ["tools/call call_tool open"]);
    send(gate.clone(), through("admin")).await;
    assert_eq!(asked(&server), ["tools/call describe_tool admin", "tools/call call_tool admin"]);
    // What was learned before is still known.
    send(gate.clone(), through("open")).await;
    send(gate.clone(), through("poll")).await;
    assert_eq!(asked(&server), ["tools/call call_tool open", "tools/call describe_tool poll"]);
    send(gate.clone(), through("poll")).await;
    assert_eq!(asked(&server), [""; 0], "that it is hidden is known");
    // Also by its own name.
    send(gate.clone(), legacy("poll", json!({}))).await;
    send(gate.clone(), legacy("open", json!({}))).await;
    assert_eq!(asked(&server), ["tools/call open"]);
    // What is not there may be there by now.
    send(gate.clone(), through("nowhere")).await;
    send(gate, through("nowhere")).await;
    assert_eq!(asked(&server), ["tools/call describe_tool nowhere", "tools/call describe_tool nowhere"]);
}

#[tokio::test]
async fn a_list_is_asked_where_nothing_describes() {
    let server = aggregator(tools());
    let lists = MetaTools::new().list_tools("list_tools").call_tool("call_tool", "name");
    let layer = layer(Audience::Model).meta_tools(lists);
    let gate = layer.layer(server.clone());
    send(gate.clone(), through("open")).await;
    assert_eq!(asked(&server), ["tools/list", "tools/call list_tools", "tools/call call_tool open"]);
    send(gate.clone(), through("admin")).await;
    send(gate.clone(), through("poll")).await;
    send(gate.clone(), through("nowhere")).await;
    assert_eq!(asked(&server), ["tools/call call_tool admin"]);
}

#[tokio::test]
async fn a_listed_tool_with_two_names_runs_by_neither() {
    let server = Server::new(|received| {
        let message = received.json();
        match message["params"]["name"].as_str() {
            Some("list_tools") => result(received, &text(r#"{"tools":[{"name":"first","name":"last"}]}"#)),
            _ => result(received, &ran(&message, &tools())),
        }
    });
    let lists = MetaTools::new().list_tools("list_tools").call_tool("call_tool", "name").unlisted(Unlisted::Forward);
    let gate = layer(Audience::Model).meta_tools(lists).layer(server);
    for name in ["first", "last"] {
        for request in [through(name), legacy(name, json!({}))] {
            let answer = send(gate.clone(), request).await;
            assert_eq!(answer.error_code(), -32602, "{name}: {}", answer.text());
        }
    }
}

#[tokio::test]
async fn it_is_asked_as_the_caller() {
    let server = aggregator(tools());
    let gate = layer(Audience::Model).layer(server.clone());
    let credential = |request, token| with(request, "authorization", token);
    for token in ["a", "b"] {
        let call = now("call_tool", json!({ "name": "op\"en", "arguments": { "secret": 1 } }));
        send(gate.clone(), credential(call, token)).await;
        let received = server.take();
        let methods: Vec<_> = received.iter().map(Received::method).collect();
        assert_eq!(methods, ["tools/list", "tools/call"], "nothing is shared between callers");
        let look_up = &received[1];
        assert_eq!(look_up.header("authorization"), Some(token));
        assert_eq!(look_up.header("mcp-method"), Some("tools/call"));
        assert_eq!(look_up.header("mcp-name"), Some("describe_tool"));
        assert_eq!(look_up.header("content-length"), Some(look_up.bytes().len().to_string().as_str()));
        let message = look_up.json();
        assert_eq!(message["params"]["arguments"], json!({ "name": "op\"en" }));
        assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert_ne!(message["id"], 7);
    }
}

#[tokio::test]
async fn an_answer_that_tells_nothing_refuses_the_call() {
    let described = |answer: Value| {
        Server::new(move |received| {
            let message = received.json();
            match message["params"]["name"].as_str() {
                Some("describe_tool") => match answer.get("code") {
                    Some(_) => {
                        json_answer(json!({ "jsonrpc": "2.0", "id": message["id"], "error": answer }).to_string())
                    }
                    None => result(received, &answer),
                },
                _ => result(received, &ran(&message, &tools())),
            }
        })
    };
    for answer in [
        text("open"),
        text("{\"name\":\"open\""),
        json!({ "content": [], "structuredContent": [] , "resultType": "input_required" }),
        json!({ "content": [], "task": { "taskId": "1" } }),
        json!({ "code": -32603, "message": "no" }),
    ] {
        let server = described(answer.clone());
        for request in [through("open"), legacy("unlisted", json!({}))] {
            let refused = send(layer(Audience::Model).layer(server.clone()), request).await;
            assert_eq!((refused.status, refused.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)), "{answer}");
            assert!(asked(&server).last().unwrap().starts_with("tools/call describe_tool"), "{answer}");
        }
    }
    // These say that there is no such tool.
    for answer in [
        json!({ "content": [] }),
        json!({ "content": [{ "type": "text", "text": "no" }], "isError": true }),
        json!({ "code": -32602, "message": "no" }),
    ] {
        let server = described(answer.clone());
        let refused = send(layer(Audience::Model).layer(server.clone()), through("open")).await;
        assert_eq!((refused.status, refused.error_code()), (StatusCode::OK, json!(-32602)), "{answer}");
        let ran = send(layer(Audience::Model).layer(server), legacy("unlisted", json!({}))).await;
        assert_eq!(ran.json()["result"], text("ran unlisted"), "{answer}");
    }
}

#[tokio::test]
async fn a_description_counts_for_the_name_that_was_asked_for() {
    let server = Server::new(|received| {
        let message = received.json();
        match message["params"]["name"].as_str() {
            // An alias, and a description that says two things.
            Some("describe_tool") if message["params"]["arguments"]["name"] == "alias" => {
                result(received, &text(tools()[1].to_string()))
            }
            Some("describe_tool") => result(received, &text(r#"{"name":"two","name":"open","_meta":{}}"#)),
            _ => result(received, &ran(&message, &tools())),
        }
    });
    let gate = layer(Audience::Model).layer(server.clone());
    for name in ["alias", "poll", "two", "open"] {
        let answer = send(gate.clone(), through(name)).await;
        assert_eq!(answer.error_code(), -32602, "{name}");
    }
}

#[tokio::test]
async fn a_catalogue_is_forgotten_in_its_time() {
    let server = aggregator(tools());
    let look_up = LookUp::new().at_least(std::time::Duration::ZERO).where_unsaid(std::time::Duration::ZERO);
    let gate = layer(Audience::Model).look_up(look_up).layer(server.clone());
    for _ in 0..2 {
        send(gate.clone(), through("open")).await;
        assert_eq!(asked(&server), ["tools/list", "tools/call describe_tool open", "tools/call call_tool open"]);
    }
}

#[tokio::test]
async fn callers_at_once_all_hear_of_their_own_tool() {
    let server = aggregator(tools());
    let gate = layer(Audience::Model).layer(server.clone());
    let mut calls = tokio::task::JoinSet::new();
    for turn in 0..60 {
        let (gate, name) = (gate.clone(), ["open", "admin", "poll", "nowhere"][turn % 4]);
        let request = if turn % 8 < 4 { through(name) } else { legacy(name, json!({})) };
        calls.spawn(async move { (name, turn % 8 < 4, send(gate, request).await.json()) });
    }
    let all = async {
        while let Some(done) = calls.join_next().await {
            let (name, is_through, answer) = done.unwrap();
            let runs = name != "poll" && !(name == "nowhere" && is_through);
            assert_eq!(answer["result"].is_object(), runs, "{name}: {answer}");
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(20), all).await.expect("it does not hang");
}

/// An aggregator whose list has these pages, each with the text of its result; its cursors are their numbers.
fn paged(page: impl Fn(usize) -> Value + Send + Sync + 'static) -> Server {
    Server::new(move |received| {
        let message = received.json();
        match (message["params"]["name"].as_str(), &message["params"]["arguments"]["cursor"]) {
            (Some("list_tools"), Value::Null) => result(received, &page(0)),
            (Some("list_tools"), cursor) => result(received, &page(cursor.as_str().unwrap().parse().unwrap())),
            _ => result(received, &ran(&message, &tools())),
        }
    })
}

fn by_lists(unlisted: Unlisted) -> tower_mcp_apps::AppsLayer {
    let lists = MetaTools::new().list_tools("list_tools").call_tool("call_tool", "name").unlisted(unlisted);
    layer(Audience::Model).meta_tools(lists)
}

#[tokio::test]
async fn a_list_is_asked_for_page_by_page() {
    let page = |at: usize| {
        let list = json!({ "tools": [tools()[at]], "nextCursor": if at < 2 { json!((at + 1).to_string()) } else { Value::Null } });
        // In both places, and in another spelling.
        let mut page = text(list.to_string().replace(r#""1""#, r#""\u0031""#));
        page["structuredContent"] = list;
        page
    };
    for unlisted in [Unlisted::Refuse, Unlisted::Forward] {
        let server = paged(page);
        let gate = by_lists(unlisted).layer(server.clone());
        send(gate.clone(), through("admin")).await;
        let pages = ["tools/call list_tools"; 3];
        assert_eq!(asked(&server), [&["tools/list"][..], &pages, &["tools/call call_tool admin"]].concat());
        // What is hidden stands behind the first page.
        for call in [through("poll"), legacy("poll", json!({}))] {
            assert_eq!(send(gate.clone(), call).await.error_code(), -32602);
        }
        send(gate, through("open")).await;
        assert_eq!(asked(&server), ["tools/call call_tool open"]);
    }
}

#[tokio::test]
async fn a_list_whose_end_cannot_be_had_refuses_the_call() {
    let entries = json!([tools()[0]]);
    let listed = |next: Value| text(json!({ "tools": entries, "nextCursor": next }).to_string());
    let again = listed(json!("1"));
    let two = {
        let mut two = listed(json!("1"));
        two["structuredContent"] = json!({ "tools": entries, "nextCursor": "2" });
        two
    };
    let doubled = text(r#"{"tools":[],"nextCursor":"1","nextCursor":"2"}"#);
    let unsayable = text(r#"{"tools":[],"nextCursor":"\ud800"}"#);
    let mut error = text("no");
    error["isError"] = json!(true);
    let unread = text("none");
    let first = listed(json!("1"));
    for (pages, how_many) in [
        (vec![again.clone(), again], 2),
        (vec![two], 1),
        (vec![doubled], 1),
        (vec![unsayable], 1),
        (vec![first.clone(), error], 2),
        (vec![first, unread], 2),
    ] {
        let answers = pages.clone();
        let server = paged(move |at| answers[at].clone());
        for request in [through("open"), through("poll"), legacy("unlisted", json!({}))] {
            let answer = send(by_lists(Unlisted::Forward).layer(server.clone()), request).await;
            assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)), "{pages:?}");
            assert_eq!(asked(&server).len(), 1 + how_many, "{pages:?}");
        }
    }
    // Cursors that never come again.
    let server = paged(move |at| text(json!({ "tools": [], "nextCursor": (at + 1).to_string() }).to_string()));
    let answer = send(by_lists(Unlisted::Forward).layer(server.clone()), through("open")).await;
    assert_eq!((answer.status, answer.error_code()), (StatusCode::BAD_GATEWAY, json!(-32603)));
    assert_eq!(asked(&server).len(), 1 + 1000);
}

#[tokio::test]
async fn the_cursors_of_one_list_are_not_those_of_another() {
    let server = Server::new(|received| {
        let message = received.json();
        let cursor = match message["method"].as_str() {
            Some("tools/list") => message["params"]["cursor"].clone(),
            _ => message["params"]["arguments"]["cursor"].clone(),
        };
        let next = if cursor.is_null() { json!("next") } else { Value::Null };
        match (message["method"].as_str(), message["params"]["name"].as_str()) {
            (Some("tools/list"), _) => result(received, &json!({ "tools": [], "nextCursor": next })),
            (_, Some("list_tools")) => {
                let at = usize::from(!cursor.is_null());
                result(received, &text(json!({ "tools": [tools()[at]], "nextCursor": next }).to_string()))
            }
            _ => result(received, &ran(&message, &tools())),
        }
    });
    let gate = by_lists(Unlisted::Refuse).layer(server.clone());
    assert_eq!(send(gate.clone(), through("open")).await.json()["result"], text("ran open"));
    assert_eq!(send(gate, through("poll")).await.error_code(), -32602);
}
