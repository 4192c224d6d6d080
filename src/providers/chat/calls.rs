//! The calls of one answer, put together from fragments by servers that agree neither on ids nor on indexes.
//!
//! A fragment belongs to the call with its id; else to the one that its index was last bound to; else to the latest; and never to one that was over before.
//! No two calls have the same id here, whatever the server says. Several objects in a row are several calls of one tool that ran into one: an empty one before
//! another is only how a server begins, and the same again is no call of its own. A call that was cut is never given out. What a server calls a tool is cleaned to the name of one on offer where that is certain.

use std::collections::HashSet;

use serde::de::IgnoredAny;
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

/// How much can be known of the call that an answer ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    /// The server said that the answer is whole: what is no JSON is the model's own mistake, and the tool says so.
    Whole,
    /// The server ended the answer without a reason: what is no JSON was cut. Nothing at all is a call without arguments.
    Unsaid,
    /// It was cut off.
    Cut,
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

    /// Takes the calls of a whole message, of which pieces have come: by their places, since they may be told under other ids.
    pub fn complete<'f>(&mut self, whole: impl Iterator<Item = Fragment<'f>>, out: &mut Vec<Event>) {
        let named: Vec<usize> = (0..self.open.len()).filter(|at| !self.open[*at].name.is_empty()).collect();
        for (n, fragment) in whole.enumerate() {
            match named.get(n) {
                None => self.take_whole(fragment, out),
                Some(at) if self.open[*at].arguments.trim().is_empty() => {
                    self.fill(*at, Fragment { id: None, index: None, ..fragment }, None, out);
                }
                Some(_) => {}
            }
        }
    }

    /// Whether a tool of this name is on offer.
    pub fn offers(&self, name: &str) -> bool {
        self.offered.has(name)
    }

    /// Takes a fragment.
    pub fn take(&mut self, fragment: Fragment<'_>, out: &mut Vec<Event>) {
        let name = fragment.name.map(|name| self.offered.clean(name));
        let at = self.find(&fragment, name.as_deref()).unwrap_or_else(|| self.begin(fragment.id));
        self.fill(at, fragment, name, out);
    }

    /// Takes a call that comes in one piece: it is one of its own whatever its id and index.
    pub fn take_whole(&mut self, fragment: Fragment<'_>, out: &mut Vec<Event>) {
        let name = fragment.name.map(|name| self.offered.clean(name));
        let at = self.begin(fragment.id);
        self.fill(at, Fragment { index: None, ..fragment }, name, out);
    }

    /// Begins a call, with an id that no other has: servers give several calls the same.
    fn begin(&mut self, id: Option<&str>) -> usize {
        let call_id = self.unused(id);
        let id = id.map(str::to_owned);
        let (name, arguments) = (String::new(), String::new());
        self.open.push(Open { id, call_id, name, arguments });
        self.open.len() - 1
    }

    fn unused(&self, id: Option<&str>) -> CallId {
        unused(id, |id| self.open.iter().any(|call| call.call_id == *id))
    }

    fn fill(&mut self, at: usize, fragment: Fragment<'_>, name: Option<String>, out: &mut Vec<Event>) {
        if let Some(index) = fragment.index {
            self.bound.retain(|(bound, _)| *bound != index);
            self.bound.push((index, at));
        }
        let call = &self.open[at];
        let is_blank = call.id.is_none() && call.name.is_empty() && call.arguments.is_empty();
        if let Some(id) = fragment.id.filter(|_| is_blank) {
            let call_id = self.unused(Some(id));
            (self.open[at].id, self.open[at].call_id) = (Some(id.to_owned()), call_id);
        }
        let offered = &self.offered;
        let call = &mut self.open[at];
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
        let by_index = |index: u64| self.bound.iter().find(|(bound, _)| *bound == index).map(|(_, at)| *at);
        let latest = self.open.len().checked_sub(1);
        let bound = fragment.index.and_then(by_index);
        let at = if let Some(id) = fragment.id {
            let has_it = |at: &usize| self.open[*at].id.as_deref() == Some(id);
            let same = bound.filter(has_it).or_else(|| (0..self.open.len()).rev().find(has_it));
            let Some(at) = same else {
                let call = &self.open[bound?];
                // Some servers give every piece an id of its own; a call of its own would have a name.
                let is_more = name.is_none() && !call.name.is_empty();
                let is_blank = call.id.is_none() && call.name.is_empty();
                return bound.filter(|_| is_more || is_blank);
            };
            // A name with an index that is new begins a call, also where all calls have one id.
            let has_another =
                |index| bound.is_none() && self.bound.iter().any(|(i, of)| *of == at && *i != index);
            let call = &self.open[at];
            let is_open = !call.arguments.trim().is_empty() && !is_object(&call.arguments);
            if name.is_some() && !call.name.is_empty() && !is_open && fragment.index.is_some_and(has_another)
            {
                return None;
            }
            at
        } else {
            match fragment.index {
                Some(_) => bound.or(if name.is_some() { None } else { latest }),
                None => latest,
            }?
        };
        let begins_another = name.is_some_and(|name| self.open[at].is_over_before(name, fragment, self));
        (!begins_another).then_some(at)
    }

    /// Ends the answer: gives the calls that are whole.
    pub fn finish(&mut self, last: Last, out: &mut Vec<Event>) {
        let all = std::mem::take(&mut self.open);
        // A head whose tail came with another index is no call without arguments.
        let is_head = |call: &Open| {
            let is_tail = |other: &Open| other.is_like(call) && !other.arguments.trim().is_empty();
            call.id.is_some() && call.arguments.trim().is_empty() && all.iter().any(is_tail)
        };
        let heads: Vec<bool> = all.iter().map(is_head).collect();
        let mut ids: HashSet<CallId> = all.iter().map(|call| call.call_id.clone()).collect();
        let is_nothing = |call: &Open| call.name.is_empty() && call.arguments.trim().is_empty();
        let calls = all.into_iter().zip(heads).filter(|(call, is_head)| !is_head && !is_nothing(call));
        for (mut call, _) in calls {
            if call.arguments.trim().is_empty() && last != Last::Cut {
                "{}".clone_into(&mut call.arguments);
            }
            if let Ok(Value::String(inner)) = serde_json::from_str::<Value>(&call.arguments)
                && is_object(&inner)
            {
                call.arguments = inner;
            }
            for (at, arguments) in in_a_row(&call.arguments, last).into_iter().enumerate() {
                let (mut call_id, name) = (call.call_id.clone(), call.name.clone());
                if at > 0 {
                    call_id = unused(call.id.as_deref(), |id| ids.contains(id));
                    ids.insert(call_id.clone());
                    out.push(Event::CallStarted { call_id: call_id.clone(), name: name.clone() });
                }
                out.push(Event::Call { call_id, name, arguments: arguments.to_owned() });
            }
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

    /// Whether a server calls both the same, id and tool.
    fn is_like(&self, other: &Self) -> bool {
        (&self.id, &self.name) == (&other.id, &other.name)
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

/// An id like the server's, or a new one, that is not taken.
fn unused(id: Option<&str>, is_taken: impl Fn(&CallId) -> bool) -> CallId {
    let Some(id) = id else { return CallId::new(format!("call_{}", ulid::Ulid::generate())) };
    let copies = (2..).map(|copy| format!("{id}-{copy}"));
    let mut names = std::iter::once(id.to_owned()).chain(copies).map(CallId::new);
    names.find(|name| !is_taken(name)).unwrap_or_else(|| CallId::new(id))
}

/// The arguments of each call that these are: one, or several objects in a row. What is no object counts only where the model wrote it so.
fn in_a_row(text: &str, last: Last) -> Vec<&str> {
    let mut objects: Vec<&str> = vec![];
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut start = 0;
    while let Some(Ok(_)) = values.next() {
        let Some(object) = text.get(start..values.byte_offset()).filter(|o| o.trim_start().starts_with('{'))
        else {
            break;
        };
        start = values.byte_offset();
        if !objects.last().is_some_and(|before| same(before, object)) {
            objects.push(object);
        }
    }
    let is_all = text.get(start..).is_none_or(|rest| rest.trim().is_empty());
    if !is_all && last == Last::Whole {
        return vec![text];
    }
    if is_all && objects.len() == 1 {
        return objects;
    }
    let is_empty = |object: &str| object.trim().strip_prefix('{').is_some_and(|o| o.trim_start() == "}");
    objects.retain(|object| !is_empty(object));
    objects
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
    fn calls(chunks: &[Value], last: Last) -> Vec<String> {
        let (mut calls, mut out) = (Calls::new(&request()), vec![]);
        for chunk in chunks {
            let all = chunk.as_array().unwrap();
            for (at, call) in all.iter().enumerate() {
                calls.take(Fragment::of(call, (all.len() > 1).then_some(at)), &mut out);
            }
        }
        out.clear();
        calls.finish(last, &mut out);
        let shown = out.into_iter().filter(|event| !matches!(event, Event::CallStarted { .. }));
        let shown = shown.map(|event| match event {
            Event::Call { call_id, name, arguments } => {
                let id = if call_id.as_str().starts_with("call_01") { "*" } else { call_id.as_str() };
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
                "the tail has another index than the head, and its id and name",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s(""))]),
                    json!([piece(s("a"), 1.into(), s("look"), s("{\"x\":"))]),
                    json!([piece(s("a"), 2.into(), s("look"), s("1}"))]),
                ],
                vec!["a-2 look {\"x\":1}"],
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
                "one id for two tools in one chunk",
                vec![json!([
                    piece(s("call_0"), 0.into(), s("look"), s("{\"x\":1}")),
                    piece(s("call_0"), 1.into(), s("search_codex"), s("{\"y\":1}")),
                ])],
                vec!["call_0 look {\"x\":1}", "call_0-2 search_codex {\"y\":1}"],
            ),
            (
                "one id and one index for two calls of a tool, as objects",
                vec![
                    json!([piece(s("call_0"), 0.into(), s("look"), json!({ "x": 1 }))]),
                    json!([piece(s("call_0"), 0.into(), s("look"), json!({ "x": 2 }))]),
                ],
                vec!["call_0 look {\"x\":1}", "call_0-2 look {\"x\":2}"],
            ),
            (
                "one id for two calls of a tool, whose arguments follow by their indexes",
                vec![
                    json!([piece(s("call_0"), 0.into(), s("look"), s(""))]),
                    json!([piece(s("call_0"), 1.into(), s("look"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":1}"))]),
                    json!([piece(s("call_0"), 1.into(), N, s("{\"x\":2}"))]),
                ],
                vec!["call_0 look {\"x\":1}", "call_0-2 look {\"x\":2}"],
            ),
            (
                "one id and one index, one after another in pieces",
                vec![
                    json!([piece(s("call_0"), 0.into(), s("look"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":1}"))]),
                    json!([piece(s("call_0"), 0.into(), s("search_codex"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"y\":"))]),
                    json!([piece(s("call_0"), 0.into(), N, s("1}"))]),
                ],
                vec!["call_0 look {\"x\":1}", "call_0-2 search_codex {\"y\":1}"],
            ),
            (
                "the name in every piece, with an id, an index that is right and an end without arguments",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":"))]),
                    json!([piece(s("a"), 0.into(), s("look"), s("1}"))]),
                    json!([piece(s("a"), 0.into(), s("look"), s(""))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "one id and one index for two calls of a tool in pieces",
                vec![
                    json!([piece(s("call_0"), 0.into(), s("look"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":1}"))]),
                    json!([piece(s("call_0"), 0.into(), s("look"), s(""))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":"))]),
                    json!([piece(N, 0.into(), N, s("2}"))]),
                ],
                vec!["call_0 look {\"x\":1}", "call_0-2 look {\"x\":2}"],
            ),
            (
                "two calls of a tool that nothing tells apart but the name",
                vec![
                    json!([piece(N, N, s("look"), s("{\"x\":"))]),
                    json!([piece(N, N, N, s("1}"))]),
                    json!([piece(N, N, s("look"), s("{\"x\":"))]),
                    json!([piece(N, N, N, s("2}"))]),
                ],
                vec!["* look {\"x\":1}", "* look {\"x\":2}"],
            ),
            (
                "two calls of a tool with one id, where each piece opens an object",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":1}"))]),
                    json!([piece(s("a"), 0.into(), N, s("{\"x\":"))]),
                    json!([piece(N, 0.into(), N, s("2}"))]),
                ],
                vec!["a look {\"x\":1}", "a-2 look {\"x\":2}"],
            ),
            (
                "a head with empty arguments, and then pieces",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{}"))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":"))]),
                    json!([piece(N, 0.into(), N, s("1}"))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "a head with empty arguments, and then the whole",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{}"))]),
                    json!([piece(N, 0.into(), N, s("{\"x\":1}"))]),
                ],
                vec!["a look {\"x\":1}"],
            ),
            (
                "the whole, and then again in pieces",
                vec![
                    json!([piece(s("a"), 0.into(), s("look"), s("{\"x\":1}"))]),
                    json!([piece(N, 0.into(), N, s("{\"x\": "))]),
                    json!([piece(N, 0.into(), N, s("1}"))]),
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
            assert_eq!(calls(&chunks, Last::Whole), expected, "{name}");
        }
    }

    #[test]
    fn what_was_cut_is_never_run_and_what_the_model_garbled_is() {
        let open = [json!([piece("a".into(), 0.into(), "look".into(), "{\"x\":".into())])];
        assert!(calls(&open, Last::Cut).is_empty() && calls(&open, Last::Unsaid).is_empty());
        assert_eq!(calls(&open, Last::Whole), ["a look {\"x\":"]);
        let head = [json!([piece("a".into(), 0.into(), "look".into(), "{}{\"x\":".into())])];
        assert!(calls(&head, Last::Cut).is_empty(), "an empty head is not what was asked for");
        let begun = [json!([piece("a".into(), 0.into(), "look".into(), "".into())])];
        assert!(calls(&begun, Last::Cut).is_empty());
        assert_eq!(calls(&begun, Last::Unsaid), ["a look {}"], "an end without a reason is one");
    }
}
