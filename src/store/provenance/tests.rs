//! The ledger of a book, whatever is done to its lines and whatever becomes of the book.

use std::fs;

use super::*;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new(lines: usize) -> Self {
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(desk.root()).unwrap();
        for n in 0..lines {
            desk.ledger().append(fate(&format!("p-{n}"))).unwrap();
        }
        desk
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("book")
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(&self.root(), &self.folder.path().join("data"))
    }

    fn file(&self) -> PathBuf {
        Self::first(&self.root())
    }

    /// The chain that is called by the machine alone.
    fn first(book: &Path) -> PathBuf {
        let files = fs::read_dir(book.join(".scritorio/provenance")).unwrap();
        files.map(|file| file.unwrap().path()).min_by_key(|path| path.as_os_str().len()).unwrap()
    }

    fn verdicts(&self) -> Vec<Verdict> {
        self.verdicts_in("book")
    }

    fn verdicts_in(&self, folder: &str) -> Vec<Verdict> {
        self.ledger_in(folder).verify().unwrap().into_iter().map(|(_, verdict)| verdict).collect()
    }

    fn verdict(&self) -> Verdict {
        self.verdict_in("book")
    }

    /// The ledger of a copy, or of where the book was moved to.
    fn ledger_in(&self, folder: &str) -> Ledger {
        Ledger::new(&self.folder.path().join(folder), &self.folder.path().join("data"))
    }

    fn verdict_in(&self, folder: &str) -> Verdict {
        self.ledger_in(folder).verify().unwrap()[0].1
    }

    fn moves(&self, from: &str, to: &str) {
        fs::rename(self.folder.path().join(from), self.folder.path().join(to)).unwrap();
    }

    fn copies(&self, from: &str, to: &str) {
        let part = |book: &str| self.folder.path().join(book).join(".scritorio/provenance");
        fs::create_dir_all(part(to)).unwrap();
        for file in fs::read_dir(part(from)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), part(to).join(file.file_name())).unwrap();
        }
    }

    /// Cuts the last line off.
    fn cuts(&self, folder: &str) {
        let file = Self::first(&self.folder.path().join(folder));
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        fs::write(&file, lines[..lines.len() - 1].concat()).unwrap();
    }

    fn anchor_file(&self) -> PathBuf {
        let anchors = self.folder.path().join("data/anchors");
        fs::read_dir(&anchors).unwrap().next().unwrap().unwrap().path()
    }

    /// Where the chain ended, as this machine has it.
    fn end(&self) -> End {
        let file: Value = serde_json::from_slice(&fs::read(self.anchor_file()).unwrap()).unwrap();
        serde_json::from_value(file["ends"][0].clone()).unwrap()
    }

    fn anchored(&self, end: &End) {
        let file = serde_json::json!({ "v": 1, "ends": [end] });
        fs::write(self.anchor_file(), file.to_string()).unwrap();
    }
}

fn broken(line: u64) -> Verdict {
    Verdict::Broken { line, maybe_copy: false }
}

/// Checks a chain as it stands in these bytes.
fn judge(bytes: &[u8], known: &Known) -> Verdict {
    super::judge(bytes, &hashes_of(bytes), known)
}

/// What is known where the chain was written in one folder alone.
fn known(end: &End) -> Known {
    Known { here: end.book.clone(), ends: vec![end.clone()], ..Known::default() }
}

fn fate(id: &str) -> Record {
    Record::Fate(FateRecord {
        proposal: ProposalId::new(id),
        session: SessionId::new("s-1"),
        fate: "applied".into(),
        edited: false,
        files: vec![],
    })
}

#[test]
fn an_untouched_ledger_is_intact_and_anchored() {
    let desk = Desk::new(3);
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
    assert_eq!(desk.verdict().to_string(), "intact and anchored");
    let records = desk.ledger().records().unwrap();
    assert_eq!(records.len(), 3);
    assert_eq!(records[2].1, fate("p-2"));
}

#[test]
fn a_book_without_a_ledger_has_no_verdict_and_gets_no_folder() {
    let desk = Desk::new(0);
    assert!(desk.ledger().verify().unwrap().is_empty());
    assert!(!desk.root().join(".scritorio").exists());
    assert!(!desk.folder.path().join("data").exists());
}

#[test]
fn elsewhere_it_is_intact_but_not_anchored() {
    let desk = Desk::new(2);
    let verdicts = Ledger::new(&desk.root(), &desk.folder.path().join("other machine")).verify().unwrap();
    assert_eq!(verdicts[0].1, Verdict::NotAnchored { lines: 2 });
    assert_eq!(verdicts[0].1.to_string(), "intact, not anchored on this machine");
}

#[test]
fn a_changed_line_shows() {
    let desk = Desk::new(4);
    let text = fs::read_to_string(desk.file()).unwrap().replace("\"p-1\"", "\"p-7\"");
    fs::write(desk.file(), text).unwrap();
    assert_eq!(desk.verdict(), broken(2));
    assert_eq!(desk.verdict().to_string(), "broken at line 2");
}

#[test]
fn a_changed_last_line_and_a_removed_line_show() {
    let desk = Desk::new(3);
    let text = fs::read_to_string(desk.file()).unwrap();
    fs::write(desk.file(), text.replace("\"p-2\"", "\"p-7\"")).unwrap();
    assert_eq!(desk.verdict(), broken(3));
    let without: Vec<_> =
        text.split_inclusive('\n').enumerate().filter(|(n, _)| *n != 1).map(|(_, l)| l).collect();
    let without = without.concat();
    fs::write(desk.file(), without).unwrap();
    assert_eq!(desk.verdict(), broken(2));
}

#[test]
fn a_cut_tail_shows_and_no_later_line_heals_it() {
    let desk = Desk::new(3);
    let text = fs::read_to_string(desk.file()).unwrap();
    let two: String = text.split_inclusive('\n').take(2).collect();
    fs::write(desk.file(), two).unwrap();
    assert_eq!(desk.verdict(), broken(3));
    desk.ledger().append(fate("p-9")).unwrap();
    desk.ledger().append(fate("p-10")).unwrap();
    assert_eq!(desk.verdict(), broken(3));
}

#[test]
fn a_deleted_ledger_shows() {
    let desk = Desk::new(2);
    fs::remove_file(desk.file()).unwrap();
    assert_eq!(desk.verdict(), broken(1));
}

#[test]
fn a_book_that_is_moved_keeps_its_anchor_and_what_is_cut_off_there_shows_for_good() {
    let desk = Desk::new(3);
    desk.moves("book", "second");
    assert_eq!(desk.verdict_in("second"), Verdict::Anchored { lines: 3 });
    desk.ledger_in("second").append(fate("p-3")).unwrap();
    assert_eq!(desk.verdict_in("second"), Verdict::Anchored { lines: 4 });
    desk.moves("second", "third");
    desk.cuts("third");
    let seen = desk.verdict_in("third");
    assert_eq!(seen, Verdict::Broken { line: 4, maybe_copy: true });
    assert!(seen.to_string().contains("an older copy"), "{seen}");
    desk.ledger_in("third").append(fate("p-4")).unwrap();
    assert_eq!(desk.verdict_in("third"), broken(4), "there is no other copy");
    // Back where it was once, with as many lines as it had there.
    desk.moves("third", "book");
    assert!(matches!(desk.verdict(), Verdict::Broken { line: 4, .. }), "{:?}", desk.verdict());
}

#[test]
fn a_book_that_is_moved_there_and_back_is_whole() {
    let desk = Desk::new(2);
    desk.moves("book", "second");
    desk.ledger_in("second").append(fate("p-2")).unwrap();
    desk.moves("second", "book");
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
}

#[test]
fn two_copies_that_both_go_on_are_both_whole_and_what_is_cut_off_either_shows() {
    let desk = Desk::new(2);
    desk.copies("book", "copy");
    assert_eq!(desk.verdict_in("copy"), Verdict::Anchored { lines: 2 });
    desk.ledger_in("copy").append(fate("p-of-copy")).unwrap();
    desk.ledger().append(fate("p-2")).unwrap();
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdict_in("copy"), Verdict::Anchored { lines: 3 });
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
    desk.cuts("copy");
    assert_eq!(desk.verdict_in("copy"), broken(3));
    desk.cuts("book");
    assert_eq!(desk.verdict(), broken(4));
}

#[test]
fn a_copy_that_is_older_than_the_book_is_never_taken_for_whole_and_is_told_as_what_it_may_be() {
    let desk = Desk::new(2);
    desk.copies("book", "copy");
    desk.ledger().append(fate("p-2")).unwrap();
    let older = Verdict::Broken { line: 3, maybe_copy: true };
    assert_eq!(desk.verdict_in("copy"), older);
    desk.ledger_in("copy").append(fate("p-of-copy")).unwrap();
    assert_eq!(desk.verdict_in("copy"), older);
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 }, "the book itself is whole");
}

#[test]
fn a_chain_that_has_lines_and_no_anchor_never_gets_one() {
    let desk = Desk::new(3);
    fs::remove_dir_all(desk.folder.path().join("data/anchors")).unwrap();
    assert_eq!(desk.verdict(), Verdict::NotAnchored { lines: 3 });
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::NotAnchored { lines: 3 }, Verdict::Anchored { lines: 1 }]);
}

#[test]
fn what_is_recorded_while_lines_are_away_is_not_lost_when_they_come_back() {
    type Away = fn(&Desk);
    let ways: [(Away, u64); 3] = [
        (|desk| desk.cuts("book"), 3),
        (|desk| fs::remove_file(desk.file()).unwrap(), 1),
        (|desk| fs::write(desk.file(), "").unwrap(), 1),
    ];
    for (takes_away, line) in ways {
        let desk = Desk::new(3);
        let (file, bytes) = (desk.file(), fs::read(desk.file()).unwrap());
        takes_away(&desk);
        desk.ledger().append(fate("p-3")).unwrap();
        desk.ledger().append(fate("p-4")).unwrap();
        assert_eq!(desk.verdicts(), [broken(line), Verdict::Anchored { lines: 2 }]);
        fs::write(&file, &bytes).unwrap();
        assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 3 }, Verdict::Anchored { lines: 2 }]);
        // And when it happens to the second chain.
        let file = desk.root().join(".scritorio/provenance").join(&desk.ledger().verify().unwrap()[1].0);
        fs::remove_file(file.with_extension("jsonl")).unwrap();
        fs::write(desk.file(), "").unwrap();
        desk.ledger().append(fate("p-5")).unwrap();
        assert_eq!(desk.verdicts(), [broken(1), broken(1), Verdict::Anchored { lines: 1 }]);
    }
}

/// A book with a second chain, of one line, beside a first one of three that is whole again.
fn with_two_chains() -> (Desk, PathBuf) {
    let desk = Desk::new(3);
    let bytes = fs::read(desk.file()).unwrap();
    desk.cuts("book");
    desk.ledger().append(fate("p-3")).unwrap();
    fs::write(desk.file(), bytes).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 3 }, Verdict::Anchored { lines: 1 }]);
    let second = PathBuf::from(&desk.ledger().verify().unwrap()[1].0).with_extension("jsonl");
    (desk, Path::new(".scritorio/provenance").join(second))
}

#[test]
fn a_book_that_moves_takes_all_its_chains_with_it() {
    let (desk, _) = with_two_chains();
    desk.moves("book", "second");
    desk.ledger_in("second").append(fate("p-4")).unwrap();
    let moved = [Verdict::Anchored { lines: 4 }, Verdict::Anchored { lines: 1 }];
    assert_eq!(desk.verdicts_in("second"), moved);
    fs::create_dir(desk.root()).unwrap();
    assert_eq!(desk.verdicts(), []);
    desk.ledger().append(fate("p-5")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 1 }]);
    assert_eq!(desk.verdicts_in("second"), moved);
}

#[test]
fn a_chain_that_is_broken_is_no_lack_of_the_folder_that_it_left() {
    let desk = Desk::new(3);
    desk.cuts("book");
    desk.moves("book", "second");
    assert_eq!(desk.verdicts_in("second"), [Verdict::Broken { line: 3, maybe_copy: true }]);
    desk.ledger_in("second").append(fate("p-3")).unwrap();
    assert_eq!(desk.verdicts_in("second"), [broken(3), Verdict::Anchored { lines: 1 }]);
    fs::create_dir(desk.root()).unwrap();
    desk.ledger().append(fate("p-4")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 1 }]);
}

#[test]
fn a_chain_that_is_dropped_while_the_book_moves_is_missed_for_good() {
    let (desk, second) = with_two_chains();
    desk.moves("book", "moved");
    fs::remove_file(desk.folder.path().join("moved").join(&second)).unwrap();
    let lost = Verdict::Broken { line: 1, maybe_copy: true };
    assert_eq!(desk.verdicts_in("moved"), [Verdict::Anchored { lines: 3 }, lost]);
    desk.ledger_in("moved").append(fate("p-4")).unwrap();
    assert_eq!(desk.verdicts_in("moved"), [Verdict::Anchored { lines: 4 }, broken(1)]);
    desk.ledger_in("moved").append(fate("p-5")).unwrap();
    assert_eq!(desk.verdicts_in("moved"), [Verdict::Anchored { lines: 5 }, broken(1)]);
}

#[test]
fn a_copy_from_before_a_chain_began_is_older_than_the_book() {
    let (desk, second) = with_two_chains();
    desk.copies("book", "copy");
    fs::remove_file(desk.folder.path().join("copy").join(&second)).unwrap();
    let older = Verdict::Broken { line: 1, maybe_copy: true };
    assert_eq!(desk.verdicts_in("copy"), [Verdict::Anchored { lines: 3 }, older]);
    desk.ledger_in("copy").append(fate("p-of-copy")).unwrap();
    assert_eq!(desk.verdicts_in("copy"), [Verdict::Anchored { lines: 4 }, older]);
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 3 }, Verdict::Anchored { lines: 1 }]);
}

#[test]
fn a_chain_of_another_book_in_the_place_of_ones_own_shows() {
    let desk = Desk::new(3);
    fs::create_dir(desk.folder.path().join("other")).unwrap();
    desk.ledger_in("other").append(fate("p-of-other")).unwrap();
    let own = fs::read(desk.file()).unwrap();
    fs::copy(Desk::first(&desk.folder.path().join("other")), desk.file()).unwrap();
    assert!(matches!(desk.verdict(), Verdict::Broken { .. }), "{:?}", desk.verdict());
    desk.ledger().append(fate("p-3")).unwrap();
    assert!(matches!(desk.verdict(), Verdict::Broken { .. }), "{:?}", desk.verdict());
    fs::write(desk.file(), own).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 3 }, Verdict::Anchored { lines: 1 }]);
    // Where the other book itself has come, nothing is wrong with it.
    desk.moves("book", "silent");
    desk.moves("other", "book");
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 1 });
}

#[test]
fn what_is_lost_in_a_book_is_missed_there_also_when_a_copy_goes_on() {
    let (desk, second) = with_two_chains();
    fs::remove_file(desk.root().join(&second)).unwrap();
    let lost = [Verdict::Anchored { lines: 3 }, broken(1)];
    assert_eq!(desk.verdicts(), lost);
    desk.copies("book", "copy");
    desk.ledger_in("copy").append(fate("p-of-copy")).unwrap();
    assert!(!matches!(desk.verdicts_in("copy")[1], Verdict::Anchored { .. }));
    assert!(matches!(desk.verdicts()[..], [Verdict::Anchored { lines: 3 }, Verdict::Broken { line: 1, .. }]));
    // The same with one chain alone.
    let desk = Desk::new(2);
    desk.copies("book", "copy");
    fs::remove_file(desk.file()).unwrap();
    desk.ledger_in("copy").append(fate("p-of-copy")).unwrap();
    assert!(matches!(desk.verdicts()[..], [Verdict::Broken { line: 1, .. }]), "{:?}", desk.verdicts());
}

#[test]
fn a_chain_of_another_book_in_the_place_of_a_second_one_shows_wherever_the_book_is() {
    for moves in [false, true] {
        let (desk, second) = with_two_chains();
        // Another book, with chains of the same names.
        let other = desk.folder.path().join("other");
        fs::create_dir(&other).unwrap();
        desk.ledger_in("other").append(fate("p-of-other")).unwrap();
        let bytes = fs::read(Desk::first(&other)).unwrap();
        fs::write(Desk::first(&other), "").unwrap();
        desk.ledger_in("other").append(fate("p-2-of-other")).unwrap();
        fs::write(Desk::first(&other), bytes).unwrap();
        let folder = if moves { "moved" } else { "book" };
        desk.moves("book", folder);
        fs::rename(other.join(&second), desk.folder.path().join(folder).join(&second)).unwrap();
        for n in 0..3 {
            let verdicts = desk.verdicts_in(folder);
            assert!(matches!(verdicts[1], Verdict::Broken { .. }), "{n} {verdicts:?}");
            assert!(matches!(verdicts[0], Verdict::Anchored { .. }), "{n} {verdicts:?}");
            desk.ledger_in(folder).append(fate("p-later")).unwrap();
        }
    }
}

#[test]
fn a_first_line_that_was_never_written_is_nothing_to_miss() {
    let desk = Desk::new(1);
    let name = desk.anchor_file();
    let chain = name.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1[33..].to_owned();
    let unwritten = name.with_file_name(format!("chain-{}-{chain}", "0".repeat(32)));
    fs::remove_file(&name).unwrap();
    let end = End {
        count: 0,
        head: NOTHING.into(),
        next: Some("a".repeat(64)),
        ..End {
            book: desk.root().canonicalize().unwrap().to_str().unwrap().into(),
            count: 0,
            head: String::new(),
            next: None,
        }
    };
    fs::write(&unwritten, serde_json::json!({ "v": 1, "ends": [end] }).to_string()).unwrap();
    fs::remove_file(desk.file()).unwrap();
    assert_eq!(desk.verdicts(), []);
    desk.ledger().append(fate("p-1")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 1 }]);
    assert!(!unwritten.exists());
}

#[test]
fn copies_that_go_on_at_the_same_time_take_nothing_from_each_other() {
    let desk = Desk::new(1);
    desk.copies("book", "copy");
    desk.ledger_in("copy").append(fate("p-first-of-copy")).unwrap();
    std::thread::scope(|scope| {
        for (folder, id) in [("book", "p-of-book"), ("copy", "p-of-copy")] {
            let ledger = desk.ledger_in(folder);
            scope.spawn(move || (0..20).for_each(|_| ledger.append(fate(id)).unwrap()));
        }
        let reader = desk.ledger();
        for _ in 0..50 {
            let verdicts = reader.verify().unwrap();
            let whole = |(_, verdict): &(_, Verdict)| matches!(verdict, Verdict::Anchored { .. });
            assert!(verdicts.iter().all(whole), "{verdicts:?}");
        }
    });
    assert_eq!(desk.verdicts_in("book"), [Verdict::Anchored { lines: 21 }]);
    assert_eq!(desk.verdicts_in("copy"), [Verdict::Anchored { lines: 22 }]);
}

#[test]
fn an_anchor_that_can_not_be_read_hinders_no_record() {
    let desk = Desk::new(2);
    fs::write(desk.anchor_file(), "").unwrap();
    assert_eq!(desk.verdicts(), [Verdict::NotAnchored { lines: 2 }]);
    desk.ledger().append(fate("p-2")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::NotAnchored { lines: 2 }, Verdict::Anchored { lines: 1 }]);
}

#[test]
fn a_new_book_in_the_folder_of_one_that_moved_on_lacks_nothing() {
    let desk = Desk::new(2);
    fs::remove_file(desk.folder.path().join("data/machine.key")).unwrap();
    desk.ledger().append(fate("p-2")).unwrap();
    desk.moves("book", "second");
    desk.ledger_in("second").append(fate("p-3")).unwrap();
    fs::create_dir(desk.root()).unwrap();
    assert_eq!(desk.verdicts(), []);
    desk.ledger().append(fate("p-4")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 1 }]);
    assert_eq!(desk.verdicts_in("second"), [Verdict::Anchored { lines: 2 }; 2]);
}

#[test]
fn a_new_chain_in_the_place_of_another_shows() {
    let desk = Desk::new(2);
    fs::remove_file(desk.file()).unwrap();
    desk.ledger().append(fate("p-7")).unwrap();
    desk.ledger().append(fate("p-8")).unwrap();
    assert!(matches!(desk.verdict(), Verdict::Broken { .. }), "{:?}", desk.verdict());
}

/// Turns the anchor into that of an earlier version.
fn of_earlier_version(desk: &Desk) {
    let machine = machine::name(&desk.folder.path().join("data"), false).unwrap();
    let book = sha256_hex(desk.root().canonicalize().unwrap().as_os_str().as_encoded_bytes());
    let End { count, head, .. } = desk.end();
    fs::remove_file(desk.anchor_file()).unwrap();
    let old = desk.folder.path().join("data/anchors").join(format!("{}-{machine}.json", &book[..16]));
    fs::write(old, serde_json::json!({ "v": 1, "count": count, "head": head }).to_string()).unwrap();
}

#[test]
fn an_anchor_of_an_earlier_version_holds_and_is_taken_over() {
    for is_moved in [false, true] {
        let desk = Desk::new(2);
        of_earlier_version(&desk);
        let folder = if is_moved { "second" } else { "book" };
        desk.moves("book", folder);
        assert_eq!(desk.verdict_in(folder), Verdict::Anchored { lines: 2 });
        desk.ledger_in(folder).append(fate("p-2")).unwrap();
        assert_eq!(desk.verdict_in(folder), Verdict::Anchored { lines: 3 });
        let anchors = fs::read_dir(desk.folder.path().join("data/anchors")).unwrap();
        assert_eq!(anchors.count(), 1, "the old one is gone");
        assert_eq!(desk.end().count, 3);
    }
    let desk = Desk::new(2);
    of_earlier_version(&desk);
    desk.cuts("book");
    assert_eq!(desk.verdict(), broken(2));
}

#[test]
fn half_a_line_that_a_crash_left_breaks_nothing() {
    let desk = Desk::new(2);
    let mut bytes = fs::read(desk.file()).unwrap();
    bytes.extend(b"{\"v\":1,\"n\":3,\"at\":\"20");
    fs::write(desk.file(), bytes).unwrap();
    assert_eq!(desk.verdict(), broken(3), "nobody was writing a line");
    desk.ledger().append(fate("p-1b")).unwrap();
    assert_eq!(desk.verdicts(), [broken(3), Verdict::Anchored { lines: 1 }]);
    let desk = Desk::new(2);
    fs::write(
        desk.file(),
        [fs::read(desk.file()).unwrap(), b"{\"v\":1,\"n\":3,\"at\":\"20".to_vec()].concat(),
    )
    .unwrap();
    desk.anchored(&End { next: Some("of the line that was cut".into()), ..desk.end() });
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 2 });
    desk.ledger().append(fate("p-2")).unwrap();
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
}

#[test]
fn a_line_that_was_written_and_not_anchored_is_known_by_its_hash() {
    let desk = Desk::new(2);
    let old = desk.end();
    desk.ledger().append(fate("p-2")).unwrap();
    let new = desk.end();
    desk.anchored(&End { next: Some(new.head.clone()), ..old });
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 3 });
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
    // A line that the anchor does not name was added by somebody else, and no later line heals that.
    desk.anchored(&new);
    assert_eq!(desk.verdict(), broken(4));
    desk.ledger().append(fate("p-4")).unwrap();
    assert_eq!(desk.verdict(), broken(4));
}

#[test]
fn a_line_without_a_hash_of_its_own_is_none_that_this_program_wrote() {
    let (bytes, _) = chain_of(&[fate("p-1")], &SEALS[0], None);
    assert_eq!(judge(&bytes, &Known::default()), Verdict::NotAnchored { lines: 1 });
    let text = String::from_utf8(bytes).unwrap();
    let (without, _) = text.split_once(OWN).unwrap();
    assert_eq!(judge(format!("{without}}}\n").as_bytes(), &Known::default()), broken(1));
    assert_eq!(judge(text.replace("\"hash\"", "\"hasi\"").as_bytes(), &Known::default()), broken(1));
}

/// The seal of this machine, and that of somebody else.
static SEALS: std::sync::LazyLock<[Seal; 2]> = std::sync::LazyLock::new(|| {
    let made = || Seal::of(tempfile::tempdir().unwrap().path()).unwrap();
    [made(), made()]
});

/// A ledger as it would be written, with its anchor. It names the key of its seal, or another one.
fn chain_of(records: &[Record], seal: &Seal, named: Option<&str>) -> (Vec<u8>, End) {
    let (mut bytes, mut prev) = (vec![], NOTHING.to_owned());
    for (n, record) in (1..).zip(records) {
        let at = format!("2026-01-01T00:00:0{}.000Z", n % 10);
        let key = (n == 1).then(|| named.map_or_else(|| seal.key(), str::to_owned));
        let line = written(&Line { v: 1, n, at, record: record.clone(), prev, key }, seal).unwrap();
        prev = sha256_hex(&line);
        bytes.extend_from_slice(&line);
        bytes.push(b'\n');
    }
    (bytes, End { book: "/book".into(), count: records.len() as u64, head: prev, next: None })
}

/// Writes lines anew with hashes that fit, as somebody would who knows how and has not the key.
fn forged(lines: &[Vec<u8>], key: &str) -> Vec<u8> {
    let records: Vec<Record> =
        lines.iter().map(|line| serde_json::from_slice::<Line>(line).unwrap().record).collect();
    chain_of(&records, &SEALS[1], Some(key)).0
}

#[test]
fn a_line_that_somebody_adds_with_all_that_fits_shows_on_every_machine() {
    let desk = Desk::new(3);
    let elsewhere = || {
        let other = Ledger::new(&desk.root(), &desk.folder.path().join("other machine"));
        other.verify().unwrap()[0].1
    };
    assert_eq!(elsewhere(), Verdict::NotAnchored { lines: 3 });
    let bytes = fs::read(desk.file()).unwrap();
    let prev = sha256_hex(lines(&bytes).last().unwrap());
    let own = &SEALS[1];
    for key in [None, Some(own.key())] {
        let at = super::super::now();
        let line = Line { v: 1, n: 4, at, record: fate("p-3"), prev: prev.clone(), key };
        let added = [written(&line, own).unwrap(), b"\n".to_vec()].concat();
        fs::write(desk.file(), [bytes.clone(), added].concat()).unwrap();
        assert_eq!((elsewhere(), desk.verdict()), (broken(4), broken(4)));
    }
}

#[test]
fn a_chain_of_an_earlier_version_is_sealed_from_its_next_line_on() {
    let desk = Desk::new(2);
    let before = fs::read_to_string(desk.file()).unwrap();
    // As it was written before there were seals.
    let (mut bytes, mut prev) = (String::new(), NOTHING.to_owned());
    for line in before.lines() {
        let mut value: Value = serde_json::from_str(line).unwrap();
        let fields = value.as_object_mut().unwrap();
        for field in ["key", "seal", "hash"] {
            fields.shift_remove(field);
        }
        fields["prev"] = prev.into();
        let mut line = serde_json::to_vec(&value).unwrap();
        let hash = sha256_hex(&line);
        ends_with(&mut line, OWN, &hash);
        prev = sha256_hex(&line);
        bytes += &format!("{}\n", String::from_utf8(line).unwrap());
    }
    fs::write(desk.file(), &bytes).unwrap();
    desk.anchored(&End { head: prev, ..desk.end() });
    of_earlier_version(&desk);
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 2 });
    desk.ledger().append(fate("p-2")).unwrap();
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdict(), Verdict::Anchored { lines: 4 });
    let text = fs::read_to_string(desk.file()).unwrap();
    assert_eq!(text.matches("\"key\":").count(), 1);
    assert!(text.lines().nth(2).unwrap().contains("\"key\":"), "{text}");
}

#[test]
fn a_machine_that_lost_its_key_begins_another_chain_and_leaves_the_old_one_whole() {
    let desk = Desk::new(2);
    fs::remove_file(desk.folder.path().join("data/machine.key")).unwrap();
    let name = machine::name(&desk.folder.path().join("data"), false).unwrap();
    desk.ledger().append(fate("p-2")).unwrap();
    desk.ledger().append(fate("p-3")).unwrap();
    assert_eq!(desk.verdicts(), [Verdict::Anchored { lines: 2 }; 2]);
    assert_eq!(desk.ledger().records().unwrap().len(), 4);
    let same = machine::name(&desk.folder.path().join("data"), false).unwrap();
    assert_eq!(same, name, "other books and the money go by it");
    // Whichever of them is removed, it is missed.
    for file in fs::read_dir(desk.root().join(".scritorio/provenance")).unwrap() {
        let file = file.unwrap().path();
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let mut seen = desk.verdicts();
        seen.sort_by_key(|verdict| matches!(verdict, Verdict::Anchored { .. }));
        assert_eq!(seen, [broken(1), Verdict::Anchored { lines: 2 }]);
        fs::write(&file, bytes).unwrap();
    }
}

#[test]
fn a_key_that_somebody_changed_hides_no_chain() {
    let desk = Desk::new(2);
    let text = fs::read_to_string(desk.file()).unwrap();
    let at = text.find("\"key\":\"").unwrap() + 7;
    let other = if text[at..].starts_with('0') { "1" } else { "0" };
    fs::write(desk.file(), [&text[..at], other, &text[at + 1..]].concat()).unwrap();
    let old = desk.file();
    assert_eq!(desk.verdict(), broken(1));
    desk.ledger().append(fate("p-2")).unwrap();
    fs::remove_file(old).unwrap();
    let verdicts = desk.verdicts();
    assert!(
        verdicts.contains(&broken(1)) && verdicts.contains(&Verdict::Anchored { lines: 1 }),
        "{verdicts:?}"
    );
}

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// What becomes of the books of an author, each in one of four folders.
#[derive(Debug, Clone)]
enum Doing {
    Records(usize),
    /// Moves a book to another folder, and goes on there.
    Moves(usize, usize),
    /// Copies a book to another folder, and goes on there.
    Copies(usize, usize),
    LosesKey,
    /// Puts an older state of a book in place, goes on with it, and puts the newer one back with what is new.
    StepsBack(usize),
}

fn doing() -> impl Strategy<Value = Doing> {
    prop_oneof![
        6 => (0..4_usize).prop_map(Doing::Records),
        2 => (0..4_usize, 0..4_usize).prop_map(|(from, to)| Doing::Moves(from, to)),
        2 => (0..4_usize, 0..4_usize).prop_map(|(from, to)| Doing::Copies(from, to)),
        1 => Just(Doing::LosesKey),
        2 => (0..4_usize).prop_map(Doing::StepsBack),
    ]
}

struct Shelf {
    desk: Desk,
    /// Records of the book in each folder, if there is one.
    books: [Option<usize>; 4],
    /// Records of all books, so that no two are the same.
    written: usize,
}

impl Shelf {
    fn name(n: usize) -> String {
        format!("book-{n}")
    }

    fn records(&mut self, n: usize) {
        let folder = self.desk.folder.path().join(Self::name(n));
        fs::create_dir_all(folder).unwrap();
        self.written += 1;
        self.desk.ledger_in(&Self::name(n)).append(fate(&format!("p-{}", self.written))).unwrap();
        self.books[n] = Some(self.books[n].unwrap_or(0) + 1);
    }

    fn does(&mut self, doing: &Doing) {
        let can = |from: usize, to: usize| self.books[from].is_some() && self.books[to].is_none();
        match *doing {
            Doing::Records(n) => self.records(n),
            Doing::Moves(from, to) if can(from, to) => {
                self.desk.moves(&Self::name(from), &Self::name(to));
                self.books[to] = self.books[from].take();
                self.records(to);
            }
            Doing::Copies(from, to) if can(from, to) => {
                self.desk.copies(&Self::name(from), &Self::name(to));
                self.books[to] = self.books[from];
                self.records(to);
            }
            Doing::LosesKey => {
                let _ = fs::remove_file(self.desk.folder.path().join("data/machine.key"));
            }
            Doing::StepsBack(n) if self.books[n].is_some() => {
                let file = Desk::first(&self.desk.folder.path().join(Self::name(n)));
                let bytes = fs::read(&file).unwrap();
                let half: Vec<_> = bytes.split_inclusive(|b| *b == b'\n').collect();
                fs::write(&file, half[..half.len() / 2].concat()).unwrap();
                self.records(n);
                fs::write(&file, bytes).unwrap();
            }
            _ => {}
        }
    }

    /// The chains in a folder.
    fn chains(&self, n: usize) -> Vec<PathBuf> {
        let folder = self.desk.folder.path().join(Self::name(n)).join(".scritorio/provenance");
        files_in(&folder)
    }
}

fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn whatever_becomes_of_books_all_chains_are_whole_and_one_that_is_changed_is_not() {
    let all = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse::<u32>().ok());
    let cases = all.map_or(24, |n| n.div_ceil(10));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let index = any::<prop::sample::Index>;
    let harm = (index(), index(), index(), 0..5_u8);
    let becomes = (prop::collection::vec(doing(), 1..14), harm, any::<bool>());
    let done = TestRunner::new(config).run(&becomes, |(doings, (book, chain, line, kind), goes_on)| {
        let mut shelf = Shelf { desk: Desk::new(0), books: [None; 4], written: 0 };
        shelf.records(0);
        for doing in &doings {
            shelf.does(doing);
        }
        let books: Vec<usize> = (0..4).filter(|n| shelf.books[*n].is_some()).collect();
        let is_whole = |verdict: &Verdict| matches!(verdict, Verdict::Anchored { .. });
        for n in 0..4 {
            let name = Shelf::name(n);
            fs::create_dir_all(shelf.desk.folder.path().join(&name)).unwrap();
            let verdicts = shelf.desk.verdicts_in(&name);
            prop_assert!(verdicts.iter().all(is_whole), "{}: {:?}", name, verdicts);
            let records = shelf.desk.ledger_in(&name).records().unwrap();
            prop_assert_eq!(records.len(), shelf.books[n].unwrap_or(0));
        }
        // Now somebody does harm to one of them.
        let n = books[book.index(books.len())];
        let file = shelf.chains(n)[chain.index(shelf.chains(n).len())].clone();
        let bytes = fs::read(&file).unwrap();
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let at = line.index(lines.len());
        match kind {
            0 => {
                let changed = String::from_utf8_lossy(&lines[at]).replace("applied", "undone");
                lines[at] = changed.into_bytes();
            }
            1 => drop(lines.remove(at)),
            2 => lines.push(lines[at].clone()),
            3 if lines.len() > 1 => {
                let next = (at + 1) % lines.len();
                lines.swap(at, next);
            }
            _ => lines.clear(),
        }
        if kind == 4 {
            fs::remove_file(&file).unwrap();
        } else {
            fs::write(&file, lines.concat()).unwrap();
        }
        let name = Shelf::name(n);
        for _ in 0..2 {
            let verdicts = shelf.desk.verdicts_in(&name);
            prop_assert!(!verdicts.iter().all(is_whole), "{} {:?}: {:?}", name, file, verdicts);
            if goes_on {
                shelf.records(n);
            }
        }
        // Put back, nothing is missing of what was recorded since.
        fs::write(&file, bytes).unwrap();
        let verdicts = shelf.desk.verdicts_in(&name);
        prop_assert!(verdicts.iter().all(is_whole), "{}: {:?}", name, verdicts);
        let records = shelf.desk.ledger_in(&name).records().unwrap();
        prop_assert_eq!(records.len(), shelf.books[n].unwrap_or(0));
        Ok(())
    });
    done.unwrap();
}

proptest! {
    #[test]
    fn whatever_is_done_to_a_line_shows(
        ids in prop::collection::vec("[a-z]{1,8}", 1..12),
        kind in 0..7_u8,
        (one, two) in (any::<prop::sample::Index>(), any::<prop::sample::Index>()),
        (at, byte) in (any::<prop::sample::Index>(), 1..=255_u8),
        is_forged in any::<bool>(),
    ) {
        let records: Vec<Record> = ids.iter().map(|id| fate(&format!("p-{id}"))).collect();
        let seal = &SEALS[0];
        let (bytes, anchor) = chain_of(&records, seal, None);
        let count = records.len() as u64;
        prop_assert_eq!(judge(&bytes, &known(&anchor)), Verdict::Anchored { lines: count });
        prop_assert_eq!(judge(&bytes, &Known::default()), Verdict::NotAnchored { lines: count });
        let mut all: Vec<Vec<u8>> = lines(&bytes).map(<[u8]>::to_vec).collect();
        let (one, two) = (one.index(all.len()), two.index(all.len()));
        let mut is_cut = false;
        match kind {
            // One byte is another; in a forged chain, one word.
            0 if is_forged => {
                let text = String::from_utf8(all[one].clone()).unwrap();
                all[one] = text.replacen("\"applied\"", "\"rejected\"", 1).into_bytes();
            }
            0 => {
                let at = at.index(all[one].len());
                all[one][at] ^= byte;
                // A line end in the middle makes two lines of one, which is another way of changing it.
            }
            1 => {
                is_cut = one + 1 == all.len();
                all.remove(one);
            }
            2 => {
                is_cut = one > 0;
                all.truncate(one);
            }
            3 if one != two => all.swap(one, two),
            4 => {
                let line = all[one].clone();
                all.insert(two, line);
            }
            5 => {
                let line = all[one].clone();
                all.push(line);
            }
            6 => all.insert(one, vec![]),
            _ => all.insert(two, b"{\"v\":1,\"n\":1}".to_vec()),
        }
        let readable = all.iter().all(|line| serde_json::from_slice::<Line>(line).is_ok());
        let is_forged = is_forged && readable;
        let mut changed = if is_forged { forged(&all, &seal.key()) } else { all.join(&b'\n') };
        if !is_forged && !all.is_empty() {
            changed.push(b'\n');
        }
        prop_assume!(changed.strip_suffix(b"\n") != bytes.strip_suffix(b"\n"));
        let here = judge(&changed, &known(&anchor));
        prop_assert!(matches!(here, Verdict::Broken { .. }), "here: {:?}", here);
        // Elsewhere nothing says where it ended.
        if (is_forged || !is_cut) && !all.is_empty() {
            let elsewhere = judge(&changed, &Known::default());
            prop_assert!(matches!(elsewhere, Verdict::Broken { .. }), "elsewhere: {:?}", elsewhere);
        }
    }
}
