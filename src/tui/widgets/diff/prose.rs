//! Changes of prose made readable: by word where a sentence stays the same sentence, by sentence where it does not, and of a long
//! paragraph only the words around its changes. No word of a change is ever left out.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::proposal::diff::{Piece, Side};

/// Share of the letters that both texts must have in common to be shown as one text with its changes inside.
const COMMON_ENOUGH: f64 = 0.4;

/// The same for a sentence with more than [`FEW`] changes: so many marks read worse than the sentence before and after.
const COMMON_ENOUGH_FOR_MANY: f64 = 0.6;
const FEW: usize = 3;

/// Words of a paragraph that are shown before and after a change at least.
const AROUND: usize = 12;

/// Words more that are shown to reach the beginning or the end of a sentence.
const TO_SENTENCE: usize = 10;

/// Fewest words that are left out: less is not worth a mark.
const FEWEST_HIDDEN: usize = 10;

/// Brings the pieces of a paragraph to sentences: one that has become another is struck and replaced as a whole.
pub(super) fn by_sentence(pieces: &[Piece]) -> Vec<Piece> {
    let mut done = vec![];
    let mut sentence: Vec<Piece> = vec![];
    for piece in pieces {
        if piece.side != Side::Both {
            sentence.push(piece.clone());
            continue;
        }
        for part in piece.text.split_sentence_bounds() {
            sentence.push(Piece { side: Side::Both, text: part.to_owned() });
            if ends_a_sentence(part) {
                settle(std::mem::take(&mut sentence), &mut done);
            }
        }
    }
    settle(sentence, &mut done);
    done
}

fn ends_a_sentence(text: &str) -> bool {
    let words = text.trim_end();
    let closing = |c: char| matches!(c, '"' | '\'' | '”' | '’' | '»' | '›' | ')' | ']' | '*' | '_');
    words.len() < text.len()
        && words.trim_end_matches(closing).ends_with(['.', '?', '!', '…', '。', '？', '！'])
}

fn settle(sentence: Vec<Piece>, done: &mut Vec<Piece>) {
    if reads_as_one(&sentence) {
        for piece in sentence {
            push(done, piece);
        }
        return;
    }
    let (old, new) = (side_of(&sentence, Side::Old), side_of(&sentence, Side::New));
    // White space that both end in stays between this sentence and the next.
    let shared = &old[old.trim_end().len()..];
    let shared = if new.ends_with(shared) { shared } else { "" };
    let without = |text: &str| text[..text.len() - shared.len()].to_owned();
    push(done, Piece { side: Side::Old, text: without(&old) });
    push(done, Piece { side: Side::New, text: without(&new) });
    push(done, Piece { side: Side::Both, text: shared.to_owned() });
}

fn push(done: &mut Vec<Piece>, piece: Piece) {
    match done.last_mut() {
        _ if piece.text.is_empty() => {}
        Some(last) if last.side == piece.side => last.text.push_str(&piece.text),
        _ => done.push(piece),
    }
}

/// Returns the words of one side.
pub(super) fn side_of(pieces: &[Piece], side: Side) -> String {
    pieces.iter().filter(|p| p.side == Side::Both || p.side == side).map(|p| p.text.as_str()).collect()
}

/// Whether the two texts have so much in common that one text with its changes inside reads better than one after the other.
pub(super) fn reads_as_one(pieces: &[Piece]) -> bool {
    let letters = |of: Side| -> usize {
        let here = pieces.iter().filter(|p| p.side == of);
        here.flat_map(|p| p.text.chars()).filter(|c| c.is_alphanumeric()).count()
    };
    let (both, old, new) = (letters(Side::Both), letters(Side::Old), letters(Side::New));
    if old == 0 || new == 0 {
        return true;
    }
    let stays = |p: &Piece| p.side == Side::Both;
    let changes = pieces.chunk_by(|a, b| stays(a) == stays(b)).filter(|run| !stays(&run[0])).count();
    let asked = if changes > FEW { COMMON_ENOUGH_FOR_MANY } else { COMMON_ENOUGH };
    both as f64 >= asked * (both + old.max(new)) as f64
}

/// What is shown of words that both sides have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// These bytes.
    Words(Range<usize>),
    /// So many words are left out.
    Gap(usize),
}

/// Chooses what is shown of the words between two changes; `first` and `last`: no change stands before or after them.
pub(super) fn around(text: &str, first: bool, last: bool) -> Vec<Shown> {
    let words: Vec<(usize, &str)> = text.split_word_bound_indices().filter(|(_, w)| is_word(w)).collect();
    let all = 0..text.len();
    let ends: Vec<usize> = text.split_sentence_bound_indices().map(|(at, _)| at).collect();
    // The first byte that is hidden, and the first one that is shown again.
    let after = |count: usize| words.get(count).map_or(text.len(), |(at, _)| *at);
    let from = if first {
        0
    } else {
        let (near, far) = (after(AROUND), after(AROUND + TO_SENTENCE));
        ends.iter().copied().find(|end| (near..=far).contains(end)).unwrap_or(near)
    };
    let to = if last {
        text.len()
    } else {
        let back =
            |count: usize| words.len().checked_sub(count).and_then(|i| words.get(i)).map_or(0, |(at, _)| *at);
        let (near, far) = (back(AROUND), back(AROUND + TO_SENTENCE));
        ends.iter().rev().copied().find(|end| (far..=near).contains(end)).unwrap_or(near)
    };
    let hidden = words.iter().filter(|(at, _)| (from..to).contains(at)).count();
    if hidden < FEWEST_HIDDEN {
        return vec![Shown::Words(all)];
    }
    let mut shown = vec![Shown::Words(0..from), Shown::Gap(hidden), Shown::Words(to..text.len())];
    shown.retain(|part| !matches!(part, Shown::Words(range) if range.is_empty()));
    shown
}

fn is_word(bound: &str) -> bool {
    bound.chars().any(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::proposal::diff::hunks;

    fn read(old: &str, new: &str) -> Vec<(Side, String)> {
        let found = hunks(old, new);
        by_sentence(&found[0].pieces).into_iter().map(|p| (p.side, p.text)).collect()
    }

    use Side::{Both, New, Old};

    #[test]
    fn a_changed_word_stays_a_changed_word() {
        let found =
            read("She waits. His eyes are grey. It rains.\n", "She waits. His eyes are green. It rains.\n");
        let expected =
            [(Both, "She waits. His eyes are "), (Old, "grey"), (New, "green"), (Both, ". It rains.\n")];
        assert_eq!(found, expected.map(|(side, text)| (side, text.to_owned())));
    }

    #[test]
    fn a_sentence_that_has_become_another_is_replaced_as_a_whole() {
        let old = "She waits. The captain put his hand straight on the old switch. It rains.\n";
        let new = "She waits. Nobody in that corridor had a hand free to count the lamps. It rains.\n";
        let found = read(old, new);
        let expected = [
            (Both, "She waits. "),
            (Old, "The captain put his hand straight on the old switch."),
            (New, "Nobody in that corridor had a hand free to count the lamps."),
            (Both, " It rains.\n"),
        ];
        assert_eq!(found, expected.map(|(side, text)| (side, text.to_owned())));
    }

    #[test]
    fn of_a_long_paragraph_the_words_around_a_change_are_shown() {
        let long = (0..40).map(|i| format!("This is sentence number {i}. ")).collect::<Vec<_>>().concat();
        let gap =
            |shown: &[Shown]| shown.iter().find_map(|s| if let Shown::Gap(n) = s { Some(*n) } else { None });
        let before = around(&long, true, false);
        assert!(matches!(&before[..], [Shown::Gap(_), Shown::Words(range)] if range.end == long.len()));
        if let Shown::Words(range) = &before[1] {
            assert!(long[range.clone()].starts_with("This is"), "a sentence is shown from its start");
        }
        let between = around(&long, false, false);
        assert!(matches!(&between[..], [Shown::Words(_), Shown::Gap(_), Shown::Words(_)]), "{between:?}");
        assert!(gap(&between) < gap(&before));
        assert_eq!(around("Only a few words here.", true, false), [Shown::Words(0..22)]);
    }

    proptest! {
        #[test]
        fn no_word_is_lost(old in "([a-zé]{1,6}[ .?!\n]{1,2}){0,30}", new in "([a-zé]{1,6}[ .?!\n]{1,2}){0,30}") {
            for hunk in hunks(&old, &new) {
                let read = by_sentence(&hunk.pieces);
                for side in [Old, New] {
                    prop_assert_eq!(side_of(&read, side), side_of(&hunk.pieces, side));
                }
            }
        }

        #[test]
        fn what_is_shown_and_what_is_hidden_is_all_there_is(
            text in "([a-zé日]{1,6}[ .?!“”]{1,3}){0,80}", first: bool, last: bool,
        ) {
            let (mut at, mut words) = (0, 0);
            let shown = around(&text, first, last);
            for part in &shown {
                match part {
                    Shown::Words(range) => {
                        prop_assert!(range.start >= at);
                        at = range.end;
                        words += text[range.clone()].split_word_bounds().filter(|w| is_word(w)).count();
                    }
                    Shown::Gap(hidden) => words += hidden,
                }
            }
            prop_assert_eq!(words, text.split_word_bounds().filter(|w| is_word(w)).count());
        }
    }
}
