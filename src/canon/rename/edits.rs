//! What must be written where: the new words in the form of the old ones, and whole files with the chosen places changed.
//!
//! Only the words themselves are replaced: emphasis, line breaks and typography between them stay.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::forms::{Case, Forms, Segment, cased};
use super::regions::Region;
use super::scan::{Hit, Possessive};
use super::{Edit, Kind, Place, Rename};
use crate::domain::book::Book;
use crate::domain::frontmatter::{self, Syntax};
use crate::domain::ids::BookPath;

/// What a place needs.
pub(super) struct Made {
    pub edits: Vec<Edit>,
    /// Why it can't be written by a program.
    pub unsafe_because: Option<&'static str>,
}

pub(super) fn edits(text: &str, hit: &Hit, forms: &Forms, region: &Region) -> Made {
    let form = &forms.all[hit.form];
    let mut made = Made { edits: vec![], unsafe_because: None };
    let body_start = frontmatter::split(text).body_start;
    let in_front = hit.range.start < body_start;
    let mut before_end = hit.range.start;
    for (nth, (range, segment)) in hit.words.iter().enumerate() {
        let Some(Segment::Word { new, .. }) = form.segments.get(*segment) else { continue };
        let is_first = *segment == 0;
        let mut new = cased(new, hit.case, is_first);
        if form.article && nth == 0 {
            new = with_article(text, hit, region, in_front, &new);
        }
        if !in_front {
            new = apostrophes_of(text, &new);
        }
        if text[range.clone()].contains(['*', '~', '\\', '`']) {
            made.unsafe_because = Some("there are marks inside the word");
        }
        if new.is_empty() {
            // The space before goes with the word; a mark in it stays.
            let kept: String = text[before_end..range.start].chars().filter(|c| !c.is_whitespace()).collect();
            made.edits.push(Edit { range: before_end..range.end, text: kept });
        } else if new != text[range.clone()] {
            if matches!(region, Region::Target { .. }) && new.contains(['#', '^', '[', ']']) {
                made.unsafe_because = Some("the new name can't stand in a link");
            }
            if in_front {
                match in_keys(text, range, &new) {
                    Some(escaped) => new = escaped,
                    None => made.unsafe_because = Some("the new name would need quotation marks here"),
                }
            }
            made.edits.push(Edit { range: range.clone(), text: new });
        }
        before_end = range.end;
    }
    if let Some(Possessive::Bare(at)) = hit.possessive
        && let Some(last) = made.edits.last().filter(|edit| edit.range.end == hit.range.end)
        && !form.plural
        && !last.text.ends_with(['s', 'S', 'x', 'z'])
    {
        made.edits.push(Edit { range: at..at, text: "s".to_owned() });
    }
    made
}

/// Words after which a name needs no article of its own.
const HAVE_ONE: [&str; 14] =
    ["the", "a", "an", "this", "that", "his", "her", "my", "our", "your", "their", "its", "old", "new"];

/// The article that a new name brings along: small within a sentence, and none where there is one already, or in a list of names.
fn with_article(text: &str, hit: &Hit, region: &Region, in_front: bool, new: &str) -> String {
    let at = hit.range.start;
    let before = text[..at].trim_end_matches(['*', '_']);
    let word = before.trim_end().rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let has_one = before.ends_with(' ') && HAVE_ONE.contains(&word.to_lowercase().as_str());
    let is_alias = match region {
        Region::Aliases => true,
        Region::Field(key) => matches!(key.as_str(), "aliases" | "alias" | "aka"),
        _ => false,
    };
    let is_value = in_front && before.trim_end().ends_with(':');
    if has_one || is_alias {
        new.to_owned()
    } else if hit.case == Case::Upper {
        format!("THE {new}")
    } else if is_value
        || !matches!(region, Region::Prose | Region::Field(_))
        || super::doubt::starts_sentence(text, at)
    {
        format!("The {new}")
    } else {
        format!("the {new}")
    }
}

/// Writes an apostrophe as the text does.
fn apostrophes_of(text: &str, new: &str) -> String {
    if !new.contains(['\'', '\u{2019}']) {
        return new.to_owned();
    }
    let curly = text.matches('\u{2019}').count();
    let straight = text.matches('\'').count();
    match curly.cmp(&straight) {
        Ordering::Greater => new.replace('\'', "\u{2019}"),
        Ordering::Less => new.replace('\u{2019}', "'"),
        Ordering::Equal => new.to_owned(),
    }
}

/// How a value of the frontmatter is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Plain,
    Single,
    Double,
}

/// Writes words into a value of the frontmatter; `None` where they would mean something else there.
fn in_keys(text: &str, range: &Range<usize>, new: &str) -> Option<String> {
    let split = frontmatter::split(text);
    let quoting = match split.syntax {
        Syntax::Json => Quoting::Double,
        _ => quoting(text, split.block.start, range.start),
    };
    match quoting {
        Quoting::Double => Some(new.replace('\\', "\\\\").replace('"', "\\\"")),
        // A literal string of TOML has no way to hold an apostrophe.
        Quoting::Single if split.syntax == Syntax::Toml => (!new.contains('\'')).then(|| new.to_owned()),
        Quoting::Single => Some(new.replace('\'', "''")),
        Quoting::Plain => {
            let begins =
                text[..range.start].trim_end_matches([' ', '\t']).ends_with([':', '-', '[', ',', '\n']);
            let odd_start =
                begins && new.starts_with(['&', '*', '!', '>', '%', '@', '`', '"', '\'', '-', '?']);
            (!odd_start && !new.contains([':', '#', ',', '[', ']', '{', '}'])).then(|| new.to_owned())
        }
    }
}

/// Finds out how the value around a byte is quoted. Reads from the start of its key, since a quoted value may go over lines.
fn quoting(text: &str, block_start: usize, at: usize) -> Quoting {
    let mut start = block_start;
    let mut line_start = block_start;
    for line in text[block_start..at].split_inclusive('\n') {
        if !line.starts_with([' ', '\t', '-', '\r', '\n']) {
            start = line_start;
        }
        line_start += line.len();
    }
    let (mut quoting, mut before, mut escaped) = (Quoting::Plain, '\n', false);
    for c in text[start..at].chars() {
        match quoting {
            Quoting::Plain if matches!(before, ' ' | '\t' | '[' | ',' | '{' | '\n' | '=' | '(') => match c {
                '"' => quoting = Quoting::Double,
                '\'' => quoting = Quoting::Single,
                _ => {}
            },
            Quoting::Double if escaped => escaped = false,
            Quoting::Double if c == '\\' => escaped = true,
            Quoting::Double if c == '"' => quoting = Quoting::Plain,
            // A doubled apostrophe closes and opens again, which comes to the same.
            Quoting::Single if c == '\'' => quoting = Quoting::Plain,
            Quoting::Plain if before == '\'' && c == '\'' => quoting = Quoting::Single,
            _ => {}
        }
        before = c;
    }
    quoting
}

/// Returns the bytes that a place covers: the words that change, or all words where some of them go.
pub(super) fn span(hit: &Hit, edits: &[Edit]) -> Range<usize> {
    let (Some(first), Some(last)) = (edits.first(), edits.last()) else { return hit.range.clone() };
    let goes = first.text.is_empty() || !hit.words.iter().any(|(word, _)| word.start == first.range.start);
    let start = if goes { hit.range.start } else { first.range.start };
    start..last.range.end
}

/// Returns `text[span]` with the edits made, which lie in it.
pub(super) fn applied(text: &str, span: &Range<usize>, edits: &[Edit]) -> String {
    let mut out = String::new();
    let mut at = span.start;
    for edit in edits {
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..span.end]);
    out
}

/// A file with the chosen places changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub path: BookPath,
    /// Its text before; `None` for a new file.
    pub before: Option<String>,
    /// Its text after; `None` where it goes.
    pub after: Option<String>,
}

/// Makes the chosen places' changes, in the line ends of the files on disk. Returns the files that change, the first place's first, and ids of places that could not be changed without
/// breaking the frontmatter of their file.
#[expect(clippy::implicit_hasher, reason = "the one set of chosen places has the one hasher")]
pub fn file_edits(book: &Book, rename: &Rename, chosen: &HashSet<String>) -> (Vec<FileEdit>, Vec<String>) {
    let mut order: Vec<&BookPath> = vec![];
    let mut by_file: BTreeMap<&BookPath, Vec<&Place>> = BTreeMap::new();
    for place in rename.places.iter().filter(|p| chosen.contains(&p.id) && !p.by_hand) {
        if !by_file.contains_key(&place.path) {
            order.push(&place.path);
        }
        by_file.entry(&place.path).or_default().push(place);
    }
    let (mut files, mut refused) = (vec![], vec![]);
    for path in order {
        let Some((_, text)) = book.document(path) else { continue };
        let places = &by_file[path];
        let (after, broken) = rewritten(text, places);
        refused.extend(broken);
        let (before, after) = (book.as_on_disk(path, text), book.as_on_disk(path, &after));
        let moved = places.iter().find(|p| p.kind == Kind::File).and_then(|p| BookPath::new(&p.becomes).ok());
        match moved {
            Some(to) => {
                files.push(FileEdit { path: to, before: None, after: Some(after.into_owned()) });
                files.push(FileEdit { path: path.clone(), before: Some(before.into_owned()), after: None });
            }
            None if after != before => {
                files.push(FileEdit {
                    path: path.clone(),
                    before: Some(before.into_owned()),
                    after: Some(after.into_owned()),
                });
            }
            None => {}
        }
    }
    (files, refused)
}

/// Changes the places in a text. Where its frontmatter would be read with new problems, the places in it are left out and returned.
fn rewritten(text: &str, places: &[&Place]) -> (String, Vec<String>) {
    let all: Vec<&Edit> = places.iter().flat_map(|p| &p.edits).collect();
    let after = with_edits(text, all);
    let body_start = frontmatter::split(text).body_start;
    let in_front = |p: &&&Place| p.kind != Kind::File && p.range.start < body_start;
    let harmless = || {
        let (was, is) = (frontmatter::parse(text), frontmatter::parse(&after));
        is.problems.len() <= was.problems.len() && is.fields.keys().eq(was.fields.keys())
    };
    if !places.iter().any(|p| in_front(&p)) || harmless() {
        return (after, vec![]);
    }
    let refused = places.iter().filter(in_front).map(|p| p.id.clone()).collect();
    let kept = places.iter().filter(|p| !in_front(p)).flat_map(|p| &p.edits).collect();
    (with_edits(text, kept), refused)
}

fn with_edits(text: &str, mut edits: Vec<&Edit>) -> String {
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut out = String::with_capacity(text.len() + 64);
    let mut at = 0;
    for edit in edits {
        if edit.range.start < at {
            continue;
        }
        out.push_str(&text[at..edit.range.start]);
        out.push_str(&edit.text);
        at = edit.range.end;
    }
    out.push_str(&text[at..]);
    out
}
