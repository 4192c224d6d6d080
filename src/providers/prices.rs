//! What models cost by the price lists of their providers, and how much they hold.
//!
//! The figures are in `prices.toml`, with the day and the source of each list. A list belongs to the host that bills by it, so that a server of another
//! kind that offers a model of the same name has no price here. What is not in a list is not known, and nothing is guessed.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::domain::price::{Price, Prices, Source};

/// What a list says of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// What it costs.
    pub prices: Prices,
    /// Tokens that it holds.
    pub context: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    list: Vec<List>,
}

/// The list of one provider.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    hosts: Vec<String>,
    as_of: String,
    link: String,
    model: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    context: Option<u64>,
    /// Longest input that the prices are for, where longer ones cost something else.
    up_to: Option<u64>,
    standard: Price,
    flex: Option<Price>,
    priority: Option<Price>,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test parses it")]
static TABLE: LazyLock<Table> =
    LazyLock::new(|| toml::from_str(include_str!("prices.toml")).expect("the shipped price lists"));

/// Returns what the list of the provider at `host` says of a model. A dated name (`gpt-5-mini-2025-08-07`) is the same model.
pub fn listed(host: &str, model: &str) -> Option<Listed> {
    let list = TABLE.list.iter().find(|list| list.hosts.iter().any(|known| known == host))?;
    let named = |name: &str| list.model.iter().find(|row| row.name == name);
    let row = named(model).or_else(|| named(undated(model)?))?;
    let source = Source::List { as_of: list.as_of.clone(), link: list.link.clone() };
    let prices =
        Prices { standard: row.standard, flex: row.flex, priority: row.priority, up_to: row.up_to, source };
    Some(Listed { prices, context: row.context })
}

/// Returns a model's name without the day of its version, if it has one: `-2025-08-07` or `-20250929`.
fn undated(model: &str) -> Option<&str> {
    let is_day = |day: &str| {
        let digits = day.chars().filter(char::is_ascii_digit).count();
        let dashes = day.chars().filter(|c| *c == '-').count();
        digits == 8 && digits + dashes == day.len() && (dashes == 0 || dashes == 2)
    };
    let at = [11, 9].into_iter().filter_map(|length| model.len().checked_sub(length));
    at.filter(|at| model.is_char_boundary(*at)).find_map(|at| {
        let (name, rest) = model.split_at(at);
        rest.strip_prefix('-').filter(|day| is_day(day)).map(|_| name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_a_day_a_source_and_prices_that_can_be() {
        for list in &TABLE.list {
            assert!(list.as_of.parse::<jiff::civil::Date>().is_ok(), "{}", list.as_of);
            assert!(list.link.starts_with("https://") && !list.hosts.is_empty());
            for row in &list.model {
                let tiers = [Some(row.standard), row.flex, row.priority];
                for price in tiers.into_iter().flatten() {
                    assert!(price.is_sound() && price.input <= price.output, "{}", row.name);
                    assert!(price.cached_input.is_none_or(|cached| cached < price.input), "{}", row.name);
                    assert!(price.cache_write.is_none_or(|write| write > price.input), "{}", row.name);
                }
                assert!(row.flex.is_none_or(|flex| flex.output < row.standard.output), "{}", row.name);
                assert!(row.priority.is_none_or(|fast| fast.output > row.standard.output), "{}", row.name);
                let same = list.model.iter().filter(|other| other.name == row.name).count();
                assert_eq!(same, 1, "{} stands twice", row.name);
            }
        }
    }

    #[test]
    fn a_version_with_a_day_is_the_same_model() {
        let at = |model: &str| listed("api.openai.com", model).map(|l| l.prices.standard.output);
        assert_eq!(at("gpt-5-mini"), Some(2.0));
        assert_eq!(at("gpt-5-mini-2025-08-07"), Some(2.0));
        let sonnet = |model: &str| listed("api.anthropic.com", model).and_then(|l| l.context);
        assert_eq!(sonnet("claude-sonnet-4-5-20250929"), sonnet("claude-sonnet-4-5"));
        assert!(sonnet("claude-sonnet-4-5").is_some());
    }

    #[test]
    fn what_no_list_names_has_no_price() {
        for (host, model) in [
            ("api.openai.com", "gpt-5-mini-turbo"),
            ("api.openai.com", "ééééééééééé-2025"),
            ("api.openai.com", ""),
            ("openrouter.ai", "gpt-5-mini"),
            ("127.0.0.1", "gpt-5-mini"),
        ] {
            assert_eq!(listed(host, model), None, "{host} {model}");
        }
    }
}
