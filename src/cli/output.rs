//! Standard output and standard error.
//!
//! Text from files, models and servers reaches a terminal only with its control characters made visible, also inside JSON. Whoever reads and
//! has closed the pipe wants no more: that is no error.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use crate::domain::safe_text;
use crate::workbench::Workbench;

use super::error::{CliError, Kind};

/// Prints the one JSON document of a verb.
pub(super) fn document(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|e| broken(&e))?;
    raw(&visible(&text))
}

/// Prints the body of a request: on a terminal laid out for reading, elsewhere byte for byte as it is sent.
pub(super) fn body(value: &serde_json::Value) -> Result<(), CliError> {
    if io::stdout().is_terminal() {
        return document(value);
    }
    written(&value.to_string(), "")
}

/// Says that another window has the book open, before a file of the book is changed: what is not saved there is not known here.
pub(super) fn warn_of_other_window(workbench: &Workbench) {
    if let Ok(Some(holder)) = workbench.writer() {
        progress(&format!(
            "This book is open in another window (process {}). What is not saved there is not seen here; where it is in a file that changes now, that window asks which words to keep when it saves.",
            holder.pid
        ));
    }
}

/// Prints one JSON line of a stream.
pub(super) fn line(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string(value).map_err(|e| broken(&e))?;
    raw(&visible(&text))
}

/// Prints text for people: an answer, a report.
pub(super) fn text(text: &str) -> Result<(), CliError> {
    raw(&safe_text::block(text))
}

/// Prints the author's own text, of a file. Into a pipe it goes byte for byte.
pub(super) fn file(text: &str) -> Result<(), CliError> {
    if io::stdout().is_terminal() { raw(&safe_text::block(text)) } else { raw(text) }
}

/// Prints what the parser of arguments says. It quotes the arguments, which may hold anything: then without its colors.
pub(super) fn usage(error: &clap::Error) {
    let is_obeyed = |argument: std::ffi::OsString| {
        argument.to_string_lossy().chars().any(|c| safe_text::symbol(c).is_some())
    };
    if std::env::args_os().any(is_obeyed) {
        let _ = writeln!(io::stderr(), "{}", safe_text::block(error.render().to_string().trim_end()));
    } else {
        let _ = error.print();
    }
}

/// Prints the table of a search; where nothing was found, says so beside it.
pub(super) fn found(rows: &[Vec<String>]) -> Result<(), CliError> {
    if rows.is_empty() {
        progress("Nothing was found.");
    }
    table(rows)
}

/// Prints a table for people: columns are as wide as their longest cell.
pub(super) fn table(rows: &[Vec<String>]) -> Result<(), CliError> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |n: usize| rows.iter().filter_map(|r| r.get(n)).map(|c| c.chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let last = row.len().saturating_sub(1);
        for (n, cell) in row.iter().enumerate() {
            let cell = safe_text::line(cell);
            let _ = if n == last { writeln!(out, "{cell}") } else { write!(out, "{cell:0$}  ", widths[n]) };
        }
    }
    if out.is_empty() { Ok(()) } else { raw(out.trim_end()) }
}

/// Says what went wrong, and returns the exit code.
pub(super) fn fail(error: &CliError, json: bool, debug: bool) -> ExitCode {
    let say = |words: &str| {
        if !words.is_empty() {
            let _ = writeln!(io::stderr(), "{}", safe_text::block(words));
        }
    };
    if json && !error.told {
        let _ = document(&json!({ "error": error.to_json() }));
    }
    if !json {
        say(&error.message);
        say(&error.hint);
    }
    if debug {
        say(&error.details);
    }
    if error.backtrace.status() == std::backtrace::BacktraceStatus::Captured {
        say(&error.backtrace.to_string());
    }
    ExitCode::from(error.kind.exit_code())
}

/// Says on standard error how the work goes on.
pub(super) fn progress(words: &str) {
    let _ = writeln!(io::stderr(), "{}", safe_text::line(words));
}

fn raw(text: &str) -> Result<(), CliError> {
    written(text, if text.ends_with('\n') { "" } else { "\n" })
}

fn written(text: &str, end: &str) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(end.as_bytes()));
    match written.and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::new(Kind::Work, format!("The result can't be written: {e}.")))
        }
        _ => Ok(()),
    }
}

/// Escapes inside JSON what a terminal would obey and JSON allows.
fn visible(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || safe_text::symbol(c).is_none() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

fn broken(error: &serde_json::Error) -> CliError {
    CliError::new(Kind::Work, format!("The result can't be put into JSON: {error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_the_same_value_without_anything_that_a_terminal_obeys() {
        let value = json!({ "a": "\u{1b}[31m\u{9b}x\u{202e}\u{e0041}\n", "b": ["é", 1] });
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let shown = visible(&text);
            assert!(!shown.chars().any(|c| c != '\n' && safe_text::symbol(c).is_some()), "{shown}");
            assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
        }
    }
}
