//! What a persona may do: look things up in the one open book, and propose.
//!
//! A tool is registered once, in [`Registry::advisor`]. Its schemas for every wire, its dispatch, its help and its line in
//! `scritorio tools list` come from that registration. A tool sees a borrowed [`Desk`]: it has nothing to write with, and one
//! that looks things up has no way to hand a proposal back.

mod arguments;
pub mod desk;
pub mod error;
mod kind;
mod propose;
mod read;
pub mod registry;
pub mod schema;
pub mod spec;
#[cfg(test)]
mod testing;

pub use desk::{Desk, Evidence, Material, Outcome, Seen, Selection};
pub use error::ToolError;
pub use kind::{Draft, ProposeTool, ReadTool, Reading};
pub use registry::Registry;
pub use spec::{Effect, Force, ToolSpec};
