//! Turns with a scripted provider: what is told, in which order, and what is kept, however a turn goes.

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use super::*;
use crate::agent::testing::{
    Scripted, Step, call, created, failure, finished, path, retry, setup, started, text, truncated,
};
use crate::agent::{Purse, first_request};
use crate::domain::codex::EntryType;
use crate::domain::conversation::FailureKind;
use crate::domain::ids::ProposalId;
use crate::proposal::FileChange;
use crate::providers::client::{ApiKey, Client, Timeouts};
use crate::providers::remote::Remote;
use crate::providers::{BoxFuture, Carried, Item, Noted, Request, Sending, Witness};
use crate::tools::{Desk, Draft, Evidence, ProposeTool, ReadTool, Reading, Registry, Selection};

/// Longer than this would mean that a cancel waits for something. The limit itself is 100 ms; the rest is for a busy machine.
const AT_ONCE: Duration = Duration::from_millis(600);

#[derive(Deserialize, JsonSchema)]
struct Word {
    /// Any.
    word: String,
}

/// Returns its word, and whether it had returned one before.
struct Look;

impl ReadTool for Look {
    type Args = Word;

    fn name(&self) -> &'static str {
        "look"
    }

    fn about(&self) -> &'static str {
        "Looks."
    }

    fn read(&self, desk: &Desk<'_>, args: Word) -> Result<Reading, ToolError> {
        let path = path("manuscript/02-lantern.md");
        Ok(Reading {
            result: json!({ "word": args.word, "seen": desk.seen.knows(&path) }),
            evidence: Evidence { resolved: vec![path.clone()], results: 1, ..Evidence::default() },
            material: vec![Material { path, text: args.word }],
        })
    }
}

struct Crash;

impl ReadTool for Crash {
    type Args = Word;

    fn name(&self) -> &'static str {
        "crash"
    }

    fn about(&self) -> &'static str {
        "Crashes."
    }

    fn read(&self, _: &Desk<'_>, _: Word) -> Result<Reading, ToolError> {
        panic!("a tool crashed, as it should here")
    }
}

/// Blocks its thread until the other end of the channel is dropped.
struct Block(Mutex<mpsc::Receiver<()>>);

impl ReadTool for Block {
    type Args = Word;

    fn name(&self) -> &'static str {
        "block"
    }

    fn about(&self) -> &'static str {
        "Blocks."
    }

    fn read(&self, _: &Desk<'_>, _: Word) -> Result<Reading, ToolError> {
        let _ = self.0.lock().unwrap().recv();
        Ok(Reading::default())
    }
}

struct Suggest;

impl ProposeTool for Suggest {
    type Args = Word;

    fn name(&self) -> &'static str {
        "suggest"
    }

    fn about(&self) -> &'static str {
        "Suggests."
    }

    fn propose(&self, _: &Desk<'_>, args: Word) -> Result<Draft, ToolError> {
        let proposal = Proposal {
            id: ProposalId::new("p-1"),
            tool: "suggest".into(),
            subject: EntryType::Item.into(),
            entry: args.word,
            summary: "A test".into(),
            warnings: vec![],
            files: vec![FileChange {
                path: path("codex/items/x.md"),
                base: None,
                base_hash: None,
                proposed: Some("# X\n".into()),
            }],
            edited: false,
        };
        Ok(Draft { result: json!({ "ok": true }), proposal: Some(proposal), ..Draft::default() })
    }
}

fn said(events: impl IntoIterator<Item = Event>) -> Vec<Step> {
    events.into_iter().map(Step::Say).collect()
}

fn tools() -> Registry {
    Registry::default().reads_canon(Look).reads_prose(Crash).proposes(Suggest)
}

fn turn(provider: &Arc<Scripted>) -> TurnSetup {
    TurnSetup { registry: Arc::new(tools()), ..setup(provider.clone(), "What now?") }
}

fn scripted(scripts: impl IntoIterator<Item = Vec<Step>>) -> Arc<Scripted> {
    Arc::new(Scripted::new(scripts))
}

/// Reads events to the end of the turn; a word for each.
async fn finish(mut running: Running) -> (Vec<String>, Ended) {
    let mut told = vec![];
    while let Some(event) = running.events.recv().await {
        told.push(match event.kind {
            TurnEventKind::Round { round, of } => format!("round {round} of {of}"),
            TurnEventKind::Text(words) => format!("text {words}"),
            TurnEventKind::Answer(answer) => format!("answer {answer}"),
            TurnEventKind::Reasoning => "reasoning".into(),
            TurnEventKind::Tool(row) => format!("{} {:?}", row.call_id, row.status),
            TurnEventKind::Proposed(proposal) => format!("proposed {}", proposal.id),
            TurnEventKind::Tier(tier) => format!("tier {tier}"),
            TurnEventKind::Retry(retry) => format!("retry {}", retry.why),
            TurnEventKind::Notice(words) => format!("notice {words}"),
            TurnEventKind::Usage(usage) => format!("usage {:?}", usage.input_tokens),
            TurnEventKind::Ended(ended) => {
                assert!(running.events.recv().await.is_none(), "nothing comes after the end");
                return (told, *ended);
            }
        });
    }
    panic!("the turn did not end: {told:?}")
}

fn outputs(items: &[Item]) -> String {
    let mut all = String::new();
    for item in items {
        if let Item::Output { call_id, output, .. } = item {
            let _ = writeln!(all, "{call_id}: {output}");
        }
    }
    all
}

#[tokio::test]
async fn a_model_that_turns_out_to_have_no_tools_is_asked_again_with_the_text_itself() {
    let provider = Arc::new(
        Scripted::new([vec![Step::Fail(failure())], said([text("It is dark."), finished()])]).toolless(),
    );
    let asked = setup(provider.clone(), "What do you make of this chapter?");
    let (events, ended) = finish(start(asked.clone())).await;
    assert_eq!((ended.turn.status.clone(), ended.turn.answer.as_str()), (TurnStatus::Done, "It is dark."));
    let [with, without] = &provider.requests()[..] else { panic!("{events:?}") };
    assert!(!with.tools.is_empty() && with.tool_choice != ToolChoice::Auto);
    assert!(without.tools.is_empty() && without.tool_choice == ToolChoice::Auto);
    let context = |request: &Request| format!("{:?}", request.items[0]);
    assert!(context(without).contains("cold as a key") && !context(with).contains("cold as a key"));
    assert!(!without.instructions.contains("get_manuscript_context"), "{}", without.instructions);
    let notice = "script-1 takes no tools: manuscript/02-lantern.md goes inline. `scritorio providers --check scripted` asks anew.";
    assert_eq!(ended.turn.notices, [notice]);
    assert!(events.contains(&format!("notice {notice}")), "{events:?}");
    let rounds = events.iter().filter(|event| event.starts_with("round")).count();
    assert_eq!(rounds, 1, "{events:?}");
    assert_eq!(ended.items.last(), Some(&Item::Persona("It is dark.".into())));
    assert_eq!(ended.prompt_hash, sha256_hex(&without.instructions));
}

#[test]
fn what_goes_inline_says_how_much_of_it_does_not() {
    let mut setup = setup(scripted([]), "Well?");
    let long = vec!["Word after word goes by.".repeat(40); 40].join("\n\n");
    setup.selection = Some(Selection {
        path: path("manuscript/02-lantern.md"),
        title: "The Lantern".into(),
        source_words: 9000,
        start: 0,
        text: long.clone().into(),
    });
    let notice = setup.inline_notice();
    let sent = crate::agent::context::inline_text(&setup.book, None, setup.selection.as_ref()).unwrap().1;
    let count = crate::domain::passage::count_words;
    let cut = count(&long) - count(&sent);
    assert!(cut > 1000, "{cut}");
    assert_eq!(
        notice,
        format!(
            "script-1 takes no tools: the selection from manuscript/02-lantern.md goes inline, without the last {cut} of its {} words, which are over the limit.",
            count(&long)
        )
    );
    (setup.selection, setup.current) = (None, None);
    let alone = "script-1 takes no tools and can look nothing up: it gets the question alone.";
    assert_eq!(setup.inline_notice(), alone);
    setup.open_is_private = true;
    assert_eq!(setup.inline_notice(), format!("{alone} The open document is kept from AI."));
}

#[tokio::test]
async fn the_purse_is_asked_before_the_text_goes_inline_too() {
    struct Once(Mutex<u32>);
    impl Purse for Once {
        fn allow(&self, _: &Request, _: &dyn Fn() -> serde_json::Value) -> Result<(), Failure> {
            let mut asked = self.0.lock().unwrap();
            *asked += 1;
            if *asked > 1 { Err(failure()) } else { Ok(()) }
        }
    }
    let provider = Arc::new(Scripted::new([vec![Step::Fail(failure())]]).toolless());
    let setup = TurnSetup { purse: Arc::new(Once(Mutex::new(0))), ..setup(provider.clone(), "Why?") };
    let (_, ended) = finish(start(setup)).await;
    assert_eq!(ended.turn.status, TurnStatus::Failed(failure()));
    assert_eq!(provider.requests().len(), 1, "what may not be paid for is not sent");
}

#[tokio::test]
async fn once_something_was_shown_or_read_a_refusal_of_tools_ends_the_turn() {
    let look = said([call("a", "look", r#"{"word":"x"}"#), finished()]);
    let shown = vec![Step::Say(text("Well")), Step::Fail(failure())];
    for script in [vec![look, vec![Step::Fail(failure())]], vec![shown]] {
        let requests = script.len();
        let provider = Arc::new(Scripted::new(script).toolless());
        let (_, ended) = finish(start(turn(&provider))).await;
        assert_eq!(ended.turn.status, TurnStatus::Failed(failure()));
        assert_eq!(provider.requests().len(), requests);
    }
}

#[tokio::test]
async fn an_answer_without_the_look_that_was_asked_for_is_not_kept_and_that_is_told() {
    let provider = Arc::new(Scripted::new([
        said([text("She is a pirate."), finished()]),
        said([text("She keeps the books."), finished()]),
    ]));
    let (events, ended) = finish(start(setup(provider.clone(), "Who is Mira Okafor?"))).await;
    assert_eq!(ended.turn.answer, "She keeps the books.");
    assert!(!events.iter().any(|event| event.contains("pirate")), "{events:?}");
    assert!(ended.turn.notices[0].contains("without looking anything up"), "{:?}", ended.turn.notices);
    assert!(ended.turn.tools[0].forced);
    let second = format!("{:?}", provider.requests()[1].items);
    assert!(!second.contains("pirate") && second.contains("harbour books"), "{second}");
}

#[tokio::test]
async fn a_server_that_keeps_conversations_goes_on_from_a_withdrawn_answer_that_nobody_else_has() {
    let provider = Arc::new(
        Scripted::new([
            said([created("r1"), text("She is a pirate."), finished()]),
            said([created("r2"), text("She keeps the books."), finished()]),
        ])
        .stateful(),
    );
    let mut setup = setup(provider.clone(), "Who is Mira Okafor?");
    setup.options.store = true;
    let (_, ended) = finish(start(setup)).await;
    let second = &provider.requests()[1];
    assert_eq!(second.previous_response_id.as_deref(), Some("r1"));
    let fresh = &second.items[second.fresh..];
    assert!(
        matches!(fresh, [Item::Author(result)] if result.contains("harbour books")),
        "only what the program looked up: {fresh:?}"
    );
    assert!(!format!("{:?}", ended.items).contains("pirate"), "{:?}", ended.items);
    assert!(ended.kept_by_server);
    assert_eq!(ended.turn.response_id.as_deref(), Some("r2"));
}

#[tokio::test]
async fn a_withdrawn_answer_stands_where_asking_again_fails_and_that_is_told() {
    let provider = scripted([said([text("She is a pirate."), finished()]), vec![Step::Fail(failure())]]);
    let (events, ended) = finish(start(setup(provider, "Who is Mira Okafor?"))).await;
    assert_eq!(ended.turn.status, TurnStatus::Failed(failure()));
    assert_eq!(ended.turn.answer, "She is a pirate.\n\n[answered without looking anything up]");
    let [notice] = &ended.turn.notices[..] else { panic!("{:?}", ended.turn.notices) };
    assert!(notice.ends_with("that first answer stands."), "{notice}");
    assert!(events.contains(&format!("notice {notice}")), "{events:?}");
}

#[tokio::test]
async fn where_the_budget_refuses_to_ask_again_nobody_is_told_that_it_was_asked() {
    struct Once(Mutex<bool>);
    impl Purse for Once {
        fn allow(&self, _: &Request, _: &dyn Fn() -> serde_json::Value) -> Result<(), Failure> {
            let is_second = std::mem::replace(&mut *self.0.lock().unwrap(), true);
            if is_second { Err(failure()) } else { Ok(()) }
        }
    }
    let provider = Arc::new(Scripted::new([said([text("She is a pirate."), finished()])]));
    let setup = setup(provider.clone(), "Who is Mira Okafor?");
    let setup = TurnSetup { purse: Arc::new(Once(Mutex::new(false))), ..setup };
    let (events, ended) = finish(start(setup)).await;
    assert_eq!(provider.requests().len(), 1);
    assert!(ended.turn.answer.starts_with("She is a pirate."));
    let told = || events.iter().chain(&ended.turn.notices);
    assert!(told().any(|words| words.ends_with("that first answer stands.")), "{events:?}");
    assert!(!told().any(|words| words.contains("asked again")), "{events:?} {:?}", ended.turn.notices);
}

#[tokio::test]
async fn a_turn_tells_everything_in_order() {
    let provider = scripted([
        said([
            created("r1"),
            Event::Reasoning,
            text("I "),
            text("look."),
            started("a", "look"),
            call("a", "look", r#"{"word":"gull"}"#),
            call("b", "suggest", r#"{"word":"gull"}"#),
            Event::Tier("flex".into()),
            finished(),
        ]),
        said([Event::Retry(retry("busy", 0)), text("So."), finished()]),
    ]);
    let (told, ended) = finish(start(turn(&provider))).await;
    assert_eq!(
        told,
        [
            "round 1 of 4",
            "reasoning",
            "text I ",
            "text look.",
            "a Queued",
            "a Queued",
            "b Queued",
            "tier flex",
            "usage Some(10)",
            "a Running",
            "a Done",
            "b Running",
            "b Done",
            "proposed p-1",
            "round 2 of 4",
            "retry busy",
            "text \n\n",
            "text So.",
            "usage Some(20)",
        ]
    );
    let turn = &ended.turn;
    assert_eq!((turn.answer.as_str(), turn.rounds, &turn.status), ("I look.\n\nSo.", 1, &TurnStatus::Done));
    assert_eq!((turn.provider.as_str(), turn.model.as_str()), ("scripted", "script-1"));
    assert_eq!((turn.tier.as_deref(), turn.usage.output_tokens), (Some("flex"), Some(4)));
    assert_eq!(turn.proposals, [ProposalId::new("p-1")]);
    assert_eq!(ended.proposals[0].entry, "gull");
    assert_eq!(turn.tools[0].arguments, r#"{"word":"gull"}"#);
    assert_eq!(turn.tools[0].resolved, [path("manuscript/02-lantern.md")]);
    assert_eq!(ended.material.len(), 1);
    assert_eq!(ended.prompt_hash, sha256_hex("You are a test."));
    assert!(turn.asked_at.parse::<jiff::Timestamp>().is_ok() && turn.asked_at.ends_with('Z'));
    assert!(ended.failure.is_none() && !ended.kept_by_server);
}

#[tokio::test]
async fn what_tools_returned_is_seen_by_later_calls_of_the_turn() {
    let look = |id: &str| said([call(id, "look", r#"{"word":"gull"}"#), finished()]);
    let provider = scripted([look("a"), look("b"), said([finished()])]);
    let (_, ended) = finish(start(turn(&provider))).await;
    assert_eq!(
        outputs(&ended.items),
        "a: {\"word\":\"gull\",\"seen\":false}\nb: {\"word\":\"gull\",\"seen\":true}\n"
    );
}

#[tokio::test]
async fn mistakes_of_the_model_and_of_a_tool_do_not_end_the_turn() {
    let provider = scripted([
        said([
            call("a", "fly", "{}"),
            call("b", "look", "{\"wrod\":1}"),
            call("c", "look", "no JSON"),
            call("d", "crash", "{\"word\":\"x\"}"),
            call("e", "look", "{\"word\":\"x\"}"),
            finished(),
        ]),
        said([text("Sorry."), finished()]),
    ]);
    let (_, ended) = finish(start(turn(&provider))).await;
    assert_eq!(ended.turn.status, TurnStatus::Done);
    let states: Vec<_> = ended.turn.tools.iter().map(|t| (t.status, t.error.is_some())).collect();
    let failed = (ToolStatus::Failed, true);
    assert_eq!(states, [failed, failed, failed, failed, (ToolStatus::Done, false)]);
    let outputs = outputs(&ended.items);
    assert_eq!(outputs.lines().filter(|l| l.contains("{\"error\":{\"kind\":")).count(), 4, "{outputs}");
}

#[tokio::test]
async fn a_provider_that_fails_or_crashes_fails_the_turn_and_what_arrived_is_kept() {
    for (last, kind) in [
        (vec![Step::Fail(failure())], FailureKind::Provider),
        (vec![Step::Crash], FailureKind::Work),
        (vec![], FailureKind::Provider),
    ] {
        let mut script = said([text("She "), text("ke")]);
        script.extend(last);
        let (told, ended) = finish(start(turn(&scripted([script])))).await;
        assert_eq!(told, ["round 1 of 4", "text She ", "text ke", "usage None"]);
        let TurnStatus::Failed(failure) = &ended.turn.status else { panic!("it failed") };
        assert_eq!((failure.kind, Some(failure)), (kind, ended.failure.as_ref()));
        assert!(!failure.message.is_empty() && !failure.hint.is_empty());
        assert_eq!(ended.turn.answer, "She ke");
        assert_eq!(ended.items.last(), Some(&Item::Persona("She ke".into())));
    }
}

/// Lets one request through.
struct OneRequest;

impl Purse for OneRequest {
    fn allow(&self, request: &Request, _: &dyn Fn() -> serde_json::Value) -> Result<(), Failure> {
        if request.tools_ran() { Err(failure()) } else { Ok(()) }
    }
}

/// Prices every response by its tier.
struct ByTier;

impl Witness for ByTier {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        let Carried::Conversation(request) = sending.of else { panic!("a turn asks") };
        let sent = crate::providers::tokens::of_request(request);
        let noted = Noted::with(move |outcome| {
            let cost = Some(if outcome.tier.as_deref() == Some("flex") { 0.5 } else { 1.0 });
            outcome.may_be_billed().then(|| Usage { cost, ..outcome.used(sent) })
        });
        Box::pin(std::future::ready(Ok(noted)))
    }
}

#[tokio::test]
async fn a_turn_stops_before_the_request_that_the_purse_refuses_and_keeps_what_it_has() {
    let first =
        [text("I look."), call("a", "look", r#"{"word":"gull"}"#), Event::Tier("flex".into()), finished()];
    let provider = scripted([said(first), said([text("never sent"), finished()])]);
    let mut setup = turn(&provider);
    (setup.purse, setup.witness) = (Arc::new(OneRequest), Arc::new(ByTier));
    setup.options.service_tier = Some("flex".into());
    let (_, ended) = finish(start(setup)).await;
    assert_eq!(provider.requests().len(), 1);
    assert_eq!(ended.turn.status, TurnStatus::Failed(failure()));
    assert_eq!((ended.turn.answer.as_str(), ended.turn.rounds), ("I look.", 1));
    assert_eq!(ended.turn.usage.cost, Some(0.5), "by the tier that was given");
    assert_eq!(ended.turn.tier_asked.as_deref(), Some("flex"));
    assert_eq!(ended.turn.tools[0].status, ToolStatus::Done);
}

/// A turn in which everything has a price; how it ended, and what was told of its usage last.
async fn paid(script: Vec<Step>, cancel_after: Option<usize>) -> (Usage, Vec<String>) {
    let mut setup = turn(&scripted([script]));
    setup.witness = Arc::new(ByTier);
    let mut running = start(setup);
    if let Some(events) = cancel_after {
        for _ in 0..events {
            running.events.recv().await.unwrap();
        }
        running.cancel.cancel();
    }
    let (told, ended) = finish(running).await;
    (ended.turn.usage, told)
}

#[tokio::test]
async fn an_answer_that_is_stopped_or_breaks_off_is_paid_for_by_an_estimate() {
    let words = "She keeps the harbour books. ";
    let heard = crate::providers::tokens::estimate(words);
    let mut stopped = said([text(words)]);
    stopped.push(Step::Hang);
    let mut thinking = said([Event::Reasoning, Event::Thought(words.into())]);
    thinking.push(Step::Hang);
    let broken = [said([text(words)]), vec![Step::Fail(failure())]].concat();
    for (script, cancel_after) in [(stopped, Some(2)), (thinking, Some(2)), (broken, None)] {
        let (usage, told) = paid(script, cancel_after).await;
        assert!(usage.estimated, "{usage:?}");
        assert!(usage.input_tokens.unwrap() > 100, "{usage:?}");
        assert_eq!((usage.output_tokens, usage.cost), (Some(heard), Some(1.0)));
        assert!(told.last().unwrap().starts_with("usage Some"), "{told:?}");
    }
    let (usage, _) = paid(vec![Step::Hang], Some(1)).await;
    assert_eq!((usage.estimated, usage.output_tokens), (true, Some(0)), "the server has the request");
}

#[tokio::test]
async fn what_is_refused_at_the_door_costs_nothing_and_what_is_lost_may() {
    let (usage, _) = paid(vec![Step::Fail(failure())], None).await;
    assert_eq!(usage, Usage::default());
    let again = said([Event::Retry(retry("busy", 0)), Event::Retry(retry("busy", 0))]);
    let (usage, _) = paid([again, vec![Step::Fail(failure())]].concat(), None).await;
    assert_eq!(usage, Usage::default());
    let (usage, _) = paid(vec![Step::Lose(failure())], None).await;
    assert_eq!((usage.cost, usage.estimated, usage.output_tokens), (Some(1.0), true, Some(0)));
}

/// A turn with a server that takes a connection and says nothing, not even what its encryption wants; stopped once it did so, unless its time runs out.
async fn with_a_silent_server(scheme: &str, first_byte: Option<Duration>) -> Ended {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("{scheme}://{}/v1", listener.local_addr().unwrap());
    let limits = Timeouts { retry: Duration::from_millis(1), ..Timeouts::default() };
    let first_byte_in = first_byte.unwrap_or(limits.first_byte);
    let client = Client::new(Timeouts { first_byte: first_byte_in, ..limits }).unwrap();
    let mut setup = turn(&scripted([]));
    setup.provider = Arc::new(Remote::openai(client, Some(&base), ApiKey::none()).unwrap());
    setup.witness = Arc::new(ByTier);
    let running = start(setup);
    if first_byte.is_none() {
        let (mut connection, _) = listener.accept().await.unwrap();
        connection.read_exact(&mut [0]).await.unwrap();
        running.cancel.cancel();
        return finish(running).await.1;
    }
    finish(running).await.1
}

#[tokio::test]
async fn what_is_stopped_before_a_connection_stands_costs_nothing() {
    let ended = with_a_silent_server("https", None).await;
    assert_eq!((&ended.turn.status, ended.turn.usage), (&TurnStatus::Cancelled, Usage::default()));
    let ended = with_a_silent_server("http", None).await;
    assert_eq!(ended.turn.status, TurnStatus::Cancelled);
    assert!(ended.turn.usage.estimated && ended.turn.usage.input_tokens.unwrap() > 100, "it was sent");
}

#[tokio::test]
async fn a_connection_that_takes_longer_than_the_first_byte_may_costs_nothing() {
    let ended = with_a_silent_server("https", Some(Duration::from_millis(20))).await;
    assert_eq!(ended.turn.usage, Usage::default());
    let failure = ended.failure.unwrap();
    assert!(failure.message.contains("could not be reached within"), "{}", failure.message);
}

#[tokio::test]
async fn an_answer_without_a_count_of_its_tokens_is_estimated_and_searches_are_counted() {
    let search = || Event::WebSearch { query: "gulls".into() };
    let (usage, _) = paid(said([search(), search(), text("So."), truncated("length")]), None).await;
    assert_eq!((usage.estimated, usage.web_searches), (true, 2));
    let (usage, _) = paid(said([text("So."), finished()]), None).await;
    assert_eq!((usage.estimated, usage.input_tokens, usage.output_tokens), (false, Some(10), Some(2)));
}

#[tokio::test]
async fn turns_that_one_request_had_to_leave_out_are_left_out_of_the_next_ones_too() {
    let look = [Event::Retry(retry("too long", 1)), call("a", "look", r#"{"word":"gull"}"#), finished()];
    let provider = scripted([said(look), said([text("So."), finished()])]);
    let mut setup = turn(&provider);
    let said = |n: u32| [Item::Author(format!("Question {n}")), Item::Persona(format!("Answer {n}"))];
    setup.history = [said(1), said(2)].concat();
    let (_, ended) = finish(start(setup)).await;
    assert_eq!(ended.turn.answer, "So.");
    let [first, second] = &provider.requests()[..] else { panic!("two requests") };
    assert_eq!((first.earlier_turns(), second.earlier_turns()), (2, 1));
    assert!(first.items.contains(&said(1)[0]) && !second.items.contains(&said(1)[0]));
    assert!(second.items.contains(&said(2)[1]) && second.tools_ran() && !first.tools_ran());
    assert_eq!(second.items[second.question], Item::Author("What now?".into()));
    let told = "The oldest turn of this conversation is left out: with it, it was too long for script-1.";
    assert_eq!((ended.left_out, &ended.turn.notices[..]), (1, &[told.to_owned()][..]));
}

#[tokio::test]
async fn how_many_turns_were_left_out_in_the_end_is_kept_with_the_turn() {
    let script =
        [Event::Retry(retry("too long", 1)), Event::Retry(retry("too long", 2)), text("So."), finished()];
    let mut setup = turn(&scripted([said(script)]));
    let said = |n: u32| [Item::Author(format!("Question {n}")), Item::Persona(format!("Answer {n}"))];
    setup.history = [said(2), said(3), said(4)].concat();
    setup.left_out = 1;
    setup.notices = vec!["Before.".into(), too_long(1, &setup.model).unwrap(), "Behind.".into()];
    let (told, ended) = finish(start(setup)).await;
    let total =
        "The oldest 3 turns of this conversation are left out: with them, it was too long for script-1.";
    assert_eq!(ended.turn.notices, ["Before.", total, "Behind."]);
    assert_eq!(ended.left_out, 3);
    assert!(told.contains(&format!("notice {total}")), "{told:?}");
}

#[tokio::test]
async fn the_id_of_an_attempt_that_failed_names_no_answer() {
    let provider = scripted([said([created("r1"), Event::Retry(retry("boom", 0)), text("So."), finished()])]);
    let (_, ended) = finish(start(turn(&provider))).await;
    assert_eq!((ended.last_response, ended.turn.response_id), (None, None));
}

#[tokio::test]
async fn a_cancel_ends_the_turn_at_once_whatever_the_provider_does() {
    let before_a_word = vec![Step::Hang];
    let mut polite = said([text("She "), call("a", "look", "{}")]);
    polite.extend([Step::UntilCancelled, Step::Say(text("keeps")), Step::Say(finished())]);
    let mut deaf = said([text("She ")]);
    deaf.push(Step::Hang);
    for (script, answer, outputs_of) in [
        (before_a_word, "", ""),
        (polite, "She keeps", "a: {\"error\":{\"kind\":\"cancelled\""),
        (deaf, "She ", ""),
    ] {
        let heard = script.iter().take_while(|s| matches!(s, Step::Say(_))).count();
        let mut running = start(turn(&scripted([script])));
        for _ in 0..=heard {
            running.events.recv().await.unwrap();
        }
        let asked = Instant::now();
        running.cancel.cancel();
        let (_, ended) = finish(running).await;
        assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
        assert_eq!(ended.turn.status, TurnStatus::Cancelled);
        assert_eq!(ended.turn.answer, answer);
        assert!(outputs(&ended.items).starts_with(outputs_of));
        assert!(ended.turn.tools.iter().all(|row| row.status == ToolStatus::Cancelled));
    }
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_a_tool() {
    let (release, blocked) = mpsc::channel();
    let calls = [call("a", "block", r#"{"word":"x"}"#), call("b", "look", r#"{"word":"x"}"#), finished()];
    let provider = scripted([said(calls)]);
    let registry = tools().reads_prose(Block(Mutex::new(blocked)));
    let mut running = start(TurnSetup { registry: Arc::new(registry), ..turn(&provider) });
    let is_running =
        |e: &TurnEvent| matches!(&e.kind, TurnEventKind::Tool(row) if row.status == ToolStatus::Running);
    while !is_running(&running.events.recv().await.unwrap()) {}
    let asked = Instant::now();
    running.cancel.cancel();
    let (told, ended) = finish(running).await;
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    drop(release);
    assert_eq!(told, ["a Cancelled", "b Cancelled"]);
    assert_eq!(outputs(&ended.items).matches("\"cancelled\"").count(), 2);
    assert_eq!(provider.requests().len(), 1);
}

#[tokio::test]
async fn a_turn_that_nobody_listens_to_stops() {
    let provider = scripted([vec![Step::UntilCancelled]]);
    let running = start(turn(&provider));
    drop(running.events);
    let weak = Arc::downgrade(&provider);
    drop(provider);
    let gone = async {
        while weak.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), gone).await.expect("the task lets go of the provider");
}

#[tokio::test]
async fn peek_shows_what_is_sent() {
    let provider = scripted([said([call("a", "look", r#"{"word":"x"}"#), finished()]), said([finished()])]);
    let mut setup = turn(&provider);
    setup.history =
        vec![Item::Context("old".into()), Item::Author("Hi".into()), Item::Persona("Hello".into())];
    let peeked = first_request(&setup);
    finish(start(setup)).await;
    let sent = provider.requests();
    assert_eq!(sent[0], peeked);
    let names: Vec<_> = peeked.tools.iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["look", "crash", "suggest"], "in the order of the registry");
    assert!(
        matches!(&peeked.items[..], [Item::Context(now), Item::Author(hi), Item::Persona(_), Item::Author(q)]
            if now.contains("manuscript/02-lantern.md") && hi == "Hi" && q == "What now?"),
        "the context of now, what was said, the question: {:?}",
        peeked.items
    );
    assert_eq!((peeked.fresh, &peeked.previous_response_id), (0, &None));
    assert_eq!(sent[1].items[..4], peeked.items, "later requests only add");
    assert_eq!(sent[1].previous_response_id, None);
}

#[tokio::test]
async fn a_server_that_keeps_the_conversation_is_sent_only_what_is_new() {
    let scripts = [
        said([created("r1"), text("Hm."), call("a", "look", r#"{"word":"x"}"#), finished()]),
        said([created("r2"), text("So."), finished()]),
    ];
    let provider = Arc::new(Scripted::new(scripts).stateful());
    let mut setup = turn(&provider);
    setup.options.store = true;
    setup.history = vec![
        Item::Context("old".into()),
        Item::Author("Hi".into()),
        Item::Persona("Hello".into()),
        Item::Author("Stopped".into()),
    ];
    setup.continue_from = Some((3, "r0".into()));
    let (_, ended) = finish(start(setup.clone())).await;
    let sent = provider.requests();
    let fresh = |n: usize| &sent[n].items[sent[n].fresh..];
    assert_eq!(sent[0].previous_response_id.as_deref(), Some("r0"));
    assert!(
        matches!(fresh(0), [Item::Context(_), Item::Author(stopped), Item::Author(q)]
            if stopped == "Stopped" && q == "What now?"),
        "{:?}",
        fresh(0)
    );
    assert_eq!(sent[1].previous_response_id.as_deref(), Some("r1"));
    assert!(matches!(fresh(1), [Item::Output { .. }]), "{:?}", fresh(1));
    assert!(ended.kept_by_server);
    assert_eq!(ended.turn.response_id.as_deref(), Some("r2"));

    setup.options.store = false;
    let again = first_request(&setup);
    assert_eq!((again.fresh, again.previous_response_id), (0, None), "nothing is kept that is not stored");
}

#[tokio::test]
async fn only_a_whole_answer_may_be_continued_from() {
    for last in [vec![Step::Say(truncated("length"))], vec![Step::Fail(failure())]] {
        let mut script = said([created("r1"), text("She")]);
        script.extend(last);
        let provider = Arc::new(Scripted::new([script]).stateful());
        let mut setup = turn(&provider);
        setup.options.store = true;
        let (_, ended) = finish(start(setup)).await;
        assert!(!ended.kept_by_server && ended.turn.response_id.is_none());
        assert_eq!(ended.last_response.as_deref(), Some("r1"));
    }
}

#[tokio::test]
async fn the_record_describes_the_selection_without_its_words() {
    let provider = scripted([said([text("Fine."), finished()])]);
    let mut setup = turn(&provider);
    setup.selection = Some(Selection {
        path: path("manuscript/02-lantern.md"),
        title: "The Lantern".into(),
        source_words: 30,
        start: 16,
        text: "cold as a key".into(),
    });
    let (_, ended) = finish(start(setup)).await;
    let meta = ended.turn.selection.clone().unwrap();
    assert_eq!((meta.words, meta.hash), (4, sha256_hex("cold as a key")));
    assert!(!format!("{ended:?}").contains("cold as a key"));
    assert!(!format!("{:?}", provider.requests()).contains("cold as a key"));
}

#[tokio::test]
async fn without_tools_the_text_itself_comes_along() {
    let provider = scripted([said([text("Fine."), finished()])]);
    let setup = TurnSetup {
        registry: Arc::new(Registry::default()),
        first_round: FirstRound::Required,
        ..turn(&provider)
    };
    let request = first_request(&setup);
    assert!(request.tools.is_empty() && request.tool_choice == ToolChoice::Auto);
    assert!(matches!(&request.items[0], Item::Context(text) if text.contains("found the lantern")));
}

#[tokio::test]
async fn the_program_looks_up_what_the_server_was_told_to_and_did_not() {
    let provider = scripted([
        said([text("A sailor, I guess."), finished()]),
        said([text("She keeps the books."), finished()]),
    ]);
    let (told, ended) = finish(start(setup(provider.clone(), "Who is Mira Okafor?"))).await;
    assert_eq!(ended.turn.status, TurnStatus::Done, "{told:?}");
    let [row] = &ended.turn.tools[..] else { panic!("{told:?}") };
    assert_eq!(
        (row.name.as_str(), row.status, row.forced),
        ("get_character_context", ToolStatus::Done, true)
    );
    assert_eq!(row.resolved, [path("codex/characters/mira.md")]);
    let sent = provider.requests();
    assert_eq!(sent[0].tool_choice, ToolChoice::Named("get_character_context".into()));
    assert_eq!(sent[1].tool_choice, ToolChoice::Auto);
    assert!(outputs(&sent[1].items).starts_with("forced-1: "));
    assert!(outputs(&sent[1].items).contains("keeps the harbour books"));
}

#[tokio::test]
async fn a_smoke_test_needs_a_canon_call_in_the_first_round() {
    let canon_only = |script: Vec<Vec<Step>>| TurnSetup {
        registry: Arc::new(Registry::canon_only()),
        first_round: FirstRound::Required,
        ..setup(scripted(script), "Who is Mira Okafor?")
    };
    let (_, ended) = finish(start(canon_only(vec![said([text("I guess."), finished()])]))).await;
    assert_eq!(ended.failure.map(|f| f.kind), Some(FailureKind::NoToolCall));
    assert!(ended.turn.tools.is_empty(), "no fallback");

    let prose = said([call("a", "get_manuscript_context", r#"{"ref":"current"}"#), finished()]);
    let (_, ended) = finish(start(canon_only(vec![prose]))).await;
    assert_eq!(ended.failure.map(|f| f.kind), Some(FailureKind::NoToolCall));
    assert!(ended.material.is_empty());

    let canon = said([call("a", "get_character_context", r#"{"name":"Mira Okafor"}"#), finished()]);
    let (_, ended) = finish(start(canon_only(vec![canon, said([text("So."), finished()])]))).await;
    assert_eq!(ended.turn.status, TurnStatus::Done);
    assert_eq!(ended.turn.tools[0].resolved, [path("codex/characters/mira.md")]);
}
