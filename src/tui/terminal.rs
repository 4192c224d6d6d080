//! Takes the terminal over and gives it back: on exit, on a panic, on a signal, and around a suspend.

use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::cursor::{SetCursorStyle, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    EnableMouseCapture, KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;

/// Whether the terminal is ours at the moment; what the panic hook looks at.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What a frame writes. It is held back until the frame is whole: the terminal gets it in one write, flushes in between or not.
#[derive(Clone, Default)]
struct Held(Rc<RefCell<Vec<u8>>>);

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The terminal while it is ours. Dropping it gives it back.
pub(super) struct Guard {
    screen: Terminal<CrosstermBackend<Held>>,
    held: Held,
    /// The frame that was written last: writing the same again would change nothing.
    written: Vec<u8>,
    mouse: bool,
}

impl Guard {
    /// Takes the terminal over.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        enter(mouse)?;
        let held = Held::default();
        Ok(Self { screen: screen(&held)?, held, written: vec![], mouse })
    }

    /// Draws one frame inside a synchronised update. Returns the size that the screen had.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<Rect> {
        queue!(self.held, BeginSynchronizedUpdate)?;
        let area = self.screen.draw(view)?.area;
        queue!(self.held, EndSynchronizedUpdate)?;
        let frame = self.held.0.take();
        if frame != self.written {
            send(&frame)?;
            self.written = frame;
        }
        Ok(area)
    }

    /// Reports mouse events to us, or leaves the mouse to the terminal.
    pub(super) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        if on {
            execute!(io::stdout(), EnableMouseCapture)
        } else {
            execute!(io::stdout(), DisableMouseCapture)
        }
    }

    /// Gives the terminal back, runs `meanwhile`, and takes it over again.
    pub(super) fn aside(&mut self, meanwhile: impl FnOnce()) -> io::Result<()> {
        leave();
        meanwhile();
        enter(self.mouse)?;
        // `Terminal::clear` would ask where the cursor is, and the answer would go to the thread that reads the keys.
        execute!(io::stdout(), Clear(ClearType::All))?;
        self.screen = screen(&self.held)?;
        self.written.clear();
        Ok(())
    }
}

/// Sends bytes: a frame, or a terminal command of our own, such as OSC 52.
pub(super) fn send(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// A screen of which nothing is drawn yet.
fn screen(held: &Held) -> io::Result<Terminal<CrosstermBackend<Held>>> {
    Terminal::new(CrosstermBackend::new(held.clone()))
}

fn enter(mouse: bool) -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    let mut out = io::stdout();
    queue!(out, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange, SetCursorStyle::SteadyBar)?;
    // A terminal that does not know the protocol ignores the request; asking whether it does would cost a round trip before the first frame.
    queue!(out, PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES))?;
    if mouse {
        queue!(out, EnableMouseCapture)?;
    }
    out.flush()
}

/// Gives the terminal back. Harmless when it is not ours.
fn leave() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut out = io::stdout();
    let _ = queue!(
        out,
        EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        SetCursorStyle::DefaultUserShape,
        LeaveAlternateScreen,
        Show
    );
    let _ = out.flush();
    let _ = disable_raw_mode();
}

/// Gives the terminal back before a panic is reported, so that its message can be read.
fn restore_on_panic() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // A panic in a background task is reported in the conversation; the screen stays.
            if std::thread::current().name() == Some("main") {
                leave();
                report(info);
            }
        }));
    });
}
