use std::fs;

use super::*;
use crate::domain::codex::EntryType;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::passage::sha256_hex;
use crate::proposal::FileChange;
use crate::proposal::apply::Conflict;
use crate::proposal::merge::{self, Pick};
use crate::workbench::Outcome;
use crate::workbench::{Overrides, Surroundings};

struct Desk {
    folder: tempfile::TempDir,
    bench: Workbench,
}

impl Desk {
    fn new() -> Self {
        // Hundreds of books are made here, and every write waits for the disk: in memory, where there is such a folder.
        let memory = tempfile::tempdir_in("/dev/shm");
        let folder = memory.or_else(|_| tempfile::tempdir()).unwrap();
        let book = folder.path().join("book");
        fs::create_dir_all(book.join("codex/characters")).unwrap();
        fs::write(book.join("codex/characters/mira.md"), "role: rival\n").unwrap();
        let surroundings = Surroundings::in_folders(folder.path());
        let bench = Workbench::open_in(&book, Overrides::default(), surroundings).unwrap();
        Self { folder, bench }
    }

    /// The same book after the program was started again.
    fn again(&self) -> Workbench {
        let surroundings = Surroundings::in_folders(self.folder.path());
        Workbench::open_in(self.bench.root(), Overrides::default(), surroundings).unwrap()
    }

    fn propose(&self, files: &[(&str, Option<&str>, &str)]) -> ProposalId {
        let id = ProposalId::mint();
        let file = |(path, base, proposed): &(&str, Option<&str>, &str)| FileChange {
            path: BookPath::new(path).unwrap(),
            base: base.map(str::to_owned),
            base_hash: base.map(sha256_hex),
            proposed: Some((*proposed).to_owned()),
        };
        let proposal = Proposal {
            id: id.clone(),
            tool: "propose_codex_update".into(),
            subject: EntryType::Character.into(),
            entry: "Mira".into(),
            summary: "Mira is an ally".into(),
            warnings: vec![],
            files: files.iter().map(file).collect(),
            edited: false,
        };
        self.bench.queue(&SessionId::new("s-1"), &TurnId::new("t-1"), &proposal).unwrap();
        id
    }

    fn both(&self) -> ProposalId {
        self.propose(&[
            ("codex/characters/mira.md", Some("role: rival\n"), "role: ally\n"),
            ("codex/characters/ilse/soul.md", None, "Ilse\n"),
        ])
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.bench.root().join(path)).ok()
    }
}

#[test]
fn accepting_writes_and_taking_back_restores_also_after_a_restart() {
    let desk = Desk::new();
    let id = desk.both();
    assert_eq!(desk.bench.apply(&id, &[]).unwrap().status, Status::Applied);
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: ally\n");
    assert_eq!(desk.again().undo(&id).unwrap().status, Status::Undone);
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n");
    assert!(!desk.bench.root().join("codex/characters/ilse").exists());
    assert_eq!(desk.bench.redo(&id).unwrap().status, Status::Applied);
    assert_eq!(desk.read("codex/characters/ilse/soul.md").unwrap(), "Ilse\n");
}

#[test]
fn a_verdict_fits_the_state_or_is_refused() {
    let desk = Desk::new();
    let id = desk.both();
    assert!(matches!(desk.bench.undo(&id), Err(JudgeError::State { .. })));
    assert!(matches!(desk.bench.redo(&id), Err(JudgeError::State { .. })));
    desk.bench.reject(&id, Some(" ")).unwrap();
    assert_eq!(desk.bench.proposal(&id).unwrap().why, None);
    let error = desk.bench.apply(&id, &[]).unwrap_err().to_string();
    assert!(error.ends_with("is rejected, so it can't be applied"), "{error}");
    assert!(matches!(desk.bench.apply(&ProposalId::new("p-none"), &[]), Err(JudgeError::Unknown(_))));
}

#[test]
fn what_the_author_edited_is_what_is_written() {
    let desk = Desk::new();
    let id = desk.both();
    assert!(desk.bench.edit(&id, 0, "role: friend\n".into()).unwrap().proposal.edited);
    assert!(matches!(desk.bench.edit(&id, 2, String::new()), Err(JudgeError::NoFile { files: 2, .. })));
    desk.bench.apply(&id, &[]).unwrap();
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: friend\n");
    assert!(matches!(desk.bench.edit(&id, 0, String::new()), Err(JudgeError::State { .. })));
}

#[test]
fn a_file_that_is_there_by_now_is_not_overwritten() {
    let desk = Desk::new();
    let id = desk.both();
    fs::create_dir_all(desk.bench.root().join("codex/characters/ilse")).unwrap();
    fs::write(desk.bench.root().join("codex/characters/ilse/soul.md"), "mine").unwrap();
    assert_eq!(desk.bench.proposal(&id).unwrap().status, Status::Stale);
    assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::Conflict(Conflict::Exists { .. }))));
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n", "all or nothing");
}

#[test]
fn a_file_in_an_old_encoding_is_left_alone_and_the_reason_is_told() {
    let desk = Desk::new();
    let bytes = b"role: h\xe9ros\n";
    fs::write(desk.bench.root().join("codex/characters/mira.md"), bytes).unwrap();
    let id = desk.propose(&[("codex/characters/mira.md", Some("role: h\u{e9}ros\n"), "role: ally\n")]);
    let warning = &desk.bench.proposal(&id).unwrap().proposal.warnings[0];
    assert!(warning.contains("can't be changed: the file is not UTF-8"), "{warning}");
    assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::ReadOnly { .. })));
    assert_eq!(fs::read(desk.bench.root().join("codex/characters/mira.md")).unwrap(), bytes);
}

#[test]
fn a_hidden_folder_is_out_of_bounds() {
    let desk = Desk::new();
    for path in [".git/hooks/pre-commit", ".scritorio/proposals.jsonl", "codex/.x/a.md"] {
        let id = desk.propose(&[(path, None, "x")]);
        assert!(matches!(desk.bench.apply(&id, &[]), Err(JudgeError::Hidden { .. })), "{path}");
        assert!(desk.bench.root().join(path).is_file() == path.contains("proposals.jsonl"));
    }
}

/// Applies, and forgets that it did: what is left on the disk when the program ends right after the files were written.
fn cut_short(desk: &Desk, id: &ProposalId) {
    let queue = desk.bench.root().join(".scritorio/proposals.jsonl");
    let before = fs::read(&queue).unwrap();
    desk.bench.apply(id, &[]).unwrap();
    fs::write(&queue, before).unwrap();
}

#[test]
fn an_apply_that_was_written_but_not_recorded_counts_as_applied() {
    let desk = Desk::new();
    let id = desk.both();
    cut_short(&desk, &id);
    let bench = desk.again();
    assert_eq!(bench.proposal(&id).unwrap().status, Status::Applied);
    assert!(matches!(bench.apply(&id, &[]), Err(JudgeError::State { status: Status::Applied, .. })));
    bench.undo(&id).unwrap();
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: rival\n");
}

#[test]
fn an_apply_that_was_half_written_is_put_right_when_the_proposals_are_looked_at() {
    let desk = Desk::new();
    let id = desk.both();
    cut_short(&desk, &id);
    fs::remove_dir_all(desk.bench.root().join("codex/characters/ilse")).unwrap();
    let bench = desk.again();
    let queued = &bench.proposals()[0];
    assert_eq!(queued.status, Status::Pending);
    assert!(queued.proposal.warnings.is_empty());
    assert_eq!(desk.read(MIRA).unwrap(), "role: rival\n");
    bench.apply(&id, &[]).unwrap();
    assert_eq!(desk.read(MIRA).unwrap(), "role: ally\n");
}

const MIRA: &str = "codex/characters/mira.md";

/// One paragraph of a few sentences, so that all changes are in one line.
const LINE: &str = "Mira keeps the ferry book. She owns a grey coat. Nobody has seen her laugh. The port belongs to her uncle.\n";

impl Desk {
    fn write(&self, text: &str) {
        fs::write(self.bench.root().join(MIRA), text).unwrap();
    }

    /// A proposal that makes `new` of `old` in the file as it is now.
    fn change(&self, old: &str, new: &str) -> ProposalId {
        let now = self.read(MIRA).unwrap();
        assert!(now.contains(old));
        self.propose(&[(MIRA, Some(&now), &now.replace(old, new))])
    }

    fn fates(&self) -> Vec<(String, Vec<Changed>)> {
        let records = self.bench.ledger().records().unwrap();
        let fate = |(_, record)| match record {
            Record::Fate(fate) => Some((fate.fate, fate.files)),
            Record::Turn(_) => None,
        };
        records.into_iter().filter_map(fate).collect()
    }
}

#[test]
fn proposals_are_undone_and_redone_in_any_order_also_after_a_restart() {
    let desk = Desk::new();
    desk.write(LINE);
    let coat = desk.change("grey", "green");
    let laugh = desk.change("laugh", "smile");
    for id in [&coat, &laugh] {
        desk.bench.apply(id, &[]).unwrap();
    }
    let both = LINE.replace("grey", "green").replace("laugh", "smile");
    assert_eq!(desk.read(MIRA).unwrap(), both);
    desk.write(&both.replace("uncle", "aunt"));
    for _ in 0..3 {
        desk.again().undo(&coat).unwrap();
        assert_eq!(desk.read(MIRA).unwrap(), both.replace("green", "grey").replace("uncle", "aunt"));
        desk.again().undo(&laugh).unwrap();
        assert_eq!(desk.read(MIRA).unwrap(), LINE.replace("uncle", "aunt"));
        desk.again().redo(&coat).unwrap();
        desk.again().redo(&laugh).unwrap();
        assert_eq!(desk.read(MIRA).unwrap(), both.replace("uncle", "aunt"));
    }
}

#[test]
fn a_later_proposal_in_the_same_place_is_named_and_out_of_the_way_once_undone() {
    let desk = Desk::new();
    desk.write(LINE);
    let first = desk.change("grey", "green");
    desk.bench.apply(&first, &[]).unwrap();
    let other = desk.change("laugh", "smile");
    desk.bench.apply(&other, &[]).unwrap();
    let second = desk.change("green", "blue");
    desk.bench.apply(&second, &[]).unwrap();
    let text = desk.read(MIRA).unwrap();
    let error = desk.bench.undo(&first).unwrap_err();
    let JudgeError::InTheWay { line, blocker, .. } = &error else { panic!("{error:?}") };
    assert_eq!((*line, blocker), (Some(1), &Blocker::Proposals(vec![second.clone()])));
    assert_eq!(
        error.to_string(),
        format!("it can't be undone: proposal {second} changed {MIRA}, line 1, since; nothing was written")
    );
    assert_eq!(desk.read(MIRA).unwrap(), text);
    for id in [&second, &first, &other] {
        desk.bench.undo(id).unwrap();
    }
    assert_eq!(desk.read(MIRA).unwrap(), LINE);
    desk.bench.redo(&second).unwrap_err();
    assert_eq!(desk.read(MIRA).unwrap(), LINE, "the second one's place is not there without the first");
    desk.bench.redo(&first).unwrap();
    desk.bench.redo(&second).unwrap();
}

#[test]
fn the_authors_own_later_words_are_in_the_way_and_stay() {
    let desk = Desk::new();
    desk.write(&format!("# Mira\n\n{LINE}"));
    let id = desk.change("grey", "green");
    desk.bench.apply(&id, &[]).unwrap();
    let mine = desk.read(MIRA).unwrap().replace("green", "torn");
    desk.write(&mine);
    let error = desk.bench.undo(&id).unwrap_err();
    assert!(
        matches!(
            &error,
            JudgeError::InTheWay { line: Some(3), blocker: Blocker::Author(Obstacle::SameWords), .. }
        ),
        "{error:?}"
    );
    assert_eq!(desk.read(MIRA).unwrap(), mine);
    assert_eq!(desk.bench.proposal(&id).unwrap().status, Status::Applied);
}

#[test]
fn a_file_that_a_proposal_made_and_the_author_edited_is_not_deleted() {
    let desk = Desk::new();
    let id = desk.both();
    desk.bench.apply(&id, &[]).unwrap();
    let soul = desk.bench.root().join("codex/characters/ilse/soul.md");
    fs::write(&soul, "Ilse\nmine\n").unwrap();
    let error = desk.bench.undo(&id).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it can't be undone: codex/characters/ilse/soul.md would go, and was edited since; nothing was written"
    );
    assert_eq!(desk.read(MIRA).unwrap(), "role: ally\n", "all or nothing");
    fs::write(&soul, "Ilse\n").unwrap();
    desk.bench.undo(&id).unwrap();
    fs::create_dir_all(soul.parent().unwrap()).unwrap();
    fs::write(&soul, "mine\n").unwrap();
    let error = desk.bench.redo(&id).unwrap_err();
    assert!(matches!(error, JudgeError::InTheWay { blocker: Blocker::Author(Obstacle::Taken), .. }));
}

#[test]
fn a_file_that_a_proposal_moved_comes_back_to_the_byte() {
    let desk = Desk::new();
    let text = "\u{feff}role: rival\r\nno end";
    desk.write(text);
    let id = desk.propose(&[("codex/characters/mira/dossier.md", None, text), (MIRA, Some(text), "")]);
    let mut queued = desk.bench.queued(&id).unwrap();
    queued.proposal.files[1].proposed = None;
    let id = ProposalId::mint();
    queued.proposal.id = id.clone();
    desk.bench.queue(&queued.session, &queued.turn, &queued.proposal).unwrap();
    for _ in 0..2 {
        desk.bench.apply(&id, &[]).or_else(|_| desk.bench.redo(&id)).unwrap();
        assert_eq!(desk.read(MIRA), None);
        assert_eq!(desk.read("codex/characters/mira/dossier.md").as_deref(), Some(text));
        desk.again().undo(&id).unwrap();
        assert_eq!(desk.read(MIRA).as_deref(), Some(text));
        assert!(!desk.bench.root().join("codex/characters/mira").exists());
    }
}

#[test]
fn every_fate_is_recorded_with_the_hashes_that_were_written() {
    let desk = Desk::new();
    desk.write(LINE);
    let id = desk.change("grey", "green");
    desk.bench.apply(&id, &[]).unwrap();
    desk.write(&desk.read(MIRA).unwrap().replace("uncle", "aunt"));
    desk.bench.undo(&id).unwrap();
    desk.bench.redo(&id).unwrap();
    let hash = |text: String| Some(sha256_hex(text));
    let (aunt, green) = (LINE.replace("uncle", "aunt"), LINE.replace("grey", "green"));
    let both = aunt.replace("grey", "green");
    let expected = [
        ("applied", hash(LINE.into()), hash(green)),
        ("undone", hash(both.clone()), hash(aunt.clone())),
        ("redone", hash(aunt), hash(both)),
    ];
    let told = desk.fates();
    assert_eq!(told.len(), expected.len());
    for ((fate, files), (name, before, after)) in told.iter().zip(expected) {
        assert_eq!((fate.as_str(), &files[0].before, &files[0].after), (name, &before, &after));
    }
}

#[test]
fn what_both_changed_is_shown_settled_by_the_author_and_then_applied() {
    let desk = Desk::new();
    desk.write(LINE);
    let id = desk.change("grey", "green");
    let now = LINE.replace("grey", "torn").replace("uncle", "aunt");
    desk.write(&now);
    assert_eq!(desk.bench.proposal(&id).unwrap().status, Status::Stale);
    let error = desk.bench.apply(&id, &[]).unwrap_err();
    assert!(matches!(error, JudgeError::Conflict(Conflict::Changed { .. })), "{error:?}");
    let review = desk.bench.review(&id).unwrap();
    assert!(review.is_open());
    let Outcome::Conflict(regions) = &review.files[0].outcome else { panic!("{review:?}") };
    let settled = merge::settle(regions, &[Pick::Theirs]).unwrap();
    desk.bench.resolve(&id, 0, &now, settled).unwrap();
    // The author writes on in the meantime.
    desk.write(&now.replace("ferry", "tide"));
    let queued = desk.bench.apply(&id, &[]).unwrap();
    assert!(queued.proposal.edited);
    let expected = LINE.replace("grey", "green").replace("uncle", "aunt").replace("ferry", "tide");
    assert_eq!(desk.read(MIRA).unwrap(), expected);
    assert_eq!(desk.fates().iter().map(|(fate, _)| fate.as_str()).collect::<Vec<_>>(), ["edited", "applied"]);
    desk.again().undo(&id).unwrap();
    assert_eq!(desk.read(MIRA).unwrap(), now.replace("ferry", "tide"));
}

#[test]
fn looking_at_a_proposal_says_what_each_file_would_become_and_writes_nothing() {
    let desk = Desk::new();
    let id = desk.both();
    let outcomes = |id: &ProposalId| -> Vec<Outcome> {
        desk.bench.review(id).unwrap().files.into_iter().map(|file| file.outcome).collect()
    };
    assert_eq!(outcomes(&id), [Outcome::Written("role: ally\n".into()), Outcome::Written("Ilse\n".into())]);
    desk.write("role: ally\n");
    fs::create_dir_all(desk.bench.root().join("codex/characters/ilse")).unwrap();
    fs::write(desk.bench.root().join("codex/characters/ilse/soul.md"), "mine").unwrap();
    let found = outcomes(&id);
    assert_eq!(found[0], Outcome::Unchanged);
    assert!(matches!(&found[1], Outcome::Blocked(why) if why.contains("exists already")), "{found:?}");
    assert!(matches!(desk.bench.resolve(&id, 1, "mine", "x".into()), Err(JudgeError::Conflict(_))));
    assert!(matches!(desk.bench.resolve(&id, 7, "mine", "x".into()), Err(JudgeError::NoFile { .. })));
}

#[test]
fn chosen_hunks_alone_are_written_and_taken_back_and_written_again() {
    let desk = Desk::new();
    let base = "one\n2\n3\n4\n5\n6\n7\nend\n";
    fs::write(desk.bench.root().join("codex/characters/mira.md"), base).unwrap();
    let proposed = base.replace("one", "ONE").replace("end", "END");
    let id = desk.propose(&[("codex/characters/mira.md", Some(base), &proposed)]);
    desk.bench.apply(&id, &[vec![true, false]]).unwrap();
    let half = base.replace("one", "ONE");
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), half);
    desk.bench.undo(&id).unwrap();
    desk.bench.redo(&id).unwrap();
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), half, "what was chosen stays chosen");
}

#[test]
fn two_that_judge_at_once_do_not_both_win() {
    let desk = Desk::new();
    let id = desk.both();
    let won = std::thread::scope(|scope| {
        let judges = [desk.again(), desk.again()].map(|bench| {
            let id = id.clone();
            scope.spawn(move || bench.apply(&id, &[]).is_ok())
        });
        judges.map(|judge| judge.join().unwrap())
    });
    assert_eq!(won.iter().filter(|won| **won).count(), 1);
    assert_eq!(desk.read("codex/characters/mira.md").unwrap(), "role: ally\n");
}

#[cfg(unix)]
mod kill {
    mod tests;
}

mod order {
    mod tests;
}
