//! What the builders of `ui` emit, held to other parsers, to the specification's header and to the JSON Schemas.

mod csp_header;
mod declarations;
mod headers;
mod origins;
mod schema;
mod texts;
mod uris;
mod visibility;
