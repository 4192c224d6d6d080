//! Echoes: content words that return before the reader has forgotten them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::{Prose, lexicon};

/// Letters that a content word has at least.
const MIN_LETTERS: usize = 4;

/// A word that returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Echo {
    /// The word as it stands first, in lower case.
    pub word: String,
    /// Bytes of each time that it stands there, in order; at least two.
    pub places: Vec<Range<usize>>,
}

/// Finds content words that stand at most `window` words after themselves, in any inflection: most often repeated first, then closest together.
///
/// Names are left out (words that stand with a capital within a sentence), and so are words that carry no picture.
pub fn echoes(prose: &Prose<'_>, window: usize) -> Vec<Echo> {
    let names = names(prose);
    let mut groups: HashMap<String, Vec<Vec<usize>>> = HashMap::new();
    for index in 0..prose.words().len() {
        let word = prose.word(index).to_lowercase();
        let stem = stem(&word);
        if word.chars().count() < MIN_LETTERS
            || lexicon::COMMON.contains(word.replace('’', "'").as_str())
            || names.contains(stem)
        {
            continue;
        }
        let runs = groups.entry(stem.to_owned()).or_default();
        match runs.last_mut() {
            Some(run) if run.last().is_some_and(|last| index - last <= window) => run.push(index),
            _ => runs.push(vec![index]),
        }
    }
    let mut found: Vec<(usize, Vec<usize>)> = groups
        .into_values()
        .flatten()
        .filter(|run| run.len() > 1)
        .map(|run| ((run[run.len() - 1] - run[0]) / (run.len() - 1), run))
        .collect();
    found.sort_by(|(gap, run), (other_gap, other)| {
        other.len().cmp(&run.len()).then(gap.cmp(other_gap)).then(run[0].cmp(&other[0]))
    });
    let echo = |run: Vec<usize>| Echo {
        word: prose.word(run[0]).to_lowercase(),
        places: run.iter().map(|i| prose.words()[*i].clone()).collect(),
    };
    found.into_iter().map(|(_, run)| echo(run)).collect()
}

/// Stems of the words that stand with a capital elsewhere than at the beginning of a sentence or speech.
fn names(prose: &Prose<'_>) -> HashSet<String> {
    let mut names = HashSet::new();
    for sentence in prose.sentences() {
        for index in sentence.words.clone().skip(1) {
            let range = &prose.words()[index];
            let before = prose.text()[..range.start].trim_end_matches(' ').chars().next_back();
            let speech = matches!(before, Some('"' | '“' | '‘' | '\'' | '«' | '„' | '*' | '_'));
            if !speech && prose.word(index).starts_with(char::is_uppercase) {
                names.insert(stem(&prose.word(index).to_lowercase()).to_owned());
            }
        }
    }
    names
}

/// Cuts the commonest English endings, so that `looked` and `looking` are one word.
fn stem(word: &str) -> &str {
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    for ending in ["ing", "edly", "ed", "es", "ly", "s"] {
        if let Some(stem) = word.strip_suffix(ending)
            && stem.chars().count() >= MIN_LETTERS
            && !stem.ends_with('s')
        {
            return stem;
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(text: &str, window: usize) -> Vec<(String, usize)> {
        echoes(&Prose::of(text), window).into_iter().map(|e| (e.word, e.places.len())).collect()
    }

    #[test]
    fn a_word_that_returns_soon_is_an_echo_in_any_inflection() {
        let text = "The lantern glowed. He lifted the lantern, and the lanterns answered, glowing.";
        assert_eq!(heard(text, 40), [("lantern".to_owned(), 3), ("glowed".to_owned(), 2)]);
        assert_eq!(
            heard(text, 4),
            [("lantern".to_owned(), 2)].into_iter().chain([]).collect::<Vec<_>>()[..1].to_vec()
        );
    }

    #[test]
    fn names_and_small_words_are_no_echoes() {
        assert_eq!(heard("Then Mira said that Mira would have what Mira would have.", 40), []);
        assert_eq!(heard("Salt. Then something else, and salt.", 40), [("salt".to_owned(), 2)]);
    }
}
