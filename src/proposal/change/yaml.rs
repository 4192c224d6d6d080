//! Writes single YAML values the way an author would: plain where that is safe, quoted where it is not.
//!
//! Every value that is written here reads back as the very same text.

use std::fmt::Write as _;

use serde_json::Value;

/// How a scalar is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// None, where the value allows it.
    Plain,
    /// `'…'`, where the value allows it.
    Single,
    /// `"…"`
    Double,
}

/// Writes text as a scalar. `flow` says that it stands inside `[…]` or `{…}`.
pub fn scalar(text: &str, quotes: Quotes, flow: bool) -> String {
    let printable =
        !text.chars().any(|c| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}'));
    match quotes {
        Quotes::Plain if printable && plain_is_safe(text, flow) => text.to_owned(),
        Quotes::Single if printable => format!("'{}'", text.replace('\'', "''")),
        _ => double_quoted(text),
    }
}

/// Writes a key with its value as lines without the last line end: a list goes below its key, an item a line.
pub fn entry(key: &str, value: &Value, eol: &str) -> String {
    let key = scalar(key, Quotes::Plain, false);
    match value {
        Value::Array(items) if items.is_empty() => format!("{key}: []"),
        Value::Array(items) => {
            let items = items.iter().map(|item| format!("{eol}  - {}", one(item, Quotes::Plain, false)));
            format!("{key}:{}", items.collect::<String>())
        }
        value => format!("{key}: {}", one(value, Quotes::Plain, false)),
    }
}

/// Writes a value on one line.
pub fn one(value: &Value, quotes: Quotes, flow: bool) -> String {
    match value {
        Value::String(text) => scalar(text, quotes, flow),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(|i| one(i, quotes, true)).collect::<Vec<_>>().join(", "))
        }
        // JSON is YAML.
        other => other.to_string(),
    }
}

fn plain_is_safe(text: &str, flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    let indicator = "-?:,[]{}#&*!|>'\"%@`=~<".contains(first);
    let split = text.contains(": ") || text.contains(" #") || text.ends_with(':');
    let breaks_flow = flow && text.contains([',', '[', ']', '{', '}', ':']);
    if text.trim() != text || indicator || split || breaks_flow || is_a_word_of_yaml(text) {
        return false;
    }
    // What some reader takes for a number, a date or a time is not plain text.
    !text.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '.')
        || text.contains(char::is_alphabetic)
            && serde_saphyr::from_str::<Value>(text).is_ok_and(|v| v.is_string())
}

/// Words that YAML 1.1 or 1.2 reads as something else than text.
fn is_a_word_of_yaml(text: &str) -> bool {
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].iter().any(|w| text.eq_ignore_ascii_case(w))
}

/// The escapes are those that JSON has too.
fn double_quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') => {
                _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(yaml: &str) -> Value {
        serde_saphyr::from_str(yaml).unwrap_or_else(|e| panic!("{yaml:?}: {e}"))
    }

    #[test]
    fn ordinary_words_stay_plain_and_what_yaml_would_bend_is_quoted() {
        for plain in [
            "protagonist",
            "the Captain",
            "Ilse Søndergaard",
            "it's fine",
            "a, b",
            "left ear (failing)",
            "3rd mate",
        ] {
            assert_eq!(scalar(plain, Quotes::Plain, false), plain);
        }
        for bent in [
            "",
            " x",
            "no",
            "Yes",
            "null",
            "~",
            "- x",
            "a: b",
            "a #b",
            "[[Halcyon]]",
            "12",
            "1e3",
            "2266-05-09",
            "12:30",
            "@x",
            "x:",
        ] {
            assert!(scalar(bent, Quotes::Plain, false).starts_with('"'), "{bent:?}");
        }
        assert!(scalar("a, b", Quotes::Plain, true).starts_with('"'));
        assert_eq!(scalar("it's", Quotes::Single, false), "'it''s'");
    }

    #[test]
    fn a_list_goes_below_its_key() {
        assert_eq!(entry("aliases", &json!(["Ada", "no"]), "\n"), "aliases:\n  - Ada\n  - \"no\"");
        assert_eq!(entry("aliases", &json!([]), "\n"), "aliases: []");
    }

    proptest! {
        #[test]
        fn every_text_reads_back_as_itself(text in "\\PC{0,20}|[\\x00-\\x7f]{0,12}|[-:#,\\[\\]{}'\" a\n0-9.]{0,10}") {
            for quotes in [Quotes::Plain, Quotes::Single, Quotes::Double] {
                let written = scalar(&text, quotes, false);
                prop_assert_eq!(read(&format!("k: {written}\n")), json!({"k": text}), "{}", written);
                let written = scalar(&text, quotes, true);
                prop_assert_eq!(read(&format!("k: [{written}, x]\n")), json!({"k": [text, "x"]}), "{}", written);
            }
            prop_assume!(text != "first");
            let written = entry(&text, &json!([text]), "\r\n");
            prop_assert_eq!(read(&format!("first: b\r\n{written}\r\n"))[&text].clone(), json!([text]), "{}", written);
        }
    }
}
