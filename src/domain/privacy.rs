//! What an author keeps from AI: `ai: never` in a file's frontmatter, or the same as a Dataview field (`ai:: never`) anywhere in its text.
//!
//! [`is_marked`] is the one answer to the question whether a text has the mark; whoever has read the frontmatter already asks [`is_marked_with`].
//! A mark that can't be read as meant counts as one rather than not: a slip in a letter, a broken block, a key that stands twice.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag};
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use super::frontmatter::{self, Split, Syntax};
use super::ids::BookPath;
use super::nearness::similarity;

/// The key.
pub const KEY: &str = "ai";

/// The value that keeps a file from AI.
pub const NEVER: &str = "never";

/// Most bytes between the key of a Dataview field and the signs behind it, such as those of emphasis.
const NEAR: usize = 64;

/// Most bytes of a Dataview field's value that are looked at.
const FAR: usize = 256;

/// Longest word, in bytes, that may be a slip of [`NEVER`].
const LONGEST_SLIP: usize = 64;

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
    is_marked_with(text, &split, &fields)
}

/// The same as [`is_marked`], for a text whose frontmatter is read: where it is, and its keys under the names that the author gave them.
pub fn is_marked_with(text: &str, split: &Split, fields: &Map<String, Value>) -> bool {
    says_never(fields) || has_line(&text[..split.body_start]) || has_loose_line(text) || has_field(text)
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
        let sign = words.split_once([':', '=']);
        let Some((key, value)) = sign.or_else(|| words.split_once(' ').filter(|_| fences == 1)) else {
            // Prose, unless it stands in a block.
            if fences == 0 {
                return false;
            }
            continue;
        };
        let (key, value) = (bare(key), bare(before_comment(value)));
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

/// Whether a path is one of these folders and files of the settings, or below one of them. Case makes no difference.
///
/// Each is a path inside the book, with or without `/` in front. `*` stands for any letters of one part of a path, `?` for one letter, `**` for any parts; one that is
/// a single part with such a sign is looked for at every depth.
pub fn is_below(path: &BookPath, never: &[String]) -> bool {
    let path = plain(path.as_str());
    let mut patterns = never.iter().filter_map(|raw| pattern(raw).ok());
    patterns.any(|pattern| covers(&plain(&pattern), &path))
}

/// Returns what the settings name, as a path or pattern inside the book, `.` for all of it; the error says what is wrong with it, in words that follow its name.
pub fn pattern(raw: &str) -> Result<String, &'static str> {
    let raw = raw.trim().replace('\\', "/");
    if raw.is_empty() {
        return Err("names nothing");
    }
    if raw.starts_with('~') || raw.chars().nth(1) == Some(':') {
        return Err("is no path inside the book");
    }
    if raw.starts_with('!') {
        return Err("is an exception, and there are none");
    }
    if raw.len() > LONGEST || raw.chars().any(char::is_control) {
        return Err("is no path");
    }
    let mut parts: Vec<&str> = raw.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err("leads out of the book");
    }
    parts.dedup_by(|a, b| *a == "**" && *b == "**");
    // What is in a folder is the folder.
    while parts.last().is_some_and(|part| part.bytes().all(|b| b == b'*')) {
        parts.pop();
    }
    Ok(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}

/// Whether a name of the settings has signs that stand for others.
pub fn is_glob(name: &str) -> bool {
    name.contains(['*', '?'])
}

/// Longest name in the settings, in bytes.
const LONGEST: usize = 1024;

fn plain(path: &str) -> String {
    path.nfc().flat_map(char::to_lowercase).collect()
}

/// Whether a pattern is a path or a folder above it. Takes as many steps as both have parts, whatever stands in them.
fn covers(pattern: &str, path: &str) -> bool {
    if pattern == "." {
        return true;
    }
    let mut parts: Vec<&str> = pattern.split('/').collect();
    if parts.len() == 1 && is_glob(pattern) {
        parts.insert(0, "**");
    }
    let all = parts.len();
    // Which beginnings of the pattern are the path so far.
    let mut at = vec![false; all + 1];
    at[0] = true;
    let skip = |at: &mut Vec<bool>| {
        for part in 0..all {
            at[part + 1] |= at[part] && parts[part] == "**";
        }
    };
    skip(&mut at);
    for step in path.split('/') {
        let mut next = vec![false; all + 1];
        for part in (0..all).filter(|part| at[*part]) {
            if parts[part] == "**" {
                next[part] = true;
            } else if is_like(parts[part], step) {
                next[part + 1] = true;
            }
        }
        skip(&mut next);
        if next[all] {
            return true;
        }
        at = next;
    }
    false
}

/// Whether one part of a path is as a pattern says.
fn is_like(pattern: &str, part: &str) -> bool {
    let (pattern, part): (Vec<char>, Vec<char>) = (pattern.chars().collect(), part.chars().collect());
    let (mut p, mut t) = (0, 0);
    // Where to go on when what the last `*` stands for was too short.
    let mut star: Option<(usize, usize)> = None;
    while t < part.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == part[t] => (p, t) = (p + 1, t + 1),
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, t) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// Whether a line of a block says it, however broken the block is.
fn has_line(block: &str) -> bool {
    let pairs = block.lines().filter_map(|line| line.split_once([':', '=']).or_else(|| line.split_once(' ')));
    pairs.into_iter().any(|(key, value)| {
        let is_top = !key.starts_with([' ', '\t']) || key.trim_start().starts_with('"');
        is_top && is_key(&bare(key)) && is_never(&Value::String(bare(before_comment(value))))
    })
}

/// Whether a Dataview field says it: on a line of its own, or in brackets among other words. Code is none, and is shown as it stands.
fn has_field(text: &str) -> bool {
    let mut start = 0;
    let mut fields = vec![];
    for line in text.split_inclusive('\n') {
        fields.extend(fields_in(line.trim_end_matches(['\r', '\n'])).map(|at| start + at));
        start += line.len();
    }
    if fields.is_empty() {
        return false;
    }
    let code = code_of(text);
    let is_code = |at: &usize| {
        code.get(code.partition_point(|range| range.end <= *at)).is_some_and(|range| range.contains(at))
    };
    !fields.iter().all(is_code)
}

/// Where the two colons of fields that say it are in a line. Takes a step for each byte of it, however many fields there are: a line may be as long as a book.
fn fields_in(line: &str) -> impl Iterator<Item = usize> {
    let mut colons = line.match_indices("::").map(|(at, _)| at).peekable();
    // Signs and numbers of lists, quotations and comments, and the box of a task that is done, may stand before a field that is no part of a sentence.
    let words = || {
        let rest = unticked(line);
        line.len() - rest.len() + rest.find(char::is_alphabetic).unwrap_or(rest.len())
    };
    let words = if colons.peek().is_some() { words() } else { 0 };
    colons.filter(move |at| is_field(line, *at, words))
}

/// Whether the two colons at `at` belong to a field that says it, in a line whose words begin at `words`.
fn is_field(line: &str, at: usize, words: usize) -> bool {
    let near = line.get(line.floor_char_boundary(at.saturating_sub(NEAR))..at).unwrap_or_default();
    let key = near.trim_end_matches(|c: char| !c.is_alphanumeric());
    let Some(place) = key.len().checked_sub(KEY.len()).filter(|place| key.get(*place..).is_some_and(is_key))
    else {
        return false;
    };
    let place = at - near.len() + place;
    let value = line[at + "::".len()..].trim_start();
    let value = &value[..value.floor_char_boundary(FAR)];
    let opening = line[..place].trim_end_matches(['*', '_', '~', '=', ' ', '\t']).chars().last();
    let value = match opening {
        Some('[') => value.split(']').next().unwrap_or_default(),
        Some('(') => value.split(')').next().unwrap_or_default(),
        _ if place <= words => before_comment(value),
        _ => return false,
    };
    is_never(&Value::String(bare(value)))
}

/// A line without the box of a task that is done, and what stands before it.
fn unticked(line: &str) -> &str {
    let signs = line.trim_start_matches(|c: char| !c.is_alphabetic() && c != '[');
    let boxed = signs.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    boxed.filter(|(mark, _)| mark.chars().count() == 1).map_or(line, |(_, after)| after)
}

/// Where a text is code, in order: what stands between backticks of one line, and blocks between fences. One that is never closed is none, and neither is
/// what is only indented: a paragraph may be. Tildes alone may be the signs between two scenes.
fn code_of(text: &str) -> Vec<Range<usize>> {
    let is_code = |range: &Range<usize>, info: &str| {
        let block = text[range.clone()].trim_end();
        let last = block.rsplit_once('\n').map_or("", |(_, last)| last);
        let fence = last.trim_start_matches(|c: char| c.is_whitespace() || c == '>').trim_end();
        let sign = block.chars().next();
        let opening = block.chars().take_while(|c| Some(*c) == sign).count();
        let is_closed = fence.len() >= opening.max(3) && fence.chars().all(|c| Some(c) == sign);
        is_closed && (sign == Some('`') || !info.trim().is_empty())
    };
    let events = Parser::new(text).into_offset_iter();
    let code = events.filter(|(event, range)| match event {
        Event::Code(_) => !text[range.clone()].contains('\n'),
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => is_code(range, info),
        _ => false,
    });
    code.map(|(_, range)| range).collect()
}

/// A word without the signs around it.
fn bare(text: &str) -> String {
    text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// A value without the comment behind it.
fn before_comment(value: &str) -> &str {
    value.split('#').next().unwrap_or_default()
}

fn is_key(key: &str) -> bool {
    key.trim().eq_ignore_ascii_case(KEY)
}

/// `never`, a slip of it, and the other ways of saying no.
fn is_never(value: &Value) -> bool {
    match value {
        Value::Bool(allowed) => !allowed,
        Value::String(word) if word.trim().len() > LONGEST_SLIP => false,
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
            "---\nai never\n---\nText",
            "---\nname: Mira\nAI never\n---\nText",
            "\n---\nai never\n---\nText",
            "ai:: never\n\nText",
            "# Mira\n\nText.\n\nai:: never\n",
            "Text.\n\n- **AI**:: Never #mine\n",
            "> 1. ai:: never",
            "Some [ai:: never] text",
            "She flies (**ai**::never), and well.",
            "<!-- ai:: never -->",
            "    ai:: never\n",
            "```\nlet a = b::c;\n```\n\n[ai:: never]\n",
            "```\nnever closed\n\nai:: never\n",
            "A `sign`. [ai:: never] Another `sign`.",
            "`Twas a cold night.\nai:: never\nThe lamps, `tis said, went out.\n",
            "One.\n\n~~~\n\nTwo.\n\nai:: never\n\n~~~\n\nThree.\n",
            "One.\n\n~~~ * ~~~\n\nTwo.\n\nai:: never\n\n~~~ * ~~~\n",
            "One.\n\n~~~ text\n\nai:: never\n\nThe end ~~~\n",
            "One.\n\n```\n\nai:: never\n\nThe end ```\n",
            "One.\n\n~~~ text\n\nai:: never\n\n```\n",
            "One.\n\n```\n\nai:: never\n\n``` >\n",
            "One.\n\n````\n\nai:: never\n\n```\n",
            "- [ ] ai:: never\n",
            "- [x] ai:: never\n",
            "- [x] Some [ai:: never] text\n",
            "1. [x] **ai**:: never\n",
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
            "# One\n\nShe said: ai: never again.\n",
            "# One\n\nai never sleeps\n",
            "---\nai never sleeps\n---\n",
            "# One\n\nOf ai:: never a word.\n",
            "# One\n\nShe said ai:: never\n",
            "# One\n\nmidai:: never\n[mai:: never]\n",
            "ai:: always\n",
            "Some [ai:: maybe] never",
            "Write `ai:: never` or `[ai:: never]`.\n",
            "How to:\n\n```\nai:: never\n```\n",
            "- ~~~ md\n  [ai:: never]\n  ~~~\n",
            "- [x] She said ai:: never\n",
            "",
        ] {
            assert!(!is_marked(text), "{text:?}");
        }
    }

    fn covered(pattern: &str, path: &str) -> bool {
        is_below(&BookPath::new(path).unwrap(), &[pattern.to_owned()])
    }

    #[test]
    fn the_settings_name_folders_files_and_patterns() {
        for (pattern, path) in [
            ("notes", "notes/deep/a.md"),
            ("/notes", "notes/a.md"),
            ("/notes/", "Notes/a.md"),
            ("./notes/./private", "notes/private/a.md"),
            ("notes\\private", "notes/private/a.md"),
            ("notes/a.md", "notes/a.md"),
            ("codex/characters/*.md", "codex/characters/ruth.md"),
            ("codex/*/ruth.md", "codex/characters/ruth.md"),
            ("codex/**/ruth.md", "codex/ruth.md"),
            ("codex/**/ruth.md", "codex/a/b/ruth.md"),
            ("**/secret", "a/b/secret/c.md"),
            ("secret*", "notes/deep/secrets.md"),
            ("*.txt", "manuscript/1.txt"),
            ("notes/private/*", "notes/private/a.md"),
            ("notes/private/**", "notes/private/b/a.md"),
            ("ch?pter-1*", "manuscript/chapter-12.md"),
            ("notes/caf\u{e9}", "notes/cafe\u{301}/a.md"),
            ("notes/[mine]", "notes/[mine]/a.md"),
            (".", "a.md"),
            ("/", "a.md"),
            ("**", "a/b.md"),
            ("*", "a/b.md"),
        ] {
            assert!(covered(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("notes", "notes.md"),
            ("notes/private", "notes/privateer.md"),
            ("codex/*.md", "codex/characters/ruth.md"),
            ("codex/*/ruth.md", "codex/a/b/ruth.md"),
            ("secret", "notes/secret.md"),
            ("a?.md", "a.md"),
            ("../notes", "notes/a.md"),
            ("", "a.md"),
        ] {
            assert!(!covered(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_no_path_inside_the_book_is_refused() {
        for raw in ["", "  ", "../x", "a/../b", "~/notes", "C:/notes", "!notes", "a\nb", &"a".repeat(2000)] {
            assert!(pattern(raw).is_err(), "{raw:?}");
        }
    }

    #[test]
    fn a_line_that_is_made_to_be_slow_is_not() {
        for field in ["[ai:: x ", "ai:: x ", "--- ai::", "::", "ai::    ", "(ai:: \u{e9}"] {
            assert!(!is_marked(&field.repeat(200_000)), "{field}");
        }
        assert!(!is_marked(&"`[ai:: never]` ".repeat(50_000)));
        let slip = format!("---\nai: {}\n---\n", "never".repeat(200_000));
        assert!(!is_marked(&slip));
    }

    #[test]
    fn a_pattern_that_is_made_to_be_slow_is_not() {
        let parts = vec!["**/*a*a*a*"; 100].join("/");
        let path = vec!["aaaaaaaaa"; 100].join("/");
        assert!(!covers(&(parts + "/b"), &path));
    }

    proptest::proptest! {
        #[test]
        fn every_name_covers_itself_and_what_is_below_it(name in "[a-c?*]{1,4}(/[a-c?*]{1,4}){0,3}") {
            let name = BookPath::new(&name).unwrap();
            proptest::prop_assert!(covered(name.as_str(), name.as_str()));
            let child = BookPath::new(format!("{name}/below.md")).unwrap();
            proptest::prop_assert!(covered(name.as_str(), child.as_str()));
        }

        #[test]
        fn any_text_is_asked_without_harm(text in "(---|\\+\\+\\+|\\{)?\n?(ai|AI|é)?[:= ]{0,3}[a-z\"\\[\\]{}:=#\r\n\té]{0,40}\n?(---|\\+\\+\\+|\\})?") {
            let _ = is_marked(&text);
        }
    }
}
