//! What a program had sent that was killed before it could say what that cost.
//!
//! Its requests stand in the ledger without an end. The next question settles them, once: each gets an end, and its cost stands with what was spent, by the
//! tokens that were sent; what was answered is not known. Nothing is settled of a program that still runs, or that ended by itself.

use std::collections::HashSet;
use std::io;

use crate::domain::conversation::Usage;
use crate::domain::ids::TurnId;
use crate::store::egress::{Egress, Ended, Open, Purpose, Sent};
use crate::store::running::Killed;
use crate::store::spending::Spent;

use super::super::Workbench;
use super::Pricing;

impl Workbench {
    /// Settles what killed programs have left in this book's ledger, and in the one of what leaves without a book.
    pub(in super::super) fn settle_killed(&self) -> io::Result<()> {
        let killed = self.inner.running.killed()?;
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
        // One that is in neither ledger was at work on another book, which is settled when that is asked about.
        killed.into_iter().filter(|killed| seen.contains(&killed.name)).try_for_each(Killed::settled)
    }

    fn settle_open(&self, egress: &Egress, open: Open) -> io::Result<()> {
        let Open { id, at, sent } = open;
        let usage = self.pricing(&sent.provider, &sent.model, sent.tier.as_deref()).of_killed(&sent);
        let Sent { turn, provider, model, tier, .. } = sent;
        let spent = Spent {
            at,
            turn: turn.unwrap_or_else(TurnId::mint),
            provider,
            model,
            tier_asked: tier,
            tier: None,
            usage,
        };
        // First the money: killed in between, the next one finds it there.
        if usage.cost != Some(0.0) && !self.inner.spent.has(&spent)? {
            self.inner.spent.add_now(spent)?;
        }
        let end = Ended::KILLED.to_owned();
        egress.ended(&id, Ended { end, status: None, received: 0, tier: None, usage })
    }
}

impl Pricing {
    /// Returns what an attempt used of which nothing but the beginning is known: at least what was sent.
    fn of_killed(&self, sent: &Sent) -> Usage {
        let Some(tokens) = sent.tokens else { return Usage { cost: Some(0.0), ..Usage::default() } };
        let told =
            Usage { input_tokens: Some(tokens), output_tokens: Some(0), estimated: true, ..Usage::default() };
        let priced = self.prices.as_ref().map(|prices| prices.priced(told, self.tier_asked.as_deref(), None));
        let answered_in_words = sent.purpose != Purpose::Embeddings;
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

    use super::*;
    use crate::domain::ids::SessionId;
    use crate::providers::{Carried, Options, Request, Sending, ToolChoice};
    use crate::workbench::egress::Known;
    use crate::workbench::{Overrides, Surroundings};

    fn bench(folder: &Path) -> Workbench {
        for name in ["book/manuscript", "config"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("config/config.toml"), "[budget]\nrefuse = 1.0\n").unwrap();
        let overrides = Overrides { provider: Some("openai".into()), ..Overrides::default() };
        Workbench::open_in(&folder.join("book"), overrides, Surroundings::in_folders(folder)).unwrap()
    }

    /// Sends a long request, of which nothing is heard any more.
    async fn sends(bench: &Workbench, provider: &str, model: &str) {
        let turn = Some((SessionId::new("s-1"), TurnId::new("t-1")));
        let witness = bench.witness(turn, &bench.book(), Known::default());
        let texts = vec!["She waits for nobody.".to_owned(); 50_000];
        let request = Request {
            model: model.to_owned(),
            instructions: texts.join(" "),
            items: vec![],
            question: 0,
            fresh: 0,
            previous_response_id: None,
            tools: vec![],
            tool_choice: ToolChoice::Auto,
            options: Options::default(),
        };
        let of = Carried::Conversation(&request);
        let sending = Sending { destination: "https://api.openai.com/v1", provider, body: "{}", of };
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
