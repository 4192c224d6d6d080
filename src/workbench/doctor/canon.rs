//! What was read as canon and why, what was not and why not.
//!
//! Sums up, so that a book with thousands of entries stays readable; the whole table is made only on demand.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::ids::BookPath;

/// The canon of a book.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Canon {
    /// How many entries there are.
    pub entries: usize,
    /// For each type that has entries, what gave it, most often first.
    pub types: Vec<OfType>,
    /// Files that hold many entries.
    pub lists: Vec<List>,
    /// Markdown files that are no canon, with the reason.
    pub not_canon: Vec<NotCanon>,
    /// Files among the chapters that are read as notes, with the reason.
    pub no_chapters: Vec<NotCanon>,
    /// Folders of many files that are read neither as canon nor as notes.
    pub unread: Vec<Unread>,
}

/// A folder of many files that are read as nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// Which.
    pub folder: String,
    /// How many Markdown files stand right in it.
    pub files: usize,
    /// What the author can do, as a sentence.
    pub hint: String,
}

/// Files of one folder from which on it looks as if they were meant to be read.
const MANY: usize = 5;

/// The entries of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OfType {
    /// Which.
    #[serde(rename = "type")]
    pub entry_type: EntryType,
    /// How many.
    pub count: usize,
    /// What said so, with how often: ``folder `people` ``, `file name`.
    pub from: Vec<(String, usize)>,
}

/// A file with many entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct List {
    /// Where.
    pub path: BookPath,
    /// How many.
    pub entries: usize,
}

/// A file that is no canon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NotCanon {
    /// Where.
    pub path: BookPath,
    /// Why, as a sentence; `None` where it was never looked at as canon.
    pub why: Option<String>,
}

/// One entry in the whole table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Its path, with its heading where the file holds many.
    pub address: String,
    /// Its type.
    #[serde(rename = "type")]
    pub entry_type: EntryType,
    /// Its name.
    pub name: String,
    /// What gave its type.
    pub from: String,
}

impl Canon {
    /// Sums a book up.
    pub fn of(book: &Book) -> Self {
        let mut lists: BTreeMap<&BookPath, usize> = BTreeMap::new();
        for entry in book.entries.iter().filter(|entry| entry.heading.is_some()) {
            *lists.entry(&entry.path).or_default() += 1;
        }
        let not_canon = book
            .others
            .iter()
            .map(|path| NotCanon { path: path.clone(), why: book.not_canon.get(path).cloned() });
        Self {
            entries: book.entries.len(),
            types: EntryType::ALL.into_iter().filter_map(|of| OfType::of(book, of)).collect(),
            lists: lists.into_iter().map(|(path, entries)| List { path: path.clone(), entries }).collect(),
            not_canon: not_canon.collect(),
            no_chapters: book
                .notes
                .iter()
                .filter_map(|note| Some((note, book.not_canon.get(&note.path)?)))
                .map(|(note, why)| NotCanon { path: note.path.clone(), why: Some(why.clone()) })
                .collect(),
            unread: unread(book),
        }
    }
}

/// Folders that hold many files of which nothing says what they are.
fn unread(book: &Book) -> Vec<Unread> {
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    for path in &book.others {
        let why = book.not_canon.get(path).map(String::as_str);
        // A reason of its own, such as a template's, needs no other folder.
        let is_unknown =
            why.is_none_or(|why| why.contains("`[codex] dirs`") || why.starts_with("no key, tag"));
        if let Some(folder) = path.parent().filter(|_| is_unknown) {
            *folders.entry(folder).or_default() += 1;
        }
    }
    folders.retain(|_, files| *files >= MANY);
    let is_set = !book.settings.codex_dirs.is_empty();
    let unread = folders.into_iter().map(|(folder, files)| {
        let name = folder.rsplit('/').next().unwrap_or(folder);
        let quoted = toml_edit::Key::new(name).to_string();
        let as_canon = if is_set {
            format!("name it in `[codex] dirs`, and give its files a type, such as `{quoted} = \"location\"` in `[codex.types]`")
        } else {
            format!("give its files a type, such as `{quoted} = \"location\"` in `[codex.types]`")
        };
        let hint = format!("is not read; if it is canon, {as_canon}; if it holds notes, name it in `[notes] dir`");
        Unread { folder: folder.to_owned(), files, hint }
    });
    unread.collect()
}

impl OfType {
    fn of(book: &Book, entry_type: EntryType) -> Option<Self> {
        let mut from: BTreeMap<String, usize> = BTreeMap::new();
        let mut count = 0;
        for entry in book.entries_of(entry_type) {
            count += 1;
            *from.entry(kind(&entry.type_from)).or_default() += 1;
        }
        let mut from: Vec<(String, usize)> = from.into_iter().collect();
        from.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        (count > 0).then_some(Self { entry_type, count, from })
    }
}

/// What gave a type, without what differs from file to file.
fn kind(from: &TypeFrom) -> String {
    match from {
        TypeFrom::File(_) => "file name".to_owned(),
        other => other.to_string(),
    }
}

/// Returns every entry with its type and what gave it, in the order of the files.
pub fn table(book: &Book) -> Vec<Taken> {
    let mut entries: Vec<&Entry> = book.entries.iter().collect();
    entries.sort_by_key(|entry| (&entry.path, entry.body.start));
    let taken = entries.into_iter().map(|entry| Taken {
        address: entry.address(),
        entry_type: entry.entry_type,
        name: entry.name.clone(),
        from: entry.type_from.to_string(),
    });
    taken.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_canon_is_summed_up_by_type_and_reason() {
        let vaults = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vaults");
        let canon = Canon::of(&crate::store::book::read(&vaults.join("one-file")).unwrap());
        assert_eq!(canon.entries, 7);
        let characters = &canon.types[0];
        assert_eq!((characters.entry_type, characters.count), (EntryType::Character, 3));
        assert_eq!(characters.from, [("heading `Characters`".to_owned(), 3)]);
        assert_eq!((canon.lists[0].path.as_str(), canon.lists[0].entries), ("bible.md", 7));
        let book = crate::store::book::read(&vaults.join("obsidian")).unwrap();
        let canon = Canon::of(&book);
        let template = canon.not_canon.iter().find(|n| n.path.as_str() == "Templates/Character.md").unwrap();
        assert_eq!(template.why.as_deref(), Some("it stands in a folder of templates"));
        assert_eq!(table(&book).len(), canon.entries);
    }

    #[test]
    fn a_folder_of_many_files_that_are_nothing_is_told_with_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: String, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        for n in 1..=6 {
            write(format!("manuscript/Chapter {n}.md"), "Text.");
            write(format!("Star Maps/{n}.md"), "# A map\n\nText.");
            write(format!("Templates/{n}.md"), "# A template\n\nText.");
        }
        write("manuscript/Outline.md".to_owned(), "Text.");
        write("Few/1.md".to_owned(), "Text.");
        let canon = |settings: &str| {
            std::fs::write(folder.path().join("scritorio.toml"), settings).unwrap();
            Canon::of(&crate::store::book::read(folder.path()).unwrap())
        };
        let found = canon("");
        let told: Vec<_> = found.unread.iter().map(|unread| (unread.folder.as_str(), unread.files)).collect();
        assert_eq!(told, [("Star Maps", 6)]);
        assert!(found.unread[0].hint.contains("`\"Star Maps\" = \"location\"` in `[codex.types]`"));
        assert_eq!(found.no_chapters[0].path.as_str(), "manuscript/Outline.md");
        // What the hint says helps.
        let mapped = canon("[codex.types]\n\"Star Maps\" = \"location\"\n");
        assert_eq!((mapped.unread.len(), mapped.entries), (0, 6));
        write("World/Places/lantern.md".to_owned(), "# Lantern");
        let set = canon("[codex]\ndirs = ['World']\n");
        assert!(set.unread[0].hint.contains("name it in `[codex] dirs`"), "{:?}", set.unread);
        let both = "[codex]\ndirs = ['World', 'Star Maps']\n[codex.types]\n\"Star Maps\" = \"location\"\n";
        assert_eq!((canon(both).unread.len(), canon(both).entries), (0, 7));
        assert!(canon("[notes]\ndir = 'Star Maps'\n").unread.is_empty());
    }
}
