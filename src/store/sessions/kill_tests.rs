//! A process that talks is killed at every point of writing: whatever it was doing, every conversation opens and goes on.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use super::tests::{HERE, talk};
use super::*;
use crate::domain::conversation::TurnStatus;
use crate::store::crash;

const CHILD: &str = "store::sessions::kill_tests::in_a_process_of_its_own";
const AT: &str = "SCRITORIO_TEST_KILL_TALK_AT";
const ROOT: &str = "SCRITORIO_TEST_KILL_TALK_IN";
const SIGKILL: i32 = 9;

/// Everything that is written of conversations, once.
fn talks(root: &Path) {
    let here = SessionId::new(HERE);
    talk(root, "t-2", TurnStatus::Done, None);
    rename(root, &here, "Named").unwrap();
    talk(root, "t-3", TurnStatus::Done, Some("t-2"));
    list(root).unwrap();
    let other = fork(root, &here, None, "Other").unwrap();
    delete(root, &here).unwrap();
    restore(root, &here).unwrap();
    delete_for_ever(root, &other).unwrap();
}

/// Not a test of its own: what the other one starts. Does nothing otherwise.
#[test]
fn in_a_process_of_its_own() {
    let (Ok(at), Ok(root)) = (std::env::var(AT), std::env::var(ROOT)) else { return };
    crash::arm(at.parse().unwrap());
    talks(Path::new(&root));
}

#[test]
fn killed_at_any_point_of_writing_every_conversation_opens_and_goes_on() {
    let here = SessionId::new(HERE);
    for at in 1.. {
        let root = tempfile::tempdir().unwrap();
        talk(root.path(), "t-1", TurnStatus::Done, None);
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD])
            .env(AT, at.to_string())
            .env(ROOT, root.path())
            .output()
            .unwrap();
        if output.status.success() {
            assert!(at > 12, "only {at} points were passed");
            return;
        }
        assert_eq!(output.status.signal(), Some(SIGKILL), "{}", String::from_utf8_lossy(&output.stdout));
        if !exists(root.path(), &here) {
            restore(root.path(), &here).unwrap();
        }
        let found = read(root.path(), &here).unwrap();
        assert!(found.skipped <= 1, "point {at}: {} lines are torn", found.skipped);
        assert_eq!(found.turns.first().map(|kept| kept.turn.id.as_str()), Some("t-1"), "point {at}");
        talk(root.path(), "t-9", TurnStatus::Done, None);
        let again = read(root.path(), &here).unwrap();
        assert_eq!(again.turns.len(), found.turns.len() + 1, "point {at}");
        for summary in list(root.path()).unwrap() {
            assert!(summary.questions > 0 && summary.skipped <= 1, "point {at}: {summary:?}");
            assert_eq!(
                read(root.path(), &summary.session).unwrap().turns.len(),
                summary.questions,
                "point {at}"
            );
        }
    }
}
