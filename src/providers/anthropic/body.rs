//! The body of a request: a pure function of what is asked and of what the server takes.
//!
//! Sides take turns, the outputs of all calls of a message are one message, no text is empty, and what the model thought within the turn
//! goes back untouched and in its place, signature included: what stands between thoughts stays there. Thinking is asked for only where
//! that is allowed: not with a tool that must be called, and not in the middle of a turn that began without.

use serde_json::{Map, Value, json};

use crate::domain::ids::CallId;
use crate::providers::abilities::{Abilities, Forcing};
use crate::providers::call_ids::{CallIds, distinct};
use crate::providers::chat::{Message, said};
use crate::providers::wire::Protocol;
use crate::providers::{Item, Options, Request, ToolChoice};

/// Most tokens of an answer where nobody says otherwise: the field is required.
const MAX_TOKENS: u32 = 8192;

/// The smallest budget for thoughts that the API takes.
const MIN_BUDGET: u32 = 1024;

/// Name and version of the tool that searches the web.
const WEB_SEARCH: &str = "web_search_20250305";

/// Builds the body.
pub fn body(request: &Request, can: &Abilities) -> Value {
    let options = &request.options;
    let mut tools: Vec<Value> = if can.tools { request.tools.iter().map(tool).collect() } else { vec![] };
    let own = !tools.is_empty();
    if options.web_search && can.web_search {
        tools.push(json!({ "type": WEB_SEARCH, "name": "web_search", "max_uses": 3 }));
    }
    let items = distinct(request, CallIds::Safe);
    let messages = said(&items, request.question, Protocol::Anthropic, own);
    let forced = own && request.tool_choice != ToolChoice::Auto && can.tool_choice >= Forcing::Required;
    let thinks = !forced && may_think(&messages, request);
    let visible = options.max_output_tokens.or(can.output_limit).unwrap_or(MAX_TOKENS);
    let budget = budget(options, can).filter(|_| thinks);
    let mut body = Map::new();
    let mut put = |field: &str, value: Option<Value>| body.extend(value.map(|v| (field.to_owned(), v)));
    put("model", Some(request.model.as_str().into()));
    // The limit holds the thoughts, too, and has to be above their budget.
    put("max_tokens", Some(visible.saturating_add(budget.unwrap_or(0)).into()));
    put("system", (!request.instructions.is_empty()).then(|| request.instructions.as_str().into()));
    put("messages", Some(in_turns(messages).into()));
    put("tool_choice", (own && can.tool_choice > Forcing::Never).then(|| tool_choice(request, can)));
    put("tools", (!tools.is_empty()).then(|| tools.into()));
    put("thinking", budget.map(|tokens| json!({ "type": "enabled", "budget_tokens": tokens })));
    if let Some(effort) = effort(options, can).filter(|_| thinks) {
        put("thinking", Some(json!({ "type": "adaptive" })));
        put("output_config", Some(json!({ "effort": effort })));
    }
    put("service_tier", tier(options, can));
    put("stream", Some(true.into()));
    can.without_refused(Value::Object(body))
}

fn tool(tool: &Value) -> Value {
    let field = |name: &str| tool.get(name).cloned().unwrap_or_default();
    json!({ "name": field("name"), "description": field("description"), "input_schema": field("parameters") })
}

fn tool_choice(request: &Request, can: &Abilities) -> Value {
    let mut choice = match (&request.tool_choice, can.tool_choice) {
        (ToolChoice::Named(name), Forcing::Named) => json!({ "type": "tool", "name": name }),
        (ToolChoice::Named(_) | ToolChoice::Required, Forcing::Required | Forcing::Named) => {
            json!({ "type": "any" })
        }
        _ => json!({ "type": "auto" }),
    };
    choice["disable_parallel_tool_use"] = true.into();
    choice
}

/// Tokens to think with, where the model takes a number of them.
fn budget(options: &Options, can: &Abilities) -> Option<u32> {
    let effort =
        options.reasoning_effort.as_deref().filter(|_| can.reasoning_effort && !can.adaptive_thinking)?;
    match effort {
        "none" => None,
        "minimal" | "low" => Some(MIN_BUDGET),
        "medium" => Some(4 * MIN_BUDGET),
        "high" => Some(12 * MIN_BUDGET),
        _ => Some(24 * MIN_BUDGET),
    }
}

/// The effort, where the model finds the number by itself.
fn effort<'o>(options: &'o Options, can: &Abilities) -> Option<&'o str> {
    let effort =
        options.reasoning_effort.as_deref().filter(|_| can.reasoning_effort && can.adaptive_thinking)?;
    match effort {
        "none" => None,
        "minimal" => Some("low"),
        other => Some(other),
    }
}

fn tier(options: &Options, can: &Abilities) -> Option<Value> {
    let tier = can.tier(options.service_tier.as_deref())?;
    Some(if tier == "default" { "standard_only".into() } else { tier.into() })
}

/// Whether thinking may be asked for: a message with calls in the turn that is running has to begin with its thoughts.
fn may_think(messages: &[Message<'_>], request: &Request) -> bool {
    let called = request.items.iter().skip(request.question).any(|i| matches!(i, Item::Call { .. }));
    let last = messages.iter().rev().find_map(|message| match message {
        Message::Model { calls, raw, .. } if !calls.is_empty() => {
            Some(raw.first().is_some_and(|b| is_thought(b)))
        }
        _ => None,
    });
    !called || last.unwrap_or(true)
}

/// Messages of the two sides in turns.
fn in_turns(messages: Vec<Message<'_>>) -> Vec<Value> {
    let mut turns: Vec<(&str, Vec<Value>)> = vec![];
    for message in messages {
        let (role, blocks): (_, Vec<Value>) = match message {
            Message::User(text) => ("user", vec![json!({ "type": "text", "text": text })]),
            Message::Model { words, calls, raw } => ("assistant", said_by_the_model(&words, &calls, &raw)),
            Message::Output { call_id, output, .. } => {
                ("user", vec![json!({ "type": "tool_result", "tool_use_id": call_id, "content": output })])
            }
        };
        match turns.last_mut() {
            Some((before, held)) if *before == role => held.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let turns = turns.into_iter().filter(|(_, content)| !content.is_empty());
    turns.map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// A call, as it is known here.
type OfCall<'a> = (&'a CallId, &'a str, &'a str);

/// The blocks of a message of the model: as they came where all its calls are among them, else its thoughts and then what is known in plain words.
fn said_by_the_model(words: &str, calls: &[OfCall<'_>], raw: &[&Value]) -> Vec<Value> {
    let came = raw.iter().filter(|block| is(block, "tool_use")).count();
    if came == 0 || came != calls.len() {
        let thoughts = raw.iter().filter(|block| is_thought(block)).map(|block| Value::clone(block));
        let words = (!words.trim().is_empty()).then(|| json!({ "type": "text", "text": words }));
        return thoughts.chain(words).chain(calls.iter().map(|of| call(json!({}), *of))).collect();
    }
    let mut calls = calls.iter();
    let blank =
        |block: &Value| block.get("text").and_then(Value::as_str).is_some_and(|text| text.trim().is_empty());
    let blocks = raw.iter().filter(|block| !(is(block, "text") && blank(block)));
    let as_known = |block: &&Value| {
        let of = if is(block, "tool_use") { calls.next() } else { None };
        of.map_or_else(|| Value::clone(block), |of| call(Value::clone(block), *of))
    };
    blocks.map(as_known).collect()
}

/// A call in its block, under the name, the id and with the input that it has here: its result comes under that id.
fn call(mut block: Value, (id, name, arguments): OfCall<'_>) -> Value {
    let input = serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object);
    block["type"] = "tool_use".into();
    block["id"] = id.as_str().into();
    block["name"] = name.into();
    block["input"] = input.unwrap_or_else(|| json!({}));
    block
}

fn is_thought(block: &Value) -> bool {
    is(block, "thinking") || is(block, "redacted_thinking")
}

fn is(block: &Value, kind: &str) -> bool {
    block.get("type").and_then(Value::as_str) == Some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::raw;

    fn can() -> Abilities {
        Abilities {
            reasoning_effort: true,
            web_search: true,
            service_tiers: vec!["auto".into(), "default".into()],
            ..Abilities::default()
        }
    }

    fn request(items: Vec<Item>) -> Request {
        Request {
            model: "claude".into(),
            instructions: "Be kind.".into(),
            question: items.iter().rposition(|i| matches!(i, Item::Author(_))).unwrap_or(0),
            items,
            tools: vec![
                json!({ "type": "function", "name": "look", "description": "Looks.", "parameters": { "type": "object" }, "strict": true }),
            ],
            ..Request::default()
        }
    }

    fn thought() -> Value {
        json!({ "type": "thinking", "thinking": "hm", "signature": "sig" })
    }

    fn turn() -> Vec<Item> {
        let call_id = CallId::new("call.1");
        vec![
            Item::Context("Open.".into()),
            Item::Author("Who?".into()),
            Item::Raw(raw::wrap(Protocol::Anthropic, &thought())),
            Item::Raw(json!({ "type": "reasoning", "encrypted_content": "of another" })),
            Item::Persona("Let me see.".into()),
            Item::Call { call_id: call_id.clone(), name: "look".into(), arguments: "{\"a\":1}".into() },
            Item::Output { call_id, name: "look".into(), output: "[]".into() },
        ]
    }

    #[test]
    fn a_turn_is_repeated_with_its_thoughts_untouched() {
        let mut request = request(turn());
        request.options.reasoning_effort = Some("low".into());
        let body = body(&request, &can());
        assert_eq!(
            body,
            json!({
                "model": "claude",
                "max_tokens": MAX_TOKENS + MIN_BUDGET,
                "system": "Be kind.",
                "messages": [
                    { "role": "user", "content": [{ "type": "text", "text": "Open.\n\nWho?" }] },
                    { "role": "assistant", "content": [
                        thought(),
                        { "type": "text", "text": "Let me see." },
                        { "type": "tool_use", "id": "call_1", "name": "look", "input": { "a": 1 } },
                    ] },
                    { "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "call_1", "content": "[]" }] },
                ],
                "tool_choice": { "type": "auto", "disable_parallel_tool_use": true },
                "tools": [{ "name": "look", "description": "Looks.", "input_schema": { "type": "object" } }],
                "thinking": { "type": "enabled", "budget_tokens": MIN_BUDGET },
                "stream": true,
            })
        );
    }

    #[test]
    fn blocks_between_thoughts_go_back_where_they_stood_and_to_no_other_server() {
        let of = |n: u8| json!({ "type": "thinking", "thinking": "hm", "signature": format!("sig {n}") });
        let words = json!({ "type": "text", "text": "Let me see.", "citations": [] });
        let used = |id: &str| json!({ "type": "tool_use", "id": id, "name": "look", "input": { "a": 1 } });
        let blocks = [of(0), words.clone(), of(1), json!({ "type": "text", "text": "" }), used("call.1")];
        let mut items = turn();
        items.splice(2..4, blocks.iter().map(|block| Item::Raw(raw::wrap(Protocol::Anthropic, block))));
        let mut asked = request(items);
        asked.options.reasoning_effort = Some("low".into());
        let sent = |asked: &Request| body(asked, &can())["messages"][1]["content"].clone();
        assert_eq!(sent(&asked), json!([of(0), words, of(1), used("call_1")]));
        assert!(body(&asked, &can()).get("thinking").is_some());
        // A call of which no block came, and one that is not sent.
        asked
            .items
            .insert(8, Item::Call { call_id: CallId::new("b"), name: "look".into(), arguments: "{}".into() });
        asked.items.push(Item::Output {
            call_id: CallId::new("b"),
            name: "look".into(),
            output: "[]".into(),
        });
        let kinds = |content: &Value| -> Vec<String> {
            content
                .as_array()
                .unwrap()
                .iter()
                .map(|block| block["type"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(kinds(&sent(&asked)), ["thinking", "thinking", "text", "tool_use", "tool_use"]);
        asked.tools.clear();
        assert_eq!(kinds(&sent(&asked)), ["thinking", "thinking", "text"]);
        let elsewhere = Protocol::Chat.wire().body(&asked, &can()).to_string();
        assert!(elsewhere.contains("Let me see.") && !elsewhere.contains("sig 0"), "{elsewhere}");
    }

    #[test]
    fn two_turns_with_the_same_ids_are_repeated_with_others() {
        let body = body(&request([turn(), turn(), turn()].concat()), &can());
        let blocks =
            || body["messages"].as_array().unwrap().iter().flat_map(|m| m["content"].as_array().unwrap());
        let of = |kind: &str, field: &str| -> Vec<Value> {
            blocks().filter(|block| block["type"] == kind).map(|block| block[field].clone()).collect()
        };
        assert_eq!(of("tool_use", "id"), ["call_1-2", "call_1-3", "call_1"]);
        assert_eq!(of("tool_result", "tool_use_id"), of("tool_use", "id"));
        assert_eq!(of("thinking", "signature").len(), 1, "that of the turn that is running");
    }

    #[test]
    fn thinking_is_not_asked_for_where_it_would_be_refused() {
        let mut forced = request(vec![Item::Author("Who?".into())]);
        forced.options.reasoning_effort = Some("high".into());
        assert!(body(&forced, &can()).get("thinking").is_some());
        forced.tool_choice = ToolChoice::Named("look".into());
        let sent = body(&forced, &can());
        assert_eq!(sent["tool_choice"]["type"], "tool");
        assert!(sent.get("thinking").is_none());
        let mut began_without = request(turn().into_iter().filter(|i| !matches!(i, Item::Raw(_))).collect());
        began_without.options.reasoning_effort = Some("high".into());
        assert!(body(&began_without, &can()).get("thinking").is_none());
    }

    #[test]
    fn a_model_that_finds_its_own_budget_is_told_the_effort() {
        let mut request = request(vec![Item::Author("Who?".into())]);
        request.options = Options {
            reasoning_effort: Some("medium".into()),
            service_tier: Some("default".into()),
            web_search: true,
            max_output_tokens: Some(500),
            ..Options::default()
        };
        let body = body(&request, &Abilities { adaptive_thinking: true, ..can() });
        assert_eq!(
            (&body["thinking"]["type"], &body["output_config"]["effort"]),
            (&"adaptive".into(), &"medium".into())
        );
        assert_eq!((&body["max_tokens"], &body["service_tier"]), (&500.into(), &"standard_only".into()));
        assert_eq!(body["tools"][1]["type"], WEB_SEARCH);
    }
}
