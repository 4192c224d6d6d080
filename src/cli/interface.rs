//! Without a verb: the full-screen interface.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::domain::ids::BookPath;
use crate::tui::theme::Depth;
use crate::tui::{self, Start};
use crate::workbench::{Overrides, Workbench};

use super::error::{CliError, Kind};
use super::{Context, no_book};

/// Opens the book that `path` is or lies in; without one, that of `--project` or of the current folder.
pub(super) fn execute(context: &Context, path: Option<PathBuf>) -> Result<(), CliError> {
    let (root, open) = match path {
        None => (context.root()?, None),
        Some(path) if path.is_dir() => (Workbench::find(&path).map_or_else(|| no_shelf(path), Ok)?, None),
        Some(path) => file_of_book(&path)?,
    };
    if context.global.json || !is_possible() {
        return Err(CliError::new(Kind::Usage, "The interface needs a terminal.")
            .hint("`scritorio --help` lists what works without one."));
    }
    self::open(&root, open)
}

/// Whether there is a terminal to take over.
pub(super) fn is_possible() -> bool {
    std::io::stdout().is_terminal() && std::io::stdin().is_terminal()
}

/// Runs the interface over the book in `root`.
pub(super) fn open(root: &Path, open: Option<BookPath>) -> Result<(), CliError> {
    let workbench = Workbench::open_outline(root, Overrides::default())?;
    let value = |name: &str| std::env::var(name).ok();
    let start = Start {
        open,
        depth: Depth::detect(value),
        light: is_light(value("COLORFGBG").as_deref()),
        remote: value("SSH_CONNECTION").or_else(|| value("SSH_TTY")).is_some(),
    };
    tui::run(workbench, start)
        .map_err(|e| CliError { details: format!("{e:?}"), ..CliError::new(Kind::Work, format!("{e:#}.")) })
}

/// Takes a folder that is no book yet, unless it holds books: they are never read as one.
fn no_shelf(folder: PathBuf) -> Result<PathBuf, CliError> {
    let books = Workbench::books_in(&folder);
    let Some(first) = books.first() else { return Ok(folder) };
    let names: Vec<_> = books.iter().filter_map(|book| book.file_name()?.to_str()).collect();
    let words = format!("{} is no book, but it holds some: {}.", folder.display(), names.join(", "));
    Err(CliError::new(Kind::Usage, words).hint(format!("Open one of them: `scritorio {}`.", first.display())))
}

fn file_of_book(path: &Path) -> Result<(PathBuf, Option<BookPath>), CliError> {
    let file = path.canonicalize().map_err(|e| {
        let failed = CliError::new(Kind::Usage, format!("{} can't be opened: {e}.", path.display()));
        failed.hint("It is neither a folder or file that can be read, nor a verb: `scritorio --help` lists the verbs.")
    })?;
    let root = file.parent().and_then(Workbench::find).ok_or_else(no_book)?;
    let root = root.canonicalize().unwrap_or(root);
    let inside = file.strip_prefix(&root).ok().map(|p| {
        let parts: Vec<_> = p.iter().map(|part| part.to_string_lossy()).collect();
        parts.join("/")
    });
    Ok((root, inside.and_then(|path| BookPath::new(path).ok())))
}

/// Whether `COLORFGBG`, which some terminals set to `foreground;background`, names a light background.
fn is_light(colors: Option<&str>) -> bool {
    let background = colors.and_then(|c| c.rsplit(';').next()?.parse::<u8>().ok());
    background.is_some_and(|n| n == 7 || (9..=15).contains(&n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_is_read_from_the_last_number() {
        assert!(is_light(Some("0;15")) && is_light(Some("0;default;7")));
        assert!(!is_light(Some("15;0")) && !is_light(Some("7;8")) && !is_light(Some("")) && !is_light(None));
    }
}
