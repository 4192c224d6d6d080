//! Conversations on screen: the list of all of them, searching, and going another way from a message.

use crossterm::event::{KeyCode, KeyModifiers};
use serde_json::json;

use super::conversation::State;
use super::msg::{Msg, SessionVerb};
use super::popups::Popup;
use super::tests::Author;
use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::ids::SessionId;

/// Questions and answers of an earlier day; noon, so that it is the same day in most places.
fn talked(author: &mut Author, id: &str, day: u32, said: &[(&str, &str)]) {
    let mut text = String::new();
    for (n, (question, answer)) in said.iter().enumerate() {
        let at = format!("2025-11-{day}T12:{n:02}:00.000Z");
        let turn = json!({
            "id": format!("t-{id}-{n}"), "asked_at": at, "persona": "continuity-editor", "provider": "offline",
            "model": "offline", "question": question, "answer": answer, "status": { "state": "done" },
            "usage": { "input_tokens": 900, "output_tokens": 334, "cost": 0.0125 },
        });
        let line = json!({ "v": 1, "id": turn["id"], "at": at, "event": "ended", "kept": { "turn": turn } });
        text.push_str(&format!("{line}\n"));
    }
    let folder = author.bench.root().join(".scritorio/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    author.happens_effect(super::effect::Effect::ListConversations);
}

fn with_three(width: u16, height: u16) -> Author {
    let mut author = Author::at(width, height);
    talked(&mut author, "s-1", 14, &[("Who keeps the log of the station?", "Ilse Søndergaard keeps it.")]);
    talked(
        &mut author,
        "s-2",
        15,
        &[
            ("Is the eclipse on the right day?", "It is, in chapter 3."),
            ("And the second one?", "There is no second one."),
        ],
    );
    talked(&mut author, "s-3", 16, &[("Does Mira know about the relay?", "Not before chapter 5.")]);
    author
}

#[test]
fn what_was_said_is_found_without_the_marks_of_markdown() {
    let mut author = Author::at(120, 40);
    let answer = "## Who\n\n- **Ilse** Søndergaard keeps `the log`, says *she*.";
    talked(&mut author, "s-1", 14, &[("Who keeps it?", answer)]);
    author.press(KeyCode::Char('c'), KeyModifiers::ALT);
    author.key(KeyCode::Tab);
    author.types("keeps the log");
    author.sees_words("Continuity Editor: Who Ilse Søndergaard keeps the log, says she.");
}

fn questions(author: &Author) -> Vec<&str> {
    author.app.chat.turns.iter().map(|turn| turn.question.as_str()).collect()
}

fn session(author: &Author) -> Option<&str> {
    author.app.chat.session.as_ref().map(SessionId::as_str)
}

/// Opens a conversation and shows it. Returns what is asked for then.
fn opens(author: &mut Author, id: &str) -> Vec<super::effect::Effect> {
    let read = super::update::update(&mut author.app, Msg::GoOnWith(SessionId::new(id), None));
    let (out, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    super::work::quietly(&author.bench, read.into_iter().next().unwrap(), &out);
    let effects = super::update::update(&mut author.app, inbox.try_recv().unwrap());
    author.lay_out();
    effects
}

#[test]
fn all_conversations_at_every_size() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"(1[456]) Nov 2025, \d\d:\d\d", "$1 Nov 2025, 12:00");
        settings.add_filter(r"1[456] November 2025 at \d\d:\d\d", "15 November 2025 at 12:00");
        let _bound = settings.bind_to_scope();
        let mut author = with_three(width, height);
        author.press(KeyCode::Char('c'), KeyModifiers::ALT);
        author.key(KeyCode::Down);
        insta::assert_snapshot!(format!("conversations_{width}x{height}"), author.sees());
        author.key(KeyCode::Tab);
        author.types("sondergaard");
        insta::assert_snapshot!(format!("conversations_search_{width}x{height}"), author.sees());
        author.key(KeyCode::Esc);
        assert!(author.app.popups.is_empty());
    }
}

#[test]
fn the_list_fits_on_every_screen() {
    for (width, height) in [(40, 10), (47, 11), (60, 20), (300, 80)] {
        let mut author = with_three(width, height);
        author.happens(Msg::Run("conversations"));
        author.sees_words("Conversations");
        author.key(KeyCode::Tab);
        author.types("relay");
        author.sees_words("Search all");
    }
}

#[test]
fn a_conversation_is_narrowed_by_typing_and_gone_on_with() {
    let mut author = with_three(120, 40);
    author.happens(Msg::Run("conversations"));
    author.types("eclipse");
    author.key(KeyCode::Enter);
    assert!(author.app.popups.is_empty());
    assert_eq!((session(&author), questions(&author).len()), (Some("s-2"), 2));
    author.asks("Which characters are there?");
    assert_eq!(author.bench.turns(&SessionId::new("s-2")).len(), 3);
}

#[test]
fn what_was_said_is_found_and_opened_at_its_message() {
    let mut author = with_three(120, 40);
    let answer = "A long answer about the station and its lamps.\n\n".repeat(30);
    let said: Vec<(&str, &str)> = (0..40)
        .map(|n| (if n == 7 { "Where is the zébra?" } else { "And then?" }, answer.as_str()))
        .collect();
    talked(&mut author, "s-9", 17, &said);
    author.happens(Msg::Run("search-conversations"));
    author.types("ZEBRA");
    author.sees_words("You: Where is the zébra?");
    author.key(KeyCode::Enter);
    assert_eq!(session(&author), Some("s-9"));
    author.sees_words("Where is the zébra?");
    assert_eq!(author.app.chat.walked_to().map(|(turn, _)| turn), Some(7));
}

#[test]
fn a_name_is_given_and_seen_at_once() {
    let mut author = with_three(120, 40);
    author.happens(Msg::Run("conversations"));
    author.control('r');
    author.sees_words("Name of the conversation");
    for _ in 0..60 {
        author.key(KeyCode::Backspace);
    }
    author.types("The relay");
    author.key(KeyCode::Enter);
    author.sees_words("▸ The relay");
    author.sees_words("is called \"The relay\" now");
}

#[test]
fn deleting_asks_and_can_be_taken_back() {
    let mut author = with_three(120, 40);
    author.happens(Msg::GoOnWith(SessionId::new("s-3"), None));
    author.happens(Msg::Run("conversations"));
    author.control('d');
    author.sees_words("Delete a conversation");
    author.happens(Msg::Paste("d".into()));
    author.types("dd");
    author.moment();
    assert_eq!(author.app.past.len(), 3, "a paste and what comes in a row decide nothing");
    author.decides('d');
    assert_eq!(author.app.past.len(), 2);
    assert_eq!((session(&author), questions(&author).len()), (None, 0), "the pane is empty");
    author.key(KeyCode::Esc);
    author.happens(Msg::Run("restore-conversation"));
    author.sees_words("Does Mira know about the relay?");
    author.key(KeyCode::Enter);
    assert_eq!((session(&author), author.app.past.len()), (Some("s-3"), 3));
}

#[test]
fn a_conversation_is_written_beside_the_book() {
    let mut author = with_three(120, 40);
    author.happens(Msg::Run("conversations"));
    author.control('e');
    author.sees_words("does-mira-know-about-the-relay.md");
    author.key(KeyCode::Enter);
    let file = author.bench.root().parent().unwrap().join("does-mira-know-about-the-relay.md");
    assert!(std::fs::read_to_string(file).unwrap().contains("Not before chapter 5."));
    author.control('e');
    author.key(KeyCode::Enter);
    author.sees_words("is there already");
}

#[test]
fn a_fork_goes_on_from_the_message_at_hand() {
    let mut author = with_three(120, 40);
    author.happens(Msg::GoOnWith(SessionId::new("s-2"), None));
    author.key(KeyCode::F(3));
    author.key(KeyCode::Tab);
    while author.app.chat.walked_to().is_some_and(|(turn, _)| turn != 0) {
        author.key(KeyCode::Up);
    }
    author.key(KeyCode::Char('f'));
    assert_eq!(questions(&author), ["Is the eclipse on the right day?"]);
    assert_ne!(session(&author), Some("s-2"));
    author.sees_words("(fork)");
    author.asks("Which characters are there?");
    assert_eq!(author.bench.turns(&SessionId::new("s-2")).len(), 2, "the other is as it was");
}

#[test]
fn the_last_question_is_edited_and_takes_its_own_place() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.asks("Which characters are there?");
    author.waits(6);
    author.key(KeyCode::Tab);
    author.key(KeyCode::Char('e'));
    author.sees_words("sends it instead");
    author.types(" And places?");
    author.key(KeyCode::Enter);
    assert_eq!(questions(&author), ["Who is Mira?", "Which characters are there? And places?"]);
    let id = author.app.chat.session.clone().unwrap();
    let kept: Vec<_> = author.bench.turns(&id).into_iter().map(|turn| turn.question).collect();
    assert_eq!(kept, ["Who is Mira?", "Which characters are there? And places?"]);
    assert_eq!(author.bench.transcript(&id).unwrap().replaced.len(), 1);
}

#[test]
fn escape_leaves_the_question_as_it_was() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.waits(6);
    author.key(KeyCode::Tab);
    author.key(KeyCode::Char('e'));
    author.types("x");
    author.key(KeyCode::Esc);
    assert!(author.app.chat.input.is_empty() && !author.app.chat.editing);
    author.asks("Which characters are there?");
    assert_eq!(questions(&author).len(), 2);
}

#[test]
fn what_was_typed_is_never_lost_to_editing() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.types("half a thought");
    author.happens(Msg::Run("edit-last"));
    assert_eq!(author.app.chat.typed(), "half a thought");
    author.sees_words("Send or clear what you have typed first");
}

#[test]
fn a_retry_that_fails_brings_the_answer_back_and_the_next_one_takes_its_place() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira?");
    author.waits(6);
    let first = author.app.chat.turns[0].id.clone();
    let again = |author: &mut Author| super::update::update(&mut author.app, Msg::Run("retry"));
    assert_eq!(again(&mut author).len(), 1);
    assert_eq!(author.app.chat.turns.len(), 1, "it stands in the place of the other");
    let failure =
        Failure { kind: FailureKind::Provider, message: "No network.".into(), hint: "Wait.".into() };
    author.happens(Msg::Refused(failure));
    let states: Vec<_> = author.app.chat.turns.iter().map(|t| matches!(t.state, State::Done)).collect();
    assert_eq!(states, [true, false], "the answer is back, and the failure is told");
    author.happens(Msg::Run("retry"));
    assert_eq!(author.app.chat.turns.len(), 1);
    assert_eq!(author.app.chat.turns[0].replaces, first);
    let id = author.app.chat.session.clone().unwrap();
    assert_eq!(author.bench.turns(&id).len(), 1);
}

#[test]
fn a_conversation_with_a_running_turn_is_not_deleted() {
    let mut author = with_three(120, 40);
    author.happens(Msg::GoOnWith(SessionId::new("s-3"), None));
    author.app.chat.sending = true;
    let verb = SessionVerb::Delete(SessionId::new("s-3"), false);
    assert!(super::update::update(&mut author.app, Msg::Session(verb)).is_empty());
    author.sees_words("A turn is running");
}

#[test]
fn a_long_conversation_is_laid_out_where_the_author_looks_and_then_elsewhere() {
    let mut author = Author::at(120, 40);
    let answer = "## What I see\n\nA *point* about the **scene** that wraps over several rows of the pane.\n\n- one\n- two\n".repeat(4);
    let said: Vec<(String, &str)> = (0..600).map(|n| (format!("Question {n}"), answer.as_str())).collect();
    let said: Vec<(&str, &str)> = said.iter().map(|(q, a)| (q.as_str(), *a)).collect();
    talked(&mut author, "s-9", 17, &said);
    opens(&mut author, "s-9");
    author.sees_words("two");
    let laid = |author: &Author| author.app.chat.turns.iter().filter(|turn| turn.laid().is_some()).count();
    let at_first = laid(&author);
    assert!(at_first < 200, "{at_first} of 600 were laid out for the first frame");
    assert!(author.app.moves(), "the rest follows by itself");
    // Somewhere in the middle: what is on screen stays there while the rest is laid out, and when the window changes.
    author.app.chat.show = author.app.chat.turns[300].id.clone();
    author.lay_out();
    let before = author.sees();
    assert!(before.contains("Question 300"), "{before}");
    for _ in 0..200 {
        author.moment();
    }
    assert_eq!(laid(&author), 600);
    author.waits(6);
    assert!(!author.app.moves(), "then it rests");
    author.sees_words("Question 300");
    author.happens(Msg::Resize(80, 24));
    author.key(KeyCode::F(3));
    author.sees_words("Question 300");
    // A page up and down again is where it was.
    author.happens(Msg::Resize(120, 40));
    author.lay_out();
    let here = author.app.chat.first_line();
    author.key(KeyCode::PageUp);
    author.key(KeyCode::PageDown);
    assert_eq!(author.app.chat.first_line(), here);
}

#[test]
fn a_popup_of_conversations_is_refreshed_and_keeps_its_row() {
    let mut author = with_three(120, 40);
    author.happens(Msg::Run("conversations"));
    author.key(KeyCode::Down);
    talked(&mut author, "s-8", 17, &[("A new one from elsewhere", "Yes.")]);
    author.sees_words("▸ Is the eclipse on the right day?");
    assert!(matches!(author.app.popups.last(), Some(Popup::Conversations(_))));
}

#[test]
fn quotes_of_a_long_conversation_are_checked_after_it_is_shown_the_nearest_first() {
    let mut author = Author::at(120, 40);
    let answer = "\"The lights at Post Nine had been off\" [[locate:The lights at Post Nine had been off]]";
    let said: Vec<(&str, &str)> = (0..40).map(|_| ("Where are the lights?", answer)).collect();
    talked(&mut author, "s-9", 17, &said);
    let mut effects = opens(&mut author, "s-9");
    let (out, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let found = |author: &Author, turn: usize| {
        author.app.chat.turns[turn].grounded.as_ref().is_some_and(|g| !g.quotes[..].is_empty())
    };
    assert!(found(&author, 39) && !found(&author, 31), "the last ones are checked at once");
    author.sees_words("Where are the lights?");
    assert!(!author.sees().contains("[[locate"), "a marker is never shown");
    let mut rounds = 0;
    while let Some(effect) = effects.pop() {
        super::work::quietly(&author.bench, effect, &out);
        effects = super::update::update(&mut author.app, inbox.try_recv().unwrap());
        rounds += 1;
        assert!(rounds > 1 || (found(&author, 31) && !found(&author, 0)));
    }
    assert_eq!((rounds, (0..40).filter(|turn| found(&author, *turn)).count()), (4, 40));
}

#[test]
fn quotes_that_come_late_for_another_conversation_are_dropped() {
    let mut author = with_three(120, 40);
    author.happens(Msg::GoOnWith(SessionId::new("s-2"), None));
    let id = author.app.chat.turns[0].id.clone().unwrap();
    let other = crate::agent::grounding::Grounded { shown: "Of another".into(), ..Default::default() };
    author.happens(Msg::QuotesChecked(SessionId::new("s-1"), vec![(id, other)]));
    assert!(!author.sees().contains("Of another"));
}

/// What a screen says, without its frames.
fn words(author: &mut Author) -> String {
    let seen = author.sees().replace(['\n', '│', '┃', '║'], " ");
    seen.split_whitespace().collect::<Vec<_>>().join(" ")
}

const LATER: &str = "{\"v\":2,\"id\":\"t-9\",\"event\":\"sung\"}\n";

#[test]
fn a_conversation_of_a_later_version_is_not_opened_as_an_empty_one() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut author = with_three(width, height);
        opens(&mut author, "s-2");
        let file = author.bench.root().join(".scritorio/sessions/s-3.jsonl");
        std::fs::write(&file, LATER).unwrap();
        opens(&mut author, "s-3");
        let seen = words(&mut author);
        for piece in ["was written by a later version of Scritorio.", "its file stays as it is."] {
            assert!(seen.contains(piece), "{seen}");
        }
        assert_eq!((session(&author), questions(&author).len()), (Some("s-2"), 2), "she is where she was");
        author.key(KeyCode::Esc);
        author.types("Is it so?");
        assert_eq!(author.app.chat.typed(), "Is it so?");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), LATER);
    }
}

#[test]
fn what_of_a_conversation_a_later_version_wrote_is_said_when_it_is_opened() {
    let mut author = with_three(120, 40);
    let file = author.bench.root().join(".scritorio/sessions/s-3.jsonl");
    let all = std::fs::read_to_string(&file).unwrap() + LATER + LATER;
    std::fs::write(&file, all).unwrap();
    opens(&mut author, "s-3");
    assert_eq!(questions(&author).len(), 1);
    author.sees_words(
        "2 lines of this conversation are of a later version of Scritorio: kept, not shown, not sent.",
    );
}

#[test]
fn a_question_in_a_conversation_that_another_program_deleted_is_not_lost() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut author = with_three(width, height);
        opens(&mut author, "s-2");
        author.bench.delete_conversation(&SessionId::new("s-2"), true).unwrap();
        author.asks("Is the third one right?");
        let seen = words(&mut author);
        assert!(seen.contains("is not there any more") && seen.contains("Nothing was sent."), "{seen}");
        assert!(!seen.contains("Leave the session out"), "{seen}");
        author.key(KeyCode::Esc);
        assert_eq!((session(&author), questions(&author).len()), (None, 0));
        assert_eq!(author.app.chat.typed(), "Is the third one right?");
        // And it can be asked there.
        author.app.chat.take_typed();
        author.asks("Is the third one right?");
        assert_eq!(questions(&author), ["Is the third one right?"]);
        assert!(session(&author).is_some_and(|id| id != "s-2"));
    }
}

#[test]
fn what_was_paid_for_replaced_answers_stays_in_the_sum_and_a_fork_pays_for_its_own_alone() {
    let mut author = with_three(120, 40);
    author.key(KeyCode::F(3));
    let file = author.bench.root().join(".scritorio/sessions/s-2.jsonl");
    let again = std::fs::read_to_string(&file).unwrap().lines().last().unwrap().to_owned();
    let again =
        again.replace("t-s-2-1", "t-s-2-2").replace("\"usage\"", "\"replaces\":\"t-s-2-1\",\"usage\"");
    std::fs::write(&file, std::fs::read_to_string(&file).unwrap() + &again + "\n").unwrap();
    opens(&mut author, "s-2");
    assert_eq!(questions(&author).len(), 2, "one took the place of another");
    author.sees_words("$0.0375 here");
    let session = SessionId::new("s-2");
    let listed = |author: &Author, id: &SessionId| {
        let all = author.bench.conversations();
        let cost = all.into_iter().find(|summary| summary.session == *id).unwrap().usage.cost;
        cost.map(|cost| format!("{cost:.4}"))
    };
    assert_eq!(listed(&author, &session).as_deref(), Some("0.0375"));
    let fork = author.bench.fork_conversation(&session, None, None).unwrap();
    assert_eq!(listed(&author, &fork.session), None, "nothing was asked in it yet");
    opens(&mut author, fork.session.as_str());
    assert!(!author.sees().contains(" here"), "{}", author.sees());
    assert_eq!(listed(&author, &session).as_deref(), Some("0.0375"));
}

#[test]
fn an_answer_that_is_replaced_while_the_author_looks_on_has_still_been_paid_for() {
    let mut author = with_three(120, 40);
    author.key(KeyCode::F(3));
    opens(&mut author, "s-2");
    author.sees_words("$0.0250 here");
    author.happens(Msg::Run("retry"));
    assert_eq!(questions(&author).len(), 2);
    author.waits(6);
    author.sees_words("$0.0250 here");
    author.happens(Msg::Run("new-conversation"));
    assert!(!author.sees().contains(" here"), "{}", author.sees());
}

#[test]
fn what_another_window_asks_in_the_same_conversation_is_shown_when_the_next_question_leaves() {
    let mut author = with_three(120, 40);
    opens(&mut author, "s-2");
    let mut other = author.other_window();
    opens(&mut other, "s-2");
    other.asks("Which characters are there?");
    assert_eq!(questions(&author).len(), 2);
    author.asks("Which places are there?");
    let all: Vec<String> =
        author.bench.turns(&SessionId::new("s-2")).into_iter().map(|turn| turn.question).collect();
    assert_eq!(questions(&author), all, "in the order in which they were sent");
    assert_eq!(all[2..], ["Which characters are there?", "Which places are there?"]);
    let of_other = &author.app.chat.turns[2];
    assert!(of_other.state == State::Done && !of_other.raw.is_empty() && !of_other.unchecked);
    // The other one has the answer when she comes back to it.
    assert_eq!(questions(&other).len(), 3);
    other.happens(Msg::FocusGained);
    assert_eq!(questions(&other), all);
    assert_eq!(other.app.chat.turns[3].raw, author.app.chat.turns[3].raw);
}

#[test]
fn the_sum_of_a_conversation_is_the_one_of_the_list_and_what_is_on_screen_stays_there() {
    let mut author = with_three(120, 40);
    let answer = "A long answer about the station and its lamps.\n\n".repeat(30);
    let said = vec![("And then?", answer.as_str()); 40];
    talked(&mut author, "s-9", 17, &said);
    author.key(KeyCode::F(3));
    opens(&mut author, "s-9");
    author.app.chat.scroll(-400);
    author.lay_out();
    let (seen, first) = (author.app.chat.place_of(author.app.chat.first_line()), author.sees());
    author.sees_words("$0.50 here");
    // The other window has asked one question, and the last one once more.
    let file = author.bench.root().join(".scritorio/sessions/s-9.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let last = text.lines().last().unwrap();
    let again = last.replace("t-s-9-39", "t-b").replace("\"usage\"", "\"replaces\":\"t-s-9-39\",\"usage\"");
    let more = last.replace("t-s-9-39", "t-a").replace("And then?", "And who?");
    std::fs::write(&file, format!("{text}{again}\n{more}\n")).unwrap();
    let laid = |author: &Author| author.app.chat.turns.iter().filter(|turn| turn.laid().is_some()).count();
    let before = laid(&author);
    let read = super::update::update(&mut author.app, Msg::Past(author.bench.conversations()));
    let [super::effect::Effect::CatchUp(_)] = &read[..] else { panic!("{read:?}") };
    let resumed = author.bench.resume(&SessionId::new("s-9")).unwrap();
    super::update::update(&mut author.app, Msg::CaughtUp(SessionId::new("s-9"), Box::new(resumed)));
    let ids: Vec<_> = author.app.chat.turns.iter().filter_map(|turn| turn.id.as_ref()).collect();
    assert_eq!((ids.len(), ids[38].as_str()), (41, "t-s-9-38"));
    assert_eq!((ids[39].as_str(), ids[40].as_str()), ("t-b", "t-a"));
    assert!(laid(&author) >= before - 1, "what was laid out is not laid out again");
    author.lay_out();
    assert_eq!(author.app.chat.place_of(author.app.chat.first_line()), seen);
    author.sees_words("$0.53 here");
    assert_eq!(
        author.sees().lines().take(20).collect::<Vec<_>>(),
        first.lines().take(20).collect::<Vec<_>>()
    );
    let nothing = super::update::update(&mut author.app, Msg::Past(author.bench.conversations()));
    assert_eq!(nothing.len(), 0, "what is shown is not read again: {nothing:?}");
}

#[test]
fn a_conversation_that_nobody_else_goes_on_with_is_not_read_again() {
    let mut author = with_three(120, 40);
    opens(&mut author, "s-2");
    author.asks("Which characters are there?");
    author.happens(Msg::Run("retry"));
    let again = super::update::update(&mut author.app, Msg::Past(author.bench.conversations()));
    assert_eq!(again.len(), 0, "{again:?}");
    author.happens(Msg::Run("new-conversation"));
    author.asks("Which places are there?");
    let again = super::update::update(&mut author.app, Msg::Past(author.bench.conversations()));
    assert_eq!(again.len(), 0, "{again:?}");
}

#[test]
fn an_answer_that_another_window_still_waits_for_is_shown_as_cut_off_only_until_it_is_there() {
    let mut author = with_three(120, 40);
    let file = author.bench.root().join(".scritorio/sessions/s-3.jsonl");
    let ended = std::fs::read_to_string(&file).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(ended.lines().last().unwrap()).unwrap();
    let mut turn = line["kept"]["turn"].clone();
    (turn["status"], turn["answer"], turn["usage"]) = (json!({ "state": "running" }), json!(""), json!({}));
    line["event"] = json!("started");
    line["turn"] = turn;
    line["kept"].take();
    std::fs::write(&file, format!("{line}\n")).unwrap();
    opens(&mut author, "s-3");
    assert_eq!(author.app.chat.turns[0].state, State::Killed);
    std::fs::write(&file, format!("{line}\n{ended}")).unwrap();
    author.happens(Msg::FocusGained);
    assert_eq!(author.app.chat.turns[0].state, State::Done);
    author.sees_words("Not before chapter 5.");
    author.sees_words("$0.0125 here");
}
