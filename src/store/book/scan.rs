//! Which files a book's folder holds.
//!
//! A book inside the book is not read. Never follows a link out of the folder, never descends into hidden folders, and never opens what is no plain file.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::config;
use crate::domain::book::Warning;
use crate::domain::ids::BookPath;

/// Folders of other tools, which hold no writing.
const SKIPPED: [&str; 2] = ["target", "node_modules"];

/// A text file of the book.
#[derive(Debug, Clone)]
pub struct File {
    /// Where it is in the book.
    pub path: BookPath,
    /// Where it is in the file system.
    pub full: PathBuf,
    /// The file itself, if it or a folder above it is a link.
    pub target: Option<PathBuf>,
}

impl File {
    /// Whether it is Markdown, and not plain text.
    pub fn is_markdown(&self) -> bool {
        !has_extension(&self.full, &["txt"])
    }
}

/// What was found.
#[derive(Debug, Default)]
pub struct Scan {
    /// Markdown and plain text files, sorted by path.
    pub files: Vec<File>,
    /// Names of the folders right inside the book's folder, sorted.
    pub folders: Vec<String>,
    /// What was left out.
    pub warnings: Vec<Warning>,
}

/// Walks the folder `root`, which must be canonical.
pub fn scan(root: &Path) -> Scan {
    let mut found = Scan::default();
    let mut left_out: Vec<(PathBuf, String)> = vec![];
    let mut entered = HashSet::new();
    let walk = WalkDir::new(root).follow_links(true).into_iter();
    // Following is safe since `is_wanted` sees every link before anything behind it is looked at.
    let (mut unread, mut links) = (vec![], vec![]);
    for item in walk.filter_entry(|entry| is_wanted(entry, root, &mut entered, &mut left_out)) {
        match item {
            Ok(entry) => found.take(&entry, root, &mut links),
            Err(error) => {
                let Some(path) = error.path().filter(|path| !is_hidden(path)) else { continue };
                let why = match error.io_error() {
                    Some(io) => format!("it can't be read and is left out: {io}"),
                    None => "it leads back to a folder that holds it, and is not followed".to_owned(),
                };
                unread.push((path.to_path_buf(), why));
            }
        }
    }
    for (path, message) in left_out.into_iter().chain(unread) {
        found.warnings.push(warning(root, &path, message));
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    found.folders.sort();
    found
}

impl Scan {
    /// Takes a folder or file over; `links` collects the folders that are links.
    fn take(&mut self, entry: &DirEntry, root: &Path, links: &mut Vec<PathBuf>) {
        if entry.file_type().is_dir() {
            if entry.path_is_symlink() {
                links.push(entry.path().to_path_buf());
            }
            if entry.depth() == 1 {
                self.folders.push(entry.file_name().to_string_lossy().into_owned());
            }
            return;
        }
        if !entry.file_type().is_file() || !has_extension(entry.path(), &["md", "markdown", "txt"]) {
            return;
        }
        let Some(path) = book_path(root, entry.path()) else {
            let message = "its name can't be used on every system and it is left out; rename it".to_owned();
            self.warnings.push(warning(root, entry.path(), message));
            return;
        };
        let is_linked = entry.path_is_symlink() || links.iter().any(|link| entry.path().starts_with(link));
        let target = is_linked.then(|| entry.path().canonicalize().ok()).flatten();
        self.files.push(File { path, full: entry.path().to_path_buf(), target });
    }
}

fn is_wanted(
    entry: &DirEntry,
    root: &Path,
    entered: &mut HashSet<PathBuf>,
    left_out: &mut Vec<(PathBuf, String)>,
) -> bool {
    if entry.depth() == 0 {
        return true;
    }
    let is_dir = entry.file_type().is_dir();
    if is_hidden(entry.path()) || (is_dir && SKIPPED.iter().any(|name| entry.file_name() == *name)) {
        return false;
    }
    if is_dir && !entry.path_is_symlink() && has_settings(entry.path()) {
        let message = "it is a book of its own (it has a scritorio.toml), and is left out".to_owned();
        left_out.push((entry.path().to_path_buf(), message));
        return false;
    }
    if !entry.path_is_symlink() {
        return true;
    }
    let Ok(target) = entry.path().canonicalize() else { return false };
    let inside = target.strip_prefix(root).ok();
    let message = match inside {
        None => "it is a link that leads out of the book, and is not followed",
        Some(inside) if inside.iter().any(|part| part.to_string_lossy().starts_with('.')) => {
            "it is a link into a hidden folder, and is not followed"
        }
        Some(_) if is_dir && !entered.insert(target.clone()) => "it leads to a folder that was read already",
        Some(_) => return true,
    };
    if is_dir || has_extension(entry.path(), &["md", "markdown", "txt"]) {
        left_out.push((entry.path().to_path_buf(), message.to_owned()));
    }
    false
}

/// Whether a folder has settings of a book, also as a link that leads nowhere.
pub fn has_settings(folder: &Path) -> bool {
    let file = folder.join(config::book::FILE);
    file.is_file() || file.symlink_metadata().is_ok_and(|found| found.is_symlink())
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().is_some_and(|extension| known.iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

fn book_path(root: &Path, full: &Path) -> Option<BookPath> {
    let parts: Option<Vec<&str>> = full.strip_prefix(root).ok()?.iter().map(|part| part.to_str()).collect();
    BookPath::new(parts?.join("/")).ok()
}

/// A warning about a file; a name that is no path of a book is shown as near as can be.
fn warning(root: &Path, full: &Path, message: String) -> Warning {
    let shown = full.strip_prefix(root).unwrap_or(full).to_string_lossy();
    let safe: String = shown
        .chars()
        .map(|c| if c.is_control() || matches!(c, '\\' | ':') { '\u{fffd}' } else { c })
        .collect();
    let path = BookPath::new(&safe).or_else(|_| BookPath::new("\u{fffd}"));
    #[expect(clippy::expect_used, reason = "one replacement character is a path of a book")]
    let path = path.expect("a path");
    Warning { path, line: 1, column: 1, message }
}
