//! Reading and saving one text of the book without ever losing the other side's words.
//!
//! Never overwrites a file that is not what the author saw, never rewrites one that is not UTF-8, and never follows a link out of the book.

use std::io;
use std::path::Path;

use crate::domain::ids::BookPath;
use crate::domain::passage::sha256_hex;

use super::atomic;
use super::book::decode::{Decoded, decode};

/// A document as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its text; a BOM is kept.
    pub text: String,
    /// SHA-256 of its bytes, lowercase hex.
    pub hash: String,
    /// Why it can't be saved (not UTF-8, no permission), if so.
    pub read_only: Option<String>,
}

/// Why a document was not read or saved.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It has changed on disk since it was read.
    #[error("{path} has changed on disk since it was opened")]
    Changed {
        /// Which.
        path: BookPath,
    },
    /// It leads out of the book.
    #[error("{path} leads out of the book's folder")]
    Outside {
        /// Which.
        path: BookPath,
    },
    /// The file system said no.
    #[error("can't {verb} {path}: {source}")]
    Io {
        /// `read` or `save`.
        verb: &'static str,
        /// Which.
        path: BookPath,
        /// Why.
        source: std::io::Error,
    },
}

/// Reads a document. One that is not UTF-8 is shown as well as it can be, and is read-only.
pub fn read(root: &Path, path: &BookPath) -> Result<Document, DocumentError> {
    let failed = |source| failure("read", path, source);
    let real = atomic::resolve(root, &path.under(root)).map_err(failed)?;
    let bytes = std::fs::read(&real).map_err(failed)?;
    let protected = real.metadata().map_err(failed)?.permissions().readonly();
    let hash = sha256_hex(&bytes);
    let Decoded { text, problem } = decode(bytes);
    let read_only = problem.or(protected.then_some("the file is write-protected")).map(str::to_owned);
    Ok(Document { text, hash, read_only })
}

/// Saves a document. `expected` is the hash that it had when it was read (`None`: it must not exist); with another one on disk nothing is written.
/// Returns the new hash.
pub fn save(
    root: &Path,
    path: &BookPath,
    text: &str,
    expected: Option<&str>,
) -> Result<String, DocumentError> {
    let failed = |source| failure("save", path, source);
    let real = atomic::resolve(root, &path.under(root)).map_err(failed)?;
    let on_disk = match std::fs::read(&real) {
        Ok(bytes) => Some(sha256_hex(bytes)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => None,
        Err(e) => return Err(failed(e)),
    };
    let new = sha256_hex(text);
    if on_disk.as_deref() == Some(new.as_str()) {
        return Ok(new);
    }
    if on_disk.as_deref() != expected {
        return Err(DocumentError::Changed { path: path.clone() });
    }
    atomic::write(root, &real, text.as_bytes()).map_err(failed)?;
    Ok(new)
}

fn failure(verb: &'static str, path: &BookPath, source: io::Error) -> DocumentError {
    if atomic::is_outside(&source) {
        DocumentError::Outside { path: path.clone() }
    } else {
        DocumentError::Io { verb, path: path.clone(), source }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn path(raw: &str) -> BookPath {
        BookPath::new(raw).unwrap()
    }

    #[test]
    fn a_document_is_read_and_saved_byte_for_byte() {
        let root = tempfile::tempdir().unwrap();
        let text = "\u{feff}# One\r\n\r\nNo end";
        fs::write(root.path().join("a.md"), text).unwrap();
        let document = read(root.path(), &path("a.md")).unwrap();
        assert_eq!((document.text.as_str(), &document.read_only), (text, &None));
        let hash = save(root.path(), &path("a.md"), "two", Some(&document.hash)).unwrap();
        assert_eq!(hash, read(root.path(), &path("a.md")).unwrap().hash);
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), "two");
    }

    #[test]
    fn a_file_that_changed_in_between_is_never_overwritten() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("a.md"), "mine").unwrap();
        let document = read(root.path(), &path("a.md")).unwrap();
        fs::write(root.path().join("a.md"), "theirs").unwrap();
        let saved = save(root.path(), &path("a.md"), "mine 2", Some(&document.hash));
        assert!(matches!(saved, Err(DocumentError::Changed { .. })));
        assert!(matches!(save(root.path(), &path("a.md"), "new", None), Err(DocumentError::Changed { .. })));
        assert_eq!(fs::read_to_string(root.path().join("a.md")).unwrap(), "theirs");
        fs::remove_file(root.path().join("a.md")).unwrap();
        let saved = save(root.path(), &path("a.md"), "mine 2", Some(&document.hash));
        assert!(matches!(saved, Err(DocumentError::Changed { .. })), "a file that is gone has changed too");
        save(root.path(), &path("a.md"), "mine 2", None).unwrap();
    }

    #[test]
    fn a_file_that_is_not_utf_8_opens_read_only() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("latin.md"), b"caf\xe9").unwrap();
        fs::write(root.path().join("wide.md"), b"\xff\xfec\0a\0f\0\xe9\0").unwrap();
        fs::write(root.path().join("odd.md"), b"\xff\xfec\0a").unwrap();
        let latin = read(root.path(), &path("latin.md")).unwrap();
        assert!(latin.text == "caf\u{e9}" && latin.read_only.is_some());
        let wide = read(root.path(), &path("wide.md")).unwrap();
        assert_eq!(wide.text, "caf\u{e9}");
        assert!(wide.read_only.unwrap().contains("UTF-16"));
        assert!(read(root.path(), &path("odd.md")).unwrap().read_only.is_some());
    }

    #[test]
    fn a_file_that_is_not_there_says_so() {
        let root = tempfile::tempdir().unwrap();
        let error = read(root.path(), &path("a.md")).unwrap_err();
        assert!(error.to_string().starts_with("can't read a.md: "), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_book_is_neither_read_nor_saved() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("book");
        fs::create_dir(&root).unwrap();
        fs::write(outer.path().join("secret"), "theirs").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("a.md")).unwrap();
        assert!(matches!(read(&root, &path("a.md")), Err(DocumentError::Outside { .. })));
        let saved = save(&root, &path("a.md"), "mine", Some(&sha256_hex("theirs")));
        assert!(matches!(saved, Err(DocumentError::Outside { .. })));
    }
}
