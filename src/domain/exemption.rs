//! Places that look like something and are not, as the author said once and for all.
//!
//! An exemption is anchored to the words around it instead of a line, so that it outlives edits elsewhere in its file.

use super::ids::BookPath;

/// Some words in a file that are not what they look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exemption {
    /// Whom or what the words do not mean: the name that was searched for.
    pub is_not: String,
    /// The file.
    pub file: BookPath,
    /// The words themselves, as they stand there.
    pub words: String,
    /// Up to [`ANCHOR_WORDS`] words before them.
    pub before: String,
    /// Up to [`ANCHOR_WORDS`] words behind them.
    pub after: String,
}

/// Words that are kept on either side.
pub const ANCHOR_WORDS: usize = 5;

/// Words on both sides together that must still be there.
const ENOUGH: usize = 3;

impl Exemption {
    /// How well these surroundings are the remembered ones: the number of words next to the place that are the same; `None` where too few are.
    pub fn fits(&self, words: &str, before: &str, after: &str) -> Option<usize> {
        if self.words != words {
            return None;
        }
        let same = |a: &mut dyn Iterator<Item = &str>, b: &mut dyn Iterator<Item = &str>| {
            a.zip(b).take_while(|(a, b)| a == b).count()
        };
        let left = same(&mut self.before.split_whitespace().rev(), &mut before.split_whitespace().rev());
        let right = same(&mut self.after.split_whitespace(), &mut after.split_whitespace());
        let all = self.before.split_whitespace().count() + self.after.split_whitespace().count();
        (left + right >= ENOUGH.min(all)).then_some(left + right)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_known_again_by_the_words_around_it() {
        let exemption = Exemption {
            is_not: "Adrian Vale".into(),
            file: BookPath::new("manuscript/01.md").unwrap(),
            words: "Vale".into(),
            before: "down the whole length of".into(),
            after: "Street, where nobody had".into(),
        };
        assert_eq!(exemption.fits("Vale", "down the whole length of", "Street, where nobody had"), Some(9));
        assert_eq!(exemption.fits("Vale", "up the length of", "Street, where somebody had"), Some(4));
        assert_eq!(exemption.fits("Vale", "and then down", "Street, where nobody lived"), Some(3));
        assert_eq!(exemption.fits("Vale", "because of", "Street."), None);
        assert_eq!(exemption.fits("Vale’s", "down the whole length of", "Street, where nobody had"), None);
    }
}
