//! A cancel in every phase of a turn, over real sockets: it ends at once, and nothing waits for the server.

use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use scritorio::agent::event::{Ended, TurnEventKind};
use scritorio::agent::{FirstRound, TurnSetup, driver};
use scritorio::canon::index::{Index, LaterIndex};
use scritorio::domain::book::Book;
use scritorio::domain::conversation::{Failure, ToolStatus, TurnStatus};
use scritorio::domain::ids::{SessionId, TurnId};
use scritorio::providers::client::{ApiKey, Client, Timeouts};
use scritorio::providers::remote::Remote;
use scritorio::providers::{Item, Noted, Options, Sending, Witness};
use scritorio::tools::{Desk, ReadTool, Reading, Registry, Seen, ToolError};
use serde::Deserialize;
use serde_json::json;

use super::server::{Reply, Server};
use super::{error, listener, refused};

/// What an author waits at most.
const LIMIT: Duration = Duration::from_millis(100);
/// A busy machine may be late; one that waited for the server would be late every time.
const TRIES: usize = 6;

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// Blocks its thread until the other end of the channel is dropped.
struct Block(Mutex<mpsc::Receiver<()>>);

impl ReadTool for Block {
    type Args = Nothing;

    fn name(&self) -> &'static str {
        "block"
    }

    fn about(&self) -> &'static str {
        "Blocks."
    }

    fn read(&self, _: &Desk<'_>, _: Nothing) -> Result<Reading, ToolError> {
        let _ = self.0.lock().unwrap().recv();
        Ok(Reading::default())
    }
}

fn setup(base: &str, registry: Registry) -> TurnSetup {
    let book = Arc::new(Book::default());
    let indexed = Arc::clone(&book);
    let client = Client::new(Timeouts::default()).unwrap();
    TurnSetup {
        id: TurnId::mint(),
        session: SessionId::mint(),
        open_is_private: false,
        provider: Arc::new(Remote::openai(client, Some(base), ApiKey::none()).unwrap()),
        witness: Arc::new(()),
        purse: Arc::new(()),
        model: "m".into(),
        registry: Arc::new(registry),
        book,
        index: LaterIndex::new(move || Arc::new(Index::of(&indexed))),
        meaning: None,
        current: None,
        chapter: None,
        selection: None,
        read_to: None,
        seen: Seen::default(),
        persona: "developmental-editor",
        instructions: String::new(),
        history: vec![],
        continue_from: None,
        question: "Well?".into(),
        options: Options::default(),
        max_rounds: 4,
        first_round: FirstRound::Patterns,
        notices: vec![],
        left_out: 0,
        numbers_missing: false,
    }
}

/// Runs a turn up to where `now` says so, cancels it, and gives the time that it took to end, and what it told after the cancel.
async fn cancelled_when(
    setup: TurnSetup,
    now: &(dyn Fn(&TurnEventKind) -> bool + Sync),
    then: impl FnOnce(),
) -> (Duration, Vec<TurnEventKind>, Ended) {
    let id = setup.id.clone();
    let mut running = driver::start(setup);
    while !now(&running.events.recv().await.unwrap().kind) {}
    then();
    let at = Instant::now();
    running.cancel.cancel();
    let mut told = vec![];
    loop {
        let event = running.events.recv().await.expect("a turn ends with its end");
        assert_eq!(event.turn, id);
        if let TurnEventKind::Ended(ended) = event.kind {
            let took = at.elapsed();
            assert!(running.events.recv().await.is_none(), "nothing comes after the end");
            return (took, told, *ended);
        }
        told.push(event.kind);
    }
}

/// Cancels in a phase, a few times: each time it ends as cancelled, and within the limit as soon as the machine has time for it.
async fn ends_at_once(
    phase: &str,
    turn: impl Fn() -> TurnSetup,
    now: &(dyn Fn(&TurnEventKind) -> bool + Sync),
    reached: impl Fn(),
) -> Ended {
    let mut times = vec![];
    for _ in 0..TRIES {
        let (took, told, ended) = cancelled_when(turn(), now, &reached).await;
        assert_eq!(ended.turn.status, TurnStatus::Cancelled, "{phase}");
        // Words that had arrived by then are still told; nothing new begins.
        let only_ends = told.iter().all(|kind| match kind {
            TurnEventKind::Tool(row) => row.status == ToolStatus::Cancelled,
            // What it has cost by then, and what it had to leave out, is told last.
            kind => {
                matches!(kind, TurnEventKind::Text(_) | TurnEventKind::Usage(_) | TurnEventKind::Notice(_))
            }
        });
        assert!(only_ends, "{phase}: {told:?}");
        times.push(took);
        if took < LIMIT {
            return ended;
        }
    }
    panic!("{phase}: a cancel took {times:?}")
}

fn asked(kind: &TurnEventKind) -> bool {
    matches!(kind, TurnEventKind::Round { .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_connects() {
    let (arrived, arrivals) = mpsc::channel();
    let silent = listener(move |stream| arrived.send(stream).unwrap());
    let base = format!("https://{silent}/v1");
    // Connected, and the encryption is never agreed on.
    let held = Mutex::new(vec![]);
    let reached = || held.lock().unwrap().push(arrivals.recv_timeout(Duration::from_secs(20)).unwrap());
    ends_at_once("connecting", || setup(&base, Registry::canon_only()), &asked, reached).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_waits_for_the_first_byte() {
    let server = Server::start(|_, _| Reply::Silence);
    ends_at_once("headers", || setup(&server.base, Registry::canon_only()), &asked, || server.wait()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_answer_arrives() {
    let server = Server::start(|_, _| Reply::Stall("She keeps "));
    let speaks = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Text(_));
    let ended = ends_at_once("stream", || setup(&server.base, Registry::canon_only()), &speaks, || {}).await;
    assert!(!ended.turn.answer.is_empty() && ended.turn.cut_off().is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_answer_drips() {
    let server = Server::start(|_, _| Reply::Drip);
    let speaks = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Text(_));
    ends_at_once("drip", || setup(&server.base, Registry::canon_only()), &speaks, || {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_two_rounds() {
    let server = Server::start(|_, body| {
        if body["input"].to_string().contains("function_call_output") {
            Reply::Silence
        } else {
            Reply::Call("search_codex", json!({ "query": "Mira", "entryType": null }))
        }
    });
    let second = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Round { round: 2, .. });
    let ended =
        ends_at_once("between rounds", || setup(&server.base, Registry::canon_only()), &second, || {}).await;
    assert_eq!(ended.turn.tools[0].status, ToolStatus::Done);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_a_tool_runs() {
    let server = Server::start(|_, _| Reply::Call("block", json!({})));
    let releases = Mutex::new(vec![]);
    let turn = || {
        let (release, blocked) = mpsc::channel();
        releases.lock().unwrap().push(release);
        setup(&server.base, Registry::canon_only().reads_canon(Block(Mutex::new(blocked))))
    };
    let runs =
        |kind: &TurnEventKind| matches!(kind, TurnEventKind::Tool(row) if row.status == ToolStatus::Running);
    let ended = ends_at_once("tool", turn, &runs, || {}).await;
    assert_eq!(ended.turn.tools[0].status, ToolStatus::Cancelled);
    // The threads of the tools come to their end, so that the test does.
    drop(releases);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_waits_to_ask_again() {
    let busy = || refused(503, "retry-after: 100\r\n", &error("overloaded", "Later."));
    let server = Server::start(move |_, _| busy());
    let waits = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Retry(retry) if retry.wait == Duration::from_secs(100));
    ends_at_once("retry", || setup(&server.base, Registry::canon_only()), &waits, || {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_keychain_is_asked_for_the_key() {
    let server = Server::start(|_, _| Reply::Silence);
    let (begun, asked_for) = mpsc::channel();
    let releases = Mutex::new(vec![]);
    let turn = || {
        let (release, blocked) = mpsc::channel::<()>();
        releases.lock().unwrap().push(release);
        let (begun, blocked) = (begun.clone(), Mutex::new(blocked));
        let key = ApiKey::from_fn(move || {
            begun.send(()).unwrap();
            // A dialogue of the system that nobody answers.
            let _ = blocked.lock().unwrap().recv();
            Some("key-0123456789".into())
        });
        let client = Client::new(Timeouts::default()).unwrap();
        let provider = Arc::new(Remote::openai(client, Some(&server.base), key).unwrap());
        TurnSetup { provider, ..setup(&server.base, Registry::canon_only()) }
    };
    let reached = || asked_for.recv_timeout(Duration::from_secs(20)).unwrap();
    ends_at_once("keychain", turn, &asked, reached).await;
    // The key comes after all, and nobody is there any more to send it.
    drop(releases);
    let headers = || setup(&server.base, Registry::canon_only());
    ends_at_once("the turn after it", headers, &asked, || server.wait()).await;
    let heads = server.received().into_iter().map(|request| request.head.to_lowercase());
    assert!(heads.into_iter().all(|head| !head.contains("key-0123456789")));
}

/// Notes for ever what is about to leave.
struct Slow(mpsc::Sender<()>);

impl Witness for Slow {
    fn sending<'a>(&'a self, _: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        self.0.send(()).unwrap();
        Box::pin(std::future::pending())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_is_noted_what_leaves() {
    let server = Server::start(|_, _| Reply::Silence);
    let (begun, noting) = mpsc::channel();
    let turn = || TurnSetup {
        witness: Arc::new(Slow(begun.clone())),
        ..setup(&server.base, Registry::canon_only())
    };
    let reached = || noting.recv_timeout(Duration::from_secs(20)).unwrap();
    ends_at_once("ledger", turn, &asked, reached).await;
    assert!(server.received().is_empty(), "what was not noted was not sent");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_is_asked_again_on_the_default_tier() {
    let full = || refused(429, "", &error("resource_unavailable", "Resource Unavailable"));
    let server =
        Server::start(move |_, body| if body["service_tier"] == "flex" { full() } else { Reply::Silence });
    let turn = || {
        let options = Options { service_tier: Some("flex".into()), ..Options::default() };
        TurnSetup { options, ..setup(&server.base, Registry::canon_only()) }
    };
    let falls_back = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Retry(_));
    // Both requests have arrived: the one that was refused, and the one that is never answered.
    let reached = || [(); 2].into_iter().for_each(|()| server.wait());
    ends_at_once("flex", turn, &falls_back, reached).await;
    let tiers: Vec<_> = server.received().iter().map(|r| r.body["service_tier"].clone()).collect();
    assert_eq!(tiers[..2], ["flex", "auto"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_it_is_asked_without_its_oldest_turns() {
    let long = || refused(400, "", &error("context_length_exceeded", "maximum context length is 8 tokens"));
    let server = Server::start(move |n, _| if n.is_multiple_of(2) { long() } else { Reply::Silence });
    let turn = || {
        let told = |words: &str| [Item::Author(format!("{words}?")), Item::Persona(words.into())];
        let history = ["Once", "Twice"].into_iter().flat_map(told).collect();
        TurnSetup { history, ..setup(&server.base, Registry::canon_only()) }
    };
    let shortens = |kind: &TurnEventKind| matches!(kind, TurnEventKind::Retry(_));
    let reached = || [(); 2].into_iter().for_each(|()| server.wait());
    ends_at_once("context", turn, &shortens, reached).await;
}
