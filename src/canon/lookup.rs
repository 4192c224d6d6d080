//! Finding one entry by a name as a person or a model would write it.
//!
//! Pure and deterministic: the same book and name give the same answer, whatever the order of the entries.

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::ids::BookPath;
use crate::domain::nearness::{distance, similarity};
use crate::domain::passage::{fold, readable_stem};

/// How strongly a candidate matches, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The name itself.
    Name,
    /// The title, alone or with the name.
    Title,
    /// The file's stem (in the folder shape: the folder's name).
    Stem,
    /// An alias.
    Alias,
    /// A whole word, or the beginning of one, of the name or an alias.
    Partial,
}

/// What a lookup came to.
#[derive(Debug, Clone)]
pub struct Lookup<'a> {
    /// The best entry with the strength of its match.
    pub best: Option<(&'a Entry, Strength)>,
    /// Other entries that match just as well.
    pub also_matched: Vec<&'a Entry>,
    /// Up to three near names, when nothing matched.
    pub near: Vec<String>,
}

/// Names that are offered when nothing matched.
const MAX_NEAR: usize = 3;

/// Looks `name` up among the entries of `entry_type`, or of all types. Letter case, accents, typography, punctuation, an article in front
/// and a possessive ending do not count. Ties go to the shortest name, then to the path.
pub fn find<'a>(book: &'a Book, entry_type: Option<EntryType>, name: &str) -> Lookup<'a> {
    let wanted = Key::of(name);
    let mut candidates: Vec<(Grade, &Entry)> = of_type(book, entry_type)
        .filter_map(|entry| grade(entry, &wanted).map(|grade| (grade, entry)))
        .collect();
    candidates.sort_by_key(|(grade, entry)| (*grade, entry.name.chars().count(), &entry.path));
    let Some((best_grade, best)) = candidates.first().copied() else {
        let near = near_names(book, entry_type, name, MAX_NEAR);
        return Lookup { best: None, also_matched: vec![], near };
    };
    let as_good = candidates[1..].iter().take_while(|(grade, _)| *grade == best_grade);
    Lookup {
        best: Some((best, best_grade.strength)),
        also_matched: as_good.map(|(_, entry)| *entry).collect(),
        near: vec![],
    }
}

/// Returns every entry that bears `name` as its name, title with name, or alias (compared folded): what a new entry would duplicate.
pub fn same_name<'a>(book: &'a Book, name: &str) -> Vec<&'a Entry> {
    let wanted = bare(name);
    if wanted.is_empty() {
        return vec![];
    }
    book.entries.iter().filter(|entry| entry.names().iter().any(|known| bare(known) == wanted)).collect()
}

/// Returns up to `limit` names and aliases that are near to `name`, nearest first: the nearest of each entry.
pub fn near_names(book: &Book, entry_type: Option<EntryType>, name: &str, limit: usize) -> Vec<String> {
    let wanted = Key::of(name);
    if wanted.text.is_empty() {
        return vec![];
    }
    let mut near: Vec<(f64, String, &BookPath)> = of_type(book, entry_type)
        .filter_map(|entry| {
            let names = std::iter::once(&entry.name).chain(&entry.aliases);
            let graded = names.map(|known| (nearness(&wanted, &Key::of(known)), known.clone()));
            let best = graded.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
            (best.0 > 0.0).then_some((best.0, best.1, &entry.path))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1.len(), a.2).cmp(&(b.1.len(), b.2))));
    near.truncate(limit);
    near.into_iter().map(|(_, name, _)| name).collect()
}

fn of_type(book: &Book, entry_type: Option<EntryType>) -> impl Iterator<Item = &Entry> {
    book.entries.iter().filter(move |entry| entry_type.is_none_or(|wanted| entry.entry_type == wanted))
}

/// How well an entry matches; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Grade {
    strength: Strength,
    /// 0: to the letter; 1: but for an article; for a part of a name 2: a whole word, 3: the beginning of one; higher in an alias.
    detail: u8,
}

fn grade(entry: &Entry, wanted: &Key) -> Option<Grade> {
    if wanted.text.is_empty() {
        return None;
    }
    let name = Key::of(&entry.name);
    if let Some(detail) = name.equals(wanted) {
        return Some(Grade { strength: Strength::Name, detail });
    }
    if let Some(title) = &entry.title {
        let last = entry.name.split_whitespace().next_back().unwrap_or_default();
        for known in [title.clone(), format!("{title} {}", entry.name), format!("{title} {last}")] {
            if let Some(detail) = Key::of(&known).equals(wanted) {
                return Some(Grade { strength: Strength::Title, detail });
            }
        }
    }
    if let Some(detail) = Key::of(&stem(&entry.path)).equals(wanted) {
        return Some(Grade { strength: Strength::Stem, detail });
    }
    let aliases: Vec<Key> = entry.aliases.iter().map(|alias| Key::of(alias)).collect();
    if let Some(detail) = aliases.iter().filter_map(|alias| alias.equals(wanted)).min() {
        return Some(Grade { strength: Strength::Alias, detail });
    }
    let in_name = name.part(wanted).map(|part| 2 * part);
    let in_alias = aliases.iter().filter_map(|alias| alias.part(wanted)).min().map(|part| 2 * part + 1);
    let detail = in_name.into_iter().chain(in_alias).min()?;
    Some(Grade { strength: Strength::Partial, detail })
}

/// The stem that names an entry's file: of a folder's main file it is the folder's name.
fn stem(path: &BookPath) -> String {
    let stem = match path.stem().to_lowercase().as_str() {
        "dossier" | "index" | "_index" | "readme" => path.parent().map(|p| p.rsplit('/').next().unwrap_or(p)),
        _ => None,
    };
    readable_stem(stem.unwrap_or_else(|| path.stem()))
}

/// Folds a name and drops its punctuation, so that `Dr. Quist` is `dr quist`.
fn bare(name: &str) -> String {
    let spaced: String = name
        .chars()
        .map(|c| if c.is_ascii_punctuation() && c != '\'' && c != '#' { ' ' } else { c })
        .collect();
    fold(fold(&spaced).trim_matches(|c: char| !c.is_alphanumeric() && c != '#'))
}

/// A name ready to be compared.
struct Key {
    text: String,
    /// Bytes of an article in front; 0 if there is none, or nothing else.
    article: usize,
}

impl Key {
    fn of(name: &str) -> Self {
        let text = bare(name);
        let article =
            ["the ", "a ", "an "].iter().find(|article| text.starts_with(**article)).map_or(0, |a| a.len());
        Self { text, article }
    }

    fn without_article(&self) -> &str {
        &self.text[self.article..]
    }

    fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.without_article().split(' ')
    }

    /// 0 if both are the same, 1 if only an article differs.
    fn equals(&self, wanted: &Self) -> Option<u8> {
        if self.text == wanted.text {
            Some(0)
        } else {
            (!wanted.text.is_empty() && self.without_article() == wanted.without_article()).then_some(1)
        }
    }

    /// 1 if every wanted word is a word of this name, 2 if every one begins a word of it (from two letters on).
    fn part(&self, wanted: &Self) -> Option<u8> {
        let whole = |word: &str| self.words().any(|known| known == word);
        let begun =
            |word: &str| word.chars().nth(1).is_some() && self.words().any(|known| known.starts_with(word));
        if wanted.words().all(whole) {
            Some(1)
        } else {
            wanted.words().all(|word| whole(word) || begun(word)).then_some(2)
        }
    }
}

/// How near two names are, 0 for not at all: as wholes, or by their nearest words.
fn nearness(wanted: &Key, known: &Key) -> f64 {
    let (a, b) = (wanted.without_article(), known.without_article());
    let whole = if is_typo(a, b) { similarity(a, b) } else { 0.0 };
    let mut by_words = 0.0;
    let mut words = 0;
    for word in wanted.words() {
        words += 1;
        let nearest = known.words().filter(|other| is_typo(word, other)).map(|other| similarity(word, other));
        by_words += nearest.fold(0.0, f64::max);
    }
    whole.max(0.9 * by_words / f64::from(words.max(1)))
}

/// Whether two words are a slip of the finger apart: an edit in every three letters at most, and short words not at all.
fn is_typo(a: &str, b: &str) -> bool {
    let (long, short) = (a.chars().count().max(b.chars().count()), a.chars().count().min(b.chars().count()));
    let allowed = if short < 3 { 0 } else { (long / 3).min(4) };
    long - short <= allowed && (a == b || distance(a, b) <= allowed)
}

/// Ranks texts by their likeness to `wanted`, most alike first; ties keep their order. For names that are offered in place of one that was not found.
pub(super) fn by_likeness<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<(f64, &'a str)> {
    let wanted = Key::of(wanted);
    let mut ranked: Vec<(f64, &str)> = known
        .into_iter()
        .map(|text| {
            let key = Key::of(text);
            let alike = similarity(wanted.without_article(), key.without_article());
            (nearness(&wanted, &key).max(alike), text)
        })
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::shelf::{With, book, entry};

    fn library() -> Book {
        book(vec![
            entry("characters/adrian-vale/dossier.md", "Adrian Vale")
                .title("Captain")
                .aliases(&["the Superintendent", "Adrian"]),
            entry("characters/mira-okafor.md", "Mira Okafor").aliases(&["Miss Okafor"]),
            entry("characters/tobias-okafor.md", "Tobias Okafor"),
            entry("characters/ilse.md", "Ilse Søndergaard").title("Doctor").aliases(&["Dr. Søndergaard"]),
            entry("locations/lantern.md", "Lantern"),
            entry("locations/the-line.md", "The Line"),
            entry("locations/hall.md", "The Seamen’s Hall"),
            entry("items/linehan.md", "Linehan"),
            entry("items/lamp-7.md", "Old Lamp"),
        ])
    }

    #[test]
    fn a_name_is_found_as_it_is_said() {
        use Strength::{Alias, Name, Partial, Stem, Title};
        let table = [
            ("Adrian Vale", "Adrian Vale", Name),
            ("adrian vale's", "Adrian Vale", Name),
            ("“ADRIAN-VALE”", "Adrian Vale", Name),
            ("Captain Vale", "Adrian Vale", Title),
            ("captain adrian vale", "Adrian Vale", Title),
            ("the Captain", "Adrian Vale", Title),
            ("Superintendent", "Adrian Vale", Alias),
            ("vale", "Adrian Vale", Partial),
            ("Vale, Adrian", "Adrian Vale", Partial),
            ("Dr Sondergaard", "Ilse Søndergaard", Alias),
            ("ilse", "Ilse Søndergaard", Stem),
            ("sonder", "Ilse Søndergaard", Partial),
            ("the lantern", "Lantern", Name),
            ("line", "The Line", Name),
            ("seamen's hall", "The Seamen’s Hall", Name),
            ("lamp 7", "Old Lamp", Stem),
            ("okafor", "Mira Okafor", Partial),
        ];
        for (said, name, strength) in table {
            let book = library();
            let found = find(&book, None, said);
            let best = found.best.map(|(entry, strength)| (entry.name.as_str(), strength));
            assert_eq!(best, Some((name, strength)), "{said:?} {:?}", found.near);
            assert!(found.near.is_empty());
        }
    }

    #[test]
    fn ties_go_to_the_shortest_name_and_are_told() {
        let book = library();
        let found = find(&book, Some(EntryType::Character), "Okafor");
        let others: Vec<_> = found.also_matched.iter().map(|e| e.name.as_str()).collect();
        assert_eq!((found.best.unwrap().0.name.as_str(), others), ("Mira Okafor", vec!["Tobias Okafor"]));
        assert!(find(&book, Some(EntryType::Location), "Okafor").best.is_none());
        assert!(
            find(&book, None, "line").also_matched.is_empty(),
            "a whole name is better than the beginning of one"
        );
    }

    #[test]
    fn what_is_not_found_has_near_names() {
        let book = library();
        let near = |said| find(&book, None, said).near;
        assert_eq!(near("Adrain Vael"), ["Adrian Vale"]);
        assert_eq!(near("Captain Okafor")[..2], ["Mira Okafor", "Tobias Okafor"]);
        assert_eq!(near("the Okafors")[..2], ["Mira Okafor", "Tobias Okafor"]);
        assert_eq!(near("Lantren"), ["Lantern"]);
        assert_eq!(near("Zanzibar"), [""; 0]);
        for nothing in ["", "  ", "’s", "...", "the"] {
            assert!(find(&book, None, nothing).best.is_none(), "{nothing:?}");
        }
    }

    #[test]
    fn a_taken_name_is_known_by_every_name_of_its_entry() {
        let book = library();
        let taken = |name| same_name(&book, name).iter().map(|e| e.name.as_str()).collect::<Vec<_>>();
        assert_eq!(taken("ADRIAN VALE"), ["Adrian Vale"]);
        assert_eq!(taken("captain vale"), ["Adrian Vale"]);
        assert_eq!(taken("Dr Søndergaard"), ["Ilse Søndergaard"]);
        assert_eq!(taken("Vale"), [""; 0]);
        assert_eq!(taken(""), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn any_name_can_be_asked_for(name in "\\PC{0,20}|[a-z' .-]{0,12}") {
            let book = library();
            let found = find(&book, None, &name);
            proptest::prop_assert!(found.near.len() <= 3);
            same_name(&book, &name);
        }
    }
}
