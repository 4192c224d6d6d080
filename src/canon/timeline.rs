//! The story in the order of its time: chapters, events, progressions, births and deaths; where it has gaps, and where it contradicts itself.
//!
//! Pure functions over a book. What can't be compared is not evaluated and says so: a free date is never put before or after another, and being
//! mentioned is not being there.

mod dates;
mod gaps;
mod presence;
mod rows;
mod text;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

pub use rows::rows;

/// A book's timeline.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// Everything that has a time, in its order; what has none that can be ordered comes last.
    pub rows: Vec<Row>,
    /// Where time is missing.
    pub gaps: Vec<Finding>,
    /// Where times disagree.
    pub conflicts: Vec<Finding>,
    /// What became of each rule.
    pub rules: Vec<Rule>,
}

/// Something that has a time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// The chapter's title, the entry's name, or the words of the line in it that has the date.
    pub title: String,
    /// The type of the entry.
    #[serde(rename = "type")]
    pub entry_type: Option<EntryType>,
    /// The file that says so.
    pub path: BookPath,
    /// Line of that file, from 1.
    pub line: usize,
    /// Number of the chapter that it belongs to.
    pub chapter: Option<u32>,
    /// The date as it is written.
    pub date: Option<String>,
    /// The first day of that date, ISO.
    pub from: Option<String>,
    /// The last day of that date, ISO.
    pub to: Option<String>,
    /// What gave it its place in the order.
    pub placed: Placed,
    /// A chapter out of the order of time on purpose.
    pub out_of_order: bool,
    /// What holds from there on, of a progression.
    pub facts: Map<String, Value>,
}

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A character is born.
    Birth,
    /// A place or an organization begins.
    Founding,
    /// A chapter.
    Chapter,
    /// An event of the Codex.
    Event,
    /// Something changes for an entry.
    Progression,
    /// A character dies.
    Death,
}

impl Kind {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Birth => "birth",
            Self::Founding => "founding",
            Self::Chapter => "chapter",
            Self::Event => "event",
            Self::Progression => "progression",
            Self::Death => "death",
        }
    }
}

/// What gives a row its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placed {
    /// Its own date.
    Date,
    /// The chapter that it is, or belongs to.
    Chapter,
    /// A number under `order`, among others that have one.
    Order,
    /// Nothing: it stands at the end.
    None,
}

/// Something that a rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// Always [`Verdict::Found`].
    pub verdict: Verdict,
    /// The file.
    pub path: BookPath,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// Where the other side of it stands.
    pub related: Vec<Place>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file.
    pub path: BookPath,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Two things that the author wrote exclude each other.
    Error,
    /// They very likely do.
    Warning,
    /// Something to look at.
    Hint,
}

impl Severity {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// The rule.
    pub rule: &'static str,
    /// What it came to.
    pub verdict: Verdict,
    /// What was compared, and what could not be.
    pub message: String,
}

/// What a rule came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It found something.
    Found,
    /// Everything that it could compare fits.
    Clean,
    /// There was nothing that it could compare.
    NotEvaluated,
}

impl Verdict {
    /// Returns it in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Clean => "clean",
            Self::NotEvaluated => "not evaluated",
        }
    }
}

impl Timeline {
    /// Puts everything in order and looks for gaps and conflicts.
    pub fn of(book: &Book) -> Self {
        let mut timeline = Self { rows: rows(book), ..Self::default() };
        for checked in [gaps::long_stretches(book, &timeline.rows), gaps::chapters_without_date(book)] {
            timeline.gaps.extend(checked.found);
            timeline.rules.push(checked.rule);
        }
        for checked in [
            dates::chapters_run_backwards(book),
            dates::events_and_their_chapters(book),
            dates::events_with_two_dates(book),
            dates::progressions_with_two_times(book),
            presence::after_death_or_before_birth(book),
        ] {
            timeline.conflicts.extend(checked.found);
            timeline.rules.push(checked.rule);
        }
        timeline
    }
}

/// What a rule found, and what became of it.
struct Checked {
    found: Vec<Finding>,
    rule: Rule,
}

impl Checked {
    /// `compared` says how many comparisons were made; `what` names them, one and several; `left_out` says what could not be compared.
    fn new(
        rule: &'static str,
        found: Vec<Finding>,
        compared: usize,
        (one, several): (&str, &str),
        left_out: Option<String>,
    ) -> Self {
        let verdict = match (found.is_empty(), compared) {
            (false, _) => Verdict::Found,
            (true, 0) => Verdict::NotEvaluated,
            (true, _) => Verdict::Clean,
        };
        let mut message = match compared {
            0 => format!("There are no {several} to compare."),
            1 => format!("1 {one} compared."),
            n => format!("{n} {several} compared."),
        };
        if let Some(left_out) = left_out {
            message.push(' ');
            message.push_str(&left_out);
        }
        Self { found, rule: Rule { rule, verdict, message } }
    }
}

impl Place {
    fn at(path: &BookPath, line: usize) -> Self {
        Self { path: path.clone(), line, column: 1 }
    }
}

fn finding(
    rule: &'static str,
    severity: Severity,
    at: Place,
    message: String,
    related: Vec<Place>,
) -> Finding {
    let Place { path, line, column } = at;
    Finding { rule, severity, verdict: Verdict::Found, path, line, column, message, related }
}

#[cfg(test)]
mod tests;
