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
    /// Whether the text so far ends in something else than white space.
    inside: bool,
    /// Whether the word that it ends in is counted already.
    counted: bool,
}

/// Bytes that are looked at together.
const BLOCK: usize = 32;

impl WordCounter {
    /// Reads the next piece.
    pub fn read(&mut self, piece: &str) {
        let mut rest = piece;
        while let Some(block) = rest.as_bytes().first_chunk::<BLOCK>() {
            let sure = self.counted == self.inside;
            let plain = plain_words(block, self.inside).filter(|_| sure);
            let end = if let Some(words) = plain {
                self.words += words;
                self.inside = !separates(block[BLOCK - 1]);
                self.counted = self.inside;
                BLOCK
            } else {
                let end = rest.ceil_char_boundary(BLOCK);
                self.read_slowly(&rest[..end]);
                end
            };
            rest = &rest[end..];
        }
        self.read_slowly(rest);
    }

    /// Returns the words so far, the last one included.
    pub fn words(&self) -> usize {
        self.words
    }

    fn read_slowly(&mut self, piece: &str) {
        for c in piece.chars() {
            let counts = c.is_alphanumeric();
            self.inside = !c.is_whitespace();
            self.words += usize::from(counts && !self.counted);
            self.counted = (self.counted || counts) && self.inside;
        }
    }
}

/// Counts the words that begin in a block of plain prose: ASCII, and every word begins with a letter or a digit. `None` for anything else.
/// A loop over fixed lengths without a branch, so that the compiler makes vector instructions of it.
fn plain_words(block: &[u8; BLOCK], inside: bool) -> Option<usize> {
    let mut before = [if inside { b'x' } else { b' ' }; BLOCK];
    before[1..].copy_from_slice(&block[..BLOCK - 1]);
    let (mut words, mut odd) = (0_u8, 0_u8);
    for (byte, before) in block.iter().zip(before) {
        let begins = u8::from(separates(before)) & u8::from(!separates(*byte));
        words += begins;
        odd |= (byte >> 7) | (begins & u8::from(!counts(*byte)));
    }
    (odd == 0).then_some(usize::from(words))
}

/// Whether an ASCII character is white space, the vertical tab included.
fn separates(byte: u8) -> bool {
    byte == b' ' || byte.wrapping_sub(b'\t') < 5
}

/// Whether an ASCII character is a letter or a digit.
fn counts(byte: u8) -> bool {
    (byte | 0x20).wrapping_sub(b'a') < 26 || byte.wrapping_sub(b'0') < 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_a_letter_or_a_digit() {
        assert_eq!(count_words("“Wait,” she said—1912 … don’t"), 4);
        assert_eq!(count_words(" * * * \n"), 0);
        assert_eq!(count_words("one\u{b}two\u{a0}three"), 3);
    }

    #[test]
    fn ascii_is_told_apart_as_unicode_does() {
        for byte in 0..128_u8 {
            let c = char::from(byte);
            assert_eq!((separates(byte), counts(byte)), (c.is_whitespace(), c.is_alphanumeric()), "{c:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn pieces_count_as_the_whole_does(pieces in proptest::collection::vec(r"([a-z0-9]{1,9}[ \n\x0B—’*é\u{a0}\u{85}]|[ *]|\PC){0,30}", 0..8)) {
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
