//! Names that a careful reader would call near: a slip of the finger, the same surname with the same initial, one name inside the other,
//! letters of another script that look the same.
//!
//! A warning that is often wrong is soon not read, so that likeness alone is not enough.

use unicode_normalization::UnicodeNormalization;

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::nearness::distance;
use crate::domain::passage::fold;

/// Words in front of a name that are no part of it.
const HONORIFICS: [&str; 16] = [
    "mr",
    "mrs",
    "ms",
    "miss",
    "dr",
    "doctor",
    "prof",
    "professor",
    "sir",
    "lady",
    "lord",
    "captain",
    "father",
    "sister",
    "brother",
    "aunt",
];

/// Small words that say nothing alone.
const SMALL: [&str; 8] = ["the", "a", "an", "of", "and", "de", "von", "van"];

/// Returns the entries that bear a name near to `name`, each with that name, in the order of the book; at most `limit`.
pub(super) fn near<'a>(
    book: &'a Book,
    entry_type: EntryType,
    name: &str,
    limit: usize,
) -> Vec<(&'a str, &'a Entry)> {
    let wanted = words(name);
    let nearest = |entry: &'a Entry| {
        let people = entry_type == EntryType::Character && entry.entry_type == EntryType::Character;
        let names = std::iter::once(entry.name.as_str()).chain(entry.aliases.iter().map(String::as_str));
        names.into_iter().find(|known| are_near(&wanted, &words(known), people)).map(|known| (known, entry))
    };
    book.entries.iter().filter_map(nearest).take(limit).collect()
}

fn words(name: &str) -> Vec<String> {
    let spelled: String = name.nfkc().map(look).collect();
    let bare = fold(&spelled).replace(['\'', '\u{2019}'], "");
    let words = bare.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty());
    words.skip_while(|w| matches!(*w, "the" | "a" | "an")).map(str::to_owned).collect()
}

/// The Latin letter that a Cyrillic or Greek one can be taken for.
fn look(c: char) -> char {
    const FROM: &str = "АВЕЅІЈКМНОРСТУХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοα";
    const TO: &str = "ABESIJKMHOPCTYXaesijopcyxABEZHIKMNOPTYXoa";
    FROM.chars().position(|from| from == c).and_then(|at| TO.chars().nth(at)).unwrap_or(c)
}

fn are_near(a: &[String], b: &[String], people: bool) -> bool {
    if a.is_empty() || b.is_empty() {
        return false;
    }
    a == b || holds(a, b) || holds(b, a) || are_a_slip_apart(a, b) || people && are_namesakes(a, b)
}

/// Whether `inner` stands in `outer` word by word, and says something by itself.
fn holds(outer: &[String], inner: &[String]) -> bool {
    let says = inner.iter().any(|w| w.chars().count() >= 3 && !SMALL.contains(&w.as_str()));
    says && outer.len() > inner.len() && outer.windows(inner.len()).any(|part| part == inner)
}

/// Whether all words are the same but for one, or two with the same initials, that are a slip of the finger away.
fn are_a_slip_apart(a: &[String], b: &[String]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let differing: Vec<_> = a.iter().zip(b).filter(|(a, b)| a != b).collect();
    let same_initial = |one: &str, other: &str| one.chars().next() == other.chars().next();
    let slip = |(one, other): &(&String, &String)| {
        let numbers = one.chars().chain(other.chars()).any(|c| c.is_ascii_digit());
        let shortest = one.chars().count().min(other.chars().count());
        !numbers
            && match distance(one, other) {
                1 => shortest >= 4,
                2 => shortest >= 6 || shortest >= 4 && same_initial(one, other) && a.len() > 1,
                _ => false,
            }
    };
    match differing.as_slice() {
        [one] => slip(one),
        both @ [_, _] => both.iter().all(|pair| same_initial(pair.0, pair.1) && slip(pair)),
        _ => false,
    }
}

/// Whether two people have one surname and one initial, or one of them only a form of address before it.
fn are_namesakes(a: &[String], b: &[String]) -> bool {
    let ([first, .., last], [other_first, .., other_last]) = (a, b) else { return false };
    let address = |w: &String| HONORIFICS.contains(&w.as_str());
    last == other_last
        && (first.chars().next() == other_first.chars().next() || address(first) || address(other_first))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: &str, b: &str) -> bool {
        let near = are_near(&words(a), &words(b), true);
        assert_eq!(near, are_near(&words(b), &words(a), true), "{a} {b}");
        near
    }

    #[test]
    fn what_a_careful_reader_calls_near_is_near() {
        for (a, b) in [
            ("Adrian Vail", "Adrian Vale"),
            ("Adrain Vale", "Adrian Vale"),
            ("Adrien Vael", "Adrian Vale"),
            ("Lantren", "Lantern"),
            ("Martin Okafor", "Mira Okafor"),
            ("Captain Okafor", "Tobias Okafor"),
            ("Vale", "Adrian Vale"),
            ("The Halcyon", "Halcyon"),
            ("Quiet Hour", "The Quiet Hour of Lantern"),
            ("Søndergaard", "Ilse Sondergaard"),
            ("\u{410}drian Vale", "Adrian Vale"),
            ("Ｍｉｒａ Okafor", "Mira Okafor"),
            ("O\u{2019}Malley", "OMalley"),
        ] {
            assert!(is_near(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn what_only_shares_letters_or_a_common_word_is_not() {
        for (a, b) in [
            ("Hedda Brandt", "Ruth Adeyinka"),
            ("Ada", "Ida"),
            ("Post Nine", "Post Five"),
            ("Deck 1", "Deck 2"),
            ("The Long Room", "The Long Silence"),
            ("Tobias Okafor", "Mira Okafor"),
            ("Adrian Cole", "Adrian Vale"),
            ("Marian Dale", "Adrian Vale"),
            ("The Order of Ash", "The"),
            ("Mara", "Lena"),
            ("Kettle", "Settle Down"),
        ] {
            assert!(!is_near(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn every_letter_that_looks_latin_has_its_twin() {
        assert_eq!(look('О'), 'O');
        assert_eq!(look('α'), 'a');
        assert_eq!(look('б'), 'б');
    }
}
