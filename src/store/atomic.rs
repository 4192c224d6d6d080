//! Writing a file so that a crash leaves the old one or the new one, never a mixture.
//!
//! Never follows a link out of the folder that the caller names, never leaves a half-written file under the real name,
//! never replaces a file that is write-protected.

use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use atomic_write_file::AtomicWriteFile;

/// The path leads out of the folder that it was meant to stay in. Found inside an [`io::Error`] of kind `PermissionDenied`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` leads out of the folder")]
pub struct Outside(String);

/// Whether an error says that a path leads out of its folder.
pub fn is_outside(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Outside>)
}

/// Returns where `path` really is, with every link resolved; what does not exist yet is allowed.
/// An error when that is not inside `root`, or when `path` is a link to nothing.
pub fn resolve(root: &Path, path: &Path) -> io::Result<PathBuf> {
    let root = root.canonicalize()?;
    let mut missing = vec![];
    let mut at = path;
    let existing = loop {
        match at.symlink_metadata() {
            Ok(_) => break at.canonicalize()?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        let (Some(parent), Some(Component::Normal(name))) = (at.parent(), at.components().next_back()) else {
            return Err(outside(path));
        };
        missing.push(name);
        at = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    };
    if !existing.starts_with(&root) {
        return Err(outside(path));
    }
    Ok(missing.into_iter().rev().fold(existing, |path, name| path.join(name)))
}

fn outside(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, Outside(path.display().to_string()))
}

/// Writes `bytes` to `path`: temporary file in the same folder, flush, fsync, rename, fsync of the folder. Mode and owner are kept, and a
/// symbolic link stays a link (its target is replaced, when it lies inside `root`). Folders that are missing are made.
pub fn write(root: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_as(root, path, bytes, None)
}

/// The same, for a file that may not exist: then it is made with these permissions (see [`mode_of`]).
pub(super) fn write_as(root: &Path, path: &Path, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
    let target = resolve(root, path)?;
    match target.metadata() {
        Ok(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory)),
        Ok(found) if found.permissions().readonly() => {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is write-protected"));
        }
        Ok(_) => {}
        Err(_) => make_folders(target.parent().unwrap_or(root))?,
    }
    let mode = mode.filter(|_| !target.exists());
    let mut file = open(&target, mode)?;
    #[cfg(test)]
    super::crash::half(|half| file.write_all(half), bytes)?;
    file.write_all(bytes)?;
    #[cfg(test)]
    {
        super::crash::point();
        file.sync_all()?;
        super::crash::point();
    }
    file.commit()?;
    #[cfg(test)]
    super::crash::point();
    Ok(())
}

#[cfg(unix)]
fn open(target: &Path, mode: Option<u32>) -> io::Result<AtomicWriteFile> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let Some(mode) = mode else { return AtomicWriteFile::open(target) };
    // Never more open than it will be, not even while it is written.
    let file = AtomicWriteFile::options().mode(mode & 0o777).open(target)?;
    file.set_permissions(std::fs::Permissions::from_mode(mode & 0o777))?;
    Ok(file)
}

#[cfg(not(unix))]
fn open(target: &Path, _mode: Option<u32>) -> io::Result<AtomicWriteFile> {
    AtomicWriteFile::open(target)
}

/// Returns the permissions of a file, where the system has them as bits.
pub(super) fn mode_of(root: &Path, path: &Path) -> Option<u32> {
    let found = resolve(root, path).and_then(|path| path.metadata()).ok()?;
    #[cfg(unix)]
    return Some(std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o777);
    #[cfg(not(unix))]
    return {
        let _ = found;
        None
    };
}

/// Removes a file. Durable.
pub fn remove(path: &Path) -> io::Result<()> {
    #[cfg(test)]
    super::crash::point();
    std::fs::remove_file(path)?;
    #[cfg(test)]
    super::crash::point();
    sync_folder(path.parent().unwrap_or(path))
}

/// Gives a file another name in its folder. Durable.
pub(super) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    sync_folder(to.parent().unwrap_or(to))
}

/// Removes what a kill left of writing `path`: files beside it with the name that [`write()`] gives to unfinished ones, and whose bytes are `ours`.
/// Does what it can: a leftover is hidden and does no harm.
pub(super) fn clear_leftovers(path: &Path, ours: impl Fn(&[u8]) -> bool) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|n| n.to_str())) else {
        return;
    };
    let is_unfinished = |found: &str| {
        let random =
            found.strip_prefix('.').and_then(|n| n.strip_prefix(name)).and_then(|n| n.strip_prefix('.'));
        random.is_some_and(|r| r.len() == 6 && r.bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    for item in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_file = item.file_type().is_ok_and(|kind| kind.is_file());
        if is_file
            && item.file_name().to_str().is_some_and(is_unfinished)
            && std::fs::read(item.path()).is_ok_and(|bytes| ours(&bytes))
        {
            let _ = std::fs::remove_file(item.path());
        }
    }
}

/// Gives a finished folder its name, in the folder that it is already in. Durable.
pub fn rename_folder(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)?;
    sync_folder(to.parent().unwrap_or(to))
}

/// Makes `folder` and its missing parents, each one durable before the next.
pub(super) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        make_folders(parent)?;
    }
    #[cfg(test)]
    super::crash::point();
    match std::fs::create_dir(folder) {
        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => Err(e),
        _ => sync_folder(folder.parent().unwrap_or(folder)),
    }
}

/// Makes the names in a folder durable. Windows has no such call for folders and needs none.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { std::fs::File::open(folder)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_new_file_gets_its_folders() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("codex/characters/mira/dossier.md");
        write(root.path(), &path, b"# Mira\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"# Mira\n");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_path_with_dots_that_leaves_the_root_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let book = root.path().join("book");
        fs::create_dir(&book).unwrap();
        for path in ["../x.md", "new/../../x.md"] {
            let error = write(&book, &book.join(path), b"x").unwrap_err();
            assert!(is_outside(&error), "{path}: {error}");
        }
        assert!(!root.path().join("x.md").exists());
    }

    #[test]
    fn a_folder_in_the_way_is_an_error_and_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a.md")).unwrap();
        assert!(write(root.path(), &root.path().join("a.md"), b"x").is_err());
        assert!(root.path().join("a.md").is_dir());
    }

    #[test]
    fn a_write_protected_file_is_not_replaced() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("a.md");
        fs::write(&path, "old").unwrap();
        let mut mode = fs::metadata(&path).unwrap().permissions();
        mode.set_readonly(true);
        fs::set_permissions(&path, mode).unwrap();
        let error = write(root.path(), &path, b"new").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(!is_outside(&error));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }

    #[cfg(unix)]
    mod links {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        #[test]
        fn the_mode_is_kept() {
            let root = tempfile::tempdir().unwrap();
            let path = root.path().join("a.md");
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            write(root.path(), &path, b"new").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
            assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        }

        #[test]
        fn a_link_inside_the_root_stays_a_link_and_its_target_is_replaced() {
            let root = tempfile::tempdir().unwrap();
            fs::write(root.path().join("real.md"), "old").unwrap();
            symlink("real.md", root.path().join("link.md")).unwrap();
            write(root.path(), &root.path().join("link.md"), b"new").unwrap();
            assert!(root.path().join("link.md").is_symlink());
            assert_eq!(fs::read_to_string(root.path().join("real.md")).unwrap(), "new");
        }

        #[test]
        fn a_link_out_of_the_root_is_refused_as_file_and_as_folder() {
            let outer = tempfile::tempdir().unwrap();
            let root = outer.path().join("book");
            fs::create_dir(&root).unwrap();
            fs::write(outer.path().join("secret.md"), "theirs").unwrap();
            symlink("../secret.md", root.join("link.md")).unwrap();
            symlink("..", root.join("up")).unwrap();
            symlink("../nothing.md", root.join("dangling.md")).unwrap();
            for path in ["link.md", "up/secret.md", "up/new/x.md"] {
                let error = write(&root, &root.join(path), b"mine").unwrap_err();
                assert!(is_outside(&error), "{path}: {error}");
            }
            assert!(write(&root, &root.join("dangling.md"), b"mine").is_err());
            assert_eq!(fs::read_to_string(outer.path().join("secret.md")).unwrap(), "theirs");
            assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 2);
        }
    }
}
