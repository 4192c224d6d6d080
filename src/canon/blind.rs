//! The book as it is known to a reader who has read up to a chapter: what a blind board member works with.
//!
//! [`until`] makes a smaller [`Book`], and everything that a blind member gets is made of that book alone. So nothing that comes later can stand
//! in a result, a near name, a count, a path or an error, whatever is asked, and no tool needs to know of it. The rules, which rather keep
//! too much back than too little:
//!
//! - Chapters up to the horizon stay, as a reader sees them: without frontmatter and without comments. Later ones are gone.
//! - An entry stays once a chapter up to there names it, under a name that stands there. Other names, its title, and names that a later progression
//!   gives it are gone; a path with other words than those names is replaced by a plain one. What the author wrote of it for all time
//!   is written with the end in mind, so summary, fields and prose are gone, too: the sentence that names it first takes the place of the summary.
//! - What the author tied to a chapter that was read stays: `progressions`, sections under `## Chapter 3`, lines such as `- ch. 3: ...`. A date does as well
//!   as a chapter where it lies between the first dated chapter and the horizon, and before the next dated chapter; a date before that is backstory, which
//!   nobody may have told yet. Whatever names a later chapter, a later date, or a name that is not known yet, is gone.
//! - Style entries, and the book's own words to its board, stay but for such passages: they are about prose, not about the story.
//! - Souls, notes, other files and warnings are gone: no reader has them.
//!
//! What this can't know: that two names which both were read mean one person. Where that is a secret, a progression says when it is told
//! (`from: 9`, `aliases: ...`).

mod entry;
mod horizon;
mod known;
mod pinned;

use std::sync::Arc;

use crate::domain::book::{Book, BookSettings};
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::{Chapter, StoryTime};
use crate::domain::passage::{comments, count_words, fold};
use horizon::Horizon;
use known::Known;
use pinned::Keep;

/// Returns the book as a reader knows it who has read up to and with `chapter`. Where that is no chapter, nothing was read yet.
pub fn until(book: &Book, chapter: &BookPath) -> Book {
    let read = book.chapters.iter().position(|c| &c.path == chapter).map_or(0, |place| place + 1);
    let chapters: Vec<Chapter> = book.chapters[..read].iter().map(as_read).collect();
    let known = Known::of(book, &chapters);
    let horizon = Horizon::of(book, read, &known);
    let mut entries = vec![];
    for (index, full) in book.entries.iter().enumerate() {
        let kept = if full.entry_type == EntryType::Style {
            entry::of_style(full, &horizon)
        } else {
            known.of_entry(index).and_then(|known| entry::reached(full, known, &chapters, &horizon))
        };
        entries.extend(kept);
    }
    entry::give_plain_paths(book, &mut entries);
    entries.sort_by_cached_key(|e| (e.entry_type, fold(&e.name), e.path.clone()));
    Book {
        name: book.name.clone(),
        settings: settings(&book.settings, &horizon),
        chapters,
        entries,
        ..Book::default()
    }
}

/// A chapter without what no reader sees.
fn as_read(chapter: &Chapter) -> Chapter {
    let text = without_comments(chapter.body());
    Chapter {
        words: count_words(&text),
        text: Arc::from(text),
        body_start: 0,
        time: StoryTime { cast: vec![], ..chapter.time.clone() },
        ..chapter.clone()
    }
}

fn without_comments(text: &str) -> String {
    let (mut kept, mut from) = (String::with_capacity(text.len()), 0);
    for comment in comments(text) {
        kept.push_str(&text[from..comment.start]);
        from = comment.end;
    }
    kept.push_str(&text[from..]);
    kept
}

/// Whom the book is for and what it says to its board. The order of chapters, the folders and the goals are nothing to a reader.
fn settings(full: &BookSettings, horizon: &Horizon<'_>) -> BookSettings {
    let mut board = full.board.clone();
    for member in board.values_mut() {
        for words in [&mut member.notes, &mut member.editable].into_iter().flatten() {
            *words = pinned::reduce(words, horizon, Keep::AllButLater, &|_| false);
        }
    }
    BookSettings {
        title: full.title.clone(),
        author: full.author.clone(),
        genre: full.genre.clone(),
        language: full.language.clone(),
        audience: full.audience.clone(),
        disabled_tools: full.disabled_tools.clone(),
        board,
        ..BookSettings::default()
    }
}

#[cfg(test)]
mod tests;
