//! What asking costs, what is shown before it is sent, and who can be asked: over real sockets, as scripts see it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on has failed"
)]

#[path = "support/book.rs"]
mod book;
#[path = "support/server.rs"]
mod server;

use book::{Folders, KEY, Ran, ran};
use serde_json::{Value, json};
use server::{Reply, Server};

/// One dollar for a million tokens in, two for a million out: an answer of the test server costs 100 + 20 millionths.
const PRICES: &str = "[prices.'gpt-5-mini']\ninput = 1\noutput = 2\nflex = { input = 0.5, output = 1 }\n";

const ONE_ANSWER: f64 = 0.000_12;

fn with_settings(settings: &str) -> Folders {
    let folders = Folders::new();
    folders.write("../config/config.toml", settings);
    folders
}

fn near(value: &Value, wanted: f64) {
    let got = value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    assert!((got - wanted).abs() < 1e-9, "{got} is not {wanted}");
}

fn looks_up_mira() -> Reply {
    Reply::Call("get_character_context", json!({ "name": "Mira" }))
}

/// Runs with a key for every provider that is used here.
fn run(folders: &Folders, arguments: &[&str]) -> Ran {
    let mut command = folders.command(arguments);
    ran(command.env("OPENAI_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY).env("OPENROUTER_API_KEY", KEY))
}

// Money

#[test]
fn every_response_is_priced_by_the_tier_that_was_given_and_summed_up_over_all_books() {
    let folders = with_settings(&(PRICES.to_owned() + "[options]\nservice_tier = 'flex'\n"));
    let server =
        Server::start(|n, _| if n % 2 == 0 { looks_up_mira() } else { Reply::Say("The signals officer.") });
    let turn = folders.run_at(&server.base, &["ask", "Who is she?", "--json"]).ok().json();
    assert_eq!((&turn["tier_asked"], &turn["tier"]), (&json!("flex"), &json!("default")));
    assert_eq!(server.received()[0].body["service_tier"], "flex");
    near(&turn["usage"]["cost"], 2.0 * ONE_ANSWER);
    let told = folders.run_at(&server.base, &["ask", "And now?"]).ok();
    assert!(told.err.contains("flex asked, default given") && told.err.contains("$0.0002"), "{}", told.err);
    let other = Folders::new();
    let spending = |folders: &Folders| {
        let mut command = other.command(&["doctor", "--json"]);
        let ran = ran(command.env("SCRITORIO_DATA_DIR", folders.root().join("data")));
        ran.ok().json()["spending"].clone()
    };
    let month = &spending(&folders)["month"];
    near(&month["dollars"], 4.0 * ONE_ANSWER);
    assert_eq!((&month["responses"], &month["unpriced"]), (&json!(4), &json!(0)));
}

/// A server somewhere else that nobody has a price of: the test's own stands for it as a proxy.
const FAR: &str = "[provider]\nname = 'far'\n[providers.far]\nbase_url = 'http://models.example/v1'\nwire = 'chat'\nmodel = 'm'\n";

fn run_far(folders: &Folders, server: &Server, arguments: &[&str]) -> Ran {
    let proxy = server.base.trim_end_matches("/v1");
    ran(folders.command(arguments).env("HTTP_PROXY", proxy))
}

fn month(folders: &Folders) -> Value {
    folders.run(&["doctor", "--json"]).ok().json()["spending"]["month"].clone()
}

#[test]
fn a_price_that_is_not_known_is_said_and_not_guessed() {
    let folders = with_settings(&format!("{FAR}[budget]\nwarn = 5\n"));
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let asked = run_far(&folders, &server, &["ask", "Is she?"]).ok();
    let said = ["price of m is not known", "[prices.\"m\"]", "100 tokens in, 10 tokens out, cost unknown"];
    assert!(said.iter().all(|words| asked.err.contains(words)), "{}", asked.err);
    let again = run_far(&folders, &server, &["ask", "Is she?", "--json", "--session", "last"]).ok().json();
    assert_eq!((&again["usage"]["cost"], &again["usage"]["unpriced"]), (&Value::Null, &json!(1)));
    let doctor = folders.run(&["doctor"]).ok();
    let said = "Spent this month: at least $0, and 2 requests of unknown cost (budget warns from $5.00)";
    assert!(doctor.out.contains(said), "{}", doctor.out);
    let sessions = folders.run(&["sessions", "list"]).ok();
    assert!(sessions.out.contains("220 tokens, cost unknown"), "{}", sessions.out);
    // From now on it is known: what was before is not.
    folders.write("../config/config.toml", &format!("{FAR}[prices.m]\ninput = 1\noutput = 2\n"));
    run_far(&folders, &server, &["ask", "Still?", "--session", "last"]).ok();
    let sessions = folders.run(&["sessions", "list"]).ok();
    assert!(sessions.out.contains("at least $0.0001; 2 requests of unknown cost"), "{}", sessions.out);
    assert_eq!(month(&folders)["unpriced"], 2);
    let report = folders.run(&["provenance", "report"]).ok();
    assert!(report.out.contains("2 requests of unknown cost"), "{}", report.out);
}

#[test]
fn a_budget_that_refuses_sends_nothing_of_unknown_cost_unless_that_is_allowed() {
    let folders = with_settings(&format!("{FAR}[budget]\nrefuse = 5\n"));
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let refused = run_far(&folders, &server, &["ask", "Is she?", "--json"]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    let error = refused.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("price of m is not known"), "{error}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("[prices.\"m\"]") && hint.contains("unknown = \"allow\""), "{hint}");
    assert!(server.received().is_empty(), "nothing was sent");
    folders.write("../config/config.toml", &format!("{FAR}[budget]\nrefuse = 5\nunknown = 'allow'\n"));
    let allowed = run_far(&folders, &server, &["ask", "Is she?"]).ok();
    assert!(allowed.err.contains("price of m is not known") && allowed.err.contains("cost unknown"));
    folders.write("../config/config.toml", "[budget]\nrefuse = 0.0001\n");
    folders.run_at(&server.base, &["ask", "Is she?"]).ok();
    assert_eq!(server.received().len(), 2, "a server on this machine costs nothing");
}

#[test]
fn a_budget_that_refuses_sends_nothing_where_what_was_spent_can_not_be_read() {
    let folders = with_settings(&format!("{PRICES}[budget]\nrefuse = 5\n"));
    let server = Server::start(|_, _| Reply::Say("Yes."));
    folders.run_at(&server.base, &["ask", "Is she?"]).ok();
    let spending = folders.root().join("data/spending");
    let file = std::fs::read_dir(&spending).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let refused = folders.run_at(&server.base, &["ask", "Is she?", "--json"]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    let error = refused.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains(&file.display().to_string()), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("unknown = \"allow\""), "{error}");
    assert_eq!(server.received().len(), 1, "nothing more was sent");
    let doctor = folders.run(&["doctor"]).ok();
    assert!(doctor.out.contains("Spent this month: at least $0"), "{}", doctor.out);
    assert!(doctor.out.contains("This file can't be read: "), "{}", doctor.out);
    assert!(!doctor.out.contains("No warnings"), "{}", doctor.out);
    let allows = format!("{PRICES}[budget]\nrefuse = 5\nunknown = 'allow'\n");
    folders.write("../config/config.toml", &allows);
    let allowed = folders.run_at(&server.base, &["ask", "Is she?"]);
    assert!(allowed.err.contains("The budget can't be checked: "), "{}", allowed.err);
    assert_eq!(server.received().len(), 2);
}

#[test]
fn answers_that_break_off_are_paid_for_by_an_estimate_until_the_budget_refuses() {
    let limits = "[options]\nmax_output_tokens = 100\n[budget]\nrefuse = 0.02\n";
    let folders = with_settings(&(PRICES.to_owned() + limits));
    let server = Server::start(|_, _| Reply::Break("She keeps the harbour books and "));
    let broken = folders.run_at(&server.base, &["ask", "Who is she?", "--json"]);
    assert_eq!(broken.code, 3, "{}", broken.err);
    let usage = broken.json()["usage"].clone();
    assert_eq!(usage["estimated"], true, "{usage}");
    let (input, output) = (usage["input_tokens"].as_f64().unwrap(), usage["output_tokens"].as_f64().unwrap());
    assert!(input > 1_000.0 && (5.0..10.0).contains(&output), "{usage}");
    near(&usage["cost"], (input + 2.0 * output) / 1e6);
    let again = folders.run_at(&server.base, &["ask", "Who is she?"]);
    assert!(again.err.contains("tokens in") && again.err.contains("about $0.0"), "{}", again.err);
    assert_eq!((&month(&folders)["responses"], &month(&folders)["estimated"]), (&json!(2), &json!(2)));
    let doctor = folders.run(&["doctor"]).ok();
    assert!(doctor.out.contains("Spent this month: about $0.0"), "{}", doctor.out);
    let mut asked = 2;
    while folders.run_at(&server.base, &["ask", "Who is she?"]).code == 3 {
        asked += 1;
        assert!(asked < 20, "a budget can be passed by answers that break off");
    }
    assert_eq!(server.received().len(), asked, "then nothing is sent any more");
}

#[test]
fn tokens_that_were_told_before_an_error_are_paid_for_as_told() {
    let folders = with_settings(&(PRICES.to_owned() + "[providers.openai]\nwire = 'chat'\n"));
    let server = Server::start(|_, _| {
        let chunks = [
            json!({ "choices": [{ "delta": { "content": "She " } }] }),
            json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 2 } }),
            json!({ "error": { "code": 500, "message": "out of memory" } }),
        ];
        let body = chunks.map(|chunk| format!("data: {chunk}\n\n")).concat();
        Reply::Bytes(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}").into())
    });
    let broken = folders.run_at(&server.base, &["ask", "Who?", "--json"]);
    assert_eq!(broken.code, 3, "{}", broken.err);
    let usage = &broken.json()["usage"];
    assert_eq!(
        (&usage["input_tokens"], &usage["output_tokens"], &usage["estimated"]),
        (&json!(7), &json!(2), &Value::Null)
    );
    near(&usage["cost"], (7.0 + 2.0 * 2.0) / 1e6);
    near(&month(&folders)["dollars"], (7.0 + 2.0 * 2.0) / 1e6);
}

#[cfg(unix)]
#[test]
fn an_answer_that_is_stopped_ends_with_what_it_cost_by_an_estimate() {
    let folders = with_settings(PRICES);
    let server = Server::start(|n, _| if n == 0 { Reply::Stall("She keeps the ") } else { Reply::Silence });
    let stop = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_scritorio"));
        command.env_clear().envs(folders.environment()).current_dir(folders.book());
        command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", &server.base);
        let piped = std::process::Stdio::piped;
        let child = command.args(["ask", "Who?"]).stdout(piped()).stderr(piped()).spawn().unwrap();
        server.wait();
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        String::from_utf8(output.stderr).unwrap()
    };
    for told in [stop(), stop()] {
        assert!(told.contains(" tokens in, ") && told.contains(", about $0.0"), "{told}");
    }
    assert_eq!((&month(&folders)["responses"], &month(&folders)["estimated"]), (&json!(2), &json!(2)));
}

#[test]
fn what_is_refused_at_the_door_costs_nothing() {
    let folders = with_settings(&(PRICES.to_owned() + "[network]\nretry_wait = 0.001\n"));
    let server = Server::start(|n, _| {
        let status = [401, 400, 429, 500][n.min(3)];
        Reply::Refuse(status, json!({ "error": { "message": "no", "code": "insufficient_quota" } }))
    });
    for _ in 0..4 {
        let refused = folders.run_at(&server.base, &["ask", "Who?", "--json"]);
        assert_eq!((refused.code, &refused.json()["usage"]["cost"]), (3, &Value::Null), "{}", refused.out);
    }
    let nobody = folders.run_at("http://127.0.0.1:1/v1", &["ask", "Who?"]);
    assert!(nobody.code == 3 && !nobody.err.contains("tokens in"), "{}", nobody.err);
    assert_eq!(month(&folders)["responses"], 0);
}

#[test]
fn an_answer_without_a_count_is_estimated_and_searches_of_the_web_are_charged() {
    let folders = with_settings(&(PRICES.to_owned() + "web_search = 10\n[options]\nweb_search = true\n"));
    let body = include_str!("captures/web_search.responses.sse");
    let uncounted = body.replace("\"usage\"", "\"no_usage\"");
    let server = Server::start(move |n, _| {
        let body = if n == 0 { body } else { &uncounted };
        Reply::Bytes(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}").into())
    });
    let counted = folders.run_at(&server.base, &["ask", "Where?", "--json"]).ok().json();
    near(&counted["usage"]["cost"], 0.01 + (5.0 + 2.0 * 2.0) / 1e6);
    assert_eq!(
        (&counted["usage"]["web_searches"], &counted["usage"]["estimated"]),
        (&json!(1), &Value::Null)
    );
    let estimated = folders.run_at(&server.base, &["ask", "Where?"]).ok();
    assert!(
        estimated.err.contains("about $0.0") && estimated.err.contains(" with 1 web search"),
        "{}",
        estimated.err
    );
    let spent = month(&folders);
    assert!(spent["dollars"].as_f64().unwrap() > 0.021, "{spent}");
}

#[test]
fn the_budget_warns_and_then_refuses_before_anything_is_sent() {
    let limits = "[options]\nmax_output_tokens = 100\n[budget]\nwarn = 0.0001\nrefuse = 0.02\n";
    let folders = with_settings(&(PRICES.to_owned() + limits));
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let first = folders.run_at(&server.base, &["ask", "Is she?"]).ok();
    assert!(first.err.contains("; $0 of $0.0200 this month."), "{}", first.err);
    assert!(first.err.contains("warning at $0.0001"), "{}", first.err);
    let sent = server.received().len();
    let tight = limits.replace("0.02", "0.0002");
    folders.write("../config/config.toml", &(PRICES.to_owned() + &tight));
    let refused = folders.run_at(&server.base, &["ask", "Is she still?", "--json"]);
    assert_eq!(refused.code, 1);
    assert_eq!(server.received().len(), sent, "nothing was sent");
    let error = refused.json()["error"].clone();
    assert_eq!(error["kind"], "work");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("Raise `refuse` under [budget]") && hint.contains("config.toml"), "{hint}");
    let session = refused.json()["session"].as_str().unwrap().to_owned();
    assert!(folders.read(&format!(".scritorio/sessions/{session}.jsonl")).contains("Is she still?"));
}

#[test]
fn a_question_of_many_rounds_stops_before_the_request_that_is_too_much() {
    let limits = "[options]\nmax_output_tokens = 16\n[budget]\nper_turn = 0.02\n";
    let folders = with_settings(&(PRICES.replace("input = 1\n", "input = 1\ncached_input = 1\n") + limits));
    let server = Server::start(|_, _| looks_up_mira());
    let ran = folders.run_at(&server.base, &["ask", "Who is she?", "--json", "--rounds", "12"]);
    let requests = server.received().len();
    assert_eq!(ran.code, 4, "cheap enough for all rounds: {}", ran.out);
    assert_eq!(requests, 13);
    let dear = PRICES.replace("output = 2", "output = 300");
    folders.write(
        "../config/config.toml",
        &(dear + "[options]\nmax_output_tokens = 16\n[budget]\nper_turn = 0.02\n"),
    );
    let ran = folders.run_at(&server.base, &["ask", "Who is she?", "--json", "--rounds", "12"]);
    let more = server.received().len() - requests;
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!((1..12).contains(&more), "{more}");
    let turn = ran.json();
    assert!(turn["error"]["message"].as_str().unwrap().contains("one question may cost"), "{turn:#}");
    assert_eq!(turn["tools"].as_array().unwrap().len(), more, "what was read stays");
}

// Peek

#[test]
fn what_is_shown_is_what_is_sent_byte_for_byte_on_every_wire() {
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let at = |name: &str| format!("[providers.{name}]\nbase_url = '{}'\nmodel = 'm'\n", server.base);
    let settings: String = ["openai", "openrouter", "ollama", "anthropic"].map(at).concat();
    let folders = with_settings(&settings);
    for provider in ["openai", "openrouter", "ollama", "anthropic"] {
        let question = "Is \u{201c}the lamp\u{201d} out?\nTell me \u{1f642}";
        let about = ["--chapter", "1", "--select-text", "It is out,", "--provider", provider];
        let peek =
            run(&folders, &[&["prompt", "--ask", question, "--json"], &about[..]].concat()).ok().json();
        run(&folders, &[&["ask", question], &about[..]].concat()).ok();
        let sent = server.received().pop().unwrap().raw;
        assert_eq!(peek["body"].to_string(), sent, "{provider}");
        let wire = match provider {
            "openai" => "responses",
            "openrouter" => "chat",
            own => own,
        };
        // Before the question, so that the conversation is the same: none.
        let body =
            run(&folders, &[&["prompt", "--ask", question, "--format", wire], &about[..]].concat()).ok();
        assert_eq!(body.out, sent, "{provider}");
        assert_eq!(peek["bytes"], sent.len());
        assert!(peek["tokens"].as_u64().unwrap() > 1_000 && peek["sent"] == true);
        assert!(!sent.contains("It is out"), "the selection goes only where a tool asks for it");
        assert!(peek["private"].as_str().unwrap().contains("3 words"), "{}", peek["private"]);
    }
}

/// The words of a body, each text that its server reads: what a model is told, without the system prompt, ids and tools.
fn words_of(body: &Value) -> String {
    fn leaves(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(all) => all.iter().for_each(|one| leaves(one, out)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    let is_word = ["content", "text", "output", "name", "function", "tool_calls"]
                        .contains(&name.as_str());
                    match name.as_str() {
                        "arguments" | "input" if value.is_object() => out.push(value.to_string()),
                        _ if is_word || name == "arguments" => leaves(value, out),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    let mut said = body.get("input").or_else(|| body.get("messages")).unwrap().clone();
    if let Value::Array(messages) = &mut said {
        messages.retain(|message| message["role"] != "system");
    }
    let mut out = vec![];
    leaves(&said, &mut out);
    out.concat()
}

/// A text without the labels that tell who speaks, and without white space.
fn bare(text: &str) -> String {
    let labels = [
        "User: ",
        "Assistant: ",
        "Call: ",
        "Output of get_character_context: ",
        "Output of get_character_context:",
    ];
    let text = labels.iter().fold(text.to_owned(), |text, label| text.replace(label, ""));
    text.split_whitespace().collect()
}

#[test]
fn the_words_that_are_shown_and_counted_are_those_of_the_body_on_every_wire() {
    let server =
        Server::start(|n, _| if n % 2 == 0 { looks_up_mira() } else { Reply::Say("The signals officer.") });
    let at = |name: &str, more: &str| {
        format!("[providers.{name}]\nbase_url = '{}'\nmodel = 'm'\n{more}", server.base)
    };
    // One that keeps conversations, one of the same API that does not, and the three others.
    let settings = at("openai", "")
        + &at("keeps-nothing", "wire = 'responses'\n")
        + &["openrouter", "ollama", "anthropic"].map(|name| at(name, "")).concat();
    let folders = with_settings(&settings);
    for provider in ["openai", "keeps-nothing", "openrouter", "ollama", "anthropic"] {
        let about = ["--provider", provider, "--chapter", "1"];
        run(&folders, &[&["ask", "Who is she?"], &about[..]].concat()).ok();
        let looked_up = server.received().pop().unwrap().body.to_string();
        assert!(looked_up.contains("The signals officer."), "{provider}: {looked_up}");
        let question = ["--session", "last", "--provider", provider];
        let show = |more: &[&str]| {
            run(&folders, &[&["prompt", "--ask", "And what does she want?"], &question[..], more].concat())
                .ok()
        };
        let peek = show(&["--json"]).json();
        let (shown, body) = (peek["input"].as_str().unwrap(), &peek["body"]);
        assert_eq!(bare(shown), bare(&words_of(body)), "{provider}: {body:#}");
        assert!(show(&[]).out.contains(shown), "{provider}");
        let tells = body.to_string().contains("get_character_context\",\"arguments")
            || body.to_string().contains("tool_use");
        assert_eq!(shown.contains("Output of get_character_context"), tells, "{provider}: {shown}");
        assert_eq!(tells, !["openai", "keeps-nothing"].contains(&provider), "{provider}: {body:#}");
        // The same tokens stand in the ledger.
        let requests = server.received().len();
        run(&folders, &[&["ask", "And what does she want?"], &question[..]].concat()).ok();
        assert_eq!(server.received()[requests].raw, body.to_string(), "{provider}");
        let (_, ledger) = folders
            .files()
            .into_iter()
            .find(|(path, _)| path.to_string_lossy().contains("book/.scritorio/ledger"))
            .unwrap();
        let lines = String::from_utf8(ledger).unwrap();
        let noted: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let sha = server::bodies::sha256(&body.to_string());
        let line = noted.iter().find(|line| line.to_string().contains(&sha)).unwrap();
        assert!(line.to_string().contains(&format!("\"tokens\":{}", peek["tokens"])), "{provider}: {line}");
    }
}

#[test]
fn a_budget_counts_nothing_that_an_earlier_turn_looked_up_and_that_is_not_sent_again() {
    let settings = |limits: &str| {
        let server = "[provider]\nname = 'keeps-nothing'\n[providers.keeps-nothing]\nwire = 'responses'\nmodel = 'm'\n";
        format!(
            "{server}base_url = 'BASE'\n[prices.m]\ninput = 1\noutput = 2\n[options]\nmax_output_tokens = 16\n{limits}"
        )
    };
    let server = Server::start(|n, _| {
        let all = json!({ "ref": "1", "refs": null, "startParagraph": null });
        if n == 0 { Reply::Call("get_manuscript_context", all) } else { Reply::Say("It is long.") }
    });
    let folders = with_settings(&settings("").replace("BASE", &server.base));
    folders.write(
        "manuscript/01-the-lamp.md",
        &format!("# The Lamp\n\n{}\n", "She noticed the lamp.\n\n".repeat(1_500)),
    );
    run(&folders, &["ask", "Is it long?"]).ok();
    let read = server.received()[1].body.to_string();
    assert!(
        read.matches("She noticed the lamp.").count() > 150,
        "{}",
        &read[read.len().saturating_sub(1_500)..]
    );
    let peek = run(&folders, &["prompt", "--ask", "And good?", "--session", "last", "--json"]).ok().json();
    let tokens = peek["tokens"].as_f64().unwrap();
    assert!(tokens < 12_000.0, "{tokens}");
    let most = (tokens + 100.0) / 1e6;
    folders.write(
        "../config/config.toml",
        &settings(&format!("[budget]\nper_turn = {most}\n")).replace("BASE", &server.base),
    );
    run(&folders, &["ask", "And good?", "--session", "last"]).ok();
    assert!(!server.received()[2].body.to_string().contains("noticed the lamp"), "it is not sent again");
}

#[test]
fn with_the_offline_reader_the_view_says_that_nothing_is_sent() {
    let ran = Folders::new().run(&["prompt", "--ask", "Who is Mira?"]).ok();
    assert!(
        ran.out.starts_with("Nothing is sent: the offline reader answers inside this program."),
        "{}",
        ran.out
    );
    assert!(!ran.out.contains("Whole request"), "{}", ran.out);
}

// Models and providers

#[test]
fn models_are_listed_with_what_the_server_and_the_lists_say_of_them() {
    let server = Server::start(|_, _| {
        Reply::Refuse(
            200,
            json!({ "object": "list", "data": [
                { "id": "text-embedding-x", "object": "model" },
                { "id": "vendor/large", "context_length": 200_000, "pricing": { "prompt": "0.000003", "completion": "0.000015" }, "supported_parameters": ["tools"] },
                { "id": "m", "object": "model" },
            ] }),
        )
    });
    let at = format!("[providers.openrouter]\nbase_url = '{}'\nmodel = 'm'\n", server.base);
    let folders = with_settings(&(at + "[prices.m]\ninput = 0.5\noutput = 1\n"));
    let list = run(&folders, &["models", "--provider", "openrouter", "--json"]).ok().json();
    let request = &server.received()[0];
    assert!(request.head.starts_with("GET /v1/models ") && request.head.contains(KEY), "{}", request.head);
    let ids: Vec<_> = list["models"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["vendor/large", "m", "text-embedding-x"], "what answers questions comes first");
    let large = &list["models"][0];
    assert_eq!((&large["context"], &large["tools"]), (&json!(200_000), &json!(true)));
    near(&large["prices"]["standard"]["output"], 15.0);
    assert_eq!(large["prices"]["source"]["by"], "server");
    assert_eq!(
        (&list["models"][1]["prices"]["source"]["by"], &list["models"][1]["chosen"]),
        (&json!("author"), &json!(true))
    );
    let table = run(&folders, &["models", "--provider", "openrouter"]).ok();
    assert!(table.out.contains("vendor/large") && !table.out.contains("embedding"), "{}", table.out);
    // From then on the price is known without asking.
    let peek =
        run(&folders, &["prompt", "--ask", "Who?", "--provider", "openrouter", "--model", "vendor/large"])
            .ok();
    assert!(
        peek.out.contains("Cost: up to about $0.") && peek.out.contains("the server, 20"),
        "{}",
        peek.out
    );
}

#[test]
fn a_server_without_a_list_of_models_is_told_in_words() {
    let server = Server::start(|_, _| Reply::Refuse(404, json!({ "error": "not found" })));
    let folders = with_settings(&format!("[providers.openrouter]\nbase_url = '{}'\n", server.base));
    let ran = run(&folders, &["models", "--provider", "openrouter", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["kind"]), (3, &json!("provider")));
    let ran = run(&folders, &["models", "--provider", "offline"]);
    assert!(ran.code == 1 && ran.err.contains("The offline reader is no model"), "{}", ran.err);
}

#[test]
fn providers_say_what_they_are_and_what_they_need() {
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let box_ = format!("[providers.my-box]\nbase_url = '{}'\nwire = 'chat'\nmodel = 'm'\n", server.base);
    let folders = with_settings(&(box_ + "[providers.far]\nwire = 'chat'\n"));
    let rows = run(&folders, &["providers", "--json"]).ok().json();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap().clone();
    let openai = row("openai");
    assert_eq!((&openai["key"]["source"], &openai["configured"]), (&json!("environment"), &json!(true)));
    assert_eq!((&openai["wire"], &openai["is_local"]), (&json!("responses"), &json!(false)));
    let mine = row("my-box");
    assert_eq!(
        (&mine["listens"], &mine["wire"], &mine["configured"]),
        (&json!(true), &json!("chat"), &json!(true))
    );
    assert_eq!(row("groq")["next"], "Put its key into the environment variable GROQ_API_KEY.");
    // Nobody can say without asking whether such a bus leads to a keychain.
    let mut command = folders.command(&["providers"]);
    command.env_remove("SCRITORIO_KEYCHAIN").env("DBUS_SESSION_BUS_ADDRESS", "unix:abstract=/nobody");
    let text = ran(&mut command).ok().out;
    assert!(text.contains("Next: `scritorio keys set groq`, or the variable GROQ_API_KEY."), "{text}");
    assert!(row("far")["next"].as_str().unwrap().contains("base_url"), "{}", row("far"));
    assert_eq!(row("offline")["address"], Value::Null);
    let text = run(&folders, &["providers"]).ok();
    assert!(
        text.out.contains("my-box (my-box): ready, m\n    speaks chat, http://127.0.0.1"),
        "{}",
        text.out
    );
    assert!(!text.out.contains("null") && !text.out.contains(KEY), "{}", text.out);
    assert!(server.received().is_empty(), "looking asks no model");
    let nowhere = tempfile::tempdir().unwrap();
    let anywhere = ran(folders.command(&["providers", "--json"]).current_dir(nowhere.path()));
    assert!(anywhere.ok().json().as_array().unwrap().len() > 10, "no book is needed");
}

#[test]
fn a_check_is_one_cheap_call_that_tells_what_works_and_what_to_do() {
    let server = Server::start(|n, _| match n {
        0 => Reply::Call("ready", json!({})),
        1 => Reply::Say("I am ready."),
        _ => Reply::Refuse(
            401,
            json!({ "error": { "message": format!("Incorrect API key: {KEY}"), "code": "invalid_api_key" } }),
        ),
    });
    let folders =
        with_settings(&format!("[providers.openrouter]\nbase_url = '{}'\nmodel = 'm'\n", server.base));
    let check = |more: &[&str]| run(&folders, &[&["providers", "--check", "openrouter"], more].concat());
    let good = check(&["--json"]).ok().json();
    assert_eq!(
        (&good["answered"], &good["tools"], &good["model"]),
        (&json!(true), &json!(true), &json!("m"))
    );
    assert!(good["next"].as_str().unwrap().starts_with("It works."), "{good:#}");
    let body = &server.received()[0].body;
    assert_eq!((&body["max_tokens"], body["tools"].as_array().unwrap().len()), (&json!(16), 1));
    assert!(!body.to_string().contains("Mira"), "no word of the book goes there");
    let words = check(&[]).ok();
    assert!(
        words.out.contains("Tools: not called") && words.out.contains("Next: It answers, but"),
        "{}",
        words.out
    );
    let bad = check(&[]);
    assert_eq!(bad.code, 3);
    assert!(bad.out.contains("Failed: ") && bad.out.contains("Next: "), "{}", bad.out);
    assert!(!bad.out.contains(KEY) && !bad.err.contains(KEY), "{}{}", bad.out, bad.err);
    assert_eq!(run(&folders, &["providers", "--check", "offline"]).code, 1);
}

#[test]
fn a_check_asks_the_budget_before_it_sends() {
    let server = Server::start(|n, body| match n {
        // Refuses the tool alone.
        0 => Reply::Refuse(400, json!({ "error": { "message": "This model does not support tools." } })),
        _ if body.get("tools").is_some() => Reply::Refuse(400, json!({ "error": { "message": "no" } })),
        _ => Reply::Say("Ready."),
    });
    let folders = with_settings(&(PRICES.to_owned() + "[budget]\nrefuse = 0.00001\n"));
    let check =
        |folders: &Folders| folders.run_at(&server.base, &["providers", "--check", "openai", "--json"]);
    let refused = check(&folders);
    assert_eq!(refused.code, 1, "{}{}", refused.out, refused.err);
    let error = refused.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("Nothing was sent."), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("Raise `refuse` under [budget]"), "{error}");
    assert!(server.received().is_empty(), "nothing was sent");
    assert_eq!(month(&folders)["responses"], 0);
    folders.write("../config/config.toml", &(PRICES.to_owned() + "[budget]\nrefuse = 1\n"));
    let checked = check(&folders).ok().json();
    assert_eq!((&checked["answered"], &checked["inline"]), (&json!(true), &json!(true)), "{checked:#}");
    assert_eq!(server.received().len(), 2);
    near(&month(&folders)["dollars"], ONE_ANSWER);
    // A check of unknown cost is refused like a question of unknown cost.
    folders.write("../config/config.toml", &format!("{FAR}[budget]\nrefuse = 5\n"));
    let unknown = run_far(&folders, &server, &["providers", "--check", "far"]);
    assert!(unknown.code == 1 && unknown.err.contains("price of m is not known"), "{}", unknown.err);
    assert_eq!(server.received().len(), 2);
}

#[test]
fn a_check_that_breaks_off_is_in_the_month() {
    let server = Server::start(|_, _| Reply::Break("I am re"));
    let folders = with_settings(PRICES);
    let broken = folders.run_at(&server.base, &["providers", "--check", "openai"]);
    assert_eq!(broken.code, 3, "{}", broken.out);
    let spent = month(&folders);
    assert_eq!((&spent["responses"], &spent["estimated"]), (&json!(1), &json!(1)), "{spent}");
    assert!(spent["dollars"].as_f64().unwrap() > 0.00001, "{spent}");
}

#[test]
fn the_doctor_says_what_to_do_next() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let folders =
        with_settings(&format!("[providers.llamacpp]\nbase_url = 'http://{nobody}/v1'\nmodel = 'm'\n"));
    let of = |provider: &str| {
        let mut command = folders.command(&["doctor"]);
        ran(command.env("SCRITORIO_PROVIDER", provider)).ok().out
    };
    let keyless = of("openai");
    assert!(
        keyless.contains("Provider openai (chosen): ")
            && keyless.contains("\n  Next: Put its key into the environment variable OPENAI_API_KEY.\n")
            && !keyless.contains("No warnings."),
        "{keyless}"
    );
    let nameless = of("azure");
    assert!(!nameless.contains("takes no connection"), "there is no address: {nameless}");
    let stopped = of("llamacpp");
    assert!(stopped.contains("takes no connection\n  Next: Start llama.cpp"), "{stopped}");
    let well = of("offline");
    assert!(!well.contains("Next:") && well.contains("No warnings."), "{well}");
}

#[test]
fn the_doctor_warns_of_vectors_that_nobody_makes() {
    let folders = with_settings("\n[search]\nembeddings = 'small'\n");
    let doctor = |provider: &str| {
        let mut command = folders.command(&["doctor", "--json"]);
        let report = ran(command.env("SCRITORIO_PROVIDER", provider)).ok().json();
        report["warnings"].as_array().unwrap().clone()
    };
    let warnings = doctor("ollama");
    assert_eq!((&warnings[0]["path"], &warnings[0]["line"]), (&json!("config.toml"), &json!(3)));
    let said = warnings[0]["message"].as_str().unwrap();
    assert!(said.contains("`embeddings` does nothing while ollama answers"), "{said}");
    assert!(doctor("openai").is_empty());
    let shown = ran(folders.command(&["doctor"]).env("SCRITORIO_PROVIDER", "openai")).ok().out;
    assert!(shown.contains("Note: Searching by meaning is on."), "{shown}");
    assert!(shown.contains("Folder of data: "), "{shown}");
}

#[test]
fn the_doctor_speaks_an_authors_language() {
    let doctor = Folders::new().run(&["doctor"]).ok();
    assert!(!doctor.out.contains("null") && !doctor.out.contains("base_url"), "{}", doctor.out);
    assert!(doctor.out.contains("Setting base url: the provider's own (default)"), "{}", doctor.out);
    assert!(doctor.out.contains("Spent this month: $0 (no budget)"), "{}", doctor.out);
}

// Secrets

#[test]
fn a_key_turns_up_nowhere_whatever_happens() {
    let echo = json!({ "error": { "message": format!("Incorrect API key provided: {KEY}."), "type": "x", "code": KEY } });
    let server = Server::start(move |n, _| match n {
        0 | 1 => Reply::Refuse(401, echo.clone()),
        2 => Reply::Refuse(500, echo.clone()),
        _ => Reply::Say("Yes."),
    });
    let folders = with_settings(&(PRICES.to_owned() + "[budget]\nwarn = 0.0001\n"));
    for arguments in [
        &["ask", "Are you there?", "--debug"][..],
        &["models", "--debug"],
        &["providers", "--check", "openai", "--json", "--debug"],
        &["ask", "And now?", "--json", "--debug"],
        &["prompt", "--ask", "Who?", "--json"],
        &["prompt", "--ask", "Who?"],
        &["providers"],
        &["keys", "status", "--json"],
        &["keys", "delete", "openai", "--debug"],
        &["doctor", "--json"],
    ] {
        let mut command = folders.command(arguments);
        command.env("OPENAI_API_KEY", format!(" {KEY}\n")).env("OPENAI_BASE_URL", &server.base);
        let ran = ran(command.env("RUST_BACKTRACE", "1"));
        assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{arguments:?}: {}{}", ran.out, ran.err);
    }
    assert!(server.received().iter().all(|request| request.head.contains(KEY)), "it was sent, trimmed");
    for (path, bytes) in folders.files() {
        assert!(!String::from_utf8_lossy(&bytes).contains(KEY), "{}", path.display());
    }
}
