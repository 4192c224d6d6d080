//! One open document: its text, where the author is in it, and what is known of the file.

use std::ops::Range;

use crate::domain::book::Book;
use crate::domain::frontmatter;
use crate::domain::ids::BookPath;
use crate::domain::passage::find_quote;
use crate::editor::{Buffer, Motion, PartCount, Row, View};
use crate::workbench::{Document, Selection};

use super::panes::manuscript::{Look, NamedLines};

/// A place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// Bytes of the file.
    pub(super) range: Range<usize>,
    /// The words that stand there; empty when any will do.
    pub(super) words: String,
}

/// A document that is open in the manuscript pane.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says another thing that is under way, and they go together freely"
)]
pub(super) struct OpenDocument {
    pub(super) path: BookPath,
    /// What is shown above the text, e.g. `3 · An Inventory`.
    pub(super) title: String,
    /// Its own title, e.g. `An Inventory`.
    name: String,
    pub(super) buffer: Buffer,
    pub(super) view: View,
    /// Hash of the file when it was read or saved; `None` for a file that does not exist yet.
    pub(super) hash: Option<String>,
    /// Why it can't be changed, if so.
    pub(super) read_only: Option<String>,
    /// Words when it was opened, for the words of this session.
    pub(super) words_at_start: usize,
    /// The selection that following a quote made, so that it is not taken for the author's own.
    located: Option<Range<usize>>,
    /// Whether the recovery log holds edits of it.
    pub(super) logged: bool,
    /// The log has failed: the next edits are logged over the whole text.
    pub(super) relog: bool,
    /// Its unsaved text was thrown away by the author.
    pub(super) thrown_away: bool,
    /// A save is under way.
    pub(super) saving: bool,
    /// It was asked to be saved again meanwhile.
    pub(super) save_again: bool,
    /// Another program has marked the file `ai: never`, over another text than the one that has unsaved words here.
    pub(super) marked_elsewhere: bool,
    /// The visible rows with their looks, as laid out last.
    pub(super) rows: Vec<(Row, Vec<Look>)>,
    /// The names in the lines that were on screen last.
    pub(super) named: NamedLines,
    /// The cursor's cell in the text area, as laid out last; `None` when it is scrolled away.
    pub(super) cursor: Option<(u16, u16)>,
    /// What is selected, as looked at last.
    pub(super) selected: Option<Selected>,
    selected_words: PartCount,
}

/// What is shown of a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Selected {
    pub(super) words: usize,
    /// How it begins and ends; empty for white space.
    pub(super) ends: String,
    /// Whether the author made it.
    pub(super) by_author: bool,
}

/// Bytes at each end of a long selection that its first and last words are taken from.
const ENDS: usize = 400;

impl OpenDocument {
    pub(super) fn new(book: &Book, path: BookPath, document: Document) -> Self {
        let mut buffer = Buffer::from_text(&document.text);
        let first = buffer.from_file_offset(first_place(&document.text));
        buffer.set_cursor(first, false);
        let title = title_of(book, &path);
        let name = book.document(&path).map_or_else(|| title.clone(), |(name, _)| name.to_owned());
        let words_at_start = buffer.words();
        Self {
            path,
            title,
            name,
            buffer,
            view: View::new(),
            hash: Some(document.hash),
            read_only: document.read_only,
            words_at_start,
            located: None,
            logged: false,
            relog: false,
            thrown_away: false,
            saving: false,
            save_again: false,
            marked_elsewhere: false,
            rows: vec![],
            named: NamedLines::default(),
            cursor: None,
            selected: None,
            selected_words: PartCount::default(),
        }
    }

    /// Puts the cursor at a byte of the file, and brings it into view.
    pub(super) fn go_to(&mut self, place: usize) {
        let at = self.buffer.from_file_offset(place);
        self.buffer.set_cursor(at, false);
        self.view.center(&self.buffer, at);
    }

    /// Selects a place, and brings it into view. Returns `false` when the words that should stand there stand nowhere in the text any more.
    pub(super) fn show_place(&mut self, place: &Place) -> bool {
        let start = self.buffer.from_file_offset(place.range.start);
        let end = self.buffer.from_file_offset(place.range.end);
        let Some(Range { start, end }) = self.found(start..end, &place.words) else { return false };
        self.buffer.select(start..end);
        self.located = self.buffer.selection();
        self.view.center(&self.buffer, start);
        true
    }

    /// Returns where some words stand: at the place itself, else, since the text may have changed, at the nearest one.
    fn found(&self, there: Range<usize>, words: &str) -> Option<Range<usize>> {
        if words.is_empty() || !find_quote(&self.buffer.slice(there.clone()), words).is_empty() {
            return Some(there);
        }
        let text = self.buffer.slice(0..self.buffer.len());
        let all = find_quote(&text, words).into_iter().map(|f| f.range);
        all.min_by_key(|range| range.start.abs_diff(there.start))
    }

    /// Looks at the selection before it is drawn. Costs what was selected since, never the whole of a long selection.
    pub(super) fn look_at_selection(&mut self) {
        let Self { buffer, selected_words, .. } = self;
        self.selected = buffer.selection().map(|range| {
            let ends = if range.len() <= 2 * ENDS {
                ends_of(&buffer.slice(range.clone()), "")
            } else {
                let first = buffer.slice(range.start..range.start + ENDS);
                ends_of(&first, &buffer.slice(range.end - ENDS..range.end))
            };
            let words = selected_words.count(buffer, &range);
            Selected { words, ends, by_author: Some(range) != self.located }
        });
    }

    /// Selects a place that was found, and brings it into view. It is not taken for the author's own selection.
    pub(super) fn show_found(&mut self, range: Range<usize>) {
        self.buffer.select(range);
        self.located = self.buffer.selection();
        self.view.reveal(&self.buffer);
    }

    /// Captures the selection that the author made, if there is one.
    pub(super) fn captured_by_author(&self) -> Option<Selection> {
        (self.buffer.selection() != self.located).then(|| self.captured()).flatten()
    }

    /// Captures the selection for a question.
    pub(super) fn captured(&self) -> Option<Selection> {
        let range = self.buffer.selection()?;
        let text = self.buffer.slice(range.clone());
        if text.trim().is_empty() {
            return None;
        }
        Some(Selection {
            path: self.path.clone(),
            title: self.name.clone(),
            source_words: self.buffer.words(),
            start: self.buffer.to_file_offset(range.start),
            text: text.into(),
        })
    }
}

/// Returns the motion that a command whose name begins with `move-` stands for.
pub(super) fn motion_named(command: &str) -> Option<Motion> {
    Some(match command {
        "move-left" => Motion::Left,
        "move-right" => Motion::Right,
        "move-up" => Motion::Up,
        "move-down" => Motion::Down,
        "move-word-left" => Motion::WordLeft,
        "move-word-right" => Motion::WordRight,
        "move-row-start" => Motion::RowStart,
        "move-row-end" => Motion::RowEnd,
        "move-paragraph-up" => Motion::ParagraphUp,
        "move-paragraph-down" => Motion::ParagraphDown,
        "move-page-up" => Motion::PageUp,
        "move-page-down" => Motion::PageDown,
        "move-text-start" => Motion::DocumentStart,
        "move-text-end" => Motion::DocumentEnd,
        _ => return None,
    })
}

/// Writes how a text begins and ends. Of a long one, `last` is its end, and what is between is not needed.
pub(super) fn ends_of(text: &str, last: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().chain(last.split_whitespace()).collect();
    match words.as_slice() {
        [first, second, .., before, end] if words.len() > 6 || !last.is_empty() => {
            format!("{first} {second} … {before} {end}")
        }
        all => all.join(" "),
    }
}

/// Returns the byte of a file where an author who opens it for the first time begins: never in the frontmatter, and in a file that has headings
/// but no prose yet below the first heading that has no other one under it.
fn first_place(text: &str) -> usize {
    let body = frontmatter::split(text).body_start;
    let (mut at, mut place, mut above) = (body, None, 0);
    for line in text[body..].split_inclusive('\n') {
        let words = line.trim();
        let level = words.bytes().take_while(|b| *b == b'#').count();
        if level == 0 && !words.is_empty() {
            return body;
        }
        if level > above {
            (above, place) = (level, Some(at + line.len()));
        } else if level > 0 {
            return place.unwrap_or(body);
        }
        at += line.len();
    }
    // What is below the last heading is empty: its end is the place to go on.
    place.map_or(body, |_| text.len())
}

/// Returns the words that name a document above its text.
pub(super) fn title_of(book: &Book, path: &BookPath) -> String {
    if let Some(chapter) = book.chapter(path) {
        return format!("{} · {}", chapter.number, chapter.title);
    }
    match book.document(path) {
        Some((title, _)) if path.stem() == "soul" => format!("{title} · soul"),
        Some((title, _)) => title.to_owned(),
        None => path.file_name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_author_begins_below_the_frontmatter_and_below_the_heading_of_an_empty_file() {
        let begins = |text: &str| {
            let (before, after) = text.split_once('|').unwrap();
            assert_eq!(first_place(&format!("{before}{after}")), before.len(), "{text}");
        };
        for text in [
            "|",
            "|It was dark.\n",
            "|# One\n\nIt was dark.\n",
            "# One\n\n|",
            "# One|",
            "---\ntitle: One\n---\n|It was dark.",
            "---\ntitle: One\n---\n\n# One\r\n\r\n|",
            "---\nname: Mira\n---\n\n# Mira\n\n## Summary\n|\n\n## Voice\n\n",
        ] {
            begins(text);
        }
    }
}
