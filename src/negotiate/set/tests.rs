//! Sets of extensions against a slow model on trees, and what stays as it was said.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{ExtensionSet, InvalidExtensions};

fn set(server: &str, extensions: &str) -> ExtensionSet {
    ExtensionSet::read(server, extensions.as_bytes()).unwrap_or_else(|error| panic!("{extensions}: {error}"))
}

fn text(set: &ExtensionSet) -> String {
    String::from_utf8(set.to_json()).expect("the map is UTF-8")
}

fn united(one: &str, two: &str) -> String {
    text(&set("one", one).union(&set("two", two)))
}

fn common(one: &str, two: &str) -> String {
    text(&set("one", one).intersection(&set("two", two)))
}

#[test]
fn what_one_server_says_stays_as_it_is() {
    let says = concat!(
        r#"{"io.modelcontextprotocol/apps":{ "mimeTypes" : ["text/html;profile=mcp-app" ] },"#,
        r#""io.modelcontextprotocol/oauth-client-credentials":{"n":123456789012345678901234567890,"z":-0.0},"#,
        r#""io.modelcontextprotocol/enterprise-managed-authorization":{},"com.example/odd":null,"#,
        r#""com.example/twice":{"a":1.0,"a":"\u0041"}}"#
    );
    assert_eq!(text(&set("one", says)), says);
    assert_eq!(united(says, "{}"), says);
    assert_eq!(united("{}", says), says);
    assert_eq!(united(says, says), says);
    assert_eq!(common(says, says), says);
    assert!(set("one", says).union(&set("two", says)).conflicts().is_empty());
}

#[test]
fn settings_are_united_in_the_order_in_which_they_came() {
    for (one, two, both) in [
        (r#"{"a/b":{}}"#, r#"{"c/d":{},"a/b":{ }}"#, r#"{"a/b":{},"c/d":{}}"#),
        (r#"{"a/b":{"l":[1, 2.0]}}"#, r#"{"a/b":{"l":[2.0,3]}}"#, r#"{"a/b":{"l":[1,2.0,3]}}"#),
        (r#"{"a/b":{"l":[ 3,1 ]}}"#, r#"{"a/b":{"l":[1]}}"#, r#"{"a/b":{"l":[ 3,1 ]}}"#),
        (r#"{"a/b":{"l":[1,1]}}"#, r#"{"a/b":{"l":[1]}}"#, r#"{"a/b":{"l":[1]}}"#),
        // Digits count.
        (r#"{"a/b":{"l":[1]}}"#, r#"{"a/b":{"l":[1.0,1e0]}}"#, r#"{"a/b":{"l":[1,1.0,1e0]}}"#),
        // Spelling does not.
        (r#"{"a/b":{"l":["\u0061",{"x":1,"y":2}]}}"#, r#"{"a\/b":{"\u006c":["a",{ "y":2,"x":1 }]}}"#, "same"),
        (r#"{"a/b":{"x":{"z":1}}}"#, r#"{"a/b":{"w":0,"x":{"y":2,"z":1}}}"#, r#"{"a/b":{"x":{"z":1,"y":2},"w":0}}"#),
        // Of what does not unite the first stands.
        (r#"{"a/b":{"x":1,"y":[]}}"#, r#"{"a/b":{"x":2,"y":{}}}"#, "same"),
        (r#"{"a/b":{"x":1,"x":2}}"#, r#"{"a/b":{"x":1}}"#, "same"),
    ] {
        assert_eq!(united(one, two), if both == "same" { one } else { both }, "{one} {two}");
    }
}

#[test]
fn media_types_of_apps_are_compared_as_such() {
    let plain = r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app"]}}"#;
    let fancy = r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["Text/HTML; profile=\"mcp-app\"","a/b"]}}"#;
    let both = r#"{"io.modelcontextprotocol/ui":{"mimeTypes":["text/html;profile=mcp-app","a/b"]}}"#;
    assert_eq!(united(plain, fancy), both);
    assert_eq!(common(plain, fancy), plain);
    let other = |text: &str| text.replace("protocol/ui", "protocol/apps");
    assert!(united(&other(plain), &other(fancy)).contains("Text/HTML"), "this is just another extension");
}

#[test]
fn an_intersection_says_what_both_sides_say() {
    for (one, two, both) in [
        (r#"{"a/b":{},"c/d":{}}"#, r#"{"c/d":{ }}"#, r#"{"c/d":{}}"#),
        (r#"{"a/b":{"l":[1, 2,3]}}"#, r#"{"a/b":{"l":[3,1,4]}}"#, r#"{"a/b":{"l":[1,3]}}"#),
        (r#"{"a/b":{"l":[1]}}"#, r#"{"a/b":{"l":[2]}}"#, r#"{"a/b":{"l":[]}}"#),
        (r#"{"a/b":{"x":1,"y":2}}"#, r#"{"a/b":{"x":1.0,"y":2,"z":3}}"#, r#"{"a/b":{"y":2}}"#),
        (r#"{"a/b":{"x":{"y":1,"z":[2]}}}"#, r#"{"a/b":{"x":{"z":[]}}}"#, r#"{"a/b":{"x":{"z":[]}}}"#),
        (r#"{"a/b":{"x":[]}}"#, r#"{"a/b":{"x":{}}}"#, r#"{"a/b":{}}"#),
        (r#"{"a/b":{"x":1,"x":2}}"#, r#"{"a/b":{"x":1}}"#, "{}"),
        (r#"{"a/b":null}"#, r#"{"a/b":{}}"#, "{}"),
    ] {
        assert_eq!(common(one, two), both, "{one} {two}");
    }
}

#[test]
fn it_can_be_told_who_said_what() {
    let one = set("one", r#"{"a/b":{"x":{"k~/":1}},"c/d":{}}"#);
    let two = set("two", r#"{"a/b":{"x":{"k~/":2.0}},"e/f":{ }}"#);
    let three = set("three", r#"{"a/b":{"y":3}}"#);
    let all = one.clone().union(&two).union(&three);

    let said: Vec<_> = all.said("a/b").map(|(server, _)| server).collect();
    assert_eq!(said, ["one", "two", "three"]);
    assert_eq!((all.of("one"), all.of("two"), all.of("three")), (one, two, three));
    assert!(all.of("four").is_empty());

    let conflicts = all.conflicts();
    assert_eq!(conflicts.len(), 1);
    assert_eq!((conflicts[0].extension(), conflicts[0].pointer()), ("a/b", "/x/k~0~1"));
    assert_eq!(conflicts[0].values().collect::<Vec<_>>(), [("one", &b"1"[..]), ("two", b"2.0")]);
    assert_eq!(conflicts[0].to_string(), r#"the settings of a/b differ at "/x/k~0~1": one says 1; two says 2.0;"#);
}

#[test]
fn extensions_can_be_left_out() {
    let all = set("one", r#"{"a/b":{"x":1},"c/d":{},"e/f":{}}"#);
    assert_eq!(text(&all.clone().deny("c/d").deny("x/y")), r#"{"a/b":{"x":1},"e/f":{}}"#);
    assert_eq!(text(&all.clone().retain(|_, settings| settings == b"{}")), r#"{"c/d":{},"e/f":{}}"#);
    assert_eq!(all.identifiers().collect::<Vec<_>>(), ["a/b", "c/d", "e/f"]);
    let with = all.deny("a/b").with("two", "a/b", r#" {"x":2} "#).expect("the settings are JSON");
    assert_eq!(text(&with), r#"{"c/d":{},"e/f":{},"a/b":{"x":2}}"#);
}

#[test]
fn what_is_no_map_is_an_error_that_says_why() {
    let read = |extensions: &str| ExtensionSet::read("one", extensions.as_bytes()).expect_err(extensions);
    for broken in ["", "[]", "null", "{", "{} {}", r#"{"a/b":}"#] {
        assert!(matches!(read(broken), InvalidExtensions::Json(_)), "{broken}");
    }
    assert_eq!(read(r#"{"a/b":{},"a\/b":{}}"#), InvalidExtensions::Doubled("a/b".to_owned()));
    assert_eq!(read(r#"{"\ud800":{}}"#), InvalidExtensions::NoText);
    assert_eq!(read(&format!(r#"{{"a/b":"{}"}}"#, "x".repeat(1 << 16))), InvalidExtensions::TooLong);
    assert!(matches!(read(&format!(r#"{{"a/b":{}{}}}"#, "[".repeat(64), "]".repeat(64))), InvalidExtensions::Json(_)));
    assert!(ExtensionSet::new().with("one", "a/b", "{} 7").is_err());
}

/// What is as large as it may be takes a moment, and no more.
#[test]
fn large_sets_take_no_time_to_speak_of() {
    let object = |from: usize| {
        let members: Vec<_> = (from..from + 7000).map(|nth| format!(r#""{nth}":1"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    let began = std::time::Instant::now();
    for (one, two) in
        [(object(0), object(3500)), (format!(r#"{{"a/b":{}}}"#, object(0)), format!(r#"{{"a/b":{}}}"#, object(3500)))]
    {
        let (one, two) = (set("one", &one), set("two", &two));
        assert!(text(&one.intersection(&two)).len() > 20_000);
        assert!(text(&one.union(&two)).len() > 60_000);
    }
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        (0..3).prop_map(Value::from),
        "[ab]".prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null)
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[kl]", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn map() -> impl Strategy<Value = Value> {
    prop::collection::hash_map("[abc]/x", value(), 0..4).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// The union, by the book.
fn model_union(said: &[&Value], conflicts: &mut usize) -> Value {
    if said.iter().all(|value| *value == said[0]) {
        return said[0].clone();
    }
    if said.iter().all(|value| value.is_array()) {
        let mut all = Vec::new();
        for element in said.iter().flat_map(|value| value.as_array().unwrap()) {
            if !all.contains(element) {
                all.push(element.clone());
            }
        }
        return Value::Array(all);
    }
    if said.iter().all(|value| value.is_object()) {
        return model_maps(said, conflicts);
    }
    *conflicts += 1;
    said[0].clone()
}

fn model_maps(said: &[&Value], conflicts: &mut usize) -> Value {
    let mut all = Map::new();
    for (key, _) in said.iter().flat_map(|value| value.as_object().unwrap()) {
        if !all.contains_key(key) {
            let values: Vec<_> = said.iter().filter_map(|value| value.get(key)).collect();
            all.insert(key.clone(), model_union(&values, conflicts));
        }
    }
    Value::Object(all)
}

/// Whether a value says no more than some of these do between them.
fn is_within(value: &Value, said: &[&Value]) -> bool {
    if said.contains(&value) {
        return true;
    }
    match value {
        Value::Array(elements) => {
            let others: Vec<_> = said.iter().filter_map(|other| other.as_array()).flatten().collect();
            said.iter().any(|other| other.is_array()) && elements.iter().all(|element| others.contains(&element))
        }
        Value::Object(members) => members.iter().all(|(key, value)| {
            let below: Vec<_> = said.iter().filter_map(|other| other.get(key)).collect();
            !below.is_empty() && is_within(value, &below)
        }),
        _ => false,
    }
}

fn tree(set: &ExtensionSet) -> Value {
    serde_json::from_slice(&set.to_json()).expect("the map is JSON")
}

proptest! {
    #[test]
    fn a_union_is_the_models(maps in prop::collection::vec(map(), 1..4)) {
        let sets: Vec<_> = maps.iter().enumerate().map(|(nth, map)| set(&nth.to_string(), &map.to_string())).collect();
        let all = sets.iter().fold(ExtensionSet::new(), |all, set| all.union(set));
        let mut conflicts = 0;
        prop_assert_eq!(tree(&all), model_maps(&maps.iter().collect::<Vec<_>>(), &mut conflicts));
        prop_assert_eq!(all.conflicts().len(), conflicts);

        // However it is put together, and twice is once.
        let grouped = sets.iter().rev().fold(ExtensionSet::new(), |all, set| set.clone().union(&all));
        prop_assert_eq!(&grouped, &all);
        prop_assert_eq!(&all.clone().union(&all), &all);

        // Nothing is lost of what each said, and nothing is said that nobody said.
        for (nth, own) in sets.iter().enumerate() {
            prop_assert_eq!(tree(&all.of(&nth.to_string())), tree(own));
        }
        prop_assert!(is_within(&tree(&all), &maps.iter().collect::<Vec<_>>()));
    }

    #[test]
    fn an_intersection_is_within_both(one in map(), two in map(), three in map()) {
        let sets = [set("1", &one.to_string()), set("2", &two.to_string()), set("3", &three.to_string())];
        let both = sets[0].intersection(&sets[1].clone().union(&sets[2]));
        prop_assert!(is_within(&tree(&both), &[&one]));
        prop_assert!(is_within(&tree(&both), &[&two, &three]));
        prop_assert_eq!(tree(&sets[0].intersection(&sets[0])), one.clone());
        prop_assert!(sets[0].intersection(&ExtensionSet::new()).is_empty());
        // What both have as it is stays.
        for (identifier, settings) in one.as_object().unwrap() {
            if two.get(identifier) == Some(settings) {
                prop_assert_eq!(&tree(&both)[identifier.as_str()], settings);
            }
        }
    }
}

#[test]
fn the_model_knows_a_conflict() {
    let mut conflicts = 0;
    let (one, two) = (json!({ "a/x": 1 }), json!({ "a/x": 2 }));
    assert_eq!(model_maps(&[&one, &two], &mut conflicts), one);
    assert_eq!(conflicts, 1);
    assert!(!is_within(&json!({ "a/x": 3 }), &[&one, &two]));
}
