//! Places in a text: words, paragraphs, lines, hashes, and quotations found in spite of typography.
//!
//! Pure functions over text of any origin. Offsets are bytes and always stand on character boundaries; nothing
//! here changes a text, and no input makes it panic.

mod comments;
mod fold;
mod html;
mod paragraphs;
mod quote;
mod words;

use std::borrow::Cow;

use sha2::{Digest, Sha256};

pub use comments::comments;
pub use fold::{fold, fold_with_places};
pub use html::{html_heading, without_html};
pub use paragraphs::{cut, paragraphs};
pub use quote::{Found, Searchable, find_quote, is_of_word};
pub use words::{WordCounter, count_words};

/// Returns the SHA-256 of `bytes` as lowercase hex.
pub fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let mut hex = String::with_capacity(64);
    for byte in digest {
        hex.push(char::from(DIGITS[usize::from(byte >> 4)]));
        hex.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    hex
}

/// Returns line and column (in characters) of a byte offset, both from 1. An offset inside a character counts as its
/// start, one behind the text as its end.
pub fn line_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
    (line, before[start..].chars().count() + 1)
}

/// Returns the text with a line feed for every carriage return where its lines end in carriage returns alone, as the old Mac OS wrote them; `None` for any
/// other text. Every byte keeps its place.
pub fn old_mac_lines(text: &str) -> Option<String> {
    (text.contains('\r') && !text.contains('\n')).then(|| text.replace('\r', "\n"))
}

/// Makes a file stem readable: `03-the-long_night` becomes `The Long Night`.
///
/// An ordering number (up to three digits) or a symbol in front is left out when something else remains. Letter case is
/// changed only in a stem without capitals.
pub fn readable_stem(stem: &str) -> String {
    let words: Vec<&str> =
        stem.split(|c: char| c == '-' || c == '_' || c.is_whitespace()).filter(|w| !w.is_empty()).collect();
    let is_order = |word: &&str| {
        let digits = word.trim_end_matches(['.', ')']);
        !digits.chars().any(char::is_alphabetic)
            && (digits.len() <= 3 || !digits.chars().all(|c| c.is_ascii_digit()))
    };
    let from = words.iter().position(|w| !is_order(w)).unwrap_or(0);
    let words = &words[from..];
    let keep_case = stem.chars().any(char::is_uppercase);
    let mut readable = String::with_capacity(stem.len());
    for (at, word) in words.iter().enumerate() {
        if at > 0 {
            readable.push(' ');
        }
        let word =
            if keep_case || (at > 0 && is_small(word)) { Cow::Borrowed(*word) } else { capitalised(word) };
        readable.push_str(&word);
    }
    if readable.is_empty() { stem.to_owned() } else { readable }
}

/// Words that stay small inside an English title.
fn is_small(word: &str) -> bool {
    matches!(word, "a" | "an" | "and" | "at" | "by" | "for" | "in" | "of" | "on" | "or" | "the" | "to")
}

/// Capitalises the first letter, behind marks such as quotation marks.
fn capitalised(word: &str) -> Cow<'_, str> {
    match word.char_indices().find(|(_, c)| c.is_alphanumeric()) {
        Some((at, first)) if first.is_lowercase() => {
            let (marks, rest) = (&word[..at], &word[at + first.len_utf8()..]);
            Cow::Owned(format!("{marks}{}{rest}", first.to_uppercase()))
        }
        _ => Cow::Borrowed(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_holds_a_letter_or_a_digit() {
        assert_eq!(count_words(""), 0);
        assert_eq!(count_words("One — two,  three\u{a0}4 * * *\n\n…"), 4);
        assert_eq!(count_words("don't well-known Søndergaard"), 3);
    }

    #[test]
    fn a_hash_is_lowercase_hex() {
        assert_eq!(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn a_place_is_told_in_lines_and_characters() {
        let text = "é1\r\nü2\n";
        assert_eq!(line_column(text, 0), (1, 1));
        assert_eq!(line_column(text, 2), (1, 2));
        assert_eq!(line_column(text, 1), (1, 1), "inside a character");
        assert_eq!(line_column(text, 7), (2, 2));
        assert_eq!(line_column(text, 99), (3, 1));
    }

    #[test]
    fn lines_of_the_old_mac_os_are_lines_and_no_others_are_touched() {
        assert_eq!(old_mac_lines("a\r\ré\r").as_deref(), Some("a\n\né\n"));
        for text in ["", "a", "a\n", "a\r\nb\r\n", "a\rb\n"] {
            assert_eq!(old_mac_lines(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_stem_becomes_a_title() {
        let table = [
            ("03-the-long_night", "The Long Night"),
            ("adrian-vale", "Adrian Vale"),
            ("Jon_Snow", "Jon Snow"),
            ("the-house-of-sand", "The House of Sand"),
            ("01. McGregor's farm", "McGregor's farm"),
            ("chapter-3", "Chapter 3"),
            ("🐉 dragons", "Dragons"),
            ("03", "03"),
            ("1984", "1984"),
            ("élan", "Élan"),
            ("the-\"long\"-night", "The \"Long\" Night"),
            ("---", "---"),
        ];
        for (stem, title) in table {
            assert_eq!(readable_stem(stem), title, "{stem}");
        }
    }
}
