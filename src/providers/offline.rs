//! The offline reader: a provider without any model, inside the program.
//!
//! It drives the same tool loop as a model does. From the question it works out by rule which tools are needed, calls them one a
//! round, and answers from what they returned: facts with their source, quotations with locate markers, measurements of prose.
//! The same request always gets the same answer. It says what it is and never pretends to be a model; nothing
//! leaves the machine; the book that it holds serves only to recognise names and chapters, never as a source of facts.

mod answer;
mod craft_reading;
mod facts;
mod missing;
mod plan;
mod question;
mod quoting;
mod turn;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{BoxFuture, Event, Exchange, Provider, Request};
use crate::canon::mentions::Names;
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, Usage};
use crate::domain::ids::CallId;
use crate::tools::Registry;
use question::Question;
use turn::Turn;

/// The provider's name in settings.
pub const NAME: &str = "offline";

/// What stands where others name a model.
pub const MODEL: &str = "offline-reader";

/// The reader, for one book and one board member.
pub struct OfflineReader {
    book: Arc<Book>,
    names: Names,
    registry: Arc<Registry>,
    persona: String,
}

/// What the reader does next.
#[derive(Debug, Clone, PartialEq)]
enum Move {
    Call(plan::Call),
    Answer(String),
}

impl OfflineReader {
    /// Makes a reader. `persona` is the id of the board member that answers: each looks at other things first.
    pub fn new(book: Arc<Book>, registry: Arc<Registry>, persona: impl Into<String>) -> Self {
        let names = Names::of(&book);
        Self { book, names, registry, persona: persona.into() }
    }

    fn decide(&self, request: &Request) -> Move {
        let turn = Turn::of(request);
        let question = Question::read(turn.question, &self.book);
        let library = Library { book: &self.book, names: &self.names, persona: &self.persona };
        let has_document = turn.document.is_some() || turn.has_selection;
        let forced = self.registry.forced_by(turn.question, has_document).map(|spec| spec.name);
        match plan::next(&turn, &question, &library, forced) {
            Some(call) => Move::Call(call),
            None => Move::Answer(answer::compose(&turn, &question, &library)),
        }
    }
}

/// What the reader knows besides the request: names and chapters to recognise, and for whom it reads.
#[derive(Clone, Copy)]
struct Library<'a> {
    book: &'a Book,
    names: &'a Names,
    persona: &'a str,
}

impl Provider for OfflineReader {
    fn name(&self) -> &'static str {
        NAME
    }

    fn stateful(&self) -> bool {
        false
    }

    fn body(&self, request: &Request) -> Value {
        let turn = Turn::of(request);
        json!({
            "model": MODEL,
            "question": turn.question,
            "context": turn.context,
            "outputs": turn.done.iter().map(|d| json!({ "tool": d.name, "output": d.output })).collect::<Vec<_>>(),
            "tools": turn.offered,
        })
    }

    fn destination(&self) -> String {
        "nowhere: the offline reader works inside this program, and nothing leaves the machine".to_owned()
    }

    fn stream<'a>(&'a self, exchange: Exchange<'a>) -> BoxFuture<'a, Result<(), Failure>> {
        let Exchange { request, out, cancel, .. } = exchange;
        Box::pin(async move {
            let done = Event::Finished { usage: Usage::default(), truncated: None };
            let events: Box<dyn Iterator<Item = Event> + Send> = match self.decide(request) {
                Move::Call(call) => Box::new(call_events(request, call).into_iter()),
                Move::Answer(text) => Box::new(words(&text).into_iter().map(Event::Text)),
            };
            for event in events.chain([done]) {
                if cancel.is_cancelled() || out.send(event).is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            Ok(())
        })
    }
}

fn call_events(request: &Request, call: plan::Call) -> [Event; 3] {
    let earlier = request.items.iter().filter(|item| matches!(item, super::Item::Call { .. })).count();
    let call_id = CallId::new(format!("call_offline_{}", earlier + 1));
    let (name, arguments) = (call.name, call.arguments.to_string());
    [
        Event::CallStarted { call_id: call_id.clone(), name: name.clone() },
        Event::CallArguments { call_id: call_id.clone(), delta: arguments.clone() },
        Event::Call { call_id, name, arguments },
    ]
}

/// Cuts a text into words, each with the white space behind it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![];
    for piece in text.split_inclusive(char::is_whitespace) {
        match words.last_mut() {
            Some(last) if piece.trim().is_empty() => last.push_str(piece),
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio::sync::mpsc::unbounded_channel;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::canon::index::Index;
    use crate::domain::codex::{Entry, EntryType, TypeFrom};
    use crate::domain::frontmatter;
    use crate::domain::ids::BookPath;
    use crate::domain::manuscript::{Chapter, NumberFrom, StoryTime};
    use crate::domain::passage::{count_words, find_quote};
    use crate::proposal::Proposal;
    use crate::providers::{Item, ToolChoice};
    use crate::tools::desk::Limits;
    use crate::tools::{Desk, Seen, Selection, schema};

    const VALE: &str = "---\ntype: character\nname: Adrian Vale\naliases: [Adrian, the Captain]\nrole: protagonist\nborn: 2266-05-09\n---\n\n# Adrian Vale\n\n## Summary\n\nMaster of the *Halcyon* — once Superintendent of [[Post Nine]].\n\n## Wants\n\n- That nobody asks him anything.\n\n## Appearance\n\n- Long and stooped.\n- Grey eyes.\n";
    const MIRA: &str = "---\ntype: character\nname: Mira Okafor\naliases: [Mira]\nrole: deuteragonist\n---\n\nSignals officer of the Halcyon.\n";
    const POST: &str = "---\ntype: location\nname: Post Nine\n---\n\nA listening post, abandoned in 2307.\n";
    const SILENCE: &str = "---\ntype: event\nname: The Silence\ndate: 2307-03-14\n---\n\nOn this day Lantern stopped transmitting.\n";
    const ONE: &str = "# The Listening Post\n\nThe lights at Post Nine had been off for eleven years, and Adrian put his hand straight on the switch. Mira noticed it at once and slowly said nothing.\n\n\"They never moved it,\" he said.\n\n\"Who would have moved it, sir?\" asked Mira — quietly.\n\nOld Pell had brewed beer there. Nobody had thanked Pell for it. They still spoke of Pell in the kitchen. The kitchen was cold, and the kitchen was cleaned by nobody.\n";
    const TWO: &str = "# Turnover\n\nMira slept for nine hours and dreamed of ice. When she woke, the ship had turned and was falling home backwards.\n";

    static REGISTRY: std::sync::LazyLock<Arc<Registry>> =
        std::sync::LazyLock::new(|| Arc::new(Registry::advisor()));

    fn path(raw: &str) -> BookPath {
        BookPath::new(raw).unwrap()
    }

    fn chapter(number: u32, raw: &str, text: &str) -> Chapter {
        let title = text.lines().next().unwrap().trim_start_matches("# ").to_owned();
        let (number_from, words) = (NumberFrom::FileName, count_words(text));
        Chapter {
            path: path(raw),
            number,
            number_from,
            title,
            text: text.into(),
            body_start: 0,
            words,
            time: StoryTime::default(),
        }
    }

    fn entry(raw: &str, entry_type: EntryType, text: &str) -> Entry {
        let fields = frontmatter::parse(text).fields;
        let aliases = fields.get("aliases").and_then(Value::as_array).into_iter().flatten();
        let body_start = frontmatter::split(text).body_start;
        let prose = text[body_start..].lines().find(|l| !l.trim().is_empty() && !l.starts_with('#'));
        Entry {
            path: path(raw),
            entry_type,
            name: fields["name"].as_str().unwrap().to_owned(),
            title: None,
            aliases: aliases.filter_map(Value::as_str).map(str::to_owned).collect(),
            summary: prose.unwrap_or_default().to_owned(),
            fields,
            text: text.into(),
            body: body_start..text.len(),
            heading: None,
            type_from: TypeFrom::Key("type".into()),
            soul: None,
            warnings: vec![],
        }
    }

    fn book() -> Arc<Book> {
        Arc::new(Book {
            name: "the-long-silence".into(),
            chapters: vec![
                chapter(1, "manuscript/01-post.md", ONE),
                chapter(2, "manuscript/02-turnover.md", TWO),
            ],
            entries: vec![
                entry("codex/characters/adrian-vale.md", EntryType::Character, VALE),
                entry("codex/characters/mira-okafor.md", EntryType::Character, MIRA),
                entry("codex/locations/post-nine.md", EntryType::Location, POST),
                entry("codex/events/silence.md", EntryType::Event, SILENCE),
            ],
            ..Book::default()
        })
    }

    /// A conversation with the reader, with the real tools.
    struct Talk {
        calls: Vec<(String, Value)>,
        proposals: Vec<Proposal>,
        answer: String,
    }

    impl Talk {
        fn tools(&self) -> Vec<&str> {
            self.calls.iter().map(|(name, _)| name.as_str()).collect()
        }

        /// The quotations with markers, all of them in the manuscript.
        fn quotes(&self) -> Vec<&str> {
            let quotes: Vec<&str> =
                self.answer.split("[[locate:").skip(1).map(|rest| rest.split("]]").next().unwrap()).collect();
            for quote in &quotes {
                assert!([ONE, TWO].iter().any(|text| !find_quote(text, quote).is_empty()), "{quote}");
                assert!(self.answer.contains(&format!("\"{quote}\" [[locate:{quote}]]")), "{quote}");
            }
            quotes
        }
    }

    struct Asked {
        persona: &'static str,
        registry: Arc<Registry>,
        choice: ToolChoice,
        current: Option<&'static str>,
        selection: Option<&'static str>,
    }

    fn asked() -> Asked {
        Asked {
            persona: "developmental-editor",
            registry: Arc::clone(&REGISTRY),
            choice: ToolChoice::Auto,
            current: None,
            selection: None,
        }
    }

    async fn events_of(reader: &OfflineReader, request: &Request) -> Vec<Event> {
        let (out, mut events) = unbounded_channel();
        reader
            .stream(Exchange { request, out, cancel: CancellationToken::new(), witness: &() })
            .await
            .unwrap();
        let mut all = vec![];
        while let Some(event) = events.recv().await {
            all.push(event);
        }
        all
    }

    fn request(asked: &Asked, question: &str) -> Request {
        let context = match (asked.selection, asked.current) {
            (Some(_), _) => Some(
                "Context\n- A focused selection exists.\n- Document path: manuscript/01-post.md".to_owned(),
            ),
            (None, Some(open)) => Some(format!("Context\n- A document is open.\n- Document path: {open}")),
            (None, None) => None,
        };
        Request {
            model: MODEL.into(),
            items: context.map(Item::Context).into_iter().chain([Item::Author(question.into())]).collect(),
            tools: asked.registry.specs().map(schema::responses).collect(),
            tool_choice: asked.choice.clone(),
            ..Request::default()
        }
    }

    async fn talk(asked: Asked, question: &str) -> Talk {
        let (book, mut request) = (book(), request(&asked, question));
        let (current, seen) = (asked.current.map(path), Seen::default());
        let selection = asked.selection.map(|text| Selection {
            path: path("manuscript/01-post.md"),
            title: "The Listening Post".into(),
            source_words: count_words(ONE),
            start: 0,
            text: text.into(),
        });
        let registry = asked.registry;
        let reader = OfflineReader::new(Arc::clone(&book), Arc::clone(&registry), asked.persona);
        let index = Index::of(&book);
        let desk = Desk {
            book: &book,
            index: &index,
            meaning: None,
            current: current.as_ref(),
            chapter: None,
            selection: selection.as_ref(),
            seen: &seen,
            persona: None,
            limits: Limits::default(),
        };
        let mut talk = Talk { calls: vec![], proposals: vec![], answer: String::new() };
        for _ in 0..5 {
            let mut called = false;
            for event in events_of(&reader, &request).await {
                match event {
                    Event::Text(words) => talk.answer.push_str(&words),
                    Event::Call { call_id, name, arguments } => {
                        called = true;
                        talk.calls.push((name.clone(), serde_json::from_str(&arguments).unwrap()));
                        let outcome = registry.run(&desk, &name, &arguments);
                        let output = match outcome {
                            Ok(outcome) => {
                                talk.proposals.extend(outcome.proposal);
                                outcome.result
                            }
                            Err(error) => error.to_result(),
                        };
                        request.items.push(Item::Call {
                            call_id: call_id.clone(),
                            name: name.clone(),
                            arguments,
                        });
                        request.items.push(Item::Output { call_id, name, output: output.to_string() });
                    }
                    _ => {}
                }
            }
            request.tool_choice = ToolChoice::Auto;
            if !called {
                return talk;
            }
        }
        panic!("it goes on calling: {:?}", talk.calls);
    }

    #[tokio::test]
    async fn a_person_is_told_with_source_facts_and_a_located_quotation() {
        let talk = talk(asked(), "Who is Adrian, and what are his wants?").await;
        assert_eq!(talk.tools(), ["get_character_context", "get_manuscript_context"]);
        assert_eq!(talk.calls[1].1["ref"], "manuscript/01-post.md");
        for said in [
            "no model",
            "**Adrian Vale**",
            "`codex/characters/adrian-vale.md`",
            "Wants: That nobody asks him anything.",
        ] {
            assert!(talk.answer.contains(said), "{said}: {}", talk.answer);
        }
        assert_eq!(talk.quotes().len(), 1);
        assert!(!talk.answer.contains('—'), "{}", talk.answer);
    }

    #[tokio::test]
    async fn a_selection_is_measured_with_examples() {
        let asked = Asked { selection: Some(ONE), ..asked() };
        let talk = talk(asked, "How does this passage read?").await;
        assert_eq!(talk.tools(), ["get_manuscript_context"]);
        assert_eq!(talk.calls[0].1["ref"], "selection");
        assert!(talk.answer.contains("% dialogue; Flesch reading ease"), "{}", talk.answer);
        assert!(
            talk.answer.contains("On stage: Mira Okafor (twice), Adrian Vale (once)."),
            "{}",
            talk.answer
        );
        assert!((2..=3).contains(&talk.quotes().len()), "{}", talk.answer);
    }

    #[tokio::test]
    async fn a_line_or_two_get_no_verdict_on_rhythm() {
        let asked = Asked { selection: Some("Mira waited. Vale did not."), ..asked() };
        let talk = talk(asked, "How does this passage read?").await;
        assert!(talk.answer.contains("5 words in 2 sentences"), "{}", talk.answer);
        assert!(!talk.answer.contains("Sentence lengths are"), "{}", talk.answer);
    }

    #[tokio::test]
    async fn every_board_member_looks_at_other_things_first() {
        let mut answers = std::collections::BTreeSet::new();
        for persona in [
            "developmental-editor",
            "character-psychologist",
            "continuity-editor",
            "worldbuilding-auditor",
            "first-time-reader",
            "writing-coach",
        ] {
            let asked = Asked { persona, current: Some("manuscript/01-post.md"), ..asked() };
            let talk = talk(asked, "What do you think of this chapter?").await;
            assert!(!talk.quotes().is_empty(), "{persona}: {}", talk.answer);
            answers.insert(talk.answer);
        }
        assert_eq!(answers.len(), 6);
    }

    #[tokio::test]
    async fn lists_times_and_chapters_are_looked_up() {
        let list = talk(asked(), "List all the characters").await;
        assert_eq!(list.calls, [("list_codex_entries".to_owned(), json!({ "entryType": "character" }))]);
        assert!(
            list.answer.contains("2 entries of type character") && list.answer.contains("**Mira Okafor**")
        );
        let when = talk(asked(), "When was the Silence?").await;
        assert_eq!(when.tools()[0], "get_event_context");
        assert!(when.answer.contains("Date: 2307-03-14"), "{}", when.answer);
        let chapter = talk(asked(), "What does chapter 2 say about Mira?").await;
        assert!(chapter.tools().contains(&"get_manuscript_context"));
        assert!(
            chapter.answer.contains("**Turnover**, chapter 2")
                && chapter.quotes().iter().any(|q| q.contains("dreamed of ice"))
        );
    }

    #[tokio::test]
    async fn a_role_asked_for_in_plain_words_is_proposed_and_nothing_else_changes() {
        let talk = talk(asked(), "Change Adrian's role to mentor.").await;
        assert_eq!(talk.tools(), ["get_character_context", "propose_codex_update"]);
        assert_eq!(talk.proposals[0].files[0].text(), VALE.replace("protagonist", "mentor"));
        assert!(talk.answer.contains("- Now: protagonist\n- Proposed: mentor"), "{}", talk.answer);
        assert!(talk.answer.contains("Nothing is written until you accept it."));
    }

    #[tokio::test]
    async fn an_alias_is_added_to_those_that_are_there() {
        let talk = talk(asked(), "Add the alias \"the Heron\" to Adrian").await;
        let proposed = talk.proposals[0].files[0].text();
        assert!(proposed.contains("[Adrian, the Captain, the Heron]"), "{proposed}");
        assert!(talk.answer.contains("- Proposed: Adrian, the Captain, the Heron"), "{}", talk.answer);
    }

    #[tokio::test]
    async fn a_new_entry_is_a_stub_with_a_quotation_and_never_a_second_one() {
        let new = talk(asked(), "Create a codex entry for Pell").await;
        assert_eq!(new.tools(), ["search_codex", "get_manuscript_context", "propose_codex_create"]);
        let proposed = new.proposals[0].files[0].text();
        assert!(proposed.contains("\"Old Pell had brewed beer there.\""), "{proposed}");
        let known = talk(asked(), "Create a character entry for Mira Okafor").await;
        assert_eq!((known.tools(), known.proposals.len()), (vec!["search_codex"], 0));
        assert!(known.answer.contains("has this already"), "{}", known.answer);
    }

    #[tokio::test]
    async fn names_without_an_entry_are_found_and_proposed_only_when_asked() {
        let listed = talk(asked(), "Who is missing from the Codex?").await;
        assert_eq!((listed.tools(), listed.proposals.len()), (vec!["get_manuscript_context"], 0));
        assert!(
            listed.answer.contains("**Pell**, 3 times")
                && listed.answer.contains("All 2 chapters were read."),
            "{}",
            listed.answer
        );
        assert_eq!(listed.quotes().len(), 1);
        let proposed = talk(asked(), "Propose an entry for whoever is missing from the Codex").await;
        assert_eq!(proposed.proposals[0].entry, "Pell");
    }

    #[tokio::test]
    async fn what_is_not_there_is_said() {
        let talk = talk(asked(), "Who is Zebulon Finch?").await;
        assert_eq!(talk.tools(), ["get_character_context"]);
        assert!(talk.answer.contains("The Codex has no character called Zebulon Finch"), "{}", talk.answer);
    }

    #[tokio::test]
    async fn work_for_a_model_is_not_taken_for_a_question() {
        for work in ["Change Adrian's summary to: a liar", "Please write a scene where Adrian drowns"] {
            let answer = talk(asked(), work).await.answer;
            assert!(answer.contains("more than the offline reader can do"), "{answer}");
        }
        let answer = talk(asked(), "Rename Adrian to Bertram").await.answer;
        assert!(answer.contains("`scritorio rename`"), "{answer}");
        for question in ["Who is Adrian?", "Add the alias Vale to Adrian", "Change Adrian's role to mentor"] {
            let answer = talk(asked(), question).await.answer;
            assert!(!answer.contains("more than"), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_required_or_named_tool_is_called_whatever_the_question() {
        for name in ["get_style_context", "search_codex", "list_codex_entries", "get_manuscript_context"] {
            let asked = Asked { choice: ToolChoice::Named(name.into()), ..asked() };
            let talk = talk(asked, "Who is Adrian?").await;
            assert_eq!(talk.tools()[0], name);
            assert!(talk.answer.contains("Adrian Vale"), "{name}: {}", talk.answer);
        }
        for question in ["Hello", "Who is Adrian?", "What do you think?"] {
            let registry = Arc::new(Registry::canon_only());
            let talk = talk(Asked { choice: ToolChoice::Required, registry, ..asked() }, question).await;
            assert!(!talk.calls.is_empty() && !talk.answer.is_empty(), "{question}");
        }
    }

    #[tokio::test]
    async fn without_tools_it_says_what_it_is_and_what_it_can_do() {
        let all: Vec<String> = REGISTRY.specs().map(|spec| spec.name.to_owned()).collect();
        let registry = Arc::new(Registry::advisor().without(&all));
        let talk = talk(Asked { registry, ..asked() }, "Who is Adrian?").await;
        assert_eq!(talk.calls, []);
        assert!(talk.answer.contains("no model") && talk.answer.contains("No tools are on offer"));
    }

    #[tokio::test]
    async fn a_cancelled_answer_stops_and_its_words_are_whole() {
        let asked = asked();
        let reader = OfflineReader::new(book(), Arc::clone(&REGISTRY), "");
        let request = request(&asked, "Hello");
        let (out, mut events) = unbounded_channel();
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let listener = tokio::spawn(async move {
            let first = events.recv().await;
            stop.cancel();
            (
                first,
                events.recv().await.is_none() || {
                    while events.recv().await.is_some() {}
                    true
                },
            )
        });
        reader
            .stream(Exchange { request: &request, out, cancel: cancel.clone(), witness: &() })
            .await
            .unwrap();
        let (first, _) = listener.await.unwrap();
        assert!(matches!(first, Some(Event::Text(_))));
        assert!(cancel.is_cancelled());
        assert_eq!(words("one  two\n\nthree").concat(), "one  two\n\nthree");
        assert_eq!(words("one  two\n\nthree").len(), 3);
    }

    proptest! {
        #[test]
        fn nothing_that_is_asked_or_returned_makes_it_fail(
            question in "(Who is |List |chapter |this |Adrian|Pell|role to |add alias |—|\\PC{0,6}| ){0,8}",
            output in "\\PC{0,40}|\\{\"found\":true,\"name\":\"\\PC{0,9}\",\"excerpt\":\"---\\\\n\\PC{0,9}\"\\}|\\{\"units\":\\[\\{\"text\":\"\\PC{0,30}\",\"path\":7\\}\\]\\}",
            tool in "get_character_context|get_manuscript_context|search_codex|propose_codex_update|x",
        ) {
            let mut request = request(&asked(), &question);
            let call_id = CallId::new("c");
            request.items.push(Item::Output { call_id, name: tool, output });
            let reader = OfflineReader::new(book(), Arc::clone(&REGISTRY), "writing-coach");
            prop_assert_eq!(reader.decide(&request), reader.decide(&request));
        }
    }
}
