//! Errors of the command line: a kind with an exit code, what happened, and what to do next.

use std::backtrace::Backtrace;

use serde_json::{Value, json};

use crate::domain::conversation::{Failure, FailureKind};
use crate::domain::ids::ProposalId;
use crate::proposal::Status;
use crate::proposal::apply::Conflict;
use crate::proposal::merge::Region;
use crate::workbench::init::InitError;
use crate::workbench::judge::{Blocker, Obstacle};
use crate::workbench::keys::KeyError;
use crate::workbench::look::{NotFound, SelectError};
use crate::workbench::out_file::OutError;
use crate::workbench::rename::{RenameError, RenameProblem};
use crate::workbench::{JudgeError, OpenError, ReadError, SessionError};

/// Most characters of one side, and most places, that an error quotes.
const MAX_SIDE: usize = 60;
const MAX_PLACES: usize = 3;

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The work failed.
    Work,
    /// It was asked for wrongly.
    Usage,
    /// Network, authentication, quota.
    Provider,
    /// The model still called tools after the last round.
    RoundLimit,
    /// No local tool was called where one was required.
    NoToolCall,
    /// The author stopped it.
    Cancelled,
}

impl Kind {
    pub(super) fn exit_code(self) -> u8 {
        match self {
            Self::Work => 1,
            Self::Usage => 2,
            Self::Provider => 3,
            Self::RoundLimit => 4,
            Self::NoToolCall => 5,
            Self::Cancelled => 130,
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Work => "work",
            Self::Usage => "usage",
            Self::Provider => "provider",
            Self::RoundLimit => "round_limit",
            Self::NoToolCall => "no_tool_call",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a verb did not do what was asked.
#[derive(Debug)]
pub(super) struct CliError {
    pub kind: Kind,
    pub message: String,
    pub hint: String,
    /// The cause as the program sees it, for `--debug`.
    pub details: String,
    pub backtrace: Box<Backtrace>,
    /// The result on standard output says it already.
    pub told: bool,
}

impl CliError {
    pub(super) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let backtrace = Box::new(Backtrace::capture());
        Self {
            kind,
            message: message.into(),
            hint: String::new(),
            details: String::new(),
            backtrace,
            told: false,
        }
    }

    /// Names the proposal in the hint.
    pub(super) fn about(self, id: &ProposalId) -> Self {
        Self { hint: self.hint.replace("ID", id.as_str()), ..self }
    }

    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// Takes an error whose words are its message, as a sentence.
    fn of(kind: Kind, error: &impl std::error::Error) -> Self {
        let message = sentence(&error.to_string());
        Self { details: format!("{error:?}"), ..Self::new(kind, message) }
    }

    /// Returns what `--json` shows.
    pub(super) fn to_json(&self) -> Value {
        json!({ "kind": self.kind.as_str(), "message": self.message, "hint": self.hint })
    }
}

/// Makes an error's words a sentence. A file name or id in front keeps its case.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    let first_word = words.split_whitespace().next().unwrap_or_default();
    let begin = match chars.next() {
        Some(first) if first_word.chars().all(|c| c.is_ascii_lowercase() || c == '\'') => {
            first.to_uppercase().chain(chars).collect()
        }
        _ => words.to_owned(),
    };
    if begin.ends_with(['.', '?', '!']) { begin } else { begin + "." }
}

impl From<&Failure> for CliError {
    fn from(failure: &Failure) -> Self {
        let kind = match failure.kind {
            FailureKind::Work => Kind::Work,
            FailureKind::Provider | FailureKind::Unreachable => Kind::Provider,
            FailureKind::RoundLimit => Kind::RoundLimit,
            FailureKind::NoToolCall => Kind::NoToolCall,
        };
        Self::new(kind, failure.message.clone()).hint(failure.hint.clone())
    }
}

impl From<Failure> for CliError {
    fn from(failure: Failure) -> Self {
        Self::from(&failure)
    }
}

impl From<OpenError> for CliError {
    fn from(error: OpenError) -> Self {
        let hint = match &error {
            OpenError::Read(ReadError::Folder { .. }) => "Name a book's folder with --project DIR.",
            OpenError::Read(ReadError::Settings { .. }) => "Correct it there, then try again.",
            OpenError::Config(_) => "Correct the settings, then try again.",
        };
        Self::of(Kind::Work, &error).hint(hint)
    }
}

impl From<JudgeError> for CliError {
    fn from(error: JudgeError) -> Self {
        let kind = match &error {
            JudgeError::Ambiguous { .. } => Kind::Usage,
            _ => Kind::Work,
        };
        let mut said = Self::of(kind, &error);
        if let JudgeError::Conflict(Conflict::Changed { regions, .. }) = &error {
            said.message += &sides(regions);
        }
        said.hint(judge_hint(&error))
    }
}

/// What to do about it. `ID` stands for the proposal's id.
fn judge_hint(error: &JudgeError) -> String {
    let hint = match error {
        JudgeError::Unknown(_) | JudgeError::NoLast { .. } => "`scritorio proposals list` lists them.",
        JudgeError::Ambiguous { .. } => "Give more of the id.",
        JudgeError::Conflict(Conflict::Changed { .. }) => {
            "`scritorio proposals show ID` shows both sides; `apply ID --mine` keeps your words there and the rest of the proposal, `--theirs` takes the proposed ones."
        }
        JudgeError::Conflict(Conflict::Nothing) => {
            "The files hold the change already, or you kept your own words: `scritorio proposals reject ID` puts it away."
        }
        JudgeError::Conflict(_) => {
            "`scritorio proposals show ID` shows it; ask again to get a proposal for the files as they are."
        }
        JudgeError::State { status, .. } => match status {
            Status::Applied => "Take it back first with `scritorio proposals undo ID`.",
            Status::Undone => "`scritorio proposals redo ID` writes it again.",
            Status::Pending => "It was not applied yet: `scritorio proposals apply ID` does so.",
            Status::Rejected | Status::Stale => "Ask again to get a new proposal.",
        },
        JudgeError::Io { .. } => {
            "Make the book's folder writable, see that the disk is not full, then try again."
        }
        JudgeError::Link { .. } => "Put the file itself in the place of the link, then try again.",
        JudgeError::ReadOnly { .. } => "Convert the file to UTF-8 and make it writable, then try again.",
        JudgeError::ChangedSince { .. } => "Try again: it is looked at anew.",
        JudgeError::InTheWay { blocker: Blocker::Proposals(ids), .. } => {
            let undo = |id: &ProposalId| format!("`scritorio proposals undo {id}`");
            let first: Vec<_> = ids.iter().map(undo).collect();
            return format!("Take that back first, in this order: {}.", first.join(", "));
        }
        JudgeError::InTheWay { blocker: Blocker::Author(obstacle), .. } => match obstacle {
            Obstacle::SameWords => {
                "Put the words back as they were, then try again; or edit the file by hand."
            }
            Obstacle::Edited => "Delete the file yourself if you want it gone.",
            Obstacle::Taken => "Move that file away, then try again.",
            Obstacle::Gone => "Bring the file back, then try again.",
        },
        _ => "",
    };
    hint.to_owned()
}

/// Both sides of the first few places that both changed.
fn sides(regions: &[Region]) -> String {
    let quoted = |words: &str| {
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        match words.char_indices().nth(MAX_SIDE) {
            _ if words.is_empty() => "nothing".to_owned(),
            Some((end, _)) => format!("\"{}...\"", &words[..end]),
            None => format!("\"{words}\""),
        }
    };
    let open: Vec<_> = regions.iter().filter_map(Region::open).collect();
    let mut out = String::new();
    for sides in open.iter().take(MAX_PLACES) {
        let (mine, theirs) = (quoted(&sides.mine), quoted(&sides.theirs));
        out += &format!("\n  line {}: yours is {mine}, proposed is {theirs}", sides.line);
    }
    if open.len() > MAX_PLACES {
        out += &format!("\n  and {} more", open.len() - MAX_PLACES);
    }
    out
}

impl From<NotFound> for CliError {
    fn from(error: NotFound) -> Self {
        let hint = if error.near.is_empty() {
            "`scritorio manuscript list` and `scritorio codex list` show what there is.".to_owned()
        } else {
            format!("Near to that: {}.", error.near.join(", "))
        };
        Self::of(Kind::Work, &error).hint(hint)
    }
}

impl From<SelectError> for CliError {
    fn from(error: SelectError) -> Self {
        match error {
            SelectError::NotFound(error) => error.into(),
            error @ SelectError::Range { .. } => Self::of(Kind::Usage, &error)
                .hint("Offsets count bytes from the first one of the file, and fall between characters."),
            error @ SelectError::Nowhere => {
                Self::of(Kind::Usage, &error).hint("Give the words exactly, or use --select FILE:START-END.")
            }
        }
    }
}

impl From<RenameProblem> for CliError {
    fn from(error: RenameProblem) -> Self {
        let again = "Try again: the book is read anew each time.";
        match error {
            RenameProblem::Names(RenameError::Nowhere { old, near }) => {
                let hint = if near.is_empty() {
                    String::new()
                } else {
                    format!("Near to that: {}.", near.join(", "))
                };
                Self::new(Kind::Work, format!("`{old}` stands nowhere in the book.")).hint(hint)
            }
            RenameProblem::Names(error) => {
                Self::of(Kind::Usage, &error).hint("The verb is `scritorio rename OLD NEW`.")
            }
            RenameProblem::Open(error) => error.into(),
            RenameProblem::Judge(error) => error.into(),
            error @ (RenameProblem::NoPlace { .. } | RenameProblem::Changed { .. }) => {
                Self::of(Kind::Work, &error).hint(again)
            }
            error @ RenameProblem::Nothing => Self::of(Kind::Work, &error)
                .hint("Without --apply all places are listed; --include ID or --all takes more in."),
            error @ RenameProblem::Exemptions(_) => {
                Self::of(Kind::Work, &error).hint("Correct or delete the file, then try again.")
            }
            error @ RenameProblem::Queue(_) => {
                Self::of(Kind::Work, &error).hint("Make the book's folder writable, then try again.")
            }
        }
    }
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        let list = "`scritorio sessions list` lists them.";
        let (kind, hint) = match &error {
            SessionError::Unknown(_) => (Kind::Work, list),
            SessionError::NoneDeleted => {
                (Kind::Work, "`scritorio sessions list` lists those that are there.")
            }
            SessionError::None => (Kind::Work, "`scritorio ask` starts one."),
            SessionError::Ambiguous { .. } => (Kind::Usage, "Give more of the id."),
            SessionError::NoQuestion { .. } => (Kind::Work, "`scritorio sessions show ID` numbers them."),
            SessionError::Later(_) => (Kind::Work, "Update Scritorio to read it. Its file stays as it is."),
            SessionError::Damaged(_) => (Kind::Work, "Put its file back from a backup."),
            SessionError::NoTitle => (Kind::Usage, "Give a name with a letter in it."),
            SessionError::Out(error) => (Kind::Work, out_hint(error)),
            SessionError::Io { .. } => (
                Kind::Work,
                "See that it is there, that the folder is writable and the disk not full, then try again.",
            ),
        };
        Self::of(kind, &error).hint(hint)
    }
}

/// What to do about a file that was not written.
fn out_hint(error: &OutError) -> &'static str {
    match error {
        OutError::Exists(_) => "Name another file, or write over it with --force.",
        OutError::Io { .. } => "Name a file in a folder that exists and can be written to.",
    }
}

impl From<OutError> for CliError {
    fn from(error: OutError) -> Self {
        Self::of(Kind::Work, &error).hint(out_hint(&error))
    }
}

impl From<InitError> for CliError {
    fn from(error: InitError) -> Self {
        Self::of(Kind::Work, &error)
    }
}

impl From<KeyError> for CliError {
    fn from(error: KeyError) -> Self {
        Self::of(Kind::Work, &error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_reads_as_a_sentence() {
        assert_eq!(sentence("can't read x"), "Can't read x.");
        assert_eq!(sentence("config.toml:1:2: wrong"), "config.toml:1:2: wrong.");
        assert_eq!(sentence("a/b.md has changed"), "a/b.md has changed.");
        assert_eq!(sentence(""), ".");
    }
}
