//! What led to a proposal: the question, what was looked up before it, and the quotations of the answer. Metadata only, and nothing is written.
//!
//! Everything is read from the conversation as it was kept, and the quotations are looked up in the book as it is now.

use crate::agent::grounding::PlacedQuote;
use crate::domain::conversation::{SelectionMeta, ToolRecord, ToolStatus, Turn, TurnStatus};
use crate::domain::ids::{BookPath, ProposalId, SessionId};
use crate::persona::board;
use crate::proposal::Proposal;
use crate::store::proposals;

use super::Workbench;

/// What led to a proposal.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Which proposal.
    pub proposal: ProposalId,
    /// When it was made, RFC 3339 in UTC.
    pub at: String,
    /// The turn that it came from; `None`: it was made outside of a conversation, or the conversation is gone.
    pub turn: Option<Source>,
}

/// The turn that a proposal came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// The conversation.
    pub session: SessionId,
    /// What the author asked.
    pub question: String,
    /// Name of the board member that was asked.
    pub member: &'static str,
    /// Provider and model.
    pub model: String,
    /// What was selected, without its words.
    pub selection: Option<SelectionMeta>,
    /// What was called before the proposal, and the call that made it, in order.
    pub tools: Vec<ToolRecord>,
    /// The quotations of the answer with their places in the book as it is now.
    pub quotes: Vec<PlacedQuote>,
    /// Whether the turn has not ended: then what was looked up is not kept yet.
    pub running: bool,
}

impl Workbench {
    /// Gathers what led to a proposal. `None`: there is no proposal with this id, or the queue can't be read.
    pub fn evidence(&self, id: &ProposalId) -> Option<Evidence> {
        let queue = proposals::load(self.root()).ok()?.items;
        let queued = queue.into_iter().find(|queued| queued.proposal.id == *id)?;
        let turn = self.kept_turn(&queued.session, &queued.turn);
        let turn = turn.map(|turn| Source {
            session: queued.session.clone(),
            member: board::member(Some(&turn.persona)).name,
            model: if turn.provider == turn.model {
                turn.model.clone()
            } else {
                format!("{}, {}", turn.provider, turn.model)
            },
            tools: before(&turn, &queued.proposal).to_vec(),
            quotes: self.ground(&turn, None).quotes,
            running: turn.status == TurnStatus::Running,
            question: turn.question,
            selection: turn.selection,
        });
        Some(Evidence { proposal: id.clone(), at: queued.proposed_at, turn })
    }
}

/// The calls of a turn up to the one that made the proposal. A turn may make several, with calls that came to nothing between them: the
/// last call for a file made the last proposal for it.
fn before<'a>(turn: &'a Turn, proposal: &Proposal) -> &'a [ToolRecord] {
    let path = proposal.path();
    let about = |paths: &[BookPath]| path.is_none_or(|path| paths.is_empty() || paths.contains(path));
    let made = |tool: &ToolRecord| {
        tool.name == proposal.tool && tool.status == ToolStatus::Done && about(&tool.resolved)
    };
    let calls: Vec<usize> = (0..turn.tools.len()).filter(|at| made(&turn.tools[*at])).collect();
    let place = turn.proposals.iter().position(|id| *id == proposal.id).unwrap_or(0);
    let later = turn.proposals.len().saturating_sub(place + 1);
    let at = calls.len().checked_sub(later + 1).or(calls.len().checked_sub(1)).map(|i| calls[i]);
    &turn.tools[..at.map_or(turn.tools.len(), |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::conversation::Verdict;
    use crate::workbench::{Ask, Overrides, Surroundings};

    fn bench(folder: &std::path::Path) -> Workbench {
        let book = folder.join("book");
        fs::create_dir_all(book.join("codex/characters")).unwrap();
        fs::create_dir_all(book.join("manuscript")).unwrap();
        let entry = "---\nname: Mira Okafor\nrole: rival\n---\n\nMira keeps the log of the station.\n";
        fs::write(book.join("codex/characters/mira.md"), entry).unwrap();
        fs::write(book.join("manuscript/01.md"), "# One\n\nMira Okafor counted the lamps.\n").unwrap();
        let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
        Workbench::open_in(&book, overrides, Surroundings::in_folders(folder)).unwrap()
    }

    fn ask(bench: &Workbench, question: &str) -> Turn {
        let ask = Ask { question: question.into(), ..Ask::default() };
        let setup = bench.prepare(&ask).unwrap();
        let session = bench.begin(&ask, &setup);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ended = runtime.block_on(async {
            let mut running = crate::agent::driver::start(setup);
            while let Some(event) = running.events.recv().await {
                if let crate::agent::event::TurnEventKind::Ended(ended) = event.kind {
                    return *ended;
                }
            }
            unreachable!("a turn ends")
        });
        bench.finish(&session, &ask, ended).turn
    }

    #[test]
    fn a_change_of_role_names_the_question_and_what_was_read_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let turn = ask(&bench, "Change Mira Okafor's role to antagonist");
        let evidence = bench.evidence(&turn.proposals[0]).unwrap();
        assert!(evidence.at.ends_with('Z'));
        let source = evidence.turn.unwrap();
        assert_eq!(source.question, "Change Mira Okafor's role to antagonist");
        assert_eq!(source.member, "Developmental Editor");
        assert!(!source.running);
        let last = source.tools.last().unwrap();
        assert!(last.name.starts_with("propose_"), "{last:?}");
        assert!(source.tools.len() >= 2, "the entry was read first: {:?}", source.tools);
        assert!(source.quotes.iter().all(|q| q.quote.verdict != Verdict::Missing));
    }

    #[test]
    fn a_proposal_from_the_command_line_says_that_there_was_no_conversation() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let arguments = r#"{"entryType":"character","name":"Osric","changeSummary":"He is missing","fields":null,"customFields":null,"markdownBody":"A man.","soulMarkdown":null}"#;
        bench.call_tool("propose_codex_create", arguments, &Ask::default()).unwrap();
        let id = bench.proposals()[0].proposal.id.clone();
        assert_eq!(bench.evidence(&id).unwrap().turn, None);
        assert_eq!(bench.evidence(&ProposalId::new("p-none")), None);
    }
}
