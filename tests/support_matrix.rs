//! The support matrix says what is so: each row of its tables, through a layer by its defaults, in both eras.

mod kit;

use std::fs;
use std::path::Path;

use bytes::Bytes;
use kit::server::{Server, json_answer};
use kit::{LIST, post, send};
use tower::Layer;
use tower_mcp_apps::AppsLayer;

/// The rows of the table under a heading: what stands first, between backticks, and what is forwarded.
fn rows(heading: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/negotiate/support.md");
    let text = fs::read_to_string(path).expect("the matrix is there");
    let (_, section) = text.split_once(&format!("\n# {heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let section = section.split_once("\n# ").map_or(section, |(section, _)| section);
    let mut table = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let head = table.next().expect("a head");
    let forwarded = head.iter().position(|cell| *cell == "forwarded").expect("a column");
    let rows: Vec<_> =
        table.skip(1).map(|row| (row[0].trim_matches('`').to_owned(), row[forwarded].to_owned())).collect();
    assert!(rows.len() > 6, "{heading}");
    rows
}

/// What a client gets where the server says this, and what the server gets where the client says that.
async fn through(request: &str, answer: &str) -> (String, String) {
    let answer = Bytes::copy_from_slice(answer.as_bytes());
    let server = Server::new(move |_| json_answer(answer.clone()));
    let got = send(AppsLayer::new().layer(server.clone()), post(request.to_owned())).await.text();
    let heard = server.only().bytes();
    (got, String::from_utf8(heard.to_vec()).expect("the body is UTF-8"))
}

/// Settings that only those keep who do not look at them.
const ODD: &str = r#"{ "mimeTypes":["text/html;profile=mcp-app"], "n" : 1.0, "b":123456789012345678901234567890,"a":[-0.0],"a":"\u0041" }"#;

/// Messages by which capabilities are declared and said, in both eras.
fn messages(client: &str, server: &str) -> [(String, String); 2] {
    let legacy = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"2025-11-25","capabilities":{client}}}}}"#
    );
    let meta = format!(
        r#"{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{client}}}"#
    );
    let modern = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{{"_meta":{meta}}}}}"#);
    let answer = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"capabilities":{server},"ttlMs":1.0}}}}"#);
    [(legacy, answer.clone()), (modern, answer)]
}

#[tokio::test]
async fn extensions_are_forwarded_as_the_matrix_says() {
    for (identifier, forwarded) in rows("Extensions") {
        // Without resources nothing is advertised, so what is said stays as it is.
        for resources in ["", r#""resources":{},"#] {
            let extensions = format!(r#"{{"{identifier}":{ODD}}}"#);
            let client = format!(r#"{{ "extensions" : {extensions} }}"#);
            let server = format!(r#"{{ {resources} "extensions" : {extensions} }}"#);
            for (request, answer) in messages(&client, &server) {
                let (got, heard) = through(&request, &answer).await;
                assert_eq!(heard, request, "{identifier}");
                let is_same = got == answer;
                let is_completed = got
                    .replace(r#","io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}"#, "")
                    == answer;
                let is_said = identifier == "io.modelcontextprotocol/ui";
                match &*forwarded {
                    // Beside it, MCP Apps is advertised.
                    "verbatim" => assert!(is_completed && is_same == resources.is_empty(), "{identifier}: {got}"),
                    "completed" => assert!(is_said && is_same, "{identifier}: {got}"),
                    other => panic!("{identifier}: {other}"),
                }
            }
        }
    }
    // The one that is completed: theirs first, all else as it was.
    let server = r#"{"resources":{},"extensions":{"io.modelcontextprotocol/ui":{ "features" : ["streaming"], "mimeTypes":["a/b"] }}}"#;
    for (request, answer) in messages("{}", server) {
        let (got, _) = through(&request, &answer).await;
        assert_eq!(got, answer.replace(r#"["a/b"]"#, r#"["a/b","text/html;profile=mcp-app"]"#));
    }
}

#[tokio::test]
async fn capabilities_are_forwarded_as_the_matrix_says() {
    for (capability, forwarded) in rows("Capabilities of the client") {
        assert_eq!(forwarded, "verbatim", "{capability}");
        for (request, answer) in messages(&format!(r#"{{ "{capability}" : {ODD} }}"#), "{}") {
            let (got, heard) = through(&request, &answer).await;
            assert_eq!((got, heard), (answer, request), "{capability}");
        }
    }
    for (capability, forwarded) in rows("Capabilities of the server") {
        assert_eq!(forwarded, "verbatim", "{capability}");
        for (request, answer) in messages("{}", &format!(r#"{{ "{capability}" : {ODD} }}"#)) {
            let (got, _) = through(&request, &answer).await;
            let ui = r#","extensions":{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#;
            assert_eq!(got.replace(ui, ""), answer, "{capability}");
            assert_eq!(got != answer, capability == "resources", "{capability}");
        }
    }
}

#[tokio::test]
async fn keys_of_tools_are_forwarded_as_the_matrix_says() {
    for (key, forwarded) in rows("Keys in `_meta` of a tool") {
        // What says two things about itself is for nobody, so no member stands twice here.
        let odd = &*ODD.replacen(r#","a":[-0.0]"#, "", 1);
        let values = [r#""ui://a/b""#, odd, "true", r#""private""#, "null"];
        let mut differ = 0;
        for value in values {
            let tool = format!(r#"{{ "name":"t", "_meta":{{ "{key}" : {value} }} }}"#);
            let answer = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{tool}]}}}}"#);
            let (got, _) = through(LIST, &answer).await;
            differ += usize::from(got != answer);
            assert!(got.contains(&format!(r#""{key}" : {value}"#)), "{key}: {got}");
        }
        match &*forwarded {
            "verbatim" => assert_eq!(differ, 0, "{key}"),
            "repaired" => assert_eq!(differ, 1, "{key}: the link is"),
            other => panic!("{key}: {other}"),
        }
    }
}
