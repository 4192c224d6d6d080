//! The entries that links in a text lead to.
//!
//! Reads only. A link is never guessed: what is neither a name, title, file nor alias leads nowhere.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;

use super::lookup::Known;
use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::passage::fold;

/// Writes inline links to files, `[Mira](../people/mira.md)`, as wikilinks; links to the web stay as they are.
pub fn with_wikilinks(text: &str) -> Cow<'_, str> {
    if !text.contains("](") {
        return Cow::Borrowed(text);
    }
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(middle) = rest.find("](") {
        let end = rest[middle..].find(')').map(|at| middle + at);
        let open = rest[..middle].rfind('[');
        let (Some(open), Some(end)) = (open, end) else { break };
        let (shown, target) = (&rest[open + 1..middle], rest[middle + 2..end].trim());
        let page = target.trim_start_matches(['.', '/']).replace("%20", " ");
        out.push_str(&rest[..open]);
        let is_page = page.split('#').next().is_some_and(|page| page.to_lowercase().ends_with(".md"));
        if is_page && !target.contains("://") && !shown.contains([']', '|']) {
            out.push_str(&format!("[[{page}|{shown}]]"));
        } else {
            out.push_str(&rest[open..=end]);
        }
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    Cow::Owned(out)
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

    /// Returns the book.
    pub fn book(&self) -> &'a Book {
        self.book
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

    #[test]
    fn links_to_files_are_links_to_entries() {
        let table = [
            (
                "see [Mira](../people/mira%20o.md#Voice), [web](https://a.b/c.md)",
                "see [[people/mira o.md#Voice|Mira]], [web](https://a.b/c.md)",
            ),
            ("[a](b", "[a](b"),
            ("x](y.md)", "x](y.md)"),
            ("![é](é.md)", "![[é.md|é]]"),
        ];
        for (text, expected) in table {
            assert_eq!(with_wikilinks(text), expected);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_have_links_to_files(text in "(\\[|\\]|\\(|\\)|a|é|\\.md|/|://|#|\n){0,16}") {
            with_wikilinks(&text);
        }
    }
}
