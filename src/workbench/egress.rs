//! What leaves the machine, noted before it leaves: which request, whereto, and which stretches of which files it holds.
//!
//! The stretches are found in what is sent, not in what somebody says was sent: the texts of every item of the request (results of tools, resent turns, the
//! context message, what the model had said, the prompt) are compared with every file of the book, and each stretch that is found must stand in the body.
//! What the author said is told by its length alone. Runs of less than five words are told only where a tool gives them as the text of a file.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::agent::machine::own;
use crate::canon::stretches;
use crate::config;
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind, Usage};
use crate::domain::ids::{BookPath, SessionId, TurnId};
use crate::domain::passage::{count_words, sha256_hex};
use crate::providers::{BoxFuture, Carried, End, Item, Noted, Outcome, Request, Sending, Witness, tokens};
use crate::store::egress::{Egress, Ended, Purpose, Said, Sent, Span, Through};

use super::Workbench;

/// Keys under which a tool gives text of the file that `path` beside them names.
const TEXTS: [&str; 3] = ["text", "excerpt", "currentMarkdown"];

/// A text of a file, with the file that it is from.
pub(super) type Stretch = (BookPath, String);

/// Texts that may be too short to be found by themselves.
#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// What the prompt may hold.
    pub prompt: Vec<Stretch>,
    /// What the context message holds where no tools are offered.
    pub inline: Option<Stretch>,
    /// Messages among the author's that the program wrote: what became of proposals.
    pub news: Vec<String>,
}

/// Notes in the book's ledger.
pub(super) struct Ledgered {
    /// Knows where the ledger is, and what things cost.
    bench: Workbench,
    session: Option<SessionId>,
    turn: Option<TurnId>,
    /// The whole book as the author has it, unsaved text included.
    book: Arc<Book>,
    known: Known,
    /// What a conversation is for.
    purpose: Purpose,
    /// The turn is over.
    closed: AtomicBool,
}

impl Workbench {
    /// Returns the ledger of what leaves this machine.
    pub(super) fn egress(&self) -> Egress {
        let data = &self.inner.surroundings.folders.data;
        if self.has_book() { Egress::new(self.root(), data) } else { Egress::without_book(data) }
    }

    /// Returns who notes what leaves where a provider is tried out or asked for its models. Without a book it is noted in the data folder.
    pub(super) fn witness_of_check(&self) -> impl Witness {
        Ledgered {
            bench: self.clone(),
            session: None,
            turn: None,
            book: self.book(),
            known: Known::default(),
            purpose: Purpose::Check,
            closed: AtomicBool::new(false),
        }
    }

    /// Returns who notes what leaves the machine in a turn; outside of one there is none.
    pub(super) fn witness(
        &self,
        turn: Option<(SessionId, TurnId)>,
        book: &Arc<Book>,
        known: Known,
    ) -> Arc<dyn Witness> {
        let (session, turn) = turn.unzip();
        Arc::new(Ledgered {
            bench: self.clone(),
            session,
            turn,
            book: Arc::clone(book),
            known,
            purpose: Purpose::Turn,
            closed: AtomicBool::new(false),
        })
    }
}

impl Witness for Ledgered {
    fn sending<'a>(&'a self, sending: Sending<'a>) -> BoxFuture<'a, Result<Noted, Failure>> {
        Box::pin(async move {
            if self.closed.load(Ordering::Acquire) {
                return Err(over());
            }
            let (bench, egress) = (self.bench.clone(), self.bench.egress());
            let (where_to, folder) = egress.place();
            let parts = parts(&sending, &self.known.news);
            let told = self.sent(&sending);
            let mut known = self.known.prompt.clone();
            if matches!(sending.of, Carried::Conversation(request) if request.tools.is_empty()) {
                known.extend(self.known.inline.clone());
            }
            let (book, body) = (Arc::clone(&self.book), sending.body.to_owned());
            // Made where the line is written: a turn that is stopped meanwhile has its end, too.
            let noted = tokio::task::spawn_blocking(move || {
                let spans = spans(&book, &known, parts, &body);
                let bill = bench.bill(&told);
                // Where it has no name, what it was doing when it is killed is never known to have ended.
                let process = bench.inner.running.name().ok();
                let id = egress.sending(Sent { process, spans, ..told })?;
                Ok::<_, std::io::Error>(Noted::with(move |outcome| {
                    // First the money: killed in between, the next question finds it there.
                    let usage = bill.settle(&id, &outcome);
                    let is_billed = outcome.may_be_billed();
                    // An end that can't be noted is a missing end, which the report tells of.
                    let _ = egress.ended(&id, ended(outcome, usage));
                    is_billed.then_some(usage)
                }))
            });
            let failed = |why: String| Failure {
                kind: FailureKind::Work,
                message: format!(
                    "Nothing was sent: what leaves this machine could not be noted in {where_to} ({why})."
                ),
                hint: format!(
                    "See that {folder} can be written to and that the disk is not full, then ask again."
                ),
            };
            let noted = noted.await.map_err(|e| failed(e.to_string()))?.map_err(|e| failed(e.to_string()))?;
            // Stopped while it was noted: the note ends as given up, and nothing is sent.
            if self.closed.load(Ordering::Acquire) { Err(over()) } else { Ok(noted) }
        })
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }
}

fn over() -> Failure {
    Failure {
        kind: FailureKind::Work,
        message: "Nothing more was sent: the turn is over.".into(),
        hint: "Ask again.".into(),
    }
}

impl Ledgered {
    /// What is noted of a request, without the stretches.
    fn sent(&self, sending: &Sending<'_>) -> Sent {
        let body: Value = serde_json::from_str(sending.body).unwrap_or_default();
        let (purpose, model, author, tokens) = match sending.of {
            Carried::Conversation(request) => {
                let leaves = Leaves::of(&body);
                // The words of a check are the program's.
                let is_turn = self.purpose == Purpose::Turn;
                let news = &self.known.news;
                let author = if is_turn { said_by_author(request, &leaves, news) } else { Said::default() };
                (self.purpose, request.model.as_str(), author, Some(tokens::of(request, &body)))
            }
            Carried::Nothing => (Purpose::Models, "", Said::default(), None),
            Carried::Texts { model, texts } => {
                let tokens = texts.iter().map(|text| tokens::estimate(text)).sum();
                (Purpose::Embeddings, model, Said::default(), Some(tokens))
            }
        };
        let name = |tool: &Value| {
            let name = [&tool["name"], &tool["function"]["name"], &tool["type"]];
            name.into_iter().find_map(Value::as_str).map(str::to_owned)
        };
        Sent {
            purpose,
            session: self.session.clone(),
            turn: self.turn.clone(),
            destination: sending.destination.to_owned(),
            provider: sending.provider.to_owned(),
            model: model.to_owned(),
            tier: body["service_tier"].as_str().map(str::to_owned),
            bytes: sending.body.len(),
            sha256: sha256_hex(sending.body),
            tokens,
            process: None,
            tools: body["tools"].as_array().into_iter().flatten().filter_map(name).collect(),
            author,
            spans: vec![],
        }
    }
}

fn ended(outcome: Outcome, usage: Usage) -> Ended {
    let Outcome { end, status, received, tier, .. } = outcome;
    let end = match end {
        End::Answered => "answered",
        End::Failed => "failed",
        End::GivenUp => "given_up",
    };
    Ended { end: end.to_owned(), status, received, tier, usage }
}

fn said_by_author(request: &Request, body: &Leaves, news: &[String]) -> Said {
    let is_own = |text: &String| !news.contains(text) && own::results(text).next().is_none();
    let said = request.items.iter().filter_map(|item| match item {
        Item::Author(text) if body.hold(text) && is_own(text) => Some(text.chars().count()),
        _ => None,
    });
    said.fold(Said::default(), |all, chars| Said { messages: all.messages + 1, chars: all.chars + chars })
}

/// A text in a request that may be of the book.
struct Part {
    text: String,
    through: Through,
    /// Whether it is the prompt, of which only what `scritorio.toml` says to the board is of the book.
    is_prompt: bool,
    /// What the text is said to be: a path of the book, where something beside it says so.
    near: Vec<String>,
    /// Whether all of it is said to be text of that file, so that it counts however short it is.
    is_text: bool,
}

impl Part {
    fn of(text: impl Into<String>, through: Through) -> Self {
        Self { text: text.into(), through, is_prompt: false, near: vec![], is_text: false }
    }
}

/// Every text of a request but the author's own.
fn parts(sending: &Sending<'_>, news: &[String]) -> Vec<Part> {
    let request = match sending.of {
        Carried::Conversation(request) => request,
        Carried::Nothing => return vec![],
        Carried::Texts { texts, .. } => {
            return texts.iter().map(|text| Part::of(text, Through::Text)).collect();
        }
    };
    let mut parts =
        vec![Part { is_prompt: true, ..Part::of(request.instructions.as_str(), Through::Prompt) }];
    for item in &request.items {
        match item {
            Item::Author(text) if news.contains(text) => parts.push(Part::of(text.as_str(), Through::News)),
            // The author's own words are told by their number; a result that the program adds in words is a tool's.
            Item::Author(text) => {
                for (tool, output) in own::results(text) {
                    match serde_json::from_str(output) {
                        Ok(value) => of_output(&value, tool, &[], &mut parts),
                        Err(_) => parts.push(Part::of(output, Through::Tool(tool.to_owned()))),
                    }
                }
            }
            Item::Context(text) => parts.push(Part::of(text.as_str(), Through::Context)),
            Item::Persona(text) => parts.push(Part::of(text.as_str(), Through::Model)),
            Item::Call { arguments, .. } => {
                let leaves = Leaves::in_text(arguments).0;
                parts.extend(leaves.into_iter().map(|text| Part::of(text, Through::Model)));
            }
            Item::Raw(value) => {
                let leaves = Leaves::of(value).0;
                parts.extend(leaves.into_iter().map(|text| Part::of(text, Through::Model)));
            }
            Item::Output { name, output, .. } => match serde_json::from_str(output) {
                Ok(value) => of_output(&value, name, &[], &mut parts),
                Err(_) => parts.push(Part::of(output.as_str(), Through::Tool(name.clone()))),
            },
        }
    }
    parts
}

/// The texts in the result of a tool, each with the paths that stand around it.
fn of_output(value: &Value, tool: &str, near: &[String], parts: &mut Vec<Part>) {
    match value {
        Value::Object(fields) => {
            let own = fields.get("path").and_then(Value::as_str);
            let near: Vec<String> =
                own.map(str::to_owned).into_iter().chain(near.iter().cloned()).take(4).collect();
            for (key, value) in fields {
                let Some(text) = value.as_str() else {
                    of_output(value, tool, &near, parts);
                    continue;
                };
                let is_text = own.is_some() && TEXTS.contains(&key.as_str());
                let part = Part::of(text, Through::Tool(tool.to_owned()));
                parts.push(Part { near: near.clone(), is_text, ..part });
            }
        }
        Value::Array(items) => items.iter().for_each(|item| of_output(item, tool, near, parts)),
        Value::String(text) => {
            let part = Part::of(text.as_str(), Through::Tool(tool.to_owned()));
            parts.push(Part { near: near.to_vec(), ..part });
        }
        _ => {}
    }
}

/// The stretches of the book in a body, each once, by file and place.
fn spans(book: &Book, known: &[Stretch], parts: Vec<Part>, body: &str) -> Vec<Span> {
    let leaves =
        serde_json::from_str(body).map_or_else(|_| Leaves(vec![body.to_owned()]), |v| Leaves::of(&v));
    let whole: HashSet<&str> = leaves.0.iter().map(String::as_str).collect();
    let parts: Vec<Part> = parts.into_iter().filter(|part| !part.text.trim().is_empty()).collect();
    let files = files(book);
    let texts: Vec<&str> = files.iter().map(|(_, text)| *text).collect();
    let said: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
    let meant = |text: usize, file: usize| parts[text].near.iter().any(|path| path == files[file].0.as_str());
    let settings = |file: usize| files[file].0.as_str() == config::book::FILE;
    let mut all: Vec<Span> = vec![];
    let mut note = |file: usize, range: std::ops::Range<usize>, through: &Through, exact: bool| {
        let (path, text) = &files[file];
        let is_known = |span: &Span| span.path == *path && span.start == range.start && span.end == range.end;
        if let Some(stretch) = text.get(range.clone()).filter(|_| !all.iter().any(is_known)) {
            all.push(Span {
                path: path.clone(),
                start: range.start,
                end: range.end,
                sha256: sha256_hex(stretch),
                words: count_words(stretch),
                through: through.clone(),
                exact,
            });
        }
    };
    for (part, found) in parts.iter().zip(stretches::find(&texts, &said, &meant)) {
        let is_whole = whole.contains(part.text.as_str());
        let short = part.is_text && found.is_empty();
        for stretch in found {
            let words = part.text.get(stretch.said.clone()).unwrap_or_default();
            if (is_whole || leaves.hold(words)) && (!part.is_prompt || settings(stretch.file)) {
                note(stretch.file, stretch.range, &part.through, stretch.exact);
            }
        }
        let file =
            files.iter().position(|(path, _)| part.near.first().is_some_and(|near| near == path.as_str()));
        if let Some(file) = file.filter(|_| short && (is_whole || leaves.hold(&part.text)))
            && let Some(range) = stretches::find_in(texts[file], &part.text)
        {
            note(file, range, &part.through, true);
        }
    }
    for (path, text) in known.iter().filter(|(_, text)| leaves.hold(text)) {
        let Some(file) = files.iter().position(|(p, _)| p == path) else { continue };
        let Some(range) = stretches::find_in(texts[file], text) else { continue };
        let through = if settings(file) { Through::Prompt } else { Through::Context };
        note(file, range, &through, true);
    }
    all.retain({
        let spans = all.clone();
        move |span| !spans.iter().any(|other| is_within(span, other))
    });
    all.sort_by(|a, b| (&a.path, a.start, a.end).cmp(&(&b.path, b.start, b.end)));
    all
}

/// Whether a stretch is a part of a longer one.
fn is_within(span: &Span, other: &Span) -> bool {
    span.path == other.path
        && other.start <= span.start
        && span.end <= other.end
        && (span.start, span.end) != (other.start, other.end)
}

/// Every text of the book, once, with its path.
fn files(book: &Book) -> Vec<(BookPath, &str)> {
    let mut seen = HashSet::new();
    let mut files: Vec<(BookPath, &str)> = book
        .texts()
        .filter(|(path, _)| seen.insert((*path).clone()))
        .map(|(path, text)| (path.clone(), text))
        .collect();
    if let (Some(text), Ok(path)) = (&book.settings_text, BookPath::new(config::book::FILE)) {
        files.push((path, text));
    }
    files
}

/// The strings in a JSON document; a string that is JSON itself (arguments and results of tools) as the strings in that.
struct Leaves(Vec<String>);

impl Leaves {
    fn of(value: &Value) -> Self {
        let mut leaves = Self(vec![]);
        leaves.add(value);
        leaves
    }

    fn in_text(text: &str) -> Self {
        let mut leaves = Self(vec![]);
        leaves.add_text(text);
        leaves
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.add_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn add_text(&mut self, text: &str) {
        let inner = text.starts_with(['{', '[']).then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        if let Some(value) = inner {
            self.add(&value);
        } else {
            own::results(text).for_each(|(_, output)| self.add_text(output));
            self.0.push(text.to_owned());
        }
    }

    fn hold(&self, text: &str) -> bool {
        !text.is_empty() && self.0.iter().any(|leaf| leaf.contains(text))
    }
}

/// What the book says to a member of its board, which the prompt holds.
pub(super) fn words_to(member: &str, book: &Book) -> Vec<Stretch> {
    let Ok(path) = BookPath::new(config::book::FILE) else { return vec![] };
    let words = book.settings.board.get(member).map(|board| [&board.notes, &board.editable]);
    let words = words.into_iter().flatten().flatten();
    words.map(|words| (path.clone(), words.trim().to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;
    use crate::domain::ids::CallId;
    use crate::providers::Event;
    use crate::workbench::money::Month;
    use crate::workbench::{Overrides, Surroundings};

    const CHAPTER: &str = "# One\n\nMira counted \"seven\" gulls on the wall.\nThen she went home.\n";

    fn bench(folder: &std::path::Path) -> Workbench {
        let root = folder.join("book");
        fs::create_dir_all(root.join("manuscript")).unwrap();
        fs::write(root.join("manuscript/01.md"), CHAPTER).unwrap();
        fs::write(root.join("manuscript/02.md"), "Short one.\n").unwrap();
        fs::write(root.join("scritorio.toml"), "[board.writing-coach]\nnotes = \"Be kind.\"\n").unwrap();
        Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder)).unwrap()
    }

    fn request(items: Vec<Item>) -> Request {
        Request { model: "m".into(), instructions: "You read. Be kind.".into(), items, ..Request::default() }
    }

    fn output(text: &Value) -> Item {
        Item::Output { call_id: CallId::new("c"), name: "read".into(), output: text.to_string() }
    }

    async fn noted(bench: &Workbench, request: &Request, body: &Value) -> Sent {
        let book = bench.book();
        let turn = Some((SessionId::new("s-1"), TurnId::new("t-1")));
        let witness = bench.witness(
            turn,
            &book,
            Known { prompt: words_to("writing-coach", &book), ..Known::default() },
        );
        let body = body.to_string();
        let of = Carried::Conversation(request);
        let sending =
            Sending { destination: "https://api.openai.com/v1", provider: "openai", body: &body, of };
        drop(witness.sending(sending).await.unwrap());
        bench.egress().read().unwrap().0.remove(0).sent
    }

    #[tokio::test]
    async fn a_stretch_is_told_by_file_place_and_hash_and_the_author_by_length() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let told = json!({ "units": [
            { "path": "manuscript/01.md", "text": CHAPTER.trim_end() },
            { "path": "manuscript/02.md", "text": "Short one." },
        ] });
        let request = request(vec![Item::Author("Who is Mira?".into()), output(&told)]);
        let body = json!({ "instructions": "You read. Be kind.", "service_tier": "flex",
            "tools": [{ "type": "function", "name": "read" }],
            "input": ["User: Who is Mira?", { "output": told.to_string() }] });
        let sent = noted(&bench, &request, &body).await;
        assert_eq!((sent.bytes, &sent.sha256), (body.to_string().len(), &sha256_hex(body.to_string())));
        assert_eq!(sent.author, Said { messages: 1, chars: 12 });
        assert_eq!((sent.tier.as_deref(), &*sent.tools), (Some("flex"), &["read".to_owned()][..]));
        let spans: Vec<_> = sent.spans.iter().map(|s| (s.path.as_str(), s.start, s.end, s.exact)).collect();
        let toml = bench.book().settings_text.clone().unwrap();
        let kind = toml.find("Be kind.").unwrap();
        assert_eq!(
            spans,
            [
                ("manuscript/01.md", 0, CHAPTER.len() - 1, true),
                ("manuscript/02.md", 0, 10, true),
                ("scritorio.toml", kind, kind + 8, true),
            ]
        );
        assert_eq!(sent.spans[0].sha256, sha256_hex(CHAPTER.trim_end()));
        assert_eq!(sent.spans[0].through, Through::Tool("read".into()));
    }

    #[tokio::test]
    async fn what_the_program_looked_up_by_itself_is_the_tools_and_not_the_authors() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let told = json!({ "path": "manuscript/01.md", "text": CHAPTER.trim_end() }).to_string();
        let own = own::words("get_manuscript_context", "{}", &told, false);
        let request = request(vec![Item::Author("Who is Mira?".into()), Item::Author(own.clone())]);
        for input in [json!(own), json!(format!("User: Who is Mira?\n\nUser: {own}"))] {
            let folder = tempfile::tempdir().unwrap();
            let bench = self::bench(folder.path());
            let sent = noted(&bench, &request, &json!({ "input": input })).await;
            let spans: Vec<_> = sent.spans.iter().map(|s| (s.path.as_str(), s.start, s.end)).collect();
            assert_eq!(spans, [("manuscript/01.md", 0, CHAPTER.len() - 1)]);
            assert_eq!(sent.spans[0].through, Through::Tool("get_manuscript_context".into()));
            assert!(sent.author.chars <= 12);
        }
        drop(bench);
    }

    /// Notes an attempt of `of`, lets it end as `act` does, and returns what stands in the ledger of its tokens and cost.
    async fn cost_of(of: Carried<'_>, provider: &str, act: impl FnOnce(Noted)) -> (Ended, Month) {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let witness = bench.witness(None, &bench.book(), Known::default());
        let destination = &bench.destination(provider).unwrap();
        let sending = Sending { destination, provider, body: "{}", of };
        let noted = witness.sending(sending).await.unwrap();
        noted.leaving().store(true, Ordering::Release);
        act(noted);
        let ended = bench.egress().read().unwrap().0.remove(0).ended.unwrap();
        (ended, bench.standing().month)
    }

    #[tokio::test]
    async fn every_request_has_its_cost_in_the_ledger_and_counts_once_as_spent() {
        let request = Request { model: "gpt-5-mini".into(), ..request(vec![]) };
        let whole = Usage {
            input_tokens: Some(200_000),
            output_tokens: Some(100_000),
            web_searches: 1,
            ..Usage::default()
        };
        let answered = |mut noted: Noted| {
            noted.heard(&Event::Tier("flex".into()));
            noted.heard(&Event::Finished { usage: whole, truncated: None });
            noted.ended(End::Answered, Some(200));
        };
        let (ended, month) = cost_of(Carried::Conversation(&request), "openai", answered).await;
        assert_eq!(ended.tier.as_deref(), Some("flex"));
        assert!((ended.usage.cost.unwrap() - (0.025 + 0.1 + 0.01)).abs() < 1e-9, "{ended:?}");
        assert!(!ended.usage.estimated);
        assert_eq!((month.responses, Some(month.dollars)), (1, ended.usage.cost));
        let (ended, month) = cost_of(Carried::Conversation(&request), "ollama", answered).await;
        assert_eq!(month.responses, 0, "what is free is no line");
        assert_eq!((ended.usage.cost, ended.usage.input_tokens), (Some(0.0), Some(200_000)));
        let unknown = Request { model: "brand-new".into(), ..request.clone() };
        let (ended, _) = cost_of(Carried::Conversation(&unknown), "openai", answered).await;
        assert_eq!((ended.usage.cost, ended.usage.unpriced), (None, 1));
    }

    #[tokio::test]
    async fn an_answer_that_broke_off_is_priced_by_an_estimate_and_a_refusal_is_free() {
        let request = Request { model: "gpt-5-mini".into(), ..request(vec![]) };
        let sent = tokens::of_request(&request);
        let of = Carried::Conversation(&request);
        let words = |noted: &mut Noted| noted.heard(&Event::Text("She waits for nobody.".into()));
        let broke_off = cost_of(of, "openai", |mut noted| {
            words(&mut noted);
            noted.ended(End::Failed, None);
        });
        let given_up = cost_of(of, "openai", |mut noted| words(&mut noted));
        for ended in [broke_off.await.0, given_up.await.0] {
            assert_eq!(ended.usage.input_tokens, Some(sent));
            assert!(ended.usage.estimated && ended.usage.cost.unwrap() > 0.0, "{ended:?}");
        }
        let refused = cost_of(of, "openai", |noted| noted.ended(End::Failed, Some(429))).await.0;
        assert_eq!((refused.usage.cost, refused.usage.input_tokens), (Some(0.0), None));
        let silent = cost_of(of, "openai", |mut noted| {
            noted.lost();
            noted.ended(End::Failed, None);
        });
        assert!(silent.await.0.usage.cost.unwrap() > 0.0, "it may have been worked on");
    }

    #[tokio::test]
    async fn vectors_have_their_cost_and_a_list_of_models_costs_nothing() {
        let texts = ["She waits for nobody.".to_owned()];
        let of = Carried::Texts { model: "text-embedding-3-small", texts: &texts };
        let told = cost_of(of, "openai", |mut noted| {
            noted.used(Some(1_000_000));
            noted.ended(End::Answered, Some(200));
        });
        let told = told.await.0.usage;
        assert!((told.cost.unwrap() - 0.02).abs() < 1e-9 && !told.estimated, "{told:?}");
        let untold = cost_of(of, "openai", |mut noted| {
            noted.used(None);
            noted.ended(End::Answered, Some(200));
        });
        let untold = untold.await.0.usage;
        assert!(untold.cost.unwrap() > 0.0 && untold.estimated, "{untold:?}");
        let list = cost_of(Carried::Nothing, "openai", |noted| noted.ended(End::Answered, Some(200))).await;
        assert_eq!((list.0.usage.cost, list.0.usage.unpriced), (Some(0.0), 0));
    }

    #[tokio::test]
    async fn a_turn_that_is_over_sends_nothing_more() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let book = bench.book();
        let witness = bench.witness(None, &book, Known::default());
        witness.close();
        let texts = vec!["A piece.".to_owned()];
        let of = Carried::Texts { model: "m", texts: &texts };
        let sending =
            Sending { destination: "https://api.openai.com/v1", provider: "openai", body: "{}", of };
        assert!(witness.sending(sending).await.is_err());
        assert!(bench.egress().read().unwrap().0.is_empty());
    }

    #[tokio::test]
    async fn what_is_not_in_the_body_is_not_told() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let told = json!({ "path": "manuscript/01.md", "text": CHAPTER });
        let request = request(vec![output(&told), Item::Persona("She counted gulls.".into())]);
        let sent = noted(&bench, &request, &json!({ "input": "She counted gulls." })).await;
        assert_eq!(sent.spans, []);
    }

    #[tokio::test]
    async fn what_the_model_quotes_is_told_when_it_is_sent_back_and_what_the_author_quotes_is_theirs() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        let words = "Mira counted \"seven\" gulls on the wall.";
        let author = request(vec![Item::Author(words.into())]);
        assert_eq!(noted(&bench, &author, &json!({ "input": words })).await.spans, []);
        let folder = tempfile::tempdir().unwrap();
        let bench = self::bench(folder.path());
        let raw = json!({ "type": "message", "content": [{ "text": format!("You wrote: {words}") }] });
        let model = request(vec![Item::Raw(raw.clone())]);
        let spans = noted(&bench, &model, &json!({ "input": [raw] })).await.spans;
        assert_eq!(spans.len(), 1);
        assert_eq!((&spans[0].through, &CHAPTER[spans[0].start..spans[0].end]), (&Through::Model, words));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn what_can_not_be_noted_is_not_sent() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path());
        // A file stands where the folder would be.
        fs::create_dir(bench.root().join(".scritorio")).unwrap();
        fs::write(bench.root().join(".scritorio/ledger"), "").unwrap();
        let request = request(vec![]);
        let witness = bench.witness(None, &bench.book(), Known::default());
        let of = Carried::Conversation(&request);
        let sending =
            Sending { destination: "https://api.openai.com/v1", provider: "openai", body: "{}", of };
        let failure = witness.sending(sending).await.unwrap_err();
        assert!(failure.message.starts_with("Nothing was sent") && !failure.hint.is_empty(), "{failure:?}");
    }
}
