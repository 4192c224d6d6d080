//! What a conversation holds, between the disk and a request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::domain::book::Book;
use crate::domain::conversation::TurnStatus;
use crate::domain::ids::{BookPath, CallId, ProposalId, SessionId};
use crate::proposal::Status;
use crate::providers::Item;
use crate::store::proposals::{self, Queued};
use crate::store::sessions::{Kept, Preface, Stretch};
use crate::tools::{Material, Seen};

use super::Workbench;
use super::private::Secrets;

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

/// The texts that told what became of proposals. They stand among the author's words, and the program wrote them.
pub(super) fn told_of_fates<'a>(prefaces: impl Iterator<Item = &'a Preface>) -> Vec<String> {
    let items = prefaces.flat_map(|preface| from_stored(&preface.items));
    items.filter_map(|item| if let Item::Author(text) = item { Some(text) } else { None }).collect()
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
    /// What the model is told before the question: what has become of the proposals of this conversation, as far as no answered turn was
    /// told of it yet. A model that is not told proposes the same again, or goes on from a text that is not there. What a proposal was for was said by a model: where
    /// that tells of a file which AI never reads (by now), it is left out.
    pub(super) fn news(&self, session: &SessionId, turns: &[Kept], whole: &Book, open: &Book) -> Preface {
        let answered = |kept: &&Kept| matches!(kept.turn.status, TurnStatus::Done | TurnStatus::Cancelled);
        let told = |id: &ProposalId| {
            let last = turns.iter().filter(answered).rev().find_map(|kept| fate_told(&kept.preface, id));
            last.map(str::to_owned)
        };
        let queue = proposals::load(self.root()).map(|queue| queue.items).unwrap_or_default();
        let mut fresh: Vec<(&Queued, &'static str)> = queue
            .iter()
            .filter(|q| q.session == *session || turns.iter().any(|kept| kept.turn.id == q.turn))
            .filter(|q| q.proposal.files.iter().all(|file| !whole.private.contains(&file.path)))
            .filter_map(|q| Some((q, fate(q)?)))
            .filter(|(q, fate)| told(&q.proposal.id).as_deref() != Some(fate))
            .collect();
        // Times are RFC 3339 in UTC with the same number of digits: as text they sort as they passed.
        fresh.sort_by(|(a, _), (b, _)| a.at.cmp(&b.at));
        if fresh.is_empty() {
            return Preface::default();
        }
        let left_out = fresh.len().saturating_sub(MOST_TOLD);
        let secrets = Secrets::of(whole, open, turns);
        let in_words = |(queued, fate): &(&Queued, &str)| in_words(queued, fate, &secrets);
        let mut lines: Vec<String> = fresh.iter().skip(left_out).map(in_words).collect();
        if left_out > 0 {
            lines.insert(0, format!("I have also decided on {left_out} earlier proposals."));
        }
        let note = Item::Author(lines.join("\n"));
        Preface {
            told: fresh.iter().map(|(q, _)| q.proposal.id.clone()).collect(),
            fates: fresh.iter().map(|(_, fate)| (*fate).to_owned()).collect(),
            items: to_stored(&[note]),
        }
    }
}

/// Most proposals that one question tells of; a rename over many files is many decisions at once.
const MOST_TOLD: usize = 20;

const REJECTED: &str = "rejected";

/// What a preface told of a proposal.
fn fate_told<'a>(preface: &'a Preface, id: &ProposalId) -> Option<&'a str> {
    let at = preface.told.iter().position(|told| told == id)?;
    Some(preface.fates.get(at).map_or(REJECTED, String::as_str))
}

/// What has become of a proposal, if it was decided.
fn fate(queued: &Queued) -> Option<&'static str> {
    match (queued.status, queued.proposal.edited) {
        (Status::Applied, false) => Some("applied"),
        (Status::Applied, true) => Some("edited"),
        (Status::Rejected, _) => Some(REJECTED),
        (Status::Undone, _) => Some("undone"),
        (Status::Pending | Status::Stale, _) => None,
    }
}

/// Tells as much as may be told.
fn in_words(queued: &Queued, fate: &str, secrets: &Secrets<'_>) -> String {
    let path = queued.proposal.path().map_or("", BookPath::as_str);
    let why = queued.why.as_deref().map(str::trim).filter(|why| !why.is_empty());
    let (full, short) = (
        format!("your proposal \"{}\" for {path}", queued.proposal.summary),
        format!("your proposal for {path}"),
    );
    let ways = [(&full, why), (&short, why), (&full, None), (&short, None)];
    let mut said = ways.into_iter().map(|(proposal, why)| fate_in_words(proposal, fate, why));
    said.find(|words| !secrets.are_in(words))
        .unwrap_or_else(|| fate_in_words("a proposal of yours", fate, None))
}

fn fate_in_words(proposal: &str, fate: &str, why: Option<&str>) -> String {
    match (fate, why) {
        ("applied", _) => format!("I accepted {proposal}."),
        ("edited", _) => {
            format!("I accepted {proposal} after changing its text. Read it again before you build on it.")
        }
        ("undone", _) => format!("I took back {proposal} after accepting it: the file is as it was."),
        (_, Some(why)) => format!("I rejected {proposal}. My reason: {why}"),
        (_, None) => format!("I rejected {proposal}."),
    }
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
                replaces: None,
                notices: vec![],
                selection: None,
                tools: vec![],
                answer: String::new(),
                lacks: None,
                quotes: vec![],
                proposals: vec![],
                status,
                rounds: 1,
                tier: None,
                tier_asked: None,
                usage: Usage::default(),
                response_id: Some(format!("resp_{n}")),
            },
            items: to_stored(&said(n)),
            material: vec![Stretch { path: BookPath::new("a.md").unwrap(), text: format!("Section {n}") }],
            kept_by_server: true,
            destination: destination.into(),
            left_out: 0,
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

    mod fates {
        use std::fs;

        use super::*;
        use crate::domain::codex::EntryType;
        use crate::domain::passage::sha256_hex;
        use crate::proposal::{FileChange, Proposal};
        use crate::store::sessions;
        use crate::workbench::{Ask, Overrides, Surroundings};

        struct Desk {
            _folder: tempfile::TempDir,
            bench: Workbench,
            session: SessionId,
        }

        impl Desk {
            fn new() -> Self {
                let folder = tempfile::tempdir().unwrap();
                let book = folder.path().join("book");
                fs::create_dir_all(book.join("codex/characters")).unwrap();
                fs::write(book.join("codex/characters/mira.md"), "role: rival\n").unwrap();
                let overrides = Overrides { provider: Some("offline".into()), ..Overrides::default() };
                let bench =
                    Workbench::open_in(&book, overrides, Surroundings::in_folders(folder.path())).unwrap();
                let desk = Self { _folder: folder, bench, session: SessionId::new("s-1") };
                desk.answer(&Preface::default());
                desk
            }

            /// A turn that was answered after the model was told this.
            fn answer(&self, preface: &Preface) {
                let n = sessions::load(self.bench.root(), &self.session).unwrap().len() as u32;
                let kept = kept(n, TurnStatus::Done, HERE);
                sessions::start(self.bench.root(), &self.session, &kept.turn, preface.clone()).unwrap();
                sessions::end(self.bench.root(), &self.session, kept).unwrap();
            }

            fn propose(&self, summary: &str) -> ProposalId {
                let path = "codex/characters/mira.md";
                let base = fs::read_to_string(self.bench.root().join(path)).unwrap();
                let proposal = Proposal {
                    id: ProposalId::mint(),
                    tool: "propose_codex_update".into(),
                    subject: EntryType::Character.into(),
                    entry: "Mira".into(),
                    summary: summary.into(),
                    warnings: vec![],
                    files: vec![FileChange {
                        path: BookPath::new(path).unwrap(),
                        base_hash: Some(sha256_hex(&base)),
                        base: Some(base),
                        proposed: Some("role: ally\n".into()),
                    }],
                    edited: false,
                };
                self.bench.queue(&self.session, &TurnId::new("t-0"), &proposal).unwrap();
                proposal.id
            }

            fn news(&self, turns: &[Kept]) -> Preface {
                let whole = self.bench.book();
                self.bench.news(&self.session, turns, &whole, &self.bench.for_ai(&whole))
            }

            fn told(&self) -> String {
                let turns = sessions::load(self.bench.root(), &self.session).unwrap();
                let preface = self.news(&turns);
                let words = from_stored(&preface.items);
                let said: Vec<String> = words
                    .into_iter()
                    .map(|item| if let Item::Author(text) = item { text } else { panic!("{item:?}") })
                    .collect();
                said.concat()
            }

            /// Everything that the next request would send.
            fn request(&self) -> String {
                let ask = Ask {
                    question: "And now?".into(),
                    session: Some(self.session.clone()),
                    ..Ask::default()
                };
                format!("{:?}", self.bench.prepare(&ask).unwrap().history)
            }
        }

        #[test]
        fn the_reason_for_a_refusal_is_in_the_next_request_and_told_once() {
            let desk = Desk::new();
            let id = desk.propose("Mira is an ally");
            assert_eq!(desk.told(), "", "what waits is no news");
            desk.bench.reject(&id, Some("too soon, keep her a rival")).unwrap();
            let words = "I rejected your proposal \"Mira is an ally\" for codex/characters/mira.md. My reason: too soon, keep her a rival";
            assert_eq!(desk.told(), words);
            assert!(desk.request().contains("too soon, keep her a rival"));
            let turns = sessions::load(desk.bench.root(), &desk.session).unwrap();
            let preface = desk.news(&turns);
            desk.answer(&preface);
            assert_eq!(desk.told(), "");
            assert!(desk.request().contains("too soon"), "it stays in the history");
        }

        #[test]
        fn what_was_accepted_edited_and_taken_back_is_told_as_it_changes() {
            let desk = Desk::new();
            let id = desk.propose("Mira is an ally");
            desk.bench.edit(&id, 0, "role: friend\n".into()).unwrap();
            desk.bench.apply(&id, &[]).unwrap();
            assert!(desk.told().contains("after changing its text"), "{}", desk.told());
            let turns = sessions::load(desk.bench.root(), &desk.session).unwrap();
            desk.answer(&desk.news(&turns));
            assert_eq!(desk.told(), "");
            desk.bench.undo(&id).unwrap();
            assert!(desk.told().starts_with("I took back your proposal"), "{}", desk.told());
            assert!(desk.request().contains("I took back"));
            let other = desk.propose("Again");
            desk.bench.apply(&other, &[]).unwrap();
            desk.bench.reject(&desk.propose("Once more"), None).unwrap();
            let told = desk.told();
            let lines: Vec<&str> = told.lines().collect();
            assert_eq!(lines.len(), 3, "{told}");
            assert!(lines[1].starts_with("I accepted your proposal \"Again\""));
            assert!(lines[2].ends_with("\"Once more\" for codex/characters/mira.md."));
        }

        #[test]
        fn what_tells_of_a_private_file_is_left_out_of_a_fate_and_no_more() {
            let desk = Desk::new();
            let zed = "---\nname: Zedekiah\nai: never\n---\n\nHe is the father of Mira and nobody knows that at all.\n";
            std::fs::write(desk.bench.root().join("codex/characters/zed.md"), zed).unwrap();
            desk.bench.refresh().unwrap();
            let told = |summary: &str, why: &str| {
                desk.bench.reject(&desk.propose(summary), Some(why)).unwrap();
                desk.told().lines().last().unwrap().to_owned()
            };
            let open = "I rejected your proposal \"Mira is an ally\" for codex/characters/mira.md.";
            let bare = "I rejected your proposal for codex/characters/mira.md.";
            assert_eq!(told("Mira is an ally", "too soon"), format!("{open} My reason: too soon"));
            assert_eq!(told("Zedekiah is kind", "too soon"), format!("{bare} My reason: too soon"));
            assert_eq!(told("she is the father of Mira and nobody", "no"), format!("{bare} My reason: no"));
            assert_eq!(told("Mira is an ally", "ask Zedekiah"), open);
            assert_eq!(told("Zedekiah is kind", "ask Zedekiah"), bare);
        }

        #[test]
        fn a_preface_of_an_earlier_version_told_of_refusals_only() {
            let id = ProposalId::new("p-1");
            let preface: Preface = serde_json::from_value(json!({ "told": ["p-1"] })).unwrap();
            assert_eq!(fate_told(&preface, &id), Some(REJECTED));
        }
    }
}
