//! Words as an index sees them: folded, and reduced to their stems where the language of the book is known.

use rust_stemmers::{Algorithm, Stemmer};

use crate::domain::passage::{fold, is_of_word};

/// How the words of one language are reduced to stems (Snowball, <https://snowballstem.org>). A language that is not known has no stems: its words
/// are found as they stand.
pub struct Language {
    stemmer: Option<Stemmer>,
    /// Words that say nothing about what is looked for.
    small: &'static [&'static str],
}

/// English; in other languages the rarity of a word decides alone.
const SMALL_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had",
    "has", "have", "he", "her", "his", "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or",
    "our", "she", "that", "the", "their", "they", "this", "to", "was", "we", "were", "what", "when", "where",
    "which", "who", "whom", "whose", "why", "with", "you", "your",
];

impl Language {
    /// Takes a language tag such as `en` or `pt-BR`. None means English.
    pub fn of(tag: Option<&str>) -> Self {
        let primary = tag.unwrap_or("en").split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        let algorithm = match primary.as_str() {
            "en" => Algorithm::English,
            "ar" => Algorithm::Arabic,
            "da" => Algorithm::Danish,
            "nl" => Algorithm::Dutch,
            "fi" => Algorithm::Finnish,
            "fr" => Algorithm::French,
            "de" => Algorithm::German,
            "el" => Algorithm::Greek,
            "hu" => Algorithm::Hungarian,
            "it" => Algorithm::Italian,
            "no" | "nb" | "nn" => Algorithm::Norwegian,
            "pt" => Algorithm::Portuguese,
            "ro" => Algorithm::Romanian,
            "ru" => Algorithm::Russian,
            "es" => Algorithm::Spanish,
            "sv" => Algorithm::Swedish,
            "ta" => Algorithm::Tamil,
            "tr" => Algorithm::Turkish,
            _ => return Self { stemmer: None, small: &[] },
        };
        let small = if primary == "en" { SMALL_WORDS } else { &[] };
        Self { stemmer: Some(Stemmer::create(algorithm)), small }
    }

    /// Returns the stem of a folded word.
    pub fn stem<'a>(&self, word: &'a str) -> std::borrow::Cow<'a, str> {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word),
            None => word.into(),
        }
    }

    /// Whether a folded word says nothing about what is looked for.
    pub fn is_small(&self, word: &str) -> bool {
        self.small.contains(&word)
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Language").field("stems", &self.stemmer.is_some()).finish_non_exhaustive()
    }
}

/// Gives every word of `text`, folded, in order. A possessive is the word itself. Scripts that write without spaces give
/// a word for every letter: they are found as phrases.
pub fn each_word(text: &str, mut take: impl FnMut(&str)) {
    let folded = fold(text);
    for run in folded.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        let word = run.strip_suffix("'s").unwrap_or(run).trim_matches('\'');
        if word.is_ascii() || word.chars().all(is_of_word) {
            if !word.is_empty() {
                take(word);
            }
            continue;
        }
        let mut from = 0;
        for (at, c) in word.char_indices().filter(|(_, c)| !is_of_word(*c) && *c != '\'') {
            if from < at {
                take(&word[from..at]);
            }
            from = at + c.len_utf8();
            take(&word[at..from]);
        }
        if from < word.len() {
            take(&word[from..]);
        }
    }
}

/// A query, taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// The words that count, folded, each once, with their stems. Small words only if there are no others.
    pub terms: Vec<Term>,
    /// The stems of all its words, in order: what a phrase has to be.
    pub phrase: Vec<String>,
}

/// A word that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// As it was written, folded.
    pub word: String,
    /// Its stem.
    pub stem: String,
}

/// Most words of a query that count.
const MAX_TERMS: usize = 32;

impl Query {
    /// Takes a query apart. What goes beyond thirty-two words does not count.
    pub fn of(text: &str, language: &Language) -> Self {
        let mut phrase = vec![];
        let mut all: Vec<Term> = vec![];
        each_word(text, |word| {
            if phrase.len() == MAX_TERMS {
                return;
            }
            let stem = language.stem(word).into_owned();
            phrase.push(stem.clone());
            if !all.iter().any(|known| known.stem == stem) {
                all.push(Term { word: word.to_owned(), stem });
            }
        });
        let mut terms = all.clone();
        terms.retain(|term| !language.is_small(&term.word));
        Self { terms: if terms.is_empty() { all } else { terms }, phrase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = vec![];
        each_word(text, |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn words_are_folded_and_possessives_are_the_word_itself() {
        assert_eq!(
            words("The Captain’s—Élan, “don’t” O'Brien's"),
            ["the", "captain", "elan", "don't", "o'brien"]
        );
        assert_eq!(words("東京 tower"), ["東", "京", "tower"]);
        assert_eq!(words("日X'本"), ["日", "x'", "本"]);
        assert_eq!(words(" … '' ’s"), ["s"; 0]);
    }

    #[test]
    fn a_query_counts_its_telling_words_in_the_stems_of_the_language() {
        let query = |text, tag| Query::of(text, &Language::of(tag));
        let english = query("who keeps the radio logs", None);
        let stems: Vec<_> = english.terms.iter().map(|t| t.stem.as_str()).collect();
        assert_eq!(stems, ["keep", "radio", "log"]);
        assert_eq!(english.phrase, ["who", "keep", "the", "radio", "log"]);
        assert_eq!(query("the who", Some("en-GB")).terms.len(), 2, "there are no others");
        assert_eq!(query("Häuser", Some("de")).terms[0].stem, query("Haus", Some("de")).terms[0].stem);
        assert_eq!(query("keeps", Some("tlh")).terms[0].stem, "keeps", "no stemming in an unknown language");
        assert!(query(" “”", None).terms.is_empty());
        assert!(query(&"x y z ".repeat(900), None).phrase.len() <= MAX_TERMS);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_words(text in "\\PC{0,40}|[a-z'日本 ’é-]{0,30}", tag in "[a-z-]{0,5}") {
            for word in words(&text) {
                proptest::prop_assert!(!word.is_empty() && !word.contains(' '));
                Language::of(Some(&tag)).stem(&word);
            }
        }
    }
}
