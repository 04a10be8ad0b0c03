//! A validator for the part of JSON Schema that the schemas of MCP and MCP Apps use on what we emit.

use std::fs;
use std::sync::LazyLock;

use serde_json::Value;

/// MCP Apps.
pub(crate) static APPS: LazyLock<Schema> = LazyLock::new(|| Schema::open("mcp-apps-2.0.4"));
/// The last version of MCP's legacy era.
pub(crate) static LEGACY: LazyLock<Schema> = LazyLock::new(|| Schema::open("mcp-2025-11-25"));
/// The first version of MCP's modern era.
pub(crate) static MODERN: LazyLock<Schema> = LazyLock::new(|| Schema::open("mcp-2026-07-28"));

/// One published schema file.
pub(crate) struct Schema {
    root: Value,
}

impl Schema {
    /// Reads `tests/data/schema/NAME.json`.
    fn open(name: &str) -> Self {
        let path = format!("{}/tests/data/schema/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = fs::read(path).expect("the schema is there");
        Self { root: serde_json::from_slice(&text).expect("the schema is JSON") }
    }

    /// Why the value is not what the definition says; `Ok` where it is.
    pub(crate) fn validate(&self, definition: &str, value: &Value) -> Result<(), String> {
        self.check(&self.root["$defs"][definition], value, "$")
    }

    fn check(&self, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
        let rules = schema.as_object().ok_or_else(|| format!("{path}: no schema"))?;
        for (keyword, rule) in rules {
            match keyword.as_str() {
                "$schema" | "description" | "format" | "additionalProperties" | "default" => {}
                "$ref" => {
                    let target = rule.as_str().and_then(|text| text.strip_prefix('#')).expect("a local reference");
                    self.check(self.root.pointer(target).expect("the target is there"), value, path)?;
                }
                "type" => ensure(is_type(value, rule.as_str().expect("one type")), path, "type")?,
                "const" => ensure(value == rule, path, "const")?,
                "enum" => ensure(rule.as_array().is_some_and(|values| values.contains(value)), path, "enum")?,
                "minimum" => ensure(value.as_f64() >= rule.as_f64(), path, "minimum")?,
                "maximum" => ensure(value.as_f64() <= rule.as_f64(), path, "maximum")?,
                "not" => ensure(self.check(rule, value, path).is_err(), path, "not")?,
                "anyOf" => {
                    let schemas = rule.as_array().expect("a list of schemas");
                    ensure(schemas.iter().any(|schema| self.check(schema, value, path).is_ok()), path, "anyOf")?;
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(rule, item, &format!("{path}[{index}]"))?;
                    }
                }
                "required" => {
                    for key in rule.as_array().into_iter().flatten().filter_map(Value::as_str) {
                        ensure(value.get(key).is_some(), path, key)?;
                    }
                }
                "properties" => self.check_members(rules, value, path)?,
                unknown => panic!("{path}: the validator does not know {unknown}"),
            }
        }
        Ok(())
    }

    fn check_members(&self, rules: &serde_json::Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
        for (key, member) in value.as_object().into_iter().flatten() {
            let path = format!("{path}.{key}");
            match (rules["properties"].get(key), rules.get("additionalProperties")) {
                (Some(schema), _) => self.check(schema, member, &path)?,
                (None, Some(Value::Bool(false))) => return Err(format!("{path}: additional")),
                (None, Some(schema @ Value::Object(_))) => self.check(schema, member, &path)?,
                (None, _) => {}
            }
        }
        Ok(())
    }
}

fn ensure(holds: bool, path: &str, rule: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{path}: {rule}")) }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        unknown => panic!("the validator does not know the type {unknown}"),
    }
}

#[test]
fn the_validator_finds_what_is_wrong() {
    let meta = |value| APPS.validate("McpUiResourceMeta", &value);
    assert_eq!(meta(serde_json::json!({"csp": {}})), Ok(()));
    assert_eq!(meta(serde_json::json!({"csp": {"x": []}})), Err("$.csp.x: additional".to_owned()));
    assert_eq!(meta(serde_json::json!({"domain": 1})), Err("$.domain: type".to_owned()));
    let tool = |value| APPS.validate("McpUiToolMeta", &value).is_ok();
    assert!(tool(serde_json::json!({"visibility": ["app"]})));
    assert!(!tool(serde_json::json!({"visibility": ["robot"]})));
    assert!(!tool(serde_json::json!({"csp": {}})));
}
