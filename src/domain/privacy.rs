//! What an author keeps from AI: `ai: never` in a file's frontmatter.
//!
//! A mark that can't be read as meant counts as one rather than not: a slip in a letter, a broken block, a key that stands twice.

use serde_json::{Map, Value};

use super::frontmatter::{self, Syntax};
use super::ids::BookPath;
use super::nearness::similarity;

/// The key.
pub const KEY: &str = "ai";

/// The value that keeps a file from AI.
pub const NEVER: &str = "never";

/// Lines at the beginning of a file in which a mark is looked for that is not where it should be.
const MAX_HEAD: usize = 60;

/// How much a value must be like [`NEVER`] to be taken for a slip of it.
const SLIP: f64 = 0.75;

/// Whether a file's text says that AI never reads it.
pub fn is_marked(text: &str) -> bool {
    let split = frontmatter::split(text);
    let unclosed = || frontmatter::parse_unclosed(text).unwrap_or_default().fields;
    let fields = match split.syntax {
        Syntax::None => unclosed(),
        _ => frontmatter::parse_split(text, &split).fields,
    };
    says_never(&fields) || has_line(&text[..split.body_start]) || has_loose_line(text)
}

/// Whether the head of a file says it where a reader would see frontmatter and the syntax has none: below empty lines or a comment, between
/// fences of another length, without a space, under another key, or without fences.
fn has_loose_line(text: &str) -> bool {
    let mut fences = 0;
    for line in text.trim_start_matches('\u{feff}').lines().take(MAX_HEAD) {
        let words = line.trim();
        if words.is_empty() || words.starts_with("<!--") {
            continue;
        }
        if words.len() >= 3 && (words.bytes().all(|b| b == b'-') || words.bytes().all(|b| b == b'+')) {
            fences += 1;
            if fences == 2 {
                return false;
            }
            continue;
        }
        let Some((key, value)) = words.split_once([':', '=']) else {
            // Prose, unless it stands in a block.
            if fences == 0 {
                return false;
            }
            continue;
        };
        let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let (key, value) = (bare(key), bare(value.split('#').next().unwrap_or_default()));
        // Without fences it could be somebody who speaks: only the very words count.
        if key == KEY && value == NEVER || fences == 1 && is_key(&key) && is_never(&Value::String(value)) {
            return true;
        }
    }
    false
}

/// Whether keys that were read say it.
pub fn says_never(fields: &Map<String, Value>) -> bool {
    fields.iter().any(|(key, value)| is_key(key) && is_never(value))
}

/// Whether a path is one of these folders and files of the settings, or below one of them.
pub fn is_below(path: &BookPath, never: &[String]) -> bool {
    let path = path.as_str().to_lowercase();
    let below = |dir: &String| {
        // `Notes/Private/*` means the folder, too.
        let dir = dir.to_lowercase();
        let dir = dir.trim_end_matches(['*', '/']);
        dir == "."
            || dir.is_empty()
            || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    never.iter().any(below)
}

/// Whether a line of a block says it, however broken the block is.
pub(crate) fn has_line(block: &str) -> bool {
    block.lines().filter_map(|line| line.split_once([':', '='])).any(|(key, value)| {
        let bare = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
        let is_top = !key.starts_with([' ', '\t']) || key.trim_start().starts_with('"');
        let word = bare(value.split('#').next().unwrap_or_default());
        is_top && is_key(&bare(key)) && is_never(&Value::String(word))
    })
}

fn is_key(key: &str) -> bool {
    key.trim().eq_ignore_ascii_case(KEY)
}

/// `never`, a slip of it, and the other ways of saying no.
fn is_never(value: &Value) -> bool {
    match value {
        Value::Bool(allowed) => !allowed,
        Value::String(word) => {
            let word = word.trim().to_lowercase();
            ["no", "none", "off", "false", "private"].contains(&&*word) || similarity(&word, NEVER) >= SLIP
        }
        Value::Array(items) => items.iter().any(is_never),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_read_in_every_syntax_and_in_every_state_of_repair() {
        for text in [
            "---\nai: never\n---\nText",
            "\u{feff}---\r\nname: Mira\r\nAI: \"Never\"   # mine\r\n---\r\nText",
            "+++\nai = \"never\"\n+++\nText",
            "{\n \"name\": \"Mira\",\n \"ai\": \"never\"\n}\nText",
            "---\nai: never\nname: Mira\n\nNo end.",
            "---\nname: \"Mira\nai: never\naliases: [\n---\n",
            "---\nai: yes\nai: never\n---\n",
            "---\nai: nevr\n---\n",
            "---\nai: no\n---\n",
            "---\nai: false\n---\n",
            "---\nai: [never]\n---\n",
            "\n---\nai: never\n---\nText",
            "<!-- mine -->\n---\nai: never\n---\nText",
            "---\nname: Mira\nai:never\n---\nText",
            "----\nai: never\n----\nText",
            "---\ncast:\n  ai: never\n---\n",
            "ai: never\n\nText",
        ] {
            assert!(is_marked(text), "{text:?}");
        }
    }

    #[test]
    fn what_only_looks_like_the_mark_is_none() {
        for text in [
            "AI: Never!\n",
            "---\nai: yes\n---\nai: never\n",
            "---\nair: never\n---\n",
            "---\nname: never\n---\n",
            "---\nai: midjourney\n---\n",
            "---\nai:\n---\n",
            "Text\n\n---\nai: never\n---\n",
            "",
        ] {
            assert!(!is_marked(text), "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_asked_without_harm(text in "(---|\\+\\+\\+|\\{)?\n?(ai|AI|é)?[:= ]{0,3}[a-z\"\\[\\]{}:=#\r\n\té]{0,40}\n?(---|\\+\\+\\+|\\})?") {
            let _ = is_marked(&text);
        }
    }
}
