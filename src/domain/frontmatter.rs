//! The block of keys before a Markdown text: YAML (`---`), TOML (`+++`) or JSON (`{`).
//!
//! Reading never fails and never hides the body: a broken block gives a problem with its place, and every key that can
//! be read by itself is kept. Nothing here writes; the bytes of a block are changed elsewhere.

mod json;
mod lines;
mod toml;
mod yaml;

use std::ops::Range;

use serde_json::{Map, Value};

use super::passage::line_column;

/// Which syntax a frontmatter block uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// There is no block.
    None,
    /// Between `---` lines.
    Yaml,
    /// Between `+++` lines.
    Toml,
    /// One JSON object.
    Json,
}

/// Where the frontmatter of a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Its syntax.
    pub syntax: Syntax,
    /// Bytes between the fences (for JSON: the object).
    pub block: Range<usize>,
    /// First byte of the body; behind a BOM where there is no block.
    pub body_start: usize,
}

/// What a frontmatter block says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frontmatter {
    /// Keys and values in file order. Of a key that stands twice the first value counts. A number or truth value that JSON would
    /// write differently (`007`, `1.10`, `True`) and a date are kept as text, as the author wrote them.
    pub fields: Map<String, Value>,
    /// What could not be read, with its place in the file.
    pub problems: Vec<Problem>,
}

/// A place in a file that could not be read as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the file, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    /// Notes a problem at a byte of `text`.
    pub fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = line_column(text, offset);
        Self { line, column, message: message.into() }
    }
}

/// Finds the frontmatter of `text` (a BOM before it is allowed). A block that is never closed is none, and neither is prose between two
/// thematic breaks.
pub fn split(text: &str) -> Split {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let none = Split { syntax: Syntax::None, block: start..start, body_start: start };
    let first = text[start..].lines().next().unwrap_or_default().trim_end();
    match first {
        "---" => fenced(text, start, Syntax::Yaml, &["---", "..."])
            .filter(|split| yaml::looks_like_keys(&text[split.block.clone()])),
        "+++" => fenced(text, start, Syntax::Toml, &["+++"]),
        _ if first.starts_with('{') => json::split(text, start),
        _ => None,
    }
    .unwrap_or(none)
}

fn fenced(text: &str, start: usize, syntax: Syntax, closing: &[&str]) -> Option<Split> {
    let mut lines = text[start..].split_inclusive('\n');
    let block_start = start + lines.next()?.len();
    let mut at = block_start;
    for line in lines {
        if closing.contains(&line.trim_end()) {
            return Some(Split { syntax, block: block_start..at, body_start: at + line.len() });
        }
        at += line.len();
    }
    None
}

/// Reads the frontmatter of `text`. Never fails: what can't be read becomes a problem, what can is kept.
pub fn parse(text: &str) -> Frontmatter {
    parse_split(text, &split(text))
}

/// Reads the frontmatter that [`split`] found in `text`.
pub fn parse_split(text: &str, split: &Split) -> Frontmatter {
    match split.syntax {
        Syntax::None => Frontmatter::default(),
        Syntax::Yaml => yaml::parse(text, split.block.clone()),
        Syntax::Toml => toml::parse(text, split.block.clone()),
        Syntax::Json => json::parse(text, split.block.clone()),
    }
}

/// Reads the keys of a block that is opened with `---` or `+++` and never closed: those up to the first empty line or heading. `None` if there is no
/// such block. For [`split`] it is text like any other, and its bytes stay part of the body.
pub fn parse_unclosed(text: &str) -> Option<Frontmatter> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut lines = text[start..].split_inclusive('\n');
    let opening = lines.next()?;
    let (separator, closing): (char, &[&str]) = match opening.trim_end() {
        "---" => (':', &["---", "..."]),
        "+++" => ('=', &["+++"]),
        _ => return None,
    };
    let block_start = start + opening.len();
    let rest = &text[block_start..];
    if rest.lines().any(|line| closing.contains(&line.trim_end())) {
        return None;
    }
    let length: usize =
        lines.take_while(|line| !line.trim().is_empty() && !line.starts_with('#')).map(str::len).sum();
    let block = block_start..block_start + length;
    let keys = lines::segments(&text[block.clone()], separator);
    // Prose below a thematic break has no keys at its left margin.
    if keys.first().is_none_or(|first| first.start > 0 || first.key.contains(char::is_whitespace)) {
        return None;
    }
    let mut read = if separator == ':' { yaml::parse(text, block) } else { toml::parse(text, block) };
    let fence = opening.trim_end();
    let message = format!(
        "the frontmatter is never closed; its keys were read up to the first empty line (a line `{fence}` ends it)"
    );
    read.problems = vec![Problem::at(text, start, message)];
    Some(read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fields(text: &str) -> Value {
        let read = parse(text);
        assert_eq!(read.problems, [], "{text:?}");
        Value::Object(read.fields)
    }

    fn body(text: &str) -> &str {
        &text[split(text).body_start..]
    }

    #[test]
    fn a_block_ends_where_its_fence_says() {
        assert_eq!(body("---\na: 1\n---\nBody"), "Body");
        assert_eq!(body("\u{feff}---\r\na: 1\r\n...\r\n\r\nBody"), "\r\nBody");
        assert_eq!(body("+++\na = 1\n+++  \nBody"), "Body");
        assert_eq!(body("---\n---\nBody"), "Body");
        assert_eq!(body("---\na: 1\n---"), "");
        assert_eq!(body("{\n \"a\": \"}\"\n}\n\nBody"), "\nBody");
    }

    #[test]
    fn what_only_looks_like_a_block_is_body() {
        for text in [
            "---\na: 1\nBody",
            "---\n\nIt was night.\n\n---\n\nShe said: no.",
            "---",
            "{a}",
            "{{x}} y",
            "text\n---\na: 1\n---\n",
            "",
        ] {
            assert_eq!(split(text).syntax, Syntax::None, "{text:?}");
            assert_eq!(body(text), text);
        }
        assert_eq!(body("\u{feff}Body"), "Body");
    }

    #[test]
    fn values_stay_as_the_author_wrote_them() {
        let text = "---\nname: Ilse\nage: 63\nid: 007\nheight: 1.80\nmass: 71.5\nborn: 2266-05-09\ncountry: NO\nalive: true\nopen: True\nshift: 0x1F\nnone:\ntilde: ~\nq: \"12\"\nlist: [a, 2, [b]]\nlink: [[Port Amity]]\nlinks:\n  - [[A|B]]\n  - \"[[C]]\"\nnested:\n  - from: 2307\n    what: |\n      two\n      lines\n---\n";
        assert_eq!(
            fields(text),
            json!({
                "name": "Ilse", "age": 63, "id": "007", "height": "1.80", "mass": 71.5, "born": "2266-05-09", "country": "NO",
                "alive": true, "open": "True", "shift": "0x1F", "none": null, "tilde": null, "q": "12", "list": ["a", 2, ["b"]],
                "link": "[[Port Amity]]", "links": ["[[A|B]]", "[[C]]"], "nested": [{"from": 2307, "what": "two\nlines\n"}],
            })
        );
        let order: Vec<_> = parse(text).fields.keys().take(4).cloned().collect();
        assert_eq!(order, ["name", "age", "id", "height"]);
        assert_eq!(fields(&text.replace('\n', "\r\n"))["age"], 63);
        assert_eq!(
            fields("---\na: &x [1, é]\nb: *x\nmü: 007\n---\n"),
            json!({"a": [1, "é"], "b": [1, "é"], "mü": "007"})
        );
    }

    #[test]
    fn toml_and_json_are_read_too() {
        assert_eq!(
            fields(
                "+++\nname = \"Ilse\"\nage = 63\nhex = 0x1F\nborn = 2266-05-09\naka = ['a', 'b']\n[x]\nb = 1.50\na = true\n+++\n"
            ),
            json!({"name": "Ilse", "age": 63, "hex": "0x1F", "born": "2266-05-09", "aka": ["a", "b"], "x": {"b": "1.50", "a": true}})
        );
        assert_eq!(fields("{\n\"name\": \"Ilse\", \"age\": 63}\nBody"), json!({"name": "Ilse", "age": 63}));
    }

    #[test]
    fn a_broken_block_keeps_what_can_be_read() {
        let table = [
            ("---\nname: \"Adrian\nrole: ally\n---\n", json!({"name": "Adrian", "role": "ally"})),
            (
                "---\nname: Mira\naliases: [A, B\nrole: ally\n---\n",
                json!({"name": "Mira", "aliases": "A, B", "role": "ally"}),
            ),
            (
                "---\nname: Mira\nsummary: brother: engineer\n---\n",
                json!({"name": "Mira", "summary": "brother: engineer"}),
            ),
            (
                "---\nname: Mira\nwords\naliases:\n  - A\n - @b\n---\n",
                json!({"name": "Mira", "aliases": ["A", "@b"]}),
            ),
            ("---\nname: Mira\n: x\nage: 3\n---\n", json!({"name": "Mira", "age": 3})),
            (
                "+++\nname = Mira\nage = 3\naka = [\n'x']\n+++\n",
                json!({"name": "Mira", "age": 3, "aka": ["x"]}),
            ),
            ("{\n  \"name\": \"Mira\",\n  \"age\": 3,\n}\n", json!({"name": "Mira", "age": 3})),
        ];
        for (text, expected) in table {
            let read = parse(text);
            assert_eq!(Value::Object(read.fields), expected, "{text:?}");
            assert!(!read.problems.is_empty(), "{text:?}");
            assert!(read.problems.iter().all(|p| !p.message.contains('\n')), "{:?}", read.problems);
        }
    }

    #[test]
    fn a_problem_has_its_place_in_the_file() {
        let place = |text: &str| parse(text).problems.first().map(|p| (p.line, p.column));
        assert_eq!(place("---\nname: Mira\nsummary: brother: engineer\n---\n"), Some((3, 17)));
        assert_eq!(place("---\na:a[\r][a\r\r%:\n---\n"), Some((2, 12)), "only a line feed ends a line");
        assert_eq!(place("+++\nname = \"Mira\"\nage = \n+++\n"), Some((3, 7)));
        assert_eq!(place("{\n \"é\": \"x\" y\n}\n"), Some((2, 11)));
    }

    #[test]
    fn of_a_key_that_stands_twice_the_first_counts() {
        for text in
            ["---\nname: A\nrole: x\nname: B\n---\n", "+++\nname = 'A'\nrole = 'x'\nname = 'B'\n+++\n"]
        {
            let read = parse(text);
            assert_eq!(Value::Object(read.fields), json!({"name": "A", "role": "x"}));
            assert_eq!(read.problems.len(), 1);
            assert_eq!(read.problems[0].line, 4, "{:?}", read.problems);
            assert!(read.problems[0].message.contains("name"), "{:?}", read.problems);
        }
    }

    #[test]
    fn tabs_are_read_as_spaces_with_a_warning() {
        let read = parse("---\nname: Mira\nborn:\n\tyear: 2281\n\tplace: Lantern\n---\n");
        assert_eq!(
            Value::Object(read.fields),
            json!({"name": "Mira", "born": {"year": 2281, "place": "Lantern"}})
        );
        assert_eq!(read.problems[0].line, 4);
    }

    #[test]
    fn a_block_that_is_never_closed_still_gives_its_keys() {
        let read = parse_unclosed("---\nname: Mira\nrole: pilot\n\n# Mira\nage: 3\n").unwrap();
        assert_eq!(Value::Object(read.fields), json!({"name": "Mira", "role": "pilot"}));
        assert_eq!((read.problems[0].line, read.problems[0].column), (1, 1));
        let read = parse_unclosed("\u{feff}+++\nname = 'Mira'\n").unwrap();
        assert_eq!(read.fields["name"], "Mira");
        for text in [
            "---\nIt was night, and she said: no.\n",
            "---\n\nname: Mira\n",
            "---\na: 1\n---\n",
            "a: 1",
            "---",
            "",
        ] {
            assert_eq!(parse_unclosed(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_hostile_block_ends_quickly() {
        let bomb = "---\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\ng: &g [*f,*f,*f,*f,*f,*f,*f,*f]\nname: Mira\n---\n";
        assert_eq!(parse(bomb).fields["name"], "Mira");
        let deep = format!("---\nname: Mira\nx: {}\n---\n", "[".repeat(5000));
        assert_eq!(parse(&deep).fields["name"], "Mira");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(---|\\+\\+\\+|\\{)\n[a-z:\\-\\[\\]{}\"'&*#|>%@!, =\t\r\n1é\u{feff}]{0,60}\n(---|\\+\\+\\+|\\})\n.{0,4}") {
            let split = split(&text);
            proptest::prop_assert!(text.get(split.block.clone()).is_some() && text.get(split.body_start..).is_some());
            let read = parse(&text);
            for problem in read.problems {
                proptest::prop_assert!(problem.line >= 1 && problem.line <= text.lines().count() + 1 && problem.column >= 1);
            }
        }
    }
}
