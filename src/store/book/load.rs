//! The files of a book as texts with their frontmatter, and a few threads to read them.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use super::decode::decode;
use super::kind::{Renamed, Vocabulary};
use super::scan;
use super::stamp::Stamp;
use crate::domain::book::Warning;
use crate::domain::frontmatter::{self, Frontmatter, Split, Syntax};
use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::domain::privacy;

/// Longer files are no manuscript, and are not read: 8 MB.
const MAX_BYTES: u64 = 8 * 1024 * 1024;

/// Threads for each core: while one waits for a disk that has not read a file yet, the other one works.
const THREADS_OF_A_CORE: usize = 2;

/// Most threads at work: more do not help a disk.
const MAX_THREADS: usize = 8;

/// Fewer items than this are left to one thread.
const WORTH_A_THREAD: usize = 64;

/// A file as text.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// Where it is.
    pub path: BookPath,
    /// The whole file; line feeds for the line ends of the old Mac OS.
    pub text: Arc<str>,
    /// Whether the file has those.
    pub is_old_mac: bool,
    /// Where its frontmatter ends.
    pub split: Split,
    /// What its frontmatter says.
    pub front: Frontmatter,
    /// Keys of the frontmatter that the settings map to others.
    pub renamed: Renamed,
    /// Whether it says that AI never reads it.
    pub private: bool,
    /// Why `text` is not what is on disk, byte for byte.
    pub not_utf8: Option<&'static str>,
    /// What the file was like when it was read. `None`: it was not, or it may be another one without a trace.
    pub stamp: Option<Stamp>,
}

impl Loaded {
    /// Reads the frontmatter of a text.
    pub fn of(path: BookPath, text: Arc<str>, words: &Vocabulary) -> Self {
        let of_old_mac = passage::old_mac_lines(&text);
        let is_old_mac = of_old_mac.is_some();
        let text = of_old_mac.map_or(text, Arc::from);
        let split = frontmatter::split(&text);
        let mut front = match split.syntax {
            Syntax::None => frontmatter::parse_unclosed(&text).unwrap_or_default(),
            _ => frontmatter::parse_split(&text, &split),
        };
        let private = privacy::is_marked_with(&text, &split, &front.fields);
        let (fields, renamed) = words.rename(std::mem::take(&mut front.fields));
        front.fields = fields;
        Self { path, text, is_old_mac, split, front, renamed, private, not_utf8: None, stamp: None }
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
        let of_front = self.front.problems.iter().map(|p| at(p.line, p.column, &p.message));
        let days = self.impossible_days();
        of_file.chain(of_front).chain(days.iter().map(|(line, message)| at(*line, 1, message))).collect()
    }

    /// Values of the frontmatter that look like a day and are none, each with its line.
    fn impossible_days(&self) -> Vec<(usize, String)> {
        let front = &self.text[..self.split.body_start];
        let lines = front.lines().enumerate();
        let found = lines.filter_map(|(at, line)| {
            let (key, value) = line.split_once([':', '='])?;
            let value = value.trim().trim_matches(['"', '\'']);
            let message = || {
                format!(
                    "`{}: {value}`: the calendar has no such day, so that it can't be put in order",
                    key.trim()
                )
            };
            is_impossible_day(value).then(|| (at + 1, message()))
        });
        found.collect()
    }
}

/// Whether a text is written as year, month and day, and the month has no such day.
fn is_impossible_day(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut number = |digits: std::ops::RangeInclusive<usize>| {
        let part =
            parts.next().filter(|p| digits.contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))?;
        part.parse::<i16>().ok()
    };
    let (Some(year), Some(month), Some(day)) = (number(4..=4), number(1..=2), number(1..=2)) else {
        return false;
    };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    (1..=12).contains(&month) && (29..=31).contains(&day) && jiff::civil::Date::new(year, month, day).is_err()
}

/// Applies `work` to every item on a few threads; the results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let alone = || items.iter().map(&work).collect();
    // Asking how many threads there may be reads files of the system.
    if items.len() < WORTH_A_THREAD {
        return alone();
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (cores * THREADS_OF_A_CORE).min(MAX_THREADS);
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

/// Reads a file that is not too long. The file is asked for its length when it is open, and not by its path before: of thousands each such question
/// counts.
fn bytes(path: &Path) -> std::io::Result<Option<(Vec<u8>, Option<Stamp>)>> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    let (length, stamp) = (metadata.len(), Stamp::of(&metadata));
    if length > MAX_BYTES {
        return Ok(None);
    }
    // One byte more tells that the end is reached without asking again.
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_BYTES).then_some((bytes, stamp)))
}

/// Reads one file; one that can't be read gives a warning instead.
pub fn load(file: &scan::File, words: &Vocabulary) -> Result<Loaded, Warning> {
    let left_out = |message| Warning { path: file.path.clone(), line: 1, column: 1, message };
    let (bytes, stamp) = bytes(&file.full)
        .map_err(|error| left_out(format!("it can't be read and is left out: {error}")))?
        .ok_or_else(|| left_out("it is larger than 8 MB and is left out; split it".to_owned()))?;
    let decoded = decode(bytes);
    let not_utf8 = decoded.problem;
    Ok(Loaded { not_utf8, stamp, ..Loaded::of(file.path.clone(), decoded.text.into(), words) })
}
