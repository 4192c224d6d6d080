//! Proposals on screen: opening one, going to the next, handing over what the author decided.

use std::time::Duration;

use crate::domain::ids::{BookPath, ProposalId};
use crate::proposal::Status;
use crate::workbench::QueuedProposal;

use super::super::app::App;
use super::super::effect::Effect;
use super::super::msg::{Beside, Msg, Notice, Verdict};
use super::super::popups::Popup;
use super::super::popups::diff::{DiffPopup, Marks, Place};
use super::super::popups::evidence::EvidencePopup;
use super::super::turn_lines::count;

/// Proposals that are named where many are meant.
const NAMED: usize = 5;

/// How long the author has not typed before a popup opens by itself.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Judge(verdict) => return judge(app, verdict),
        Msg::Review(id) => return review(app, &id),
        Msg::ReviewBeside(id, beside) => return review_beside(app, &id, beside),
        Msg::Compared(id, compared) => {
            if let Some(popup) = open_popup(app, &id) {
                match compared {
                    Ok(compared) => popup.show(*compared),
                    Err(why) => popup.say(&why),
                }
            }
        }
        Msg::Evidence(Some(evidence)) => {
            app.popups.push(Popup::Evidence(Box::new(EvidencePopup::new(*evidence))));
        }
        Msg::Evidence(None) => app.tell(Notice::problem("What led to this proposal can't be read.")),
        Msg::CloseProposal => {
            if matches!(app.popups.last(), Some(Popup::Diff(_))) {
                close_top(app);
            }
        }
        Msg::Proposals(all) => {
            app.queue = all.iter().map(|q| q.proposal.id.clone()).collect();
            app.proposals = all.into_iter().map(|q| (q.proposal.id.clone(), q)).collect();
            app.touch_cards();
            return look_again(app);
        }
        Msg::Judged(id, verb, result) => return judged(app, &id, verb, result),
        Msg::AcceptedAll(done, stopped) => return accepted_all(app, done, stopped),
        _ => {}
    }
    vec![]
}

/// Hands a verdict over, unless it could harm what the author writes.
fn judge(app: &mut App, verdict: Verdict) -> Vec<Effect> {
    if let Some(why) = app.read_only.clone() {
        refuse(app, &why);
        return vec![];
    }
    // An open document with unsaved changes in the same file would fight with what is written under it.
    let writes: Vec<&ProposalId> = match &verdict {
        Verdict::Accept(id, ..) | Verdict::Settle(id, ..) | Verdict::Undo(id) | Verdict::Redo(id) => vec![id],
        Verdict::AcceptAll(all) => all.iter().map(|(id, ..)| id).collect(),
        Verdict::Reject(..) | Verdict::Edit(..) | Verdict::Resolve(..) => vec![],
    };
    if let Some(path) = writes.into_iter().find_map(|id| unsaved_file(app, id)) {
        let save = app.keymap.key_of("save").unwrap_or_default();
        refuse(app, &format!("{path} has unsaved changes: save it first ({save})"));
        return vec![];
    }
    if let Verdict::Accept(id, ..)
    | Verdict::Settle(id, ..)
    | Verdict::Reject(id, _)
    | Verdict::Undo(id)
    | Verdict::Redo(id) = &verdict
        && !app.judging.insert(id.clone())
    {
        return vec![];
    }
    vec![Effect::Judge(verdict)]
}

/// A file of a proposal that has unsaved changes in the editor.
fn unsaved_file(app: &App, id: &ProposalId) -> Option<BookPath> {
    let queued = app.proposals.get(id)?;
    let unsaved = |path: &BookPath| app.documents.iter().any(|d| d.path == *path && d.buffer.is_modified());
    queued.proposal.files.iter().map(|f| &f.path).find(|path| unsaved(path)).cloned()
}

/// Says why something was not done, where the author looks.
fn refuse(app: &mut App, why: &str) {
    if let Some(Popup::Diff(popup)) = app.popups.last_mut() {
        popup.say(why);
    }
    app.tell(Notice::problem(why));
}

/// Opens the questions that wait until the author has stopped typing for a moment. A proposal never opens by itself: its card tells of
/// it, and a letter that is meant for the chat must not decide anything.
pub(super) fn open_waiting(app: &mut App) {
    if !may_open_by_itself(app) {
        return;
    }
    if let Some(mut popup) = app.waiting.pop() {
        if let Popup::Confirm(confirm) = &mut popup {
            confirm.opened(app.now);
        }
        app.popups.push(popup);
    }
}

/// Whether a popup may open by itself: never over what the author types.
pub(super) fn may_open_by_itself(app: &App) -> bool {
    app.popups.is_empty() && app.typed_at.is_none_or(|at| app.now.duration_since(at) > PAUSE)
}

/// A turn has made proposals: the author is told which key shows them.
pub(super) fn proposed(app: &mut App, made: &[ProposalId]) {
    if !made.is_empty() && may_open_by_itself(app) && app.read_only.is_none() {
        let key = app.keymap.keys_of("next-proposal");
        app.tell(Notice::hint(format!("A change was proposed: {key} shows it.")));
    }
}

/// Shows the popup of a proposal.
pub(super) fn review(app: &mut App, id: &ProposalId) -> Vec<Effect> {
    if !app.popups.iter().any(|popup| matches!(popup, Popup::Diff(_))) {
        app.sitting = in_order(app);
    }
    show(app, id)
}

/// The queue as it is gone through: what waits first, oldest first, then what was decided, newest first.
fn in_order(app: &App) -> Vec<ProposalId> {
    let waits = |id: &&ProposalId| app.proposals.get(*id).is_some_and(is_open);
    let (open, decided): (Vec<&ProposalId>, Vec<&ProposalId>) = app.queue.iter().partition(waits);
    open.into_iter().chain(decided.into_iter().rev()).cloned().collect()
}

fn is_open(queued: &QueuedProposal) -> bool {
    matches!(queued.status, Status::Pending | Status::Stale)
}

fn show(app: &mut App, id: &ProposalId) -> Vec<Effect> {
    let Some(queued) = app.proposals.get(id).cloned() else { return vec![] };
    let place = place_of(app, id);
    let marks = app.marks.remove(id).unwrap_or_default();
    let popup = DiffPopup::new(queued, place, marks, app.diff_look, app.now);
    app.popups.push(Popup::Diff(Box::new(popup)));
    vec![Effect::Compare(id.clone())]
}

fn place_of(app: &App, id: &ProposalId) -> Place {
    let state = |id: &ProposalId| app.proposals.get(id).map_or(Status::Pending, |q| q.status);
    let at = app.sitting.iter().position(|other| other == id);
    match at {
        Some(at) => Place { at: at + 1, states: app.sitting.iter().map(state).collect() },
        None => Place { at: 1, states: vec![state(id)] },
    }
}

/// Shows the popup of another proposal in place of one.
fn review_beside(app: &mut App, id: &ProposalId, beside: Beside) -> Vec<Effect> {
    let new: Vec<ProposalId> = app.queue.iter().filter(|id| !app.sitting.contains(id)).cloned().collect();
    app.sitting.extend(new);
    let Some(here) = app.sitting.iter().position(|other| other == id) else { return vec![] };
    let (before, from_here) = app.sitting.split_at(here);
    let after = &from_here[1..];
    let waits = |id: &&ProposalId| app.proposals.get(*id).is_some_and(is_open);
    let other = match beside {
        Beside::Next => after.first(),
        Beside::Previous => before.last(),
        // One that was passed over comes again after the last.
        Beside::Waiting => after.iter().chain(before).find(waits),
    };
    if let Some(other) = other.cloned() {
        close_top(app);
        return show(app, &other);
    }
    let words = match (beside, app.sitting.len()) {
        (Beside::Waiting, _) if app.proposals.get(id).is_some_and(is_open) => "No other proposal waits.",
        (Beside::Waiting, _) => "No proposal waits any more.",
        (_, 1) => "This is the only proposal.",
        (Beside::Next, _) => "This is the last proposal.",
        (Beside::Previous, _) => "This is the first proposal.",
    };
    app.tell(Notice::hint(words));
    vec![]
}

/// Takes the popup on top away, and keeps what the author did in it.
pub(super) fn close_top(app: &mut App) {
    if let Some(Popup::Diff(popup)) = app.popups.pop() {
        app.diff_look = popup.look();
        app.marks.insert(popup.id().clone(), popup.into_marks());
    }
}

/// The popup of a proposal, wherever it lies.
fn open_popup<'a>(app: &'a mut App, id: &ProposalId) -> Option<&'a mut DiffPopup> {
    app.popups.iter_mut().find_map(|popup| match popup {
        Popup::Diff(popup) if popup.id() == id => Some(popup.as_mut()),
        _ => None,
    })
}

/// The popup of a proposal that is open, wherever it lies.
fn any_popup(app: &mut App) -> Option<&mut DiffPopup> {
    app.popups.iter_mut().find_map(|popup| match popup {
        Popup::Diff(popup) => Some(popup.as_mut()),
        _ => None,
    })
}

/// The queue or the files may be others than before: what is open is brought up to date.
fn look_again(app: &mut App) -> Vec<Effect> {
    let Some(id) = any_popup(app).map(|popup| popup.id().clone()) else { return vec![] };
    let (place, queued) = (place_of(app, &id), app.proposals.get(&id).cloned());
    let Some(popup) = open_popup(app, &id) else { return vec![] };
    popup.set_place(place);
    let Some(queued) = queued else { return vec![] };
    let waits = is_open(&queued);
    if !popup.is_as(&queued) {
        popup.refresh(queued);
    }
    // What was decided stays as it was shown.
    if waits { vec![Effect::Compare(id)] } else { vec![] }
}

fn judged(
    app: &mut App,
    id: &ProposalId,
    verb: &'static str,
    result: Result<Box<QueuedProposal>, String>,
) -> Vec<Effect> {
    app.keeping = app.keeping.saturating_sub(1);
    app.judging.remove(id);
    match result {
        Ok(queued) => {
            let words = format!("{verb}: {}", queued.proposal.summary);
            let compare = is_open(&queued);
            app.proposals.insert(id.clone(), (*queued).clone());
            super::relate::judged(app, &queued);
            let place = place_of(app, id);
            if let Some(popup) = open_popup(app, id) {
                popup.set_place(place);
                popup.refresh(*queued);
            }
            app.touch_cards();
            app.tell(Notice::done(words));
            if app.quitting && super::documents::all_is_kept(app) {
                return vec![Effect::Quit];
            }
            let mut effects = vec![Effect::Refresh, Effect::ReadProposals];
            // What was decided stays as it was shown.
            effects.extend(compare.then(|| Effect::Compare(id.clone())));
            effects
        }
        Err(why) => {
            app.quitting = false;
            if let Some(popup) = open_popup(app, id) {
                popup.say(&why);
            }
            app.tell(Notice::problem(why));
            // The files may be others than they were when this was compared.
            vec![Effect::ReadProposals, Effect::Compare(id.clone())]
        }
    }
}

/// Accepts everything that waits, once all of it was read to its end.
pub(super) fn accept_all(app: &mut App) -> Vec<Effect> {
    keep_marks(app);
    let waiting: Vec<ProposalId> =
        app.queue.iter().filter(|id| app.proposals.get(*id).is_some_and(is_open)).cloned().collect();
    if waiting.is_empty() {
        app.tell(Notice::hint("There is no pending proposal."));
        return vec![];
    }
    let unread = |id: &&ProposalId| !app.marks.get(*id).is_some_and(Marks::seen_to_the_end);
    let unread: Vec<ProposalId> = waiting.iter().filter(unread).cloned().collect();
    if let Some(first) = unread.first() {
        let names = unread.iter().filter_map(|id| Some(app.proposals.get(id)?.proposal.entry.as_str()));
        let mut names: Vec<&str> = names.take(NAMED).collect();
        if unread.len() > NAMED {
            names.push("…");
        }
        let words = format!(
            "Nothing was accepted: {} of {} not read to the end yet ({}). This is the first.",
            unread.len(),
            count(waiting.len(), "proposal"),
            names.join(", ")
        );
        return go_to(app, first, &words);
    }
    let edited = waiting.iter().find(|id| app.marks.get(*id).is_some_and(Marks::has_drafts));
    if let Some(id) = edited.cloned() {
        return go_to(app, &id, "Nothing was accepted: an edit of yours is not kept yet.");
    }
    let all = waiting.iter().filter_map(|id| {
        let marks = app.marks.get(id)?;
        Some((id.clone(), marks.applied().to_vec(), marks.stamp().to_owned()))
    });
    let all = all.collect();
    return_marks(app);
    judge(app, Verdict::AcceptAll(all))
}

/// Shows a proposal with words about it.
fn go_to(app: &mut App, id: &ProposalId, words: &str) -> Vec<Effect> {
    let here = any_popup(app).is_some_and(|popup| popup.id() == id);
    let mut effects = vec![];
    if here {
        return_marks(app);
    } else {
        while any_popup(app).is_some() {
            close_top(app);
        }
        effects = review(app, id);
    }
    if let Some(popup) = open_popup(app, id) {
        popup.say(words);
    }
    app.tell(Notice::problem(words));
    effects
}

fn accepted_all(
    app: &mut App,
    done: Vec<QueuedProposal>,
    stopped: Option<(ProposalId, String)>,
) -> Vec<Effect> {
    let applied = done.len();
    for queued in done {
        let id = queued.proposal.id.clone();
        app.proposals.insert(id.clone(), queued.clone());
        if let Some(popup) = open_popup(app, &id) {
            popup.refresh(queued);
        }
    }
    app.touch_cards();
    let mut effects = vec![Effect::Refresh, Effect::ReadProposals];
    match stopped {
        None => {
            let words = format!("Applied {}. Each can be undone by itself.", count(applied, "proposal"));
            app.tell(Notice::done(words));
        }
        Some((id, why)) => {
            let entry = app.proposals.get(&id).map_or("", |q| q.proposal.entry.as_str());
            let words = format!("Applied {}, then stopped at {entry}: {why}", count(applied, "proposal"));
            effects.extend(go_to(app, &id, &words));
            effects.push(Effect::Compare(id));
        }
    }
    if let Some(id) = any_popup(app).map(|popup| popup.id().clone()) {
        let place = place_of(app, &id);
        if let Some(popup) = open_popup(app, &id) {
            popup.set_place(place);
        }
    }
    effects
}

/// Takes the marks out of the popup that is open, so that all are in one place.
fn keep_marks(app: &mut App) {
    if let Some((id, marks)) = any_popup(app).map(|popup| (popup.id().clone(), popup.take_marks())) {
        app.marks.insert(id, marks);
    }
}

/// Gives the marks back to the popup that is open.
fn return_marks(app: &mut App) {
    if let Some(id) = any_popup(app).map(|popup| popup.id().clone())
        && let Some(marks) = app.marks.remove(&id)
        && let Some(popup) = open_popup(app, &id)
    {
        popup.return_marks(marks);
    }
}

/// What keeps the edits of proposals that were not kept, with the entries that they are about.
pub(super) fn unkept(app: &mut App) -> Vec<(String, Vec<Verdict>)> {
    keep_marks(app);
    let entry =
        |id: &ProposalId| app.proposals.get(id).map_or_else(String::new, |q| q.proposal.entry.clone());
    let all = app.marks.iter().filter(|(_, marks)| marks.has_drafts());
    let all = all.map(|(id, marks)| (entry(id), marks.keeping(id))).collect();
    return_marks(app);
    all
}

/// Asks for what led to the proposal that is open.
pub(super) fn evidence(app: &mut App) -> Vec<Effect> {
    let Some(popup) = any_popup(app) else {
        app.tell(Notice::hint("No proposal is open."));
        return vec![];
    };
    vec![Effect::Evidence(popup.id().clone())]
}
