//! A namespace adds its prefix and nothing else: what is left without it is what came, byte for byte.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use tower_mcp_apps::namespace::{Namespace, NamespaceLayer};

use super::model::events;
use super::run::{Given, exchange};
use super::stacks::given;
use super::{kit, requests};

/// No text of the other generators has it.
const NAME: &str = "zq9";

fn layer() -> NamespaceLayer {
    NamespaceLayer::new(Namespace::new(NAME).expect("a name"))
}

fn without_prefix(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    text.replace(&format!("{NAME}__"), "").replace(&format!("{NAME}+"), "")
}

/// Members that are links in some place, and data in others.
fn value() -> impl Strategy<Value = String> {
    let text = select(vec![r#""ui://s/v""#, r#""ui:\/\/s""#, r#""f""#, r#""\u0075i://x""#, r#""\ud800""#, "7", "null"]);
    text.prop_map(str::to_owned).prop_recursive(4, 40, 6, |inner| {
        let key = select(vec![
            "uri",
            "name",
            "_meta",
            "ui",
            "resourceUri",
            "ui/resourceUri",
            "openai/outputTemplate",
            "content",
            "resource",
            "messages",
            "result",
            "uriTemplate",
            "data",
            "params",
            "notifications",
            "resourceSubscriptions",
            "tools",
            "prompts",
            "contents",
            "structuredContent",
        ]);
        let member = prop_oneof![
            5 => (key, inner.clone()).prop_map(|(key, value)| format!(r#""{key}": {value}"#)),
            1 => select(vec![r#""type":"resource_link""#, r#""type":"resource""#]).prop_map(str::to_owned),
        ];
        prop_oneof![
            4 => vec(member, 0..5).prop_map(|members| format!("{{{}}}", members.join(" ,"))),
            2 => vec(inner, 0..4).prop_map(|items| format!("[ {}]", items.join(","))),
        ]
    })
}

fn method() -> impl Strategy<Value = &'static str> {
    select(vec![
        "tools/call",
        "prompts/get",
        "tasks/get",
        "tasks/result",
        "resources/read",
        "tools/list",
        "prompts/list",
        "subscriptions/listen",
        "x/y",
    ])
}

proptest! {
    #[test]
    fn nothing_but_the_prefix_is_added(requests in requests(), given in given()) {
        let (answer, arrived) = exchange(&layer(), kit::post(requests.body.clone()), &given);
        prop_assert_eq!(arrived.len(), 1);
        let came = given.frames.concat();
        // The lines of an event that is edited are written anew, so what counts is what its data say.
        let is_stream = came.windows(5).any(|window| window == b"data:");
        let (went, came) = match is_stream {
            true => (events(&answer.bytes()), events(&came)),
            false => (vec![answer.bytes().to_vec()], vec![came]),
        };
        let went: Vec<_> = went.iter().map(|message| without_prefix(message)).collect();
        let came: Vec<_> = came.iter().map(|message| String::from_utf8_lossy(message).into_owned()).collect();
        prop_assert_eq!(went, came);
    }

    #[test]
    fn nor_to_results_and_notifications(method in method(), value in value(), place in 0..4) {
        let message = match place {
            0 => format!(r#"{{"id":1,"result":{value}}}"#),
            1 => format!(r#"{{"error":{value},"id":1}}"#),
            2 => format!(r#"{{"params":{value},"method":"notifications/resources/updated"}}"#),
            _ => format!(r#"{{"method":"notifications/subscriptions/acknowledged","params":{value}}}"#),
        };
        let request = format!(r#"{{"id":1,"method":"{method}","params":{{}}}}"#);
        let stream = format!("data: {message}\n\n");
        for given in [Given::json(message.clone()), Given::events(stream.clone())] {
            let came = String::from_utf8(given.frames.concat()).expect("text");
            let (answer, _) = exchange(&layer(), kit::post(request.clone()), &given);
            prop_assert_eq!(without_prefix(&answer.bytes()), came);
        }
    }

    #[test]
    fn what_is_named_comes_back_as_it_was(method in method(), name in r#"[a-z_+:/]{0,6}(\\u00e4|\\\\|\\/)?"#, extra in value()) {
        let member = |key: &str, value: &str| format!(r#""{key}" : "{value}""#);
        let own = |name: &str, uri: &str| {
            let (name, uri) = (member("name", name), member("uri", uri));
            format!(
                r#"{{"params":{{"arguments":{extra},"ref":{{{name}}},"notifications":{{"resourceSubscriptions":[{}]}},{name},{uri}}},"method":"{method}","id":1}}"#,
                uri.strip_prefix(r#""uri" : "#).unwrap_or_default(),
            )
        };
        let came = own(&name, &format!(r"ui:\/\/{name}"));
        let sent = own(&format!("{NAME}__{name}"), &format!(r"ui:\/\/{NAME}+{name}"));
        let (_, arrived) = exchange(&layer(), kit::post(sent.clone()), &Given::json("{}"));
        prop_assert_eq!(arrived.len(), 1, "{}", sent);
        let arrived = String::from_utf8(arrived[0].frames.concat()).expect("text");
        prop_assert_eq!(without_prefix(arrived.as_bytes()), came);
    }
}
