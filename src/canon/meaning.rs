//! Finding texts by what they mean: vectors of pieces of a book, compared with the vector of a question.
//!
//! The vectors come from elsewhere and only where the author switched them on. Only pieces of the book at hand are ever compared, so that a
//! vector of a text that the book no longer holds finds nothing.

mod join;

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use crate::domain::book::{Book, Note};
use crate::domain::codex::Entry;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{self, paragraphs};

pub use join::join;

/// Longest piece, in bytes, unless one paragraph alone is longer.
const PIECE: usize = 1_500;

/// Longest text of one piece that gets a vector, in characters: servers refuse more than some thousand tokens.
const LONGEST: usize = 6_000;

/// Ranks of the lists that are fused count from here: the constant of Cormack, Clarke and Büttcher,
/// <https://plg.uwaterloo.ca/~gvcormac/cormacksigir09-rrf.pdf>.
const RRF: f64 = 60.0;

/// Somebody who knows how near texts are to a question in what they mean.
pub trait ByMeaning: Send + Sync + std::fmt::Debug {
    /// Ranks those of `pieces` that it knows, nearest first, each with the cosine of its vector. May ask a server and take seconds; an error is in
    /// words for the author.
    fn nearest<'p, 'a>(
        &self,
        pieces: &'p [Piece<'a>],
        question: &str,
        limit: usize,
    ) -> Result<Vec<(&'p Piece<'a>, f32)>, String>;
}

/// What a piece is of.
#[derive(Debug, Clone, Copy)]
pub enum Of<'a> {
    /// An entry of the Codex.
    Entry(&'a Entry),
    /// A chapter.
    Chapter(&'a Chapter),
    /// A note.
    Note(&'a Note),
}

impl<'a> Of<'a> {
    /// Returns its file.
    pub fn path(self) -> &'a BookPath {
        match self {
            Self::Entry(entry) => &entry.path,
            Self::Chapter(chapter) => &chapter.path,
            Self::Note(note) => &note.path,
        }
    }
}

/// Some paragraphs of a text, with its title.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    /// What it is of.
    pub of: Of<'a>,
    /// Bytes of the file.
    pub range: Range<usize>,
    /// What gets a vector: the title, then the paragraphs.
    pub text: String,
    /// SHA-256 of `text`, lowercase hex: what its vector is kept under.
    pub hash: String,
}

/// Cuts a book into pieces that can have vectors: entries, chapters, notes, in the book's order.
pub fn pieces(book: &Book) -> Vec<Piece<'_>> {
    let mut all = vec![];
    for entry in &book.entries {
        cut(Of::Entry(entry), &entry.name, &entry.text, entry.body.clone(), &mut all);
    }
    for chapter in &book.chapters {
        let range = chapter.body_start..chapter.text.len();
        cut(Of::Chapter(chapter), &chapter.title, &chapter.text, range, &mut all);
    }
    for note in &book.notes {
        cut(Of::Note(note), &note.title, &note.text, 0..note.text.len(), &mut all);
    }
    all
}

fn cut<'a>(of: Of<'a>, title: &str, text: &'a str, body: Range<usize>, all: &mut Vec<Piece<'a>>) {
    let start = body.start;
    let Some(body) = text.get(body) else { return };
    let mut piece: Option<Range<usize>> = None;
    let mut finish = |piece: Range<usize>| {
        let words = passage::cut(&body[piece.clone()], LONGEST);
        let text = format!("{title}\n{words}");
        let hash = passage::sha256_hex(&text);
        all.push(Piece { of, range: start + piece.start..start + piece.end, text, hash });
    };
    for paragraph in paragraphs(body) {
        piece = match piece.take() {
            Some(open) if paragraph.end - open.start <= PIECE => Some(open.start..paragraph.end),
            Some(open) => {
                finish(open);
                Some(paragraph)
            }
            None => Some(paragraph),
        };
    }
    if let Some(open) = piece {
        finish(open);
    }
}

/// Vectors by the hash of their piece. All have the same length.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    by_hash: HashMap<String, Box<[f32]>>,
    dimensions: usize,
}

impl Vectors {
    /// Adds a vector, scaled to length 1. One of another length than the first, or without a direction, is left out.
    pub fn add(&mut self, hash: String, vector: Vec<f32>) {
        if self.by_hash.is_empty() {
            self.dimensions = vector.len();
        }
        if vector.len() == self.dimensions
            && let Some(vector) = scaled(vector)
        {
            self.by_hash.insert(hash, vector.into());
        }
    }

    /// Whether a piece has a vector.
    pub fn has(&self, hash: &str) -> bool {
        self.by_hash.contains_key(hash)
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }

    /// Ranks the pieces that have a vector by the cosine between it and `query`, nearest first; with the cosine.
    pub fn nearest<'p, 'a>(
        &self,
        pieces: &'p [Piece<'a>],
        query: Vec<f32>,
        limit: usize,
    ) -> Vec<(&'p Piece<'a>, f32)> {
        let Some(query) = scaled(query).filter(|query| query.len() == self.dimensions) else { return vec![] };
        let cosine = |vector: &[f32]| vector.iter().zip(&query).map(|(a, b)| a * b).sum::<f32>();
        let mut near: Vec<_> =
            pieces.iter().filter_map(|piece| Some((piece, cosine(self.by_hash.get(&piece.hash)?)))).collect();
        near.sort_by(|a, b| b.1.total_cmp(&a.1));
        near.truncate(limit);
        near
    }
}

/// The vector of length 1 in the same direction; `None` where there is none.
fn scaled(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    (length.is_finite() && length > 0.0).then(|| {
        for x in &mut vector {
            *x /= length;
        }
        vector
    })
}

/// Fuses ranked lists by their ranks alone: each thing scores 1 / (60 + rank) in every list that holds it. The best first, ties in the order
/// in which things were met.
pub fn fuse<T: Copy + Eq + Hash>(lists: &[Vec<T>]) -> Vec<(T, f64)> {
    let mut order = vec![];
    let mut scores: HashMap<T, f64> = HashMap::new();
    for list in lists {
        for (rank, thing) in (1_u32..).zip(list) {
            let score = scores.entry(*thing).or_insert_with(|| {
                order.push(*thing);
                0.0
            });
            *score += 1.0 / (RRF + f64::from(rank));
        }
    }
    let mut fused: Vec<(T, f64)> = order.into_iter().map(|thing| (thing, scores[&thing])).collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, chapter, entry};

    fn library() -> Book {
        let long = "A paragraph of some words.\n\n".repeat(100);
        Book {
            entries: vec![entry("characters/mira.md", "Mira").text("She keeps the radio.\n")],
            chapters: vec![chapter("1.md", 1, "One", &long)],
            ..Book::default()
        }
    }

    #[test]
    fn a_book_is_cut_at_paragraphs_and_nothing_is_lost() {
        let book = library();
        let pieces = pieces(&book);
        assert_eq!(pieces[0].text, "Mira\nShe keeps the radio.");
        let of_chapter: Vec<_> =
            pieces[1..].iter().map(|p| &book.chapters[0].text[p.range.clone()]).collect();
        assert!(of_chapter.iter().all(|text| text.starts_with("A paragraph") && text.ends_with("words.")));
        assert_eq!(of_chapter.concat().matches("paragraph").count(), 100);
        assert!(of_chapter.len() > 1 && of_chapter.iter().all(|text| text.len() <= PIECE));
    }

    #[test]
    fn the_nearest_pieces_come_first_and_a_vector_without_a_piece_finds_nothing() {
        let book = library();
        let pieces = pieces(&book);
        let mut vectors = Vectors::default();
        vectors.add(pieces[0].hash.clone(), vec![3.0, 0.0]);
        vectors.add(pieces[1].hash.clone(), vec![0.0, 0.1]);
        vectors.add("gone".into(), vec![1.0, 1.0]);
        vectors.add(pieces[2].hash.clone(), vec![0.0, 0.0]);
        vectors.add(pieces[2].hash.clone(), vec![1.0]);
        assert_eq!(vectors.len(), 3, "one without a direction or of another length is none");
        let near = vectors.nearest(&pieces, vec![1.0, 0.2], 9);
        assert_eq!(near.iter().map(|(p, _)| &p.hash).collect::<Vec<_>>(), [&pieces[0].hash, &pieces[1].hash]);
        assert!((near[0].1 - 0.98).abs() < 0.01, "{near:?}");
        for useless in [vec![], vec![1.0], vec![0.0, 0.0], vec![f32::NAN, 1.0]] {
            assert!(vectors.nearest(&pieces, useless, 9).is_empty());
        }
    }

    #[test]
    fn what_stands_high_in_both_lists_wins() {
        let fused: Vec<_> =
            fuse(&[vec!['a', 'b', 'c'], vec!['b', 'd']]).into_iter().map(|(c, _)| c).collect();
        assert_eq!(fused, ['b', 'a', 'd', 'c']);
    }
}
