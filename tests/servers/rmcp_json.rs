//! rmcp's streamable HTTP server without sessions: every answer is one JSON document.
//!
//! [`Fixture`] is the handler of both rmcp servers. They speak all five protocol versions.

use std::{io, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorCode, Implementation,
        ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::catalogue;

/// The service, generic over its request body.
pub(crate) fn service() -> StreamableHttpService<Fixture, NeverSessionManager> {
    StreamableHttpService::new(
        || Ok::<_, io::Error>(Fixture),
        Arc::default(),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true),
    )
}

/// The catalogue behind rmcp's handler trait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixture;

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("fixture-rmcp", "1"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(typed(catalogue::tools())?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match catalogue::ran(&request.name) {
            Some(text) => Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into()),
            None => Err(ErrorData::invalid_params("unknown tool", None)),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = typed(catalogue::resource())?;
        Ok(ListResourcesResult::with_all_items(vec![resource]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != catalogue::VIEW {
            // rmcp itself turns this code into -32602 for modern peers.
            let data = json!({ "uri": request.uri });
            return Err(ErrorData::new(ErrorCode::RESOURCE_NOT_FOUND, "resource not found", Some(data)));
        }
        let contents = typed(catalogue::contents())?;
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}
