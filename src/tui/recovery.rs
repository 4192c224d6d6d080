//! Keeps unsaved text where a crash can't reach it: every edit goes to an append-only log, in the background, within a second.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::domain::ids::BookPath;
use crate::workbench::{Edit, RecoveryLog, Workbench};

use super::app::App;

/// The writer of the logs, on a thread of its own: an fsync never waits in the way of a key.
pub(super) struct Recovery {
    out: Option<Sender<Job>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

enum Job {
    Edits { path: BookPath, base: Option<String>, edits: Vec<Edit> },
    Discard(BookPath),
}

impl Recovery {
    pub(super) fn new(bench: Workbench) -> Self {
        let (out, jobs) = channel();
        let thread =
            std::thread::Builder::new().name("recovery".to_owned()).spawn(move || write(&bench, &jobs)).ok();
        Self { out: Some(out), thread }
    }

    /// Hands over what was typed since the last call. Costs nothing when nothing was.
    pub(super) fn note(&mut self, app: &mut App) {
        let Some(out) = &self.out else { return };
        let writable = app.read_only.is_none();
        for document in &mut app.documents {
            let edits = document.buffer.changes();
            let modified = document.buffer.is_modified();
            if !edits.is_empty() && modified && writable {
                document.logged = true;
                let edits = edits
                    .into_iter()
                    .map(|e| Edit { at: e.at, removed: e.removed.len(), inserted: e.inserted })
                    .collect();
                let (path, base) = (document.path.clone(), document.hash.clone());
                // The thread ends only with the program.
                let _ = out.send(Job::Edits { path, base, edits });
            } else if document.logged && !modified {
                document.logged = false;
                let _ = out.send(Job::Discard(document.path.clone()));
            }
        }
    }
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

fn write(bench: &Workbench, jobs: &Receiver<Job>) {
    let mut logs: HashMap<BookPath, RecoveryLog> = HashMap::new();
    while let Ok(first) = jobs.recv() {
        // What has piled up while the disk was busy is written in one go.
        let mut all = vec![first];
        all.extend(jobs.try_iter());
        let mut gathered: Vec<(BookPath, Option<String>, Vec<Edit>)> = vec![];
        for job in all {
            match job {
                Job::Edits { path, base, edits } => match gathered.last_mut() {
                    Some((last, _, more)) if *last == path => more.extend(edits),
                    _ => gathered.push((path, base, edits)),
                },
                Job::Discard(path) => {
                    gathered.retain(|(p, ..)| *p != path);
                    if let Some(log) = logs.remove(&path) {
                        let _ = log.discard();
                    }
                }
            }
        }
        for (path, base, edits) in gathered {
            if !logs.contains_key(&path) {
                let Ok(log) = bench.recovery_log(&path, base.as_deref()) else { continue };
                logs.insert(path.clone(), log);
            }
            if let Some(log) = logs.get_mut(&path) {
                let _ = log.append(&edits);
            }
        }
    }
}
