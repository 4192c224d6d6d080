//! The timeline of the open book.

pub use crate::canon::timeline::{Finding, Kind, Place, Placed, Row, Rule, Severity, Timeline, Verdict};

use super::Workbench;

impl Workbench {
    /// Puts everything that has a time in order, and looks for gaps and conflicts. Reads all chapters; never call it where the interface would wait.
    pub fn timeline(&self) -> Timeline {
        Timeline::of(&self.book())
    }
}
