//! The calls of one answer, put together from fragments by servers that agree neither on ids nor on indexes.
//!
//! A fragment belongs to the call with its id; else to the one that its index was last bound to; else to the latest. A call that was cut is
//! never given out. What a server calls a tool is cleaned to the name of one on offer where that is certain.

use serde_json::Value;

use crate::domain::ids::CallId;
use crate::providers::offered::Offered;
use crate::providers::speech::is_object;
use crate::providers::{Event, Request};

/// A piece of a call, as far as the server says what it is.
#[derive(Debug, Default, Clone, Copy)]
pub struct Fragment<'a> {
    /// The call's id; an empty one is none.
    pub id: Option<&'a str>,
    /// Its place among the calls.
    pub index: Option<u64>,
    /// The tool.
    pub name: Option<&'a str>,
    /// Its arguments: a piece of text, or an object.
    pub arguments: Option<&'a Value>,
}

impl<'a> Fragment<'a> {
    /// Reads an element of `tool_calls`; `position` is its place there, which counts where it is one of several without an index.
    pub fn of(call: &'a Value, position: Option<usize>) -> Self {
        let function = call.get("function").filter(|f| f.is_object()).unwrap_or(call);
        let text = |value: &'a Value, field: &str| value.get(field)?.as_str().filter(|t| !t.is_empty());
        let index = call.get("index").or_else(|| function.get("index")).and_then(Value::as_u64);
        Self {
            id: text(call, "id"),
            index: index.or(position.map(|p| p as u64)),
            name: text(function, "name"),
            arguments: function.get("arguments"),
        }
    }
}

/// The calls so far.
#[derive(Debug)]
pub struct Calls {
    open: Vec<Open>,
    /// Which call an index was last bound to.
    bound: Vec<(u64, usize)>,
    offered: Offered,
}

#[derive(Debug)]
struct Open {
    id: Option<String>,
    call_id: CallId,
    name: String,
    arguments: String,
}

impl Calls {
    /// Begins; the names on offer are those of `request`.
    pub fn new(request: &Request) -> Self {
        Self { open: vec![], bound: vec![], offered: Offered::in_request(request) }
    }

    /// Whether no call has begun.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether a tool of this name is on offer.
    pub fn offers(&self, name: &str) -> bool {
        self.offered.has(name)
    }

    /// Takes a fragment.
    pub fn take(&mut self, fragment: Fragment<'_>, out: &mut Vec<Event>) {
        let name = fragment.name.map(|name| self.offered.clean(name));
        let at = self.find(&fragment, name.as_deref()).unwrap_or_else(|| {
            let id = fragment.id.map(str::to_owned);
            let call_id = id.clone().unwrap_or_else(|| format!("call_{}", ulid::Ulid::generate()));
            self.open.push(Open {
                id,
                call_id: CallId::new(call_id),
                name: String::new(),
                arguments: String::new(),
            });
            self.open.len() - 1
        });
        if let Some(index) = fragment.index {
            self.bound.retain(|(bound, _)| *bound != index);
            self.bound.push((index, at));
        }
        let offered = &self.offered;
        let call = &mut self.open[at];
        if call.id.is_none()
            && call.name.is_empty()
            && call.arguments.is_empty()
            && let Some(id) = fragment.id
        {
            (call.id, call.call_id) = (Some(id.to_owned()), CallId::new(id));
        }
        if let Some(name) = name {
            let was_empty = call.name.is_empty();
            if was_empty {
                call.name = name;
            } else if !offered.has(&call.name) && offered.has(&format!("{}{name}", call.name)) {
                call.name.push_str(&name);
            }
            if was_empty {
                out.push(Event::CallStarted { call_id: call.call_id.clone(), name: call.name.clone() });
            }
        }
        if let Some(delta) = fragment.arguments.and_then(|more| call.add(more))
            && !call.name.is_empty()
        {
            out.push(Event::CallArguments { call_id: call.call_id.clone(), delta });
        }
    }

    /// The call that a fragment belongs to; `None`: a new one.
    fn find(&self, fragment: &Fragment<'_>, name: Option<&str>) -> Option<usize> {
        let by_id = |id: &str| self.open.iter().position(|call| call.id.as_deref() == Some(id));
        let by_index = |index: u64| self.bound.iter().find(|(bound, _)| *bound == index).map(|(_, at)| *at);
        let latest = self.open.len().checked_sub(1);
        if let Some(id) = fragment.id {
            if let Some(at) = by_id(id) {
                return Some(at);
            }
            let at = fragment.index.and_then(by_index)?;
            let call = &self.open[at];
            // Some servers give every piece an id of its own; a call of its own would have a name.
            let is_more = name.is_none() && !call.name.is_empty();
            let is_blank = call.id.is_none() && call.name.is_empty();
            return (is_more || is_blank).then_some(at);
        }
        let at = match fragment.index {
            Some(index) => by_index(index).or(if name.is_some() { None } else { latest }),
            None => latest,
        }?;
        let begins_another = name.is_some_and(|name| self.open[at].is_over_before(name, fragment, self));
        (!begins_another).then_some(at)
    }

    /// Ends the answer: gives the calls that are whole. `cut`: the answer was cut off, so that what is no JSON was cut, too; else it is the
    /// model's own mistake, and the tool says so.
    pub fn finish(&mut self, cut: bool, out: &mut Vec<Event>) {
        for mut call in std::mem::take(&mut self.open) {
            if call.arguments.trim().is_empty() && !cut {
                "{}".clone_into(&mut call.arguments);
            }
            if let Ok(Value::String(inner)) = serde_json::from_str::<Value>(&call.arguments)
                && is_object(&inner)
            {
                call.arguments = inner;
            }
            if cut && !is_object(&call.arguments) {
                continue;
            }
            out.push(Event::Call { call_id: call.call_id, name: call.name, arguments: call.arguments });
        }
    }
}

impl Open {
    /// Whether a fragment with this name can't be more of this call.
    fn is_over_before(&self, name: &str, fragment: &Fragment<'_>, calls: &Calls) -> bool {
        if self.name.is_empty() {
            return false;
        }
        if name != self.name {
            return calls.offers(name) || is_object(&self.arguments);
        }
        // The same name again: with whole arguments that are others, it is another call of the same tool.
        let more = match fragment.arguments {
            Some(Value::String(text)) => text.clone(),
            Some(value @ Value::Object(_)) => value.to_string(),
            _ => return false,
        };
        is_object(&more) && is_object(&self.arguments) && !same(&more, &self.arguments)
    }

    /// Adds to the arguments; returns what was added.
    fn add(&mut self, more: &Value) -> Option<String> {
        match more {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => {
                let repeats = !self.arguments.is_empty()
                    && text.len() > 1
                    && text.trim_end().ends_with('}')
                    && is_object(text)
                    && same(text, &self.arguments);
                if repeats {
                    return None;
                }
                self.arguments.push_str(text);
                Some(text.clone())
            }
            Value::Object(_) | Value::Array(_) => {
                let whole = more.to_string();
                if same(&whole, &self.arguments) {
                    return None;
                }
                self.arguments.clone_from(&whole);
                Some(whole)
            }
            _ => None,
        }
    }
}

/// Whether two texts are the same JSON.
fn same(a: &str, b: &str) -> bool {
    match (serde_json::from_str::<Value>(a), serde_json::from_str::<Value>(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn request() -> Request {
        let tool = |name: &str| json!({ "type": "function", "name": name });
        Request { model: "m".into(), tools: vec![tool("look"), tool("search_codex")], ..Request::default() }
    }

    /// The calls that chunks of `tool_calls` come to, as `id name arguments`; a minted id is `*`.
    fn calls(chunks: &[Value], cut: bool) -> Vec<String> {
        let (mut calls, mut out) = (Calls::new(&request()), vec![]);
        for chunk in chunks {
            let all = chunk.as_array().unwrap();
            for (at, call) in all.iter().enumerate() {
                calls.take(Fragment::of(call, (all.len() > 1).then_some(at)), &mut out);
            }
        }
        out.clear();
        calls.finish(cut, &mut out);
        let shown = out.into_iter().map(|event| match event {
            Event::Call { call_id, name, arguments } => {
                let id = if call_id.as_str().starts_with("call_0") { "*" } else { call_id.as_str() };
                format!("{id} {name} {arguments}")
            }
            other => panic!("{other:?}"),
        });
        shown.collect()
    }

    fn piece(id: Value, index: Value, name: Value, arguments: Value) -> Value {
        let function = Map::from_iter([("name".to_owned(), name), ("arguments".to_owned(), arguments)]);
        let fields = [("id", id), ("index", index), ("function", function.into())];
        fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect::<Map<_, _>>().into()
    }

    #[expect(clippy::too_many_lines, reason = "a table")]
    #[test]
    fn fragments_find_their_call_by_id_by_index_or_by_order() {
        const N: Value = Value::Null;
        let s = |text: &str| Value::from(text);
        let cases: Vec<(&str, Vec<Value>, Vec<&str>)> = vec![
            (
                "as documented",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"x\""))]),
                    json!([piece(s("b"), 1.into(), s("look"), s("{}"))]),
                    json!([piece(N, 0.into(), N, s(":1}"))]),
                ],
                vec!["a look {\"x\":1}", "b look {}"],
            ),
            (
                "all with index 0",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":1}"))]),
                    json!([piece(s("b"), 0.into(), s("look"), s("{\"x\":2}"))]),
                    json!([piece(N, 0.into(), N, s(""))]),
                ],
                vec!["a look {\"x\":1}", "b look {\"x\":2}"],
            ),
            (
                "no index",
                vec![
                    json!([piece(s("a"), N, s("look"), s("{"))]),
                    json!([piece(N, N, N, s("}"))]),
                    json!([piece(s("b"), N, s("look"), s("{}"))]),
                ],
                vec!["a look {}", "b look {}"],
            ),
            (
                "neither id nor index, several at once",
                vec![json!(
                    [piece(N, N, s("look"), s("{\"x\":1}")), piece(N, N, s("look"), s("{\"x\":1}")),]
                )],
                vec!["* look {\"x\":1}", "* look {\"x\":1}"],
            ),
            (
                "neither id nor index, one after another",
                vec![
                    json!([piece(N, N, s("look"), s("{\"x\":1}"))]),
                    json!([piece(N, N, s("look"), s("{\"x\":2}"))]),
                    json!([piece(N, N, s("search_codex"), s(""))]),
                ],
                vec!["* look {\"x\":1}", "* look {\"x\":2}", "* search_codex {}"],
            ),
            (
                "the tail has another index than the head",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s(""))]),
                    json!([piece(N, 1.into(), N, s("{\"x\":1}"))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "an id for every piece",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{"))]),
                    json!([piece(s("b"), 0.into(), N, s("}"))]),
                ],
                vec!["a look {}"],
            ),
            (
                "the name in every piece",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":"))]),
                    json!([piece(s("a"), 0.into(), s("look"), s("1}"))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "the name in pieces",
                vec![
                    json!([piece(s("a"), 0.into(), s("search"), s(""))]),
                    json!([piece(N, 0.into(), s("_codex"), s("{}"))]),
                ],
                vec!["a search_codex {}"],
            ),
            (
                "an object",
                vec![json!([piece(s("a"), 0.into(), s("look"), json!({ "x": 1 }))])],
                vec!["a look {\"x\":1}"],
            ),
            (
                "said twice",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":1}"))]),
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\": 1}"))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "encoded twice",
                vec![json!([piece(s("a"), 0.into(), s("look"), s("\"{\\\"x\\\":1}\""))])],
                vec!["a look {\"x\":1}"],
            ),
            (
                "tokens and spaces in the name",
                vec![
                    json!([piece(s(""), 0.into(), s("look<|channel|>commentary"), N)]),
                    json!([piece(s("b"), 1.into(), s("functions.search_codex"), N)]),
                ],
                vec!["* look {}", "b search_codex {}"],
            ),
        ];
        for (name, chunks, expected) in cases {
            assert_eq!(calls(&chunks, false), expected, "{name}");
        }
    }

    #[test]
    fn what_was_cut_is_never_run_and_what_the_model_garbled_is() {
        let open = [json!([piece("a".into(), 0.into(), "look".into(), "{\"x\":".into())])];
        assert!(calls(&open, true).is_empty());
        assert_eq!(calls(&open, false), ["a look {\"x\":"]);
        let begun = [json!([piece("a".into(), 0.into(), "look".into(), "".into())])];
        assert!(calls(&begun, true).is_empty());
    }
}
