//! The full-screen interface. State in `App`, change in `update`, pixels in `view`.

pub mod clipboard;
pub mod keymap;
mod nearest;
pub mod theme;
pub mod widgets;

use crate::workbench::Workbench;

/// What to show first.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// A document to open.
    pub open: Option<crate::domain::ids::BookPath>,
}

/// Runs the interface until the author quits. Takes over the terminal and gives it back, also on a panic or a signal.
pub fn run(workbench: Workbench, start: Start) -> anyhow::Result<()> {
    todo!()
}
