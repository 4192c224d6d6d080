//! Servers that do not do what they were asked, and say so or not: a model without tools, and one that answers without looking.

use serde_json::{Value, json};

use super::book::Folders;
use super::server::{Reply, Server};
use super::{always, error, replies};

/// A server whose model takes no tools.
fn toolless() -> Server {
    Server::start(|_, body| {
        if body.get("tools").is_some() {
            Reply::Refuse(400, error("invalid", "registry/gemma does not support tools"))
        } else {
            Reply::Say("It is dark in there.")
        }
    })
}

fn settings(server: &Server, model: &str) -> String {
    format!(
        "[provider]\nname = \"lmstudio\"\n[providers.lmstudio]\nbase_url = \"{}\"\nmodel = \"{model}\"\n",
        server.base
    )
}

#[test]
fn a_model_without_tools_gets_the_passage_in_the_same_turn_and_is_known_from_then_on() {
    let folders = Folders::new();
    let server = toolless();
    folders.write("../config/config.toml", &settings(&server, "gemma"));
    let ask = || folders.run(&["ask", "What is in the room?", "--chapter", "1", "--json"]).ok();
    let first = ask();
    let told = "gemma takes no tools: manuscript/01-the-lamp.md goes inline. `scritorio providers --check lmstudio` asks anew.";
    assert_eq!(first.json()["answer"], "It is dark in there.");
    assert_eq!((&first.json()["notices"], &first.json()["error"]), (&json!([told]), &json!(null)));
    assert!(first.err.contains(told), "{}", first.err);
    let bodies = || -> Vec<String> { server.received().into_iter().map(|r| r.raw).collect() };
    let prose = "Nobody answered Mira.";
    let shape = || -> Vec<(bool, bool)> {
        bodies().iter().map(|body| (body.contains("\"tools\""), body.contains(prose))).collect()
    };
    assert_eq!(shape(), [(true, false), (false, true)]);
    assert!(
        !bodies()[1].contains("get_manuscript_context"),
        "the prompt speaks of no tools: {}",
        bodies()[1]
    );

    // Another run of the program knows it, also with what another model refused beside it.
    let second = ask();
    assert_eq!((shape().len(), shape()[2], &second.json()["notices"]), (3, (false, true), &json!([told])));
    folders.write("../config/config.toml", &settings(&server, "llama"));
    ask();
    assert_eq!(shape()[3..], [(true, false), (false, true)], "what one model refuses another may take");
    folders.write("../config/config.toml", &settings(&server, "gemma"));

    // A damaged file costs one refusal, and a check asks how it is now.
    let learned = folders.root().join("data/learned.json");
    std::fs::write(&learned, "{\"v\":1,\"servers\":[{").unwrap();
    ask();
    assert_eq!(shape()[5..], [(true, false), (false, true)]);
    let check = folders.run(&["providers", "--check", "lmstudio", "--json"]).ok().json();
    assert_eq!(shape()[7..], [(true, false), (false, false)], "with its tool, then without");
    assert_eq!(
        (&check["answered"], &check["tools"], &check["inline"]),
        (&json!(true), &json!(false), &json!(true))
    );
    assert!(
        check["next"]
            .as_str()
            .unwrap()
            .starts_with("It answers; it takes no tools, so the open text goes inline")
    );
    let told = folders.run(&["providers", "--check", "lmstudio"]).ok().out;
    assert!(told.contains("Key and model: fine\nTools: none, the open text goes inline\n"), "{told}");

    // What has tools by now is found out by a check.
    let better = always(|| Reply::Call("ready", json!({})));
    let settings = settings(&server, "gemma").replace(&server.base, &better.base);
    let text = std::fs::read_to_string(&learned).unwrap().replace(&server.base, &better.base);
    let mut lessons: Value = serde_json::from_str(&text).unwrap();
    let mut of_another = lessons["servers"][0].clone();
    of_another["model"] = "llama".into();
    lessons["servers"].as_array_mut().unwrap().push(of_another);
    folders.write("../config/config.toml", &settings);
    std::fs::write(&learned, lessons.to_string()).unwrap();
    let check = folders.run(&["providers", "--check", "lmstudio", "--json"]).ok();
    assert_eq!(check.json()["tools"], true);
    let left = std::fs::read_to_string(&learned).unwrap();
    assert!(!left.contains(&better.base), "of every model: {left}");
}

#[test]
fn whether_tools_work_is_asked_anew_and_never_answered_inline() {
    let folders = Folders::new();
    let server = toolless();
    folders.write("../config/config.toml", &settings(&server, "gemma"));
    folders.run(&["ask", "What is in the room?"]).ok();
    let asked = server.received().len();
    let smoke = folders.run(&["ai", "tool-smoke", "--ask", "Who is Mira Okafor?", "--json"]);
    assert_eq!(smoke.code, 3, "{}{}", smoke.out, smoke.err);
    assert!(smoke.json()["error"]["message"].as_str().unwrap().contains("can't call tools"), "{}", smoke.out);
    assert_eq!(server.received().len(), asked + 1);
}

#[test]
fn what_a_server_refuses_is_learned_once() {
    let folders = Folders::new();
    let server = Server::start(|_, body| match body.get("tool_choice") {
        Some(choice) if choice.is_object() => {
            Reply::Refuse(400, json!({ "error": "Invalid tool_choice type: 'object'." }))
        }
        _ => Reply::Call("get_character_context", json!({ "name": "Mira Okafor" })),
    });
    folders.write("../config/config.toml", &settings(&server, "qwen").replace("lmstudio", "vllm"));
    let choices = || -> Vec<bool> {
        server.received().iter().map(|request| request.body["tool_choice"].is_object()).collect()
    };
    folders.run(&["ask", "Who is Mira Okafor?", "--rounds", "1"]);
    assert_eq!(choices(), [true, false, false]);
    folders.run(&["ask", "Who is Mira Okafor?", "--rounds", "1"]);
    assert_eq!(choices(), [true, false, false, false, false], "in another run, too");
}

#[test]
fn an_answer_that_came_without_looking_is_in_no_place_where_answers_are() {
    for store in [true, false] {
        let folders = Folders::new();
        folders.write("../config/config.toml", &format!("[options]\nstore = {store}\n"));
        let server = Server::start(|n, _| match n {
            0 => Reply::Say("She is a pirate queen."),
            _ => Reply::Say("She is the signals officer."),
        });
        let ran = folders.run_at(&server.base, &["ask", "Who is Mira Okafor?", "--json"]).ok();
        let turn = ran.json();
        assert_eq!(turn["answer"], "She is the signals officer.");
        assert!(turn["notices"][0].as_str().unwrap().contains("without looking anything up"), "{turn}");
        assert_eq!((&turn["tools"][0]["forced"], turn["tools"].as_array().unwrap().len()), (&json!(true), 1));
        let second = &server.received()[1];
        assert!(!second.raw.contains("pirate"), "{}", second.raw);
        assert_eq!(second.body.get("previous_response_id").is_some(), store);
        assert!(second.raw.contains("signals officer"), "what the program found");
        let session = turn["session"].as_str().unwrap();
        for verb in [
            &["sessions", "show", session][..],
            &["sessions", "show", session, "--json"],
            &["sessions", "export", session, "--format", "md"],
            &["sessions", "export", session, "--format", "json"],
            &["sessions", "list", "--json"],
        ] {
            let shown = folders.run(verb).ok().out;
            assert!(!shown.contains("pirate"), "{verb:?}: {shown}");
            assert!(!verb.contains(&"export") || shown.contains("That first answer is not kept"), "{shown}");
        }
        assert_eq!(folders.run(&["sessions", "search", "pirate", "--json"]).ok().json(), json!([]));

        let lines =
            folders.run_at(&server.base, &["ask", "And her ship?", "--session", session, "--stream"]).ok();
        assert!(lines.out.contains("signals officer"));
        let third = server.received().pop().unwrap().raw;
        assert!(!third.contains("pirate"), "{third}");
    }
}

#[test]
fn a_first_answer_that_is_not_kept_is_not_streamed() {
    let folders = Folders::new();
    let server =
        Server::start(|n, _| Reply::Say(if n == 0 { "She is a pirate queen." } else { "An officer." }));
    let ran = folders.run_at(&server.base, &["ask", "Who is Mira Okafor?", "--stream"]).ok();
    assert!(!ran.out.contains("pirate") && ran.out.contains("An officer."), "{}", ran.out);
    assert!(ran.out.contains("\"event\":\"notice\""), "{}", ran.out);

    // Where the second request fails, the first answer was whole and is paid for: it is better than none, and marked.
    let broken = Server::start(|n, _| match n {
        0 => Reply::Say("She is a pirate queen."),
        _ => Reply::Refuse(400, error("x", "No.")),
    });
    let ran = folders.run_at(&broken.base, &["ask", "Who is Mira Okafor?", "--json"]);
    let marked = "She is a pirate queen.\n\n[answered without looking anything up]";
    assert_eq!((ran.code, ran.json()["answer"].as_str()), (3, Some(marked)), "{}", ran.err);
    assert_eq!(ran.json()["cut_off"], false, "no word of it is missing");
    let notices = ran.json()["notices"].clone();
    assert!(notices[0].as_str().unwrap().ends_with("that first answer stands."), "{notices}");
    assert_eq!(notices.as_array().unwrap().len(), 1, "{notices}");
    // Where the first one breaks off, it is all there is, and marked as cut off.
    let half = always(|| Reply::Break("She is a pi"));
    let ran = folders.run_at(&half.base, &["ask", "Who is Mira Okafor?", "--json"]);
    assert_eq!((ran.code, ran.json()["answer"].as_str()), (3, Some("She is a pi")));
    assert_eq!(ran.json()["cut_off"], true);
}

#[test]
fn an_answer_that_is_not_kept_goes_to_no_other_server_and_into_no_record() {
    let folders = Folders::new();
    // It keeps conversations, and answers without looking where it was told to look.
    let keeps =
        Server::start(|n, _| Reply::Say(if n == 0 { "She is a pirate." } else { "She keeps the lamp." }));
    let first = folders.run_at(&keeps.base, &["ask", "Who is Mira Okafor?", "--json"]).ok().json();
    assert_eq!(first["answer"], "She keeps the lamp.");
    assert!(first["notices"][0].as_str().unwrap().contains("is not kept"), "{first}");
    assert!(keeps.received()[1].body["previous_response_id"].is_string(), "it goes on from that answer");
    let session = first["session"].as_str().unwrap();
    let kept = folders.read(&format!(".scritorio/sessions/{session}.jsonl"));
    assert!(kept.contains("keeps the lamp") && !kept.contains("pirate"), "{kept}");

    let other = always(|| Reply::Say("I see."));
    folders.write("../config/config.toml", &settings(&other, "gemma"));
    folders.run(&["ask", "And now?", "--session", session, "--provider", "lmstudio"]).ok();
    let body = &other.received()[0].raw;
    assert!(body.contains("keeps the lamp") && !body.contains("pirate"), "{body}");
}

#[test]
fn an_answer_without_a_word_is_not_a_blank_line() {
    let folders = Folders::new();
    let server = always(|| Reply::Say(""));
    let ran = folders.run_at(&server.base, &["ask", "What now?"]).ok();
    assert_eq!(ran.out, "[The server gave no words.]\n");
}

#[test]
fn a_retry_without_a_word_costs_no_answer() {
    let folders = Folders::new();
    let server = replies(vec![Reply::Say("She keeps the lamp."), Reply::Say(""), Reply::Say("So it is.")]);
    let ask = |question: &str, options: &[&str]| {
        folders.run_at(&server.base, &[&["ask", question, "--json"], options].concat()).ok().json()
    };
    let session = ask("Who keeps it?", &[])["session"].as_str().unwrap().to_owned();
    let again = ask("Who keeps it?", &["--session", &session, "--replace-last"]);
    assert_eq!(again["answer"], "[The server gave no words.]");
    ask("And now?", &["--session", &session]);
    let shown = folders.run(&["sessions", "show", &session]).ok().out;
    assert!(shown.contains("She keeps the lamp."), "{shown}");
    assert_eq!(server.received()[2].body["previous_response_id"], "resp_0", "the server goes on from it");
}
