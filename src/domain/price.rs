//! What tokens cost: prices, and the cost of what was used.
//!
//! Arithmetic alone: which model has which price is for others to say. Nothing is guessed: what is not known costs `None`, never nothing.

use serde::{Deserialize, Serialize};

use super::conversation::Usage;

/// Tokens that prices are given for.
const MILLION: f64 = 1_000_000.0;

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

    /// Returns what was used in US dollars; `None` where the server did not tell the tokens.
    pub fn of(&self, usage: &Usage) -> Option<f64> {
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

    /// Returns what one response cost: on the tier that was given, else on the one that was asked for.
    pub fn cost(&self, usage: &Usage, asked: Option<&str>, given: Option<&str>) -> Option<f64> {
        if self.up_to.is_some_and(|most| usage.input_tokens.is_some_and(|input| input > most)) {
            return None;
        }
        self.at(given.or(asked))?.of(usage)
    }
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
        assert_eq!(mini().cost(&usage, Some("priority"), None), None, "no price is known");
        assert_eq!(mini().cost(&usage, None, Some("scale")), None);
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        assert_eq!(mini().cost(&Usage::default(), None, None), None);
        assert_eq!(mini().cost(&used(272_001, 0, 1), None, None), None, "long input has another price");
        near(Prices::free().cost(&used(5, 0, 5), Some("flex"), None), 0.0);
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
