//! Where findings go.

use tracing::Level;

use super::Finding;

/// Takes findings. Closures implement the trait.
///
/// It runs where the answer is sent, so it must not block. A panic loses the finding, not the answer.
pub trait Findings: Send + Sync + 'static {
    /// Takes a finding that was not told before.
    fn finding(&self, finding: &Finding);
}

impl<F> Findings for F
where
    F: Fn(&Finding) + Send + Sync + 'static,
{
    fn finding(&self, finding: &Finding) {
        self(finding);
    }
}

/// The target of the events of [`TracingFindings`].
pub const TRACING_TARGET: &str = "tower_mcp_apps::lint";

/// One `tracing` event for each finding, on level `WARN` and with the target [`TRACING_TARGET`].
///
/// Fields are named as those of [`audit::TracingSink`](crate::audit::TracingSink) where both have them.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingFindings;

impl Findings for TracingFindings {
    fn finding(&self, finding: &Finding) {
        tracing::event!(
            target: TRACING_TARGET,
            Level::WARN,
            mcp.method.name = finding.method(),
            gen_ai.tool.name = finding.tool(),
            mcp.resource.uri = finding.uri(),
            mcp_apps.rule = finding.rule().as_str(),
            mcp_apps.path = finding.path(),
            "{}",
            finding.message(),
        );
    }
}
