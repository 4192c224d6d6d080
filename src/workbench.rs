//! The verbs that every front end shares: open, ask, judge, search, save.
//!
//! A front end holds one [`Workbench`] for the open book. All verbs are synchronous and may touch the disk: the interface calls them from background tasks.

pub mod ask;
mod blind;
pub mod demo;
pub mod doctor;
mod egress;
pub mod evidence;
pub mod graph;
mod history;
mod index;
pub mod init;
pub mod judge;
pub mod keys;
pub mod look;
pub mod meaning;
pub mod models;
pub mod money;
mod network;
pub mod new_chapter;
pub mod new_entry;
mod notices;
pub mod open;
pub mod out_file;
pub mod peek;
pub mod private;
pub mod provenance;
pub mod provider;
pub mod recover;
pub mod rename;
pub mod review;
pub mod save;
pub mod search;
pub mod servers;
pub mod sessions;
pub mod settings;
mod themes;
pub mod timeline;

pub use ask::{Ask, Finished};
pub use blind::read_to;
pub use evidence::{Evidence, Source};
pub use judge::{JudgeError, QueuedProposal};
pub use open::{OpenError, Overrides, Surroundings, Workbench};
pub use peek::Peek;
pub use recover::{Desk, Edit, NotLogged, Recovered, RecoveryLog};
pub use review::{FileReview, Outcome, Review, Written};
pub use search::{Hit, HitKind};
pub use sessions::{Format, Passage, Resumed, SessionError, Summary, Transcript};
pub use timeline::Timeline;

// What front ends see of the layers that they may not use themselves.
pub use crate::persona::board::{Member, member, members};
pub use crate::store::book::ReadError;
pub use crate::store::document::{Document, DocumentError};
pub use crate::tools::Selection;
