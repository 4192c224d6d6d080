//! What is asked of conversations: reading, listing, searching and changing them.

use std::path::Path;

use tokio::sync::mpsc::UnboundedSender;

use crate::agent::grounding::{Grounded, hide_markers};
use crate::domain::conversation::Turn;
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::workbench::{Ask, Finished, Format, Resumed, SessionError, Summary, Workbench};

use super::super::effect::Effect;
use super::super::msg::{Msg, Notice, Opened, SessionVerb};
use super::super::popups::Popup;
use super::super::popups::chooser::{Chooser, Item};
use super::super::popups::conversations::PASSAGES;
use super::super::when::day;
use super::{send, sentence};

/// Turns of a conversation whose quotes are checked before it is shown.
const CHECKED: usize = 8;

/// Does one piece of work with conversations. `None`: there is nothing to tell.
pub(super) fn done(bench: &Workbench, effect: Effect, out: &UnboundedSender<Msg>) -> Option<Msg> {
    Some(match effect {
        Effect::ListConversations => Msg::Past(bench.conversations()),
        Effect::ListDeleted => deleted(bench),
        Effect::SearchConversations(query) => {
            let found = bench.search_conversations(&query, PASSAGES + 1).unwrap_or_default();
            Msg::Passages(query, found)
        }
        Effect::Session(verb) => {
            let done = session(bench, &verb).map_err(|why| sentence(&why));
            send(out, Msg::Past(bench.conversations()));
            Msg::SessionDone(verb, done)
        }
        Effect::ReadConversation(session) => {
            let session = session.or_else(|| bench.last_session())?;
            bench.settle_spending();
            match bench.resume(&session) {
                Ok(resumed) => Msg::Conversation(Box::new(conversation(bench, session, resumed))),
                Err(error) => Msg::CantGoOn(session, why_not(&error), None),
            }
        }
        // One that is gone is told of with the next question.
        Effect::CatchUp(session) => {
            let resumed = Box::new(bench.resume(&session).ok()?);
            Msg::CaughtUp(session, resumed)
        }
        Effect::CheckQuotes(session, turns) => {
            let check =
                |(id, answer, read): (TurnId, String, Vec<BookPath>)| (id, bench.check(&answer, &read));
            Msg::QuotesChecked(session, turns.into_iter().map(check).collect())
        }
        _ => return None,
    })
}

/// Reads an earlier conversation. The quotes of its last turns are checked against the book as it is now; of a long one the others are shown
/// before that.
fn conversation(bench: &Workbench, session: SessionId, resumed: Resumed) -> Opened {
    let Resumed { turns, usage, unread, .. } = resumed;
    let unchecked = turns.len().saturating_sub(CHECKED);
    let kept = |(at, turn): (usize, Turn)| {
        let grounded = if at < unchecked {
            Grounded { shown: hide_markers(&turn.answer), ..Grounded::default() }
        } else {
            bench.ground(&turn, None)
        };
        Finished { session: session.clone(), turn, grounded, is_stored: true, not_kept: None }
    };
    let turns = turns.into_iter().enumerate().map(kept).collect();
    Opened { session, turns, unchecked, usage, unread }
}

/// Returns what is to be told where a question can't be asked, since its conversation can't be gone on with; `None`: it was something else.
pub(super) fn stranded(bench: &Workbench, ask: &Ask) -> Option<Msg> {
    let session = ask.session.as_ref()?;
    let error = bench.resume(session).err()?;
    Some(Msg::CantGoOn(session.clone(), why_not(&error), Some(Box::new(ask.clone()))))
}

/// Why a conversation can't be gone on with, and what to do.
fn why_not(error: &SessionError) -> String {
    match error {
        SessionError::Unknown(_) => "This conversation is not there any more: somebody has deleted it. \"Bring a deleted conversation back\" in the palette may bring it back.".to_owned(),
        SessionError::Later(_) => "This conversation was written by a later version of Scritorio. Update Scritorio to go on with it; its file stays as it is.".to_owned(),
        SessionError::Damaged(_) => "Nothing of this conversation can be read: its file is damaged, and stays as it is.".to_owned(),
        other => sentence(other),
    }
}

/// Offers the deleted conversations.
fn deleted(bench: &Workbench) -> Msg {
    let item = |summary: Summary| {
        let detail = day(&summary.last_at);
        Item::new(&summary.title, &detail, Msg::Session(SessionVerb::Restore(summary.session)))
    };
    let items: Vec<Item> = bench.deleted_conversations().into_iter().map(item).collect();
    if items.is_empty() {
        return Msg::Notice(Notice::hint("No conversation was deleted."));
    }
    Msg::Popup(Box::new(Popup::Chooser(Chooser::new("Bring a conversation back", items))))
}

/// Does something with a conversation. Returns what to tell, and the conversation to go on with.
fn session(bench: &Workbench, verb: &SessionVerb) -> Result<(String, Option<SessionId>), SessionError> {
    match verb {
        SessionVerb::Rename(session, title) => {
            let summary = bench.rename_conversation(session, title)?;
            Ok((format!("The conversation is called \"{}\" now.", summary.title), None))
        }
        SessionVerb::Fork(session, after) => {
            let fork = bench.fork_conversation(session, after.as_ref(), None)?;
            Ok((format!("You are in \"{}\"; the other stays as it is.", fork.title), Some(fork.session)))
        }
        SessionVerb::Delete(session, for_ever) => {
            bench.delete_conversation(session, *for_ever)?;
            let back = "Deleted. \"Bring a deleted conversation back\" in the palette undoes it.";
            Ok((if *for_ever { "Deleted for ever." } else { back }.to_owned(), None))
        }
        SessionVerb::Restore(session) => {
            let summary = bench.restore_conversation(session)?;
            Ok((format!("\"{}\" is back.", summary.title), Some(summary.session)))
        }
        SessionVerb::Export(session, file) => {
            let is_json =
                Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
            let format = if is_json { Format::Json } else { Format::Markdown };
            let beside = bench.root().parent().unwrap_or(bench.root());
            let file = beside.join(file);
            bench.export_conversation(session, format, &file, false)?;
            Ok((format!("Written to {}.", file.display()), None))
        }
    }
}
