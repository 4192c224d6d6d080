//! Markdown as rows of a fixed width, whole or while it streams in.
//!
//! Headings, emphasis, code, lists, quotes, tables, rules; HTML is shown as the text that it is, and so are link
//! definitions, which would let the end of an answer change its beginning. Nothing is added to the words but the marks
//! of quotations; no row is wider than asked, and no control character gets through.

mod layout;
mod parse;
mod table;

use std::ops::Range;

use ratatui::text::Line;

use self::layout::Layout;
use super::super::theme::{Role, Theme};

/// A quotation in the source that was checked against the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Bytes of the source that hold the quoted words.
    pub range: Range<usize>,
    /// What the check said.
    pub kind: MarkKind,
    /// Its number, from 0, to find it by; shown from 1.
    pub index: usize,
}

/// What the check of a quotation said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkKind {
    /// It was marked and the book holds it: ` ▸1`.
    Found,
    /// It was not marked, and the book holds it: ` ·1`.
    Neutral,
    /// It was marked, and the book does not hold it: ` ✗ not in the manuscript`.
    Missing,
}

impl MarkKind {
    fn role(self) -> Role {
        match self {
            Self::Found => Role::QuoteFound,
            Self::Neutral => Role::QuoteNeutral,
            Self::Missing => Role::QuoteMissing,
        }
    }

    /// The symbol behind the words, after a space where no row ends.
    fn symbol(self, index: usize) -> String {
        match self {
            Self::Found => format!("\u{a0}▸{}", index + 1),
            Self::Neutral => format!("\u{a0}·{}", index + 1),
            Self::Missing => "\u{a0}✗ not in the manuscript".into(),
        }
    }
}

/// Rows ready to be drawn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// Index of each mark and the row that holds its symbol, in reading order.
    pub marks: Vec<(usize, usize)>,
}

/// Renders Markdown at a width in columns. No column: no rows.
pub fn render(source: &str, width: u16, theme: &Theme, marks: &[Mark]) -> Rendered {
    if width == 0 {
        return Rendered::default();
    }
    let mut layout = Layout::new(theme, usize::from(width), vec![]);
    for top in parse::parse(source, theme, marks) {
        layout.top(&top.block);
    }
    Rendered { lines: layout.lines, marks: layout.marks }
}

/// Bytes of an open paragraph from which on only its end is laid out again.
const LONG: usize = 4 * 1024;

/// Bytes at the end of such a paragraph that stay open.
const END: usize = 1024;

/// Rows that are tried.
const ROWS: usize = 8;

/// Markdown that is still arriving. Blocks that can't change any more are laid out once and kept, so that a delta costs what the
/// last block costs, however long the answer is. A paragraph without an end is kept by rows.
#[derive(Debug, Clone, Default)]
pub struct Streaming {
    source: String,
    lines: Vec<Line<'static>>,
    /// Bytes and rows that are finished.
    finished: (usize, usize),
    /// What comes next goes on with the paragraph of the last finished row.
    goes_on: bool,
    /// Width and theme of the rows; `None` before the first.
    laid: Option<(u16, Theme)>,
    /// Whether text has arrived since.
    dirty: bool,
}

impl Streaming {
    /// Adds what arrived. Costs nothing until the rows are asked for.
    pub fn push(&mut self, delta: &str) {
        self.source.push_str(delta);
        self.dirty = true;
    }

    /// Replaces the text, keeping the finished rows where it goes on from the same words. Returns whether it does.
    pub fn set(&mut self, source: &str) -> bool {
        match source.strip_prefix(self.source.as_str()) {
            Some("") => true,
            Some(delta) => {
                self.push(delta);
                true
            }
            None => {
                *self = Self { source: source.into(), dirty: true, ..Self::default() };
                false
            }
        }
    }

    /// Returns how many of the rows that were given last can't change any more, at the same width and in the same theme.
    pub fn settled(&self) -> usize {
        self.finished.1
    }

    /// Returns the text so far.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the rows, the same as [`render`] would give for the text so far.
    pub fn lines(&mut self, width: u16, theme: &Theme) -> &[Line<'static>] {
        if self.laid.as_ref().is_none_or(|(w, t)| *w != width || t != theme) {
            self.laid = Some((width, theme.clone()));
            (self.finished, self.goes_on) = ((0, 0), false);
            self.dirty = true;
        }
        if std::mem::take(&mut self.dirty) {
            self.lay_out(width, theme);
        }
        &self.lines
    }

    fn lay_out(&mut self, width: u16, theme: &Theme) {
        let (bytes, rows) = self.finished;
        self.lines.truncate(rows);
        if width == 0 {
            return;
        }
        let open = &self.source[bytes..];
        let mut layout = Layout::new(theme, usize::from(width), std::mem::take(&mut self.lines));
        let (goes_on, mut paragraph) = (self.goes_on, None);
        for (i, top) in parse::parse(open, theme, &[]).iter().enumerate() {
            if i > 0 && begins_for_good(open, top.start) {
                (self.finished, self.goes_on) = ((bytes + top.start, layout.lines.len()), false);
            }
            let is_more = i == 0 && goes_on;
            let first_row = layout.lines.len() + usize::from(!is_more && !layout.lines.is_empty());
            paragraph =
                matches!(top.block, parse::Block::Paragraph(_)).then_some((bytes + top.start, first_row));
            if is_more { layout.more(&top.block) } else { layout.top(&top.block) }
        }
        self.lines = layout.lines;
        if let Some((start, first_row)) = paragraph.filter(|(start, _)| self.source.len() - start > LONG) {
            self.keep_rows(start, first_row, width, theme);
        }
    }

    /// Keeps the rows of a long paragraph that is still open, but for the last ones. A row is as it will be unless emphasis that is open there
    /// is closed much later; the whole answer is laid out anew when it is there.
    fn keep_rows(&mut self, start: usize, first_row: usize, width: u16, theme: &Theme) {
        let Some(words) = self.source.get(start..self.source.floor_char_boundary(self.source.len() - END))
        else {
            return;
        };
        let rows = render(words, width, theme, &[]).lines;
        let mut kept = words;
        // The next layout can begin where a row begins, at a word, which begins no other block. Rows with marks in them can't be told in the source.
        for (before, row) in rows.iter().enumerate().skip(1).rev().take(ROWS) {
            let Some(rest) = kept.trim_end().strip_suffix(row.to_string().trim_end()) else { return };
            kept = rest;
            if self.source[start + kept.len()..].starts_with(char::is_alphabetic) {
                if self.lines.get(first_row..first_row + before) == rows.get(..before) {
                    (self.finished, self.goes_on) = ((start + kept.len(), first_row + before), true);
                }
                return;
            }
        }
    }
}

/// Whether no text to come can join the block at `start` to what stands before it: a blank line precedes it (else its second
/// line may yet make it words of the paragraph above), and its first line is complete (`1` may become the list item `1.`).
fn begins_for_good(source: &str, start: usize) -> bool {
    let (before, after) = source.split_at(start);
    let mut lines = before.rsplit('\n');
    lines.next() == Some("") && lines.next().is_some_and(|l| l.trim().is_empty()) && after.contains('\n')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::text;
    use super::*;

    fn rows(source: &str, width: u16) -> Vec<String> {
        let rendered = render(source, width, &Theme::default(), &[]);
        rendered.lines.iter().map(|l| l.to_string().trim_end().to_owned()).collect()
    }

    fn shown(source: &str, width: u16) -> String {
        rows(source, width).join("\n")
    }

    fn mark(source: &str, words: &str, kind: MarkKind, index: usize) -> Mark {
        let start = source.find(words).unwrap();
        Mark { range: start..start + words.len(), kind, index }
    }

    #[test]
    fn paragraphs_and_headings_stand_apart() {
        assert_eq!(
            shown("# One\nfirst words\ngo on\n\n## Two\nlast", 40),
            "One\n\nfirst words go on\n\nTwo\n\nlast"
        );
    }

    #[test]
    fn lists_hang_and_nest() {
        let source = "- a first item that wraps\n- second\n  1. one is longer too\n  2. two\n";
        let expected = "\
• a first item
  that wraps
• second
  1. one is
     longer too
  2. two";
        assert_eq!(shown(source, 16), expected);
    }

    #[test]
    fn numbers_align_and_start_where_the_author_starts() {
        assert_eq!(shown("9. nine\n10. ten", 20), " 9. nine\n10. ten");
    }

    #[test]
    fn a_loose_list_keeps_its_air() {
        assert_eq!(shown("- a\n\n  more\n\n- b", 20), "• a\n\n  more\n\n• b");
    }

    #[test]
    fn tasks_show_whether_they_are_done() {
        assert_eq!(shown("- [x] done\n- [ ] open", 20), "[x] done\n[ ] open");
    }

    #[test]
    fn a_quote_has_its_bar_on_every_row() {
        let source = "> long words that wrap\n>\n> - and a list\n> > inner";
        let expected = "▎ long words\n▎ that wrap\n▎\n▎ • and a list\n▎\n▎ ▎ inner";
        assert_eq!(shown(source, 14), expected);
    }

    #[test]
    fn code_keeps_its_lines() {
        assert_eq!(shown("```rust\nfn a() {\n    b();\n}\n```", 30), "─ rust\n  fn a() {\n      b();\n  }");
        assert_eq!(shown("text `x = 1` text", 30), "text x = 1 text");
        assert_eq!(shown("```\r\na\r\nb\r\n```\r\n", 30), "  a\n  b");
    }

    #[test]
    fn tables_fit() {
        let source =
            "| Name | Age | Note |\n|:--|--:|---|\n| Ilse | 34 | keeps the *log* of the post |\n| Bo | 7 | |";
        let expected = "\
Name │ Age │ Note
─────┼─────┼──────────────────
Ilse │  34 │ keeps the log of
     │     │ the post
Bo   │   7 │";
        assert_eq!(shown(source, 30), expected);
    }

    #[test]
    fn a_narrow_table_keeps_its_words_whole() {
        let source = "| Name | Note |\n|---|---|\n| Søndergaard | keeps the log |";
        assert_eq!(
            shown(source, 20),
            "Name        │ Note\n────────────┼───────\nSøndergaard │ keeps\n            │ the\n            │ log"
        );
    }

    #[test]
    fn a_table_without_room_becomes_records() {
        let source = "| Name | Age | Note |\n|---|---|---|\n| Ilse | 34 | log |\n| Bo | 7 | |";
        assert_eq!(shown(source, 12), "Name: Ilse\nAge: 34\nNote: log\n\nName: Bo\nAge: 7");
    }

    #[test]
    fn links_show_where_they_lead() {
        assert_eq!(shown("see [the log](codex/log.md)", 60), "see the log (codex/log.md)");
        assert_eq!(shown("<https://example.org>", 60), "https://example.org");
        assert_eq!(shown("![a map](map.png)", 60), "a map (map.png)");
    }

    #[test]
    fn html_and_link_definitions_are_shown_as_written() {
        assert_eq!(shown("<b>bold</b> <!-- x -->", 60), "<b>bold</b> <!-- x -->");
        assert_eq!(shown("<div>\nblock\n</div>", 60), "<div>\nblock\n</div>");
        assert_eq!(
            shown("[a][x] and [x]\n\n[x]: https://x.org 'T'", 60),
            "[a][x] and [x]\n\n[x]: https://x.org 'T'"
        );
    }

    #[test]
    fn punctuation_stays_as_it_was_written() {
        assert_eq!(shown("\"Don't\" -- she said... 'so'", 60), "\"Don't\" -- she said... 'so'");
        assert_eq!(shown("a &amp; b \\*not\\* &#27;[2J", 60), "a & b *not* ␛[2J");
    }

    #[test]
    fn emphasis_is_styled_and_its_signs_are_gone() {
        let theme = Theme::default();
        let line = &render("a *b* **c** ~~d~~ `e`", 40, &theme, &[]).lines[0];
        assert_eq!(line.to_string(), "a b c d e");
        let style = |text: &str| line.spans.iter().find(|s| s.content == text).unwrap().style;
        assert_eq!(style("b"), theme.style(Role::Emphasis));
        assert_eq!(style("c"), theme.style(Role::Strong));
        assert_eq!(style("e"), theme.style(Role::Code));
    }

    #[test]
    fn quotations_carry_their_verdict_in_symbols_too() {
        let source = "She says \"the long *silence*\" and \"never that\", then \"old words\".";
        let marks = [
            mark(source, "\"the long *silence*\"", MarkKind::Found, 0),
            mark(source, "\"never that\"", MarkKind::Missing, 1),
            mark(source, "\"old words\"", MarkKind::Neutral, 2),
        ];
        let theme = Theme::default();
        let rendered = render(source, 200, &theme, &marks);
        assert_eq!(
            rendered.lines[0].to_string(),
            "She says \"the long silence\" ▸1 and \"never that\" ✗ not in the manuscript, then \"old words\" ·3."
        );
        assert_eq!(rendered.marks, [(0, 0), (1, 0), (2, 0)]);
        let quoted = rendered.lines[0].spans.iter().find(|s| s.content.contains("the long")).unwrap();
        assert_eq!(quoted.style, theme.style(Role::QuoteFound));
        let silence = rendered.lines[0].spans.iter().find(|s| s.content == "silence").unwrap();
        assert_eq!(silence.style, theme.style(Role::Emphasis).patch(theme.style(Role::QuoteFound)));
    }

    #[test]
    fn marks_know_the_row_of_their_symbol() {
        let source =
            "Some words first.\n\n- an item with \"words\"\n\n| a | b |\n|---|---|\n| x | \"cell\" |";
        let marks =
            [mark(source, "\"cell\"", MarkKind::Found, 7), mark(source, "\"words\"", MarkKind::Found, 3)];
        let rendered = render(source, 20, &Theme::default(), &marks);
        let rows: Vec<_> = rendered.lines.iter().map(Line::to_string).collect();
        assert_eq!(rendered.marks.iter().map(|(i, _)| *i).collect::<Vec<_>>(), [3, 7]);
        for (index, row) in rendered.marks {
            assert!(rows[row].contains(&format!("▸{}", index + 1)), "{rows:?}");
        }
    }

    #[test]
    fn a_mark_that_fits_nowhere_harms_nothing() {
        let far = Mark { range: 900..1000, kind: MarkKind::Found, index: 0 };
        let torn = Mark { range: 1..2, kind: MarkKind::Found, index: 1 };
        let rendered = render("日本", 20, &Theme::default(), &[far, torn]);
        assert_eq!(rendered.lines[0].to_string(), "日 ▸2本 ▸1");
    }

    #[test]
    fn deep_nesting_is_flattened_and_keeps_its_words() {
        let deep = format!("{}deep", "> ".repeat(5000));
        assert!(shown(&deep, 60).contains("deep"));
        let lists = (0..300).map(|n| format!("{}- item {n}\n", "  ".repeat(n))).collect::<Vec<_>>().concat();
        assert!(shown(&lists, 60).contains("item 299"));
    }

    #[test]
    fn wide_characters_keep_the_grid() {
        for row in rows("日本語のテキストと👩‍🚀 emoji `コード` **強調**", 9) {
            assert!(text::width(&row) <= 9, "{row}");
        }
    }

    #[test]
    fn a_stream_lays_out_only_its_last_block() {
        let theme = Theme::default();
        let mut stream = Streaming::default();
        for n in 0..200 {
            stream.push(&format!("Paragraph {n} of the answer.\n\n"));
            stream.lines(60, &theme);
        }
        let open = stream.source.len() - stream.finished.0;
        assert!(open < 80, "{open} bytes are still open");
        let source = stream.source().to_owned();
        for width in [60, 30] {
            assert_eq!(stream.lines(width, &theme), render(&source, width, &theme, &[]).lines);
        }
    }

    #[test]
    fn a_stream_lays_out_only_the_end_of_a_paragraph_without_an_end() {
        let theme = Theme::default();
        for (word, after) in [("lamp", "\n\nAnother *one*."), ("日本語", "\n===\n"), ("- 7", "")] {
            let (mut stream, mut source) = (Streaming::default(), String::from("Before.\n\n"));
            stream.push(&source);
            let mut most = 0;
            for n in 0..3_000 {
                let mark = if n % 7 == 0 { "**" } else { "" };
                let delta = format!("{mark}{word}{mark} a{n}{} \u{201c}so\u{201d} ", "z".repeat(n % 5));
                source += &delta;
                stream.push(&delta);
                if n % 5 == 0 {
                    stream.lines(60, &theme);
                    most = most.max(source.len() - stream.finished.0);
                }
            }
            assert_eq!(stream.lines(60, &theme), render(&source, 60, &theme, &[]).lines);
            assert!(most < 3 * LONG, "{word}: {most} bytes were open");
            source += after;
            stream.push(after);
            let whole = render(&source, 60, &theme, &[]).lines;
            let shown = stream.lines(60, &theme);
            if after.starts_with("\n\n") {
                assert_eq!(shown, whole);
            }
            for width in [30, 61] {
                assert_eq!(stream.lines(width, &theme), render(&source, width, &theme, &[]).lines);
            }
        }
    }

    #[test]
    fn a_text_that_changes_is_taken_over() {
        let theme = Theme::default();
        let mut stream = Streaming::default();
        for source in ["one\n\ntwo", "one\n\ntwo three\n\nfour\n", "other", ""] {
            stream.set(source);
            assert_eq!(stream.lines(40, &theme), render(source, 40, &theme, &[]).lines, "{source}");
        }
    }

    /// Pieces of Markdown that begin, continue and end each other's blocks in every order.
    fn markdown() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("# Heading\n"),
            Just("Setext\n===\n"),
            Just("words of *prose* and **more**"),
            Just("\n"),
            Just("\n\n"),
            Just("- item\n"),
            Just("  - nested\n"),
            Just("\n  continued\n"),
            Just("1. one\n"),
            Just("1"),
            Just("10) ten\n"),
            Just("* "),
            Just("- [ ] task\n"),
            Just("> quote\n"),
            Just("> - in quote\n"),
            Just("```\ncode\n"),
            Just("```\n"),
            Just("~~~ rust\n"),
            Just("    indented\n"),
            Just("| a | b |\n|---|--:|\n"),
            Just("words\n| a | b |\n|---|--:|"),
            Just("| c | `d` |\n"),
            Just("|"),
            Just("---\n"),
            Just("***"),
            Just("<div>\n"),
            Just("</div>\n\n"),
            Just("<!-- c\n\n-->\n"),
            Just("[a]: x\n"),
            Just("[a] [b](c)"),
            Just("[l]:\n"),
            Just("日本語 👩‍🚀 "),
            Just("e\u{301}"),
            Just("\u{1b}[31m"),
            Just("\t"),
            Just("\r\n"),
            Just("~~gone~~ "),
            Just("_"),
            Just("&amp; "),
            Just("\\"),
            Just(" "),
            Just("\u{1}"),
            Just("“said” "),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_stream_ends_as_the_whole(source in markdown(), cuts in prop::collection::vec(1usize..9, 1..40), width in 1u16..50) {
            let theme = Theme::default();
            let mut stream = Streaming::default();
            let (mut rest, mut cuts) = (source.as_str(), cuts.iter().cycle());
            while !rest.is_empty() {
                let at = rest.char_indices().nth(*cuts.next().unwrap()).map_or(rest.len(), |(i, _)| i);
                stream.push(&rest[..at]);
                stream.lines(width, &theme);
                rest = &rest[at..];
            }
            prop_assert_eq!(stream.lines(width, &theme), render(&source, width, &theme, &[]).lines);
        }

        #[test]
        fn no_row_is_too_wide_and_none_holds_a_control_character(source in markdown(), width in 0u16..50, at in 0usize..60) {
            let marks: Vec<_> = [MarkKind::Found, MarkKind::Neutral, MarkKind::Missing].into_iter().enumerate()
                .map(|(i, kind)| Mark { range: at + i..at + 9 * i, kind, index: i }).collect();
            for marks in [&[][..], &marks] {
                let rendered = render(&source, width, &Theme::default(), marks);
                for line in &rendered.lines {
                    let wide: usize = line.spans.iter().map(|s| text::width(&s.content)).sum();
                    prop_assert!(wide <= usize::from(width), "{} columns: {:?}", wide, line.to_string());
                    prop_assert!(!line.to_string().contains(char::is_control));
                }
                prop_assert!(rendered.marks.iter().all(|(_, row)| *row < rendered.lines.len()));
            }
        }

        #[test]
        fn no_text_panics(source in "(\\PC|[\\x00-\\x1f#>*`|\\[\\]()-]){0,80}", width in 0u16..20) {
            render(&source, width, &Theme::default(), &[]);
        }
    }
}
