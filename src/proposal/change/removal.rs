//! One frontmatter key, taken out with its line.
//!
//! The result is read again: if anything but the one key means something else than before, there is no result.

use serde_json::Value;

use super::key::{find_key, set_key};
use crate::domain::frontmatter::{self, Syntax};

/// The value of a key in JSON, which is not taken out of its object.
const ALLOWED: &str = "allowed";

/// Takes a frontmatter key that is one line out of a text; every other byte stays. A block that held nothing else goes with it. In a JSON object the key stays
/// and is `"allowed"`. `None`: there is no such key, or it can't be taken out safely.
pub fn remove_key(text: &str, key: &str) -> Option<String> {
    let split = frontmatter::split(text);
    let before = frontmatter::parse(text);
    let key = find_key(&before.fields, key)?;
    let separator = match split.syntax {
        Syntax::Yaml => ':',
        Syntax::Toml => '=',
        Syntax::Json => return set_key(text, key, &Value::from(ALLOWED)),
        Syntax::None => return None,
    };
    let block = text.get(split.block.clone())?;
    let is_it = |line: &str| {
        line.split_once(separator).is_some_and(|(k, _)| k.trim_end().trim_matches(['"', '\'']) == key)
    };
    let (mut at, mut found) = (split.block.start, None);
    let lines: Vec<&str> = block.split_inclusive('\n').collect();
    for (n, line) in lines.iter().enumerate() {
        if is_it(line) {
            let continues = lines.get(n + 1).is_some_and(|next| next.starts_with([' ', '\t', '-']));
            if continues || found.is_some() {
                return None;
            }
            found = Some(at..at + line.len());
        }
        at += line.len();
    }
    let line = found?;
    let rest = [&text[split.block.start..line.start], &text[line.end..split.block.end]].concat();
    let candidate = if rest.trim().is_empty() {
        // What the mark alone had brought: the block with the empty line below it.
        let body = &text[split.body_start..];
        let body = body.strip_prefix("\r\n").or_else(|| body.strip_prefix('\n')).unwrap_or(body);
        let bom = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        [bom, body].concat()
    } else {
        [&text[..line.start], &text[line.end..]].concat()
    };
    let after = frontmatter::parse(&candidate);
    let mut expected = before.fields.clone();
    expected.shift_remove(key);
    (after.fields == expected && after.problems.len() <= before.problems.len()).then_some(candidate)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_line_goes_and_every_other_byte_stays() {
        for (before, after) in [
            (
                "---\r\nname: Mira\r\nai: never  # mine\r\nage: 3\r\n---\r\nText",
                "---\r\nname: Mira\r\nage: 3\r\n---\r\nText",
            ),
            ("+++\nai = 'never'\nname = 'Mira'\n+++\nText", "+++\nname = 'Mira'\n+++\nText"),
            ("---\nai: never\n---\n\n# One\n", "# One\n"),
            ("\u{feff}---\nai: never\n---\n\n# One\n", "\u{feff}# One\n"),
            ("{\n \"ai\": \"never\"\n}\nText", "{\n \"ai\": \"allowed\"\n}\nText"),
        ] {
            assert_eq!(remove_key(before, "ai").as_deref(), Some(after), "{before:?}");
        }
    }

    #[test]
    fn what_is_set_and_taken_off_again_is_as_it_was() {
        for text in [
            "",
            "# One\n",
            "\u{feff}# One\r\n\r\nText\r\n",
            "---\nname: Mira\n---\nText",
            "+++\na = 1\n+++\n",
        ] {
            let set = set_key(text, "ai", &json!("never")).unwrap();
            assert_ne!(set, text);
            assert_eq!(remove_key(&set, "ai").as_deref(), Some(text), "{set:?}");
        }
    }

    #[test]
    fn what_can_not_be_taken_out_safely_stays() {
        for text in ["", "---\nname: x\n---\n", "---\nai:\n  - never\n---\n", "---\nai: never\nai: no\n---\n"]
        {
            assert_eq!(remove_key(text, "ai"), None, "{text:?}");
        }
    }
}
