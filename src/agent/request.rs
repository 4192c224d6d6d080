//! The requests of a turn, all built by one function: what peek shows is what is sent.

use crate::providers::{Item, Request, ToolChoice};
use crate::tools::schema;

use super::machine::{First, Kept, Plan};
use super::{FirstRound, TurnSetup, context, forced};

/// Builds the first request of a turn. Peek, `scritorio prompt` and the driver all use it: what is shown is what is sent.
pub fn first_request(setup: &TurnSetup) -> Request {
    let plan = plan(setup);
    request(setup, &plan.opening, None, plan.first.choice())
}

/// Works out what the turn is to do.
pub(super) fn plan(setup: &TurnSetup) -> Plan {
    let offered: std::collections::BTreeSet<String> =
        setup.registry.specs().map(|spec| spec.name.to_owned()).collect();
    let (current, selection) = (setup.current.as_ref(), setup.selection.as_ref());
    let context = if offered.is_empty() {
        context::inline(&setup.book, current, selection)
    } else {
        context::message(&setup.book, current, selection)
    };
    let context = if setup.open_is_private { Some(context::private()) } else { context };
    let context = if setup.numbers_missing { Some(context::with_gaps(context)) } else { context };
    let context = match &setup.read_to {
        Some(read_to) => Some(context::blind(context, read_to)),
        None => context,
    };
    let first = match setup.first_round {
        FirstRound::Patterns => forced::first(setup),
        FirstRound::Required if offered.is_empty() => First::Free,
        FirstRound::Required => First::Any,
    };
    Plan {
        opening: context
            .map(Item::Context)
            .into_iter()
            .chain([Item::Author(setup.question.clone())])
            .collect(),
        max_rounds: setup.max_rounds.clamp(1, 12),
        first,
        offered,
        server_keeps: server_keeps(setup),
    }
}

/// Whether the server keeps what was said, so that a request may hold only what is new.
pub(super) fn server_keeps(setup: &TurnSetup) -> bool {
    setup.provider.stateful() && setup.options.store
}

/// Builds a request. `said` is what was said in this turn; `kept` is what the server has of that, from the second request on.
///
/// The context message comes before the history that the server lacks, and those of earlier turns are left out: what was open
/// then is not open now.
pub(super) fn request(
    setup: &TurnSetup,
    said: &[Item],
    kept: Option<&Kept>,
    tool_choice: ToolChoice,
) -> Request {
    let known = match &setup.continue_from {
        Some((count, response)) if server_keeps(setup) && *count <= setup.history.len() => {
            Some((*count, response.as_str()))
        }
        _ => None,
    };
    let (kept_history, history) = setup.history.split_at(known.map_or(0, |(count, _)| count));
    let without_context = |items: &[Item]| -> Vec<Item> {
        items.iter().filter(|item| !matches!(item, Item::Context(_))).cloned().collect()
    };
    let opening = said.iter().take_while(|item| matches!(item, Item::Context(_))).count();
    let mut items = without_context(kept_history);
    let fresh_history = items.len();
    items.extend_from_slice(&said[..opening]);
    items.extend(without_context(history));
    let since_opening = items.len();
    items.extend_from_slice(&said[opening..]);

    let is_first = !said.iter().any(|item| !matches!(item, Item::Context(_) | Item::Author(_)));
    let (fresh, previous) = match kept.filter(|_| server_keeps(setup)) {
        Some(kept) => (since_opening + kept.items.saturating_sub(opening), Some(kept.response_id.as_str())),
        None if is_first => (fresh_history, known.map(|(_, response)| response)),
        None => (0, None),
    };
    Request {
        model: setup.model.clone(),
        instructions: setup.instructions.clone(),
        question: since_opening,
        fresh: if previous.is_some() { fresh } else { 0 },
        previous_response_id: previous.map(str::to_owned),
        items,
        tools: setup.registry.specs().map(schema::responses).collect(),
        tool_choice,
        options: setup.options.clone(),
    }
}
