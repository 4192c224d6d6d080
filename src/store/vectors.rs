//! Vectors that a server made of the book's texts: `.scritorio/cache/vectors-<model>.bin`.
//!
//! Only a saving of time and money: a file that is damaged or gone is made again, and git leaves it alone. It holds no words of the book, only the
//! hashes of texts and numbers.
//!
//! The file is a line of JSON with version, model and length of a vector, then records: 32 bytes of SHA-256, and the numbers as little-endian `f32`.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::home;
use crate::domain::passage::sha256_hex;

/// Version of the file's form.
const VERSION: u32 = 1;

/// Bytes of a hash.
const HASH: usize = 32;

/// Longest vector that is kept.
const MAX_DIMENSIONS: usize = 16_384;

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Head {
    v: u32,
    model: String,
    dimensions: usize,
}

/// Reads the vectors of `model`, each with the hash of its text. What can't be read is not there.
pub fn read(root: &Path, model: &str) -> Vec<(String, Vec<f32>)> {
    let bytes = home::path(root, &file(model)).and_then(std::fs::read).unwrap_or_default();
    let Some((head, records)) = parts(&bytes, model) else { return vec![] };
    let record = HASH + 4 * head.dimensions;
    records
        .chunks_exact(record)
        .map(|record| {
            let (hash, numbers) = record.split_at(HASH);
            let hash = hex(hash);
            let number = |bytes: &[u8]| bytes.first_chunk().map_or(0.0, |b| f32::from_le_bytes(*b));
            (hash, numbers.chunks_exact(4).map(number).collect())
        })
        .collect()
}

/// Adds vectors of `model`. A file of another form or length, and the torn end of one, is replaced.
pub fn add(root: &Path, model: &str, vectors: &[(String, Vec<f32>)]) -> io::Result<()> {
    let Some(dimensions) = vectors.first().map(|(_, v)| v.len()).filter(|n| (1..=MAX_DIMENSIONS).contains(n))
    else {
        return Ok(());
    };
    let head = Head { v: VERSION, model: model.to_owned(), dimensions };
    let path = home::make(root, &file(model))?;
    let old = std::fs::read(&path).unwrap_or_default();
    let kept = parts(&old, model).filter(|(known, _)| *known == head).map_or(0, |(_, records)| {
        let torn = records.len() % (HASH + 4 * dimensions);
        old.len() - torn
    });
    let mut new = vec![];
    if kept == 0 {
        serde_json::to_writer(&mut new, &head)?;
        new.push(b'\n');
    }
    for (hash, vector) in vectors.iter().filter(|(_, vector)| vector.len() == dimensions) {
        let Some(hash) = bytes_of(hash) else { continue };
        new.extend_from_slice(&hash);
        new.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
    }
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    file.set_len(kept as u64)?;
    file.write_all(&new)
}

/// The head and the records of a file of this model.
fn parts<'a>(bytes: &'a [u8], model: &str) -> Option<(Head, &'a [u8])> {
    let line = bytes.iter().position(|byte| *byte == b'\n')?;
    let head: Head = serde_json::from_slice(&bytes[..line]).ok()?;
    let fits = head.v == VERSION && head.model == model && (1..=MAX_DIMENSIONS).contains(&head.dimensions);
    fits.then(|| (head, &bytes[line + 1..]))
}

/// Models are named with slashes and colons, files are not.
fn file(model: &str) -> String {
    let hash = sha256_hex(model);
    format!("cache/vectors-{}.bin", hash.get(..16).unwrap_or(&hash))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * HASH), |mut out, byte| {
        out.push_str(&format!("{byte:02x}"));
        out
    })
}

fn bytes_of(hex: &str) -> Option<[u8; HASH]> {
    let mut bytes = [0; HASH];
    if hex.len() != 2 * HASH || !hex.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn vector(text: &str, numbers: &[f32]) -> (String, Vec<f32>) {
        (sha256_hex(text), numbers.to_vec())
    }

    #[test]
    fn vectors_come_back_as_they_were_kept() {
        let root = tempfile::tempdir().unwrap();
        assert!(read(root.path(), "m").is_empty());
        assert!(!root.path().join(home::NAME).exists());
        let (one, two) = (vector("one", &[1.0, -0.5]), vector("two", &[0.25, 2.0]));
        add(root.path(), "m", std::slice::from_ref(&one)).unwrap();
        add(root.path(), "m", std::slice::from_ref(&two)).unwrap();
        assert_eq!(read(root.path(), "m"), [one, two]);
        assert!(read(root.path(), "another/model").is_empty());
    }

    #[test]
    fn a_torn_end_is_dropped_and_vectors_of_another_length_begin_anew() {
        let root = tempfile::tempdir().unwrap();
        let (one, two, three) = (vector("one", &[1.0]), vector("two", &[2.0]), vector("three", &[3.0, 4.0]));
        add(root.path(), "m", std::slice::from_ref(&one)).unwrap();
        let path = home::path(root.path(), &file("m")).unwrap();
        let mut bytes = fs::read(&path).unwrap();
        bytes.extend_from_slice(&[7; 20]);
        fs::write(&path, bytes).unwrap();
        assert_eq!(read(root.path(), "m"), std::slice::from_ref(&one));
        add(root.path(), "m", std::slice::from_ref(&two)).unwrap();
        assert_eq!(read(root.path(), "m"), [one, two]);
        add(root.path(), "m", std::slice::from_ref(&three)).unwrap();
        assert_eq!(read(root.path(), "m"), [three]);
        fs::write(&path, "no head at all").unwrap();
        assert!(read(root.path(), "m").is_empty());
    }
}
