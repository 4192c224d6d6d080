//! Openings: the words that sentences begin with.

use std::collections::HashMap;
use std::ops::Range;

use super::Prose;

/// Sentences in a row from which a repeated beginning is heard.
const MIN_RUN: usize = 3;

/// How the sentences of a text begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Openings {
    /// The commonest first word, in lower case, and how many sentences begin with it. Of several, the first in the text.
    pub commonest: Option<(String, usize)>,
    /// Three or more sentences in a row that begin with the same word, longest run first.
    pub runs: Vec<Run>,
}

/// Sentences in a row with the same beginning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The word, in lower case.
    pub word: String,
    /// Bytes of the sentences, in order.
    pub sentences: Vec<Range<usize>>,
}

impl Openings {
    /// Measures a text.
    pub fn of(prose: &Prose<'_>) -> Self {
        let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
        let mut runs: Vec<Run> = vec![];
        for (place, sentence) in prose.sentences().iter().enumerate() {
            let word = prose.word(sentence.words.start).to_lowercase();
            counts.entry(word.clone()).or_insert((0, place)).0 += 1;
            match runs.last_mut().filter(|run| run.word == word) {
                Some(run) => run.sentences.push(sentence.range.clone()),
                None => runs.push(Run { word, sentences: vec![sentence.range.clone()] }),
            }
        }
        runs.retain(|run| run.sentences.len() >= MIN_RUN);
        runs.sort_by_key(|run| std::cmp::Reverse(run.sentences.len()));
        let commonest =
            counts.into_iter().max_by_key(|(_, (count, place))| (*count, std::cmp::Reverse(*place)));
        Self { commonest: commonest.map(|(word, (count, _))| (word, count)), runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_three_in_a_row() {
        let text = "She ran. She fell. Rain. She rose. \"She!\" She laughed. She wept. It passed.";
        let openings = Openings::of(&Prose::of(text));
        assert_eq!(openings.commonest, Some(("she".to_owned(), 6)));
        assert_eq!(openings.runs.len(), 1);
        let run: Vec<_> = openings.runs[0].sentences.iter().map(|r| &text[r.clone()]).collect();
        assert_eq!(run, ["She rose.", "\"She!\"", "She laughed.", "She wept."]);
    }
}
