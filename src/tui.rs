//! The full-screen interface. State in `App`, change in `update`, pixels in `view`.
//!
//! `runtime` has the one loop; `work` does in the background what `update` asks for. Nothing between a key and its frame waits.

mod app;
mod chat;
mod clipboard;
mod codex;
mod conversation;
mod document;
mod effect;
#[cfg(test)]
mod failure_tests;
pub mod keymap;
mod layout;
mod msg;
mod nearest;
mod panes;
mod popups;
mod recovery;
mod review;
#[cfg(test)]
mod review_tests;
mod runtime;
#[cfg(test)]
mod sessions_tests;
pub mod stage;
mod terminal;
#[cfg(test)]
mod tests;
pub mod theme;
mod turn_lines;
mod update;
mod view;
mod when;
pub mod widgets;
mod work;

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use anyhow::Context;

use crate::canon::mentions::Names;
use crate::workbench::Workbench;
use app::{App, Look};
use document::OpenDocument;
use keymap::Keymap;
use layout::Pane;
use theme::{Depth, Theme};

/// What to show first.
#[derive(Debug, Clone)]
pub struct Start {
    /// A document to open.
    pub open: Option<crate::domain::ids::BookPath>,
    /// How many colours the terminal has.
    pub depth: Depth,
    /// Whether the terminal's background is known to be light.
    pub light: bool,
    /// Whether the program runs on another machine than the author sits at.
    pub remote: bool,
}

/// Runs the interface until the author quits. Takes over the terminal and gives it back, also on a panic or a signal.
pub fn run(workbench: Workbench, start: Start) -> anyhow::Result<()> {
    let (width, height) =
        crossterm::terminal::size().context("this is no terminal; `scritorio ask` works without one")?;
    let remote = start.remote;
    let app = build(&workbench, start, (width, height))?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("can't start background work")?;
    let guard = terminal::Guard::take(app.look.mouse).context("can't take over the terminal")?;
    let clipboard = clipboard::Clipboard::new(remote);
    let ended = runtime.block_on(runtime::run(app, workbench, clipboard, guard));
    // A look-up in a keychain that never answers must not keep the program alive.
    runtime.shutdown_timeout(std::time::Duration::from_millis(100));
    ended.context("the terminal failed")
}

/// Entries whose names are compiled in a millisecond.
const FEW_ENTRIES: usize = 100;

/// Builds the state that the first frame shows.
fn build(workbench: &Workbench, start: Start, (width, height): (u16, u16)) -> anyhow::Result<App> {
    let (book, is_reading) = (workbench.outline(), workbench.is_outline());
    let settings = workbench.settings();
    let keymap = Keymap::with(&settings.keys).map_err(|problems| anyhow::anyhow!(problems.join("\n")))?;
    let chosen = workbench.choices().theme.value;
    let name = chosen.unwrap_or_else(|| if start.light { "light" } else { "dark" }.to_owned());
    let own_themes = workbench.own_themes();
    let theme = theme_of(&own_themes, &name, start.depth);
    let complaint = theme.as_ref().err().map(ToString::to_string);
    let theme = theme.unwrap_or_else(|_| Theme::fallback(start.depth));
    let look = Look {
        tool_rows: settings.appearance.tool_rows,
        tier_status: settings.appearance.tier_status,
        peek_key: settings.appearance.peek_key,
        ..Look::default()
    };
    // Compiling the names of a large Codex takes longer than drawing the first frame; that is then done behind it.
    let few = !is_reading && book.entries.len() <= FEW_ENTRIES;
    let names = if few { Names::of(&book) } else { Names::default() };
    let desk = workbench.desk();
    let left = desk.document.filter(|path| start.open.is_none() && book.document(path).is_some());
    let cursor = left.is_some().then_some(desk.cursor);
    let day = workbench.today();
    let first = start.open.or(left).or_else(|| book.chapters.first().map(|c| c.path.clone()));
    let document = first.and_then(|path| {
        let read = workbench.read_document(&path).ok()?;
        let mut document = OpenDocument::new(&book, path, read);
        if let Some(cursor) = cursor {
            document.go_to(cursor);
        }
        Some(document)
    });
    let read_only = workbench.hold().map(|holder| update::held_in_words(holder.pid));
    let now = Instant::now();
    let mut app = App {
        codex: codex::CodexPane::new(&book),
        book,
        is_reading,
        names,
        keymap,
        theme,
        depth: start.depth,
        look,
        screen: ratatui::layout::Rect::new(0, 0, width, height),
        focus: Pane::Manuscript,
        side: Pane::Chat,
        documents: document.into_iter().collect(),
        active: 0,
        last_chapter: desk.chapter.clone(),
        find: None,
        chat: chat::Chat::new(crate::persona::board::member(desk.persona.as_deref()).id.to_owned()),
        proposals: HashMap::new(),
        queue: vec![],
        past: vec![],
        own_themes,
        graph: std::sync::Arc::default(),
        parked: None,
        popups: vec![],
        waiting: vec![],
        notice: None,
        now,
        typed_at: None,
        plain_at: None,
        held: None,
        sitting: vec![],
        marks: HashMap::default(),
        diff_look: widgets::diff::Look::default(),
        keeping: 0,
        judging: HashSet::new(),
        escaped_at: None,
        provider: workbench.provider_and_model(),
        models: workbench.models_of_members(),
        standing: None,
        read_only,
        spin: 0,
        clipboard: String::new(),
        restoring: vec![],
        forgotten: vec![],
        words_closed: if desk.day.as_ref() == Some(&day) { desk.words } else { 0 },
        day,
        quitting: false,
    };
    app.note_chapter();
    if let Some(words) = complaint.or_else(|| app.read_only.clone()) {
        app.tell(msg::Notice::problem(words));
    }
    Ok(app)
}

/// Returns a theme by name: the author's own, else a shipped one.
fn theme_of(own: &[(String, String)], name: &str, depth: Depth) -> Result<Theme, theme::ThemeError> {
    match own.iter().find(|(n, _)| n == name) {
        Some((name, text)) => Theme::parse(name, text, depth),
        None => Theme::named(name, depth),
    }
}
