//! YAML blocks.

use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{DuplicateKeyPolicy, Spanned};

use super::lines::{self, Segment};
use super::{Frontmatter, Problem};

/// Keys, values and items that one block may have, those that aliases repeat included.
const MAX_NODES: usize = 20_000;

/// Whether a block between `---` lines can be frontmatter at all, and is no prose between two thematic breaks.
pub(super) fn looks_like_keys(block: &str) -> bool {
    let is_key = |line: &str, words: usize| {
        line.match_indices(':').any(|(colon, _)| {
            let (key, rest) = (&line[..colon], &line[colon + 1..]);
            (rest.is_empty() || rest.starts_with(char::is_whitespace))
                && key.chars().count() <= 60
                && key.split_whitespace().count() <= words
        })
    };
    let mut written =
        block.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let opens_with_a_gap = block.lines().next().is_some_and(|line| line.trim().is_empty());
    if opens_with_a_gap {
        return written.next().is_none_or(|line| is_key(line, 1));
    }
    let mut written = written.peekable();
    written.peek().is_none() || written.any(|line| is_key(line, 4))
}

/// Reads the YAML in `block` of `text`.
pub(super) fn parse(text: &str, block: Range<usize>) -> Frontmatter {
    let source = &text[block.clone()];
    let broken = match read(source, DuplicateKeyPolicy::Error) {
        Ok(fields) => return Frontmatter { fields, problems: vec![] },
        Err(broken) => broken,
    };
    let segments = lines::segments(source, ':');
    let mut problems = lines::duplicates(text, block.start, &segments);
    if broken.twice
        && let Ok(fields) = read(source, DuplicateKeyPolicy::FirstWins)
    {
        if problems.is_empty() {
            problems.push(broken.problem(text, &block, "the first one counts"));
        }
        return Frontmatter { fields, problems };
    }
    if let Some(spaced) = indented_by_spaces(source)
        && let Ok(fields) = read(&spaced, DuplicateKeyPolicy::FirstWins)
    {
        let tab = source.find("\n\t").map_or(0, |newline| newline + 1);
        let message = "YAML is not indented by tabs; they were read as spaces";
        problems.insert(0, Problem::at(text, block.start + tab, message));
        return Frontmatter { fields, problems };
    }
    problems.insert(0, broken.problem(text, &block, "each key was read by itself"));
    Frontmatter { fields: lines::recover(&segments, segment), problems }
}

/// Reads one key by itself.
fn segment(segment: &Segment<'_>) -> Option<Value> {
    let spaced = indented_by_spaces(segment.text);
    let mut fields = read(spaced.as_deref().unwrap_or(segment.text), DuplicateKeyPolicy::FirstWins).ok()?;
    fields.shift_remove(segment.key)
}

/// Replaces the tabs at the start of lines by two spaces each; `None` if there are none.
fn indented_by_spaces(source: &str) -> Option<String> {
    if !source.starts_with('\t') && !source.contains("\n\t") {
        return None;
    }
    let mut spaced = String::with_capacity(source.len() + 16);
    for line in source.split_inclusive('\n') {
        let words = line.trim_start_matches('\t');
        spaced.push_str(&"  ".repeat(line.len() - words.len()));
        spaced.push_str(words);
    }
    Some(spaced)
}

/// Why a block could not be read.
struct Broken {
    /// Where, in characters from the start of the block.
    at: usize,
    message: String,
    /// A key stands twice.
    twice: bool,
}

impl Broken {
    fn of(error: &serde_saphyr::Error) -> Self {
        let at = error.location().map_or(0, |place| place.span().offset() as usize);
        let error = error.without_snippet();
        let mut message = error.to_string();
        // The place is told by the problem, counted from the start of the file.
        let end = [" at line ", "\n"].iter().filter_map(|mark| message.find(mark)).min();
        message.truncate(end.unwrap_or(message.len()));
        if message.starts_with("budget breached") {
            message = format!("the block has more than {MAX_NODES} values, those that it repeats included");
        }
        let twice = matches!(error, serde_saphyr::Error::DuplicateMappingKey { .. });
        Self { at, message, twice }
    }

    fn problem(self, text: &str, block: &Range<usize>, consequence: &str) -> Problem {
        let at =
            text[block.clone()].char_indices().nth(self.at).map_or(block.end, |(at, _)| block.start + at);
        Problem::at(text, at, format!("{}; {consequence}", self.message))
    }
}

fn read(source: &str, duplicate_keys: DuplicateKeyPolicy) -> Result<Map<String, Value>, Broken> {
    // Only `true` and `false` are truth values: the country NO is none. An author's block is small; a bomb of aliases is not.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        duplicate_keys: duplicate_keys,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_nodes: MAX_NODES, max_events: 4 * MAX_NODES }
    };
    let root: Spanned<Node> =
        serde_saphyr::from_str_with_options(source, options).map_err(|error| Broken::of(&error))?;
    match root.value {
        Node::Keys(keys) => Ok(keys.into_iter().map(|(key, node)| (key, value(source, node))).collect()),
        Node::Null => Ok(Map::new()),
        _ => Err(Broken {
            at: 0,
            message: "the frontmatter is no list of keys and values".to_owned(),
            twice: false,
        }),
    }
}

/// A YAML node as the parser gives it; the place of a scalar leads back to the author's spelling.
enum Node {
    Null,
    /// A number or truth value, as JSON would have it.
    Typed(Value),
    Text(String),
    List(Vec<Spanned<Node>>),
    Keys(Vec<(String, Spanned<Node>)>),
}

fn value(source: &str, node: Spanned<Node>) -> Value {
    let span = node.defined.span();
    let start = span.byte_offset().map(|at| at as usize);
    match node.value {
        Node::Null => Value::Null,
        Node::Typed(typed) => {
            let len = span.byte_len().map(|len| len as usize);
            let written = start.zip(len).and_then(|(at, len)| source.get(at..at + len)).map(str::trim);
            let shown = typed.to_string();
            written.filter(|written| *written != shown).map_or(typed, Value::from)
        }
        Node::Text(text) => Value::from(text),
        Node::List(mut items) => {
            // `[[Link]]` without quotes is, to YAML, a list in a list; to an author it is a link.
            if start.is_some_and(|at| source[source.floor_char_boundary(at)..].starts_with("[["))
                && let [Spanned { value: Node::List(inner), .. }] = &mut items[..]
                && let [Spanned { value: Node::Text(link), .. }] = &mut inner[..]
            {
                return Value::from(format!("[[{link}]]"));
            }
            items.into_iter().map(|item| value(source, item)).collect()
        }
        Node::Keys(keys) => {
            keys.into_iter().map(|(key, node)| (key, value(source, node))).collect::<Map<_, _>>().into()
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, v: bool) -> Result<Node, E> {
        Ok(Node::Typed(v.into()))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Node, E> {
        Ok(Node::Typed(v.into()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Node, E> {
        Ok(Node::Typed(v.into()))
    }

    fn visit_f64<E>(self, v: f64) -> Result<Node, E> {
        Ok(Node::Typed(Number::from_f64(v).map_or(Value::Null, Value::Number)))
    }

    fn visit_str<E>(self, v: &str) -> Result<Node, E> {
        Ok(Node::Text(v.to_owned()))
    }

    fn visit_string<E>(self, v: String) -> Result<Node, E> {
        Ok(Node::Text(v))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = vec![];
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut keys = vec![];
        while let Some((key, node)) = map.next_entry::<Option<String>, _>()? {
            let key = key.ok_or_else(|| serde::de::Error::custom("there is no key before this `:`"))?;
            keys.push((key, node));
        }
        Ok(Node::Keys(keys))
    }
}
