//! `reasoning_details`: thoughts in parts, some of them signed or encrypted, which OpenRouter wants back with the calls that followed them. Without them Gemini's models
//! refuse the results of tools, and a signature over text that was changed is refused too.
//!
//! A stream brings a part in pieces: those with the same index and type are one, with their text joined. What is encrypted comes whole and stays as it is.
//!
//! <https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks>

use serde_json::Value;

/// Most bytes that are kept of one answer's thoughts; more is not sent back at all, since half of it would be refused.
const MOST: usize = 4 * 1024 * 1024;

/// Fields whose pieces are joined.
const JOINED: [&str; 2] = ["text", "summary"];

/// The thoughts of one answer.
#[derive(Debug, Default)]
pub struct Details {
    parts: Vec<Value>,
    size: usize,
}

impl Details {
    /// Takes the pieces of one chunk.
    pub fn take(&mut self, pieces: &Value) {
        for piece in pieces.as_array().into_iter().flatten().filter(|piece| piece.is_object()) {
            self.size += piece.to_string().len();
            if self.size > MOST {
                self.parts.clear();
                continue;
            }
            match self.parts.iter_mut().rev().find(|part| is_one(part, piece)) {
                Some(part) => join(part, piece),
                None => self.parts.push(piece.clone()),
            }
        }
    }

    /// Returns the parts in their order; `None` where there are none.
    pub fn whole(self) -> Option<Value> {
        (!self.parts.is_empty()).then_some(Value::Array(self.parts))
    }
}

/// Whether a piece goes on with a part.
fn is_one(part: &Value, piece: &Value) -> bool {
    let kind = piece.get("type").and_then(Value::as_str);
    matches!(kind, Some("reasoning.text" | "reasoning.summary"))
        && part.get("type") == piece.get("type")
        && part.get("index") == piece.get("index")
}

fn join(part: &mut Value, piece: &Value) {
    let (Value::Object(part), Value::Object(piece)) = (part, piece) else { return };
    for (field, value) in piece {
        match (part.get_mut(field), value) {
            (Some(Value::String(known)), Value::String(more)) if JOINED.contains(&field.as_str()) => {
                known.push_str(more);
            }
            (None | Some(Value::Null), value) => {
                part.insert(field.clone(), value.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pieces_of_a_thought_are_one_part_with_the_signature_that_comes_last() {
        let text = |words: &str| json!({ "type": "reasoning.text", "text": words, "signature": null, "format": "f", "index": 0 });
        let sealed =
            |data: &str| json!({ "type": "reasoning.encrypted", "data": data, "id": "tool_1", "index": 0 });
        let mut details = Details::default();
        details.take(&json!([text("Let")]));
        details.take(&json!([text(" me.")]));
        details.take(&json!([{ "type": "reasoning.text", "signature": "s", "format": "f", "index": 0 }]));
        details.take(
            &json!([{ "type": "reasoning.summary", "summary": "Hm", "index": 1 }, sealed("x"), sealed("y")]),
        );
        for odd in [json!(null), json!("x"), json!([1, "x", null])] {
            details.take(&odd);
        }
        let expected = json!([
            { "type": "reasoning.text", "text": "Let me.", "signature": "s", "format": "f", "index": 0 },
            { "type": "reasoning.summary", "summary": "Hm", "index": 1 },
            sealed("x"),
            sealed("y"),
        ]);
        assert_eq!(details.whole(), Some(expected));
    }

    #[test]
    fn thoughts_without_end_are_not_sent_back_in_part() {
        let mut details = Details::default();
        for _ in 0..5 {
            details.take(&json!([{ "type": "reasoning.text", "text": "x".repeat(1024 * 1024), "index": 0 }]));
        }
        details.take(&json!([{ "type": "reasoning.encrypted", "data": "x" }]));
        assert_eq!(details.whole(), None);
    }
}
