//! The verbs that every front end shares: open, ask, judge, search, save.
//!
//! A front end holds one [`Workbench`] for the open book. All verbs are synchronous and may touch the disk: the interface calls them from background tasks.

pub mod ask;
pub mod demo;
pub mod judge;
pub mod open;
pub mod peek;
pub mod save;

pub use ask::{Ask, Finished};
pub use judge::{Judged, QueuedProposal};
pub use open::{OpenError, Overrides, Workbench};
pub use peek::Peek;
