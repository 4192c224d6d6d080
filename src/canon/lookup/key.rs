//! The forms in which names are compared.

use crate::domain::codex::Entry;
use crate::domain::ids::BookPath;
use crate::domain::nearness::distance_within;
use crate::domain::passage::{fold, readable_stem};

/// Forms of address that may stand before a name without being a part of it.
const HONORIFICS: [&str; 63] = [
    "admiral",
    "agent",
    "aunt",
    "baron",
    "baroness",
    "brother",
    "capt",
    "captain",
    "chief",
    "col",
    "colonel",
    "commander",
    "constable",
    "count",
    "countess",
    "detective",
    "doctor",
    "don",
    "dona",
    "dr",
    "duchess",
    "duke",
    "emperor",
    "empress",
    "father",
    "frau",
    "general",
    "governor",
    "herr",
    "inspector",
    "judge",
    "king",
    "lady",
    "lieutenant",
    "lord",
    "lt",
    "madam",
    "madame",
    "major",
    "master",
    "mayor",
    "miss",
    "mister",
    "monsieur",
    "mother",
    "mr",
    "mrs",
    "ms",
    "officer",
    "president",
    "prince",
    "princess",
    "prof",
    "professor",
    "queen",
    "rev",
    "reverend",
    "senator",
    "senor",
    "sergeant",
    "sgt",
    "sir",
    "sister",
];

/// More of them, that are often names of their own when nothing follows.
const MORE_HONORIFICS: [&str; 6] = ["saint", "senora", "st", "uncle", "old", "young"];

/// The stem that names an entry's file: of a folder's main file it is the folder's name. `None` for an entry that shares its file with others.
pub fn stem(entry: &Entry) -> Option<String> {
    entry.heading.is_none().then(|| stem_of(&entry.path))
}

fn stem_of(path: &BookPath) -> String {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub text: String,
    /// Bytes of an article in front; 0 if there is none, or nothing else.
    pub article: usize,
}

impl Key {
    pub fn of(name: &str) -> Self {
        Self::of_bare(bare(name))
    }

    fn of_bare(text: String) -> Self {
        let article =
            ["the ", "a ", "an "].iter().find(|article| text.starts_with(**article)).map_or(0, |a| a.len());
        Self { text, article }
    }

    pub fn without_article(&self) -> &str {
        &self.text[self.article..]
    }

    pub fn words(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        self.without_article().split(' ')
    }

    /// Without spaces and apostrophes: `Black-Water` is `blackwater`, `O'Brien` is `obrien`.
    pub fn tight(&self) -> String {
        self.without_article().chars().filter(|c| *c != ' ' && *c != '\'').collect()
    }

    /// What it may be the plural of, as in `the Okafors`.
    pub fn singulars(&self) -> Vec<Self> {
        let mut found = vec![];
        let mut add = |end: &str, instead: &str| {
            if let Some(kept) = self.text.strip_suffix(end)
                && kept.rsplit(' ').next().is_some_and(|word| word.chars().nth(2).is_some())
            {
                found.push(Self { text: format!("{kept}{instead}"), article: self.article });
            }
        };
        if !self.text.ends_with("ss") {
            add("s", "");
        }
        add("es", "");
        add("ies", "y");
        found
    }

    /// The name without forms of address before it, as in `Captain Vale`; `None` where there is none, or nothing else.
    pub fn without_honorifics(&self) -> Option<Self> {
        let mut rest = self.without_article();
        while let Some((first, more)) = rest.split_once(' ')
            && (HONORIFICS.contains(&first) || MORE_HONORIFICS.contains(&first))
        {
            rest = more;
        }
        (rest.len() < self.without_article().len()).then(|| Self { text: rest.to_owned(), article: 0 })
    }

    /// 1 if every wanted word is a word of this name, 2 if every one begins a word of it (from two letters on).
    pub fn part(&self, wanted: &Self) -> Option<u8> {
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

/// Letters as bits, so that most pairs of words that are far from each other are told apart without looking at them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letters {
    /// Those that are there.
    once: u64,
    /// Those that are there twice at least.
    twice: u64,
}

pub fn letters(text: &str) -> Letters {
    let none = Letters { once: 0, twice: 0 };
    text.chars().fold(none, |Letters { once, twice }, c| {
        let bit = 1 << (u32::from(c) % 64);
        Letters { once: once | bit, twice: twice | (once & bit) }
    })
}

/// Whether `edits` edits may be enough between two texts with these letters: one edit takes one letter away at most, and brings one at most.
pub fn may_be_near(a: Letters, b: Letters, edits: u32) -> bool {
    let without =
        |a: Letters, b: Letters| (a.once & !b.once).count_ones() + (a.twice & !b.twice).count_ones();
    without(a, b) <= edits && without(b, a) <= edits
}

/// Whether two words differ by one slip of the finger (a letter too many, too few or wrong, or two swapped) and are long enough for that to say that
/// the same is meant. Figures are never a slip.
pub fn is_slip(a: &str, b: &str) -> bool {
    let (m, n) = (a.chars().count(), b.chars().count());
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    m.min(n) >= 4
        && m.abs_diff(n) <= 1
        && (m != n || m >= 5 || letters(a).once == letters(b).once)
        && distance_within(a, b, 1) == Some(1)
        && digits(a) == digits(b)
}

/// Edits that may lie between two words of which one is offered for the other: one in every three letters, and none in short words.
pub fn allowed_edits(long: usize, short: usize) -> usize {
    if short < 3 { 0 } else { (long / 3).min(4) }
}

/// The likeness of two words or names, or 0 where one would not be offered for the other.
pub fn likeness(a: &str, b: &str) -> f64 {
    let (m, n) = (a.chars().count(), b.chars().count());
    let allowed = allowed_edits(m.max(n), m.min(n));
    let longest = m.max(n);
    match distance_within(a, b, allowed) {
        Some(0) => 1.0,
        Some(away) => 1.0 - away as f64 / longest as f64,
        None => 0.0,
    }
}

/// What likeness by words is worth beside that of whole names.
pub const BY_WORDS: f64 = 0.9;

/// How near two names are, 0 for not at all: as wholes, or by their nearest words.
pub fn nearness(wanted: &Key, known: &Key) -> f64 {
    let whole = likeness(wanted.without_article(), known.without_article());
    let (mut by_words, mut words) = (0.0, 0);
    for word in wanted.words() {
        words += 1;
        by_words += known.words().map(|other| likeness(word, other)).fold(0.0, f64::max);
    }
    whole.max(BY_WORDS * by_words / f64::from(words.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::nearness::distance;

    #[test]
    fn a_slip_is_one_edit_in_a_word_that_is_long_enough() {
        for (a, b) in [
            ("okafr", "okafor"),
            ("adrain", "adrian"),
            ("mria", "mira"),
            ("valle", "vale"),
            ("lantarn", "lantern"),
        ] {
            assert!(is_slip(a, b) && is_slip(b, a), "{a} {b}");
        }
        for (a, b) in
            [("jane", "jade"), ("mira", "mira"), ("ab", "abc"), ("deck 4", "deck 5"), ("lamp 7", "lamp 17")]
        {
            assert!(!is_slip(a, b), "{a} {b}");
        }
    }

    #[test]
    fn plurals_and_forms_of_address_are_taken_off() {
        let singulars = |name| Key::of(name).singulars().into_iter().map(|k| k.text).collect::<Vec<_>>();
        assert_eq!(singulars("the Okafors"), ["the okafor"]);
        assert_eq!(singulars("the Joneses"), ["the jonese", "the jones"]);
        assert_eq!(singulars("Ladies"), ["ladie", "ladi", "lady"]);
        assert_eq!(singulars("the Ross"), ["the ro"; 0]);
        let bare = |name| Key::of(name).without_honorifics().map(|k| k.text);
        assert_eq!(bare("Captain Sir John Vale").as_deref(), Some("john vale"));
        assert_eq!(bare("the Captain"), None);
        assert_eq!(bare("Vale"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_near_word_is_passed_over(a in "[a-zé']{1,9}", b in "[a-zé']{1,9}") {
            let away = distance(&a, &b) as u32;
            proptest::prop_assert!(may_be_near(letters(&a), letters(&b), away));
        }
    }
}
