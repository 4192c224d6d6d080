//! Proposals over files as authors have them: every entry of every vault in `tests/vaults/`, every section and every field.
//!
//! For each one: what is proposed differs in its place only; what is applied is what was proposed; what is undone is what was there, to the byte. The pure part runs
//! over everything, the one with real files over a sample of the vaults (over everything where `PROPTEST_CASES` is above its default), and over one change
//! of every generated book.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

#[path = "support/book.rs"]
mod book;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use book::Folders;
use proptest::prelude::*;
use scritorio::canon::index::Index;
use scritorio::canon::lookup;
use scritorio::domain::book::Book;
use scritorio::domain::codex::{Entry, EntryType};
use scritorio::domain::ids::{ProposalId, SessionId, TurnId};
use scritorio::domain::passage::fold;
use scritorio::proposal::change::{self, Part};
use scritorio::proposal::{FileChange, Proposal, Status, apply, diff};
use scritorio::store::book::{read, with_text};
use scritorio::tools::desk::Limits;
use scritorio::tools::{Desk, Material, Registry, Seen, ToolError};
use scritorio::workbench::{Ask, JudgeError, Overrides, Surroundings, Workbench};
use serde_json::{Value, json};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::advisor);

/// Of how many proposals one is tried on real files.
const SAMPLE: usize = 23;

fn vaults() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(root.join("tests/vaults")).unwrap().map(|f| f.unwrap().path()).collect();
    all.retain(|path| path.is_dir());
    all.push(root.join("examples/the-long-silence"));
    all.sort();
    all
}

fn is_deep() -> bool {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse::<u32>().ok()).is_some_and(|n| n > 256)
}

/// Calls a tool as a model that has read every file whole.
fn call(
    book: &Book,
    index: &Index,
    seen: &Seen,
    tool: &str,
    args: &Value,
) -> Result<Option<Proposal>, ToolError> {
    let desk = Desk {
        book,
        index,
        meaning: None,
        current: None,
        chapter: None,
        selection: None,
        seen,
        persona: None,
        limits: Limits::default(),
    };
    REGISTRY.run(&desk, tool, &args.to_string()).map(|outcome| outcome.proposal)
}

fn having_read(book: &Book) -> Seen {
    let mut seen = Seen::default();
    let main = book.entries.iter().map(|e| (&e.path, &e.text));
    let souls = book.entries.iter().filter_map(|e| e.soul.as_ref()).map(|s| (&s.path, &s.text));
    let material: Vec<Material> = main
        .chain(souls)
        .map(|(path, text)| Material { path: path.clone(), text: text.to_string() })
        .collect();
    seen.add(&material);
    seen
}

/// Whether a name leads to this entry and to no other.
fn is_meant(book: &Book, entry: &Entry) -> bool {
    let found = lookup::find(book, Some(entry.entry_type), &entry.name);
    found.also_matched.is_empty() && found.best.is_some_and(|(best, _)| std::ptr::eq(best, entry))
}

/// A change to propose, with what may differ in the file: the bytes of a section, or nothing but a hunk.
struct Wish {
    args: Value,
    place: Option<std::ops::Range<usize>>,
    /// Whether it may be a section of many lines, some of which can stay between two hunks.
    is_section: bool,
}

fn wishes(entry: &Entry) -> Vec<Wish> {
    let all = change::sections(&entry.text);
    let wish = |target: &str, words: &str, append: bool, place| Wish {
        args: json!({
            "entryType": entry.entry_type, "name": entry.name, "changeSummary": "Better words", "targetSection": target,
            "proposedMarkdown": words, "mode": if append { "append" } else { "replace" },
        }),
        place,
        // A section of that name is what is meant then.
        is_section: all.iter().any(|section| fold(&section.heading).contains(&fold(target))),
    };
    let mut wishes = vec![];
    // A section about the role is a field, wherever that stands.
    let sections = Part::of(entry).sections(&entry.text);
    for section in sections.into_iter().filter(|s| !s.heading.to_lowercase().contains("role")) {
        let name = change::qualified(&all, &section);
        wishes.push(wish(&name, "All \u{e9} new.\n\nTwo.", false, Some(section.content.clone())));
        wishes.push(wish(&name, "- one more", true, Some(section.content)));
    }
    let fields = scritorio::domain::frontmatter::parse(&entry.text).fields;
    let most = if is_deep() { usize::MAX } else { 12 };
    for (key, value) in fields.iter().filter(|_| entry.heading.is_none()).take(most) {
        wishes.push(wish(&format!("frontmatter.{key}"), "new: value", false, None));
        if value.is_array() {
            wishes.push(wish(&format!("frontmatter.{key}"), "another", true, None));
        }
    }
    let part = Part::of(entry);
    for line in change::field_lines(&entry.text, &part.range) {
        wishes.push(wish(&line.key, "another", false, None));
    }
    wishes.push(wish("Entirely New", "Words.", false, Some(part.range.end..part.range.end)));
    wishes.push(wish("Role", "antagonist", false, None));
    wishes.push(wish("soul", "# Soul\n\nWants peace.", true, None));
    wishes
}

/// What holds for every proposal: it is applied as proposed, and lies where it should.
fn check(book: &Book, proposal: &Proposal, wish: &Wish, told: &str) {
    let writes =
        apply::plan(proposal, |file| file.base.clone(), &[]).unwrap_or_else(|e| panic!("{e}: {told}"));
    for (write, file) in writes.iter().zip(proposal.files.iter().filter(|f| f.base != f.proposed)) {
        assert_eq!((&write.before, &write.after), (&file.base, &file.proposed), "{told}");
    }
    for file in proposal.files.iter().filter(|f| f.base.is_some() && f.proposed.is_some()) {
        let (base, text) = (file.base.as_deref().unwrap(), file.text());
        let read = book.document(&file.path).map(|(_, text)| &**text).or(book.settings_text.as_deref());
        assert_eq!(read.map(|text| book.as_on_disk(&file.path, text)).as_deref(), Some(base));
        keeps_its_bytes(base, text, told);
        match &wish.place {
            Some(place) => {
                assert!(text.starts_with(base[..place.start].trim_end()), "{told}\n{base}\n=>\n{text}");
                assert!(text.ends_with(base[place.end..].trim_start()), "{told}\n{base}\n=>\n{text}");
            }
            None if proposal.files.len() == 1 && !wish.is_section => {
                assert!(diff::hunks(base, text).len() <= 1, "{told}\n{base}\n=>\n{text}");
            }
            None => {}
        }
    }
}

/// A BOM stays, and a file whose lines all end in one way gets no other.
fn keeps_its_bytes(base: &str, text: &str, told: &str) {
    assert_eq!(base.starts_with('\u{feff}'), text.starts_with('\u{feff}'), "{told}");
    let (all, crlf) = (base.matches('\n').count(), base.matches("\r\n").count());
    if all > 0 && crlf == all {
        assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{told}");
    }
    if all == 0 && base.contains('\r') {
        assert!(!text.contains('\n'), "{told}");
    }
    if crlf == 0 && !base.contains('\r') {
        assert!(!text.contains('\r'), "{told}");
    }
}

/// The other entries of a file read the same with the changed text.
fn spares_the_others(book: &Book, entry: &Entry, file: &FileChange, told: &str) {
    if entry.heading.is_none() || file.proposed.is_none() {
        return;
    }
    let after = with_text(book, &file.path, file.text());
    let bodies = |book: &Book| -> BTreeMap<String, String> {
        let others = book.entries.iter().filter(|e| e.path == file.path && e.heading != entry.heading);
        others.map(|e| (e.address(), e.body().trim_end().to_owned())).collect()
    };
    let (before, after) = (bodies(book), bodies(&after));
    for (address, body) in before {
        assert_eq!(after.get(&address), Some(&body), "{address}: {told}");
    }
}

#[test]
fn every_section_and_field_of_every_vault_is_changed_in_its_place_and_put_back_to_the_byte() {
    let (mut proposed, mut refused, mut applied) = (0, 0, 0);
    for vault in vaults() {
        let mut real = Real::new(&vault);
        let book = read(&vault).unwrap();
        let (index, seen) = (Index::of(&book), having_read(&book));
        for entry in book.entries.iter().filter(|e| is_meant(&book, e)) {
            for wish in wishes(entry) {
                let told = format!("{} {} {}", vault.display(), entry.address(), wish.args);
                match call(&book, &index, &seen, "propose_codex_update", &wish.args) {
                    Ok(None) => {}
                    Err(error) => {
                        refused += 1;
                        assert!(
                            !error.to_string().is_empty() && !error.to_string().contains("panic"),
                            "{told}"
                        );
                    }
                    Ok(Some(proposal)) => {
                        proposed += 1;
                        check(&book, &proposal, &wish, &told);
                        for file in &proposal.files {
                            spares_the_others(&book, entry, file, &told);
                        }
                        if is_deep() || proposed % SAMPLE == 0 {
                            // The queue of a book is read whole for each verdict: a long one is another book's test.
                            if applied % 16 == 15 {
                                real = Real::new(&vault);
                            }
                            applied += usize::from(real.there_and_back(&proposal, &told));
                        }
                    }
                }
            }
        }
    }
    println!("{proposed} proposed, {refused} refused, {applied} applied to files and undone");
    assert!(proposed > 600 && applied > 20, "{proposed} {refused} {applied}");
}

/// Lines of files as nobody writes them on purpose.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[A-Za-z\u{e9} ,.]{0,20}",
        4 => "#{1,5} (Voice|Past|Notes|Mira|Tobias|Role|Relationships)",
        1 => "(Role|Home|Voice)(:|::) ?[a-z]{0,6}",
        1 => "- \\*\\*(Role|Home):\\*\\* [a-z]{1,6}  ",
        1 => Just("```".to_owned()),
        1 => Just("---".to_owned()),
        1 => Just("\nSetext\n---".to_owned()),
        1 => Just("\n%%\n# no\n%%\n".to_owned()),
        1 => Just("<!-- # no -->".to_owned()),
        1 => Just("> # no".to_owned()),
        1 => Just("\n<h3>Voice</h3>\n".to_owned()),
        1 => Just("\t# no".to_owned()),
        2 => Just(String::new()),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-d]{1,3}: [a-z ]{0,9}( # keep)?",
        "role: ('x'|\"x\"|x)  # keep",
        "aliases: \\[[A-Z]{1,3}, '[a-z]{2}' \\]",
        Just("tags:\n- a # one\n-  b".to_owned()),
        Just("more:\n    - who: Mira\n      type: x".to_owned()),
        Just("text: >-\n  one\n  two".to_owned()),
        Just("at: &here x".to_owned()),
        Just("deep:\n\ta: 1".to_owned()),
        Just("# a comment".to_owned()),
        Just("type: character".to_owned()),
    ]
}

fn file() -> impl Strategy<Value = String> {
    let keys = prop::option::of(prop::collection::vec(key(), 0..6));
    let line_end = prop::sample::select(vec!["\n", "\n", "\r\n", "\r"]);
    (keys, prop::collection::vec(line(), 0..16), any::<[bool; 2]>(), line_end).prop_map(
        |(keys, lines, [bom, ended], line_end)| {
            let front = keys.map(|keys| format!("---\n{}\n---\n", keys.join("\n"))).unwrap_or_default();
            let text = format!("{front}{}{}", lines.join("\n"), if ended { "\n" } else { "" });
            let text = text.replace('\n', line_end);
            format!("{}{text}", if bom { "\u{feff}" } else { "" })
        },
    )
}

thread_local! {
    static GENERATED: RefCell<Generated> = const { RefCell::new(Generated { real: None, uses: 0 }) };
}

/// One book for many cases: making a folder for each would take longer than what is tested in it.
struct Generated {
    real: Option<Real>,
    uses: usize,
}

impl Generated {
    /// Returns the book with these two files of characters. The queue of a book is read whole for each verdict, so that now and then a new one begins.
    fn holding(&mut self, one: &str, many: &str) -> &Real {
        self.uses += 1;
        if self.uses % 5 == 1 {
            self.real = None;
        }
        let real = self.real.get_or_insert_with(|| Real::new(&Folders::new().book()));
        real.folders.write("codex/characters/juno.md", one);
        real.folders.write("codex/people.md", &format!("# Characters\n\n## Ada\n\nx\n\n## Zed\n\n{many}"));
        let old_mac = many.replace('\n', "\r");
        real.folders.write("codex/cast.md", &format!("# Cast\r\r## Bo\r\rx\r\r## Cy\r\r{old_mac}"));
        real
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_any_file_what_is_proposed_stays_in_its_place(one in file(), many in file()) {
        GENERATED.with_borrow_mut(|generated| {
            let real = generated.holding(&one, &many);
            let book = read(real.bench.root()).unwrap();
            let (index, seen) = (Index::of(&book), having_read(&book));
            let mut proposals = vec![];
            for entry in book.entries.iter().filter(|e| is_meant(&book, e)) {
                for wish in wishes(entry) {
                    let told = format!("{} {}", entry.address(), wish.args);
                    if let Ok(Some(proposal)) = call(&book, &index, &seen, "propose_codex_update", &wish.args) {
                        check(&book, &proposal, &wish, &told);
                        proposal.files.iter().for_each(|file| spares_the_others(&book, entry, file, &told));
                        proposals.push((proposal, told));
                    }
                }
            }
            // One of them on the real files; which one differs from case to case.
            if !proposals.is_empty() {
                let (proposal, told) = &proposals[(one.len() + many.len()) % proposals.len()];
                prop_assert!(real.there_and_back(proposal, told), "{told}");
            }
            Ok(())
        })?;
    }
}

#[test]
fn relationships_between_all_neighbours_of_every_vault_are_recorded_and_put_back_to_the_byte() {
    let (mut proposed, mut applied) = (0, 0);
    for vault in vaults() {
        let real = Real::new(&vault);
        let book = read(&vault).unwrap();
        let (index, seen) = (Index::of(&book), Seen::default());
        for pair in book.entries.windows(2) {
            let [source, target] = pair else { continue };
            let args = json!({
                "source": source.name, "target": target.name, "relationshipType": "handler", "description": "Since the \u{e9}clipse.",
            });
            let told = format!("{} {args}", vault.display());
            let Ok(Some(proposal)) = call(&book, &index, &seen, "propose_relationship", &args) else {
                continue;
            };
            proposed += 1;
            for file in &proposal.files {
                let (base, text) = (file.base.as_deref().unwrap(), file.text());
                keeps_its_bytes(base, text, &told);
                // Nothing is lost: what was there is there still, in its order, around what is new.
                let mut rest = text.chars();
                assert!(
                    base.chars().all(|c| rest.any(|other| other == c)),
                    "something is lost: {told}\n{text}"
                );
            }
            // The book that reads the result says the same thing twice to nobody.
            let changed =
                proposal.files.iter().fold(book.clone(), |book, f| with_text(&book, &f.path, f.text()));
            if let Ok(Some(again)) = call(&changed, &index, &seen, "propose_relationship", &args) {
                panic!("recorded twice: {told}\n{:#?}", again.files);
            }
            if is_deep() || proposed % SAMPLE == 0 {
                applied += usize::from(real.there_and_back(&proposal, &told));
            }
        }
    }
    println!("{proposed} proposed, {applied} applied to files and undone");
    assert!(proposed > 60 && applied > 2, "{proposed} {applied}");
}

#[test]
fn new_scenes_notes_and_entries_are_new_files_that_read_back_and_go_again() {
    for vault in vaults() {
        let real = Real::new(&vault);
        let book = read(&vault).unwrap();
        let (index, seen) = (Index::of(&book), Seen::default());
        for (tool, args) in [
            (
                "propose_scene_create",
                json!({"title": "A New Zzyzx", "content": "It went out.\n", "chapterNumber": null}),
            ),
            (
                "propose_note_create",
                json!({"title": "A New Zzyzx", "content": "High at noon.", "tags": ["sea"]}),
            ),
            (
                "propose_persona_update",
                json!({"editableMarkdown": "## Tone\n\nBrief, for {{genre}}.", "reason": "Asked for"}),
            ),
            (
                "propose_codex_create",
                json!({"entryType": "character", "name": "Zzyzx Qwertz", "changeSummary": "New", "fields": [], "customFields": [], "markdownBody": "Text", "soulMarkdown": "Wants."}),
            ),
        ] {
            let told = format!("{} {tool}", vault.display());
            let proposal =
                call(&book, &index, &seen, tool, &args).unwrap_or_else(|e| panic!("{told}: {e}")).unwrap();
            for file in proposal.files.iter().filter(|f| f.base.is_some()) {
                assert_eq!(file.path.as_str(), "scritorio.toml", "{told}");
                keeps_its_bytes(file.base.as_deref().unwrap(), file.text(), &told);
            }
            assert!(real.there_and_back(&proposal, &told), "{told}");
            real.bench.redo(&proposal.id).unwrap();
            let after = read(real.bench.root()).unwrap();
            let path = &proposal.files[0].path;
            match tool {
                "propose_scene_create" => {
                    let chapter =
                        after.chapter(path).unwrap_or_else(|| panic!("{told}: {path} is no chapter"));
                    assert_eq!(after.chapters.len(), book.chapters.len() + 1, "{told}");
                    assert!(chapter.title.contains("New Zzyzx"), "{told}: {}", chapter.title);
                }
                "propose_note_create" => {
                    let note = after.notes.iter().find(|n| &n.path == path);
                    let note = note.unwrap_or_else(|| panic!("{told}: {path} is no note"));
                    assert_eq!(
                        (note.title.as_str(), &note.tags[..]),
                        ("A New Zzyzx", &["sea".to_owned()][..]),
                        "{told}"
                    );
                }
                "propose_codex_create" => {
                    let entry = after.entry(path).unwrap_or_else(|| panic!("{told}: {path} is no entry"));
                    assert_eq!(
                        (entry.name.as_str(), entry.entry_type),
                        ("Zzyzx Qwertz", EntryType::Character),
                        "{told}"
                    );
                    assert!(entry.soul.is_some(), "{told}");
                }
                _ => {
                    let editable = after.settings.board["developmental-editor"].editable.clone().unwrap();
                    assert_eq!(editable.trim(), "## Tone\n\nBrief, for {{genre}}.");
                }
            }
            real.bench.undo(&proposal.id).unwrap();
        }
    }
}

#[test]
fn a_flat_character_that_gets_a_soul_is_the_same_entry_in_a_folder() {
    let folders = Folders::new();
    let bench = bench(&folders);
    let args = json!({
        "entryType": "character", "name": "Mira Okafor", "changeSummary": "Her fears", "targetSection": "soul",
        "proposedMarkdown": "# Soul\n\nFears the dark.", "mode": null,
    });
    let before = own_files(&folders);
    let told = bench.call_tool("propose_codex_update", &args.to_string(), &Ask::default()).unwrap();
    let id = ProposalId::new(told["proposalId"].as_str().unwrap());
    assert_eq!(own_files(&folders), before, "a proposal writes nothing");
    bench.apply(&id, &[]).unwrap();
    assert_eq!(folders.read("codex/characters/mira/dossier.md"), book::MIRA);
    assert_eq!(folders.read("codex/characters/mira/soul.md"), "# Soul\r\n\r\nFears the dark.\r\n");
    assert!(!folders.book().join("codex/characters/mira.md").exists());
    let book = bench.book();
    let mira = lookup::find(&book, Some(EntryType::Character), "Mira").best.unwrap().0;
    assert!(mira.soul.is_some() && mira.name == "Mira Okafor" && book.entries.len() == 1);
    bench.undo(&id).unwrap();
    assert_eq!(own_files(&folders), before);
    let create = json!({
        "entryType": "character", "name": "Mira", "changeSummary": "x", "fields": null, "customFields": null, "markdownBody": "x", "soulMarkdown": "y",
    });
    let error = bench.call_tool("propose_codex_create", &create.to_string(), &Ask::default());
    assert!(error.unwrap_err().to_string().contains("targetSection `soul`"));
}

#[test]
fn another_manner_holds_from_the_next_turn_on_and_the_conversation_goes_on() {
    let folders = Folders::new();
    let bench = bench(&folders);
    let member =
        |ask: &str| Ask { question: ask.into(), persona: Some("writing-coach".into()), ..Ask::default() };
    let first =
        folders.run(&["ask", "Who is Mira Okafor?", "--persona", "writing-coach", "--json"]).ok().json();
    let session = SessionId::new(first["session"].as_str().unwrap());
    let first = member("Shorter, please.");
    assert_eq!(bench.prepare(&first).unwrap().persona, "writing-coach");
    let args = json!({"editableMarkdown": "## Tone\n\nNever more than a line about {{genre}}.", "reason": "Asked for"});
    let told = bench.call_tool("propose_persona_update", &args.to_string(), &first).unwrap();
    bench.apply(&ProposalId::new(told["proposalId"].as_str().unwrap()), &[]).unwrap();
    assert_eq!(folders.read("scritorio.toml").matches("[board.writing-coach]").count(), 1);
    let next = Ask { session: Some(session), ..member("And now?") };
    let setup = bench.prepare(&next).unwrap();
    assert!(setup.instructions.contains("Never more than a line about [genre not set]."));
    assert!(setup.instructions.contains("## Limits"), "what is locked is there still");
    assert!(!setup.history.is_empty(), "what was said before is not lost");
    let others = bench.prepare(&Ask { persona: None, session: None, ..next }).unwrap();
    assert!(!others.instructions.contains("Never more than a line"));
}

/// A copy of a vault that proposals are tried on.
struct Real {
    folders: Folders,
    bench: Workbench,
}

impl Real {
    fn new(vault: &Path) -> Self {
        let folders = Folders::copy_of(vault);
        let bench = bench(&folders);
        Self { folders, bench }
    }

    /// Applies and undoes; returns whether it could be applied: a file that is not UTF-8 is not.
    fn there_and_back(&self, proposal: &Proposal, told: &str) -> bool {
        let before = own_files(&self.folders);
        self.bench.queue(&SessionId::new("s-1"), &TurnId::new("t-1"), proposal).unwrap();
        match self.bench.apply(&proposal.id, &[]) {
            Err(JudgeError::ReadOnly { .. }) => {
                assert_eq!(own_files(&self.folders), before, "{told}");
                return false;
            }
            applied => assert_eq!(applied.unwrap_or_else(|e| panic!("{e}: {told}")).status, Status::Applied),
        }
        let after = own_files(&self.folders);
        for file in &proposal.files {
            let found = after.get(&self.folders.book().join(file.path.as_str())).map(Vec::as_slice);
            assert_eq!(found, file.proposed.as_deref().map(str::as_bytes), "{told}");
        }
        self.bench.undo(&proposal.id).unwrap_or_else(|e| panic!("{e}: {told}"));
        assert_eq!(own_files(&self.folders), before, "{told}");
        true
    }
}

fn bench(folders: &Folders) -> Workbench {
    Workbench::open_in(&folders.book(), Overrides::default(), Surroundings::in_folders(folders.root()))
        .unwrap()
}

/// The author's own files with their bytes, and their folders.
fn own_files(folders: &Folders) -> BTreeMap<PathBuf, Vec<u8>> {
    let book = folders.book();
    let own = |path: &PathBuf| path.starts_with(&book) && !path.starts_with(book.join(".scritorio"));
    folders.files().into_iter().filter(|(path, _)| own(path)).collect()
}
