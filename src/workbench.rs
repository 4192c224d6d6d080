//! The verbs that every front end shares: open, ask, judge, search, save.
//!
//! A front end holds one [`Workbench`] for the open book. All verbs are synchronous and may touch the disk: the interface calls them from background tasks.

pub mod ask;
mod chat;
pub mod demo;
pub mod doctor;
mod history;
pub mod init;
pub mod judge;
pub mod keys;
pub mod look;
mod new_entry;
pub mod open;
mod overlay;
pub mod peek;
pub mod provider;
pub mod recover;
pub mod save;
pub mod settings;

pub use ask::{Ask, Finished};
pub use judge::{JudgeError, Judged, QueuedProposal};
pub use open::{OpenError, Overrides, Surroundings, Workbench};
pub use new_entry::NewEntryError;
pub use peek::Peek;
pub use crate::store::document::{Document, DocumentError};
pub use crate::store::recovery::{Edit, Log as RecoveryLog, Recovered};
pub use crate::tools::Selection;
