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
fn what_was_accepted_where_its_texts_are_not_is_not_known_and_never_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    let turn = ask(&bench, "Change Mira Okafor's role to antagonist");
    bench.apply(&turn.proposals[0], &[]).unwrap();
    let ours = folder.path().join("book/.scritorio");
    let written = |report: &Report| (report.written.not_known, report.written.files.len());
    // The queue alone is gone: the texts are still here.
    fs::rename(ours.join("proposals.jsonl"), folder.path().join("queue")).unwrap();
    assert_eq!(written(&bench.provenance_report().unwrap()), (0, 1));
    // The texts are others than the chain names.
    let journal = ours.join(format!("journal/{}.json", turn.proposals[0]));
    let texts = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, texts.replace("antagonist", "adversary")).unwrap();
    assert_eq!(written(&bench.provenance_report().unwrap()), (1, 0));
    // A clone has neither.
    fs::remove_file(&journal).unwrap();
    let report = bench.provenance_report().unwrap();
    assert_eq!((written(&report), report.proposals.accepted), ((1, 0), 1));
    let text = report.text();
    assert!(
        text.contains("at least 0 came from accepted proposals; 1 accepted proposal is not known here."),
        "{text}"
    );
    let (_, section) = text.split_once("What came into the text").unwrap();
    assert!(section.contains("What 1 accepted proposal brought is not known here"), "{text}");
    assert!(!section.contains("Nothing.") && !text.contains("(none)"), "{text}");
    fs::rename(folder.path().join("queue"), ours.join("proposals.jsonl")).unwrap();
    assert_eq!(bench.provenance_report().unwrap().written.not_known, 1, "the queue alone knows no texts");
    fs::write(&journal, texts).unwrap();
    bench.undo(&turn.proposals[0]).unwrap();
    assert_eq!(written(&bench.provenance_report().unwrap()), (0, 0), "it is not in the text any more");
}

#[test]
fn what_is_kept_from_ai_now_may_have_been_read_before() {
    let folder = tempfile::tempdir().unwrap();
    let bench = bench(folder.path());
    ask(&bench, "Who is Mira Okafor?");
    let mira = folder.path().join("book/codex/characters/mira.md");
    let text = fs::read_to_string(&mira).unwrap();
    fs::write(&mira, text.replacen("---\n", "---\nai: never\n", 1)).unwrap();
    fs::create_dir_all(folder.path().join("book/notes")).unwrap();
    fs::write(folder.path().join("book/notes/n.md"), "---\nai: never\n---\nMine.\n").unwrap();
    bench.refresh().unwrap();
    let report = bench.provenance_report().unwrap();
    assert_eq!((report.files_kept_from_ai, report.files_kept_from_ai_read_before), (2, 1));
    let words =
        "The author now keeps 2 files from AI. Of 1 of them a board member had read something before that.";
    assert!(report.text().contains(words), "{}", report.text());
}

#[test]
fn numbers_are_written_for_people() {
    assert_eq!(
        (words::number(0), words::number(1234), words::number(1_234_567)),
        ("0".into(), "1,234".into(), "1,234,567".into())
    );
}
