//! Relationships on screen, and renaming: asking for the words, showing the places, doing it.

use super::super::app::App;
use super::super::codex::{Group, Row};
use super::super::effect::Effect;
use super::super::layout::Pane;
use super::super::msg::{Msg, Notice};
use super::super::popups::Popup;
use super::super::popups::field::Field;
use super::super::popups::graph::GraphPopup;
use super::super::popups::rename::RenamePopup;
use crate::domain::codex::Entry;
use crate::workbench::QueuedProposal;
use crate::workbench::rename::{Found, Renamed};

/// Longest selection that is taken for a name, in characters.
const LONGEST: usize = 80;

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Relationships(graph) => app.graph = graph,
        Msg::AskNewName(old) => ask_new_name(app, &old),
        Msg::Rename(old, new) => return find(app, old, new),
        Msg::RenameFound(found) => show(app, found),
        Msg::ShowRename(path, place) => {
            if let Some(Popup::Rename(popup)) = app.popups.pop() {
                app.parked = Some(popup);
            }
            let key = app.keymap.key_of("palette").unwrap_or_default();
            let mut effects = super::update(app, Msg::Show(path, Some(place)));
            effects.extend(super::commands::focus(app, Pane::Manuscript));
            app.tell(Notice::hint(format!(
                "The list waits: `rename` in the palette ({key}) shows it again."
            )));
            return effects;
        }
        Msg::Exempt(found, id) => {
            if let Some(why) = app.read_only.clone() {
                say(app, &why);
                return vec![];
            }
            return vec![Effect::Exempt(found, id)];
        }
        Msg::ApplyRename(found, chosen) => {
            if let Some(why) = refusal(app) {
                say(app, &why);
                return vec![];
            }
            if let Some(Popup::Rename(popup)) = app.popups.last_mut() {
                popup.wait();
            }
            return vec![Effect::Rename(found, chosen)];
        }
        Msg::Renamed(renamed) => return renamed_now(app, renamed),
        _ => {}
    }
    vec![]
}

/// Shows the relationships of the entry that the author looks at.
pub(super) fn relationships(app: &mut App) -> Vec<Effect> {
    let known = entry_here(app).map(|entry| (entry.name.clone(), entry.address()));
    let Some((name, address)) = known else {
        app.tell(Notice::hint("Choose an entry in the Codex, or put the cursor on a name."));
        return vec![];
    };
    match GraphPopup::of(&app.graph, &address) {
        Some(popup) => app.popups.push(Popup::Graph(popup)),
        None => app.tell(Notice::hint(format!(
            "No relationship of {name} is written down. Lines under `## Relationships` count, such as `- [[Name]]: sister`."
        ))),
    }
    vec![]
}

/// The entry that is selected in the Codex, or whose name is under the cursor.
fn entry_here(app: &App) -> Option<&Entry> {
    if app.focus == Pane::Codex {
        return match app.codex.rows.get(app.codex.selected)? {
            Row::Leaf { group: Group::Entries(_), index, .. } => app.book.entries.get(*index),
            _ => None,
        };
    }
    super::manuscript::entry_at_cursor(app).or_else(|| app.book.entry(&app.document()?.path))
}

/// Asks for the new name of what the author looks at, or shows the list again that she left.
pub(super) fn rename(app: &mut App) -> Vec<Effect> {
    if let Some(parked) = app.parked.take() {
        let (old, new) = parked.names();
        app.popups.push(Popup::Rename(parked));
        return vec![Effect::FindPlaces(old, new)];
    }
    let selected = app
        .document()
        .filter(|_| app.focus == Pane::Manuscript)
        .and_then(|d| d.buffer.selected_text())
        .filter(|words| !words.contains('\n') && (1..=LONGEST).contains(&words.trim().chars().count()));
    let old = selected.or_else(|| entry_here(app).map(|entry| entry.name.clone()));
    if let Some(old) = old {
        ask_new_name(app, old.trim());
    } else {
        let words = "A name of the Codex, or any words, as they stand in the book.";
        let field = Field::plain("Rename what?", words, |old| {
            let old = old.trim();
            if old.is_empty() { vec![] } else { vec![Msg::AskNewName(old.to_owned())] }
        })
        .verb("go on");
        app.popups.push(Popup::Field(field));
    }
    vec![]
}

fn ask_new_name(app: &mut App, old: &str) {
    let name = old.to_owned();
    let words = "The new name. Every place is shown before anything is changed.";
    let field = Field::plain(&format!("Rename {old}"), words, move |new| {
        let new = new.trim();
        if new.is_empty() { vec![] } else { vec![Msg::Rename(name, new.to_owned())] }
    })
    .verb("list the places");
    app.popups.push(Popup::Field(field));
}

fn find(app: &mut App, old: String, new: String) -> Vec<Effect> {
    if let Some(why) = unsaved(app) {
        app.tell(Notice::problem(why));
        return vec![];
    }
    app.tell(Notice::hint(format!("Looking for {old}…")));
    vec![Effect::FindPlaces(old, new)]
}

/// Why nothing may be written now.
fn refusal(app: &App) -> Option<String> {
    app.read_only.clone().or_else(|| unsaved(app))
}

/// Places come from the files: words that are in none yet would be missed, or lost.
fn unsaved(app: &App) -> Option<String> {
    let document = app.documents.iter().find(|d| d.buffer.is_modified())?;
    let key = app.keymap.key_of("save").unwrap_or_default();
    Some(format!("{} has unsaved changes: save it first ({key}), then rename.", document.path))
}

fn say(app: &mut App, words: &str) {
    match app.popups.last_mut() {
        Some(Popup::Rename(popup)) => popup.say(words),
        _ => app.tell(Notice::problem(words.to_owned())),
    }
}

fn show(app: &mut App, found: Result<Box<Found>, String>) {
    match found {
        Ok(found) => {
            app.notice = None;
            let open = app.popups.iter_mut().find_map(|popup| match popup {
                Popup::Rename(popup) => Some(popup),
                _ => None,
            });
            match open {
                Some(popup) if popup.is_of(&found) => popup.take(*found),
                Some(_) => {}
                None => app.popups.push(Popup::Rename(Box::new(RenamePopup::new(*found, app.now)))),
            }
        }
        Err(why) => say(app, &why),
    }
}

fn renamed_now(app: &mut App, renamed: Result<Box<Renamed>, String>) -> Vec<Effect> {
    match renamed {
        Ok(renamed) => {
            let queued: &QueuedProposal = &renamed.proposal;
            // From now on an undo knows its files.
            app.proposals.insert(queued.proposal.id.clone(), queued.clone());
            let words =
                format!("{}; undo with u here, or in the list of proposals.", queued.proposal.summary);
            if let Some(Popup::Rename(popup)) = app.popups.last_mut() {
                popup.renamed(&renamed);
            }
            app.tell(Notice::done(words));
        }
        Err(why) => say(app, &why),
    }
    vec![Effect::Refresh, Effect::ReadProposals]
}

/// Tells the list of places that its rename was undone or redone.
pub(super) fn judged(app: &mut App, queued: &QueuedProposal) {
    let lists = app.popups.iter_mut().filter_map(|popup| match popup {
        Popup::Rename(popup) => Some(popup),
        _ => None,
    });
    lists.chain(&mut app.parked).for_each(|popup| popup.judged(queued));
}
