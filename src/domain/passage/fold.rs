//! Folding: the form of a text in which names are compared. Never shown to anyone.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds text for comparing names: case, accents, typographic quotes, possessive `'s`, and runs of white space, hyphens and underscores.
///
/// Folding what is folded changes nothing.
pub fn fold(text: &str) -> String {
    let mut folded = Folded::default();
    for c in text.chars() {
        folded.take(c);
    }
    let mut folded = folded.text;
    while let Some(short) = without_possessive(&folded) {
        folded.truncate(short);
    }
    folded
}

/// Folds text as [`fold()`] does, but for possessive endings, and says where each byte of it comes from: its place in `text`.
pub fn fold_with_places(text: &str) -> (String, Vec<usize>) {
    let mut folded = Folded { text: String::with_capacity(text.len()), gap: false };
    let mut places = Vec::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        folded.take(c);
        places.resize(folded.text.len(), at);
    }
    (folded.text, places)
}

/// Text that is being folded.
#[derive(Default)]
struct Folded {
    text: String,
    /// White space, a hyphen or an underscore stood before what comes next.
    gap: bool,
}

impl Folded {
    fn take(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.push(c.to_ascii_lowercase());
        } else {
            fold_char(c, &mut |c| self.push(c));
        }
    }

    fn push(&mut self, c: char) {
        if c.is_whitespace() || c == '_' || is_dash(c) {
            self.gap = true;
            return;
        }
        if std::mem::take(&mut self.gap) && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push(c);
    }
}

/// Returns the length that is left when the possessive ending is taken off.
fn without_possessive(folded: &str) -> Option<usize> {
    let stem = folded.strip_suffix("'s").or_else(|| folded.strip_suffix('\''))?.trim_end();
    stem.ends_with(char::is_alphanumeric).then_some(stem.len())
}

/// Gives the folded form of one character, piece by piece; nothing for marks and invisible characters.
pub(super) fn fold_char(c: char, push: &mut impl FnMut(char)) {
    if is_invisible(c) {
        return;
    }
    if is_quote(c) {
        push('\'');
        return;
    }
    for part in std::iter::once(c).nfkd().filter(|part| !is_combining_mark(*part)) {
        if is_quote(part) {
            push('\'');
            continue;
        }
        for small in part.to_lowercase().filter(|small| !is_combining_mark(*small)) {
            match small {
                'ø' => push('o'),
                'ł' => push('l'),
                'đ' | 'ð' => push('d'),
                'ı' => push('i'),
                'ß' => "ss".chars().for_each(&mut *push),
                'æ' => "ae".chars().for_each(&mut *push),
                'œ' => "oe".chars().for_each(&mut *push),
                'þ' => "th".chars().for_each(&mut *push),
                other => push(other),
            }
        }
    }
}

/// Quotation marks, apostrophes and primes other than the straight single one, all of which are one to a reader's eye.
pub(super) fn is_quote(c: char) -> bool {
    matches!(
        c,
        '"' | '\'' | '`' | '\u{b4}' | '\u{ab}' | '\u{bb}' | '\u{2bc}' | '\u{2018}'
            ..='\u{201f}' | '\u{2032}' | '\u{2033}' | '\u{2039}' | '\u{203a}' | '\u{ff02}' | '\u{ff07}'
    )
}

/// Hyphens, dashes and minus signs.
pub(super) fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{2010}'
            ..='\u{2015}' | '\u{2212}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}'
    )
}

/// Characters without a shape or a width: joiners, soft hyphens, marks of direction, variation selectors.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'
            ..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2064}'
                | '\u{2066}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_fold_alike() {
        let table = [
            ("Adrian Vale’s", "adrian vale"),
            ("  ADRIAN\u{a0}\u{2009}vale ", "adrian vale"),
            ("jon-snow", "jon snow"),
            ("Jon_Snow", "jon snow"),
            ("Søndergaard", "sondergaard"),
            ("Zoë Łukasz Strauß Æsir", "zoe lukasz strauss aesir"),
            ("Zoe\u{308}", "zoe"),
            ("O’Brien", "o'brien"),
            ("James'", "james"),
            ("Mi\u{ad}ra\u{2060}", "mira"),
            ("日本", "日本"),
            ("’s", "'s"),
            ("", ""),
        ];
        for (text, folded) in table {
            assert_eq!(fold(text), folded, "{text:?}");
        }
    }

    fn while_possessive(with: &str, without: &str) -> Result<(), proptest::test_runner::TestCaseError> {
        proptest::prop_assert!(with.starts_with(without));
        let rest = &with[without.len()..];
        proptest::prop_assert!(rest.chars().all(|c| matches!(c, '\'' | 's' | ' ')), "{rest:?}");
        Ok(())
    }

    proptest::proptest! {
        #[test]
        fn a_place_is_where_the_letter_comes_from(text in "\\PC{0,24}|[a-zß’'s \\-_ØłÆéİ\u{a0}\u{ad}]{0,16}") {
            let (folded, places) = fold_with_places(&text);
            proptest::prop_assert_eq!(folded.len(), places.len());
            proptest::prop_assert!(places.is_sorted());
            for (at, c) in folded.char_indices().filter(|(_, c)| *c != ' ') {
                let from = text[places[at]..].chars().next().unwrap();
                proptest::prop_assert!(fold(&from.to_string()).contains(c) || is_quote(from), "{from:?} {c:?}");
            }
            while_possessive(&folded, &fold(&text))?;
        }

        #[test]
        fn folding_twice_is_folding_once(text in "\\PC{0,24}|[a-zß’'s \\-_ØłÆéİ\u{a0}\u{ad}]{0,16}") {
            let once = fold(&text);
            proptest::prop_assert_eq!(fold(&once), once);
        }
    }
}
