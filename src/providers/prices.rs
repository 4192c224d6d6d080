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
    /// US dollars for a thousand searches of the web by the provider; `None`: the list does not say.
    web_search: Option<f64>,
    model: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    name: String,
    context: Option<u64>,
    /// The day, where it was read later than the rest of the list.
    as_of: Option<String>,
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
    let list = of_host(host)?;
    let row = list.row(model)?;
    let prices = Prices {
        standard: row.standard,
        flex: row.flex,
        priority: row.priority,
        priority_ratio: None,
        web_search: list.web_search,
        up_to: row.up_to,
        source: Source::List {
            as_of: row.as_of.as_ref().unwrap_or(&list.as_of).clone(),
            link: list.link.clone(),
        },
    };
    Some(Listed { prices, context: row.context })
}

/// Returns what the provider at `host` takes for a thousand searches of the web, in US dollars; `None`: no list says so.
pub fn web_search(host: &str) -> Option<f64> {
    of_host(host)?.web_search
}

/// Returns how many times the default tier the priority tier of a model costs, at most, by the list that has the model; `None`: none says so.
pub fn priority_ratio(model: &str) -> Option<f64> {
    let row = TABLE.list.iter().find_map(|list| list.row(model))?;
    let (standard, priority) = (row.standard, row.priority?);
    Some((priority.input / standard.input).max(priority.output / standard.output))
}

fn of_host(host: &str) -> Option<&'static List> {
    TABLE.list.iter().find(|list| list.hosts.iter().any(|known| known == host))
}

impl List {
    fn row(&self, model: &str) -> Option<&Row> {
        let named = |name: &str| self.model.iter().find(|row| row.name == name);
        named(model).or_else(|| named(undated(model)?))
    }
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
                let later = row.as_of.as_deref().unwrap_or(&list.as_of);
                assert!(
                    later.parse::<jiff::civil::Date>().is_ok() && later >= list.as_of.as_str(),
                    "{later}"
                );
                let tiers = [Some(row.standard), row.flex, row.priority];
                for price in tiers.into_iter().flatten() {
                    assert!(
                        price.is_sound() && (price.input <= price.output || row.is_of_vectors()),
                        "{}",
                        row.name
                    );
                    assert!(price.cached_input.is_none_or(|cached| cached < price.input), "{}", row.name);
                    assert!(price.cache_write.is_none_or(|write| write > price.input), "{}", row.name);
                }
                let half = |price: f64, whole: f64| (price - whole / 2.0).abs() < 0.006;
                let is_half = |flex: Price| {
                    half(flex.input, row.standard.input) && half(flex.output, row.standard.output)
                };
                assert!(row.flex.is_none_or(is_half), "{}", row.name);
                assert!(row.priority.is_none_or(|fast| fast.output > row.standard.output), "{}", row.name);
                let same = list.model.iter().filter(|other| other.name == row.name).count();
                assert_eq!(same, 1, "{} stands twice", row.name);
            }
        }
    }

    impl Row {
        fn is_of_vectors(&self) -> bool {
            self.name.starts_with("text-embedding-") && self.standard.output == 0.0
        }
    }

    #[test]
    fn vectors_and_searches_of_the_web_have_prices() {
        let input = |model| listed("api.openai.com", model).map(|l| l.prices.standard.input);
        assert_eq!(input("text-embedding-3-small"), Some(0.02));
        assert_eq!(input("text-embedding-3-large"), Some(0.13));
        assert_eq!(input("text-embedding-ada-002"), Some(0.10));
        assert_eq!(web_search("api.openai.com"), Some(10.0));
        assert_eq!(web_search("openrouter.ai"), None);
    }

    #[test]
    fn how_much_dearer_priority_is_is_known_where_a_list_has_it() {
        assert_eq!(priority_ratio("gpt-5-mini-2025-08-07"), Some(1.8));
        assert_eq!(priority_ratio("gpt-5-nano"), None, "the list has no such tier for it");
        assert_eq!(priority_ratio("my-model"), None);
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
