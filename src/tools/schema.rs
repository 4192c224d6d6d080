//! Wire shapes of a [`super::ToolSpec`], and the strict JSON Schema of its arguments.
//!
//! Strict means: every property is required, what may be left out is nullable instead, no property that is not named, no reference, and
//! only the keywords that strict servers take (<https://platform.openai.com/docs/guides/structured-outputs#supported-schemas>).

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Effect, ToolSpec};
use crate::domain::codex::EntryType;

/// The keywords that stay.
const KEYWORDS: [&str; 8] =
    ["type", "description", "properties", "required", "additionalProperties", "items", "enum", "anyOf"];

/// Encodes a tool for `POST /v1/responses` (flat, strict).
pub fn responses(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.about,
        "parameters": spec.parameters,
        "strict": true,
    })
}

/// Encodes a tool for `POST /v1/chat/completions` (nested under `function`, strict).
pub fn chat_completions(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name,
        "description": spec.about,
        "parameters": spec.parameters,
        "strict": true,
    }})
}

/// Encodes a tool for Ollama's `/api/chat` (nested, without `strict`).
pub fn ollama(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name,
        "description": spec.about,
        "parameters": spec.parameters,
    }})
}

/// Encodes a tool for MCP's `tools/list` (`inputSchema`, annotations).
pub fn mcp(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name,
        "description": spec.about,
        "inputSchema": spec.parameters,
        "annotations": {
            "readOnlyHint": spec.effect != Effect::Proposes,
            "destructiveHint": false,
            "openWorldHint": false,
        },
    })
}

impl JsonSchema for EntryType {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EntryType".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "enum": EntryType::ALL.map(EntryType::as_str)})
    }
}

/// Returns the strict schema of a tool's arguments.
pub(super) fn of<A: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.meta_schema = None;
        s.inline_subschemas = true;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<A>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.remove("description");
        root.entry("properties").or_insert_with(|| json!({}));
    }
    strict(&mut schema);
    schema
}

/// Whether a schema takes `null`.
pub(super) fn is_nullable(schema: &Value) -> bool {
    let names_null = match &schema["type"] {
        Value::String(name) => name == "null",
        Value::Array(names) => names.iter().any(|n| n == "null"),
        _ => false,
    };
    names_null || schema["anyOf"].as_array().is_some_and(|any| any.iter().any(is_nullable))
}

fn strict(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(constant) = object.remove("const") {
        object.insert("enum".into(), json!([constant]));
    }
    if let Some(variants) = object.remove("oneOf") {
        object.insert("anyOf".into(), variants);
    }
    object.retain(|keyword, _| KEYWORDS.contains(&keyword.as_str()));
    if let Some(Value::Array(variants)) = object.get_mut("anyOf") {
        variants.iter_mut().for_each(strict);
    }
    merge_null(object);
    if let Some(items) = object.get_mut("items") {
        strict(items);
    }
    let required = object.remove("required");
    let Some(Value::Object(properties)) = object.get_mut("properties") else { return };
    for (name, property) in properties.iter_mut() {
        strict(property);
        let needed = required.as_ref().and_then(Value::as_array).is_some_and(|r| r.iter().any(|n| n == name));
        if !needed {
            make_nullable(property);
        }
    }
    let names: Vec<String> = properties.keys().cloned().collect();
    object.insert("required".into(), json!(names));
    object.insert("additionalProperties".into(), json!(false));
}

/// `anyOf: [x, null]` is said shorter by `type: [.., "null"]`.
fn merge_null(object: &mut Map<String, Value>) {
    let Some(Value::Array(variants)) = object.get("anyOf") else { return };
    let (null, others): (Vec<&Value>, Vec<&Value>) = variants.iter().partition(|v| v["type"] == "null");
    let ([_], [Value::Object(other)]) = (&null[..], &others[..]) else { return };
    let mut merged = other.clone();
    if let Some(description) = object.get("description") {
        merged.insert("description".into(), description.clone());
    }
    let mut merged = Value::Object(merged);
    make_nullable(&mut merged);
    if let Value::Object(merged) = merged {
        *object = merged;
    }
}

fn make_nullable(schema: &mut Value) {
    if is_nullable(schema) {
        return;
    }
    if let Some(Value::Array(variants)) = schema.get_mut("anyOf") {
        variants.push(json!({"type": "null"}));
        return;
    }
    if let Some(name) = schema.get("type").cloned() {
        schema["type"] = json!([name, "null"]);
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.push(Value::Null);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Registry;

    /// Walks every schema inside `schema`.
    fn walk(schema: &Value, visit: &mut impl FnMut(&Value)) {
        visit(schema);
        for (_, property) in schema["properties"].as_object().into_iter().flatten() {
            walk(property, visit);
        }
        for variant in schema["anyOf"].as_array().into_iter().flatten() {
            walk(variant, visit);
        }
        if schema.get("items").is_some() {
            walk(&schema["items"], visit);
        }
    }

    #[test]
    fn every_schema_keeps_the_strict_rules() {
        for spec in Registry::advisor().specs() {
            assert!(jsonschema::meta::is_valid(&spec.parameters), "{}", spec.name);
            jsonschema::validator_for(&spec.parameters).unwrap();
            assert_eq!(spec.parameters["type"], "object");
            walk(&spec.parameters, &mut |schema| {
                let object = schema.as_object().unwrap();
                for keyword in object.keys() {
                    assert!(KEYWORDS.contains(&keyword.as_str()), "{}: {keyword}", spec.name);
                }
                assert!(
                    object.contains_key("type") || object.contains_key("anyOf"),
                    "{}: {schema}",
                    spec.name
                );
                let is_object = schema["type"] == "object"
                    || schema["type"].as_array().is_some_and(|t| t.iter().any(|n| n == "object"));
                if is_object {
                    assert_eq!(schema["additionalProperties"], false, "{}", spec.name);
                    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
                    assert_eq!(json!(names), schema["required"], "{}", spec.name);
                }
            });
        }
    }

    #[test]
    fn every_argument_says_what_it_is_for() {
        for spec in Registry::advisor().specs() {
            for (name, property) in spec.parameters["properties"].as_object().unwrap() {
                assert!(
                    property["description"].as_str().is_some_and(|d| d.len() > 10),
                    "{}.{name}",
                    spec.name
                );
            }
        }
    }

    #[test]
    fn optional_arguments_are_nullable_and_still_required() {
        let registry = Registry::advisor();
        let search = &registry.spec("search_codex").unwrap().parameters;
        assert_eq!(search["required"], json!(["query", "entryType"]));
        assert_eq!(search["properties"]["query"]["type"], "string");
        assert_eq!(search["properties"]["entryType"]["type"], json!(["string", "null"]));
        assert_eq!(
            search["properties"]["entryType"]["enum"],
            json!(["character", "location", "organization", "item", "concept", "event", "style", null])
        );
        let manuscript = &registry.spec("get_manuscript_context").unwrap().parameters["properties"];
        assert_eq!(manuscript["ref"]["type"], json!(["string", "null"]));
        assert_eq!(manuscript["refs"]["items"]["type"], "string");
        assert_eq!(manuscript["startParagraph"]["type"], json!(["integer", "null"]));
    }

    #[test]
    fn free_fields_are_a_list_of_names_with_a_text_or_a_list_of_texts() {
        let registry = Registry::advisor();
        let fields = &registry.spec("propose_codex_create").unwrap().parameters["properties"]["fields"];
        assert_eq!(fields["type"], json!(["array", "null"]));
        assert_eq!(
            fields["items"]["properties"]["value"]["anyOf"],
            json!([{"type": "string"}, {"type": "array", "items": {"type": "string"}}])
        );
    }

    #[test]
    fn every_wire_has_its_own_shape_of_the_same_tool() {
        let registry = Registry::advisor();
        let spec = registry.spec("propose_codex_update").unwrap();
        let flat = responses(spec);
        assert_eq!(
            (&flat["type"], &flat["name"], &flat["strict"]),
            (&json!("function"), &json!(spec.name), &json!(true))
        );
        let chat = chat_completions(spec);
        assert_eq!(chat["function"]["parameters"], flat["parameters"]);
        assert_eq!(chat["function"]["strict"], true);
        assert_eq!(ollama(spec)["function"].get("strict"), None);
        assert_eq!(mcp(spec)["inputSchema"], flat["parameters"]);
        assert_eq!(mcp(spec)["annotations"]["readOnlyHint"], false);
        assert_eq!(mcp(registry.spec("search_codex").unwrap())["annotations"]["readOnlyHint"], true);
    }
}
