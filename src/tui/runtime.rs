//! The one loop of the interface: waits for keys, background work and time; draws when something changed.
//!
//! Input is drained before a frame is drawn, and drawn at once. What streams in is drawn at most sixty times a second. With nothing
//! to do the loop sleeps: no timer runs unless something on screen moves.

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crossterm::event::Event;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::workbench::Workbench;

use super::app::App;
use super::clipboard::Clipboard;
use super::effect::Effect;
use super::msg::Msg;
use super::terminal::Guard;
use super::update::{ALONE, update};
use super::work::Work;
use super::{terminal, view, work};

/// Time between frames for what streams in.
const FRAME: Duration = Duration::from_millis(16);
/// Time between turns of the spinner.
const SPIN: Duration = Duration::from_millis(120);
/// How long the end of the program waits for a turn that was stopped by it.
const FAREWELL: Duration = Duration::from_millis(300);
/// Most messages taken between two frames, so that a flood can't starve the screen.
const BATCH: usize = 4096;

/// Runs until the author quits or the terminal goes away.
pub(super) async fn run(
    mut app: App,
    workbench: Workbench,
    clipboard: Clipboard,
    mut guard: Guard,
) -> io::Result<()> {
    let (out, inbox) = unbounded_channel();
    let work = Work::new(workbench, clipboard, out.clone());
    let mut screen = Loop { work, out, inbox, events: events(), stop: Signals::listen()? };
    let start = work::at_start(&app);
    view::lay_out(&mut app);
    guard.draw(|frame| view::draw(&app, frame))?;
    for effect in start {
        if screen.perform(&mut guard, effect)?.is_break() {
            return Ok(());
        }
    }
    let ended = screen.turn_around(&mut app, &mut guard).await;
    screen.end_turn(&mut app, &mut guard).await;
    screen.work.recover(&mut app);
    screen.work.leave_desk(&app);
    ended
}

struct Loop {
    work: Work,
    out: UnboundedSender<Msg>,
    inbox: UnboundedReceiver<Msg>,
    events: UnboundedReceiver<io::Result<Event>>,
    stop: Signals,
}

impl Loop {
    async fn turn_around(&mut self, app: &mut App, guard: &mut Guard) -> io::Result<()> {
        let mut drawn = Instant::now();
        let mut spun = Instant::now();
        // When the next frame is due; `None` when nothing has changed.
        let mut due: Option<Instant> = None;
        loop {
            let wake = match (due, app.moves()) {
                (Some(at), _) => Some(at),
                (None, true) => Some(spun + SPIN),
                (None, false) => None,
            };
            let settles = app.held.as_ref().map(|(_, at)| *at + ALONE);
            let wake = wake.into_iter().chain(settles).min();
            let mut urgent = false;
            let mut batch: Vec<Msg> = vec![];
            tokio::select! {
                biased;
                () = self.stop.received() => return Ok(()),
                event = self.events.recv() => match event {
                    Some(Ok(event)) => { urgent = true; batch.extend(message(event)); }
                    // The terminal is gone: what is unsaved is in the recovery log.
                    Some(Err(_)) | None => return Ok(()),
                },
                Some(msg) = self.inbox.recv() => batch.push(msg),
                () = until(wake) => {}
            }
            // Everything that waits already belongs to the same frame.
            while batch.len() < BATCH {
                match self.events.try_recv() {
                    Ok(Ok(event)) => {
                        urgent = true;
                        batch.extend(message(event));
                    }
                    _ => break,
                }
            }
            while batch.len() < BATCH {
                match self.inbox.try_recv() {
                    Ok(msg) => batch.push(msg),
                    Err(_) => break,
                }
            }
            let now = Instant::now();
            app.now = now;
            if app.moves() && now.duration_since(spun) >= SPIN {
                spun = now;
                batch.push(Msg::Tick(now));
            }
            if settles.is_some_and(|at| at <= now) {
                batch.insert(0, Msg::KeySettled);
            }
            let changed = !batch.is_empty();
            for msg in batch {
                for effect in update(app, msg) {
                    if self.perform(guard, effect)?.is_break() {
                        return Ok(());
                    }
                }
            }
            self.work.recover(app);
            if changed {
                due = Some(if urgent { now } else { due.unwrap_or(drawn + FRAME) });
            }
            if due.is_some_and(|at| at <= now) {
                view::lay_out(app);
                let area = guard.draw(|frame| view::draw(app, frame))?;
                drawn = now;
                due = (area != app.screen).then_some(now);
                app.screen = area;
            }
        }
    }

    /// Stops a turn that still runs, and waits a moment for it to be kept: what the model said belongs into the record.
    async fn end_turn(&mut self, app: &mut App, guard: &mut Guard) {
        if !app.chat.is_busy() {
            return;
        }
        self.work.start(Effect::Cancel, &self.out);
        let end = tokio::time::Instant::now() + FAREWELL;
        while app.chat.is_busy() {
            let Ok(Some(msg)) = tokio::time::timeout_at(end, self.inbox.recv()).await else { return };
            for effect in update(app, msg) {
                let _ = self.perform(guard, effect);
            }
        }
    }

    /// Does what the interface asks for: at once where it is the terminal's business, else in the background.
    fn perform(&mut self, guard: &mut Guard, effect: Effect) -> io::Result<ControlFlow<()>> {
        match effect {
            Effect::Quit => return Ok(ControlFlow::Break(())),
            Effect::Mouse(on) => guard.set_mouse(on)?,
            Effect::Suspend => guard.aside(suspend)?,
            Effect::SendToTerminal(bytes) => terminal::send(&bytes)?,
            background => self.work.start(background, &self.out),
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Reads the terminal on a thread of its own, so that everything that waits can be taken at once. The thread ends with the program.
fn events() -> UnboundedReceiver<io::Result<Event>> {
    let (out, events) = unbounded_channel();
    let read = move || {
        loop {
            let event = crossterm::event::read();
            let last = event.is_err();
            if out.send(event).is_err() || last {
                break;
            }
        }
    };
    // Without the thread the channel is closed, and the loop ends as if the terminal were gone.
    let _ = std::thread::Builder::new().name("keys".to_owned()).spawn(read);
    events
}

/// Waits for a time, or for ever.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at.into()).await,
        None => std::future::pending().await,
    }
}

fn message(event: Event) -> Option<Msg> {
    match event {
        Event::Key(key) => Some(Msg::Key(key)),
        Event::Paste(text) => Some(Msg::Paste(text)),
        Event::Mouse(event) => Some(Msg::Mouse(event)),
        Event::Resize(width, height) => Some(Msg::Resize(width, height)),
        Event::FocusGained => Some(Msg::FocusGained),
        Event::FocusLost => None,
    }
}

/// Stops this process as the shell's own suspend key would. Comes back when the author brings it to the foreground.
fn suspend() {
    #[cfg(unix)]
    {
        let me = std::process::id().to_string();
        // Without `kill` there is no way to stop without unsafe code; the interface then simply comes back.
        let _ = std::process::Command::new("kill").args(["-TSTP", &me]).status();
    }
}

/// The signals that end the program in good order.
struct Signals {
    #[cfg(unix)]
    term: tokio::signal::unix::Signal,
    #[cfg(unix)]
    hangup: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn listen() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { term: signal(SignalKind::terminate())?, hangup: signal(SignalKind::hangup())? })
    }

    #[cfg(not(unix))]
    fn listen() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for one of them.
    async fn received(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.term.recv() => {}
            _ = self.hangup.recv() => {}
        }
        #[cfg(not(unix))]
        std::future::pending::<()>().await;
    }
}
