//! What a program had sent that was killed before it could say what that cost.
//!
//! Its requests stand in the ledger without an end. The next question, check, or look at the conversations settles them, once: each gets an end, and its cost stands with what was spent, by the
//! tokens that were sent; what was answered is not known. Each turn of it that the provenance does not know gets its record there, once, too. Nothing is settled of a program that still runs, or that ended by itself.

use std::collections::{BTreeSet, HashSet};
use std::io;
use std::time::Duration;

use crate::domain::conversation::{Turn, TurnStatus, Usage};
use crate::domain::ids::{SessionId, TurnId};
use crate::store::egress::{Attempt, Egress, Ended, Open, Purpose};
use crate::store::provenance::{Record, TurnRecord};
use crate::store::running::Killed;
use crate::store::{proposals, sessions};

use super::super::Workbench;
use super::{Bill, Month, Spent, Standing};

/// After so long nobody settles any more what a killed program has left: a budget is for a month.
const LONG_AGO: Duration = Duration::from_hours(62 * 24);

impl Workbench {
    /// Settles what killed programs have left, before what was spent is shown. What can't be settled now is settled at the next question.
    pub fn settle_spending(&self) {
        let _ = self.settle_killed();
    }

    /// Settles what killed programs have left in this book's ledger, and in the one of what leaves without a book.
    pub(in super::super) fn settle_killed(&self) -> io::Result<()> {
        let killed = self.killed_programs()?;
        if killed.is_empty() {
            return Ok(());
        }
        let without_book = Egress::without_book(&self.inner.surroundings.folders.data);
        let mut seen = HashSet::new();
        for egress in [self.egress(), without_book] {
            seen.extend(egress.processes()?);
            for open in egress.open()? {
                if killed.iter().any(|killed| open.sent.process.as_ref() == Some(&killed.name)) {
                    self.settle_open(&egress, open)?;
                }
            }
        }
        for turn in self.killed_turns(&killed)? {
            self.settle_turn(&turn)?;
            self.ledger().append(Record::Turn(Box::new(turn)))?;
        }
        // One that is in neither ledger was at work on another book, which is settled when that is asked about; after so long its month is over.
        let is_done = |killed: &Killed| seen.contains(&killed.name) || killed.is_older_than(LONG_AGO);
        killed.into_iter().filter(is_done).try_for_each(Killed::settled)
    }

    /// Returns the programs that were killed and that nobody has settled yet. Writes nothing.
    pub(in super::super) fn killed_programs(&self) -> io::Result<Vec<Killed>> {
        self.inner.running.killed()
    }

    /// Returns where the author stands, with what killed programs have sent and nobody has settled yet, as `settle_killed` would
    /// count it. Writes nothing; what can't be read counts as nothing.
    pub fn standing_with_killed(&self) -> Standing {
        let mut standing = self.standing();
        let killed = self.killed_programs().unwrap_or_default();
        if killed.is_empty() {
            return standing;
        }
        let without_book = Egress::without_book(&self.inner.surroundings.folders.data);
        for open in [self.egress(), without_book].iter().flat_map(|egress| egress.open().unwrap_or_default())
        {
            let Open { id, at, sent } = open;
            let is_killed = killed.iter().any(|killed| sent.process.as_ref() == Some(&killed.name));
            let is_counted = matches!(self.inner.spent.line_of(&id, &at), Ok(Some(_)));
            if !is_killed || is_counted || Month::of(&at).month != standing.month.month {
                continue;
            }
            let bill = self.bill(&sent);
            let usage = bill.of_killed(sent.purpose);
            if usage.cost != Some(0.0) {
                standing.month.add(&Spent { usage, ..bill.of });
            }
        }
        standing
    }

    /// Returns the turns of these programs that had sent something and that the provenance does not know, oldest first.
    pub(in super::super) fn killed_turns(&self, killed: &[Killed]) -> io::Result<Vec<TurnRecord>> {
        if killed.is_empty() || !self.has_book() {
            return Ok(vec![]);
        }
        let of_killed = |attempt: &Attempt| {
            killed.iter().any(|killed| attempt.sent.process.as_ref() == Some(&killed.name))
        };
        let (mut attempts, _) = self.egress().read()?;
        attempts.retain(of_killed);
        let recorded: BTreeSet<TurnId> = self
            .ledger()
            .records()?
            .into_iter()
            .filter_map(|(_, record)| if let Record::Turn(turn) = record { Some(turn.turn) } else { None })
            .collect();
        let mut turns: Vec<TurnRecord> = vec![];
        for Attempt { sent, ended, .. } in attempts {
            let (Some(session), Some(id)) = (sent.session, sent.turn) else { continue };
            if recorded.contains(&id) {
                continue;
            }
            let known = turns.iter().position(|turn| turn.turn == id);
            let at = if let Some(at) = known {
                at
            } else {
                turns.push(self.killed_turn(session, id)?);
                turns.len() - 1
            };
            let turn = &mut turns[at];
            turn.usage = turn.usage + ended.map(|ended| ended.usage).unwrap_or_default();
            // Vectors are of another model than the one that answers.
            if sent.purpose == Purpose::Turn || turn.model.is_empty() {
                (turn.provider, turn.model) = (sent.provider, sent.model);
            }
        }
        Ok(turns)
    }

    /// Gives a turn that was cut off its cost in its conversation. One that is not there, or has an end, is left as it is.
    fn settle_turn(&self, killed: &TurnRecord) -> io::Result<()> {
        if !sessions::exists(self.root(), &killed.session) {
            return Ok(());
        }
        let found = sessions::read(self.root(), &killed.session)?;
        let mut kept = found.turns.into_iter().chain(found.replaced);
        let cut_off = kept.find(|kept| {
            let Turn { id, status, usage, .. } = &kept.turn;
            *id == killed.turn && *status == TurnStatus::Running && *usage == Usage::default()
        });
        let Some(mut kept) = cut_off else { return Ok(()) };
        kept.turn.usage = killed.usage;
        sessions::end_begun(self.root(), &killed.session, kept)
    }

    /// What is known of a turn that was killed, without what it sent.
    fn killed_turn(&self, session: SessionId, turn: TurnId) -> io::Result<TurnRecord> {
        let kept = sessions::load(self.root(), &session).unwrap_or_default();
        let asked = kept.into_iter().map(|kept| kept.turn).find(|asked| asked.id == turn);
        let queue = proposals::load(self.root())?.items;
        let proposals = queue.into_iter().filter(|q| q.turn == turn).map(|q| q.proposal.id).collect();
        Ok(TurnRecord {
            session,
            status: TurnRecord::KILLED.to_owned(),
            provider: String::new(),
            model: String::new(),
            tier: None,
            persona: asked.map(|asked| asked.persona).unwrap_or_default(),
            prompt_hash: String::new(),
            response_id: None,
            usage: Usage::default(),
            tools: vec![],
            output_hash: String::new(),
            output_chars: 0,
            proposals,
            turn,
        })
    }

    fn settle_open(&self, egress: &Egress, open: Open) -> io::Result<()> {
        let Open { id, at, sent } = open;
        let (tier, usage) = if let Some(line) = self.inner.spent.line_of(&id, &at)? {
            // It was killed between the money and the end of the request.
            self.inner.spent.write()?;
            (line.tier, line.usage)
        } else {
            let bill = self.bill(&sent);
            let usage = bill.of_killed(sent.purpose);
            bill.enter(&id, at, None, usage)?;
            (None, usage)
        };
        let end = Ended::KILLED.to_owned();
        egress.ended(&id, Ended { end, status: None, received: 0, tier, usage })
    }
}

impl Bill {
    /// Returns what a request used of which nothing but the beginning is known: at least what was sent.
    fn of_killed(&self, purpose: Purpose) -> Usage {
        let Some(tokens) = self.tokens else { return Usage { cost: Some(0.0), ..Usage::default() } };
        let told =
            Usage { input_tokens: Some(tokens), output_tokens: Some(0), estimated: true, ..Usage::default() };
        let asked = self.of.tier_asked.as_deref();
        let priced = self.prices.as_ref().map(|prices| prices.priced(told, asked, None));
        let answered_in_words = purpose != Purpose::Embeddings;
        match priced {
            Some(usage) if usage.cost == Some(0.0) || !answered_in_words => usage,
            Some(usage) => Usage {
                output_tokens: None,
                cost: None,
                at_least: usage.cost.or(usage.at_least),
                unpriced: 1,
                ..usage
            },
            None => Usage { output_tokens: None, unpriced: 1, ..told },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::SystemTime;

    use super::*;
    use crate::domain::ids::{SessionId, TurnId};
    use crate::domain::price::Prices;
    use crate::providers::{Carried, End, Outcome, Request, Sending};
    use crate::workbench::egress::Known;
    use crate::workbench::{Overrides, Surroundings};

    fn bench(folder: &Path) -> Workbench {
        bench_with(folder, "")
    }

    /// With more settings than the budget.
    fn bench_with(folder: &Path, more: &str) -> Workbench {
        for name in ["book/manuscript", "config"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("config/config.toml"), format!("[budget]\nrefuse = 1.0\n{more}")).unwrap();
        let overrides = Overrides { provider: Some("openai".into()), ..Overrides::default() };
        Workbench::open_in(&folder.join("book"), overrides, Surroundings::in_folders(folder)).unwrap()
    }

    /// Sends a long request, of which nothing is heard any more.
    async fn sends(bench: &Workbench, provider: &str, model: &str) {
        let turn = Some((SessionId::new("s-1"), TurnId::new("t-1")));
        let witness = bench.witness(turn, &bench.book(), Known::default());
        let texts = vec!["She waits for nobody.".to_owned(); 50_000];
        let request =
            Request { model: model.to_owned(), instructions: texts.join(" "), ..Request::default() };
        let of = Carried::Conversation(&request);
        let destination = &bench.destination(provider).unwrap();
        let sending = Sending { destination, provider, body: "{}", of };
        std::mem::forget(witness.sending(sending).await.unwrap());
    }

    /// Leaves behind what a killed program does: its file, which nobody holds.
    fn killed(bench: Workbench, folder: &Path) {
        let name = bench.inner.running.name().unwrap();
        drop(bench);
        fs::write(folder.join("data/running").join(name), "").unwrap();
    }

    #[tokio::test]
    async fn what_a_killed_program_had_sent_is_in_the_month_once_and_against_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        sends(&first, "ollama", "qwen3").await;
        let second = bench(folder.path());
        second.settle_killed().unwrap();
        assert_eq!(second.standing().month.responses, 0, "it still runs");
        killed(first, folder.path());
        second.settle_killed().unwrap();
        let month = second.standing().month;
        assert_eq!((month.responses, month.unpriced, month.estimated), (1, 1, 1), "what is local is free");
        assert!(month.dollars > 0.05, "{month:?}");
        assert!(second.standing().words().starts_with("at least about $0.0"), "{:?}", second.standing());
        let (attempts, skipped) = second.egress().read().unwrap();
        assert_eq!((attempts.len(), skipped), (2, 0));
        for attempt in &attempts {
            assert_eq!(attempt.ended.as_ref().unwrap().end, Ended::KILLED);
        }
        assert_eq!(second.provenance_report().unwrap().sent.no_end_recorded, 2);
        bench(folder.path()).settle_killed().unwrap();
        assert_eq!(second.standing().month, month);
        assert_eq!(fs::read_dir(folder.path().join("data/running")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn it_cost_what_it_costs_where_it_went_also_if_the_provider_stands_elsewhere_now() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        killed(first, folder.path());
        let moved = "[providers.openai]\nbase_url = \"http://127.0.0.1:9/v1\"\n";
        let second = bench_with(folder.path(), moved);
        assert_eq!(second.prices("openai", "gpt-5-mini"), Some(Prices::free()), "here it is free");
        let shown = second.standing_with_killed().month;
        second.settle_killed().unwrap();
        let month = second.standing().month;
        assert!(month.dollars > 0.05, "{month:?}");
        assert_eq!(shown, month);
    }

    #[tokio::test]
    async fn killed_again_while_it_settles_it_still_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        killed(first, folder.path());
        let second = bench(folder.path());
        let ledger = folder.path().join("book/.scritorio/ledger");
        let file = fs::read_dir(&ledger).unwrap().next().unwrap().unwrap().path();
        let (before, running) =
            (fs::read(&file).unwrap(), second.inner.running.killed().unwrap().remove(0).name);
        second.settle_killed().unwrap();
        // As if it had ended between the money and the end of the request.
        fs::write(&file, before).unwrap();
        fs::write(folder.path().join("data/running").join(running), "").unwrap();
        second.settle_killed().unwrap();
        assert_eq!(second.standing().month.responses, 1);
        assert_eq!(second.egress().open().unwrap(), []);
    }

    #[tokio::test]
    async fn killed_between_what_it_cost_and_the_end_of_the_request_it_counts_once_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        let open = first.egress().open().unwrap().remove(0);
        let usage = Usage { input_tokens: Some(7), output_tokens: Some(9), ..Usage::default() };
        let answered = Outcome { end: End::Answered, left: true, usage, ..Outcome::default() };
        let paid = first.bill(&open.sent).settle(&open.id, &answered);
        killed(first, folder.path());
        let second = bench(folder.path());
        let month = second.standing().month;
        second.settle_killed().unwrap();
        assert_eq!(second.standing().month, month);
        assert_eq!(second.egress().read().unwrap().0[0].ended.as_ref().unwrap().usage, paid);
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_can_not_be_written_down_is_settled_once_when_it_can() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        killed(first, folder.path());
        let second = bench(folder.path());
        let spending = folder.path().join("data/spending");
        std::os::unix::fs::symlink(folder.path().join("not-mounted"), &spending).unwrap();
        for _ in 0..3 {
            second.settle_killed().unwrap_err();
        }
        assert_eq!(second.egress().open().unwrap().len(), 1);
        assert_eq!(second.standing().month.responses, 1, "it counts against the budget meanwhile");
        fs::remove_file(&spending).unwrap();
        second.settle_killed().unwrap();
        assert_eq!((second.standing().month.responses, second.egress().open().unwrap()), (1, vec![]));
        assert_eq!(bench(folder.path()).standing().month, second.standing().month);
    }

    #[test]
    fn a_program_that_left_nothing_here_is_forgotten_after_two_months_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let running = folder.path().join("data/running");
        fs::create_dir_all(&running).unwrap();
        for (name, days) in [("p-new", 1), ("p-old", 100)] {
            let file = fs::File::create(running.join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_hours(24 * days)).unwrap();
        }
        bench.settle_killed().unwrap();
        let left: Vec<_> = fs::read_dir(&running).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["p-new"]);
    }

    #[tokio::test]
    async fn what_ended_by_itself_has_paid_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path());
        sends(&first, "openai", "gpt-5-mini").await;
        // Its end could not be noted, as on a full disk.
        drop(first);
        let second = bench(folder.path());
        second.settle_killed().unwrap();
        assert_eq!(second.standing().month.responses, 0);
    }
}
