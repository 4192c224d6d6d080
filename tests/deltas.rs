//! An answer that arrives in very many very small pieces: none is lost, doubled or moved between the socket and the screen, the
//! conversation and the disk.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

#[path = "support/flood.rs"]
mod flood;

use flood::Flood;
use scritorio::agent::driver;
use scritorio::agent::event::TurnEventKind;
use scritorio::domain::conversation::TurnStatus;
use scritorio::tui::stage::Stage;
use scritorio::workbench::ask::Ask;

const SIZE: (u16, u16) = (120, 40);

/// Ten seconds of ten thousand a second, as fast as they are taken.
const FLOOD: Flood = Flood { deltas: 100_000, words: 1, in_a_millisecond: None, paragraph: 60 };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_a_hundred_thousand_deltas_none_is_lost_on_the_way_to_the_screen_and_to_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let bench = flood::book(folder.path(), &FLOOD.serve(), 500);
    let mut stage = Stage::new(&bench, SIZE).unwrap();
    let ask = Ask { question: "Go on.".into(), ..Ask::default() };
    let setup = bench.prepare(&ask).unwrap();
    let session = bench.begin(&ask, &setup);
    stage.begin_as(setup.id.clone());
    let mut running = driver::start(setup);
    let (mut deltas, mut ended) = (0, None);
    while let Some(event) = running.events.recv().await {
        match &event.kind {
            TurnEventKind::Text(words) => {
                assert_eq!(*words, FLOOD.delta(deltas), "the next one, whole");
                deltas += 1;
            }
            TurnEventKind::Ended(end) => {
                assert_eq!(
                    stage.answer(),
                    FLOOD.text(),
                    "what streamed in is all there before the end tells it again"
                );
                ended = Some(end.clone());
            }
            _ => {}
        }
        stage.event(event);
        if deltas % 5_000 == 0 {
            stage.frame().unwrap();
        }
    }
    assert_eq!(deltas, FLOOD.deltas);
    let ended = ended.unwrap();
    assert_eq!((&ended.turn.status, ended.turn.answer.as_str()), (&TurnStatus::Done, FLOOD.text().as_str()));
    let finished = bench.finish(&session, &ask, *ended);
    assert_eq!((finished.not_kept.as_ref(), finished.turn.answer.as_str()), (None, FLOOD.text().as_str()));
    stage.finished(finished);
    stage.frame().unwrap();
    assert_eq!(stage.answer(), FLOOD.text());
    let kept = bench.root().join(format!(".scritorio/sessions/{session}.jsonl"));
    let kept = std::fs::read_to_string(kept).unwrap();
    let line: serde_json::Value = serde_json::from_str(kept.lines().last().unwrap()).unwrap();
    assert_eq!(line["kept"]["turn"]["answer"], FLOOD.text());
}
