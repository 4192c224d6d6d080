//! Readability: how easily an English text reads, by word and sentence length.
//!
//! Flesch reading ease: R. Flesch, "A new readability yardstick", Journal of Applied Psychology 32 (1948),
//! <https://doi.org/10.1037/h0057532>. Flesch-Kincaid grade: J. P. Kincaid et al., "Derivation of new readability formulas" (1975),
//! <https://stars.library.ucf.edu/istlibrary/56/>. Syllables are counted by groups of vowels, which errs by a few in a hundred.

use super::Prose;

/// How easily a text reads.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Readability {
    /// Flesch reading ease: about 90 for a child's book, 60 to 80 for most novels, 30 for a scholar's page. 0 without prose.
    pub ease: f64,
    /// Flesch-Kincaid grade: years of (US) school.
    pub grade: f64,
    /// Syllables in all words.
    pub syllables: usize,
}

impl Readability {
    /// Measures a text.
    pub fn of(prose: &Prose<'_>) -> Self {
        if prose.words().is_empty() {
            return Self::default();
        }
        let syllables = (0..prose.words().len()).map(|i| syllables(prose.word(i))).sum();
        let words = prose.words().len() as f64;
        let words_per_sentence = words / prose.sentences().len() as f64;
        let syllables_per_word = syllables as f64 / words;
        Self {
            ease: 206.835 - 1.015 * words_per_sentence - 84.6 * syllables_per_word,
            grade: 0.39 * words_per_sentence + 11.8 * syllables_per_word - 15.59,
            syllables,
        }
    }
}

/// Counts the syllables of an English word; at least one.
pub fn syllables(word: &str) -> usize {
    let word = word.to_lowercase();
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(&word);
    let vowel = |c: char| "aeiouyáàâäéèêëíìîïóòôöúùûüæœø".contains(c);
    let letters: Vec<char> = word.chars().collect();
    let groups =
        letters.iter().enumerate().filter(|(i, c)| vowel(**c) && (*i == 0 || !vowel(letters[i - 1]))).count();
    // A final e is silent, except in -le after a consonant; so is the e of -ed, except after d and t.
    let silent = match letters[..] {
        [.., before, 'l', 'e'] => vowel(before),
        [.., before, 'e'] => !vowel(before),
        [.., before, 'e', 'd'] => !vowel(before) && !matches!(before, 'd' | 't'),
        _ => false,
    };
    groups.saturating_sub(usize::from(silent)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syllables_are_counted_as_they_are_spoken() {
        for (word, count) in [
            ("cat", 1),
            ("the", 1),
            ("table", 2),
            ("whole", 1),
            ("walked", 1),
            ("wanted", 2),
            ("lantern", 2),
            ("superintendent", 5),
            ("Mira's", 2),
            ("naïve", 1),
            ("xyz", 1),
            ("31", 1),
        ] {
            assert_eq!(syllables(word), count, "{word}");
        }
    }

    #[test]
    fn the_formula_is_the_published_one() {
        // Six words of one syllable each in one sentence.
        let easy = Readability::of(&Prose::of("The cat sat on the mat."));
        assert!((easy.ease - 116.145).abs() < 1e-6, "{easy:?}");
        assert!((easy.grade + 1.45).abs() < 1e-6, "{easy:?}");
        assert_eq!(easy.syllables, 6);
    }
}
