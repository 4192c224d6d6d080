use std::fs;

use super::*;
use crate::agent::driver;
use crate::agent::event::TurnEventKind;
use crate::workbench::{Ask, Overrides, Surroundings};

fn bench(folder: &Path) -> Workbench {
    let book = folder.join("book");
    fs::create_dir_all(book.join("codex/characters")).unwrap();
    fs::create_dir_all(book.join("manuscript")).unwrap();
    fs::write(
        book.join("codex/characters/mira.md"),
        "---\nname: Mira Okafor\nrole: rival\n---\n\nShe keeps the log.\n",
    )
    .unwrap();
    fs::write(book.join("manuscript/01.md"), "# One\n\nMira Okafor counted the lamps.\n").unwrap();
    fs::write(book.join("scritorio.toml"), "[book]\ntitle = \"The Lamp\"\nauthor = \"H. Carraway\"\n")
        .unwrap();
    let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
    Workbench::open_in(&book, overrides, Surroundings::in_folders(folder)).unwrap()
}

fn ask(bench: &Workbench, question: &str) -> crate::domain::conversation::Turn {
    let ask = Ask { question: question.into(), ..Ask::default() };
    let setup = bench.prepare(&ask).unwrap();
    let session = bench.begin(&ask, &setup);
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
    bench.finish(&session, &ask, ended).turn
}

#[test]
fn a_book_without_records_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let report = bench(folder.path()).provenance_report().unwrap();
    assert_eq!(
        (report.period.clone(), report.turns, report.proposals),
        (None, Turns::default(), Fates::default())
    );
    let text = report.text();
    assert!(text.starts_with("How AI was used for \"The Lamp\", by H. Carraway"), "{text}");
    assert!(text.contains("no board member was asked") && text.contains("Nothing is recorded yet."));
    assert!(!text.contains('\u{2014}'));
    assert!(!folder.path().join("book/.scritorio").exists(), "a report makes nothing");
}

#[test]
fn a_report_tells_what_was_asked_read_accepted_and_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let turn = ask(&bench, "Change Mira Okafor's role to antagonist");
    bench.apply(&turn.proposals[0], &[]).unwrap();
    ask(&bench, "Who is Mira Okafor?");
    let report = bench.provenance_report().unwrap();
    assert_eq!((report.turns.asked, report.turns.answered, report.conversations), (2, 2, 2));
    assert_eq!(report.models[0].turns, 2);
    assert_eq!(report.members[0].name, "Developmental Editor");
    assert_eq!(report.files_read[0].path.as_str(), "codex/characters/mira.md");
    assert_eq!((report.proposals.made, report.proposals.accepted), (1, 1));
    let file = &report.written.files[0];
    assert_eq!((file.path.as_str(), file.added, file.still_there), ("codex/characters/mira.md", 10, 10));
    assert_eq!((report.written.manuscript_still_there, report.sent.requests), (0, 0));
    assert_eq!(report.chains[0].words, "intact and anchored");
    let text = report.text();
    assert!(text.contains("codex/characters/mira.md: 10 characters added, 10 of them still there"), "{text}");
    assert!(text.contains("(inside the program: no AI model, and nothing leaves the machine)"), "{text}");

    fs::write(folder.path().join("book/codex/characters/mira.md"), "# Mira\n").unwrap();
    let report = bench.provenance_report().unwrap();
    assert_eq!((report.written.files[0].added, report.written.files[0].still_there), (10, 0));
    bench.reject(&turn.proposals[0], None).unwrap_err();
}

#[test]
fn numbers_are_written_for_people() {
    assert_eq!(
        (words::number(0), words::number(1234), words::number(1_234_567)),
        ("0".into(), "1,234".into(), "1,234,567".into())
    );
}
