//! Going to a chapter, or to a line of the open document.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::tui::app::App;
use crate::tui::msg::Msg;

/// Opens the list of chapters. What is typed may also be a line number.
pub(in crate::tui) fn open(app: &App) -> Popup {
    let here = app.document().map(|d| d.path.clone());
    let at = app.book.chapters.iter().position(|c| Some(&c.path) == here.as_ref()).unwrap_or(0);
    let items = app.book.chapters.iter().map(|c| {
        let words = crate::tui::turn_lines::count(c.words, "word");
        let file = c.path.as_str().rsplit('/').next().unwrap_or_default();
        Item::new(&format!("{} · {}", c.number, c.title), &words, Msg::Show(c.path.clone(), None))
            // Numbers of words would be found by the digits of a number.
            .found_by(file)
            .kind("chapter")
            .kept_from_ai(app.book.private.contains(&c.path))
    });
    let chooser = Chooser::new("Go to a chapter, or to a line with :number", items.collect());
    Popup::Chooser(chooser.select(at).otherwise(|typed| {
        let line = typed.trim().strip_prefix(':')?.trim().parse::<usize>().ok()?;
        Some(Msg::GoToLine(line))
    }))
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyCode;

    use crate::tui::tests::Author;

    #[test]
    fn a_chapter_is_found_by_number_title_and_file_and_not_by_its_words() {
        let mut author = Author::at(120, 40);
        let chapters = author.app.book.chapters.clone();
        let words = chapters[0].words.to_string();
        author.control('g');
        author.types(&words);
        author.sees_words("Nothing matches");
        author.key(KeyCode::Esc);
        let file = chapters[1].path.as_str().rsplit('/').next().unwrap().to_owned();
        author.control('g');
        author.types(&file);
        author.key(KeyCode::Enter);
        assert_eq!(author.app.document().unwrap().path, chapters[1].path);
    }
}
