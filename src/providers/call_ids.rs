//! The ids of calls in one body: unique over the whole conversation, and of the form that a server takes.
//!
//! An id is unique within its turn alone: many servers begin with `call_0` in every turn, and so does the program with its own calls. A body holds many turns, and
//! Anthropic refuses one id for two calls. A call and its output always get the same id here. An id that is unique and has the form that is
//! wanted stays as it is. Of two alike, that of the turn that is running stays: what its server signed or encrypted may name it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{Item, Request};
use crate::domain::ids::CallId;
use crate::domain::passage::sha256_hex;

/// Which ids a server takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallIds {
    /// Any.
    #[default]
    Any,
    /// Letters, digits, `_` and `-`.
    Safe,
    /// Nine letters and digits: Mistral's models and the templates that come with them.
    Nine,
}

impl CallIds {
    /// Returns an id in this form, always the same for the same one. Two may come to the same.
    fn form(self, id: &str) -> String {
        match self {
            Self::Any => id.to_owned(),
            Self::Safe if id.is_empty() => "call".to_owned(),
            Self::Safe => id
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' })
                .collect(),
            Self::Nine if id.len() == NINE && id.bytes().all(|b| b.is_ascii_alphanumeric()) => id.to_owned(),
            Self::Nine => sha256_hex(id).chars().take(NINE).collect(),
        }
    }
}

const NINE: usize = 9;

/// Returns the items of a request with ids that are unique in it and have this form.
pub fn distinct(request: &Request, form: CallIds) -> Cow<'_, [Item]> {
    let items = &request.items;
    let question = request.question.min(items.len());
    let (before, running) = items.split_at(question);
    let mut names = Names { form, taken: HashSet::new(), theirs: HashSet::new() };
    names.theirs.extend(items.iter().filter_map(id).map(|id| form.form(id.as_str())));
    // The turn that is running chooses first.
    let of_running = names.of(running);
    let all: Vec<Option<String>> = names.of(before).into_iter().chain(of_running).collect();
    let is_same = |(item, name): (&Item, &Option<String>)| id(item).map(CallId::as_str) == name.as_deref();
    if items.iter().zip(&all).all(is_same) {
        return Cow::Borrowed(items);
    }
    items.iter().zip(all).map(|(item, name)| renamed(item, name)).collect()
}

fn id(item: &Item) -> Option<&CallId> {
    match item {
        Item::Call { call_id, .. } | Item::Output { call_id, .. } => Some(call_id),
        Item::Context(_) | Item::Author(_) | Item::Persona(_) | Item::Raw(_) => None,
    }
}

fn renamed(item: &Item, name: Option<String>) -> Item {
    let mut item = item.clone();
    if let (Item::Call { call_id, .. } | Item::Output { call_id, .. }, Some(name)) = (&mut item, name) {
        *call_id = CallId::new(name);
    }
    item
}

/// The ids that are given out.
struct Names {
    form: CallIds,
    taken: HashSet<String>,
    /// What the items are called themselves: no copy is named so.
    theirs: HashSet<String>,
}

impl Names {
    /// Names the calls of some turns and their outputs, in their order.
    fn of(&mut self, items: &[Item]) -> Vec<Option<String>> {
        // Calls that wait for their output: the id they came with, and the one they got.
        let mut open: HashMap<&CallId, Vec<String>> = HashMap::new();
        let mut names = Vec::with_capacity(items.len());
        for item in items {
            names.push(match item {
                Item::Call { call_id, .. } => {
                    let name = self.new_one(call_id.as_str());
                    open.entry(call_id).or_default().push(name.clone());
                    Some(name)
                }
                Item::Output { call_id, .. } => {
                    let first = open.get_mut(call_id).filter(|calls| !calls.is_empty());
                    // An output of nobody must not become that of a call in another turn.
                    Some(first.map_or_else(|| self.new_one(call_id.as_str()), |calls| calls.remove(0)))
                }
                Item::Author(_) => {
                    // What was not answered by then never is.
                    open.clear();
                    None
                }
                Item::Context(_) | Item::Persona(_) | Item::Raw(_) => None,
            });
        }
        names
    }

    fn new_one(&mut self, id: &str) -> String {
        let mut name = self.form.form(id);
        let mut copy = 1;
        while !self.taken.insert(name.clone()) {
            copy += 1;
            name = self.form.form(&format!("{id}-{copy}"));
            while self.theirs.contains(&name) {
                copy += 1;
                name = self.form.form(&format!("{id}-{copy}"));
            }
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn call(id: &str) -> Item {
        Item::Call { call_id: CallId::new(id), name: "look".into(), arguments: "{}".into() }
    }

    fn output(id: &str, text: &str) -> Item {
        Item::Output { call_id: CallId::new(id), name: "look".into(), output: text.into() }
    }

    fn author() -> Item {
        Item::Author("Who?".into())
    }

    fn request(items: Vec<Item>, question: usize) -> Request {
        Request { items, question, ..Request::default() }
    }

    fn ids(items: &[Item]) -> Vec<&str> {
        items.iter().filter_map(id).map(CallId::as_str).collect()
    }

    #[test]
    fn the_same_id_in_three_turns_is_three_ids_and_the_running_turn_keeps_its_own() {
        let turn = |n: &str| [author(), call("call_0"), output("call_0", n)];
        let request = request([turn("1"), turn("2"), turn("3")].concat(), 6);
        let items = distinct(&request, CallIds::Any);
        assert_eq!(ids(&items), ["call_0-2", "call_0-2", "call_0-3", "call_0-3", "call_0", "call_0"]);
        // One turn later, those of the oldest turns are what they were.
        let more = Request {
            items: [request.items.clone(), turn("4").to_vec()].concat(),
            question: 9,
            ..Request::default()
        };
        assert_eq!(ids(&distinct(&more, CallIds::Any))[..4], ids(&items)[..4]);
    }

    #[test]
    fn what_is_unique_stays_untouched_also_beside_a_copy() {
        let items = vec![author(), call("a-2"), output("a-2", ""), author(), call("b"), output("b", "")];
        let all_unique = request(items, 3);
        assert!(matches!(distinct(&all_unique, CallIds::Any), Cow::Borrowed(_)));
        let items = vec![
            author(),
            call("a"),
            output("a", ""),
            author(),
            call("a-2"),
            output("a-2", ""),
            author(),
            call("a"),
            output("a", ""),
        ];
        assert_eq!(ids(&distinct(&request(items, 6), CallIds::Any)), ["a-3", "a-3", "a-2", "a-2", "a", "a"]);
    }

    #[test]
    fn an_output_belongs_to_the_call_of_its_own_turn_and_never_to_another() {
        let items =
            vec![author(), call("x"), author(), call("x"), output("x", "2"), author(), output("x", "?")];
        let request = request(items, 5);
        let items = distinct(&request, CallIds::Any);
        let ids = ids(&items);
        assert_eq!(ids[1], ids[2], "a call and its output");
        assert!(ids[0] != ids[1] && ids[3] != ids[1] && ids[3] != ids[0], "{ids:?}");
    }

    #[test]
    fn a_server_that_takes_nine_letters_and_digits_always_gets_the_same_nine() {
        let items = vec![
            author(),
            call("forced-1"),
            output("forced-1", ""),
            call("Ab3456789"),
            output("Ab3456789", ""),
        ];
        let request = request(items, 0);
        let items = distinct(&request, CallIds::Nine);
        let ids = ids(&items);
        assert_eq!((ids[0], ids[2], ids[3]), (ids[1], "Ab3456789", "Ab3456789"));
        assert!(ids[0].len() == 9 && ids[0].bytes().all(|b| b.is_ascii_alphanumeric()), "{ids:?}");
        assert_eq!(*distinct(&request, CallIds::Nine), *items);
    }

    #[test]
    fn ids_that_only_look_alike_once_they_are_safe_stay_two() {
        let items = vec![author(), call("a.1"), call("a:1"), output("a.1", ""), output("a:1", "")];
        assert_eq!(ids(&distinct(&request(items, 0), CallIds::Safe)), ["a_1", "a_1-2", "a_1", "a_1-2"]);
    }

    proptest! {
        #[test]
        fn whatever_servers_call_their_calls_no_two_have_one_id_and_each_has_its_output(
            turns in prop::collection::vec(prop::collection::vec("[ab.:]{0,2}|a-2|forced-1", 1..4), 1..6),
            form in prop::sample::select(vec![CallIds::Any, CallIds::Safe, CallIds::Nine]),
        ) {
            let (mut items, mut question) = (vec![], 0);
            for (n, turn) in turns.iter().enumerate() {
                question = items.len();
                items.push(author());
                let mut seen = HashSet::new();
                let turn: Vec<_> = turn.iter().filter(|id| seen.insert(*id)).collect();
                items.extend(turn.iter().map(|id| call(id)));
                items.extend(turn.iter().map(|id| output(id, &format!("{n} {id}"))));
            }
            let request = request(items, question);
            let named = distinct(&request, form);
            let mut calls = HashMap::new();
            for (item, before) in named.iter().zip(&request.items) {
                if let (Item::Call { call_id, .. }, Some(theirs)) = (item, id(before)) {
                    prop_assert!(calls.insert(call_id.clone(), theirs.clone()).is_none(), "two are {}", call_id);
                    prop_assert!(form != CallIds::Nine || call_id.as_str().len() == 9);
                }
                if let Item::Output { call_id, output, .. } = item {
                    let theirs = calls.remove(call_id);
                    let theirs = theirs.as_ref().map(CallId::as_str);
                    prop_assert_eq!(theirs, output.split_once(' ').map(|(_, id)| id));
                }
            }
            prop_assert!(calls.is_empty());
        }
    }
}
