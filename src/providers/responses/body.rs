//! The body of a request: a pure function of what is asked.
//!
//! Never sends `temperature` (reasoning models refuse it), never a field that the request leaves open.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use crate::providers::abilities::{Abilities, Forcing};
use crate::providers::speech::is_object;
use crate::providers::wire::Protocol;
use crate::providers::{Item, Request, ToolChoice, raw};

/// The smallest `max_output_tokens` that the API takes.
const MIN_OUTPUT_TOKENS: u32 = 16;

/// Builds the body.
pub fn body(request: &Request, can: &Abilities) -> Value {
    let store = can.stateful && request.options.store;
    let previous = request.previous_response_id.as_deref().filter(|_| store);
    let input = match previous {
        Some(_) => continuation(request),
        None if store => opening(&request.items, request.question, store),
        None => unremembered(request, store),
    };
    assemble(request, can, input, previous)
}

/// Builds the body of a second attempt, after the server refused to continue from a response: the whole conversation.
pub fn whole_conversation(request: &Request, can: &Abilities) -> Value {
    assemble(request, can, unremembered(request, can.stateful && request.options.store), None)
}

/// What is sent where the server remembers nothing. Reasoning that only the server could read is of no use without that, and the calls that followed it are bound
/// to it by their ids.
fn unremembered(request: &Request, store: bool) -> Value {
    // Open models tell what they thought in plain words, which need no memory.
    let tells = |raw: &Value| raw.get("content").and_then(Value::as_array).is_some_and(|c| !c.is_empty());
    let known_by_id_only = |raw: &Value| {
        is(raw, "reasoning") && raw.get("encrypted_content").is_none_or(Value::is_null) && !tells(raw)
    };
    if !request.items.iter().any(|item| matches!(item, Item::Raw(raw) if known_by_id_only(raw))) {
        return opening(&request.items, request.question, store);
    }
    let is_reasoning = |item: &Item| matches!(item, Item::Raw(raw) if is(raw, "reasoning"));
    let before = request.items.iter().take(request.question).filter(|item| is_reasoning(item)).count();
    let mut items = request.items.clone();
    items.retain(|item| !is_reasoning(item));
    for item in &mut items {
        if let Item::Raw(Value::Object(raw)) = item {
            raw.shift_remove("id");
        }
    }
    opening(&items, request.question - before, store)
}

fn assemble(request: &Request, can: &Abilities, input: Value, previous: Option<&str>) -> Value {
    let options = &request.options;
    let store = can.stateful && options.store;
    let own = can.tools && !request.tools.is_empty();
    let mut tools = if own { request.tools.clone() } else { vec![] };
    if options.web_search && can.web_search {
        tools.push(json!({ "type": "web_search" }));
    }
    let mut body = Map::new();
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(field.to_owned(), value);
        }
    };
    put("model", Some(request.model.as_str().into()));
    put("instructions", (!request.instructions.is_empty()).then(|| request.instructions.as_str().into()));
    put("input", Some(input));
    put("previous_response_id", previous.map(Into::into));
    if !tools.is_empty() {
        put("tools", Some(tools.into()));
    }
    if own {
        put("tool_choice", tool_choice(&request.tool_choice, can.tool_choice));
        put("parallel_tool_calls", can.parallel_switch.then(|| false.into()));
    }
    put("max_output_tokens", output_limit(request, can).map(Into::into));
    let effort = options.reasoning_effort.as_ref().filter(|_| can.reasoning_effort);
    put("reasoning", effort.map(|effort| json!({ "effort": effort })));
    let verbosity = options.verbosity.as_deref().filter(|_| can.verbosity);
    put("text", text(options.response_format.as_ref(), verbosity));
    put("service_tier", can.tier(options.service_tier.as_deref()).map(Into::into));
    put("store", Some(store.into()));
    put("stream", Some(true.into()));
    put("include", (!store && can.encrypted_reasoning).then(|| json!(["reasoning.encrypted_content"])));
    can.without_refused(Value::Object(body))
}

/// Returns the most tokens that the answer may have, where it has a limit.
pub fn output_limit(request: &Request, can: &Abilities) -> Option<u32> {
    let limit = request.options.max_output_tokens.or(can.output_limit);
    limit.map(|most| most.max(MIN_OUTPUT_TOKENS))
}

fn tool_choice(choice: &ToolChoice, forcing: Forcing) -> Option<Value> {
    match (choice, forcing) {
        (_, Forcing::Never) => None,
        (ToolChoice::Named(name), Forcing::Named) => Some(json!({ "type": "function", "name": name })),
        (ToolChoice::Named(_) | ToolChoice::Required, Forcing::Required | Forcing::Named) => {
            Some("required".into())
        }
        _ => Some("auto".into()),
    }
}

fn text(format: Option<&Value>, verbosity: Option<&str>) -> Option<Value> {
    let format = format.map(|format| match format {
        Value::String(kind) => json!({ "type": kind }),
        whole if ["text", "json_object", "json_schema"].iter().any(|kind| is(whole, kind)) => whole.clone(),
        schema => json!({ "type": "json_schema", "name": "answer", "schema": schema, "strict": true }),
    });
    let mut text = Map::new();
    text.extend(format.map(|f| ("format".to_owned(), f)));
    text.extend(verbosity.map(|v| ("verbosity".to_owned(), v.into())));
    (!text.is_empty()).then_some(Value::Object(text))
}

/// What is sent without an earlier response: everything that was said up to the question as one labelled text, then this turn's items. Words
/// in the author's name may be among those, too: the result of a call that the program made.
fn opening(items: &[Item], question: usize, store: bool) -> Value {
    let (said, since) = items.split_at((question + 1).min(items.len()));
    let joined = labelled(said);
    if store && since.is_empty() {
        return joined.into();
    }
    let mut input = vec![json!({ "role": "user", "content": joined })];
    input.extend(verbatim(since));
    input.into()
}

/// What is sent on top of an earlier response: new words as one labelled text, or the outputs that it waits for. Turns that another server answered in between are
/// words alone: the calls in them are none of this server's, and their ids may be those of others.
fn continuation(request: &Request) -> Value {
    let fresh = request.items.get(request.fresh..).unwrap_or_default();
    let of_question = (request.question + 1).saturating_sub(request.fresh).min(fresh.len());
    let (said, since) = fresh.split_at(of_question);
    if since.iter().all(|item| label(item).is_some()) {
        return labelled(fresh).into();
    }
    let words = (!said.is_empty()).then(|| json!({ "role": "user", "content": labelled(said) }));
    words.into_iter().chain(verbatim(since)).collect()
}

/// Joins what was said; what tools did in earlier turns is left out.
fn labelled(items: &[Item]) -> String {
    let parts = items.iter().filter_map(label).map(|(who, words)| format!("{who}: {words}"));
    parts.collect::<Vec<_>>().join("\n\n")
}

fn label(item: &Item) -> Option<(&'static str, &str)> {
    match item {
        Item::Context(words) | Item::Author(words) => Some(("User", words)),
        Item::Persona(words) => Some(("Assistant", words)),
        Item::Call { .. } | Item::Output { .. } | Item::Raw(_) => None,
    }
}

/// Every item as an item of the API, in order. What is there as the server sent it is not repeated in our words.
fn verbatim(items: &[Item]) -> Vec<Value> {
    let raw = || {
        items
            .iter()
            .filter_map(|i| if let Item::Raw(item) = i { raw::of(Protocol::Responses, item) } else { None })
    };
    let raw_calls: HashSet<&str> =
        raw().filter(|r| is(r, "function_call")).filter_map(|r| r.get("call_id")?.as_str()).collect();
    // Whether the response that an item belongs to has its words as the server sent them.
    let mut raw_message = false;
    let one = |item: &Item| match item {
        Item::Context(words) | Item::Author(words) => {
            raw_message = false;
            Some(json!({ "role": "user", "content": words }))
        }
        Item::Persona(words) => (!raw_message).then(|| json!({ "role": "assistant", "content": words })),
        Item::Call { call_id, .. } if raw_calls.contains(call_id.as_str()) => None,
        Item::Call { call_id, name, arguments } => {
            let call =
                json!({ "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments });
            Some(readable(call))
        }
        Item::Output { call_id, output, .. } => {
            raw_message = false;
            Some(json!({ "type": "function_call_output", "call_id": call_id, "output": output }))
        }
        Item::Raw(item) => {
            let own = raw::of(Protocol::Responses, item)?;
            raw_message |= is(own, "message");
            Some(readable(own.clone()))
        }
    };
    without_lone_thoughts(items.iter().filter_map(one).collect())
}

/// Leaves out the thoughts of a response that said and called nothing after them: OpenAI refuses "a reasoning item without its required following item".
fn without_lone_thoughts(items: Vec<Value>) -> Vec<Value> {
    let begins_anew = |next: &Value| {
        is(next, "function_call_output") || next.get("role").and_then(Value::as_str) == Some("user")
    };
    let mut kept: Vec<Value> = Vec::with_capacity(items.len());
    for item in items.into_iter().rev() {
        if !is(&item, "reasoning") || !kept.last().is_none_or(begins_anew) {
            kept.push(item);
        }
    }
    kept.reverse();
    kept
}

/// An item as it stands, but for arguments of a call that are no JSON object: servers that give them to a template fail on those, and its output says
/// what was wrong with them.
fn readable(mut item: Value) -> Value {
    let is_garbled = |arguments: &Value| !arguments.as_str().is_some_and(is_object);
    if is(&item, "function_call") && item.get("arguments").is_none_or(is_garbled) {
        item["arguments"] = "{}".into();
    }
    item
}

fn is(value: &Value, kind: &str) -> bool {
    value.get("type").and_then(Value::as_str) == Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn openai() -> Abilities {
        Abilities::openai()
    }

    fn keeps_nothing() -> Abilities {
        Abilities { stateful: false, ..Abilities::openai() }
    }
    use crate::domain::ids::CallId;
    use crate::providers::Options;

    fn call(id: &str) -> Item {
        Item::Call { call_id: CallId::new(id), name: "search_codex".into(), arguments: "{}".into() }
    }

    fn output(id: &str) -> Item {
        Item::Output { call_id: CallId::new(id), name: "search_codex".into(), output: format!("out {id}") }
    }

    fn context() -> Item {
        Item::Context("Open: Turnover, 1943 words".into())
    }

    fn author(words: &str) -> Item {
        Item::Author(words.into())
    }

    fn persona(words: &str) -> Item {
        Item::Persona(words.into())
    }

    fn request(items: Vec<Item>, store: bool) -> Request {
        Request {
            model: "gpt-x".into(),
            instructions: "Be brief.".into(),
            question: items.iter().rposition(|i| matches!(i, Item::Author(_))).unwrap_or(0),
            items,
            options: Options { store, ..Options::default() },
            ..Request::default()
        }
    }

    /// An earlier turn with a call, then a question.
    fn second_turn() -> Vec<Item> {
        vec![
            author("Hi"),
            call("c0"),
            output("c0"),
            Item::Raw(json!({ "type": "message", "id": "m0" })),
            persona("Good day"),
            context(),
            author("Who?"),
        ]
    }

    const SECOND_TURN: &str =
        "User: Hi\n\nAssistant: Good day\n\nUser: Open: Turnover, 1943 words\n\nUser: Who?";

    #[test]
    fn the_first_request_of_a_stateful_turn_is_one_labelled_text() {
        let body = body(&request(second_turn(), true), &openai());
        assert_eq!(
            body,
            json!({ "model": "gpt-x", "instructions": "Be brief.", "input": SECOND_TURN, "store": true, "stream": true })
        );
    }

    #[test]
    fn a_turn_that_continues_sends_only_what_is_new() {
        let mut request = request(second_turn(), true);
        (request.fresh, request.previous_response_id) = (5, Some("resp_1".into()));
        let body = body(&request, &openai());
        assert_eq!(body["input"], "User: Open: Turnover, 1943 words\n\nUser: Who?");
        assert_eq!(
            (&body["previous_response_id"], &body["instructions"]),
            (&"resp_1".into(), &"Be brief.".into())
        );
    }

    #[test]
    fn a_continuation_holds_only_outputs_and_new_words() {
        let mut items = second_turn();
        items.extend([Item::Raw(json!({ "type": "function_call", "call_id": "c1" })), output("c1")]);
        let mut request = request(items, true);
        (request.fresh, request.previous_response_id) = (8, Some("resp_1".into()));
        let outputs = json!({ "type": "function_call_output", "call_id": "c1", "output": "out c1" });
        assert_eq!(body(&request, &openai())["input"], json!([outputs]));
        request.items.push(author("Stop. What now?"));
        assert_eq!(
            body(&request, &openai())["input"],
            json!([outputs, { "role": "user", "content": "Stop. What now?" }])
        );
    }

    #[test]
    fn turns_that_other_servers_answered_in_between_go_back_as_words_alone() {
        // Each of them calls its only call `call_0`.
        let raw = || Item::Raw(json!({ "type": "function_call", "call_id": "call_0", "name": "n" }));
        let mut items = vec![author("Hi"), persona("Good day")];
        for n in ["1", "2"] {
            items.extend([author(n), raw(), call("call_0"), output("call_0"), persona("So.")]);
        }
        items.extend([context(), author("Who?")]);
        let question = items.len() - 1;
        let mut request = Request {
            question,
            fresh: 2,
            previous_response_id: Some("resp_1".into()),
            ..request(items, true)
        };
        let words = "User: 1\n\nAssistant: So.\n\nUser: 2\n\nAssistant: So.\n\nUser: Open: Turnover, 1943 words\n\nUser: Who?";
        assert_eq!(body(&request, &openai())["input"], words);
        // What this turn has looked up is not left out with theirs.
        request.items.extend([call("call_0"), output("call_0")]);
        assert_eq!(
            body(&request, &openai())["input"],
            json!([
                { "role": "user", "content": words },
                { "type": "function_call", "call_id": "call_0", "name": "search_codex", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "call_0", "output": "out call_0" },
            ])
        );
    }

    #[test]
    fn a_call_that_the_program_made_is_sent_with_its_output() {
        let mut items = second_turn();
        items.extend([call("forced"), output("forced")]);
        let mut request = request(items, true);
        (request.fresh, request.previous_response_id) = (7, Some("resp_1".into()));
        let input = body(&request, &openai())["input"].clone();
        assert_eq!(
            input[0],
            json!({ "type": "function_call", "call_id": "forced", "name": "search_codex", "arguments": "{}" })
        );
        assert_eq!(input[1]["call_id"], "forced");
    }

    #[test]
    fn without_the_servers_memory_every_item_since_the_question_follows_untouched() {
        let reasoning =
            json!({ "type": "reasoning", "id": "rs", "encrypted_content": "e", "new_field": [1] });
        let raw_call =
            json!({ "type": "function_call", "id": "fc", "call_id": "c1", "name": "n", "arguments": "{}" });
        let mut items = second_turn();
        items.extend([
            Item::Raw(reasoning.clone()),
            call("c1"),
            Item::Raw(raw_call.clone()),
            output("c1"),
            call("c2"),
            output("c2"),
        ]);
        let mut request = request(items, false);
        (request.fresh, request.previous_response_id) = (9, Some("resp_1".into()));
        for body in [
            body(&request, &openai()),
            body(
                &Request { options: Options { store: true, ..Options::default() }, ..request.clone() },
                &keeps_nothing(),
            ),
        ] {
            assert_eq!(
                body["input"],
                json!([
                    { "role": "user", "content": SECOND_TURN },
                    reasoning,
                    raw_call,
                    { "type": "function_call_output", "call_id": "c1", "output": "out c1" },
                    { "type": "function_call", "call_id": "c2", "name": "search_codex", "arguments": "{}" },
                    { "type": "function_call_output", "call_id": "c2", "output": "out c2" },
                ])
            );
            assert_eq!(body.get("previous_response_id"), None);
            assert_eq!(
                (&body["store"], &body["include"]),
                (&false.into(), &json!(["reasoning.encrypted_content"]))
            );
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_not_repeated_to_a_server_that_reads_them() {
        let raw = |id: &str, arguments: Value| json!({ "type": "function_call", "id": "fc", "call_id": id, "name": "n", "arguments": arguments });
        let mut items = vec![author("Who?")];
        let half = "{\"a\":\"\\ud83d\"}";
        for (id, arguments) in [("c1", "{\"que"), ("c2", "[1]"), ("c3", half), ("c4", "{\"a\": 1}")] {
            items.extend([Item::Raw(raw(id, arguments.into())), output(id)]);
        }
        items.extend([Item::Raw(raw("c5", Value::Null)), output("c5")]);
        items.extend([
            Item::Call { call_id: CallId::new("c6"), name: "n".into(), arguments: "garbled".into() },
            output("c6"),
        ]);
        let asked = Request { question: 0, ..request(items, false) };
        let input = body(&asked, &keeps_nothing())["input"].clone();
        let arguments = |n: usize| input[2 * n - 1]["arguments"].as_str();
        assert_eq!(
            (1..=6).filter_map(arguments).collect::<Vec<_>>(),
            ["{}", "{}", "{}", "{\"a\": 1}", "{}", "{}"]
        );
        // Nothing else of the item is another.
        assert_eq!(input[1], raw("c1", "{}".into()));
    }

    #[test]
    fn thoughts_that_nothing_followed_are_not_repeated() {
        let thought =
            |id: &str| Item::Raw(json!({ "type": "reasoning", "id": id, "encrypted_content": "e" }));
        let message = Item::Raw(json!({ "type": "message", "role": "assistant", "id": "m", "content": [] }));
        let items = vec![
            author("Who?"),
            thought("rs_1"),
            thought("rs_2"),
            message,
            thought("rs_3"),
            author("The program called `search_codex` itself."),
            thought("rs_4"),
            call("c1"),
            thought("rs_5"),
            output("c1"),
            thought("rs_6"),
        ];
        let asked = Request { question: 0, ..request(items, false) };
        let input = body(&asked, &keeps_nothing())["input"].clone();
        let ids = input.as_array().unwrap().iter().filter_map(|item| item["id"].as_str());
        assert_eq!(ids.collect::<Vec<_>>(), ["rs_1", "rs_2", "m", "rs_4"]);
    }

    #[test]
    fn words_that_never_came_as_an_item_are_repeated_beside_those_of_later_rounds_that_did() {
        let message = json!({ "type": "message", "id": "m", "content": [{ "type": "output_text", "text": "Second." }] });
        let items = vec![
            author("Who?"),
            persona("First."),
            call("c1"),
            output("c1"),
            Item::Raw(message.clone()),
            persona("Second."),
            call("c2"),
            output("c2"),
        ];
        let asked = Request { question: 0, ..request(items, false) };
        let input = body(&asked, &keeps_nothing())["input"].clone();
        assert_eq!((&input[1], &input[4]), (&json!({ "role": "assistant", "content": "First." }), &message));
        assert_eq!(input.as_array().unwrap().len(), 7, "{input}");
    }

    #[test]
    fn words_of_the_program_in_the_middle_of_a_turn_hide_nothing_that_tools_returned() {
        let mut items = second_turn();
        let thought = Item::Raw(json!({ "type": "reasoning", "id": "rs" }));
        items.splice(1..1, [thought.clone()]);
        let call_item = Item::Raw(
            json!({ "type": "function_call", "id": "fc", "call_id": "c1", "name": "n", "arguments": "{}" }),
        );
        items.extend([
            thought,
            call_item,
            call("c1"),
            output("c1"),
            author("The program called `x` itself."),
        ]);
        let asked = Request { question: 7, ..request(items, true) };
        let input = json!([
            { "role": "user", "content": SECOND_TURN },
            { "type": "function_call", "call_id": "c1", "name": "n", "arguments": "{}" },
            { "type": "function_call_output", "call_id": "c1", "output": "out c1" },
            { "role": "user", "content": "The program called `x` itself." },
        ]);
        assert_eq!(whole_conversation(&asked, &openai())["input"], input);
        assert_eq!(whole_conversation(&asked, &keeps_nothing())["input"], input);
        // The rounds that follow do not name what only the server knew either.
        assert_eq!(body(&asked, &keeps_nothing())["input"], input);
        // After the oldest turn was left out, too.
        let mut shorter = asked;
        shorter.leave_out(1);
        let kept = whole_conversation(&shorter, &openai())["input"].clone();
        assert_eq!(kept[0]["content"], "User: Open: Turnover, 1943 words\n\nUser: Who?");
        assert_eq!(kept.as_array().unwrap()[1..], input.as_array().unwrap()[1..]);
    }

    #[test]
    fn thoughts_in_plain_words_go_back_within_the_turn() {
        let words = json!([{ "type": "reasoning_text", "text": "hm" }]);
        let thought = json!({ "type": "reasoning", "id": "rs", "summary": [], "content": words });
        let items = vec![author("Who?"), Item::Raw(thought.clone()), call("c1"), output("c1")];
        let asked = Request { question: 0, ..request(items, false) };
        assert_eq!(body(&asked, &keeps_nothing())["input"][1], thought);
    }

    #[test]
    fn after_a_refusal_nothing_refers_to_what_only_the_server_knew() {
        let mut items = vec![author("Who?")];
        items.push(Item::Raw(json!({ "type": "reasoning", "id": "rs" })));
        items.push(Item::Raw(
            json!({ "type": "function_call", "id": "fc", "call_id": "c1", "name": "n", "arguments": "{}" }),
        ));
        items.push(output("c1"));
        let body = whole_conversation(&request(items, true), &keeps_nothing());
        assert_eq!(
            body["input"],
            json!([
                { "role": "user", "content": "User: Who?" },
                { "type": "function_call", "call_id": "c1", "name": "n", "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c1", "output": "out c1" },
            ])
        );
    }

    #[test]
    fn every_option_has_its_place_on_the_wire() {
        let tool = json!({ "type": "function", "name": "search_codex" });
        let schema = json!({ "type": "object", "properties": {} });
        let mut request = request(vec![author("Who?")], true);
        request.tools = vec![tool.clone()];
        request.options = Options {
            max_output_tokens: Some(1),
            reasoning_effort: Some("low".into()),
            verbosity: Some("high".into()),
            service_tier: Some("flex".into()),
            response_format: Some(schema.clone()),
            store: true,
            web_search: false,
        };
        let sent = body(&request, &openai());
        assert_eq!((&sent["tools"], &sent["tool_choice"]), (&json!([tool]), &"auto".into()));
        assert_eq!((&sent["parallel_tool_calls"], &sent["max_output_tokens"]), (&false.into(), &16.into()));
        assert_eq!((&sent["reasoning"]["effort"], &sent["service_tier"]), (&"low".into(), &"flex".into()));
        assert_eq!(
            sent["text"],
            json!({ "format": { "type": "json_schema", "name": "answer", "schema": schema, "strict": true }, "verbosity": "high" })
        );
        for (choice, wire) in [
            (ToolChoice::Required, json!("required")),
            (ToolChoice::Named("x".into()), json!({ "type": "function", "name": "x" })),
        ] {
            assert_eq!(
                body(&Request { tool_choice: choice, ..request.clone() }, &openai())["tool_choice"],
                wire
            );
        }
        request.options.response_format = Some("text".into());
        assert_eq!(body(&request, &openai())["text"]["format"], json!({ "type": "text" }));
    }
}
