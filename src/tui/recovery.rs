//! Keeps unsaved text where a crash can't reach it: every edit goes to an append-only log, in the background, as soon as it is made.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::domain::ids::BookPath;
use crate::workbench::{Edit, NotLogged, Recovered, RecoveryLog, Workbench};

use tokio::sync::mpsc::UnboundedSender;

use super::app::App;
use super::document::OpenDocument;
use super::msg::Msg;

/// How long what was typed waits for more. No edit may stay out of the log for a second.
const GATHER: Duration = Duration::from_millis(200);

/// The writer of the logs, on a thread of its own: the disk never stands between a key and its frame.
pub(super) struct Recovery {
    out: Option<Sender<Job>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

enum Job {
    /// What was typed.
    Edits(Typed),
    /// The document is saved, or its unsaved text was thrown away.
    Discard(BookPath),
    /// What an earlier run left behind was taken or thrown away.
    Drop(Recovered),
}

struct Typed {
    path: BookPath,
    /// Hash of the file that was opened.
    hash: Option<String>,
    /// The text that the first edit was made to, where it is not the file's own bytes.
    text: Option<String>,
    edits: Vec<Edit>,
}

impl Recovery {
    /// Starts the thread. `tell` gets what could not be written.
    pub(super) fn new(bench: Workbench, tell: UnboundedSender<Msg>) -> Self {
        let (out, jobs) = channel();
        let work = move || write(&bench, &jobs, &tell);
        let thread = std::thread::Builder::new().name("recovery".to_owned()).spawn(work).ok();
        Self { out: Some(out), thread }
    }

    /// Hands over what was typed since the last call. Costs nothing when nothing was.
    pub(super) fn note(&mut self, app: &mut App) {
        let Some(out) = &self.out else { return };
        let writable = app.read_only.is_none();
        for document in &mut app.documents {
            let changes = document.buffer.changes();
            let modified = document.buffer.is_modified();
            if document.thrown_away {
                let _ = out.send(Job::Discard(document.path.clone()));
            } else if !changes.is_empty() && modified && writable {
                let first = !document.logged || document.relog;
                let text = first.then(|| base_text(document, &changes)).flatten();
                document.relog = false;
                document.logged = true;
                let edits = changes
                    .into_iter()
                    .map(|e| Edit { at: e.at, removed: e.removed.len(), inserted: e.inserted })
                    .collect();
                let (path, hash) = (document.path.clone(), document.hash.clone());
                // The thread ends only with the program.
                let _ = out.send(Job::Edits(Typed { path, hash, text, edits }));
            } else if document.logged && !modified {
                document.logged = false;
                let _ = out.send(Job::Discard(document.path.clone()));
            }
        }
        // Last, so that what was restored is in a log of its own before.
        for recovered in app.forgotten.drain(..) {
            let _ = out.send(Job::Drop(recovered));
        }
    }
}

/// Returns the text that the first of some changes was made to, unless it is what the file holds: a file with carriage returns or a byte order
/// mark holds more, and after a failure of the log nothing but the text itself will do.
fn base_text(document: &OpenDocument, changes: &[crate::editor::Edit]) -> Option<String> {
    let buffer = &document.buffer;
    if buffer.to_file_offset(buffer.len()) == buffer.len() && !document.relog {
        return None;
    }
    let mut text = buffer.slice(0..buffer.len());
    for change in changes.iter().rev() {
        let end = change.at + change.inserted.len();
        if text.get(change.at..end) != Some(change.inserted.as_str()) {
            return None;
        }
        text.replace_range(change.at..end, &change.removed);
    }
    Some(text)
}

impl Drop for Recovery {
    fn drop(&mut self) {
        // What was handed over is on the disk before the program ends.
        self.out.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn write(bench: &Workbench, jobs: &Receiver<Job>, tell: &UnboundedSender<Msg>) {
    let mut logs: HashMap<BookPath, RecoveryLog> = HashMap::new();
    while let Ok(first) = jobs.recv() {
        // What is typed within a moment is written in one go: a disk should not be made to write with every key.
        let end = Instant::now() + GATHER;
        let more =
            std::iter::from_fn(|| jobs.recv_timeout(end.saturating_duration_since(Instant::now())).ok());
        let mut gathered: Vec<Typed> = vec![];
        let mut dropped = vec![];
        for job in std::iter::once(first).chain(more) {
            match job {
                Job::Edits(typed) => match gathered.iter_mut().rev().find(|t| t.path == typed.path) {
                    Some(last) if typed.text.is_none() => last.edits.extend(typed.edits),
                    Some(last) => *last = typed,
                    None => gathered.push(typed),
                },
                Job::Discard(path) => {
                    gathered.retain(|t| t.path != path);
                    if let Some(log) = logs.remove(&path) {
                        let _ = log.discard();
                    }
                }
                Job::Drop(recovered) => dropped.push(recovered),
            }
        }
        for typed in gathered {
            if let Err(why) = log(bench, &mut logs, &typed) {
                // A log with a gap would give back garbled words: a new one begins with the next edit.
                if let Some(broken) = logs.remove(&typed.path) {
                    let _ = broken.discard();
                }
                let _ = tell.send(match why {
                    NotLogged::HeldBy(holder) => Msg::HeldBy(holder.pid),
                    NotLogged::Io(why) => Msg::NotLogged(typed.path, why.to_string()),
                });
            }
        }
        for recovered in dropped {
            let _ = bench.discard_recovered(&recovered);
        }
    }
}

/// Appends what was typed to the document's log, which begins with the first edit and anew with a whole text.
fn log(bench: &Workbench, logs: &mut HashMap<BookPath, RecoveryLog>, typed: &Typed) -> Result<(), NotLogged> {
    if typed.text.is_some()
        && let Some(old) = logs.remove(&typed.path)
    {
        old.discard()?;
    }
    let log = match logs.entry(typed.path.clone()) {
        Entry::Occupied(open) => open.into_mut(),
        Entry::Vacant(free) => {
            free.insert(bench.recovery_log(&typed.path, typed.hash.as_deref(), typed.text.as_deref())?)
        }
    };
    Ok(log.append(&typed.edits)?)
}
