//! The wires over real sockets: refusals that teach, headers, and every recorded stream byte by byte.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

use crate::domain::conversation::{Failure, FailureKind};
use crate::providers::client::replayer::{Replayer, Script};
use crate::providers::client::{ApiKey, Client, Timeouts};
use crate::providers::presets::{self, Preset};
use crate::providers::remote::Remote;
use crate::providers::{Event, Exchange, Item, Options, Provider, Request, ToolChoice};

const ANSWER: &str = "data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":\"Yes.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

fn request() -> Request {
    let nothing =
        json!({ "type": "object", "properties": {}, "additionalProperties": false, "required": [] });
    let tool = |name: &str| json!({ "type": "function", "name": name, "description": "d", "parameters": nothing, "strict": true });
    Request {
        model: "m".into(),
        instructions: "Be brief.".into(),
        items: vec![Item::Author("Who is Mira?".into())],
        tools: ["look", "get_weather", "list"].map(tool).to_vec(),
        tool_choice: ToolChoice::Named("look".into()),
        options: Options { reasoning_effort: Some("low".into()), ..Options::default() },
        ..Request::default()
    }
}

fn remote(preset: &str, base: &str) -> Remote {
    let preset = Preset { base_url: Some(base.to_owned()), ..presets::named_or_custom(preset) };
    let key = ApiKey::from_fn(|| Some("key-0123456789".into()));
    let limits = Timeouts { retry: Duration::from_millis(1), ..Timeouts::default() };
    preset.remote(Client::new(limits).unwrap(), key).unwrap()
}

async fn ask(remote: &Remote) -> (Result<(), Failure>, Vec<Event>) {
    let (out, mut heard) = unbounded_channel();
    let request = request();
    let exchange = Exchange { request: &request, out, cancel: CancellationToken::new(), witness: &() };
    let result = remote.stream(exchange).await;
    let mut events = vec![];
    while let Ok(event) = heard.try_recv() {
        events.push(event);
    }
    (result, events)
}

/// Asks a server that plays these scripts once for each.
async fn play(preset: &str, scripts: Vec<Script>, questions: usize) -> (Vec<Value>, Vec<String>, Remote) {
    let server = Replayer::start(scripts).await;
    let remote = remote(preset, &server.base);
    for _ in 0..questions {
        let (result, events) = ask(&remote).await;
        result.unwrap();
        assert!(matches!(events.last(), Some(Event::Finished { .. })), "{events:?}");
    }
    let recorded = server.recorded();
    let bodies = recorded.iter().map(|r| r.body.clone()).collect();
    (bodies, recorded.into_iter().map(|r| r.head.to_ascii_lowercase()).collect(), remote)
}

fn refuse(message: &str) -> Script {
    Script::answer(400, "application/json", json!({ "error": { "message": message } }).to_string())
}

#[tokio::test]
async fn what_a_server_refused_is_not_asked_for_again() {
    let scripts = vec![
        refuse("Invalid tool_choice type: 'object'. Supported string values: none, auto, required"),
        refuse("Unrecognized request argument supplied: stream_options"),
        Script::stream(ANSWER),
        Script::stream(ANSWER),
    ];
    let (bodies, _, _) = play("openrouter", scripts, 2).await;
    assert!(bodies[0]["tool_choice"].is_object() && bodies[0]["stream_options"].is_object());
    assert_eq!(bodies[1]["tool_choice"], "required");
    assert!(bodies[2].get("stream_options").is_none());
    assert_eq!(bodies[3], bodies[2], "the next question knows it");
}

#[tokio::test]
async fn a_model_without_tools_is_a_clear_failure_and_is_remembered() {
    let server = Replayer::start([refuse(
        "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
    )])
    .await;
    let remote = remote("vllm", &server.base);
    assert!(remote.tools());
    let failure = ask(&remote).await.0.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Provider);
    assert!(failure.message.contains("can't call tools with this model"), "{failure:?}");
    assert!(
        failure.hint.contains("tools = false") && failure.hint.contains("[providers.vllm]"),
        "{failure:?}"
    );
    assert!(!remote.tools());
}

#[tokio::test]
async fn a_key_goes_in_the_header_that_its_server_wants() {
    let (_, heads, _) = play("openrouter", vec![Script::stream(ANSWER)], 1).await;
    assert!(heads[0].contains("authorization: bearer key-0123456789"), "{}", heads[0]);
    let whole =
        json!({ "id": "msg", "content": [{ "type": "text", "text": "Yes." }], "stop_reason": "end_turn" });
    let script = Script::answer(200, "application/json", whole.to_string());
    let (_, heads, _) = play("anthropic", vec![script], 1).await;
    assert!(
        heads[0].contains("x-api-key: key-0123456789") && heads[0].contains("anthropic-version: 2023-06-01")
    );
    assert!(!heads[0].contains("authorization"), "{}", heads[0]);
    let done = json!({ "type": "response.completed", "response": { "id": "r", "status": "completed", "output": [] } });
    let (_, heads, _) = play("azure", vec![Script::stream(format!("data: {done}\n\n"))], 1).await;
    assert!(
        heads[0].contains("api-key: key-0123456789") && !heads[0].contains("authorization"),
        "{}",
        heads[0]
    );
}

#[tokio::test]
async fn a_model_that_finds_its_own_budget_is_asked_so_and_remembered() {
    let answer = json!({ "id": "msg", "content": [], "stop_reason": "end_turn" }).to_string();
    let whole = || Script::answer(200, "application/json", &answer);
    let said = "thinking.type.enabled is not supported for this model. Use thinking.type.adaptive and output_config.effort.";
    let server = Replayer::start([refuse(said), whole(), whole()]).await;
    let remote = remote("anthropic", &server.base);
    let free = Request { tool_choice: ToolChoice::Auto, ..request() };
    for _ in 0..2 {
        let (out, _heard) = unbounded_channel();
        let exchange = Exchange { request: &free, out, cancel: CancellationToken::new(), witness: &() };
        remote.stream(exchange).await.unwrap();
    }
    let sent: Vec<Value> = server.recorded().into_iter().map(|r| r.body).collect();
    assert_eq!(sent[0]["thinking"]["type"], "enabled");
    assert_eq!(
        (&sent[1]["thinking"]["type"], &sent[1]["output_config"]["effort"]),
        (&json!("adaptive"), &json!("low"))
    );
    assert_eq!(sent[2], sent[1]);
}

#[tokio::test]
async fn every_recorded_stream_ends_the_same_over_a_socket_however_it_is_cut_up() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let mut played = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap();
        let preset = match name.rsplit('.').nth(1).unwrap() {
            "responses" => "openai",
            "ollama" => "ollama",
            "anthropic" => "anthropic",
            _ => "lmstudio",
        };
        // A server that breaks down is asked again a few times, with the same end.
        let ask_at = async |script: Script| {
            let server = Replayer::start(vec![script; 4]).await;
            let (result, events) = ask(&remote(preset, &server.base)).await;
            let port = server.base.rsplit(':').next().unwrap().trim_end_matches("/v1").to_owned();
            (result.map_err(|failure| failure.message.replace(&port, "PORT")), events)
        };
        let (whole, events) = ask_at(Script::stream(&bytes)).await;
        let (bytewise, same) = ask_at(Script::stream(&bytes).in_single_bytes()).await;
        assert_eq!(whole, bytewise, "{name}");
        assert_eq!(events.len(), same.len(), "{name}");
        let ends = events.iter().filter(|e| matches!(e, Event::Finished { .. })).count();
        assert_eq!(ends, usize::from(whole.is_ok()), "{name}: {whole:?}");
        assert!(whole.err().is_none_or(|message| !message.is_empty()), "{name}");
        played += 1;
    }
    assert!(played > 40, "{played}");
}

#[tokio::test]
async fn a_connection_that_breaks_after_the_last_word_loses_nothing() {
    // The finish reason has come; a length that is not reached breaks the connection.
    let body = ANSWER.replace("data: [DONE]\n\n", "");
    let length = body.len() + 100;
    let script =
        Script::head(200, &format!("content-type: text/event-stream\r\ncontent-length: {length}\r\n"))
            .then(body);
    let (_, _, remote) = play("lmstudio", vec![script], 1).await;
    assert_eq!(remote.name(), "lmstudio");
}
