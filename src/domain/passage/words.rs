//! Counting words of prose. A whole novel is counted when it is opened, so this reads bytes where it can.

/// Counts words of prose: what stands between white space and holds a letter or a digit.
pub fn count_words(text: &str) -> usize {
    let mut counter = WordCounter::default();
    counter.read(text);
    counter.words()
}

/// Counts the words of a text that comes in pieces. A piece may end inside a word.
#[derive(Debug, Clone, Default)]
pub struct WordCounter {
    words: usize,
    /// Whether the word that the text so far ends in is counted already.
    counted: bool,
}

impl WordCounter {
    /// Reads the next piece.
    pub fn read(&mut self, piece: &str) {
        let bytes = piece.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            let kind = if byte.is_ascii() {
                at += 1;
                ASCII[usize::from(*byte)]
            } else {
                let c = piece[at..].chars().next().unwrap_or_default();
                at += c.len_utf8();
                Kind::of(c)
            };
            // Without a branch: where words begin can't be foretold.
            self.words += usize::from(kind.counts && !self.counted);
            self.counted = (self.counted || kind.counts) && !kind.separates;
        }
    }

    /// Returns the words so far, the last one included.
    pub fn words(&self) -> usize {
        self.words
    }
}

/// What a character is for the counting of words.
#[derive(Debug, Clone, Copy)]
struct Kind {
    counts: bool,
    separates: bool,
}

impl Kind {
    fn of(c: char) -> Self {
        Self { counts: c.is_alphanumeric(), separates: c.is_whitespace() }
    }
}

const ASCII: [Kind; 128] = {
    let mut table = [Kind { counts: false, separates: false }; 128];
    let mut byte = 0;
    while byte < 128 {
        let c = byte as u8;
        // The vertical tab is white space too, which `is_ascii_whitespace` leaves out.
        table[byte] =
            Kind { counts: c.is_ascii_alphanumeric(), separates: c.is_ascii_whitespace() || c == 0x0b };
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_a_letter_or_a_digit() {
        assert_eq!(count_words("“Wait,” she said—1912 … don’t"), 4);
        assert_eq!(count_words(" * * * \n"), 0);
        assert_eq!(count_words("one\u{b}two\u{a0}three"), 3);
    }

    proptest::proptest! {
        #[test]
        fn pieces_count_as_the_whole_does(pieces in proptest::collection::vec(r"([a-z0-9 \n\x0B—’*é\u{a0}\u{85}]|\PC){0,6}", 0..8)) {
            let mut counter = WordCounter::default();
            for piece in &pieces {
                counter.read(piece);
            }
            let whole = pieces.concat();
            let slowly = whole.split_whitespace().filter(|w| w.chars().any(char::is_alphanumeric)).count();
            proptest::prop_assert_eq!(counter.words(), slowly);
            proptest::prop_assert_eq!(count_words(&whole), slowly);
        }
    }
}
