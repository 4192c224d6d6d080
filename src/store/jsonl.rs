//! Files of one JSON object a line, only ever appended to.
//!
//! Every line holds its version `v`. A line that a crash tore, and one of a version that this program does not know, is skipped
//! and counted, never a reason to refuse the rest; the next append starts on a line of its own.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::atomic;

/// The version of our lines.
pub const VERSION: u32 = 1;

/// How a line that we wrote begins.
const OURS: &[u8] = b"{\"v\":1,";

/// What a file held.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines<T> {
    /// The lines that could be read, in order.
    pub records: Vec<T>,
    /// How many could not.
    pub skipped: usize,
    /// How many of those are of a later version, and whole.
    pub later: usize,
    /// How many of those end in their middle: the program that wrote them was killed.
    pub torn: usize,
}

/// Reads a file; one that does not exist is empty.
pub fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Lines<T>> {
    let bytes = match std::fs::read(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => vec![],
        other => other?,
    };
    let mut lines = Lines { records: vec![], skipped: 0, later: 0, torn: 0 };
    for line in split(&bytes) {
        match parse(line) {
            Parsed::Record(record) => lines.records.push(record),
            Parsed::Later => {
                lines.skipped += 1;
                lines.later += 1;
            }
            Parsed::Broken => {
                lines.skipped += 1;
                let whole = serde_json::from_slice::<serde::de::IgnoredAny>(line);
                lines.torn += usize::from(whole.is_err_and(|why| why.is_eof()));
            }
        }
    }
    Ok(lines)
}

/// Splits what a file holds into its lines; empty ones are left out.
pub fn split(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let (mut before, mut rest) = (bytes, bytes);
    let lines = std::iter::from_fn(move || {
        // Looks at many bytes at a time, unlike `split` of a slice.
        let length = rest.skip_until(b'\n').ok().filter(|length| *length > 0)?;
        let line = before.get(..length)?;
        before = rest;
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    });
    lines.filter(|line| !line.trim_ascii().is_empty())
}

/// What a line turned out to be.
pub(super) enum Parsed<T> {
    Record(T),
    /// A whole line of a version that this program does not know.
    Later,
    Broken,
}

/// Reads one line.
pub(super) fn parse<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Parsed<T> {
    #[derive(Deserialize)]
    struct Version {
        v: u64,
    }
    if line.starts_with(OURS) {
        // Most lines by far: read once, since they are long.
        return serde_json::from_slice(line).map_or(Parsed::Broken, Parsed::Record);
    }
    match serde_json::from_slice::<Version>(line) {
        Ok(Version { v }) if v == u64::from(VERSION) => {
            serde_json::from_slice(line).map_or(Parsed::Broken, Parsed::Record)
        }
        Ok(Version { v }) if v > u64::from(VERSION) => Parsed::Later,
        _ => Parsed::Broken,
    }
}

/// Appends records, durably: when this returns they are on the disk. Several processes may append to one file.
pub fn append<T: Serialize>(path: &Path, records: &[T]) -> io::Result<()> {
    append_as(path, records, true, true)
}

/// Appends records, durably, to a file that is there. One that is moved meanwhile gets them where it is moved to.
pub fn append_if_there<T: Serialize>(path: &Path, records: &[T]) -> io::Result<()> {
    append_as(path, records, true, false)
}

/// Appends records without waiting for the disk: they outlive the program, but perhaps not a power cut.
pub fn append_soon<T: Serialize>(path: &Path, records: &[T]) -> io::Result<()> {
    append_as(path, records, false, true)
}

fn append_as<T: Serialize>(path: &Path, records: &[T], durable: bool, makes: bool) -> io::Result<()> {
    let mut bytes = vec![];
    for record in records {
        serde_json::to_writer(&mut bytes, record)?;
        bytes.push(b'\n');
    }
    let is_new = !path.exists();
    let mut file = OpenOptions::new().read(true).append(true).create(makes).open(path)?;
    lock(&file)?;
    append_bytes(&mut file, bytes, durable)?;
    if is_new && durable {
        atomic::sync_folder(path.parent().unwrap_or(path))?;
    }
    Ok(())
}

/// Waits for the file's lock; a file system without locks has to do without.
pub(super) fn lock(file: &File) -> io::Result<()> {
    match file.lock() {
        Err(e) if e.kind() == io::ErrorKind::Unsupported => Ok(()),
        other => other,
    }
}

fn append_bytes(file: &mut File, mut bytes: Vec<u8>, durable: bool) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    if length > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        if last != *b"\n" {
            bytes.insert(0, b'\n');
        }
    }
    #[cfg(test)]
    super::crash::half(|half| file.write_all(half), &bytes)?;
    let written = file.write_all(&bytes).and_then(|()| if durable { file.sync_data() } else { Ok(()) });
    #[cfg(test)]
    super::crash::point();
    if written.is_err() {
        // A disk that is full may have taken half a line. Readers skip it; without it they need not.
        let _ = file.set_len(length);
    }
    written
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Word {
        v: u32,
        word: String,
    }

    fn word(word: &str) -> Word {
        Word { v: VERSION, word: word.into() }
    }

    #[test]
    fn what_is_appended_is_read_back_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        assert!(read::<Word>(&path).unwrap().records.is_empty());
        append(&path, &[word("one"), word("two\nlines")]).unwrap();
        append(&path, &[word("three")]).unwrap();
        let lines = read::<Word>(&path).unwrap();
        assert_eq!(lines.records, [word("one"), word("two\nlines"), word("three")]);
        assert_eq!(lines.skipped, 0);
    }

    #[test]
    fn a_torn_last_line_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        append(&path, &[word("one"), word("two")]).unwrap();
        let whole = fs::read(&path).unwrap();
        for cut in 1..whole.len() - 1 {
            fs::write(&path, &whole[..cut]).unwrap();
            append(&path, &[word("after")]).unwrap();
            let lines = read::<Word>(&path).unwrap();
            assert_eq!(lines.records.last(), Some(&word("after")), "cut at {cut}");
            assert!(lines.skipped <= 1 && lines.torn == lines.skipped, "cut at {cut}");
        }
    }

    #[test]
    fn a_line_of_a_later_version_is_skipped_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        fs::write(&path, "{\"v\":2,\"word\":\"x\"}\n\n{\"v\":1,\"word\":\"y\",\"more\":1}\n[]\n\u{fffd}\n")
            .unwrap();
        let lines = read::<Word>(&path).unwrap();
        assert_eq!((lines.records, lines.skipped, lines.later, lines.torn), (vec![word("y")], 3, 1, 0));
    }

    #[test]
    fn lines_that_begin_as_ours_do_and_those_that_do_not_are_read_alike() {
        assert_eq!(OURS, format!("{{\"v\":{VERSION},").as_bytes());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let as_ours = "{\"v\":1,\"word\":\"x\"}\n{\"v\":1,\"word\":\"to";
        let otherwise = "{\"word\":\"x\",\"v\":1}\n{\"word\":\"to";
        for text in [as_ours, otherwise] {
            fs::write(&path, text).unwrap();
            let lines = read::<Word>(&path).unwrap();
            assert_eq!((lines.records, lines.skipped, lines.later), (vec![word("x")], 1, 0), "{text}");
        }
        let split: Vec<_> = split(b"\n a\n\n \t\nb\r\nc").collect();
        assert_eq!(split, [&b" a"[..], b"b\r", b"c"]);
        assert_eq!(super::split(b"").count(), 0);
    }

    #[test]
    fn two_writers_never_mix_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        std::thread::scope(|scope| {
            for name in ["a", "b"] {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..20 {
                        append(path, &[word(&name.repeat(300))]).unwrap();
                    }
                });
            }
        });
        let lines = read::<Word>(&path).unwrap();
        assert_eq!((lines.records.len(), lines.skipped), (40, 0));
    }
}
