//! Text that is handed out: to a file of the author's choice, whole or not at all.
//!
//! Never writes over anything that is there, a link to nothing included, unless the author has said so.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::atomic;

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum OutError {
    /// It is there already.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// The disk refused.
    #[error("{} can't be written: {why}", .file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// Why it failed.
        why: io::Error,
    },
}

/// Writes a file into a folder that is there; `over`: also in the place of one that is there.
pub(super) fn write(file: &Path, text: &str, over: bool) -> Result<(), OutError> {
    if file.symlink_metadata().is_ok() && !over {
        return Err(OutError::Exists(file.to_owned()));
    }
    let failed = |why| OutError::Io { file: file.to_owned(), why };
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = folder.canonicalize().map_err(failed)?;
    let name = file.file_name().ok_or_else(|| failed(io::Error::from(io::ErrorKind::InvalidFilename)))?;
    atomic::write(&folder, &folder.join(name), text.as_bytes()).map_err(failed)
}

/// Whether a file's ending says that it is for programs.
pub fn is_json(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_there_is_written_over_only_when_the_author_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("chapter.md");
        write(&file, "first", false).unwrap();
        assert!(matches!(write(&file, "second", false), Err(OutError::Exists(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "first");
        write(&file, "second", true).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        let nowhere = write(&folder.path().join("no/folder.md"), "x", true).unwrap_err();
        assert!(nowhere.to_string().contains("folder.md can't be written"), "{nowhere}");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_something_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link.md");
        std::os::unix::fs::symlink("gone.md", &link).unwrap();
        assert!(matches!(write(&link, "x", false), Err(OutError::Exists(_))));
    }

    #[test]
    fn the_ending_says_whether_a_file_is_for_programs() {
        assert!(is_json(Path::new("a/report.json")) && is_json(Path::new("R.JSON")));
        assert!(!is_json(Path::new("json")) && !is_json(Path::new("report.txt")));
    }
}
