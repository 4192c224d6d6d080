//! A frontmatter field as the target of a change: one text, or a list of texts.

use serde_json::{Value, json};

use crate::domain::passage;
use crate::proposal::change;

/// Longest text of a field, in characters.
const MAX_TEXT: usize = 600;

/// Why a field can't become what was proposed.
pub(super) enum FieldProblem {
    /// The field holds more than texts, or its block can't be edited without risk.
    Unsafe,
    /// The proposed text is no value of such a field.
    NotAValue,
}

/// Returns the file with one field changed. `key` is a key of the file.
pub(super) fn change_field(
    text: &str,
    key: &str,
    old: &Value,
    markdown: &str,
    append: bool,
) -> Result<String, FieldProblem> {
    let value = match old {
        Value::Array(items) => {
            let mut kept = if append { items.clone() } else { vec![] };
            if items.iter().any(|i| i.is_object() || i.is_array()) {
                return Err(FieldProblem::Unsafe);
            }
            for item in items_of(markdown, key) {
                let known =
                    kept.iter().any(|k| k.as_str().is_some_and(|k| passage::fold(k) == passage::fold(&item)));
                if !known {
                    kept.push(json!(item));
                }
            }
            Value::Array(kept)
        }
        Value::Object(_) => return Err(FieldProblem::Unsafe),
        Value::Null if items_of(markdown, key).len() > 1 => json!(items_of(markdown, key)),
        _ if append && !old.is_null() => return Err(FieldProblem::NotAValue),
        _ => {
            let items = items_of(markdown, key);
            let [one] = &items[..] else { return Err(FieldProblem::NotAValue) };
            json!(one)
        }
    };
    if value == *old {
        return Ok(text.to_owned());
    }
    change::set_key(text, key, &value).ok_or(FieldProblem::Unsafe)
}

/// The texts that a proposal lists: an item a line, with or without list marks, quotes and the key itself.
fn items_of(markdown: &str, key: &str) -> Vec<String> {
    let mut items = vec![];
    for line in markdown.lines().map(str::trim) {
        if line.is_empty() || line == "---" || line.starts_with("```") {
            continue;
        }
        let line = match line.split_once(':') {
            Some((k, rest)) if items.is_empty() && k.trim().eq_ignore_ascii_case(key) => rest.trim(),
            _ => line,
        };
        let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line).trim();
        let flow = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')).filter(|l| !l.starts_with('['));
        let parts: Vec<&str> = flow.map_or(vec![line], |l| l.split(',').collect());
        for part in parts {
            let part = part.trim();
            let quoted = ['"', '\''].iter().find_map(|q| part.strip_prefix(*q)?.strip_suffix(*q));
            let part = quoted.unwrap_or(part);
            if !part.is_empty() && part.chars().count() <= MAX_TEXT {
                items.push(part.to_owned());
            }
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str =
        "---\nstatus: alive # now\naliases:\n  - Adrian\n  - Vale\nties:\n  - who: Mira\nship:\n---\nText\n";

    fn changed(key: &str, markdown: &str, append: bool) -> Option<String> {
        let fields = crate::domain::frontmatter::parse(FILE).fields;
        change_field(FILE, key, &fields[key], markdown, append).ok()
    }

    #[test]
    fn an_alias_joins_the_list_once() {
        let with = FILE.replace("  - Vale\n", "  - Vale\n  - the Captain\n");
        for text in
            ["the Captain", "- the Captain", "- Vale\n- \"the Captain\"", "aliases: [vale, the Captain]"]
        {
            assert_eq!(changed("aliases", text, true).as_deref(), Some(with.as_str()), "{text}");
        }
        assert_eq!(changed("aliases", "Adrian", true).as_deref(), Some(FILE));
        assert_eq!(
            changed("aliases", "- A\n- B", false),
            Some(FILE.replace("- Adrian\n  - Vale", "- A\n  - B"))
        );
    }

    #[test]
    fn a_text_is_replaced_in_its_place() {
        assert_eq!(changed("status", "dead", false), Some(FILE.replace("alive", "dead")));
        assert_eq!(changed("status", "status: \"dead\"", false), Some(FILE.replace("alive", "dead")));
        assert_eq!(
            changed("ship", "[[Halcyon]]", false),
            Some(FILE.replace("ship:", "ship: \"[[Halcyon]]\""))
        );
    }

    #[test]
    fn what_does_not_fit_the_field_is_refused() {
        assert_eq!(changed("status", "a\nb", false), None);
        assert_eq!(changed("status", "more", true), None);
        assert_eq!(changed("ties", "Tobias", true), None);
    }
}
