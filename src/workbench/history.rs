//! What a conversation holds, between the disk and a request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::conversation::TurnStatus;
use crate::domain::ids::{BookPath, CallId, ProposalId, SessionId};
use crate::proposal::Status;
use crate::providers::Item;
use crate::store::proposals::{self, Queued};
use crate::store::sessions::{Kept, Preface, Stretch};
use crate::tools::{Material, Seen};

use super::Workbench;

/// An [`Item`] as it is stored.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Context(String),
    Author(String),
    Persona(String),
    Call { call_id: CallId, name: String, arguments: String },
    Output { call_id: CallId, name: String, output: String },
    Raw(Value),
}

/// Encodes what was said, for the disk.
pub(super) fn to_stored(items: &[Item]) -> Vec<Value> {
    let stored = items.iter().cloned().map(|item| match item {
        Item::Context(text) => Stored::Context(text),
        Item::Author(text) => Stored::Author(text),
        Item::Persona(text) => Stored::Persona(text),
        Item::Call { call_id, name, arguments } => Stored::Call { call_id, name, arguments },
        Item::Output { call_id, name, output } => Stored::Output { call_id, name, output },
        Item::Raw(raw) => Stored::Raw(raw),
    });
    stored.filter_map(|s| serde_json::to_value(s).ok()).collect()
}

/// Decodes what was said. A kind of item that this version does not know makes the turn unusable as a whole, since calls and outputs belong together.
pub(super) fn from_stored(values: &[Value]) -> Vec<Item> {
    let items: Result<Vec<Item>, _> = values
        .iter()
        .map(|value| {
            Stored::deserialize(value).map(|stored| match stored {
                Stored::Context(text) => Item::Context(text),
                Stored::Author(text) => Item::Author(text),
                Stored::Persona(text) => Item::Persona(text),
                Stored::Call { call_id, name, arguments } => Item::Call { call_id, name, arguments },
                Stored::Output { call_id, name, output } => Item::Output { call_id, name, output },
                Stored::Raw(raw) => Item::Raw(raw),
            })
        })
        .collect();
    items.unwrap_or_default()
}

/// What a turn takes over from the conversation before it.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// Everything said, oldest first.
    pub history: Vec<Item>,
    /// How many of these the server has, with the response to continue from.
    pub continue_from: Option<(usize, String)>,
    /// What tools returned.
    pub seen: Seen,
}

/// Gathers what was said in `turns`. `destination` is where the next request goes: only that server is asked to continue,
/// and only it gets its own raw items back. A failed turn is left out, so that a question asked again is not there twice.
pub(super) fn before(turns: &[Kept], destination: &str) -> Before {
    let mut before = Before::default();
    for kept in turns {
        let stretches = kept.material.iter().cloned();
        before.seen.add(&stretches.map(|Stretch { path, text }| Material { path, text }).collect::<Vec<_>>());
        if !matches!(kept.turn.status, TurnStatus::Done | TurnStatus::Cancelled) {
            continue;
        }
        before.history.extend(from_stored(&kept.preface.items));
        let own = kept.destination == destination;
        // A member that read blind was sent only a part of what stands before: its server does not know the rest.
        let goes_on = kept.turn.read_to.is_none();
        let items = from_stored(&kept.items);
        before.history.extend(items.into_iter().filter(|item| own || !matches!(item, Item::Raw(_))));
        if let Some(response) =
            kept.turn.response_id.as_ref().filter(|_| own && goes_on && kept.kept_by_server)
        {
            before.continue_from = Some((before.history.len(), response.clone()));
        }
    }
    before
}

/// Encodes what tools returned, for the disk.
pub(super) fn stretches(material: Vec<Material>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = vec![];
    for Material { path, text } in material {
        let stretch = Stretch { path, text };
        if !stretches.contains(&stretch) {
            stretches.push(stretch);
        }
    }
    stretches
}

impl Workbench {
    /// What the model is told before the question: the proposals of this conversation that the author refused with a reason, and that
    /// no answered turn was told of yet.
    pub(super) fn refusals(&self, session: &SessionId, turns: &[Kept]) -> Preface {
        let told: Vec<&ProposalId> = turns
            .iter()
            .filter(|kept| matches!(kept.turn.status, TurnStatus::Done | TurnStatus::Cancelled))
            .flat_map(|kept| &kept.preface.told)
            .collect();
        let queue = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
        let fresh: Vec<(ProposalId, String)> = queue
            .iter()
            .filter(|q| q.session == *session && q.status == Status::Rejected)
            .filter(|q| !told.contains(&&q.proposal.id))
            .filter_map(|q| Some((q.proposal.id.clone(), refusal(q)?)))
            .collect();
        if fresh.is_empty() {
            return Preface::default();
        }
        let (told, lines): (_, Vec<String>) = fresh.into_iter().unzip();
        let note = Item::Author(lines.join("\n"));
        Preface { told, items: to_stored(&[note]) }
    }
}

fn refusal(queued: &Queued) -> Option<String> {
    let why = queued.why.as_deref()?.trim();
    let path = queued.proposal.path().map_or("", BookPath::as_str);
    (!why.is_empty()).then(|| {
        format!("I rejected your proposal \"{}\" for {path}. My reason: {why}", queued.proposal.summary)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::conversation::{Failure, FailureKind, Turn, Usage};
    use crate::domain::ids::TurnId;

    const HERE: &str = "https://example.org/v1/responses";

    fn said(n: u32) -> Vec<Item> {
        let call_id = CallId::new(format!("call_{n}"));
        vec![
            Item::Context("An open chapter.".into()),
            Item::Author(format!("Question {n}")),
            Item::Raw(json!({ "type": "reasoning", "id": n, "encrypted_content": "x" })),
            Item::Call { call_id: call_id.clone(), name: "search_codex".into(), arguments: "{}".into() },
            Item::Output { call_id, name: "search_codex".into(), output: "[]".into() },
            Item::Persona(format!("Answer {n}")),
        ]
    }

    fn kept(n: u32, status: TurnStatus, destination: &str) -> Kept {
        Kept {
            turn: Turn {
                id: TurnId::new(format!("t-{n}")),
                asked_at: String::new(),
                persona: format!("persona-{n}"),
                provider: "openai".into(),
                model: "m".into(),
                question: format!("Question {n}"),
                read_to: None,
                selection: None,
                tools: vec![],
                answer: String::new(),
                quotes: vec![],
                proposals: vec![],
                status,
                rounds: 1,
                tier: None,
                usage: Usage::default(),
                response_id: Some(format!("resp_{n}")),
            },
            items: to_stored(&said(n)),
            material: vec![Stretch { path: BookPath::new("a.md").unwrap(), text: format!("Section {n}") }],
            kept_by_server: true,
            destination: destination.into(),
            preface: Preface::default(),
        }
    }

    #[test]
    fn what_was_said_survives_the_disk() {
        let text = serde_json::to_string(&to_stored(&said(1))).unwrap();
        assert_eq!(from_stored(&serde_json::from_str::<Vec<Value>>(&text).unwrap()), said(1));
    }

    #[test]
    fn a_turn_with_an_item_of_a_later_version_is_left_out_whole() {
        let mut stored = to_stored(&said(1));
        stored.push(json!({ "image": "x" }));
        assert!(from_stored(&stored).is_empty());
    }

    #[test]
    fn the_next_turn_continues_from_the_last_response_of_the_same_server() {
        let before = before(&[kept(1, TurnStatus::Done, HERE), kept(2, TurnStatus::Done, HERE)], HERE);
        assert_eq!(before.history, [said(1), said(2)].concat());
        assert_eq!(before.continue_from, Some((12, "resp_2".into())));
        let path = BookPath::new("a.md").unwrap();
        assert!(before.seen.holds(&path, "Section 1") && before.seen.holds(&path, "Section 2"));
    }

    #[test]
    fn another_server_gets_the_words_without_what_only_the_first_can_read() {
        let before = before(&[kept(1, TurnStatus::Done, HERE)], "elsewhere");
        assert_eq!(before.continue_from, None);
        assert_eq!(before.history.len(), said(1).len() - 1);
        assert!(!before.history.iter().any(|item| matches!(item, Item::Raw(_))));
    }

    #[test]
    fn no_turn_goes_on_from_a_response_to_a_member_that_read_blind() {
        let mut blind = kept(2, TurnStatus::Done, HERE);
        blind.turn.read_to = Some(crate::domain::conversation::ReadTo::default());
        let before = before(&[kept(1, TurnStatus::Done, HERE), blind], HERE);
        assert_eq!(before.history, [said(1), said(2)].concat());
        assert_eq!(before.continue_from, Some((6, "resp_1".into())));
    }

    #[test]
    fn a_failed_turn_is_not_repeated_to_the_model_and_a_cancelled_one_is() {
        let failure = Failure { kind: FailureKind::Provider, message: String::new(), hint: String::new() };
        let mut cancelled = kept(3, TurnStatus::Cancelled, HERE);
        cancelled.kept_by_server = false;
        let turns = [kept(1, TurnStatus::Done, HERE), kept(2, TurnStatus::Failed(failure), HERE), cancelled];
        let before = before(&turns, HERE);
        assert_eq!(before.history, [said(1), said(3)].concat());
        assert_eq!(before.continue_from, Some((6, "resp_1".into())), "what the server lacks is sent");
    }
}
