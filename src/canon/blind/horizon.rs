//! Up to where was read, and what lies behind that: later chapters, later dates, names that are not known yet.

use aho_corasick::AhoCorasick;

use super::known::{Known, stand_in};
use crate::canon::story_time::{in_order, place_in};
use crate::domain::book::Book;
use crate::domain::manuscript::Chapter;
use crate::domain::story_date::{Moment, Span, StoryDate, When, found_in};

/// The end of what was read.
pub(super) struct Horizon<'a> {
    book: &'a Book,
    /// How many chapters were read.
    read: usize,
    /// When the first dated chapter begins.
    begins: Option<Moment>,
    /// When the last dated chapter that was read ends.
    ends: Option<Moment>,
    /// When a dated chapter that was not read begins.
    next: Option<Moment>,
    /// Names and titles that stand in no chapter that was read.
    secrets: Option<AhoCorasick>,
}

impl<'a> Horizon<'a> {
    pub(super) fn of(book: &'a Book, read: usize, known: &Known) -> Self {
        let (before, behind) = book.chapters.split_at(read);
        let span = |chapter: &Chapter| in_order(chapter).and_then(StoryDate::span);
        let titles = behind.iter().map(|chapter| chapter.title.clone());
        let secrets: Vec<String> = known.unread(titles);
        Self {
            book,
            read,
            begins: before.iter().find_map(span).map(|span| span.first),
            ends: before.iter().rev().find_map(span).map(|span| span.last),
            next: behind.iter().filter_map(span).map(|span| span.first).min(),
            secrets: AhoCorasick::new(&secrets).ok().filter(|_| !secrets.is_empty()),
        }
    }

    /// Whether what holds from `place` on belongs to what was read.
    pub(super) fn is_told(&self, place: &StoryDate) -> bool {
        match place.when {
            When::Chapter(from, to) => self.was_read(from) && self.was_read(to),
            When::Calendar(span) => {
                self.begins.is_some_and(|begins| begins <= span.first) && !self.is_later(&span)
            }
            When::Free => place_in(self.book, place).is_some_and(|place| place < self.read),
        }
    }

    /// Whether `place` names a chapter that was not read.
    pub(super) fn is_unread(&self, place: &StoryDate) -> bool {
        match place.when {
            When::Chapter(from, to) => !self.was_read(from) || !self.was_read(to),
            When::Free => place_in(self.book, place).is_some_and(|place| place >= self.read),
            When::Calendar(_) => false,
        }
    }

    /// Whether a text names something that lies behind the horizon, or that may.
    pub(super) fn names_later(&self, text: &str) -> bool {
        let later = |when: When| match when {
            When::Chapter(from, to) => !self.was_read(from) || !self.was_read(to),
            When::Calendar(span) => self.is_later(&span),
            When::Free => false,
        };
        found_in(text).into_iter().any(later)
            || self.secrets.as_ref().is_some_and(|secrets| stand_in(secrets, text).next().is_some())
    }

    /// Whether every chapter with this number was read; where there is none yet, whether it would stand before the last one that was.
    fn was_read(&self, number: u32) -> bool {
        let mut bear = self.book.chapters.iter().enumerate().filter(|(_, c)| c.number == number).peekable();
        if bear.peek().is_some() {
            return bear.all(|(place, _)| place < self.read);
        }
        self.book.chapters[..self.read].last().is_some_and(|last| number <= last.number)
    }

    /// Whether a stretch ends after what was read, or may.
    fn is_later(&self, span: &Span) -> bool {
        self.ends.is_none_or(|ends| span.last > ends) || self.next.is_some_and(|next| span.last >= next)
    }
}
