use super::*;

fn clean(base: &str, mine: &str, theirs: &str) -> String {
    match merge(base, mine, theirs) {
        Merged::Clean(text) => text,
        Merged::Conflict { regions } => panic!("{regions:#?}"),
    }
}

/// The open regions as (line, base, mine, theirs), after checking that the regions tell the whole of all three texts.
fn open(base: &str, mine: &str, theirs: &str) -> Vec<(usize, String, String, String)> {
    let Merged::Conflict { regions } = merge(base, mine, theirs) else { panic!("merged") };
    check(&regions, base, mine, theirs);
    let sides = regions.iter().filter_map(Region::open);
    sides.map(|s| (s.line, s.base.clone(), s.mine.clone(), s.theirs.clone())).collect()
}

fn check(regions: &[Region], base: &str, mine: &str, theirs: &str) {
    let mut at = [0; 3];
    for region in regions {
        let starts = [region.base.start, region.mine.start, region.theirs.start];
        assert_eq!(starts, at, "no gap");
        at = [region.base.end, region.mine.end, region.theirs.end];
        if let Some(sides) = region.open() {
            assert_eq!(sides.base, base[region.base.clone()]);
            assert_eq!(sides.mine, mine[region.mine.clone()]);
            assert_eq!(sides.theirs, theirs[region.theirs.clone()]);
            assert_eq!(sides.line, mine[..region.mine.start].matches('\n').count() + 1);
        }
    }
    assert_eq!(at, [base.len(), mine.len(), theirs.len()]);
}

fn sides(line: usize, base: &str, mine: &str, theirs: &str) -> (usize, String, String, String) {
    (line, base.into(), mine.into(), theirs.into())
}

const PARAGRAPH: &str = "Mira watched the harbour lights. The ferry was late again. Nobody spoke.\n";

#[test]
fn changes_in_different_sentences_of_one_paragraph_merge() {
    let mine = PARAGRAPH.replace("harbour lights", "far harbour");
    let theirs = PARAGRAPH.replace("Nobody spoke", "Nobody said a word");
    assert_eq!(
        clean(PARAGRAPH, &mine, &theirs),
        "Mira watched the far harbour. The ferry was late again. Nobody said a word.\n"
    );
}

#[test]
fn the_same_word_changed_twice_is_a_conflict_with_both_sides_and_the_line() {
    let base = format!("# One\n\n{PARAGRAPH}\nEnd.\n");
    let mine = base.replace("ferry", "boat").replace("End", "The end").replace("# One", "# One\n\nNew.");
    let theirs = base.replace("ferry", "train").replace("Nobody", "No one");
    assert_eq!(open(&base, &mine, &theirs), [sides(5, "ferry", "boat", "train")]);
    let Merged::Conflict { regions } = merge(&base, &mine, &theirs) else { panic!() };
    let both = mine.replace("Nobody", "No one");
    assert_eq!(settle(&regions, &[Pick::Mine]).unwrap(), both);
    assert_eq!(settle_all(&regions, Pick::Theirs), both.replace("boat", "train"));
    assert_eq!(settle(&regions, &[Pick::Both]).unwrap(), both.replace("boat", "boat train"));
    assert_eq!(settle(&regions, &[]), None);
}

#[test]
fn changes_that_touch_or_have_only_a_space_between_them_are_a_conflict() {
    let found = open("the old grey coat\n", "the new grey coat\n", "the old blue coat\n");
    assert_eq!(found, [sides(1, "old grey", "new grey", "old blue")]);
    let found = open("role: rival\n", "role: rivals\n", "role: rival, then ally\n");
    assert_eq!(found, [sides(1, "rival", "rivals", "rival, then ally")]);
}

#[test]
fn neighbouring_lines_merge_when_their_words_do_not_touch() {
    let base = "role: rival\nage: 34\nhome: Tern\n";
    let mine = base.replace("rival", "ally");
    let theirs = base.replace("34", "35");
    assert_eq!(clean(base, &mine, &theirs), "role: ally\nage: 35\nhome: Tern\n");
}

#[test]
fn two_insertions_at_one_spot_are_a_conflict_unless_they_are_the_same() {
    let base = "one\n\nthree and four\n";
    let mine = "one\n\ntwo\n\nthree and four\n";
    assert_eq!(clean(base, mine, mine), mine);
    let both = mine.replace("four", "FOUR");
    assert_eq!(clean(base, &both, mine), both, "the same insertion, and one more change");
    let theirs = "one\n\nzwei\n\nthree and four\n";
    assert_eq!(open(base, mine, theirs), [sides(3, "", "two\n\n", "zwei\n\n")]);
}

#[test]
fn a_paragraph_that_one_side_took_out_and_the_other_changed_is_a_conflict() {
    let base = format!("first\n\n{PARAGRAPH}\nlast\n");
    let mine = "first\n\nlast\n";
    let theirs = base.replace("late", "early");
    let found = open(&base, mine, &theirs);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].2, "", "mine took it out");
    assert!(found[0].3.contains("The ferry was early again."), "{found:?}");
}

#[test]
fn a_phrase_rewritten_by_one_side_is_not_mixed_with_a_word_of_the_other() {
    let base = "He came out of the old house in the rain.\n";
    let mine = "Rain drummed on the roof of the barn, and he waited.\n";
    let theirs = "He came out of the small house in the rain.\n";
    assert_eq!(open(base, mine, theirs).len(), 1);
}

#[test]
fn line_ends_byte_order_mark_and_a_missing_last_line_end_are_kept() {
    let base = "\u{feff}# A\r\n\r\none\r\n\r\ntwo";
    let mine = "\u{feff}# B\r\n\r\none\r\n\r\ntwo";
    let theirs = "\u{feff}# A\r\n\r\none\r\n\r\ntwo, and more";
    assert_eq!(clean(base, mine, theirs), "\u{feff}# B\r\n\r\none\r\n\r\ntwo, and more");
    let unix = "# A\n\non that one day\n\ntwo\n";
    let dos = unix.replace('\n', "\r\n");
    let theirs = unix.replace("that one", "the same");
    assert_eq!(clean(unix, &dos, &theirs), theirs.replace('\n', "\r\n"), "other line ends, and a word");
}

#[test]
fn both_sides_empty_and_whole_rewrites_are_told_as_they_are() {
    assert_eq!(clean("a\n", "", ""), "");
    assert_eq!(open("a\n", "", "b\n"), [sides(1, "a\n", "", "b\n")]);
    assert_eq!(open("", "a\n", "b\n").len(), 1);
}

#[test]
fn long_texts_without_anything_in_common_end_and_lose_nothing() {
    let text = |word: &str| (0..4_000).map(|i| format!("{word}{i}")).collect::<Vec<_>>().join(" ");
    let (base, mine, theirs) = (text("b"), text("m"), text("t"));
    let Merged::Conflict { regions } = merge(&base, &mine, &theirs) else { panic!("merged") };
    check(&regions, &base, &mine, &theirs);
    assert_eq!(settle_all(&regions, Pick::Mine), mine);
    assert_eq!(settle_all(&regions, Pick::Theirs), theirs);
}

#[test]
fn a_paragraph_that_both_added_is_not_there_twice() {
    let base = "## Voice\n\nLow.\n\n## Past\n";
    let added = base.replace("Low.\n", "Low.\n\nHigh and clear.\n");
    let mine = added.replace("Low.", "Lowish. And more.");
    let sides = open(base, &mine, &added);
    assert_eq!(sides.len(), 1);
    let Merged::Conflict { regions } = merge(base, &mine, &added) else { panic!() };
    assert_eq!(settle_all(&regions, Pick::Mine), mine);
    assert_eq!(clean(base, &added, &added), added);
}

/// Paragraphs of sixty words, in each of which the word at `at` is another one: `mark` with the paragraph's number.
fn book(paragraphs: usize, at: usize, mark: &str) -> String {
    let word = |paragraph: usize, at: usize| format!("w{}", (paragraph * 61 + at * 13) * 7919 % 3001);
    let words = |p: usize| (0..60).map(move |w| if w == at { format!("{mark}{p}") } else { word(p, w) });
    (0..paragraphs).map(|p| words(p).collect::<Vec<_>>().join(" ") + ".\n\n").collect()
}

#[test]
fn a_book_in_which_both_changed_every_paragraph_is_merged_line_by_line() {
    let (base, mine, theirs) = (book(1_000, 60, ""), book(1_000, 10, "mine"), book(1_000, 40, "theirs"));
    assert!(base.len() > MOST_BY_WORD);
    let merged = clean(&base, &mine, &theirs);
    assert_eq!((merged.matches("mine").count(), merged.matches("theirs").count()), (1_000, 1_000));
    assert_eq!(merged.lines().count(), base.lines().count());
    let theirs = theirs.replace("theirs7 ", "theirs7 too ");
    let merged = clean(&base, &mine, &theirs);
    assert!(merged.contains("theirs7 too ") && merged.contains("mine999 "));
}

#[test]
fn a_long_place_whose_lines_are_not_the_same_ones_is_told_as_one_and_loses_nothing() {
    let (base, mine) = (book(1_000, 60, ""), book(1_000, 10, "mine"));
    let more = format!("One more.\n\n{}", book(1_000, 40, "theirs"));
    let other = (0..2_000).map(|n| format!("Other {n} words {n}.\n")).collect::<Vec<_>>().concat();
    let lines = |seed: usize| (0..50_000).map(|n| ["a\n", "b\n"][(n * seed / 7) % 2]).collect::<String>();
    for (base, mine, theirs) in [
        (base.clone(), mine.clone(), more),
        (base, mine, other),
        (lines(3), lines(4).repeat(2), lines(5).repeat(2) + "b\n"),
    ] {
        let Merged::Conflict { regions } = merge(&base, &mine, &theirs) else { panic!("merged") };
        check(&regions, &base, &mine, &theirs);
        assert_eq!(regions.iter().filter(|region| region.open().is_some()).count(), 1);
        assert_eq!(settle_all(&regions, Pick::Mine), mine);
        assert_eq!(settle_all(&regions, Pick::Theirs), theirs);
    }
}

mod never_loses_an_edit {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    /// A word that stands once in the text, with what follows it.
    type Token = (String, &'static str);

    /// Where (of 10,000 parts of the text), how many words go, how many come, and what stands after the last that comes.
    type Edit = (usize, usize, usize, bool);

    #[derive(Debug, Clone)]
    struct Shape {
        /// Words by sentence, sentences by paragraph.
        paragraphs: Vec<Vec<usize>>,
        /// Frontmatter, CRLF, a byte order mark, a last line end.
        has: [bool; 4],
    }

    const WORDS: [&str; 8] =
        ["harbour", "Mira\u{2019}s", "grey", "caf\u{e9}", "the", "*night*", "\u{6d77}", "well-known"];

    fn shape() -> impl Strategy<Value = Shape> {
        let paragraphs = prop::collection::vec(prop::collection::vec(3..9usize, 1..5), 1..7);
        (paragraphs, any::<[bool; 4]>()).prop_map(|(paragraphs, has)| Shape { paragraphs, has })
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        prop::collection::vec((0..10_000usize, 0..6usize, 0..4usize, any::<bool>()), 0..6)
    }

    fn word(i: usize) -> String {
        format!("{}q{i}z", WORDS[i % WORDS.len()])
    }

    fn tokens(shape: &Shape) -> Vec<Token> {
        let mut out = vec![];
        if shape.has[0] {
            for (i, after) in [(900, "\n"), (901, "\n---\n\n")] {
                out.push((word(i), after));
            }
        }
        out.push((word(902), "\n\n"));
        for paragraph in &shape.paragraphs {
            for sentence in paragraph {
                for _ in 0..*sentence {
                    out.push((word(out.len()), " "));
                }
                out.last_mut().unwrap().1 = ". ";
            }
            out.last_mut().unwrap().1 = ".\n\n";
        }
        out
    }

    fn text(tokens: &[Token], shape: &Shape) -> String {
        let [frontmatter, crlf, bom, last_line_end] = shape.has;
        let mut text: String = tokens.iter().flat_map(|(word, after)| [word.as_str(), after]).collect();
        if !last_line_end {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if frontmatter {
            text.insert_str(0, "---\n");
        }
        if crlf {
            text = text.replace('\n', "\r\n");
        }
        if bom { format!("\u{feff}{text}") } else { text }
    }

    /// Applies edits to the words of the base, from the end, so that each means a place in the base. Overlapping ones are left out.
    fn edited(base: &[Token], edits: &[Edit], mark: &str) -> Vec<Token> {
        let mut at: BTreeMap<usize, &Edit> = BTreeMap::new();
        for edit in edits {
            at.insert(edit.0 * base.len() / 10_000, edit);
        }
        let mut out = base.to_vec();
        let mut free_to = base.len();
        for (start, (_, go, come, paragraph)) in at.into_iter().rev() {
            let end = start + go;
            if end > free_to || go + come == 0 {
                continue;
            }
            let new = (0..*come).map(|i| {
                let after = if *paragraph && i + 1 == *come { ".\n\n" } else { " " };
                (format!("{mark}{start}n{i}z"), after)
            });
            out.splice(start..end, new.collect::<Vec<_>>());
            free_to = start;
        }
        out
    }

    fn words(text: &str) -> Vec<&str> {
        // Every word of these texts ends with a digit and `z`.
        text.split_inclusive('z')
            .filter(|part| part.trim_end_matches('z').ends_with(|c: char| c.is_ascii_digit()))
            .map(|part| part.rsplit([' ', '\n', '.', '-', '*', '\u{feff}']).next().unwrap_or(part))
            .collect()
    }

    fn set<'a>(words: &[&'a str]) -> BTreeSet<&'a str> {
        words.iter().copied().collect()
    }

    /// `of`, without the words that the other side took out.
    fn kept<'a>(of: &[&'a str], base: &BTreeSet<&str>, other: &BTreeSet<&str>) -> Vec<&'a str> {
        of.iter().copied().filter(|word| !base.contains(word) || other.contains(word)).collect()
    }

    fn counts(text: &str) -> BTreeMap<char, i64> {
        let mut counts = BTreeMap::new();
        for c in text.chars() {
            *counts.entry(c).or_default() += 1;
        }
        counts
    }

    fn is_whole(merged: &str, base: &str, mine: &str, theirs: &str) {
        let [in_merged, in_base, in_mine, in_theirs] = [merged, base, mine, theirs].map(words);
        let [of_base, of_mine, of_theirs] = [&in_base, &in_mine, &in_theirs].map(|w| set(w));
        let of_merged = set(&in_merged);
        assert_eq!(of_merged.len(), in_merged.len(), "no word twice");
        // All words that each side has, in its order, but for those that the other took out, and no others.
        let mine_kept = kept(&in_mine, &of_base, &of_theirs);
        let theirs_kept = kept(&in_theirs, &of_base, &of_mine);
        let of = |words: &[&str]| -> Vec<&str> {
            in_merged.iter().copied().filter(|w| words.contains(w)).collect()
        };
        assert_eq!(of(&mine_kept), mine_kept, "mine");
        assert_eq!(of(&theirs_kept), theirs_kept, "theirs");
        let all: BTreeSet<&str> = mine_kept.iter().chain(&theirs_kept).copied().collect();
        assert_eq!(of_merged, all);
        // Where no word was taken out by both, every character is accounted for: spaces, line ends and punctuation too.
        if of_base.iter().all(|word| of_mine.contains(word) || of_theirs.contains(word)) {
            let mut expected = counts(mine);
            for (c, n) in counts(theirs) {
                *expected.entry(c).or_default() += n;
            }
            for (c, n) in counts(base) {
                *expected.entry(c).or_default() -= n;
            }
            expected.retain(|_, n| *n != 0);
            assert_eq!(counts(merged), expected);
        }
    }

    proptest! {
        #[test]
        fn both_sides_are_in_it_or_both_are_told(shape in shape(), my in edits(), their in edits()) {
            let base_tokens = tokens(&shape);
            let base = text(&base_tokens, &shape);
            let mine = text(&edited(&base_tokens, &my, "m"), &shape);
            let theirs = text(&edited(&base_tokens, &their, "t"), &shape);
            let merged = merge(&base, &mine, &theirs);
            match &merged {
                Merged::Clean(text) => is_whole(text, &base, &mine, &theirs),
                Merged::Conflict { regions } => {
                    check(regions, &base, &mine, &theirs);
                    for sides in regions.iter().filter_map(Region::open) {
                        prop_assert!(sides.mine != sides.base && sides.theirs != sides.base && sides.mine != sides.theirs);
                    }
                    for (pick, own) in [(Pick::Mine, &mine), (Pick::Theirs, &theirs)] {
                        let settled = settle_all(regions, pick);
                        let new: Vec<_> = words(own).into_iter().filter(|w| !base.contains(w)).collect();
                        let gone: Vec<_> = words(&base).into_iter().filter(|w| !own.contains(w)).collect();
                        prop_assert!(new.iter().all(|w| settled.contains(w)), "what the side wrote is in it");
                        prop_assert!(gone.iter().all(|w| !settled.contains(w)), "what it took out is not: {gone:?} {base:?} {mine:?} {theirs:?} {regions:#?}");
                    }
                    let both = settle_all(regions, Pick::Both);
                    let written = words(&mine).into_iter().chain(words(&theirs)).filter(|w| !base.contains(w));
                    prop_assert!(written.into_iter().all(|w| both.contains(w)));
                }
            }
            // Who is called mine makes no difference.
            match (merged, merge(&base, &theirs, &mine)) {
                (Merged::Clean(one), Merged::Clean(other)) => prop_assert_eq!(one, other),
                (one, other) => prop_assert_eq!(one.clean(), other.clean()),
            }
        }

        #[test]
        fn changes_inside_different_sentences_always_merge(
            shape in shape(),
            who in prop::collection::vec((0..3u8, 0..3u8), 24),
        ) {
            let base = tokens(&shape);
            let (mut mine, mut theirs, mut both) = (base.clone(), base.clone(), base.clone());
            let mut start = base.len() - shape.paragraphs.iter().flatten().sum::<usize>();
            for (length, (side, kind)) in shape.paragraphs.iter().flatten().zip(who.iter().cycle()) {
                // The second word: never the first or the last, so that the sentences' ends stand between all changes.
                let at = start + 1;
                start += length;
                let changed = match kind {
                    0 => ("new".to_owned(), " "),
                    1 => (format!("{} and more", base[at].0), " "),
                    _ => (String::new(), ""),
                };
                match side {
                    0 => mine[at] = changed.clone(),
                    1 => theirs[at] = changed.clone(),
                    _ => continue,
                }
                both[at] = changed;
            }
            let merged = merge(&text(&base, &shape), &text(&mine, &shape), &text(&theirs, &shape));
            prop_assert_eq!(merged, Merged::Clean(text(&both, &shape)));
        }

        #[test]
        fn any_three_texts_are_told_whole(
            base in "(a|b|é| |\\.|\n|\r\n|\u{feff}){0,24}",
            mine in "(a|b|é| |\\.|\n|\r\n|\u{feff}){0,24}",
            theirs in "(a|b|é| |\\.|\n|\r\n|\u{feff}){0,24}",
        ) {
            match merge(&base, &mine, &theirs) {
                Merged::Clean(_) => {}
                Merged::Conflict { regions } => check(&regions, &base, &mine, &theirs),
            }
            prop_assert_eq!(merge(&base, &base, &theirs), Merged::Clean(theirs.clone()));
            prop_assert_eq!(merge(&base, &mine, &base), Merged::Clean(mine.clone()));
            prop_assert_eq!(merge(&base, &mine, &mine), Merged::Clean(mine.clone()));
        }
    }
}
