//! Narrative-role changes: only the value of the one Role field may differ.
//!
//! What a model sends around the value is left out here, not trusted to be harmless.

use std::ops::Range;

use serde_json::Value;

use super::change::{self, Part, find_key, set_key};
use crate::domain::frontmatter;

/// Longest role that is taken as a value, in characters.
const MAX_ROLE: usize = 80;

/// Longest lone line that is taken as a role, in words.
const MAX_LONE_WORDS: usize = 8;

/// Words around "role" in the name of a section, that do not make it another one.
const FILLERS: [&str; 14] = [
    "the",
    "a",
    "frontmatter",
    "front",
    "matter",
    "yaml",
    "metadata",
    "field",
    "key",
    "section",
    "value",
    "line",
    "narrative",
    "story",
];

/// What is done to a role in a summary of the change.
const VERBS: [&str; 14] = [
    "change", "changes", "changing", "set", "sets", "update", "updates", "switch", "correct", "fix",
    "revise", "adjust", "move", "make",
];

/// Whether a change is about the narrative role: its target section, or what it says it changes.
pub fn is_role_change(target_section: &str, change_summary: &str, proposed_markdown: &str) -> bool {
    let target = words(target_section);
    let significant: Vec<&str> = target.iter().map(String::as_str).filter(|w| !FILLERS.contains(w)).collect();
    significant == ["role"] || is_only_a_role(proposed_markdown) || summary_is_about_role(change_summary)
}

/// The role value that a proposed text asks for: a `role:` key or line, a one-line `## Role` section, or a single short line.
pub fn proposed_role(proposed_markdown: &str) -> Option<String> {
    let lines: Vec<&str> = meaningful_lines(proposed_markdown).collect();
    if let Some(value) = lines.iter().find_map(|line| Some(&line[role_value(line)?])) {
        return clean(value);
    }
    match lines[..] {
        [heading, value] if is_role_heading(heading) => clean(value),
        [value]
            if !value.starts_with('#')
                && !value.ends_with(':')
                && value.split_whitespace().count() <= MAX_LONE_WORDS =>
        {
            clean(value)
        }
        _ => None,
    }
}

/// Returns `text` with only its role value changed: frontmatter key `role`, else a `Role:` line, else a one-line `## Role` section; `None`: no such field, and one can't be added safely.
pub fn set_role(text: &str, role: &str) -> Option<String> {
    let value = Value::String(role.to_owned());
    if find_key(&frontmatter::parse(text).fields, "role").is_some() {
        return set_key(text, "role", &value);
    }
    if let Some(range) = role_line(text) {
        return Some([&text[..range.start], role, &text[range.end..]].concat());
    }
    let sections = change::sections(text);
    if let Some(section) = sections.iter().find(|s| is_role_heading(&s.heading)) {
        let content = &text[section.own.clone()];
        let core = content.trim();
        let one_line = !core.is_empty() && !core.contains('\n');
        return one_line.then(|| change::replace_section(text, &section.without_subsections(), role));
    }
    set_key(text, "role", &value)
}

/// Like [`set_role`], for an entry that shares its file: a `Role:` line or a one-line `Role` section of its own, else a new such section.
pub fn set_role_in(text: &str, part: &Part, role: &str) -> Option<String> {
    let is_role = |field: &&change::FieldLine| is_role_heading(&field.key);
    if let Some(field) = change::field_lines(text, &part.range).iter().find(is_role) {
        return change::set_line(text, field, role);
    }
    let sections = part.sections(text);
    let Some(section) = sections.iter().find(|s| is_role_heading(&s.heading)) else {
        return Some(part.add_section(text, "Role", role));
    };
    let core = text[section.own.clone()].trim();
    let one_line = !core.is_empty() && !core.contains('\n');
    one_line.then(|| change::replace_section(text, &section.without_subsections(), role))
}

/// Like [`current_role`], for an entry that shares its file.
pub fn current_role_in(text: &str, part: &Part) -> Option<String> {
    let fields = change::field_lines(text, &part.range);
    let line = fields.into_iter().find(|f| is_role_heading(&f.key)).map(|f| f.value);
    let section = || part.sections(text).into_iter().find(|s| is_role_heading(&s.heading)).map(|s| s.own);
    let role = text[line.or_else(section)?].trim();
    (!role.is_empty()).then(|| role.to_owned())
}

/// Returns the role that the file states now, where [`set_role`] would change it.
pub fn current_role(text: &str) -> Option<String> {
    let fields = frontmatter::parse(text).fields;
    if let Some(key) = find_key(&fields, "role") {
        return match &fields[key] {
            Value::String(role) => Some(role.clone()),
            Value::Null => None,
            other => Some(other.to_string()),
        };
    }
    if let Some(range) = role_line(text) {
        return Some(text[range].to_owned());
    }
    let sections = change::sections(text);
    let section = sections.iter().find(|s| is_role_heading(&s.heading))?;
    Some(text[section.own.clone()].trim().to_owned()).filter(|role| !role.is_empty())
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_lowercase).collect()
}

/// "Change Adrian's role to antagonist", "Role: antagonist", "narrative role"; not "explain her role in the Inquiry".
fn summary_is_about_role(summary: &str) -> bool {
    let words = words(summary);
    let about = |(i, _): (usize, &String)| {
        let before = &words[..i];
        let narrative = before.last().is_some_and(|w| w == "narrative" || w == "story");
        let after = words.get(i + 1).map(String::as_str);
        let field = matches!(
            after,
            None | Some("to" | "from" | "field" | "value" | "change" | "key" | "is" | "becomes")
        );
        let changed = before.iter().rev().take(5).any(|w| VERBS.contains(&w.as_str()));
        let leads = before.is_empty()
            && summary.trim_start().get(4..).is_some_and(|s| s.trim_start().starts_with(':'));
        narrative || leads || field && (changed || before.is_empty())
    };
    words.iter().enumerate().filter(|(_, w)| *w == "role").any(about)
}

/// Whether nothing but a Role field stands in the text.
fn is_only_a_role(markdown: &str) -> bool {
    let lines: Vec<&str> = meaningful_lines(markdown).collect();
    match lines[..] {
        [line] => role_value(line).is_some(),
        [heading, line] => is_role_heading(heading) && !line.starts_with('#'),
        _ => false,
    }
}

/// The lines that say something: no blank lines, no fences of code or frontmatter.
fn meaningful_lines(markdown: &str) -> impl Iterator<Item = &str> {
    markdown.lines().map(str::trim).filter(|l| {
        !l.is_empty() && !l.starts_with("```") && !l.starts_with("~~~") && *l != "---" && *l != "+++"
    })
}

fn is_role_heading(heading: &str) -> bool {
    let words = words(heading);
    matches!(
        words.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ["role"] | ["narrative" | "story", "role"]
    )
}

/// The value in the first `Role:` line of the body that stands outside of code.
fn role_line(text: &str) -> Option<Range<usize>> {
    let (mut at, mut in_code) = (frontmatter::split(text).body_start, false);
    for line in text.get(at..)?.split_inclusive('\n') {
        let fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        if fence {
            in_code = !in_code;
        } else if !in_code && let Some(value) = role_value(line) {
            return Some(at + value.start..at + value.end);
        }
        at += line.len();
    }
    None
}

/// Bytes of the value in `Role: value`, `- **Narrative role:** value`, `role = "value"` or `Role:: value`.
fn role_value(line: &str) -> Option<Range<usize>> {
    let mut rest = line.trim_start_matches(['\u{feff}', ' ', '\t']);
    for marker in ["- ", "* ", "+ "] {
        rest = rest.strip_prefix(marker).map_or(rest, str::trim_start);
    }
    rest = rest.trim_start_matches(['*', '_', '"']);
    for word in ["narrative ", "story "] {
        rest = after_word(rest, word).unwrap_or(rest);
    }
    rest = after_word(rest, "role")?.trim_start_matches(['*', '_', '"']).trim_start();
    rest = rest.strip_prefix("::").or_else(|| rest.strip_prefix(':')).or_else(|| rest.strip_prefix('='))?;
    rest = rest.trim_start_matches(['*', '_']).trim_start();
    let value = rest.trim_end();
    let start = line.len() - rest.len();
    (!value.is_empty()).then(|| start..start + value.len())
}

fn after_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (head, rest) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then_some(rest)
}

fn clean(value: &str) -> Option<String> {
    let value = value.split(" #").next().unwrap_or_default();
    let value = ["->", "=>", "\u{2192}"].iter().fold(value, |v, arrow| v.rsplit(arrow).next().unwrap_or(v));
    let value = value.trim().trim_start_matches("- ").trim_end_matches('.');
    let value = value
        .trim_matches(['"', '\'', '`', '*', '_', '\u{201c}', '\u{201d}', ','])
        .trim()
        .trim_end_matches('.');
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let fits = !value.is_empty() && value.chars().count() <= MAX_ROLE && !value.contains(char::is_control);
    fits.then_some(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_change_of_the_role_is_recognised_by_target_summary_or_text() {
        for (target, summary, text) in [
            ("Role", "", ""),
            ("## Narrative Role", "", ""),
            ("frontmatter.role", "", ""),
            ("role field", "", ""),
            ("Frontmatter / role", "", ""),
            ("Summary", "Change Adrian's role to antagonist", "Adrian is bad."),
            ("", "Role: antagonist", ""),
            ("Overview", "Update narrative role", ""),
            ("frontmatter", "", "---\nrole: antagonist\n---"),
            ("Overview", "", "## Role\n\nantagonist"),
        ] {
            assert!(is_role_change(target, summary, text), "{target:?} {summary:?} {text:?}");
        }
    }

    #[test]
    fn a_change_that_only_speaks_of_a_role_is_not_one() {
        for (target, summary, text) in [
            ("Backstory", "Explain her role in the Inquiry", "She was there."),
            ("Role in the crew", "Clarify duties", "Cook."),
            ("Appearance", "Update the scar", "Left hand."),
            (
                "Backstory",
                "Update the backstory with the part that she played",
                "Her role: none.\n\nMore text.",
            ),
        ] {
            assert!(!is_role_change(target, summary, text), "{target:?} {summary:?}");
        }
    }

    #[test]
    fn the_value_is_found_in_whatever_shape_it_was_sent() {
        for text in [
            "role: antagonist",
            "Role: \"antagonist\"",
            "- **Role:** antagonist",
            "**Narrative role**: antagonist",
            "Role:: antagonist",
            "## Role\n\nantagonist\n",
            "antagonist",
            "`antagonist`.",
            "protagonist -> antagonist",
            "---\ntype: character\nname: X\nrole: antagonist # now\n---\n\n# X\n\nAnd much more text.",
            "```yaml\nrole: antagonist\n```",
        ] {
            assert_eq!(proposed_role(text).as_deref(), Some("antagonist"), "{text:?}");
        }
        for text in
            ["", "# Adrian", "A long story of how he became what he is, and why, and when.", "a\nb", "role:"]
        {
            assert_eq!(proposed_role(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_the_value_changes_wherever_the_role_stands() {
        for (before, after) in [
            (
                "---\nname: A\nrole: \"protagonist\" # keep\n---\nRole: x\n",
                "---\nname: A\nrole: \"antagonist\" # keep\n---\nRole: x\n",
            ),
            (
                "# A\n\n- **Role:** protagonist  \r\n- Age: 5\r\n",
                "# A\n\n- **Role:** antagonist  \r\n- Age: 5\r\n",
            ),
            (
                "---\nname: A\n---\n```\nRole: code\n```\nRole:: hero\n",
                "---\nname: A\n---\n```\nRole: code\n```\nRole:: antagonist\n",
            ),
            ("# A\n\n## Role\n\nhero\n\n## B\n\nb\n", "# A\n\n## Role\n\nantagonist\n\n## B\n\nb\n"),
            ("---\nname: A\n---\n\n# A\n", "---\nname: A\nrole: antagonist\n---\n\n# A\n"),
        ] {
            assert_eq!(set_role(before, "antagonist").as_deref(), Some(after));
            assert_eq!(current_role(after).as_deref(), Some("antagonist"));
        }
    }

    #[test]
    fn an_entry_that_shares_its_file_keeps_its_role_to_itself() {
        let text = "---\nrole: none\n---\n# A\n\nRole: x\n\n# B\n\n- **Role:** y\n\n# C\n\n## Role\n\nz\n\n# D\n\nd\n";
        let part = |heading: &str| {
            let section = change::sections(text).into_iter().find(|s| s.heading == heading).unwrap();
            Part { range: section.content, level: 2 }
        };
        let set = |heading: &str| set_role_in(text, &part(heading), "ghost").unwrap();
        assert_eq!(set("A"), text.replace("Role: x", "Role: ghost"));
        assert_eq!(set("B"), text.replace("** y", "** ghost"));
        assert_eq!(set("C"), text.replace('z', "ghost"));
        assert_eq!(set("D"), format!("{text}\n## Role\n\nghost\n"));
        let now = |heading: &str| current_role_in(text, &part(heading));
        assert_eq!(
            [now("A"), now("B"), now("C"), now("D")].map(Option::unwrap_or_default),
            ["x", "y", "z", ""]
        );
    }

    #[test]
    fn a_role_section_of_several_lines_is_not_thrown_away() {
        assert_eq!(set_role("## Role\n\none\n\ntwo\n", "antagonist"), None);
    }

    proptest! {
        #[test]
        fn one_line_changes_and_no_other(
            role in "[a-z]{1,8}( [a-z]{1,8})?",
            quotes in prop_oneof![Just(""), Just("\""), Just("'")],
            crlf in any::<bool>(),
        ) {
            let text = format!("---\n# who\ntype: character\nrole: {quotes}old{quotes}  # keep\nborn: 2266-05-09\n---\n\n# A\n\ntext\n");
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            let changed = set_role(&text, &role).unwrap();
            let pairs: Vec<_> = text.split('\n').zip(changed.split('\n')).filter(|(a, b)| a != b).collect();
            prop_assert_eq!(text.split('\n').count(), changed.split('\n').count());
            prop_assert_eq!(pairs.len(), usize::from(role != "old"));
            prop_assert!(pairs.iter().all(|(_, b)| b.trim_end().ends_with("  # keep")));
        }

        #[test]
        fn nothing_panics(text in "\\PC{0,60}|(\\*|_|-|role|Role|:|#|\n| |é){0,20}") {
            is_role_change(&text, &text, &text);
            proposed_role(&text);
            set_role(&text, "hero");
            current_role(&text);
        }
    }
}
