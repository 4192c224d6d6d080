//! Reading a secret from the terminal without showing it.

use std::io::{self, Write};

use crossterm::event::{Event, KeyCode, KeyEventKind, KeyModifiers, read as next_event};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};

/// Gives the terminal its own mode back, however reading ends.
struct Raw;

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = disable_raw_mode();
        let _ = writeln!(io::stderr());
    }
}

/// Asks on standard error and reads one line. `None`: the author thought better of it.
pub(super) fn read(question: &str) -> io::Result<Option<String>> {
    write!(io::stderr(), "{question}")?;
    io::stderr().flush()?;
    enable_raw_mode()?;
    let _raw = Raw;
    let mut line = String::new();
    loop {
        let Event::Key(key) = next_event()? else { continue };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return Ok(Some(line)),
            KeyCode::Esc => return Ok(None),
            KeyCode::Char('c' | 'd') if control => return Ok(None),
            KeyCode::Char('u') if control => line.clear(),
            KeyCode::Backspace => {
                line.pop();
            }
            KeyCode::Char(c) if !control => line.push(c),
            _ => {}
        }
    }
}
