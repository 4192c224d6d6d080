use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use super::super::*;
use crate::store::crash;
use crate::store::provenance::Verdict;

const CHILD: &str = "workbench::judge::tests::kill::tests::in_a_process_of_its_own";
const AT: &str = "SCRITORIO_TEST_KILL_AT";
const DOES: &str = "SCRITORIO_TEST_KILL_DOES";

const SOUL: &str = "codex/characters/ilse/soul.md";
const FLAT: &str = "codex/characters/jon.md";
const SIGKILL: i32 = 9;

/// The book's own files with their bytes, and its folders. What a kill left of writing is among them.
type Tree = BTreeMap<String, Vec<u8>>;

fn tree(root: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for item in fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.ends_with(".scritorio") {
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                found.insert(name + "/", vec![]);
                folders.push(path);
            } else {
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// A book with one proposal of three files (changed, made in a new folder, removed), and the author's own words after it was made.
fn book() -> (Desk, ProposalId) {
    let desk = Desk::new();
    desk.write(LINE);
    fs::write(desk.bench.root().join(FLAT), "Jon\r\n").unwrap();
    let mut proposal = desk.bench.queued(&desk.both()).unwrap().proposal;
    proposal.id = ProposalId::mint();
    let file = |path: &str, base: Option<&str>, proposed: Option<&str>| FileChange {
        path: BookPath::new(path).unwrap(),
        base: base.map(str::to_owned),
        base_hash: base.map(sha256_hex),
        proposed: proposed.map(str::to_owned),
    };
    proposal.files = vec![
        file(MIRA, Some(LINE), Some(&LINE.replace("grey", "green"))),
        file(SOUL, None, Some("Ilse\n")),
        file(FLAT, Some("Jon\r\n"), None),
    ];
    desk.bench.queue(&SessionId::new("s-1"), &TurnId::new("t-1"), &proposal).unwrap();
    desk.write(&LINE.replace("uncle", "aunt"));
    (desk, proposal.id)
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Does {
    Apply,
    Undo,
    Redo,
    Resolve,
    Reject,
}

impl Does {
    const ALL: [Self; 5] = [Self::Apply, Self::Undo, Self::Redo, Self::Resolve, Self::Reject];

    /// Does on the bench what comes before.
    fn prepare(self, bench: &Workbench, id: &ProposalId) {
        if matches!(self, Self::Undo | Self::Redo) {
            bench.apply(id, &[]).unwrap();
            let mira = bench.root().join(MIRA);
            let text = fs::read_to_string(&mira).unwrap();
            fs::write(mira, text.replace("ferry", "tide")).unwrap();
        }
        if self == Self::Redo {
            bench.undo(id).unwrap();
        }
    }

    fn go(self, bench: &Workbench, id: &ProposalId) -> Result<QueuedProposal, JudgeError> {
        match self {
            Self::Apply => bench.apply(id, &[]),
            Self::Undo => bench.undo(id),
            Self::Redo => bench.redo(id),
            Self::Resolve => bench.resolve(id, 0, "seen", "settled".into()),
            Self::Reject => bench.reject(id, Some("no")),
        }
    }

    /// The state before and after.
    fn states(self) -> (Status, Status) {
        match self {
            Self::Apply => (Status::Pending, Status::Applied),
            Self::Undo => (Status::Applied, Status::Undone),
            Self::Redo => (Status::Undone, Status::Applied),
            Self::Resolve => (Status::Pending, Status::Stale),
            Self::Reject => (Status::Pending, Status::Rejected),
        }
    }
}

/// Not a test of its own: what [`killed_at`] starts. Does nothing otherwise.
#[test]
fn in_a_process_of_its_own() {
    let (Ok(at), Ok(does)) = (std::env::var(AT), std::env::var(DOES)) else { return };
    let mut words = does.split(' ');
    let folder = Path::new(words.next().unwrap());
    let id = ProposalId::new(words.next().unwrap());
    let bench =
        Workbench::open_in(&folder.join("book"), Overrides::default(), Surroundings::in_folders(folder))
            .unwrap();
    let does = words.next().unwrap().to_owned();
    crash::arm(at.parse().unwrap());
    match Does::ALL.into_iter().find(|d| format!("{d:?}") == does) {
        Some(does) => {
            does.go(&bench, &id).unwrap();
        }
        None => {
            bench.proposals();
        }
    }
}

/// Runs one step in another process that is killed at the `n`th point of writing. `false`: it had ended before.
fn killed_at(n: usize, folder: &Path, id: &ProposalId, does: &str) -> bool {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD])
        .env(AT, n.to_string())
        .env(DOES, format!("{} {id} {does}", folder.display()))
        .output()
        .unwrap();
    if output.status.success() {
        return false;
    }
    assert_eq!(output.status.signal(), Some(SIGKILL), "{}", String::from_utf8_lossy(&output.stdout));
    true
}

/// What the step would make of the book, done without a kill.
fn expected(does: Does) -> (Tree, Tree) {
    let (desk, id) = book();
    does.prepare(&desk.bench, &id);
    let before = tree(desk.bench.root());
    does.go(&desk.bench, &id).unwrap();
    (before, tree(desk.bench.root()))
}

/// Checks a book after the kill, before anything looked at it: every file is the old one or the new one.
fn nothing_is_torn(desk: &Desk, before: &Tree, after: &Tree, at: &str) {
    let now = tree(desk.bench.root());
    for path in [MIRA, SOUL, FLAT] {
        let now = now.get(path);
        assert!(now == before.get(path) || now == after.get(path), "{at}: {path}: {now:?}");
    }
}

/// Checks the book after it was opened again, and returns whether the step counts as done.
fn is_settled(desk: &Desk, id: &ProposalId, does: Does, before: &Tree, after: &Tree, at: &str) -> bool {
    let bench = desk.again();
    let queued = bench.proposals().into_iter().find(|q| q.proposal.id == *id).unwrap();
    assert!(queued.proposal.warnings.is_empty(), "{at}");
    let done = queued.status == does.states().1;
    assert!(done || queued.status == does.states().0, "{at}: {:?}", queued.status);
    // All files or none, and nothing is left beside them.
    assert_eq!(&tree(bench.root()), if done { after } else { before }, "{at}");
    for (machine, verdict) in bench.ledger().verify().unwrap() {
        assert!(!matches!(verdict, Verdict::Broken { .. }), "{at}: {machine}: {verdict}");
    }
    let steps = bench.queued(id).unwrap().steps;
    let fates =
        desk.fates().into_iter().filter(|(fate, _)| ["applied", "undone", "redone"].contains(&fate.as_str()));
    assert_eq!(fates.count(), steps, "{at}: every fate is told once");
    done
}

/// From wherever the kill left the book: on to the end, back to the start, and again.
fn goes_on(desk: &Desk, id: &ProposalId, does: Does, done: bool, after: &Tree, at: &str) {
    let bench = desk.again();
    if !done {
        does.go(&bench, id).unwrap();
        assert_eq!(&tree(bench.root()), after, "{at}");
    }
    if does == Does::Undo {
        bench.redo(id).unwrap();
    }
    let applied = tree(bench.root());
    bench.undo(id).unwrap();
    let text = fs::read_to_string(bench.root().join(MIRA)).unwrap();
    assert!(text.contains("grey") && text.contains("aunt"), "{at}: {text}");
    assert!(!bench.root().join("codex/characters/ilse").exists(), "{at}");
    bench.redo(id).unwrap();
    assert_eq!(tree(bench.root()), applied, "{at}");
}

/// Kills at every point in turn, and returns how many there are.
fn at_every_point(does: Does) -> usize {
    let (before, after) = expected(does);
    for n in 1.. {
        let (desk, id) = book();
        does.prepare(&desk.bench, &id);
        let at = format!("{does:?} killed at point {n}");
        if !killed_at(n, desk.folder.path(), &id, &format!("{does:?}")) {
            assert_eq!(tree(desk.bench.root()), after);
            eprintln!("{does:?}: {} points", n - 1);
            return n - 1;
        }
        nothing_is_torn(&desk, &before, &after, &at);
        let done = is_settled(&desk, &id, does, &before, &after, &at);
        if matches!(does, Does::Apply | Does::Undo | Does::Redo) {
            goes_on(&desk, &id, does, done, &after, &at);
        }
    }
    unreachable!()
}

#[test]
fn applying_three_files_is_all_or_nothing_wherever_it_is_killed() {
    let points = at_every_point(Does::Apply);
    assert!(points >= 20, "{points}");
}

#[test]
fn undoing_three_files_is_all_or_nothing_wherever_it_is_killed() {
    let points = at_every_point(Does::Undo);
    assert!(points >= 20, "{points}");
}

#[test]
fn redoing_three_files_is_all_or_nothing_wherever_it_is_killed() {
    let points = at_every_point(Does::Redo);
    assert!(points >= 20, "{points}");
}

#[test]
fn rejecting_and_settling_are_recorded_or_not_wherever_they_are_killed() {
    for does in [Does::Reject, Does::Resolve] {
        let points = at_every_point(does);
        assert!(points >= 4, "{does:?}: {points}");
    }
}

#[test]
fn putting_right_is_itself_put_right_wherever_it_is_killed() {
    let (before, after) = expected(Does::Apply);
    let mut points = 0;
    // After the record, before and after each file, and after the last one.
    for first in [11, 14, 18, 22, 25] {
        for second in 1.. {
            let (desk, id) = book();
            let at = format!("killed at point {first}, then at {second}");
            assert!(killed_at(first, desk.folder.path(), &id, "Apply"), "{at}");
            let killed = killed_at(second, desk.folder.path(), &id, "open");
            nothing_is_torn(&desk, &before, &after, &at);
            let done = is_settled(&desk, &id, Does::Apply, &before, &after, &at);
            if !killed {
                break;
            }
            points += 1;
            goes_on(&desk, &id, Does::Apply, done, &after, &at);
        }
    }
    assert!(points >= 15, "{points}");
}
