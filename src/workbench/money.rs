//! What asking costs: prices, what this month has cost, and the budget that warns and the one that refuses.
//!
//! Prices are the author's own, else what a server told when it was asked for its models, else the shipped lists; a server on this machine costs
//! nothing, and what nobody says is not guessed: a budget that refuses sends nothing of unknown cost. Every response is noted in the data folder, over
//! all books, one that broke off with an estimate.

mod killed;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::agent::{Purse, TurnSetup, first_request};
use crate::config::money::Budget;
use crate::domain::conversation::{Failure, FailureKind, Usage};
use crate::domain::ids::TurnId;
use crate::domain::price::{Prices, dollars, of_unknown_cost};
use crate::providers::{Outcome, Request, prices, tokens};
use crate::store::egress::Sent;
pub use crate::store::spending::Month;
use crate::store::spending::{Spending, Spent, Unread};

use super::Workbench;
use super::provider::OFFLINE;

/// Tokens of an answer that an estimate takes where no `max_output_tokens` is set. Most answers are shorter.
pub const EXPECTED_OUTPUT: u64 = 4_096;

/// Searches of the web that an estimate takes where the model may have them done.
const EXPECTED_SEARCHES: u64 = 3;

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

    /// Says what was spent, and of how much: `$4.80 of $10.00 this month`, `at least $4.80 this month, 2 requests of unknown cost`.
    pub fn words(&self) -> String {
        let of = self.budget.refuse.map(|most| format!(" of {}", dollars(most))).unwrap_or_default();
        let unknown = self.unknown().map(|words| format!(", {words}")).unwrap_or_default();
        format!("{}{of} this month{unknown}", self.sum())
    }

    /// Says what was spent, as far as it is known: `about $4.80`, `at least $4.80`.
    pub fn sum(&self) -> String {
        let Month { dollars: amount, estimated, .. } = self.month;
        let at_least = if self.month.is_at_least() { "at least " } else { "" };
        let about = if estimated > 0 && amount >= 0.0001 { "about " } else { "" };
        format!("{at_least}{about}{}", dollars(amount))
    }

    /// Says how many requests nobody knows the cost of, if there were any.
    pub fn unknown(&self) -> Option<String> {
        (self.month.unpriced > 0).then(|| of_unknown_cost(self.month.unpriced as u64))
    }
}

impl Workbench {
    /// Returns what a model of a provider costs; `None`: nobody says so.
    pub fn prices(&self, provider: &str, model: &str) -> Option<Prices> {
        self.prices_at(provider, model, &self.destination(provider).unwrap_or_default())
    }

    /// The same where it stands, or stood when it was asked, at `destination`.
    fn prices_at(&self, provider: &str, model: &str, destination: &str) -> Option<Prices> {
        let host = host_of(destination);
        let web_search = host.and_then(prices::web_search);
        if let Some(own) = self.settings().prices.get(model) {
            let own = own.prices.clone();
            return Some(Prices {
                priority_ratio: prices::priority_ratio(model),
                web_search: own.web_search.or(web_search),
                ..own
            });
        }
        if provider == OFFLINE {
            return Some(Prices::free());
        }
        // What the server said itself is younger than a list that was shipped.
        let stands_there =
            || self.destination(provider).is_ok_and(|now| host.is_some() && host_of(&now) == host);
        let told = self.told_prices(provider, model).filter(|_| stands_there());
        let told = told.map(|told| Prices { web_search, ..told });
        // A server on this machine runs the model itself. Where it is a proxy that bills and does not say so, the author has to.
        let here = || host.is_some_and(is_loopback).then(Prices::free);
        told.or_else(here).or_else(|| Some(prices::listed(host?, model)?.prices))
    }

    /// Returns what this month has cost over all books, and the budget. What can't be read counts as nothing spent, and the month says so.
    pub fn standing(&self) -> Standing {
        Standing { month: self.inner.spent.sums(None).0, budget: self.settings().budget }
    }

    /// Returns what is to be said about money before a turn is sent: that the author wants to be warned, or that a budget can't be checked. What a killed
    /// program has left is settled before, so that it counts.
    pub fn caution(&self, setup: &TurnSetup) -> Option<String> {
        let provider = setup.provider.name();
        self.settle_spending();
        let standing = self.standing();
        if provider == OFFLINE || !standing.budget.is_set() {
            return None;
        }
        if let Some(unread) = standing.month.unread.as_ref().filter(|_| !standing.budget.refuses_unknown()) {
            return Some(format!("The budget can't be checked: {}.", unread.words()));
        }
        let request = first_request(setup);
        let Some(cost) = self.estimate(setup, &request, &setup.provider.body(&request)).cost else {
            // A budget that refuses says so itself.
            return (!standing.budget.refuses_unknown()).then(|| format!(
                "The price of {model} is not known, so the budget can't be checked. Name it in config.toml under [prices.\"{model}\"].",
                model = setup.model
            ));
        };
        let warn = standing.budget.warn?;
        (standing.month.dollars + cost >= warn).then(|| {
            format!(
                "Budget: up to {} now, warning at {}; {}.",
                dollars(cost),
                dollars(warn),
                standing.words()
            )
        })
    }

    /// Returns what `request`, the next one of a turn, would cost with this body.
    pub(super) fn estimate(&self, setup: &TurnSetup, request: &Request, body: &Value) -> Estimate {
        let prices = self.prices(setup.provider.name(), &setup.model);
        estimate(prices, request, tier_in(body), tokens::of(request, body))
    }

    /// Returns who knows what a turn may spend.
    pub(super) fn purse(&self, turn: &TurnId, provider: &str, model: &str) -> Arc<dyn Purse> {
        if provider == OFFLINE {
            return Arc::new(());
        }
        Arc::new(self.till(turn, provider, model))
    }

    /// Returns who knows what may be spent on what is asked of a server as part of a turn.
    pub(super) fn till(&self, turn: &TurnId, provider: &str, model: &str) -> Till {
        Till {
            prices: self.prices(provider, model),
            budget: self.settings().budget,
            settings: self.inner.surroundings.folders.settings_file().display().to_string(),
            turn: turn.clone(),
            model: model.to_owned(),
            began: AtomicBool::new(false),
            book: self.inner.spent.clone(),
        }
    }

    /// Returns who puts a cost to a request and books it.
    pub(super) fn bill(&self, sent: &Sent) -> Bill {
        Bill {
            prices: self.prices_at(&sent.provider, &sent.model, &sent.destination),
            tokens: sent.tokens,
            of: Spent {
                at: String::new(),
                request: None,
                turn: sent.turn.clone(),
                provider: sent.provider.clone(),
                model: sent.model.clone(),
                tier_asked: sent.tier.clone(),
                tier: None,
                usage: Usage::default(),
            },
            book: self.inner.spent.clone(),
        }
    }

    /// Writes down what was spent and is not written yet. Returns why it can't be, if so.
    pub(super) fn write_spending(&self) -> std::io::Result<()> {
        self.inner.spent.write()
    }
}

/// The tier that `body` asks for; `None` where the server takes none, or has refused it.
pub(super) fn tier_in(body: &Value) -> Option<&str> {
    body.get("service_tier")?.as_str()
}

/// What a request of so many tokens would cost on a tier.
fn estimate(prices: Option<Prices>, request: &Request, tier: Option<&str>, input_tokens: u64) -> Estimate {
    let output_tokens = request.options.max_output_tokens.map_or(EXPECTED_OUTPUT, u64::from);
    let usage =
        Usage { input_tokens: Some(input_tokens), output_tokens: Some(output_tokens), ..Usage::default() };
    // Where no fee is known, there most likely is no such search; one that is done all the same is told of.
    let searches =
        request.options.web_search && prices.as_ref().is_some_and(|prices| prices.web_search.is_some());
    let usage = Usage { web_searches: if searches { EXPECTED_SEARCHES } else { 0 }, ..usage };
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

    /// Sums up this month over all books, and what `turn` has cost in it, in US dollars; of both, what is not on the disk yet too. `None`: what the turn has cost
    /// can't be read.
    fn sums(&self, turn: Option<&TurnId>) -> (Month, Option<f64>) {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let now = crate::store::now();
        let kept = self.spending.month(&now);
        // Lines that were there before, and that this version can't read, are of other turns.
        let is_read = kept.is_ok();
        let (kept, unread) = kept.unwrap_or_else(|unread| (vec![], Some(unread)));
        let mut month = Month { unread, ..Month::of(&now) };
        let mut of_turn = 0.0;
        for line in kept.iter().chain(lines.iter()) {
            month.add(line);
            if turn.is_some() && line.turn.as_ref() == turn {
                of_turn += line.dollars();
            }
        }
        (month, is_read.then_some(of_turn))
    }

    /// Writes every line. Whoever calls it last finds nothing left to do, and all of it written.
    fn write(&self) -> std::io::Result<()> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        self.spending.append(&mut lines)
    }

    /// Returns the line of a request that left at `at`, if it has one.
    fn line_of(&self, request: &str, at: &str) -> std::io::Result<Option<Spent>> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have been answered in the month after.
        let kept = [self.spending.lines(at)?, self.spending.lines(&crate::store::now())?].concat();
        let mut all = kept.into_iter().chain(lines.iter().cloned());
        Ok(all.find(|line| line.request.as_deref() == Some(request)))
    }

    /// Takes a line, and writes it at once: what was paid for is noted even if the program is killed in the middle of the turn. Where it can't be
    /// written it is tried again with the next one.
    fn add(&self, line: Spent) -> std::io::Result<()> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        self.write()
    }
}

/// Puts a cost to one request, and books it.
#[derive(Debug)]
pub(super) struct Bill {
    prices: Option<Prices>,
    /// Tokens that are sent, estimated; `None`: no model is asked for anything.
    tokens: Option<u64>,
    /// What the line says.
    of: Spent,
    book: Unwritten,
}

impl Bill {
    /// Returns what a request used with what it cost. What its server did not tell is estimated, also where it is free. One that never left, was refused at the door,
    /// or asked no model is free.
    fn priced(&self, outcome: &Outcome) -> Usage {
        let told = outcome.usage;
        let Some(sent) = self.tokens.filter(|_| outcome.may_be_billed()) else {
            return Usage { cost: told.cost.or(Some(0.0)), ..told };
        };
        match &self.prices {
            // A server that says itself what it takes knows better.
            _ if told.cost.is_some() => told,
            Some(prices) => {
                prices.priced(outcome.used(sent), self.of.tier_asked.as_deref(), outcome.tier.as_deref())
            }
            None => Usage { unpriced: 1, ..outcome.used(sent) },
        }
    }

    /// Books what `request`, by its id in the ledger, came to. Returns what it used with what it cost.
    pub(super) fn settle(self, request: &str, outcome: &Outcome) -> Usage {
        let usage = self.priced(outcome);
        // What can't be written now is tried again, and told of, when the turn is kept.
        let _ = self.enter(request, crate::store::now(), outcome.tier.clone(), usage);
        usage
    }

    /// Writes down what a request cost, unless that is nothing.
    fn enter(self, request: &str, at: String, tier: Option<String>, usage: Usage) -> std::io::Result<()> {
        if usage.cost == Some(0.0) {
            return Ok(());
        }
        self.book.add(Spent { at, request: Some(request.to_owned()), tier, usage, ..self.of })
    }
}

/// Knows what one turn may spend, and what is asked as part of it.
pub(super) struct Till {
    prices: Option<Prices>,
    budget: Budget,
    /// Where the budget is set, for messages.
    settings: String,
    turn: TurnId,
    model: String,
    /// Whether a request of this turn was let go.
    began: AtomicBool,
    book: Unwritten,
}

impl Till {
    /// Whether texts of so many tokens may be sent to become vectors.
    pub(super) fn allow_texts(&self, tokens: u64) -> Result<(), Failure> {
        let usage = Usage { input_tokens: Some(tokens), output_tokens: Some(0), ..Usage::default() };
        self.may_spend(self.prices.as_ref().and_then(|prices| prices.cost(&usage, None, None)), None)
    }

    /// Whether so much more may be spent, in US dollars, on a tier; `None`: nobody knows how much it is.
    fn may_spend(&self, next: Option<f64>, tier: Option<&str>) -> Result<(), Failure> {
        let Budget { refuse, per_turn, .. } = self.budget;
        if !self.budget.limits() || next == Some(0.0) {
            return Ok(());
        }
        let refuses_unknown = self.budget.refuses_unknown();
        if next.is_none() && !refuses_unknown {
            return Ok(());
        }
        let (month, of_turn) = self.book.sums(Some(&self.turn));
        let spent = of_turn.unwrap_or(0.0);
        let left = self.left(spent);
        let Some(next) = next else { return Err(self.of_unknown_cost(tier, left)) };
        let is_unknown = |_: &&Unread| refuses_unknown && (refuse.is_some() || of_turn.is_none());
        if let Some(unread) = month.unread.as_ref().filter(is_unknown) {
            return Err(self.of_unknown_sum(unread, left));
        }
        let about = dollars(next);
        if let Some(most) = per_turn.filter(|most| spent + next > *most) {
            let so_far =
                if spent > 0.0 { format!("has cost {}, and ", dollars(spent)) } else { String::new() };
            return Err(self.refused(
                format!(
                    "This question {so_far}would cost up to about {about} more (estimated): over the {} that one question may cost. {left}",
                    dollars(most)
                ),
                "per_turn",
            ));
        }
        if let Some(most) = refuse.filter(|most| month.dollars + next > *most) {
            let standing = Standing { month, budget: self.budget };
            return Err(self.refused(
                format!(
                    "This month has cost {} of the {} that it may, and the next request would cost up to about {about} (estimated). {left}",
                    standing.sum(),
                    dollars(most)
                ),
                "refuse",
            ));
        }
        Ok(())
    }

    fn refused(&self, message: String, key: &str) -> Failure {
        Failure {
            kind: FailureKind::Work,
            message,
            hint: format!(
                "Raise `{key}` under [budget] in {}, or choose a cheaper model: `scritorio models` lists them.",
                self.settings
            ),
        }
    }

    /// Says what of a turn that is refused has left, which has cost so much until now.
    fn left(&self, spent: f64) -> &'static str {
        let began = spent > 0.0 || self.began.load(Ordering::Relaxed);
        if began { "Nothing more was sent." } else { "Nothing was sent." }
    }

    fn of_unknown_sum(&self, unread: &Unread, left: &str) -> Failure {
        Failure {
            kind: FailureKind::Work,
            message: format!(
                "What this month has cost is not known, so the budget can't be kept: {}. {left}",
                unread.words()
            ),
            hint: format!(
                "Bring the file back from a backup, or update Scritorio if a later version wrote in it. Without the file, what stands in it counts no more. Or set `unknown = \"allow\"` under [budget] in {}.",
                self.settings
            ),
        }
    }

    fn of_unknown_cost(&self, tier: Option<&str>, left: &str) -> Failure {
        let model = &self.model;
        let tier = tier.map(|tier| format!(" on the {tier} tier")).unwrap_or_default();
        Failure {
            kind: FailureKind::Work,
            message: format!("The price of {model}{tier} is not known, so the budget can't be kept. {left}"),
            hint: format!(
                "Name it under [prices.\"{model}\"] in {}, or set `unknown = \"allow\"` under [budget] there.",
                self.settings
            ),
        }
    }
}

impl Purse for Till {
    fn allow(&self, request: &Request, body: &dyn Fn() -> Value) -> Result<(), Failure> {
        if !self.budget.limits() {
            self.began.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let body = body();
        let (tier, tokens) = (tier_in(&body), tokens::of(request, &body));
        let cost = |tier| estimate(self.prices.clone(), request, tier, tokens).cost;
        // Where there is no room on the flex tier, the same request is sent on the default tier.
        let default = |next: f64| cost(None).map_or(next, |default| default.max(next));
        let next = cost(tier);
        self.may_spend(if tier == Some("flex") { next.map(default) } else { next }, tier)?;
        self.began.store(true, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::domain::price::Source;
    use crate::providers::{End, Item, Options};
    use crate::store::egress::{Purpose, Said};
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
            options: Options {
                max_output_tokens: Some(1_000),
                service_tier: tier.map(str::to_owned),
                ..Options::default()
            },
            ..Request::default()
        }
    }

    /// A body of [`request`], on no tier.
    fn one() -> Value {
        json!({})
    }

    fn used(input: u64, output: u64) -> Usage {
        Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
    }

    fn purse(bench: &Workbench) -> Arc<dyn Purse> {
        bench.purse(&TurnId::new("t-1"), "openai", "gpt-5-mini")
    }

    /// What a whole answer came to that says its tokens, on a tier.
    fn on(usage: Usage, tier: Option<&str>) -> Outcome {
        Outcome { end: End::Answered, left: true, usage, tier: tier.map(str::to_owned), ..Outcome::default() }
    }

    #[test]
    fn what_is_shown_before_sending_and_what_a_budget_allows_are_priced_by_the_tier_that_is_in_the_body() {
        let folder = tempfile::tempdir().unwrap();
        // The second one's server takes no tier, and that model has no price on this one.
        for (provider, model, tier, asked) in [
            ("openai", "gpt-5-mini", "flex", Some("flex")),
            ("openai", "gpt-5-mini", "priority", Some("priority")),
            ("anthropic", "claude-sonnet-4-5", "priority", None),
        ] {
            let settings = format!("[options]\nservice_tier = '{tier}'\n[budget]\nrefuse = 10\n");
            let bench =
                bench(folder.path(), &format!("{settings}[providers.{provider}]\nmodel = '{model}'\n"));
            let ask = Ask { question: "Who is Mira?".into(), ..Ask::default() };
            let setup = bench.setup(&ask, provider, &bench.destination(provider).unwrap()).unwrap();
            let request = first_request(&setup);
            let body = setup.provider.body(&request);
            assert_eq!(request.options.service_tier.as_deref(), Some(tier));
            assert_eq!(tier_in(&body), asked, "{provider}");
            let cost = |body: &Value| bench.estimate(&setup, &request, body).cost.unwrap();
            let mut plain = body.clone();
            plain.as_object_mut().unwrap().shift_remove("service_tier");
            let times = cost(&body) / cost(&plain);
            let is_right = match asked {
                Some("flex") => times < 0.6,
                Some(_) => times > 1.5,
                None => (times - 1.0).abs() < 1e-9,
            };
            assert!(is_right, "{provider} {tier}: {times}");
            assert_eq!(setup.purse.allow(&request, &|| body.clone()), Ok(()), "{provider}");
        }
    }

    /// Books what a request of so many tokens came to, as part of the turn `t-1`.
    fn books(bench: &Workbench, provider: &str, model: &str, sent: u64, outcome: &Outcome) -> Usage {
        let sent = Sent {
            purpose: Purpose::Turn,
            session: None,
            turn: Some(TurnId::new("t-1")),
            destination: bench.destination(provider).unwrap(),
            provider: provider.into(),
            model: model.into(),
            tier: None,
            bytes: 0,
            sha256: String::new(),
            tokens: Some(sent),
            process: None,
            tools: vec![],
            author: Said::default(),
            spans: vec![],
        };
        bench.bill(&sent).settle("e-1", outcome)
    }

    /// Books a whole answer of the usual model.
    fn spends(bench: &Workbench, outcome: &Outcome) -> Usage {
        books(bench, "openai", "gpt-5-mini", 0, outcome)
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
        let here = "[provider]\nbase_url = 'http://127.0.0.1:4000/v1'\n";
        assert_eq!(bench(folder.path(), here).prices("openai", "gpt-5-mini"), Some(Prices::free()));
        let proxy = bench(folder.path(), &format!("{here}[prices.gpt-5-mini]\ninput = 9\noutput = 9\n"));
        assert_eq!(proxy.prices("openai", "gpt-5-mini").unwrap().source, Source::Author);
    }

    #[test]
    fn what_was_spent_is_kept_over_all_books_and_counts_against_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let first = bench(folder.path(), "[budget]\nwarn = 0.5\nrefuse = 1.0\n");
        assert!(!first.standing().warns());
        let spent = spends(&first, &on(used(10, 10), Some("scale")));
        assert_eq!((spent.cost, spent.unpriced), (None, 1), "nobody says what that tier costs");
        let spent = spends(&first, &on(used(200_000, 300_000), Some("default")));
        assert!((spent.cost.unwrap() - 0.65).abs() < 1e-9);
        let other = bench(folder.path(), "[budget]\nwarn = 0.5\nrefuse = 0.6515\n");
        let standing = other.standing();
        assert!(standing.warns());
        assert_eq!((standing.month.responses, standing.month.unpriced), (2, 1));
        assert_eq!(standing.words(), "at least $0.65 of $0.65 this month, 1 request of unknown cost");
        let refused = purse(&other).allow(&request(None), &one).unwrap_err();
        assert_eq!(refused.kind, FailureKind::Work);
        assert!(refused.message.ends_with("Nothing more was sent."), "{refused:?}");
        let next = other.purse(&TurnId::new("t-2"), "openai", "gpt-5-mini");
        let refused = next.allow(&request(None), &one).unwrap_err();
        assert!(refused.message.ends_with("Nothing was sent."), "of the next question: {refused:?}");
        assert!(refused.hint.contains("`refuse` under [budget] in") && refused.hint.contains("config.toml"));
        assert_eq!(purse(&first).allow(&request(None), &one), Ok(()));
    }

    #[test]
    fn one_question_of_many_rounds_stops_before_the_request_that_is_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "[budget]\nper_turn = 0.005\n");
        let purse = purse(&bench);
        assert_eq!(purse.allow(&request(None), &one), Ok(()));
        spends(&bench, &on(used(0, 1_000), None));
        assert_eq!(purse.allow(&request(None), &one), Ok(()));
        spends(&bench, &on(used(0, 1_000), None));
        let refused = purse.allow(&request(None), &one).unwrap_err();
        assert!(refused.message.contains("has cost $0.0040"), "{refused:?}");
        assert!(refused.hint.contains("`per_turn`"), "{refused:?}");
        let other = bench.purse(&TurnId::new("t-2"), "openai", "gpt-5-mini");
        assert_eq!(other.allow(&request(None), &one), Ok(()), "another question");
    }

    #[test]
    fn a_response_that_tells_no_tokens_is_priced_by_an_estimate_unless_nothing_costs_anything() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "");
        let stopped = Outcome { left: true, arrived: 1_000, ..Outcome::default() };
        let stops = |provider, model| books(&bench, provider, model, 100_000, &stopped);
        let spent = stops("openai", "gpt-5-mini");
        assert!((spent.cost.unwrap() - 0.027).abs() < 1e-9 && spent.estimated, "{spent:?}");
        let unknown = stops("openai", "brand-new");
        assert_eq!((unknown.cost, unknown.unpriced, unknown.estimated), (None, 1, true));
        let local = stops("ollama", "qwen3");
        assert_eq!((local.cost, local.estimated), (Some(0.0), true), "free, and said all the same");
        assert_eq!((local.input_tokens, local.output_tokens), (Some(100_000), Some(1_000)));
        let month = bench.standing().month;
        assert_eq!((month.responses, month.estimated, month.unpriced), (2, 2, 1));
        assert_eq!(bench.standing().words(), "at least about $0.0270 this month, 1 request of unknown cost");
    }

    #[test]
    fn a_budget_that_refuses_sends_nothing_of_unknown_cost_unless_the_author_allows_it() {
        let folder = tempfile::tempdir().unwrap();
        let asks = |provider: &str, settings: &str| {
            let bench = bench(folder.path(), settings);
            bench.purse(&TurnId::new("t-1"), provider, "brand-new").allow(&request(None), &one)
        };
        for limit in ["refuse = 100", "per_turn = 100"] {
            let refused = asks("openai", &format!("[budget]\n{limit}\n")).unwrap_err();
            assert!(refused.message.contains("price of brand-new is not known"), "{refused:?}");
            assert!(refused.hint.contains("[prices.\"brand-new\"]"), "{refused:?}");
            assert_eq!(asks("openai", &format!("[budget]\n{limit}\nunknown = 'allow'\n")), Ok(()));
            assert_eq!(asks("ollama", &format!("[budget]\n{limit}\n")), Ok(()), "it runs on this machine");
            let here = format!("[provider]\nbase_url = 'http://[::1]:8080/v1'\n[budget]\n{limit}\n");
            assert_eq!(asks("openai", &here), Ok(()));
            let own = format!("[prices.brand-new]\ninput = 1\noutput = 1\n[budget]\n{limit}\n");
            assert_eq!(asks("openai", &own), Ok(()));
        }
        assert_eq!(asks("openai", "[budget]\nwarn = 1\n"), Ok(()));
    }

    #[test]
    fn a_budget_that_refuses_sends_nothing_where_what_was_spent_can_not_be_read_unless_that_is_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let asks = |settings: &str| {
            let bench = bench(folder.path(), settings);
            let next = bench.purse(&TurnId::new("t-2"), "openai", "gpt-5-mini");
            (next.allow(&request(None), &one), bench.standing())
        };
        spends(&bench(folder.path(), ""), &on(used(0, 1_000), None));
        let (allowed, standing) = asks("[budget]\nrefuse = 1\n");
        assert_eq!((allowed, standing.month.unread.as_ref()), (Ok(()), None));
        let file = folder.path().join("data/spending").join(format!("{}.jsonl", standing.month.month));
        let text = fs::read_to_string(&file).unwrap();
        let refuses = |limit: &str, why: &str| {
            let (refused, standing) = asks(&format!("[budget]\n{limit} = 1\n"));
            let refused = refused.unwrap_err();
            for words in ["What this month has cost is not known", why, "Nothing was sent."] {
                assert!(refused.message.contains(words), "{refused:?}");
            }
            assert!(refused.message.contains(&file.display().to_string()), "{refused:?}");
            assert!(refused.hint.contains("unknown = \"allow\""), "{refused:?}");
            assert!(standing.words().starts_with("at least $"), "{standing:?}");
            let (allowed, _) = asks(&format!("[budget]\n{limit} = 1\nunknown = 'allow'\n"));
            assert_eq!(allowed, Ok(()));
            assert_eq!(asks("[budget]\nwarn = 1\n").0, Ok(()));
        };
        fs::write(&file, format!("{text}{}", text.replace("\"v\":1", "\"v\":2"))).unwrap();
        refuses("refuse", "has 1 line that");
        let (allowed, _) = asks("[budget]\nper_turn = 1\n");
        assert_eq!(allowed, Ok(()), "no line of this question is among those");
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        refuses("refuse", "can't be read");
        refuses("per_turn", "can't be read");
    }

    #[test]
    fn the_authors_own_price_counts_for_every_tier_and_never_as_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(
            folder.path(),
            "[prices.gpt-5-mini]\ninput = 1\noutput = 10\n[prices.mine]\ninput = 1\noutput = 10\n",
        );
        let cost =
            |model: &str, tier: &str| books(&bench, "openai", model, 0, &on(used(0, 100_000), Some(tier)));
        let (flex, priority) = (cost("gpt-5-mini", "flex"), cost("gpt-5-mini", "priority"));
        assert_eq!((flex.cost, flex.estimated), (Some(1.0), true), "flex is never dearer");
        assert!((priority.cost.unwrap() - 1.8).abs() < 1e-9, "as the list has it: {priority:?}");
        assert_eq!((cost("mine", "priority").cost, cost("mine", "priority").unpriced), (None, 1));
        assert_eq!(bench.standing().month.unpriced, 2);
    }

    #[test]
    fn a_request_on_the_flex_tier_must_be_affordable_on_the_default_tier_too() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "[budget]\nrefuse = 0.0015\n");
        let on_flex = || json!({ "service_tier": "flex" });
        assert!(
            purse(&bench).allow(&request(Some("flex")), &on_flex).is_err(),
            "two thousandths of a dollar, if there is no room"
        );
    }

    #[test]
    fn searches_of_the_web_are_part_of_the_cost() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "[budget]\nrefuse = 0.02\n");
        let searched = Usage { web_searches: 2, ..used(0, 0) };
        assert_eq!(spends(&bench, &on(searched, None)).cost, Some(0.02));
        let folder = tempfile::tempdir().unwrap();
        let bench = self::bench(folder.path(), "[budget]\nrefuse = 0.02\n");
        assert_eq!(purse(&bench).allow(&request(None), &one), Ok(()));
        let mut searching = request(None);
        searching.options.web_search = true;
        assert!(purse(&bench).allow(&searching, &one).is_err(), "three of them cost more than that");
    }

    #[test]
    fn what_a_server_says_that_it_takes_counts() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "");
        let told = Usage { cost: Some(0.5), ..used(10, 10) };
        assert_eq!(spends(&bench, &on(told, None)).cost, Some(0.5));
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
        assert!(said.contains(" now, warning at $0.0010; "), "{said}");
        assert!(said.chars().count() < 80, "it stands in one row: {said}");
        let said = caution("[budget]\nwarn = 0.001\nrefuse = 1000\n").unwrap();
        assert!(said.chars().count() < 80, "it stands in one row: {said}");
        let spending = folder.path().join("data/spending");
        fs::create_dir_all(folder.path().join("data")).unwrap();
        fs::write(&spending, "a file, where the folder would be").unwrap();
        for budget in ["warn = 5", "refuse = 5\nunknown = 'allow'"] {
            let said = caution(&format!("[budget]\n{budget}\n")).unwrap();
            assert!(said.starts_with("The budget can't be checked: ") && said.contains("can't be read"));
        }
        assert_eq!(caution("[budget]\nrefuse = 5\n"), None, "the budget refuses, and says why");
        fs::remove_file(&spending).unwrap();
        let refused = caution("[budget]\nrefuse = 5\n[provider]\nmodel = 'brand-new'\n");
        assert_eq!(refused, None, "the budget refuses, and says why");
        let said = caution("[budget]\nwarn = 5\n[provider]\nmodel = 'brand-new'\n").unwrap();
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
