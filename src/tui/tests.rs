//! Whole screens, as an author sees them, at the sizes that terminals have. State is built by the same messages as in real use.

use std::path::Path;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use super::app::App;
use super::effect::Effect;
use super::msg::Msg;
use super::theme::Depth;
use super::{Start, build, layout::Pane, update::update, view};
use crate::agent::driver;
use crate::agent::event::TurnEventKind;
use crate::workbench::{Overrides, Surroundings, Workbench};

/// An author at a screen, with a copy of the example book, folders of her own, and the offline reader.
pub(super) struct Author {
    pub(super) app: App,
    pub(super) bench: Workbench,
    runtime: tokio::runtime::Runtime,
    _folders: tempfile::TempDir,
    pub(super) quit: bool,
}

impl Author {
    pub(super) fn at(width: u16, height: u16) -> Self {
        let folders = tempfile::tempdir().unwrap();
        let book = folders.path().join("the-long-silence");
        copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence"), &book);
        Self::in_book(folders, &book, (width, height))
    }

    /// Another window of hers on the same book.
    pub(super) fn other_window(&self) -> Self {
        let (screen, root) = (self.app.screen, self.bench.root());
        Self::in_book(tempfile::tempdir().unwrap(), root, (screen.width, screen.height))
    }

    fn in_book(folders: tempfile::TempDir, book: &Path, size: (u16, u16)) -> Self {
        let surroundings = Surroundings::in_folders(folders.path());
        let overrides = Overrides { provider: Some("offline".to_owned()), ..Overrides::default() };
        let bench = Workbench::open_in(book, overrides, surroundings).unwrap();
        let start = Start { open: None, depth: Depth::True, light: false, remote: true };
        let app = build(&bench, start, size).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let mut author = Self { app, bench, runtime, _folders: folders, quit: false };
        author.lay_out();
        author
    }

    /// The same author in a new run of the program, after this one ended in whatever way.
    pub(super) fn comes_back(self) -> Self {
        let Self { app, bench, _folders: folders, .. } = self;
        let screen = app.screen;
        let root = bench.root().to_path_buf();
        drop((app, bench));
        Self::in_book(folders, &root, (screen.width, screen.height))
    }

    pub(super) fn happens_effect(&mut self, effect: Effect) {
        self.follow(effect);
        self.lay_out();
    }

    pub(super) fn lay_out(&mut self) {
        view::lay_out(&mut self.app);
    }

    /// Lets something happen, and everything that follows from it.
    pub(super) fn happens(&mut self, msg: Msg) {
        let effects = update(&mut self.app, msg);
        for effect in effects {
            self.follow(effect);
        }
        self.lay_out();
    }

    fn follow(&mut self, effect: Effect) {
        match effect {
            Effect::Quit => self.quit = true,
            Effect::Ask(ask) => {
                let (out, mut inbox) = tokio::sync::mpsc::unbounded_channel();
                let begun = super::work::begun(&self.bench, &ask, &out);
                while let Ok(msg) = inbox.try_recv() {
                    self.happens(msg);
                }
                let (setup, session) = match begun {
                    Ok(both) => both,
                    Err(refused) => return self.happens(*refused),
                };
                self.happens(Msg::Began(setup.id.clone(), session.clone()));
                let events = self.runtime.block_on(async {
                    let mut running = driver::start(setup);
                    let mut all = vec![];
                    while let Some(event) = running.events.recv().await {
                        all.push(event);
                    }
                    all
                });
                let mut ended = None;
                for mut event in events {
                    // How long a tool took is the one thing here that differs from run to run.
                    if let TurnEventKind::Tool(row) = &mut event.kind {
                        row.ms = 0;
                    }
                    if let TurnEventKind::Ended(end) = &mut event.kind {
                        end.turn.tools.iter_mut().for_each(|t| t.ms = 0);
                        ended = Some(end.clone());
                    }
                    self.happens(Msg::Turn(Box::new(event)));
                }
                let finished = self.bench.finish(&session, &ask, *ended.unwrap());
                self.happens(Msg::Finished(Box::new(finished)));
            }
            other => {
                let (out, mut inbox) = tokio::sync::mpsc::unbounded_channel();
                super::work::quietly(&self.bench, other, &out);
                while let Ok(msg) = inbox.try_recv() {
                    self.happens(msg);
                }
            }
        }
    }

    pub(super) fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.happens(Msg::Key(KeyEvent::new(code, modifiers)));
    }

    pub(super) fn key(&mut self, code: KeyCode) {
        self.press(code, KeyModifiers::NONE);
    }

    pub(super) fn control(&mut self, c: char) {
        self.press(KeyCode::Char(c), KeyModifiers::CONTROL);
    }

    pub(super) fn types(&mut self, words: &str) {
        for c in words.chars() {
            self.key(KeyCode::Char(c));
        }
    }

    pub(super) fn waits(&mut self, seconds: u64) {
        let later = self.app.now + Duration::from_secs(seconds);
        self.happens(Msg::Tick(later));
    }

    /// A tenth of a second passes: a key that came before it came alone.
    pub(super) fn moment(&mut self) {
        let later = self.app.now + Duration::from_millis(100);
        self.happens(Msg::Tick(later));
    }

    /// Presses a key that decides something, as a hand does: alone.
    pub(super) fn decides(&mut self, c: char) {
        self.moment();
        self.key(KeyCode::Char(c));
        self.moment();
    }

    pub(super) fn asks(&mut self, question: &str) {
        self.key(KeyCode::F(3));
        self.types(question);
        self.key(KeyCode::Enter);
    }

    /// The screen as text.
    pub(super) fn sees(&mut self) -> String {
        let screen = self.app.screen;
        let mut terminal = Terminal::new(TestBackend::new(screen.width, screen.height)).unwrap();
        terminal.draw(|frame| view::draw(&self.app, frame)).unwrap();
        let buffer = terminal.backend().buffer();
        let mut text = String::new();
        for y in 0..screen.height {
            let mut row = String::new();
            let mut skip = 0;
            for x in 0..screen.width {
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                let symbol = buffer[(x, y)].symbol();
                skip = super::widgets::text::width(symbol).saturating_sub(1);
                row.push_str(symbol);
            }
            text.push_str(row.trim_end());
            text.push('\n');
        }
        text
    }

    #[track_caller]
    pub(super) fn sees_words(&mut self, words: &str) {
        let screen = self.sees();
        assert!(screen.contains(words), "{words:?} is not on screen:\n{screen}");
    }

    pub(super) fn file(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.bench.root().join(path)).unwrap()
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for item in std::fs::read_dir(from).unwrap() {
        let item = item.unwrap();
        let target = to.join(item.file_name());
        if item.path().is_dir() {
            copy(&item.path(), &target);
        } else {
            std::fs::copy(item.path(), target).unwrap();
        }
    }
}

const SIZES: [(u16, u16); 4] = [(60, 20), (80, 24), (120, 40), (200, 50)];

#[test]
fn the_first_screen_at_every_size() {
    for (width, height) in SIZES {
        let screen = Author::at(width, height).sees();
        insta::assert_snapshot!(format!("start_{width}x{height}"), screen);
    }
}

#[test]
fn an_answer_with_its_tool_rows_and_quotes_at_every_size() {
    for (width, height) in SIZES {
        let mut author = Author::at(width, height);
        author.asks("What should I remember about Adrian?");
        author.waits(6);
        insta::assert_snapshot!(format!("answer_{width}x{height}"), author.sees());
    }
}

#[test]
fn a_proposal_to_judge_at_every_size() {
    for (width, height) in SIZES {
        let mut author = Author::at(width, height);
        author.asks("Change Adrian's role to antagonist");
        author.waits(6);
        author.control('d');
        insta::assert_snapshot!(format!("proposal_{width}x{height}"), author.sees());
    }
}

#[test]
fn popups_at_every_size() {
    for (width, height) in SIZES {
        let mut author = Author::at(width, height);
        author.control('p');
        author.types("mira");
        insta::assert_snapshot!(format!("palette_{width}x{height}"), author.sees());
        author.key(KeyCode::Esc);
        author.key(KeyCode::F(1));
        insta::assert_snapshot!(format!("help_{width}x{height}"), author.sees());
        author.key(KeyCode::Esc);
        author.control('r');
        insta::assert_snapshot!(format!("board_{width}x{height}"), author.sees());
    }
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    for (width, height) in [(39, 20), (80, 9), (10, 2), (1, 1)] {
        let mut author = Author::at(width, height);
        let screen = author.sees();
        assert!(width < 20 || screen.contains("Please make this window"), "{screen}");
    }
}

#[test]
fn resizing_in_the_middle_of_an_answer_loses_nothing() {
    let mut author = Author::at(120, 40);
    author.asks("What should I remember about Adrian?");
    for (width, height) in [(80, 24), (39, 9), (200, 50), (41, 10), (120, 40)] {
        author.happens(Msg::Resize(width, height));
        author.sees();
    }
    author.waits(6);
    for _ in 0..4 {
        author.key(KeyCode::PageUp);
    }
    author.sees_words("get_character_context");
}

#[test]
fn a_change_of_role_is_written_with_one_key_and_undone_with_another() {
    let path = "codex/characters/adrian-vale/dossier.md";
    let mut author = Author::at(120, 40);
    let before = author.file(path);
    author.asks("Change Adrian's role to antagonist");
    assert_eq!(author.file(path), before, "nothing is written before the key");
    author.control('d');
    author.types("a");
    assert_eq!(author.file(path), before, "a key right after the popup opened was meant for something else");
    author.waits(1);
    author.decides('a');
    let after = String::from_utf8(author.file(path)).unwrap();
    let old = String::from_utf8(before.clone()).unwrap();
    let changed: Vec<_> = old.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
    assert_eq!(changed, [("role: protagonist", "role: antagonist")]);
    author.sees_words("✓ applied");
    author.decides('u');
    assert_eq!(author.file(path), before);
    author.sees_words("↶ undone");
}

#[test]
fn letters_typed_in_the_manuscript_never_judge_a_proposal() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.key(KeyCode::F(2));
    author.types("aru");
    assert!(author.app.popups.is_empty());
    assert!(author.app.document().unwrap().buffer.slice(0..3).starts_with("aru"));
}

#[test]
fn a_paste_into_a_popup_decides_nothing() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.control('d');
    author.waits(1);
    author.happens(Msg::Paste("a".to_owned()));
    author.sees_words("○ pending");
}

#[test]
fn the_next_quote_selects_the_very_words() {
    let mut author = Author::at(120, 40);
    author.asks("What should I remember about Adrian?");
    author.control('l');
    let document = author.app.document().unwrap();
    let selected = document.buffer.selected_text().unwrap();
    let quotes = &author.app.chat.turns[0].grounded.as_ref().unwrap().quotes;
    assert!(quotes.iter().any(|q| q.places.iter().any(|p| p.0 == document.path)));
    assert!(selected.split_whitespace().count() >= 2, "{selected}");
    assert!(document.captured_by_author().is_none(), "a followed quote is not the author's selection");
}

#[test]
fn a_selection_goes_along_as_a_chip_and_is_described_without_its_words() {
    let mut author = Author::at(120, 40);
    author.key(KeyCode::Down);
    author.key(KeyCode::Down);
    author.press(KeyCode::End, KeyModifiers::SHIFT);
    author.control('k');
    assert_eq!(author.app.focus, Pane::Chat);
    author.sees_words("❝ 9 words");
    author.control('o');
    author.sees_words("What would be sent");
}

#[test]
fn the_whole_book_is_searched_and_a_hit_opens_at_its_words() {
    let mut author = Author::at(120, 40);
    author.press(KeyCode::Char('s'), KeyModifiers::ALT);
    author.sees_words("Search the book");
    author.types("eleven mugs");
    author.sees_words("mugs");
    author.key(KeyCode::Enter);
    assert!(author.app.popups.is_empty());
    assert_eq!(author.app.focus, Pane::Manuscript);
}

#[test]
fn hits_in_one_chapter_are_told_apart_by_their_lines() {
    let mut author = Author::at(80, 24);
    author.press(KeyCode::Char('s'), KeyModifiers::ALT);
    author.types("lamp");
    let screen = author.sees();
    let rows: Vec<&str> = screen.lines().filter(|row| row.contains("chapter · line")).collect();
    assert!(rows.iter().filter(|row| row.contains("1 · The Listening Post")).count() > 1, "{screen}");
    for (n, row) in rows.iter().enumerate() {
        let place = |row: &str| row.rsplit_once(" · ").map(|(place, _score)| place.replace('▸', " "));
        assert!(rows[..n].iter().all(|other| place(other) != place(row)), "{row}\n{screen}");
    }
    author.key(KeyCode::Enter);
    let document = author.app.document().unwrap();
    let line = document.buffer.line_of(document.buffer.selection().unwrap().start) + 1;
    assert!(rows[0].contains(&format!("· line {line} ·")), "{line}: {}", rows[0]);
}

#[test]
fn the_find_bar_counts_the_places_and_says_which_one_is_selected() {
    let mut author = Author::at(80, 24);
    author.control('f');
    author.types("lamp");
    let all = author.app.find.as_ref().unwrap().counted.as_ref().unwrap().len();
    assert!(all > 3);
    author.sees_words(&format!("1/{all}"));
    author.key(KeyCode::Enter);
    author.sees_words(&format!("2/{all}"));
    author.key(KeyCode::Up);
    author.key(KeyCode::Up);
    author.sees_words(&format!("{all}/{all}"));
    author.key(KeyCode::Tab);
    author.types("lantern");
    author.key(KeyCode::Enter);
    author.sees_words(&format!("1/{}", all - 1));
    author.press(KeyCode::Enter, KeyModifiers::ALT);
    let screen = author.sees();
    assert!(!screen.contains(&format!("/{}", all - 1)) && !screen.contains("0/0"), "{screen}");
    author.control('z');
    author.key(KeyCode::BackTab);
    author.key(KeyCode::Down);
    author.sees_words(&format!("/{}", all - 1));
}

#[test]
fn what_is_typed_takes_the_place_of_the_selection_in_the_find_bar() {
    let mut author = Author::at(80, 24);
    for _ in 0..6 {
        author.press(KeyCode::Right, KeyModifiers::SHIFT);
    }
    let needle = |author: &Author| author.app.find.as_ref().unwrap().needle.text().to_owned();
    author.control('f');
    let selected = needle(&author);
    assert_eq!(selected.chars().count(), 6, "{selected:?}");
    author.types("Mira");
    assert_eq!(needle(&author), "Mira");
    author.key(KeyCode::Esc);
    author.control('f');
    let selected = needle(&author);
    author.key(KeyCode::End);
    author.types("x");
    assert_eq!(needle(&author), selected + "x");
}

#[test]
fn an_old_count_is_never_shown_for_other_words() {
    let mut author = Author::at(80, 24);
    author.control('f');
    author.types("lamp");
    let bar = author.app.find.as_mut().unwrap();
    let (old, counted) = (bar.asked.clone().unwrap(), bar.counted.clone().unwrap());
    let of_all = format!("/{}", counted.len());
    let asked = update(&mut author.app, Msg::Key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::NONE)));
    assert!(matches!(asked[..], [Effect::CountPlaces(..)]));
    assert!(!author.sees().contains(&of_all), "nothing is counted yet");
    author.happens(Msg::Counted(old, counted));
    assert!(author.app.find.as_ref().unwrap().counted.is_none());
    assert!(!author.sees().contains(&of_all));
}

#[test]
fn escape_in_the_chat_lets_the_selection_go() {
    let mut author = Author::at(120, 40);
    author.press(KeyCode::End, KeyModifiers::SHIFT);
    author.key(KeyCode::F(3));
    author.sees_words("❝ ");
    author.key(KeyCode::Esc);
    assert!(author.app.document().unwrap().captured_by_author().is_none());
    assert_eq!(author.app.focus, Pane::Chat);
}

#[test]
fn the_pane_keys_lead_out_of_the_find_bar() {
    let mut author = Author::at(120, 40);
    author.control('f');
    author.key(KeyCode::F(3));
    assert_eq!(author.app.focus, Pane::Chat);
}

#[test]
fn escape_leads_back_step_by_step() {
    let mut author = Author::at(120, 40);
    author.control('p');
    author.key(KeyCode::F(1));
    assert_eq!(author.app.popups.len(), 2);
    author.key(KeyCode::Esc);
    author.key(KeyCode::Esc);
    assert!(author.app.popups.is_empty());
    author.control('f');
    author.types("mast");
    author.key(KeyCode::Esc);
    assert!(author.app.find.is_none());
    author.key(KeyCode::Esc);
    assert!(author.app.document().unwrap().buffer.selection().is_none());
}

#[test]
fn quitting_with_unsaved_words_asks_first() {
    let mut author = Author::at(120, 40);
    author.types("x");
    author.control('q');
    assert!(!author.quit);
    author.sees_words("Unsaved changes");
    author.decides('s');
    assert!(author.quit);
    assert!(author.file("manuscript/01-the-listening-post.md").starts_with(b"x"));
}

#[test]
fn the_second_window_on_a_new_book_can_only_read_it_from_the_first_words_of_the_other_on() {
    let mut first = Author::at(120, 40);
    let root = first.bench.root().to_path_buf();
    let open = || {
        let folders = tempfile::tempdir().unwrap();
        Author::in_book(folders, &root, (120, 40))
    };
    let (mut saves, mut types) = (open(), open());
    assert!(!root.join(".scritorio").exists());
    first.types("first ");
    first.control('s');
    let path = "manuscript/01-the-listening-post.md";
    assert!(first.file(path).starts_with(b"first "));
    saves.types("second ");
    saves.control('s');
    saves.sees_words("Not saved, copy your words. Read only here: the book is open in another window");
    assert!(saves.app.read_only.is_some());
    assert!(first.file(path).starts_with(b"first "));
    saves.control('q');
    saves.decides('s');
    assert!(!saves.quit, "unsaved words are not thrown away");
    let (tell, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let mut recovery = super::recovery::Recovery::new(types.bench.clone(), tell);
    types.types("third ");
    recovery.note(&mut types.app);
    drop(recovery);
    let told = inbox.try_recv().unwrap();
    assert!(matches!(told, Msg::HeldBy(_)), "{told:?}");
    types.happens(told);
    types.sees_words("Not saved, copy your words. Read only here");
    types.control('s');
    assert!(first.file(path).starts_with(b"first "));
}

#[test]
fn a_second_window_makes_renames_and_decides_nothing_before_its_first_words_either() {
    use crate::domain::ids::ProposalId;

    let mut first = Author::at(120, 40);
    let root = first.bench.root().to_path_buf();
    let second = || Author::in_book(tempfile::tempdir().unwrap(), &root, (120, 40));
    let found = Box::new(first.bench.rename("Mira", "Nora").unwrap());
    let chosen = found.places.iter().map(|place| place.id.clone()).collect();
    let of_one = found.places[0].id.clone();
    let effects = [
        Effect::NewChapter("Dawn".to_owned()),
        Effect::NewEntry(crate::domain::codex::EntryType::Character, "Nora".to_owned()),
        Effect::Rename(found.clone(), chosen),
        Effect::Exempt(found, of_one),
        Effect::Judge(super::msg::Verdict::Reject(ProposalId::new("p-1"), None)),
    ];
    let windows: Vec<_> = effects.into_iter().map(|effect| (second(), effect)).collect();
    first.types("first ");
    first.control('s');
    let before = all_files(&root);
    for (mut window, effect) in windows {
        let what = format!("{effect:?}");
        window.happens_effect(effect);
        assert!(window.app.read_only.is_some(), "{what}");
        window.sees_words("Read only here: the book is open in another window");
        assert!(all_files(&root) == before, "{what}");
    }
}

/// Every file below a folder, with what it holds.
fn all_files(folder: &Path) -> std::collections::BTreeMap<std::path::PathBuf, Vec<u8>> {
    let mut files = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(all_files(&path));
        } else {
            files.insert(path.clone(), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn somebody_elses_words_are_never_overwritten() {
    let mut author = Author::at(120, 40);
    let path = author.bench.root().join("manuscript/01-the-listening-post.md");
    author.types("mine ");
    std::fs::write(&path, "theirs").unwrap();
    author.control('s');
    author.types("t");
    assert!(author.app.popups.is_empty(), "the next letter is text, not an answer");
    author.waits(2);
    author.sees_words("Changed on disk");
    author.waits(1);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs");
    author.decides('m');
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("mine "));
}

#[test]
fn the_codex_is_filtered_and_opened_without_the_mouse() {
    let mut author = Author::at(120, 40);
    author.key(KeyCode::F(4));
    author.types("/okaf");
    author.sees_words("Mira Okafor");
    author.key(KeyCode::Enter);
    let path = author.app.document().unwrap().path.to_string();
    assert!(path.starts_with("codex/characters/"), "{path}");
}

#[test]
fn every_command_can_be_run_from_every_pane() {
    for pane in ["focus-manuscript", "focus-chat", "focus-codex"] {
        let mut author = Author::at(100, 30);
        for command in crate::command::COMMANDS {
            author.happens(Msg::Run(pane));
            // What leaves the process is not for a test; sending an empty question does nothing.
            if !matches!(command.name, "suspend" | "copy" | "cut" | "paste") {
                author.happens(Msg::Run(command.name));
            }
            author.sees();
            author.app.popups.clear();
            author.quit = false;
        }
    }
}

#[test]
fn time_comes_in_with_messages() {
    let mut author = Author::at(80, 24);
    let later = Instant::now() + Duration::from_mins(1);
    author.happens(Msg::Tick(later));
    assert_eq!(author.app.now, later);
}

#[test]
fn unsaved_words_of_a_run_that_was_killed_are_offered_and_restored() {
    let mut author = Author::at(100, 30);
    let path = "manuscript/01-the-listening-post.md";
    let before = author.file(path);
    author.types("Zephyrine ");
    let (tell, _heard) = tokio::sync::mpsc::unbounded_channel();
    let mut recovery = super::recovery::Recovery::new(author.bench.clone(), tell);
    recovery.note(&mut author.app);
    // As if the program were killed here: the log is written, nothing is saved.
    drop(recovery);
    assert_eq!(author.file(path), before);
    let mut again = author.comes_back();
    again.happens_effect(Effect::ReadRecovered);
    again.types("d");
    assert!(again.app.popups.is_empty(), "a popup never takes a key that was meant for the text");
    again.waits(2);
    again.sees_words("Unsaved text");
    again.decides('d');
    again.sees_words("Unsaved text");
    again.waits(1);
    again.sees_words("Zephyrine");
    again.decides('r');
    assert_eq!(again.app.forgotten.len(), 1);
    assert!(again.app.document().unwrap().buffer.slice(0..20).starts_with("Zephyrine"));
    again.control('s');
    assert!(again.file(path).starts_with(b"Zephyrine "));
}

#[test]
fn the_author_comes_back_to_where_she_was() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira Okafor?");
    author.control('g');
    author.types("Turnover");
    author.key(KeyCode::Enter);
    author.key(KeyCode::PageDown);
    author.types("Five more words than before. ");
    author.control('s');
    author.waits(6);
    author.sees_words("+5 words today, goal 500");
    let place = author.app.document().unwrap().buffer.cursor();
    super::work::leave_desk(&author.bench, &author.app);
    let mut again = author.comes_back();
    let document = again.app.document().unwrap();
    assert_eq!((document.path.as_str(), document.buffer.cursor()), ("manuscript/05-turnover.md", place));
    again.sees_words("+5 words today, goal 500");
}

#[test]
fn a_turn_that_breaks_leaves_the_chat_usable() {
    let mut author = Author::at(120, 40);
    author.asks("Who is Mira Okafor?");
    let id = author.app.chat.turns[0].id.clone().unwrap();
    author.happens(Msg::Began(id, crate::domain::ids::SessionId::mint()));
    assert!(author.app.chat.is_busy());
    let failure = crate::domain::conversation::Failure {
        kind: crate::domain::conversation::FailureKind::Work,
        message: "It broke.".into(),
        hint: "Ask again.".into(),
    };
    author.happens(Msg::Refused(failure));
    assert!(!author.app.chat.is_busy());
    author.key(KeyCode::End);
    author.sees_words("It broke.");
}

#[test]
fn a_quote_is_followed_to_its_words_after_the_chapter_has_changed() {
    let mut author = Author::at(120, 40);
    author.asks("What should I remember about Adrian?");
    author.control('l');
    let words = author.app.document().unwrap().buffer.selected_text().unwrap();
    let document = author.app.document_mut().unwrap();
    document.buffer.set_cursor(0, false);
    document.buffer.insert("Later, in another year. ");
    author.app.chat.quote = None;
    author.control('l');
    assert_eq!(author.app.document().unwrap().buffer.selected_text().unwrap(), words);
}

#[test]
fn a_file_that_changed_on_disk_is_read_again_without_taking_the_keys() {
    let mut author = Author::at(120, 40);
    author.key(KeyCode::F(3));
    author.types("Half a quest");
    let path = author.bench.root().join("manuscript/01-the-listening-post.md");
    std::fs::write(&path, "Somebody else was here.\n").unwrap();
    author.happens(Msg::FocusGained);
    assert_eq!(author.app.focus, Pane::Chat);
    assert_eq!(author.app.document().unwrap().buffer.to_text(), "Somebody else was here.\n");
    author.key(KeyCode::F(2));
    author.types("x");
    std::fs::write(&path, "And again.\n").unwrap();
    author.happens(Msg::FocusGained);
    assert!(author.app.document().unwrap().buffer.slice(0..40).contains('x'), "unsaved words stay");
}

#[test]
fn words_thrown_away_at_the_end_are_not_offered_again() {
    let mut author = Author::at(100, 30);
    let (tell, _heard) = tokio::sync::mpsc::unbounded_channel();
    let mut recovery = super::recovery::Recovery::new(author.bench.clone(), tell);
    author.types("Never mind");
    recovery.note(&mut author.app);
    author.control('q');
    author.decides('d');
    assert!(author.quit);
    recovery.note(&mut author.app);
    drop(recovery);
    assert!(author.bench.recovered().unwrap().is_empty());
}

#[test]
fn quitting_works_from_within_a_proposal() {
    let mut author = Author::at(120, 40);
    author.asks("Change Adrian's role to antagonist");
    author.control('d');
    author.control('q');
    assert!(author.quit, "nothing is unsaved");
    author.quit = false;
    author.key(KeyCode::Esc);
    author.key(KeyCode::F(2));
    author.types("x");
    author.control('d');
    author.control('q');
    author.control('q');
    assert!(!author.quit);
    author.sees_words("Unsaved changes");
    author.key(KeyCode::Esc);
    author.sees_words("○ pending");
    author.control('s');
    assert!(author.file("manuscript/01-the-listening-post.md").starts_with(b"x"));
    author.key(KeyCode::F(1));
    author.sees_words("Help · a proposal");
}

#[test]
fn relationships_are_walked_from_one_to_the_next_and_back() {
    for (width, height) in [(80, 24), (120, 40), (200, 50)] {
        let mut author = Author::at(width, height);
        author.happens_effect(Effect::ReadRelationships);
        select_entry(&mut author, "Tobias Okafor");
        author.key(KeyCode::Char('g'));
        let screen = author.sees();
        insta::assert_snapshot!(format!("relationships_{width}x{height}"), screen);
        assert!(screen.contains("▸ Mira Okafor"), "{screen}");
        author.key(KeyCode::Enter);
        let screen = author.sees();
        assert!(
            screen.contains("│ Mira Okafor · character │") && screen.contains("▸ Tobias Okafor"),
            "{screen}"
        );
        author.key(KeyCode::Backspace);
        assert!(author.sees().contains("│ Tobias Okafor · character │"));
        author.key(KeyCode::Down);
        author.key(KeyCode::Char('o'));
        assert!(author.app.popups.is_empty());
        assert_eq!(author.app.document().unwrap().path.as_str(), "codex/characters/kostas-leventis.md");
    }
}

/// Puts the selection of the Codex pane on an entry.
fn select_entry(author: &mut Author, name: &str) {
    let is_it = |row: &super::codex::Row| matches!(row, super::codex::Row::Leaf { name: n, .. } if n == name);
    let at = author.app.codex.rows.iter().position(is_it).unwrap();
    author.app.codex.selected = at;
    author.app.focus = Pane::Codex;
    author.lay_out();
}

#[test]
fn a_name_is_changed_in_the_whole_book_and_back_with_a_key() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut author = Author::at(width, height);
        select_entry(&mut author, "Adrian Vale");
        author.key(KeyCode::Char('r'));
        author.types("Julian Crane");
        author.key(KeyCode::Enter);
        let screen = author.sees();
        insta::assert_snapshot!(format!("rename_{width}x{height}"), screen);
        assert!(screen.contains("83 of 85 places chosen, in 28 files"), "{screen}");
        // The first place is left out, and a look at it keeps the list.
        author.key(KeyCode::Char(' '));
        assert!(author.sees().contains("82 of 85 places chosen"));
        author.key(KeyCode::Enter);
        assert!(author.app.popups.is_empty());
        assert!(author.app.document().unwrap().path.as_str().ends_with("dossier.md"));
        assert_eq!(author.app.document().unwrap().buffer.selected_text().as_deref(), Some("Adrian Vale"));
        author.happens(Msg::Run("rename"));
        assert!(author.sees().contains("82 of 85 places chosen"), "what was left out stays out");
        author.key(KeyCode::Char(' '));
        let before = author.bench.text_now(&chapter_one()).unwrap();
        author.waits(1);
        author.decides('a');
        let screen = author.sees();
        assert!(screen.contains("Rename Adrian Vale to Julian Crane: 83 places in 28 files"), "{screen}");
        assert!(author.bench.text_now(&chapter_one()).unwrap().contains("Captain Crane put his hand"));
        author.waits(1);
        author.decides('u');
        assert!(author.sees().contains("Undone: every file is as it was"));
        assert_eq!(author.bench.text_now(&chapter_one()).unwrap(), before);
    }
}

fn chapter_one() -> crate::domain::ids::BookPath {
    crate::domain::ids::BookPath::new("manuscript/01-the-listening-post.md").unwrap()
}

#[test]
fn a_rename_never_meets_unsaved_words_and_an_exclusion_is_for_ever() {
    let mut author = Author::at(120, 40);
    author.happens(Msg::Rename("Mira Okafor".into(), "Nora Lind".into()));
    assert!(author.sees().contains("70 of 86 places chosen"));
    author.waits(1);
    author.key(KeyCode::Down);
    author.decides('x');
    assert!(author.sees().contains("69 of 86 places chosen"));
    assert!(author.bench.root().join(".scritorio/exemptions.toml").exists());
    author.key(KeyCode::Esc);
    author.happens(Msg::Show(chapter_one(), None));
    author.types("x");
    author.happens(Msg::Rename("Mira Okafor".into(), "Nora Lind".into()));
    assert!(author.app.popups.is_empty());
    let notice = author.app.notice.clone().unwrap().0.text;
    assert!(notice.contains("unsaved changes: save it first (Ctrl-S)"), "{notice}");
}

#[test]
fn relationships_and_places_fit_on_every_screen() {
    for size in [(40, 10), (47, 11), (60, 20), (300, 80)] {
        let mut author = Author::at(size.0, size.1);
        author.happens_effect(Effect::ReadRelationships);
        select_entry(&mut author, "Adrian Vale");
        author.key(KeyCode::Char('g'));
        for key in [KeyCode::PageDown, KeyCode::Enter, KeyCode::Up, KeyCode::Backspace] {
            author.key(key);
            author.sees_words("Relationships");
        }
        author.key(KeyCode::Esc);
        author.happens(Msg::Rename("Adrian Vale".into(), "田中 O’Hara".into()));
        for key in [KeyCode::PageDown, KeyCode::Char('n'), KeyCode::Char('f'), KeyCode::PageUp] {
            author.key(key);
            author.sees_words("Rename Adrian Vale");
        }
    }
}
