//! Real servers behind the gateway, and a real client before it: each era and kind of client.

use std::net::SocketAddr;

use rmcp::model::ProtocolVersion;
use serde_json::{Value, json};

use crate::servers::client::{APPS, Client, Era, Kind};
use crate::servers::{by_hand, catalogue, mount, rmcp_json, rmcp_sessions, tower_mcp};
use crate::world::{Gateway, listen};

const NAMES: [&str; 4] = ["rmcp-json", "rmcp", "tower-mcp", "hand"];

#[tokio::test]
async fn all_that_real_servers_have_is_there_and_works() {
    let servers = [
        listen(mount(rmcp_json::service())).await,
        listen(mount(rmcp_sessions::service())).await,
        listen(mount(tower_mcp::service())).await,
        listen(mount(by_hand::service())).await,
    ];
    let named: Vec<_> = NAMES.into_iter().zip(servers.iter().map(String::as_str)).collect();
    let gateway = Gateway::start(&named, &[]).await;
    let address: SocketAddr = gateway.authority().parse().expect("an address");
    let legacy = [ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_03_26];
    for era in legacy.map(Era::Legacy).into_iter().chain([Era::Modern, Era::Auto]) {
        for kind in [Kind::Text, Kind::AppsHost] {
            flow(address, era.clone(), kind).await;
        }
    }
}

async fn flow(address: SocketAddr, era: Era, kind: Kind) {
    let case = format!("{era:?}, {kind:?}");
    let client = Client::connect(address, era, kind).await.unwrap_or_else(|error| panic!("{case}: {error}"));
    let server = serde_json::to_value(client.server()).expect("JSON");
    let apps = &server["capabilities"]["extensions"][APPS];
    assert_eq!(apps, &json!({ "mimeTypes": [catalogue::APP_HTML] }), "{case}: {server}");

    let tools = serde_json::to_value(client.list_tools().await.expect(&case)).expect("JSON");
    let tools = tools["tools"].as_array().expect("a list");
    let mut expected: Vec<String> = NAMES
        .iter()
        .flat_map(|name| catalogue::names().into_iter().map(move |tool| format!("{name}__{tool}")))
        .collect();
    if kind == Kind::Text {
        expected.retain(|name| !name.ends_with("__poll"));
    }
    let mut names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect();
    expected.sort();
    names.sort();
    assert_eq!(names, expected, "{case}");

    let resources = client.list_resources().await.expect(&case).resources;
    let uris: Vec<_> = resources.iter().map(|resource| resource.uri.clone()).collect();
    assert_eq!(uris, NAMES.map(view_of), "{case}");
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        let (upstream, bare) = name.split_once("__").expect("a prefix");
        let link = &tool["_meta"]["ui"]["resourceUri"];
        if bare == "plain" {
            assert_eq!(link, &Value::Null);
        } else {
            assert_eq!(link, &json!(view_of(upstream)), "{case}: {name}");
        }
        let result = client.call_tool(name).await.unwrap_or_else(|error| panic!("{case}: {name}: {error}"));
        let content = serde_json::to_value(&result.content).expect("JSON");
        assert_eq!(content[0]["text"], format!("{bare} ran"), "{case}: {name}");
    }
    for name in NAMES {
        let contents = client.read_resource(&view_of(name)).await.expect(&case).contents;
        let mut expected = catalogue::contents();
        expected["uri"] = view_of(name).into();
        assert_eq!(serde_json::to_value(contents).expect("JSON"), json!([expected]), "{case}");
    }
    assert!(client.call_tool("plain").await.is_err(), "{case}: no prefix, no tool");
    client.close().await;
}

fn view_of(upstream: &str) -> String {
    catalogue::VIEW.replace("ui://", &format!("ui://{upstream}+"))
}

#[tokio::test]
async fn without_flags_it_shows_what_it_does_with_servers_of_its_own() {
    let gateway = Gateway::start(&[], &[]).await;
    let address: SocketAddr = gateway.authority().parse().expect("an address");
    for era in [Era::Legacy(ProtocolVersion::V_2025_11_25), Era::Modern] {
        let client = Client::connect(address, era, Kind::AppsHost).await.expect("it is there");
        let first = client.list_tools().await.expect("a list");
        let names: Vec<_> = first.tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["clock__show", "clock__poll", "weather__show", "weather__poll", "notes__add"]);
        assert!(first.next_cursor.is_some());
        let page = client.read_resource("ui://weather+weather/page.html").await.expect("a page");
        assert!(serde_json::to_string(&page.contents).expect("JSON").contains("The weather would stand here."));
        client.close().await;
    }
}
