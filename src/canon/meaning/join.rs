//! One list out of two: what was found by words, and what was found by meaning.

use super::super::search::{Match, NoteMatch, Passage, Piece as Found};
use super::{Of, Piece, fuse};
use crate::domain::passage::paragraphs;

/// Longest excerpt of a passage that was found by meaning alone, in characters.
const EXCERPT: usize = 160;

/// Scores of fused lists are small fractions; this makes them readable.
const SCALE: f64 = 100.0;

/// Fuses what `words` found with the pieces that are `near` in meaning, each best first, by their ranks; at most `limit`. The scores are those of
/// the fusion. A thing that both found is told as the words found it.
pub fn join<'a>(words: Vec<Found<'a>>, near: &[(&Piece<'a>, f32)], limit: usize) -> Vec<Found<'a>> {
    let mut all = words;
    let by_words: Vec<usize> = (0..all.len()).collect();
    let mut by_meaning: Vec<usize> = vec![];
    for (piece, _) in near {
        let place = all.iter().position(|found| is_same(found, piece)).unwrap_or_else(|| {
            all.push(told(piece));
            all.len() - 1
        });
        if !by_meaning.contains(&place) {
            by_meaning.push(place);
        }
    }
    let mut all: Vec<Option<Found<'a>>> = all.into_iter().map(Some).collect();
    let fused = fuse(&[by_words, by_meaning]).into_iter().take(limit);
    fused.filter_map(|(place, score)| Some(all.get_mut(place)?.take()?.scored(score * SCALE))).collect()
}

/// Whether both are of one entry, one note, or one stretch of a chapter.
fn is_same(found: &Found<'_>, piece: &Piece<'_>) -> bool {
    match (found, piece.of) {
        (Found::Canon(found, _), Of::Entry(entry)) => std::ptr::eq(found.entry, entry),
        (Found::Note(found), Of::Note(note)) => std::ptr::eq(found.note, note),
        (Found::Manuscript(found), Of::Chapter(chapter)) => {
            std::ptr::eq(found.chapter, chapter)
                && found.whole.start < piece.range.end
                && piece.range.start < found.whole.end
        }
        _ => false,
    }
}

/// What was found by meaning alone, told like what words find.
fn told<'a>(piece: &Piece<'a>) -> Found<'a> {
    let range = piece.range.clone();
    match piece.of {
        Of::Entry(entry) => Found::Canon(Match { entry, score: 0.0, field: "meaning" }, range),
        Of::Note(note) => Found::Note(NoteMatch { note, score: 0.0, field: "meaning", paragraph: range }),
        Of::Chapter(chapter) => {
            let before = |p: &std::ops::Range<usize>| chapter.body_start + p.start <= range.start;
            let paragraph = paragraphs(chapter.body()).into_iter().take_while(before).count();
            let words = chapter.text.get(range.clone()).unwrap_or_default();
            let excerpt =
                words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(EXCERPT).collect();
            Found::Manuscript(Passage {
                chapter,
                paragraph: paragraph.max(1),
                range: range.clone(),
                excerpt,
                whole: range,
                score: 0.0,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces;
    use super::*;
    use crate::canon::index::Index;
    use crate::canon::search;
    use crate::canon::shelf::{With, chapter, entry};
    use crate::domain::book::Book;

    #[test]
    fn what_words_miss_is_found_by_meaning_and_what_both_find_comes_first() {
        let book = Book {
            entries: vec![
                entry("characters/mira.md", "Mira").text("She keeps the radio log.\n"),
                entry("characters/osric.md", "Osric").text("He listens to the wireless.\n"),
            ],
            chapters: vec![chapter("1.md", 1, "One", "A radio hummed.\n\nNothing else.\n")],
            ..Book::default()
        };
        let index = Index::of(&book);
        let all = pieces(&book);
        let near: Vec<_> = [2, 1, 0].map(|at: usize| (&all[at], 0.5)).into();
        let name = |found: &Found<'_>| match found {
            Found::Canon(m, _) => format!("{} {}", m.entry.name, m.field),
            Found::Manuscript(p) => format!("{} {}", p.chapter.title, p.paragraph),
            Found::Note(n) => n.note.title.clone(),
        };
        let words = search::knowledge(&index, &book, "radio", 9);
        let joined = join(words, &near, 9);
        let names: Vec<_> = joined.iter().map(name).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        assert!(names.contains(&"One 1".to_owned()) && names[2] == "Osric meaning", "{names:?}");
        assert!(joined.windows(2).all(|pair| pair[0].score() >= pair[1].score()));
        assert_eq!(join(vec![], &near, 2).len(), 2);
    }
}
