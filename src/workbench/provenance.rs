//! What AI was used for in a book: checked, and told in a form that an author can hand to a publisher.
//!
//! Everything comes from records that were made when it happened: the provenance (turns and fates of proposals, hash-chained), the ledger of what left
//! this machine, and the exact texts before and after each accepted proposal. What a record does not hold is not guessed. Nothing is written but a
//! report that the author asks for.

mod words;
mod written;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use serde::Serialize;

use crate::domain::ids::{BookPath, ProposalId};
use crate::persona::board;
use crate::store::egress::{Attempt, Ended, Purpose};
use crate::store::provenance::{FateRecord, Record, TurnRecord, Verdict};

use super::Workbench;
use super::out_file::{self, OutError};

/// A chain of one machine, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chain {
    /// The machine, by the random name that it has, with a part of its key where this is not its first chain.
    pub machine: String,
    /// How its chain stands.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The same in words.
    pub words: String,
}

impl Chain {
    /// Whether it was tampered with.
    pub fn is_broken(&self) -> bool {
        matches!(self.verdict, Verdict::Broken { .. })
    }

    /// Whether it may look tampered with because the folder is a copy.
    pub fn maybe_copy(&self) -> bool {
        matches!(self.verdict, Verdict::Broken { maybe_copy: true, .. })
    }
}

/// What AI was used for.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Title of the book.
    pub title: String,
    /// Its author, as the settings say.
    pub author: Option<String>,
    /// When this was made, RFC 3339 in UTC.
    pub made_at: String,
    /// Program and version.
    pub made_by: String,
    /// First and last record; `None`: nothing is recorded.
    pub period: Option<(String, String)>,
    /// Conversations.
    pub conversations: usize,
    /// Questions to board members.
    pub turns: Turns,
    /// By provider and model, most turns first.
    pub models: Vec<ModelUse>,
    /// By board member, most turns first.
    pub members: Vec<MemberUse>,
    /// Files that board members read through tools, by path.
    pub files_read: Vec<FileRead>,
    /// What left machines, as far as this machine's ledger knows.
    pub sent: SentTotals,
    /// Proposals by what became of them.
    pub proposals: Fates,
    /// What accepted proposals brought into the text.
    pub written: Written,
    /// Always false: a board member can propose, and only the author can accept.
    pub personas_can_write: bool,
    /// Files that AI never reads, as the book is now.
    pub files_kept_from_ai: usize,
    /// Those of them that a board member had read, or of which text was sent, before they were kept from AI.
    pub files_kept_from_ai_read_before: usize,
    /// The chains of all machines.
    pub chains: Vec<Chain>,
    /// What this report does not prove, a sentence each.
    pub does_not_prove: Vec<&'static str>,
}

/// Turns by their end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Turns {
    /// All.
    pub asked: usize,
    /// Answered whole.
    pub answered: usize,
    /// Stopped by the author.
    pub cancelled: usize,
    /// Failed.
    pub failed: usize,
    /// Cut off when the program was killed.
    pub killed: usize,
}

/// How much one model was used.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ModelUse {
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// Turns.
    pub turns: usize,
    /// Tokens of requests, as far as servers told.
    pub input_tokens: u64,
    /// Tokens of answers, as far as servers told.
    pub output_tokens: u64,
    /// In US dollars, as far as it is known.
    pub cost: f64,
    /// Requests whose cost is not known.
    pub unpriced: u64,
    /// Whether tokens or cost are an estimate in part.
    pub estimated: bool,
}

/// How much one board member was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MemberUse {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: &'static str,
    /// Turns.
    pub turns: usize,
}

/// A file that board members read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileRead {
    /// The file.
    pub path: BookPath,
    /// In how many turns.
    pub turns: usize,
    /// By whom.
    pub members: Vec<&'static str>,
}

/// What left machines.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SentTotals {
    /// Requests, each attempt counted.
    pub requests: usize,
    /// Bytes of all bodies.
    pub bytes: usize,
    /// Attempts without a recorded end: the program was killed.
    pub no_end_recorded: usize,
    /// The author's own messages in these requests, resent ones counted again.
    pub author_messages: usize,
    /// Characters of these.
    pub author_chars: usize,
    /// By destination and purpose.
    pub destinations: Vec<Destination>,
    /// Files of which stretches were sent, by path.
    pub files: Vec<FileSent>,
    /// Lines of ledgers that could not be read.
    pub unreadable_lines: usize,
}

/// What went to one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Destination {
    /// A URL without credentials.
    pub destination: String,
    /// Model's name.
    pub model: String,
    /// What for: `turn`, `embeddings`, `check` or `models`.
    pub purpose: Purpose,
    /// Requests.
    pub requests: usize,
    /// Bytes.
    pub bytes: usize,
}

/// What was sent of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileSent {
    /// The file.
    pub path: BookPath,
    /// In how many requests.
    pub requests: usize,
    /// Most words of it in one request.
    pub most_words: usize,
}

/// Proposals by what became of them last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Fates {
    /// All.
    pub made: usize,
    /// Accepted as proposed.
    pub accepted: usize,
    /// Accepted after the author had changed the text.
    pub accepted_after_editing: usize,
    /// Rejected.
    pub rejected: usize,
    /// Accepted, and taken back later.
    pub undone: usize,
    /// Not decided.
    pub waiting: usize,
}

/// What accepted proposals brought into the text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// By file.
    pub files: Vec<FileWritten>,
    /// Characters of the manuscript that came from accepted proposals and are still there.
    pub manuscript_still_there: usize,
    /// Characters of the manuscript.
    pub manuscript_chars: usize,
    /// Accepted proposals whose exact texts are not on this machine: what is counted is the least that it can be.
    pub not_known: usize,
}

/// What accepted proposals brought into one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileWritten {
    /// The file.
    pub path: BookPath,
    /// Characters that were added.
    pub added: usize,
    /// Of these, characters that are still there.
    pub still_there: usize,
    /// Characters of the file now.
    pub chars: usize,
}

impl Workbench {
    /// Checks the chain of every machine.
    pub fn verify_provenance(&self) -> io::Result<Vec<Chain>> {
        let chains = self.ledger().verify()?.into_iter();
        Ok(chains.map(|(machine, verdict)| Chain { machine, verdict, words: verdict.to_string() }).collect())
    }

    /// Sums up what AI was used for. Reads everything that is recorded.
    pub fn provenance_report(&self) -> io::Result<Report> {
        let records = self.ledger().records()?;
        let (attempts, unreadable) = self.egress().read()?;
        let book = self.book();
        // Those that no question has settled yet.
        let unsettled = self.killed_turns(&self.killed_programs()?)?;
        let mut turns: Vec<&TurnRecord> = vec![];
        let mut fates: Vec<&FateRecord> = vec![];
        for (_, record) in &records {
            match record {
                Record::Turn(turn) => turns.push(turn),
                Record::Fate(fate) => fates.push(fate),
            }
        }
        turns.extend(&unsettled);
        let times = records.iter().map(|(at, _)| at).chain(attempts.iter().map(|attempt| &attempt.at));
        let period = times.clone().min().zip(times.max()).map(|(from, to)| (from.clone(), to.clone()));
        let sessions: BTreeSet<&str> = turns.iter().map(|turn| turn.session.as_str()).collect();
        let with = |status: &str| turns.iter().filter(|turn| turn.status == status).count();
        let (files_read, sent) = (files_read(&turns), sent(&attempts, unreadable));
        let were_read: BTreeSet<&BookPath> = files_read
            .iter()
            .map(|file| &file.path)
            .chain(sent.files.iter().map(|file| &file.path))
            .collect();
        let kept_and_read = book.private.iter().filter(|path| were_read.contains(path)).count();
        Ok(Report {
            title: book.title().to_owned(),
            author: book.settings.author.clone(),
            made_at: crate::store::now(),
            made_by: concat!("Scritorio ", env!("CARGO_PKG_VERSION")).to_owned(),
            period,
            conversations: sessions.len(),
            turns: Turns {
                asked: turns.len(),
                answered: with("done"),
                cancelled: with("cancelled"),
                failed: with("failed"),
                killed: with(TurnRecord::KILLED),
            },
            models: models(&turns),
            members: members(&turns),
            files_read,
            sent,
            proposals: fates_of(&turns, &fates),
            written: self.brought_into_text(&fates)?,
            personas_can_write: false,
            files_kept_from_ai: book.private.len(),
            files_kept_from_ai_read_before: kept_and_read,
            chains: self.verify_provenance()?,
            does_not_prove: words::NOT_PROVEN.to_vec(),
        })
    }

    /// Writes a report to a file of the author's choice, whole or not at all; `over`: also in the place of one that is there.
    pub fn keep_report(&self, path: &Path, text: &str, over: bool) -> Result<(), OutError> {
        out_file::write(path, text, over)
    }
}

impl Report {
    /// Returns it as text for people.
    pub fn text(&self) -> String {
        words::text(self)
    }
}

fn models(turns: &[&TurnRecord]) -> Vec<ModelUse> {
    let mut models: Vec<ModelUse> = vec![];
    for turn in turns {
        let known = models.iter().position(|m| m.provider == turn.provider && m.model == turn.model);
        let at = known.unwrap_or_else(|| {
            let (provider, model) = (turn.provider.clone(), turn.model.clone());
            models.push(ModelUse { provider, model, ..ModelUse::default() });
            models.len() - 1
        });
        let model = &mut models[at];
        model.turns += 1;
        model.input_tokens += turn.usage.input_tokens.unwrap_or(0);
        model.output_tokens += turn.usage.output_tokens.unwrap_or(0);
        model.cost += turn.usage.known();
        model.unpriced += turn.usage.unknown();
        model.estimated |= turn.usage.estimated;
    }
    models.sort_by_key(|model| std::cmp::Reverse(model.turns));
    models
}

fn members(turns: &[&TurnRecord]) -> Vec<MemberUse> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for turn in turns {
        *counts.entry(&turn.persona).or_default() += 1;
    }
    let row = |(id, turns): (&str, usize)| MemberUse {
        id: id.to_owned(),
        // Of a turn that was killed and whose conversation is gone.
        name: if id.is_empty() { "Not known" } else { board::member(Some(id)).name },
        turns,
    };
    let mut members: Vec<MemberUse> = counts.into_iter().map(row).collect();
    members.sort_by_key(|member| std::cmp::Reverse(member.turns));
    members
}

fn files_read(turns: &[&TurnRecord]) -> Vec<FileRead> {
    let mut files: BTreeMap<BookPath, (usize, BTreeSet<&'static str>)> = BTreeMap::new();
    for turn in turns {
        let resolved = turn.tools.iter().flat_map(|tool| tool["resolved"].as_array().into_iter().flatten());
        let paths: BTreeSet<BookPath> =
            resolved.filter_map(|path| BookPath::new(path.as_str()?).ok()).collect();
        for path in paths {
            let (count, members) = files.entry(path).or_default();
            *count += 1;
            members.insert(board::member(Some(&turn.persona)).name);
        }
    }
    let row = |(path, (turns, members)): (BookPath, (usize, BTreeSet<_>))| FileRead {
        path,
        turns,
        members: members.into_iter().collect(),
    };
    files.into_iter().map(row).collect()
}

fn sent(attempts: &[Attempt], unreadable_lines: usize) -> SentTotals {
    let mut totals = SentTotals { requests: attempts.len(), unreadable_lines, ..SentTotals::default() };
    let mut files: BTreeMap<BookPath, (usize, usize)> = BTreeMap::new();
    for Attempt { sent, ended, .. } in attempts {
        totals.bytes += sent.bytes;
        let is_open = ended.as_ref().is_none_or(|ended| ended.end == Ended::KILLED);
        totals.no_end_recorded += usize::from(is_open);
        totals.author_messages += sent.author.messages;
        totals.author_chars += sent.author.chars;
        let is_here = |d: &&mut Destination| {
            d.destination == sent.destination && d.model == sent.model && d.purpose == sent.purpose
        };
        match totals.destinations.iter_mut().find(is_here) {
            Some(known) => {
                known.requests += 1;
                known.bytes += sent.bytes;
            }
            None => totals.destinations.push(Destination {
                destination: sent.destination.clone(),
                model: sent.model.clone(),
                purpose: sent.purpose,
                requests: 1,
                bytes: sent.bytes,
            }),
        }
        let mut words: BTreeMap<&BookPath, usize> = BTreeMap::new();
        for span in &sent.spans {
            *words.entry(&span.path).or_default() += span.words;
        }
        for (path, words) in words {
            let (requests, most) = files.entry(path.clone()).or_default();
            *requests += 1;
            *most = words.max(*most);
        }
    }
    let row =
        |(path, (requests, most_words)): (BookPath, (usize, usize))| FileSent { path, requests, most_words };
    totals.files = files.into_iter().map(row).collect();
    totals
}

fn fates_of(turns: &[&TurnRecord], records: &[&FateRecord]) -> Fates {
    let mut last: BTreeMap<&ProposalId, Option<&FateRecord>> = BTreeMap::new();
    for id in turns.iter().flat_map(|turn| &turn.proposals) {
        last.entry(id).or_default();
    }
    for record in records {
        let known = last.entry(&record.proposal).or_default();
        // An edit decides nothing.
        if record.fate != "edited" {
            *known = Some(record);
        }
    }
    let mut fates = Fates { made: last.len(), ..Fates::default() };
    for record in last.into_values() {
        match record.map(|r| (r.fate.as_str(), r.edited)) {
            Some(("applied" | "redone", false)) => fates.accepted += 1,
            Some(("applied" | "redone", true)) => fates.accepted_after_editing += 1,
            Some(("rejected", _)) => fates.rejected += 1,
            Some(("undone", _)) => fates.undone += 1,
            _ => fates.waiting += 1,
        }
    }
    fates
}

#[cfg(test)]
mod tests;
