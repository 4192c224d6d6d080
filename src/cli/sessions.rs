//! `scritorio sessions`: the conversations of a book.
//!
//! Never asks: what is deleted can be brought back, unless `--forever` was given.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use crate::domain::conversation::Usage;
use crate::domain::ids::SessionId;
use crate::domain::price::cost_in_words;
use crate::workbench::out_file::is_json;
use crate::workbench::sessions::Part;
use crate::workbench::{Format, Overrides, Passage, SessionError, Summary, Workbench, member};

use super::error::CliError;
use super::{Context, output};

/// Passages that a search gives unless told otherwise.
const PASSAGES: NonZeroUsize = NonZeroUsize::new(50).unwrap();

/// List, search, name, fork, export and delete conversations
#[derive(Debug, Args)]
pub(super) struct Sessions {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List all conversations, the one that was used last first
    List {
        /// List the deleted ones that can be brought back
        #[arg(long)]
        deleted: bool,
    },
    /// Print one: questions, answers, what was looked up and proposed
    Show(One),
    /// Look for words in all questions and answers; case and accents make no difference
    Search {
        /// Words that all have to be there; in double quotation marks, side by side
        query: String,
        /// Most passages; where there are more, it is said so
        #[arg(long, value_name = "N", default_value_t = PASSAGES)]
        limit: NonZeroUsize,
    },
    /// Give one a name
    Rename {
        #[command(flatten)]
        one: One,
        /// The name
        title: String,
    },
    /// Make a new one that goes on after a question of this one and its answer
    Fork {
        #[command(flatten)]
        one: One,
        /// The number of the last question that the new one holds, as `show` counts them, from 1 [default: all of them]
        #[arg(long, value_name = "N")]
        at: Option<usize>,
        /// The new one's name
        #[arg(long, value_name = "TITLE")]
        title: Option<String>,
    },
    /// Write one out, as a file or to standard output
    Export {
        #[command(flatten)]
        one: One,
        /// For people or for programs [default: md, or what the file's ending says]
        #[arg(long, value_enum)]
        format: Option<As>,
        /// The file
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Write over a file that is there
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Delete one; `restore` brings it back
    Delete {
        #[command(flatten)]
        one: One,
        /// Leave nothing to bring back; takes one that was deleted before, too
        #[arg(long)]
        forever: bool,
    },
    /// Bring a deleted one back
    Restore(One),
}

#[derive(Debug, Args)]
struct One {
    /// The conversation: its id, the beginning of it, or `last` (of `restore`: the one deleted last)
    id: String,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum As {
    #[value(alias = "markdown")]
    Md,
    Json,
}

impl Sessions {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        let bench = &workbench;
        bench.settle_spending();
        match self.verb {
            Verb::List { deleted: false } => list(context, &bench.conversations()),
            Verb::List { deleted: true } => list(context, &bench.deleted_conversations()),
            Verb::Show(one) => show(context, bench, &bench.conversation_named(&one.id)?),
            Verb::Search { query, limit } => search(context, bench, &query, limit.get()),
            Verb::Rename { one, title } => {
                let session = bench.conversation_named(&one.id)?;
                told(context, "named", &bench.rename_conversation(&session, &title)?)
            }
            Verb::Fork { one, at, title } => {
                let session = bench.conversation_named(&one.id)?;
                let turn = at.map(|number| bench.turn_numbered(&session, number)).transpose()?;
                told(context, "made", &bench.fork_conversation(&session, turn.as_ref(), title.as_deref())?)
            }
            Verb::Export { one, format, output, force } => {
                let session = bench.conversation_named(&one.id)?;
                export(context, bench, &session, (format, output, force))
            }
            Verb::Delete { one, forever } => delete(context, bench, &one.id, forever),
            Verb::Restore(one) => {
                let session = bench.deleted_conversation_named(&one.id)?;
                let summary = bench.restore_conversation(&session)?;
                if summary.session != session {
                    output::progress(&format!(
                        "There is another conversation {session} by now: this one is {} from now on.",
                        summary.session
                    ));
                }
                told(context, "restored", &summary)
            }
        }
    }
}

fn list(context: &Context, all: &[Summary]) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&all);
    }
    let row = |summary: &Summary| {
        let questions = match summary.questions {
            1 => "1 question".to_owned(),
            n => format!("{n} questions"),
        };
        let names = summary.personas.iter().map(|id| member(Some(id)).name);
        vec![
            summary.session.to_string(),
            summary.last_at.get(..16).unwrap_or_default().replace('T', " "),
            questions,
            summary.providers.join(", "),
            spent(summary.usage),
            names.collect::<Vec<_>>().join(", "),
            summary.title.clone(),
        ]
    };
    output::table(&all.iter().map(row).collect::<Vec<_>>())?;
    for summary in all {
        warn(summary);
    }
    Ok(())
}

/// Says what of a conversation could not be read. Nothing of it is lost.
fn warn(summary: &Summary) {
    let session = &summary.session;
    let lines = |n: usize| if n == 1 { "1 line".to_owned() } else { format!("{n} lines") };
    if summary.later > 0 {
        output::progress(&format!(
            "{session}: {} of a later version of this program {} kept and not shown.",
            lines(summary.later),
            if summary.later == 1 { "is" } else { "are" }
        ));
    }
    let broken = summary.skipped - summary.later.min(summary.skipped);
    if broken > 0 {
        output::progress(&format!("{session}: {} cut off or damaged, kept and not shown.", lines(broken)));
    }
}

fn spent(usage: Usage) -> String {
    let tokens = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
    let cost = cost_in_words(&usage);
    let tokens = (tokens > 0).then(|| format!("{tokens} tokens"));
    [tokens, cost].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn show(context: &Context, bench: &Workbench, session: &SessionId) -> Result<(), CliError> {
    let transcript = bench.transcript(session)?;
    warn(&transcript.summary);
    if context.global.json {
        output::document(&transcript.json())
    } else {
        output::text(&transcript.markdown())
    }
}

fn search(context: &Context, bench: &Workbench, query: &str, limit: usize) -> Result<(), CliError> {
    // One more than is shown tells whether there are more.
    let mut found = bench.search_conversations(query, limit.saturating_add(1))?;
    let has_more = found.len() > limit;
    found.truncate(limit);
    printed(context, &found)?;
    if has_more {
        output::progress(&format!(
            "{limit} shown, and there are more: --limit {} shows up to that many.",
            limit.saturating_mul(10)
        ));
    }
    Ok(())
}

fn printed(context: &Context, found: &[Passage]) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&found);
    }
    let mut text = String::new();
    for passage in found {
        let said = match passage.from {
            Part::Question => "asked",
            Part::Answer => "answered",
        };
        let Passage { session, title, number, excerpt, .. } = passage;
        text += &format!("{session}  {title}\n  question {number}, {said}: {excerpt}\n");
    }
    if text.is_empty() {
        output::progress("Nothing was found.");
        return Ok(());
    }
    output::text(&text)
}

fn told(context: &Context, what: &str, summary: &Summary) -> Result<(), CliError> {
    if context.global.json {
        return output::document(summary);
    }
    output::text(&format!("{what} {}: {}", summary.session, summary.title))
}

fn export(
    context: &Context,
    bench: &Workbench,
    session: &SessionId,
    (format, file, force): (Option<As>, Option<PathBuf>, bool),
) -> Result<(), CliError> {
    let says_json = file.as_ref().is_some_and(|file| is_json(file));
    let format = match format {
        Some(As::Json) => Format::Json,
        None if says_json || (file.is_none() && context.global.json) => Format::Json,
        Some(As::Md) | None => Format::Markdown,
    };
    let Some(file) = file else {
        let transcript = bench.transcript(session)?;
        return match format {
            Format::Json => output::document(&transcript.json()),
            Format::Markdown if context.global.json => output::document(
                &json!({ "session": session, "format": "md", "text": transcript.markdown() }),
            ),
            Format::Markdown => output::text(&transcript.markdown()),
        };
    };
    bench.export_conversation(session, format, &file, force)?;
    if context.global.json {
        return output::document(&json!({ "session": session, "file": file.display().to_string() }));
    }
    output::text(&format!("wrote {}", file.display()))
}

fn delete(context: &Context, bench: &Workbench, name: &str, forever: bool) -> Result<(), CliError> {
    let session = match bench.conversation_named(name) {
        Err(SessionError::Unknown(_)) if forever => bench.deleted_conversation_named(name)?,
        other => other?,
    };
    let deleted = bench.delete_conversation(&session, forever)?;
    if context.global.json {
        return output::document(
            &json!({ "session": session, "deleted": true, "deleted_as": deleted, "forever": forever }),
        );
    }
    output::text(&format!("deleted {session}"))?;
    if !forever {
        output::progress(&format!("`scritorio sessions restore {deleted}` brings it back."));
    }
    Ok(())
}
