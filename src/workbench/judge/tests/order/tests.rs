use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::Index;

use super::super::*;

const FILES: [&str; 3] = ["codex/characters/mira.md", "codex/characters/jon.md", "notes/harbour.md"];

/// Sentences in each file. Each has one word that may change, and stands between words that do not.
const SLOTS: usize = 5;

/// A place in the book: file and sentence.
type Place = (usize, usize);

/// What stands in the places that someone changed.
type Words = BTreeMap<Place, String>;

#[derive(Debug, Clone)]
enum Does {
    Apply(Index),
    Undo(Index),
    Redo(Index),
    /// The author changes a word.
    Write(Index),
    Restart,
}

fn does() -> impl Strategy<Value = Does> {
    prop_oneof![
        4 => any::<Index>().prop_map(Does::Apply),
        4 => any::<Index>().prop_map(Does::Undo),
        3 => any::<Index>().prop_map(Does::Redo),
        2 => any::<Index>().prop_map(Does::Write),
        1 => Just(Does::Restart),
    ]
}

fn places() -> Vec<Place> {
    (0..FILES.len()).flat_map(|file| (0..SLOTS).map(move |slot| (file, slot))).collect()
}

/// The text of a file with these words. The first has CRLF and a byte order mark, the last no last line end.
fn text(file: usize, words: &Words) -> String {
    let mut text = format!("---\ntype: character\nrole: rival\n---\n\n# File {file}\n");
    for slot in 0..SLOTS {
        // Two sentences a paragraph.
        text += if slot % 2 == 0 { "\n" } else { " " };
        let word = words.get(&(file, slot)).cloned().unwrap_or_else(|| format!("plain{slot}"));
        text += &format!("At night {slot} the {word} light moves.");
        text += if slot % 2 == 1 || slot + 1 == SLOTS { "\n" } else { "" };
    }
    match file {
        0 => format!("\u{feff}{}", text.replace('\n', "\r\n")),
        2 => text.trim_end().to_owned(),
        _ => text,
    }
}

fn tree(root: &std::path::Path) -> Vec<Option<Vec<u8>>> {
    let made = (0..3).map(made);
    FILES.iter().map(|f| (*f).to_owned()).chain(made).map(|path| fs::read(root.join(path)).ok()).collect()
}

/// The file that a proposal makes, beside what it changes.
fn made(proposal: usize) -> String {
    format!("codex/locations/pier-{proposal}/dossier.md")
}

struct World {
    desk: Desk,
    bench: Workbench,
    ids: Vec<ProposalId>,
    /// What each would write.
    changes: Vec<Words>,
    applied: BTreeSet<usize>,
    undone: BTreeSet<usize>,
    mine: Words,
}

impl World {
    fn new() -> Self {
        let desk = Desk::new();
        fs::create_dir_all(desk.bench.root().join("notes")).unwrap();
        let bench = desk.again();
        let world = Self {
            desk,
            bench,
            ids: vec![],
            changes: vec![],
            applied: BTreeSet::new(),
            undone: BTreeSet::new(),
            mine: Words::new(),
        };
        world.put(&Words::new());
        world
    }

    fn put(&self, words: &Words) {
        for (file, path) in FILES.iter().enumerate() {
            fs::write(self.bench.root().join(path), text(file, words)).unwrap();
        }
    }

    /// Proposes to write `places`, against the book as `now` says it is, and to make a file.
    fn propose(&mut self, places: &[Place], now: &Words) {
        let n = self.ids.len();
        let change: Words = places.iter().map(|place| (*place, format!("word{n}"))).collect();
        let mut wanted = now.clone();
        wanted.extend(change.clone());
        let touched: BTreeSet<usize> = places.iter().map(|(file, _)| *file).collect();
        let mut files: Vec<(String, Option<String>, String)> =
            touched.iter().map(|f| (FILES[*f].to_owned(), Some(text(*f, now)), text(*f, &wanted))).collect();
        files.push((made(n), None, format!("# Pier {n}\n")));
        let files: Vec<(&str, Option<&str>, &str)> =
            files.iter().map(|(path, base, new)| (path.as_str(), base.as_deref(), new.as_str())).collect();
        self.ids.push(self.desk.propose(&files));
        self.changes.push(change);
    }

    /// The book as it must be when no proposal meets another.
    fn expected(&self) -> Vec<Option<Vec<u8>>> {
        let mut words = Words::new();
        for n in &self.applied {
            words.extend(self.changes[*n].clone());
        }
        words.extend(self.mine.clone());
        let made = (0..3).map(|n| self.applied.contains(&n).then(|| format!("# Pier {n}\n").into_bytes()));
        (0..FILES.len()).map(|file| Some(text(file, &words).into_bytes())).chain(made).collect()
    }

    fn status(&self, n: usize) -> Status {
        match () {
            () if self.applied.contains(&n) => Status::Applied,
            () if self.undone.contains(&n) => Status::Undone,
            () => Status::Pending,
        }
    }

    /// Does it, and says which proposal it was about and whether it was done.
    fn step(&mut self, does: &Does) -> Option<(usize, Result<QueuedProposal, JudgeError>)> {
        let of = |index: &Index| index.index(self.ids.len());
        let (n, result) = match does {
            Does::Apply(i) => (of(i), self.bench.apply(&self.ids[of(i)], &[])),
            Does::Undo(i) => (of(i), self.bench.undo(&self.ids[of(i)])),
            Does::Redo(i) => (of(i), self.bench.redo(&self.ids[of(i)])),
            Does::Write(_) => return None,
            Does::Restart => {
                self.bench = self.desk.again();
                return None;
            }
        };
        if result.is_ok() {
            let (now, before) = match does {
                Does::Undo(_) => (&mut self.undone, &mut self.applied),
                _ => (&mut self.applied, &mut self.undone),
            };
            now.insert(n);
            before.remove(&n);
        }
        Some((n, result))
    }

    fn fits(&self, n: usize, does: &Does) -> bool {
        matches!(
            (does, self.status(n)),
            (Does::Apply(_), Status::Pending)
                | (Does::Undo(_), Status::Applied)
                | (Does::Redo(_), Status::Undone)
        )
    }

    fn statuses_agree(&self) {
        for (n, id) in self.ids.iter().enumerate() {
            let status = self.bench.queued(id).unwrap().status;
            assert_eq!(status, self.status(n), "proposal {n}");
        }
    }
}

proptest! {
    #[test]
    fn independent_proposals_and_the_authors_words_come_and_go_in_any_order(
        owners in Just(places()).prop_shuffle(),
        steps in prop::collection::vec(does(), 1..14),
    ) {
        let mut world = World::new();
        // Three proposals of three places each, over all files; the rest of the places is the author's.
        for own in owners.chunks(3).take(3) {
            world.propose(own, &Words::new());
        }
        let authors = &owners[9..];
        for (i, does) in steps.iter().enumerate() {
            if let Does::Write(index) = does {
                let (file, slot) = authors[index.index(authors.len())];
                world.mine.insert((file, slot), format!("mine{i}"));
                fs::write(world.bench.root().join(FILES[file]), world.expected()[file].clone().unwrap()).unwrap();
            }
            let could: Vec<bool> = (0..3).map(|n| world.fits(n, does)).collect();
            if let Some((n, result)) = world.step(does) {
                prop_assert_eq!(result.is_ok(), could[n], "{:?} of {}: {:?}", does, n, result);
            }
            prop_assert_eq!(tree(world.bench.root()), world.expected());
        }
        world.bench = world.desk.again();
        world.statuses_agree();
        for n in world.applied.clone() {
            world.bench.undo(&world.ids[n]).unwrap();
        }
        world.applied.clear();
        prop_assert_eq!(tree(world.bench.root()), world.expected(), "all undone: the start, and the author's words");
    }

    #[test]
    fn proposals_that_meet_are_refused_or_done_and_all_can_be_undone(
        shared in prop::collection::vec(prop::sample::subsequence(places(), 1..4), 3),
        steps in prop::collection::vec(does(), 1..14),
    ) {
        let mut world = World::new();
        let start = tree(world.bench.root());
        // The second and third are made on top of those before, and change some of the same words.
        let mut now = Words::new();
        for places in &shared {
            let places: Vec<Place> = places.iter().map(|(file, slot)| (file % 2, slot % 3)).collect();
            world.propose(&places, &now);
            now.extend(world.changes.last().unwrap().clone());
        }
        for does in &steps {
            let before = tree(world.bench.root());
            let could: Vec<bool> = (0..3).map(|n| world.fits(n, does)).collect();
            let Some((n, result)) = world.step(does) else { continue };
            let after = tree(world.bench.root());
            let Ok(queued) = result else {
                prop_assert_eq!(before, after, "refused and unchanged");
                continue;
            };
            prop_assert!(could[n]);
            prop_assert_eq!(queued.status, world.status(n));
            // Its own words are there or gone, and no others were touched.
            for (file, path) in FILES.iter().enumerate() {
                let [before, after] = [&before, &after].map(|tree| String::from_utf8(tree[file].clone().unwrap()).unwrap());
                for ((old, new), place) in sentences(&before).zip(sentences(&after)).zip((0..).map(|slot| (file, slot))) {
                    match world.changes[n].get(&place) {
                        None => prop_assert_eq!(old, new, "{}: {:?}", path, place),
                        Some(word) => prop_assert_eq!(
                            new.contains(word.as_str()),
                            !matches!(does, Does::Undo(_)),
                            "{}: {:?}", path, place
                        ),
                    }
                }
            }
        }
        world.bench = world.desk.again();
        world.statuses_agree();
        // Whatever is in the way of one is itself undone sooner.
        while !world.applied.is_empty() {
            let all: Vec<usize> = world.applied.iter().copied().collect();
            let undone = all.into_iter().rev().find(|n| world.bench.undo(&world.ids[*n]).is_ok());
            prop_assert!(undone.is_some(), "nothing can be undone");
            world.applied.remove(&undone.unwrap());
        }
        prop_assert_eq!(tree(world.bench.root()), start);
    }
}

/// The sentences with a word that may change, in order.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split("At night").skip(1)
}
