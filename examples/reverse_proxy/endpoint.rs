//! The upstream's MCP endpoint: how its URL is read, which paths are MCP, and where a request goes.

use std::str::FromStr;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Uri, uri};

#[cfg(test)]
mod tests;

/// An `http://host[:port]/path` URL.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    authority: Authority,
    path: String,
    segments: Vec<Vec<u8>>,
}

impl Endpoint {
    /// The path, on the upstream and on the proxy alike.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Whether an upstream could take `path` for the MCP endpoint, or for something below it.
    ///
    /// Servers differ in what they call the same path (`/mcp/`, `/MCP`, `//mcp`, `/%6dcp`), and a handler that
    /// is mounted on a prefix answers below it as well. A filter that only knew the exact spelling could be
    /// walked around, so every such path goes through the layers; to what is not MCP they do nothing.
    pub(crate) fn covers(&self, path: &str) -> bool {
        path == self.path || segments(path).starts_with(&self.segments)
    }

    /// The same path and query at the upstream.
    pub(crate) fn locate(&self, uri: &Uri) -> Result<Uri, http::Error> {
        let path = uri.path_and_query().cloned();
        uri::Builder::new()
            .scheme(Scheme::HTTP)
            .authority(self.authority.clone())
            .path_and_query(path.unwrap_or(PathAndQuery::from_static("/")))
            .build()
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri: Uri = text.parse().map_err(|error| format!("{error}"))?;
        if uri.scheme() != Some(&Scheme::HTTP) {
            return Err("only http:// URLs are spoken to".into());
        }
        if uri.query().is_some() {
            return Err("the URL of an endpoint has no query".into());
        }
        match uri.authority() {
            Some(authority) if !authority.as_str().contains('@') => {
                let (authority, path) = (authority.clone(), uri.path().to_owned());
                Ok(Self { authority, segments: segments(&path), path })
            }
            _ => Err("the URL needs a host, and no user name".into()),
        }
    }
}

/// The segments of a path as the most lenient of servers would read them.
fn segments(path: &str) -> Vec<Vec<u8>> {
    let mut read = Vec::new();
    for segment in decoded(path).split(|byte| matches!(byte, b'/' | b'\\')) {
        let name = segment.split(|byte| *byte == b';').next();
        match name.unwrap_or_default() {
            b"" | b"." => {}
            b".." => drop(read.pop()),
            name => read.push(name.to_ascii_lowercase()),
        }
    }
    read
}

fn decoded(path: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = path.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let escape = digit(bytes.get(at + 1)).zip(digit(bytes.get(at + 2)));
        match escape.filter(|_| *byte == b'%') {
            Some((high, low)) => {
                out.extend(u8::try_from(high << 4 | low));
                at += 3;
            }
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}
