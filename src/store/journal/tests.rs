use std::fs;

use super::*;
use crate::domain::passage::sha256_hex;

const APPLY: Step = Step { number: 1, back: false };
const UNDO: Step = Step { number: 2, back: true };

fn apply(root: &Path, id: &ProposalId, writes: &[Write]) -> Result<Vec<Changed>, JournalError> {
    super::write(root, id, APPLY, writes)
}

/// Takes the changes of both files back, as the next step.
fn undo(root: &Path, id: &ProposalId, writes: &[Write]) -> Result<Vec<Changed>, JournalError> {
    let back = |w: &Write| Write { path: w.path.clone(), before: w.after.clone(), after: w.before.clone() };
    super::write(root, id, UNDO, &writes.iter().map(back).collect::<Vec<_>>())
}

fn path(raw: &str) -> BookPath {
    BookPath::new(raw).unwrap()
}

fn write(raw: &str, before: Option<&str>, after: &str) -> Write {
    Write { path: path(raw), before: before.map(Into::into), after: Some(after.into()) }
}

fn id() -> ProposalId {
    ProposalId::new("p-1")
}

fn book() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.md"), "\u{feff}role: rival\r\nno end").unwrap();
    root
}

const BEFORE: Option<&str> = Some("\u{feff}role: rival\r\nno end");

fn both() -> [Write; 2] {
    [write("a.md", BEFORE, "role: ally"), write("codex/characters/ilse/dossier.md", None, "# Ilse")]
}

fn read(root: &Path, path: &str) -> Option<String> {
    fs::read_to_string(root.join(path)).ok()
}

const ILSE: &str = "codex/characters/ilse/dossier.md";

#[test]
fn a_step_back_restores_the_exact_bytes_and_removes_what_was_made() {
    let root = book();
    let root = root.path();
    let changed = apply(root, &id(), &both()).unwrap();
    assert_eq!(changed[0].before, Some(sha256_hex(BEFORE.unwrap())));
    assert_eq!(changed[1].before, None);
    assert_eq!(read(root, "a.md").unwrap(), "role: ally");

    let changed = undo(root, &id(), &both()).unwrap();
    assert_eq!(changed[1].after, None);
    assert_eq!(read(root, "a.md").as_deref(), BEFORE);
    assert!(!root.join("codex").exists(), "folders that it made are gone");

    super::write(root, &id(), Step { number: 3, back: false }, &both()).unwrap();
    assert_eq!(read(root, ILSE).unwrap(), "# Ilse");
    for (number, name) in [(1, "p-1.json"), (2, "p-1.2.json"), (3, "p-1.3.json")] {
        assert!(has(root, &id(), number) && root.join(".scritorio/journal").join(name).is_file());
    }
}

#[test]
fn a_folder_that_holds_something_else_by_now_stays() {
    let root = book();
    apply(root.path(), &id(), &both()).unwrap();
    fs::write(root.path().join("codex/characters/mine.md"), "mine").unwrap();
    undo(root.path(), &id(), &both()).unwrap();
    assert!(root.path().join("codex/characters/mine.md").exists());
    assert!(!root.path().join("codex/characters/ilse").exists());
}

#[test]
fn a_file_that_is_not_what_was_planned_for_is_not_written() {
    let root = book();
    fs::write(root.path().join("a.md"), "theirs").unwrap();
    assert!(matches!(apply(root.path(), &id(), &both()), Err(JournalError::Changed { .. })));
    assert_eq!(read(root.path(), "a.md").unwrap(), "theirs");
    assert!(!has(root.path(), &id(), 1) && !root.path().join("codex").exists(), "all or nothing");
}

#[cfg(unix)]
#[test]
fn when_the_second_file_fails_the_first_is_put_back() {
    let root = book();
    // The name is allowed, but leaves no room for that of the temporary file beside it.
    let long = write(&format!("{}.md", "x".repeat(250)), None, "new");
    let failed = apply(root.path(), &id(), &[both()[0].clone(), long]);
    assert!(matches!(failed, Err(JournalError::Io { .. })), "{failed:?}");
    assert_eq!(read(root.path(), "a.md").as_deref(), BEFORE);
    assert!(!has(root.path(), &id(), 1), "nothing is left to undo");
}

#[test]
fn a_file_that_was_removed_comes_back_to_the_byte() {
    let root = book();
    let gone = Write { path: path("a.md"), before: BEFORE.map(Into::into), after: None };
    let step = [both()[1].clone(), gone];
    let changed = apply(root.path(), &id(), &step).unwrap();
    assert!(!root.path().join("a.md").exists());
    assert_eq!((&changed[1].before, &changed[1].after), (&BEFORE.map(sha256_hex), &None));
    undo(root.path(), &id(), &step).unwrap();
    assert_eq!(read(root.path(), "a.md").as_deref(), BEFORE);
    assert!(!root.path().join("codex").exists());
}

#[cfg(unix)]
mod permissions {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn set(root: &Path, path: &str, mode: u32) {
        fs::set_permissions(root.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }

    fn mode(root: &Path, path: &str) -> u32 {
        fs::metadata(root.join(path)).unwrap().permissions().mode() & 0o777
    }

    fn moved() -> [Write; 2] {
        let gone = Write { path: path("a.md"), before: BEFORE.map(Into::into), after: None };
        [write("a/dossier.md", None, BEFORE.unwrap()), gone]
    }

    #[test]
    fn a_file_that_moves_and_one_that_comes_back_keep_their_permissions() {
        let root = book();
        let root = root.path();
        set(root, "a.md", 0o600);
        apply(root, &id(), &moved()).unwrap();
        assert_eq!(mode(root, "a/dossier.md"), 0o600);
        set(root, "a/dossier.md", 0o640);
        undo(root, &id(), &moved()).unwrap();
        assert_eq!((read(root, "a.md").as_deref(), mode(root, "a.md")), (BEFORE, 0o600));
        super::super::write(root, &id(), Step { number: 3, back: false }, &moved()).unwrap();
        assert_eq!(mode(root, "a/dossier.md"), 0o640, "as it was when it went");
    }

    #[test]
    fn a_file_that_gets_another_name_and_other_words_keeps_its_permissions() {
        let root = book();
        set(root.path(), "a.md", 0o600);
        let [_, gone] = moved();
        apply(root.path(), &id(), &[write("n.md", None, "New."), write("b.md", None, "Other."), gone])
            .unwrap();
        assert_eq!(mode(root.path(), "b.md"), 0o600);
        assert_ne!(mode(root.path(), "n.md"), 0o600);
    }

    #[test]
    fn a_removal_that_was_cut_short_is_put_back_with_its_permissions() {
        let root = book();
        let root = root.path();
        set(root, "a.md", 0o660);
        let [made, gone] = moved();
        apply(root, &id(), &[gone, made]).unwrap();
        fs::remove_dir_all(root.join("a")).unwrap();
        assert_eq!(settle(root, &id(), 1).unwrap(), Some(Settled::PutBack));
        assert_eq!((read(root, "a.md").as_deref(), mode(root, "a.md")), (BEFORE, 0o660));
    }

    #[test]
    fn a_link_is_never_removed_and_neither_is_what_it_leads_to() {
        let root = book();
        let root = root.path();
        fs::rename(root.join("a.md"), root.join("real.md")).unwrap();
        symlink("real.md", root.join("a.md")).unwrap();
        let refused = apply(root, &id(), &moved()).unwrap_err();
        assert!(matches!(refused, JournalError::Link { .. }), "{refused}");
        assert!(root.join("a.md").is_symlink() && !root.join("a").exists() && !has(root, &id(), 1));
        assert_eq!(read(root, "real.md").as_deref(), BEFORE);
    }
}

#[test]
fn a_file_that_is_saved_while_the_others_are_written_is_not_overwritten() {
    let root = book();
    let root = root.path();
    let (a, ilse) = (both()[0].clone(), both()[1].clone());
    // Somebody makes the second file while the first is written: here by a first file that is the second, too.
    let twice = write(ILSE, None, "# Hers");
    let failed = apply(root, &id(), &[a, twice, ilse]);
    assert!(matches!(&failed, Err(JournalError::Changed { path }) if path.as_str() == ILSE), "{failed:?}");
    assert_eq!(read(root, "a.md").as_deref(), BEFORE, "what was written is put back");
    assert_eq!(read(root, ILSE), None);
    assert!(!has(root, &id(), 1));
}

#[test]
fn a_step_that_was_written_is_finished_and_one_that_was_not_is_put_back() {
    let root = book();
    let root = root.path();
    assert_eq!(settle(root, &id(), 1).unwrap(), None);
    let changed = apply(root, &id(), &both()).unwrap();
    assert_eq!(settle(root, &id(), 1).unwrap(), Some(Settled::Finished(changed)));
    fs::remove_dir_all(root.join("codex")).unwrap();
    assert_eq!(settle(root, &id(), 1).unwrap(), Some(Settled::PutBack));
    assert_eq!(read(root, "a.md").as_deref(), BEFORE);
    assert!(!has(root, &id(), 1));
}

#[test]
fn an_undo_that_was_cut_short_counts_as_never_begun() {
    let root = book();
    let root = root.path();
    apply(root, &id(), &both()).unwrap();
    undo(root, &id(), &both()).unwrap();
    fs::write(root.join("a.md"), "role: ally").unwrap();
    assert_eq!(settle(root, &id(), 2).unwrap(), Some(Settled::PutBack));
    assert_eq!(
        (read(root, "a.md").unwrap().as_str(), read(root, ILSE).unwrap().as_str()),
        ("role: ally", "# Ilse")
    );
}

const LONG: &str = "# Mira\n\nrole: rival\n\nShe waits at the harbour every night.\n";

fn cut_short(now: &str) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.md"), LONG).unwrap();
    let role = write("a.md", Some(LONG), &LONG.replace("rival", "ally"));
    apply(root.path(), &id(), &[role, both()[1].clone()]).unwrap();
    fs::remove_dir_all(root.path().join("codex")).unwrap();
    fs::write(root.path().join("a.md"), now).unwrap();
    root
}

#[test]
fn words_that_were_written_after_the_crash_stay() {
    let mine = LONG.replace("harbour", "pier");
    for now in [mine.clone(), mine.replace("rival", "ally")] {
        let root = cut_short(&now);
        assert_eq!(settle(root.path(), &id(), 1).unwrap(), Some(Settled::PutBack), "{now}");
        assert_eq!(read(root.path(), "a.md").unwrap(), mine, "the change is out, the words are in");
        assert!(!has(root.path(), &id(), 1));
    }
}

#[test]
fn where_it_is_unclear_whose_words_they_are_they_stay_and_the_record_is_kept_aside() {
    let unclear = LONG.replace("rival", "witness");
    let root = cut_short(&unclear);
    settle(root.path(), &id(), 1).unwrap();
    assert_eq!(read(root.path(), "a.md").unwrap(), unclear);
    assert!(!has(root.path(), &id(), 1));
    assert!(root.path().join(".scritorio/journal/p-1.aside").is_file());
}

#[test]
fn what_a_kill_left_of_our_own_writing_goes_and_nothing_else() {
    let root = book();
    let root = root.path();
    apply(root, &id(), &both()).unwrap();
    for (name, text) in
        [(".a.md.Ab12Cd", "role:"), (".a.md.Zz99Zz", "other"), (".a.md.kept", "role:"), (".b.md.Ab12Cd", "")]
    {
        fs::write(root.join(name), text).unwrap();
    }
    settle(root, &id(), 1).unwrap();
    assert!(!root.join(".a.md.Ab12Cd").exists());
    for name in [".a.md.Zz99Zz", ".a.md.kept", ".b.md.Ab12Cd"] {
        assert!(root.join(name).exists(), "{name}");
    }
}

#[test]
fn a_record_that_is_torn_or_strange_is_set_aside_and_changes_nothing() {
    let root = book();
    apply(root.path(), &id(), &both()).unwrap();
    fs::write(root.path().join(".scritorio/journal/p-1.json"), "{\"v\":1,\"id\":\"p-").unwrap();
    assert!(matches!(traces(root.path(), &id(), 1), Err(JournalError::NoRecord { .. })));
    assert_eq!(settle(root.path(), &id(), 1).unwrap(), None);
    assert!(root.path().join(".scritorio/journal/p-1.aside").is_file());
    assert!(traces(root.path(), &ProposalId::new("../../a"), 1).is_err());
    assert_eq!(read(root.path(), "a.md").unwrap(), "role: ally");
}

#[test]
fn a_record_of_the_first_version_is_read() {
    let root = book();
    let folder = root.path().join(".scritorio/journal");
    fs::create_dir_all(&folder).unwrap();
    let record = r##"{"v":1,"id":"p-1","at":"2026-01-01T00:00:00.000Z","files":[
        {"path":"a.md","before":"role: rival","after":"role: ally","folders":[]},
        {"path":"b/new.md","before":null,"after":"# New","folders":["b"]}]}"##;
    fs::write(folder.join("p-1.json"), record).unwrap();
    let found = traces(root.path(), &id(), 1).unwrap();
    assert_eq!(found[0].without.as_deref(), Some("role: rival"));
    assert_eq!((found[1].without.as_deref(), found[1].with.as_deref()), (None, Some("# New")));
    // Undone and redone by a program that kept no records of that.
    assert_eq!(traces(root.path(), &id(), 3).unwrap(), found);
}

#[test]
fn the_newest_step_that_changed_a_file_says_what_it_is_without_and_with() {
    let root = book();
    let root = root.path();
    apply(root, &id(), &both()).unwrap();
    fs::write(root.join("a.md"), "mine\nrole: ally").unwrap();
    let back = write("a.md", Some("mine\nrole: ally"), "mine\nrole: rival");
    super::write(root, &id(), UNDO, &[back]).unwrap();
    let found = traces(root, &id(), 2).unwrap();
    assert_eq!(found[0].without.as_deref(), Some("mine\nrole: rival"));
    assert_eq!(found[0].with.as_deref(), Some("mine\nrole: ally"));
    assert_eq!(found[1].with.as_deref(), Some("# Ilse"), "the other file as the first step left it");
}

proptest::proptest! {
    #[test]
    fn any_text_comes_back_to_the_byte(before in "\\PC*|[\\x00-\\x7f]{0,40}", after in "\\PC{0,40}") {
        // In memory, where there is such a folder: every write waits for the disk.
        let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        fs::write(root.path().join("a.md"), &before).unwrap();
        let step = [write("a.md", Some(&before), &after)];
        apply(root.path(), &id(), &step).unwrap();
        proptest::prop_assert_eq!(read(root.path(), "a.md").unwrap(), after);
        undo(root.path(), &id(), &step).unwrap();
        proptest::prop_assert_eq!(read(root.path(), "a.md").unwrap(), before);
    }
}
