//! Links between the files of a book, where an entry shows them: a slug (`[[ilse-sondergaard]]`) is shown as the name of the entry that it
//! leads to, and what a file embeds (`![[Jory - short]]`) counts for the summary.
//!
//! A circle of embeds ends where it closes, and a missing file shows nothing. The texts of the entries stay as they are on disk.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::canon::Piece;
use super::entry::{self, Facts, Fields};
use super::kind::{Renamed, Vocabulary};
use super::load::{self, Loaded};
use super::markup::Page;
use crate::domain::codex::Entry;
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::links::{self, Link, Targets};

/// Files within files are followed so far.
const MAX_DEPTH: usize = 8;

/// Bytes that one entry may embed.
const MAX_EMBEDDED: usize = 256 * 1024;

/// What links can lead to.
#[derive(Debug, Default)]
pub struct Known<'a> {
    targets: Targets,
    /// The name of the entry at a path; of a file with many the first.
    names: HashMap<BookPath, &'a str>,
    texts: HashMap<BookPath, &'a str>,
}

impl<'a> Known<'a> {
    /// Collects files with their texts, and entries with their names.
    pub fn of(
        texts: impl IntoIterator<Item = (&'a BookPath, &'a str)>,
        names: impl IntoIterator<Item = &'a Entry>,
    ) -> Self {
        let texts: HashMap<BookPath, &str> = texts.into_iter().map(|(p, t)| (p.clone(), t)).collect();
        let mut known = Self { targets: Targets::of(texts.keys()), names: HashMap::new(), texts };
        for entry in names {
            known.names.entry(entry.path.clone()).or_insert(&entry.name);
        }
        known
    }

    fn name(&self, link: &Link<'_>) -> Option<&'a str> {
        self.names.get(self.targets.find(link.target)?).copied()
    }

    /// Whether a link in a text is shown otherwise than it is written.
    fn changes(&self, text: &str) -> bool {
        links::links(text).iter().any(|link| {
            if link.is_embed {
                self.targets.find(link.target).is_some()
            } else {
                link.is_slug() && self.name(link).is_some()
            }
        })
    }

    /// Gives every slug the name of its entry as the words that it shows.
    fn named<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replaced(text, |link| {
            let name = self.name(link).filter(|_| link.is_slug() && !link.is_embed)?;
            let part = link.part.map(|part| format!("#{part}")).unwrap_or_default();
            Some(format!("[[{}{part}|{name}]]", link.target))
        })
    }

    /// Puts what a text embeds in its place.
    fn spelled_out<'t>(&self, text: &'t str, above: &mut Vec<BookPath>, left: &mut usize) -> Cow<'t, str> {
        if above.len() > MAX_DEPTH {
            return Cow::Borrowed(text);
        }
        replaced(text, |link| {
            let path = self.targets.find(link.target).filter(|_| link.is_embed)?;
            if above.contains(path) {
                return Some(String::new());
            }
            let whole = self.texts.get(path)?;
            let body = &whole[frontmatter::split(whole).body_start..];
            let shown = link.part.map_or(Some(body), |part| links::part_of(body, part))?;
            if shown.len() > *left {
                return Some(String::new());
            }
            *left -= shown.len();
            above.push(path.clone());
            let shown = self.spelled_out(shown, above, left).into_owned();
            above.pop();
            Some(shown)
        })
    }

    fn named_values(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(named) = self.named(text) {
                    *text = named;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.named_values(item)),
            Value::Object(map) => map.values_mut().for_each(|item| self.named_values(item)),
            _ => {}
        }
    }

    /// Reads an entry again with its links followed.
    fn read_again(&self, entry: &Entry, file: &Loaded, words: &Vocabulary) -> Facts {
        let named = self.named(entry.body());
        let page = Page::of(&named);
        let heading = entry.heading.as_deref();
        let fields = if heading.is_some() {
            Fields::of(&serde_json::Map::new(), &Renamed::default(), &page.lines, words)
        } else {
            let mut front = file.front.fields.clone();
            front.values_mut().for_each(|value| self.named_values(value));
            Fields::of(&front, &file.renamed, &page.lines, words)
        };
        let embeds = named.contains("![[") && !fields.gives_summary();
        let mut facts = match heading {
            Some(heading) => Facts::of_part(fields, &page, heading, entry.entry_type, words),
            None => Facts::of_file(fields, &page, &entry.path, entry.entry_type, words),
        };
        if embeds {
            let mut left = MAX_EMBEDDED;
            let whole = self.spelled_out(&named, &mut vec![entry.path.clone()], &mut left);
            if let Cow::Owned(whole) = &whole {
                facts.summary = entry::summary(&Page::of(whole), words);
            }
        }
        // A second heading of the same words has a number that is no part of its name.
        if heading.is_some() {
            facts.name.clone_from(&entry.name);
        }
        facts
    }

    /// The files that an entry embeds.
    fn embedded(&self, entry: &Entry) -> Vec<BookPath> {
        let all = links::links(entry.body()).into_iter().filter(|link| link.is_embed);
        all.filter_map(|link| self.targets.find(link.target).cloned()).collect()
    }
}

/// Replaces the links for which `with` has other words.
fn replaced(text: &str, mut with: impl FnMut(&Link<'_>) -> Option<String>) -> Cow<'_, str> {
    if !text.contains("[[") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut at) = (String::new(), 0);
    for link in links::links(text) {
        if let Some(new) = with(&link) {
            out.push_str(&text[at..link.range.start]);
            out.push_str(&new);
            at = link.range.end;
        }
    }
    if at == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// Whether a text has links that may be shown otherwise than they are written.
fn has_any(text: &str) -> bool {
    text.contains("[[") && links::links(text).iter().any(|link| link.is_embed || link.is_slug())
}

/// Follows the links of all entries among `pieces`. Returns the texts of files that are embedded and are nothing else in the book.
pub fn follow(pieces: &mut [Piece], words: &Vocabulary) -> BTreeMap<BookPath, Arc<str>> {
    let waiting: Vec<usize> = (0..pieces.len())
        .filter(|at| matches!(&pieces[*at], Piece::Canon(_, file) if has_any(&file.text)))
        .collect();
    if waiting.is_empty() {
        return BTreeMap::new();
    }
    let texts = pieces.iter().map(|piece| {
        let file = piece.file();
        (&file.path, &*file.text)
    });
    let entries = pieces.iter().flat_map(Piece::entries);
    let known = Known::of(texts, entries);
    // A link that leads nowhere, or to an entry called as it is written, changes nothing.
    let changes = |at: &usize| known.changes(&pieces[*at].file().text);
    let waiting: Vec<usize> =
        load::map(&waiting, |at| changes(at).then_some(*at)).into_iter().flatten().collect();
    let again = load::map(&waiting, |at| {
        let Piece::Canon(entries, file) = &pieces[*at] else { return (vec![], vec![]) };
        let facts: Vec<Facts> = entries.iter().map(|entry| known.read_again(entry, file, words)).collect();
        (facts, entries.iter().flat_map(|entry| known.embedded(entry)).collect::<Vec<_>>())
    });
    let wanted: std::collections::BTreeSet<&BookPath> =
        again.iter().flat_map(|(_, embedded)| embedded).collect();
    let others = pieces.iter().filter_map(|piece| match piece {
        Piece::Other(file, _) if wanted.contains(&file.path) => {
            Some((file.path.clone(), Arc::clone(&file.text)))
        }
        _ => None,
    });
    let others = others.collect();
    drop(known);
    for (at, (facts, _)) in waiting.into_iter().zip(again) {
        if let Piece::Canon(entries, _) = &mut pieces[at] {
            entries.iter_mut().zip(facts).for_each(|(entry, facts)| facts.into_entry(entry));
        }
    }
    others
}

/// Follows the links of the entries of one file in a book that is read already.
pub fn follow_in(book: &crate::domain::book::Book, entries: &mut [Entry], file: &Loaded, words: &Vocabulary) {
    if !has_any(&file.text) {
        return;
    }
    let texts = book.chapters.iter().map(|c| (&c.path, &*c.text));
    let texts = texts.chain(book.entries.iter().map(|e| (&e.path, &*e.text)));
    let texts = texts.chain(book.notes.iter().map(|n| (&n.path, &*n.text)));
    let texts = texts.chain(book.embedded.iter().map(|(path, text)| (path, &**text)));
    let known = Known::of(texts, &book.entries);
    for entry in entries {
        known.read_again(entry, file, words).into_entry(entry);
    }
}
