//! Markdown into a tree of blocks, with their text in styled runs and the marks of quotations in place.
//!
//! Blocks depend on nothing outside of themselves, so that a text can be parsed in parts.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};

use super::super::super::theme::{Role, Theme};
use super::{Mark, MarkKind};
use crate::domain::safe_text;

/// How deep quotes and lists nest on screen; what is deeper stands at this depth.
const MAX_DEPTH: usize = 12;

/// A block that stands in no other.
pub struct Top {
    /// Byte offset of the line that it begins on.
    pub start: usize,
    pub block: Block,
}

pub enum Block {
    Paragraph(Inline),
    Heading(Inline),
    Code {
        language: String,
        text: Inline,
    },
    /// HTML, line by line.
    Html(Inline),
    Quote(Vec<Block>),
    List(List),
    Table(Table),
    Rule,
}

pub struct List {
    /// Number of the first item of an ordered list.
    pub first: Option<u64>,
    /// Whether blank lines stand between its items.
    pub loose: bool,
    pub items: Vec<Item>,
}

pub struct Item {
    /// Whether a task is done; `None` for an item that is no task.
    pub done: Option<bool>,
    pub blocks: Vec<Block>,
}

pub struct Table {
    pub alignments: Vec<Alignment>,
    /// The head first.
    pub rows: Vec<Vec<Inline>>,
}

pub type Inline = Vec<Run>;

/// Safe text of one style.
#[derive(Clone)]
pub struct Run {
    pub text: String,
    pub style: Style,
    /// The mark that it is the symbol of.
    pub mark: Option<usize>,
}

/// Parses `source`; the marks' ranges are bytes of it.
pub fn parse(source: &str, theme: &Theme, marks: &[Mark]) -> Vec<Top> {
    let parsed = without_definitions(source);
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut builder = Builder {
        source,
        parsed: &parsed,
        theme,
        marks: Marks::new(source, marks),
        open: vec![],
        styles: vec![Style::new()],
        links: vec![],
        inline: vec![],
        done: vec![],
        start: 0,
    };
    for (event, range) in Parser::new_ext(&parsed, options).into_offset_iter() {
        builder.event(event, range);
    }
    builder.done
}

/// Stands for the colon of a link definition. It is a control character, so that it takes one byte and means nothing.
const COLON: char = '\u{1}';

/// Makes link definitions ordinary text, byte for byte in place.
fn without_definitions(source: &str) -> Cow<'_, str> {
    if source.contains("]:") { Cow::Owned(source.replace("]:", "]\u{1}")) } else { Cow::Borrowed(source) }
}

fn with_colons(text: &str) -> Cow<'_, str> {
    if text.contains(COLON) { Cow::Owned(text.replace(COLON, ":")) } else { Cow::Borrowed(text) }
}

/// A container that is not closed yet.
enum Open {
    Quote(Vec<Block>),
    List(List),
    Item(Item),
    /// A container beyond the depth: its blocks go to the one around it.
    Flat(Vec<Block>),
    Table(Table),
    Code(String),
    Html,
}

struct Builder<'a> {
    source: &'a str,
    /// The source without link definitions, of the same length.
    parsed: &'a str,
    theme: &'a Theme,
    marks: Marks<'a>,
    open: Vec<Open>,
    /// The style of what comes, innermost last. Never empty.
    styles: Vec<Style>,
    /// Where open links lead, and the first run of their words.
    links: Vec<(String, usize)>,
    inline: Inline,
    done: Vec<Top>,
    /// Start of the open top block.
    start: usize,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, &range),
            Event::End(tag) => self.end(tag, &range),
            Event::Rule => {
                self.flush(range.start);
                self.begin(range.start);
                self.block(Block::Rule);
            }
            Event::Text(text) => self.text(&text, range, self.style()),
            Event::Code(text) => self.text(&text, range, self.style().patch(self.theme.style(Role::Code))),
            Event::Html(text) | Event::InlineHtml(text) => {
                self.text(&text, range, self.style().patch(self.theme.style(Role::Dim)));
            }
            Event::SoftBreak => self.text(" ", range, self.style()),
            Event::HardBreak => self.text("\n", range, self.style()),
            Event::TaskListMarker(done) => {
                if let Some(Open::Item(item)) = self.open.last_mut() {
                    item.done = Some(done);
                }
            }
            // Not enabled.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, range, self.style());
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let style = self.style();
        match tag {
            Tag::Emphasis => self.styles.push(style.patch(self.theme.style(Role::Emphasis))),
            Tag::Strong => self.styles.push(style.patch(self.theme.style(Role::Strong))),
            Tag::Strikethrough => self.styles.push(style.add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((safe_text::line(&with_colons(&dest_url)).into_owned(), self.inline.len()));
                self.styles.push(style.patch(self.theme.style(Role::Link)));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(Open::Table(table)) = self.open.last_mut() {
                    table.rows.push(vec![]);
                }
            }
            Tag::TableCell => {}
            block => {
                self.flush(range.start);
                self.begin(range.start);
                self.start_block(block);
            }
        }
    }

    fn start_block(&mut self, tag: Tag<'_>) {
        let style = self.style();
        let deep = self.open.len() >= MAX_DEPTH;
        match tag {
            Tag::BlockQuote(_) => {
                self.styles.push(style.patch(self.theme.style(Role::Quotation)));
                self.open.push(if deep { Open::Flat(vec![]) } else { Open::Quote(vec![]) });
            }
            // A list is kept together with its items: both within the depth, or neither.
            Tag::List(_) if self.open.len() + 1 >= MAX_DEPTH => self.open.push(Open::Flat(vec![])),
            Tag::List(first) => self.open.push(Open::List(List { first, loose: false, items: vec![] })),
            Tag::Item if matches!(self.open.last(), Some(Open::List(_))) => {
                self.open.push(Open::Item(Item { done: None, blocks: vec![] }));
            }
            Tag::Item => self.open.push(Open::Flat(vec![])),
            Tag::Paragraph => {
                // Only a loose list has paragraphs in its items.
                if let [.., Open::List(list), Open::Item(_)] = self.open.as_mut_slice() {
                    list.loose = true;
                }
            }
            Tag::Heading { level, .. } => {
                let style = style.patch(self.theme.style(Role::Heading));
                let first = level == HeadingLevel::H1;
                self.styles.push(if first { style.add_modifier(Modifier::UNDERLINED) } else { style });
            }
            Tag::CodeBlock(kind) => {
                let info = match &kind {
                    CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.open.push(Open::Code(safe_text::line(&with_colons(info)).into_owned()));
                self.styles.push(style.patch(self.theme.style(Role::Code)));
            }
            Tag::HtmlBlock => self.open.push(Open::Html),
            Tag::Table(alignments) => self.open.push(Open::Table(Table { alignments, rows: vec![] })),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.end_style(),
            TagEnd::Link | TagEnd::Image => {
                self.end_style();
                self.end_link();
            }
            TagEnd::TableCell => {
                self.marks.settle(range.end, self.theme, &mut self.inline);
                let cell = std::mem::take(&mut self.inline);
                if let Some(Open::Table(table)) = self.open.last_mut()
                    && let Some(row) = table.rows.last_mut()
                {
                    row.push(cell);
                }
            }
            TagEnd::Paragraph => self.flush(range.end),
            TagEnd::Heading(_) => {
                self.end_style();
                self.marks.settle(range.end, self.theme, &mut self.inline);
                let words = std::mem::take(&mut self.inline);
                self.block(Block::Heading(words));
            }
            TagEnd::BlockQuote(_) => {
                self.flush(range.end);
                self.end_style();
                self.close();
            }
            TagEnd::CodeBlock => {
                self.end_style();
                self.marks.settle(range.end, self.theme, &mut self.inline);
                self.close();
            }
            TagEnd::HtmlBlock => {
                self.marks.settle(range.end, self.theme, &mut self.inline);
                self.close();
            }
            TagEnd::List(_) | TagEnd::Item | TagEnd::Table => {
                self.flush(range.end);
                self.close();
            }
            _ => {}
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn end_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    /// Shows where a link leads, unless its words already do.
    fn end_link(&mut self) {
        let Some((url, from)) = self.links.pop() else { return };
        let words: String = self.inline.iter().skip(from).map(|r| r.text.as_str()).collect();
        if url.is_empty() || words == url || url.strip_prefix("mailto:") == Some(words.as_str()) {
            return;
        }
        let space = if words.is_empty() { "" } else { " " };
        let style = self.theme.style(Role::Dim);
        self.inline.push(Run { text: format!("{space}({url})"), style, mark: None });
    }

    /// Takes in text whose bytes in the source are `range`, cut where marks begin and end.
    fn text(&mut self, text: &str, range: Range<usize>, style: Style) {
        if self.parsed.get(range.clone()) != Some(text) {
            // An entity, an escape, a line break: not the bytes of the source, so that no mark can cut it.
            self.marks.settle(range.start, self.theme, &mut self.inline);
            let style = self.marks.style(&range, style, self.theme);
            self.run(&with_colons(text), style);
            return self.marks.settle(range.end, self.theme, &mut self.inline);
        }
        let source = self.source;
        let mut from = range.start;
        while from < range.end {
            self.marks.settle(from, self.theme, &mut self.inline);
            let to = self.marks.next_cut(from, range.end);
            let style = self.marks.style(&(from..to), style, self.theme);
            self.run(source.get(from..to).unwrap_or_default(), style);
            from = to;
        }
        self.marks.settle(range.end, self.theme, &mut self.inline);
    }

    fn run(&mut self, text: &str, style: Style) {
        let text = safe_text::block(text);
        match self.inline.last_mut() {
            Some(last) if last.style == style && last.mark.is_none() => last.text.push_str(&text),
            _ => self.inline.push(Run { text: text.into_owned(), style, mark: None }),
        }
    }

    /// Remembers where a top block starts.
    fn begin(&mut self, at: usize) {
        if self.open.is_empty() {
            self.start = self.source[..at].rfind('\n').map_or(0, |i| i + 1);
        }
    }

    /// Ends the paragraph, if words are waiting; `at` is how far the source was read.
    fn flush(&mut self, at: usize) {
        if !self.inline.is_empty() {
            self.marks.settle(at, self.theme, &mut self.inline);
            let words = std::mem::take(&mut self.inline);
            self.block(Block::Paragraph(words));
        }
    }

    /// Ends the innermost container.
    fn close(&mut self) {
        match self.open.pop() {
            Some(Open::Quote(blocks)) => self.block(Block::Quote(blocks)),
            Some(Open::List(list)) => self.block(Block::List(list)),
            Some(Open::Table(table)) => self.block(Block::Table(table)),
            Some(Open::Item(item)) => {
                if let Some(Open::List(list)) = self.open.last_mut() {
                    list.items.push(item);
                }
            }
            Some(Open::Flat(blocks)) => blocks.into_iter().for_each(|b| self.block(b)),
            Some(Open::Code(language)) => {
                let text = without_last_break(std::mem::take(&mut self.inline));
                self.block(Block::Code { language, text });
            }
            Some(Open::Html) => {
                let text = without_last_break(std::mem::take(&mut self.inline));
                self.block(Block::Html(text));
            }
            None => {}
        }
    }

    /// Puts a finished block where it belongs.
    fn block(&mut self, block: Block) {
        match self.open.last_mut() {
            Some(Open::Quote(blocks) | Open::Flat(blocks) | Open::Item(Item { blocks, .. })) => {
                blocks.push(block);
            }
            Some(_) => {}
            None => self.done.push(Top { start: self.start, block }),
        }
    }
}

fn without_last_break(mut inline: Inline) -> Inline {
    if let Some(last) = inline.iter_mut().rev().find(|r| r.mark.is_none())
        && last.text.ends_with('\n')
    {
        last.text.pop();
    }
    inline
}

/// The marks that are still to come, in the order in which they end.
struct Marks<'a> {
    left: std::iter::Peekable<std::vec::IntoIter<(Range<usize>, &'a Mark)>>,
    /// All of them, for styles and cuts.
    all: Vec<(Range<usize>, MarkKind)>,
}

impl<'a> Marks<'a> {
    fn new(source: &str, marks: &'a [Mark]) -> Self {
        let inside = |mark: &Mark| {
            let start = source.floor_char_boundary(mark.range.start);
            start..source.ceil_char_boundary(mark.range.end).max(start)
        };
        let mut marks: Vec<_> = marks.iter().map(|m| (inside(m), m)).collect();
        marks.sort_by_key(|(range, _)| (range.end, range.start));
        let all = marks.iter().map(|(range, mark)| (range.clone(), mark.kind)).collect();
        Self { left: marks.into_iter().peekable(), all }
    }

    /// Adds the symbols of all marks that end up to `at`.
    fn settle(&mut self, at: usize, theme: &Theme, inline: &mut Inline) {
        while let Some((_, mark)) = self.left.next_if(|(range, _)| range.end <= at) {
            let style = theme.style(mark.kind.role());
            inline.push(Run { text: mark.kind.symbol(mark.index), style, mark: Some(mark.index) });
        }
    }

    /// Returns where the next mark begins or ends between `from` and `to`, else `to`.
    fn next_cut(&self, from: usize, to: usize) -> usize {
        let edges = self.all.iter().flat_map(|(range, _)| [range.start, range.end]);
        edges.filter(|edge| (from + 1..to).contains(edge)).min().unwrap_or(to)
    }

    /// Returns `style` with the look of the mark that covers `range`.
    fn style(&self, range: &Range<usize>, style: Style, theme: &Theme) -> Style {
        let mark = self.all.iter().find(|(mark, _)| mark.start < range.end && range.start < mark.end);
        mark.map_or(style, |(_, kind)| style.patch(theme.style(kind.role())))
    }
}
