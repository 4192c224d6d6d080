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
