//! Reads a book's folder.

use std::path::Path;

use crate::domain::book::Book;

/// Why a folder can't be read as a book.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The folder itself.
    #[error("can't read {path}: {source}")]
    Folder {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `scritorio.toml` has a value of the wrong type, or is no TOML.
    #[error("{file}:{line}:{column}: {message}")]
    Settings {
        /// The settings file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

/// Reads settings, chapters, canon and notes. Never follows a symbolic link out of the folder (a warning says so), never descends into
/// `.scritorio`, `.git` and other hidden folders.
pub fn read(root: &Path) -> Result<Book, ReadError> {
    todo!()
}

/// Finds the book that holds `start`: the nearest folder upwards with `scritorio.toml` or a `.scritorio` folder, else one with a manuscript or Codex folder.
pub fn find_root(start: &Path) -> Option<std::path::PathBuf> {
    todo!()
}
