//! A small book in a folder of its own, and the program run on it with settings and data of its own.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// A byte order mark, CRLF, comments and an odd order of keys: all of it has to survive.
pub const MIRA: &str = "\u{feff}---\r\nrole: rival   # until chapter 4\r\nname: \"Mira Okafor\"\r\naliases: [Mira]\r\n---\r\n\r\n# Mira Okafor\r\n\r\nThe signals officer.\r\n\r\n## Voice\r\n\r\nDry.";

pub const CHAPTER: &str = "# Chapter 1: The Lamp\n\nMira Okafor noticed the lamp. \u{201c}It is out,\u{201d} she said.\n\nNobody answered Mira.\n";

/// The words that stand for a key in tests. They must turn up nowhere.
pub const KEY: &str = "sk-test-0123456789abcdef";

/// Words of the manuscripts, of the small book and of the example. What the program says of its own work, and what it keeps of it, has none of them.
pub const PROSE: [&str; 2] = ["Nobody answered", "nobody had thanked since"];

/// A file that AI never reads stands in every book, with this word in it. It is in no other file, and never said.
pub const KEPT: &str = "Xanthkept";
const KEPT_FILE: &str = "notes/kept.md";

/// Which of them a text holds.
fn canary_in(text: &[u8], words: &[&'static str]) -> Option<&'static str> {
    let holds = |word: &&&str| text.windows(word.len()).any(|part| part == word.as_bytes());
    words.iter().find(holds).copied()
}

/// What a file of ours or of the book must not hold: the key nowhere, what AI never reads in no file but its own, and no prose in what is kept of the program's work.
/// Conversations, proposals, their journal, recovery and the open desk are the author's own.
fn must_not_hold(path: &str) -> Vec<&'static str> {
    let of_author =
        ["sessions/", "proposals.jsonl", "journal/", "recovery/", "cache/", "history/", "desk.json"];
    let ours = path.split_once("/.scritorio/").map(|(_, name)| name);
    let is_log = match ours {
        Some(name) => !of_author.iter().any(|own| name.starts_with(own)),
        None => !path.contains("/book") && Path::new(path).extension().is_none_or(|ending| ending != "md"),
    };
    let kept = (!path.ends_with(KEPT_FILE)).then_some(KEPT);
    let prose = if is_log { &PROSE[..] } else { &[] };
    [KEY].into_iter().chain(kept).chain(prose.iter().copied()).collect()
}

/// Folders of a test. Dropping them looks for the key, for what AI never reads and for prose in every file that must not hold them.
pub struct Folders {
    folder: tempfile::TempDir,
}

impl Drop for Folders {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        for (path, bytes) in self.files() {
            let found = canary_in(&bytes, &must_not_hold(&path.to_string_lossy().replace('\\', "/")));
            assert_eq!(found, None, "in {}", path.display());
        }
    }
}

/// What came out of a run.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Folders {
    /// A small book.
    pub fn new() -> Self {
        let folders = Self { folder: tempfile::tempdir().unwrap() };
        folders.write("scritorio.toml", "[book]\ntitle = \"The Lamp\"\n");
        folders.write("manuscript/01-the-lamp.md", CHAPTER);
        folders.write("codex/characters/mira.md", MIRA);
        folders.keep();
        folders
    }

    /// A copy of the example book.
    pub fn example() -> Self {
        let folders = Self { folder: tempfile::tempdir().unwrap() };
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence"), &folders.book());
        folders.keep();
        folders
    }

    fn keep(&self) {
        self.write(KEPT_FILE, &format!("---\nai: never\n---\n\n{KEPT} is what nobody is to know.\n"));
    }

    /// A copy of any book, in memory where there is such a folder: for tests that write very often, and each time wait for the disk.
    pub fn copy_of(book: &Path) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let folders = Self { folder };
        copy(book, &folders.book());
        folders
    }

    pub fn book(&self) -> PathBuf {
        self.folder.path().join("book")
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.book().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.book().join(path)).unwrap()
    }

    /// Every file under all folders with its bytes.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root().to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.insert(path.clone(), fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// The environment of every run: nothing of the machine's own.
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        vec![
            ("HOME", self.root().to_path_buf()),
            ("SCRITORIO_CONFIG_DIR", self.root().join("config")),
            ("SCRITORIO_DATA_DIR", self.root().join("data")),
            ("SCRITORIO_KEYCHAIN", "off".into()),
        ]
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_scritorio"));
        command.env_clear().envs(self.environment()).current_dir(self.book()).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// Runs with a key and a server.
    pub fn run_at(&self, base: &str, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", base))
    }
}

/// Runs to the end. Whatever the program is asked, it never says the key, never crashes, and its messages have neither prose nor what AI never reads.
#[track_caller]
pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let ran = Ran {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    };
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "the key was said: {}{}", ran.out, ran.err);
    assert!(!ran.err.contains("scritorio has a fault"), "{}", ran.err);
    let found = canary_in(ran.err.as_bytes(), &[KEPT, PROSE[0], PROSE[1]]);
    assert_eq!(found, None, "in a message: {}", ran.err);
    ran
}

impl Ran {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", self.out, self.err))
    }

    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{}\n{}", self.out, self.err);
        self
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}
