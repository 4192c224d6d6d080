//! Measurements of prose: rhythm, dialogue, echoes, openings, filter words, passive voice, adverbs, readability, who is on stage.
//!
//! Pure functions over a text. They count and point; they hold no opinion, know no book and use no model. What they point at are byte
//! ranges of the text that was given, so that whoever shows a finding can quote it exactly. The word lists are English; counts of
//! sentences, words and dialogue work for other languages too.

pub mod dialogue;
pub mod diction;
pub mod echo;
mod lexicon;
pub mod opening;
pub mod prose;
pub mod readability;
pub mod rhythm;
pub mod stage;

pub use dialogue::Dialogue;
pub use echo::Echo;
pub use opening::Openings;
pub use prose::{Prose, Sentence};
pub use readability::Readability;
pub use rhythm::Rhythm;
pub use stage::OnStage;

/// Words within which a repeated word is heard as an echo: about two paragraphs of dialogue, or one of narration.
pub const ECHO_WINDOW: usize = 40;

/// Everything that is measured of one text, except for who is on stage (which needs names).
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Words of prose.
    pub words: usize,
    /// Sentence lengths.
    pub rhythm: Rhythm,
    /// What is spoken.
    pub dialogue: Dialogue,
    /// Content words that return within [`ECHO_WINDOW`] words, most insistent first.
    pub echoes: Vec<Echo>,
    /// How sentences begin.
    pub openings: Openings,
    /// Verbs of perception and thought in the narration that stand between the reader and the scene.
    pub filter_words: Vec<std::ops::Range<usize>>,
    /// Passive constructions.
    pub passives: Vec<std::ops::Range<usize>>,
    /// Adverbs in -ly.
    pub adverbs: Vec<std::ops::Range<usize>>,
    /// How easily it reads.
    pub readability: Readability,
}

impl Reading {
    /// Measures a text.
    pub fn of(prose: &Prose<'_>) -> Self {
        let dialogue = Dialogue::of(prose);
        Self {
            words: prose.words().len(),
            rhythm: Rhythm::of(prose),
            echoes: echo::echoes(prose, ECHO_WINDOW),
            openings: Openings::of(prose),
            filter_words: diction::filter_words(prose, &dialogue),
            passives: diction::passives(prose),
            adverbs: diction::adverbs(prose),
            readability: Readability::of(prose),
            dialogue,
        }
    }

    /// Returns how many of `count` there are in 1,000 words.
    pub fn per_thousand(&self, count: usize) -> f64 {
        if self.words == 0 { 0.0 } else { count as f64 * 1000.0 / self.words as f64 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_without_prose_measures_nothing() {
        for text in ["", "\n\n", "# Turnover\n\n* * *\n", "---\ntitle: x\n---\n"] {
            let reading = Reading::of(&Prose::of(text));
            assert_eq!((reading.words, reading.rhythm.sentences), (0, 0), "{text:?}");
            assert!(reading.rhythm.mean.abs() < f64::EPSILON && reading.per_thousand(3).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn a_rate_is_by_a_thousand_words() {
        let reading = Reading::of(&Prose::of(&"Salt is white. ".repeat(100)));
        assert_eq!(reading.words, 300);
        assert!((reading.per_thousand(3) - 10.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn whatever_is_pointed_at_can_be_quoted(text in "([ \n\"“”'’.!?…*_#>-]|[A-Za-zéß日🙂]{1,6}|was seen |slowly |saw ){0,80}") {
            let prose = Prose::of(&text);
            let reading = Reading::of(&prose);
            let ranges = [
                reading.dialogue.spoken.clone(),
                reading.filter_words.clone(),
                reading.passives.clone(),
                reading.adverbs.clone(),
                reading.echoes.iter().flat_map(|e| e.places.clone()).collect(),
                reading.openings.runs.iter().flat_map(|r| r.sentences.clone()).collect(),
                prose.sentences().iter().map(|s| s.range.clone()).collect(),
            ];
            for range in ranges.into_iter().flatten() {
                prop_assert!(text.get(range.clone()).is_some_and(|t| !t.trim().is_empty()), "{range:?}");
            }
            let words: usize = reading.rhythm.lengths.iter().sum();
            prop_assert_eq!(words, reading.words);
        }
    }
}
