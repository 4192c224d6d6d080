//! A conversation for reading elsewhere: as Markdown for people, as JSON for programs.
//!
//! Both are made of what was kept, so that a quotation is marked as it was found then. No key and no absolute path is in either.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::agent::grounding::hide_markers;
use crate::domain::conversation::{Quote, ToolRecord, ToolStatus, Turn, TurnStatus, Usage, Verdict};
use crate::domain::ids::{BookPath, ProposalId, SessionId};
use crate::domain::safe_text;
use crate::persona::board;
use crate::proposal::{Proposal, Status};
use crate::store::proposals::{self, Queued};
use crate::store::sessions::{self, Kept, Summary};

use super::super::Workbench;
use super::SessionError;

/// In which form a conversation is handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Markdown,
    /// For programs.
    Json,
}

/// A conversation with everything that came of it.
#[derive(Debug, Clone)]
pub struct Transcript {
    /// The name of the book.
    pub book: String,
    /// What a list shows of it.
    pub summary: Summary,
    /// Its turns, oldest first.
    pub turns: Vec<Turn>,
    /// Turns that others have taken the place of, oldest first.
    pub replaced: Vec<Turn>,
    /// The proposals that were made in any of them.
    proposals: Vec<Queued>,
}

impl Workbench {
    /// Reads a conversation for reading elsewhere.
    pub fn transcript(&self, session: &SessionId) -> Result<Transcript, SessionError> {
        let summary = self.conversation(session)?;
        let found = sessions::read(self.root(), session)
            .map_err(SessionError::io(format!("the conversation {session} can't be read")))?;
        let turns = |all: Vec<Kept>| -> Vec<Turn> { all.into_iter().map(|kept| kept.turn).collect() };
        let (turns, replaced) = (turns(found.turns), turns(found.replaced));
        let mut proposals = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
        let made = |id: &ProposalId| turns.iter().chain(&replaced).any(|turn| turn.proposals.contains(id));
        proposals.retain(|queued| made(&queued.proposal.id));
        let book = self.book().title().to_owned();
        Ok(Transcript { book, summary, turns, replaced, proposals })
    }
}

/// Returns a proposal as JSON output shows it.
pub fn proposal_json(proposal: &Proposal, status: Status) -> Value {
    json!({
        "id": proposal.id,
        "tool": proposal.tool,
        "entry_type": proposal.subject,
        "entry": proposal.entry,
        "path": proposal.path(),
        "summary": proposal.summary,
        "warnings": proposal.warnings,
        "status": status,
        "edited": proposal.edited,
    })
}

impl Transcript {
    /// Writes it down.
    pub fn written(&self, format: Format) -> String {
        match format {
            Format::Markdown => self.markdown(),
            Format::Json => format!("{:#}\n", self.json()),
        }
    }

    /// Returns all of it as JSON: what a list shows, then the turns with the names that `ask` gives their parts.
    pub fn json(&self) -> Value {
        let mut value = json!(self.summary);
        value["turns"] = self.turns.iter().map(|turn| self.turn_json(turn)).collect();
        value["replaced"] = self.replaced.iter().map(|turn| self.turn_json(turn)).collect();
        value
    }

    fn turn_json(&self, turn: &Turn) -> Value {
        let (state, error) = match &turn.status {
            TurnStatus::Running => ("running", None),
            TurnStatus::Done => ("done", None),
            TurnStatus::Cancelled => ("cancelled", None),
            TurnStatus::Failed(failure) => ("failed", Some(failure)),
        };
        let proposals: Vec<Value> = self
            .proposals_of(turn)
            .map(|queued| {
                let mut value = proposal_json(&queued.proposal, queued.status);
                value["why"] = json!(queued.why);
                value
            })
            .collect();
        json!({
            "turn": turn.id,
            "asked_at": turn.asked_at,
            "persona": turn.persona,
            "read_to": turn.read_to,
            "provider": turn.provider,
            "model": turn.model,
            "tier": turn.tier,
            "question": turn.question,
            "selection": turn.selection,
            "answer": hide_markers(&turn.answer),
            "rounds": turn.rounds,
            "notices": turn.notices,
            "tools": turn.tools,
            "proposals": proposals,
            "quotes": turn.quotes,
            "usage": turn.usage,
            "status": state,
            "error": error,
            "replaces": turn.replaces,
        })
    }

    fn proposals_of<'a>(&'a self, turn: &'a Turn) -> impl Iterator<Item = &'a Queued> {
        turn.proposals.iter().filter_map(|id| self.proposals.iter().find(|queued| queued.proposal.id == *id))
    }

    /// Returns it as Markdown, by the clock on the author's wall.
    pub fn markdown(&self) -> String {
        self.markdown_in(&TimeZone::system())
    }

    fn markdown_in(&self, zone: &TimeZone) -> String {
        let summary = &self.summary;
        let mut out = format!("# {}\n\n", summary.title);
        let mut about = vec![
            format!("Book: {}", self.book),
            format!("Conversation: {}", summary.session),
            format!("Begun: {}", when(&summary.started_at, zone)),
            format!("Questions: {}", summary.questions),
        ];
        if let Some(origin) = &summary.forked_from {
            about.push(format!("Forked from: {}", origin.session));
        }
        about.extend(spent(summary.usage).map(|spent| format!("Used: {spent}")));
        for line in about {
            let _ = writeln!(out, "- {line}");
        }
        for (number, turn) in self.turns.iter().enumerate() {
            self.turn_markdown(turn, number + 1, zone, &mut out);
        }
        safe_text::block(&out).into_owned()
    }

    fn turn_markdown(&self, turn: &Turn, number: usize, zone: &TimeZone, out: &mut String) {
        let _ = writeln!(out, "\n## {number}. Question, {}\n", when(&turn.asked_at, zone));
        for line in turn.question.lines() {
            let _ = writeln!(out, "{}", format!("> {line}").trim_end());
        }
        if let Some(selection) = &turn.selection {
            let _ =
                writeln!(out, "\nWith a selection of {} words from `{}`.", selection.words, selection.path);
        }
        let member = board::member(Some(&turn.persona));
        let by = if turn.provider == turn.model || turn.model.is_empty() {
            turn.provider.clone()
        } else {
            format!("{}, {}", turn.provider, turn.model)
        };
        let tier = turn.tier.as_deref().map(|tier| format!(", {tier}")).unwrap_or_default();
        let _ = writeln!(out, "\n### {} ({by}{tier})", member.name);
        if let Some(read_to) = &turn.read_to {
            let _ = writeln!(out, "\nRead blind, {read_to}.");
        }
        for notice in &turn.notices {
            let _ = writeln!(out, "\n({notice})");
        }
        list(out, "Looked up:", turn.tools.iter().map(tool));
        let answer = hide_markers(&turn.answer);
        if !answer.trim().is_empty() {
            let _ = writeln!(out, "\n{}", lowered(answer.trim()));
        }
        if let Some(why) = turn.cut_off() {
            let _ = writeln!(out, "\n({why})");
        }
        list(out, "Quotations:", turn.quotes.iter().filter(|q| shows(q)).map(quote));
        list(out, "Proposals:", self.proposals_of(turn).map(proposal));
        match &turn.status {
            TurnStatus::Done => {}
            TurnStatus::Running => out.push_str("\nCut off before it had ended.\n"),
            TurnStatus::Cancelled => out.push_str("\nStopped by the author; what had arrived is above.\n"),
            TurnStatus::Failed(failure) => {
                let _ = writeln!(out, "\nFailed: {}", failure.message);
            }
        }
        if let Some(spent) = spent(turn.usage) {
            let _ = writeln!(out, "\n*{spent}*");
        }
    }
}

/// Writes a list under its heading, unless it is empty.
fn list(out: &mut String, heading: &str, items: impl Iterator<Item = String>) {
    let items: Vec<String> = items.collect();
    if !items.is_empty() {
        let _ = writeln!(out, "\n**{heading}**\n");
        for item in items {
            let _ = writeln!(out, "- {}", item.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
}

fn tool(record: &ToolRecord) -> String {
    let mut line = format!("`{}`", record.name);
    if !record.arguments.is_empty() && record.arguments != "{}" {
        let _ = write!(line, " `{}`", record.arguments.replace('`', "'"));
    }
    match record.status {
        ToolStatus::Done => {
            let paths: Vec<String> = record.resolved.iter().map(|path| format!("`{path}`")).collect();
            let read = if paths.is_empty() { "nothing".to_owned() } else { paths.join(", ") };
            let results = if record.results == 1 { "result" } else { "results" };
            let _ = write!(line, ": {read} ({} {results})", record.results);
        }
        ToolStatus::Failed => {
            let _ = write!(line, ": failed, {}", record.error.as_deref().unwrap_or("for no known reason"));
        }
        ToolStatus::Cancelled => line.push_str(": cancelled"),
        ToolStatus::Queued | ToolStatus::Running => line.push_str(": not answered"),
    }
    if record.forced {
        line.push_str(", run by the program");
    }
    line
}

/// A quotation without a marker that stands nowhere may be a suggested rewrite, and bears no mark.
fn shows(quote: &Quote) -> bool {
    quote.marked || quote.verdict != Verdict::Missing
}

fn quote(quote: &Quote) -> String {
    let place = quote.path.as_ref().map_or("the book", BookPath::as_str);
    let mark = match quote.verdict {
        Verdict::Exact => format!("in `{place}`"),
        Verdict::Variant => format!("in `{place}`, written a little differently"),
        Verdict::Moved => format!("in `{place}`, elsewhere than what was read"),
        Verdict::Ambiguous => format!("in several places, `{place}` among them"),
        Verdict::Missing => "**not in the book**".to_owned(),
    };
    format!("\"{}\": {mark}", quote.text)
}

fn proposal(queued: &Queued) -> String {
    let path = queued.proposal.path().map_or("", BookPath::as_str);
    let edited = if queued.proposal.edited { ", edited by the author" } else { "" };
    let why = queued.why.as_deref().map(str::trim).filter(|why| !why.is_empty());
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{}, `{path}`: {}{edited}{why}", queued.proposal.summary, queued.status.as_str())
}

/// Tokens and cost in words, as far as they are known.
fn spent(usage: Usage) -> Option<String> {
    let tokens = |count: Option<u64>, what: &str| count.map(|n| format!("{n} tokens {what}"));
    let cost = usage.cost.map(|cost| format!("${cost:.4}"));
    let parts: Vec<String> = [tokens(usage.input_tokens, "in"), tokens(usage.output_tokens, "out"), cost]
        .into_iter()
        .flatten()
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn when(stored: &str, zone: &TimeZone) -> String {
    match stored.parse::<Timestamp>() {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%-d %B %Y at %H:%M").to_string(),
        Err(_) => "at an unknown time".to_owned(),
    }
}

/// Moves the headings of an answer below those of the transcript. What stands in a fence is no heading.
fn lowered(answer: &str) -> String {
    let mut out = String::with_capacity(answer.len() + 16);
    let mut fence: Option<char> = None;
    for line in answer.split_inclusive('\n') {
        let start = line.trim_start();
        let opens = ['`', '~'].into_iter().find(|c| start.starts_with(&c.to_string().repeat(3)));
        match (fence, opens) {
            (None, Some(c)) => fence = Some(c),
            (Some(open), Some(c)) if open == c => fence = None,
            _ => {}
        }
        let level = start.len() - start.trim_start_matches('#').len();
        let is_heading =
            fence.is_none() && (1..=6).contains(&level) && start[level..].starts_with([' ', '\n']);
        if is_heading {
            out.push_str(&"#".repeat((level + 3).min(6)));
            out.push_str(&start[level..]);
        } else {
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_an_answer_stand_below_those_of_the_transcript() {
        let answer = "# One\ntext # no\n```\n# code\n```\n#### Four\n#no heading\n";
        assert_eq!(lowered(answer), "#### One\ntext # no\n```\n# code\n```\n###### Four\n#no heading\n");
    }
}
