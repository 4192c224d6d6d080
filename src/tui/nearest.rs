//! The word that was probably meant where an unknown one was written in a settings file.

/// Returns the candidate with the fewest typing slips from `word`, where few enough to be a slip at all.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().collect();
    // A pasted page is no slip, and would be slow to compare.
    if word.len() > 40 {
        return None;
    }
    candidates
        .into_iter()
        .map(|c| (slips(&word, &c.chars().collect::<Vec<_>>()), c))
        .filter(|(slips, c)| *slips <= (c.chars().count() / 3).max(1))
        .min_by_key(|(slips, _)| *slips)
        .map(|(_, c)| c)
}

/// Returns ` Did you mean "x"?`, or nothing.
pub fn suggestion<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(word, candidates).map(|n| format!(" Did you mean \"{n}\"?")).unwrap_or_default()
}

/// Optimal string alignment: letters added, left out, changed, or two neighbours swapped.
/// <https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance#Optimal_string_alignment_distance>
fn slips(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let words = ["save", "palette", "focus-chat", "undo"];
        assert_eq!(nearest("pallete", words), Some("palette"));
        assert_eq!(nearest("Focus_Chat", words), Some("focus-chat"));
        assert_eq!(nearest("svae", words), Some("save"));
        assert_eq!(nearest("teleport", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"save".repeat(1000), words), None);
        assert_eq!(suggestion("udno", words), " Did you mean \"undo\"?");
        assert_eq!(suggestion("xyz", words), "");
    }
}
