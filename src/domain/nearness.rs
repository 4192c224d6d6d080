//! How near two words are to each other: for "did you mean", never for deciding what is the same.

/// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment, <https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance>).
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut older = vec![0; b.len() + 1];
    let mut old: Vec<usize> = (0..=b.len()).collect();
    let mut new = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        new[0] = i;
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            new[j] = (old[j] + 1).min(new[j - 1] + 1).min(old[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                new[j] = new[j].min(older[j - 2] + 1);
            }
        }
        std::mem::swap(&mut older, &mut old);
        std::mem::swap(&mut old, &mut new);
    }
    old[b.len()]
}

/// The same as [`distance`], if it is at most `most`. Looks only at places that few enough edits lead to, and gives up where none is left.
pub fn distance_within(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let far = most + 1;
    let mut older = vec![far; b.len() + 1];
    let mut old: Vec<usize> = (0..=b.len()).map(|j| j.min(far)).collect();
    let mut new = vec![far; b.len() + 1];
    let mut least_before = 0;
    for i in 1..=a.len() {
        let (from, to) = (i.saturating_sub(most).max(1), (i + most).min(b.len()));
        new[from - 1] = if from == 1 { i.min(far) } else { far };
        let mut least = new[from - 1];
        for j in from..=to {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            new[j] = (old[j] + 1).min(new[j - 1] + 1).min(old[j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                new[j] = new[j].min(older[j - 2] + 1);
            }
            least = least.min(new[j]);
        }
        if let Some(behind) = new.get_mut(to + 1) {
            *behind = far;
        }
        // A swap reaches back over two rows.
        if least > most && least_before > most {
            return None;
        }
        least_before = least;
        std::mem::swap(&mut older, &mut old);
        std::mem::swap(&mut old, &mut new);
    }
    Some(old[b.len()]).filter(|away| *away <= most)
}

/// Returns 1 for equal texts, 0 for texts that share nothing: the distance in proportion to the longer one.
pub fn similarity(a: &str, b: &str) -> f64 {
    let longest = a.chars().count().max(b.chars().count());
    if longest == 0 { 1.0 } else { 1.0 - distance(a, b) as f64 / longest as f64 }
}

/// Returns the known word that `word` was most likely meant to be, if one is near enough.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        let away = distance(word, candidate);
        if away <= allowed && best.is_none_or(|(least, _)| away < least) {
            best = Some((away, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_are_counted() {
        let table = [
            ("", "", 0),
            ("vale", "vale", 0),
            ("vale", "val", 1),
            ("adrain", "adrian", 1),
            ("okafor", "okafr", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
        ];
        for (a, b, away) in table {
            assert_eq!(distance(a, b), away, "{a} {b}");
            assert_eq!(distance(b, a), away, "{b} {a}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_limit_changes_no_distance_below_it(a in "[a-cé]{0,9}", b in "[a-cé]{0,9}", most in 0_usize..5) {
            let away = distance(&a, &b);
            proptest::prop_assert_eq!(distance_within(&a, &b, most), Some(away).filter(|away| *away <= most));
        }
    }

    #[test]
    fn a_near_word_is_suggested_and_a_far_one_is_not() {
        assert_eq!(nearest("titel", ["author", "title"]), Some("title"));
        assert_eq!(nearest("colour", ["author", "title"]), None);
    }
}
