//! Finding one entry by a name as a person or a model would write it.

use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};

/// How strongly a candidate matches, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// The name itself.
    Name,
    /// The title, alone or with the name.
    Title,
    /// The file's stem (in the folder shape: the folder's name).
    Stem,
    /// An alias.
    Alias,
    /// A whole word, or the beginning of one, of the name or an alias.
    Partial,
}

/// What a lookup came to.
#[derive(Debug, Clone)]
pub struct Lookup<'a> {
    /// The best entry with the strength of its match.
    pub best: Option<(&'a Entry, Strength)>,
    /// Other entries of the same strength.
    pub also_matched: Vec<&'a Entry>,
    /// Up to three near names, when nothing matched.
    pub near: Vec<String>,
}

/// Looks `name` up among the entries of `entry_type`, or of all types.
pub fn find<'a>(book: &'a Book, entry_type: Option<EntryType>, name: &str) -> Lookup<'a> {
    todo!()
}

/// Returns every entry that bears `name` as its name, title with name, or alias (compared folded): what a new entry would duplicate.
pub fn same_name<'a>(book: &'a Book, name: &str) -> Vec<&'a Entry> {
    todo!()
}

/// Returns up to `limit` names and aliases that are near to `name`, nearest first.
pub fn near_names(book: &Book, entry_type: Option<EntryType>, name: &str, limit: usize) -> Vec<String> {
    todo!()
}
