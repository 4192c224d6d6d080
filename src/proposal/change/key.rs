//! One frontmatter key, changed in place.
//!
//! A parser says where the value stands; only those bytes are replaced. The result is read again: if anything but the one key
//! means something else than before, there is no result.

use serde_json::{Map, Value};
use yaml_edit::YamlFile;
use yaml_edit::YamlNode;

use super::yaml::{self, Quotes};
use crate::domain::frontmatter::{self, Problem, Split, Syntax};
use crate::proposal::diff::line_end_of;

/// Returns the key of `fields` that `key` names: the very key, else one that differs only in letter case.
pub fn find_key<'a>(fields: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let key = key.trim();
    let keys = || fields.keys().map(String::as_str);
    keys().find(|k| *k == key).or_else(|| keys().find(|k| k.to_lowercase() == key.to_lowercase()))
}

/// Changes or adds one frontmatter key, byte for byte lossless elsewhere (order, comments, quoting style, line endings).
/// Returns `None` when the frontmatter can't be edited safely.
pub fn set_key(text: &str, key: &str, value: &Value) -> Option<String> {
    let split = frontmatter::split(text);
    let before = frontmatter::parse(text);
    let key = find_key(&before.fields, key).unwrap_or(key.trim());
    if key.is_empty() || key.contains(char::is_control) {
        return None;
    }
    if broken(&before).is_some() {
        return None;
    }
    let block = text.get(split.block.clone())?;
    let eol = line_end_of(text);
    let edits: Vec<Option<String>> = match split.syntax {
        Syntax::None => return new_block(text, key, value, eol),
        Syntax::Yaml => vec![in_yaml(block, key, value, eol), in_line(block, key, value)],
        Syntax::Json => vec![in_yaml(block, key, value, eol)],
        Syntax::Toml => vec![in_toml(block, key, value, eol)],
    };
    edits
        .into_iter()
        .flatten()
        .map(|edited| [&text[..split.block.start], &edited, &text[split.block.end..]].concat())
        .find(|candidate| only_this_changed(text, &split, &before, candidate, key, value))
}

/// Says why [`set_key`] gave nothing for a key, and what helps.
pub fn obstacle(text: &str, key: &str) -> String {
    let split = frontmatter::split(text);
    let read = frontmatter::parse_split(text, &split);
    if split.syntax == Syntax::None && is_open(text) {
        return "the frontmatter is never closed; the author has to close it first".to_owned();
    }
    if let Some(problem) = broken(&read) {
        let Problem { line, column, message } = problem;
        return format!(
            "the frontmatter can't be trusted (line {line}, column {column}: {message}); the author has to correct that first"
        );
    }
    let block = text.get(split.block).unwrap_or_default();
    let own = find_key(&read.fields, key).and_then(|key| read.fields.get(key));
    match own {
        Some(Value::Object(_)) => {
            format!("`{key}` holds fields of its own; ask the author to change it by hand")
        }
        Some(Value::Array(items)) if items.iter().any(|i| i.is_object() || i.is_array()) => {
            format!("`{key}` is a list of more than texts; ask the author to change it by hand")
        }
        _ if block.contains(['&', '*']) => {
            format!(
                "`{key}` may be what another value refers to (`&` or `*`); ask the author to change it by hand"
            )
        }
        _ => format!(
            "`{key}` can't be changed without touching more than its value; ask the author to change it by hand"
        ),
    }
}

/// The first thing that could not be read as meant. Tabs are read like spaces, and change no meaning.
fn broken(read: &frontmatter::Frontmatter) -> Option<&Problem> {
    read.problems.iter().find(|p| !p.message.starts_with("YAML is not indented by tabs"))
}

/// Whether a text begins like a block that has no end.
fn is_open(text: &str) -> bool {
    let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    ["---", "+++", "{"].iter().any(|fence| rest.starts_with(fence))
}

fn only_this_changed(
    text: &str,
    split: &Split,
    before: &frontmatter::Frontmatter,
    candidate: &str,
    key: &str,
    value: &Value,
) -> bool {
    let after = frontmatter::parse(candidate);
    let after_split = frontmatter::split(candidate);
    let mut expected = before.fields.clone();
    expected.insert(key.to_owned(), value.clone());
    after_split.syntax == split.syntax
        && candidate.get(after_split.body_start..) == text.get(split.body_start..)
        && after.problems.len() <= before.problems.len()
        && after.fields.len() == expected.len()
        && after
            .fields
            .iter()
            .all(|(k, v)| expected.get(k).is_some_and(|e| e == v || k == key && same_words(e, v)))
}

/// A number that was written as text may be read as a number: the words are the same.
fn same_words(a: &Value, b: &Value) -> bool {
    let words = |v: &Value| match v {
        Value::String(s) => Some(s.clone()),
        Value::Number(_) | Value::Bool(_) => Some(v.to_string()),
        _ => None,
    };
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_words(a, b))
        }
        _ => words(a).is_some_and(|a| words(b) == Some(a)),
    }
}

fn new_block(text: &str, key: &str, value: &Value, eol: &str) -> Option<String> {
    let (bom, rest) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    // A block that is never closed: where it ends is a guess.
    if is_open(text) {
        return None;
    }
    let entry = yaml::entry(key, value, eol);
    let candidate = [bom, "---", eol, &entry, eol, "---", eol, eol, rest].concat();
    let after = frontmatter::parse(&candidate);
    (after.problems.is_empty() && after.fields.len() == 1).then_some(candidate)
}

fn splice(text: &str, range: std::ops::Range<usize>, with: &str) -> Option<String> {
    Some([text.get(..range.start)?, with, text.get(range.end..)?].concat())
}

fn in_yaml(block: &str, key: &str, value: &Value, eol: &str) -> Option<String> {
    let parsed = YamlFile::parse(block);
    if !parsed.errors().is_empty() {
        return None;
    }
    let mapping = parsed.tree().document().and_then(|d| d.as_mapping());
    let Some(mapping) = mapping else {
        let says_nothing = block.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#'));
        return says_nothing.then(|| add_line(block, &yaml::entry(key, value, eol), eol));
    };
    let Some(entry) = mapping.entries().find(|e| e.key_matches(key)) else {
        if block.trim_start().starts_with('{') {
            return add_pair(block, key, value, eol);
        }
        return Some(add_line(block, &yaml::entry(key, value, eol), eol));
    };
    let key_end = entry.key_node()?.byte_range().end as usize;
    let node = entry.value_node()?;
    let range = node.byte_range();
    let (start, end) = (range.start as usize, range.end as usize);
    let old = block.get(start..end)?;
    if old.trim().is_empty() {
        let colon = key_end + block.get(key_end..)?.find(':')? + 1;
        return splice(block, colon..colon, &format!(" {}", yaml::one(value, Quotes::Plain, false)));
    }
    let lead = old.len() - old.trim_start().len();
    let (start, end) = (start + lead, start + old.trim_end().len());
    let old = block.get(start..end)?;
    let json = block.trim_start().starts_with('{');
    match (&node, value) {
        (YamlNode::Scalar(_), _) => {
            let new = yaml::one(value, quotes_of(old), json);
            splice(block, start..end, &new)
        }
        (YamlNode::Sequence(_), Value::Array(items)) if old.starts_with('[') => {
            splice(block, start..end, &flow_list(old, items, json))
        }
        (YamlNode::Sequence(sequence), Value::Array(items)) => {
            let kept = sequence.len();
            block_list(block, start..end, items, kept, eol)
        }
        _ => None,
    }
}

fn quotes_of(scalar: &str) -> Quotes {
    match scalar.chars().next() {
        Some('"') => Quotes::Double,
        Some('\'') => Quotes::Single,
        _ => Quotes::Plain,
    }
}

/// Items that are there already keep their bytes when the new list only goes on.
fn flow_list(old: &str, items: &[Value], json: bool) -> String {
    let quotes = if json { Quotes::Double } else { Quotes::Plain };
    let had = serde_saphyr::from_str::<Vec<Value>>(old).unwrap_or_default();
    let inner = old.trim_end_matches(']').trim_end();
    if !had.is_empty() && items.starts_with(&had) && !inner.contains('\n') && !inner.ends_with(',') {
        let more = items[had.len()..].iter().map(|i| yaml::one(i, quotes, true));
        let all: Vec<String> = std::iter::once(inner.to_owned()).chain(more).collect();
        return format!("{}]", all.join(", "));
    }
    yaml::one(&Value::Array(items.to_vec()), quotes, true)
}

fn block_list(
    block: &str,
    range: std::ops::Range<usize>,
    items: &[Value],
    kept: usize,
    eol: &str,
) -> Option<String> {
    let line_start = block[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &block[line_start..range.start];
    if !indent.trim().is_empty() || items.is_empty() {
        return None;
    }
    let line = |item: &Value| format!("{indent}- {}", yaml::one(item, Quotes::Plain, false));
    let had = serde_saphyr::from_str::<Vec<Value>>(block.get(line_start..range.end)?).ok()?;
    if had.len() == kept && items.starts_with(&had) {
        let end = block[range.end..].find(['\r', '\n']).map_or(block.len(), |at| range.end + at);
        let more: Vec<String> =
            std::iter::once(String::new()).chain(items[kept..].iter().map(line)).collect();
        return splice(block, end..end, &more.join(eol));
    }
    let lines: Vec<String> = items.iter().map(line).collect();
    splice(block, line_start..range.end, &lines.join(eol))
}

fn add_line(block: &str, line: &str, eol: &str) -> String {
    if block.is_empty() || block.ends_with('\n') {
        [block, line, eol].concat()
    } else {
        [block, eol, line].concat()
    }
}

/// One more pair in a JSON object, below the last one where that has a line of its own.
fn add_pair(block: &str, key: &str, value: &Value, eol: &str) -> Option<String> {
    let inner = block.trim_end().strip_suffix('}')?.trim_end();
    let last_line = inner.rfind('\n').map(|at| &inner[at + 1..]);
    let (comma, gap) = match last_line {
        _ if inner.ends_with('{') => ("", String::new()),
        Some(line) => (",", [eol, &line[..line.len() - line.trim_start().len()]].concat()),
        None => (",", " ".to_owned()),
    };
    let pair = format!("{}: {value}", Value::from(key));
    Some([inner, comma, &gap, &pair, &block[inner.len()..]].concat())
}

/// For a block that is no YAML as a whole: the one line `key: value`, where it is simple.
fn in_line(block: &str, key: &str, value: &Value) -> Option<String> {
    let Value::String(text) = value else { return None };
    let is_it = |line: &str| line.split_once(':').is_some_and(|(k, _)| k.trim_end() == key);
    let (mut found, mut at) = (None, 0);
    for line in block.split_inclusive('\n') {
        if is_it(line) {
            if found.is_some() {
                return None;
            }
            found = Some((at, line));
        }
        at += line.len();
    }
    let (at, line) = found?;
    let next = block.get(at + line.len()..)?;
    let continues = next.starts_with([' ', '\t']) || next.starts_with("- ");
    let after_colon = line.find(':')? + 1;
    let rest = &line[after_colon..];
    let old = rest.split(" #").next().unwrap_or(rest).trim();
    if continues || old.is_empty() || old.starts_with(['|', '>', '[', '{', '&', '*', '!']) {
        return None;
    }
    let start = at + after_colon + rest.find(old)?;
    splice(block, start..start + old.len(), &yaml::scalar(text, quotes_of(old), false))
}

fn in_toml(block: &str, key: &str, value: &Value, eol: &str) -> Option<String> {
    let document = toml_edit::Document::parse(block).ok()?;
    let written = toml_value(value)?;
    let table = document.as_table();
    if let Some(item) = table.get(key) {
        item.as_value()?;
        return splice(block, item.span()?, &written);
    }
    let line = format!("{} = {written}", toml_edit::Key::new(key));
    if table.iter().any(|(_, item)| item.is_table() || item.is_array_of_tables()) {
        return Some([&line, eol, block].concat());
    }
    Some(add_line(block, &line, eol))
}

fn toml_value(value: &Value) -> Option<String> {
    Some(match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(toml_value).collect::<Option<Vec<_>>>()?.join(", "))
        }
        Value::Null | Value::Object(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn set(text: &str, key: &str, value: impl Into<Value>) -> String {
        set_key(text, key, &value.into()).unwrap_or_else(|| panic!("not editable: {text:?}"))
    }

    #[test]
    fn only_the_value_changes_and_its_comment_and_quotes_stay() {
        for (before, after) in [
            ("role: protagonist   # keep", "role: antagonist   # keep"),
            ("role: \"protagonist\"", "role: \"antagonist\""),
            ("role: 'protagonist'  ", "role: 'antagonist'  "),
            ("role:   protagonist", "role:   antagonist"),
            ("Role: protagonist", "Role: antagonist"),
            ("role:", "role: antagonist"),
            ("role:  # none yet", "role: antagonist  # none yet"),
            ("role: >-\n  the\n  hero", "role: antagonist"),
        ] {
            for eol in ["\n", "\r\n"] {
                let file = |line: &str| {
                    format!(
                        "---\n# top\ntype: character\n{line}\naliases: [A,  B] # two\n---\n\n# X\n\nrole: y\n"
                    )
                    .replace('\n', eol)
                };
                assert_eq!(set(&file(before), "role", "antagonist"), file(after));
            }
        }
    }

    #[test]
    fn a_bom_and_a_block_without_the_key_are_kept() {
        let text = "\u{feff}---\r\ntype: character # t\r\n---\r\nText\r\n";
        assert_eq!(
            set(text, "role", "hero"),
            "\u{feff}---\r\ntype: character # t\r\nrole: hero\r\n---\r\nText\r\n"
        );
    }

    #[test]
    fn a_file_without_frontmatter_gets_one_and_an_unclosed_one_is_left_alone() {
        assert_eq!(set("# X\n", "role", "hero"), "---\nrole: hero\n---\n\n# X\n");
        assert_eq!(set_key("---\ntype: x\n# X\n", "role", &json!("hero")), None);
    }

    #[test]
    fn a_nested_key_of_the_same_name_is_not_touched() {
        let text = "---\nprogressions:\n  - from: 3\n    role: witness\nrole: hero\n---\n";
        assert_eq!(set(text, "role", "ghost"), text.replace("role: hero", "role: ghost"));
    }

    #[test]
    fn a_value_that_yaml_would_bend_is_quoted() {
        let text = "---\nrole: hero\n---\n";
        for value in ["no", "a: b", "- x", "[[Halcyon]]", "#1", "12"] {
            let changed = set(text, "role", value);
            assert_eq!(frontmatter::parse(&changed).fields["role"], json!(value), "{changed}");
        }
    }

    #[test]
    fn an_item_joins_a_list_in_the_lists_own_style() {
        let add = |text: &str| set(text, "aliases", json!(["A", "B b", "new one"]));
        assert_eq!(
            add("---\naliases:\n  - A\n  - B b # nick\nrole: x\n---\n"),
            "---\naliases:\n  - A\n  - B b # nick\n  - new one\nrole: x\n---\n"
        );
        assert_eq!(
            add("---\naliases: ['A', B b] # two\n---\n"),
            "---\naliases: ['A', B b, new one] # two\n---\n"
        );
        assert_eq!(
            add("---\naliases:\n- A\n- \"B b\"\n---\n"),
            "---\naliases:\n- A\n- \"B b\"\n- new one\n---\n"
        );
        assert_eq!(add("---\naliases:\n---\n"), "---\naliases: [A, B b, new one]\n---\n");
    }

    #[test]
    fn toml_and_json_blocks_keep_everything_else() {
        let toml =
            "+++\n# top\ntype = \"character\"\nrole = 'hero' # keep\n[extra]\nrole = \"x\"\n+++\nText\n";
        assert_eq!(set(toml, "role", "ghost"), toml.replace("'hero'", "\"ghost\""));
        assert_eq!(set(toml, "age", "old"), toml.replace("+++\n# top", "+++\nage = \"old\"\n# top"));
        let json = "{\n  \"type\": \"character\",\n  \"role\": \"hero\"\n}\n\nText\n";
        assert_eq!(set(json, "role", "ghost"), json.replace("hero", "ghost"));
        assert_eq!(set(json, "age", "old"), json.replace("\"hero\"\n", "\"hero\",\n  \"age\": \"old\"\n"));
        assert_eq!(set("{\"a\": 1}\nx", "role", "y"), "{\"a\": 1, \"role\": \"y\"}\nx");
        assert_eq!(set("---\n# none yet\n---\nx", "role", "ghost"), "---\n# none yet\nrole: ghost\n---\nx");
    }

    #[test]
    fn a_block_that_can_not_be_read_is_left_alone_and_its_place_is_told() {
        for (text, told) in [
            ("---\ntype: character\naliases: [a, b\nrole: hero # keep\n---\n", "line"),
            ("---\nrole: hero\nname: x\nrole: villain\n---\n", "line 4"),
            ("---\nrole: hero\n", "never closed"),
            ("---\nrole: &r hero\nother: *r\n---\n", "refers to"),
            ("---\nrole: {a: b}\n---\n", "fields of its own"),
            ("+++\nrole = \"hero\"\nrole = \"x\"\n+++\n", "line 3"),
            ("{\n\"role\": \"hero\",\n}\n", "line"),
        ] {
            assert_eq!(set_key(text, "role", &json!("ghost")), None, "{text}");
            let why = obstacle(text, "role");
            assert!(why.contains(told) && why.contains("author"), "{text} {why}");
        }
        let tabs = "---\nrole: hero\nborn:\n\tyear: 1\n---\n";
        assert_eq!(set(tabs, "role", "ghost"), tabs.replace("hero", "ghost"));
    }

    #[test]
    fn what_refers_to_the_value_stops_the_change() {
        let text = "---\nrole: &r hero\nother: *r\n---\n";
        assert_eq!(set_key(text, "role", &json!("ghost")), None);
        assert_eq!(set_key("---\nrole: {a: b}\n---\n", "role", &json!("ghost")), None);
    }

    proptest! {
        #[test]
        fn bytes_outside_the_key_are_the_same(
            before in prop::collection::vec("[a-c]{3}: [a-z\"'é]{0,6}( # [a-z]{1,3})?|# [a-z ]{0,8}|", 0..4),
            after in prop::collection::vec("[d-f]{3}: (\\[a, b\\]|'x'|12)|", 0..4),
            value in "\\PC{0,12}|[a-z ]{1,12}",
            crlf in any::<bool>(),
            bom in any::<bool>(),
        ) {
            let file = |line: &str| {
                let lines: Vec<&str> = before.iter().map(String::as_str).chain([line]).chain(after.iter().map(String::as_str)).collect();
                let text = format!("{}---\n{}\n---\n\nrole: body\n", if bom { "\u{feff}" } else { "" }, lines.join("\n"));
                if crlf { text.replace('\n', "\r\n") } else { text }
            };
            let text = file("role: old # keep");
            if let Some(changed) = set_key(&text, "role", &json!(value)) {
                let old = text.find("role: old").unwrap() + "role: ".len();
                let (head, tail) = (&text[..old], &text[old + "old".len()..]);
                prop_assert!(changed.starts_with(head) && changed.ends_with(tail), "{:?}", changed);
                prop_assert_eq!(frontmatter::parse(&changed).fields["role"].clone(), json!(value));
            }
        }

        #[test]
        fn nothing_panics(text in "(---\n)?[a-c:#\\-\\[\\]{}&*|>'\"\n \t]{0,40}(\n---\n)?", value in "\\PC{0,8}") {
            set_key(&text, "a", &json!(value));
            set_key(&text, "b", &json!([value]));
        }
    }
}
