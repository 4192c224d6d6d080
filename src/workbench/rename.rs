//! Renaming somebody or something in the whole book: what would change, what the author excludes for ever, and doing it as one step that can be undone.
//!
//! Looking writes nothing. Renaming is a proposal that is queued and applied like any other, so that journal, undo and provenance are the same.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::canon::rename::{self, FileEdit, Rename};
use crate::domain::book::{Book, Note};
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;
use crate::proposal::{FileChange, Other, Proposal, Subject};
use crate::store::exemptions;

// What front ends see of it.
pub use crate::canon::rename::{Kind, Place, Rename as Found, RenameError};

use super::{JudgeError, OpenError, QueuedProposal, Workbench};

/// Why nothing was renamed, or nothing was found.
#[derive(Debug, thiserror::Error)]
pub enum RenameProblem {
    /// The names.
    #[error(transparent)]
    Names(#[from] RenameError),
    /// The book.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Applying it.
    #[error(transparent)]
    Judge(#[from] JudgeError),
    /// There is no such place, or no longer.
    #[error("the book has no place {id} for this name; it may have changed since")]
    NoPlace {
        /// Which.
        id: String,
    },
    /// No place is chosen, or none of them can be changed.
    #[error("no place is chosen; nothing was written")]
    Nothing,
    /// A file is not what was read.
    #[error("{path} has changed since the book was read; nothing was written")]
    Changed {
        /// Which.
        path: BookPath,
    },
    /// The remembered exclusions.
    #[error("{0}")]
    Exemptions(std::io::Error),
    /// The queue of proposals.
    #[error("the change can't be recorded, so nothing was written: {0}")]
    Queue(std::io::Error),
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renamed {
    /// The proposal that holds it, applied: undo and redo go by it.
    pub proposal: QueuedProposal,
    /// Places that were changed.
    pub places: usize,
    /// Files that were changed.
    pub files: usize,
    /// Places that could not be changed without breaking the frontmatter of their file.
    pub by_hand: Vec<String>,
}

impl Workbench {
    /// Finds every place where `old` stands, and what it would become. Reads the book again, and writes nothing.
    pub fn rename(&self, old: &str, new: &str) -> Result<Rename, RenameProblem> {
        Ok(self.find_places(old, new)?.1)
    }

    /// Finds the places in the book and in what lies beside it.
    fn find_places(&self, old: &str, new: &str) -> Result<(Book, Rename), RenameProblem> {
        let book = self.with_others(&self.refresh()?);
        let exempt = exemptions::load(self.root()).map_err(RenameProblem::Exemptions)?;
        let mut found = rename::find(&book, old, new, &exempt)?;
        self.mark_read_only(&mut found.places);
        for place in found.places.iter_mut().filter(|p| p.kind == Kind::File) {
            if self.is_taken(&place.becomes) {
                place.chosen = false;
                place.by_hand = true;
                place.doubt = Some(format!("{} is there already", place.becomes));
            }
        }
        Ok((book, found))
    }

    /// Takes the other Markdown files of the folder in as notes, since links in them name entries too.
    fn with_others(&self, book: &Arc<Book>) -> Book {
        let mut whole = Book::clone(book);
        for path in book.others.iter().filter(|path| book.document(path).is_none()) {
            if let Ok(document) = self.read_document(path) {
                let title = path.stem().to_owned();
                whole.notes.push(Note {
                    path: path.clone(),
                    title,
                    tags: vec![],
                    text: document.text.into(),
                });
            }
        }
        whole
    }

    fn is_taken(&self, path: &str) -> bool {
        BookPath::new(path).is_ok_and(|path| path.under(self.root()).symlink_metadata().is_ok())
    }

    /// Files in another encoding, and write-protected ones, are shown and left alone.
    fn mark_read_only(&self, places: &mut [Place]) {
        let paths: HashSet<BookPath> = places.iter().map(|p| p.path.clone()).collect();
        for path in paths {
            let Some(why) = self.read_document(&path).ok().and_then(|document| document.read_only) else {
                continue;
            };
            for place in places.iter_mut().filter(|p| p.path == path) {
                place.chosen = false;
                place.by_hand = true;
                place.doubt = Some(format!("the file can't be changed: {why}"));
            }
        }
    }

    /// Remembers that a place does not mean the old name: it is listed, and never chosen by itself again.
    pub fn exempt(&self, found: &Rename, id: &str) -> Result<(), RenameProblem> {
        let place = found.places.iter().find(|p| p.id == id);
        let place = place.ok_or_else(|| RenameProblem::NoPlace { id: id.to_owned() })?;
        let is_not = found.entry.as_ref().map_or(&found.old, |(name, ..)| name);
        exemptions::add(self.root(), &place.exemption(is_not)).map_err(RenameProblem::Exemptions)
    }

    /// Renames the chosen places, all of them or none, as one step that can be undone. The book is read again first: a place that has gone since
    /// is an error.
    pub fn apply_rename(
        &self,
        old: &str,
        new: &str,
        chosen: &HashSet<String>,
    ) -> Result<Renamed, RenameProblem> {
        let (book, found) = self.find_places(old, new)?;
        let known: HashSet<&String> = found.places.iter().map(|p| &p.id).collect();
        if let Some(id) = chosen.iter().filter(|id| !known.contains(id)).min() {
            return Err(RenameProblem::NoPlace { id: id.clone() });
        }
        let (edits, by_hand) = rename::file_edits(&book, &found, chosen);
        for edit in &edits {
            let now = self.read_document(&edit.path).ok().map(|document| document.text);
            if now != edit.before {
                return Err(RenameProblem::Changed { path: edit.path.clone() });
            }
        }
        if edits.is_empty() {
            return Err(RenameProblem::Nothing);
        }
        let is_done = |p: &&Place| chosen.contains(&p.id) && !p.by_hand && !by_hand.contains(&p.id);
        let places = found.places.iter().filter(is_done).count();
        let files = edits.iter().filter(|edit| edit.after.is_some()).count();
        let proposal = proposal(&found, edits, (places, files), &by_hand);
        self.queue(&SessionId::mint(), &TurnId::mint(), &proposal).map_err(RenameProblem::Queue)?;
        match self.apply(&proposal.id, &[]) {
            Ok(proposal) => Ok(Renamed { proposal, places, files, by_hand }),
            Err(error) => {
                // It was never the author's to judge: what could not be written does not wait in the queue.
                let _ = self.reject(&proposal.id, None);
                Err(error.into())
            }
        }
    }
}

fn proposal(found: &Rename, edits: Vec<FileEdit>, counts: (usize, usize), by_hand: &[String]) -> Proposal {
    let (places, files) = counts;
    let warnings = if by_hand.is_empty() {
        vec![]
    } else {
        vec![format!("Left as they are, since they would break the frontmatter: {}.", by_hand.join(", "))]
    };
    let plural = |n: usize, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
    Proposal {
        id: ProposalId::mint(),
        tool: "rename".to_owned(),
        subject: Subject::Other(Other::Book),
        entry: found.old.clone(),
        summary: format!(
            "Rename {} to {}: {} in {}",
            found.old,
            found.new,
            plural(places, "place"),
            plural(files, "file")
        ),
        warnings,
        files: edits
            .into_iter()
            .map(|edit| FileChange {
                path: edit.path,
                base_hash: edit.before.as_deref().map(sha256_hex),
                base: edit.before,
                proposed: edit.after,
            })
            .collect(),
        edited: false,
    }
}

/// Returns one JSON document: `{ old, new, entry: { type, name, path } | null, places: [PLACE], counts: { places, chosen, files }, hints, taken }`, a PLACE being
/// `{ id, path, line, column, start, end, kind, text, becomes, before, after, chosen, exempt, by_hand, reason }`.
#[expect(clippy::implicit_hasher, reason = "the one set of chosen places has the one hasher")]
pub fn rename_json(found: &Rename, chosen: &HashSet<String>) -> Value {
    let place = |p: &Place| {
        json!({
            "id": p.id, "path": p.path, "line": p.line, "column": p.column, "start": p.range.start, "end": p.range.end,
            "kind": p.kind, "text": p.text, "becomes": p.becomes, "before": p.before, "after": p.after,
            "chosen": chosen.contains(&p.id), "exempt": p.exempt, "by_hand": p.by_hand, "reason": p.doubt,
        })
    };
    let entry = found
        .entry
        .as_ref()
        .map(|(name, entry_type, path)| json!({ "type": entry_type, "name": name, "path": path }));
    let files: HashSet<&BookPath> =
        found.places.iter().filter(|p| chosen.contains(&p.id)).map(|p| &p.path).collect();
    json!({
        "old": found.old, "new": found.new, "entry": entry,
        "places": found.places.iter().map(place).collect::<Vec<_>>(),
        "counts": { "places": found.places.len(), "chosen": chosen.len(), "files": files.len() },
        "hints": found.hints, "taken": found.taken,
    })
}
