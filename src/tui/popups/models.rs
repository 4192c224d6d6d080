//! Choosing the model that answers: what it holds, and what it costs.

use super::Popup;
use super::chooser::{Chooser, Item};
use crate::domain::price::dollars;
use crate::tui::msg::Msg;
use crate::workbench::models::{ModelList, ModelRow};

/// Opens the list, with the present model selected. What makes vectors, pictures or sound is left out.
pub(in crate::tui) fn open(list: ModelList) -> Popup {
    let ModelList { provider, models, .. } = list;
    let shown: Vec<ModelRow> = models.into_iter().filter(|row| row.converses || row.chosen).collect();
    let here = shown.iter().position(|row| row.chosen).unwrap_or(0);
    let item = |row: ModelRow| {
        let detail = detail(&row);
        Item::new(&row.id.clone(), &detail, Msg::ChooseModel(provider.clone(), row.id))
    };
    let items = shown.into_iter().map(item).collect();
    Popup::Chooser(Chooser::new(&format!("Which model of {provider}?"), items).select(here))
}

/// Context, price for a million tokens, and what it lacks, as far as they are known.
fn detail(row: &ModelRow) -> String {
    let mut parts = vec![];
    parts.extend(row.context.map(|tokens| format!("{} context", short(tokens))));
    parts.push(match &row.prices {
        Some(prices) if prices.standard.is_free() => "no cost".to_owned(),
        Some(prices) => {
            format!(
                "{} in, {} out a million",
                dollars(prices.standard.input),
                dollars(prices.standard.output)
            )
        }
        None => "price not known".to_owned(),
    });
    if row.tools == Some(false) {
        parts.push("no tools".to_owned());
    }
    parts.join(" \u{b7} ")
}

/// Writes a number of tokens in little space: `8k`, `400k`, `1.0M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1_000_000.0),
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::conversation::{Failure, FailureKind};
    use crate::tui::effect::Effect;
    use crate::tui::msg::{Msg, Notice};
    use crate::tui::tests::Author;
    use crate::tui::update::update;
    use crate::workbench::models::{ModelList, ModelRow};

    fn list() -> ModelList {
        let row = |id: &str, converses: bool| ModelRow {
            id: id.into(),
            title: None,
            context: Some(400_000),
            tools: None,
            prices: None,
            converses,
            chosen: false,
        };
        let models = vec![row("small", true), row("large", true), row("embedder", false)];
        ModelList { provider: "my-box".into(), address: "http://box.local/v1/models".into(), models }
    }

    #[test]
    fn that_the_server_is_asked_is_said_until_it_answers() {
        let failure = Failure {
            kind: FailureKind::Unreachable,
            message: "my-box does not answer.".into(),
            hint: "Start it.".into(),
        };
        for answer in [Ok(Box::new(list())), Err(failure)] {
            let mut author = Author::at(100, 30);
            author.app.provider = ("my-box".into(), "small".into());
            // What follows is done by hand: the answer takes its time.
            let asked = update(&mut author.app, Msg::Run("choose-model"));
            assert!(matches!(asked[..], [Effect::ListModels]));
            author.sees_words("Asking my-box for its models.");
            author.happens(Msg::Models(answer));
            assert!(!author.sees().contains("Asking my-box"), "{}", author.sees());
        }
        let mut author = Author::at(100, 30);
        author.happens(Msg::Notice(Notice::done("Saved.")));
        author.happens(Msg::Models(Ok(Box::new(list()))));
        author.sees_words("Saved.");
    }

    #[test]
    fn a_model_is_found_by_typing_and_kept_in_the_settings() {
        let mut author = Author::at(100, 30);
        author.happens(Msg::Models(Ok(Box::new(list()))));
        let seen = author.sees();
        assert!(seen.contains("Which model of my-box?") && seen.contains("400k context"), "{seen}");
        assert!(!seen.contains("embedder") && seen.contains("price not known"), "{seen}");
        author.happens(Msg::ChooseModel("my-box".into(), "large".into()));
        let kept = author.bench.settings();
        assert_eq!(kept.providers["my-box"].model.as_deref(), Some("large"));
    }
}
