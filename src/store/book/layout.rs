//! Which folder of a book holds what.

use std::cmp::Ordering;

use super::kind::Vocabulary;
use super::parts;
use crate::domain::book::BookSettings;
use crate::domain::ids::BookPath;
use crate::domain::passage::fold;

/// Usual names of the manuscript folder, folded, the first that exists counts.
const MANUSCRIPT: [&str; 7] = ["manuscript", "manuscripts", "chapters", "scenes", "draft", "drafts", "text"];

/// Usual names of canon folders, folded; all that exist count, and so does every folder named like a type of entry.
const CODEX: [&str; 13] = [
    "codex",
    "story bible",
    "series bible",
    "book bible",
    "bible",
    "canon",
    "world",
    "worldbuilding",
    "world building",
    "wiki",
    "encyclopedia",
    "encyclopaedia",
    "compendium",
];

/// Which part of a book a file belongs to, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Zone {
    /// The manuscript folder.
    Manuscript,
    /// The book's own folder, where there is no manuscript folder: a chapter, unless it says that it is canon.
    Flat,
    /// A canon folder.
    Codex,
    /// The notes folder.
    Notes,
    /// Anywhere else: canon if it says so.
    Elsewhere,
}

/// The folders of one book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// `None`: the book's own folder, but not those in it; `.`: those, too.
    pub manuscript: Option<String>,
    codex: Vec<String>,
    /// The canon folders are those of the settings, and no others.
    codex_is_set: bool,
    notes: Option<String>,
}

impl Layout {
    /// Works the layout out from settings and the folders right inside the book; `is_folder` says whether one that the settings name is there. Gives a message for every folder that the settings name
    /// and that is not there, with that name.
    pub fn of(
        settings: &BookSettings,
        folders: &[String],
        is_folder: impl Fn(&str) -> bool,
    ) -> (Self, Vec<(String, String)>) {
        let mut missing = vec![];
        let mut existing = |dir: &String| {
            let exists = dir == "." || is_folder(dir);
            if !exists {
                let message = format!("there is no folder `{dir}`; the usual names are used instead");
                missing.push((dir.clone(), message));
            }
            exists
        };
        let usual = |known: &str| folders.iter().find(|name| bare(name) == known).cloned();
        let manuscript = settings
            .manuscript_dir
            .clone()
            .filter(&mut existing)
            .or_else(|| MANUSCRIPT.iter().find_map(|known| usual(known)));
        let notes = settings.notes_dir.clone().filter(&mut existing).or_else(|| usual("notes"));
        let mut codex: Vec<String> =
            settings.codex_dirs.iter().filter(|dir| existing(dir)).cloned().collect();
        let codex_is_set = !codex.is_empty();
        if !codex_is_set {
            codex = folders.iter().filter(|name| CODEX.contains(&bare(name).as_str())).cloned().collect();
        }
        (Self { manuscript, codex, codex_is_set, notes }, missing)
    }

    /// Says which part of the book a path belongs to: the deepest of the folders that hold it.
    pub fn zone(&self, path: &BookPath, words: &Vocabulary) -> Zone {
        let manuscript = self.manuscript.iter().filter(|dir| *dir != ".").map(|dir| (dir, Zone::Manuscript));
        let notes = self.notes.iter().map(|dir| (dir, Zone::Notes));
        let codex = self.codex.iter().map(|dir| (dir, Zone::Codex));
        let holding = manuscript.chain(notes).chain(codex).filter(|(dir, _)| holds(dir, path));
        holding.max_by_key(|(dir, _)| dir.len()).map_or_else(|| self.outside(path, words), |(_, zone)| zone)
    }

    fn outside(&self, path: &BookPath, words: &Vocabulary) -> Zone {
        let in_typed_folder =
            path.parent().is_some_and(|parent| parent.split('/').any(|name| words.folder(name).is_some()));
        if in_typed_folder && !self.codex_is_set {
            return Zone::Codex;
        }
        match self.manuscript.as_deref() {
            Some(".") => Zone::Flat,
            None if path.parent().is_none() => Zone::Flat,
            _ => Zone::Elsewhere,
        }
    }

    /// Whether the author's order of the manuscript names a file.
    pub fn names_in_order(&self, order: &[String], path: &BookPath) -> bool {
        order.iter().any(|named| is_named(named, path, self.manuscript.as_deref()))
    }

    /// Whether a path names a canon folder itself.
    pub fn is_codex(&self, dir: &str) -> bool {
        self.codex.iter().any(|codex| codex == dir)
    }

    /// Whether files outside the canon folders are canon when they say so.
    pub fn takes_canon_elsewhere(&self) -> bool {
        !self.codex_is_set
    }
}

/// A folder's name without a number or symbol in front, folded.
fn bare(name: &str) -> String {
    fold(name.trim_start_matches(|c: char| !c.is_alphabetic()))
}

fn holds(dir: &str, path: &BookPath) -> bool {
    dir == "." || path.as_str().strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a folder of this name holds a manuscript or canon, as far as a name can tell.
pub fn is_usual(name: &str) -> bool {
    let name = bare(name);
    MANUSCRIPT.contains(&name.as_str()) || CODEX.contains(&name.as_str())
}

/// Whether a folder of this name may stand inside a book.
pub fn may_be_in_book(name: &str) -> bool {
    is_usual(name) || bare(name) == "notes" || Vocabulary::default().folder(name).is_some()
}

/// Whether a file of this stem holds canon of all types: `bible`, `Story Bible`, `The Hollow Crown - Series Bible`.
pub fn is_bible(stem: &str) -> bool {
    let name = bare(stem);
    CODEX.contains(&name.as_str()) || name.ends_with(" bible")
}

/// Whether a folder of this name holds patterns for files to come, and no files.
pub fn is_for_templates(folder: &str) -> bool {
    matches!(bare(folder).as_str(), "template" | "templates")
}

/// Puts the chapters in reading order: those that the settings name first, then the others in natural order. Returns the names in `order` that no
/// chapter has.
pub fn sort_chapters<T>(
    chapters: &mut [T],
    dir: Option<&str>,
    order: &[String],
    path: impl Fn(&T) -> &BookPath,
) -> Vec<String> {
    let same = |named: &str, path: &BookPath| is_named(named, path, dir);
    let missing =
        order.iter().filter(|named| !chapters.iter().any(|c| same(named, path(c)))).cloned().collect();
    let place = |path: &BookPath| order.iter().position(|named| same(named, path)).unwrap_or(usize::MAX);
    chapters.sort_by_cached_key(|chapter| {
        let path = path(chapter);
        (place(path), NaturalKey::of(within(path, dir)))
    });
    missing
}

/// A path as the author names it: from the manuscript folder on.
fn within<'p>(path: &'p BookPath, dir: Option<&str>) -> &'p str {
    dir.and_then(|dir| path.as_str().strip_prefix(dir)?.strip_prefix('/')).unwrap_or(path.as_str())
}

/// Whether a name in the author's order means this file: its path, or that without its ending.
fn is_named(named: &str, path: &BookPath, dir: Option<&str>) -> bool {
    let inside = within(path, dir);
    let stem = inside.rsplit_once('.').map_or(inside, |(stem, _)| stem);
    let named = named.strip_prefix("./").unwrap_or(named);
    named == inside || named == stem || named == path.as_str()
}

/// A path that compares as a reader would: `2` before `10`, whatever the letter case, a prologue first and an epilogue last.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NaturalKey(Vec<(u8, String)>);

impl NaturalKey {
    fn of(path: &str) -> Self {
        Self(path.split('/').map(|part| (parts::rank(part), part.to_owned())).collect())
    }
}

impl Ord for NaturalKey {
    /// Compares part by part of the path: its rank, then numbers by value and the rest by letter.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_part = self.0.iter().zip(&other.0).map(|((rank, name), (other_rank, other_name))| {
            rank.cmp(other_rank).then_with(|| natural_part(name, other_name))
        });
        let differs = by_part.into_iter().find(|order| order.is_ne());
        differs.unwrap_or_else(|| self.0.len().cmp(&other.0.len())).then_with(|| self.0.cmp(&other.0))
    }
}

impl PartialOrd for NaturalKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn natural_part(mut left: &str, mut right: &str) -> Ordering {
    loop {
        let numbers = (digits(left), digits(right));
        let order = if numbers.0 > 0 && numbers.1 > 0 {
            let (value, other) =
                (left[..numbers.0].trim_start_matches('0'), right[..numbers.1].trim_start_matches('0'));
            (left, right) = (&left[numbers.0..], &right[numbers.1..]);
            value.len().cmp(&other.len()).then_with(|| value.cmp(other))
        } else {
            let (Some(letter), Some(other)) = (left.chars().next(), right.chars().next()) else {
                return left.len().cmp(&right.len());
            };
            (left, right) = (&left[letter.len_utf8()..], &right[other.len_utf8()..]);
            letter.to_lowercase().cmp(other.to_lowercase())
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_comes_before_ten() {
        let mut names = [
            "ch10.md",
            "ch2.md",
            "Ch1.md",
            "ch02b.md",
            "part 2/1.md",
            "part 10/1.md",
            "interlude.md",
            "1984.md",
            "ch1",
        ]
        .map(|name| BookPath::new(name).unwrap());
        assert!(sort_chapters(&mut names, None, &[], |p| p).is_empty());
        let sorted: Vec<_> = names.iter().map(BookPath::as_str).collect();
        assert_eq!(
            sorted,
            [
                "1984.md",
                "ch1",
                "Ch1.md",
                "ch2.md",
                "ch02b.md",
                "ch10.md",
                "interlude.md",
                "part 2/1.md",
                "part 10/1.md"
            ]
        );
    }

    #[test]
    fn a_prologue_comes_first_and_an_epilogue_last_unless_the_author_says_otherwise() {
        let given = [
            "Acknowledgements",
            "Chapter 1",
            "Chapter 10",
            "Chapter 2",
            "Epilogue",
            "Foreword",
            "Interlude",
            "Part 2/Chapter 1",
            "Part 2/Prologue",
            "Prologue",
        ];
        let sorted = |order: &[&str]| {
            let mut names = given.map(|name| BookPath::new(format!("m/{name}.md")).unwrap());
            let order: Vec<String> = order.iter().map(|name| (*name).to_owned()).collect();
            sort_chapters(&mut names, Some("m"), &order, |path| path);
            names.map(|path| path.as_str()[2..path.as_str().len() - 3].to_owned())
        };
        let usual = [
            "Foreword",
            "Prologue",
            "Chapter 1",
            "Chapter 2",
            "Chapter 10",
            "Interlude",
            "Part 2/Prologue",
            "Part 2/Chapter 1",
            "Epilogue",
            "Acknowledgements",
        ];
        assert_eq!(sorted(&[]), usual);
        let own = ["Chapter 1", "Epilogue", "Chapter 2", "Prologue"];
        assert_eq!(sorted(&own)[..4], own);
    }

    #[test]
    fn the_order_of_the_settings_comes_first() {
        let mut names =
            ["m/1.md", "m/2.md", "m/epilogue.md", "m/prologue.md"].map(|name| BookPath::new(name).unwrap());
        let order = ["prologue.md", "2", "./gone.md"].map(str::to_owned);
        assert_eq!(sort_chapters(&mut names, Some("m"), &order, |p| p), ["./gone.md"]);
        assert_eq!(names.map(|p| p.stem().to_owned()), ["prologue", "2", "1", "epilogue"]);
    }

    proptest::proptest! {
        #[test]
        fn the_order_is_total(a in "[abB0-2/é.]{0,6}", b in "[abB0-2/é.]{0,6}", c in "[abB0-2/é.]{0,6}") {
            let [a, b, c] = [a, b, c].map(|name| NaturalKey::of(&name));
            proptest::prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                proptest::prop_assert!(a <= c);
            }
        }
    }
}
