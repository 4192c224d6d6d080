//! A new book, or settings for a manuscript that is already there.
//!
//! Never overwrites a file.

use std::io;
use std::path::{Path, PathBuf};

use crate::domain::passage::readable_stem;
use crate::store::{atomic, book};

const FIRST_CHAPTER: &str = "# Chapter 1\n\n";

/// Why no book was made.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// It is one already.
    #[error("{0} is a book already: it has a scritorio.toml")]
    Exists(PathBuf),
    /// The file system said no.
    #[error("can't make a book in {path}: {source}")]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is there can't be read as a book.
    #[error(transparent)]
    Read(#[from] book::ReadError),
}

/// Makes a book in `folder`, which is made too if it is missing. Where a manuscript is already there, only `scritorio.toml` is added.
/// Returns the book's folder and the files that were made, relative to it.
pub fn init(folder: &Path) -> Result<(PathBuf, Vec<String>), InitError> {
    let failed = |source| InitError::Io { path: folder.to_path_buf(), source };
    if folder.join("scritorio.toml").exists() {
        return Err(InitError::Exists(folder.to_path_buf()));
    }
    std::fs::create_dir_all(folder).map_err(failed)?;
    let root = folder.canonicalize().map_err(failed)?;
    let has_manuscript = !book::read(&root)?.chapters.is_empty();
    let name = root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let mut made = vec![("scritorio.toml", settings(&readable_stem(&name)))];
    if !has_manuscript {
        made.push(("manuscript/01-chapter-one.md", FIRST_CHAPTER.to_owned()));
    }
    for (path, text) in &made {
        atomic::write(&root, &root.join(path), text.as_bytes()).map_err(failed)?;
    }
    let mut made: Vec<_> = made.into_iter().map(|(path, _)| path.to_owned()).collect();
    if !has_manuscript {
        for path in ["codex/characters", "codex/locations", "notes"] {
            std::fs::create_dir_all(root.join(path)).map_err(failed)?;
            made.push(format!("{path}/"));
        }
    }
    Ok((root, made))
}

fn settings(title: &str) -> String {
    let title = toml_edit::Value::from(title);
    format!(
        "# Settings of this book. Every line may be left out.\n\n\
         [book]\ntitle = {title}\n# author = \"\"\n# genre = \"\"\n# language = \"en\"\n\n\
         [audience]\n# age_group = \"adult\"\n# lens = \"any\"          # any, female or male\n# reader_age = 34\n\n\
         [goals]\n# words = 90000\n# per_day = 500\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_new_book_opens_with_its_title_and_a_chapter() {
        let folder = tempfile::tempdir().unwrap();
        let (root, made) = init(&folder.path().join("the-long-night")).unwrap();
        let book = book::read(&root).unwrap();
        assert_eq!(book.title(), "The Long Night");
        assert_eq!(book.chapters.len(), 1);
        assert!(book.warnings.is_empty(), "{:?}", book.warnings);
        assert!(made.iter().all(|path| root.join(path).exists()));
        assert!(!root.join(".scritorio").exists());
        assert!(matches!(init(&root), Err(InitError::Exists(_))));
    }

    #[test]
    fn a_manuscript_that_is_there_gets_settings_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("manuscript")).unwrap();
        fs::write(folder.path().join("manuscript/one.md"), "# One\n\nMine.\n").unwrap();
        let (root, made) = init(folder.path()).unwrap();
        assert_eq!(made, ["scritorio.toml"]);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 2);
    }
}
