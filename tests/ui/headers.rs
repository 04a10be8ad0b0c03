//! Nothing that is built, or read from others and written again, changes the meaning of the header built from it.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};
use tower_mcp_apps::ui::{Csp, Directive, ResourceMeta};
use url::Url;

use crate::csp_header::{HostSource, Policy, build, parse};
use crate::texts;

/// The directives of the header that a list goes into, with what stands there without it.
fn directives(list: Directive) -> &'static [&'static str] {
    match list {
        Directive::Connect => &["connect-src"],
        Directive::Resource => &["script-src", "style-src", "img-src", "font-src", "media-src"],
        Directive::Frame => &["frame-src"],
        Directive::BaseUri => &["base-uri"],
    }
}

/// The header of this `ui` is the default one with exactly the declared sources, each of them a host-source that means
/// what the `url` crate reads.
fn check(ui: &Value) {
    let header = build(ui);
    assert!(http::HeaderValue::from_str(&header).is_ok(), "{header:?}");
    let [policy] = &parse(&header)[..] else { panic!("not one policy: {header:?}") };
    assert_eq!(policy, &expected(ui), "{header:?}");
    for directive in Directive::ALL {
        for source in sources(ui, directive) {
            check_source(&source, directive);
        }
    }
}

fn expected(ui: &Value) -> Policy {
    let mut policy = parse(&build(&json!({}))).remove(0);
    for directive in Directive::ALL {
        let sources = sources(ui, directive);
        let into = policy.iter_mut().filter(|(name, _)| directives(directive).contains(&name.as_str()));
        for (_, values) in into.filter(|_| !sources.is_empty()) {
            if matches!(directive, Directive::Frame | Directive::BaseUri) {
                values.clear();
            }
            values.extend(sources.iter().cloned());
        }
    }
    policy
}

fn sources(ui: &Value, directive: Directive) -> Vec<String> {
    let list = ui["csp"][directive.as_str()].as_array().cloned().unwrap_or_default();
    list.iter().map(|source| source.as_str().expect("only texts are emitted").to_owned()).collect()
}

fn check_source(text: &str, directive: Directive) {
    let source = HostSource::parse(text).unwrap_or_else(|| panic!("no host-source: {text:?}"));
    let schemes: &[&str] = match directive {
        Directive::Connect => &["https", "http", "wss", "ws"],
        _ => &["https", "http"],
    };
    assert!(schemes.contains(&source.scheme.as_str()), "{text:?} in {directive}");
    assert!(!source.has_wildcard || directive == Directive::Resource, "{text:?} in {directive}");
    assert!(!source.has_wildcard || source.host.contains('.'), "{text:?}");
    let Ok(url) = Url::parse(&text.replacen("://*.", "://", 1)) else {
        assert!(text.contains("xn--"), "{text:?}");
        return;
    };
    assert_eq!(url.scheme(), source.scheme);
    assert_eq!(url.host_str(), Some(source.host.as_str()));
    assert_eq!(url.port().map(|port| port.to_string()), source.port);
}

fn csp_json() -> impl Strategy<Value = Value> {
    let item = prop_oneof![
        8 => texts::source().prop_map(Value::from),
        1 => select(vec![json!(null), json!(1), json!(["https://a.com"]), json!({"a": "https://a.com"})]),
    ];
    let list = prop_oneof![
        6 => prop::collection::vec(item, 0..4).prop_map(Value::from),
        1 => texts::source().prop_map(Value::from),
        1 => Just(json!({"0": "https://a.com"})),
    ];
    let key = select(vec![
        "connectDomains",
        "resourceDomains",
        "frameDomains",
        "baseUriDomains",
        "scriptDomains",
        "ConnectDomains",
        "connect-src",
    ]);
    prop::collection::vec((key, list), 0..5)
        .prop_map(|members| members.into_iter().map(|(key, list)| (key.to_owned(), list)).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5_000))]

    #[test]
    fn of_what_is_built(items in prop::collection::vec((select(Directive::ALL.to_vec()), texts::source()), 0..12)) {
        let mut csp = Csp::new();
        for (directive, text) in items {
            csp = match csp.clone().allow(directive, &text) {
                Ok(more) => more,
                Err(error) => {
                    prop_assert_eq!((error.directive(), error.source()), (directive, &*text));
                    prop_assert!(!error.to_string().contains(char::is_control));
                    csp
                }
            };
        }
        check(&ResourceMeta::new().with_csp(csp).to_value());
    }

    #[test]
    fn of_what_others_wrote(csp in csp_json()) {
        let parsed = ResourceMeta::parse(&json!({"ui": {"csp": csp}}));
        let ui = parsed.value.to_value();
        check(&ui);
        // And nothing is there that was not there, but for spelling.
        for directive in Directive::ALL {
            let written = csp[directive.as_str()].as_array().cloned().unwrap_or_default();
            let told = parsed.problems.len();
            let kept = sources(&ui, directive);
            prop_assert!(kept.len() <= written.len());
            for source in kept {
                let is_from = |item: &Value| item.as_str().is_some_and(|text| {
                    let lower = text.to_ascii_lowercase();
                    lower == source || lower == format!("{source}:443") || lower == format!("{source}:80")
                });
                prop_assert!(written.iter().any(is_from), "{} came from nothing", source);
            }
            prop_assert!(told > 0 || written.iter().all(Value::is_string));
        }
        prop_assert!(parsed.problems.iter().all(|problem| !problem.to_string().contains(char::is_control)));
        let again = ResourceMeta::parse(&parsed.value.to_meta().into());
        prop_assert_eq!(again.value, parsed.value);
        prop_assert!(again.problems.is_empty());
    }
}
