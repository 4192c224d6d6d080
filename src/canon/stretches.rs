//! Which stretches of a book's files stand in other texts, however they got there.
//!
//! A stretch is a run of at least [`RUN`] words that stands in both, as long as it goes. Letters are compared as they are; what stands between words may
//! differ (a summary is one line of a paragraph that has three), and then the stretch says so. Nothing is guessed: two files that hold the same words
//! both hold them, and the one that was meant is told first, else the one with the longer run.

use std::collections::HashMap;
use std::ops::Range;

/// Fewest words of a stretch. Shorter runs stand in any two texts by chance.
pub const RUN: usize = 5;

/// Most places of one run of words that are looked at in the texts: what stands there more often is found at the first ones.
const PLACES: usize = 16;

/// Most places of one file that are compared with one place of a text.
const REPEATS: usize = 4;

/// A stretch of a file that stands in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// Which file.
    pub file: usize,
    /// Bytes of the file.
    pub range: Range<usize>,
    /// Bytes of the text.
    pub said: Range<usize>,
    /// Whether both are the same, byte for byte; else only their words are.
    pub exact: bool,
}

/// Finds, for each of `texts`, the stretches of `files` in it, in the order of the text. Each holds a word that no
/// longer one holds. `meant` says whether a text
/// (first) is known to be of a file (second): of equal runs that one is taken.
pub fn find(files: &[&str], texts: &[&str], meant: &dyn Fn(usize, usize) -> bool) -> Vec<Vec<Stretch>> {
    let said: Vec<Vec<Word>> = texts.iter().map(|text| words(text)).collect();
    let mut places: HashMap<u64, Vec<(usize, usize)>> = HashMap::new();
    for (text, words) in said.iter().enumerate() {
        for (at, hash) in runs(words) {
            let known = places.entry(hash).or_default();
            if known.len() < PLACES {
                known.push((text, at));
            }
        }
    }
    let mut found: Vec<Vec<Match>> = texts.iter().map(|_| vec![]).collect();
    if !places.is_empty() {
        for (file, text) in files.iter().enumerate() {
            of_file(file, &words(text), &said, &places, &mut found);
        }
    }
    let texts = texts.iter().zip(&said).enumerate();
    texts
        .zip(found)
        .map(|((n, (text, words)), matches)| {
            chosen(matches, words, &|file| meant(n, file))
                .into_iter()
                .map(|(file, range, said)| whole(files, text, file, range, said))
                .collect()
        })
        .collect()
}

/// Finds the runs of one file in the texts.
fn of_file(
    file: usize,
    words: &[Word],
    said: &[Vec<Word>],
    places: &HashMap<u64, Vec<(usize, usize)>>,
    found: &mut [Vec<Match>],
) {
    let mut tried: HashMap<(usize, usize), usize> = HashMap::new();
    for (at, hash) in runs(words) {
        for &(text, place) in places.get(&hash).into_iter().flatten() {
            let theirs = &said[text];
            if at > 0 && place > 0 && words[at - 1].hash == theirs[place - 1].hash {
                continue;
            }
            let tried = tried.entry((text, place)).or_default();
            if *tried == REPEATS {
                continue;
            }
            *tried += 1;
            let same = words[at..].iter().zip(&theirs[place..]).take_while(|(a, b)| a.hash == b.hash);
            let count = same.count();
            if count >= RUN {
                let words = words[at..at + count].iter().map(|w| w.start..w.end).collect();
                found[text].push(Match { file, place, words });
            }
        }
    }
}

/// Finds a short text, of fewer words than a run, in the file that it is of. `None` where it does not stand there.
pub fn find_in(file: &str, text: &str) -> Option<Range<usize>> {
    let start = file.find(text).filter(|_| !text.trim().is_empty())?;
    Some(start..start + text.len())
}

/// The same words in a file and in a text.
struct Match {
    file: usize,
    /// Its first word in the text.
    place: usize,
    /// Bytes of its words in the file.
    words: Vec<Range<usize>>,
}

/// Leaves of the matches in one text those that hold a word which no longer one holds. Gives file, bytes of it, and bytes of the text.
fn chosen(
    mut matches: Vec<Match>,
    words: &[Word],
    meant: &dyn Fn(usize) -> bool,
) -> Vec<(usize, Range<usize>, Range<usize>)> {
    matches.sort_by_key(|m| (std::cmp::Reverse(m.words.len()), !meant(m.file), m.file, m.place));
    let mut taken = vec![false; words.len()];
    let mut all = vec![];
    for m in matches {
        let run = &mut taken[m.place..m.place + m.words.len()];
        if let (Some(first), Some(last), true) = (m.words.first(), m.words.last(), run.contains(&false)) {
            run.fill(true);
            let said = words[m.place].start..words[m.place + m.words.len() - 1].end;
            all.push((m.file, first.start..last.end, said));
        }
    }
    all.sort_by_key(|(_, _, said)| said.start);
    all
}

/// Takes what stands around the words in both, and says whether they are the same to the letter.
fn whole(
    files: &[&str],
    text: &str,
    file: usize,
    mut range: Range<usize>,
    mut said: Range<usize>,
) -> Stretch {
    let content = files[file];
    let exact = content[range.clone()] == text[said.clone()];
    let between = |a: Option<char>, b: Option<char>| a.filter(|c| Some(*c) == b && !c.is_alphanumeric());
    if exact {
        let mut left = 0;
        let (mut a, mut b) = (content[..range.start].chars().rev(), text[..said.start].chars().rev());
        while let Some(c) = between(a.next(), b.next()) {
            left += c.len_utf8();
        }
        let mut right = 0;
        let (mut a, mut b) = (content[range.end..].chars(), text[said.end..].chars());
        while let Some(c) = between(a.next(), b.next()) {
            right += c.len_utf8();
        }
        range = range.start - left..range.end + right;
        said = said.start - left..said.end + right;
    }
    Stretch { file, range, said, exact }
}

#[derive(Debug, Clone, Copy)]
struct Word {
    hash: u64,
    start: usize,
    end: usize,
}

/// Cuts a text into words: runs of letters and digits. Of writing without spaces each letter is one.
fn words(text: &str) -> Vec<Word> {
    // FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>.
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut all = Vec::with_capacity(text.len() / 6);
    let mut open: Option<Word> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        if !c.is_alphanumeric() {
            all.extend(open.take());
            continue;
        }
        if is_unspaced(c) {
            all.extend(open.take());
        }
        let word = open.get_or_insert(Word { hash: BASIS, start: at, end });
        let mut bytes = [0; 4];
        for byte in c.encode_utf8(&mut bytes).bytes() {
            word.hash = (word.hash ^ u64::from(byte)).wrapping_mul(PRIME);
        }
        word.end = end;
        if is_unspaced(c) {
            all.extend(open.take());
        }
    }
    all.extend(open);
    all
}

/// Whether a letter is of a script that puts no space between words: Thai, Lao, Khmer, Burmese, Kana, Han.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3ffff}')
}

/// Every run of [`RUN`] words as where it begins and a hash, which rolls on from word to word.
fn runs(words: &[Word]) -> impl Iterator<Item = (usize, u64)> {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut out = 1_u64;
    for _ in 1..RUN {
        out = out.wrapping_mul(FACTOR);
    }
    let mut hash = 0_u64;
    words.iter().enumerate().filter_map(move |(at, word)| {
        if let Some(first) = at.checked_sub(RUN) {
            hash = hash.wrapping_sub(words[first].hash.wrapping_mul(out));
        }
        hash = hash.wrapping_mul(FACTOR).wrapping_add(word.hash);
        (at + 1).checked_sub(RUN).map(|start| (start, hash))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "# One\n\nMira counted the gulls on the wall.\nThen she went home, alone.\n";
    const TWO: &str = "# Two\n\nNobody saw it. Mira counted the gulls on the roof.\n";

    fn found(text: &str) -> Vec<(usize, &'static str, bool)> {
        let files = [ONE, TWO];
        let stretches = find(&files, &[text], &|_, _| false).remove(0);
        stretches.into_iter().map(|s| (s.file, &files[s.file][s.range], s.exact)).collect()
    }

    #[test]
    fn a_whole_file_is_one_stretch_to_its_last_mark() {
        assert_eq!(found(ONE.trim_end()), [(0, ONE.trim_end(), true)]);
    }

    #[test]
    fn a_run_of_five_words_is_found_and_one_of_four_is_not() {
        assert_eq!(
            found("She says: \"Mira counted the gulls on\" it."),
            [(0, "Mira counted the gulls on", true)]
        );
        assert_eq!(found("Mira counted the gulls"), []);
        assert_eq!(found(""), []);
    }

    #[test]
    fn of_two_files_with_the_same_words_the_longer_run_is_meant() {
        assert_eq!(
            found("Mira counted the gulls on the roof."),
            [(1, "Mira counted the gulls on the roof.", true)]
        );
        let both = find(&[ONE, TWO], &["Mira counted the gulls on the"], &|_, file| file == 1).remove(0);
        assert_eq!(both.iter().map(|s| s.file).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn other_spaces_between_the_same_words_are_told() {
        assert_eq!(
            found("on the wall. Then she went home, alone"),
            [(0, "on the wall.\nThen she went home, alone", false)]
        );
    }

    #[test]
    fn two_files_in_one_text_are_two_stretches() {
        let said = found("Nobody saw it. Mira counted the gulls on the wall. Then she went home, alone.");
        assert_eq!(said.len(), 2, "{said:?}");
        assert_eq!((said[0].0, said[1].0), (1, 0));
        assert!(said[0].1.starts_with("Nobody saw it") && said[1].1.ends_with("alone"));
    }

    #[test]
    fn writing_without_spaces_is_found_too() {
        let file = "彼女は港の鴎を数えた。それから家に帰った。";
        let found = find(&[file], &["「港の鴎を数えた」"], &|_, _| false).remove(0);
        assert_eq!(&file[found[0].range.clone()], "港の鴎を数えた");
    }

    #[test]
    fn a_text_that_says_the_same_for_ever_is_done_at_once() {
        let file = "the ".repeat(60_000);
        let found = find(&[&file, &file], &[&file[..40_000]], &|_, _| false).remove(0);
        assert!(!found.is_empty());
    }

    proptest! {
        #[test]
        fn what_is_found_stands_in_both_and_every_copied_run_is_found(
            file in prop::collection::vec("[a-d]{1,2}[ ,.\n]", 1..60),
            (from, count) in (0..60_usize, 5..20_usize),
            around in "[a-d ]{0,30}",
        ) {
            let content = file.concat();
            let copied = file.iter().skip(from).take(count).map(String::as_str).collect::<String>();
            let text = format!("{around} {copied} {around}");
            let found = find(&[&content], &[&text], &|_, _| false).remove(0);
            for stretch in &found {
                if stretch.exact {
                    prop_assert_eq!(&content[stretch.range.clone()], &text[stretch.said.clone()]);
                }
                let bare = |words: &str| words.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect::<Vec<_>>();
                prop_assert_eq!(bare(&content[stretch.range.clone()]), bare(&text[stretch.said.clone()]));
            }
            // Every run of five words that was copied is within what was found.
            let own = words(&copied).len();
            let inside: usize = found.iter().map(|s| words(&text[s.said.clone()]).len()).sum();
            prop_assert!(own < RUN || inside >= own, "{} of {}", inside, own);
        }
    }
}
