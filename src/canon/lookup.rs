//! Finding one entry by a name as a person or a model would write it.
//!
//! Pure and deterministic: the same book and name give the same answer, whatever the order of the entries.

mod key;
mod known;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::nearness::similarity;
use key::{Key, nearness};

pub use known::Known;

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
    /// A part of the name or an alias, or all of it in another form: in the plural, behind a form of address, in one word instead of two.
    Partial,
    /// A slip of the finger away from one of these.
    Near,
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

/// Looks `name` up among the entries of `entry_type`, or of all types. Letter case, accents, typography, punctuation, hyphens, an article in front
/// and a possessive ending do not count. Ties go to the shortest name, then to the path.
///
/// What is no name to the letter is tried, in this order, as words of one; as a plural (`the Okafors`); written together or apart; without a form of
/// address (`Captain Vale`, whether or not the entry has the title); as the beginning of words; and with one slip of the finger put right, if that
/// leads to one name only. Nothing of that counts where an entry of another type bears the very name.
///
/// For one lookup; a [`Known`] answers many.
pub fn find<'a>(book: &'a Book, entry_type: Option<EntryType>, name: &str) -> Lookup<'a> {
    Known::of(book).find(book, entry_type, name)
}

/// Returns every entry that bears `name` as its name, title with name, or alias (compared folded): what a new entry would duplicate.
pub fn same_name<'a>(book: &'a Book, name: &str) -> Vec<&'a Entry> {
    Known::of(book).same_name(book, name)
}

/// Returns up to `limit` names and aliases that are near to `name`, nearest first: the nearest of each entry.
pub fn near_names(book: &Book, entry_type: Option<EntryType>, name: &str, limit: usize) -> Vec<String> {
    Known::of(book).near_names(book, entry_type, name, limit)
}

/// How well an entry matches; the least is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grade {
    /// In which way.
    pub strength: Strength,
    /// 0: to the letter; 1: but for an article; for a part of a name 2: a whole word, 3: the same of an alias, 4 and 5: the beginning of one.
    pub detail: u8,
}

impl Grade {
    /// The same where the name had to be changed for it.
    fn guessed(self) -> Self {
        let by_strength = match self.strength {
            Strength::Partial | Strength::Near => 0,
            whole => whole as u8,
        };
        Self { strength: Strength::Partial, detail: 8 + 2 * by_strength + self.detail }
    }
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
        use Strength::{Alias, Name, Near, Partial, Stem, Title};
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
            ("the Vales'", "Adrian Vale", Partial),
            ("the Lanterns", "Lantern", Partial),
            ("Commander Vale", "Adrian Vale", Partial),
            ("Captain Søndergaard", "Ilse Søndergaard", Partial),
            ("Linehans", "Linehan", Partial),
            ("Old-Lamp", "Old Lamp", Name),
            ("oldlamp", "Old Lamp", Partial),
            ("Seamens Hall", "The Seamen’s Hall", Partial),
            ("Adrain Vale", "Adrian Vale", Near),
            ("Captain Vael", "Adrian Vale", Near),
            ("Lantren", "Lantern", Near),
            ("Sondergard", "Ilse Søndergaard", Near),
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
    fn a_guess_that_several_entries_fit_says_so() {
        let book = library();
        for said in ["Captain Okafor", "the Okafors", "Okafr"] {
            let found = find(&book, Some(EntryType::Character), said);
            let others: Vec<_> = found.also_matched.iter().map(|e| e.name.as_str()).collect();
            let best = found.best.map(|(entry, _)| entry.name.as_str());
            assert_eq!((best, others), (Some("Mira Okafor"), vec!["Tobias Okafor"]), "{said}");
        }
    }

    #[test]
    fn a_title_that_several_bear_yields_to_an_alias() {
        let mut book = library();
        book.entries.push(entry("characters/z.md", "Zoe Ash").title("Captain"));
        let found = find(&book, None, "the Captain");
        assert_eq!((found.best.unwrap().0.name.as_str(), found.also_matched.len()), ("Zoe Ash", 1));
        book.entries[0].aliases.push("the Captain".into());
        let found = find(&book, None, "the Captain");
        assert_eq!((found.best.unwrap().0.name.as_str(), found.also_matched.len()), ("Adrian Vale", 0));
    }

    #[test]
    fn a_slip_that_could_be_two_names_is_not_guessed() {
        let book = self::book(vec![
            entry("characters/a.md", "Marten"),
            entry("characters/b.md", "Martin"),
            entry("locations/c.md", "Harbour"),
            entry("characters/d.md", "Harbout"),
        ]);
        let found = find(&book, None, "Martan");
        assert!(found.best.is_none() && found.near == ["Marten", "Martin"], "{found:?}");
        let harbour = find(&book, Some(EntryType::Character), "Harbour");
        assert!(harbour.best.is_none(), "there is a place of this very name");
    }

    #[test]
    fn entries_of_one_file_are_found_by_their_names_and_not_by_the_file() {
        let of = |name: &str| crate::domain::codex::Entry {
            heading: Some(name.to_owned()),
            ..entry("characters/people.md", name)
        };
        let book = self::book(vec![of("Mira Okafor"), of("Tobias Okafor")]);
        assert_eq!(find(&book, None, "Tobias").best.unwrap().0.name, "Tobias Okafor");
        assert!(find(&book, None, "people").best.is_none());
    }

    #[test]
    fn names_that_follow_a_book_are_those_of_the_book() {
        let mut book = library();
        let known = std::sync::Arc::new(Known::of(&book));
        assert!(std::sync::Arc::ptr_eq(&known, &Known::following(&known, &book)));
        book.entries.remove(1);
        book.entries[0].aliases.push("Heron".into());
        book.entries.push(entry("items/bell.md", "Bell"));
        let known = Known::following(&known, &book);
        for said in
            ["Okafor", "Mira", "Heron", "Bell", "Lantern", "Vale", "Lantren", "Zanzibar", "the Okafors"]
        {
            let (a, b) = (known.find(&book, None, said), find(&book, None, said));
            assert_eq!(format!("{a:?}"), format!("{b:?}"), "{said}");
        }
    }

    #[test]
    fn a_name_that_comes_with_the_story_is_a_name() {
        let mut book = library();
        let known = std::sync::Arc::new(Known::of(&book));
        let steps = serde_json::json!([{"from": 3, "aliases": ["Judas", "the Drowned"]}, {"from": 4, "aka": "Lazarus, Rook"}]);
        book.entries[0].fields.insert("progressions".into(), steps);
        let known = Known::following(&known, &book);
        for said in ["Judas", "the drowned", "Lazarus", "Rook's"] {
            let found = known.find(&book, None, said);
            assert_eq!(
                found.best.map(|(e, s)| (&*e.name, s)),
                Some(("Adrian Vale", Strength::Alias)),
                "{said}"
            );
        }
        assert_eq!(known.near_names(&book, None, "Lazares", 3), ["Adrian Vale"]);
    }

    #[test]
    fn what_is_not_found_has_near_names() {
        let book = library();
        let near = |said| find(&book, None, said).near;
        assert_eq!(near("Adrain Vael"), ["Adrian Vale"]);
        assert_eq!(near("Tobius Okafur")[..1], ["Tobias Okafor"]);
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
