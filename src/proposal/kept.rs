//! How much of what a proposal brought still stands in a text.
//!
//! Words are compared as they follow one another (the longest common run of words, as differences are shown), not by meaning: a word that was moved counts as new, and
//! one that happens to be written again at the same place counts as kept.

use similar::{Algorithm, DiffTag};
use unicode_segmentation::UnicodeSegmentation;

/// Characters that a change brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Brought {
    /// In the text as the change left it.
    pub added: usize,
    /// Of these, in the text as it is now.
    pub still_there: usize,
}

/// Compares a text without a change, with it, and as it is now (`None`: it is gone).
pub fn brought(without: &str, with: &str, now: Option<&str>) -> Brought {
    let cut = |text: &str| -> Vec<String> { text.split_word_bounds().map(str::to_owned).collect() };
    let (without, with) = (cut(without), cut(with));
    let mut is_new = vec![false; with.len()];
    for op in similar::capture_diff_slices(Algorithm::Histogram, &without, &with) {
        if op.tag() != DiffTag::Equal {
            is_new[op.new_range()].fill(true);
        }
    }
    let chars = |at: usize| if is_new[at] { with[at].chars().count() } else { 0 };
    let added = (0..with.len()).map(chars).sum();
    let Some(now) = now.map(cut) else { return Brought { added, still_there: 0 } };
    let same = similar::capture_diff_slices(Algorithm::Histogram, &with, &now);
    let same = same.into_iter().filter(|op| op.tag() == DiffTag::Equal);
    Brought { added, still_there: same.flat_map(|op| op.old_range()).map(chars).sum() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_was_added_and_what_is_left_of_it_is_counted_in_characters() {
        let count = |without, with, now| {
            let Brought { added, still_there } = brought(without, with, now);
            (added, still_there)
        };
        assert_eq!(count("One two.", "One fine two.", Some("One fine two.")), (5, 5));
        assert_eq!(count("One two.", "One fine two.", Some("One two.")), (5, 0));
        assert_eq!(count("", "A b\u{e9}c.", Some("A.")), (6, 2));
        assert_eq!(count("One.", "One two.", None), (4, 0));
        assert_eq!(count("One two.", "One.", Some("One.")), (0, 0));
    }

    proptest! {
        #[test]
        fn no_more_is_left_than_was_added_and_no_more_than_there_is(
            without in "[ab. ]{0,20}", with in "[abé. ]{0,30}", now in "[abé. ]{0,30}",
        ) {
            let Brought { added, still_there } = brought(&without, &with, Some(&now));
            prop_assert!(still_there <= added && added <= with.chars().count() && still_there <= now.chars().count());
            prop_assert_eq!(brought(&without, &with, Some(&with)).still_there, added);
        }
    }
}
