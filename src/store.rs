//! Files: the one place (with `config`) that writes.

pub mod atomic;
pub mod book;
pub mod document;
pub mod journal;
pub mod lock;
pub mod proposals;
pub mod provenance;
pub mod recovery;
pub mod sessions;
