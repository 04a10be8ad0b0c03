//! The command line of the gateway: one plain struct, read by clap.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use clap::Parser;
use http::uri::Scheme;
use http::{HeaderName, Uri};
use tower::BoxError;
use tower_mcp_apps::AppsLayer;
use tower_mcp_apps::exchange::{Auto, ByExtension, ByHeader};
use tower_mcp_apps::negotiate::{ClientCapabilities, Negotiate};
use tower_mcp_apps::policy::{List, Policy};
use tower_mcp_apps::protocol::Namespace;

use crate::capabilities::TASKS_EXTENSION;

/// Several MCP servers behind one endpoint.
#[derive(Debug, Parser)]
#[command(name = "gateway")]
pub(crate) struct Flags {
    /// Address to listen on; port 0 picks a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    pub(crate) listen: SocketAddr,

    /// A server and the name that stands before its tools; may be repeated. Without any, three small ones of the gateway's own.
    #[arg(long = "upstream", value_name = "NAME=URL")]
    pub(crate) upstreams: Vec<Named<Endpoint>>,

    /// A header with the NAME of the upstream whose app makes the request: overwritten by a trusted edge, not forwarded.
    #[arg(long, value_name = "HEADER")]
    pub(crate) app_header: Option<HeaderName>,

    /// A header that says whom the answer is for (host, model): overwritten by a trusted edge, not forwarded.
    #[arg(long, value_name = "HEADER")]
    pub(crate) audience_header: Option<HeaderName>,

    /// The upstream that gets names and URIs without a prefix. Without it they are unknown.
    #[arg(long, value_name = "NAME")]
    pub(crate) bare: Option<String>,

    /// An upstream that is sent the caller's Authorization, Cookie and API keys (X-Api-Key and the like); may be repeated.
    /// All others never see them.
    #[arg(long = "credentials", value_name = "NAME")]
    pub(crate) credentials: Vec<String>,

    /// What the UIs of an upstream may declare: LIST is connect, resource, frame, base-uri or permission; may be repeated.
    /// A list that is given at all is the whole allowance.
    #[arg(long = "allow", value_name = "NAME=LIST:RULE")]
    pub(crate) allowed: Vec<Named<Allowed>>,

    /// How long the upstreams have to answer where all of them are asked.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    pub(crate) answer_timeout: Duration,
}

impl Flags {
    /// The layers around the upstream of this name, but for its prefix.
    pub(crate) fn apps(&self, name: &str) -> Result<AppsLayer, BoxError> {
        let mut rules = self.allowed.iter().filter(|allowed| allowed.name() == name).map(|allowed| &allowed.value);
        let policy = rules.try_fold(Policy::new(), |policy, rule| policy.allow(rule.list, &rule.rule))?;
        let without_tasks = ClientCapabilities::forwarded().withhold(TASKS_EXTENSION);
        let negotiate = Negotiate::new().withhold(TASKS_EXTENSION).client_capabilities(without_tasks);
        let layer = AppsLayer::new().policy(policy).negotiate(negotiate);
        // The extension is the gateway's own, where it knows the app that asks.
        Ok(match &self.audience_header {
            Some(header) => layer.audience(ByExtension::new().otherwise(ByHeader::new(header.clone()))),
            None => layer.audience(ByExtension::new().otherwise(Auto)),
        })
    }

    /// Checks that each name is there once, and that no flag is about an upstream that is not there.
    pub(crate) fn check_names(&self, upstreams: &[Named<Endpoint>]) -> Result<(), BoxError> {
        for (at, upstream) in upstreams.iter().enumerate() {
            if upstreams[..at].iter().any(|other| other.name() == upstream.name()) {
                return Err(format!("--upstream {}=…: the name is there twice", upstream.name()).into());
            }
        }
        let bare = self.bare.iter().map(|name| ("--bare", name.as_str()));
        let credentials = self.credentials.iter().map(|name| ("--credentials", name.as_str()));
        let allowed = self.allowed.iter().map(|allowed| ("--allow", allowed.name()));
        for (flag, name) in bare.chain(credentials).chain(allowed) {
            if upstreams.iter().all(|upstream| upstream.name() != name) {
                return Err(format!("{flag} {name}: there is no upstream of this name").into());
            }
        }
        Ok(())
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// `NAME=VALUE`: something that is about one upstream.
#[derive(Clone, Debug)]
pub(crate) struct Named<T> {
    pub(crate) namespace: Namespace,
    pub(crate) value: T,
}

impl<T> Named<T> {
    pub(crate) fn name(&self) -> &str {
        self.namespace.name()
    }
}

impl<T: FromStr<Err = String>> FromStr for Named<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once('=').ok_or("NAME=… is expected")?;
        let namespace = Namespace::new(name).map_err(|error| error.to_string())?;
        Ok(Self { namespace, value: value.parse()? })
    }
}

/// The URL of an upstream's MCP endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint(pub(crate) Uri);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let uri: Uri = text.parse().map_err(|error| format!("{error}"))?;
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err("only http:// URLs are spoken to".into());
        }
        match uri.authority() {
            Some(authority) if !authority.as_str().contains('@') => Ok(Self(uri)),
            _ => Err("the URL needs a host, and no user name".into()),
        }
    }
}

/// One rule of an upstream's policy.
#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    list: List,
    rule: String,
}

impl FromStr for Allowed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (list, rule) = text.split_once(':').ok_or("LIST:RULE is expected")?;
        let list = match list {
            "connect" => List::Connect,
            "resource" => List::Resource,
            "frame" => List::Frame,
            "base-uri" => List::BaseUri,
            "permission" => List::Permissions,
            _ => return Err("LIST is connect, resource, frame, base-uri or permission".into()),
        };
        Ok(Self { list, rule: rule.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::Flags;

    fn checked(flags: &[&str]) -> Result<(), String> {
        let flags = Flags::try_parse_from(["gateway"].iter().chain(flags)).map_err(|error| error.to_string())?;
        flags.check_names(&flags.upstreams).map_err(|error| error.to_string())?;
        let mut names = flags.upstreams.iter();
        names.try_for_each(|upstream| flags.apps(upstream.name()).map(drop)).map_err(|error| error.to_string())
    }

    #[test]
    fn flags_are_about_upstreams_that_are_there() {
        let (a, b) = ("--upstream=a=http://127.0.0.1:1/mcp", "--upstream=b-2=http://h/x?y");
        assert_eq!(checked(&[a, b, "--bare=a", "--credentials=b-2", "--allow=a=connect:https://x.example"]), Ok(()));
        for (flags, what) in [
            (vec![a, a], "twice"),
            (vec![a, "--bare=c"], "--bare c: there is no upstream"),
            (vec![a, "--credentials=c"], "--credentials c: there is no upstream"),
            (vec![a, "--allow=c=connect:https://x.example"], "--allow c: there is no upstream"),
            (vec![a, "--allow=a=script:https://x.example"], "LIST is"),
            (vec![a, "--allow=a=connect:https://*"], ""),
            (vec!["--upstream=A=http://h/"], "a namespace is"),
            (vec!["--upstream=a"], "NAME="),
            (vec!["--upstream=a=https://h/"], "only http://"),
            (vec!["--upstream=a=http://u@h/"], "no user name"),
            (vec![a, "--answer-timeout=-1"], ""),
        ] {
            let error = checked(&flags).expect_err(what);
            assert!(error.contains(what), "{flags:?}: {error}");
        }
    }
}
