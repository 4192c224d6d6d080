//! Who answers, with which model, and what it has cost.

use super::super::app::App;
use super::super::effect::Effect;
use super::super::msg::{Msg, Notice, Tone};
use super::super::popups;
use crate::workbench::provider::OFFLINE;

pub(super) fn update(app: &mut App, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Connected(provider, words) => {
            app.provider = provider;
            app.tell(Notice::done(words));
            vec![Effect::ReadModels]
        }
        Msg::Providers(offered, listening) => {
            app.popups.push(popups::providers::open(offered, &listening, &app.provider.0));
            vec![]
        }
        Msg::ProviderChosen(provider, words) => {
            let has_models = provider.0 != OFFLINE;
            app.provider = provider;
            app.tell(Notice::done(words));
            let list = has_models.then_some(Effect::ListModels);
            std::iter::once(Effect::ReadModels).chain(list).collect()
        }
        Msg::ChooseProvider(provider) if provider.needs_key && !provider.has_key => {
            app.popups.push(popups::key_entry::open(&provider));
            vec![]
        }
        Msg::ChooseProvider(provider) => vec![Effect::UseProvider(provider.name)],
        Msg::KeyTyped(provider, key) => vec![Effect::StoreKey(provider, key)],
        Msg::Models(Ok(list)) => {
            app.notice.take_if(|(notice, _)| notice.tone == Tone::Wait);
            app.popups.push(popups::models::open(*list));
            vec![]
        }
        Msg::Models(Err(failure)) => {
            app.notice.take_if(|(notice, _)| notice.tone == Tone::Wait);
            // Longer than the status row, and the hint is what she needs.
            let words = format!("{}\n\n{}", failure.message, failure.hint);
            app.popups.push(popups::Popup::text("The models can't be listed", &words));
            vec![]
        }
        Msg::OwnModels(models) => {
            app.models = models;
            vec![]
        }
        Msg::ChooseModel(provider, model) => vec![Effect::UseModel(provider, model)],
        Msg::Standing(standing) => {
            app.standing = Some(*standing);
            vec![]
        }
        // `update` gives nothing else.
        _ => vec![],
    }
}
