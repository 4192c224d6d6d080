//! This machine's name: random, so that it says nothing about its owner. It stands in the data folder, outside of every book.

use std::io;
use std::path::Path;

use super::{atomic, home};

/// Returns the name; `mint` makes one if there is none, else that is an error.
pub fn name(data: &Path, mint: bool) -> io::Result<String> {
    let path = data.join("machine");
    let known = std::fs::read_to_string(&path).ok().map(|name| name.trim().to_owned());
    if let Some(name) = known.filter(|name| home::file_name(name, "").is_ok()) {
        return Ok(name);
    }
    if !mint {
        return Err(io::Error::from(io::ErrorKind::NotFound));
    }
    let name = format!("m-{}", ulid::Ulid::generate());
    atomic::make_folders(data)?;
    atomic::write(data, &path, name.as_bytes())?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_is_named_once_and_only_when_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        assert!(name(&data, false).is_err() && !data.exists());
        let minted = name(&data, true).unwrap();
        assert!(minted.starts_with("m-"));
        assert_eq!(name(&data, true).unwrap(), minted);
        assert_eq!(name(&data, false).unwrap(), minted);
    }
}
