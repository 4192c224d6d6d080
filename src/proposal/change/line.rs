//! Fields that stand in the text itself: `Role: hero`, `- **Role:** hero`, `Role:: hero` and `[Role:: hero]`.
//!
//! Only the value's own bytes are replaced, and the lines are read again: if any other field reads differently then, there is no result.

use std::ops::Range;

use super::set_aside;
use crate::domain::passage;

/// Longest name of a field, in characters and words. Longer ones are sentences with a colon.
const MAX_KEY: usize = 40;
const MAX_KEY_WORDS: usize = 4;

/// A field in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldLine {
    /// Its name as it is written, without marks.
    pub key: String,
    /// Bytes of its value in the file; empty where it has none.
    pub value: Range<usize>,
    /// What ends the value, for a field in brackets.
    closing: Option<char>,
}

/// Lists the fields whose value lies in `range`. Code, comments, quotations and frontmatter hold none.
pub fn field_lines(text: &str, range: &Range<usize>) -> Vec<FieldLine> {
    let aside = set_aside(text);
    let mut found = vec![];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if start >= range.end || at <= range.start || aside.iter().any(|a| a.contains(&start)) {
            continue;
        }
        let content = line.trim_end_matches(['\n', '\r']);
        let field = whole_line(content).map_or_else(|| in_brackets(content), |field| vec![field]);
        found.extend(
            field.into_iter().map(|f| FieldLine { value: start + f.value.start..start + f.value.end, ..f }),
        );
    }
    found.retain(|f| f.value.start >= range.start && f.value.end <= range.end);
    found
}

/// Returns `text` with another value in a field. `None`: the value does not fit on the line, or other fields would read differently.
pub fn set_line(text: &str, field: &FieldLine, value: &str) -> Option<String> {
    let value = value.trim();
    let breaks = value.is_empty()
        || value.contains(char::is_control)
        || field.closing.is_some_and(|closing| value.contains(closing));
    if breaks {
        return None;
    }
    let (head, tail) = (text.get(..field.value.start)?, text.get(field.value.end..)?);
    let gap = if field.value.is_empty() && head.ends_with(':') { " " } else { "" };
    let changed = [head, gap, value, tail].concat();
    let all = |text: &str| -> Vec<(String, String)> {
        let fields = field_lines(text, &(0..text.len()));
        fields.into_iter().map(|f| (f.key, text[f.value].to_owned())).collect()
    };
    let (mut expected, place) = (all(text), field_lines(text, &(0..text.len())));
    let at = place.iter().position(|f| f.value == field.value)?;
    value.clone_into(&mut expected[at].1);
    (all(&changed) == expected).then_some(changed)
}

/// `Key: value` with list marks and emphasis around the key.
fn whole_line(line: &str) -> Option<FieldLine> {
    let mut rest = line.trim_start_matches(['\u{feff}', ' ', '\t']);
    for marker in ["- ", "* ", "+ "] {
        rest = rest.strip_prefix(marker).map_or(rest, str::trim_start);
    }
    let colon = rest.find(':')?;
    let key = key_of(&rest[..colon])?;
    let rest = rest[colon + 1..].strip_prefix(':').unwrap_or(&rest[colon + 1..]);
    // The marks that close an emphasis around `**Key:**` belong to the key.
    let after_marks = rest.trim_start_matches(['*', '_']);
    let closes =
        after_marks.len() < rest.len() && (after_marks.is_empty() || after_marks.starts_with([' ', '\t']));
    let rest = if closes { after_marks } else { rest };
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let value = rest.trim();
    let start = if value.is_empty() { line.len() - rest.len() } else { line.len() - rest.trim_start().len() };
    Some(FieldLine { key, value: start..start + value.len(), closing: None })
}

/// Dataview's `[key:: value]` and `(key:: value)` within a line.
fn in_brackets(line: &str) -> Vec<FieldLine> {
    let mut found = vec![];
    for (at, _) in line.match_indices("::") {
        let Some((open, bracket)) = line[..at].char_indices().rfind(|(_, c)| matches!(c, '[' | '(')) else {
            continue;
        };
        let closing = if bracket == '[' { ']' } else { ')' };
        let Some(key) = key_of(&line[open + 1..at]) else { continue };
        let Some(end) = line[at + 2..].find(closing) else { continue };
        let inner = &line[at + 2..at + 2 + end];
        let value = inner.trim();
        let start = at + 2 + (inner.len() - inner.trim_start().len()).min(inner.len() - value.len());
        found.push(FieldLine { key, value: start..start + value.len(), closing: Some(closing) });
    }
    found
}

fn key_of(raw: &str) -> Option<String> {
    let key = raw.trim().trim_matches(['*', '_']).trim();
    let is_name = key.starts_with(char::is_alphabetic)
        && key.chars().count() <= MAX_KEY
        && key.split_whitespace().count() <= MAX_KEY_WORDS
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '\'' | '\u{2019}'));
    is_name.then(|| key.to_owned())
}

impl FieldLine {
    /// Whether `name` is this field's, in any letter case.
    pub fn is_named(&self, name: &str) -> bool {
        passage::fold(&self.key) == passage::fold(name.trim().trim_end_matches(':'))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn set(text: &str, key: &str, value: &str) -> Option<String> {
        let fields = field_lines(text, &(0..text.len()));
        set_line(text, fields.iter().find(|f| f.is_named(key))?, value)
    }

    #[test]
    fn only_the_value_changes_in_every_way_of_writing_a_field() {
        for (before, after) in [
            ("Role: hero", "Role: ghost"),
            ("Role:: hero", "Role:: ghost"),
            ("- **Role:** hero  ", "- **Role:** ghost  "),
            ("* **Role**: hero", "* **Role**: ghost"),
            ("__Role__ :: hero", "__Role__ :: ghost"),
            ("She is a [role:: hero] of sorts", "She is a [role:: ghost] of sorts"),
            ("(role::hero)", "(role::ghost)"),
            ("Role:", "Role: ghost"),
            ("\tRole:   hero\t", "\tRole:   ghost\t"),
        ] {
            for eol in ["\n", "\r\n"] {
                let file = |line: &str| format!("# A\n\nAge: 5\n{line}\nHome:: sea\n").replace('\n', eol);
                assert_eq!(set(&file(before), "ROLE", "ghost"), Some(file(after)), "{before}");
            }
        }
    }

    #[test]
    fn code_quotations_comments_and_frontmatter_hold_no_fields() {
        let text = "---\nrole: a\n---\n```\nrole: b\n```\n\n> role: c\n\n<!--\nrole: d\n-->\n\n%%\nrole: e\n%%\n\nhttp://role: f\n12:30\n";
        assert_eq!(field_lines(text, &(0..text.len())), []);
    }

    #[test]
    fn a_value_that_would_not_stay_in_its_place_is_refused() {
        assert_eq!(set("[role:: hero] x\n", "role", "a] b"), None);
        assert_eq!(set("Role: hero\n", "role", "a\nAge: 5"), None);
        assert_eq!(set("Role: hero\n", "role", " "), None);
    }

    #[test]
    fn a_range_limits_what_is_found() {
        let text = "Role: a\nRole: b\n";
        let found = field_lines(text, &(8..text.len()));
        assert_eq!(found.iter().map(|f| &text[f.value.clone()]).collect::<Vec<_>>(), ["b"]);
    }

    proptest! {
        #[test]
        fn bytes_outside_the_value_stay(
            text in "([-*>#`%\\[(] ?)?(Role|Age|role)?:{0,2}[ a-z\\])é*_]{0,9}\r?\n([a-z:]{0,6}\n){0,3}(Role:: x\n)?",
            value in "\\PC{0,12}",
        ) {
            for field in field_lines(&text, &(0..text.len())) {
                if let Some(changed) = set_line(&text, &field, &value) {
                    prop_assert!(changed.starts_with(&text[..field.value.start]));
                    prop_assert!(changed.ends_with(&text[field.value.end..]));
                    let back = set_line(&changed, &FieldLine { value: field.value.start..changed.len() - (text.len() - field.value.end), ..field.clone() }, &text[field.value.clone()]);
                    if !field.value.is_empty() && value.trim() != "" {
                        prop_assert_eq!(back, Some(text.clone()));
                    }
                }
            }
        }
    }
}
