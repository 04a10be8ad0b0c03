//! Where records go.

use std::borrow::Cow;

use http::StatusCode;
use tracing::Level;

use crate::exchange::{End, Reason, Record};
use crate::json::Reader;
use crate::lint::Finding;
use crate::protocol::ToolVisibility;

/// Takes records. Closures implement the trait.
///
/// It runs where the answer is sent, so it must not block: put one that does behind
/// [`Background`](super::Background). A panic loses the record, not the answer.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use tower_mcp_apps::AppsLayer;
/// use tower_mcp_apps::audit::{Record, Sink};
/// use tower_mcp_apps::lint::Finding;
/// use tower_mcp_apps::protocol::Audience;
///
/// /// How often apps called, and how much is wrong with what the server says.
/// #[derive(Default)]
/// struct Counters {
///     calls_of_apps: AtomicU64,
///     findings: AtomicU64,
/// }
///
/// struct Counting(Arc<Counters>);
///
/// impl Sink for Counting {
///     fn record(&self, record: &Record) {
///         let is_of_app = record.tool().is_some() && record.audience() == Some(Audience::App);
///         self.0.calls_of_apps.fetch_add(is_of_app.into(), Ordering::Relaxed);
///     }
///
///     fn finding(&self, _: &Finding) {
///         self.0.findings.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let counters = Arc::<Counters>::default();
/// let layer = AppsLayer::new().audit(Counting(counters.clone()));
/// # drop(layer);
/// ```
pub trait Sink: Send + Sync + 'static {
    /// Takes the record of an exchange that is over.
    fn record(&self, record: &Record);

    /// Takes what [`lint`](crate::lint) found wrong with what the server says, where there is one. By default nothing
    /// becomes of it.
    fn finding(&self, finding: &Finding) {
        let _ = finding;
    }
}

impl<F> Sink for F
where
    F: Fn(&Record) + Send + Sync + 'static,
{
    fn record(&self, record: &Record) {
        self(record);
    }
}

/// The target of the events of [`TracingSink`].
pub const TRACING_TARGET: &str = "tower_mcp_apps::audit";

/// One `tracing` event for each record, on level `INFO` and with the target [`TRACING_TARGET`].
///
/// Fields are named by OpenTelemetry where it has a name: by its conventions for MCP (`mcp.method.name`,
/// `mcp.session.id`, `mcp.protocol.version`, `mcp.resource.uri`, `gen_ai.operation.name`, `gen_ai.tool.name`,
/// `jsonrpc.request.id`), and by the general ones (`http.response.status_code`, `http.response.body.size`,
/// `error.type`). The others begin with `mcp_apps.`; the duration is in seconds. The conventions for MCP are not stable
/// yet, and names follow them. Findings are left to [`TracingFindings`](crate::lint::TracingFindings).
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingSink;

impl Sink for TracingSink {
    fn record(&self, record: &Record) {
        let error = match (record.is_refused(), record.end()) {
            (true, _) => Some(record.reason().map_or("refused", Reason::as_str)),
            (false, End::Complete) => None,
            (false, end) => Some(end.as_str()),
        };
        let id = record.id().map(id_text);
        tracing::event!(
            target: TRACING_TARGET,
            Level::INFO,
            mcp.method.name = record.method(),
            gen_ai.operation.name = record.tool().map(|_| "execute_tool"),
            gen_ai.tool.name = record.tool(),
            mcp.resource.uri = record.uri(),
            jsonrpc.request.id = id.as_deref(),
            mcp.session.id = record.session(),
            mcp.protocol.version = record.protocol_version(),
            http.response.status_code = record.status().as_ref().map(StatusCode::as_u16),
            http.response.body.size = record.bytes(),
            "error.type" = error,
            mcp_apps.target = record.target(),
            mcp_apps.audience = record.audience_name(),
            mcp_apps.known_by = record.known_by().map(|known_by| known_by.as_str()),
            mcp_apps.visibility = record.visibility().map(ToolVisibility::as_str),
            mcp_apps.decision = record.decision_name(),
            mcp_apps.reason = record.reason().map(Reason::as_str),
            mcp_apps.end = record.end().as_str(),
            mcp_apps.messages = record.messages(),
            mcp_apps.duration = record.duration().as_secs_f64(),
        );
    }
}

/// An id as OpenTelemetry wants it: a string without its quotes.
fn id_text(id: &[u8]) -> Cow<'_, str> {
    let string = if id.starts_with(b"\"") { Reader::new(id).string().ok() } else { None };
    string.and_then(|string| string.decode().ok()).unwrap_or_else(|| String::from_utf8_lossy(id))
}
