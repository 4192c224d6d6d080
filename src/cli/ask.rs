//! `scritorio ask`: one turn.

use clap::Args;
use serde_json::{Value, json};

use crate::agent::event::TurnEventKind;
use crate::domain::conversation::{Turn, Usage};
use crate::domain::price::cost_in_words;
use crate::proposal::Status;
use crate::workbench::Ask;

use super::error::{CliError, Kind};
use super::turn::{self, Open, Progress, Ran, Who, Words, proposal_json};
use super::{Context, output};

/// Ask a board member: the answer on standard output, the tools as they run on standard error
#[derive(Debug, Args)]
#[command(
    after_help = "Ctrl-C or SIGTERM stops the turn: what had arrived is kept, and the exit code is 130."
)]
pub(super) struct AskVerb {
    /// The question
    question: String,
    #[command(flatten)]
    who: Who,
    #[command(flatten)]
    open: Open,
    /// Go on with this conversation: its id, the beginning of it, or `last` [default: a new one]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Ask in place of its last question, which was edited or is asked again
    #[arg(long, requires = "session")]
    replace_last: bool,
    /// Give JSON lines while the answer arrives
    #[arg(long)]
    stream: bool,
}

impl AskVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        if self.question.trim().is_empty() {
            return Err(CliError::new(Kind::Usage, "The question is empty."));
        }
        let workbench = context.open(self.who.overrides())?;
        let session = self.session.as_deref().map(|name| workbench.conversation_named(name)).transpose()?;
        let last = session.as_ref().filter(|_| self.replace_last);
        let ask = Ask {
            persona: self.who.persona.clone(),
            replaces: last.and_then(|session| workbench.turns(session).pop()).map(|turn| turn.id),
            session,
            ..self.open.ask(&workbench, self.question.clone())?
        };
        let (mut rows, mut words) = (Progress::default(), Words::default());
        let ran = turn::run(&workbench, &ask, |event| {
            if self.stream {
                return stream_line(event, &mut words).map_or(Ok(()), |line| output::line(&line));
            }
            rows.show(event);
            Ok(())
        })?;
        if self.stream {
            return last_line(ran);
        }
        print(context, ran)
    }
}

/// Prints a turn that is over: the answer alone, or the JSON of all of it.
pub(super) fn print(context: &Context, ran: Ran) -> Result<(), CliError> {
    if let Some(words) = &ran.finished.not_kept {
        output::progress(words);
    }
    if context.global.json {
        output::document(&ran.to_json())?;
    } else {
        if let Some(words) = tokens(&ran.finished.turn) {
            output::progress(&words);
        }
        if ran.failure.is_none() {
            output::text(&ran.finished.grounded.shown)?;
        }
    }
    ran.failure.map_or(Ok(()), |error| Err(CliError { told: true, ..error }))
}

/// What a turn used, as the server told or by an estimate, and what it cost.
fn tokens(turn: &Turn) -> Option<String> {
    let Usage { input_tokens, cached_tokens, output_tokens, cost, estimated, .. } = turn.usage;
    let about = if estimated { "about " } else { "" };
    let input = input_tokens.map(|n| match cached_tokens.unwrap_or(0) {
        0 => format!("{about}{n} tokens in"),
        cached => format!("{about}{n} tokens in ({cached} cached)"),
    });
    let output = output_tokens.map(|n| format!("{n} tokens out"));
    // What was never sent costs nothing, and needs no words.
    let was_sent = input.is_some() || output.is_some() || cost != Some(0.0);
    let cost = cost_in_words(&turn.usage).filter(|_| was_sent);
    let parts: Vec<_> = [input, output, cost, turn.tiers_that_differ()].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn last_line(ran: Ran) -> Result<(), CliError> {
    if let Some(words) = &ran.finished.not_kept {
        output::progress(words);
    }
    let event = if ran.failure.is_some() { "failed" } else { "done" };
    output::line(&with_event(event, ran.to_json()))?;
    ran.failure.map_or(Ok(()), |error| Err(CliError { told: true, ..error }))
}

fn stream_line(event: &TurnEventKind, words: &mut Words) -> Option<Value> {
    Some(match event {
        TurnEventKind::Round { round, of } => json!({ "event": "round", "round": round, "of": of }),
        TurnEventKind::Text(piece) => json!({ "event": "text", "text": words.take(piece)? }),
        TurnEventKind::Answer(answer) => {
            json!({ "event": "answer", "text": words.begin_again(answer) })
        }
        TurnEventKind::Tool(record) => with_event("tool", json!(record)),
        TurnEventKind::Proposed(proposal) => with_event("proposal", proposal_json(proposal, Status::Pending)),
        TurnEventKind::Tier(tier) => json!({ "event": "tier", "tier": tier }),
        TurnEventKind::Retry(retry) => {
            let wait = u64::try_from(retry.wait.as_millis()).unwrap_or(u64::MAX);
            json!({ "event": "retry", "why": retry.why, "attempt": retry.attempt, "wait_ms": wait })
        }
        TurnEventKind::Notice(words) => json!({ "event": "notice", "text": words }),
        TurnEventKind::Usage(usage) => with_event("usage", json!(usage)),
        TurnEventKind::Reasoning | TurnEventKind::Ended(_) => return None,
    })
}

fn with_event(event: &str, value: Value) -> Value {
    let mut line = serde_json::Map::from_iter([("event".to_owned(), event.into())]);
    if let Value::Object(fields) = value {
        line.extend(fields);
    }
    Value::Object(line)
}
