//! An inverted index of some texts. Once made it never changes: what is no longer in the book is masked by whoever uses it.

use std::collections::HashMap;

use super::words::{Language, each_word};

/// Stands between two fields in [`Segment::tokens`], so that no phrase goes across.
const GAP: u32 = u32::MAX;

/// Where a term stands in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The text, as a number within its segment.
    pub doc: u32,
    /// How often the term stands there, each place counted with the weight of its field.
    pub weight: u16,
    /// Fields that hold it, as bits.
    pub fields: u16,
}

/// Texts, and where each of their terms stands.
#[derive(Debug, Default)]
pub struct Segment {
    /// The terms, sorted; a term's number is its place.
    terms: Vec<Box<str>>,
    /// Where the postings of each term begin, and where the last ones end.
    starts: Vec<u32>,
    postings: Vec<Posting>,
    /// The terms of each text in order.
    tokens: Vec<u32>,
    docs: Vec<Doc>,
}

/// The terms of a phrase by their numbers in one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phrase {
    terms: Vec<u32>,
    /// Which of them stands in the fewest texts.
    rarest: usize,
}

#[derive(Debug, Clone, Copy)]
struct Doc {
    /// Where its tokens begin.
    start: u32,
    /// Its words.
    words: u32,
}

impl Segment {
    /// Returns the number of texts, masked or not.
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Returns the number of words of a text.
    pub fn words(&self, doc: u32) -> u32 {
        self.docs.get(doc as usize).map_or(0, |d| d.words)
    }

    /// Returns the size by which segments are compared.
    pub fn size(&self) -> usize {
        self.tokens.len()
    }

    /// Returns where `term` stands, in the order of the texts.
    pub fn postings(&self, term: &str) -> &[Posting] {
        match self.terms.binary_search_by(|known| (**known).cmp(term)) {
            Ok(at) => self.postings_at(at),
            Err(_) => &[],
        }
    }

    /// Iterates over the postings of every term that begins with `prefix`.
    pub fn postings_of_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a [Posting]> {
        let from = self.terms.partition_point(|known| **known < *prefix);
        let begun = self.terms[from..].iter().take_while(move |known| known.starts_with(prefix));
        begun.enumerate().map(move |(at, _)| self.postings_at(from + at))
    }

    fn postings_at(&self, term: usize) -> &[Posting] {
        match (self.starts.get(term), self.starts.get(term + 1)) {
            (Some(from), Some(to)) => self.postings.get(*from as usize..*to as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    fn tokens_of(&self, doc: u32) -> &[u32] {
        let end = self.docs.get(doc as usize + 1).map_or(self.tokens.len(), |next| next.start as usize);
        self.docs.get(doc as usize).map_or(&[], |d| &self.tokens[d.start as usize..end])
    }

    /// Prepares a search for a phrase; `None` if it has no terms, or one of them stands nowhere here.
    pub fn phrase(&self, stems: &[String]) -> Option<Phrase> {
        let number = |stem: &String| self.terms.binary_search_by(|known| (**known).cmp(stem)).ok();
        let terms: Option<Vec<u32>> = stems.iter().map(|stem| number(stem).map(|at| at as u32)).collect();
        let terms = terms?;
        let count = |at: &usize| self.postings_at(terms[*at] as usize).len();
        let rarest = (0..terms.len()).min_by_key(count)?;
        Some(Phrase { terms, rarest })
    }

    /// Whether a text holds the terms one after the other in one of its fields. Only the places of the rarest of them are looked at.
    pub fn holds(&self, doc: u32, Phrase { terms, rarest }: &Phrase) -> bool {
        let Some(term) = terms.get(*rarest) else { return false };
        let tokens = self.tokens_of(doc);
        let mut from = *rarest;
        while let Some(at) = tokens.get(from..).and_then(|rest| rest.iter().position(|token| token == term)) {
            let start = from + at - rarest;
            if tokens.get(start..start + terms.len()) == Some(terms) {
                return true;
            }
            from += at + 1;
        }
        false
    }

    /// Makes one segment of two without the texts that `keeps` refuses. Returns it with the new number of every kept text of either.
    pub fn merged(parts: [(&Self, &dyn Fn(u32) -> bool); 2]) -> (Self, [Vec<Option<u32>>; 2]) {
        let mut terms: Vec<Box<str>> =
            parts.iter().flat_map(|(segment, _)| segment.terms.iter().cloned()).collect();
        terms.sort_unstable();
        terms.dedup();
        let (mut builder, mut renumbered) = (Raw::default(), [vec![], vec![]]);
        for ((segment, keeps), renumbered) in parts.iter().zip(&mut renumbered) {
            let new: Vec<u32> = segment
                .terms
                .iter()
                .map(|term| terms.binary_search(term).map_or(GAP, |at| at as u32))
                .collect();
            for doc in 0..segment.len() as u32 {
                renumbered.push(keeps(doc).then(|| {
                    let start = builder.tokens.len() as u32;
                    let known = segment.tokens_of(doc).iter();
                    builder
                        .tokens
                        .extend(known.map(|token| new.get(*token as usize).copied().unwrap_or(GAP)));
                    builder.docs.push(Doc { start, words: segment.words(doc) });
                    builder.docs.len() as u32 - 1
                }));
            }
            for (term, new) in new.iter().enumerate() {
                for posting in segment.postings_at(term) {
                    if let Some(Some(doc)) = renumbered.get(posting.doc as usize) {
                        builder.stands.push((*new, Posting { doc: *doc, ..*posting }));
                    }
                }
            }
        }
        (builder.finish(terms), renumbered)
    }
}

/// A segment whose postings are not in order yet.
#[derive(Default)]
struct Raw {
    tokens: Vec<u32>,
    docs: Vec<Doc>,
    /// Terms with their postings; those of one term in the order of the texts.
    stands: Vec<(u32, Posting)>,
}

impl Raw {
    /// Puts the postings into the order of `terms`, which are sorted.
    fn finish(self, terms: Vec<Box<str>>) -> Segment {
        let mut starts = vec![0_u32; terms.len() + 1];
        for (term, _) in &self.stands {
            starts[*term as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut postings = vec![Posting { doc: 0, weight: 0, fields: 0 }; self.stands.len()];
        for (term, posting) in self.stands {
            let at = &mut next[term as usize];
            postings[*at as usize] = posting;
            *at += 1;
        }
        Segment { terms, starts, postings, tokens: self.tokens, docs: self.docs }
    }
}

/// Reads texts into a segment.
pub struct Builder<'l> {
    language: &'l Language,
    /// Numbers of stems by folded word, in the order of their first appearance.
    by_word: HashMap<Box<str>, u32>,
    by_stem: HashMap<Box<str>, u32>,
    raw: Raw,
    /// Of the text that is being read: stems with weight and field.
    open: Vec<(u32, u16, u16)>,
}

impl<'l> Builder<'l> {
    /// Begins a segment of texts in one language.
    pub fn new(language: &'l Language) -> Self {
        Self { language, by_word: HashMap::new(), by_stem: HashMap::new(), raw: Raw::default(), open: vec![] }
    }

    /// Returns the number of texts so far.
    pub fn len(&self) -> usize {
        self.raw.docs.len()
    }

    /// Begins the next text. Returns its number.
    pub fn begin(&mut self) -> u32 {
        self.close();
        self.raw.docs.push(Doc { start: self.raw.tokens.len() as u32, words: 0 });
        self.raw.docs.len() as u32 - 1
    }

    /// Reads a part of the text. `field` is a bit; a word in it counts `weight` times.
    pub fn field(&mut self, field: u16, weight: u16, text: &str) {
        let Self { language, by_word, by_stem, raw, open } = self;
        let before = open.len();
        each_word(text, |word| {
            let stem = by_word.get(word).copied().unwrap_or_else(|| {
                let (stem, next) = (language.stem(word), by_stem.len() as u32);
                let number = *by_stem.entry(stem.as_ref().into()).or_insert(next);
                by_word.insert(word.into(), number);
                number
            });
            raw.tokens.push(stem);
            open.push((stem, weight, field));
        });
        if open.len() > before {
            raw.tokens.push(GAP);
        }
        if let Some(doc) = raw.docs.last_mut() {
            doc.words += (open.len() - before) as u32;
        }
    }

    fn close(&mut self) {
        let Some(doc) = self.raw.docs.len().checked_sub(1) else { return };
        self.open.sort_unstable();
        for same in self.open.chunk_by(|a, b| a.0 == b.0) {
            let (mut weight, mut fields) = (0_u16, 0);
            for (_, one, field) in same {
                weight = weight.saturating_add(*one);
                fields |= field;
            }
            self.raw.stands.push((same[0].0, Posting { doc: doc as u32, weight, fields }));
        }
        self.open.clear();
    }

    /// Returns the segment.
    pub fn finish(mut self) -> Segment {
        self.close();
        let mut terms: Vec<(Box<str>, u32)> = self.by_stem.into_iter().collect();
        terms.sort_unstable();
        let mut sorted = vec![GAP; terms.len()];
        for (at, (_, first)) in terms.iter().enumerate() {
            sorted[*first as usize] = at as u32;
        }
        for token in self.raw.tokens.iter_mut().filter(|token| **token != GAP) {
            *token = sorted[*token as usize];
        }
        for (term, _) in &mut self.raw.stands {
            *term = sorted[*term as usize];
        }
        self.raw.finish(terms.into_iter().map(|(term, _)| term).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(texts: &[&str]) -> Segment {
        let language = Language::of(None);
        let mut builder = Builder::new(&language);
        for text in texts {
            builder.begin();
            for (at, field) in text.split('|').enumerate() {
                builder.field(1 << at, 1 + at as u16, field);
            }
        }
        builder.finish()
    }

    fn stands(segment: &Segment, term: &str) -> Vec<(u32, u16, u16)> {
        segment.postings(term).iter().map(|p| (p.doc, p.weight, p.fields)).collect()
    }

    #[test]
    fn a_term_is_known_with_its_texts_weights_and_fields() {
        let segment = segment(&["The lamp, the lamps|A lamp", "", "bells|lamp"]);
        assert_eq!(stands(&segment, "lamp"), [(0, 4, 3), (2, 2, 2)]);
        assert_eq!(stands(&segment, "zanzibar"), []);
        assert_eq!((segment.words(0), segment.words(1), segment.len()), (6, 0, 3));
        assert_eq!(segment.postings_of_prefix("la").map(<[_]>::len).sum::<usize>(), 2);
        assert_eq!(segment.postings_of_prefix("zz").count(), 0);
    }

    #[test]
    fn a_phrase_stands_within_one_field() {
        let segment = segment(&["the lamp went|out", "lamp the"]);
        let phrase =
            |words: &[&str]| segment.phrase(&words.iter().map(|w| (*w).to_owned()).collect::<Vec<_>>());
        assert!(segment.holds(0, &phrase(&["the", "lamp"]).unwrap()));
        assert!(!segment.holds(1, &phrase(&["the", "lamp"]).unwrap()));
        assert!(!segment.holds(0, &phrase(&["went", "out"]).unwrap()));
        assert_eq!(phrase(&["the", "bell"]), None);
        let twice = super::tests::segment(&["a a b, b a a c"]);
        let holds = |words: &[&str]| {
            let stems: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
            twice.phrase(&stems).is_some_and(|phrase| twice.holds(0, &phrase))
        };
        assert!(holds(&["a", "a", "c"]) && holds(&["a", "a", "b"]) && holds(&["b", "b"]) && holds(&["c"]));
        assert!(!holds(&["a", "c", "a"]) && !holds(&["a", "a", "a"]) && !holds(&["c", "a"]));
    }

    #[test]
    fn merging_leaves_out_what_is_masked_and_keeps_the_rest_as_it_was() {
        let (a, b) = (segment(&["lamp bell", "lamp|lamp"]), segment(&["gull", "lamp gull"]));
        let (merged, [of_a, of_b]) = Segment::merged([(&a, &|doc| doc == 1), (&b, &|_| true)]);
        assert_eq!((of_a, of_b), (vec![None, Some(0)], vec![Some(1), Some(2)]));
        assert_eq!(stands(&merged, "lamp"), [(0, 3, 3), (2, 1, 1)]);
        assert_eq!(stands(&merged, "bell"), []);
        assert!(merged.holds(2, &merged.phrase(&["lamp".into(), "gull".into()]).unwrap()));
        assert_eq!(merged.words(0), 2);
    }
}
