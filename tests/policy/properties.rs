//! Every policy, every metadata: what comes out is within what came in, and within the policy.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use tower::layer::util::Stack;
use tower_mcp_apps::policy::{List, OnViolation, Policy, PolicyLayer, UnknownDirectives};

use crate::exchange::{post, request};
use crate::kit::server::Server;
use crate::kit::tree::Tree;
use crate::matching::{matches, names_host, targets};

/// Lists of sources, with where they stand.
const LISTS: [(List, &[&str]); 5] = [
    (List::Connect, &["connectDomains", "connect_domains"]),
    (List::Resource, &["resourceDomains", "resource_domains"]),
    (List::Frame, &["frameDomains", "frame_domains"]),
    (List::BaseUri, &["baseUriDomains", "base_uri_domains"]),
    (List::LinkTrusted, &["linkTrustedDomains", "redirect_domains"]),
];

const RULES: [&str; 12] = [
    "https://a.example",
    "http://a.example",
    "http://a.example:80",
    "https://*.example",
    "https://*.a.example",
    "wss://a.example:5077",
    "http://localhost:5077",
    "https://evil.example",
    "https://*.evil.example",
    "https:",
    "http:",
    "data:",
];

const ENTRIES: [&str; 32] = [
    "https://a.example",
    "HTTPS://A.example:443/",
    "https://a.example/path/to.js",
    "https://a.example:5077",
    "http://a.example",
    "http://a.example:80",
    "https://b.a.example",
    "https://*.a.example",
    "https://*.b.a.example",
    "https://*.example",
    "http://*.example:80",
    "https://*",
    "*",
    "wss://a.example:5077",
    "ws://a.example",
    "http://localhost:5077",
    "http://127.0.0.1:5077",
    "https://evil.example",
    "http://evil.example:5077",
    "https://x.evil.example",
    "https://evil.example.",
    "https://a.example@evil.example",
    "https://a.example;script-src https://evil.example",
    "a.example",
    "*.example",
    "https://a.example:*",
    "https:",
    "http:",
    "data:",
    "blob:",
    "'self'",
    "'unsafe-eval'",
];

const PERMISSIONS: [&str; 4] = ["camera", "microphone", "clipboardWrite", "usb"];
const DOMAINS: [&str; 4] = ["a.apps.example", "apps.example", "https://a.apps.example", "evil.example"];

/// A rule, and whether it allows.
type Rule = (List, &'static str, bool);

#[derive(Clone, Debug)]
struct Rules {
    rules: Vec<Rule>,
    nothing: Vec<List>,
    unknown: UnknownDirectives,
}

impl Rules {
    fn policy(&self, on_violation: OnViolation) -> Policy {
        let policy = self.nothing.iter().fold(Policy::new(), |policy, list| policy.allow_nothing(*list));
        let policy = self.rules.iter().fold(policy, |policy, (list, rule, allows)| {
            let added = if *allows { policy.allow(*list, rule) } else { policy.deny(*list, rule) };
            added.expect("the rules are rules")
        });
        policy.unknown_directives(self.unknown).on_violation(on_violation)
    }

    fn is_allowlisted(&self, list: List) -> bool {
        self.nothing.contains(&list) || self.rules.iter().any(|rule| rule.0 == list && rule.2)
    }

    fn is_judged(&self, list: List) -> bool {
        self.is_allowlisted(list) || self.rules.iter().any(|rule| rule.0 == list)
    }

    fn of(&self, list: List, allows: bool) -> impl Iterator<Item = &'static str> {
        self.rules.iter().filter(move |rule| rule.0 == list && rule.2 == allows).map(|rule| rule.1)
    }

    /// Whether everything that a source matches is allowed, and nothing of it denied.
    fn allows_source(&self, list: List, source: &str) -> bool {
        targets().filter(|target| matches(source, *target)).all(|target| {
            let is_denied = self.of(list, false).any(|rule| {
                names_host(rule, target) || rule.strip_suffix(':').is_some_and(|scheme| scheme == target.scheme)
            });
            !is_denied && (!self.is_allowlisted(list) || self.of(list, true).any(|rule| matches(rule, target)))
        })
    }

    /// Whether a name is allowed, where rules are compared as they are.
    fn allows_name(&self, list: List, name: &str) -> bool {
        let is_listed = !self.is_allowlisted(list) || self.of(list, true).any(|rule| rule == name);
        is_listed && !self.of(list, false).any(|rule| rule == name)
    }
}

fn rules() -> impl Strategy<Value = Rules> {
    let source = (select(LISTS.map(|(list, _)| list).to_vec()), select(RULES.to_vec()), any::<bool>());
    let permission = (Just(List::Permissions), select(PERMISSIONS.to_vec()), any::<bool>());
    let domain = (Just(List::Domain), select(DOMAINS[..2].to_vec()), any::<bool>());
    let rule = prop_oneof![8 => source, 2 => permission, 1 => domain];
    let lists = LISTS.map(|(list, _)| list).into_iter().chain([List::Permissions, List::Domain]).collect::<Vec<_>>();
    let unknown = select(vec![UnknownDirectives::Keep, UnknownDirectives::Drop]);
    (prop::collection::vec(rule, 0..8), subsequence(lists, 0..3), unknown).prop_map(|(rules, nothing, unknown)| Rules {
        rules,
        nothing,
        unknown,
    })
}

/// JSON text, since a value could have no member twice.
fn odd() -> impl Strategy<Value = String> {
    select(vec![
        "null",
        "true",
        "1.0",
        "\"https://evil.example\"",
        "[]",
        "{}",
        "[[\"https://evil.example\"]]",
        "\"\\ud800\"",
    ])
    .prop_map(str::to_owned)
}

fn text(choices: &[&'static str]) -> impl Strategy<Value = String> + use<> {
    select(choices.to_vec()).prop_map(|text| format!("{text:?}"))
}

fn list() -> impl Strategy<Value = String> {
    let entry = prop_oneof![9 => text(&ENTRIES), 1 => odd()];
    let list = (prop::collection::vec(entry, 0..6), select(vec![",", " , "]))
        .prop_map(|(entries, comma)| format!("[{}]", entries.join(comma)));
    prop_oneof![9 => list, 1 => odd()]
}

/// An object of these members, with white space, some of them twice.
fn object(members: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let count = members.len();
    let members: Vec<_> = members
        .into_iter()
        .map(|(name, value)| value.prop_map(move |value| format!("{name:?}: {value}")).boxed())
        .collect();
    let some = subsequence(members, 0..=count).prop_flat_map(|members| members);
    let object = (some, any::<u8>(), select(vec![",", " , "])).prop_map(|(mut members, twice, comma)| {
        if twice < 20
            && let Some(member) = members.first()
        {
            members.push(member.clone());
        }
        format!("{{{} }}", members.join(comma))
    });
    prop_oneof![15 => object, 1 => odd()].boxed()
}

fn meta() -> BoxedStrategy<String> {
    let csp = |names: [&'static str; 6]| object(names.into_iter().map(|name| (name, list().boxed())).collect());
    let permissions = || object(PERMISSIONS.into_iter().map(|name| (name, odd().boxed())).collect());
    let domain = || prop_oneof![4 => text(&DOMAINS), 1 => odd()].boxed();
    let ui = object(vec![
        (
            "csp",
            csp(["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains", "ConnectDomains", "other"]),
        ),
        ("permissions", permissions()),
        ("domain", domain()),
        ("linkTrustedDomains", list().boxed()),
        ("prefersBorder", odd().boxed()),
    ]);
    let openai =
        csp(["connect_domains", "resource_domains", "frame_domains", "base_uri_domains", "redirect_domains", "other"]);
    object(vec![("ui", ui), ("openai/widgetCSP", openai), ("openai/widgetDomain", domain()), ("k", odd().boxed())])
}

fn answer() -> impl Strategy<Value = String> {
    meta().prop_map(|meta| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resources":[{{"uri":"ui://s/v","name":"v", "_meta" : {meta}}}]}}}}"#
        )
    })
}

fn through(policy: Policy, answer: &str) -> String {
    post(&PolicyLayer::new(policy), Server::saying(answer.to_owned()), &request("resources/list", None)).text()
}

/// What is left of the metadata, wherever a reader may take it from.
fn check(rules: &Rules, left: &Tree) {
    let entries = left.all("result").flat_map(|result| result.all("resources")).flat_map(|list| match list {
        Tree::List(entries) => entries.as_slice(),
        _ => &[],
    });
    for meta in entries.flat_map(|entry| entry.all("_meta")) {
        for ui in meta.all("ui") {
            ui.all("csp").for_each(|csp| check_csp(rules, csp, 0));
            ui.all("linkTrustedDomains").for_each(|list| check_list(rules, List::LinkTrusted, list));
            for permissions in ui.all("permissions").filter(|_| rules.is_judged(List::Permissions)) {
                match permissions {
                    Tree::Object(members) => {
                        assert!(members.iter().all(|(name, _)| rules.allows_name(List::Permissions, name)), "{left:?}")
                    }
                    other => assert_eq!(other, &Tree::Null),
                }
            }
            ui.all("domain").for_each(|domain| check_domain(rules, domain));
        }
        meta.all("openai/widgetCSP").for_each(|csp| check_csp(rules, csp, 1));
        meta.all("openai/widgetDomain").for_each(|domain| check_domain(rules, domain));
    }
}

fn check_csp(rules: &Rules, csp: &Tree, dialect: usize) {
    for (list, names) in LISTS {
        csp.all(names[dialect]).for_each(|value| check_list(rules, list, value));
    }
    let is_known = |name: &String| LISTS.iter().any(|(_, names)| names[dialect] == name);
    match csp {
        Tree::Object(members) if rules.unknown == UnknownDirectives::Drop => {
            assert!(members.iter().all(|(name, _)| is_known(name)), "{csp:?}");
        }
        Tree::Object(_) | Tree::Null => {}
        other => {
            let lists = LISTS.iter().filter(|(list, _)| dialect == 1 || *list != List::LinkTrusted);
            assert!(lists.into_iter().all(|(list, _)| !rules.is_judged(*list)), "{other:?}");
            assert_eq!(rules.unknown, UnknownDirectives::Keep, "{other:?}");
        }
    }
}

fn check_list(rules: &Rules, list: List, value: &Tree) {
    match value {
        Tree::Null => {}
        _ if !rules.is_judged(list) => {}
        Tree::List(entries) => {
            for entry in entries {
                assert!(matches!(entry, Tree::Text(entry) if rules.allows_source(list, entry)), "{list}: {entry:?}");
            }
        }
        other => panic!("{list}: {other:?}"),
    }
}

fn check_domain(rules: &Rules, value: &Tree) {
    match value {
        Tree::Null => {}
        Tree::Text(domain) => {
            assert!(!rules.is_judged(List::Domain) || rules.allows_name(List::Domain, domain), "{domain}")
        }
        other => assert!(!rules.is_judged(List::Domain), "{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn what_comes_out_is_within_what_came_in_and_within_the_policy(rules in rules(), answer in answer()) {
        let restricted = through(rules.policy(OnViolation::Restrict), &answer);
        // No lone surrogate is text to the other parser.
        let tree = |text: &str| Tree::read(text.replace("\\ud800", "lone surrogate").as_bytes()).expect("JSON");
        let left = tree(&restricted);
        prop_assert!(left.is_within(&tree(&answer)), "{answer}\n{restricted}");
        check(&rules, &left);
    }

    #[test]
    fn restricting_twice_is_restricting_once(rules in rules(), answer in answer()) {
        let policy = rules.policy(OnViolation::Restrict);
        let once = through(policy.clone(), &answer);
        prop_assert_eq!(&through(policy.clone(), &once), &once);
        let twice = Stack::new(PolicyLayer::new(policy.clone()), PolicyLayer::new(policy));
        prop_assert_eq!(&post(&twice, Server::saying(answer), &request("resources/list", None)).text(), &once);
    }

    #[test]
    fn what_is_restricted_is_refused_and_reported(rules in rules(), answer in answer()) {
        let restricted = through(rules.policy(OnViolation::Restrict), &answer);
        let refused = through(rules.policy(OnViolation::Refuse), &answer);
        if restricted == answer {
            prop_assert_eq!(&refused, &answer);
        } else {
            prop_assert!(refused.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#), "{}", refused);
        }
        prop_assert_eq!(&through(rules.policy(OnViolation::Report), &answer), &answer);
    }
}
