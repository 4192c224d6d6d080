//! What the Codex knows: looking entries up, searching them, finding their names in prose.
//!
//! Pure functions over a [`crate::domain::book::Book`]; nothing here reads a file.

pub mod blind;
pub mod index;
mod label;
pub mod links;
pub mod lookup;
pub mod manuscript;
pub mod meaning;
pub mod mentions;
pub mod relations;
pub mod rename;
pub mod search;
#[cfg(test)]
mod shelf;
pub mod story_time;
pub mod stretches;
pub mod timeline;
