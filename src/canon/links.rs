//! Wikilinks as they stand in a text, and the entries that they lead to.
//!
//! Reads only. A link is never guessed: what is neither a name, title, file nor alias leads nowhere.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use super::lookup::Known;
use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::passage::fold;

/// `[[target#part|shown]]` in a text, as bytes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// All of it, brackets included.
    pub whole: Range<usize>,
    /// The page: name, file stem or path. Empty for a link within its own page.
    pub target: Range<usize>,
    /// The heading behind `#`.
    pub part: Option<Range<usize>>,
    /// What is shown instead.
    pub shown: Option<Range<usize>>,
}

/// Returns the wikilinks and embeds of `text`, in order.
pub fn wikilinks(text: &str) -> Vec<Link> {
    let mut found = vec![];
    let mut from = 0;
    while let Some(open) = text[from..].find("[[").map(|at| from + at) {
        let inner = open + 2;
        let Some(close) = text[inner..].find("]]").map(|at| inner + at) else { break };
        let words = &text[inner..close];
        // `[[[x]]` opens at its last brackets, and no link spans lines.
        if words.contains(['[', '\n']) {
            from = open + 1;
            continue;
        }
        found.push(link(text, open, inner..close));
        from = close + 2;
    }
    found
}

fn link(text: &str, open: usize, inner: Range<usize>) -> Link {
    let words = &text[inner.clone()];
    let (page_end, shown) = match words.find('|') {
        // In a table the bar is escaped.
        Some(bar) => (
            inner.start + words[..bar].trim_end_matches('\\').len(),
            Some(trimmed(text, inner.start + bar + 1..inner.end)),
        ),
        None => (inner.end, None),
    };
    let page = &text[inner.start..page_end];
    let hash = page.find(['#', '^']);
    let target = trimmed(text, inner.start..hash.map_or(page_end, |at| inner.start + at));
    let part = hash.map(|at| trimmed(text, inner.start + at + 1..page_end));
    Link { whole: open..inner.end + 2, target, part, shown }
}

/// Leaves the white space at both ends of a range out.
pub(super) fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let words = &text[range.clone()];
    let start = range.start + (words.len() - words.trim_start().len());
    start..(start + words.trim().len())
}

/// Who bears which name, for many questions about one book: each is answered once.
pub struct Directory<'a> {
    book: &'a Book,
    known: Known,
    answered: RefCell<HashMap<String, Option<usize>>>,
}

impl<'a> Directory<'a> {
    /// Takes the names of a book.
    pub fn of(book: &'a Book) -> Self {
        Self { book, known: Known::of(book), answered: RefCell::default() }
    }

    /// Returns the place in [`Book::entries`] of the entry that `target`, with the heading behind `#`, leads to.
    pub fn resolve(&self, target: &str, part: Option<&str>) -> Option<usize> {
        let page = target.trim().trim_end_matches('\\');
        let page = page.strip_suffix(".md").unwrap_or(page);
        let in_file = |entry: &Entry| {
            let path = entry.path.as_str();
            let path = path.strip_suffix(".md").unwrap_or(path).to_lowercase();
            !page.is_empty()
                && path.strip_suffix(&page.to_lowercase()).is_some_and(|r| r.is_empty() || r.ends_with('/'))
        };
        if let Some(part) = part.map(fold).filter(|p| !p.is_empty()) {
            let bears = |e: &Entry| e.heading.as_deref().is_some_and(|h| fold(h) == part);
            let by_heading =
                self.book.entries.iter().position(|e| bears(e) && (page.is_empty() || in_file(e)));
            if by_heading.is_some() {
                return by_heading;
            }
        }
        if page.contains('/')
            && let Some(at) = self.book.entries.iter().position(|e| e.heading.is_none() && in_file(e))
        {
            return Some(at);
        }
        let mut parts = page.rsplit('/');
        let last = parts.next().unwrap_or(page);
        let is_main = matches!(fold(last).as_str(), "dossier" | "index" | "readme" | "soul");
        self.named(if is_main { parts.next().unwrap_or(last) } else { last })
    }

    /// Returns the place of the entry that bears `name` as its name, title, file stem or alias; never for a part of a name.
    pub fn named(&self, name: &str) -> Option<usize> {
        if let Some(known) = self.answered.borrow().get(name) {
            return *known;
        }
        let place = self.known.bearer(self.book, name);
        self.answered.borrow_mut().insert(name.to_owned(), place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, book, entry};

    #[test]
    fn a_link_is_taken_apart() {
        let text = "see ![[people/mira#Voice|her voice]], [[ Mira ]] and [[a\\|b]]; not [[x\n]] [[[y]]";
        let links = wikilinks(text);
        let parts: Vec<_> = links
            .iter()
            .map(|l| {
                (&text[l.target.clone()], l.part.clone().map(|r| &text[r]), l.shown.clone().map(|r| &text[r]))
            })
            .collect();
        assert_eq!(
            parts,
            [
                ("people/mira", Some("Voice"), Some("her voice")),
                ("Mira", None, None),
                ("a", None, Some("b")),
                ("y", None, None),
            ]
        );
    }

    #[test]
    fn a_target_is_a_name_a_stem_a_path_or_a_heading() {
        let mut many = entry("characters/people.md", "Juno Pask");
        many.heading = Some("Juno Pask".into());
        let book = book(vec![
            entry("characters/mira-okafor/dossier.md", "Mira Okafor").aliases(&["Miss Okafor"]),
            entry("locations/mira.md", "Mira Station"),
            many,
        ]);
        let table = [
            ("Mira Okafor", None, Some(0)),
            ("mira-okafor", None, Some(0)),
            ("characters/mira-okafor/dossier.md", None, Some(0)),
            ("mira-okafor/dossier", None, Some(0)),
            ("locations/mira", None, Some(1)),
            ("people", Some("juno pask"), Some(2)),
            ("Okafor", None, None),
            ("nobody", None, None),
            ("", None, None),
        ];
        for (target, part, expected) in table {
            assert_eq!(Directory::of(&book).resolve(target, part), expected, "{target}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_links_within_it(text in "(\\[\\[|\\]\\]|\\||#|a|é| |\n|\\\\|/){0,16}") {
            for link in wikilinks(&text) {
                proptest::prop_assert!(text.get(link.target.clone()).is_some() && text.get(link.whole.clone()).is_some());
                proptest::prop_assert!(link.shown.is_none_or(|r| text.get(r).is_some()));
            }
        }
    }
}
