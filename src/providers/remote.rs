//! A server somewhere: it is asked over a [`Wire`], and every body that goes there is noted first, that of a check too. Lists of models are asked for, and noted, in
//! [`super::models`].
//!
//! What is sent is [`Provider::body`], nothing else. What goes wrong is tried again only as `attempts` allows: said aloud, and never once
//! something of an answer was shown. Everything else that goes wrong is a failure in words. A cancel ends it at once, in a wait too.

mod attempts;

use std::fmt;
use std::sync::{PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::timeout;

use super::abilities::{Abilities, Lesson, says_no_tools};
use super::client::{Answer, ApiKey, Client, Key, Problem, Server, Wait};
use super::hearing::{self, Hearing};
use super::responses::{OPENAI, Responses};
use super::wire::{Heard, Progress, Reader, Wire};
use super::{BoxFuture, Carried, Event, Exchange, Noted, Provider, Request, Sending};
use crate::domain::conversation::{Failure, Usage};
use attempts::{Attempts, Next, Sent};

/// Most bytes of one answer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Most lessons that one exchange takes. No server has so many to give: one that goes on teaches nothing.
const MOST_LESSONS: u32 = 12;

/// A server, the wire that it speaks, and the key that it wants.
#[derive(Debug)]
pub struct Remote {
    client: Client,
    server: Server,
    key: ApiKey,
    wire: Box<dyn Wire>,
    /// What the server takes, as far as it is known by now.
    abilities: RwLock<Abilities>,
    learned: Learned,
}

/// Who is told what was learned.
struct Learned(Box<dyn Fn(&Abilities) + Send + Sync>);

impl fmt::Debug for Learned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Learned")
    }
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
        Self {
            client,
            server,
            key,
            wire,
            abilities: RwLock::new(abilities),
            learned: Learned(Box::new(|_| {})),
        }
    }

    /// Takes the server to have these abilities, which were learned from it earlier, and tells `learned` of each further lesson.
    #[must_use]
    pub fn remembering(
        mut self,
        known: Option<Abilities>,
        learned: impl Fn(&Abilities) + Send + Sync + 'static,
    ) -> Self {
        if let Some(known) = known {
            self.change(|can| *can = known);
        }
        self.learned = Learned(Box::new(learned));
        self
    }

    /// Returns the client that it asks with.
    pub fn client(&self) -> &Client {
        &self.client
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

    /// Asks once, and reports what arrives.
    async fn attempt(
        &self,
        exchange: &Exchange<'_>,
        (request, body): (&Request, &Value),
        key: Option<&Key>,
        report: &mut Report<'_>,
    ) -> Result<(), Stop> {
        let first = self.first_wait(body);
        let bytes = body.to_string();
        let sending = Sending {
            destination: self.server.address(),
            provider: self.server.name(),
            body: &bytes,
            of: Carried::Conversation(request),
        };
        let noted = exchange.witness.sending(sending).await?;
        let left = noted.leaving();
        report.noted = Some(noted);
        let heard = match self.client.post(&self.server, key, bytes, left, first).await {
            Ok(answer) => {
                report.answering(&answer);
                let reader = self.wire.reader(request, &self.abilities());
                hear(answer, reader, report).await
            }
            Err(problem) => Err(problem),
        };
        report.ended(&heard);
        Ok(heard?)
    }

    /// Returns how long the beginning of an answer is waited for.
    fn first_wait(&self, body: &Value) -> Wait {
        let limits = self.client.timeouts();
        if Sent::of(body).flex { limits.in_a_queue() } else { Wait::First(limits.first_byte) }
    }

    /// Asks until there is an answer, or nothing more can be done.
    async fn ask(&self, exchange: &Exchange<'_>) -> Result<(), Failure> {
        let key = self.key.get().await;
        let mut attempts = Attempts::new(exchange.request, self.client.timeouts().retry);
        let mut report = Report { out: &exchange.out, shown: false, noted: None };
        let mut lessons = Lessons::default();
        loop {
            let body = if attempts.whole {
                self.wire.afresh(&attempts.request, &self.abilities())
            } else {
                self.body(&attempts.request)
            };
            let asked = (&*attempts.request, &body);
            let problem = match self.attempt(exchange, asked, key.as_ref(), &mut report).await {
                Ok(()) => return Ok(()),
                Err(Stop::Unnoted(failure)) => return Err(failure),
                Err(Stop::Problem(problem)) => problem,
            };
            match self.lesson(&problem, asked, &mut lessons).filter(|_| !report.shown) {
                // The body is made anew, of what was learned.
                Some(Lesson::Again(why)) => {
                    report.send(Event::Retry(attempts.again(why)));
                    continue;
                }
                Some(Lesson::NoTools) => {
                    return Err(self.failure(&problem, &attempts.request.model, key.as_ref(), 1));
                }
                None => {}
            }
            let next = if report.shown {
                None
            } else {
                attempts.next(&problem, Sent::of(&body), &self.server, key.as_ref())
            };
            let Some(Next { retry, keeps_nothing }) = next else {
                let times = if report.shown { 1 } else { attempts.same() };
                return Err(self.failure(&problem, &attempts.request.model, key.as_ref(), times));
            };
            if keeps_nothing {
                self.change(|can| can.stateful = false);
                (self.learned.0)(&self.abilities());
            }
            let wait = retry.wait;
            report.send(Event::Retry(retry));
            self.client.pause(wait).await;
        }
    }

    /// Takes back what the server turned out not to take, as far as that is what went wrong, and as an exchange has not had enough of it.
    fn lesson(
        &self,
        problem: &Problem,
        (request, body): (&Request, &Value),
        lessons: &mut Lessons,
    ) -> Option<Lesson> {
        let Problem::Refused(refusal) = problem else { return None };
        // A model that has just called tools has them, whatever is wrong now.
        if (request.tools_ran() && says_no_tools(refusal)) || lessons.given >= MOST_LESSONS {
            return None;
        }
        let lesson = self.change(|can| {
            let name = can.max_tokens;
            let lesson = can.learn(refusal, body);
            let is_renamed = can.max_tokens != name;
            if is_renamed && lessons.renamed {
                // Both names are refused, so that it is not the name.
                can.max_tokens = name;
                return None;
            }
            lessons.renamed |= is_renamed;
            lesson
        });
        if lesson.is_some() {
            lessons.given += 1;
            (self.learned.0)(&self.abilities());
        }
        lesson
    }

    /// Puts what could not be helped into words, and how often it was tried in vain.
    fn failure(&self, problem: &Problem, model: &str, key: Option<&Key>, times: u32) -> Failure {
        let mut failure = problem.failure(&self.server, model, key);
        if times > 1 {
            failure.message = format!("{} It was asked {times} times.", attempts::sentence(&failure.message));
        }
        failure
    }

    /// Asks for as long as an answer may take.
    async fn ask_in_time(&self, exchange: &Exchange<'_>) -> Result<(), Failure> {
        let limits = self.client.timeouts();
        let flex = Sent::of(&self.body(exchange.request)).flex;
        let total = if flex { limits.total_of_flex() } else { limits.total };
        if let Ok(answered) = timeout(total, self.ask(exchange)).await {
            return answered;
        }
        Err(Problem::TooLong(total).failure(&self.server, &exchange.request.model, None))
    }
}

/// What one exchange was taught.
#[derive(Default)]
struct Lessons {
    given: u32,
    /// The limit of an answer has got its other name.
    renamed: bool,
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
        report.used(hearing.used());
        if report.settle((events, progress))? {
            return Ok(());
        }
        if report.shown {
            answer.has_begun();
        }
    };
    // What had come may be whole without a last word, also where the connection broke after it.
    let mut events = vec![];
    let end = hearing.finish(&mut events);
    report.settle((events, Progress::Going))?;
    match end {
        hearing::End::Ended => Ok(()),
        hearing::End::Failed(refusal) => Err(Problem::Refused(refusal)),
        hearing::End::WebPage => Err(Problem::NotAnAnswer("a web page".into())),
        hearing::End::NoAnswer => Err(Problem::NotAnAnswer("JSON that is no answer".into())),
        hearing::End::CutOff => Err(broken),
    }
}

/// Where events go, and whether the author has seen any of the answer.
struct Report<'a> {
    out: &'a UnboundedSender<Event>,
    shown: bool,
    /// The attempt that is under way, as it was noted. Dropped with the exchange, it notes that it was given up.
    noted: Option<Noted>,
}

impl Report<'_> {
    /// Passes events on; returns whether the answer has ended.
    fn settle(&mut self, (events, progress): Heard) -> Result<bool, Problem> {
        for event in events {
            self.shown |= !matches!(event, Event::Created { .. } | Event::Tier(_));
            if let Some(noted) = &mut self.noted {
                noted.heard(&event);
            }
            // Whoever hears of the end finds it noted.
            if matches!(event, Event::Finished { .. })
                && let Some(noted) = self.noted.take()
            {
                noted.ended(super::End::Answered, None);
            }
            self.send(event);
        }
        match progress {
            Progress::Going => Ok(false),
            Progress::Ended => Ok(true),
            Progress::Failed(refusal) => Err(Problem::Refused(refusal)),
        }
    }

    fn used(&mut self, used: Usage) {
        if let Some(noted) = &mut self.noted {
            noted.told(used);
        }
    }

    fn answering(&mut self, answer: &Answer) {
        if let Some(noted) = &mut self.noted {
            noted.answering(answer.status(), answer.received());
        }
    }

    fn ended(&mut self, heard: &Result<(), Problem>) {
        let Some(mut noted) = self.noted.take() else { return };
        if heard.as_ref().is_err_and(Problem::may_have_cost) {
            noted.lost();
        }
        match heard {
            Ok(()) => noted.ended(super::End::Answered, None),
            Err(Problem::Refused(refusal)) => noted.ended(super::End::Failed, refusal.status),
            Err(_) => noted.ended(super::End::Failed, None),
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
                answered = self.ask_in_time(&exchange) => answered,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::sync::mpsc::unbounded_channel;
    use tokio_util::sync::CancellationToken;

    use super::attempts::MOST;
    use super::*;
    use crate::domain::conversation::FailureKind;
    use crate::domain::ids::CallId;
    use crate::providers::chat::Chat;
    use crate::providers::client::replayer::{Recorded, Replayer, Script};
    use crate::providers::client::{Pauses, Timeouts};
    use crate::providers::{Exchange, Item, Options, Receipts, Retry};

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
            Event::Thought("hm".into()),
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
            options: Options { store: true, ..Options::default() },
            ..Request::default()
        }
    }

    struct Played {
        result: Result<(), Failure>,
        events: Vec<Event>,
        recorded: Vec<Recorded>,
        stateful: bool,
        /// What was waited between attempts.
        waits: Vec<Duration>,
    }

    impl Played {
        fn failure(&self) -> &Failure {
            self.result.as_ref().unwrap_err()
        }

        fn retries(&self) -> Vec<&Retry> {
            self.events.iter().filter_map(|e| if let Event::Retry(r) = e { Some(r) } else { None }).collect()
        }
    }

    fn provider(base: &str, limits: Timeouts) -> Remote {
        with_client(base, Client::new(limits).unwrap())
    }

    fn with_client(base: &str, client: Client) -> Remote {
        let key = ApiKey::from_fn(|| Some(KEY.into()));
        Remote::openai(client, Some(base), key).unwrap()
    }

    /// A clock that is always at its end, and the times that were waited for.
    fn pauses() -> (Pauses, Arc<Mutex<Vec<Duration>>>) {
        let waits: Arc<Mutex<Vec<Duration>>> = Arc::default();
        let noted = Arc::clone(&waits);
        let pauses = Pauses::from_fn(move |time| {
            noted.lock().unwrap().push(time);
            Box::pin(std::future::ready(()))
        });
        (pauses, waits)
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
        let (pauses, waits) = pauses();
        let provider = with_client(&server.base, Client::new(limits).unwrap().with_pauses(pauses));
        let result =
            provider.stream(Exchange { request, out, cancel: CancellationToken::new(), witness: &() }).await;
        let mut all = vec![];
        while let Ok(event) = events.try_recv() {
            all.push(event);
        }
        let waits = waits.lock().unwrap().clone();
        Played { result, events: all, recorded: server.recorded(), stateful: provider.stateful(), waits }
    }

    async fn refused(status: u16, media_type: &str, body: &str) -> Failure {
        let always = std::iter::repeat_n(Script::answer(status, media_type, body), MOST as usize);
        let played = play(always, &request()).await;
        assert_eq!(played.events.len(), played.retries().len());
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
            let played = play(vec![script; MOST as usize], &request()).await;
            assert!(
                played.failure().message.contains("before the answer was complete"),
                "{:?}",
                played.result
            );
            let is_news = |e: &&Event| !matches!(e, Event::Retry(_));
            let words: Vec<_> = played.events.iter().filter(is_news).cloned().collect();
            assert_eq!(words, answer_events()[..words.len()]);
            assert_eq!(played.recorded.len(), 1 + played.retries().len());
        }
    }

    #[tokio::test]
    async fn an_answer_of_which_only_the_tier_came_is_asked_for_again_and_may_cost() {
        let chunk = json!({ "id": "c", "service_tier": "default", "choices": [] });
        let said =
            json!({ "id": "c", "choices": [{ "delta": { "content": "Mira." }, "finish_reason": "stop" }] });
        let answers =
            [chunk.to_string(), said.to_string()].map(|data| Script::stream(format!("data: {data}\n\n")));
        let server = Replayer::start(answers).await;
        let client = Client::new(Timeouts::default()).unwrap().with_pauses(pauses().0);
        let at = Server::new("x", &server.base, Chat.path(), None).unwrap();
        let provider = Remote::at(client, at, Box::new(Chat), Abilities::openai(), ApiKey::none());
        let (request, (out, mut events), receipts) = (request(), unbounded_channel(), Receipts::default());
        let witness = receipts.of(&());
        let exchange =
            Exchange { request: &request, out, cancel: CancellationToken::new(), witness: &witness };
        assert_eq!(provider.stream(exchange).await, Ok(()));
        assert_eq!(server.recorded().len(), 2);
        let heard: Vec<_> = std::iter::from_fn(|| events.try_recv().ok()).collect();
        let tier_came = heard.iter().position(|event| *event == Event::Tier("default".into()));
        assert!(matches!(heard[tier_came.unwrap() + 1], Event::Retry(_)), "{heard:?}");
        assert!(receipts.take().is_some());
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
        let low = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.";
        let quota = json!({ "type": "error", "error": { "type": "invalid_request_error", "message": low } });
        let failure = refused(400, "application/json", &quota.to_string()).await;
        assert!(failure.message.contains("no credit left (400)"), "{failure:?}");
        assert!(failure.hint.contains("billing page"), "{failure:?}");
        // Google's words for a minute that is used up.
        let minute = "You exceeded your current quota, please check your plan. Please retry in 2.5s.";
        let played = play([refusal(429, "", minute), Script::stream(answer())], &request()).await;
        assert_eq!((played.result, played.waits), (Ok(()), vec![Duration::from_millis(2500)]));
        let rate = r#"{"error":{"message":"Rate limit reached for gpt-x.","code":"rate_limit_exceeded"}}"#;
        let script = Script::head(429, "content-type: application/json\r\nretry-after: 7\r\n").then(rate);
        let played = play(vec![script; MOST as usize], &request()).await;
        assert!(played.failure().hint.contains("in 7 seconds"), "{:?}", played.failure());
        assert_eq!(played.waits, [Duration::from_secs(7); MOST as usize - 1]);
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
            (500, "text/plain", "boom", "failed (500): boom. It was asked 4 times."),
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
            (404, "text/plain", "404 page not found", "nothing to ask at this address"),
            (400, "application/json", r#"[{"error":{"message":"in a list"}}]"#, "in a list"),
            (413, "application/json", "{\"error\": {\"message\": \"cut", "can't take so long"),
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
                .position(|e| matches!(e, Event::Retry(retry) if retry.why.contains("flex")))
                .unwrap();
            assert_eq!(played.events[retry + 1..], answer_events());
        }
        let played = play(vec![by_status; 1 + MOST as usize], &request).await;
        assert_eq!(played.recorded.len(), 1 + MOST as usize, "then it is asked as any other");
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

    /// Asks a chat server that answers so.
    async fn taught(scripts: Vec<Script>) -> (Failure, Vec<Recorded>, usize) {
        let server = Replayer::start(scripts).await;
        let (lessons, (out, _events)) = (Arc::new(Mutex::new(0)), unbounded_channel());
        let (at, count) = (Server::new("x", &server.base, Chat.path(), None).unwrap(), Arc::clone(&lessons));
        let can = Abilities { output_limit: Some(4096), ..Abilities::default() };
        let client = Client::new(Timeouts::default()).unwrap();
        let provider = Remote::at(client, at, Box::new(Chat), can, ApiKey::none())
            .remembering(None, move |_| *count.lock().unwrap() += 1);
        let (request, cancel) = (request(), CancellationToken::new());
        let failure =
            provider.stream(Exchange { request: &request, out, cancel, witness: &() }).await.unwrap_err();
        let lessons = *lessons.lock().unwrap();
        (failure, server.recorded(), lessons)
    }

    #[tokio::test]
    async fn a_server_that_refuses_both_names_of_the_limit_is_asked_with_each_of_them_once() {
        let both = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        let new = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
        let old = "Unsupported parameter: 'max_completion_tokens'. Use 'max_tokens' instead.";
        for said in [[both, both], [new, new], [new, old]] {
            let scripts = said.into_iter().cycle().take(20).map(|said| refusal(400, "", said)).collect();
            let (failure, recorded, lessons) = taught(scripts).await;
            let sent = |field: &str| recorded.iter().filter(|sent| sent.body.get(field).is_some()).count();
            assert_eq!((sent("max_tokens"), sent("max_completion_tokens"), recorded.len()), (1, 1, 2));
            assert_eq!(lessons, 1, "{said:?}");
            assert!(failure.message.contains(said[1]), "{failure:?}");
        }
    }

    #[tokio::test]
    async fn an_exchange_takes_so_many_lessons_and_no_more() {
        let server =
            Replayer::start(vec![refusal(400, "", "Unsupported parameter: 'parallel_tool_calls'"); 40]).await;
        let parameters =
            json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
        let tool = json!({ "type": "function", "name": "x", "description": "X.", "parameters": parameters, "strict": true });
        // Another turn at the same server takes it back each time.
        let provider = Arc::new_cyclic(|itself: &std::sync::Weak<Remote>| {
            let itself = itself.clone();
            provider(&server.base, Timeouts::default()).remembering(None, move |_| {
                itself.upgrade().unwrap().change(|can| can.parallel_switch = true);
            })
        });
        let (request, cancel) = (Request { tools: vec![tool], ..request() }, CancellationToken::new());
        let (out, _events) = unbounded_channel();
        let exchange = Exchange { request: &request, out, cancel, witness: &() };
        let failure = provider.stream(exchange).await.unwrap_err();
        assert!(failure.message.contains("parallel_tool_calls"), "{failure:?}");
        assert_eq!(server.recorded().len(), 1 + MOST_LESSONS as usize);
    }

    #[tokio::test]
    async fn a_server_that_takes_an_output_for_one_of_another_call_gets_the_whole_conversation() {
        for said in [
            "Duplicate function_call_output for call_id 'forced-1'",
            "No tool call found for function call output with call_id c1.",
        ] {
            let mut request = continued();
            (request.fresh, request.previous_response_id) = (2, Some("resp_0".into()));
            let played = play([refusal(400, "", said), Script::stream(answer())], &request).await;
            assert_eq!(played.result, Ok(()), "{said}");
            let [first, second] = &played.recorded[..] else { panic!("two requests") };
            assert_eq!(first.body["previous_response_id"], "resp_0");
            assert_eq!(second.body.get("previous_response_id"), None);
            assert!(second.body["input"].to_string().contains("Who?"), "{}", second.body["input"]);
            assert!(played.stateful, "it keeps others");
            let again = play([refusal(400, "", said), refusal(400, "", said)], &request).await;
            assert_eq!(again.recorded.len(), 2, "the whole conversation is sent once");
        }
    }

    #[tokio::test]
    async fn a_server_that_forgot_the_last_response_gets_the_whole_conversation() {
        let mut request = request();
        request.items.insert(0, Item::Author("Hello".into()));
        request.items.insert(1, Item::Persona("Good day".into()));
        (request.question, request.fresh) = (2, 2);
        request.previous_response_id = Some("resp_0".into());
        for (status, body, stateful) in [
            (
                404,
                r#"{"error":{"message":"Previous response with id 'resp_0' not found.","param":"previous_response_id","code":"previous_response_not_found"}}"#,
                true,
            ),
            (
                400,
                r#"{"error":{"message":"Previous response with id 'resp_0' not found.","type":"invalid_request_error","param":"previous_response_id","code":"previous_response_not_found"}}"#,
                true,
            ),
            (
                400,
                r#"{"error":{"message":"The previous response has expired.","param":"previous_response_id"}}"#,
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
            assert!(played.retries()[0].why.contains("whole conversation"));
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
            let script = Script::stream(stream_of(std::slice::from_ref(&event)));
            let played = play(vec![script; MOST as usize], &request()).await;
            assert!(played.failure().message.contains(said), "{event}: {:?}", played.failure());
        }
    }

    #[tokio::test]
    async fn a_status_that_stands_in_an_answer_counts_as_one_in_its_head() {
        let error = |code: Value, message: &str| json!({ "code": code, "message": message });
        let whole =
            |error: Value| Script::answer(200, "application/json", json!({ "error": error }).to_string());
        let within = |error: Value| {
            let failed = json!({ "type": "response.failed", "response": { "error": error } });
            Script::stream(stream_of(&[failed]))
        };
        let bare = |error: Value| Script::stream(format!("data: {}\n\n", json!({ "error": error })));
        let forms: [&dyn Fn(Value) -> Script; 3] = [&whole, &within, &bare];
        for form in forms {
            let played = play([form(error(402.into(), "Insufficient credits"))], &request()).await;
            assert!(played.failure().message.contains("no credit left (402)"), "{:?}", played.failure());
            // Even once a tool has run: it was refused at the door, if not at the first one.
            for busy in
                [error(429.into(), "Slow down"), error(503.into(), "Loading model"), error("429".into(), "")]
            {
                let played = play([form(busy), Script::stream(answer())], &continued()).await;
                assert_eq!((&played.result, played.recorded.len()), (&Ok(()), 2));
            }
        }
        let gone = error(404.into(), "Previous response not found");
        let played = play([whole(gone), Script::stream(answer())], &long_conversation(1)).await;
        assert_eq!((played.result, played.recorded.len(), played.stateful), (Ok(()), 2, true));
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
        let limit = Duration::from_millis(60);
        let impatient = Timeouts { first_byte: limit, idle: limit, ..Timeouts::default() };
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

    /// A request on the flex tier, and how its answer begins while it waits for its turn.
    fn in_a_queue() -> (Request, Script) {
        let mut request = request();
        request.options.service_tier = Some("flex".into());
        let of = |kind: &str| json!({ "type": kind, "response": { "id": "resp_1", "service_tier": "flex", "status": "queued" } });
        (request, Script::stream(stream_of(&[of("response.created"), of("response.queued")])))
    }

    #[tokio::test]
    async fn an_answer_that_flex_has_begun_may_still_wait_its_turn_for_as_long_as_flex_may() {
        let (request, queued) = in_a_queue();
        let limit = Duration::from_millis(60);
        let limits = Timeouts { first_byte: limit, flex_first_byte: limit, ..Timeouts::default() };
        for silent in [queued, Script::default()] {
            let played = play_within(limits, [silent.then_silence()], &request).await;
            let failure = played.failure();
            assert!(failure.message.contains("kept the question waiting for 60 milliseconds"), "{failure:?}");
            assert!(failure.hint.contains("`flex_first_byte`"), "{failure:?}");
            assert!(!failure.hint.contains("is kept"), "{failure:?}");
        }
        let words = stream_of(&[json!({ "type": "response.output_text.delta", "delta": "Mira" })]);
        let limits = Timeouts { idle: limit, ..Timeouts::default() };
        let played = play_within(limits, [in_a_queue().1.then(words).then_silence()], &request).await;
        assert!(played.failure().message.contains("stopped in the middle"), "{:?}", played.failure());
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

    fn refusal(status: u16, head: &str, message: &str) -> Script {
        let head = format!("content-type: application/json\r\n{head}");
        Script::head(status, &head).then(json!({ "error": { "message": message } }).to_string())
    }

    #[tokio::test]
    async fn a_server_that_fails_once_is_asked_again_and_only_its_answer_is_heard() {
        let refused = refusal(500, "", "boom");
        let broken = Script::stream(stream_of(&[
            json!({ "type": "response.created", "response": { "id": "resp_0" } }),
            json!({ "type": "response.failed", "response": { "error": { "code": "server_error", "message": "boom" } } }),
        ]));
        let reset = Script::default();
        let [late, conflict] = [refusal(408, "", "timed out"), refusal(409, "", "conflict")];
        for first in [refused, broken, reset, late, conflict] {
            let played = play([first, Script::stream(answer())], &request()).await;
            assert_eq!(played.result, Ok(()));
            assert_eq!(played.recorded[0].body, played.recorded[1].body);
            let [retry] = played.retries()[..] else { panic!("{:?}", played.events) };
            assert_eq!((retry.attempt, retry.left_out), (2, 0));
            assert!((375..=500).contains(&retry.wait.as_millis()), "{retry:?}");
            assert_eq!(played.waits, [retry.wait]);
            assert!(retry.why.ends_with("seconds, attempt 2 of 4."), "{}", retry.why);
            let at = played.events.iter().position(|e| matches!(e, Event::Retry(_))).unwrap();
            assert_eq!(played.events[at + 1..], answer_events());
        }
    }

    #[tokio::test]
    async fn a_wait_that_the_server_asks_for_is_waited_and_a_longer_one_is_told() {
        let dates = "date: Wed, 21 Oct 2015 07:28:00 GMT\r\nretry-after: Wed, 21 Oct 2015 07:28:30 GMT\r\n";
        for (head, message, wait) in [
            ("retry-after: 3\r\n", "", 3000),
            ("retry-after-ms: 250\r\n", "", 250),
            (dates, "", 30_000),
            ("", "Rate limit reached. Please try again in 1.3s.", 1300),
            ("retry-after: 120\r\n", "", 120_000),
        ] {
            let played = play([refusal(429, head, message), Script::stream(answer())], &request()).await;
            assert_eq!(played.result, Ok(()));
            assert_eq!(played.waits, [Duration::from_millis(wait)]);
            assert!(played.retries()[0].why.contains(", as the server asks,"), "{:?}", played.retries());
        }
        let played = play([refusal(429, "retry-after: 600\r\n", "")], &request()).await;
        assert!(played.waits.is_empty());
        assert!(played.failure().hint.contains("asks to wait 10 minutes"), "{:?}", played.failure());
        let endless = refusal(429, "retry-after: 99999999999999999999999\r\n", "");
        let played = play([endless], &request()).await;
        assert!(played.failure().hint.contains("asks to wait more than a year"), "{:?}", played.failure());
        let no = refusal(500, "x-should-retry: false\r\n", "");
        assert_eq!(play([no], &request()).await.recorded.len(), 1);
        let yes = refusal(418, "x-should-retry: true\r\n", "");
        assert_eq!(play([yes, Script::stream(answer())], &request()).await.result, Ok(()));
    }

    /// A request that continues from what a tool has returned.
    fn continued() -> Request {
        let (call_id, name) = (CallId::new("c1"), "search_codex".to_owned());
        let call = Item::Call { call_id: call_id.clone(), name: name.clone(), arguments: "{}".into() };
        let output = Item::Output { call_id, name, output: "[]".into() };
        Request { items: vec![Item::Author("Who?".into()), call, output], ..request() }
    }

    #[tokio::test]
    async fn once_a_tool_has_run_only_what_was_refused_at_the_door_is_asked_again() {
        let busy = |code: &str| {
            let error = json!({ "code": code, "message": "busy" });
            Script::stream(stream_of(&[json!({ "type": "response.failed", "response": { "error": error } })]))
        };
        let request = continued();
        for safe in [refusal(429, "", "slow down"), refusal(503, "", "overloaded")] {
            let played = play([safe, Script::stream(answer())], &request).await;
            assert_eq!(played.result, Ok(()));
        }
        for unsafe_ in [refusal(500, "", ""), refusal(408, "", ""), Script::default(), busy("server_error")] {
            let played = play([unsafe_.clone(), Script::stream(answer())], &request).await;
            assert_eq!(played.recorded.len(), 1);
            assert_eq!(played.events, []);
            assert!(!played.failure().hint.is_empty());
        }
    }

    #[tokio::test]
    async fn a_model_that_has_just_called_tools_is_not_taken_to_have_none() {
        let no_tools = || refusal(400, "", "registry.ollama.ai/library/x does not support tools");
        let parameters =
            json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
        let tool = json!({ "type": "function", "name": "x", "description": "X.", "parameters": parameters, "strict": true });
        for (request, lessons) in [(continued(), 0), (request(), 1)] {
            let server = Replayer::start([no_tools()]).await;
            let told: Arc<Mutex<Vec<Abilities>>> = Arc::default();
            let noted = Arc::clone(&told);
            let provider = provider(&server.base, Timeouts::default())
                .remembering(None, move |can| noted.lock().unwrap().push(can.clone()));
            let request = Request { tools: vec![tool.clone()], ..request };
            let (out, _events) = unbounded_channel();
            let exchange =
                Exchange { request: &request, out, cancel: CancellationToken::new(), witness: &() };
            let failure = provider.stream(exchange).await.unwrap_err();
            assert!(failure.message.contains("can't call tools"), "{failure:?}");
            assert_eq!((told.lock().unwrap().len(), provider.tools()), (lessons, lessons == 0));
            assert_eq!(server.recorded().len(), 1);
        }
    }

    fn long_conversation(turns: usize) -> Request {
        let said = |n: usize| [Item::Author(format!("Question {n}")), Item::Persona(format!("Answer {n}"))];
        let mut items: Vec<Item> = (0..turns).flat_map(said).collect();
        let question = items.len();
        items.extend(continued().items);
        Request { items, question, fresh: question, previous_response_id: Some("resp_9".into()), ..request() }
    }

    #[tokio::test]
    async fn a_conversation_that_is_too_long_loses_its_oldest_turns_and_never_this_one() {
        let too_long = || {
            let error = json!({ "code": "context_length_exceeded", "message": "exceeds the context window" });
            Script::answer(400, "application/json", json!({ "error": error }).to_string())
        };
        let request = long_conversation(5);
        let played = play([too_long(), too_long(), Script::stream(answer())], &request).await;
        assert_eq!(played.result, Ok(()));
        let sent: Vec<String> = played.recorded.iter().map(|r| r.body["input"].to_string()).collect();
        let holds = |n: usize, words: &str| sent[n].contains(words);
        assert!(!holds(0, "Question 0"), "the server has it");
        assert!(!holds(1, "Answer 2") && holds(1, "Question 3") && holds(1, "Answer 4"), "{}", sent[1]);
        assert!(!holds(2, "Answer 3") && holds(2, "Question 4"), "{}", sent[2]);
        for later in [1, 2] {
            assert!(holds(later, "Who?") && holds(later, "c1"), "{}", sent[later]);
            assert_eq!(played.recorded[later].body.get("previous_response_id"), None);
        }
        let told: Vec<_> = played.retries().iter().map(|r| (r.left_out, r.wait)).collect();
        assert_eq!(told, [(3, Duration::ZERO), (4, Duration::ZERO)]);
        assert!(played.retries()[1].why.contains("the oldest 4 of 5 earlier turns are left out"));

        let played = play(vec![too_long(); 8], &request).await;
        assert_eq!(played.recorded.len(), 4, "5 turns, 2, 1, none");
        assert!(played.retries()[2].why.contains("all 5 earlier turns"));
        assert!(played.failure().hint.contains("larger context"), "{:?}", played.failure());
    }

    #[tokio::test]
    async fn more_than_an_account_may_send_in_a_minute_is_too_long_and_no_reason_to_wait() {
        let message = "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 43000. The input or output tokens must be reduced in order to run successfully.";
        let error = json!({ "code": "rate_limit_exceeded", "type": "tokens", "message": message });
        let refused = Script::answer(429, "application/json", json!({ "error": error }).to_string());
        let played = play([refused.clone(), Script::stream(answer())], &long_conversation(2)).await;
        assert_eq!(played.result, Ok(()));
        assert_eq!(played.retries()[0].left_out, 1);
        let played = play([refused], &request()).await;
        assert_eq!((played.recorded.len(), played.waits.len()), (1, 0));
        assert!(played.failure().hint.contains("waiting does not help"), "{:?}", played.failure());
    }

    #[tokio::test]
    async fn an_answer_that_may_be_too_long_is_asked_for_shorter_before_anything_is_left_out() {
        let refused = |limit: u32, input: u32| {
            let message = format!(
                "'max_tokens' or 'max_completion_tokens' is too large: {limit}. This model's maximum context length is 4096 tokens and your request has {input} input tokens ({limit} > 4096 - {input})."
            );
            refusal(400, "", &message)
        };
        let may = |most: u32, request: Request| Request {
            options: Options { max_output_tokens: Some(most), ..request.options },
            ..request
        };
        let asked = |played: &Played| -> Vec<_> {
            played.recorded.iter().map(|sent| sent.body["max_output_tokens"].as_u64().unwrap()).collect()
        };
        let long = || may(4096, long_conversation(2));
        let played = play([refused(4096, 3000), Script::stream(answer())], &long()).await;
        assert_eq!((&played.result, asked(&played)), (&Ok(()), vec![4096, 1096]));
        assert_eq!(played.retries()[0].left_out, 0);
        assert!(played.retries()[0].why.contains("at most 1096 tokens"), "{:?}", played.retries());
        // Too little is left for an answer: the oldest turn goes first.
        let played =
            play([refused(4096, 3800), refused(4096, 2000), Script::stream(answer())], &long()).await;
        assert_eq!((&played.result, asked(&played)), (&Ok(()), vec![4096, 4096, 2096]));
        assert_eq!(played.retries()[1].left_out, 1);
        // Nothing can go: a short answer is better than none, and none is told with the setting that would help.
        let played = play([refused(4096, 3800), Script::stream(answer())], &may(4096, request())).await;
        assert_eq!((&played.result, asked(&played)), (&Ok(()), vec![4096, 296]));
        let played = play([refused(4096, 4000)], &may(4096, request())).await;
        assert!(played.failure().hint.contains("`max_output_tokens`"), "{:?}", played.failure());
        assert!(played.failure().hint.contains("`output_limit` under [providers.openai]"));
        // A server that is never content does not hold the turn.
        let endless = vec![refusal(400, "", "max_tokens is too large"); 9];
        assert_eq!(asked(&play(endless, &may(8192, request())).await), [8192, 4096, 2048, 1024]);
    }

    #[tokio::test]
    async fn reasoning_that_the_server_can_no_longer_read_is_left_out() {
        let message = "The encrypted content could not be verified.";
        let error = json!({ "error": { "code": "invalid_encrypted_content", "message": message } });
        let refused = Script::answer(400, "application/json", error.to_string());
        let mut request = long_conversation(1);
        (request.options.store, request.previous_response_id) = (false, None);
        request.fresh = 0;
        for at in [3, 1] {
            // One in an earlier turn, one in this one.
            let raw = json!({ "type": "reasoning", "id": "rs", "summary": [], "encrypted_content": "x" });
            request.items.insert(at, Item::Raw(raw));
        }
        request.question += 1;
        let played = play([refused.clone(), Script::stream(answer())], &request).await;
        assert_eq!(played.result, Ok(()));
        let sent: Vec<_> = played.recorded.iter().map(|r| r.body["input"].to_string()).collect();
        assert!(sent[0].contains("encrypted_content") && !sent[1].contains("encrypted_content"));
        assert!(sent[1].contains("Answer 0") && sent[1].contains("Who?"));
        assert_eq!(play([refused.clone(), refused], &request).await.recorded.len(), 2);
    }

    #[tokio::test]
    async fn an_answer_that_never_comes_to_its_end_is_stopped() {
        // A server that always has one more word would hold a turn for ever: no silence is ever long enough.
        let total = Duration::from_millis(80);
        let limits = Timeouts { total, ..Timeouts::default() };
        let started = stream_of(&[json!({ "type": "response.output_text.delta", "delta": "Mira" })]);
        let played = play_within(limits, [Script::stream(started).then_silence()], &request()).await;
        assert!(
            played.failure().message.contains("not finished after 80 milliseconds"),
            "{:?}",
            played.failure()
        );
        assert_eq!(played.events, [Event::Text("Mira".into())]);
        assert_eq!(Timeouts::default().total_of_flex(), Duration::from_mins(45));
    }

    #[tokio::test]
    async fn a_cancel_in_a_wait_ends_it_at_once() {
        let (waiting, mut waits) = unbounded_channel();
        let pauses = Pauses::from_fn(move |time| {
            waiting.send(time).unwrap();
            Box::pin(std::future::pending())
        });
        let server = Replayer::start([refusal(503, "retry-after: 100\r\n", "")]).await;
        let client = Client::new(Timeouts::default()).unwrap().with_pauses(pauses);
        let provider = with_client(&server.base, client);
        let (cancel, (out, mut events)) = (CancellationToken::new(), unbounded_channel());
        let (request, stop) = (request(), cancel.clone());
        let turn = tokio::spawn(async move {
            provider.stream(Exchange { request: &request, out, cancel: stop, witness: &() }).await
        });
        assert_eq!(waits.recv().await, Some(Duration::from_secs(100)));
        cancel.cancel();
        assert_eq!(turn.await.unwrap(), Ok(()));
        assert!(matches!(events.recv().await, Some(Event::Retry(_))));
        assert_eq!(events.recv().await, None);
        assert_eq!(server.recorded().len(), 1);
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
