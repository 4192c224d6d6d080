//! Going through a proposal: by change, by page, by file. Keys always act on something that is in sight.

use super::DiffPopup;
use crate::tui::widgets::diff::{Item, Pages};

impl DiffPopup {
    pub(super) fn go(&mut self, name: &str) {
        let page = isize::try_from(self.body()).unwrap_or(10).saturating_sub(2).max(1);
        match name {
            "next-hunk" => self.walk(true),
            "previous-hunk" => self.walk(false),
            "diff-page-up" => self.scroll(-page),
            "diff-page-down" => self.scroll(page),
            "diff-start" | "diff-end" => {
                if let Some(pages) = &mut self.pages {
                    pages.go_to_end(name == "diff-end");
                }
                self.follow();
            }
            "next-file" | "previous-file" => self.walk_files(name == "next-file"),
            _ => {}
        }
    }

    /// Rows of the part that scrolls.
    pub(super) fn body(&self) -> usize {
        usize::from(self.size.1).saturating_sub(self.lines.len())
    }

    /// Goes to the next header, but never past rows that were not on screen: those come first.
    pub(super) fn walk(&mut self, forward: bool) {
        let headers = self.headers();
        let here = self.at.unwrap_or(0);
        let next = if forward {
            headers.iter().find(|at| **at > here)
        } else {
            headers.iter().rev().find(|at| **at < here)
        };
        let window = self.pages.as_ref().map(Pages::window).unwrap_or_default();
        let page = isize::try_from(self.body()).unwrap_or(10).saturating_sub(2).max(1);
        match next.copied() {
            Some(next) if window.contains(&next) => self.at = Some(next),
            Some(next) if forward && next == window.end => self.move_to(Some(next)),
            _ if forward => self.scroll(page),
            _ => self.scroll(-page),
        }
        if !forward && next.is_some() {
            self.follow_back(next.copied());
        }
    }

    /// After scrolling back, the header that was aimed at is taken once it is in sight.
    pub(super) fn follow_back(&mut self, next: Option<usize>) {
        let window = self.pages.as_ref().map(Pages::window).unwrap_or_default();
        if next.is_some_and(|next| window.contains(&next)) {
            self.at = next;
        }
    }

    pub(super) fn walk_files(&mut self, forward: bool) {
        let Some(pages) = &self.pages else { return };
        let here = self.current_file();
        let wanted = if forward { here + 1 } else { here.saturating_sub(1) };
        let Some(file) = pages.items().iter().position(|item| *item == Item::File(wanted)) else { return };
        let first = self.headers().into_iter().find(|at| *at > file);
        if let Some(pages) = &mut self.pages {
            pages.go_to(file);
        }
        self.at = first.or(self.at);
    }

    /// Goes to an item and shows it.
    pub(super) fn move_to(&mut self, item: Option<usize>) {
        let Some(item) = item else { return };
        self.at = Some(item);
        if let Some(pages) = &mut self.pages
            && !pages.window().contains(&item)
        {
            pages.go_to(item);
        }
    }

    pub(in crate::tui::popups) fn scroll(&mut self, rows: isize) {
        if let Some(editing) = &mut self.editor {
            editing.scroll(rows);
            return;
        }
        self.scroll_only(rows);
        self.follow();
    }

    pub(super) fn scroll_only(&mut self, rows: isize) {
        if let Some(pages) = &mut self.pages {
            pages.scroll(rows);
        }
    }

    /// Keys act on the first change whose header is in sight, or, inside a long one, on that.
    pub(super) fn follow(&mut self) {
        let window = self.pages.as_ref().map(Pages::window).unwrap_or_default();
        if self.at.is_some_and(|at| window.contains(&at)) {
            return;
        }
        let headers = self.headers();
        let in_sight = headers.iter().find(|at| window.contains(at));
        let around = headers.iter().rev().find(|at| **at <= window.start);
        self.at = in_sight.or(around).copied().or(self.at);
    }
}
