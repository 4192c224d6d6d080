//! A server somewhere: it is asked over a [`Wire`], and every byte that goes there is noted first.
//!
//! What is sent is [`Provider::body`], nothing else. Two second attempts are made, each at most once, said aloud, and only
//! while nothing of an answer has been shown: on the default tier when flex has no room, and with the whole conversation when the server won't
//! continue from an earlier response. Everything else that goes wrong is a failure in words.

use std::sync::{PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;

use super::abilities::{Abilities, Lesson};
use super::client::{Answer, ApiKey, Client, Key, Problem, Server};
use super::hearing::{End, Hearing};
use super::responses::{OPENAI, Responses};
use super::wire::{Heard, Progress, Protocol, Reader, Wire};
use super::{BoxFuture, Event, Exchange, Item, Provider, Request, Sending, raw};
use crate::domain::conversation::Failure;

/// Most bytes of one answer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// A server, the wire that it speaks, and the key that it wants.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    server: Server,
    key: ApiKey,
    wire: Box<dyn Wire>,
    /// What the server takes, as far as it is known by now.
    abilities: RwLock<Abilities>,
}

impl Remote {
    /// OpenAI, or what stands at `base` instead (`OPENAI_BASE_URL`).
    pub fn openai(client: Client, base: Option<&str>, key: ApiKey) -> Result<Self, Failure> {
        let base = base.map_or(OPENAI, str::trim);
        let server = Server::new("openai", base, Responses.path(), Some("OPENAI_API_KEY"))?;
        Ok(Self::at(client, server, Box::new(Responses), Abilities::openai(), key))
    }

    /// Any server, which is taken to have these abilities until it refuses one.
    pub fn at(
        client: Client,
        server: Server,
        wire: Box<dyn Wire>,
        abilities: Abilities,
        key: ApiKey,
    ) -> Self {
        Self { client, server, key, wire, abilities: RwLock::new(abilities) }
    }

    /// For a server that keeps nothing (every local one): each request holds the whole conversation.
    #[must_use]
    pub fn stateless(self) -> Self {
        self.change(|can| can.stateful = false);
        self
    }

    /// Returns what the server takes, as far as it is known by now.
    pub fn abilities(&self) -> Abilities {
        self.abilities.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Abilities) -> T) -> T {
        change(&mut self.abilities.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Asks with `body` once, and reports what arrives.
    async fn attempt(
        &self,
        exchange: &Exchange<'_>,
        body: &Value,
        key: Option<&Key>,
        report: &mut Report<'_>,
    ) -> Result<(), Stop> {
        let flex = body.get("service_tier").and_then(Value::as_str) == Some("flex");
        let limits = self.client.timeouts();
        let first_byte = if flex { limits.flex_first_byte } else { limits.idle };
        let bytes = body.to_string();
        let sending = Sending { destination: self.server.address(), body: &bytes, request: exchange.request };
        exchange.witness.sending(sending).await?;
        let answer = self.client.post(&self.server, key, bytes, first_byte).await?;
        let reader = self.wire.reader(exchange.request, &self.abilities());
        Ok(hear(answer, reader, report).await?)
    }

    /// Returns the body of a second attempt, and why it is made, where one may help.
    fn second(&self, request: &Request, body: &Value, problem: &Problem) -> Option<(Value, String)> {
        let Problem::Refused(refusal) = problem else { return None };
        let host = self.server.host();
        if body.get("service_tier").and_then(Value::as_str) == Some("flex") && refusal.is_capacity() {
            let mut body = body.clone();
            body["service_tier"] = "auto".into();
            return Some((body, format!("{host} has no flex capacity now: asking on the default tier.")));
        }
        if body.get("previous_response_id").is_some() && refusal.is_about_previous_response() {
            // 404: that one response is gone. 400: the server never keeps any.
            if refusal.status != Some(404) {
                self.change(|can| can.stateful = false);
            }
            let why =
                format!("{host} does not continue from the last response: sending the whole conversation.");
            return Some((with_tier_of(body, self.wire.afresh(request, &self.abilities())), why));
        }
        if refusal.says(&["invalid_encrypted_content"])
            && let Some(without) = without_reasoning(request)
        {
            let again = with_tier_of(body, self.wire.afresh(&without, &self.abilities()));
            let why = format!("{host} can't read what it had thought before: asking without that.");
            return (&again != body).then_some((again, why));
        }
        match self.change(|can| can.learn(refusal, body))? {
            Lesson::Again(why) => Some((with_tier_of(body, self.body(request)), why)),
            Lesson::NoTools => None,
        }
    }

    async fn ask(&self, exchange: &Exchange<'_>) -> Result<(), Failure> {
        let request = exchange.request;
        let key = self.key.get().await;
        let mut body = self.body(request);
        let mut report = Report { out: &exchange.out, shown: false };
        // Each second attempt takes away its own reason, so this ends.
        loop {
            let problem = match self.attempt(exchange, &body, key.as_ref(), &mut report).await {
                Ok(()) => return Ok(()),
                Err(Stop::Unnoted(failure)) => return Err(failure),
                Err(Stop::Problem(problem)) => problem,
            };
            match self.second(request, &body, &problem) {
                Some((again, why)) if !report.shown => {
                    report.send(Event::Retry(why));
                    body = again;
                }
                _ => return Err(problem.failure(&self.server, &request.model, key.as_ref())),
            }
        }
    }
}

/// Why an attempt came to nothing.
enum Stop {
    /// It could not be noted, so that nothing was sent.
    Unnoted(Failure),
    /// The network or the server.
    Problem(Problem),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Unnoted(failure)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// Keeps the tier of the last attempt: it may have been given up on the way.
fn with_tier_of(before: &Value, mut again: Value) -> Value {
    if let Some(tier) = before.get("service_tier").filter(|_| again.get("service_tier").is_some()) {
        again["service_tier"] = tier.clone();
    }
    again
}

/// Returns the request without what a model thought, if any of that is in it.
fn without_reasoning(request: &Request) -> Option<Request> {
    let is_reasoning = |item: &Item| match item {
        Item::Raw(item) => raw::of(Protocol::Responses, item).is_some_and(|r| r["type"] == "reasoning"),
        _ => false,
    };
    let mut items = request.items.clone();
    items.retain(|item| !is_reasoning(item));
    // The calls that followed it are bound to it by their ids.
    for item in &mut items {
        if let Item::Raw(Value::Object(raw)) = item
            && !raw.contains_key("wire")
        {
            raw.shift_remove("id");
        }
    }
    (items.len() < request.items.len()).then(|| Request { items, ..request.clone() })
}

/// Reports what arrives, until the answer ends.
async fn hear(mut answer: Answer, reader: Box<dyn Reader>, report: &mut Report<'_>) -> Result<(), Problem> {
    if answer.media_type().starts_with("text/html") {
        return Err(Problem::NotAnAnswer("a web page".into()));
    }
    let (mut hearing, mut size) = (Hearing::new(reader), 0);
    let broken = loop {
        let bytes = match answer.chunk().await {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break Problem::CutOff,
            Err(problem) => break problem,
        };
        size += bytes.len();
        if size > MAX_ANSWER {
            return Err(Problem::TooMuch);
        }
        let mut events = vec![];
        let progress = hearing.push(&bytes, &mut events).map_err(|_| Problem::TooMuch)?;
        if report.settle((events, progress))? {
            return Ok(());
        }
    };
    // What had come may be whole without a last word, also where the connection broke after it.
    let mut events = vec![];
    let end = hearing.finish(&mut events);
    report.settle((events, Progress::Going))?;
    match end {
        End::Ended => Ok(()),
        End::Failed(refusal) => Err(Problem::Refused(refusal)),
        End::WebPage => Err(Problem::NotAnAnswer("a web page".into())),
        End::NoAnswer => Err(Problem::NotAnAnswer("JSON that is no answer".into())),
        End::CutOff => Err(broken),
    }
}

/// Where events go, and whether the author has seen any of the answer.
struct Report<'a> {
    out: &'a UnboundedSender<Event>,
    shown: bool,
}

impl Report<'_> {
    /// Passes events on; returns whether the answer has ended.
    fn settle(&mut self, (events, progress): Heard) -> Result<bool, Problem> {
        for event in events {
            self.shown |= !matches!(event, Event::Created { .. });
            self.send(event);
        }
        match progress {
            Progress::Going => Ok(false),
            Progress::Ended => Ok(true),
            Progress::Failed(refusal) => Err(Problem::Refused(refusal)),
        }
    }

    fn send(&self, event: Event) {
        // Nobody listens any more only when the turn was dropped; this future goes with it.
        let _ = self.out.send(event);
    }
}

impl Provider for Remote {
    fn name(&self) -> &str {
        self.server.name()
    }

    fn stateful(&self) -> bool {
        self.change(|can| can.stateful)
    }

    fn tools(&self) -> bool {
        self.change(|can| can.tools)
    }

    fn body(&self, request: &Request) -> Value {
        self.wire.body(request, &self.abilities())
    }

    fn destination(&self) -> String {
        self.server.address().to_owned()
    }

    fn stream<'a>(&'a self, exchange: Exchange<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        Box::pin(async move {
            tokio::select! {
                biased;
                () = exchange.cancel.cancelled() => Ok(()),
                answered = self.ask(&exchange) => answered,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::sync::mpsc::unbounded_channel;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::domain::conversation::{FailureKind, Usage};
    use crate::domain::ids::CallId;
    use crate::providers::client::Timeouts;
    use crate::providers::client::replayer::{Recorded, Replayer, Script};
    use crate::providers::{Exchange, Item, Options, ToolChoice};

    const KEY: &str = "key-0123456789abcdef";

    /// The stream of an answer with thoughts, a word of the model and a call.
    fn answer() -> String {
        let reasoning = json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e", "status": "completed" });
        let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": [{ "type": "output_text", "text": "Ich bin é 🙂." }] });
        let call = json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search_codex", "arguments": "{\"query\":\"é\"}", "status": "completed" });
        stream_of(&[
            json!({ "type": "response.created", "response": { "id": "resp_1", "service_tier": "auto" } }),
            json!({ "type": "response.in_progress", "response": { "id": "resp_1" } }),
            json!({ "type": "response.output_item.added", "output_index": 0, "item": { "type": "reasoning", "id": "rs_1" } }),
            json!({ "type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "delta": "hm" }),
            json!({ "type": "response.output_item.done", "output_index": 0, "item": reasoning }),
            json!({ "type": "response.output_text.delta", "item_id": "msg_1", "delta": "Ich bin é" }),
            json!({ "type": "response.brand_new", "delta": "?" }),
            json!({ "type": "response.output_text.delta", "item_id": "msg_1", "delta": " 🙂" }),
            json!({ "type": "response.output_item.done", "output_index": 1, "item": message }),
            json!({ "type": "response.output_item.added", "output_index": 2, "item": { "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search_codex", "arguments": "" } }),
            json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{\"query\":" }),
            json!({ "type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "\"é\"}" }),
            json!({ "type": "response.output_item.done", "output_index": 2, "item": call }),
            json!({ "type": "response.completed", "response": { "id": "resp_1", "service_tier": "default", "usage": { "input_tokens": 7, "output_tokens": 9 } } }),
        ])
    }

    fn answer_events() -> Vec<Event> {
        let call_id = || CallId::new("call_1");
        let arguments = "{\"query\":\"é\"}".to_owned();
        vec![
            Event::Created { response_id: "resp_1".into() },
            Event::Reasoning,
            Event::Item(
                json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e" }),
            ),
            Event::Text("Ich bin é".into()),
            Event::Text(" 🙂".into()),
            Event::Text(".".into()),
            Event::Item(
                json!({ "type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": [{ "type": "output_text", "text": "Ich bin é 🙂." }] }),
            ),
            Event::CallStarted { call_id: call_id(), name: "search_codex".into() },
            Event::CallArguments { call_id: call_id(), delta: "{\"query\":".into() },
            Event::CallArguments { call_id: call_id(), delta: "\"é\"}".into() },
            Event::Call { call_id: call_id(), name: "search_codex".into(), arguments: arguments.clone() },
            Event::Item(
                json!({ "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "search_codex", "arguments": arguments, "status": "completed" }),
            ),
            Event::Tier("default".into()),
            Event::Finished {
                usage: Usage { input_tokens: Some(7), output_tokens: Some(9), ..Usage::default() },
                truncated: None,
            },
        ]
    }

    fn stream_of(events: &[Value]) -> String {
        let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
        events
            .iter()
            .flat_map(|e| ["event: ".into(), kind(e), "\ndata: ".into(), e.to_string(), "\n\n".into()])
            .collect()
    }

    fn finished() -> Value {
        json!({ "type": "response.completed", "response": { "status": "completed" } })
    }

    fn done() -> Event {
        Event::Finished { usage: Usage::default(), truncated: None }
    }

    fn request() -> Request {
        Request {
            model: "gpt-x".into(),
            instructions: "Be brief.".into(),
            items: vec![Item::Author("Who is Mira?".into())],
            fresh: 0,
            previous_response_id: None,
            tools: vec![],
            tool_choice: ToolChoice::Auto,
            options: Options { store: true, ..Options::default() },
        }
    }

    struct Played {
        result: Result<(), Failure>,
        events: Vec<Event>,
        recorded: Vec<Recorded>,
        stateful: bool,
    }

    impl Played {
        fn failure(&self) -> &Failure {
            self.result.as_ref().unwrap_err()
        }
    }

    fn provider(base: &str, limits: Timeouts) -> Remote {
        let key = ApiKey::from_fn(|| Some(KEY.into()));
        Remote::openai(Client::new(limits).unwrap(), Some(base), key).unwrap()
    }

    fn elsewhere() -> Remote {
        provider("http://localhost/v1", Timeouts::default())
    }

    async fn play(scripts: impl IntoIterator<Item = Script>, request: &Request) -> Played {
        play_within(Timeouts::default(), scripts, request).await
    }

    async fn play_within(
        limits: Timeouts,
        scripts: impl IntoIterator<Item = Script>,
        request: &Request,
    ) -> Played {
        let server = Replayer::start(scripts).await;
        let (out, mut events) = unbounded_channel();
        let provider = provider(&server.base, limits);
        let result =
            provider.stream(Exchange { request, out, cancel: CancellationToken::new(), witness: &() }).await;
        let mut all = vec![];
        while let Ok(event) = events.try_recv() {
            all.push(event);
        }
        Played { result, events: all, recorded: server.recorded(), stateful: provider.stateful() }
    }

    async fn refused(status: u16, media_type: &str, body: &str) -> Failure {
        let played = play([Script::answer(status, media_type, body)], &request()).await;
        assert_eq!(played.events, []);
        assert_eq!(played.failure().kind, FailureKind::Provider);
        assert!(played.failure().message.starts_with("127.0.0.1:"), "{}", played.failure().message);
        assert!(!played.failure().hint.is_empty());
        played.failure().clone()
    }

    #[tokio::test]
    async fn an_answer_arrives_the_same_whole_and_byte_by_byte() {
        for script in
            [Script::stream(answer()), Script::stream(answer().replace('\n', "\r\n")).in_single_bytes()]
        {
            let played = play([script], &request()).await;
            assert_eq!(played.result, Ok(()));
            assert_eq!(played.events, answer_events());
        }
    }

    #[tokio::test]
    async fn what_is_sent_is_the_body_with_the_key_beside_it() {
        let request = request();
        let played = play([Script::stream(answer())], &request).await;
        let sent = &played.recorded[0];
        assert_eq!(sent.body, elsewhere().body(&request));
        assert!(sent.head.starts_with("POST /v1/responses HTTP/1.1\r\n"), "{}", sent.head);
        let head = sent.head.to_lowercase();
        assert!(head.contains(&format!("authorization: bearer {KEY}")), "{head}");
        assert!(head.contains(concat!("user-agent: scritorio/", env!("CARGO_PKG_VERSION"))), "{head}");
        assert!(!format!("{:?}", elsewhere()).contains(KEY));
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_in_the_middle_is_no_success() {
        let whole = answer();
        let half = &whole.as_bytes()[..whole.find("🙂").unwrap() + 2];
        let chunked = Script::head(200, "content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n")
            .then(format!("{:x}\r\n", whole.len()))
            .then(half);
        for script in [Script::stream(half), chunked, Script::stream("")] {
            let played = play([script], &request()).await;
            assert!(
                played.failure().message.contains("before the answer was complete"),
                "{:?}",
                played.result
            );
            assert!(answer_events().starts_with(&played.events));
        }
    }

    #[tokio::test]
    async fn an_answer_whose_last_event_lacks_its_blank_line_is_whole() {
        let played = play([Script::stream(format!("\u{feff}{}", answer().trim_end()))], &request()).await;
        assert_eq!(played.result, Ok(()));
        assert_eq!(played.events, answer_events());
    }

    #[tokio::test]
    async fn a_wrong_key_is_told_with_how_to_set_one_and_never_shown() {
        let body = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}."), "code": "invalid_api_key" } });
        let failure = refused(401, "application/json", &body.to_string()).await;
        assert!(
            failure.message.contains("did not accept the key (401): Incorrect API key provided: [redacted]."),
            "{failure:?}"
        );
        assert!(
            failure.hint.contains("scritorio keys set openai") && failure.hint.contains("OPENAI_API_KEY")
        );
        assert!(!format!("{failure:?}").contains("0123456789"));
    }

    #[tokio::test]
    async fn no_credit_and_too_many_requests_are_told_apart() {
        let quota = r#"{"error":{"message":"You exceeded your current quota.","code":"insufficient_quota"}}"#;
        let failure = refused(429, "application/json", quota).await;
        assert!(failure.message.contains("no credit left"), "{failure:?}");
        let rate = r#"{"error":{"message":"Rate limit reached for gpt-x.","code":"rate_limit_exceeded"}}"#;
        let script = Script::head(429, "content-type: application/json\r\nretry-after: 7\r\n").then(rate);
        let played = play([script], &request()).await;
        assert!(played.failure().hint.contains("in 7 seconds"), "{:?}", played.failure());
        assert_eq!(played.recorded.len(), 1);
    }

    #[tokio::test]
    async fn errors_of_every_shape_become_words() {
        for (status, media_type, body, said) in [
            (
                502,
                "text/html",
                "<html><head><TITLE>502 Bad Gateway</TITLE></head><body>x</body></html>",
                "(502): 502 Bad Gateway",
            ),
            (500, "text/plain", "boom", "failed (500): boom"),
            (503, "application/json", "", "failed (503)."),
            (
                400,
                "application/json",
                r#"{"error":"Invalid tool_choice type: 'object'."}"#,
                "Invalid tool_choice",
            ),
            (
                400,
                "application/json",
                r#"{"error":{"code":400,"message":"no such thing","type":"invalid_request_error"}}"#,
                "no such thing",
            ),
            (
                422,
                "application/json",
                r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#,
                "field required",
            ),
            (
                404,
                "application/json",
                r#"{"error":{"message":"The model `gpt-x` does not exist"}}"#,
                "has no model `gpt-x`",
            ),
            (404, "text/plain", "404 page not found", "has nothing to ask at this address"),
            (400, "application/json", r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            (413, "application/json", "{\"error\": {\"message\": \"cut", "too large"),
            (200, "text/html; charset=utf-8", "<title>Sign in</title>", "a web page"),
            (200, "application/json", r#"{"error":{"message":"quiet error"}}"#, "quiet error"),
            (200, "application/json", r#"{"choices":[]}"#, "not an answer"),
        ] {
            let failure = refused(status, media_type, body).await;
            assert!(failure.message.contains(said), "{status} {body}: {failure:?}");
        }
    }

    #[tokio::test]
    async fn a_server_cannot_paint_the_terminal_or_flood_it() {
        let body =
            json!({ "error": { "message": format!("\x1b[2J\u{202e}red\r\n\tline {}", "x".repeat(5000)) } });
        let failure = refused(400, "application/json", &body.to_string()).await;
        assert!(!failure.message.chars().any(|c| c.is_control() || c == '\u{202e}'), "{failure:?}");
        assert!(failure.message.chars().count() < 400 && failure.message.ends_with("..."));
    }

    #[tokio::test]
    async fn a_flex_request_without_capacity_is_asked_once_more_on_the_default_tier() {
        let full = r#"{"error":{"message":"Resource Unavailable","code":"resource_unavailable"}}"#;
        let by_status = Script::answer(429, "application/json", full);
        let in_stream = Script::stream(stream_of(&[
            json!({ "type": "response.created", "response": { "id": "resp_0" } }),
            json!({ "type": "response.failed", "response": { "error": { "code": "x", "message": "429 Resource unavailable" } } }),
        ]));
        let mut request = request();
        request.options.service_tier = Some("flex".into());
        for first in [by_status.clone(), in_stream] {
            let played = play([first, Script::stream(answer())], &request).await;
            assert_eq!(played.result, Ok(()));
            let tiers: Vec<_> = played.recorded.iter().map(|r| r.body["service_tier"].clone()).collect();
            assert_eq!(tiers, ["flex", "auto"]);
            let retry = played
                .events
                .iter()
                .position(|e| matches!(e, Event::Retry(why) if why.contains("flex")))
                .unwrap();
            assert_eq!(played.events[retry + 1..], answer_events());
        }
        let played = play([by_status.clone(), by_status], &request).await;
        assert_eq!(played.recorded.len(), 2);
        assert!(played.failure().message.contains("no capacity"), "{:?}", played.failure());
    }

    #[tokio::test]
    async fn what_is_already_shown_is_never_asked_for_again() {
        let mut request = request();
        request.options.service_tier = Some("flex".into());
        let late = Script::stream(stream_of(&[
            json!({ "type": "response.output_text.delta", "delta": "Mira" }),
            json!({ "type": "response.failed", "response": { "error": { "code": "resource_unavailable", "message": "Resource Unavailable" } } }),
        ]));
        let played = play([late, Script::stream(answer())], &request).await;
        assert_eq!(played.recorded.len(), 1);
        assert_eq!(played.events, [Event::Text("Mira".into())]);
    }

    #[tokio::test]
    async fn a_server_that_forgot_the_last_response_gets_the_whole_conversation() {
        let mut request = request();
        request.items.insert(0, Item::Author("Hello".into()));
        request.items.insert(1, Item::Persona("Good day".into()));
        (request.fresh, request.previous_response_id) = (2, Some("resp_0".into()));
        for (status, body, stateful) in [
            (
                404,
                r#"{"error":{"message":"Previous response with id 'resp_0' not found.","param":"previous_response_id","code":"previous_response_not_found"}}"#,
                true,
            ),
            (
                400,
                r#"{"error":{"code":400,"message":"llama.cpp does not support 'previous_response_id'."}}"#,
                false,
            ),
        ] {
            let refusal = Script::answer(status, "application/json", body);
            let played = play([refusal, Script::stream(answer())], &request).await;
            assert_eq!(played.result, Ok(()));
            let [first, second] = &played.recorded[..] else { panic!("{:?}", played.recorded) };
            assert_eq!(first.body["input"], "User: Who is Mira?");
            assert_eq!(second.body.get("previous_response_id"), None);
            let said = if stateful { &second.body["input"] } else { &second.body["input"][0]["content"] };
            assert_eq!(said, "User: Hello\n\nAssistant: Good day\n\nUser: Who is Mira?");
            assert_eq!(second.body["store"], stateful);
            assert_eq!(second.body.get("include").is_some(), !stateful);
            assert!(matches!(&played.events[0], Event::Retry(why) if why.contains("whole conversation")));
            assert_eq!(played.stateful, stateful);
        }
    }

    #[tokio::test]
    async fn a_failure_within_the_stream_is_one() {
        for (event, said) in [
            (
                json!({ "type": "response.failed", "response": { "error": { "code": "server_error", "message": "The model broke" } } }),
                "The model broke",
            ),
            (json!({ "type": "error", "code": "x", "message": "flat", "param": null }), "flat"),
            (
                json!({ "type": "error", "error": { "type": "t", "code": "x", "message": "nested" } }),
                "nested",
            ),
            (json!({ "type": "chunk", "error": { "code": 502, "message": "upstream" } }), "upstream"),
            (json!({ "type": "response.failed", "response": {} }), "reported an error."),
        ] {
            let played = play([Script::stream(stream_of(std::slice::from_ref(&event)))], &request()).await;
            assert!(played.failure().message.contains(said), "{event}: {:?}", played.failure());
        }
    }

    #[tokio::test]
    async fn an_answer_that_hit_its_limit_is_kept_without_its_unfinished_call() {
        let events = [
            json!({ "type": "response.output_text.delta", "delta": "Mira" }),
            json!({ "type": "response.output_item.added", "item": { "type": "function_call", "id": "fc", "call_id": "c", "name": "search_codex", "arguments": "" } }),
            json!({ "type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{\"que" }),
            json!({ "type": "response.output_item.done", "item": { "type": "function_call", "id": "fc", "call_id": "c", "name": "search_codex", "arguments": "{\"que", "status": "incomplete" } }),
            json!({ "type": "response.incomplete", "response": { "status": "incomplete", "incomplete_details": { "reason": "max_output_tokens" } } }),
        ];
        let played = play([Script::stream(stream_of(&events))], &request()).await;
        assert_eq!(played.result, Ok(()));
        assert!(
            !played.events.iter().any(|e| matches!(e, Event::Call { .. } | Event::Item(_))),
            "{:?}",
            played.events
        );
        assert!(
            matches!(played.events.last(), Some(Event::Finished { truncated: Some(why), .. }) if why == "max_output_tokens")
        );
    }

    #[tokio::test]
    async fn a_refusal_of_the_model_is_its_answer() {
        let events = [
            json!({ "type": "response.refusal.delta", "item_id": "m", "delta": "I can't" }),
            json!({ "type": "response.output_item.done", "item": { "type": "message", "id": "m", "content": [{ "type": "refusal", "refusal": "I can't." }] } }),
            finished(),
        ];
        let played = play([Script::stream(stream_of(&events))], &request()).await;
        assert_eq!(played.events[..2], [Event::Text("I can't".into()), Event::Text(".".into())]);
        assert_eq!(played.events.last(), Some(&done()));
    }

    #[tokio::test]
    async fn a_server_that_knows_half_of_the_protocol_is_understood() {
        // No sequence numbers, no `arguments.done`, no ids in deltas, arguments as an object, comments in data.
        let text = "data: : keepalive\n\ndata:\n\ndata: {broken\n\ndata: [DONE]\n\n".to_owned()
            + &stream_of(&[
                json!({ "type": "response.output_item.added", "item": { "type": "function_call", "name": "list_codex_entries", "call_id": "x" } }),
                json!({ "type": "response.function_call_arguments.delta", "delta": "{" }),
                json!({ "type": "response.output_item.done", "item": { "type": "function_call", "name": "list_codex_entries", "call_id": "x", "arguments": { "entryType": "item" } } }),
                finished(),
            ]);
        let played = play([Script::stream(text)], &request()).await;
        let call_id = || CallId::new("x");
        let raw = json!({ "type": "function_call", "name": "list_codex_entries", "call_id": "x", "arguments": "{\"entryType\":\"item\"}" });
        assert_eq!(
            played.events,
            [
                Event::CallStarted { call_id: call_id(), name: "list_codex_entries".into() },
                Event::CallArguments { call_id: call_id(), delta: "{".into() },
                Event::Call {
                    call_id: call_id(),
                    name: "list_codex_entries".into(),
                    arguments: "{\"entryType\":\"item\"}".into()
                },
                Event::Item(raw),
                done(),
            ]
        );
    }

    #[tokio::test]
    async fn an_answer_in_one_piece_is_taken_too() {
        let body = json!({ "id": "r", "status": "completed", "output": [
            { "type": "message", "content": [{ "type": "output_text", "text": "Yes." }] },
            { "type": "function_call", "call_id": "c", "name": "search_codex", "arguments": "" },
        ] });
        let played = play([Script::answer(200, "application/json", body.to_string())], &request()).await;
        assert_eq!(played.result, Ok(()));
        assert_eq!(
            played.events[..2],
            [Event::Created { response_id: "r".into() }, Event::Text("Yes.".into())]
        );
        assert!(
            played.events.iter().any(|e| matches!(e, Event::Call { arguments, .. } if arguments == "{}"))
        );
        assert_eq!(played.events.last(), Some(&done()));
    }

    #[tokio::test]
    async fn items_that_only_the_last_event_holds_are_not_lost_or_doubled() {
        let message = |id: &str| json!({ "type": "message", "id": id, "content": [{ "type": "output_text", "text": id }] });
        let events = [
            json!({ "type": "response.output_item.done", "item": message("one") }),
            json!({ "type": "response.completed", "response": { "output": [message("one"), message("two")] } }),
        ];
        let played = play([Script::stream(stream_of(&events))], &request()).await;
        let words: String = played
            .events
            .iter()
            .filter_map(|e| if let Event::Text(t) = e { Some(t.as_str()) } else { None })
            .collect();
        assert_eq!(words, "one\n\ntwo");
        assert_eq!(played.events.iter().filter(|e| matches!(e, Event::Item(_))).count(), 2);
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let script = Script::head(307, "location: https://evil.example/v1/responses?k=v\r\n");
        let played = play([script], &request()).await;
        let message = &played.failure().message;
        assert!(
            message.contains("at evil.example, which is not followed") && !message.contains("k=v"),
            "{message}"
        );
    }

    #[tokio::test]
    async fn nobody_there_and_silence_are_told_apart() {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let (out, _events) = unbounded_channel();
        let result = provider(&format!("http://{free}/v1"), Timeouts::default())
            .stream(Exchange { request: &request(), out, cancel: CancellationToken::new(), witness: &() })
            .await;
        assert!(result.unwrap_err().message.contains("connection was refused"));
        let impatient = Timeouts { idle: Duration::from_millis(60), ..Timeouts::default() };
        let played = play_within(impatient, [Script::default().then_silence()], &request()).await;
        assert!(
            played.failure().message.contains("sent nothing for 60 milliseconds"),
            "{:?}",
            played.failure()
        );
        let started = stream_of(&[json!({ "type": "response.output_text.delta", "delta": "Mira" })]);
        let played = play_within(impatient, [Script::stream(started).then_silence()], &request()).await;
        assert!(played.failure().message.contains("in the middle"), "{:?}", played.failure());
        assert_eq!(played.events, [Event::Text("Mira".into())]);
    }

    #[tokio::test]
    async fn cancelling_hangs_up_at_once() {
        let started = stream_of(&[json!({ "type": "response.output_text.delta", "delta": "Mira" })]);
        for script in [Script::default().then_silence(), Script::stream(started).then_silence()] {
            let heard = script.clone();
            let mut server = Replayer::start([script]).await;
            let client = Client::new(Timeouts::default()).unwrap();
            let provider = Remote::openai(client, Some(&server.base), ApiKey::none()).unwrap();
            let (cancel, (out, mut events)) = (CancellationToken::new(), unbounded_channel());
            let (request, stop) = (request(), cancel.clone());
            let turn = tokio::spawn(async move {
                provider.stream(Exchange { request: &request, out, cancel: stop, witness: &() }).await
            });
            if heard.speaks() {
                assert_eq!(events.recv().await, Some(Event::Text("Mira".into())));
            } else {
                server.asked().await;
            }
            cancel.cancel();
            assert_eq!(turn.await.unwrap(), Ok(()));
            server.hung_up().await;
            assert_eq!(events.recv().await, None);
        }
    }

    #[tokio::test]
    async fn a_key_is_not_sent_over_an_open_connection() {
        let (out, _events) = unbounded_channel();
        let failure = provider("http://192.0.2.1/v1", Timeouts::default())
            .stream(Exchange { request: &request(), out, cancel: CancellationToken::new(), witness: &() })
            .await
            .unwrap_err();
        assert!(failure.message.contains("The key was not sent to 192.0.2.1"), "{failure:?}");
    }
}
