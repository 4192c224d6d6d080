//! A list of units (entries, chapters, notes), each of one or more texts, with the texts ranked by how well they match a query.
//!
//! The texts lie in segments that are shared with earlier corpora. Scores are worked out from the texts that are in the list now, as if no other had
//! ever been there: two corpora with the same texts give the same scores, whatever their segments.

use std::sync::Arc;

use super::segment::{Builder, Phrase, Segment};
use super::words::{Language, Query};

/// Saturation of repeated words and influence of the length, in Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework:
/// BM25 and Beyond", 2009, <https://doi.org/10.1561/1500000019>); the usual values.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What the beginning of a word is worth beside the word.
const BEGUN: f64 = 0.5;

/// What a word that differs by a slip of the finger is worth.
const SLIP: f64 = 0.4;

/// Fewest letters of a word that may stand for longer ones.
const SHORTEST_PREFIX: usize = 3;

/// The number of a text that is no longer in the list.
const GONE: Place = Place { unit: u32::MAX, part: 0 };

/// Where a text is: its unit, and its number in that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the unit, as in the list that the corpus was made of.
    pub unit: u32,
    /// Number of the text in its unit.
    pub part: u32,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    segments: Vec<Arc<Segment>>,
    /// Number of the first text of each segment; texts are numbered through all of them.
    offsets: Vec<u32>,
    /// For every number its place.
    places: Vec<Place>,
    /// For every unit where its texts begin in `ids`, and at last the end.
    starts: Vec<u32>,
    ids: Vec<u32>,
    /// Words of all texts.
    words: u64,
}

impl Corpus {
    /// Returns the numbers of the texts of a unit, in order.
    pub fn texts_of(&self, unit: usize) -> &[u32] {
        match (self.starts.get(unit), self.starts.get(unit + 1)) {
            (Some(from), Some(to)) => &self.ids[*from as usize..*to as usize],
            _ => &[],
        }
    }

    /// Returns the number of segments, for tests of how it grows.
    #[cfg(test)]
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    fn end(&self) -> u32 {
        self.places.len() as u32
    }

    /// Works `places` and `words` out from `ids`.
    fn settle(&mut self) {
        self.offsets.clear();
        let mut end = 0;
        for segment in &self.segments {
            self.offsets.push(end);
            end += segment.len() as u32;
        }
        self.places.clear();
        self.places.resize(end as usize, GONE);
        self.words = 0;
        for unit in 0..self.starts.len().saturating_sub(1) {
            let (from, to) = (self.starts[unit] as usize, self.starts[unit + 1] as usize);
            for (part, id) in self.ids[from..to].iter().enumerate() {
                self.places[*id as usize] = Place { unit: unit as u32, part: part as u32 };
            }
        }
        for (segment, offset) in self.segments.iter().zip(&self.offsets) {
            for doc in 0..segment.len() as u32 {
                if self.places[(offset + doc) as usize] != GONE {
                    self.words += u64::from(segment.words(doc));
                }
            }
        }
    }

    /// Merges the newest segments while one is at least half as large as the one before it: their number stays logarithmic, and
    /// each text is merged a logarithmic number of times.
    fn tidy(&mut self) {
        while let [.., older, newer] = &self.segments[..]
            && newer.size() * 2 >= older.size()
        {
            let first = self.segments.len() - 2;
            let (of_older, of_newer) = (self.offsets[first], self.offsets[first + 1]);
            let kept = |offset: u32| move |doc: u32| offset + doc;
            let lives = |id: u32| self.places[id as usize] != GONE;
            let (older_id, newer_id) = (kept(of_older), kept(of_newer));
            let (merged, [in_older, in_newer]) =
                Segment::merged([(older, &|doc| lives(older_id(doc))), (newer, &|doc| lives(newer_id(doc)))]);
            for id in self.ids.iter_mut().filter(|id| **id >= of_older) {
                let new = match id.checked_sub(of_newer) {
                    Some(doc) => in_newer.get(doc as usize),
                    None => in_older.get((*id - of_older) as usize),
                };
                *id = of_older + new.copied().flatten().unwrap_or_default();
            }
            self.segments.truncate(first);
            self.segments.push(Arc::new(merged));
            self.settle();
        }
    }

    /// Where a term stands in the texts of the list.
    fn stands(&self, how: &How<'_>) -> Vec<Stand> {
        let mut found = vec![];
        for (segment, offset) in self.segments.iter().zip(&self.offsets) {
            let from = found.len();
            let mut add = |postings: &[super::segment::Posting]| {
                let live = postings.iter().map(|p| Stand {
                    id: offset + p.doc,
                    weight: u32::from(p.weight),
                    fields: p.fields,
                });
                found.extend(live.filter(|stand| self.places[stand.id as usize] != GONE));
            };
            match how {
                How::Stems(stems) => stems.iter().for_each(|stem| add(segment.postings(stem))),
                How::Begun(prefix) => segment.postings_of_prefix(prefix).for_each(add),
            }
            merge_same(&mut found, from);
        }
        found
    }
}

/// Brings the stands of several terms from `from` on into the order of their texts, one for each text.
fn merge_same(found: &mut Vec<Stand>, from: usize) {
    if found[from..].is_sorted_by(|a, b| a.id < b.id) {
        return;
    }
    found[from..].sort_unstable_by_key(|stand| stand.id);
    let mut kept = from;
    for at in from + 1..found.len() {
        let next = found[at];
        if found[kept].id == next.id {
            found[kept].weight += next.weight;
            found[kept].fields |= next.fields;
        } else {
            kept += 1;
            found[kept] = next;
        }
    }
    found.truncate(kept + 1);
}

/// A term in a text.
#[derive(Debug, Clone, Copy)]
struct Stand {
    id: u32,
    weight: u32,
    fields: u16,
}

/// How a word of a query is looked for.
enum How<'a> {
    Stems(&'a [String]),
    Begun(&'a str),
}

/// A list in the making: units with texts that an older corpus has, and new ones.
pub struct Next<'a> {
    old: &'a Corpus,
    builder: Builder<'a>,
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl<'a> Next<'a> {
    /// Begins an empty list. `language` is that of all texts of `old` too.
    pub fn after(old: &'a Corpus, language: &'a Language) -> Self {
        let ids = Vec::with_capacity(old.ids.len());
        Self { old, builder: Builder::new(language), starts: Vec::with_capacity(old.starts.len()), ids }
    }

    /// Begins the next unit.
    pub fn unit(&mut self) {
        self.starts.push(self.ids.len() as u32);
    }

    /// Takes over a text of the older corpus by its number. Each may be taken once.
    pub fn keep(&mut self, id: u32) {
        self.ids.push(id);
    }

    /// Begins a new text, and returns what reads its fields.
    pub fn text(&mut self) -> &mut Builder<'a> {
        self.ids.push(self.old.end() + self.builder.begin());
        &mut self.builder
    }

    /// Returns the corpus.
    pub fn finish(mut self) -> Corpus {
        self.starts.push(self.ids.len() as u32);
        let mut corpus = Corpus {
            segments: self.old.segments.clone(),
            starts: self.starts,
            ids: self.ids,
            ..Corpus::default()
        };
        if self.builder.len() > 0 {
            corpus.segments.push(Arc::new(self.builder.finish()));
        }
        corpus.settle();
        corpus.tidy();
        corpus
    }
}

/// A text that matches a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// Which of the corpora that were searched.
    pub corpus: usize,
    /// The text.
    pub place: Place,
    /// Its score.
    pub score: f64,
    /// How many of the query's words it holds.
    pub found: usize,
    /// Whether it holds the query as a phrase of several words.
    pub phrase: bool,
    id: u32,
}

/// What a search came to.
#[derive(Debug, Default)]
pub struct Ranking {
    /// All texts that hold one of the words at least, in no order.
    pub hits: Vec<Hit>,
    /// For every word of the query its weight, and where it stands in each corpus.
    words: Vec<(f64, Vec<Vec<Stand>>)>,
}

impl Ranking {
    /// Returns, for every word of the query that stands in the text of a hit, the word's weight and the fields as bits.
    pub fn fields(&self, hit: &Hit) -> impl Iterator<Item = (f64, u16)> {
        let stand = |stands: &Vec<Stand>| {
            let at = stands.binary_search_by_key(&hit.id, |stand| stand.id).ok()?;
            stands.get(at).map(|stand| stand.fields)
        };
        self.words.iter().filter_map(move |(weight, stands)| Some((*weight, stand(stands.get(hit.corpus)?)?)))
    }
}

/// Ranks the texts of some corpora together. `near` gives the stems of known words that a word may have been meant for; it is asked about words that
/// stand nowhere, not even as the beginning of one.
pub fn rank(corpora: &[&Corpus], query: &Query, near: &dyn Fn(&str) -> Vec<String>) -> Ranking {
    let texts: usize = corpora.iter().map(|corpus| corpus.ids.len()).sum();
    let mut ranking = Ranking::default();
    for term in &query.terms {
        let (worth, stands) = find(corpora, &term.word, &term.stem, near);
        let holding: usize = stands.iter().map(Vec::len).sum();
        ranking.words.push((worth * rarity(holding, texts), stands));
    }
    for (number, corpus) in corpora.iter().enumerate() {
        rank_one(number, corpus, query, &mut ranking);
    }
    ranking
}

/// Where a word stands: as a word, else as the beginning of one, else with a slip of the finger; and what that is worth.
fn find(
    corpora: &[&Corpus],
    word: &str,
    stem: &str,
    near: &dyn Fn(&str) -> Vec<String>,
) -> (f64, Vec<Vec<Stand>>) {
    let all = |how: How<'_>| -> Vec<Vec<Stand>> { corpora.iter().map(|c| c.stands(&how)).collect() };
    let is_there = |stands: &Vec<Vec<Stand>>| stands.iter().any(|one| !one.is_empty());
    let whole = all(How::Stems(&[stem.to_owned()]));
    if is_there(&whole) {
        return (1.0, whole);
    }
    if word.chars().count() >= SHORTEST_PREFIX {
        let begun = all(How::Begun(word));
        if is_there(&begun) {
            return (BEGUN, begun);
        }
    }
    match near(word) {
        stems if stems.is_empty() => (1.0, whole),
        stems => (SLIP, all(How::Stems(&stems))),
    }
}

/// The inverse document frequency of BM25 in the form that is never negative.
fn rarity(holding: usize, texts: usize) -> f64 {
    let (holding, texts) = (holding as f64, texts as f64);
    (1.0 + (texts - holding + 0.5) / (holding + 0.5)).ln()
}

fn rank_one(number: usize, corpus: &Corpus, query: &Query, ranking: &mut Ranking) {
    let average = (corpus.words as f64 / corpus.ids.len().max(1) as f64).max(1.0);
    let mut scores = vec![(0.0_f64, 0_u32); corpus.places.len()];
    for (rarity, stands) in &ranking.words {
        // The stands are in the order of their texts, and so are the segments.
        let mut at = 0;
        for stand in &stands[number] {
            while corpus.offsets.get(at + 1).is_some_and(|next| *next <= stand.id) {
                at += 1;
            }
            let (Some(segment), Some(offset)) = (corpus.segments.get(at), corpus.offsets.get(at)) else {
                break;
            };
            let doc = stand.id - offset;
            let length = f64::from(segment.words(doc)) / average;
            let weight = f64::from(stand.weight);
            let score = &mut scores[stand.id as usize];
            score.0 += rarity * weight * (K1 + 1.0) / (weight + K1 * (1.0 - B + B * length));
            score.1 += 1;
        }
    }
    // A phrase is worth half as much again as its words.
    let phrase_worth: f64 = ranking.words.iter().map(|(rarity, _)| rarity).sum();
    let is_phrase = query.phrase.len() > 1;
    let phrases: Vec<Option<Phrase>> = corpus
        .segments
        .iter()
        .map(|segment| if is_phrase { segment.phrase(&query.phrase) } else { None })
        .collect();
    for (id, (score, found)) in scores.into_iter().enumerate().filter(|(_, (_, found))| *found > 0) {
        let (id, found) = (id as u32, found as usize);
        let segment = corpus.offsets.partition_point(|offset| *offset <= id) - 1;
        let doc = id - corpus.offsets[segment];
        let holds = |phrase: &Phrase| corpus.segments[segment].holds(doc, phrase);
        let phrase = found == query.terms.len() && phrases[segment].as_ref().is_some_and(holds);
        let share = found as f64 / query.terms.len() as f64;
        let bonus = if phrase { phrase_worth } else { 0.0 };
        let place = corpus.places[id as usize];
        ranking.hits.push(Hit { corpus: number, place, score: score * share + bonus, found, phrase, id });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(old: &Corpus, units: &[&[Result<u32, &str>]]) -> Corpus {
        let language = Language::of(None);
        let mut next = Next::after(old, &language);
        for unit in units {
            next.unit();
            for text in *unit {
                match text {
                    Ok(id) => next.keep(*id),
                    Err(text) => next.text().field(1, 1, text),
                }
            }
        }
        next.finish()
    }

    fn ranked(corpus: &Corpus, query: &str) -> Vec<(Place, String)> {
        let query = Query::of(query, &Language::of(None));
        let mut hits = rank(&[corpus], &query, &|_| vec![]).hits;
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
        hits.iter().map(|hit| (hit.place, hit.score.to_string())).collect()
    }

    #[test]
    fn what_is_gone_counts_nowhere() {
        let old = corpus(&Corpus::default(), &[&[Err("lamp lamp"), Err("a bell rings")], &[Err("lamp")]]);
        assert_eq!(ranked(&old, "lamp").len(), 2);
        let bell = old.texts_of(0)[1];
        let less = corpus(&old, &[&[Ok(bell), Err("a lamp hung")]]);
        let fresh = corpus(&Corpus::default(), &[&[Err("a bell rings"), Err("a lamp hung")]]);
        for query in ["lamp", "bell", "lamp bell", "lam", "a bell", "zanzibar"] {
            assert_eq!(ranked(&less, query), ranked(&fresh, query), "{query}");
        }
    }

    #[test]
    fn rare_words_and_short_texts_weigh_more_and_a_phrase_most() {
        let texts: &[&[Result<u32, &str>]] = &[
            &[Err("the lamp and the bell in the long hall of the harbour")],
            &[Err("the lamp")],
            &[Err("the lamp, the bell tower")],
            &[Err("the tower bell")],
        ];
        let corpus = corpus(&Corpus::default(), texts);
        let order = |query| ranked(&corpus, query).iter().map(|(place, _)| place.unit).collect::<Vec<_>>();
        assert_eq!(order("lamp"), [1, 2, 0]);
        assert_eq!(order("bell tower"), [2, 3, 0]);
        assert_eq!(order("harb"), [0]);
    }

    #[test]
    fn many_small_changes_make_few_segments() {
        let base = "word ".repeat(500);
        let mut now = corpus(&Corpus::default(), &[&[Err(&base)], &[Err("first")]]);
        for n in 0..200 {
            let (kept, text) = (now.texts_of(0)[0], format!("change {n}"));
            now = corpus(&now, &[&[Ok(kept)], &[Err(&text)]]);
            assert!(now.segments() < 12);
        }
        assert_eq!((ranked(&now, "change").len(), ranked(&now, "first").len()), (1, 0));
    }
}
