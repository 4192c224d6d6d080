//! Takes the terminal over and gives it back: on exit, on a panic, on a signal, and around a suspend.

use std::io::{self, Write};
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

/// The terminal with a write buffer, so that a frame is one write.
pub(super) type Screen = Terminal<CrosstermBackend<io::BufWriter<io::Stdout>>>;

/// The terminal while it is ours. Dropping it gives it back.
pub(super) struct Guard {
    pub(super) screen: Screen,
    mouse: bool,
}

impl Guard {
    /// Takes the terminal over.
    pub(super) fn take(mouse: bool) -> io::Result<Self> {
        restore_on_panic();
        enter(mouse)?;
        Ok(Self { screen: screen()?, mouse })
    }

    /// Draws one frame inside a synchronised update. Returns the size that the screen had.
    pub(super) fn draw(&mut self, view: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<Rect> {
        queue!(self.screen.backend_mut(), BeginSynchronizedUpdate)?;
        let area = self.screen.draw(view)?.area;
        execute!(self.screen.backend_mut(), EndSynchronizedUpdate)?;
        Ok(area)
    }

    /// Sends bytes that are a terminal command of our own, such as OSC 52.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let out = self.screen.backend_mut();
        out.write_all(bytes)?;
        io::Write::flush(out)
    }

    /// Reports mouse events to us, or leaves the mouse to the terminal.
    pub(super) fn set_mouse(&mut self, on: bool) -> io::Result<()> {
        self.mouse = on;
        if on {
            execute!(self.screen.backend_mut(), EnableMouseCapture)
        } else {
            execute!(self.screen.backend_mut(), DisableMouseCapture)
        }
    }

    /// Gives the terminal back, runs `meanwhile`, and takes it over again.
    pub(super) fn aside(&mut self, meanwhile: impl FnOnce()) -> io::Result<()> {
        leave();
        meanwhile();
        enter(self.mouse)?;
        // `Terminal::clear` would ask where the cursor is, and the answer would go to the thread that reads the keys.
        execute!(self.screen.backend_mut(), Clear(ClearType::All))?;
        self.screen = screen()?;
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        leave();
    }
}

/// A screen of which nothing is drawn yet.
fn screen() -> io::Result<Screen> {
    Terminal::new(CrosstermBackend::new(io::BufWriter::with_capacity(64 * 1024, io::stdout())))
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
