//! How a book links its entries: `[[Mira Okafor]]`, `[[mira-okafor|Mira Okafor]]`, or by the plain name.

use crate::domain::book::Book;
use crate::domain::codex::Entry;

/// The habit of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Links {
    Plain,
    ByName,
    ByFile,
}

impl Links {
    /// Reads the habit off the links that stand in the Codex and the notes.
    pub(super) fn of(book: &Book) -> Self {
        let (mut by_name, mut by_file, mut other) = (0, 0, 0);
        let texts = book.entries.iter().map(|e| &*e.text).chain(book.notes.iter().map(|n| &*n.text));
        for target in texts.flat_map(targets) {
            // A file's name in the small letters and dashes of a path is another habit than the name itself.
            let target = target.to_lowercase();
            if book.entries.iter().any(|e| e.name.to_lowercase() == target) {
                by_name += 1;
            } else if book.entries.iter().any(|e| stem(e).to_lowercase() == target) {
                by_file += 1;
            } else {
                other += 1;
            }
        }
        match () {
            () if by_name + by_file + other == 0 => Self::Plain,
            () if by_file > by_name => Self::ByFile,
            () => Self::ByName,
        }
    }

    /// Writes a link to an entry.
    pub(super) fn link(self, entry: &Entry) -> String {
        let name = &entry.name;
        let breaks = |text: &str| text.contains(['[', ']', '|', '#', '^']);
        match self {
            Self::ByFile
                if entry.heading.is_none()
                    && stem(entry) != name
                    && !breaks(stem(entry))
                    && !breaks(name) =>
            {
                format!("[[{}|{name}]]", stem(entry))
            }
            Self::ByName | Self::ByFile if !breaks(name) => format!("[[{name}]]"),
            _ => name.clone(),
        }
    }
}

/// What names an entry's file: of a folder's main file the folder.
pub(super) fn stem(entry: &Entry) -> &str {
    let stem = entry.path.stem();
    let of_folder =
        ["dossier", "index", "_index", "readme"].iter().any(|name| stem.eq_ignore_ascii_case(name));
    let folder = entry.path.parent().and_then(|p| p.rsplit('/').next());
    folder.filter(|_| of_folder).unwrap_or(stem)
}

/// The targets of all wikilinks in a text.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("[[").filter_map(|(at, _)| {
        let inner = &text[at + 2..];
        let inner = &inner[..inner.find("]]")?];
        let target = inner.split(['|', '#']).next()?.trim_end_matches('\\');
        (!inner.contains('\n')).then(|| target.rsplit('/').next().unwrap_or(target).trim())
    })
}
