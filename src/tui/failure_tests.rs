//! What an author sees of a turn that goes wrong, and what she can do then.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use serde_json::json;

use super::msg::Msg;
use super::tests::Author;
use crate::agent::event::{TurnEvent, TurnEventKind};
use crate::agent::grounding::Grounded;
use crate::domain::conversation::{Failure, FailureKind, Lack};
use crate::domain::ids::TurnId;
use crate::providers::Retry;
use crate::workbench::Finished;

/// An author whose last question waits for a server.
fn waiting() -> (Author, TurnId) {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira Okafor?");
    let id = author.app.chat.turns[0].id.clone().unwrap();
    let again =
        crate::tui::conversation::TurnView::asked("first-time-reader".into(), "And now?".into(), None);
    author.app.chat.turns.push(again);
    let turn = TurnId::mint();
    let session = author.app.chat.session.clone().unwrap();
    author.happens(Msg::Began(turn.clone(), session));
    author.key(KeyCode::End);
    assert_ne!(id, turn);
    (author, turn)
}

fn event(turn: &TurnId, kind: TurnEventKind) -> Msg {
    Msg::Turn(Box::new(TurnEvent { turn: turn.clone(), kind }))
}

fn retry(wait: u64) -> TurnEventKind {
    let why = "example.org failed (500). Asking again in 3 seconds, attempt 2 of 4.".to_owned();
    TurnEventKind::Retry(Retry { why, attempt: 2, wait: Duration::from_secs(wait), left_out: 0 })
}

fn fails(author: &mut Author, kind: FailureKind) {
    let failure = Failure { kind, message: "No way there.".into(), hint: "Check the network.".into() };
    author.happens(Msg::Refused(failure));
    author.key(KeyCode::End);
}

#[test]
fn a_wait_is_counted_down_with_the_key_that_stops_it() {
    let (mut author, turn) = waiting();
    author.happens(event(&turn, retry(3)));
    author.sees_words("asks again in 3 s · Esc stops");
    author.sees_words("example.org failed (500)");
    author.waits(2);
    author.sees_words("asks again in 1 s · Esc stops");
    author.waits(1);
    assert!(!author.sees().contains("asks again in"), "{}", author.sees());
    author.sees_words("asking again");
    author.happens(event(&turn, TurnEventKind::Text("She is".into())));
    let screen = author.sees();
    assert!(screen.contains("She is") && !screen.contains("asking again"), "{screen}");
}

#[test]
fn a_turn_that_is_stopped_says_what_is_kept_only_where_something_is() {
    let (mut author, turn) = waiting();
    author.happens(event(&turn, retry(3)));
    author.happens(Msg::CancelledEarly);
    let screen = author.sees();
    assert!(screen.contains("⊘ stopped") && !screen.contains("what had arrived"), "{screen}");
    let (mut author, turn) = waiting();
    author.happens(event(&turn, TurnEventKind::Text("She is".into())));
    author.happens(Msg::CancelledEarly);
    author.sees_words("⊘ stopped; what had arrived is kept");
}

#[test]
fn a_retry_that_is_stopped_leaves_the_whole_answer_before_it() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.waits(6);
    let whole = author.app.chat.turns[0].raw.clone();
    super::update::update(&mut author.app, Msg::Run("retry"));
    author.app.chat.turns[0].event(TurnEventKind::Text("one two three four".into()));
    author.happens(Msg::CancelledEarly);
    let said = |author: &Author| author.app.chat.turns.iter().map(|t| t.raw.clone()).collect::<Vec<_>>();
    assert_eq!(said(&author), [whole, "one two three four".to_owned()]);
    author.happens(Msg::Run("retry"));
    assert_eq!(said(&author).len(), 1, "a whole answer takes the place of both");
}

#[test]
fn a_retry_without_a_word_leaves_the_whole_answer_before_it() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.waits(6);
    let whole = author.app.chat.turns[0].raw.clone();
    let session = author.app.chat.session.clone().unwrap();
    let retried = |author: &mut Author, lacks: Option<Lack>| {
        super::update::update(&mut author.app, Msg::Run("retry"));
        let replaces = author.app.chat.turns.last().unwrap().replaces.clone();
        let id = TurnId::mint();
        author.happens(Msg::Began(id.clone(), session.clone()));
        let kept = json!({
            "id": id, "asked_at": "", "persona": "", "provider": "", "model": "", "question": "Who is Mira?",
            "answer": "[...]", "lacks": lacks, "replaces": replaces, "status": { "state": "done" },
        });
        let turn = serde_json::from_value(kept).unwrap();
        let grounded = Grounded::default();
        let finished = Finished { session: session.clone(), turn, grounded, is_stored: true, not_kept: None };
        author.happens(Msg::Finished(Box::new(finished)));
        author.app.chat.turns.iter().map(|t| t.raw.clone()).collect::<Vec<_>>()
    };
    assert_eq!(retried(&mut author, Some(Lack::Words)), [whole.as_str(), "[...]"]);
    assert_eq!(retried(&mut author, None), ["[...]"], "a whole answer takes the place of both");
}

#[test]
fn nothing_of_an_old_turn_appears_later() {
    let (mut author, turn) = waiting();
    let old = author.app.chat.turns[0].id.clone().unwrap();
    for id in [&old, &TurnId::mint()] {
        author.happens(event(id, TurnEventKind::Text("xyzzy".into())));
        author.happens(event(id, retry(60)));
    }
    let screen = author.sees();
    assert!(!screen.contains("xyzzy") && !screen.contains("asks again"), "{screen}");
    author.happens(event(&turn, TurnEventKind::Text("plugh".into())));
    author.sees_words("plugh");
}

#[test]
fn who_is_offline_asks_the_offline_reader_with_one_key() {
    let (mut author, _) = waiting();
    fails(&mut author, FailureKind::Unreachable);
    author.sees_words("Alt-O asks the offline reader instead");
    author.press(KeyCode::Char('o'), KeyModifiers::ALT);
    let turns = &author.app.chat.turns;
    assert_eq!(turns.len(), 3);
    assert_eq!((turns[2].question.as_str(), turns[2].provider.as_str()), ("And now?", "offline"));
    assert!(!author.app.chat.is_busy());
    author.types("Who is Adrian Vale?");
    author.press(KeyCode::Char('o'), KeyModifiers::ALT);
    assert_eq!(author.app.chat.turns[3].question, "Who is Adrian Vale?");
    assert!(author.app.chat.typed().is_empty());
}

#[test]
fn a_server_that_said_no_is_no_reason_to_offer_the_offline_reader() {
    let (mut author, turn) = waiting();
    author.happens(event(&turn, TurnEventKind::Text("Half a".into())));
    fails(&mut author, FailureKind::Provider);
    author.sees_words("the answer breaks off here");
    author.sees_words("Half a");
    assert!(!author.sees().contains("asks the offline reader"));
}
