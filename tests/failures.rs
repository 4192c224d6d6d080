//! Everything that goes wrong between the program and a server, played over real sockets. Whatever it is: the author's text and question are
//! intact, the message says what to do, the next turn works, and no word of the failed answer is in it.
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

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;

use book::{Folders, KEY, Ran, ran};
use scritorio::domain::ids::SessionId;
use scritorio::workbench::{Ask, Overrides, Surroundings, Workbench};
use serde_json::{Value, json};
use server::{Reply, Server};

/// Waits between attempts that nobody notices. Limits are short only where one of them is what is tested.
const LIMITS: &str = "[network]\nretry_wait = 0.001\n";

const QUESTION: &str = "Does the xylophone keep the lamp?";

/// An author, a book, and what goes wrong when she asks.
struct Trouble {
    folders: Folders,
    before: BTreeMap<PathBuf, Vec<u8>>,
}

impl Trouble {
    fn new() -> Self {
        Self::with(LIMITS)
    }

    fn with(settings: &str) -> Self {
        let folders = Folders::new();
        folders.write("../config/config.toml", settings);
        let before = folders.files();
        Self { folders, before }
    }

    /// Asks at a server, with more options and variables.
    fn ask(&self, base: &str, options: &[&str], variables: &[(&str, &str)]) -> Ran {
        let mut command = self.folders.command(&[&["ask", QUESTION, "--json"], options].concat());
        command.env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", base).envs(variables.iter().copied());
        ran(&mut command)
    }

    /// Asks, and checks that it fails with these words in message and hint, and that nothing is lost.
    #[track_caller]
    fn fails(&self, ran: &Ran, partial: &str, said: &[&str]) -> String {
        assert_eq!(ran.code, 3, "{}{}", ran.out, ran.err);
        let turn = ran.json();
        let told = format!(
            "{} {}",
            turn["error"]["message"].as_str().unwrap(),
            turn["error"]["hint"].as_str().unwrap()
        );
        for words in said {
            assert!(told.contains(words), "{words:?} is not in: {told}");
        }
        assert!(!told.contains(KEY) && !ran.err.contains(KEY), "{told}");
        assert_eq!(
            (turn["answer"].as_str(), turn["error"]["kind"].as_str()),
            (Some(partial), Some("provider"))
        );
        assert_eq!(turn["cut_off"], !partial.is_empty());
        let session = turn["session"].as_str().unwrap().to_owned();
        assert!(told.contains(&session), "where the question is kept: {told}");
        let kept = self.folders.read(&format!(".scritorio/sessions/{session}.jsonl"));
        assert!(kept.contains(QUESTION) && kept.contains("\"state\":\"failed\""), "{kept}");
        self.next_turn_works(&session, partial);
        session
    }

    /// The text is as it was, and the next question is answered, without a word of what failed.
    #[track_caller]
    fn next_turn_works(&self, session: &str, partial: &str) {
        let after = self.folders.files();
        for (path, bytes) in &self.before {
            assert_eq!(after.get(path), Some(bytes), "{}", path.display());
        }
        self.folders.write("../config/config.toml", "");
        let good = Server::start(|_, _| Reply::Say("All is well."));
        let next = self.folders.run_at(&good.base, &["ask", "And now?", "--session", session, "--json"]).ok();
        assert_eq!(next.json()["answer"], "All is well.");
        let body = good.received()[0].body.to_string();
        assert!(body.contains("And now?") && !body.contains("xylophone"), "{body}");
        assert!(partial.is_empty() || !body.contains(partial), "{body}");
    }
}

/// A server that gives these replies, then answers well.
fn replies(replies: Vec<Reply>) -> Server {
    let replies = std::cell::RefCell::new(replies.into_iter());
    Server::start(move |_, _| replies.borrow_mut().next().unwrap_or(Reply::Say("It does.")))
}

fn always(reply: impl Fn() -> Reply + Send + 'static) -> Server {
    Server::start(move |_, _| reply())
}

/// A refusal with further header lines, each with its line end.
fn refused(status: u16, head: &str, body: &Value) -> Reply {
    let body = body.to_string();
    let length = body.len();
    Reply::Bytes(
        format!("HTTP/1.1 {status} No\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{head}connection: close\r\n\r\n{body}")
            .into_bytes(),
    )
}

fn error(code: &str, message: &str) -> Value {
    json!({ "error": { "message": message, "type": "x", "code": code } })
}

fn page(status: &str, html: &str) -> Reply {
    Reply::Bytes(format!("HTTP/1.1 {status}\r\ncontent-type: text/html\r\n\r\n{html}").into_bytes())
}

/// An address where nobody listens.
fn nowhere() -> String {
    format!("127.0.0.1:{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port())
}

/// Takes connections, and does this with each.
fn listener(act: impl Fn(std::net::TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || listener.incoming().for_each(|stream| act(stream.unwrap())));
    address
}

#[test]
fn a_local_server_that_does_not_run_is_told_at_once_and_the_offline_reader_is_named() {
    let trouble = Trouble::new();
    let ran = trouble.ask(&format!("http://{}/v1", nowhere()), &[], &[]);
    assert!(!ran.err.contains("again:"), "{}", ran.err);
    trouble.fails(&ran, "", &["connection was refused", "Start the server", "--provider offline"]);
}

#[test]
fn a_question_that_could_not_be_kept_is_not_said_to_be_kept() {
    let folders = Folders::new();
    folders.write(".scritorio", "a file, where the folder would be");
    let server = always(|| Reply::Say("It does."));
    let refused = folders.run_at(&server.base, &["ask", QUESTION, "--json"]);
    assert!(refused.err.contains("could not be kept"), "{}", refused.err);
    let turn = refused.json();
    let hint = turn["error"]["hint"].as_str().unwrap();
    assert!(!hint.is_empty() && !hint.contains("kept in the conversation"), "{hint}");
    assert!(server.received().is_empty());
}

#[test]
fn a_turn_that_can_only_not_be_recorded_is_kept_and_told_as_that() {
    let folders = Folders::new();
    folders.write("../data/machine.key/in-the-way", "");
    let server = always(|| Reply::Say("It does."));
    let first = folders.run_at(&server.base, &["ask", QUESTION]).ok();
    assert!(first.err.contains("This turn is kept, and could not be recorded"), "{}", first.err);
    assert!(first.err.contains("machine.key"), "{}", first.err);
    folders.run_at(&server.base, &["ask", QUESTION, "--session", "last"]).ok();
    let listed = folders.run(&["sessions", "list", "--json"]).ok().json();
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["questions"]), (1, &json!(2)), "{listed}");
}

#[test]
fn a_connection_that_is_reset_is_tried_again_a_few_times() {
    let trouble = Trouble::new();
    // What closes with bytes unread resets the connection.
    let resets = listener(|mut stream| drop(stream.read(&mut [0; 16])));
    let ran = trouble.ask(&format!("http://{resets}/v1"), &[], &[]);
    assert_eq!(ran.err.matches("again:").count(), 3, "{}", ran.err);
    trouble.fails(&ran, "", &["ended the connection", "asked 4 times", "Send again"]);
}

#[test]
fn a_server_that_never_begins_is_given_up_after_its_time() {
    let trouble = Trouble::with("[network]\nfirst_byte = 0.25\n");
    let server = always(|| Reply::Silence);
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(
        &ran,
        "",
        &["sent nothing for 250 milliseconds", "choose another tier or model", "first_byte"],
    );
    assert_eq!(server.received().len(), 1, "it may be at work on it");
}

#[test]
fn a_server_that_stops_in_the_middle_is_given_up_and_its_words_are_kept() {
    let trouble = Trouble::with("[network]\nidle = 0.25\n");
    let server = always(|| Reply::Stall("Half a quagmire [[locate:It is"));
    let ran = trouble.ask(&server.base, &[], &[]);
    let said = ["stopped in the middle", "What had arrived is kept", "part of the answer"];
    trouble.fails(&ran, "Half a quagmire", &said);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_server_that_asks_for_a_short_wait_gets_it_and_then_answers() {
    for (head, is_asked) in [("retry-after: 0\r\n", false), ("retry-after-ms: 2\r\n", true), ("", false)] {
        let trouble = Trouble::new();
        let server = replies(vec![refused(429, head, &error("rate_limit_exceeded", "Slow down."))]);
        let ran = trouble.ask(&server.base, &[], &[]).ok();
        assert_eq!(ran.json()["answer"], "It does.");
        let told = "takes no more requests for now (429): Slow down.";
        assert!(ran.err.contains(told) && ran.err.contains("attempt 2 of 4"), "{}", ran.err);
        assert_eq!(ran.err.contains("as the server asks"), is_asked, "{}", ran.err);
        let bodies: Vec<_> = server.received().into_iter().map(|r| r.body).collect();
        assert_eq!((bodies.len(), &bodies[0]), (2, &bodies[1]));
    }
}

#[test]
fn a_server_that_asks_for_a_long_wait_is_not_waited_for() {
    let date = "date: Wed, 21 Oct 2015 07:28:00 GMT\r\nretry-after: Wed, 21 Oct 2015 07:58:00 GMT\r\n";
    for (head, minutes) in [("retry-after: 600\r\n", "10 minutes"), (date, "30 minutes")] {
        let trouble = Trouble::new();
        let server = always(move || refused(429, head, &error("rate_limit_exceeded", "Slow down.")));
        let ran = trouble.ask(&server.base, &[], &[]);
        trouble.fails(&ran, "", &["takes no more requests", "asks to wait", minutes]);
        assert_eq!(server.received().len(), 1);
    }
}

#[test]
fn a_server_that_never_has_room_is_given_up() {
    let trouble = Trouble::new();
    let server = always(|| refused(429, "", &error("rate_limit_exceeded", "Slow down.")));
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "", &["takes no more requests", "asked 4 times", "Wait a little"]);
    assert_eq!(server.received().len(), 4);
}

#[test]
fn a_server_that_fails_once_answers_the_second_time() {
    let trouble = Trouble::new();
    let server = replies(vec![refused(500, "", &error("server_error", "Oops."))]);
    let ran = trouble.ask(&server.base, &["--stream"], &[]).ok();
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let retry = lines.iter().find(|line| line["event"] == "retry").unwrap();
    assert_eq!((&retry["attempt"], retry["wait_ms"].as_u64() <= Some(1)), (&json!(2), true));
    assert_eq!(lines.last().unwrap()["answer"], "It does.");
}

#[test]
fn a_server_that_always_fails_is_given_up() {
    let trouble = Trouble::new();
    let server = always(|| refused(500, "", &error("server_error", "Oops.")));
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "", &["failed (500): Oops. It was asked 4 times.", "trouble is at the server"]);
    assert_eq!(server.received().len(), 4);
}

#[test]
fn an_answer_that_breaks_off_is_kept_and_never_asked_for_twice() {
    let trouble = Trouble::new();
    let server = always(|| Reply::Break("Half a quagmire"));
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "Half a quagmire", &["before the answer was complete", "What had arrived is kept"]);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn what_is_no_answer_at_all_is_called_so() {
    let garbage = || {
        let body = "data: {broken\n\ndata: 7\n\nnonsense\n\n\u{0}\u{1b}[2J";
        Reply::Bytes(format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n{body}").into_bytes())
    };
    let json =
        || Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{\"hello\":1}".to_vec());
    let nonsense = || Reply::Bytes(b"SSH-2.0-OpenSSH_9.9\r\n".to_vec());
    for (server, said, asked) in [
        (always(garbage), "before the answer was complete", 4),
        (always(json), "not an answer", 1),
        (always(nonsense), "ended the connection", 4),
    ] {
        let trouble = Trouble::new();
        let ran = trouble.ask(&server.base, &[], &[]);
        assert!(!ran.err.contains('\u{1b}'));
        trouble.fails(&ran, "", &[said]);
        assert_eq!(server.received().len(), asked);
    }
}

#[test]
fn an_account_without_credit_is_never_asked_twice() {
    for (status, code) in [
        (429, "insufficient_quota"),
        (429, "credit_balance_exhausted"),
        (429, "project_spend_limit_exceeded"),
        (402, "payment_required"),
    ] {
        let trouble = Trouble::new();
        let server = always(move || refused(status, "retry-after: 1\r\n", &error(code, "No.")));
        let ran = trouble.ask(&server.base, &[], &[]);
        trouble.fails(&ran, "", &["no credit left", "billing page; waiting does not help"]);
        assert_eq!(server.received().len(), 1, "{code}");
    }
}

#[test]
fn flex_without_room_becomes_the_default_tier_once() {
    let openai = || refused(429, "", &error("resource_unavailable", "Resource Unavailable"));
    let groq = || refused(498, "", &error("capacity_exceeded", "Flex tier capacity exceeded"));
    for full in [openai as fn() -> Reply, groq] {
        let trouble = Trouble::new();
        let server = replies(vec![full()]);
        let ran = trouble.ask(&server.base, &["--tier", "flex"], &[]).ok();
        assert!(ran.err.contains("no flex capacity now: asking on the default tier"), "{}", ran.err);
        let tiers: Vec<_> = server.received().iter().map(|r| r.body["service_tier"].clone()).collect();
        assert_eq!(tiers, ["flex", "auto"]);
        assert_eq!(ran.json()["tier"], "default");
        let server = always(full);
        let ran = trouble.ask(&server.base, &["--tier", "flex"], &[]);
        trouble.fails(&ran, "", &["no capacity on this tier now", "another service tier"]);
    }
}

#[test]
fn a_key_that_has_expired_is_told_with_how_to_set_another() {
    let trouble = Trouble::new();
    let server =
        always(|| refused(401, "", &error("invalid_api_key", &format!("Your key {KEY} has expired."))));
    let ran = trouble.ask(&server.base, &[], &[]);
    let said =
        ["did not accept the key (401)", "[redacted] has expired", "keys set openai", "OPENAI_API_KEY"];
    trouble.fails(&ran, "", &said);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_model_that_is_not_there_is_named_with_how_to_choose_another() {
    let trouble = Trouble::new();
    let server = always(|| refused(404, "", &error("model_not_found", "No such model.")));
    let ran = trouble.ask(&server.base, &["--model", "gpt-zero"], &[]);
    trouble.fails(&ran, "", &["no model `gpt-zero` for you", "--model NAME"]);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_conversation_that_is_too_long_is_asked_without_its_oldest_turns() {
    let trouble = Trouble::new();
    let server = Server::start(|_, body| {
        let body = body.to_string();
        if body.contains("first-words") && body.contains("third-words") {
            let message = "This model's maximum context length is 8192 tokens.";
            Reply::Refuse(400, error("context_length_exceeded", message))
        } else {
            Reply::Say("Noted.")
        }
    });
    let store = format!("{LIMITS}[options]\nstore = false\n");
    trouble.folders.write("../config/config.toml", &store);
    let first = trouble.folders.run_at(&server.base, &["ask", "first-words", "--json"]).ok().json();
    let session = first["session"].as_str().unwrap();
    trouble.folders.run_at(&server.base, &["ask", "second-words", "--session", session]).ok();
    let ran = trouble.folders.run_at(&server.base, &["ask", "third-words", "--session", session]).ok();
    assert_eq!(ran.out, "Noted.\n");
    assert!(ran.err.contains("the oldest of 2 earlier turns is left out for this question"), "{}", ran.err);
    let last = server.received().last().unwrap().body.to_string();
    assert!(!last.contains("first-words") && last.contains("second-words") && last.contains("third-words"));
    let kept = trouble.folders.read(&format!(".scritorio/sessions/{session}.jsonl"));
    assert!(kept.contains("first-words"), "nothing is lost here");
    let shown = trouble.folders.run(&["sessions", "show", session]).ok();
    assert!(shown.out.contains("The oldest turn of this conversation is left out"), "{}", shown.out);

    // The next question does not try again what was too long, and says so.
    let asked = server.received().len();
    let arguments = ["ask", "Do you hear third-words?", "--session", session, "--json"];
    let next = trouble.folders.run_at(&server.base, &arguments).ok();
    let received = server.received();
    assert_eq!(received.len(), asked + 1, "{}", next.err);
    let body = received[asked].body.to_string();
    assert!(!body.contains("first-words") && body.contains("second-words"), "{body}");
    let told = "The oldest turn of this conversation is left out";
    assert!(next.err.contains(told) && !next.err.contains("again:"), "{}", next.err);
    assert!(next.json()["notices"][0].as_str().unwrap().starts_with(told));

    // Peek shows the same; another model has another context, and gets all of it.
    let settings = format!("{store}[providers.openai]\nbase_url = \"{}\"\n", server.base);
    trouble.folders.write("../config/config.toml", &settings);
    let peek = |model: Option<&str>| {
        let overrides = Overrides {
            provider: Some("openai".into()),
            model: model.map(str::to_owned),
            ..Overrides::default()
        };
        let surroundings = Surroundings::in_folders(trouble.folders.root());
        let bench = Workbench::open_in(&trouble.folders.book(), overrides, surroundings).unwrap();
        bench.peek(&Ask { session: Some(SessionId::new(session)), ..Ask::default() }, None).unwrap()
    };
    let same = peek(None);
    assert!(same.text().contains(told) && !same.body.to_string().contains("first-words"), "{}", same.text());
    let other = peek(Some("another"));
    assert!(other.notices.is_empty() && other.body.to_string().contains("first-words"));
}

#[test]
fn a_question_that_is_too_long_by_itself_is_told_what_to_do() {
    let trouble = Trouble::new();
    let server = always(|| {
        refused(
            400,
            "",
            &error("exceed_context_size_error", "the request exceeds the available context size"),
        )
    });
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "", &["can't take so long a question", "larger context"]);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_host_that_nobody_knows_is_told_at_once() {
    let trouble = Trouble::new();
    let ran = trouble.ask("https://no-such-host.invalid/v1", &[], &[]);
    assert!(!ran.err.contains("again:"), "{}", ran.err);
    trouble.fails(
        &ran,
        "",
        &["The host no-such-host.invalid is not known", "network connection", "--provider offline"],
    );
}

/// A real TLS server, whose certificate nobody has signed but itself.
fn self_signed() -> String {
    use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
    let certificate = CertificateDer::from(include_bytes!("support/self-signed.cert.der").to_vec());
    let key = PrivatePkcs8KeyDer::from(include_bytes!("support/self-signed.key.der").to_vec());
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key))
        .unwrap();
    let config = Arc::new(config);
    listener(move |mut stream| {
        let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut seen = vec![];
        // The client hangs up as soon as it has seen the certificate; anything that it said before would be in the stream.
        let _ = rustls::Stream::new(&mut tls, &mut stream).read_to_end(&mut seen);
        assert!(seen.is_empty(), "something was sent to a server that is not trusted");
    })
}

#[test]
fn a_server_that_cannot_prove_who_it_is_gets_nothing() {
    let plain = listener(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    });
    for (base, said) in [
        (
            format!("https://{}/v1", self_signed()),
            "signed by nobody whom this machine trusts. Nothing was sent.",
        ),
        (format!("https://{plain}/v1"), "does not speak https at this address. Nothing was sent."),
    ] {
        let trouble = Trouble::new();
        let ran = trouble.ask(&base, &[], &[]);
        assert!(!ran.err.contains("again:"), "{}", ran.err);
        trouble.fails(&ran, "", &[said, "Check the provider's address"]);
    }
}

#[test]
fn a_connection_that_is_never_finished_is_given_up() {
    let trouble = Trouble::with("[network]\nconnect = 0.2\nretry_wait = 0.001\n");
    let held = std::sync::Mutex::new(vec![]);
    let silent = listener(move |stream| held.lock().unwrap().push(stream));
    let ran = trouble.ask(&format!("https://{silent}/v1"), &[], &[]);
    trouble.fails(&ran, "", &["could not be reached within 200 milliseconds", "--provider offline"]);
}

#[test]
fn a_proxy_that_is_in_the_way_is_named() {
    let dead = nowhere();
    let wants = listener(|mut stream| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(
            b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
    });
    let far = "https://api.example.org/v1";
    let near = format!("http://{}/v1", nowhere());
    for (variable, proxy, base, what) in [
        ("HTTPS_PROXY", &dead, far, "refused the connection"),
        ("HTTPS_PROXY", &wants, far, "wants a name and a password (407)"),
        ("HTTP_PROXY", &dead, near.as_str(), "refused the connection"),
        ("HTTP_PROXY", &wants, near.as_str(), "wants a name and a password (407)"),
    ] {
        let trouble = Trouble::new();
        let at = format!("http://someone:hush-hush@{proxy}");
        // The next turn has no proxy: it must not depend on what was learned here.
        let ran = trouble.ask(base, &[], &[(variable, &at)]);
        assert!(!ran.err.contains("again:") && !ran.out.contains("hush-hush"), "{}{}", ran.out, ran.err);
        let said = format!("the proxy {proxy} {what}");
        trouble.fails(&ran, "", &[&said, "NO_PROXY", "--provider offline"]);
    }
}

#[test]
fn a_web_page_is_no_answer() {
    let sign_in = always(|| page("200 OK", "<html><title>Sign in</title>"));
    let gateway = always(|| page("502 Bad Gateway", "<html><head><title>502 Bad Gateway</title></head>"));
    for (server, said, asked) in
        [(sign_in, "sent a web page, not an answer", 1), (gateway, "failed (502): 502 Bad Gateway", 4)]
    {
        let trouble = Trouble::new();
        let ran = trouble.ask(&server.base, &[], &[]);
        trouble.fails(&ran, "", &[said]);
        assert_eq!(server.received().len(), asked);
    }
}

#[test]
fn an_answer_that_drips_for_ever_is_stopped_after_all_its_time() {
    let trouble = Trouble::with("[network]\ntotal = 1.5\n");
    let server = always(|| Reply::Drip);
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "So ", &["had not finished after 1.5 seconds", "Ask for less at once", "`total`"]);
    assert_eq!(server.received().len(), 1);
}

#[test]
fn once_a_tool_has_run_only_a_refusal_at_the_door_is_asked_again() {
    let call = || Reply::Call("get_character_context", json!({ "name": "Mira" }));
    let trouble = Trouble::new();
    let busy = refused(503, "", &error("overloaded", "Later."));
    let server = replies(vec![call(), busy]);
    let ran = trouble.ask(&server.base, &[], &[]).ok();
    assert_eq!((&ran.json()["answer"], server.received().len()), (&json!("It does."), 3));
    let broken = refused(500, "", &error("server_error", "Oops."));
    let server = replies(vec![call(), broken]);
    let ran = trouble.ask(&server.base, &[], &[]);
    trouble.fails(&ran, "", &["failed (500): Oops. The trouble is at the server."]);
    assert_eq!((ran.json()["tools"][0]["status"].as_str(), server.received().len()), (Some("done"), 2));
}

#[test]
fn a_server_that_stays_on_the_line_after_its_answer_holds_nothing_up() {
    // Its two minutes of silence would be longer than any test.
    let trouble = Trouble::new();
    let server = always(|| Reply::SayAndStay("It does."));
    assert_eq!(trouble.ask(&server.base, &[], &[]).ok().json()["answer"], "It does.");
}

#[path = "failures/cancel.rs"]
mod cancel;
#[path = "failures/nearly.rs"]
mod nearly;
