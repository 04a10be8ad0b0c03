//! `Origin` and `Source` against the `url` crate, which reads as browsers do.

use proptest::prelude::*;
use tower_mcp_apps::protocol::{Origin, Source};
use url::Url;

use crate::texts;

/// Whether a text has nothing that `Origin` refuses although browsers understand it.
fn is_plain(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let is_known = ["https", "http", "wss", "ws"].iter().any(|known| known.eq_ignore_ascii_case(scheme));
    let (host, port) = rest.split_once(':').unwrap_or((rest, "1"));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.is_empty() && !port.starts_with('0');
    host.split('.').all(label) && host.len() <= 253 && is_port && is_known
}

/// Whether the host stands as the `url` crate would write it, so that an IPv4 address is canonical.
fn is_canonical(text: &str, url: &Url) -> bool {
    let lower = text.to_ascii_lowercase();
    let host = lower.split_once("://").map_or("", |(_, rest)| rest);
    url.host_str() == Some(host.split(':').next().unwrap_or_default())
}

fn check(text: &str) {
    let url = Url::parse(text);
    let Ok(origin) = Origin::try_from(text) else {
        if let Ok(url) = url {
            assert!(!(is_plain(text) && is_canonical(text, &url)), "{text:?} is a plain origin");
        }
        return;
    };
    let Ok(url) = url else {
        // Needs the tables of IDNA. A browser has no such host, so the source allows nothing.
        assert!(text.to_ascii_lowercase().contains("xn--"), "{text:?} is no URL");
        return;
    };
    assert_eq!(url.origin().ascii_serialization(), origin.as_str(), "{text:?}");
    assert_eq!(url.scheme(), origin.scheme().as_str());
    assert_eq!(url.host_str(), Some(origin.host()));
    assert_eq!(url.port_or_known_default(), Some(origin.port()));
    assert_eq!((url.username(), url.password(), url.path()), ("", None, "/"));
    assert_eq!((url.query(), url.fragment()), (None, None));
    assert_eq!(Origin::try_from(origin.as_str()).as_ref(), Ok(&origin));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn an_origin_is_what_a_browser_reads(text in texts::source()) {
        check(&text);
    }

    #[test]
    fn a_source_is_an_origin_or_one_with_a_wildcard_label(text in texts::source()) {
        let Ok(source) = Source::try_from(&*text) else {
            prop_assert!(Origin::try_from(&*text).is_err());
            return Ok(());
        };
        prop_assert_eq!(Source::try_from(source.as_str()), Ok(source.clone()));
        if source.is_wildcard() {
            check(&text.replacen("://*.", "://any.", 1));
            let expected = source.base().as_str().replacen("://", "://*.", 1);
            prop_assert_eq!(source.as_str(), expected);
            prop_assert!(source.base().host().split('.').count() >= 2);
        } else {
            prop_assert_eq!(source.as_str(), source.base().as_str());
            prop_assert_eq!(Origin::try_from(&*text), Ok(source.base().clone()));
        }
    }
}
