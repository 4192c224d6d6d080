//! The real program in a real pseudo-terminal, with a terminal emulator that reads what it draws.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on should fail loudly"
)]

use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, PtySize, native_pty_system};

/// The program on a screen of its own, with folders of its own.
struct Screen {
    folders: tempfile::TempDir,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    output: Receiver<Vec<u8>>,
    emulator: vt100::Parser,
    /// Everything that the program has sent.
    raw: Vec<u8>,
}

const PATIENCE: Duration = Duration::from_secs(20);

const F3: &str = "\x1bOR";
const ENTER: &str = "\r";
const CTRL_D: &str = "\x04";
const CTRL_K: &str = "\x0b";
const CTRL_L: &str = "\x0c";
const CTRL_O: &str = "\x0f";
const CTRL_Q: &str = "\x11";
const CTRL_S: &str = "\x13";
const SHIFT_END: &str = "\x1b[1;2F";
const ESC: &str = "\x1b";

impl Screen {
    fn demo(columns: u16, rows: u16) -> Self {
        Self::start(tempfile::tempdir().unwrap(), columns, rows, &["demo"])
    }

    fn start(folders: tempfile::TempDir, columns: u16, rows: u16, arguments: &[&str]) -> Self {
        let size = PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_scritorio"));
        command.args(arguments);
        command.env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", folders.path());
        command.env("SCRITORIO_CONFIG_DIR", folders.path().join("config"));
        command.env("SCRITORIO_DATA_DIR", folders.path().join("data"));
        command.env("TERM", "xterm-256color");
        command.env("COLORTERM", "truecolor");
        command.cwd(folders.path());
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().unwrap();
        let keys = pair.master.take_writer().unwrap();
        let master = pair.master;
        let (send, output) = channel();
        std::thread::spawn(move || {
            // Closing it would end the program.
            let _master = master;
            let mut bytes = [0; 16 * 1024];
            while let Ok(read) = reader.read(&mut bytes) {
                if read == 0 || send.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let emulator = vt100::Parser::new(rows.try_into().unwrap(), columns.try_into().unwrap(), 0);
        Self { folders, child, keys, output, emulator, raw: vec![] }
    }

    fn book(&self) -> std::path::PathBuf {
        self.folders.path().join("data/demo/the-long-silence")
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    fn text(&self) -> String {
        self.emulator.screen().contents()
    }

    /// Reads until the screen shows what is asked for.
    #[track_caller]
    fn until(&mut self, what: &str, seen: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !seen(self.emulator.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => {
                    self.emulator.process(&bytes);
                    self.raw.extend(bytes);
                }
                Err(why) => panic!("the screen never showed {what} ({why}):\n{}", self.text()),
            }
        }
    }

    /// Presses a key again and again, as an impatient author does, until the words are there. Keys that follow one another too fast are taken for a paste and
    /// decide nothing.
    fn press_until(&mut self, key: &str, words: &str) {
        let end = Instant::now() + PATIENCE;
        while !self.emulator.screen().contents().contains(words) && Instant::now() < end {
            self.press(key);
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.emulator.process(&bytes);
            }
        }
        self.shows(words);
    }

    #[track_caller]
    fn shows(&mut self, words: &str) {
        self.until(&format!("{words:?}"), |screen| screen.contents().contains(words));
    }

    #[track_caller]
    fn no_longer_shows(&mut self, words: &str) {
        self.until(&format!("an end of {words:?}"), |screen| !screen.contents().contains(words));
    }

    /// Waits for the end of the program and returns whether it ended well, and everything that it sent until then.
    fn ends(mut self) -> (bool, Vec<u8>) {
        loop {
            match self.output.recv_timeout(PATIENCE) {
                Ok(bytes) => self.raw.extend(bytes),
                // The program's end closes its side of the terminal.
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.child.kill().unwrap();
                    panic!("the program did not end:\n{}", self.text());
                }
            }
        }
        (self.child.wait().unwrap().success(), self.raw)
    }
}

/// The words in the left part of the screen whose background is not the usual one there: the selection.
fn selected_words(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (u16::from(rows), u16::from(columns));
    let cells = || (2..rows - 1).flat_map(|row| (0..columns * 2 / 5).map(move |column| (row, column)));
    let ground = |row, column| {
        screen.cell(row, column).map(|cell| format!("{:?}", cell.bgcolor())).unwrap_or_default()
    };
    let mut counts = std::collections::HashMap::new();
    for (row, column) in cells() {
        *counts.entry(ground(row, column)).or_insert(0_usize) += 1;
    }
    let usual = counts.into_iter().max_by_key(|(_, n)| *n).map(|(ground, _)| ground).unwrap_or_default();
    let mut words = String::new();
    let mut last = 0;
    for (row, column) in cells().filter(|(row, column)| ground(*row, *column) != usual) {
        if row != last {
            words.push(' ');
            last = row;
        }
        let cell = screen.cell(row, column).unwrap();
        words.push_str(if cell.has_contents() { cell.contents() } else { " " });
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of the popup in the middle of the screen.
fn popup_of(screen: &vt100::Screen) -> String {
    let rows = screen.contents();
    let inside = rows.lines().map(|row| row.chars().skip(12).take(96).collect::<String>());
    inside.collect::<Vec<_>>().join("\n")
}

/// Last row shown and number of rows, from words such as `1-34 of 218`.
fn place_in(popup: &str) -> Option<(usize, usize)> {
    let hint = popup.lines().rev().find(|row| row.contains("copy") && row.contains(" of "))?;
    let (before, after) = hint.split_once(" of ")?;
    let last = before.rsplit('-').next()?.trim().parse().ok()?;
    let total = after.split_whitespace().next()?.parse().ok()?;
    Some((last, total))
}

fn tree(root: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = vec![];
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for item in std::fs::read_dir(folder).unwrap() {
            let path = item.unwrap().path();
            if path.file_name().is_some_and(|n| n == ".scritorio") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push((
                    path.strip_prefix(root).unwrap().display().to_string(),
                    std::fs::read(&path).unwrap(),
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn an_author_asks_about_adrian_and_follows_a_quote_into_the_manuscript() {
    let mut screen = Screen::demo(120, 40);
    screen.shows("The Listening Post");
    screen.shows("Developmental Editor");
    screen.shows("characters");
    screen.press(F3);
    screen.press("What should I remember about Adrian?");
    screen.shows("remember about Adrian?");
    screen.press(ENTER);
    screen.shows("get_character_context");
    screen.shows("codex/characters/adrian-vale");
    screen.shows("Adrian Vale, Captain");
    // Only a whole answer that was checked has more lines below.
    screen.shows("↓");
    screen.press(CTRL_L);
    screen.shows("quote 1 of");
    screen.until("selected words", |s| selected_words(s).split_whitespace().count() >= 3);
    let selected = selected_words(screen.emulator.screen());
    let manuscript: String = tree(&screen.book().join("manuscript"))
        .into_iter()
        .map(|(_, bytes)| String::from_utf8(bytes).unwrap().replace(['*', '\n'], " "))
        .collect();
    let manuscript = manuscript.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(manuscript.contains(&selected.replace('*', "")), "{selected:?} is not in the book");
    screen.press(CTRL_Q);
    assert!(screen.ends().0);
}

#[test]
fn the_words_of_a_selection_stay_here_until_a_tool_asks() {
    let mut screen = Screen::demo(120, 40);
    screen.shows("The lights at Post Nine");
    screen.press("\x1b[B\x1b[B");
    screen.press(SHIFT_END);
    screen.press(CTRL_K);
    screen.shows("❝");
    screen.press("How does this read?");
    screen.press(CTRL_O);
    screen.shows("What would be sent");
    screen.until("how long it is", |s| place_in(&popup_of(s)).is_some());
    // The whole view is paged through: that something is selected is told, its words are not there.
    let mut read = String::new();
    loop {
        let page = popup_of(screen.emulator.screen());
        let (last, total) = place_in(&page).expect("the popup says how far it is");
        read.push_str(&page);
        if last == total {
            break;
        }
        screen.press("\x1b[6~");
        screen.until("the next page", |s| place_in(&popup_of(s)).is_some_and(|(now, _)| now != last));
    }
    assert!(read.contains("Private to this turn") && read.contains("9 words"), "{read}");
    assert!(!read.contains("The lights at Post") && !read.contains("had been off for"), "{read}");
    screen.press(ESC);
    screen.no_longer_shows("What would be sent");
    screen.press(ENTER);
    screen.shows("get_manuscript_context");
    screen.press(CTRL_Q);
    assert!(screen.ends().0);
}

#[test]
fn a_change_of_role_is_applied_with_one_key_and_taken_back_to_the_last_byte() {
    let mut screen = Screen::demo(120, 40);
    screen.shows("The Listening Post");
    let before = tree(&screen.book());
    screen.press(F3);
    screen.press("Change Adrian's role to antagonist");
    screen.shows("to antagonist");
    screen.press(ENTER);
    screen.shows("pending");
    assert_eq!(tree(&screen.book()), before, "nothing is written before the key");
    screen.press(CTRL_D);
    screen.shows("a accept");
    // The popup opens with a short guard: keys that were meant for the text decide nothing.
    screen.press_until("a", "u undo");
    screen.shows("applied");
    let after = tree(&screen.book());
    let changed: Vec<_> = before.iter().zip(&after).filter(|(a, b)| a != b).collect();
    let [((path, old), (_, new))] = changed.as_slice() else { panic!("{} files changed", changed.len()) };
    assert_eq!(path, "codex/characters/adrian-vale/dossier.md");
    let (old, new) = (String::from_utf8_lossy(old), String::from_utf8_lossy(new));
    let lines: Vec<_> = old.lines().zip(new.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(lines, [("role: protagonist", "role: antagonist")]);
    screen.press_until("u", "undone");
    assert_eq!(tree(&screen.book()), before);
    screen.press(ESC);
    screen.no_longer_shows("apply again");
    screen.press(CTRL_Q);
    assert!(screen.ends().0);
}

#[test]
fn what_is_typed_is_saved_and_found_again() {
    let mut screen = Screen::demo(100, 30);
    screen.shows("The lights at Post Nine");
    screen.press("Zephyrine ");
    screen.shows("Zephyrine");
    screen.shows("●");
    screen.press(CTRL_S);
    screen.shows("Saved");
    screen.press(CTRL_Q);
    let book = screen.book();
    let folders = std::mem::replace(&mut screen.folders, tempfile::tempdir().unwrap());
    assert!(screen.ends().0);
    let first = std::fs::read_to_string(book.join("manuscript/01-the-listening-post.md")).unwrap();
    assert!(first.starts_with("Zephyrine "));
    let mut again = Screen::start(folders, 100, 30, &["demo"]);
    again.shows("Zephyrine");
    again.press(CTRL_Q);
    assert!(again.ends().0);
}

#[test]
fn the_terminal_is_given_back_on_a_signal() {
    let mut screen = Screen::demo(80, 24);
    screen.shows("The Listening Post");
    let pid = screen.child.process_id().unwrap().to_string();
    let killed = std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(killed.success());
    let (_, raw) = screen.ends();
    let raw = String::from_utf8_lossy(&raw);
    assert!(raw.contains("\x1b[?1049l"), "the alternate screen was left");
    assert!(
        raw.contains("\x1b[?2004l") && raw.contains("\x1b[?25h"),
        "paste mode is off, the cursor is shown"
    );
}

#[test]
fn an_escape_sequence_in_a_chapter_never_reaches_the_terminal() {
    let mut screen = Screen::demo(100, 30);
    screen.shows("The Listening Post");
    screen.press(CTRL_Q);
    let chapter = screen.book().join("manuscript/01-the-listening-post.md");
    let folders = std::mem::replace(&mut screen.folders, tempfile::tempdir().unwrap());
    assert!(screen.ends().0);
    let evil = "Plain \x1b]0;owned\x07 and \x1b[31mred\x1b[0m words, \u{9b}7m too.\n";
    std::fs::write(&chapter, evil).unwrap();
    let mut screen = Screen::start(folders, 100, 30, &["demo"]);
    screen.shows("Plain ␛]0;owned␇ and ␛[31mred");
    screen.press(CTRL_Q);
    let (_, raw) = screen.ends();
    let raw = String::from_utf8_lossy(&raw);
    assert!(!raw.contains("\x1b]0;owned") && !raw.contains('\u{9b}'));
}

#[test]
fn what_was_typed_before_the_program_was_killed_is_offered() {
    let mut screen = Screen::demo(100, 30);
    screen.shows("The lights at Post Nine");
    screen.press("Zephyrine ");
    screen.shows("Zephyrine");
    // The log is written in the background: wait for it to be on the disk, then pull the plug.
    let logs = screen.book().join(".scritorio/recovery");
    let typed = |log: &str| -> String {
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let edits = lines.flat_map(|line| line["edits"].as_array().cloned().unwrap_or_default());
        edits.filter_map(|edit| edit["inserted"].as_str().map(str::to_owned)).collect()
    };
    let written = |logs: &Path| {
        let files = std::fs::read_dir(logs).into_iter().flatten().flatten();
        files.filter_map(|f| std::fs::read_to_string(f.path()).ok()).any(|log| typed(&log) == "Zephyrine ")
    };
    let end = Instant::now() + PATIENCE;
    while !written(&logs) && Instant::now() < end {
        std::thread::yield_now();
    }
    screen.child.kill().unwrap();
    let folders = std::mem::replace(&mut screen.folders, tempfile::tempdir().unwrap());
    drop(screen);
    let mut again = Screen::start(folders, 100, 30, &["demo"]);
    again.shows("Unsaved text");
    again.shows("Zephyrine");
    let end = Instant::now() + PATIENCE;
    while again.text().contains("throw it away") && Instant::now() < end {
        again.press("r");
        if let Ok(bytes) = again.output.recv_timeout(Duration::from_millis(100)) {
            again.emulator.process(&bytes);
        }
    }
    again.shows("Restored");
    again.press(CTRL_S);
    again.shows("Saved");
    again.press(CTRL_Q);
    let chapter = again.book().join("manuscript/01-the-listening-post.md");
    let folders = std::mem::replace(&mut again.folders, tempfile::tempdir().unwrap());
    assert!(again.ends().0);
    assert!(std::fs::read_to_string(chapter).unwrap().starts_with("Zephyrine "));
    drop(folders);
}
