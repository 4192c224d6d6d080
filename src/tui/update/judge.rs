//! Proposals on screen: opening one, going to the next, handing over what the author decided.

use std::time::Duration;

use crate::domain::ids::ProposalId;

use super::super::app::App;
use super::super::effect::Effect;
use super::super::msg::{Msg, Notice, Verdict};
use super::super::popups::Popup;
use super::super::popups::diff::DiffPopup;

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Judge(verdict) => return judge(app, verdict),
        Msg::Review(id) => review(app, &id),
        Msg::ReviewBeside(id, next) => review_beside(app, &id, next),
        _ => {}
    }
    vec![]
}

/// Hands a verdict over, unless it could harm what the author writes.
fn judge(app: &mut App, verdict: Verdict) -> Vec<Effect> {
    if let Some(why) = app.read_only.clone() {
        app.tell(Notice::problem(why));
        return vec![];
    }
    // An open document with unsaved changes in the same file would fight with what is written under it.
    let id = match &verdict {
        Verdict::Accept(id, _) | Verdict::Undo(id) | Verdict::Redo(id) => id,
        Verdict::Reject(..) | Verdict::Edit(..) => return vec![Effect::Judge(verdict)],
    };
    let unsaved = app.proposals.get(id).and_then(|q| {
        q.proposal.files.iter().find_map(|f| {
            app.documents.iter().find(|d| d.path == f.path && d.buffer.is_modified()).map(|d| d.path.clone())
        })
    });
    if let Some(path) = unsaved {
        app.tell(Notice::problem(format!("{path} has unsaved changes: save it first (Ctrl-S)")));
        return vec![];
    }
    vec![Effect::Judge(verdict)]
}

/// Opens the popups that wait until the author has stopped typing for a moment.
pub(super) fn open_waiting(app: &mut App) {
    if may_open_by_itself(app)
        && let Some(mut popup) = app.waiting.pop()
    {
        if let Popup::Confirm(confirm) = &mut popup {
            confirm.opened(app.now);
        }
        app.popups.push(popup);
    }
}

/// Whether a popup may open by itself: never over what the author types.
pub(super) fn may_open_by_itself(app: &App) -> bool {
    app.popups.is_empty() && app.typed_at.is_none_or(|at| app.now.duration_since(at) > Duration::from_secs(1))
}

/// Shows the popup of a proposal.
pub(super) fn review(app: &mut App, id: &ProposalId) {
    if let Some(queued) = app.proposals.get(id) {
        let place = app.queue.iter().position(|q| q == id).map_or((1, 1), |i| (i + 1, app.queue.len()));
        let popup = DiffPopup::new(queued.clone(), place, app.now);
        app.popups.push(Popup::Diff(Box::new(popup)));
    }
}

/// Shows the popup of the proposal after or before one, in place of its own.
fn review_beside(app: &mut App, id: &ProposalId, next: bool) {
    let Some(here) = app.queue.iter().position(|q| q == id) else { return };
    let beside = if next { here + 1 } else { here.wrapping_sub(1) };
    match app.queue.get(beside).cloned() {
        Some(other) => {
            app.popups.pop();
            review(app, &other);
        }
        None => app.tell(Notice::hint(if next {
            "This is the newest proposal."
        } else {
            "This is the oldest proposal."
        })),
    }
}
