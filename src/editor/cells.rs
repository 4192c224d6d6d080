//! How many cells of a terminal's grid a text takes, and what is put into them.
//!
//! Wrap, cursor, mouse and drawing all measure with [`width`], so they cannot disagree. Nothing that is yielded here is a
//! control character, and nothing but a tab or a symbol is shown as something else than itself.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::domain::safe_text;

/// A tab reaches to the next column that is a multiple of this.
pub const TAB: usize = 4;

/// What a combining mark without a letter is shown on, as the Unicode code charts do.
const DOTTED_CIRCLE: char = '\u{25cc}';

/// Returns the cells that a grapheme takes: 0 for what is invisible (a zero-width space), 2 for wide ones.
/// A tab takes [`TAB`] cells or fewer, depending on its column; this says [`TAB`], [`display`] knows better.
pub fn width(grapheme: &str) -> usize {
    let mut chars = grapheme.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        if let Some(cells) = plain_width(c) {
            return cells;
        }
        if c == '\t' {
            return TAB;
        }
    }
    cells_of(&shown(grapheme))
}

/// Like [`width`] for a grapheme at a column: a tab ends at the next tab stop.
pub(super) fn advance(grapheme: &str, column: usize) -> usize {
    if grapheme == "\t" { TAB - column % TAB } else { width(grapheme) }
}

/// Returns the cells of a whole row.
pub(super) fn columns(row: &str) -> usize {
    clusters(row).fold(0, |column, (_, grapheme)| column + advance(grapheme, column))
}

/// Yields what to draw for one row of text: the byte where the grapheme starts in `row`, what to show, and its cells.
///
/// A tab is its spaces, a control character its visible symbol, a mark without a letter stands on a dotted circle.
/// Invisible graphemes yield nothing: their bytes belong to the grapheme before. The cells add up to the row's width.
pub fn display(row: &str) -> impl Iterator<Item = (usize, Cow<'_, str>, usize)> {
    let mut column = 0;
    clusters(row).filter_map(move |(at, grapheme)| {
        let cells = advance(grapheme, column);
        column += cells;
        let shown = if grapheme == "\t" { Cow::Owned(" ".repeat(cells)) } else { shown(grapheme) };
        (cells > 0).then_some((at, shown, cells))
    })
}

/// Yields the grapheme clusters of `text` with their byte offsets.
pub(super) fn clusters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &text[at..];
        let mut chars = rest.chars();
        let first = chars.next()?;
        // Plain characters are graphemes of their own: nearly all of prose never asks the tables.
        let plain = is_plain(first) && chars.next().is_none_or(is_plain);
        let len = if plain {
            first.len_utf8()
        } else {
            rest.graphemes(true).next().map_or(first.len_utf8(), str::len)
        };
        at += len;
        Some((at - len, &rest[..len]))
    })
}

/// Whether a grapheme always ends between these two neighbours.
pub(super) fn certain_boundary(before: char, after: char) -> bool {
    before == '\n' || after == '\n' || (is_plain(before) && is_plain(after))
}

fn is_plain(c: char) -> bool {
    plain_width(c).is_some()
}

/// Returns the cells of a character that never joins another plain character into one grapheme, and `None` for all
/// characters where that needs a closer look. Leaving out a plain one costs time and nothing else.
fn plain_width(c: char) -> Option<usize> {
    match c {
        '\u{a9}' | '\u{ad}' | '\u{ae}' | '\u{203c}' | '\u{2049}' => None,
        // Latin; Greek and Cyrillic; Hebrew; Arabic letters; more Latin and Greek.
        ' '..='~'
        | '\u{a0}'..='\u{2ff}'
        | '\u{370}'..='\u{482}'
        | '\u{48a}'..='\u{52f}'
        | '\u{5d0}'..='\u{5ea}'
        | '\u{620}'..='\u{64a}'
        | '\u{1e00}'..='\u{1fff}'
        // Dashes, quotation marks, ellipsis, primes; currency.
        | '\u{2010}'..='\u{2027}'
        | '\u{2030}'..='\u{205e}'
        | '\u{20a0}'..='\u{20bf}' => Some(1),
        // East Asian punctuation, kana, Han, Hangul syllables, full-width forms.
        '\u{3001}'..='\u{3029}'
        | '\u{3041}'..='\u{3096}'
        | '\u{30a1}'..='\u{30ff}'
        | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{ff01}'..='\u{ff60}' => Some(2),
        _ => None,
    }
}

/// What stands on the screen for a grapheme that is no tab.
fn shown(grapheme: &str) -> Cow<'_, str> {
    if grapheme.chars().any(|c| safe_text::symbol(c).is_some()) && !is_tagged_flag(grapheme) {
        return grapheme.chars().map(|c| safe_text::symbol(c).unwrap_or(c)).collect::<String>().into();
    }
    if cells_of(grapheme) > 0 {
        Cow::Borrowed(grapheme)
    } else if grapheme.chars().all(is_ignorable) {
        Cow::Borrowed("")
    } else {
        Cow::Owned(format!("{DOTTED_CIRCLE}{grapheme}"))
    }
}

/// The cells of a text as the drawing library counts them, which gives the half-width voiced sound marks one more than
/// Unicode does. Whoever counts otherwise has the next letter drawn in the wrong cell.
fn cells_of(text: &str) -> usize {
    text.width() + text.chars().filter(|c| matches!(c, '\u{ff9e}' | '\u{ff9f}')).count()
}

/// The flags of England, Scotland and Wales are a black flag and tag characters, which are shown as symbols elsewhere.
fn is_tagged_flag(grapheme: &str) -> bool {
    grapheme.strip_prefix('\u{1f3f4}').is_some_and(|tags| {
        tags.ends_with('\u{e007f}') && tags.chars().all(|c| matches!(c, '\u{e0030}'..='\u{e007f}'))
    })
}

/// `Default_Ignorable_Code_Point`, as far as such characters can be a grapheme of their own
/// (<https://www.unicode.org/Public/UCD/latest/ucd/DerivedCoreProperties.txt>).
fn is_ignorable(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(row: &str) -> Vec<(usize, String, usize)> {
        display(row).map(|(at, shown, cells)| (at, shown.into_owned(), cells)).collect()
    }

    #[test]
    fn a_tab_reaches_to_the_next_stop() {
        assert_eq!(
            drawn("\tab\tc"),
            [
                (0, "    ".into(), 4),
                (1, "a".into(), 1),
                (2, "b".into(), 1),
                (3, "  ".into(), 2),
                (4, "c".into(), 1)
            ]
        );
    }

    #[test]
    fn control_characters_are_shown_and_take_one_cell() {
        assert_eq!(
            drawn("\x1b[\u{202e}"),
            [(0, "␛".into(), 1), (1, "[".into(), 1), (2, "\u{fffd}".into(), 1)]
        );
    }

    #[test]
    fn invisible_characters_take_no_cell_and_are_not_drawn() {
        assert_eq!(drawn("a\u{200b}b\u{feff}"), [(0, "a".into(), 1), (4, "b".into(), 1)]);
        assert_eq!(width("\u{2060}"), 0);
    }

    #[test]
    fn a_mark_without_a_letter_stands_on_a_circle() {
        assert_eq!(drawn("\u{301}a"), [(0, "◌\u{301}".into(), 1), (2, "a".into(), 1)]);
    }

    #[test]
    fn families_flags_and_wide_letters_take_two_cells() {
        for wide in ["👨‍👩‍👧", "🇩🇰", "日", "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}"]
        {
            assert_eq!(drawn(wide), [(0, wide.into(), 2)]);
        }
        assert_eq!(drawn("e\u{301}"), [(0, "e\u{301}".into(), 1)]);
    }

    #[test]
    fn the_terminal_library_measures_as_we_do() {
        use ratatui::buffer::CellWidth;
        for grapheme in [
            "a",
            "日",
            "👨‍👩‍👧",
            "🇩🇰",
            "e\u{301}",
            "ｶ\u{ff9e}",
            "\u{ff9e}",
            "﷽",
            "क्षि",
            "…",
            "“",
            "❤\u{fe0f}",
            "☎",
        ] {
            assert_eq!(width(grapheme), usize::from(grapheme.cell_width()), "{grapheme:?}");
        }
    }

    #[test]
    fn plain_characters_are_what_they_claim() {
        let neighbours = ['a', 'é', 'ж', '—', '“', '日', '가', 'か'];
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let Some(cells) = plain_width(c) else { continue };
            let text = c.to_string();
            assert_eq!(text.width(), cells, "{c:?}");
            assert_eq!(safe_text::symbol(c), None, "{c:?}");
            for other in neighbours {
                assert_eq!(format!("{c}{other}{c}").graphemes(true).count(), 3, "{c:?} {other:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn clusters_are_the_graphemes_of_unicode(text in r"(\PC|[a-zé日か\u{300}\u{200d}\u{1f468}\u{1f1e9}\u{e33}\u{915}\u{94d}\u{600}\x00-\x1f]){0,40}") {
            let ours: Vec<_> = clusters(&text).collect();
            let theirs: Vec<_> = text.grapheme_indices(true).collect();
            proptest::prop_assert_eq!(ours, theirs);
        }

        #[test]
        fn nothing_drawn_is_a_control_and_the_cells_add_up(text in r"(\PC|[\x00-\x9f\u{2028}\u{202e}\u{200b}\u{301}]){0,40}") {
            let mut sum = 0;
            for (at, shown, cells) in display(&text) {
                proptest::prop_assert!(text.is_char_boundary(at) && cells > 0);
                proptest::prop_assert!(!shown.chars().any(char::is_control));
                proptest::prop_assert!(cells <= TAB || shown.chars().count() > 1);
                sum += cells;
            }
            proptest::prop_assert_eq!(sum, columns(&text));
        }
    }
}
