//! Opening a book.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::config::folders::{Environment, Folders, NoFolders};
use crate::config::toml_reader::Problem;
use crate::config::user::UserSettings;
use crate::domain::book::Book;
use crate::domain::ids::{BookPath, TurnId};
use crate::persona::board::{self, Member};
use crate::providers::presets::Preset;
use crate::providers::remote::Remote;
use crate::store;
use crate::store::lock::Lock;
use crate::store::running::Running;
use crate::store::spending::Spending;

use super::index::Indexes;
use super::keys::Keys;
use super::money::Unwritten;

/// An open book with its settings, stores and sessions. Cheap to clone: clones share everything.
#[derive(Clone)]
pub struct Workbench {
    pub(super) inner: Arc<Inner>,
}

/// What all clones share.
pub(super) struct Inner {
    /// The book's folder; without a book the data folder stands in its place.
    pub root: PathBuf,
    pub has_book: bool,
    pub surroundings: Surroundings,
    pub overrides: Overrides,
    pub settings: RwLock<(Arc<UserSettings>, Vec<Problem>)>,
    pub book: RwLock<Arc<Book>>,
    /// Held while the folder is read again, so that what was read earlier never takes the place of what was read later.
    pub refreshing: Mutex<()>,
    /// What is not read of it yet.
    pub rest: Mutex<Option<store::book::Rest>>,
    pub indexes: Indexes,
    /// Books without what AI never reads.
    pub open: super::private::Open,
    pub keys: Keys,
    /// Servers, made once each: a client loads certificates, and a provider remembers what it learned about its server.
    pub servers: Mutex<Vec<Server>>,
    /// Vectors of the book's texts, where searching by meaning is on.
    pub meanings: super::meaning::Meanings,
    /// What opened the last turn of each conversation.
    pub opened: super::peek::Opened,
    /// The turns that run and whose question is on the disk.
    pub begun: Mutex<BTreeSet<TurnId>>,
    /// What was spent and is not written yet.
    pub spent: Unwritten,
    /// By which others can tell whether this program still runs.
    pub running: Running,
    /// The right to write to the book, once an interface has it.
    pub lock: Mutex<Option<Lock>>,
}

/// A server that was made, with what it was made of.
pub(super) struct Server {
    pub preset: Preset,
    /// What is learned of one model need not be so for another.
    pub model: String,
    pub remote: Arc<Remote>,
}

/// What the command line says over all settings.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    /// `--provider`
    pub provider: Option<String>,
    /// `--model`
    pub model: Option<String>,
    /// `--rounds`
    pub rounds: Option<u32>,
    /// `--effort`
    pub effort: Option<String>,
    /// `--tier`
    pub tier: Option<String>,
}

/// Where the program runs: its environment, and its folders.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Settings from environment variables.
    pub environment: Environment,
    /// Where settings and data are.
    pub folders: Folders,
    /// Whether keys are looked for: in the environment, and in the keychain.
    pub keys: bool,
}

impl Surroundings {
    /// Takes them from this process.
    pub fn of_process() -> Result<Self, NoFolders> {
        let environment = Environment::of_process();
        let folders = Folders::find(&environment)?;
        Ok(Self { environment, folders, keys: true })
    }

    /// Keeps settings and data in `folder`, and asks neither environment nor keychain: for trying things out without a trace.
    pub fn in_folders(folder: &Path) -> Self {
        let folders = Folders { config: folder.join("config"), data: folder.join("data") };
        Self { environment: Environment::default(), folders, keys: false }
    }
}

/// Why a book can't be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It can't be read.
    #[error(transparent)]
    Read(#[from] store::book::ReadError),
    /// The user's settings are wrong.
    #[error("{0}")]
    Config(String),
}

impl Workbench {
    /// Opens the book in `root`. Writes nothing.
    pub fn open(root: &Path, overrides: Overrides) -> Result<Self, OpenError> {
        let surroundings = Surroundings::of_process().map_err(|e| OpenError::Config(e.to_string()))?;
        Self::open_in(root, overrides, surroundings)
    }

    /// Opens the book in `root` as if in other surroundings.
    pub fn open_in(root: &Path, overrides: Overrides, surroundings: Surroundings) -> Result<Self, OpenError> {
        let bench = Self::outline_in(root, overrides, surroundings)?;
        bench.book();
        Ok(bench)
    }

    /// Opens the book in `root` so that a first frame can be drawn at once: of a large Codex [`Workbench::outline`] tells no more than paths do, until
    /// [`Workbench::book`] is called, which reads it. Writes nothing.
    pub fn open_outline(root: &Path, overrides: Overrides) -> Result<Self, OpenError> {
        let surroundings = Surroundings::of_process().map_err(|e| OpenError::Config(e.to_string()))?;
        Self::outline_in(root, overrides, surroundings)
    }

    pub(super) fn outline_in(
        root: &Path,
        overrides: Overrides,
        surroundings: Surroundings,
    ) -> Result<Self, OpenError> {
        let settings = UserSettings::load(&surroundings.folders.settings_file())
            .map_err(|e| OpenError::Config(e.to_string()))?;
        let root = root
            .canonicalize()
            .map_err(|source| store::book::ReadError::Folder { path: root.to_path_buf(), source })?;
        let (book, rest) = store::book::outline(&root)?;
        Ok(Self::with(Some(root), (book, rest), overrides, surroundings, settings))
    }

    /// Opens no book at all: for what concerns the author alone, such as providers and their models. Writes nothing.
    pub fn without_book(overrides: Overrides) -> Result<Self, OpenError> {
        let surroundings = Surroundings::of_process().map_err(|e| OpenError::Config(e.to_string()))?;
        let settings = UserSettings::load(&surroundings.folders.settings_file())
            .map_err(|e| OpenError::Config(e.to_string()))?;
        Ok(Self::with(None, (Book::default(), None), overrides, surroundings, settings))
    }

    fn with(
        root: Option<PathBuf>,
        (book, rest): (Book, Option<store::book::Rest>),
        overrides: Overrides,
        surroundings: Surroundings,
        settings: (UserSettings, Vec<Problem>),
    ) -> Self {
        let keys = Keys::new(&surroundings);
        let spent = Unwritten::new(Spending::new(&surroundings.folders.data));
        let running = Running::new(&surroundings.folders.data);
        let inner = Inner {
            has_book: root.is_some(),
            root: root.unwrap_or_else(|| surroundings.folders.data.clone()),
            surroundings,
            overrides,
            settings: RwLock::new((Arc::new(settings.0), settings.1)),
            book: RwLock::new(Arc::new(book)),
            refreshing: Mutex::default(),
            rest: Mutex::new(rest),
            indexes: Indexes::default(),
            open: super::private::Open::default(),
            keys,
            servers: Mutex::default(),
            meanings: super::meaning::Meanings::default(),
            opened: super::peek::Opened::default(),
            begun: Mutex::default(),
            spent,
            running,
            lock: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Finds the book that holds `start`, upwards from it.
    pub fn find(start: &Path) -> Option<PathBuf> {
        store::book::find_root(start)
    }

    /// Returns the books right inside a folder that is none itself.
    pub fn books_in(folder: &Path) -> Vec<PathBuf> {
        store::book::books_in(folder)
    }

    /// Whether a book is open at all.
    pub(super) fn has_book(&self) -> bool {
        self.inner.has_book
    }

    /// Returns the book's folder.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Returns the book as last read. What an outline left unread is read first, by whoever asks first; everybody else waits for it.
    pub fn book(&self) -> Arc<Book> {
        let mut rest = self.inner.rest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(unread) = rest.take() {
            self.put(Arc::new(unread.read()));
        }
        drop(rest);
        self.outline()
    }

    /// Returns the book as far as it is read now, without waiting: its settings and its manuscript are always whole.
    pub fn outline(&self) -> Arc<Book> {
        Arc::clone(&self.inner.book.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether a part of the book is not read yet.
    pub fn is_outline(&self) -> bool {
        // Whoever holds the lock is reading.
        self.inner.rest.try_lock().map_or(true, |rest| rest.is_some())
    }

    /// Reads the folder again and returns the book.
    pub fn refresh(&self) -> Result<Arc<Book>, OpenError> {
        let _one_after_another = self.inner.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(self.replace(store::book::read(&self.inner.root)?))
    }

    /// Reads the folder again if anything in it may be another than when it was read, and returns the book then. Otherwise it costs a look at the times and
    /// lengths of the files.
    pub fn refresh_if_changed(&self) -> Result<Option<Arc<Book>>, OpenError> {
        if !self.has_book() {
            return Ok(None);
        }
        let _one_after_another = self.inner.refreshing.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = store::book::read_if_changed(&self.inner.root, &self.book())?;
        Ok(changed.map(|book| self.replace(book)))
    }

    fn replace(&self, book: Book) -> Arc<Book> {
        let book = Arc::new(book);
        // What an outline left unread is older by now, and must not take its place.
        let mut rest = self.inner.rest.lock().unwrap_or_else(PoisonError::into_inner);
        rest.take();
        self.put(Arc::clone(&book));
        drop(rest);
        book
    }

    fn put(&self, book: Arc<Book>) {
        *self.inner.book.write().unwrap_or_else(PoisonError::into_inner) = book;
    }

    /// Returns the book with the unsaved text of one document in place, read as if it were on disk: names and titles are the unsaved ones.
    /// What does not differ from the disk gives the book as last read.
    pub fn book_with(&self, path: &BookPath, text: &str) -> Arc<Book> {
        let book = self.book();
        if book.document(path).is_none_or(|(_, read)| book.as_on_disk(path, read) == text) {
            return book;
        }
        Arc::new(store::book::with_text(&book, path, text))
    }

    /// Returns provider and model that a question to most board members would go to.
    pub fn provider_and_model(&self) -> (String, String) {
        let choices = self.choices();
        (choices.provider.value, choices.model.value)
    }

    /// Returns the models of the board members who are asked with one of their own, by their ids.
    pub fn models_of_members(&self) -> BTreeMap<String, String> {
        let choices = self.choices();
        let own = |member: &Member| {
            let model = self.model_of(&choices.provider.value, Some(member.id)).value;
            (model != choices.model.value).then(|| (member.id.to_owned(), model))
        };
        board::members().iter().filter_map(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_unsaved_document_is_read_with_its_new_name_and_the_book_on_disk_is_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("book");
        fs::create_dir_all(root.join("manuscript")).unwrap();
        fs::create_dir_all(root.join("codex/characters")).unwrap();
        fs::write(root.join("manuscript/01.md"), "# One\n").unwrap();
        fs::write(root.join("codex/characters/mira.md"), "# Mira\n").unwrap();
        let surroundings = Surroundings::in_folders(folder.path());
        let bench = Workbench::open_in(&root, Overrides::default(), surroundings).unwrap();
        let (chapter, mira) =
            (BookPath::new("manuscript/01.md").unwrap(), BookPath::new("codex/characters/mira.md").unwrap());

        let unsaved = bench.book_with(&chapter, "---\ntitle: Uno\n---\nTwo words");
        assert_eq!((unsaved.chapters[0].words, unsaved.chapters[0].title.as_str()), (2, "Uno"));
        let unsaved = bench.book_with(&mira, "---\nname: Mira Okafor\naliases: [M]\n---\n");
        assert_eq!(
            (unsaved.entries[0].name.as_str(), &*unsaved.entries[0].aliases),
            ("Mira Okafor", &["M".into()][..])
        );

        assert_eq!((&*bench.book().chapters[0].title, &*bench.book().entries[0].name), ("One", "Mira"));
        assert!(Arc::ptr_eq(&bench.book(), &bench.book_with(&chapter, "# One\n")), "nothing differs");
        assert!(Arc::ptr_eq(&bench.book(), &bench.book_with(&BookPath::new("other.md").unwrap(), "x")));
    }
}
