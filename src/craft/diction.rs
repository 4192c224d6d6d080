//! Choice of words: filter words, passive voice, adverbs in -ly. English word lists and rules of thumb, so findings are hints.

use std::ops::Range;

use super::{Dialogue, Prose, lexicon};

/// Finds verbs of perception and thought in the narration: `she saw`, `he noticed`. What is spoken is left out.
pub fn filter_words(prose: &Prose<'_>, dialogue: &Dialogue) -> Vec<Range<usize>> {
    let words = prose.words().iter().filter(|range| !dialogue.holds(range.start));
    words
        .filter(|range| lexicon::FILTERS.contains(prose.text()[(*range).clone()].to_lowercase().as_str()))
        .cloned()
        .collect()
}

/// Finds adverbs that end in -ly.
pub fn adverbs(prose: &Prose<'_>) -> Vec<Range<usize>> {
    let is_adverb = |word: &str| {
        let lower = word.to_lowercase();
        lower.len() > 4 && lower.ends_with("ly") && !lexicon::NO_ADVERBS.contains(lower.as_str())
    };
    let capital_inside = |index: usize, word: &str| {
        word.starts_with(char::is_uppercase) && !prose.sentences().iter().any(|s| s.words.start == index)
    };
    let words = prose.words().iter().enumerate();
    words
        .filter(|(index, range)| {
            let word = &prose.text()[(*range).clone()];
            is_adverb(word) && !capital_inside(*index, word)
        })
        .map(|(_, range)| range.clone())
        .collect()
}

/// Finds passive voice: a form of *to be*, perhaps an adverb or two, a past participle. Each range goes from the verb to the participle.
pub fn passives(prose: &Prose<'_>) -> Vec<Range<usize>> {
    let mut found = vec![];
    for sentence in prose.sentences() {
        for index in sentence.words.clone() {
            if !matches!(
                prose.word(index).to_lowercase().as_str(),
                "am" | "is" | "are" | "was" | "were" | "be" | "been" | "being"
            ) {
                continue;
            }
            // The words up to the participle must follow without a mark between them.
            let next = (index + 1..sentence.words.end).take(3).take_while(|i| only_space_before(prose, *i));
            let participle = next.clone().find(|i| !is_between(prose.word(*i)));
            if let Some(last) = participle.filter(|i| is_participle(&prose.word(*i).to_lowercase())) {
                found.push(prose.words()[index].start..prose.words()[last].end);
            }
        }
    }
    found
}

fn only_space_before(prose: &Prose<'_>, index: usize) -> bool {
    let (before, word) = (&prose.words()[index - 1], &prose.words()[index]);
    prose.text()[before.end..word.start].chars().all(char::is_whitespace)
}

/// Words that may stand between *to be* and its participle.
fn is_between(word: &str) -> bool {
    let word = word.to_lowercase();
    matches!(
        word.as_str(),
        "not"
            | "never"
            | "always"
            | "already"
            | "still"
            | "just"
            | "almost"
            | "once"
            | "often"
            | "soon"
            | "also"
    ) || (word.len() > 4 && word.ends_with("ly"))
}

fn is_participle(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ed") && !lexicon::STATES.contains(word))
        || lexicon::IRREGULAR.contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, find: impl Fn(&Prose<'_>) -> Vec<Range<usize>>) -> Vec<&str> {
        find(&Prose::of(text)).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn filter_words_count_in_the_narration_only() {
        let text = "She saw the ship. \"I saw it,\" he thought aloud. Watched, it went.";
        let filters = |prose: &Prose<'_>| filter_words(prose, &Dialogue::of(prose));
        assert_eq!(found(text, filters), ["saw", "thought", "Watched"]);
    }

    #[test]
    fn adverbs_are_no_families_and_no_places() {
        let text = "Slowly the early family came from Italy, friendly, and only then quickly left.";
        assert_eq!(found(text, adverbs), ["Slowly", "quickly"]);
    }

    #[test]
    fn passive_voice_is_a_form_of_to_be_with_a_participle() {
        for (text, expected) in [
            ("The lock was opened by him.", vec!["was opened"]),
            ("They had been slowly and badly led.", vec![]),
            ("It has never been finally written down.", vec!["been finally written"]),
            ("She was tired. He was red. It was, opened, a door. It is a hundred.", vec![]),
            ("The dead were not counted.", vec!["were not counted"]),
        ] {
            assert_eq!(found(text, passives), expected, "{text:?}");
        }
    }
}
