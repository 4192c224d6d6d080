//! Reads a book's folder.
//!
//! Never writes, never follows a symbolic link out of the folder, and never refuses a book for one broken file: what
//! can't be read as meant becomes a warning with its place.

mod canon;
mod chapter;
pub(crate) mod decode;
mod entry;
mod fields;
mod kind;
mod layout;
mod linked;
mod load;
mod many;
mod markup;
mod names;
mod parts;
mod private;
mod scan;
mod stamp;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use self::private::without;

use self::canon::{Found, Piece, Rules};
use self::entry::Shape;
use self::kind::Vocabulary;
use self::layout::{Layout, Zone};
use self::load::Loaded;
use self::stamp::Stamp;
use crate::config;
use crate::domain::book::{Book, BookSettings, Warning};
use crate::domain::codex::{Entry, Soul};
use crate::domain::frontmatter::Problem;
use crate::domain::ids::BookPath;
use crate::domain::passage::fold;
use crate::domain::privacy;

/// Why a folder can't be read as a book.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The folder itself.
    #[error("can't read {path}: {source}")]
    Folder {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// `scritorio.toml` has a value of the wrong type, or is no TOML.
    #[error("{file}:{line}:{column}: {message}")]
    Settings {
        /// The settings file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong.
        message: String,
    },
}

/// Reads settings, chapters, canon and notes. Never follows a symbolic link out of the folder (a warning says so), never descends into
/// `.scritorio`, `.git` and other hidden folders. [`Book::warnings`] holds those of the entries, too.
pub fn read(root: &Path) -> Result<Book, ReadError> {
    let plan = Plan::of(root)?;
    let pieces = load::map(&plan.files, |file| plan.load(file));
    Ok(plan.book(pieces))
}

/// Reads as [`read`] does, unless the folder is as it was when `known` was read: then there is nothing new. Asks for names, lengths and times first, and opens
/// no text where none of them is another.
pub fn read_if_changed(root: &Path, known: &Book) -> Result<Option<Book>, ReadError> {
    let plan = Plan::of(root)?;
    if known.as_found.is_some() {
        let stamps = load::map(&plan.files, |file| Stamp::at(&file.full));
        if plan.as_found(stamps) == known.as_found {
            return Ok(None);
        }
    }
    let pieces = load::map(&plan.files, |file| plan.load(file));
    Ok(Some(plan.book(pieces)))
}

/// Most files beside the manuscript that are read before anything is shown.
const FEW: usize = 200;

/// Reads as [`read`] does, but of a book with many files beside its manuscript only the manuscript: everything else stands in it with what its path alone tells,
/// and is read by [`Rest::read`].
pub fn outline(root: &Path) -> Result<(Book, Option<Rest>), ReadError> {
    let plan = Plan::of(root)?;
    let waits = |file: &scan::File| !matches!(plan.rules.zone(&file.path), Zone::Manuscript | Zone::Flat);
    if plan.files.iter().filter(|file| waits(file)).count() <= FEW {
        let pieces = load::map(&plan.files, |file| plan.load(file));
        return Ok((plan.book(pieces), None));
    }
    let (later, now): (Vec<_>, Vec<_>) = plan.files.iter().cloned().partition(waits);
    let loaded = load::map(&now, |file| plan.load(file));
    let stand_in = |file: &scan::File| {
        let nothing = Loaded::of(file.path.clone(), "".into(), &plan.rules.words);
        Ok(plan.rules.piece(nothing))
    };
    let mut pieces = loaded.clone();
    pieces.extend(later.iter().map(stand_in));
    let book = plan.clone().book(pieces);
    Ok((book, Some(Rest { plan, loaded, later })))
}

/// What an [`outline`] has not read yet.
pub struct Rest {
    plan: Plan,
    loaded: Vec<Result<Piece, Warning>>,
    later: Vec<scan::File>,
}

impl Rest {
    /// Reads it, and returns the whole book.
    pub fn read(self) -> Book {
        let Self { plan, loaded: mut pieces, later } = self;
        pieces.extend(load::map(&later, |file| plan.load(file)));
        plan.book(pieces)
    }
}

/// A book whose files are found, and not read yet.
#[derive(Clone)]
struct Plan {
    root: PathBuf,
    settings: Settings,
    rules: Rules,
    files: Vec<scan::File>,
    /// What is known of it already.
    book: Book,
}

impl Plan {
    fn of(root: &Path) -> Result<Self, ReadError> {
        let failed = |source| ReadError::Folder { path: root.to_path_buf(), source };
        let root = root.canonicalize().map_err(failed)?;
        std::fs::read_dir(&root).map_err(failed)?;
        let settings = Settings::read(&root)?;
        let found = scan::scan(&root);
        let (layout, missing) = Layout::of(&settings.read, &found.folders, |dir| root.join(dir).is_dir());
        let paths = found.files.iter().map(|file| &file.path);
        let rules = Rules::new(layout, Vocabulary::of(&settings.read), &settings.read.order, paths);
        let mut book = Book { folders: found.folders, ..Book::default() };
        let set = settings
            .read
            .codex_dirs
            .iter()
            .chain(&settings.read.manuscript_dir)
            .chain(&settings.read.notes_dir);
        let existing: Vec<String> = set.filter(|dir| root.join(dir).is_dir()).cloned().collect();
        book.folders.extend(existing);
        book.warnings.extend_from_slice(&settings.warnings);
        book.warnings.extend(missing.into_iter().map(|(value, message)| settings.warning(&value, message)));
        // A link to nothing, of which the settings tell more.
        book.warnings.extend(found.warnings.into_iter().filter(|warning| warning.path != settings.path));
        book.name =
            root.file_name().map_or_else(|| "book".to_owned(), |name| name.to_string_lossy().into_owned());
        let files = without_doubles(&rules, found.files);
        Ok(Self { root, settings, rules, files, book })
    }

    /// Reads one file, and says what it is.
    fn load(&self, file: &scan::File) -> Result<Piece, Warning> {
        Ok(self.rules.piece(load::load(file, &self.rules.words)?))
    }

    /// What the folder is like, with these stamps of its files.
    fn as_found(&self, stamps: impl IntoIterator<Item = Option<Stamp>>) -> Option<u64> {
        let mut all = DefaultHasher::new();
        (&self.settings.text, &self.book.folders).hash(&mut all);
        for warning in &self.book.warnings {
            (&warning.path, &warning.message).hash(&mut all);
        }
        for (file, stamp) in self.files.iter().zip(stamps) {
            (&file.path, &file.target, stamp?).hash(&mut all);
        }
        Some(all.finish())
    }

    /// The same, with the stamps that the files had when they were read.
    fn as_read(&self, pieces: &[Piece]) -> Option<u64> {
        let mut read: HashMap<&BookPath, Stamp> = HashMap::with_capacity(pieces.len());
        for piece in pieces {
            read.insert(&piece.file().path, piece.file().stamp?);
        }
        // Of a file that could not be read nothing is in the book.
        let stamp = |file: &scan::File| read.get(&file.path).copied().or_else(|| Stamp::at(&file.full));
        self.as_found(self.files.iter().map(stamp))
    }

    fn book(self, read: Vec<Result<Piece, Warning>>) -> Book {
        let (mut pieces, mut unread) = (Vec::with_capacity(read.len()), vec![]);
        for read in read {
            match read {
                Ok(piece) => pieces.push(piece),
                Err(warning) => unread.push(warning),
            }
        }
        let as_found = self.as_read(&pieces);
        let Self { root, settings, rules, files, mut book } = self;
        book.warnings.extend(unread);
        // One that was read in parts is in the order of one that was read in one go.
        pieces.sort_by(|a, b| a.file().path.cmp(&b.file().path));
        book.kept = kept_files(&files, &root, &settings.read.ai_never);
        book.private = marked_files(&pieces).chain(book.kept.iter().cloned()).collect();
        let mut settings = settings;
        book.warnings.extend(private::missing(&mut settings, &root, &files.iter().map(|file| &file.path)));
        // What can't be obeyed may be once there is more in the folder, be it no text.
        let is_obeyed = settings.read.ai_refused.is_empty() && settings.read.ai_missing.is_empty();
        book.as_found = as_found.filter(|_| is_obeyed);
        book.old_mac = of_old_mac(pieces.iter().map(Piece::file)).collect();
        book.embedded = linked::follow(&mut pieces, &rules.words);
        Draft { rules, book, chapters: vec![] }.finish(pieces, settings)
    }
}

/// The files that say themselves that AI never reads them.
fn marked_files(pieces: &[Piece]) -> impl Iterator<Item = BookPath> {
    let marked = |piece: &&Piece| {
        piece.file().private || piece.entries().iter().any(|entry| privacy::says_never(&entry.fields))
    };
    pieces.iter().filter(marked).map(|piece| piece.file().path.clone())
}

/// The files that the settings keep from AI: by their own path, or by that of the file that they are a link to.
fn kept_files(files: &[scan::File], root: &Path, never: &[String]) -> BTreeSet<BookPath> {
    if never.is_empty() {
        return BTreeSet::new();
    }
    let linked = |file: &scan::File| {
        let target = file.target.as_ref()?.strip_prefix(root).ok()?;
        BookPath::new(target.to_str()?.replace('\\', "/")).ok()
    };
    let kept = files.iter().filter(|file| {
        privacy::is_below(&file.path, never)
            || linked(file).is_some_and(|target| privacy::is_below(&target, never))
    });
    kept.map(|file| file.path.clone()).collect()
}

/// The files that have the line ends of the old Mac OS. A file that is not UTF-8 is never written, and is none of them.
fn of_old_mac<'a>(files: impl Iterator<Item = &'a Loaded>) -> impl Iterator<Item = BookPath> {
    files.filter(|file| file.is_old_mac && file.not_utf8.is_none()).map(|file| file.path.clone())
}

/// Leaves out plain text outside the manuscript, and links to files that are read anyway for the same purpose.
fn without_doubles(rules: &Rules, files: Vec<scan::File>) -> Vec<scan::File> {
    let mut files: Vec<_> =
        files.into_iter().filter(|f| f.is_markdown() || rules.zone(&f.path) == Zone::Manuscript).collect();
    if files.iter().any(|file| file.target.is_some()) {
        let own = files.iter().filter(|file| file.target.is_none());
        let mut taken: HashSet<_> = own.map(|file| (rules.zone(&file.path), file.full.clone())).collect();
        files.retain(|f| f.target.as_ref().is_none_or(|to| taken.insert((rules.zone(&f.path), to.clone()))));
    }
    files
}

/// The settings with what is needed to point into their file.
#[derive(Clone)]
struct Settings {
    read: BookSettings,
    /// `None`: there is no such file.
    text: Option<String>,
    path: BookPath,
    warnings: Vec<Warning>,
}

/// What is wrong with settings that are a link to a file that is not there.
const NOWHERE: &str = "it is a link to a file that is not there, so that nobody knows what it keeps from AI; bring that file back, or remove the link";

impl Settings {
    fn read(root: &Path) -> Result<Self, ReadError> {
        let file = config::book::FILE;
        let error =
            |line, column, message| ReadError::Settings { file: file.to_owned(), line, column, message };
        let mut leads_nowhere = false;
        let text = match std::fs::read(root.join(file)) {
            Ok(bytes) => {
                Some(String::from_utf8(bytes).map_err(|_| error(1, 1, "it is not UTF-8".to_owned()))?)
            }
            Err(missing) if missing.kind() == std::io::ErrorKind::NotFound => {
                leads_nowhere = root.join(file).symlink_metadata().is_ok();
                None
            }
            Err(source) => return Err(ReadError::Folder { path: root.join(file), source }),
        };
        let (mut read, mut problems) = config::book::parse(text.as_deref().unwrap_or_default())
            .map_err(|problem| error(problem.line, problem.column, problem.message))?;
        if leads_nowhere {
            let message = NOWHERE.to_owned();
            let problem = Problem { line: 1, column: 1, message };
            read.ai_refused.push(problem.clone());
            problems.push(problem);
        }
        #[expect(clippy::expect_used, reason = "a constant that is a path of a book")]
        let path = BookPath::new(file).expect("a path");
        let mut settings = Self { read, text, path, warnings: vec![] };
        for problem in problems {
            let (line, column, message) = (problem.line, problem.column, problem.message);
            settings.warnings.push(Warning { path: settings.path.clone(), line, column, message });
        }
        Ok(settings)
    }

    /// A warning about a value, at its place in the file.
    fn warning(&self, value: &str, message: String) -> Warning {
        let text = self.text.as_deref().unwrap_or_default();
        let (line, column) = crate::domain::passage::line_column(text, text.find(value).unwrap_or(0));
        Warning { path: self.path.clone(), line, column, message }
    }
}

/// Why a file of the manuscript is read as a note.
const NO_CHAPTER: &str = "its name says that it is no chapter; `[manuscript] order` in scritorio.toml, or `chapter:` in its frontmatter, makes it one";

/// A book as it is put together.
struct Draft {
    rules: Rules,
    book: Book,
    chapters: Vec<Loaded>,
}

impl Draft {
    fn finish(mut self, pieces: Vec<Piece>, settings: Settings) -> Book {
        self.place(pieces);
        let dir = self.rules.layout.manuscript.as_deref();
        let missing = layout::sort_chapters(&mut self.chapters, dir, &settings.read.order, |file| &file.path);
        for value in missing {
            let message = format!("there is no chapter `{value}` to put in order");
            self.book.warnings.push(settings.warning(&value, message));
        }
        self.book.warnings.extend(self.chapters.iter().flat_map(Loaded::warnings));
        let positions = parts::positions(self.chapters.iter().map(|file| &file.path));
        let placed: Vec<(u32, &Loaded)> = positions.into_iter().zip(&self.chapters).collect();
        self.book.chapters = load::map(&placed, |(position, file)| chapter::chapter(file, *position));
        for entry in &self.book.entries {
            push_warnings(&mut self.book.warnings, &entry.warnings);
        }
        sort_entries(&mut self.book.entries);
        self.book.others.sort();
        self.book.settings_text = settings.text.map(Arc::from);
        self.book.settings = settings.read;
        self.book
    }

    fn place(&mut self, pieces: Vec<Piece>) {
        // The entry of a folder, with how much its file is the main one.
        let mut mains: HashMap<String, (Shape, usize)> = HashMap::new();
        let mut souls = vec![];
        for piece in pieces {
            match piece {
                Piece::Chapter(file) => self.chapters.push(file),
                Piece::Note(note, file) => {
                    self.book.warnings.extend(file.warnings());
                    if self.rules.aside.contains(&file.path) {
                        self.book.not_canon.insert(file.path.clone(), NO_CHAPTER.to_owned());
                    }
                    self.book.notes.push(note);
                }
                Piece::Canon(entries, file) => {
                    let shape = Shape::of(&file.path);
                    let folder = file.path.parent().filter(|_| shape != Shape::Own && entries.len() == 1);
                    if let Some(folder) = folder
                        && mains.get(folder).is_none_or(|(known, _)| shape < *known)
                    {
                        mains.insert(folder.to_owned(), (shape, self.book.entries.len()));
                    }
                    self.book.entries.extend(entries);
                }
                Piece::Soul(file, typed) => souls.push((file, typed)),
                Piece::Other(file, why) => self.other(file, why),
            }
        }
        for (file, typed) in souls {
            let main = file.path.parent().and_then(|folder| mains.get(folder));
            if let Some(entry) = main.and_then(|(_, at)| self.book.entries.get_mut(*at)) {
                entry.warnings.extend(file.warnings());
                entry.soul = Some(Soul { path: file.path, text: file.text });
            } else if let Some(typed) = typed {
                self.book.entries.push(self.rules.alone(&file, typed));
            } else {
                self.other(file, Some("it is the soul of no entry".to_owned()));
            }
        }
    }

    fn other(&mut self, file: Loaded, why: Option<String>) {
        self.book.warnings.extend(file.warnings());
        if let Some(why) = why {
            self.book.not_canon.insert(file.path.clone(), why);
        }
        self.book.others.push(file.path);
    }
}

/// Adds warnings, those that many entries of one file share once.
fn push_warnings(all: &mut Vec<Warning>, more: &[Warning]) {
    for warning in more {
        let last = all.iter().rev().take_while(|known| known.path == warning.path);
        if !last.into_iter().any(|known| known == warning) {
            all.push(warning.clone());
        }
    }
}

fn sort_entries(entries: &mut [Entry]) {
    entries.sort_by_cached_key(|entry| {
        (entry.entry_type, fold(&entry.name), entry.path.clone(), entry.body.start)
    });
}

/// Returns the book with another text in place of the file at `path`, e.g. one that is not saved yet: chapter, entry, soul or note. A file
/// with entries is split anew; one that would be no canon any more while it is written stays what it was. A path that the book does not have changes nothing.
pub fn with_text(book: &Book, path: &BookPath, text: impl Into<Arc<str>>) -> Book {
    let words = Vocabulary::of(&book.settings);
    let file = Loaded::of(path.clone(), text.into(), &words);
    let mut book = book.clone();
    book.warnings.retain(|warning| &warning.path != path);
    if file.private || book.keeps(path) {
        book.private.insert(path.clone());
    } else {
        book.private.remove(path);
    }
    book.old_mac.remove(path);
    book.old_mac.extend(of_old_mac(std::iter::once(&file)));
    if let Some(at) = book.chapters.iter().position(|chapter| &chapter.path == path) {
        let positions = parts::positions(book.chapters.iter().map(|chapter| &chapter.path));
        book.chapters[at] = chapter::chapter(&file, positions[at]);
    } else if let Some(at) = book.notes.iter().position(|note| &note.path == path) {
        book.notes[at] = canon::note(&file);
    } else if let Some(first) = book.entries.iter().position(|entry| &entry.path == path) {
        let rules = rules_of(&book, words);
        let before = &book.entries[first];
        let (soul, was_one) = (before.soul.clone(), before.heading.is_none());
        // What is wrong with the soul's own file.
        let of_soul: Vec<Warning> = before.warnings.iter().filter(|w| &w.path != path).cloned().collect();
        let mut entries = match rules.canon(&file, rules.zone(path)) {
            Found::Entries(entries) => entries,
            _ if was_one => vec![rules.alone(&file, (before.entry_type, before.type_from.clone()))],
            _ => vec![],
        };
        linked::follow_in(&book, &mut entries, &file, &rules.words);
        if let [only] = &mut entries[..] {
            only.soul = soul;
            only.warnings.extend(of_soul);
        }
        if entries.iter().any(|entry| privacy::says_never(&entry.fields)) {
            book.private.insert(path.clone());
        }
        for entry in &entries {
            push_warnings(&mut book.warnings, &entry.warnings);
        }
        book.entries.retain(|entry| &entry.path != path);
        book.entries.extend(entries);
        sort_entries(&mut book.entries);
    } else if let Some(entry) =
        book.entries.iter_mut().find(|e| e.soul.as_ref().is_some_and(|soul| &soul.path == path))
    {
        entry.warnings.retain(|warning| &warning.path != path);
        entry.warnings.extend(file.warnings());
        entry.soul = Some(Soul { path: path.clone(), text: Arc::clone(&file.text) });
    } else {
        return book;
    }
    push_warnings(&mut book.warnings, &file.warnings());
    book
}

/// The rules of a book that is read already.
fn rules_of(book: &Book, words: Vocabulary) -> Rules {
    let paths: Vec<&BookPath> = {
        let chapters = book.chapters.iter().map(|c| &c.path);
        let others = book.notes.iter().map(|n| &n.path).chain(&book.others);
        let souls = book.entries.iter().filter_map(|e| e.soul.as_ref()).map(|soul| &soul.path);
        chapters.chain(book.entries.iter().map(|e| &e.path)).chain(souls).chain(others).collect()
    };
    let is_folder = |dir: &str| book.folders.iter().any(|folder| folder == dir);
    let top: Vec<String> = book.folders.iter().filter(|folder| !folder.contains('/')).cloned().collect();
    let (layout, _) = Layout::of(&book.settings, &top, is_folder);
    Rules::new(layout, words, &book.settings.order, paths)
}

/// Finds the book that holds `start`: the nearest folder upwards with `scritorio.toml` or a `.scritorio` folder, else the nearest with a
/// manuscript or Codex folder. In the latter way a folder above `start` counts only if `start` is in such a folder of it, so that
/// a home folder with an unrelated `drafts` is not taken for a book.
pub fn find_root(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().ok()?;
    let folders = || start.ancestors().filter(|folder| folder.is_dir());
    let is_marked = |folder: &&Path| scan::has_settings(folder) || folder.join(".scritorio").is_dir();
    let looks_like_one = |folder: &&Path| {
        let below = start.strip_prefix(folder).ok().and_then(|below| below.iter().next());
        let is_way_up = below.is_none_or(|name| {
            folder.join(name).is_file() || layout::may_be_in_book(&name.to_string_lossy())
        });
        is_way_up
            && std::fs::read_dir(folder).is_ok_and(|items| {
                let mut folders = items.flatten().filter(|item| item.path().is_dir());
                folders.any(|folder| layout::is_usual(&folder.file_name().to_string_lossy()))
            })
    };
    folders().find(is_marked).or_else(|| folders().find(looks_like_one)).map(Path::to_path_buf)
}

/// Returns the books right inside a folder that is none itself, sorted.
pub fn books_in(folder: &Path) -> Vec<PathBuf> {
    if scan::has_settings(folder) {
        return vec![];
    }
    let items = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|item| item.path());
    let mut books: Vec<PathBuf> = items.filter(|path| scan::has_settings(path)).collect();
    books.sort();
    books
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        dir
    }

    fn book(files: &[(&str, &str)]) -> Book {
        read(folder(files).path()).unwrap()
    }

    fn paths<'a>(all: impl IntoIterator<Item = &'a BookPath>) -> Vec<&'a str> {
        all.into_iter().map(BookPath::as_str).collect()
    }

    fn chapters(book: &Book) -> Vec<&str> {
        paths(book.chapters.iter().map(|c| &c.path))
    }

    fn entries(book: &Book) -> Vec<(&str, &str)> {
        book.entries.iter().map(|e| (e.entry_type.as_str(), e.name.as_str())).collect()
    }

    #[test]
    fn a_file_that_is_named_like_no_chapter_is_a_note_beside_files_that_are() {
        let files = [
            ("Manuscript/Chapter 1.md", "# Chapter 1"),
            ("Manuscript/Chapter 2.md", "# Chapter 2"),
            ("Manuscript/Prologue.md", "# Prologue"),
            ("Manuscript/The Outline of a Ship.md", "Text."),
            ("Manuscript/Notes to self.md", "# Notes\n\nMore."),
            ("Manuscript/_TODO.md", "- much"),
            ("Manuscript/Outline.md", "---\nchapter: 7\n---\nIt says that it is one."),
            ("Manuscript/Part 2/README.md", "Alone with one chapter."),
            ("Manuscript/Part 2/Chapter 3.md", "# Chapter 3"),
        ];
        let read = book(&files);
        let numbers: Vec<_> = read.chapters.iter().map(|c| (c.number, c.path.file_name())).collect();
        assert_eq!(
            numbers,
            [
                (0, "Prologue.md"),
                (1, "Chapter 1.md"),
                (2, "Chapter 2.md"),
                (7, "Outline.md"),
                (3, "Chapter 3.md"),
                (5, "README.md"),
                (6, "The Outline of a Ship.md"),
            ]
        );
        assert_eq!(
            paths(read.notes.iter().map(|note| &note.path)),
            ["Manuscript/Notes to self.md", "Manuscript/_TODO.md"]
        );
        let why = &read.not_canon[&BookPath::new("Manuscript/_TODO.md").unwrap()];
        assert!(why.contains("no chapter"), "{why}");

        // The author's order is stronger, and where there are no other chapters nothing is certain.
        let order = ("scritorio.toml", "[manuscript]\norder = ['Chapter 1', 'Notes to self']\n");
        let ordered = book(&[&files[..], &[order]].concat());
        assert_eq!(chapters(&ordered)[..2], ["Manuscript/Chapter 1.md", "Manuscript/Notes to self.md"]);
        let alone = book(&[("manuscript/Notes.md", "Text."), ("manuscript/Outline.md", "Text.")]);
        assert_eq!((alone.chapters.len(), alone.notes.len()), (2, 0));
        let flat = book(&[("Chapter 1.md", "A"), ("Chapter 2.md", "B"), ("Ideas.md", "C")]);
        assert_eq!((flat.chapters.len(), flat.notes.len()), (2, 1));
        // A text that is not saved yet changes none of that.
        let unsaved = with_text(&read, &read.chapters[0].path, "# Prologue\n\nWords.");
        assert_eq!(unsaved.chapters[0].number, 0);
    }

    #[test]
    fn a_book_is_read_part_by_part() {
        let book = book(&[
            ("scritorio.toml", "[book]\ntitle = 'The Long Silence'\n"),
            ("manuscript/10-b.md", "# B\n\nOne two."),
            ("manuscript/2-a.txt", "A"),
            ("codex/characters/mira.md", "# Mira"),
            ("codex/characters/vale/dossier.md", "# Adrian Vale"),
            ("codex/characters/vale/soul.md", "Silent."),
            ("codex/characters/vale/scraps.md", "Scraps."),
            ("codex/characters/index.md", "All of them."),
            ("codex/README.md", "Our canon."),
            ("codex/plan.txt", "no canon"),
            ("notes/b.md", "---\ntitle: Ideas\ntags: [one, '#two']\n---\n"),
            ("Research/x.md", "Text."),
            ("Research/y.md", "---\ntype: place\n---\n# Lantern"),
            (".scritorio/personas/x.md", "---\ntype: character\n---\n"),
            ("node_modules/m.md", "---\ntype: character\n---\n"),
        ]);
        assert_eq!(book.title(), "The Long Silence");
        assert_eq!(chapters(&book), ["manuscript/2-a.txt", "manuscript/10-b.md"]);
        assert_eq!(
            (book.chapters[1].number, book.chapters[1].title.as_str(), book.chapters[1].words),
            (10, "B", 3)
        );
        assert_eq!(
            entries(&book),
            [("character", "Adrian Vale"), ("character", "Mira"), ("location", "Lantern")]
        );
        assert_eq!(book.entries[0].soul.as_ref().unwrap().text.as_ref(), "Silent.");
        assert_eq!(
            (book.notes[0].title.as_str(), book.notes[0].tags.join(" ")),
            ("Ideas", "one two".to_owned())
        );
        let others = [
            "Research/x.md",
            "codex/README.md",
            "codex/characters/index.md",
            "codex/characters/vale/scraps.md",
        ];
        assert_eq!(paths(&book.others), others);
        assert_eq!(book.warnings, []);
    }

    #[test]
    fn a_large_codex_stands_with_what_its_paths_tell_until_it_is_read_and_is_then_the_same_book() {
        let dir = folder(&[
            ("scritorio.toml", "[ai]\nnever = ['notes/mine']\n"),
            ("manuscript/1.md", "# One\n\nMira waits."),
            ("codex/characters/vale/dossier.md", "---\nname: Adrian Vale\n---\nA captain."),
            ("codex/characters/vale/soul.md", "---\nai: never\n---\nSilent."),
            ("codex/all.md", "# Places\n\n## Lantern\n\nA bar.\n\n## Hull\n\nA slum.\n"),
            ("notes/mine/b.md", "Ideas"),
        ]);
        assert!(outline(dir.path()).unwrap().1.is_none(), "a small one is read whole");
        for n in 0..=FEW {
            let text = format!("---\nname: Number {n}\ntype: place\n---\nSee [[Lantern]].\n");
            fs::write(dir.path().join(format!("codex/characters/c{n}.md")), text).unwrap();
        }

        let (book, rest) = outline(dir.path()).unwrap();
        assert_eq!((chapters(&book).len(), book.chapters[0].words, &*book.chapters[0].title), (1, 3, "One"));
        assert!(
            entries(&book).contains(&("character", "Vale")) && entries(&book).contains(&("character", "C7"))
        );
        assert_eq!(book.settings.ai_never, ["notes/mine"]);
        let in_two_steps = format!("{:?}", rest.unwrap().read());
        assert_eq!(in_two_steps, format!("{:?}", read(dir.path()).unwrap()));
    }

    #[test]
    fn a_folder_without_settings_and_subfolders_is_a_book_too() {
        let book = book(&[
            ("2.md", "Two"),
            ("10.md", "Ten"),
            ("README.md", "About"),
            ("mira.md", "---\ntype: npc\n---\n"),
            ("Cast/vale.md", "A captain."),
            ("extra/loose.md", "Loose"),
        ]);
        assert_eq!(chapters(&book), ["2.md", "10.md"]);
        assert_eq!(entries(&book), [("character", "Mira"), ("character", "Vale")]);
        assert_eq!(paths(&book.others), ["README.md", "extra/loose.md"]);
    }

    #[test]
    fn the_usual_names_of_folders_are_known() {
        let book = book(&[
            ("Manuscripts/1.md", "One"),
            ("Story_Bible/01 - Places/Lantern.md", "Ice."),
            ("Story_Bible/Lore/Magic.md", "None."),
            ("Story_Bible/unsorted.md", "No type."),
            ("Notes/a.md", ""),
            ("🧙 People/Mira.md", "Pilot."),
        ]);
        assert_eq!(chapters(&book), ["Manuscripts/1.md"]);
        assert_eq!(entries(&book), [("character", "Mira"), ("location", "Lantern"), ("concept", "Magic")]);
        assert_eq!(paths(&book.others), ["Story_Bible/unsorted.md"]);
        assert_eq!(book.notes.len(), 1);
    }

    #[test]
    fn the_settings_say_where_everything_is() {
        let book = book(&[
            (
                "scritorio.toml",
                "[manuscript]\ndir = 'book/text'\norder = ['b.md', 'gone.md']\n[codex]\ndirs = ['kanon', 'nowhere']\n[notes]\ndir = 'book/zettel'\n[boook]\n",
            ),
            ("book/text/a.md", ""),
            ("book/text/b.md", ""),
            ("book/zettel/z.md", ""),
            ("kanon/characters/m.md", "# Mira"),
            ("characters/no.md", "# Nobody"),
            ("manuscript/old.md", ""),
        ]);
        assert_eq!(chapters(&book), ["book/text/b.md", "book/text/a.md"]);
        assert_eq!(entries(&book), [("character", "Mira")]);
        assert_eq!(paths(&book.others), ["characters/no.md", "manuscript/old.md"]);
        let warned: Vec<_> = book.warnings.iter().map(|w| (w.path.as_str(), w.line, w.column)).collect();
        assert_eq!(warned, [("scritorio.toml", 8, 2), ("scritorio.toml", 5, 19), ("scritorio.toml", 3, 19)]);
        let deep = super::tests::book(&[
            ("scritorio.toml", "[manuscript]\ndir = '.'"),
            ("part-1/1.md", ""),
            ("people/m.md", "# Mira"),
        ]);
        assert_eq!((chapters(&deep), entries(&deep)), (vec!["part-1/1.md"], vec![("character", "Mira")]));
    }

    #[test]
    fn settings_of_the_wrong_type_are_an_error_with_its_place() {
        let dir = folder(&[("scritorio.toml", "[book]\ntitle = 1\n")]);
        let error = read(dir.path()).unwrap_err().to_string();
        assert!(error.starts_with("scritorio.toml:2:9: "), "{error}");
        assert!(matches!(read(&dir.path().join("gone")), Err(ReadError::Folder { .. })));
        assert!(matches!(read(&dir.path().join("scritorio.toml")), Err(ReadError::Folder { .. })));
    }

    #[test]
    fn a_broken_entry_stays_and_says_where_it_is_broken() {
        let book = book(&[(
            "codex/characters/m.md",
            "\u{feff}---\r\nname: Mira: pilot\r\nrole: ally\r\n---\r\nFlies.\r\n",
        )]);
        let mira = &book.entries[0];
        assert_eq!(
            (mira.name.as_str(), mira.summary.as_str(), mira.body()),
            ("Mira: pilot", "Flies.", "Flies.\r\n")
        );
        assert_eq!(mira.fields["role"], "ally");
        assert_eq!((mira.warnings[0].line, mira.warnings[0].column), (2, 11));
        assert_eq!(book.warnings, mira.warnings);
    }

    #[test]
    fn a_role_under_its_own_heading_is_a_field_and_text_about_it_is_none() {
        let role = |text: &str| {
            let book = book(&[("codex/characters/juno.md", text)]);
            book.entries[0].fields.get("role").and_then(|v| v.as_str()).map(str::to_owned)
        };
        assert_eq!(role("# Juno\n\n## Role\n\nantagonist\n\n## Wants\n\nx\n").as_deref(), Some("antagonist"));
        assert_eq!(role("# Juno\nrole: ally\n\nRole\n----\nfoe\n").as_deref(), Some("ally"));
        assert_eq!(role("# Juno\n\nRole\n----\nfoe\n").as_deref(), Some("foe"));
        assert_eq!(role("# Juno\n\n## Role\n\nShe begins as a friend.\n\nThen not.\n"), None);
        let many = book(&[("codex/characters.md", "# Cast\n\n## Ada\nx\n\n### Role\n\nfoe\n\n## Bo\ny\n")]);
        let roles: Vec<_> = many.entries.iter().map(|e| e.fields.get("role").is_some()).collect();
        assert_eq!(roles, [true, false]);
    }

    #[test]
    fn a_day_that_no_calendar_has_is_a_warning_at_its_line() {
        let book = book(&[
            ("manuscript/01.md", "---\ntitle: One\ndate: 1892-02-30\n---\nText.\n"),
            ("manuscript/02.md", "---\ndate: 1892-02-29\n---\nText.\n"),
            ("manuscript/03.md", "---\ndate: 0312-13-40\n---\nText.\n"),
        ]);
        let warned: Vec<_> = book.warnings.iter().map(|w| (w.path.as_str(), w.line)).collect();
        assert_eq!(warned, [("manuscript/01.md", 3)]);
        assert!(book.warnings[0].message.starts_with("`date: 1892-02-30`"), "{:?}", book.warnings);
    }

    #[test]
    fn odd_files_are_read_as_well_as_can_be_or_left_out_with_a_warning() {
        let dir = folder(&[("manuscript/big.md", ""), ("codex/items/x.md", "# X")]);
        fs::write(dir.path().join("manuscript/1-latin.md"), b"# Caf\xe9").unwrap();
        fs::File::options()
            .write(true)
            .open(dir.path().join("manuscript/big.md"))
            .unwrap()
            .set_len(9 << 20)
            .unwrap();
        let book = read(dir.path()).unwrap();
        assert_eq!(chapters(&book), ["manuscript/1-latin.md"]);
        assert_eq!(book.chapters[0].title, "Café");
        let warned: Vec<_> = book.warnings.iter().map(|w| w.path.as_str()).collect();
        assert_eq!(warned, ["manuscript/big.md", "manuscript/1-latin.md"]);
    }

    #[test]
    fn a_book_inside_a_book_is_left_out_and_a_folder_of_books_names_them() {
        let dir = folder(&[
            ("saga/manuscript/1.md", "One"),
            ("saga/scritorio.toml", ""),
            ("saga/old/scritorio.toml", ""),
            ("saga/old/manuscript/1.md", "Old one"),
            ("tales/scritorio.toml", ""),
        ]);
        let books = books_in(dir.path());
        assert_eq!(books, [dir.path().join("saga"), dir.path().join("tales")]);
        let book = read(&dir.path().join("saga")).unwrap();
        assert_eq!(chapters(&book), ["manuscript/1.md"]);
        assert_eq!(book.warnings.iter().map(|w| w.path.as_str()).collect::<Vec<_>>(), ["old"]);
        assert!(books_in(&dir.path().join("saga")).is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_only_inside_the_book() {
        use std::os::unix::fs::symlink;
        let outside = folder(&[("secret.md", "secret"), ("sub/deep.md", "secret")]);
        let dir = folder(&[
            ("drafts3/1.md", "One"),
            ("codex/characters/mira.md", "# Mira"),
            (".git/x.md", "hidden"),
        ]);
        let root = dir.path();
        symlink("drafts3", root.join("manuscript")).unwrap();
        symlink(outside.path().join("secret.md"), root.join("codex/characters/out.md")).unwrap();
        symlink(outside.path(), root.join("codex/items")).unwrap();
        symlink(root.join("codex/characters/mira.md"), root.join("codex/characters/again.md")).unwrap();
        symlink(root.join(".git"), root.join("codex/git")).unwrap();
        symlink(root, root.join("codex/loop")).unwrap();
        symlink("nowhere", root.join("codex/characters/broken.md")).unwrap();
        symlink("nowhere", root.join("codex/characters/.#lock.md")).unwrap();
        let book = read(root).unwrap();
        assert_eq!(chapters(&book), ["manuscript/1.md"]);
        assert_eq!(entries(&book), [("character", "Mira")]);
        let mut warned: Vec<_> = book.warnings.iter().map(|w| w.path.as_str()).collect();
        warned.sort_unstable();
        assert_eq!(
            warned,
            [
                "codex/characters/broken.md",
                "codex/characters/out.md",
                "codex/git",
                "codex/items",
                "codex/loop"
            ]
        );
        assert!(!format!("{book:?}").contains("secret\""));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_never_opened() {
        let dir = folder(&[("manuscript/1.md", "One")]);
        let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("manuscript/2.md")).unwrap();
        fs::create_dir(dir.path().join("manuscript/3.md")).unwrap();
        fs::write(dir.path().join("manuscript/a\\b.md"), "").unwrap();
        let book = read(dir.path()).unwrap();
        assert_eq!(chapters(&book), ["manuscript/1.md"]);
        assert_eq!(book.warnings.len(), 1);
        assert_eq!(book.warnings[0].path.as_str(), "manuscript/a\u{fffd}b.md");
    }

    #[test]
    fn unsaved_text_takes_the_place_of_a_file() {
        let book = book(&[
            ("manuscript/1.md", "# One\n\nText."),
            ("codex/characters/v/dossier.md", "# Vale"),
            ("codex/characters/v/soul.md", "Old."),
            ("notes/n.md", "# Old"),
        ]);
        let path = |raw| BookPath::new(raw).unwrap();
        let new = with_text(&book, &path("manuscript/1.md"), "# Uno\n\nMore text here.");
        assert_eq!((new.chapters[0].title.as_str(), new.chapters[0].words), ("Uno", 4));
        let new =
            with_text(&new, &path("codex/characters/v/dossier.md"), "---\nname: Adrian\nrole: [\n---\n");
        assert_eq!(
            (new.entries[0].name.as_str(), new.entries[0].soul.is_some(), new.warnings.len()),
            ("Adrian", true, 1)
        );
        let new = with_text(&new, &path("codex/characters/v/soul.md"), "New.");
        assert_eq!(new.entries[0].soul.as_ref().unwrap().text.as_ref(), "New.");
        let new = with_text(&new, &path("notes/n.md"), "# New");
        assert_eq!(new.notes[0].title, "New");
        assert_eq!(with_text(&new, &path("gone.md"), "x").others, new.others);
        assert_eq!(book.chapters[0].title, "One");
    }

    #[test]
    fn unsaved_text_of_a_file_with_many_entries_splits_it_anew() {
        let book = book(&[
            ("manuscript/01.md", "# One\n"),
            ("codex/characters.md", "## Mira\n\nFlies.\n\n## Tobias\n\nCounts.\n"),
            ("codex/places/lantern.md", "A station.\n"),
        ]);
        let path = BookPath::new("codex/characters.md").unwrap();
        let with = |text: &str| {
            let book = with_text(&book, &path, text);
            book.entries.iter().map(|e| format!("{}: {}", e.name, e.summary)).collect::<Vec<_>>()
        };
        assert_eq!(
            with("## Mira\n\nFlies well.\n\n## Juno\n\nMends.\n\n## Tobias\n"),
            ["Juno: Mends.", "Mira: Flies well.", "Tobias: ", "Lantern: A station."]
        );
        assert_eq!(with("Nothing yet.\n"), ["Lantern: A station."]);
        assert_eq!(with("---\nname: The Cast\n---\nAll.\n"), ["The Cast: All.", "Lantern: A station."]);
        assert_eq!(book.document(&path).unwrap().0, "characters", "no entry gives the file its title");
        assert_eq!(book.entries[book.entry_at(&path, 30).unwrap()].name, "Tobias");
        assert_eq!(book.entry(&path).unwrap().name, "Mira");
    }

    #[test]
    fn a_book_is_found_from_inside_of_it() {
        let dir = folder(&[
            ("book/scritorio.toml", ""),
            ("book/manuscript/part/1.md", ""),
            ("plain/chapters/1.md", ""),
            ("plain/notes/n.md", ""),
            ("plain/other/x.md", ""),
        ]);
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(find_root(&root.join("book/manuscript/part/1.md")), Some(root.join("book")));
        assert_eq!(find_root(&root.join("plain/chapters")), Some(root.join("plain")));
        assert_eq!(find_root(&root.join("plain/notes/n.md")), Some(root.join("plain")));
        assert_eq!(find_root(&root.join("plain")), Some(root.join("plain")));
        assert_eq!(find_root(&root.join("plain/other/x.md")), None);
        assert_eq!(find_root(&root.join("gone")), None);
    }
}
