//! What a server can do, and how it wants to be told.
//!
//! A preset says it, the author's settings may correct it, and [`Abilities::learn`] takes back what the server itself refused. A wire
//! never sends a field that the server is not known to take. What was learned is kept by whoever made the server
//! ([`super::remote::Remote::remembering`]); nothing here touches a disk.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::call_ids::CallIds;
use super::client::Refusal;

/// What a server takes. The default is what nearly every server that speaks Chat Completions takes, and no more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a server")]
pub struct Abilities {
    /// It keeps responses, so that `previous_response_id` works.
    pub stateful: bool,
    /// Its models call tools.
    pub tools: bool,
    /// The most exact form of `tool_choice` that it takes.
    pub tool_choice: Forcing,
    /// It takes `parallel_tool_calls`.
    pub parallel_switch: bool,
    /// It takes `strict` with a tool.
    pub strict: bool,
    /// The service tiers that it takes; another one is not asked for.
    pub service_tiers: Vec<String>,
    /// It takes a reasoning effort.
    pub reasoning_effort: bool,
    /// Anthropic: the model finds by itself how many tokens it thinks with, and refuses a number of them.
    pub adaptive_thinking: bool,
    /// It takes a verbosity.
    pub verbosity: bool,
    /// Chat Completions: what it calls the limit of an answer.
    pub max_tokens: LimitField,
    /// The limit that is sent where the author sets none: a local server may otherwise never stop, and Anthropic wants one.
    pub output_limit: Option<u32>,
    /// Chat Completions: it takes `stream_options.include_usage`.
    pub usage_option: bool,
    /// Responses: it gives encrypted reasoning, to be sent back with the next request.
    pub encrypted_reasoning: bool,
    /// Chat Completions: it wants `reasoning_content` back within a turn.
    pub echo_reasoning: bool,
    /// Chat Completions: it wants `reasoning_details` back within a turn.
    pub echo_details: bool,
    /// Chat Completions: the ids of calls that it takes.
    pub call_ids: CallIds,
    /// It searches the web itself where that is offered to the model.
    pub web_search: bool,
    /// Tokens that its model holds, where that is known. Ollama is told; it would otherwise cut the beginning off.
    pub context: Option<u32>,
    /// Values that it refused of fields that it takes with others: where in the body, and what stood there.
    pub refused: Vec<(String, Value)>,
}

impl Default for Abilities {
    fn default() -> Self {
        Self {
            stateful: false,
            tools: true,
            tool_choice: Forcing::Named,
            parallel_switch: false,
            strict: false,
            service_tiers: vec![],
            reasoning_effort: false,
            adaptive_thinking: false,
            verbosity: false,
            max_tokens: LimitField::MaxTokens,
            output_limit: None,
            usage_option: true,
            encrypted_reasoning: false,
            echo_reasoning: false,
            echo_details: false,
            call_ids: CallIds::Any,
            web_search: false,
            context: None,
            refused: vec![],
        }
    }
}

/// How exactly a server can be told which tool to call. Each form includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forcing {
    /// `tool_choice` is not sent at all.
    Never,
    /// `auto` alone.
    Auto,
    /// `required`, too.
    Required,
    /// An object that names the tool, too.
    Named,
}

/// The name of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitField {
    /// `max_tokens`
    MaxTokens,
    /// `max_completion_tokens`
    MaxCompletionTokens,
}

impl LimitField {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// What was learned from a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lesson {
    /// The same can be asked in another way, for this reason.
    Again(String),
    /// The model has no tools. The request was made for one that has, so that it is not asked again.
    NoTools,
}

impl Abilities {
    /// What OpenAI's own servers take.
    pub fn openai() -> Self {
        Self {
            stateful: true,
            parallel_switch: true,
            strict: true,
            service_tiers: ["auto", "default", "flex", "priority"].map(str::to_owned).to_vec(),
            reasoning_effort: true,
            verbosity: true,
            max_tokens: LimitField::MaxCompletionTokens,
            encrypted_reasoning: true,
            web_search: true,
            ..Self::default()
        }
    }

    /// Whether a service tier may be asked for.
    pub fn tier<'t>(&self, tier: Option<&'t str>) -> Option<&'t str> {
        tier.filter(|tier| self.service_tiers.iter().any(|known| known == tier))
    }

    /// Leaves out of a body what the server refused of it.
    pub fn without_refused(&self, mut body: Value) -> Value {
        for (field, value) in &self.refused {
            if body.pointer(field) == Some(value) {
                take_out(&mut body, field);
            }
        }
        body
    }

    /// Takes back what `refusal` says that the server does not do, as far as `body` asked for it. `None`: it is about something else.
    ///
    /// Each lesson takes something away, so that learning ends, but for the name of the limit: a server that refuses both would be asked for ever. Who asks
    /// allows one other name for each exchange.
    pub fn learn(&mut self, refusal: &Refusal, body: &Value) -> Option<Lesson> {
        if !matches!(refusal.status, None | Some(400 | 404 | 405 | 422 | 500 | 501)) {
            return None;
        }
        let sent = |field: &str| body.get(field).is_some_and(|v| !v.is_null());
        if sent("tools") && says_no_tools(refusal) {
            self.tools = false;
            return Some(Lesson::NoTools);
        }
        // What is too large is taken, if there were less of it.
        if refusal.is_too_long() || refusal.is_about_the_limit() {
            return None;
        }
        let names = |field: &str| refusal.param.as_deref() == Some(field) || refusal.says(&[field]);
        let again = |why: &str| Some(Lesson::Again(why.to_owned()));
        if sent("tool_choice") && (names("tool_choice") || names("tool choice")) {
            let (form, why) = match body["tool_choice"] {
                Value::Object(_) if self.tool_choice > Forcing::Required => {
                    (Forcing::Required, "The server can't be told which tool to call: asking for any tool.")
                }
                Value::Object(_) | Value::String(_) if self.tool_choice > Forcing::Auto => {
                    (Forcing::Auto, "The server can't be told to call a tool: leaving it to the model.")
                }
                _ if self.tool_choice > Forcing::Never => {
                    (Forcing::Never, "The server takes no `tool_choice`: asking without.")
                }
                _ => return None,
            };
            self.tool_choice = form;
            return again(why);
        }
        // Mistral, and templates of its models: `Tool call IDs should be alphanumeric strings with length 9!`
        if sent("messages") && self.call_ids != CallIds::Nine && refusal.says(&["length of 9", "length 9"]) {
            self.call_ids = CallIds::Nine;
            return again("The server takes ids of nine letters and digits alone: asking with such.");
        }
        if sent("thinking") && !self.adaptive_thinking && names("adaptive") {
            self.adaptive_thinking = true;
            return again("The model finds its own budget for thoughts: asking with the effort alone.");
        }
        match refused_limit(refusal) {
            Some(LimitField::MaxTokens) if sent("max_tokens") && names("max_completion_tokens") => {
                self.max_tokens = LimitField::MaxCompletionTokens;
                return again("The server calls the limit `max_completion_tokens`: asking again.");
            }
            Some(LimitField::MaxCompletionTokens) if sent("max_completion_tokens") => {
                self.max_tokens = LimitField::MaxTokens;
                return again("The server calls the limit `max_tokens`: asking again.");
            }
            _ => {}
        }
        let flex = body.get("service_tier").and_then(Value::as_str) == Some("flex");
        if flex && ["service_tier", "service tier"].into_iter().any(names) && is_about_a_tier(refusal) {
            self.service_tiers.retain(|tier| tier != "flex");
            return again("The model has no flex tier: asking on the default tier.");
        }
        for Switch { field, words, of } in SWITCHES {
            let Some(value) = body.pointer(field).filter(|value| !value.is_null()) else { continue };
            let (switch, name) = (of(self), field.trim_start_matches('/').replace('/', "."));
            let is_meant = refusal.param.as_ref() == Some(&name) || words.iter().any(|word| names(word));
            if !*switch || !is_meant || !is_about_a_field(refusal) {
                continue;
            }
            if refusal.says(OF_A_VALUE) {
                self.refused.push((field.to_owned(), value.clone()));
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                return again(&format!("The server does not take `{value}` for `{name}`: asking without."));
            }
            *switch = false;
            return again(&format!("The server does not take `{name}`: asking without."));
        }
        None
    }
}

/// A field that a server may refuse.
struct Switch {
    /// Where it is in the body.
    field: &'static str,
    /// The words for it, in lower case.
    words: &'static [&'static str],
    /// What says that it is sent.
    of: fn(&mut Abilities) -> &mut bool,
}

/// Ollama says "think value" of an effort on both of its wires.
const EFFORT: &[&str] = &["reasoning_effort", "reasoning.effort", "support thinking", "think value"];
const THINKING: &[&str] =
    &["support thinking", "think value", "thinking is not", "support adaptive thinking"];

const SWITCHES: [Switch; 9] = [
    Switch {
        field: "/parallel_tool_calls",
        words: &["parallel_tool_calls"],
        of: |can| &mut can.parallel_switch,
    },
    Switch { field: "/stream_options", words: &["stream_options"], of: |can| &mut can.usage_option },
    Switch { field: "/verbosity", words: &["verbosity"], of: |can| &mut can.verbosity },
    Switch { field: "/text/verbosity", words: &["verbosity"], of: |can| &mut can.verbosity },
    Switch { field: "/reasoning_effort", words: EFFORT, of: |can| &mut can.reasoning_effort },
    Switch { field: "/reasoning/effort", words: EFFORT, of: |can| &mut can.reasoning_effort },
    Switch { field: "/think", words: THINKING, of: |can| &mut can.reasoning_effort },
    Switch { field: "/thinking", words: THINKING, of: |can| &mut can.reasoning_effort },
    Switch {
        field: "/include",
        words: &["reasoning.encrypted_content", "encrypted content"],
        of: |can| &mut can.encrypted_reasoning,
    },
];

/// Words for a value that is refused while the field takes others: OpenAI's, and Ollama's.
const OF_A_VALUE: &[&str] = &["unsupported_value", "unsupported value", "supported values", "think value"];

/// Takes a field out of a body, and what holds nothing else.
fn take_out(body: &mut Value, field: &str) {
    let Some((holder, name)) = field.rsplit_once('/') else { return };
    if let Some(Value::Object(fields)) = body.pointer_mut(holder) {
        fields.shift_remove(name);
        if fields.is_empty() {
            take_out(body, holder);
        }
    }
}

/// Whether a refusal says that there is no such tier, and not that it is full.
fn is_about_a_tier(refusal: &Refusal) -> bool {
    !refusal.is_capacity() && (is_about_a_field(refusal) || refusal.says(&["invalid", "not available"]))
}

/// Whether a refusal says that a field or its value is not known, and not that the value is too large or the like.
fn is_about_a_field(refusal: &Refusal) -> bool {
    refusal.says(&[
        "unknown",
        "unsupported",
        "not supported",
        "does not support",
        "unrecognized",
        "unexpected",
        "extra",
        "not permitted",
        "invalid param",
        "unsupported_parameter",
        "unknown_parameter",
    ])
}

/// Returns the name of the limit that a refusal is about: its parameter, else the one that it names first. What to use instead comes after.
fn refused_limit(refusal: &Refusal) -> Option<LimitField> {
    if !is_about_a_field(refusal) && !refusal.says(&["instead", "deprecated"]) {
        return None;
    }
    let fields = [LimitField::MaxTokens, LimitField::MaxCompletionTokens];
    let of_param = fields.into_iter().find(|field| refusal.param.as_deref() == Some(field.as_str()));
    let message = refusal.message.to_lowercase();
    let named = fields.into_iter().filter_map(|field| Some((message.find(field.as_str())?, field)));
    of_param.or_else(|| named.min_by_key(|(at, _)| *at).map(|(_, field)| field))
}

/// Whether a refusal says that the model, its template or the server has no tools at all.
pub(super) fn says_no_tools(refusal: &Refusal) -> bool {
    let of_param =
        refusal.param.as_deref() == Some("tools") && refusal.code.as_deref() == Some("unsupported_parameter");
    of_param
        || refusal.says(&[
            // Ollama: `registry.ollama.ai/library/x does not support tools`
            "does not support tools",
            "does not support tool",
            "does not support function calling",
            "tools are not supported",
            "tool calling is not supported",
            "tool use is not supported",
            // OpenAI: `tools is not supported in this model`, `Unsupported parameter: 'tools' is not supported with this model`
            "tools is not supported",
            "'tools' is not supported",
            // Qwen
            "unsupported param: tools",
            // Mistral
            "function calling is not enabled",
            // vLLM: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set`
            "tool choice requires --enable-auto-tool-choice",
            "--tool-call-parser",
            // llama.cpp
            "tools param requires --jinja",
            "chat template does not support tools",
            // OpenRouter
            "no endpoints found that support tool use",
        ])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(message: &str) -> Refusal {
        Refusal { status: Some(400), message: message.into(), ..Refusal::default() }
    }

    #[test]
    fn a_refused_choice_is_asked_for_less_exactly_until_nothing_is_left() {
        let mut can = Abilities::default();
        let said = "Invalid tool_choice type: 'object'. Supported string values: none, auto, required";
        let named = json!({ "tools": [], "tool_choice": { "type": "function" } });
        assert!(matches!(can.learn(&refused(said), &named), Some(Lesson::Again(_))));
        assert_eq!(can.tool_choice, Forcing::Required);
        for (sent, then) in [("required", Forcing::Auto), ("auto", Forcing::Never)] {
            let body = json!({ "tools": [], "tool_choice": sent });
            assert!(can.learn(&refused("tool_choice is not supported"), &body).is_some());
            assert_eq!(can.tool_choice, then);
        }
        assert_eq!(can.learn(&refused("tool_choice"), &json!({ "tool_choice": "auto" })), None);
    }

    #[test]
    fn a_server_that_says_that_its_model_has_no_tools_is_believed() {
        let body = json!({ "tools": [{}], "tool_choice": "auto" });
        for said in [
            "registry.ollama.ai/library/gemma:2b does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "tools param requires --jinja flag",
            "No endpoints found that support tool use. Try disabling \"search\".",
            "tools is not supported in this model. For a list of supported models, refer to the guide.",
            "Unsupported parameter: 'tools' is not supported with this model.",
            "Function calling is not enabled for this model",
            "deepinfra error: Tool calling is not supported for model: x",
            "Unsupported param: tools",
        ] {
            let mut can = Abilities::default();
            for status in [400, 405, 500] {
                let refusal = Refusal { status: Some(status), ..refused(said) };
                assert_eq!(
                    Abilities::default().learn(&refusal, &body),
                    Some(Lesson::NoTools),
                    "{said} {status}"
                );
            }
            assert_eq!(can.learn(&refused(said), &body), Some(Lesson::NoTools), "{said}");
            assert!(!can.tools);
            assert_eq!(Abilities::default().learn(&refused(said), &json!({})), None, "none were offered");
        }
    }

    #[test]
    fn an_option_is_left_out_on_every_wire_whatever_it_is_called_there() {
        let parameter = |name: &str| {
            let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
            Refusal {
                param: Some(name.into()),
                code: Some("unsupported_parameter".into()),
                ..refused(&message)
            }
        };
        for (refusal, body, told) in [
            (
                parameter("reasoning.effort"),
                json!({ "reasoning": { "effort": "low" } }),
                "`reasoning.effort`",
            ),
            (parameter("text.verbosity"), json!({ "text": { "verbosity": "low" } }), "`text.verbosity`"),
            (parameter("reasoning_effort"), json!({ "reasoning_effort": "low" }), "`reasoning_effort`"),
            (refused("\"m\" does not support thinking"), json!({ "think": "low" }), "`think`"),
            (refused("This model does not support thinking."), json!({ "thinking": {} }), "`thinking`"),
            (
                Refusal {
                    param: Some("include".into()),
                    ..refused("Encrypted content is not supported with this model.")
                },
                json!({ "include": ["reasoning.encrypted_content"] }),
                "`include`",
            ),
        ] {
            let mut can = Abilities::openai();
            let Some(Lesson::Again(why)) = can.learn(&refusal, &body) else { panic!("{refusal:?}") };
            assert_eq!(why, format!("The server does not take {told}: asking without."));
            assert!(!(can.verbosity && can.reasoning_effort && can.encrypted_reasoning));
            assert_eq!(can.learn(&refusal, &body), None, "once");
            assert_eq!(Abilities::openai().learn(&refusal, &json!({ "text": {} })), None, "it was not sent");
        }
    }

    #[test]
    fn a_value_that_is_refused_is_left_out_and_others_go_on_being_sent() {
        let of_openai = |field: &str, value: &str| Refusal {
            param: Some(field.into()),
            code: Some("unsupported_value".into()),
            ..refused(&format!(
                "Unsupported value: '{value}' is not supported with the 'm' model. Supported values are: 'x'."
            ))
        };
        let think = || refused("think value \"medium\" is not supported for this model");
        for (refusal, field, values, told) in [
            (
                of_openai("reasoning.effort", "none"),
                "/reasoning/effort",
                ["none", "low"],
                "`none` for `reasoning.effort`",
            ),
            (
                of_openai("text.verbosity", "low"),
                "/text/verbosity",
                ["low", "medium"],
                "`low` for `text.verbosity`",
            ),
            (think(), "/think", ["medium", "high"], "`medium` for `think`"),
            (think(), "/reasoning_effort", ["medium", "high"], "`medium` for `reasoning_effort`"),
        ] {
            let body = |value: &str| {
                field
                    .rsplit('/')
                    .filter(|name| !name.is_empty())
                    .fold(json!(value), |inner, name| json!({ name: inner }))
            };
            let mut can = Abilities::openai();
            let Some(Lesson::Again(why)) = can.learn(&refusal, &body(values[0])) else {
                panic!("{refusal:?}")
            };
            assert_eq!(why, format!("The server does not take {told}: asking without."));
            assert!(can.reasoning_effort && can.verbosity, "{field}");
            let [refused, taken] = values.map(|value| can.without_refused(body(value)));
            assert_eq!((refused, taken), (json!({}), body(values[1])));
        }
    }

    #[test]
    fn flex_that_a_model_has_not_becomes_the_default_tier_and_another_tier_stays_refused() {
        let said = Refusal { param: Some("service_tier".into()), ..refused("Invalid service_tier argument") };
        let mut can = Abilities::openai();
        assert_eq!(can.learn(&said, &json!({ "service_tier": "priority" })), None);
        let full =
            Refusal { status: None, ..refused("Resource unavailable: service_tier flex is not available") };
        assert_eq!(can.learn(&full, &json!({ "service_tier": "flex" })), None, "it has one, which is full");
        assert!(matches!(can.learn(&said, &json!({ "service_tier": "flex" })), Some(Lesson::Again(_))));
        assert_eq!((can.tier(Some("flex")), can.tier(Some("priority"))), (None, Some("priority")));
    }

    #[test]
    fn a_limit_that_is_too_large_says_nothing_of_what_it_is_called() {
        let said = "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 4096 tokens and your request has 3000 input tokens.";
        let short = "max_tokens is too large, use max_completion_tokens of at most 9";
        for said in [said, short] {
            let mut can = Abilities::default();
            assert_eq!(can.learn(&refused(said), &json!({ "max_tokens": 4096 })), None);
            assert_eq!(can, Abilities::default());
        }
    }

    #[test]
    fn a_server_that_wants_nine_letters_in_an_id_gets_them_from_then_on() {
        for said in [
            "Tool call id was forced-1 but must be a-z, A-Z, 0-9, with a length of 9.",
            "Tool call IDs should be alphanumeric strings with length 9!",
        ] {
            let mut can = Abilities::default();
            let body = json!({ "messages": [] });
            assert!(matches!(can.learn(&refused(said), &body), Some(Lesson::Again(_))), "{said}");
            assert_eq!((can.call_ids, can.learn(&refused(said), &body)), (CallIds::Nine, None));
        }
    }

    #[test]
    fn a_limit_gets_another_name_only_where_the_name_that_was_sent_is_what_is_refused() {
        let sent = |field: LimitField| json!({ field.as_str(): 4096 });
        let (old, new) = (LimitField::MaxTokens, LimitField::MaxCompletionTokens);
        let both = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        let only_new =
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.";
        let only_old = "Unknown field `max_completion_tokens`. Use `max_tokens` instead.";
        let hint = "Invalid value. See the notes on max_completion_tokens and max_tokens.";
        for (message, field, then) in [
            (both, new, None),
            (only_new, old, Some(new)),
            (only_new, new, None),
            (only_old, new, Some(old)),
            (only_old, old, None),
            (hint, old, None),
            (hint, new, None),
            ("max_tokens is deprecated in favour of max_completion_tokens", old, Some(new)),
        ] {
            let mut can = Abilities { max_tokens: field, ..Abilities::default() };
            let learned = can.learn(&refused(message), &sent(field));
            assert_eq!(learned.is_some(), then.is_some(), "{message}: {field:?}");
            assert_eq!(can.max_tokens, then.unwrap_or(field), "{message}");
        }
        let mut can = Abilities { max_tokens: new, ..Abilities::default() };
        let by_param =
            Refusal { param: Some("max_tokens".into()), ..refused("max_completion_tokens: unknown") };
        assert_eq!(can.learn(&by_param, &sent(new)), None);
    }

    #[test]
    fn a_field_that_is_refused_is_left_out_from_then_on() {
        let mut can = Abilities::openai();
        let body = json!({ "max_completion_tokens": 9, "parallel_tool_calls": false, "verbosity": "low" });
        assert!(can.learn(&refused("Unsupported parameter: 'parallel_tool_calls'"), &body).is_some());
        assert!(!can.parallel_switch);
        assert!(can.learn(&refused("Unknown field: max_completion_tokens"), &body).is_some());
        assert_eq!(can.max_tokens, LimitField::MaxTokens);
        let said = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        assert!(can.learn(&refused(said), &json!({ "max_tokens": 9 })).is_some());
        assert_eq!(can.max_tokens, LimitField::MaxCompletionTokens);
        assert_eq!(can.learn(&refused("verbosity: value too high"), &body), None);
        assert_eq!(can.learn(&refused("This model does not exist."), &body), None);
    }
}
