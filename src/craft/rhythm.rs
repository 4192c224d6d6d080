//! Rhythm: how long sentences are, and how much that varies.

use std::ops::Range;

use super::Prose;

/// Sentence lengths of a text, in words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rhythm {
    /// Number of sentences.
    pub sentences: usize,
    /// Mean length; 0 without sentences.
    pub mean: f64,
    /// Standard deviation of the length (of the whole text, not of a sample).
    pub spread: f64,
    /// The longest sentence: its bytes. Of several, the first.
    pub longest: Option<Range<usize>>,
    /// Words of the longest sentence.
    pub longest_words: usize,
    /// Words of the shortest sentence.
    pub shortest_words: usize,
    /// Every length in reading order.
    pub lengths: Vec<usize>,
}

impl Rhythm {
    /// Measures a text.
    pub fn of(prose: &Prose<'_>) -> Self {
        let lengths: Vec<usize> = prose.sentences().iter().map(|s| s.words.len()).collect();
        let Some(&longest_words) = lengths.iter().max() else { return Self::default() };
        let count = lengths.len() as f64;
        let mean = lengths.iter().sum::<usize>() as f64 / count;
        let variance = lengths.iter().map(|l| (*l as f64 - mean).powi(2)).sum::<f64>() / count;
        Self {
            sentences: lengths.len(),
            mean,
            spread: variance.sqrt(),
            longest: prose
                .sentences()
                .iter()
                .find(|s| s.words.len() == longest_words)
                .map(|s| s.range.clone()),
            longest_words,
            shortest_words: lengths.iter().min().copied().unwrap_or_default(),
            lengths,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_spread_are_of_words() {
        let text = "He ran. She followed him to the gate. Rain.";
        let rhythm = Rhythm::of(&Prose::of(text));
        assert_eq!(rhythm.lengths, [2, 6, 1]);
        assert!((rhythm.mean - 3.0).abs() < 1e-9);
        // Squares of -1, 3 and -2 over three.
        assert!((rhythm.spread - (14.0_f64 / 3.0).sqrt()).abs() < 1e-9);
        assert_eq!(&text[rhythm.longest.unwrap()], "She followed him to the gate.");
        assert_eq!((rhythm.longest_words, rhythm.shortest_words), (6, 1));
    }
}
