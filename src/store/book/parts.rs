//! What the name of a file says about its place in the manuscript: before the first chapter, behind the last one, or no part of it at all.
//!
//! Only names that are clear by themselves count. A number in a name, or the order that the author sets, is stronger than all of this.

use std::collections::HashSet;

use super::chapter;
use super::layout::{Layout, Zone};
use crate::domain::ids::BookPath;
use crate::domain::passage::fold;

/// What stands before the first chapter, folded, in its usual order; words in a row mean the same.
const FRONT: [&[&str]; 8] = [
    &["title page", "half title"],
    &["copyright", "copyright page"],
    &["dedication", "widmung"],
    &["epigraph", "motto"],
    &["foreword", "vorwort", "avant propos", "prefazione"],
    &["preface", "preambule", "prefacio"],
    &["introduction", "intro", "einleitung", "introduzione", "introduccion"],
    &["prologue", "prolog", "prologo"],
];

/// What stands behind the last chapter.
const BACK: [&[&str]; 6] = [
    &["epilogue", "epilog", "epilogo"],
    &["afterword", "nachwort", "postface", "postfazione"],
    &["author's note", "authors note"],
    &[
        "acknowledgements",
        "acknowledgments",
        "acknowledgement",
        "danksagung",
        "remerciements",
        "ringraziamenti",
    ],
    &["glossary", "glossar"],
    &["about the author", "about author"],
];

/// The place among its neighbours of what has no place by name: behind all of [`FRONT`].
const BETWEEN: u8 = FRONT.len() as u8;

/// Names that no chapter has beside others that are called chapters, folded.
const NO_CHAPTERS: [&str; 38] = [
    "beat sheet",
    "brainstorm",
    "brainstorming",
    "changelog",
    "chapter list",
    "chapter outline",
    "character list",
    "contributing",
    "cut scenes",
    "deleted scenes",
    "editing notes",
    "gliederung",
    "ideas",
    "license",
    "licence",
    "my notes",
    "note to self",
    "notes",
    "notes to self",
    "notizen",
    "novel outline",
    "outline",
    "outlines",
    "plot outline",
    "read me",
    "readme",
    "research notes",
    "revision notes",
    "scene list",
    "scene notes",
    "story outline",
    "style guide",
    "style sheet",
    "synopsis",
    "to do",
    "to do list",
    "todo",
    "todo list",
];

/// Files that are surely chapters, below a folder, from which on another one there may be none.
const ENOUGH: usize = 2;

/// Returns the place of a file or folder of this name among its neighbours; the same for all that have none.
pub fn rank(name: &str) -> u8 {
    let stem = ["md", "markdown", "txt"].iter().find_map(|extension| {
        let (stem, given) = name.rsplit_once('.')?;
        given.eq_ignore_ascii_case(extension).then_some(stem)
    });
    let folded = fold(stem.unwrap_or(name));
    let at =
        |table: &[&[&str]]| table.iter().position(|words| words.iter().any(|word| is_named(&folded, word)));
    let place = at(&FRONT).or_else(|| at(&BACK).map(|place| FRONT.len() + 1 + place));
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(BETWEEN)
}

/// Whether a folded name is a word, with nothing or a title of its own behind it: `prologue`, `prologue: the fall`, `prologue 2`. A prologue and an epilogue may have their
/// title without a mark between.
fn is_named(folded: &str, word: &str) -> bool {
    let Some(behind) = folded.strip_prefix(word) else { return false };
    let titled = word.starts_with("prolog") || word.starts_with("epilog");
    let is_number = || behind.trim().bytes().all(|b| b.is_ascii_digit());
    behind.is_empty()
        || behind.starts_with([':', '.', ',', '('])
        || behind.starts_with(' ') && (titled || is_number())
}

/// Returns the position of each chapter in reading order, from 1; what stands before the first one has 0.
pub fn positions<'a>(chapters: impl IntoIterator<Item = &'a BookPath>) -> Vec<u32> {
    let mut positions: Vec<u32> = vec![];
    for path in chapters {
        let before = positions.last().copied().unwrap_or(0);
        let is_front = before == 0 && rank(path.file_name()) < BETWEEN;
        positions.push(if is_front { 0 } else { before.saturating_add(1) });
    }
    positions
}

/// Returns the files of the manuscript that are no chapters by their names. There have to be files beside or below them that surely are, and the author's `order` must not name them.
pub fn aside<'a>(
    paths: impl IntoIterator<Item = &'a BookPath>,
    layout: &Layout,
    zone: impl Fn(&BookPath) -> Zone,
    order: &[String],
) -> HashSet<BookPath> {
    let all: Vec<&BookPath> = paths.into_iter().collect();
    let in_manuscript = |path: &&BookPath| matches!(zone(path), Zone::Manuscript | Zone::Flat);
    // Most books have none, and are asked no more.
    if !all.iter().any(|path| is_no_chapter(path) && in_manuscript(path)) {
        return HashSet::new();
    }
    let all: Vec<&BookPath> = all.into_iter().filter(in_manuscript).collect();
    let named = all.iter().filter(|path| is_no_chapter(path));
    let sure: Vec<&&BookPath> = all.iter().filter(|path| chapter::is_numbered(path.stem())).collect();
    let is_alone = |path: &BookPath| {
        let near = |other: &&&&BookPath| match path.parent() {
            None => zone(other) == zone(path),
            Some(folder) => other.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')),
        };
        sure.iter().filter(near).take(ENOUGH).count() < ENOUGH
    };
    let is_ordered = |path: &BookPath| layout.names_in_order(order, path);
    named.filter(|path| !is_alone(path) && !is_ordered(path)).map(|path| (*path).clone()).collect()
}

fn is_no_chapter(path: &BookPath) -> bool {
    let stem = path.stem().trim_start_matches(|c: char| !c.is_alphanumeric());
    // No name in the table is longer than this.
    stem.len() <= 24 && NO_CHAPTERS.contains(&fold(stem).as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_comes_first_and_what_comes_last() {
        let front = ["Foreword.md", "PREFACE.md", "Introduction.txt", "Prologue.md", "prologue-the-fall.md"];
        let back = ["Epilogue.md", "Épilogue", "Epilogue: Home.md", "Afterword.md", "Acknowledgments.md"];
        let none = [
            "Chapter 1.md",
            "01-prologue.md",
            "Introduction to Magic.md",
            "prologues.md",
            "The Epilogue.md",
            "Part 2",
            "notes.prologue",
            "",
        ];
        let ranks = |names: &[&str]| names.iter().map(|name| rank(name)).collect::<Vec<_>>();
        assert!(ranks(&front).is_sorted() && ranks(&front).iter().all(|rank| *rank < BETWEEN));
        assert!(ranks(&back).is_sorted() && ranks(&back).iter().all(|rank| *rank > BETWEEN));
        assert!(ranks(&none).iter().all(|rank| *rank == BETWEEN), "{:?}", ranks(&none));
    }

    #[test]
    fn what_stands_before_the_first_chapter_takes_no_number() {
        let of = |names: &[&str]| {
            let paths: Vec<BookPath> = names.iter().map(|name| BookPath::new(*name).unwrap()).collect();
            positions(&paths)
        };
        assert_eq!(of(&["foreword.md", "prologue.md", "the-fall.md", "the-rise.md"]), [0, 0, 1, 2]);
        assert_eq!(of(&["the-fall.md", "prologue.md", "epilogue.md"]), [1, 2, 3]);
        assert_eq!(of(&["epilogue.md"]), [1]);
    }
}
