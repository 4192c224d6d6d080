//! What servers told of their models when they were asked: contexts and prices, in the data folder, with the day. So that they need not be asked
//! again to say what a question would cost. Holds nothing else, and what can't be read is as good as not there.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::price::Price;

use super::atomic;

const VERSION: u32 = 1;

/// The list of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ListedModels {
    /// Version of this file.
    v: u32,
    /// The day on which the server was asked, as `2026-11-21`.
    pub as_of: String,
    /// Where it was asked: another server of the same name has other prices.
    pub address: String,
    /// Models of which something is known.
    pub models: Vec<ListedModel>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ListedModel {
    /// Its name.
    pub id: String,
    /// Tokens that it holds.
    #[serde(default)]
    pub context: Option<u64>,
    /// What it costs.
    #[serde(default)]
    pub price: Option<Price>,
}

/// Keeps what a server told.
pub fn keep(data: &Path, provider: &str, address: &str, models: Vec<ListedModel>) -> io::Result<()> {
    let as_of = super::now().chars().take(10).collect();
    let list = ListedModels { v: VERSION, as_of, address: address.to_owned(), models };
    std::fs::create_dir_all(data)?;
    atomic::write(data, &path(data, provider), &serde_json::to_vec(&list)?)
}

/// Returns what the server of this name and address told last.
pub fn read(data: &Path, provider: &str, address: &str) -> Option<ListedModels> {
    let list: ListedModels = serde_json::from_slice(&std::fs::read(path(data, provider)).ok()?).ok()?;
    (list.v == VERSION && list.address == address).then_some(list)
}

/// A name from the settings may hold anything: what is no plain letter or digit is written as its number.
fn path(data: &Path, provider: &str) -> PathBuf {
    let plain = |c: char| match c {
        'a'..='z' | '0'..='9' | '-' => c.to_string(),
        c => format!("_{:x}_", u32::from(c)),
    };
    data.join("models").join(format!("{}.json", provider.chars().map(plain).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_told_is_known_for_that_server_alone() {
        let folder = tempfile::tempdir().unwrap();
        let model = ListedModel { id: "m".into(), context: Some(5), price: Some(Price::FREE) };
        for name in ["openrouter", "../../evil", "Ä/b"] {
            assert_eq!(read(folder.path(), name, "https://h/models"), None);
            keep(folder.path(), name, "https://h/models", vec![model.clone()]).unwrap();
            let list = read(folder.path(), name, "https://h/models").unwrap();
            assert_eq!((list.models, list.as_of.len()), (vec![model.clone()], 10));
            assert_eq!(read(folder.path(), name, "https://other/models"), None);
        }
        assert_eq!(std::fs::read_dir(folder.path().join("models")).unwrap().count(), 3);
    }

    #[test]
    fn a_broken_file_is_as_good_as_none() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("models")).unwrap();
        for broken in ["", "{", "{\"v\":2}", "[]"] {
            std::fs::write(folder.path().join("models/x.json"), broken).unwrap();
            assert_eq!(read(folder.path(), "x", "a"), None);
        }
    }
}
