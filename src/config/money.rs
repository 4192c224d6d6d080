//! `[budget]` and `[prices]` of `config.toml`: what may be spent, and what models cost by the author's own word.

use std::collections::BTreeMap;

use serde::Serialize;

use super::toml_reader::{Problem, Section};
use crate::domain::price::{Price, Prices, Source};

/// `[budget]`: limits in US dollars. `None`: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Budget {
    /// From this on in a calendar month (UTC), over all books, the author is warned before something is sent.
    pub warn: Option<f64>,
    /// Nothing is sent that would, by an estimate, go beyond this in a calendar month (UTC), over all books.
    pub refuse: Option<f64>,
    /// Nothing is sent that would, by an estimate, make one question cost more than this, all its rounds together.
    pub per_turn: Option<f64>,
    /// What becomes of a request whose cost nobody knows, where `refuse` or `per_turn` is set.
    pub unknown: Unknown,
}

/// What becomes of a request whose cost nobody knows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unknown {
    /// It is not sent: nobody could say whether it keeps within the budget.
    #[default]
    Refuse,
    /// It is sent all the same.
    Allow,
}

impl Budget {
    /// Whether there is any limit.
    pub fn is_set(&self) -> bool {
        self.warn.is_some() || self.refuse.is_some() || self.per_turn.is_some()
    }

    /// Whether it can refuse a request.
    pub fn limits(&self) -> bool {
        self.refuse.is_some() || self.per_turn.is_some()
    }

    /// Whether a request whose cost nobody knows is not sent.
    pub fn refuses_unknown(&self) -> bool {
        self.limits() && self.unknown == Unknown::Refuse
    }

    pub(super) fn read(s: &Section<'_>) -> Result<Self, Problem> {
        let unknown = match s.word("unknown", &["refuse", "allow"])?.as_deref() {
            Some("allow") => Unknown::Allow,
            _ => Unknown::Refuse,
        };
        let (warn, refuse, per_turn) = (s.amount("warn")?, s.amount("refuse")?, s.amount("per_turn")?);
        Ok(Self { warn, refuse, per_turn, unknown })
    }
}

/// `[prices."MODEL"]`: what the author says of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnPrices {
    /// What it costs.
    pub prices: Prices,
    /// Tokens that it holds.
    pub context: Option<u64>,
}

/// Reads `[prices]`.
pub(super) fn read(s: &Section<'_>) -> Result<BTreeMap<String, OwnPrices>, Problem> {
    let models = s.keys().into_iter();
    models.map(|model| Ok((model.clone(), s.section(&model, own)?))).collect()
}

fn own(s: &Section<'_>) -> Result<OwnPrices, Problem> {
    let tier = |name: &str| s.has(name).then(|| s.section(name, price)).transpose();
    let prices = Prices {
        flex: tier("flex")?,
        priority: tier("priority")?,
        standard: price(s)?,
        priority_ratio: None,
        web_search: s.amount("web_search")?,
        up_to: None,
        source: Source::Author,
    };
    Ok(OwnPrices { prices, context: s.number("context", 1..=u32::MAX)?.map(u64::from) })
}

fn price(s: &Section<'_>) -> Result<Price, Problem> {
    Ok(Price {
        input: s.required_amount("input")?,
        cached_input: s.amount("cached_input")?,
        cache_write: s.amount("cache_write")?,
        output: s.required_amount("output")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::user::UserSettings;

    #[test]
    fn limits_and_prices_are_read_as_whole_numbers_and_as_fractions() {
        let text = "
            [budget]
            warn = 5
            refuse = 10.50
            [prices.'my-model']
            input = 0.5
            cached_input = 0.05
            output = 2
            flex = { input = 0.25, output = 1 }
            context = 32768
            web_search = 12.5
        ";
        let (settings, warnings) = UserSettings::parse(text).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(settings.budget, Budget { warn: Some(5.0), refuse: Some(10.5), ..Budget::default() });
        assert!(settings.budget.refuses_unknown());
        let own = &settings.prices["my-model"];
        assert_eq!((own.prices.standard.output, own.context), (2.0, Some(32_768)));
        assert_eq!(own.prices.at(Some("flex")).map(|flex| flex.input), Some(0.25));
        assert_eq!(own.prices.at(Some("priority")), None);
        assert_eq!((own.prices.web_search, &own.prices.source), (Some(12.5), &Source::Author));
        let allows = |more: &str| {
            let text = format!("[budget]\n{more}\nunknown = 'allow'\n");
            let budget = UserSettings::parse(&text).unwrap().0.budget;
            (budget.unknown, budget.refuses_unknown())
        };
        assert_eq!(allows("refuse = 1"), (Unknown::Allow, false));
        let warns_only = UserSettings::parse("[budget]\nwarn = 1").unwrap().0.budget;
        assert!(!warns_only.refuses_unknown());
    }

    #[test]
    fn what_can_be_no_amount_is_an_error_with_its_place() {
        for (text, said) in [
            ("[budget]\nwarn = -1", "2:8: `budget.warn` must be an amount in US dollars, 0 or more"),
            ("[budget]\nrefuse = nan", "2:10: `budget.refuse` must be an amount in US dollars, 0 or more"),
            (
                "[budget]\nper_turn = '1'",
                "2:12: `budget.per_turn` must be an amount in US dollars, 0 or more",
            ),
            ("[prices.m]\ninput = 1", "1:1: `prices.m.output` is missing: an amount in US dollars"),
        ] {
            assert_eq!(UserSettings::parse(text).unwrap_err().to_string(), said);
        }
        let (_, warnings) = UserSettings::parse("[budget]\nwran = 1").unwrap();
        assert!(warnings[0].message.contains("did you mean `warn`?"), "{warnings:?}");
    }
}
