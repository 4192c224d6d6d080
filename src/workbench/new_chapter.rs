//! A new chapter that the author asks for: an empty file after the last one, named and headed as this book does it.

use serde_json::json;

use crate::domain::ids::BookPath;
use crate::store::document::DocumentError;
use crate::tools::desk::Limits;
use crate::tools::{Desk, Registry, Seen, ToolError};

use super::Workbench;

/// Why no chapter was made.
#[derive(Debug, thiserror::Error)]
pub enum NewChapterError {
    /// It has no title that can be used.
    #[error("{0}")]
    Title(#[from] ToolError),
    /// A file could not be written.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl Workbench {
    /// Makes an empty chapter after the last one and returns its file. Where `scritorio.toml` lists an order, the chapter joins it.
    pub fn new_chapter(&self, title: &str) -> Result<BookPath, NewChapterError> {
        let book = self.book();
        let desk = Desk {
            book: &book,
            index: &self.index_of(&book),
            meaning: None,
            current: None,
            chapter: None,
            selection: None,
            seen: &Seen::default(),
            persona: None,
            limits: Limits::default(),
        };
        // The same rules as for a scene that a persona proposes; only that the author needs no proposal to be told what they want.
        let arguments = json!({"title": title, "content": "", "chapterNumber": null}).to_string();
        let drafted = Registry::advisor().run(&desk, "propose_scene_create", &arguments)?.proposal;
        let files = drafted.map(|proposal| proposal.files).unwrap_or_default();
        let Some(path) = files.first().map(|file| file.path.clone()) else {
            let message = "no chapter could be made of this title; try another".to_owned();
            return Err(ToolError::Refused { message, details: json!({}) }.into());
        };
        for file in &files {
            self.save_document(&file.path, file.text(), file.base_hash.as_deref())?;
        }
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::workbench::{Overrides, Surroundings, Workbench};

    fn bench(folder: &std::path::Path, files: &[(&str, &str)]) -> Workbench {
        let root = folder.join("book");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
    }

    #[test]
    fn a_new_chapter_comes_after_the_last_in_the_books_own_style() {
        let folder = tempfile::tempdir().unwrap();
        let files =
            [("manuscript/01-dawn.md", "# Dawn\n\nIt rose.\n"), ("manuscript/02-noon.md", "# Noon\n")];
        let bench = bench(folder.path(), &files);
        let path = bench.new_chapter("The Long Evening").unwrap();
        assert_eq!(path.as_str(), "manuscript/03-the-long-evening.md");
        let book = bench.refresh().unwrap();
        let last = book.chapters.last().unwrap();
        assert_eq!((last.number, last.title.as_str()), (3, "The Long Evening"));
        assert!(bench.new_chapter("  ").is_err());
    }

    #[test]
    fn a_book_with_an_order_lists_the_new_chapter_too() {
        let folder = tempfile::tempdir().unwrap();
        let settings = "# mine\n[manuscript]\norder = [\"02-noon\", \"01-dawn\"]\n";
        let files = [
            ("scritorio.toml", settings),
            ("manuscript/01-dawn.md", "# Dawn\n"),
            ("manuscript/02-noon.md", "# Noon\n"),
        ];
        let bench = bench(folder.path(), &files);
        bench.new_chapter("Dusk").unwrap();
        let now = fs::read_to_string(bench.root().join("scritorio.toml")).unwrap();
        assert!(now.starts_with("# mine\n") && now.contains("dusk"), "{now}");
        assert!(bench.refresh().unwrap().warnings.is_empty());
    }
}
