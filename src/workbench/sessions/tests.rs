use std::fs;

use super::*;
use crate::agent::driver;
use crate::agent::event::TurnEventKind;
use crate::workbench::{Ask, Finished, Overrides, Surroundings};

struct Author {
    folder: tempfile::TempDir,
    bench: Workbench,
}

impl Author {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        for (path, text) in [
            ("scritorio.toml", "[book]\ntitle = \"The Lamp\"\n"),
            ("manuscript/01.md", "# One\n\nMira Okafor counted the lamps of the station twice.\n"),
            ("codex/characters/mira.md", "---\nname: Mira Okafor\nrole: rival\n---\n\nShe keeps the log.\n"),
        ] {
            fs::create_dir_all(book.join(path).parent().unwrap()).unwrap();
            fs::write(book.join(path), text).unwrap();
        }
        let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
        let bench = Workbench::open_in(&book, overrides, Surroundings::in_folders(folder.path())).unwrap();
        Self { folder, bench }
    }

    fn asks(
        &self,
        session: Option<&SessionId>,
        question: &str,
        replaces: Option<&TurnId>,
    ) -> (SessionId, Turn) {
        let ask = Ask {
            question: question.into(),
            session: session.cloned(),
            replaces: replaces.cloned(),
            ..Ask::default()
        };
        let Finished { session, turn, .. } = self.asks_while(&ask, |_| {});
        (session, turn)
    }

    /// Asks, and something else happens before the answer is kept.
    fn asks_while(&self, ask: &Ask, happens: impl FnOnce(&SessionId)) -> Finished {
        let setup = self.bench.prepare(ask).unwrap();
        let session = self.bench.begin(ask, &setup);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(async {
            let mut running = driver::start(setup);
            while let Some(event) = running.events.recv().await {
                if let TurnEventKind::Ended(ended) = event.kind {
                    return *ended;
                }
            }
            unreachable!("a turn ends")
        });
        happens(&session);
        self.bench.finish(&session, ask, ended)
    }

    /// What the next question would send of the conversation.
    fn history(&self, session: &SessionId, replaces: Option<&TurnId>) -> String {
        let ask = Ask {
            question: "And now?".into(),
            session: Some(session.clone()),
            replaces: replaces.cloned(),
            ..Ask::default()
        };
        format!("{:?}", self.bench.prepare(&ask).unwrap().history)
    }
}

#[test]
fn an_edited_question_is_all_that_the_next_request_knows() {
    let author = Author::new();
    let (session, first) = author.asks(None, "Who is Mira Okafor?", None);
    let (_, second) = author.asks(Some(&session), "Which characters are there?", None);
    let history = author.history(&session, Some(&second.id));
    assert!(history.contains("Who is Mira") && !history.contains("Which characters"), "{history}");
    author.asks(Some(&session), "List the places.", Some(&second.id));
    let history = author.history(&session, None);
    assert!(history.contains("List the places") && !history.contains("Which characters"), "{history}");
    let turns = author.bench.turns(&session);
    assert_eq!(turns.len(), 2);
    assert_eq!(turns[0].id, first.id);
    assert_eq!(turns[1].replaces.as_ref(), Some(&second.id));
    let transcript = author.bench.transcript(&session).unwrap();
    assert_eq!(transcript.replaced[0].question, "Which characters are there?");
}

#[test]
fn a_message_that_is_not_there_is_not_replaced() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let ask = Ask {
        question: "x".into(),
        session: Some(session),
        replaces: Some(TurnId::new("t-none")),
        ..Ask::default()
    };
    let Err(refused) = author.bench.prepare(&ask) else { panic!("it was replaced") };
    assert!(refused.message.contains("has no message t-none"), "{}", refused.message);
}

#[test]
fn a_fork_goes_its_own_way() {
    let author = Author::new();
    let (session, first) = author.asks(None, "Who is Mira Okafor?", None);
    author.asks(Some(&session), "Which characters are there?", None);
    let fork = author.bench.fork_conversation(&session, Some(&first.id), None).unwrap();
    assert_eq!((fork.title.as_str(), fork.questions), ("Who is Mira Okafor? (fork)", 1));
    author.asks(Some(&fork.session), "List the places.", None);
    assert!(!author.history(&fork.session, None).contains("Which characters"));
    assert!(!author.history(&session, None).contains("List the places"));
    assert_eq!(author.bench.turn_numbered(&session, 1).unwrap(), first.id);
    for number in [0, 3] {
        let refused = author.bench.turn_numbered(&session, number).unwrap_err();
        assert!(matches!(refused, SessionError::NoQuestion { questions: 2, .. }), "{refused}");
        let said = refused.to_string();
        assert!(said.contains(&format!("has no question {number}; it has 2 questions")), "{said}");
    }
    assert_eq!(author.bench.last_session(), Some(fork.session));
}

#[test]
fn a_fork_is_told_what_became_of_the_proposals_that_it_knows() {
    let author = Author::new();
    let (session, turn) = author.asks(None, "Change Mira's role to ally", None);
    let fork = author.bench.fork_conversation(&session, None, Some("Other")).unwrap();
    author.bench.reject(&turn.proposals[0], Some("keep her a rival")).unwrap();
    for session in [&session, &fork.session] {
        assert!(author.history(session, None).contains("keep her a rival"));
    }
}

#[test]
fn a_conversation_that_is_deleted_while_it_is_answered_comes_back_with_the_answer() {
    let author = Author::new();
    let (session, first) = author.asks(None, "Who is Mira Okafor?", None);
    let again = Ask { question: "Does she count?".into(), session: Some(session.clone()), ..Ask::default() };
    let delete = |session: &SessionId| {
        author.bench.delete_conversation(session, false).unwrap();
    };
    let Finished { turn, not_kept, .. } = author.asks_while(&again, delete);
    assert_eq!(not_kept, None);
    assert!(author.bench.conversations().is_empty());
    let back = author.bench.restore_conversation(&session).unwrap();
    assert_eq!((&back.session, back.questions), (&session, 2));
    let turns = author.bench.turns(&session);
    assert_eq!((&turns[0].id, &turns[1].answer), (&first.id, &turn.answer));
    delete(&session);
    assert_eq!(author.bench.deleted_conversations().len(), 1);
}

#[test]
fn a_conversation_that_is_deleted_for_ever_while_it_is_answered_stays_deleted_and_that_is_told() {
    let author = Author::new();
    let delete = |session: &SessionId| {
        author.bench.delete_conversation(session, true).unwrap();
    };
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    for session in [Some(session), None] {
        let ask = Ask { question: "Does she count?".into(), session, ..Ask::default() };
        let Finished { turn, not_kept, .. } = author.asks_while(&ask, delete);
        assert!(!turn.answer.is_empty());
        assert!(not_kept.unwrap().contains("was deleted for ever"));
        assert!(author.bench.conversations().is_empty() && author.bench.deleted_conversations().is_empty());
    }
}

#[test]
fn a_question_that_could_not_be_written_down_is_kept_with_its_answer_where_that_can() {
    let author = Author::new();
    let sessions = author.bench.root().join(".scritorio/sessions");
    fs::create_dir_all(sessions.parent().unwrap()).unwrap();
    fs::write(&sessions, "a file, where the folder would be").unwrap();
    let ask = Ask { question: "Who is Mira Okafor?".into(), ..Ask::default() };
    let Finished { session, not_kept, .. } = author.asks_while(&ask, |_| fs::remove_file(&sessions).unwrap());
    assert_eq!(not_kept, None);
    assert_eq!(author.bench.turns(&session).len(), 1);
}

#[test]
fn names_are_ids_beginnings_and_last() {
    let author = Author::new();
    let named = |name: &str| author.bench.conversation_named(name);
    assert!(matches!(named("last"), Err(SessionError::None)));
    let (one, _) = author.asks(None, "Who is Mira Okafor?", None);
    let (two, _) = author.asks(None, "Which characters are there?", None);
    assert_eq!(named(one.as_str()).unwrap(), one);
    assert_eq!(named("last").unwrap(), two);
    assert!(matches!(named("s-"), Err(SessionError::Ambiguous { found, .. }) if found.len() == 2));
    for unknown in ["", "x", "../../etc/passwd"] {
        assert!(matches!(named(unknown), Err(SessionError::Unknown(_))), "{unknown:?}");
    }
    author.bench.delete_conversation(&one, false).unwrap();
    assert_eq!(author.bench.deleted_conversation_named("s-").unwrap(), one);
    author.bench.restore_conversation(&one).unwrap();
    assert_eq!(author.bench.conversations().len(), 2);
}

#[test]
fn words_are_found_in_questions_and_answers_and_not_in_what_was_replaced() {
    let author = Author::new();
    let (session, turn) = author.asks(None, "Who is Mira Okafor?", None);
    let (_, second) = author.asks(Some(&session), "Was there a zebra?", None);
    let find = |query: &str| author.bench.search_conversations(query, 50).unwrap();
    let parts: Vec<_> = find("MÍRA okafor").into_iter().map(|p| (p.turn, p.from, p.number)).collect();
    assert!(parts.contains(&(turn.id.clone(), Part::Question, 1)));
    assert!(parts.contains(&(turn.id.clone(), Part::Answer, 1)));
    assert_eq!(find("zebra")[0].number, 2);
    author.asks(Some(&session), "Which characters are there?", Some(&second.id));
    assert!(find("zebra").is_empty());
    assert!(find("  ").is_empty());
    assert_eq!(author.bench.search_conversations("mira", 1).unwrap().len(), 1);
}

#[test]
fn a_transcript_is_readable_and_says_what_became_of_everything() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let (_, turn) = author.asks(Some(&session), "Change Mira's role to ally", None);
    author.bench.reject(&turn.proposals[0], Some("too soon")).unwrap();
    author.bench.rename_conversation(&session, "About Mira").unwrap();
    let transcript = author.bench.transcript(&session).unwrap();
    let text = transcript.written(Format::Markdown);
    for words in [
        "# About Mira\n",
        "- Book: The Lamp\n",
        "\n> Who is Mira Okafor?\n",
        "### Developmental Editor (offline)",
        "- `get_character_context` `",
        "`codex/characters/mira.md`",
        ": rejected (too soon)",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert!(!text.contains("[[locate:") && !text.contains('\u{2014}'), "{text}");
    let json: serde_json::Value = serde_json::from_str(&transcript.written(Format::Json)).unwrap();
    assert_eq!(json["title"], "About Mira");
    assert_eq!(json["turns"][1]["proposals"][0]["status"], "rejected");
    assert_eq!(json["turns"][0]["tools"][0]["name"], "get_character_context");
}

#[test]
fn an_export_is_never_written_over_a_file_unasked() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let file = author.folder.path().join("talk.md");
    let export = |over| author.bench.export_conversation(&session, Format::Markdown, &file, over);
    export(false).unwrap();
    fs::write(&file, "mine").unwrap();
    assert!(matches!(export(false), Err(SessionError::Out(OutError::Exists(_)))));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    export(true).unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("Mira"));
    let nowhere = author.folder.path().join("no/such/folder.md");
    assert!(author.bench.export_conversation(&session, Format::Json, &nowhere, false).is_err());
}

#[test]
fn forks_of_forks_are_counted() {
    assert_eq!(forked_title("A"), "A (fork)");
    assert_eq!(forked_title("A (fork)"), "A (fork 2)");
    assert_eq!(forked_title("A (fork 9)"), "A (fork 10)");
    assert_eq!(forked_title("A (forks)"), "A (forks) (fork)");
}

const LATER: &str = "{\"v\":2,\"id\":\"t-9\",\"event\":\"sung\"}\n";

impl Author {
    fn file(&self, session: &SessionId) -> std::path::PathBuf {
        self.bench.root().join(format!(".scritorio/sessions/{session}.jsonl"))
    }

    fn refused(&self, session: &SessionId) -> crate::domain::conversation::Failure {
        let ask = Ask { question: "x".into(), session: Some(session.clone()), ..Ask::default() };
        let Err(refused) = self.bench.prepare(&ask) else { panic!("it was asked") };
        refused
    }
}

#[test]
fn a_conversation_that_nobody_here_can_read_is_refused_with_its_reason() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let file = author.file(&session);
    fs::write(&file, LATER.repeat(4)).unwrap();
    let refused = author.refused(&session);
    assert!(refused.message.contains("was written by a later version of Scritorio"), "{refused:?}");
    assert!(refused.hint.starts_with("Update Scritorio"), "{refused:?}");
    assert!(matches!(author.bench.resume(&session), Err(SessionError::Later(_))));
    fs::write(&file, "{torn\n").unwrap();
    assert!(author.refused(&session).message.contains("its file is damaged"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{torn\n", "it stays as it is");
    fs::remove_file(&file).unwrap();
    assert!(author.refused(&session).message.contains("This book has no conversation"));
    // A folder in its place is no conversation either.
    fs::create_dir(&file).unwrap();
    assert!(author.refused(&session).message.contains("no conversation"));
}

#[cfg(unix)]
#[test]
fn a_conversation_that_may_not_be_read_is_no_empty_one() {
    use std::os::unix::fs::PermissionsExt;

    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let file = author.file(&session);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(&file).is_ok() {
        // Whoever may do everything may read it, too.
        return;
    }
    let refused = author.refused(&session);
    assert!(refused.message.contains("can't be read: "), "{refused:?}");
}

#[test]
fn turns_that_a_later_version_wrote_are_missed_aloud_and_once() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let file = author.file(&session);
    let two_later = fs::read_to_string(&file).unwrap() + LATER + LATER + "{\"v\":1,\"torn";
    fs::write(&file, two_later).unwrap();
    let (_, turn) = author.asks(Some(&session), "And now?", None);
    let told = "2 lines of this conversation are of a later version of Scritorio: kept, not shown, not sent. 1 line of this conversation is cut off or damaged: kept, not shown, not sent.";
    assert_eq!(turn.notices, [told]);
    assert_eq!(author.bench.resume(&session).unwrap().unread.as_deref(), Some(told));
    let (_, turn) = author.asks(Some(&session), "And then?", None);
    assert!(turn.notices.is_empty(), "it was said: {:?}", turn.notices);
    let more = fs::read_to_string(&file).unwrap() + LATER;
    fs::write(&file, more).unwrap();
    let (_, turn) = author.asks(Some(&session), "And at last?", None);
    assert!(turn.notices[0].starts_with("3 lines"), "{:?}", turn.notices);
}

#[test]
fn a_request_that_is_made_again_tells_of_other_instructions() {
    let author = Author::new();
    let (session, _) = author.asks(None, "Who is Mira Okafor?", None);
    let ask = Ask { question: "And now?".into(), session: Some(session), ..Ask::default() };
    let told = |bench: &Workbench| bench.peek_since(&ask, None).unwrap().changes().unwrap();
    let same = told(&author.bench);
    assert!(same.contains("made again") && !same.contains("changed since"), "{same}");
    let settings = author.bench.root().join("scritorio.toml");
    fs::write(&settings, "[board.developmental-editor]\nnotes = \"Mind the tides.\"\n").unwrap();
    author.bench.refresh().unwrap();
    let changed = told(&author.bench);
    assert!(changed.contains("== Instructions: changed since, and what they were is not kept"), "{changed}");
}
