//! Reviewing proposals, key by key, on whole screens: what an author does to them, and what must never happen by accident.

use crossterm::event::{KeyCode, KeyModifiers, MouseEvent, MouseEventKind};

use super::msg::{Msg, Verdict};
use super::popups::Popup;
use super::tests::Author;
use super::update::update;
use crate::domain::codex::EntryType;
use crate::domain::ids::{BookPath, ProposalId, SessionId, TurnId};
use crate::domain::passage::sha256_hex;
use crate::proposal::{FileChange, Proposal, Status};

const ROOM: &str = "# Room\n\nThe room was grey and cold.\n\nA second paragraph.\n\nThe end.\n";

/// A file of a proposal: path, text before, text after.
type Change<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

impl Author {
    /// Lets a persona propose something; what it was before is on disk.
    fn gets(&mut self, entry: &str, files: &[Change<'_>]) -> ProposalId {
        let root = self.bench.root().to_path_buf();
        let change = |(path, base, proposed): &Change<'_>| {
            if let Some(base) = base {
                std::fs::write(root.join(path), base).unwrap();
            }
            FileChange {
                path: BookPath::new(path).unwrap(),
                base: base.map(str::to_owned),
                base_hash: base.map(sha256_hex),
                proposed: proposed.map(str::to_owned),
            }
        };
        let proposal = Proposal {
            id: ProposalId::mint(),
            tool: "propose_codex_update".into(),
            subject: EntryType::Location.into(),
            entry: entry.to_owned(),
            summary: format!("A change of {entry}"),
            warnings: vec![],
            files: files.iter().map(change).collect(),
            edited: false,
        };
        self.bench.queue(&SessionId::new("s-1"), &TurnId::new("t-1"), &proposal).unwrap();
        self.happens_effect(super::effect::Effect::ReadProposals);
        proposal.id
    }

    /// One file with one changed word.
    fn gets_a_word(&mut self, entry: &str, path: &str) -> ProposalId {
        let proposed = ROOM.replace("grey", "red");
        self.gets(entry, &[(path, Some(ROOM), Some(&proposed))])
    }

    fn opens_next(&mut self) {
        self.control('d');
        self.waits(1);
    }

    fn status(&self, id: &ProposalId) -> Status {
        self.bench.proposal(id).unwrap().status
    }

    fn text(&self, path: &str) -> String {
        String::from_utf8(self.file(path)).unwrap()
    }
}

#[test]
fn what_waits_comes_first_and_going_on_and_back_keeps_what_was_chosen() {
    let mut author = Author::at(120, 40);
    let first = author.gets_a_word("One", "notes/one.md");
    author.bench.reject(&first, Some("too red")).unwrap();
    let proposed = ROOM.replace("grey", "red").replace("The end", "An end");
    author.gets("Two", &[("notes/two.md", Some(ROOM), Some(&proposed))]);
    author.gets_a_word("Three", "notes/three.md");
    author.opens_next();
    author.sees_words("location · Two");
    author.sees_words("1 of 3 [○]○✗");
    author.decides(' ');
    author.sees_words("1 of 2 changes");
    author.types("n");
    author.sees_words("location · Three");
    author.sees_words("2 of 3");
    author.types("n");
    author.sees_words("✗ rejected: too red");
    author.types("n");
    author.sees_words("This is the last proposal.");
    author.types("pp");
    author.sees_words("1 of 2 changes");
    author.waits(1);
    author.decides('a');
    assert_eq!(author.text("notes/two.md"), ROOM.replace("The end", "An end"));
    author.sees_words("✓ applied");
    author.sees_words("1 of 3 [✓]○✗");
    author.decides('u');
    assert_eq!(author.text("notes/two.md"), ROOM);
}

#[test]
fn leaving_everything_out_is_refused_in_words() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("One", "notes/one.md");
    author.opens_next();
    author.decides(' ');
    author.decides('a');
    author.sees_words("Every change is left out");
    assert_eq!(author.status(&id), Status::Pending);
}

#[test]
fn a_burst_of_characters_decides_nothing_and_a_lone_key_does() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("One", "notes/one.md");
    author.opens_next();
    author.types("answer ready");
    author.moment();
    assert_eq!(author.status(&id), Status::Pending);
    author.sees_words("[x] Change 1 of 1");
    assert!(matches!(author.app.popups.last(), Some(Popup::Diff(_))), "nothing was opened on top");
    // The end of a burst is as much a part of it as its start.
    author.types("na");
    author.moment();
    assert_eq!(author.status(&id), Status::Pending);
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
}

#[test]
fn a_paste_without_brackets_does_not_throw_unsaved_words_away() {
    let mut author = Author::at(120, 40);
    author.types("x");
    author.control('q');
    author.types("dd");
    author.moment();
    assert!(!author.quit);
    author.decides('d');
    assert!(author.quit);
}

#[test]
fn a_proposal_opens_on_its_key_alone_and_letters_go_to_the_chat() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.waits(5);
    assert!(author.app.popups.is_empty());
    author.sees_words("reviews it");
    author.types("and what");
    author.sees_words("and what");
    author.control('d');
    author.sees_words("○ pending");
    author.waits(1);
    author.decides('a');
    author.sees_words("✓ applied");
}

#[test]
fn a_proposal_never_opens_over_an_author_who_types() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.types("a");
    author.waits(5);
    assert!(author.app.popups.is_empty());
    author.sees_words("reviews it");
    assert!(!author.app.moves() || author.app.notice.is_some(), "nothing waits for ever");
}

#[test]
fn a_key_that_is_pressed_twice_undoes_once() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("Short", "notes/short.md");
    author.opens_next();
    author.waits(1);
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
    let undo = || Msg::Judge(Verdict::Undo(id.clone()));
    let (first, second) = (update(&mut author.app, undo()), update(&mut author.app, undo()));
    assert_eq!((first.len(), second.len()), (1, 0));
}

#[test]
fn accepting_all_asks_that_each_was_read_to_its_end() {
    let mut author = Author::at(100, 30);
    let short = author.gets_a_word("Short", "notes/short.md");
    let long = (0..200).map(|n| format!("Paragraph {n} of many.\n\n")).collect::<Vec<_>>().concat();
    let new = author.gets("Long", &[("notes/long.md", None, Some(&long))]);
    author.opens_next();
    author.types("n");
    author.waits(1);
    author.decides('A');
    author.sees_words("1 of 2 proposals not read to the end yet (Long)");
    author.key(KeyCode::End);
    author.decides('A');
    author.sees_words("not read to the end");
    assert_eq!((author.status(&short), author.status(&new)), (Status::Pending, Status::Pending));
    author.key(KeyCode::Home);
    for _ in 0..40 {
        author.key(KeyCode::PageDown);
    }
    author.decides('A');
    author.sees_words("Applied 2 proposals. Each can be undone by itself.");
    assert_eq!(author.text("notes/long.md"), long);
    author.decides('u');
    assert_eq!((author.status(&short), author.status(&new)), (Status::Applied, Status::Undone));
}

#[test]
fn accepting_all_stops_at_the_first_that_does_not_fit_and_says_so() {
    let mut author = Author::at(120, 40);
    let ids = ["One", "Two", "Three"].map(|name| author.gets_a_word(name, &format!("notes/{name}.md")));
    author.opens_next();
    author.types("n");
    author.types("n");
    author.waits(1);
    // Somebody changed the same words meanwhile.
    std::fs::write(author.bench.root().join("notes/Two.md"), ROOM.replace("grey", "blue")).unwrap();
    author.decides('A');
    author.sees_words("Applied 1 proposal, then stopped at Two");
    let states = ids.map(|id| author.status(&id));
    assert_eq!(states, [Status::Applied, Status::Stale, Status::Pending]);
    author.sees_words("location · Two");
    author.sees_words("yours now");
}

#[test]
fn what_was_left_out_stays_left_out_when_all_is_accepted() {
    let mut author = Author::at(120, 40);
    let proposed = ROOM.replace("grey", "red").replace("The end", "An end");
    author.gets("One", &[("notes/one.md", Some(ROOM), Some(&proposed))]);
    author.opens_next();
    author.decides(' ');
    author.key(KeyCode::Esc);
    author.happens(Msg::Run("accept-all-seen"));
    assert_eq!(author.text("notes/one.md"), ROOM.replace("The end", "An end"));
}

#[test]
fn words_that_both_changed_are_chosen_by_the_author() {
    let mut author = Author::at(120, 40);
    let proposed = ROOM.replace("grey", "red").replace("second", "third").replace("The end", "An end");
    let id = author.gets("One", &[("notes/one.md", Some(ROOM), Some(&proposed))]);
    let mine = ROOM.replace("grey", "blue").replace("second", "2nd");
    std::fs::write(author.bench.root().join("notes/one.md"), &mine).unwrap();
    author.happens_effect(super::effect::Effect::ReadProposals);
    author.opens_next();
    author.sees_words("2 places to choose");
    insta::assert_snapshot!("dispute_120x40", author.sees());
    author.decides('a');
    author.sees_words("Choose first where both have changed the same words");
    assert_eq!(author.text("notes/one.md"), mine, "nothing was written");
    author.decides('2');
    author.decides('1');
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
    let text = author.text("notes/one.md");
    assert_eq!(text, mine.replace("blue", "red").replace("The end", "An end"));
    author.decides('u');
    assert_eq!(author.text("notes/one.md"), mine);
}

#[test]
fn a_dispute_can_be_settled_by_hand() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("One", "notes/one.md");
    std::fs::write(author.bench.root().join("notes/one.md"), ROOM.replace("grey", "blue")).unwrap();
    author.happens_effect(super::effect::Effect::ReadProposals);
    author.opens_next();
    author.decides('e');
    author.sees_words("The room was blue red and cold.");
    author.key(KeyCode::End);
    author.types(" Both.");
    author.control('s');
    author.sees_words("○ pending, edited by you");
    assert_eq!(author.text("notes/one.md"), ROOM.replace("grey", "blue"), "settling writes nothing");
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
    assert_eq!(author.text("notes/one.md"), ROOM.replace("grey and cold.", "blue red and cold. Both."));
}

#[test]
fn a_file_that_moved_on_elsewhere_is_shown_as_it_will_be_written() {
    let mut author = Author::at(120, 40);
    author.gets_a_word("One", "notes/one.md");
    std::fs::write(author.bench.root().join("notes/one.md"), ROOM.replace("The end.", "The very end."))
        .unwrap();
    author.opens_next();
    author.sees_words("Both were merged");
    author.decides('a');
    let expected = ROOM.replace("grey", "red").replace("The end.", "The very end.");
    assert_eq!(author.text("notes/one.md"), expected);
}

#[test]
fn an_edit_that_was_left_is_there_again_and_asked_for_at_the_end() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("One", "notes/one.md");
    author.gets_a_word("Two", "notes/two.md");
    author.opens_next();
    author.decides('e');
    author.types("Zephyr, ");
    author.happens(Msg::Paste("and a paste. ".to_owned()));
    insta::assert_snapshot!("proposal_edited_120x40", author.sees());
    author.key(KeyCode::Esc);
    author.sees_words("An edit of yours is not kept yet");
    author.types("n");
    author.types("p");
    author.waits(1);
    author.decides('a');
    author.sees_words("Your edit is not kept yet");
    assert_eq!(author.status(&id), Status::Pending);
    author.decides('e');
    author.sees_words("Zephyr, and a paste. The room was red");
    author.control('q');
    assert!(!author.quit);
    author.sees_words("your edit of the proposal for One");
    author.decides('s');
    assert!(author.quit);
    let kept = author.bench.proposal(&id).unwrap().proposal;
    assert!(kept.edited && kept.files[0].text().contains("Zephyr, and a paste. The room was red"));
}

#[test]
fn an_edit_keeps_the_line_ends_of_the_file() {
    let mut author = Author::at(120, 40);
    let crlf = ROOM.replace('\n', "\r\n");
    let id = author.gets("One", &[("notes/one.md", Some(&crlf), Some(&crlf.replace("grey", "red")))]);
    author.opens_next();
    author.decides('e');
    author.types("So: ");
    author.control('s');
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
    assert_eq!(author.text("notes/one.md"), crlf.replace("The room was grey", "So: The room was red"));
}

#[test]
fn what_led_to_a_proposal_is_one_key_away_and_leads_into_the_book() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.control('d');
    author.types("i");
    author.sees_words("What led to this proposal");
    author.sees_words("You asked the Developmental Editor");
    author.sees_words("get_character_context name: Adrian Vale");
    author.key(KeyCode::Esc);
    author.sees_words("○ pending");
    author.types("i");
    author.key(KeyCode::Enter);
    assert!(author.app.popups.is_empty());
    let path = author.app.document().unwrap().path.to_string();
    assert_eq!(path, "codex/characters/adrian-vale/dossier.md");
}

#[test]
fn cards_and_the_list_know_the_fate_of_a_proposal_also_after_a_restart() {
    let mut author = Author::at(120, 40);
    let path = "codex/characters/adrian-vale/dossier.md";
    let before = author.file(path);
    author.asks("Change Adrian's role to antagonist");
    author.opens_next();
    author.decides('e');
    author.press(KeyCode::End, KeyModifiers::CONTROL);
    author.types("A last line.");
    author.control('s');
    author.decides('a');
    author.sees_words("✓ applied as you edited it");
    let mut again = author.comes_back();
    again.happens_effect(super::effect::Effect::ReadProposals);
    again.happens_effect(super::effect::Effect::ReadConversation(None));
    again.key(KeyCode::F(3));
    again.key(KeyCode::End);
    again.sees_words("✓ applied as you edited it");
    again.happens(Msg::Run("list-proposals"));
    again.sees_words("applied as you edited it");
    again.key(KeyCode::Enter);
    again.waits(1);
    again.decides('u');
    again.sees_words("↶ undone");
    assert_eq!(again.file(path), before);
    again.decides('r');
    again.types("too soon");
    again.key(KeyCode::Enter);
    again.sees_words("✗ rejected: too soon");
    let mut third = again.comes_back();
    third.happens_effect(super::effect::Effect::ReadProposals);
    third.happens_effect(super::effect::Effect::ReadConversation(None));
    third.key(KeyCode::F(3));
    third.key(KeyCode::End);
    third.sees_words("✗ rejected: too soon");
}

#[test]
fn many_files_are_all_there_and_can_be_left_out_one_by_one() {
    let mut author = Author::at(120, 40);
    let files: Vec<String> = (0..40).map(|n| format!("notes/n{n}.md")).collect();
    let proposed = ROOM.replace("grey", "red");
    let mut changes: Vec<Change<'_>> =
        files.iter().map(|f| (f.as_str(), Some(ROOM), Some(proposed.as_str()))).collect();
    changes.push(("notes/gone.md", Some(ROOM), None));
    changes.push(("notes/new/made.md", None, Some("New.\n")));
    author.gets("All", &changes);
    author.opens_next();
    insta::assert_snapshot!("many_files_120x40", author.sees());
    author.key(KeyCode::Tab);
    author.sees_words("2/42 notes/n1.md");
    author.decides('f');
    author.sees_words("41 of 42 changes");
    author.key(KeyCode::End);
    author.sees_words("notes/gone.md · is removed");
    author.sees_words("notes/new/made.md · new file, 1 word");
    author.decides('a');
    author.sees_words("is removed only when all of the other files are written whole");
    for _ in 0..9 {
        if !author.sees().contains("▶ [x] The whole file") {
            author.types("j");
        }
    }
    author.decides(' ');
    author.sees_words("notes/gone.md · is removed, 12 words · left out");
    author.sees_words("40 of 42 changes");
    author.decides('a');
    author.sees_words("✓ applied");
    assert_eq!(author.text("notes/n1.md"), ROOM);
    assert_eq!(author.text("notes/n39.md"), proposed);
    assert_eq!(author.text("notes/gone.md"), ROOM);
    assert_eq!(author.text("notes/new/made.md"), "New.\n");
    author.decides('u');
    assert!(!author.bench.root().join("notes/new").exists());
}

#[test]
fn the_wheel_scrolls_and_keys_act_on_what_is_in_sight() {
    let mut author = Author::at(100, 30);
    let long = (0..60).map(|n| format!("Paragraph {n}.\n\n")).collect::<Vec<_>>().concat();
    let proposed = long.replace("graph 3.", "graph three.").replace("graph 55.", "graph last.");
    author.gets("Long", &[("notes/long.md", Some(&long), Some(&proposed))]);
    author.opens_next();
    author.types("w");
    for _ in 0..60 {
        let event = MouseEvent {
            kind: MouseEventKind::ScrollDown,
            column: 40,
            row: 12,
            modifiers: KeyModifiers::NONE,
        };
        author.happens(Msg::Mouse(event));
    }
    author.sees_words("▶ [x] Change 2 of 2");
    author.decides(' ');
    author.sees_words("▶ [ ] Change 2 of 2");
    author.sees_words("Paragraph 59.");
}

#[test]
fn side_by_side_has_room_from_eighty_columns() {
    let mut author = Author::at(140, 40);
    author.gets_a_word("One", "notes/one.md");
    author.opens_next();
    author.types("s");
    insta::assert_snapshot!("side_by_side_140x40", author.sees());
    author.happens(Msg::Resize(80, 24));
    insta::assert_snapshot!("side_by_side_80x24", author.sees());
    author.types("s");
    author.happens(Msg::Resize(70, 24));
    author.types("s");
    author.sees_words("Side by side needs a wider screen");
}

#[test]
fn the_verdict_waits_for_unsaved_words_and_the_save_key_works_from_there() {
    let mut author = Author::at(120, 40);
    let path = "manuscript/01-the-listening-post.md";
    let text = author.text(path);
    let id = author.gets("Post", &[(path, Some(&text), Some(&text.replacen("eleven", "twelve", 1)))]);
    author.types("Then. ");
    author.opens_next();
    author.decides('a');
    author.sees_words("has unsaved changes: save it first");
    assert_eq!(author.status(&id), Status::Pending);
    author.control('s');
    author.decides('a');
    assert_eq!(author.status(&id), Status::Applied);
    let now = author.text(path);
    assert!(now.starts_with("Then. ") && now.contains("twelve"), "both are in it");
}

#[test]
fn the_key_for_the_next_pending_one_passes_over_what_is_decided_and_comes_round() {
    let mut author = Author::at(120, 40);
    let decided = author.gets_a_word("One", "notes/one.md");
    author.gets_a_word("Two", "notes/two.md");
    author.gets_a_word("Three", "notes/three.md");
    author.bench.reject(&decided, None).unwrap();
    author.happens_effect(super::effect::Effect::ReadProposals);
    author.opens_next();
    for name in ["Three", "Two", "Three"] {
        author.control('d');
        author.sees_words(&format!("location · {name}"));
    }
    author.waits(1);
    author.decides('a');
    author.control('d');
    author.sees_words("location · Two");
    author.control('d');
    author.sees_words("No other proposal waits.");
    author.waits(1);
    author.decides('a');
    author.control('d');
    author.sees_words("No proposal waits any more.");
}

#[test]
fn after_a_restart_a_proposal_that_was_taken_in_part_says_what_was_left_out() {
    let mut author = Author::at(120, 40);
    let proposed = ROOM.replace("grey", "red").replace("The end", "An end");
    author.gets("One", &[("notes/one.md", Some(ROOM), Some(&proposed)), ("notes/new.md", None, Some("N\n"))]);
    author.opens_next();
    author.decides(' ');
    author.key(KeyCode::Tab);
    author.decides('f');
    author.decides('a');
    let told = ["Change 1 of 2 · Room · line 3 · left out", "notes/new.md · new file, 1 word · left out"];
    for words in told {
        author.sees_words(words);
    }
    let mut again = author.comes_back();
    again.happens_effect(super::effect::Effect::ReadProposals);
    again.happens(Msg::Run("list-proposals"));
    again.key(KeyCode::Enter);
    again.sees_words("✓ applied · 1 of 3 changes");
    for words in told {
        again.sees_words(words);
    }
    again.waits(1);
    again.decides('u');
    assert_eq!(again.text("notes/one.md"), ROOM);
    again.decides('a');
    assert_eq!(again.text("notes/one.md"), ROOM.replace("The end", "An end"), "the same part again");
}

#[test]
fn after_a_restart_a_proposal_that_was_merged_shows_what_was_really_written() {
    let mut author = Author::at(120, 40);
    author.gets_a_word("One", "notes/one.md");
    let mine = ROOM.replace("cold.", "damp, and so it stayed for the whole of the winter.");
    std::fs::write(author.bench.root().join("notes/one.md"), &mine).unwrap();
    author.opens_next();
    author.decides('a');
    assert_eq!(author.text("notes/one.md"), mine.replace("grey", "red"));
    let mut again = author.comes_back();
    again.happens_effect(super::effect::Effect::ReadProposals);
    again.happens(Msg::Run("list-proposals"));
    again.key(KeyCode::Enter);
    again.sees_words("below is what was really written");
    again.sees_words("damp, and so it stayed");
}

#[test]
fn a_text_that_was_edited_elsewhere_is_not_accepted_unseen() {
    let mut author = Author::at(120, 40);
    let id = author.gets_a_word("One", "notes/one.md");
    author.opens_next();
    let other = ROOM.replace("grey", "scarlet");
    author.bench.edit(&id, 0, other.clone()).unwrap();
    author.decides('a');
    author.sees_words("it has changed since you read it");
    assert_eq!(author.text("notes/one.md"), ROOM);
    author.sees_words("scarlet");
    author.decides('a');
    assert_eq!(author.text("notes/one.md"), other);
}

#[test]
fn a_choice_holds_only_for_the_words_that_it_was_made_between() {
    let mut author = Author::at(120, 40);
    author.gets_a_word("One", "notes/one.md");
    let write = |author: &Author, word: &str| {
        std::fs::write(author.bench.root().join("notes/one.md"), ROOM.replace("grey", word)).unwrap();
    };
    write(&author, "blue");
    author.happens_effect(super::effect::Effect::ReadProposals);
    author.opens_next();
    author.decides('2');
    write(&author, "green");
    author.happens_effect(super::effect::Effect::ReadProposals);
    author.sees_words("1 place to choose");
    author.decides('a');
    assert_eq!(author.text("notes/one.md"), ROOM.replace("grey", "green"), "nothing was written");
}
