//! The file as a whole: opened, written, opened again.

use std::fs;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower::{BoxError, Layer, ServiceExt, service_fn};
use tower_mcp_apps::AppsLayer;

use super::{close, open};

#[tokio::test]
async fn lines_are_added_to_what_is_there() -> Result<(), BoxError> {
    async fn server<B>(_: Request<B>) -> Result<Response<Full<Bytes>>, BoxError> {
        Ok(Response::new(Full::from("{}")))
    }

    let path = std::env::temp_dir().join(format!("mcp-apps-audit-{}.jsonl", std::process::id()));
    for tool in ["one", "two"] {
        let log = open(&path)?;
        let service = AppsLayer::new().audit(log.clone()).layer(service_fn(server));
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#);
        let request = Request::post("/").header("content-type", "application/json");
        drop(service.oneshot(request.body(Full::<Bytes>::from(call))?).await?);
        close(&log);
    }
    let lines = fs::read_to_string(&path)?;
    fs::remove_file(&path)?;
    let lines: Vec<serde_json::Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let tools: Vec<_> = lines.iter().map(|line| line["tool"].as_str()).collect();
    assert_eq!(tools, [Some("one"), Some("two")]);
    Ok(())
}
