//! The text that an author edits: a rope with a cursor, selection, history and soft wrap.
//!
//! A text, not a widget: nothing here knows a screen beyond the width of a grapheme, and nothing reads a file.
//! [`Buffer`] owns the words and what happened to them; [`View`] shows one buffer at a width. They hold no reference to
//! each other: a view asks the buffer which lines changed since it last looked, so it is never wrong, only behind.
//!
//! All offsets are bytes of the buffer's text, which has line feeds only and no byte order mark. Any offset may be given:
//! one past the end or inside a character is moved to the nearest sound place before it. Nothing on the path of a key
//! depends on the length of the text.

pub mod find;

mod boundary;
mod buffer;
mod cells;
mod history;
mod line_ends;
mod view;
mod words;
mod wrap;

pub use buffer::{Buffer, Edit};
pub use cells::{TAB, display, width};
pub use view::{Delete, Motion, Row, View};
pub use words::PartCount;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CURSOR: char = '‸';
    const ANCHOR: char = '⁁';

    /// A buffer and a view of it, from text that shows its cursor (and the other end of its selection).
    fn open(marked: &str, width: u16, height: u16) -> (Buffer, View) {
        let plain = |text: &str| text.replace([CURSOR, ANCHOR], "");
        let place = |mark| marked.find(mark).map(|at| Buffer::from_text(&plain(&marked[..at])).len());
        let mut buffer = Buffer::from_text(&plain(marked));
        if let Some(anchor) = place(ANCHOR) {
            buffer.set_cursor(anchor, false);
        }
        buffer.set_cursor(place(CURSOR).unwrap(), place(ANCHOR).is_some());
        let mut view = View::new();
        view.resize(&buffer, width, height);
        view.reveal(&buffer);
        (buffer, view)
    }

    fn marked(buffer: &Buffer) -> String {
        let mut text = buffer.slice(0..buffer.len());
        let mut marks = vec![(buffer.cursor(), CURSOR)];
        if let Some(selection) = buffer.selection() {
            let anchor = if selection.start == buffer.cursor() { selection.end } else { selection.start };
            marks.push((anchor, ANCHOR));
        }
        marks.sort_unstable();
        for (at, mark) in marks.into_iter().rev() {
            text.insert(at, mark);
        }
        text
    }

    fn numbered_lines(count: usize) -> String {
        (0..count).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat()
    }

    #[track_caller]
    fn moves(before: &str, motions: &[Motion], after: &str) {
        moves_at(20, before, motions, after);
    }

    #[track_caller]
    fn moves_at(width: u16, before: &str, motions: &[Motion], after: &str) {
        let (mut buffer, mut view) = open(before, width, 8);
        for motion in motions {
            view.apply(&mut buffer, *motion, false);
        }
        assert_eq!(marked(&buffer), after);
    }

    #[track_caller]
    fn deletes(before: &str, what: Delete, after: &str) {
        let (mut buffer, mut view) = open(before, 10, 8);
        view.delete(&mut buffer, what);
        assert_eq!(marked(&buffer), after);
        assert!(buffer.undo());
        assert_eq!(marked(&buffer), before);
    }

    fn rows(buffer: &Buffer, view: &mut View) -> Vec<String> {
        view.rows(buffer).into_iter().map(|row| row.text).collect()
    }

    use Motion::*;

    #[test]
    fn left_and_right_move_by_what_the_author_calls_a_letter() {
        moves("a‸👨‍👩‍👧e\u{301}", &[Right], "a👨‍👩‍👧‸e\u{301}");
        moves("a👨‍👩‍👧e\u{301}‸", &[Left, Left], "a‸👨‍👩‍👧e\u{301}");
        moves("one‸\ntwo", &[Right], "one\n‸two");
        moves("‸one", &[Left], "‸one");
        moves("one‸", &[Right], "one‸");
    }

    #[test]
    fn words_end_to_the_right_and_start_to_the_left() {
        moves("‸one, two", &[WordRight], "one‸, two");
        moves("one‸, two", &[WordRight], "one, two‸");
        moves("don’t well-kn‸own", &[WordLeft], "don’t well-‸known");
        moves("don’t ‸well-known", &[WordLeft], "‸don’t well-known");
        moves("one‸\n\n  two", &[WordRight], "one\n\n  two‸");
        moves("one\n\n  ‸two", &[WordLeft], "‸one\n\n  two");
        moves("‸“...”", &[WordRight], "“...”‸");
        moves("日‸本 ok", &[WordRight, WordRight], "日本 ok‸");
    }

    #[test]
    fn up_and_down_keep_their_column_over_short_rows() {
        moves("one two‸\nab\nthree four", &[Down], "one two\nab‸\nthree four");
        moves("one two‸\nab\nthree four", &[Down, Down], "one two\nab\nthree f‸our");
        moves("one two‸\nab\nthree four", &[Down, Left, Down], "one two\nab\nt‸hree four");
        moves("日本‸\nabcdefg", &[Down], "日本\nabcd‸efg");
        moves("abc‸\n日本", &[Down], "abc\n日本‸");
        moves("o‸ne", &[Up], "‸one");
        moves("o‸ne", &[Down], "one‸");
    }

    #[test]
    fn up_and_down_go_by_the_rows_on_the_screen() {
        moves_at(9, "the l‸ong silence", &[Down], "the long silen‸ce");
        moves_at(9, "the long silen‸ce", &[Up], "the l‸ong silence");
        moves_at(9, "the long‸ silence", &[Down, Up], "the long‸ silence");
    }

    #[test]
    fn home_and_end_go_to_the_ends_of_the_row() {
        moves_at(9, "the l‸ong silence", &[RowEnd], "the long‸ silence");
        moves_at(9, "the long sil‸ence", &[RowStart], "the long ‸silence");
        moves_at(9, "the long sil‸ence", &[RowEnd], "the long silence‸");
        moves_at(9, "one ‸ \ntwo", &[RowEnd], "one  ‸\ntwo");
    }

    #[test]
    fn end_in_a_broken_word_shows_the_cursor_after_its_row() {
        let (mut buffer, mut view) = open("‸abcdefghij", 5, 4);
        view.apply(&mut buffer, RowEnd, false);
        assert_eq!(marked(&buffer), "abcd‸efghij");
        assert_eq!(view.cursor_cell(&buffer), Some((4, 0)));
        view.apply(&mut buffer, RowEnd, false);
        assert_eq!(view.cursor_cell(&buffer), Some((4, 0)));
        view.apply(&mut buffer, Down, false);
        assert_eq!(view.cursor_cell(&buffer), Some((4, 1)));
        buffer.set_cursor(4, false);
        view.apply(&mut buffer, Left, false);
        view.apply(&mut buffer, Right, false);
        assert_eq!(view.cursor_cell(&buffer), Some((0, 1)));
    }

    #[test]
    fn paragraphs_are_what_stands_between_blank_lines() {
        moves("one\ntw‸o\n\nthree", &[ParagraphUp], "‸one\ntwo\n\nthree");
        moves("one\n\n‸three", &[ParagraphUp], "‸one\n\nthree");
        moves("o‸ne\ntwo\n\n\nthree", &[ParagraphDown], "one\ntwo\n\n\n‸three");
        moves("one\n\nth‸ree", &[ParagraphDown], "one\n\nthree‸");
    }

    #[test]
    fn a_page_keeps_two_rows_and_comes_back() {
        let text = numbered_lines(40);
        let (mut buffer, mut view) = open(&format!("{CURSOR}{text}"), 20, 10);
        view.apply(&mut buffer, PageDown, false);
        assert_eq!(view.rows(&buffer)[0].text, "line 6");
        assert_eq!(buffer.line_of(buffer.cursor()), 8);
        view.apply(&mut buffer, PageUp, false);
        assert_eq!((view.top_line(), buffer.cursor()), (0, 0));
        for _ in 0..6 {
            view.apply(&mut buffer, PageDown, false);
        }
        assert_eq!(buffer.cursor(), buffer.len());
        view.apply(&mut buffer, DocumentStart, false);
        assert_eq!((view.top_line(), buffer.cursor()), (0, 0));
        view.apply(&mut buffer, DocumentEnd, false);
        assert_eq!(view.rows(&buffer).last().map(|row| row.line), Some(40));
    }

    #[test]
    fn a_selection_collapses_to_the_side_of_the_motion() {
        moves("a ⁁word‸ b", &[Left], "a ‸word b");
        moves("a ‸word⁁ b", &[Right], "a word‸ b");
        let (mut buffer, mut view) = open("a ‸word b", 20, 8);
        view.apply(&mut buffer, WordRight, true);
        assert_eq!(marked(&buffer), "a ⁁word‸ b");
        assert_eq!(buffer.selected_text().as_deref(), Some("word"));
    }

    #[test]
    fn a_started_selection_grows_with_every_motion() {
        let (mut buffer, mut view) = open("‸one two three", 20, 8);
        buffer.start_selection();
        view.apply(&mut buffer, WordRight, false);
        view.apply(&mut buffer, WordRight, false);
        assert_eq!(marked(&buffer), "⁁one two‸ three");
        assert!(buffer.anchor_active());
        buffer.insert("x");
        assert_eq!((marked(&buffer).as_str(), buffer.anchor_active()), ("x‸ three", false));
    }

    #[test]
    fn words_paragraphs_and_everything_can_be_selected() {
        let (mut buffer, _) = open("One ‸“well-known” day.\n\nTwo.", 20, 8);
        buffer.select_word_at(8);
        assert_eq!(buffer.selected_text().as_deref(), Some("well"));
        buffer.select_paragraph_at(2);
        assert_eq!(buffer.selected_text().as_deref(), Some("One “well-known” day."));
        buffer.select_all();
        assert_eq!(buffer.selection(), Some(0..buffer.len()));
        buffer.clear_selection();
        assert_eq!(buffer.selection(), None);
    }

    #[test]
    fn a_selection_never_cuts_a_letter_from_its_accent() {
        let mut buffer = Buffer::from_text("cafe\u{301} noir");
        buffer.select(0..4);
        assert_eq!(buffer.selected_text().as_deref(), Some("cafe\u{301}"));
    }

    #[test]
    fn deleting_takes_whole_letters_words_and_rows() {
        deletes("a👨‍👩‍👧‸b", Delete::GraphemeBack, "a‸b");
        deletes("‸e\u{301}b", Delete::GraphemeForward, "‸b");
        deletes("one, two‸", Delete::WordBack, "one, ‸");
        deletes("one‸, two", Delete::WordForward, "one‸");
        deletes("one\n‸two", Delete::GraphemeBack, "one‸two");
        deletes("the long sil‸ence", Delete::LineStart, "the long ‸ence");
        deletes("the l‸ong silence", Delete::LineEnd, "the l‸ silence");
        deletes("one\n‸two", Delete::LineStart, "one‸two");
        deletes("one‸\ntwo", Delete::LineEnd, "one‸two");
        deletes("a ⁁word‸ b", Delete::WordForward, "a ‸ b");
    }

    #[test]
    fn deleting_at_the_ends_does_nothing() {
        let (mut buffer, mut view) = open("‸", 20, 8);
        view.delete(&mut buffer, Delete::GraphemeBack);
        view.delete(&mut buffer, Delete::LineEnd);
        assert!(!buffer.undo() && !buffer.is_modified());
    }

    fn type_text(buffer: &mut Buffer, text: &str) {
        for c in text.chars() {
            buffer.insert(c.encode_utf8(&mut [0; 4]));
        }
    }

    #[test]
    fn typing_is_undone_word_by_word_and_line_by_line() {
        let mut buffer = Buffer::from_text("");
        type_text(&mut buffer, "the long  day\nends");
        for expected in ["the long  day\n‸", "the long  day‸", "the long  ‸", "the ‸", "‸"] {
            assert!(buffer.undo());
            assert_eq!(marked(&buffer), expected);
        }
        assert!(!buffer.undo());
        for expected in ["the ‸", "the long  ‸"] {
            assert!(buffer.redo());
            assert_eq!(marked(&buffer), expected);
        }
        buffer.insert("night");
        assert!(!buffer.redo());
        assert_eq!(marked(&buffer), "the long  night‸");
    }

    #[test]
    fn deleting_is_undone_word_by_word() {
        let (mut buffer, mut view) = open("the long day‸", 20, 8);
        for _ in 0..7 {
            view.delete(&mut buffer, Delete::GraphemeBack);
        }
        assert_eq!(marked(&buffer), "the l‸");
        for expected in ["the long ‸", "the long day‸"] {
            assert!(buffer.undo());
            assert_eq!(marked(&buffer), expected);
        }
        let (mut buffer, mut view) = open("‸the long day", 20, 8);
        for _ in 0..6 {
            view.delete(&mut buffer, Delete::GraphemeForward);
        }
        for expected in ["‸long day", "‸the long day"] {
            assert!(buffer.undo());
            assert_eq!(marked(&buffer), expected);
        }
    }

    #[test]
    fn moving_away_starts_a_new_step() {
        let (mut buffer, mut view) = open("‸", 20, 8);
        type_text(&mut buffer, "ab");
        view.apply(&mut buffer, Left, false);
        view.apply(&mut buffer, Right, false);
        type_text(&mut buffer, "cd");
        buffer.undo();
        assert_eq!(marked(&buffer), "ab‸");
    }

    #[test]
    fn undo_gives_the_selection_back() {
        let (mut buffer, _) = open("one ⁁two‸ three", 20, 8);
        type_text(&mut buffer, "six");
        assert_eq!(marked(&buffer), "one six‸ three");
        buffer.undo();
        assert_eq!(marked(&buffer), "one ⁁two‸ three");
    }

    #[test]
    fn a_paste_is_one_step_whatever_its_line_ends() {
        let (mut buffer, _) = open("a‸b", 20, 8);
        buffer.paste("one\r\ntwo\rthree\n");
        assert_eq!(marked(&buffer), "aone\ntwo\nthree\n‸b");
        assert!(buffer.undo() && !buffer.undo());
    }

    #[test]
    fn undoing_to_the_saved_text_is_unmodified_again() {
        let mut buffer = Buffer::from_text("");
        assert!(!buffer.is_modified());
        type_text(&mut buffer, "one");
        buffer.mark_saved();
        type_text(&mut buffer, "two");
        assert!(buffer.is_modified());
        buffer.undo();
        assert_eq!((buffer.to_text().as_str(), buffer.is_modified()), ("one", false));
        buffer.undo();
        assert!(buffer.is_modified());
        buffer.insert("else");
        buffer.undo();
        assert!(buffer.is_modified(), "the saved text can no longer be reached");
    }

    #[test]
    fn what_is_typed_while_a_save_runs_is_not_saved() {
        let mut buffer = Buffer::from_text("");
        type_text(&mut buffer, "one");
        buffer.begin_save();
        type_text(&mut buffer, "two");
        buffer.end_save(true);
        assert!(buffer.is_modified());
        buffer.undo();
        assert_eq!((buffer.to_text().as_str(), buffer.is_modified()), ("one", false));
        buffer.undo();
        assert!(buffer.is_modified(), "the empty text is not what was saved");
        buffer.redo();
        buffer.begin_save();
        buffer.undo();
        buffer.insert("else");
        buffer.end_save(true);
        assert!(buffer.is_modified());
        buffer.undo();
        assert!(buffer.is_modified(), "the saved text can no longer be reached");
    }

    #[test]
    fn a_letter_typed_into_a_family_ends_behind_it() {
        let (mut buffer, _) = open("👨‸👩 x", 20, 8);
        buffer.insert("\u{200d}");
        assert_eq!(marked(&buffer), "👨\u{200d}👩‸ x");
        buffer.undo();
        assert_eq!(marked(&buffer), "👨‸👩 x");
    }

    #[test]
    fn replacing_keeps_the_cursor_with_its_words() {
        let (mut buffer, _) = open("one two thr‸ee", 20, 8);
        buffer.replace(4..7, "twenty-two");
        assert_eq!(marked(&buffer), "one twenty-two thr‸ee");
        buffer.replace(15..99, "");
        assert_eq!(marked(&buffer), "one twenty-two ‸");
        buffer.replace_all(vec![(0..3, "1".into()), (4..14, "22".into()), (5..6, "lost".into())]);
        assert_eq!(marked(&buffer), "1 22 ‸");
        buffer.undo();
        assert_eq!(marked(&buffer), "one twenty-two ‸");
    }

    #[test]
    fn new_lines_end_as_the_file_does_and_odd_ones_stay() {
        let (mut buffer, _) = open("a\r\nb\r\nc‸\nd", 20, 8);
        assert_eq!(marked(&buffer), "a\nb\nc‸\nd");
        buffer.insert("\n");
        assert_eq!(buffer.to_text(), "a\r\nb\r\nc\r\n\nd");
        buffer.replace(0..4, "");
        assert_eq!(buffer.to_text(), "c\r\n\nd");
        buffer.undo();
        buffer.undo();
        assert_eq!(buffer.to_text(), "a\r\nb\r\nc\nd");
    }

    #[test]
    fn a_carriage_return_and_a_line_feed_never_fuse() {
        let mut buffer = Buffer::from_text("a\rb\nc\n");
        buffer.replace(2..3, "");
        assert_eq!(buffer.lines(), 4);
        assert_eq!(Buffer::from_text(&buffer.to_text()).slice(0..99), "a\n\nc\n");
        assert_eq!(buffer.to_file_offset(buffer.len()), buffer.to_text().len());
    }

    #[test]
    fn file_offsets_count_what_the_file_has_more() {
        let buffer = Buffer::from_text("\u{feff}one\r\ntwo\r\n");
        assert_eq!(buffer.to_file_offset(4), 8);
        assert_eq!(buffer.from_file_offset(8), 4);
        assert_eq!(buffer.from_file_offset(7), 3);
        assert_eq!(buffer.from_file_offset(0), 0);
        assert_eq!(buffer.from_file_offset(999), 8);
    }

    #[test]
    fn words_are_counted_without_frontmatter() {
        let mut buffer = Buffer::from_text("---\r\ntitle: One\r\n---\r\nIt rained.");
        assert_eq!(buffer.words(), 2);
        buffer.replace(0..1, "");
        assert_eq!(buffer.words(), 4);
        buffer.undo();
        assert_eq!(buffer.words(), 2);
    }

    #[test]
    fn a_view_wraps_scrolls_and_points() {
        let (buffer, mut view) = open("‸the long silence\n\nends", 9, 3);
        assert_eq!(rows(&buffer, &mut view), ["the long ", "silence", ""]);
        assert!(view.progress(&buffer) < 0.01);
        view.scroll(&buffer, 9);
        assert_eq!(rows(&buffer, &mut view), ["silence", "", "ends"]);
        assert!(view.progress(&buffer) > 0.99);
        assert_eq!(view.cursor_cell(&buffer), None);
        assert_eq!(view.hit(&buffer, 2, 0), 11);
        assert_eq!(view.hit(&buffer, 99, 0), 16);
        assert_eq!(view.hit(&buffer, 1, 99), 19);
        view.scroll(&buffer, -1);
        assert_eq!(view.cursor_cell(&buffer), Some((0, 0)));
        assert_eq!(view.hit(&buffer, 8, 0), 8);
        let first: Vec<_> = view.rows(&buffer).iter().map(|row| (row.line, row.first)).collect();
        assert_eq!(first, [(0, true), (0, false), (1, true)]);
    }

    #[test]
    fn a_click_on_a_wide_letter_goes_to_its_nearer_side() {
        let (buffer, mut view) = open("‸日本\tx", 20, 3);
        assert_eq!(view.hit(&buffer, 0, 0), 0);
        assert_eq!(view.hit(&buffer, 1, 0), 3);
        assert_eq!(view.hit(&buffer, 5, 0), 6);
        assert_eq!(view.hit(&buffer, 6, 0), 7);
    }

    #[test]
    fn a_cursor_in_hanging_spaces_stays_on_the_screen() {
        let (buffer, mut view) = open("the long    ‸", 9, 3);
        assert_eq!(view.cursor_cell(&buffer), Some((8, 0)));
        assert_eq!(view.hit(&buffer, 8, 0), 8);
    }

    #[test]
    fn the_cursor_keeps_two_rows_of_context() {
        let text = numbered_lines(40);
        let (mut buffer, mut view) = open(&format!("{CURSOR}{text}"), 20, 10);
        for _ in 0..8 {
            view.apply(&mut buffer, Down, false);
        }
        assert_eq!(view.cursor_cell(&buffer), Some((0, 7)));
        for _ in 0..6 {
            view.apply(&mut buffer, Up, false);
        }
        assert_eq!(view.cursor_cell(&buffer), Some((0, 2 - view.top_line() as u16)));
        view.center(&buffer, buffer.line_start(20));
        assert_eq!(view.top_line(), 17);

        let mut unseen = View::new();
        unseen.center(&buffer, buffer.line_start(20));
        unseen.resize(&buffer, 20, 10);
        assert_eq!(unseen.top_line(), 17, "a place that was to be shown before there was a screen");
    }

    #[test]
    fn a_typewriter_keeps_its_row_in_the_middle() {
        let text = numbered_lines(40);
        let (mut buffer, mut view) = open(&format!("{text}{CURSOR}"), 20, 10);
        view.set_typewriter(true);
        view.reveal(&buffer);
        assert_eq!(view.cursor_cell(&buffer), Some((0, 5)));
        buffer.insert("\n");
        view.reveal(&buffer);
        assert_eq!(view.cursor_cell(&buffer), Some((0, 5)));
        view.apply(&mut buffer, PageUp, false);
        assert_eq!(view.cursor_cell(&buffer), Some((0, 5)));
    }

    #[test]
    fn a_new_width_keeps_the_cursor_in_its_row_of_the_screen() {
        let text: String = (0..60).map(|_| "some words of a long paragraph that wraps\n\n").collect();
        let (mut buffer, mut view) = open(&format!("{CURSOR}{text}"), 40, 12);
        for _ in 0..50 {
            view.apply(&mut buffer, Down, false);
        }
        view.scroll(&buffer, 4);
        let before = view.cursor_cell(&buffer).unwrap().1;
        view.resize(&buffer, 12, 12);
        assert_eq!(view.cursor_cell(&buffer).unwrap().1, before);
        view.scroll(&buffer, 30);
        let top = view.rows(&buffer)[0].range.start;
        view.resize(&buffer, 33, 12);
        let first = view.rows(&buffer).swap_remove(0).range;
        assert!(first.start <= top && top <= first.end);
    }

    #[test]
    fn lines_above_do_not_move_what_is_shown() {
        let text = numbered_lines(60);
        let (mut buffer, mut view) = open(&format!("{CURSOR}{text}"), 40, 12);
        view.scroll(&buffer, 30);
        let before = rows(&buffer, &mut view);
        buffer.paste("one\ntwo\nthree\n");
        assert_eq!(rows(&buffer, &mut view), before);
        buffer.undo();
        assert_eq!(rows(&buffer, &mut view), before);
    }

    #[test]
    fn a_view_of_another_buffer_shows_that_one() {
        let (first, mut view) = open("‸first", 20, 3);
        assert_eq!(rows(&first, &mut view), ["first"]);
        let mut second = Buffer::from_text("second\ntext");
        assert_eq!(rows(&second, &mut view), ["second", "text"]);
        assert_eq!(rows(&first, &mut view), ["first"]);
        for _ in 0..1000 {
            second.paste("more\n");
        }
        view.scroll(&second, 999);
        second.replace(0..second.len(), "");
        assert_eq!(rows(&second, &mut view), [""]);
    }

    #[test]
    fn no_size_is_too_small() {
        let (mut buffer, mut view) = open("one ‸two\n日本", 1, 1);
        for (width, height) in [(0, 0), (0, 5), (5, 0), (1, 1), (1, 2), (2, 1)] {
            view.resize(&buffer, width, height);
            for motion in [Up, Down, PageDown, PageUp, RowEnd, RowStart, Left] {
                view.apply(&mut buffer, motion, false);
            }
            view.center(&buffer, 4);
            view.scroll(&buffer, isize::MIN);
            view.scroll(&buffer, isize::MAX);
            assert!(view.rows(&buffer).len() <= usize::from(height));
            assert!(view.hit(&buffer, u16::MAX, u16::MAX) <= buffer.len());
            view.reveal(&buffer);
            assert_eq!(view.cursor_cell(&buffer).is_some(), width > 0 && height > 0);
        }
    }

    #[test]
    fn a_megabyte_is_pasted_in_a_blink() {
        let paragraph = format!("{}\r\n\r\n", "She said “no” and the long silence went on. ".repeat(12));
        let text = paragraph.repeat((1 << 20) / paragraph.len() + 1);
        let mut buffer = Buffer::from_text("one\n");
        let started = std::time::Instant::now();
        buffer.paste(&text);
        // Without optimisation, on a busy machine: a paste that costs more than its length would take minutes.
        assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
        assert_eq!(buffer.len(), text.len() - text.matches('\r').count() + 4);
        assert!(buffer.undo());
        assert_eq!(buffer.to_text(), "one\n");
    }

    /// One thing that an author does; offsets are taken modulo the text.
    #[derive(Debug, Clone)]
    enum Doing {
        Type(String),
        Paste(String),
        Replace(usize, usize, String),
        Delete(Delete),
        Move(Motion, bool),
        Place(usize),
        Undo,
        Redo,
        Resize(u16, u16),
        Scroll(isize),
    }

    fn any_text() -> impl Strategy<Value = String> {
        "([a-zA-Z ,.’—\n]|\r\n|\r|[é日\t\u{301}\u{200d}\u{200b}\u{3000}\u{1b}]|👨‍👩‍👧|🇩🇰|long words here ){0,30}"
    }

    fn any_file() -> impl Strategy<Value = String> {
        (any::<bool>(), any_text()).prop_map(|(bom, text)| if bom { format!("\u{feff}{text}") } else { text })
    }

    fn any_motion() -> impl Strategy<Value = Motion> {
        prop::sample::select(vec![
            Left,
            Right,
            WordLeft,
            WordRight,
            Up,
            Down,
            RowStart,
            RowEnd,
            ParagraphUp,
            ParagraphDown,
            PageUp,
            PageDown,
            DocumentStart,
            DocumentEnd,
        ])
    }

    fn any_delete() -> impl Strategy<Value = Delete> {
        use Delete::*;
        prop::sample::select(vec![GraphemeBack, GraphemeForward, WordBack, WordForward, LineStart, LineEnd])
    }

    fn any_doing() -> impl Strategy<Value = Doing> {
        prop_oneof![
            6 => "[a-z ’日\u{301}\n]{1}".prop_map(Doing::Type),
            1 => any_text().prop_map(Doing::Paste),
            2 => (any::<usize>(), 0_usize..20, "[a-z\n]{0,5}").prop_map(|(at, len, text)| Doing::Replace(at, len, text)),
            4 => any_delete().prop_map(Doing::Delete),
            6 => (any_motion(), any::<bool>()).prop_map(|(motion, extend)| Doing::Move(motion, extend)),
            2 => any::<usize>().prop_map(Doing::Place),
            2 => Just(Doing::Undo),
            1 => Just(Doing::Redo),
            1 => (0_u16..45, 0_u16..12).prop_map(|(width, height)| Doing::Resize(width, height)),
            1 => (-9_isize..9).prop_map(Doing::Scroll),
        ]
    }

    fn act(buffer: &mut Buffer, view: &mut View, doing: &Doing) {
        let within = |at: usize| at % (buffer.len() + 3);
        match doing {
            Doing::Type(text) => buffer.insert(text),
            Doing::Paste(text) => buffer.paste(text),
            Doing::Replace(at, len, text) => {
                let at = within(*at);
                buffer.replace(at..at + len, text);
            }
            Doing::Delete(what) => view.delete(buffer, *what),
            Doing::Move(motion, extend) => view.apply(buffer, *motion, *extend),
            Doing::Place(at) => buffer.set_cursor(within(*at), false),
            Doing::Undo => drop(buffer.undo()),
            Doing::Redo => drop(buffer.redo()),
            Doing::Resize(width, height) => view.resize(buffer, *width, *height),
            Doing::Scroll(rows) => view.scroll(buffer, *rows),
        }
    }

    fn words_of(text: &str) -> usize {
        text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count()
    }

    proptest! {
        #[test]
        fn what_is_not_edited_comes_back_byte_by_byte(file in any_file()) {
            prop_assert_eq!(Buffer::from_text(&file).to_text(), file);
        }

        #[test]
        fn undoing_all_gives_the_file_back_and_redoing_all_the_edits(
            file in any_file(),
            doings in prop::collection::vec(any_doing(), 1..40),
        ) {
            let mut buffer = Buffer::from_text(&file);
            let mut view = View::new();
            view.resize(&buffer, 20, 6);
            for doing in &doings {
                act(&mut buffer, &mut view, doing);
            }
            let edited = buffer.to_text();
            while buffer.undo() {}
            prop_assert_eq!(buffer.to_text(), file);
            prop_assert!(!buffer.is_modified());
            while buffer.redo() {}
            // Where something was left undone, redoing goes further than the author did.
            if !doings.iter().any(|doing| matches!(doing, Doing::Undo)) {
                prop_assert_eq!(buffer.to_text(), edited);
            }
        }

        #[test]
        fn undo_and_redo_lead_back_to_where_the_author_was(
            file in any_file(),
            doings in prop::collection::vec(any_doing(), 1..40),
        ) {
            let mut buffer = Buffer::from_text(&file);
            let mut view = View::new();
            view.resize(&buffer, 20, 6);
            let at = |buffer: &Buffer| (buffer.to_text(), buffer.cursor(), buffer.selection());
            for doing in &doings {
                let revision = buffer.revision();
                act(&mut buffer, &mut view, doing);
                if buffer.revision() != revision && !matches!(doing, Doing::Undo | Doing::Redo) {
                    let after = at(&buffer);
                    prop_assert!(buffer.undo());
                    prop_assert!(buffer.redo());
                    prop_assert_eq!(at(&buffer), after);
                }
            }
        }

        #[test]
        fn everything_that_is_counted_agrees_with_counting_anew(
            file in any_file(),
            doings in prop::collection::vec(any_doing(), 1..40),
        ) {
            let mut buffer = Buffer::from_text(&file);
            let mut view = View::new();
            view.resize(&buffer, 20, 6);
            let mut replayed = buffer.slice(0..buffer.len());
            for doing in &doings {
                act(&mut buffer, &mut view, doing);
                let text = buffer.slice(0..buffer.len());
                prop_assert_eq!(buffer.words(), words_of(&text));
                for edit in buffer.changes() {
                    prop_assert_eq!(&replayed[edit.at..edit.at + edit.removed.len()], &edit.removed);
                    replayed.replace_range(edit.at..edit.at + edit.removed.len(), &edit.inserted);
                }
                prop_assert_eq!(&replayed, &text);
            }
            let (text, saved) = (buffer.slice(0..buffer.len()), buffer.to_text());
            let reopened = Buffer::from_text(&saved);
            prop_assert_eq!(reopened.slice(0..text.len()), text.clone());
            for at in 0..=text.len() + 2 {
                let in_file = buffer.to_file_offset(at);
                prop_assert!(saved.is_char_boundary(in_file));
                prop_assert_eq!(in_file, reopened.to_file_offset(at));
                if text.is_char_boundary(at.min(text.len())) {
                    prop_assert_eq!(buffer.from_file_offset(in_file), at.min(text.len()));
                }
            }
        }

        #[test]
        fn a_view_that_lived_long_shows_what_a_new_one_shows(
            file in any_file(),
            doings in prop::collection::vec(any_doing(), 1..40),
        ) {
            let mut buffer = Buffer::from_text(&file);
            let mut view = View::new();
            let (mut width, mut height) = (20, 6);
            view.resize(&buffer, width, height);
            for doing in &doings {
                act(&mut buffer, &mut view, doing);
                if let Doing::Resize(new_width, new_height) = doing {
                    (width, height) = (*new_width, *new_height);
                }
                let shown = view.rows(&buffer);
                let mut whole = View::new();
                whole.resize(&buffer, width, 4000);
                let all = whole.rows(&buffer);
                prop_assert!(height == 0 || !shown.is_empty());
                let Some(top) = shown.first() else { continue };
                let from = all.iter().position(|row| row.range == top.range && row.line == top.line).unwrap();
                let visible = &all[from..all.len().min(from + usize::from(height))];
                prop_assert_eq!(&shown[..], visible);
                view.reveal(&buffer);
                prop_assert!(width == 0 || view.cursor_cell(&buffer).is_some());
            }
        }

        #[test]
        fn rows_cover_the_text_and_fit_the_width(file in any_file(), width in 1_u16..50) {
            let buffer = Buffer::from_text(&file);
            let mut view = View::new();
            view.resize(&buffer, width, 4000);
            let mut at = 0;
            for row in view.rows(&buffer) {
                if row.first && row.line > 0 {
                    at += 1;
                }
                prop_assert_eq!(row.range.start, at);
                prop_assert_eq!(&buffer.slice(row.range.clone()), &row.text);
                at = row.range.end;
                let mut cells: Vec<_> = display(&row.text).collect();
                while cells.last().is_some_and(|(_, shown, _)| shown.trim().is_empty()) {
                    cells.pop();
                }
                let sum: usize = cells.iter().map(|(_, _, cells)| cells).sum();
                prop_assert!(sum <= usize::from(width) || cells.len() == 1);
            }
            prop_assert_eq!(at, buffer.len());
        }

        #[test]
        fn the_cell_of_the_cursor_leads_back_to_it(file in any_file()) {
            for width in [1, 2, 7, 40] {
                let mut buffer = Buffer::from_text(&file);
                let mut view = View::new();
                view.resize(&buffer, width, 4000);
                let rows = view.rows(&buffer);
                for at in 0..=buffer.len() {
                    buffer.set_cursor(at, false);
                    let (x, y) = view.cursor_cell(&buffer).unwrap();
                    prop_assert!(x < width);
                    let hit = view.hit(&buffer, x, y);
                    let row = &rows[usize::from(y)];
                    prop_assert!((row.range.start..=row.range.end).contains(&hit));
                    let column: usize = display(&buffer.slice(row.range.start..buffer.cursor()))
                        .map(|(_, _, cells)| cells)
                        .sum();
                    let ambiguous = row.text.contains(['\u{200b}', '\u{200d}', '\u{301}'])
                        || column + 1 >= usize::from(width);
                    prop_assert!(ambiguous || hit == buffer.cursor(), "{:?} {} {}", file, at, hit);
                    buffer.set_cursor(hit, false);
                    prop_assert_eq!(view.cursor_cell(&buffer).map(|cell| cell.1), Some(y));
                }
            }
        }

        #[test]
        fn no_offset_is_wrong(file in any_file(), at in 0_usize..200, end in 0_usize..200, far in any::<usize>()) {
            for (at, end) in [(at, end), (at, far), (far, at)] {
                let mut buffer = Buffer::from_text(&file);
                let _ = buffer.slice(at..end);
                let _ = (buffer.line_of(at), buffer.line_start(at), buffer.line_end(at));
                let _ = (buffer.to_file_offset(at), buffer.from_file_offset(end));
                buffer.select(at..end);
                buffer.select_word_at(at);
                buffer.select_paragraph_at(at);
                buffer.set_cursor(at, true);
                let mut view = View::new();
                view.resize(&buffer, 10, 5);
                view.center(&buffer, end);
                if let Some(needle) = find::Needle::new("a") {
                    let _ = (needle.next(&buffer, at), needle.previous(&buffer, end));
                    needle.replace(&mut buffer, &(at..end), "b");
                }
                buffer.replace(at..end, "x\r\ny");
                buffer.replace_all(vec![(end..at, "z".into()), (at..at, "é".into())]);
                view.reveal(&buffer);
                prop_assert!(view.cursor_cell(&buffer).is_some());
                while buffer.undo() {}
                prop_assert_eq!(buffer.to_text(), file.clone());
            }
        }
    }
}
