//! The names of a Codex, keyed so that one of thousands is found without looking at the others.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use serde_json::Value;

use super::key::{
    BY_WORDS, Key, Letters, allowed_edits, is_slip, letters, likeness, may_be_near, nearness, stem,
};
use super::{Grade, Lookup, MAX_NEAR, Strength};
use crate::canon::story_time;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::fold;

/// The names of the entries of one book. Entries are numbered as in [`Book::entries`].
#[derive(Debug, Default)]
pub struct Known {
    bearers: Vec<Arc<Bearer>>,
    /// Names without their articles, with whose they are.
    whole: HashMap<Box<str>, Vec<Claim>>,
    /// The same without spaces and apostrophes, where that differs.
    tight: HashMap<Box<str>, Vec<Claim>>,
    /// Words of names and aliases, sorted.
    words: Vec<Word>,
    /// The keys of `whole`, for those that are nearly one.
    texts: Vec<Text>,
}

/// An entry with its names, as compared.
#[derive(Debug)]
struct Bearer {
    name: String,
    title: Option<String>,
    aliases: Vec<String>,
    /// Those that it gets in the course of the story.
    later: Vec<String>,
    stem: Option<String>,
    entry_type: EntryType,
    keys: Vec<Name>,
}

#[derive(Debug)]
struct Name {
    key: Key,
    strength: Strength,
    /// A title alone and the stem of a file say whose entry it is, but nobody is called so.
    is_called: bool,
    /// Which of the aliases it is, from 1; 0 for the others.
    alias: usize,
}

/// Says that a name is an entry's.
#[derive(Debug, Clone, Copy)]
struct Claim {
    entry: u32,
    strength: Strength,
    is_called: bool,
    /// Bytes of the article that the name has.
    article: usize,
}

#[derive(Debug)]
struct Word {
    text: Box<str>,
    letters: Letters,
    /// The entries that bear it, in order.
    entries: Vec<u32>,
}

#[derive(Debug)]
struct Text {
    key: Box<str>,
    letters: Letters,
    chars: usize,
}

/// Entries of which the likeness is worked out name by name.
const ROUGHLY_NEAR: usize = 64;

type Found = Vec<(Grade, u32)>;

impl Bearer {
    fn of(entry: &Entry) -> Self {
        let mut keys: Vec<Name> = vec![];
        let mut add_as = |name: &str, strength, is_called, alias| {
            let key = Key::of(name);
            if !key.without_article().is_empty() {
                keys.push(Name { key, strength, is_called, alias });
            }
        };
        let mut add = |name: &str, strength, is_called| add_as(name, strength, is_called, 0);
        add(&entry.name, Strength::Name, true);
        if let Some(title) = &entry.title {
            let last = entry.name.split_whitespace().next_back().unwrap_or_default();
            add(title, Strength::Title, false);
            add(&format!("{title} {}", entry.name), Strength::Title, true);
            add(&format!("{title} {last}"), Strength::Title, true);
        }
        let stem = stem(entry);
        if let Some(stem) = &stem {
            add(stem, Strength::Stem, false);
        }
        (1..).zip(&entry.aliases).for_each(|(at, alias)| add_as(alias, Strength::Alias, true, at));
        let later = later_aliases(entry);
        for alias in &later {
            add_as(alias, Strength::Alias, true, 0);
        }
        Self {
            name: entry.name.clone(),
            title: entry.title.clone(),
            aliases: entry.aliases.clone(),
            later,
            stem,
            entry_type: entry.entry_type,
            keys,
        }
    }

    fn is_of(&self, entry: &Entry) -> bool {
        self.name == entry.name
            && self.title == entry.title
            && self.aliases == entry.aliases
            && self.entry_type == entry.entry_type
            && self.stem == stem(entry)
            && self.later == later_aliases(entry)
    }

    /// The names of which a part may be asked for.
    fn parted(&self) -> impl Iterator<Item = &Name> {
        self.keys.iter().filter(|name| matches!(name.strength, Strength::Name | Strength::Alias))
    }

    /// The detail of the best part: 2 or 4 in the name, one more in an alias.
    fn part(&self, wanted: &Key) -> Option<u8> {
        let detail =
            |name: &Name| Some(2 * name.key.part(wanted)? + u8::from(name.strength == Strength::Alias));
        self.parted().filter_map(detail).min()
    }
}

/// The aliases that `progressions` give. A blind reader's book has only the steps that were read.
fn later_aliases(entry: &Entry) -> Vec<String> {
    // Most entries have none, and a book has thousands.
    let has_steps = entry
        .fields
        .keys()
        .any(|key| key.eq_ignore_ascii_case("progressions") || key.eq_ignore_ascii_case("progression"));
    if !has_steps {
        return vec![];
    }
    let is_alias = |key: &str| matches!(fold(key).as_str(), "aliases" | "alias" | "aka");
    let steps = story_time::steps(entry);
    let given = steps.iter().flat_map(|step| &step.facts).filter(|(key, _)| is_alias(key));
    let texts = given.flat_map(|(_, value)| match value {
        Value::String(text) => text.split([',', ';']).map(|name| name.trim().to_owned()).collect(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => vec![],
    });
    texts.filter(|name| !name.is_empty()).collect()
}

impl Known {
    /// Takes the names of a book.
    pub fn of(book: &Book) -> Self {
        Self::with(book.entries.iter().map(|entry| Arc::new(Bearer::of(entry))).collect())
    }

    /// The same as [`Known::of`], from what was known of an earlier book.
    pub(in crate::canon) fn following(before: &Arc<Self>, book: &Book) -> Arc<Self> {
        let old = &before.bearers;
        if old.len() == book.entries.len() && old.iter().zip(&book.entries).all(|(b, e)| b.is_of(e)) {
            return Arc::clone(before);
        }
        let mut at = 0;
        let bearers = book.entries.iter().map(|entry| {
            // After a change somewhere the others follow in their old order.
            let same = (at..old.len().min(at + 64)).find(|at| old[*at].is_of(entry));
            same.map_or_else(
                || Arc::new(Bearer::of(entry)),
                |same| {
                    at = same + 1;
                    Arc::clone(&old[same])
                },
            )
        });
        Arc::new(Self::with(bearers.collect()))
    }

    fn with(bearers: Vec<Arc<Bearer>>) -> Self {
        let mut known = Self { bearers, ..Self::default() };
        let mut words: HashMap<&str, Vec<u32>> = HashMap::new();
        for (entry, bearer) in known.bearers.iter().enumerate() {
            let entry = entry as u32;
            for name in &bearer.keys {
                let claim = Claim {
                    entry,
                    strength: name.strength,
                    is_called: name.is_called,
                    article: name.key.article,
                };
                let text = name.key.without_article();
                let tight = name.key.tight();
                if tight != text {
                    known.tight.entry(tight.into()).or_default().push(claim);
                }
                match known.whole.get_mut(text) {
                    Some(claims) => claims.push(claim),
                    None => {
                        known.whole.insert(text.into(), vec![claim]);
                    }
                }
            }
            for word in bearer.parted().flat_map(|name| name.key.words()) {
                let entries = words.entry(word).or_default();
                if entries.last() != Some(&entry) {
                    entries.push(entry);
                }
            }
        }
        let words = words.into_iter();
        known.words = words
            .map(|(text, entries)| Word { text: text.into(), letters: letters(text), entries })
            .collect();
        known.words.sort_unstable_by(|a, b| a.text.cmp(&b.text));
        let texts = known.whole.keys();
        known.texts = texts
            .map(|text| Text { key: text.clone(), letters: letters(text), chars: text.chars().count() })
            .collect();
        known.texts.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        known
    }

    /// Looks `name` up among the entries of `entry_type`, or of all types; `book` is the one that these names are of. See [`super::find`].
    pub fn find<'a>(&self, book: &'a Book, entry_type: Option<EntryType>, name: &str) -> Lookup<'a> {
        let wanted = Key::of(name);
        let mut found = if wanted.text.is_empty() { vec![] } else { self.candidates(entry_type, &wanted) };
        let entry = |at: u32| book.entries.get(at as usize);
        found.sort_by_cached_key(|(grade, at)| {
            (*grade, entry(*at).map(|e| (e.name.chars().count(), e.path.clone(), e.heading.clone())), *at)
        });
        let mut ranked = found.into_iter().filter_map(|(grade, at)| Some((grade, entry(at)?)));
        let Some((best_grade, best)) = ranked.next() else {
            let near = self.near_names(book, entry_type, name, MAX_NEAR);
            return Lookup { best: None, also_matched: vec![], near };
        };
        let as_good = ranked.take_while(|(grade, _)| *grade == best_grade);
        Lookup {
            best: Some((best, best_grade.strength)),
            also_matched: as_good.map(|(_, entry)| entry).collect(),
            near: vec![],
        }
    }

    /// All entries that a name fits in the strongest way in which it fits any, each once.
    fn candidates(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        let exact = self.exact(entry_type, wanted);
        if !exact.is_empty() {
            return exact;
        }
        let parts = self.parts(entry_type, wanted);
        if !parts.is_empty() {
            return parts;
        }
        // What follows is a guess, which is worth nothing where another type has an entry of this very name.
        if entry_type.is_some() && !self.exact(None, wanted).is_empty() {
            return vec![];
        }
        let bare = wanted.without_honorifics();
        let either = |key: &Key| {
            let exact = self.exact(entry_type, key);
            if exact.is_empty() { self.parts(entry_type, key) } else { exact }
        };
        let begun = |key: &Key| self.begun(entry_type, key);
        let mut ways: Vec<Box<dyn Fn() -> Found + '_>> = vec![];
        for singular in wanted.singulars() {
            ways.push(Box::new(move || either(&singular)));
        }
        ways.push(Box::new(|| self.run_together(entry_type, wanted)));
        if let Some(bare) = &bare {
            ways.push(Box::new(move || either(bare)));
            for singular in bare.singulars() {
                ways.push(Box::new(move || either(&singular)));
            }
        }
        ways.push(Box::new(|| begun(wanted)));
        ways.extend(bare.iter().map(|bare| -> Box<dyn Fn() -> Found + '_> { Box::new(move || begun(bare)) }));
        let guess = ways.into_iter().map(|way| way()).find(|found| !found.is_empty());
        if let Some(found) = guess {
            return found.into_iter().map(|(grade, entry)| (grade.guessed(), entry)).collect();
        }
        let near = self.nearly(entry_type, wanted);
        if near.is_empty() {
            bare.map(|bare| self.nearly(entry_type, &bare)).unwrap_or_default()
        } else {
            near
        }
    }

    fn is_of(&self, entry: u32, entry_type: Option<EntryType>) -> bool {
        let bearer = self.bearers.get(entry as usize);
        entry_type.is_none_or(|wanted| bearer.is_some_and(|bearer| bearer.entry_type == wanted))
    }

    /// Keeps the best grade of each entry.
    fn each_once(found: impl Iterator<Item = (Grade, u32)>) -> Found {
        let mut best: BTreeMap<u32, Grade> = BTreeMap::new();
        for (grade, entry) in found {
            best.entry(entry).and_modify(|known| *known = grade.min(*known)).or_insert(grade);
        }
        best.into_iter().map(|(entry, grade)| (grade, entry)).collect()
    }

    fn claims(&self, entry_type: Option<EntryType>, claims: Option<&Vec<Claim>>, article: usize) -> Found {
        let of_type = || claims.into_iter().flatten().filter(|claim| self.is_of(claim.entry, entry_type));
        // A title that several bear says less than an alias that is one's own.
        let is_title = |claim: &&Claim| claim.strength == Strength::Title && !claim.is_called;
        let without_titles = of_type().filter(is_title).nth(1).is_some()
            && of_type().any(|claim| claim.strength == Strength::Alias);
        let claims = of_type().filter(|claim| !(without_titles && is_title(claim)));
        Self::each_once(claims.map(|claim| {
            let detail = u8::from(claim.article != article);
            (Grade { strength: claim.strength, detail }, claim.entry)
        }))
    }

    fn exact(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        self.claims(entry_type, self.whole.get(wanted.without_article()), wanted.article)
    }

    /// A name that is written in one word here and in several there.
    fn run_together(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        let tight = wanted.tight();
        let mut found = self.claims(entry_type, self.tight.get(&*tight), wanted.article);
        if found.is_empty() && tight != wanted.without_article() {
            found = self.claims(entry_type, self.whole.get(&*tight), wanted.article);
        }
        found
    }

    fn word(&self, word: &str) -> Option<&Word> {
        let at = self.words.binary_search_by(|known| (*known.text).cmp(word)).ok()?;
        self.words.get(at)
    }

    /// Entries of which every wanted word is a word of one name.
    fn parts(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        let mut rarest: Option<&[u32]> = None;
        for word in wanted.words() {
            let Some(known) = self.word(word) else { return vec![] };
            if rarest.is_none_or(|least| known.entries.len() < least.len()) {
                rarest = Some(&known.entries);
            }
        }
        self.graded_parts(entry_type, wanted, rarest.unwrap_or_default())
    }

    /// Entries of which every wanted word begins a word of one name.
    fn begun(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        let mut rarest: Option<Vec<u32>> = None;
        for word in wanted.words() {
            let from = self.words.partition_point(|known| *known.text < *word);
            let begun = self.words[from..].iter().take_while(|known| known.text.starts_with(word));
            let entries: Vec<u32> = begun.flat_map(|known| known.entries.iter().copied()).collect();
            if rarest.as_ref().is_none_or(|least| entries.len() < least.len()) {
                rarest = Some(entries);
            }
        }
        self.graded_parts(entry_type, wanted, &rarest.unwrap_or_default())
    }

    fn graded_parts(&self, entry_type: Option<EntryType>, wanted: &Key, entries: &[u32]) -> Found {
        let entries = entries.iter().filter(|entry| self.is_of(**entry, entry_type));
        Self::each_once(entries.filter_map(|entry| {
            let detail = self.bearers.get(*entry as usize)?.part(wanted)?;
            Some((Grade { strength: Strength::Partial, detail }, *entry))
        }))
    }

    /// Entries that are meant if the name has one slip of the finger in it, where that is clear.
    fn nearly(&self, entry_type: Option<EntryType>, wanted: &Key) -> Found {
        let text = wanted.without_article();
        let (own, chars) = (letters(text), text.chars().count());
        let near = self.texts.iter().filter(|known| {
            known.chars.abs_diff(chars) <= 1
                && may_be_near(known.letters, own, 1)
                && is_slip(&known.key, text)
        });
        let near = near.map(|known| self.claims(entry_type, self.whole.get(&known.key), wanted.article));
        let whole = only_clear(near);
        if !whole.is_empty() {
            return whole;
        }
        let words: Vec<&str> = wanted.words().collect();
        let mut unknown = words.iter().enumerate().filter(|(_, word)| self.word(word).is_none());
        let (Some((at, word)), None) = (unknown.next(), unknown.next()) else { return vec![] };
        let corrected = self.near_words(word).map(|better| {
            let mut words = words.clone();
            words[at] = better;
            let key = Key { text: words.join(" "), article: 0 };
            let exact = self.exact(entry_type, &key);
            if exact.is_empty() { self.parts(entry_type, &key) } else { exact }
        });
        only_clear(corrected)
    }

    /// Words of names that differ from `word`, which is folded, by a slip of the finger; in their order.
    pub(in crate::canon) fn near_words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        let own = letters(word);
        let near = self.words.iter().filter(move |known| may_be_near(known.letters, own, 1));
        near.map(|known| &*known.text).filter(move |known| is_slip(known, word))
    }

    /// Returns every entry that bears `name` as its name, title with name, or alias (compared folded): what a new entry would duplicate.
    pub fn same_name<'a>(&self, book: &'a Book, name: &str) -> Vec<&'a Entry> {
        let wanted = Key::of(name);
        let claims = self.whole.get(wanted.without_article()).into_iter().flatten();
        let mut entries: Vec<u32> = claims
            .filter(|claim| claim.is_called && claim.article == wanted.article)
            .map(|claim| claim.entry)
            .collect();
        entries.dedup();
        entries.into_iter().filter_map(|at| book.entries.get(at as usize)).collect()
    }

    /// Returns the place of the entry that bears `name` as its name, title, file stem or alias; never for a part of a name, nor for a guess.
    pub fn bearer(&self, book: &Book, name: &str) -> Option<usize> {
        let found = self.exact(None, &Key::of(name));
        let order = |(grade, at): &(Grade, u32)| {
            let entry = book.entries.get(*at as usize);
            (*grade, entry.map(|e| (e.name.chars().count(), e.path.clone(), e.heading.clone())), *at)
        };
        found.into_iter().min_by_key(order).map(|(_, at)| at as usize)
    }

    /// Returns up to `limit` names and aliases that are near to `name`, nearest first: the nearest of each entry.
    pub fn near_names(
        &self,
        book: &Book,
        entry_type: Option<EntryType>,
        name: &str,
        limit: usize,
    ) -> Vec<String> {
        let wanted = Key::of(name);
        let text = wanted.without_article();
        if text.is_empty() {
            return vec![];
        }
        let mut best: HashMap<u32, f64> = HashMap::new();
        let mut raise = |entry: u32, near: f64| {
            if near > 0.0 && self.is_of(entry, entry_type) {
                best.entry(entry).and_modify(|known| *known = near.max(*known)).or_insert(near);
            }
        };
        let (own, chars) = (letters(text), text.chars().count());
        for known in &self.texts {
            let allowed = allowed_edits(known.chars.max(chars), known.chars.min(chars));
            if known.chars.abs_diff(chars) <= allowed && may_be_near(known.letters, own, allowed as u32) {
                let near = likeness(text, &known.key);
                let claims = self.whole.get(&known.key).into_iter().flatten();
                let named = claims.filter(|c| matches!(c.strength, Strength::Name | Strength::Alias));
                named.for_each(|claim| raise(claim.entry, near));
            }
        }
        for (entry, near) in self.near_by_words(&wanted) {
            raise(entry, near);
        }
        // What was found word by word may be from several names of an entry; the best of them are looked at closely.
        let mut rough: Vec<(u32, f64)> = best.into_iter().collect();
        rough.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        rough.truncate(ROUGHLY_NEAR.max(limit));
        let closely = rough.into_iter().filter_map(|(at, _)| {
            let (entry, bearer) = (book.entries.get(at as usize)?, self.bearers.get(at as usize)?);
            let graded = bearer.parted().map(|name| (nearness(&wanted, &name.key), name.alias));
            let (near, alias) = graded.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            let name = alias.checked_sub(1).map_or(Some(&entry.name), |at| entry.aliases.get(at))?.as_str();
            (near > 0.0).then_some((near, name, entry))
        });
        let mut near: Vec<(f64, &str, &Entry)> = closely.collect();
        let order =
            |(_, name, entry): &(f64, &str, &Entry)| (name.len(), entry.path.clone(), entry.heading.clone());
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| order(a).cmp(&order(b))));
        near.truncate(limit);
        near.into_iter().map(|(_, name, _)| name.to_owned()).collect()
    }

    /// The likeness of the words of a name to words of entries' names, for every entry that has one.
    fn near_by_words(&self, wanted: &Key) -> HashMap<u32, f64> {
        let mut sums: HashMap<u32, f64> = HashMap::new();
        let count = wanted.words().count().max(1) as f64;
        for word in wanted.words() {
            let (own, chars) = (letters(word), word.chars().count());
            let mut here: HashMap<u32, f64> = HashMap::new();
            for known in &self.words {
                let longest = allowed_edits(chars.max(known.text.len()), chars) as u32;
                if !may_be_near(known.letters, own, longest) {
                    continue;
                }
                let near = likeness(word, &known.text);
                for entry in known.entries.iter().filter(|_| near > 0.0) {
                    here.entry(*entry).and_modify(|best| *best = near.max(*best)).or_insert(near);
                }
            }
            for (entry, near) in here {
                *sums.entry(entry).or_default() += BY_WORDS * near / count;
            }
        }
        sums
    }

    /// Returns all entries that a query names, the best grade of each.
    pub(in crate::canon) fn named_by(&self, query: &str) -> Found {
        let wanted = Key::of(query);
        if wanted.text.is_empty() { vec![] } else { self.candidates(None, &wanted) }
    }
}

/// The entries of the only way in which a slip can be put right; none where ways lead to different entries.
fn only_clear(ways: impl Iterator<Item = Found>) -> Found {
    let mut only: Found = vec![];
    for found in ways.filter(|found| !found.is_empty()) {
        let entries = |found: &Found| found.iter().map(|(_, entry)| *entry).collect::<Vec<_>>();
        if !only.is_empty() && entries(&only) != entries(&found) {
            return vec![];
        }
        only = found;
    }
    only.into_iter().map(|(grade, entry)| (Grade { strength: Strength::Near, ..grade }, entry)).collect()
}
