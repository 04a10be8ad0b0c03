//! The `json` floor against JSONTestSuite and against slow twins on generated input.

mod edit;
mod edits;
mod inner;
mod oracle;
mod splices;
mod strings;
mod suite;
mod texts;
mod validity;
