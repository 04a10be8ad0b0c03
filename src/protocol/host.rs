//! Host names that DNS, the URL standard and Content Security Policy read alike.

use std::net::Ipv4Addr;

/// A host in lower case; `None` where the text is none.
///
/// Labels are letters, digits and inner hyphens, at most 63 of them (RFC 1123, section 2.1), at most 253 in all,
/// without a dot at the end. What the URL standard would read as an IPv4 address (its last label is a number) must
/// be one as it is written canonically, so that `127.1` and `0x7f000001` are none.
pub(crate) fn host(text: &str) -> Option<String> {
    if text.len() > 253 || !text.split('.').all(is_label) {
        return None;
    }
    let host = text.to_ascii_lowercase();
    (!ends_in_number(&host) || is_address(&host)).then_some(host)
}

/// Whether a [`host`] is an IPv4 address.
pub(crate) fn is_address(host: &str) -> bool {
    host.parse::<Ipv4Addr>().is_ok()
}

fn is_label(label: &str) -> bool {
    label.len() <= 63
        && !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// The URL standard's "ends in a number": the last label is decimal, or hexadecimal behind `0x`.
fn ends_in_number(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or(host);
    last.bytes().all(|byte| byte.is_ascii_digit())
        || last.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
