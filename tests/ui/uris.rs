//! `UiUri` against the `url` crate, which reads as browsers do.

use proptest::prelude::*;
use tower_mcp_apps::protocol::UiUri;
use url::Url;

use crate::texts;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn a_parser_leaves_a_uri_as_it_is(text in texts::uri()) {
        let Ok(uri) = UiUri::try_from(&*text) else { return Ok(()) };
        prop_assert_eq!(uri.as_str(), &text);
        let url = Url::parse(&text).expect("a URL");
        prop_assert_eq!(url.as_str(), &text);
        prop_assert_eq!(url.scheme(), "ui");
        prop_assert_eq!(url.host_str(), Some(uri.authority()));
        prop_assert_eq!(url.path(), uri.path());
        prop_assert_eq!((url.username(), url.password(), url.port()), ("", None, None));
        prop_assert_eq!((url.query(), url.fragment()), (None, None));
        prop_assert!(text.bytes().all(|byte| byte.is_ascii_graphic()));
    }
}
