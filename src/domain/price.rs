//! What tokens cost: prices, and the cost of what was used.
//!
//! Arithmetic alone: which model has which price is for others to say. Nothing is guessed: what is not known costs `None`, never nothing.

use serde::{Deserialize, Serialize};

use super::usage::Usage;

/// Tokens that prices are given for.
const MILLION: f64 = 1_000_000.0;

/// Searches of the web that their fee is given for.
const THOUSAND: f64 = 1_000.0;

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What is sent and the server still has from before; `None`: as much as other input.
    #[serde(default)]
    pub cached_input: Option<f64>,
    /// What is sent and the server keeps for later; `None`: as much as other input.
    #[serde(default)]
    pub cache_write: Option<f64>,
    /// What comes back, reasoning included.
    pub output: f64,
}

impl Price {
    /// Of a model on the author's own machine.
    pub const FREE: Self = Self { input: 0.0, cached_input: None, cache_write: None, output: 0.0 };

    /// Whether nothing costs anything.
    pub fn is_free(&self) -> bool {
        let all = [Some(self.input), self.cached_input, self.cache_write, Some(self.output)];
        all.into_iter().flatten().all(|price| price == 0.0)
    }

    /// Returns it multiplied.
    #[must_use]
    pub fn times(&self, factor: f64) -> Self {
        Self {
            input: self.input * factor,
            cached_input: self.cached_input.map(|price| price * factor),
            cache_write: self.cache_write.map(|price| price * factor),
            output: self.output * factor,
        }
    }

    /// Returns what the tokens cost in US dollars; `None` where nobody told them and they are not free.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
        if self.is_free() {
            return Some(0.0);
        }
        let (input, output) = (usage.input_tokens?, usage.output_tokens?);
        let cached = usage.cached_tokens.unwrap_or(0).min(input);
        let written = usage.cache_write_tokens.unwrap_or(0).min(input - cached);
        let fresh = input - cached - written;
        let sum = fresh as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + written as f64 * self.cache_write.unwrap_or(self.input)
            + output as f64 * self.output;
        Some(sum / MILLION)
    }

    /// Whether it can be one: no number below zero, none without end.
    pub fn is_sound(&self) -> bool {
        let all = [Some(self.input), self.cached_input, self.cache_write, Some(self.output)];
        all.into_iter().flatten().all(|price| price.is_finite() && price >= 0.0)
    }
}

/// What one model costs on every tier that has a price of its own, and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prices {
    /// On the default tier.
    pub standard: Price,
    /// On the flex tier; `None`: not known.
    pub flex: Option<Price>,
    /// On the priority tier; `None`: not known.
    pub priority: Option<Price>,
    /// How many times the default tier the priority tier costs by a provider's list, for where its own price is not known.
    pub priority_ratio: Option<f64>,
    /// US dollars for a thousand searches of the web that the provider does for the model; `None`: not known.
    pub web_search: Option<f64>,
    /// Most tokens of input that these prices are for; more than that costs something else.
    pub up_to: Option<u64>,
    /// Who says so.
    pub source: Source,
}

/// Who says what a model costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Source {
    /// The author's own `[prices]`.
    Author,
    /// The price list of a provider.
    List {
        /// The day of which it is, as `2026-11-21`.
        as_of: String,
        /// Where it stands.
        link: String,
    },
    /// The provider's server, when it was asked for its models.
    Server {
        /// The day on which it was asked.
        as_of: String,
    },
    /// It runs on this machine.
    Local,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Author => f.write_str("your own prices"),
            Self::List { as_of, .. } => write!(f, "price list of {as_of}"),
            Self::Server { as_of } => write!(f, "the server, {as_of}"),
            Self::Local => f.write_str("on this machine"),
        }
    }
}

impl Prices {
    /// Of a model on the author's own machine.
    pub fn free() -> Self {
        Self {
            standard: Price::FREE,
            flex: Some(Price::FREE),
            priority: Some(Price::FREE),
            priority_ratio: None,
            web_search: Some(0.0),
            up_to: None,
            source: Source::Local,
        }
    }

    /// Returns the price on a tier, by the name that a request or an answer gives it; `None`: not known.
    pub fn at(&self, tier: Option<&str>) -> Option<&Price> {
        match tier {
            // Groq calls its default tier `on_demand`, Anthropic `standard`.
            None | Some("" | "auto" | "default" | "standard" | "standard_only" | "on_demand") => {
                Some(&self.standard)
            }
            Some("flex") => self.flex.as_ref(),
            // `priority` was renamed; answers may say either.
            Some("priority" | "fast") => self.priority.as_ref(),
            Some(_) => None,
        }
    }

    /// Returns the price on a tier, and whether it is exact: where a tier has no price of its own, flex costs no more than the default tier, and
    /// priority as many times that as the provider's list says. `None`: not known.
    pub fn at_most(&self, tier: Option<&str>) -> Option<(Price, bool)> {
        let own = self.at(tier).map(|price| (*price, true));
        own.or_else(|| match tier {
            Some("flex") => Some((self.standard, false)),
            Some("priority" | "fast") => Some((self.standard.times(self.priority_ratio?), false)),
            _ => None,
        })
    }

    /// Returns what one response used with what it cost: on the tier that was given, else on the one that was asked for. What is not known of the cost is
    /// counted as such, and what is only known to be no more is marked as an estimate.
    pub fn priced(&self, usage: Usage, asked: Option<&str>, given: Option<&str>) -> Usage {
        let is_too_long = self.up_to.is_some_and(|most| usage.input_tokens.is_some_and(|input| input > most));
        let price = self.at_most(given.or(asked)).filter(|_| !is_too_long);
        let tokens = price.and_then(|(price, _)| price.of(&usage));
        let fees = match usage.web_searches {
            0 => Some(0.0),
            searches => self.web_search.map(|fee| searches as f64 * fee / THOUSAND),
        };
        let is_exact = price.is_none_or(|(_, exact)| exact);
        let estimated = usage.estimated || !is_exact;
        if let (Some(tokens), Some(fees)) = (tokens, fees) {
            return Usage { cost: Some(tokens + fees), estimated, ..usage };
        }
        let known = tokens.unwrap_or(0.0) + fees.unwrap_or(0.0);
        Usage {
            cost: None,
            at_least: Some(known).filter(|known| *known > 0.0),
            unpriced: 1,
            estimated,
            ..usage
        }
    }

    /// Returns what one response cost, as [`Prices::priced`] works it out; `None`: not known, or not of all of it.
    pub fn cost(&self, usage: &Usage, asked: Option<&str>, given: Option<&str>) -> Option<f64> {
        self.priced(*usage, asked, given).cost
    }
}

/// Says what something has cost: `$0.12`, `about $0.12 with 2 web searches`, `at least $0.12; 2 requests of unknown cost`, `cost unknown`. `None`: nothing was
/// used that could cost anything.
pub fn cost_in_words(usage: &Usage) -> Option<String> {
    let about = if usage.estimated { "about " } else { "" };
    let searches = match usage.web_searches {
        0 => String::new(),
        1 => " with 1 web search".to_owned(),
        n => format!(" with {n} web searches"),
    };
    let unknown = usage.unknown();
    let known = usage.known();
    if unknown == 0 {
        return usage.cost.map(|cost| format!("{}{searches}", about_of(about, cost)));
    }
    if known > 0.0 {
        let known = about_of(about, known);
        return Some(format!("at least {known}{searches}; {}", of_unknown_cost(unknown)));
    }
    Some(format!("cost unknown{searches}"))
}

/// Says how many requests nobody knows the cost of: `2 requests of unknown cost`.
pub fn of_unknown_cost(requests: u64) -> String {
    let noun = if requests == 1 { "request" } else { "requests" };
    format!("{requests} {noun} of unknown cost")
}

/// "about under" is no English, and nothing is not about nothing.
fn about_of(about: &str, amount: f64) -> String {
    let words = dollars(amount);
    if words.starts_with('$') && amount > 0.0 { format!("{about}{words}") } else { words }
}

/// Writes an amount of US dollars: cents where there are any, else as many digits as tell something.
pub fn dollars(amount: f64) -> String {
    match amount {
        a if a <= 0.0 => "$0".to_owned(),
        a if a < 0.0001 => "under $0.0001".to_owned(),
        a if a < 0.1 => format!("${a:.4}"),
        a => format!("${a:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mini() -> Prices {
        let price =
            |input, cached, output| Price { input, cached_input: Some(cached), cache_write: None, output };
        Prices {
            standard: price(0.25, 0.025, 2.0),
            flex: Some(price(0.125, 0.0125, 1.0)),
            priority: None,
            priority_ratio: None,
            web_search: None,
            up_to: Some(272_000),
            source: Source::Author,
        }
    }

    fn used(input: u64, cached: u64, output: u64) -> Usage {
        Usage {
            input_tokens: Some(input),
            cached_tokens: Some(cached),
            output_tokens: Some(output),
            ..Usage::default()
        }
    }

    fn near(cost: Option<f64>, wanted: f64) {
        assert!((cost.unwrap() - wanted).abs() < 1e-12, "{cost:?} is not {wanted}");
    }

    #[test]
    fn cached_tokens_cost_their_own_price() {
        near(mini().cost(&used(10_000, 0, 1_000), None, None), 0.0025 + 0.002);
        near(mini().cost(&used(10_000, 8_000, 1_000), None, None), 0.0005 + 0.0002 + 0.002);
        let wrong = used(10, 9_999, 0);
        near(mini().cost(&wrong, None, None), 10.0 * 0.025 / MILLION);
    }

    #[test]
    fn what_is_written_to_the_cache_costs_more() {
        let price = Price { input: 3.0, cached_input: Some(0.3), cache_write: Some(3.75), output: 15.0 };
        let usage = Usage { cache_write_tokens: Some(1_000), ..used(4_000, 2_000, 100) };
        near(price.of(&usage), (1_000.0 * 3.0 + 2_000.0 * 0.3 + 1_000.0 * 3.75 + 100.0 * 15.0) / MILLION);
    }

    #[test]
    fn the_tier_that_was_given_counts_and_else_the_one_that_was_asked_for() {
        let usage = used(1_000_000 / 4, 0, 0);
        near(mini().cost(&usage, Some("flex"), Some("default")), 0.0625);
        near(mini().cost(&usage, Some("flex"), None), 0.03125);
        near(mini().cost(&usage, Some("auto"), Some("flex")), 0.03125);
        assert_eq!(mini().cost(&usage, None, Some("scale")), None);
    }

    #[test]
    fn a_tier_without_a_price_of_its_own_costs_at_most_what_is_known_of_it_and_never_nothing() {
        let bare = Prices { flex: None, ..mini() };
        let usage = used(100_000, 0, 1_000);
        let flex = bare.priced(usage, Some("flex"), Some("flex"));
        near(flex.cost, 0.025 + 0.002);
        assert!(flex.estimated && !bare.priced(usage, None, Some("default")).estimated);
        let priority = bare.priced(usage, Some("priority"), None);
        assert_eq!((priority.cost, priority.at_least, priority.unpriced), (None, None, 1));
        let ratio = Prices { priority_ratio: Some(1.8), ..bare.clone() };
        let priority = ratio.priced(usage, None, Some("priority"));
        near(priority.cost, (0.025 + 0.002) * 1.8);
        assert!(priority.estimated);
        assert_eq!(ratio.priced(usage, None, Some("scale")).unpriced, 1);
    }

    #[test]
    fn searches_of_the_web_have_a_fee_of_their_own() {
        let searched = Usage { web_searches: 3, ..used(100_000, 0, 1_000) };
        let known = Prices { web_search: Some(10.0), ..mini() }.priced(searched, None, None);
        near(known.cost, 0.025 + 0.002 + 0.03);
        assert_eq!(cost_in_words(&known).unwrap(), "$0.0570 with 3 web searches");
        let unknown = mini().priced(searched, None, None);
        assert_eq!((unknown.cost, unknown.unpriced), (None, 1));
        near(unknown.at_least, 0.027);
        near(Prices::free().priced(searched, None, None).cost, 0.0);
    }

    #[test]
    fn an_estimate_and_what_is_not_known_are_said_as_such() {
        let of = |cost, at_least, unpriced, estimated| {
            cost_in_words(&Usage { cost, at_least, unpriced, estimated, ..used(1, 0, 1) }).unwrap()
        };
        assert_eq!(of(Some(0.0123), None, 0, false), "$0.0123");
        assert_eq!(of(Some(0.0123), None, 0, true), "about $0.0123");
        assert_eq!(of(Some(0.000_01), None, 0, true), "under $0.0001");
        assert_eq!(of(Some(0.0), None, 0, false), "$0");
        assert_eq!(of(None, None, 1, true), "cost unknown");
        assert_eq!(of(None, Some(0.5), 2, false), "at least $0.50; 2 requests of unknown cost");
        assert_eq!(of(None, Some(0.5), 1, true), "at least about $0.50; 1 request of unknown cost");
        assert_eq!(cost_in_words(&Usage::default()), None);
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(mini().cost(&Usage::default(), None, None), None);
        assert_eq!(mini().cost(&used(272_001, 0, 1), None, None), None, "long input has another price");
        near(Prices::free().cost(&used(5, 0, 5), Some("flex"), None), 0.0);
        near(Prices::free().cost(&Usage::default(), None, None), 0.0);
        assert!(!Price { input: f64::NAN, ..Price::FREE }.is_sound());
        assert!(!Price { cached_input: Some(-1.0), ..Price::FREE }.is_sound());
    }

    #[test]
    fn small_amounts_are_not_written_as_nothing() {
        for (amount, words) in
            [(0.0, "$0"), (0.000_01, "under $0.0001"), (0.0123, "$0.0123"), (0.5, "$0.50"), (12.0, "$12.00")]
        {
            assert_eq!(dollars(amount), words);
        }
    }
}
