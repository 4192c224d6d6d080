//! Where a new entry, scene or note goes: beside its kind, named in the book's own style.
//!
//! A suggestion is always a path inside the book, that no file of the book has, in any letter case.

mod note;
mod scene;

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::BookPath;

pub use note::note;
pub use scene::{ScenePath, scene};

/// Longest file stem, in bytes: file systems end at 255.
const MAX_STEM: usize = 80;

/// File names whose folder names the entry.
const FOLDER_FILES: [&str; 3] = ["dossier", "index", "readme"];

/// Suggests a path inside the book for a new entry that no file of the book has yet. `folder_shape` asks for `<slug>/dossier.md`.
pub fn suggest(book: &Book, entry_type: EntryType, name: &str, folder_shape: bool) -> BookPath {
    let folder = folder_of(book, entry_type);
    let slug = Naming::of(book, entry_type).slug(name, entry_type.as_str());
    let taken = taken(book);
    let is_free = |stem: &str| {
        let path = format!("{folder}/{stem}").to_lowercase();
        if folder_shape {
            let below = format!("{path}/");
            !taken.range(below.clone()..).next().is_some_and(|t| t.starts_with(&below))
        } else {
            !taken.contains(&format!("{path}.md"))
        }
    };
    let numbered = (2_u32..).map(|n| format!("{slug}-{n}"));
    let stem = std::iter::once(slug.clone()).chain(numbered).find(|s| is_free(s)).unwrap_or(slug);
    let path =
        if folder_shape { format!("{folder}/{stem}/dossier.md") } else { format!("{folder}/{stem}.md") };
    BookPath::new(path).unwrap_or_else(|_| fallback(entry_type))
}

#[expect(clippy::expect_used, reason = "a constant path is one inside the book")]
fn fallback(entry_type: EntryType) -> BookPath {
    BookPath::new(format!("codex/{}/{entry_type}.md", entry_type.plural())).expect("constant")
}

/// Whether a file of the book is at `path`, in any letter case.
pub fn is_taken(book: &Book, path: &BookPath) -> bool {
    taken(book).contains(&path.as_str().to_lowercase())
}

/// Whether files of the book are in the folder `folder`, in any letter case.
pub fn has_files_below(book: &Book, folder: &str) -> bool {
    let below = format!("{}/", folder.to_lowercase());
    taken(book).range(below.clone()..).next().is_some_and(|t| t.starts_with(&below))
}

/// The first of `stem`, `stem-2`, `stem-3`, ... in `folder` that no file of the book has, whatever its extension.
fn free(book: &Book, folder: Option<&str>, stem: &str, extension: &str) -> Option<BookPath> {
    let stems: BTreeSet<String> = taken(book)
        .iter()
        .map(|path| path.rsplit_once('.').map_or(path.clone(), |(stem, _)| stem.to_owned()))
        .collect();
    let place = |stem: &str| folder.map_or_else(|| stem.to_owned(), |folder| format!("{folder}/{stem}"));
    let numbered = (2_u32..).map(|n| format!("{stem}-{n}"));
    let stem = std::iter::once(stem.to_owned())
        .chain(numbered)
        .find(|stem| !stems.contains(&place(stem).to_lowercase()))?;
    BookPath::new(format!("{}.{extension}", place(&stem))).ok()
}

fn extension(path: &BookPath) -> Option<&str> {
    path.file_name().rsplit_once('.').map(|(_, extension)| extension)
}

fn taken(book: &Book) -> BTreeSet<String> {
    let chapters = book.chapters.iter().map(|c| &c.path);
    let entries = book.entries.iter().map(|e| &e.path);
    let souls = book.entries.iter().filter_map(|e| e.soul.as_ref()).map(|s| &s.path);
    let notes = book.notes.iter().map(|n| &n.path);
    let all = chapters.chain(entries).chain(souls).chain(notes).chain(&book.others);
    all.map(|p| p.as_str().to_lowercase()).collect()
}

fn is_folder_shape(entry: &Entry) -> bool {
    FOLDER_FILES.contains(&entry.path.stem().to_lowercase().as_str())
}

/// The folder that holds an entry's file, or in the folder shape its folder; none for an entry in a file with others.
fn home(entry: &Entry) -> Option<&str> {
    if entry.heading.is_some() {
        return None;
    }
    let parent = entry.path.parent()?;
    if is_folder_shape(entry) { parent.rsplit_once('/').map(|(home, _)| home) } else { Some(parent) }
}

/// What stands for the entry's name in its path.
fn stem(entry: &Entry) -> &str {
    let folder = entry.path.parent().and_then(|p| p.rsplit('/').next());
    match folder {
        Some(folder) if is_folder_shape(entry) => folder,
        _ => entry.path.stem(),
    }
}

fn most_common<'a>(all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut counts = BTreeMap::<&str, usize>::new();
    for item in all {
        *counts.entry(item).or_default() += 1;
    }
    let most = counts.values().copied().max()?;
    counts
        .into_iter()
        .filter(|(_, n)| *n == most)
        .map(|(item, _)| item)
        .min_by_key(|item| (item.len(), *item))
}

fn folder_of(book: &Book, entry_type: EntryType) -> String {
    if let Some(folder) = most_common(book.entries_of(entry_type).filter_map(home)) {
        return folder.to_owned();
    }
    let typed = |entry: &Entry| {
        let (above, last) = home(entry)?.rsplit_once('/')?;
        let kind = entry.entry_type;
        let names = last.eq_ignore_ascii_case(kind.plural()) || last.eq_ignore_ascii_case(kind.as_str());
        names.then(|| (above.to_owned(), last.to_owned()))
    };
    let siblings: Vec<(String, String)> = book.entries.iter().filter_map(typed).collect();
    if let Some(above) = most_common(siblings.iter().map(|(above, _)| above.as_str())) {
        let capital = siblings.iter().all(|(_, last)| last.starts_with(char::is_uppercase));
        let plural = entry_type.plural();
        let last = if capital { capitalised(plural) } else { plural.to_owned() };
        return format!("{above}/{last}");
    }
    if let Some(flat) = most_common(book.entries.iter().filter_map(home)) {
        return flat.to_owned();
    }
    let lists = book.entries.iter().filter(|entry| entry.heading.is_some());
    if let Some(above) = most_common(lists.filter_map(|entry| entry.path.parent())) {
        return format!("{above}/{}", entry_type.plural());
    }
    let dir = book.settings.codex_dirs.iter().map(|d| d.trim_matches('/')).find(|d| BookPath::new(d).is_ok());
    format!("{}/{}", dir.unwrap_or("codex"), entry_type.plural())
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// How the files of a book are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Naming {
    separator: char,
    lower_case: bool,
    ascii: bool,
}

impl Naming {
    fn of(book: &Book, entry_type: EntryType) -> Self {
        let alone = |entry: &&Entry| entry.heading.is_none();
        let own: Vec<&str> = book.entries_of(entry_type).filter(alone).map(stem).collect();
        let all: Vec<&str> = book.entries.iter().filter(alone).map(stem).collect();
        Self::of_stems(&own, &all)
    }

    /// The style of `own` names or, where those do not tell, of `all`.
    fn of_stems(own: &[&str], all: &[&str]) -> Self {
        let stems = if own.is_empty() { all } else { own };
        let separators =
            |stems: &[&str]| most_common(stems.iter().filter_map(|s| separator(s))).map(str::to_owned);
        let found = separators(own).or_else(|| separators(all));
        let capitals = stems.iter().filter(|s| s.starts_with(char::is_uppercase)).count();
        Self {
            separator: found.and_then(|s| s.chars().next()).unwrap_or('-'),
            lower_case: stems.is_empty() || capitals * 2 <= stems.len(),
            ascii: all.iter().all(|s| s.is_ascii()),
        }
    }

    /// The name as the stem of a file; `fallback` where nothing of it can stand in one.
    fn slug(self, name: &str, fallback: &str) -> String {
        let spelled: String =
            if self.ascii { name.chars().flat_map(in_ascii).collect() } else { name.nfc().collect() };
        // An apostrophe is inside a word: "Mira's" is no two words.
        let spelled = spelled.replace(['\'', '\u{2019}', '\u{2bc}'], "");
        let mut slug = String::new();
        for word in
            spelled.split(|c: char| !c.is_alphanumeric() && !is_combining_mark(c)).filter(|w| !w.is_empty())
        {
            let word = if self.lower_case { word.to_lowercase() } else { capitalised(word) };
            if slug.len() + word.len() >= MAX_STEM {
                if slug.is_empty() {
                    slug.extend(
                        word.char_indices().take_while(|(i, c)| i + c.len_utf8() <= MAX_STEM).map(|(_, c)| c),
                    );
                }
                break;
            }
            if !slug.is_empty() {
                slug.push(self.separator);
            }
            slug.push_str(&word);
        }
        if slug.is_empty() {
            fallback.clone_into(&mut slug);
        }
        if is_refused_by_windows(&slug) || FOLDER_FILES.contains(&slug.to_lowercase().as_str()) {
            slug.push(self.separator);
            slug.push_str(fallback);
        }
        slug
    }
}

/// What stands between the words of a stem of several words.
fn separator(stem: &str) -> Option<&str> {
    let inner = stem.trim_matches(|c: char| !c.is_alphanumeric());
    let at = inner.find(['-', '_', ' '])?;
    inner.get(at..=at)
}

/// Letters without their marks; letters that have no ASCII form stay.
fn in_ascii(c: char) -> Vec<char> {
    let spelled = match c {
        'ø' => "o",
        'Ø' => "O",
        'æ' => "ae",
        'Æ' => "Ae",
        'œ' => "oe",
        'Œ' => "Oe",
        'ß' => "ss",
        'ł' => "l",
        'Ł' => "L",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'þ' => "th",
        'Þ' => "Th",
        'ı' => "i",
        _ => "",
    };
    if !spelled.is_empty() {
        return spelled.chars().collect();
    }
    let plain: Vec<char> = c.nfd().filter(|c| !is_combining_mark(*c)).collect();
    if plain.iter().all(char::is_ascii) { plain } else { vec![c] }
}

/// Names of devices: <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>
fn is_refused_by_windows(stem: &str) -> bool {
    let stem = stem.to_ascii_lowercase();
    let numbered = |device: &str| {
        // Superscript digits count as digits there.
        let mut number = stem.strip_prefix(device).unwrap_or_default().chars();
        let digit = number.next().is_some_and(|c| matches!(c, '1'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'));
        digit && number.next().is_none()
    };
    ["con", "prn", "aux", "nul"].contains(&stem.as_str()) || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::domain::codex::TypeFrom;

    fn book(paths: &[(&str, EntryType)]) -> Book {
        let entries = paths.iter().map(|(path, entry_type)| Entry {
            path: BookPath::new(path).unwrap(),
            entry_type: *entry_type,
            name: "X".into(),
            title: None,
            aliases: vec![],
            summary: String::new(),
            fields: serde_json::Map::new(),
            text: Arc::from(""),
            body: 0..0,
            heading: None,
            type_from: TypeFrom::Key("type".into()),
            soul: None,
            warnings: vec![],
        });
        Book { entries: entries.collect(), ..Book::default() }
    }

    use EntryType::{Character, Event, Location};

    #[test]
    fn a_new_entry_goes_where_entries_of_its_type_are_in_their_own_naming_style() {
        for (paths, entry_type, name, expected) in [
            (vec![], Character, "Adrian Vale", "codex/characters/adrian-vale.md"),
            (
                vec![("Story_Bible/Characters/Jon_Snow.md", Character)],
                Character,
                "Arya Stark",
                "Story_Bible/Characters/Arya_Stark.md",
            ),
            (
                vec![("Story_Bible/Characters/Jon_Snow.md", Character)],
                Location,
                "The Wall",
                "Story_Bible/Locations/The_Wall.md",
            ),
            (
                vec![("People/Jon Snow.md", Character), ("People/Arya Stark.md", Character)],
                Character,
                "Ned Stark",
                "People/Ned Stark.md",
            ),
            (
                vec![("codex/characters/a-b/dossier.md", Character), ("codex/locations/c.md", Location)],
                Event,
                "The Fall",
                "codex/events/the-fall.md",
            ),
            (vec![("Codex/jon.md", Character)], Event, "The Fall", "Codex/the-fall.md"),
            (
                vec![("codex/characters/ilse-sondergaard.md", Character)],
                Character,
                "Tōru Straße",
                "codex/characters/toru-strasse.md",
            ),
            (vec![("codex/characters/Søren.md", Character)], Character, "Tōru", "codex/characters/Tōru.md"),
        ] {
            assert_eq!(suggest(&book(&paths), entry_type, name, false).as_str(), expected);
        }
    }

    #[test]
    fn a_character_with_a_soul_gets_a_folder_beside_the_others() {
        let book = book(&[("codex/characters/adrian-vale/dossier.md", Character)]);
        assert_eq!(
            suggest(&book, Character, "Mira Okafor", true).as_str(),
            "codex/characters/mira-okafor/dossier.md"
        );
        assert_eq!(
            suggest(&book, Character, "Adrian Vale", true).as_str(),
            "codex/characters/adrian-vale-2/dossier.md"
        );
    }

    #[test]
    fn a_path_that_any_file_of_the_book_has_is_not_suggested() {
        let mut book =
            book(&[("codex/characters/Jon.md", Character), ("codex/characters/jon-2.md", Character)]);
        book.others.push(BookPath::new("codex/characters/jon-3.md").unwrap());
        assert_eq!(suggest(&book, Character, "jon", false).as_str(), "codex/characters/jon-4.md");
    }

    #[test]
    fn names_that_file_systems_refuse_are_made_safe() {
        let book = book(&[]);
        for (name, expected) in [
            ("../../etc/passwd", "etc-passwd"),
            ("C:\\x", "c-x"),
            ("CON", "con-character"),
            ("Com1", "com1-character"),
            ("LPT\u{b9}", "lpt\u{b9}-character"),
            ("???", "character"),
            ("", "character"),
            ("dossier", "dossier-character"),
            ("Mira\u{2019}s Fist", "miras-fist"),
            ("日本", "日本"),
        ] {
            assert_eq!(suggest(&book, Character, name, false).stem(), expected, "{name:?}");
        }
        assert!(suggest(&book, Character, &"é".repeat(500), false).file_name().len() < 100);
    }

    proptest! {
        #[test]
        fn a_suggestion_is_always_new_and_inside_the_book(name in "\\PC{0,120}|[a-c./\\\\: ]{0,8}", folder in any::<bool>(), other in "[a-c]{1,2}") {
            let mut book = book(&[]);
            for _ in 0..4 {
                let path = suggest(&book, Character, &name, folder);
                prop_assert!(path.as_str().starts_with("codex/characters/"));
                prop_assert!(!book.others.contains(&path));
                book.others.push(path);
                book.others.push(BookPath::new(format!("codex/characters/{other}.md")).unwrap());
            }
        }
    }
}
