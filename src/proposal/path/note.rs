//! Where a new note goes: into the notes folder, named like the notes that are there.

use super::{Naming, extension, free, most_common};
use crate::domain::book::Book;
use crate::domain::ids::BookPath;

/// Suggests a path for a new note that no file of the book has yet.
pub fn note(book: &Book, title: &str) -> BookPath {
    let stems: Vec<&str> = book.notes.iter().map(|n| n.path.stem()).collect();
    let slug = Naming::of_stems(&stems, &stems).slug(title, "note");
    let extension = most_common(book.notes.iter().filter_map(|n| extension(&n.path))).unwrap_or("md");
    free(book, Some(folder(book)), &slug, extension).unwrap_or_else(fallback)
}

/// The folder of the settings, else the one that all notes are in.
fn folder(book: &Book) -> &str {
    let set = book.settings.notes_dir.as_deref().map(|dir| dir.trim_matches('/'));
    let used = || {
        let tops = book.notes.iter().filter_map(|n| n.path.as_str().split_once('/'));
        most_common(tops.map(|(top, _)| top))
    };
    let holds_notes = |dir: &&str| {
        book.notes.is_empty()
            || book
                .notes
                .iter()
                .any(|n| n.path.as_str().strip_prefix(dir).is_some_and(|r| r.starts_with('/')))
    };
    set.filter(|dir| BookPath::new(dir).is_ok()).filter(holds_notes).or_else(used).unwrap_or("notes")
}

#[expect(clippy::expect_used, reason = "a constant path is one inside the book")]
fn fallback() -> BookPath {
    BookPath::new("notes/note.md").expect("constant")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::book::Note;

    fn book(paths: &[&str]) -> Book {
        let note = |path: &&str| Note {
            path: BookPath::new(path).unwrap(),
            title: String::new(),
            tags: vec![],
            text: "".into(),
        };
        Book { notes: paths.iter().map(note).collect(), ..Book::default() }
    }

    #[test]
    fn a_note_is_named_like_its_neighbours() {
        for (paths, title, expected) in [
            (&[][..], "Tide tables", "notes/tide-tables.md"),
            (&["Notes/Old ideas.md", "Notes/More ideas.md"], "tide tables", "Notes/Tide Tables.md"),
            (&["notes/old_ideas.markdown"], "Tide tables", "notes/tide_tables.markdown"),
            (&["notes/tide-tables.md"], "Tide tables!", "notes/tide-tables-2.md"),
            (&[], "../../etc/passwd", "notes/etc-passwd.md"),
            (&[], "CON", "notes/con-note.md"),
        ] {
            assert_eq!(note(&book(paths), title).as_str(), expected);
        }
        let mut set = book(&[]);
        set.settings.notes_dir = Some("research/notes/".into());
        assert_eq!(note(&set, "x").as_str(), "research/notes/x.md");
        set.settings.notes_dir = Some("../out".into());
        assert_eq!(note(&set, "x").as_str(), "notes/x.md");
    }

    proptest! {
        #[test]
        fn a_suggestion_is_new_and_in_the_folder(title in "\\PC{0,100}|[./\\\\:a]{0,9}") {
            let mut book = book(&["notes/a.md"]);
            for _ in 0..3 {
                let path = note(&book, &title);
                prop_assert!(path.as_str().starts_with("notes/") && path.as_str().matches('/').count() == 1);
                prop_assert!(!super::super::is_taken(&book, &path));
                book.others.push(path);
            }
        }
    }
}
