//! Whether the files of a book are still as they were when they were read, told by names, lengths and times.
//!
//! Opens no file. Where that is not certain, the answer is that they may have changed.

use std::fs::Metadata;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file that was written less than this ago may be written again without another time: some file systems count in steps of two seconds.
const SETTLED: Duration = Duration::from_secs(2);

/// What tells a file from what it was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stamp {
    length: u64,
    modified: SystemTime,
    /// When anything of the file was changed last, which no program can set back. Seconds and nanoseconds; zero where the system does not tell.
    changed: (i64, i64),
}

impl Stamp {
    /// `None`: the file was written so lately that it could be written again without a trace.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let modified = metadata.modified().ok()?;
        let is_settled = modified.elapsed().is_ok_and(|age| age >= SETTLED);
        is_settled.then(|| Self { length: metadata.len(), modified, changed: changed(metadata) })
    }

    /// Asks for the file behind a link, as reading it does.
    pub fn at(path: &Path) -> Option<Self> {
        Self::of(&path.metadata().ok()?)
    }
}

#[cfg(unix)]
fn changed(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

#[cfg(not(unix))]
fn changed(_: &Metadata) -> (i64, i64) {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::super::{read, read_if_changed};
    use super::*;

    const LONG_AGO: Duration = Duration::from_secs(1000);

    fn write(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH + LONG_AGO)
            .unwrap();
    }

    fn book() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in
            [("scritorio.toml", "[book]\n"), ("manuscript/1.md", "One\n"), ("notes/n.md", "ai: seldom\n")]
        {
            write(dir.path(), path, text);
        }
        dir
    }

    #[test]
    fn a_book_that_nobody_has_touched_is_not_read_again() {
        let dir = book();
        let known = read(dir.path()).unwrap();
        assert!(read_if_changed(dir.path(), &known).unwrap().is_none());
    }

    #[test]
    fn whatever_is_written_made_moved_or_deleted_is_noticed() {
        type Change = fn(&Path);
        let changes: [Change; 7] = [
            |root| write(root, "notes/n.md", "ai: never, of course\n"),
            |root| write(root, "scritorio.toml", "[ai]\nnever = 'notes'\n"),
            |root| fs::remove_file(root.join("scritorio.toml")).unwrap(),
            |root| write(root, "notes/new.md", "---\nai: never\n---\n"),
            |root| fs::rename(root.join("notes/n.md"), root.join("notes/m.md")).unwrap(),
            |root| fs::remove_file(root.join("notes/n.md")).unwrap(),
            |root| fs::create_dir(root.join("private")).unwrap(),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            let dir = book();
            let known = read(dir.path()).unwrap();
            change(dir.path());
            let again = read_if_changed(dir.path(), &known).unwrap();
            let again = again.unwrap_or_else(|| panic!("change {at} was not seen"));
            assert!(read_if_changed(dir.path(), &again).unwrap().is_none(), "{at}: read once");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_text_of_the_same_length_with_its_old_time_is_noticed() {
        let dir = book();
        let known = read(dir.path()).unwrap();
        write(dir.path(), "notes/n.md", "ai: never!\n");
        assert_eq!(read_if_changed(dir.path(), &known).unwrap().unwrap().private.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_elsewhere_is_noticed_and_so_is_a_change_behind_it() {
        use std::os::unix::fs::symlink;
        let dir = book();
        write(dir.path(), "loose/a.txt", "A\n");
        write(dir.path(), "loose/b.txt", "A\n");
        let link = dir.path().join("manuscript/2.md");
        symlink("../loose/a.txt", &link).unwrap();
        let known = read(dir.path()).unwrap();
        fs::remove_file(&link).unwrap();
        symlink("../loose/b.txt", &link).unwrap();
        let known = read_if_changed(dir.path(), &known).unwrap().unwrap();
        assert!(read_if_changed(dir.path(), &known).unwrap().is_none());
        write(dir.path(), "loose/b.txt", "ai:: never\n");
        assert_eq!(read_if_changed(dir.path(), &known).unwrap().unwrap().private.len(), 1);
    }

    #[test]
    fn a_file_that_was_written_a_moment_ago_may_be_written_again_without_a_trace() {
        let dir = book();
        fs::write(dir.path().join("notes/n.md"), "ai: seldom\n").unwrap();
        let known = read(dir.path()).unwrap();
        assert!(read_if_changed(dir.path(), &known).unwrap().is_some());
    }

    #[test]
    fn while_the_settings_can_not_be_obeyed_the_book_is_looked_at_anew() {
        let dir = book();
        write(dir.path(), "scritorio.toml", "[ai]\nnever = ['gone']\n");
        let known = read(dir.path()).unwrap();
        fs::create_dir(dir.path().join("gone")).unwrap();
        let again = read_if_changed(dir.path(), &known).unwrap().unwrap();
        assert!(again.settings.ai_refused.is_empty());
    }
}
