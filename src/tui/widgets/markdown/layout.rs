//! Blocks into rows of a fixed width: hanging indents, bars, air between blocks.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::super::super::theme::{Role, Theme};
use super::super::text;
use super::parse::{Block, Inline, List};

/// Fewest columns that a prefix leaves to the words; without them it is left out.
const MIN_WORDS: usize = 4;

/// What stands before the words of a block: bars, bullets, indents.
#[derive(Clone, Default)]
pub struct Prefix {
    /// Before its first row.
    first: Vec<Span<'static>>,
    /// Before every other.
    rest: Vec<Span<'static>>,
    /// Columns of both.
    pub width: usize,
}

impl Prefix {
    /// Returns the spans for the next row.
    pub fn next(&mut self) -> Vec<Span<'static>> {
        std::mem::replace(&mut self.first, self.rest.clone())
    }

    /// Returns a longer prefix, whose first row takes this one's; `first` and `rest` are equally wide.
    fn longer(&mut self, first: Span<'static>, rest: Span<'static>) -> Self {
        let width = self.width + text::width(&first.content);
        let mut longer = Self { first: self.next(), rest: self.rest.clone(), width };
        longer.first.push(first);
        longer.rest.push(rest);
        longer
    }
}

/// Rows that grow block by block.
pub struct Layout<'a> {
    pub theme: &'a Theme,
    pub width: usize,
    pub lines: Vec<Line<'static>>,
    /// Index of each mark and the row of its symbol.
    pub marks: Vec<(usize, usize)>,
}

impl<'a> Layout<'a> {
    /// Goes on below `lines`.
    pub fn new(theme: &'a Theme, width: usize, lines: Vec<Line<'static>>) -> Self {
        Self { theme, width, lines, marks: vec![] }
    }

    /// Adds a block that stands in no other, apart from what is above it.
    pub fn top(&mut self, block: &Block) {
        self.below(block, &mut Prefix::default(), !self.lines.is_empty());
    }

    /// Adds a block that goes on with the last row's.
    pub fn more(&mut self, block: &Block) {
        self.below(block, &mut Prefix::default(), false);
    }

    /// Adds blocks one below the other, `apart` or not.
    fn blocks(&mut self, blocks: &[Block], prefix: &mut Prefix, apart: bool) {
        for (i, block) in blocks.iter().enumerate() {
            self.below(block, prefix, apart && i > 0);
        }
    }

    /// Adds a block, below an empty row if there is to be a `gap`.
    fn below(&mut self, block: &Block, prefix: &mut Prefix, gap: bool) {
        if gap {
            self.lines.push(Line::from(prefix.rest.clone()));
        }
        let before = self.lines.len();
        self.block(block, prefix);
        if gap && self.lines.len() == before {
            self.lines.pop();
        }
    }

    fn block(&mut self, block: &Block, prefix: &mut Prefix) {
        match block {
            Block::Paragraph(words) | Block::Heading(words) | Block::Html(words) => {
                self.inline(words, prefix);
            }
            Block::Code { language, text } => self.code(language, text, prefix),
            Block::Quote(blocks) => {
                let bar = Span::styled("▎ ", self.theme.style(Role::Quotation));
                let mut inner = self.nested(prefix, bar.clone(), bar);
                self.blocks(blocks, &mut inner, true);
            }
            Block::List(list) => self.list(list, prefix),
            Block::Table(table) => self.table(table, prefix),
            Block::Rule => {
                let mut spans = prefix.next();
                let rule = "─".repeat(self.room(prefix));
                spans.push(Span::styled(rule, self.theme.style(Role::Dim)));
                self.lines.push(Line::from(spans));
            }
        }
    }

    fn list(&mut self, list: &List, prefix: &mut Prefix) {
        let number = |i: usize| list.first.map(|first| first.saturating_add(i as u64).to_string());
        let digits = (0..list.items.len()).filter_map(number).map(|n| n.len()).max().unwrap_or(0);
        for (i, item) in list.items.iter().enumerate() {
            if list.loose && i > 0 {
                self.lines.push(Line::from(prefix.rest.clone()));
            }
            let bullet = match (item.done, number(i)) {
                (Some(true), _) => "[x] ".into(),
                (Some(false), _) => "[ ] ".into(),
                (None, Some(number)) => format!("{number:>digits$}. "),
                (None, None) => "• ".into(),
            };
            let indent = Span::raw(" ".repeat(text::width(&bullet)));
            let bullet = Span::styled(bullet, self.theme.style(Role::ListMarker));
            let mut inner = self.nested(prefix, bullet, indent);
            if item.blocks.is_empty() {
                let spans = inner.next();
                self.lines.push(Line::from(spans));
            }
            self.blocks(&item.blocks, &mut inner, list.loose);
        }
    }

    fn code(&mut self, language: &str, words: &Inline, prefix: &mut Prefix) {
        if !language.is_empty() {
            let label = text::fit(&format!("─ {language}"), self.room(prefix));
            let mut spans = prefix.next();
            spans.push(Span::styled(label, self.theme.style(Role::Dim)));
            self.lines.push(Line::from(spans));
        }
        let mut inner = self.nested(prefix, Span::raw("  "), Span::raw("  "));
        self.inline(words, &mut inner);
    }

    /// Adds words as wrapped rows.
    pub fn inline(&mut self, words: &Inline, prefix: &mut Prefix) {
        let (rows, marks) = wrapped(words, self.room(prefix));
        self.marks.extend(marks.into_iter().map(|(index, row)| (index, self.lines.len() + row)));
        for row in rows {
            let mut spans = prefix.next();
            spans.extend(row.spans);
            self.lines.push(Line::from(spans));
        }
    }

    /// Returns the columns that a prefix leaves.
    pub fn room(&self, prefix: &Prefix) -> usize {
        self.width.saturating_sub(prefix.width).max(1)
    }

    fn nested(&self, prefix: &mut Prefix, first: Span<'static>, rest: Span<'static>) -> Prefix {
        if prefix.width + text::width(&first.content) + MIN_WORDS > self.width {
            return Prefix { first: prefix.next(), ..prefix.clone() };
        }
        prefix.longer(first, rest)
    }
}

/// Index of each mark, and the row of its symbol.
pub type MarkRows = Vec<(usize, usize)>;

/// Wraps words at `columns`: the rows, and the row of each mark's symbol.
pub fn wrapped(words: &Inline, columns: usize) -> (Vec<Line<'static>>, MarkRows) {
    let runs: Vec<&str> = words.iter().map(|r| r.text.as_str()).collect();
    let (mut lines, mut marks) = (vec![], vec![]);
    for row in text::wrap_runs(&runs, columns) {
        let mut pieces: Vec<(String, Style)> = vec![];
        for (i, range) in row {
            let run = &words[i];
            let piece = run.text.get(range.clone()).unwrap_or_default();
            let Some(index) = run.mark else {
                pieces.push((piece.to_owned(), run.style));
                continue;
            };
            // The symbol itself stands behind a no-break space.
            if range.contains(&'\u{a0}'.len_utf8()) {
                marks.push((index, lines.len()));
            }
            pieces.push((piece.replace('\u{a0}', " "), run.style));
        }
        lines.push(text::line_of(pieces.iter().map(|(piece, style)| (piece.as_str(), *style)), columns));
    }
    (lines, marks)
}
