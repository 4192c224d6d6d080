//! What AI never reads: whether the open document is such a file, and switching it.
//!
//! The mark is one key of the file's frontmatter. It is set in the text as an edit like any other, so that it can be undone and is saved with the rest; a question that
//! is asked before that knows of it already.

use std::ops::Range;

use crate::domain::privacy;
use crate::workbench::private::mark;

use super::super::app::App;
use super::super::document::OpenDocument;
use super::super::effect::Effect;
use super::super::msg::Notice;
use super::manuscript;

/// Where a mark is looked for in a text that is not saved, in bytes: frontmatter stands at the beginning.
const HEAD: usize = 8 * 1024;

/// The same, in a text that has the mark on disk: a chapter of any usual length.
const LONG_HEAD: usize = 256 * 1024;

/// Whether AI never reads a document, as it stands on the screen.
pub(in super::super) fn is_private(app: &App, document: &OpenDocument) -> bool {
    if !document.buffer.is_modified() {
        return app.book.private.contains(&document.path);
    }
    in_folder(app, document) || document.marked_elsewhere || is_marked(app, document)
}

/// The same, with every word of the document looked at: for a question, not for a frame. `text` is that of its buffer, where somebody has it.
pub(super) fn is_private_anywhere(app: &App, document: &OpenDocument, text: Option<&str>) -> bool {
    let is_marked =
        || text.map_or_else(|| privacy::is_marked(&document.buffer.to_text()), privacy::is_marked);
    is_private(app, document) || document.buffer.is_modified() && is_marked()
}

fn in_folder(app: &App, document: &OpenDocument) -> bool {
    app.book.keeps(&document.path)
}

fn is_marked(app: &App, document: &OpenDocument) -> bool {
    let buffer = &document.buffer;
    // One that is private on disk may be so by a field far below.
    let head = if app.book.private.contains(&document.path) { LONG_HEAD } else { HEAD };
    privacy::is_marked(&buffer.slice(0..buffer.len().min(head)))
}

/// Keeps the open document from AI, or lets AI read it again.
pub(super) fn keep_from_ai(app: &mut App) -> Vec<Effect> {
    let refused = manuscript::cannot_write(app);
    let Some(document) = app.document() else {
        app.tell(Notice::hint("Open the document that AI shall never read."));
        return vec![];
    };
    if let Some(why) = refused {
        app.tell(Notice::problem(why));
        return vec![];
    }
    let (private, below) = (is_marked(app, document), in_folder(app, document));
    if below && (private || !document.buffer.is_modified()) {
        app.tell(Notice::hint(
            "The settings keep this document from AI: [ai] never in scritorio.toml names it or its folder.",
        ));
        return vec![];
    }
    let text = document.buffer.slice(0..document.buffer.len());
    let Some(new) = mark(&text, !private) else {
        let words = if private {
            "The mark can't be taken off without touching more: take `ai: never` out of the text by hand."
        } else {
            "The frontmatter can't be changed safely: write `ai: never` into it by hand."
        };
        app.tell(Notice::problem(words));
        return vec![];
    };
    let (range, words) = difference(&text, &new);
    if let Some(document) = app.document_mut() {
        document.buffer.replace(range, words);
        document.view.reveal(&document.buffer);
    }
    app.chat.chip = app.chat.chip.take().filter(|_| private);
    app.tell(if private {
        Notice::done("AI may read this document again, once it is saved.")
    } else if app.chat.running.is_some() {
        // It has a book of its own, from when it was asked.
        Notice::hint("The running question may still read this, no later one. Esc Esc stops it.")
    } else {
        Notice::done("AI never reads this document from now on. Save to keep the mark.")
    });
    vec![]
}

/// The one stretch that differs, and what stands there in `new`.
fn difference<'a>(old: &str, new: &'a str) -> (Range<usize>, &'a str) {
    let start = old.char_indices().zip(new.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let start = start.unwrap_or(old.len().min(new.len()));
    let same = old[start..].chars().rev().zip(new[start..].chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = same.map(|(c, _)| c.len_utf8()).sum();
    (start..old.len() - end, &new[start..new.len() - end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::TurnId;
    use crate::tui::msg::Msg;
    use crate::tui::tests::Author;

    #[test]
    fn a_document_is_kept_from_ai_by_a_command_and_the_screen_says_so_at_once() {
        let mut author = Author::at(120, 40);
        let before = author.app.document().unwrap().buffer.to_text();
        let path = author.app.document().unwrap().path.clone();
        author.happens(Msg::Run("keep-from-ai"));
        author.sees_words("AI never reads this document from now on.");
        let marked = author.app.document().unwrap().buffer.to_text();
        assert!(privacy::is_marked(&marked), "{}", &marked[..80]);
        author.waits(30);
        author.sees_words("AI never reads this");
        author.happens(Msg::Run("select-all"));
        author.happens(Msg::Run("ask-about-selection"));
        author.sees_words("the selection is not captured");
        assert!(author.app.chat.chip.is_none());
        author.happens(Msg::Run("save"));
        assert!(author.app.book.private.contains(&path), "the book was read again");
        author.happens(Msg::Run("go-to"));
        author.sees_words("\u{2298}");
        author.happens(Msg::Run("cancel"));
        author.happens(Msg::Run("keep-from-ai"));
        assert_eq!(author.app.document().unwrap().buffer.to_text(), before);
    }

    #[test]
    fn a_question_that_is_running_is_said_to_know_a_document_still() {
        let mut author = Author::at(80, 24);
        author.app.chat.running = Some(TurnId::new("t-1"));
        author.happens(Msg::Run("keep-from-ai"));
        author.sees_words("The running question may still read this, no later one. Esc Esc stops it.");
    }

    #[test]
    fn the_report_of_what_ai_did_is_a_popup() {
        let mut author = Author::at(120, 40);
        author.asks("Who is Mira Okafor?");
        author.happens(Msg::Run("provenance"));
        author.sees_words("How AI was used for");
        author.sees_words("1 question");
    }

    #[test]
    fn only_what_differs_is_replaced() {
        for (old, new, range, words) in [
            ("# One\n", "---\nai: never\n---\n\n# One\n", 0..0, "---\nai: never\n---\n\n"),
            ("---\na: 1\n---\n", "---\na: 1\nai: never\n---\n", 9..9, "ai: never\n"),
            ("---\nai: never\n---\n\n\u{e9}", "\u{e9}", 0..19, ""),
            ("", "x", 0..0, "x"),
            ("aa", "aaa", 2..2, "a"),
        ] {
            let found = difference(old, new);
            assert_eq!(found, (range, words));
            assert_eq!([&old[..found.0.start], found.1, &old[found.0.end..]].concat(), new);
        }
    }
}
