//! The board: six AI personas, their prompts, and the system prompt built from them.
//!
//! The prompts are Markdown files in `persona/library/`. A member has *locked* sections (role, duties, limits), which only
//! this program's authors change, and *editable* ones, which a book may replace. Nothing here reads a file at run time.

pub mod audience;
pub mod board;
pub mod placeholders;
pub mod prompt;
