//! Which items of a response have come whole, so that none of them counts twice.
//!
//! Some servers give an item another id in each event and in the finished response, and some number several items alike
//! (<https://github.com/EricLBuehler/mistral.rs/issues/1944>, <https://github.com/BerriAI/litellm/pull/36375>). So an item is known by its id, else by what it
//! says, else by its place, else as one of as many of its kind. Each that has come stands for one at most.

use serde_json::{Value, json};

use super::assembly::{arguments_of, text_of, words_of};

/// The items that have come.
#[derive(Debug, Default)]
pub struct Seen(Vec<One>);

/// What an item is known by.
#[derive(Debug)]
struct One {
    kind: String,
    /// Its own id, and that of its call.
    ids: [Option<String>; 2],
    place: Option<u64>,
    /// What it says; `Null`: nothing that could be compared.
    content: Value,
}

impl Seen {
    /// Adds an item that came. `false`: it is one that had come already.
    pub fn add(&mut self, item: &Value, place: Option<u64>) -> bool {
        let one = One::of(item, place);
        let is_new = !self.0.iter().any(|known| known.repeats(&one));
        if is_new {
            self.0.push(one);
        }
        is_new
    }

    /// Returns which items of a finished response have not come, in order.
    pub fn missing(&self, output: &[Value]) -> Vec<usize> {
        let output: Vec<One> = (0..).zip(output).map(|(place, item)| One::of(item, Some(place))).collect();
        let mut came: Vec<&One> = self.0.iter().collect();
        let mut missing: Vec<usize> = (0..output.len()).collect();
        for is_it in [One::has_the_id_of, One::says_the_same_as, One::stands_where, One::is_any] {
            missing.retain(|&at| {
                let found =
                    came.iter().position(|one| one.kind == output[at].kind && is_it(one, &output[at]));
                found.map(|found| came.remove(found)).is_none()
            });
        }
        missing
    }
}

impl One {
    fn of(item: &Value, place: Option<u64>) -> Self {
        let kind = text_of(item, "type").unwrap_or_default().to_owned();
        let content = match kind.as_str() {
            "message" => words_of(item).into(),
            "function_call" => {
                let text = arguments_of(item).unwrap_or_default();
                let arguments = serde_json::from_str(&text).unwrap_or(Value::String(text));
                json!([item.get("name"), arguments])
            }
            _ => Value::Null,
        };
        Self {
            kind,
            ids: ["id", "call_id"].map(|field| text_of(item, field).map(str::to_owned)),
            place,
            content,
        }
    }

    fn has_the_id_of(&self, other: &Self) -> bool {
        self.ids.iter().zip(&other.ids).any(|(id, other)| id.is_some() && id == other)
    }

    fn has_another_id_than(&self, other: &Self) -> bool {
        self.ids.iter().zip(&other.ids).any(|(id, other)| id.is_some() && other.is_some() && id != other)
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        !self.content.is_null() && self.content == other.content
    }

    fn stands_where(&self, other: &Self) -> bool {
        self.place.is_some() && self.place == other.place
    }

    fn is_any(_: &Self, _: &Self) -> bool {
        true
    }

    /// Whether it is the same event once more.
    fn repeats(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.has_the_id_of(other)
            && !self.has_another_id_than(other)
            && self.place == other.place
            && self.content == other.content
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, words: &str) -> Value {
        json!({ "type": "message", "id": id, "content": [{ "type": "output_text", "text": words }] })
    }

    fn call(id: &str, arguments: &str) -> Value {
        json!({ "type": "function_call", "id": id, "call_id": format!("c{id}"), "name": "look", "arguments": arguments })
    }

    fn missing(came: &[(Value, Option<u64>)], output: &[Value]) -> Vec<usize> {
        let mut seen = Seen::default();
        for (item, place) in came {
            assert!(seen.add(item, *place), "{item}");
        }
        seen.missing(output)
    }

    #[test]
    fn an_item_is_known_by_its_id_its_content_its_place_or_its_number() {
        let thought = |id: &str| json!({ "type": "reasoning", "id": id });
        let (a, b) = (call("1", r#"{"a":1}"#), call("2", r#"{"a":2}"#));
        let (a_again, b_again) = (call("8", r#"{ "a": 1 }"#), call("9", r#"{ "a": 2 }"#));
        for (what, came, output, expected) in [
            ("nothing came", vec![], vec![a.clone(), b.clone()], vec![0, 1]),
            ("by id", vec![(b.clone(), None)], vec![a.clone(), b.clone()], vec![0]),
            ("by content", vec![(b.clone(), None)], vec![a_again.clone(), b_again.clone()], vec![0]),
            (
                "all have the same place",
                vec![(a.clone(), Some(0)), (b.clone(), Some(0))],
                vec![a_again.clone(), b_again.clone()],
                vec![],
            ),
            (
                "places that begin with 1",
                vec![(a.clone(), Some(1)), (b.clone(), Some(2))],
                vec![a_again.clone(), b_again.clone(), call("7", "{}")],
                vec![2],
            ),
            (
                "twice the same, of which one came",
                vec![(a.clone(), None)],
                vec![a.clone(), a_again.clone()],
                vec![1],
            ),
            (
                "by place, with other words",
                vec![(message("m", "She  left."), Some(1))],
                vec![message("x", "Hm."), message("y", "She left.")],
                vec![0],
            ),
            ("by number", vec![(message("m", "She  left."), None)], vec![message("y", "She left.")], vec![]),
            ("thoughts", vec![(thought("r1"), None)], vec![thought("r2"), thought("r3")], vec![1]),
            ("another kind", vec![(thought("r"), Some(0))], vec![message("r", "Yes.")], vec![0]),
        ] {
            assert_eq!(missing(&came, &output), expected, "{what}");
        }
    }

    #[test]
    fn the_same_event_twice_is_one_item_and_an_id_for_all_items_is_none() {
        let mut seen = Seen::default();
        assert!(seen.add(&message("m", "Yes."), Some(0)));
        assert!(!seen.add(&message("m", "Yes."), Some(0)));
        assert!(seen.add(&message("m", "No."), Some(0)));
        let nameless = json!({ "type": "message", "content": [] });
        assert!(seen.add(&nameless, None) && seen.add(&nameless, None));
        let (one, other) = (call("1", "{}"), call("2", "{}"));
        let mut with_half_its_ids = one.clone();
        with_half_its_ids.as_object_mut().and_then(|fields| fields.shift_remove("id"));
        assert!(seen.add(&one, Some(1)) && !seen.add(&with_half_its_ids, Some(1)));
        assert!(seen.add(&other, Some(1)), "another call at the same place");
    }
}
