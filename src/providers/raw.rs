//! Items that are repeated exactly as a server sent them, each with the wire that it belongs to.
//!
//! An item of the Responses API stands as it is: that is what conversations of earlier versions hold. One of another wire is wrapped:
//! `{"wire": "anthropic", "v": 1, "item": ..}`. A wire repeats only its own; what the others said is in the plain items beside them.

use serde_json::{Value, json};

use super::wire::Protocol;

/// Version of the wrapping. A wrapped item of another version is left out: its words are in the plain items.
const VERSION: u64 = 1;

/// Wraps an item of a wire other than Responses.
pub fn wrap(wire: Protocol, item: &Value) -> Value {
    json!({ "wire": wire.name(), "v": VERSION, "item": item })
}

/// Returns the item, if it is one of `wire`.
pub fn of(wire: Protocol, raw: &Value) -> Option<&Value> {
    match raw.get("wire").and_then(Value::as_str) {
        None => (wire == Protocol::Responses).then_some(raw),
        Some(name) => {
            let fits = name == wire.name() && raw.get("v").and_then(Value::as_u64) == Some(VERSION);
            raw.get("item").filter(|_| fits)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_gets_its_own_items_back_and_no_others() {
        let thought = json!({ "type": "thinking", "signature": "s" });
        let wrapped = wrap(Protocol::Anthropic, &thought);
        assert_eq!(of(Protocol::Anthropic, &wrapped), Some(&thought));
        assert_eq!(of(Protocol::Responses, &wrapped), None);
        let old = json!({ "type": "reasoning", "id": "rs_1" });
        assert_eq!(of(Protocol::Responses, &old), Some(&old));
        assert_eq!(of(Protocol::Anthropic, &old), None);
        let mut later = wrapped;
        later["v"] = 2.into();
        assert_eq!(of(Protocol::Anthropic, &later), None);
    }
}
