//! Whole conversations with servers of every protocol, and from one to another in the middle.
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
use server::bodies::{ids, schema};
use server::{Received, Reply, Server};

/// A book whose author uses the servers named, all at one address.
fn author(server: &Server, names: &[&str], more: &str) -> Folders {
    let folders = Folders::new();
    let mut settings = String::new();
    for name in names {
        settings += &format!("[providers.{name}]\nbase_url = '{}'\nmodel = 'm-{name}'\n", server.base);
    }
    folders.write("../config/config.toml", &(settings + more));
    folders
}

fn run(folders: &Folders, arguments: &[&str]) -> Ran {
    let mut command = folders.command(arguments);
    ran(command.env("OPENAI_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY))
}

fn paths(server: &Server) -> Vec<String> {
    let path = |request: &Received| request.head.split(' ').nth(1).unwrap().to_owned();
    server.received().iter().map(path).collect()
}

/// Reads the selection, then an entry and a tool that is not there, then answers.
fn reads_and_answers(n: usize, _: &Value) -> Reply {
    match n % 3 {
        0 => Reply::Call(
            "get_manuscript_context",
            json!({ "ref": "selection", "refs": null, "startParagraph": null }),
        ),
        1 => Reply::Calls(vec![
            ("get_character_context".into(), json!({ "name": "Mira" }).to_string()),
            ("no_such_tool".into(), "{}".into()),
        ]),
        _ => Reply::Say("It reads well."),
    }
}

#[test]
fn every_protocol_runs_the_tool_loop_and_goes_on_with_the_conversation() {
    for (name, path) in [
        ("lmstudio", "/v1/chat/completions"),
        ("openrouter", "/v1/chat/completions"),
        ("ollama", "/v1/api/chat"),
        ("anthropic", "/v1/messages"),
        ("my-box", "/v1/chat/completions"),
    ] {
        let server = Server::start(reads_and_answers);
        let folders = author(&server, &[name], "");
        let question =
            ["ask", "Is it good?", "--select-text", "noticed the lamp", "--provider", name, "--json"];
        let mut command = folders.command(&question);
        let turn = ran(command.env("OPENROUTER_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY)).ok().json();
        assert_eq!(turn["answer"], "It reads well.", "{name}");
        assert_eq!(turn["tools"].as_array().unwrap().len(), 3, "{name}: {turn}");
        let session = turn["session"].as_str().unwrap();
        let mut command = folders.command(&["ask", "And why?", "--session", session, "--provider", name]);
        ran(command.env("OPENROUTER_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY)).ok();
        assert!(paths(&server).iter().all(|p| p == path), "{name}: {:?}", paths(&server));
        let requests = server.received();
        let last = requests[5].body["messages"].to_string();
        for said in ["Is it good?", "It reads well.", "And why?", "The signals officer."] {
            assert!(last.contains(said), "{name}: {said} is not in {last}");
        }
    }
}

#[test]
fn anthropic_gets_its_key_its_version_and_its_thoughts_back() {
    let server = Server::start(reads_and_answers);
    let folders = author(&server, &["anthropic"], "[options]\nreasoning_effort = 'low'\n");
    run(&folders, &["ask", "Is it good?", "--provider", "anthropic"]).ok();
    let requests = server.received();
    let head = requests[0].head.to_ascii_lowercase();
    assert!(
        head.contains(&format!("x-api-key: {KEY}")) && head.contains("anthropic-version: 2023-06-01"),
        "{head}"
    );
    assert!(!head.contains("authorization"), "{head}");
    let first = &requests[0].body;
    assert!(first["max_tokens"].as_u64().unwrap() > 1024 && first["system"].is_string());
    assert_eq!(first["thinking"]["budget_tokens"], 1024);
    let said = &requests[1].body["messages"][1]["content"];
    assert_eq!(said[0], json!({ "type": "thinking", "thinking": "hm", "signature": "sig 0" }));
    assert_eq!(said[1]["type"], "tool_use");
    assert_eq!(requests[1].body["messages"][2]["content"][0]["type"], "tool_result");
    let results = requests[2].body["messages"][4]["content"].as_array().unwrap();
    assert_eq!(results.len(), 2, "the outputs of all calls of a message are one message");
}

#[test]
fn a_conversation_goes_from_one_server_to_another_and_back() {
    let server = Server::start(|n, body| match n {
        0 if body["input"].is_string() => Reply::Call("get_character_context", json!({ "name": "Mira" })),
        1 => Reply::Say("One."),
        2 => Reply::Call("search_codex", json!({ "query": "lamp", "entryType": null })),
        3 => Reply::Say("Two."),
        4 => Reply::Call("search_codex", json!({ "query": "Mira", "entryType": null })),
        5 => Reply::Say("Three."),
        6 => Reply::Say("Four."),
        _ => Reply::Say("Five."),
    });
    let folders = author(&server, &["openai", "lmstudio", "anthropic", "ollama"], "");
    let first = run(&folders, &["ask", "Is one?", "--provider", "openai", "--json"]).ok().json();
    let session = first["session"].as_str().unwrap();
    for (question, provider) in
        [("Is two?", "lmstudio"), ("Is three?", "anthropic"), ("Is four?", "ollama"), ("Is five?", "openai")]
    {
        run(&folders, &["ask", question, "--provider", provider, "--session", session]).ok();
    }
    let requests = server.received();
    assert_eq!(
        paths(&server)[..8].iter().map(String::as_str).collect::<Vec<_>>(),
        [
            "/v1/responses",
            "/v1/responses",
            "/v1/chat/completions",
            "/v1/chat/completions",
            "/v1/messages",
            "/v1/messages",
            "/v1/api/chat",
            "/v1/responses",
        ]
    );
    let models: Vec<_> = requests.iter().map(|r| r.body["model"].as_str().unwrap()).collect();
    assert_eq!(
        models,
        [
            "m-openai",
            "m-openai",
            "m-lmstudio",
            "m-lmstudio",
            "m-anthropic",
            "m-anthropic",
            "m-ollama",
            "m-openai"
        ]
    );
    for (n, before) in [
        (2, &["Is one?", "One."][..]),
        (4, &["Is one?", "Two."]),
        (6, &["Is two?", "Three."]),
        (7, &["Is four?", "Four."]),
    ] {
        let body = requests[n].body.to_string();
        for said in before {
            assert!(body.contains(said), "request {n} lacks {said}: {body}");
        }
    }
    for (n, request) in requests.iter().enumerate() {
        // What one server thought is not told to another, and no wrapping reaches any.
        let body = request.body.to_string();
        assert!(!body.contains("\"wire\"") && !body.contains("encrypted_content\":\""), "{n}: {body}");
        assert!(n == 5 || !body.contains("signature"), "{n}: {body}");
    }
    assert!(requests[5].body.to_string().contains("sig 4"), "within the turn the thoughts go back");
    // OpenAI goes on from what it knows, and is told what it missed.
    assert!(requests[7].body["previous_response_id"].is_string());
}

#[test]
fn calls_of_the_program_itself_in_several_turns_have_ids_that_every_server_takes() {
    // No model calls anything, so that the program does, in every turn.
    let server = Server::start(|_, _| Reply::Say("There is one."));
    let folders = author(&server, &["lmstudio", "ollama", "anthropic", "mistral"], "");
    let ask = |provider: &str, more: &[&str]| {
        let question = [&["ask", "List all the characters.", "--provider", provider], more].concat();
        let mut command = folders.command(&question);
        command.env("MISTRAL_API_KEY", KEY).env("ANTHROPIC_API_KEY", KEY);
        let told = ran(&mut command).ok();
        assert!(told.err.contains("called by the program"), "{provider}: {}", told.err);
    };
    ask("lmstudio", &[]);
    let again = ["--session", "last"];
    for provider in ["ollama", "anthropic", "mistral", "lmstudio", "anthropic"] {
        ask(provider, &again);
    }
    let requests = server.received();
    assert_eq!(requests.len(), 12);
    for (n, request) in requests.iter().enumerate() {
        // What was called in every turn so far, each by an id of its own.
        let (called, answered) = ids(&request.body);
        let distinct: std::collections::BTreeSet<_> = called.iter().collect();
        assert_eq!((called.len(), distinct.len()), (n.div_ceil(2), n.div_ceil(2)), "{n}: {called:?}");
        assert_eq!(called, answered, "{n}");
        let is_nine = |id: &String| id.len() == 9 && id.bytes().all(|b| b.is_ascii_alphanumeric());
        assert!(request.body["model"] != "m-mistral" || called.iter().all(is_nine), "{n}: {called:?}");
    }
    // A question later, the older calls are called the same: what a server keeps of them stays good.
    let of = |n: usize| ids(&requests[n].body).0;
    assert_eq!(of(5)[..1], of(11)[..1]);
}

#[test]
fn a_server_that_refuses_to_be_told_which_tool_is_asked_for_any_and_remembered() {
    let server = Server::start(|n, body| match &body["tool_choice"] {
        Value::Object(_) => Reply::Refuse(
            400,
            json!({ "error": "Invalid tool_choice type: 'object'. Supported string values: none, auto, required" }),
        ),
        Value::String(choice) if choice == "required" => {
            Reply::Call("list_codex_entries", json!({ "entryType": "character" }))
        }
        _ => Reply::Say(if n < 9 { "There is one." } else { "?" }),
    });
    let folders = author(&server, &["vllm"], "");
    let ran = run(&folders, &["ask", "List all the characters.", "--provider", "vllm"]).ok();
    assert!(ran.err.contains("any tool"), "{}", ran.err);
    let choices: Vec<_> = server.received().iter().map(|r| r.body["tool_choice"].clone()).collect();
    assert_eq!(choices[0]["function"]["name"], "list_codex_entries");
    assert_eq!(choices[1..], [json!("required"), json!("auto")]);
}

#[test]
fn a_server_that_silently_ignores_the_forced_tool_leads_to_the_programs_own_call() {
    for name in ["llamacpp", "ollama", "anthropic"] {
        let server = Server::start(|_, _| Reply::Say("There is one."));
        let folders = author(&server, &[name], "");
        let ran = run(&folders, &["ask", "List all the characters.", "--provider", name]).ok();
        assert!(ran.err.contains("called by the program"), "{name}: {}", ran.err);
        let second = server.received()[1].body["messages"].to_string();
        assert!(second.contains("Mira Okafor"), "{name}: {second}");
    }
}

#[test]
fn a_model_without_tools_gets_the_text_itself_whoever_says_so() {
    let server = Server::start(|_, body| {
        if body["tools"].is_array() {
            return Reply::Refuse(
                400,
                json!({ "error": "registry.ollama.ai/library/gemma:2b does not support tools" }),
            );
        }
        Reply::Say("It reads well.")
    });
    let folders = author(&server, &["ollama"], "");
    let question = ["ask", "How does this read?", "--chapter", "1", "--provider", "ollama"];
    let ran = run(&folders, &question).ok();
    assert_eq!(ran.out.trim(), "It reads well.");
    assert!(ran.err.contains("takes no tools: manuscript/01-the-lamp.md goes inline."), "{}", ran.err);
    assert_eq!(server.received().len(), 2, "the refusal, and the same question without tools");
    let folders = author(&server, &["ollama"], "tools = false\n");
    let ran = run(&folders, &question).ok();
    assert_eq!(ran.out.trim(), "It reads well.");
    assert!(ran.err.contains("goes inline.") && !ran.err.contains("asks anew"), "{}", ran.err);
    assert_eq!(server.received().len(), 3, "whose author says so is not asked in vain");
    let (learned, said) = (&server.received()[1].body, &server.received()[2].body);
    assert_eq!(learned["messages"], said["messages"]);
    assert!(said.get("tools").is_none());
    let sent = said["messages"].to_string();
    assert!(sent.contains("noticed the lamp") && !sent.contains("get_manuscript_context"), "{sent}");
}

#[test]
fn a_local_server_is_always_told_where_to_stop_and_needs_no_key() {
    for name in ["lmstudio", "llamacpp", "vllm", "ollama", "my-box"] {
        let server = Server::start(|_, _| Reply::Say("Yes."));
        let folders = author(&server, &[name], "");
        ran(&mut folders.command(&["ask", "Is it good?", "--provider", name])).ok();
        let request = &server.received()[0];
        let body = &request.body;
        let limit = body.get("max_tokens").or_else(|| body["options"].get("num_predict"));
        assert!(limit.and_then(Value::as_u64).is_some_and(|n| n > 0), "{name}: {body}");
        assert!(!request.head.to_ascii_lowercase().contains("authorization"), "{name}: {}", request.head);
    }
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let folders = Folders::new();
    folders.write("../config/config.toml", &format!("[providers.vllm]\nbase_url = '{}'\n", server.base));
    let nameless = ran(&mut folders.command(&["ask", "Is it good?", "--provider", "vllm"]));
    assert_eq!(nameless.code, 3);
    assert!(
        nameless.err.contains("No model of `vllm`") && nameless.err.contains("--model"),
        "{}",
        nameless.err
    );
    assert!(server.received().is_empty());
}

#[test]
fn a_members_options_and_the_search_of_the_web_reach_the_wire_and_no_other_member() {
    let server = Server::start(|_, _| Reply::Say("Yes."));
    let folders = author(
        &server,
        &["openai"],
        "[options]\nreasoning_effort = 'low'\n[board.writing-coach]\nweb_search = true\ntier = 'flex'\n",
    );
    folders.write(
        "scritorio.toml",
        "[board.writing-coach]\nmodel = 'gpt-coach'\neffort = 'high'\nmax_output_tokens = 900\n",
    );
    for persona in ["writing-coach", "continuity-editor"] {
        run(&folders, &["ask", "Is it good?", "--persona", persona]).ok();
    }
    let requests = server.received();
    let (coach, editor) = (&requests[0].body, &requests[1].body);
    assert_eq!((&coach["model"], &coach["reasoning"]["effort"]), (&json!("gpt-coach"), &json!("high")));
    assert_eq!((&coach["max_output_tokens"], &coach["service_tier"]), (&json!(900), &json!("flex")));
    assert_eq!(coach["tools"].as_array().unwrap().last().unwrap(), &json!({ "type": "web_search" }));
    assert_eq!((&editor["model"], &editor["reasoning"]["effort"]), (&json!("m-openai"), &json!("low")));
    assert!(!editor.to_string().contains("web_search"));
    let shown = run(&folders, &["prompt", "--ask", "Is it good?", "--persona", "writing-coach"]).ok().out;
    assert!(shown.contains("web, not canon"), "{shown}");
}

#[test]
fn every_format_of_the_prompt_verb_is_the_body_of_its_protocol() {
    let folders = Folders::new();
    let body = |format: &str| {
        folders.run(&["prompt", "--ask", "Is it good?", "--chapter", "1", "--format", format]).ok().json()
    };
    schema::responses(&body("responses")).unwrap();
    schema::chat(&body("chat")).unwrap();
    assert_eq!(body("anthropic")["messages"][0]["role"], "user");
    assert!(body("anthropic")["tools"][0]["input_schema"].is_object());
    assert_eq!(body("ollama")["tools"][0]["type"], "function");
    // The rules can be broken.
    let mut wrong = body("chat");
    wrong["temperature"] = json!(0.5);
    assert!(schema::chat(&wrong).is_err());
    let mut wrong = body("responses");
    wrong["input"] = json!([{ "role": "tool", "content": "x" }]);
    assert!(schema::responses(&wrong).is_err());
}

#[test]
fn an_unknown_provider_is_told_with_the_nearest_and_a_key_can_be_set_for_all() {
    let folders = Folders::new();
    let failed = folders.run(&["ask", "Is it good?", "--provider", "olama"]);
    assert!(failed.err.contains("Did you mean `ollama`?"), "{}", failed.err);
    folders.write(
        "../config/config.toml",
        "[providers.my-box]\nbase_url = 'http://localhost:1/v1'\nkey_variable = 'BOX_KEY'\n",
    );
    for (provider, variable) in
        [("anthropic", "ANTHROPIC_API_KEY"), ("azure", "AZURE_OPENAI_API_KEY"), ("my-box", "BOX_KEY")]
    {
        let set = ran(folders.command(&["keys", "set", provider]).write_stdin(KEY));
        assert!(set.err.contains(variable), "{provider}: {}", set.err);
        let mut command = folders.command(&["keys", "status", provider, "--json"]);
        let status = ran(command.env(variable, KEY)).ok().json();
        assert_eq!(status[0]["source"], "environment", "{provider}");
    }
}

#[test]
fn an_effort_that_a_model_refuses_is_told_each_time_and_another_one_is_sent() {
    let server = Server::start(|_, body| match body["reasoning"]["effort"].as_str() {
        Some("none") => Reply::Refuse(
            400,
            json!({ "error": { "message": "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'minimal', 'low', 'medium', and 'high'.", "param": "reasoning.effort", "code": "unsupported_value" } }),
        ),
        _ => Reply::Say("Yes."),
    });
    let folders = author(&server, &["openai"], "");
    let ask = |effort: &str| run(&folders, &["ask", "Is it good?", "--effort", effort]).ok().err;
    let first = ask("none");
    assert!(first.contains("does not take `none` for `reasoning.effort`"), "{first}");
    let again = ask("none");
    assert!(again.contains("effort `none`") && again.contains("providers --check openai"), "{again}");
    let other = ask("low");
    assert!(!other.contains("effort"), "{other}");
    let sent: Vec<_> = server.received().iter().map(|r| r.body["reasoning"]["effort"].clone()).collect();
    assert_eq!(sent, [json!("none"), Value::Null, Value::Null, json!("low")]);
}

#[test]
fn flex_for_a_model_without_it_is_asked_on_the_default_tier_and_another_tier_is_refused() {
    let server = Server::start(|_, body| match body["service_tier"].as_str() {
        Some(_) => Reply::Refuse(
            400,
            json!({ "error": { "message": "Invalid service_tier argument", "param": "service_tier", "code": null } }),
        ),
        None => Reply::Say("Yes."),
    });
    let folders = author(&server, &["openai"], "");
    let flex = run(&folders, &["ask", "Is it good?", "--tier", "flex"]).ok().err;
    assert!(flex.contains("asking on the default tier"), "{flex}");
    let again = run(&folders, &["ask", "Is it good?", "--tier", "flex"]).ok().err;
    assert!(again.contains("tier `flex`"), "{again}");
    let priority = run(&folders, &["ask", "Is it good?", "--tier", "priority"]);
    assert!(priority.code == 3 && priority.err.contains("Invalid service_tier argument"), "{}", priority.err);
    assert_eq!(server.received().len(), 4);
}

#[test]
fn blocks_between_anthropics_thoughts_go_back_in_their_order_and_another_server_gets_the_words() {
    let blocks = [
        json!({ "type": "thinking", "thinking": "hm", "signature": "one" }),
        json!({ "type": "text", "text": "Let me look." }),
        json!({ "type": "thinking", "thinking": "so", "signature": "two" }),
        json!({ "type": "tool_use", "id": "toolu_1", "name": "get_character_context", "input": { "name": "Mira" } }),
    ];
    let content = blocks.clone();
    let server = Server::start(move |n, body| match n {
        0 => {
            let whole = json!({ "id": "msg", "type": "message", "content": content, "stop_reason": "tool_use", "usage": { "input_tokens": 1, "output_tokens": 1 } });
            Reply::Bytes(format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{whole}").into())
        }
        1 if body["messages"][1]["content"] != json!(content) => {
            Reply::Refuse(400, json!({ "error": "cannot be modified" }))
        }
        _ => Reply::Say("She left."),
    });
    let folders = author(&server, &["anthropic", "vllm"], "[options]\nreasoning_effort = 'low'\n");
    let turn = run(&folders, &["ask", "Is it good?", "--provider", "anthropic", "--json"]).ok().json();
    assert_eq!(turn["answer"], "Let me look.\n\nShe left.");
    let session = turn["session"].as_str().unwrap();
    run(&folders, &["ask", "And why?", "--session", session, "--provider", "vllm"]).ok();
    let elsewhere = server.received()[2].body["messages"].to_string();
    assert!(elsewhere.contains("Let me look.") && elsewhere.contains("get_character_context"), "{elsewhere}");
    assert!(!elsewhere.contains("signature"), "{elsewhere}");
}
