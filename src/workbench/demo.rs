//! The example book: a copy in the data folder, so that the original is never changed by trying it.

use std::io;
use std::path::{Path, PathBuf};

use include_dir::{Dir, include_dir};

use crate::store::atomic;

use super::Surroundings;

static EXAMPLE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/examples/the-long-silence");
const NAME: &str = "the-long-silence";

/// Returns the folder of the example copy, made on the first call; `fresh` makes another (none is ever deleted).
pub fn copy(fresh: bool) -> io::Result<PathBuf> {
    let surroundings =
        Surroundings::of_process().map_err(|e| io::Error::new(io::ErrorKind::NotFound, e.to_string()))?;
    copy_into(&surroundings.folders.data.join("demo"), fresh)
}

/// Makes or finds the copy in `folder`: `the-long-silence`, then `the-long-silence-2` and so on. The newest is the one that is opened again.
fn copy_into(folder: &Path, fresh: bool) -> io::Result<PathBuf> {
    std::fs::create_dir_all(folder)?;
    let name = |n: u32| folder.join(if n == 1 { NAME.to_owned() } else { format!("{NAME}-{n}") });
    let next = (1..u32::MAX).find(|n| !name(*n).exists()).unwrap_or(1);
    if next > 1 && !fresh {
        return Ok(name(next - 1));
    }
    // Written beside it and renamed, so that a copy that was cut short is never taken for the book.
    let draft = folder.join(format!(".{NAME}-{}", std::process::id()));
    write(&draft, &EXAMPLE)?;
    atomic::rename_folder(&draft, &name(next))?;
    Ok(name(next))
}

fn write(target: &Path, dir: &Dir<'_>) -> io::Result<()> {
    std::fs::create_dir_all(target)?;
    for file in dir.files().filter(|f| f.path().components().all(|part| part.as_os_str() != ".scritorio")) {
        atomic::write(target, &target.join(file.path().file_name().unwrap_or_default()), file.contents())?;
    }
    for folder in dir.dirs().filter(|d| !d.path().ends_with(".scritorio")) {
        write(&target.join(folder.path().file_name().unwrap_or_default()), folder)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_is_opened_again_as_it_was_and_a_fresh_one_leaves_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = copy_into(folder.path(), false).unwrap();
        assert!(first.ends_with(NAME));
        let chapter = first.join("manuscript/01-the-listening-post.md");
        std::fs::write(&chapter, "mine").unwrap();
        assert_eq!(copy_into(folder.path(), false).unwrap(), first);
        let second = copy_into(folder.path(), true).unwrap();
        assert!(second.ends_with("the-long-silence-2"));
        assert_eq!(std::fs::read_to_string(&chapter).unwrap(), "mine");
        assert_ne!(
            std::fs::read_to_string(second.join("manuscript/01-the-listening-post.md")).unwrap(),
            "mine"
        );
        assert_eq!(copy_into(folder.path(), false).unwrap(), second, "the newest is gone on with");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }

    #[test]
    fn the_copy_is_the_whole_example_byte_for_byte() {
        let folder = tempfile::tempdir().unwrap();
        let copy = copy_into(folder.path(), false).unwrap();
        let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(NAME);
        let mut files = 0;
        let mut folders = vec![original.clone()];
        while let Some(at) = folders.pop() {
            for entry in std::fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let copied = copy.join(path.strip_prefix(&original).unwrap());
                assert_eq!(
                    std::fs::read(&copied).unwrap(),
                    std::fs::read(&path).unwrap(),
                    "{}",
                    copied.display()
                );
                files += 1;
            }
        }
        assert!(files > 20, "{files} files");
        assert!(!copy.join(".git").exists());
    }
}
