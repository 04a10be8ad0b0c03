//! The policy of the command line: what UIs may declare, and which templates are pinned.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use tower_mcp_apps::policy::{self, Digest, InvalidRule, List, Policy};

/// What UIs may declare. A list that is given at all is the whole allowance.
#[derive(Debug, Args)]
pub(crate) struct PolicyFlags {
    /// What scripts may reach: an origin, `https://*.HOST` or a scheme such as `wss:`; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_connect: Vec<String>,

    /// Where scripts, styles, images, fonts and media may come from; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_resource: Vec<String>,

    /// What may be framed; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_frame: Vec<String>,

    /// What relative URLs may be relative to; may be repeated.
    #[arg(long, value_name = "ORIGIN")]
    allow_base_uri: Vec<String>,

    /// What the browser may be asked for, such as `clipboardWrite`; may be repeated.
    #[arg(long, value_name = "NAME")]
    allow_permission: Vec<String>,

    /// What becomes of a declaration that is not within the policy.
    #[arg(long, value_name = "HOW", default_value = "restrict")]
    on_violation: OnViolation,

    /// The SHA-256 that the template of a URI must have; may be repeated.
    #[arg(long = "pin", value_name = "URI=SHA256")]
    pins: Vec<Pin>,
}

impl PolicyFlags {
    /// The policy. It has no rules where no flag gives one.
    pub(crate) fn policy(&self) -> Result<Policy, InvalidRule> {
        let lists = [
            (List::Connect, &self.allow_connect),
            (List::Resource, &self.allow_resource),
            (List::Frame, &self.allow_frame),
            (List::BaseUri, &self.allow_base_uri),
            (List::Permissions, &self.allow_permission),
        ];
        let mut rules = lists.into_iter().flat_map(|(list, rules)| rules.iter().map(move |rule| (list, rule)));
        let policy = rules.try_fold(Policy::new(), |policy, (list, rule)| policy.allow(list, rule))?;
        let policy = self.pins.iter().fold(policy, |policy, pin| policy.pin(pin.uri.clone(), pin.digest));
        Ok(policy.on_violation(self.on_violation.into()))
    }
}

/// What becomes of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnViolation {
    /// What is not allowed is taken out.
    Restrict,
    /// The answer becomes an error.
    Refuse,
    /// It passes, and the log tells of it.
    Report,
}

impl From<OnViolation> for policy::OnViolation {
    fn from(on_violation: OnViolation) -> Self {
        match on_violation {
            OnViolation::Restrict => Self::Restrict,
            OnViolation::Refuse => Self::Refuse,
            OnViolation::Report => Self::Report,
        }
    }
}

/// A template, and the digest it must have.
#[derive(Clone, Debug)]
struct Pin {
    uri: String,
    digest: Digest,
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // A URI may have an equals sign.
        let (uri, digest) = text.rsplit_once('=').ok_or("URI=SHA256 is expected")?;
        let digest = digest.parse().map_err(|error| format!("{error}"))?;
        Ok(Self { uri: uri.to_owned(), digest })
    }
}
