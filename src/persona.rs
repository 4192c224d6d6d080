//! The board: six AI personas, their prompts, and the system prompt built from them.

pub mod board;
pub mod prompt;
