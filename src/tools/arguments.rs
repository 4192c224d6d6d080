//! Brings what a model wrote as arguments into the form that a tool's schema asks for.
//!
//! Tolerant where the meaning is plain (a number where text is asked, one text for a list, an object for a list of names and
//! values, another letter case); else an error that names the field and what it may be. Never panics, never cuts.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::ToolError;
use super::schema::is_nullable;

/// Parses the text of a call's arguments. `limit` is in bytes.
pub(super) fn parse<A: DeserializeOwned>(schema: &Value, text: &str, limit: usize) -> Result<A, ToolError> {
    let whole = |message: String| ToolError::Arguments {
        field: None,
        message,
        allowed: names(schema).map(str::to_owned).collect(),
    };
    if text.len() > limit {
        return Err(whole(format!("they are {} bytes long; the limit is {limit} bytes", text.len())));
    }
    let given = match text.trim() {
        "" => json!({}),
        text => match serde_json::from_str(text).map_err(|e| whole(format!("they are not JSON: {e}")))? {
            // Some servers encode the arguments twice.
            Value::String(inner) => serde_json::from_str(&inner)
                .map_err(|_| whole("they must be one JSON object, not text".into()))?,
            Value::Null => json!({}),
            other => other,
        },
    };
    let Value::Object(given) = given else {
        return Err(whole(format!("they must be one JSON object, not {}", kind(&given))));
    };
    let object = object(schema, given, "")?;
    serde_json::from_value(Value::Object(object)).map_err(|e| whole(e.to_string()))
}

fn names(schema: &Value) -> impl Iterator<Item = &str> {
    schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str)
}

/// Words for a JSON type, for messages.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn object(
    schema: &Value,
    mut given: Map<String, Value>,
    path: &str,
) -> Result<Map<String, Value>, ToolError> {
    let mut object = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let key =
            given.keys().find(|k| *k == name).or_else(|| given.keys().find(|k| same_key(k, name))).cloned();
        let value = key.and_then(|k| given.remove(&k)).unwrap_or(Value::Null);
        let absent =
            value.is_null() || is_nullable(property) && value.as_str().is_some_and(|s| s.trim().is_empty());
        if !absent {
            object.insert(name.clone(), coerce(property, value, &field)?);
        } else if !is_nullable(property) {
            return Err(ToolError::in_field(&field, format!("`{field}` is missing"), &expected(property)));
        }
    }
    Ok(object)
}

/// `entry_type` is `entryType`.
fn same_key(given: &str, name: &str) -> bool {
    let plain =
        |s: &str| s.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    plain(given) == plain(name)
}

fn allowed(schema: &Value) -> Vec<&str> {
    schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Words for what a field takes.
fn expected(schema: &Value) -> Vec<&str> {
    let choices = allowed(schema);
    if !choices.is_empty() {
        return choices;
    }
    match types(schema).first() {
        Some(&"string") => vec!["text"],
        Some(&"integer") => vec!["a whole number"],
        Some(&"array") => vec!["a list"],
        Some(&"object") => vec!["an object"],
        _ => vec!["text or a list of texts"],
    }
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec![],
    }
}

fn coerce(schema: &Value, value: Value, field: &str) -> Result<Value, ToolError> {
    if let Some(variants) = schema["anyOf"].as_array() {
        return any_of(variants, value, field);
    }
    match types(schema).first() {
        Some(&"string") => text(schema, value, field),
        Some(&"integer") => integer(&value, field),
        Some(&"array") => list(schema, value, field),
        Some(&"object") => match value {
            Value::Object(given) => Ok(Value::Object(object(schema, given, field)?)),
            other => Err(wrong(field, "an object", &other)),
        },
        _ => Ok(value),
    }
}

fn wrong(field: &str, wanted: &str, value: &Value) -> ToolError {
    ToolError::in_field(field, format!("`{field}` must be {wanted}, not {}", kind(value)), &[wanted])
}

fn any_of(variants: &[Value], value: Value, field: &str) -> Result<Value, ToolError> {
    // Text for what a value is, in a field that takes text: `true` and 5 are words there.
    let value = if let Value::Bool(b) = value { Value::String(b.to_string()) } else { value };
    let fitting = variants.iter().find(|v| match types(v).first() {
        Some(&"array") => value.is_array(),
        Some(&"string") => value.is_string() || value.is_number(),
        _ => false,
    });
    match fitting {
        Some(variant) => coerce(variant, value, field),
        None => Err(wrong(field, "text or a list of texts", &value)),
    }
}

fn text(schema: &Value, value: Value, field: &str) -> Result<Value, ToolError> {
    let text = match value {
        Value::String(text) => text,
        Value::Number(number) => number.to_string(),
        other => {
            let message = format!("`{field}` must be text, not {}", kind(&other));
            return Err(ToolError::in_field(field, message, &expected(schema)));
        }
    };
    if let Some(c) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        let message = format!("`{field}` holds the control character U+{:04X}", u32::from(c));
        return Err(ToolError::in_field(field, message, &["text without control characters"]));
    }
    let choices = allowed(schema);
    if choices.is_empty() {
        return Ok(Value::String(text));
    }
    let given = text.trim().to_lowercase();
    let fits = |choice: &&&str| **choice == given || given.strip_suffix('s') == Some(**choice);
    choices.iter().find(fits).map(|choice| json!(choice)).ok_or_else(|| {
        let shown: String = text.chars().take(40).collect();
        ToolError::in_field(field, format!("`{field}` can't be `{}`", shown.escape_debug()), &choices)
    })
}

fn integer(value: &Value, field: &str) -> Result<Value, ToolError> {
    let number = match value {
        Value::Number(n) => {
            n.as_i64().or_else(|| n.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15).map(|f| f as i64))
        }
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    match number {
        Some(number) if (0..=i64::from(u32::MAX)).contains(&number) => Ok(json!(number)),
        Some(_) => Err(ToolError::in_field(field, format!("`{field}` is out of range"), &["1 or more"])),
        None => Err(wrong(field, "a whole number", value)),
    }
}

fn list(schema: &Value, value: Value, field: &str) -> Result<Value, ToolError> {
    let items = &schema["items"];
    let pairs = names(items).eq(["name", "value"]);
    let values = match value {
        Value::Array(values) => values,
        Value::Object(object) if pairs => {
            object.into_iter().map(|(name, value)| json!({"name": name, "value": value})).collect()
        }
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(values)) => values,
            Ok(object @ Value::Object(_)) if pairs => return list(schema, object, field),
            _ if !pairs => vec![Value::String(text)],
            _ => return Err(wrong(field, "a list of names and values", &Value::String(text))),
        },
        number @ Value::Number(_) if !pairs => vec![number],
        other => {
            return Err(wrong(
                field,
                if pairs { "a list of names and values" } else { "a list of texts" },
                &other,
            ));
        }
    };
    let mut out = vec![];
    for (i, value) in values.into_iter().enumerate() {
        let named = value["name"].as_str().map(|n| n.chars().take(40).collect::<String>());
        // A name without a value says nothing.
        if value.is_null() || pairs && value.is_object() && value["value"].is_null() {
            continue;
        }
        let place = match named {
            Some(name) if pairs => format!("{field}.{name}"),
            _ => format!("{field}[{i}]"),
        };
        out.push(coerce(items, value, &place)?);
    }
    Ok(Value::Array(out))
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::domain::codex::EntryType;
    use crate::tools::propose::NamedValue;
    use crate::tools::schema;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "camelCase")]
    struct Args {
        r#ref: String,
        entry_type: Option<EntryType>,
        refs: Option<Vec<String>>,
        start_paragraph: Option<u32>,
        fields: Option<Vec<NamedValue>>,
    }

    fn read(text: &str) -> Result<Args, ToolError> {
        parse(&schema::of::<Args>(), text, 1_000)
    }

    fn refs(text: &str) -> Vec<String> {
        read(text).unwrap().refs.unwrap_or_default()
    }

    #[test]
    fn what_is_plainly_meant_is_taken() {
        assert_eq!(read(r#"{"ref": 3}"#).unwrap().r#ref, "3");
        assert_eq!(read(r#"{"ref": "x", "other": {"a": []}}"#).unwrap().r#ref, "x");
        assert_eq!(read(r#""{\"ref\": \"x\"}""#).unwrap().r#ref, "x");
        assert_eq!(
            read(r#"{"ref": "x", "entry_type": "Characters"}"#).unwrap().entry_type,
            Some(EntryType::Character)
        );
        assert_eq!(read(r#"{"ref": "x", "entryType": "", "refs": null}"#).unwrap().entry_type, None);
        assert_eq!(read(r#"{"ref": "x", "startParagraph": "4"}"#).unwrap().start_paragraph, Some(4));
        assert_eq!(refs(r#"{"ref": "x", "refs": "3"}"#), ["3"]);
        assert_eq!(refs(r#"{"ref": "x", "refs": [3, "4", null]}"#), ["3", "4"]);
        assert_eq!(refs(r#"{"ref": "x", "refs": "[\"3\", 4]"}"#), ["3", "4"]);
    }

    #[test]
    fn free_fields_are_a_list_or_an_object() {
        let list = read(
            r#"{"ref": "x", "fields": [{"name": "role", "value": "hero"}, {"name": "tags", "value": ["a", 1]}, {"name": "none", "value": null}]}"#,
        );
        let object = read(r#"{"ref": "x", "fields": {"role": "hero", "tags": ["a", 1]}}"#);
        let text = read(r#"{"ref": "x", "fields": "{\"role\": \"hero\", \"tags\": [\"a\", 1]}"}"#);
        assert_eq!(list, object);
        assert_eq!(text, object);
        assert_eq!(object.unwrap().fields.unwrap().len(), 2);
    }

    #[test]
    fn a_mistake_is_told_with_its_field_and_what_it_may_be() {
        for (text, field, word) in [
            ("{}", Some("ref"), "missing"),
            (r#"{"ref": {"a": 1}}"#, Some("ref"), "must be text, not an object"),
            (r#"{"ref": true}"#, Some("ref"), "must be text"),
            (r#"{"ref": "a\u0000b"}"#, Some("ref"), "U+0000"),
            (r#"{"ref": "x", "entryType": "person"}"#, Some("entryType"), "can't be `person`"),
            (r#"{"ref": "x", "entryType": ["character"]}"#, Some("entryType"), "must be text"),
            (r#"{"ref": "x", "startParagraph": -1}"#, Some("startParagraph"), "out of range"),
            (r#"{"ref": "x", "startParagraph": 1.5}"#, Some("startParagraph"), "whole number"),
            (r#"{"ref": "x", "refs": {"a": 1}}"#, Some("refs"), "a list of texts"),
            (r#"{"ref": "x", "refs": [[]]}"#, Some("refs[0]"), "must be text"),
            (
                r#"{"ref": "x", "fields": {"role": {"a": 1}}}"#,
                Some("fields.role.value"),
                "text or a list of texts",
            ),
            (r#"{"ref": "x", "fields": "role"}"#, Some("fields"), "names and values"),
            ("[]", None, "not a list"),
            ("nonsense", None, "not JSON"),
            (r#"{"ref": "\ud800"}"#, None, "not JSON"),
            ("\"x\"", None, "not text"),
        ] {
            let error = read(text).unwrap_err();
            let ToolError::Arguments { field: found, message, allowed } = &error else { panic!("{error:?}") };
            assert_eq!(found.as_deref(), field, "{text}");
            assert!(message.contains(word), "{text}: {message}");
            assert!(!allowed.is_empty(), "{text}");
        }
    }

    #[test]
    fn arguments_over_the_limit_are_refused_before_they_are_read() {
        let text = format!(r#"{{"ref": "{}"}}"#, "x".repeat(2_000));
        let ToolError::Arguments { message, .. } = read(&text).unwrap_err() else { panic!() };
        assert!(message.contains("the limit is 1000 bytes"), "{message}");
        assert!(read(&format!("{}1{}", "[".repeat(400), "]".repeat(400))).is_err());
    }
}
