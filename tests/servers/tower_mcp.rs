//! tower-mcp's HTTP router: JSON answers, sessions for legacy clients, none for modern ones.

use axum::Router;
use serde_json::Value;
use tower_mcp::{
    CallToolResult, HttpTransport, McpRouter, ReadResourceResult, ResourceBuilder, ResourceContent, Tool, ToolBuilder,
};

use super::catalogue;

/// The service, generic over its request body as every [`Router`] is.
pub(crate) fn service() -> Router {
    let resource = ResourceBuilder::new(catalogue::VIEW)
        .name("view")
        .mime_type(catalogue::APP_HTML)
        .handler(|| async { Ok(contents()) })
        .build();
    let router = McpRouter::new().server_info("fixture-tower-mcp", "1").resource(resource);
    let router =
        catalogue::tools().as_array().into_iter().flatten().fold(router, |router, entry| router.tool(tool(entry)));
    HttpTransport::new(router).into_router()
}

fn tool(entry: &Value) -> Tool {
    let name = entry["name"].as_str().expect("every entry has a name");
    let text = catalogue::ran(name).expect("the catalogue knows its tools");
    let tool = ToolBuilder::new(name)
        .input_schema(entry["inputSchema"].clone())
        .no_params_handler(move || {
            let text = text.clone();
            async move { Ok(CallToolResult::text(text)) }
        })
        .build();
    match entry.get("_meta") {
        Some(meta) => tool.with_meta(meta.clone()).expect("its keys are valid"),
        None => tool,
    }
}

fn contents() -> ReadResourceResult {
    ReadResourceResult {
        contents: vec![ResourceContent {
            uri: catalogue::VIEW.into(),
            mime_type: Some(catalogue::APP_HTML.into()),
            text: Some(catalogue::HTML.into()),
            blob: None,
            meta: Some(catalogue::contents_meta()),
        }],
        ..Default::default()
    }
}
