//! Settings: the author's `config.toml`, the environment, and where folders are. (A book's `scritorio.toml` is read here too.)

pub mod book;
pub mod choice;
pub mod folders;
pub mod money;
pub mod toml_reader;
pub mod user;
