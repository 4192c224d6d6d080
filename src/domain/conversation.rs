//! What was said in a conversation, as it is kept on disk and shown on screen.
//!
//! The types are persisted, so fields may be added (with a default), never renamed. They hold metadata about
//! what was read, never the prose itself, except for what the author asked and the persona answered.

use serde::{Deserialize, Serialize};

use super::ids::{BookPath, CallId, ProposalId, TurnId};
pub use super::usage::Usage;

/// One question and everything that came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Identity; late events of a cancelled turn are told apart by it.
    pub id: TurnId,
    /// When it was asked, RFC 3339 in UTC.
    pub asked_at: String,
    /// Id of the board member that was asked.
    pub persona: String,
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// What the author asked.
    pub question: String,
    /// The captured selection, without its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionMeta>,
    /// Up to where the board member could read, if it read blind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_to: Option<ReadTo>,
    /// The turn that this one takes the place of: the author edited its question, or asked it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<TurnId>,
    /// What the author was told of how it went: what was left out, what was sent in another way, what was not kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// The tool calls, in the order in which they ran.
    #[serde(default)]
    pub tools: Vec<ToolRecord>,
    /// What the persona answered, with its locate markers as sent.
    #[serde(default)]
    pub answer: String,
    /// What is missing from the answer of a turn that is done; its last line says why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lacks: Option<Lack>,
    /// The quotations in the answer, checked against the book.
    #[serde(default)]
    pub quotes: Vec<Quote>,
    /// Changes that were proposed in this turn.
    #[serde(default)]
    pub proposals: Vec<ProposalId>,
    /// Where the turn stands.
    pub status: TurnStatus,
    /// Rounds of tool calls used.
    #[serde(default)]
    pub rounds: u32,
    /// Tier that the server said it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Tier that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_asked: Option<String>,
    /// Tokens and cost, as the server told them or as they were estimated.
    #[serde(default)]
    pub usage: Usage,
    /// Id of the last response, where the server keeps state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_id: Option<String>,
}

/// The last line of an answer that is whole, and came without the look that was asked for.
pub const NOT_LOOKED_UP: &str = "[answered without looking anything up]";

impl Turn {
    /// What came of it, so that it may take the place of another.
    pub fn worth(&self) -> Worth {
        match self.status {
            TurnStatus::Done => Worth::of_done(self.lacks),
            TurnStatus::Cancelled => Worth::of_stopped(&self.answer),
            TurnStatus::Running | TurnStatus::Failed(_) => Worth::Nothing,
        }
    }

    /// Whether anything came of it that can be read.
    pub fn is_answered(&self) -> bool {
        self.worth() > Worth::Nothing
    }

    /// Why the answer breaks off in the middle, in words for whoever reads it later; `None` where it is whole, or where there is none.
    pub fn cut_off(&self) -> Option<&'static str> {
        match self.status {
            _ if self.answer.trim().is_empty() || self.answer.ends_with(NOT_LOOKED_UP) => None,
            TurnStatus::Done => None,
            TurnStatus::Cancelled => Some("The answer breaks off here: it was stopped."),
            TurnStatus::Failed(_) => Some("The answer breaks off here: the rest never arrived."),
            TurnStatus::Running => Some("The answer breaks off here: the program ended."),
        }
    }

    /// Says which tier was asked for and which was given, where they differ: `flex asked, default given`.
    pub fn tiers_that_differ(&self) -> Option<String> {
        tiers_that_differ(self.tier_asked.as_deref(), self.tier.as_deref())
    }
}

/// What came of a turn. One that was asked again leaves the conversation only for a turn that is worth as much or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Worth {
    /// No answer, or one that broke off by itself.
    Nothing,
    /// The beginning of an answer, which the author stopped or the server cut.
    Part,
    /// An answer.
    Whole,
}

/// What is missing from an answer that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lack {
    /// All of it: the server gave no words.
    Words,
    /// What should follow: the server cut it, or gave no words after its tools had answered.
    Rest,
}

impl Worth {
    /// What a turn is worth that is done.
    pub fn of_done(lacks: Option<Lack>) -> Self {
        match lacks {
            None => Self::Whole,
            Some(Lack::Rest) => Self::Part,
            Some(Lack::Words) => Self::Nothing,
        }
    }

    /// What a turn is worth that was stopped after these words.
    pub fn of_stopped(answer: &str) -> Self {
        if answer.trim().is_empty() { Self::Nothing } else { Self::Part }
    }
}

/// Says which tier was asked for and which was given, where they differ. `auto` asks for none, and `fast` is another name of `priority`.
pub fn tiers_that_differ(asked: Option<&str>, given: Option<&str>) -> Option<String> {
    let same_name = |tier: &str| if tier == "fast" { "priority".to_owned() } else { tier.to_owned() };
    let (asked, given) = (same_name(asked.filter(|tier| *tier != "auto")?), same_name(given?));
    (asked != given).then(|| format!("{asked} asked, {given} given"))
}

/// Up to where a board member reads that reads blind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadTo {
    /// The last chapter that it reads; `None` where the book has none.
    pub path: Option<BookPath>,
    /// That chapter's number.
    pub number: Option<u32>,
    /// That chapter's title.
    pub title: String,
    /// No chapter was open, so that it is the first one.
    pub assumed: bool,
}

impl std::fmt::Display for ReadTo {
    /// Writes `up to chapter 5, "Turnover"`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(number) = self.number else { return f.write_str("and the book has no chapter yet") };
        write!(f, "up to chapter {number}, \"{}\"", self.title)?;
        if self.assumed { f.write_str(" (no chapter is open)") } else { Ok(()) }
    }
}

/// Where a turn stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum TurnStatus {
    /// Not finished: running now, or cut off by the end of the program.
    Running,
    /// Answered.
    Done,
    /// The author stopped it; what had arrived is kept.
    Cancelled,
    /// It could not be finished; what had arrived is kept.
    Failed(Failure),
}

/// Why a turn failed, in words for the author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Which exit code and which advice it is.
    pub kind: FailureKind,
    /// What happened, to what.
    pub message: String,
    /// What to do next.
    pub hint: String,
}

/// Kinds of failure, each with its own exit code on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The work itself failed: exit code 1.
    Work,
    /// Network, authentication, quota, a broken answer: exit code 3.
    Provider,
    /// The server was never reached, so that only the offline reader can answer: exit code 3.
    Unreachable,
    /// The model still called tools after the last round: exit code 4.
    RoundLimit,
    /// No local tool was called where one was required: exit code 5.
    NoToolCall,
}

/// One tool call: a row in the conversation and a line of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRecord {
    /// Which call.
    pub call_id: CallId,
    /// Which tool.
    pub name: String,
    /// Its arguments, shortened to one line.
    pub arguments: String,
    /// How far it is.
    pub status: ToolStatus,
    /// Files that it resolved to.
    #[serde(default)]
    pub resolved: Vec<BookPath>,
    /// Title or name of the first thing found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Type of the first thing found, e.g. `character` or `chapter`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Number of results.
    #[serde(default)]
    pub results: usize,
    /// Words of prose returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<usize>,
    /// Something asked for was not found.
    #[serde(default)]
    pub missing: bool,
    /// Something was cut to fit the limits.
    #[serde(default)]
    pub truncated: bool,
    /// The program ran it because a forced choice was not honoured.
    #[serde(default)]
    pub forced: bool,
    /// How long it took, in milliseconds.
    #[serde(default)]
    pub ms: u64,
    /// What went wrong, for a failed call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// The model asked for it; an earlier call runs first, or its arguments still arrive.
    Queued,
    /// It runs.
    Running,
    /// It answered.
    Done,
    /// It answered with an error.
    Failed,
    /// The author stopped the turn before it answered.
    Cancelled,
}

/// What is told about a captured selection: never its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelectionMeta {
    /// File that it was taken from.
    pub path: BookPath,
    /// Title of that file.
    pub title: String,
    /// Words in the file.
    pub source_words: usize,
    /// Words in the selection.
    pub words: usize,
    /// SHA-256 of the selected text, lowercase hex.
    pub hash: String,
}

/// A quotation in an answer, and whether the book holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quote {
    /// The quoted words.
    pub text: String,
    /// Whether a locate marker stood behind it.
    pub marked: bool,
    /// Which part of the book holds it.
    pub source: QuoteSource,
    /// How it compares with the book.
    pub verdict: Verdict,
    /// The file that holds it.
    pub path: Option<BookPath>,
    /// Byte offset in that file where it starts.
    pub start: Option<usize>,
    /// Byte offset in that file where it ends.
    pub end: Option<usize>,
}

/// Which part of the book holds a quotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuoteSource {
    /// A chapter.
    Manuscript,
    /// A Codex entry.
    Codex,
    /// A note.
    Note,
}

/// How a quotation compares with the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Character for character.
    Exact,
    /// The same words; quotes, dashes, spaces or emphasis differ.
    Variant,
    /// It stands elsewhere than in what was open or read.
    Moved,
    /// It stands in several places; the nearest is given.
    Ambiguous,
    /// It stands nowhere.
    Missing,
}
