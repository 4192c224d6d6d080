//! The words of the program: books, chapters, Codex entries, passages, conversations.
//!
//! Plain data and pure functions over text. Nothing here reads a file, a clock or a socket.

pub mod book;
pub mod codex;
pub mod conversation;
pub mod exemption;
pub mod frontmatter;
pub mod ids;
pub mod links;
pub mod manuscript;
pub mod nearness;
pub mod numeral;
pub mod passage;
pub mod price;
pub mod privacy;
pub mod safe_text;
pub mod story_date;
pub mod usage;
