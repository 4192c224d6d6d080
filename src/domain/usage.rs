//! What asking used: tokens, searches of the web, and what that cost.
//!
//! What is not known is `None` or counted as such, and never nothing. Persisted, so fields may be added (with a default), never renamed.

use serde::{Deserialize, Serialize};

/// Tokens and cost. What nobody knows is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of all requests of the turn.
    pub input_tokens: Option<u64>,
    /// Those of them that the server still had from before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Those of them that the server keeps for later, where that has a price of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    /// Tokens of all answers of the turn, reasoning included.
    pub output_tokens: Option<u64>,
    /// Those of them that are reasoning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Searches of the web that the provider did for the model. Each has its own fee.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub web_searches: u64,
    /// In US dollars, fees included; `None`: not known, or not of all of it.
    pub cost: Option<f64>,
    /// What of the cost is known, in US dollars, where not all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// Requests whose cost is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced: u64,
    /// Whether some of it is an estimate: the server did not tell the tokens, or the price is that of another tier.
    #[serde(default, skip_serializing_if = "is_false")]
    pub estimated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Usage {
    /// Returns what is known of the cost, in US dollars.
    pub fn known(&self) -> f64 {
        self.cost.or(self.at_least).unwrap_or(0.0)
    }

    /// Returns how many requests have a cost that is not known.
    pub fn unknown(&self) -> u64 {
        // One response, or a turn kept before these were counted.
        let has_none = self.cost.is_none() && (self.input_tokens.is_some() || self.output_tokens.is_some());
        self.unpriced.max(u64::from(has_none))
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    /// Adds what is known; what neither told stays unknown. A sum with a part whose cost is not known has none, but for what it is at least.
    fn add(self, other: Self) -> Self {
        fn both<T>(a: Option<T>, b: Option<T>, add: impl FnOnce(T, T) -> T) -> Option<T> {
            match (a, b) {
                (Some(a), Some(b)) => Some(add(a, b)),
                (known, None) | (None, known) => known,
            }
        }
        let tokens = |of: fn(&Self) -> Option<u64>| both(of(&self), of(&other), u64::saturating_add);
        let unpriced = self.unknown().saturating_add(other.unknown());
        let known = self.known() + other.known();
        Self {
            input_tokens: tokens(|usage| usage.input_tokens),
            cached_tokens: tokens(|usage| usage.cached_tokens),
            cache_write_tokens: tokens(|usage| usage.cache_write_tokens),
            output_tokens: tokens(|usage| usage.output_tokens),
            reasoning_tokens: tokens(|usage| usage.reasoning_tokens),
            web_searches: self.web_searches.saturating_add(other.web_searches),
            cost: both(self.cost, other.cost, |a, b| a + b).filter(|_| unpriced == 0),
            at_least: Some(known).filter(|known| unpriced > 0 && *known > 0.0),
            unpriced,
            estimated: self.estimated || other.estimated,
        }
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), std::ops::Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(cost: Option<f64>) -> Usage {
        Usage { input_tokens: Some(10), output_tokens: Some(2), cost, ..Usage::default() }
    }

    #[test]
    fn a_sum_with_an_unknown_part_has_no_cost_but_says_what_it_is_at_least() {
        let sum: Usage = [used(Some(0.25)), used(None), used(Some(0.5)), used(None)].into_iter().sum();
        assert_eq!((sum.cost, sum.at_least, sum.unpriced), (None, Some(0.75), 2));
        assert_eq!((sum.input_tokens, sum.known(), sum.unknown()), (Some(40), 0.75, 2));
        let more = sum + sum + Usage::default();
        assert_eq!((more.at_least, more.unpriced), (Some(1.5), 4));
        assert_eq!((used(Some(1.0)) + Usage::default()).cost, Some(1.0));
        assert_eq!((Usage::default() + Usage::default()).unknown(), 0, "nothing was used");
    }

    #[test]
    fn one_estimate_makes_the_sum_one() {
        let estimate = Usage { estimated: true, web_searches: 2, ..used(Some(1.0)) };
        let sum = used(Some(1.0)) + estimate;
        assert_eq!((sum.cost, sum.estimated, sum.web_searches), (Some(2.0), true, 2));
    }

    #[test]
    fn what_was_kept_before_can_be_read_and_what_is_usual_takes_no_room() {
        let old: Usage = serde_json::from_str(r#"{"input_tokens":3,"output_tokens":4,"cost":null}"#).unwrap();
        assert_eq!((old.unknown(), old.estimated), (1, false));
        let line = serde_json::to_string(&used(Some(0.5))).unwrap();
        assert_eq!(line, r#"{"input_tokens":10,"output_tokens":2,"cost":0.5}"#);
    }

    #[test]
    fn hostile_counts_do_not_overflow() {
        let most = Usage { input_tokens: Some(u64::MAX), unpriced: u64::MAX, ..Usage::default() };
        assert_eq!((most + most).input_tokens, Some(u64::MAX));
    }
}
