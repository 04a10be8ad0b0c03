//! Why a layer refused a request: for records, never for the caller.

use std::fmt;

/// Why a layer refused a request. The caller is never told: an app-only tool must look like one that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The tool is not for this audience.
    Hidden,
    /// The server's tools could not be looked up, so the call could not be judged.
    LookUpFailed,
    /// Readers may understand the message differently, or its batch.
    Ambiguous,
    /// The body is no message.
    Unreadable,
    /// The body is no `application/json`, or is encoded.
    UnsupportedMediaType,
    /// A header contradicts the body, is missing or doubled.
    HeaderMismatch,
    /// A modern request without its metadata.
    MissingMetadata,
    /// The client lacks a capability that the deployer requires.
    MissingCapability,
    /// A method that apps may not use.
    MethodNotForApps,
    /// A resource that apps may not read.
    ResourceNotForApps,
    /// It names what another server has: it lacks the prefix of the namespace.
    Foreign,
    /// What should name the audience makes no sense.
    OddAudience,
    /// A message that is answered alone stands in a batch.
    InBatch,
    /// The server has a resource with the URI of an app that is served.
    Clash,
    /// The request is longer than what is read.
    TooLarge,
    /// The server's answer could not be read, so it could not be filtered.
    UnreadableAnswer,
    /// The server's answer declares what the policy for UIs does not allow.
    OutsidePolicy,
}

impl Reason {
    /// The name in records, in snake case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hidden => "hidden",
            Self::LookUpFailed => "look_up_failed",
            Self::Ambiguous => "ambiguous",
            Self::Unreadable => "unreadable",
            Self::UnsupportedMediaType => "unsupported_media_type",
            Self::HeaderMismatch => "header_mismatch",
            Self::MissingMetadata => "missing_metadata",
            Self::MissingCapability => "missing_capability",
            Self::MethodNotForApps => "method_not_for_apps",
            Self::ResourceNotForApps => "resource_not_for_apps",
            Self::Foreign => "foreign",
            Self::OddAudience => "odd_audience",
            Self::InBatch => "in_batch",
            Self::Clash => "clash",
            Self::TooLarge => "too_large",
            Self::UnreadableAnswer => "unreadable_answer",
            Self::OutsidePolicy => "outside_policy",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
