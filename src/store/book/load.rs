//! The files of a book as texts with their frontmatter, and a few threads to read them.

use std::sync::Arc;

use super::decode::decode;
use super::kind::{Renamed, Vocabulary};
use super::scan::File;
use crate::domain::book::Warning;
use crate::domain::frontmatter::{self, Frontmatter, Split, Syntax};
use crate::domain::ids::BookPath;

/// Most threads at work: more do not help a disk.
const MAX_THREADS: usize = 4;

/// Fewer items than this are left to one thread.
const WORTH_A_THREAD: usize = 64;

/// A file as text.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Where it is.
    pub path: BookPath,
    /// The whole file.
    pub text: Arc<str>,
    /// Where its frontmatter ends.
    pub split: Split,
    /// What its frontmatter says.
    pub front: Frontmatter,
    /// Keys of the frontmatter that the settings map to others.
    pub renamed: Renamed,
    /// Why `text` is not what is on disk, byte for byte.
    pub not_utf8: Option<&'static str>,
}

impl Loaded {
    /// Reads the frontmatter of a text.
    pub fn of(path: BookPath, text: Arc<str>, words: &Vocabulary) -> Self {
        let split = frontmatter::split(&text);
        let mut front = match split.syntax {
            Syntax::None => frontmatter::parse_unclosed(&text).unwrap_or_default(),
            _ => frontmatter::parse_split(&text, &split),
        };
        let (fields, renamed) = words.rename(std::mem::take(&mut front.fields));
        front.fields = fields;
        Self { path, text, split, front, renamed, not_utf8: None }
    }

    /// Returns what stands below the frontmatter.
    pub fn body(&self) -> &str {
        &self.text[self.split.body_start..]
    }

    /// What could not be read as meant.
    pub fn warnings(&self) -> Vec<Warning> {
        let at = |line, column, message: &str| Warning {
            path: self.path.clone(),
            line,
            column,
            message: message.to_owned(),
        };
        let of_file = self.not_utf8.iter().map(|message| at(1, 1, message));
        of_file.chain(self.front.problems.iter().map(|p| at(p.line, p.column, &p.message))).collect()
    }
}

/// Applies `work` to every item on a few threads; the results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let alone = || items.iter().map(&work).collect();
    // Asking how many threads there may be reads files of the system.
    if items.len() < WORTH_A_THREAD {
        return alone();
    }
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    if threads < 2 {
        return alone();
    }
    let work = &work;
    std::thread::scope(|scope| {
        let workers: Vec<_> = items
            .chunks(items.len().div_ceil(threads))
            .map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<_>>()))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// Reads one file; one that can't be read gives a warning instead.
pub fn load(file: &File, words: &Vocabulary) -> Result<Loaded, Warning> {
    let bytes = std::fs::read(&file.full).map_err(|error| Warning {
        path: file.path.clone(),
        line: 1,
        column: 1,
        message: format!("it can't be read and is left out: {error}"),
    })?;
    let decoded = decode(bytes);
    Ok(Loaded { not_utf8: decoded.problem, ..Loaded::of(file.path.clone(), decoded.text.into(), words) })
}
