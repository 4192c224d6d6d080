//! `scritorio models`: what a provider can be asked with, what it holds, and what it costs.

use clap::Args;

use crate::domain::price::Price;
use crate::workbench::Overrides;
use crate::workbench::models::{ModelList, ModelRow};

use super::error::CliError;
use super::{Context, output};

/// Ask a provider for its models: context, price, tools
#[derive(Debug, Args)]
pub(super) struct ModelsVerb {
    /// The provider [default: the one that answers]
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Show those too that make vectors, pictures or sound
    #[arg(long)]
    all: bool,
}

impl ModelsVerb {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let overrides = Overrides { provider: self.provider.clone(), ..Overrides::default() };
        let workbench = context.open_anywhere(overrides)?;
        let provider = workbench.choices().provider.value;
        let list = workbench.models(&provider)?;
        if context.global.json {
            return output::document(&list);
        }
        print(&list, self.all)
    }
}

fn print(list: &ModelList, all: bool) -> Result<(), CliError> {
    let shown: Vec<&ModelRow> = list.models.iter().filter(|row| all || row.converses || row.chosen).collect();
    if shown.is_empty() {
        return output::text(&format!("{} lists no models at {}.", list.provider, list.address));
    }
    let mut rows =
        vec![["", "model", "context", "in $", "cached $", "out $", "price from"].map(str::to_owned).to_vec()];
    rows.extend(shown.iter().map(|row| cells(row)));
    output::table(&rows)?;
    let hidden = list.models.len() - shown.len();
    let mut notes =
        vec!["Prices in US dollars for a million tokens; what is not known is left open.".to_owned()];
    if hidden > 0 {
        notes.push(format!("{hidden} more are not for conversation; --all lists them."));
    }
    notes.push(format!(
        "Choose one with --model NAME, or for good: `model = \"NAME\"` under [providers.{}] in config.toml.",
        list.provider
    ));
    for note in notes {
        output::progress(&note);
    }
    Ok(())
}

fn cells(row: &ModelRow) -> Vec<String> {
    let standard: Option<Price> = row.prices.as_ref().map(|prices| prices.standard);
    let amount =
        |field: fn(&Price) -> Option<f64>| standard.as_ref().and_then(field).map_or_else(String::new, price);
    let mark = if row.chosen { "*" } else { "" };
    let no_tools = if row.tools == Some(false) { " (no tools)" } else { "" };
    vec![
        mark.to_owned(),
        format!("{}{no_tools}", row.id),
        row.context.map_or_else(String::new, |tokens| tokens.to_string()),
        amount(|price| Some(price.input)),
        amount(|price| price.cached_input),
        amount(|price| Some(price.output)),
        row.prices.as_ref().map_or_else(String::new, |prices| prices.source.to_string()),
    ]
}

/// Writes a price with the digits that it has, at least two and at most four behind the point.
fn price(dollars: f64) -> String {
    let whole = format!("{dollars:.4}");
    let short = whole.strip_suffix("00").or_else(|| whole.strip_suffix('0'));
    short.unwrap_or(&whole).to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_price_has_the_digits_that_it_has() {
        let all = [2.0, 0.25, 0.025, 0.0125, 0.1].map(super::price);
        assert_eq!(all, ["2.00", "0.25", "0.025", "0.0125", "0.10"]);
    }
}
