//! What the author keeps from AI (`ai: never`): which book a persona works with, and what of a conversation may be sent again.
//!
//! A persona gets a smaller book ([`crate::store::book::without`]), made before any tool sees it. Of the open document, if it is private, the model learns that there is one
//! and nothing else; a selection from it is not captured. A turn that had read a file before it was marked is not sent again, and no server that has kept
//! such a turn is asked to go on from it. The author's own words are the author's: what they say of such a file is sent as they say it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::Value;

use crate::canon::stretches;
use crate::config;
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind, TurnStatus};
use crate::domain::frontmatter::Problem;
use crate::domain::ids::BookPath;
use crate::domain::privacy;
use crate::proposal::change;
use crate::providers::Item;
use crate::store::book;
use crate::store::sessions::Kept;

use super::history::from_stored;
use super::notices::KeptBack;
use super::{Ask, Workbench};

/// Smaller books that are remembered: of the book on disk, and of those with unsaved text.
const REMEMBERED: usize = 4;

/// Shortest name that is looked for in what was said; shorter ones stand anywhere.
const SHORTEST: usize = 3;

/// The books without private files that were made, with the books that they were made of.
#[derive(Default)]
pub(super) struct Open {
    made: Mutex<Vec<(Weak<Book>, Arc<Book>)>>,
}

impl Workbench {
    /// Returns the book as AI may know it: the same one where nothing is private.
    pub fn for_ai(&self, whole: &Arc<Book>) -> Arc<Book> {
        let mut made = self.inner.open.made.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(of, _): &&(Weak<Book>, Arc<Book>)| std::ptr::eq(of.as_ptr(), Arc::as_ptr(whole));
        if let Some((_, open)) = made.iter().find(fits) {
            return Arc::clone(open);
        }
        let Some(open) = book::without(whole).map(Arc::new) else { return Arc::clone(whole) };
        made.retain(|(of, _)| of.strong_count() > 0);
        if made.len() == REMEMBERED {
            made.remove(0);
        }
        made.push((Arc::downgrade(whole), Arc::clone(&open)));
        open
    }
}

/// Whether AI never reads the file at `path`.
pub fn is_private(book: &Book, path: &BookPath) -> bool {
    book.private.contains(path)
}

/// Returns a text with the mark `ai: never` set or taken off, and nothing else changed. `None`: its frontmatter can't be changed safely.
pub fn mark(text: &str, private: bool) -> Option<String> {
    if private {
        return change::set_key(text, privacy::KEY, &Value::from(privacy::NEVER));
    }
    change::remove_key(text, privacy::KEY).filter(|text| !privacy::is_marked(text))
}

/// A question as AI may know it.
pub(super) struct Known {
    pub ask: Ask,
    /// A document is open that AI never reads, and nothing is selected elsewhere.
    pub open_is_private: bool,
}

/// Leaves out of a question what AI never reads. A selection from a private file is refused: the author may not know that they selected it there.
pub(super) fn known(ask: &Ask, whole: &Book) -> Result<Known, Failure> {
    obeyed(whole)?;
    let mut known = Known { ask: ask.clone(), open_is_private: false };
    if let Some(selection) = ask.selection.as_ref().filter(|s| is_private(whole, &s.path)) {
        return Err(Failure {
            kind: FailureKind::Work,
            message: format!(
                "{} is kept from AI (`ai: never`): the selection is not captured.",
                selection.path
            ),
            hint: "Ask without it, or let AI read this document first.".into(),
        });
    }
    if let Some((path, _)) = ask.current.as_ref().filter(|(path, _)| is_private(whole, path)) {
        // Canon is told as of a chapter: the one before stands for a private one.
        known.ask.chapter = stand_in(whole, path).or_else(|| ask.chapter.clone());
        known.ask.current = None;
        known.open_is_private = ask.selection.is_none();
    }
    if let Some(chapter) = known.ask.chapter.as_ref().filter(|path| is_private(whole, path)) {
        known.ask.chapter = stand_in(whole, chapter);
    }
    Ok(known)
}

/// While the settings keep something from AI in a way that can't be obeyed, nobody is asked: what is meant may be any file.
fn obeyed(whole: &Book) -> Result<(), Failure> {
    let Some(Problem { line, column, message }) = whole.settings.ai_refused.first() else { return Ok(()) };
    let file = config::book::FILE;
    Err(Failure {
        kind: FailureKind::Work,
        message: format!(
            "Nothing is sent: {file} does not say clearly what AI never reads. {file}:{line}:{column}: {message}"
        ),
        hint: format!(
            "Correct [ai] in {file}, for example never = [\"notes/private\", \"codex/characters/*.md\"], then ask again."
        ),
    })
}

/// Tells of what the settings keep from AI and is not there: it may be a slip.
pub(super) fn missing(whole: &Book) -> Option<String> {
    let missing = &whole.settings.ai_missing;
    let all = missing.iter().map(|what| format!("{}: {what}.", config::book::FILE));
    (!missing.is_empty()).then(|| all.collect::<Vec<_>>().join(" "))
}

/// The last chapter before a private one that AI may read; `None` for what is no chapter.
fn stand_in(book: &Book, chapter: &BookPath) -> Option<BookPath> {
    let place = book.chapters.iter().position(|c| &c.path == chapter)?;
    let before = book.chapters[..place].iter().map(|c| &c.path);
    before.rev().find(|path| !is_private(book, path)).cloned()
}

/// Keeps the turns that may be sent again; what was left out, and why.
pub(super) fn turns_open(turns: Vec<Kept>, whole: &Book, open: &Book) -> (Vec<Kept>, KeptBack) {
    let mut back = KeptBack::default();
    if whole.private.is_empty() || turns.is_empty() {
        return (turns, back);
    }
    let secrets = Secrets::of(whole, open, &turns);
    let mut kept = vec![];
    for turn in turns {
        let told = secrets.told_in(&turn);
        if told.is_empty() {
            kept.push(turn);
        } else if matches!(turn.turn.status, TurnStatus::Done | TurnStatus::Cancelled) {
            // Any other would not be sent again either way.
            back.turns += 1;
            back.of.extend(told.into_iter().cloned());
        }
    }
    (kept, back)
}

/// What must not be sent again.
pub(super) struct Secrets<'a> {
    private: &'a BTreeSet<BookPath>,
    /// Paths, names, aliases and titles that no other file and no question of the author holds.
    words: Vec<(String, BookPath)>,
    /// Texts that AI may read, then private ones.
    texts: Vec<&'a str>,
    /// How many of `texts` AI may read.
    open: usize,
    /// The files of the others.
    paths: Vec<&'a BookPath>,
}

impl<'a> Secrets<'a> {
    /// Takes the whole book, the one that AI may know, and the conversation.
    pub(super) fn of(whole: &'a Book, open: &'a Book, turns: &[Kept]) -> Self {
        let known: Vec<&str> = open.texts().map(|(_, text)| text).collect();
        let questions: Vec<&str> = turns.iter().map(|kept| kept.turn.question.as_str()).collect();
        let is_open = |word: &str| known.iter().chain(&questions).any(|text| text.contains(word));
        let mut words: BTreeSet<(String, BookPath)> = BTreeSet::new();
        for entry in whole.entries.iter().filter(|entry| is_private(whole, &entry.path)) {
            let names = std::iter::once(&entry.name).chain(&entry.aliases).chain(&entry.title);
            words.extend(names.map(|name| (name.clone(), entry.path.clone())));
        }
        let chapters = whole.chapters.iter().map(|chapter| (&chapter.title, &chapter.path));
        let notes = whole.notes.iter().map(|note| (&note.title, &note.path));
        let titles = chapters.chain(notes).filter(|(_, path)| is_private(whole, path));
        words.extend(titles.map(|(title, path)| (title.clone(), path.clone())));
        words.extend(whole.private.iter().map(|path| (path.as_str().to_owned(), path.clone())));
        words.retain(|(word, _)| word.chars().count() >= SHORTEST && !is_open(word));
        let count = known.len();
        let private = whole.texts().filter(|(path, _)| is_private(whole, path));
        let (paths, private): (Vec<_>, Vec<_>) = private.unzip();
        let texts = known.into_iter().chain(private).collect();
        Self { private: &whole.private, words: words.into_iter().collect(), texts, open: count, paths }
    }

    /// The private files that a turn tells any of.
    fn told_in(&self, kept: &Kept) -> BTreeSet<&BookPath> {
        let turn = &kept.turn;
        let read = turn.tools.iter().flat_map(|tool| &tool.resolved);
        let selected = turn.selection.as_ref().map(|selection| &selection.path);
        let paths = kept.material.iter().map(|stretch| &stretch.path).chain(read).chain(selected);
        let mut told: BTreeSet<&BookPath> = paths.filter_map(|path| self.private.get(path)).collect();
        let mut said: Vec<String> = vec![];
        for item in from_stored(&kept.items).into_iter().filter(|item| !matches!(item, Item::Author(_))) {
            add_texts(item, &mut said);
        }
        // What was told of proposals is the program's own word.
        for item in from_stored(&kept.preface.items) {
            add_texts(item, &mut said);
        }
        told.extend(self.told(&said));
        told
    }

    /// Whether a text tells anything of a private file.
    pub(super) fn are_in(&self, text: &str) -> bool {
        !self.private.is_empty() && !self.told(&[text.to_owned()]).is_empty()
    }

    fn told(&self, said: &[String]) -> BTreeSet<&BookPath> {
        let is_said = |word: &str| said.iter().any(|text| text.contains(word));
        let mut told: BTreeSet<&BookPath> =
            self.words.iter().filter(|(word, _)| is_said(word)).map(|(_, path)| path).collect();
        let said: Vec<&str> = said.iter().map(String::as_str).collect();
        let found = stretches::find(&self.texts, &said, &|_, file| file < self.open);
        let private = found.iter().flatten().filter_map(|stretch| stretch.file.checked_sub(self.open));
        told.extend(private.filter_map(|file| self.paths.get(file).copied()));
        told
    }
}

fn add_texts(item: Item, texts: &mut Vec<String>) {
    match item {
        Item::Context(text) | Item::Author(text) | Item::Persona(text) => texts.push(text),
        Item::Call { arguments, .. } => add_leaves(&Value::String(arguments), texts),
        Item::Output { output, .. } => add_leaves(&Value::String(output), texts),
        Item::Raw(value) => add_leaves(&value, texts),
    }
}

fn add_leaves(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) => add_leaves(&inner, texts),
            _ => texts.push(text.clone()),
        },
        Value::Array(items) => items.iter().for_each(|item| add_leaves(item, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_leaves(value, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::agent::first_request;
    use crate::workbench::{Overrides, Surroundings};

    fn path(raw: &str) -> BookPath {
        BookPath::new(raw).unwrap()
    }

    fn bench(folder: &std::path::Path) -> Workbench {
        let root = folder.join("book");
        for (file, text) in [
            ("manuscript/1.md", "# One\n\nMira waits.\n"),
            ("manuscript/2.md", "---\nai: never\n---\n# The Hidden Door\n\nNobody may read of it.\n"),
            ("manuscript/3.md", "# Three\n\nMira goes.\n"),
            ("notes/n.md", "# Noted\n\nOpen as yet.\n"),
        ] {
            fs::create_dir_all(root.join(file).parent().unwrap()).unwrap();
            fs::write(root.join(file), text).unwrap();
        }
        Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
    }

    #[test]
    fn the_smaller_book_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let (whole, open) = (bench.book(), bench.for_ai(&bench.book()));
        assert_eq!((whole.chapters.len(), open.chapters.len()), (3, 2));
        assert!(Arc::ptr_eq(&open, &bench.for_ai(&whole)));
        assert!(Arc::ptr_eq(&open, &bench.for_ai(&open)), "where nothing is private it is the same one");
    }

    #[test]
    fn of_an_open_private_chapter_the_model_learns_that_there_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let mut ask =
            Ask { question: "And?".into(), current: Some((path("manuscript/2.md"), None)), ..Ask::default() };
        let setup = bench.prepare(&ask).unwrap();
        assert_eq!((setup.current.clone(), setup.chapter.clone()), (None, Some(path("manuscript/1.md"))));
        let request = format!("{:?}", first_request(&setup).items);
        assert!(request.contains("keeps private") && !request.contains("Hidden"), "{request}");
        for member in ["first-time-reader", "writing-coach"] {
            ask.persona = Some(member.into());
            let sent = bench.peek(&ask, Some("responses")).unwrap().body.to_string();
            assert!(!sent.contains("Hidden") && !sent.contains("manuscript/2"), "{sent}");
        }
        ask.selection = Some(bench.select(&path("manuscript/2.md"), 20, 30).unwrap());
        let refused = bench.prepare(&ask).err().unwrap();
        assert!(refused.message.contains("not captured"), "{}", refused.message);
    }

    #[test]
    fn while_the_settings_can_not_be_obeyed_nobody_is_asked_and_the_book_still_opens() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let ask = Ask { question: "And?".into(), ..Ask::default() };
        bench.prepare(&ask).unwrap();
        fs::write(bench.root().join("scritorio.toml"), "[ai]\nnever = [\"notes/m.md\"]\n").unwrap();
        bench.refresh().unwrap();
        let refused = bench.prepare(&ask).err().unwrap();
        assert!(refused.message.contains("scritorio.toml:2:10: "), "{}", refused.message);
        assert!(refused.message.contains("did you mean `notes/n.md`?"), "{}", refused.message);
        assert!(bench.peek(&ask, None).is_err() && bench.call_tool("search_notes", "{}", &ask).is_err());
        fs::write(bench.root().join("scritorio.toml"), "[ai]\nnever = [\"later*\"]\n").unwrap();
        bench.refresh().unwrap();
        let notices = bench.prepare(&ask).unwrap().notices;
        assert!(notices.len() == 1 && notices[0].contains("`later*`"), "{notices:?}");
    }

    #[test]
    fn a_mark_that_is_not_saved_yet_counts() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let marked = "---\nai: never\n---\n# Noted\n";
        let open = Ask { current: Some((path("notes/n.md"), Some(marked.into()))), ..Ask::default() };
        let other = Ask { private: vec![path("notes/n.md")], ..Ask::default() };
        for ask in [open, other] {
            let setup = bench.prepare(&ask).unwrap();
            assert!(setup.book.notes.is_empty(), "{ask:?}");
        }
        assert_eq!(bench.prepare(&Ask::default()).unwrap().book.notes.len(), 1);
    }

    #[test]
    fn a_word_of_the_author_does_not_cost_the_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let book = bench.book();
        let secrets = Secrets::of(&book, &book, &[]);
        let words = |secrets: &Secrets<'_>| -> Vec<String> {
            secrets.words.iter().map(|(word, _)| word.clone()).collect()
        };
        assert_eq!(words(&secrets), ["manuscript/2.md"], "what any open file holds is no secret");
        let open = bench.for_ai(&book);
        let secrets = Secrets::of(&book, &open, &[]);
        assert_eq!(words(&secrets), ["The Hidden Door", "manuscript/2.md"]);
    }
}
