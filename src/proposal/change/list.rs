//! One item more in a frontmatter list whose items have fields of their own, e.g. `relationships:`.
//!
//! The item is written like those that are there: block or flow, with their indentation. The result is read again: if anything but the
//! one new item differs, there is no result.

use std::ops::Range;

use serde_json::{Map, Value};
use yaml_edit::{YamlFile, YamlNode};

use super::yaml::{self, Quotes};
use crate::domain::frontmatter::{self, Syntax};
use crate::proposal::diff::line_end_of;

/// Adds `item`, a text or a map of texts, to the end of the list `key`, which has items. `None`: that can't be done safely.
pub fn add_to_list(text: &str, key: &str, item: &Value) -> Option<String> {
    let split = frontmatter::split(text);
    let before = frontmatter::parse_split(text, &split);
    let mut expected = before.fields.clone();
    let list = expected.get_mut(key)?.as_array_mut().filter(|items| !items.is_empty())?;
    list.push(item.clone());
    let block = text.get(split.block.clone())?;
    let eol = line_end_of(text);
    let edited = match split.syntax {
        Syntax::None => None,
        Syntax::Toml => in_toml(block, key, item, eol),
        Syntax::Yaml | Syntax::Json => in_yaml(block, key, item, eol),
    }?;
    let candidate = [&text[..split.block.start], &edited, &text[split.block.end..]].concat();
    let after = frontmatter::parse(&candidate);
    let same_body =
        candidate.get(frontmatter::split(&candidate).body_start..) == text.get(split.body_start..);
    (same_body && before.problems.is_empty() && after.problems.is_empty() && after.fields == expected)
        .then_some(candidate)
}

fn in_yaml(block: &str, key: &str, item: &Value, eol: &str) -> Option<String> {
    let parsed = YamlFile::parse(block);
    let mapping = parsed.tree().document()?.as_mapping()?;
    let node = mapping.entries().find(|e| e.key_matches(key))?.value_node()?;
    let YamlNode::Sequence(_) = &node else { return None };
    let range = node.byte_range();
    let (start, end) = (range.start as usize, range.end as usize);
    let old = block.get(start..end)?;
    let lead = old.len() - old.trim_start().len();
    let range = start + lead..start + old.trim_end().len();
    if block[range.clone()].starts_with('[') {
        return in_flow(block, &range, item, eol);
    }
    let line_start = block[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &block[line_start..range.start];
    if !indent.trim().is_empty() {
        return None;
    }
    let dash = format!("{indent}-");
    let starts = block[line_start..range.end].match_indices(&dash).map(|(at, _)| line_start + at);
    let last = starts.filter(|at| *at == 0 || block[..*at].ends_with('\n')).last()?;
    let last = &block[last..range.end];
    let first = last.lines().next()?;
    let inner = &first[dash.len()..];
    let gap = &inner[..inner.len() - inner.trim_start().len()];
    let gap = if gap.is_empty() { " " } else { gap };
    let lines = match item {
        Value::Object(fields) if inner.trim_start().starts_with('{') => {
            format!("{dash}{gap}{}", flow_map(fields, Quotes::Plain, false))
        }
        Value::Object(fields) => {
            let below = format!("{eol}{indent} {gap}");
            let fields = fields.iter().map(|(key, value)| {
                let key = yaml::scalar(key, Quotes::Plain, false);
                format!("{key}: {}", yaml::one(value, quotes_of(last, &key), false))
            });
            format!("{dash}{gap}{}", fields.collect::<Vec<_>>().join(&below))
        }
        other => format!("{dash}{gap}{}", yaml::one(other, quotes_of(inner, ""), false)),
    };
    let line_end = block[range.end..].find(['\r', '\n']).map_or(block.len(), |at| range.end + at);
    Some([&block[..line_end], eol, &lines, &block[line_end..]].concat())
}

/// The quotes that the value of `key` has in an item; with no key, those of the item itself.
fn quotes_of(item: &str, key: &str) -> Quotes {
    let value = if key.is_empty() {
        Some(item)
    } else {
        item.find(&format!("{key}: ")).map(|at| &item[at + key.len() + 2..])
    };
    match value.and_then(|value| value.trim_start().chars().next()) {
        Some('"') => Quotes::Double,
        Some('\'') => Quotes::Single,
        _ => Quotes::Plain,
    }
}

fn flow_map(fields: &Map<String, Value>, quotes: Quotes, json: bool) -> String {
    let field = |(key, value): (&String, &Value)| {
        let key = if json {
            Value::String(key.clone()).to_string()
        } else {
            yaml::scalar(key, Quotes::Plain, true)
        };
        format!("{key}: {}", yaml::one(value, quotes, true))
    };
    format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn in_flow(block: &str, range: &Range<usize>, item: &Value, eol: &str) -> Option<String> {
    let json = block.trim_start().starts_with('{');
    let quotes = if json { Quotes::Double } else { Quotes::Plain };
    let written = match item {
        Value::Object(fields) => flow_map(fields, quotes, json),
        other => yaml::one(other, quotes, true),
    };
    let inner = block[range.clone()].strip_suffix(']')?.trim_end();
    let end = range.start + inner.len();
    let (comma, tail) = if inner.ends_with(',') { ("", ",") } else { (",", "") };
    let last_line = inner.rfind('\n').map(|at| &inner[at + 1..]);
    let gap = match last_line {
        Some(line) => [eol, &line[..line.len() - line.trim_start().len()]].concat(),
        None => " ".to_owned(),
    };
    // The last line of an item on several lines is indented like its first one.
    Some([&block[..end], comma, &gap, &written, tail, &block[end..]].concat())
}

fn in_toml(block: &str, key: &str, item: &Value, eol: &str) -> Option<String> {
    let document = toml_edit::Document::parse(block).ok()?;
    let text = |value: &Value| Some(toml_edit::Value::from(value.as_str()?).to_string());
    let pairs = |joined: &str| -> Option<String> {
        let pair = |(k, v): (&String, &Value)| Some(format!("{} = {}", toml_edit::Key::new(k), text(v)?));
        Some(item.as_object()?.iter().map(pair).collect::<Option<Vec<_>>>()?.join(joined))
    };
    match document.as_table().get(key)? {
        toml_edit::Item::ArrayOfTables(tables) => {
            let last = tables.iter().last()?;
            let values = last.iter().filter_map(|(_, v)| v.span().map(|s| s.end));
            let from = values.max().or_else(|| last.span().map(|s| s.end))?;
            let end = block.get(from..)?.find('\n').map_or(block.len(), |at| from + at + 1);
            let gap = if block[..end].ends_with('\n') { "" } else { eol };
            let header = format!("[[{}]]", toml_edit::Key::new(key));
            Some([&block[..end], gap, eol, &header, eol, &pairs(eol)?, eol, &block[end..]].concat())
        }
        toml_edit::Item::Value(toml_edit::Value::Array(items)) => {
            let last = items.iter().last()?.span()?;
            let written = match item {
                Value::Object(_) => format!("{{ {} }}", pairs(", ")?),
                other => text(other)?,
            };
            Some([&block[..last.end], ", ", &written, &block[last.end..]].concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn add(text: &str, item: &Value) -> String {
        add_to_list(text, "ties", item).unwrap_or_else(|| panic!("not editable: {text}"))
    }

    #[test]
    fn an_item_is_written_like_the_others() {
        let item = json!({"who": "Mira", "type": "sister"});
        for (before, after) in [
            (
                "ties:\n  - who: Ada # a\n    type: aunt # b\n",
                "ties:\n  - who: Ada # a\n    type: aunt # b\n  - who: Mira\n    type: sister\n",
            ),
            (
                "ties:\n- who: Ada\n  type: aunt\n",
                "ties:\n- who: Ada\n  type: aunt\n- who: Mira\n  type: sister\n",
            ),
            (
                "ties:\n  -   who: \"Ada\"\n      type: aunt\n",
                "ties:\n  -   who: \"Ada\"\n      type: aunt\n  -   who: \"Mira\"\n      type: sister\n",
            ),
            (
                "ties:\n  - {who: Ada, type: aunt}\n",
                "ties:\n  - {who: Ada, type: aunt}\n  - {who: Mira, type: sister}\n",
            ),
            (
                "ties: [{who: Ada, type: aunt}] # c\n",
                "ties: [{who: Ada, type: aunt}, {who: Mira, type: sister}] # c\n",
            ),
            ("ties: [\n  {who: Ada},\n]\n", "ties: [\n  {who: Ada},\n  {who: Mira, type: sister},\n]\n"),
        ] {
            for eol in ["\n", "\r\n"] {
                let file = |ties: &str| {
                    format!("\u{feff}---\n# top\nname: X\n{ties}# then\nrole: y\n---\nBody\n")
                        .replace('\n', eol)
                };
                assert_eq!(add(&file(before), &item), file(after));
            }
        }
    }

    #[test]
    fn toml_and_json_lists_grow_too() {
        let item = json!({"who": "Mira", "type": "sister"});
        let toml = "+++\nname = \"X\"\n\n[[ties]]\nwho = \"Ada\" # a\n\n[other]\nx = 1\n+++\n";
        assert_eq!(
            add(toml, &item),
            toml.replace("# a\n", "# a\n\n[[ties]]\nwho = \"Mira\"\ntype = \"sister\"\n")
        );
        let json = "{\n  \"ties\": [\n    {\"who\": \"Ada\"}\n  ]\n}\nBody\n";
        assert_eq!(
            add(json, &item),
            json.replace("\"Ada\"}", "\"Ada\"},\n    {\"who\": \"Mira\", \"type\": \"sister\"}")
        );
    }

    #[test]
    fn a_text_joins_a_list_of_texts() {
        assert_eq!(
            add("---\nties:\n  - \"[[Ada]]: aunt\"\n---\n", &json!("[[Mira]]: sister")),
            "---\nties:\n  - \"[[Ada]]: aunt\"\n  - \"[[Mira]]: sister\"\n---\n"
        );
    }

    #[test]
    fn what_is_no_list_with_items_or_is_broken_is_left_alone() {
        for text in [
            "---\nties: []\n---\n",
            "---\nties:\n---\n",
            "---\nties: {a: b}\n---\n",
            "---\nties: [a\n---\n",
            "text",
        ] {
            assert_eq!(add_to_list(text, "ties", &json!("x")), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn only_the_new_item_differs(
            names in prop::collection::vec("[A-Z][a-zé' ]{0,8}", 1..4),
            name in "\\PC{1,12}",
            kind in "[a-z:# -]{1,9}",
            indent in 0_usize..4,
            crlf in any::<bool>(),
        ) {
            let pad = " ".repeat(indent);
            let items: Vec<String> =
                names.iter().map(|n| format!("{pad}- who: {n:?}\n{pad}  type: aunt # c\n")).collect();
            let items = items.concat();
            let text = format!("---\n# top\nties:\n{items}role: x   # keep\n---\n\n# X\n");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let item = json!({"who": name, "type": kind});
            if let Some(changed) = add_to_list(&text, "ties", &item) {
                let at = text.find("role: x").unwrap();
                prop_assert!(changed.starts_with(&text[..at]) && changed.ends_with(&text[at..]), "{changed}");
                let fields = frontmatter::parse(&changed).fields;
                prop_assert_eq!(fields["ties"].as_array().unwrap().last(), Some(&item));
            } else {
                prop_assert!(name.trim() != name || kind.trim() != kind || name.chars().any(|c| !c.is_alphanumeric()), "{name:?} {kind:?}");
            }
        }
    }
}
