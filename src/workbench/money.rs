//! What asking costs: prices, what this month has cost, and the budget that warns and the one that refuses.
//!
//! Prices are the author's own, else what a server told when it was asked for its models, else the shipped lists; a model on this machine costs
//! nothing, and what nobody says is not guessed. Every response is noted in the data folder, over all books.

use std::sync::{Arc, Mutex, PoisonError};

use crate::agent::{Purse, TurnSetup, first_request};
use crate::config::money::Budget;
use crate::domain::conversation::{Failure, FailureKind, Usage};
use crate::domain::ids::TurnId;
use crate::domain::price::{Prices, dollars};
use crate::providers::{Request, presets, prices, tokens};
pub use crate::store::spending::Month;
use crate::store::spending::{Spending, Spent};

use super::Workbench;
use super::provider::OFFLINE;

/// Tokens of an answer that an estimate takes where no `max_output_tokens` is set. Most answers are shorter.
pub const EXPECTED_OUTPUT: u64 = 4_096;

/// What a request would cost, by an estimate: nothing of the input is cached, and the answer is as long as it may be.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Tokens of the request.
    pub input_tokens: u64,
    /// Tokens of the answer that the sum includes.
    pub output_tokens: u64,
    /// In US dollars; `None`: the price is not known.
    pub cost: Option<f64>,
    /// What it was worked out with.
    pub prices: Option<Prices>,
}

/// Where the author stands this month.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// What was spent.
    pub month: Month,
    /// What may be.
    pub budget: Budget,
}

impl Standing {
    /// Whether so much was spent that the author wants to be warned.
    pub fn warns(&self) -> bool {
        self.budget.warn.is_some_and(|warn| self.month.dollars >= warn)
    }

    /// Says what was spent, and of how much: `$4.80 of $10.00 this month`.
    pub fn words(&self) -> String {
        let of = self.budget.refuse.map(|most| format!(" of {}", dollars(most))).unwrap_or_default();
        format!("{}{of} this month", dollars(self.month.dollars))
    }
}

impl Workbench {
    /// Returns what a model of a provider costs; `None`: nobody says so.
    pub fn prices(&self, provider: &str, model: &str) -> Option<Prices> {
        if let Some(own) = self.settings().prices.get(model) {
            return Some(own.prices.clone());
        }
        if provider == OFFLINE {
            return Some(Prices::free());
        }
        let destination = self.destination(provider).ok()?;
        let host = host_of(&destination)?;
        // A proxy on this machine may bill for what it passes on; the usual local servers run the model themselves.
        let runs_here = presets::named(provider).is_some_and(|preset| preset.port.is_some());
        if runs_here && is_loopback(host) {
            return Some(Prices::free());
        }
        // What the server said itself is younger than a list that was shipped.
        let told = self.told_prices(provider, model);
        told.or_else(|| Some(prices::listed(host, model)?.prices))
    }

    /// Returns what this month has cost over all books, and the budget. What can't be read counts as nothing spent.
    pub fn standing(&self) -> Standing {
        let month = self.spending().month(&crate::store::now()).unwrap_or_default();
        Standing { month, budget: self.settings().budget }
    }

    /// Returns what is to be said about money before a turn is sent: that the author wants to be warned, or that a budget can't be checked.
    pub fn caution(&self, setup: &TurnSetup) -> Option<String> {
        let provider = setup.provider.name();
        let standing = self.standing();
        if provider == OFFLINE || !standing.budget.is_set() {
            return None;
        }
        let Some(cost) = self.estimate(setup, &first_request(setup)).cost else {
            return Some(format!(
                "The price of {model} is not known, so the budget can't be checked. Name it in config.toml under [prices.\"{model}\"].",
                model = setup.model
            ));
        };
        let warn = standing.budget.warn?;
        (standing.month.dollars + cost >= warn).then(|| {
            format!(
                "Budget: {}, up to about {} more now; you wanted to be warned from {}.",
                standing.words(),
                dollars(cost),
                dollars(warn)
            )
        })
    }

    /// Returns what `request`, the next one of a turn, would cost.
    pub(super) fn estimate(&self, setup: &TurnSetup, request: &Request) -> Estimate {
        let prices = self.prices(setup.provider.name(), &setup.model);
        estimate(prices, request)
    }

    /// Returns who pays for a turn.
    pub(super) fn purse(
        &self,
        turn: &TurnId,
        provider: &str,
        model: &str,
        tier: Option<&str>,
    ) -> Arc<dyn Purse> {
        if provider == OFFLINE {
            return Arc::new(());
        }
        Arc::new(Till {
            prices: self.prices(provider, model),
            standing: self.standing(),
            settings: self.inner.surroundings.folders.settings_file().display().to_string(),
            of: Spent {
                at: String::new(),
                turn: turn.clone(),
                provider: provider.to_owned(),
                model: model.to_owned(),
                tier_asked: tier.map(str::to_owned),
                tier: None,
                usage: Usage::default(),
            },
            book: self.inner.spent.clone(),
        })
    }

    /// Writes down what was spent and is not written yet. Returns why it can't be, if so.
    pub(super) fn write_spending(&self) -> std::io::Result<()> {
        self.inner.spent.write()
    }

    fn spending(&self) -> Spending {
        Spending::new(&self.inner.surroundings.folders.data)
    }
}

fn estimate(prices: Option<Prices>, request: &Request) -> Estimate {
    let input_tokens = tokens::of_request(request);
    let output_tokens = request.options.max_output_tokens.map_or(EXPECTED_OUTPUT, u64::from);
    let usage =
        Usage { input_tokens: Some(input_tokens), output_tokens: Some(output_tokens), ..Usage::default() };
    let tier = request.options.service_tier.as_deref();
    let cost = prices.as_ref().and_then(|prices| prices.cost(&usage, tier, None));
    Estimate { input_tokens, output_tokens, cost, prices }
}

/// Whether a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Returns the host of an address, without a port.
pub(super) fn host_of(address: &str) -> Option<&str> {
    let rest = address.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    if let Some(six) = host.strip_prefix('[') {
        return six.split(']').next();
    }
    host.split(':').next()
}

/// What was spent and is not on the disk yet.
#[derive(Debug, Clone)]
pub(super) struct Unwritten {
    spending: Spending,
    lines: Arc<Mutex<Vec<Spent>>>,
}

impl Unwritten {
    pub(super) fn new(spending: Spending) -> Self {
        Self { spending, lines: Arc::default() }
    }

    /// Writes every line. Whoever calls it last finds nothing left to do, and all of it written.
    fn write(&self) -> std::io::Result<()> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        self.spending.append(&lines)?;
        lines.clear();
        Ok(())
    }

    /// Takes a line, which is written in the background at once: what was paid for is noted even if the program ends in the middle of the turn.
    fn add(&self, line: Spent) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        let all = self.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            // What can't be written now is tried again, and told of, when the turn is kept.
            runtime.spawn_blocking(move || all.write());
        }
    }
}

/// Who pays for one turn.
struct Till {
    prices: Option<Prices>,
    /// How it stood when the turn was prepared.
    standing: Standing,
    /// Where the budget is set, for messages.
    settings: String,
    /// What every line of this turn says.
    of: Spent,
    book: Unwritten,
}

impl Purse for Till {
    fn allow(&self, request: &Request, spent: Option<f64>) -> Result<(), Failure> {
        let Budget { refuse, per_turn, .. } = self.standing.budget;
        // A price that is not known can't be checked, which was said before.
        let Some(next) = estimate(self.prices.clone(), request).cost else { return Ok(()) };
        let spent = spent.unwrap_or(0.0);
        let refused = |message: String, key: &str| Failure {
            kind: FailureKind::Work,
            message,
            hint: format!(
                "Raise `{key}` under [budget] in {}, or choose a cheaper model: `scritorio models` lists them.",
                self.settings
            ),
        };
        let about = dollars(next);
        if let Some(most) = per_turn.filter(|most| spent + next > *most) {
            let so_far =
                if spent > 0.0 { format!("has cost {}, and ", dollars(spent)) } else { String::new() };
            return Err(refused(
                format!(
                    "This question {so_far}would cost up to about {about} more (estimated): over the {} that one question may cost. Nothing more was sent.",
                    dollars(most)
                ),
                "per_turn",
            ));
        }
        let month = self.standing.month.dollars + spent;
        if let Some(most) = refuse.filter(|most| month + next > *most) {
            return Err(refused(
                format!(
                    "This month has cost {} of the {} that it may, and the next request would cost up to about {about} (estimated). Nothing more was sent.",
                    dollars(month),
                    dollars(most)
                ),
                "refuse",
            ));
        }
        Ok(())
    }

    fn spent(&self, usage: Usage, tier: Option<&str>) -> Usage {
        let asked = self.of.tier_asked.as_deref();
        let known = || self.prices.as_ref()?.cost(&usage, asked, tier);
        // A server that says itself what it takes knows better.
        let usage = Usage { cost: usage.cost.or_else(known), ..usage };
        if usage.cost != Some(0.0) {
            self.book.add(Spent {
                at: crate::store::now(),
                tier: tier.map(str::to_owned),
                usage,
                ..self.of.clone()
            });
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::domain::price::Source;
    use crate::providers::{Item, Options, ToolChoice};
    use crate::workbench::{Ask, Overrides, Surroundings};

    fn bench(folder: &std::path::Path, settings: &str) -> Workbench {
        for name in ["book/manuscript", "config"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("book/manuscript/01.md"), "# One\n\nMira waits.\n").unwrap();
        fs::write(folder.join("config/config.toml"), settings).unwrap();
        let overrides = Overrides { provider: Some("openai".into()), ..Overrides::default() };
        Workbench::open_in(&folder.join("book"), overrides, Surroundings::in_folders(folder)).unwrap()
    }

    fn request(tier: Option<&str>) -> Request {
        Request {
            model: "gpt-5-mini".into(),
            instructions: "Be brief.".into(),
            items: vec![Item::Author("Who is Mira?".into())],
            question: 0,
            fresh: 0,
            previous_response_id: None,
            tools: vec![],
            tool_choice: ToolChoice::Auto,
            options: Options {
                max_output_tokens: Some(1_000),
                service_tier: tier.map(str::to_owned),
                ..Options::default()
            },
        }
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
    }

    fn purse(bench: &Workbench) -> Arc<dyn Purse> {
        bench.purse(&TurnId::new("t-1"), "openai", "gpt-5-mini", None)
    }

    #[test]
    fn the_authors_own_price_wins_over_the_list_and_another_server_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let listed = bench(folder.path(), "").prices("openai", "gpt-5-mini").unwrap();
        assert!(matches!(listed.source, Source::List { .. }));
        assert_eq!(Some(listed.standard.input), Some(0.25));
        let own = bench(folder.path(), "[prices.gpt-5-mini]\ninput = 9\noutput = 9\n");
        assert_eq!(own.prices("openai", "gpt-5-mini").unwrap().source, Source::Author);
        let elsewhere = bench(folder.path(), "[provider]\nbase_url = 'https://proxy.example/v1'\n");
        assert_eq!(elsewhere.prices("openai", "gpt-5-mini"), None, "who knows what that one takes");
        assert_eq!(elsewhere.prices("offline", "offline"), Some(Prices::free()));
        assert_eq!(elsewhere.prices("ollama", "qwen3"), Some(Prices::free()));
        let box_ = bench(folder.path(), "[providers.ollama]\nbase_url = 'http://10.0.0.5:11434'\n");
        assert_eq!(box_.prices("ollama", "qwen3"), None);
        let proxy = bench(folder.path(), "[provider]\nbase_url = 'http://127.0.0.1:4000/v1'\n");
        assert_eq!(proxy.prices("openai", "gpt-5-mini"), None);
    }

    #[test]
    fn what_was_spent_is_kept_over_all_books_and_counts_against_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path(), "[budget]\nwarn = 0.5\nrefuse = 1.0\n");
        assert!(!first.standing().warns());
        let spent = purse(&first).spent(used(10, 10), Some("scale"));
        assert_eq!(spent.cost, None, "nobody says what that tier costs");
        let spent = purse(&first).spent(used(200_000, 300_000), Some("default"));
        assert!((spent.cost.unwrap() - 0.65).abs() < 1e-9);
        first.write_spending().unwrap();
        let other = bench(folder.path(), "[budget]\nwarn = 0.5\nrefuse = 0.6515\n");
        let standing = other.standing();
        assert!(standing.warns());
        assert_eq!((standing.month.responses, standing.month.unpriced), (2, 1));
        assert_eq!(standing.words(), "$0.65 of $0.65 this month");
        let refused = purse(&other).allow(&request(None), None).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Work);
        assert!(refused.message.contains("Nothing more was sent."), "{refused:?}");
        assert!(refused.hint.contains("`refuse` under [budget] in") && refused.hint.contains("config.toml"));
        assert_eq!(purse(&first).allow(&request(None), None), Ok(()));
    }

    #[test]
    fn one_question_of_many_rounds_stops_before_the_request_that_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let purse = purse(&bench(folder.path(), "[budget]\nper_turn = 0.005\n"));
        assert_eq!(purse.allow(&request(None), None), Ok(()));
        assert_eq!(purse.allow(&request(None), Some(0.002)), Ok(()));
        let refused = purse.allow(&request(None), Some(0.004)).unwrap_err();
        assert!(refused.message.contains("has cost $0.0040"), "{refused:?}");
        assert!(refused.hint.contains("`per_turn`"), "{refused:?}");
    }

    #[test]
    fn what_a_server_says_that_it_takes_counts() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "");
        let told = Usage { cost: Some(0.5), ..used(10, 10) };
        assert_eq!(purse(&bench).spent(told, None).cost, Some(0.5));
    }

    #[test]
    fn the_author_is_told_before_and_told_that_a_price_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        let caution = |settings: &str| {
            let bench = bench(folder.path(), settings);
            let ask = Ask { question: "Who is Mira?".into(), ..Ask::default() };
            let destination = bench.destination("openai").unwrap();
            let setup = bench.setup(&ask, "openai", &destination).unwrap();
            bench.caution(&setup)
        };
        assert_eq!(caution(""), None);
        assert_eq!(caution("[budget]\nwarn = 5\n"), None);
        let said = caution("[budget]\nwarn = 0.001\n").unwrap();
        assert!(said.contains("you wanted to be warned from $0.0010"), "{said}");
        let said = caution("[budget]\nrefuse = 5\n[provider]\nmodel = 'brand-new'\n").unwrap();
        assert!(said.contains("price of brand-new is not known") && said.contains("[prices.\"brand-new\"]"));
    }

    #[test]
    fn a_host_is_found_in_any_address() {
        for (address, host) in [
            ("https://api.openai.com/v1/responses", "api.openai.com"),
            ("http://127.0.0.1:11434/api/chat", "127.0.0.1"),
            ("http://[::1]:8080/v1", "::1"),
            ("https://a:b@h?x", "h"),
        ] {
            assert_eq!(host_of(address), Some(host));
        }
        assert_eq!(host_of("nowhere"), None);
    }
}
