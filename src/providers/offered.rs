//! The tools that a request offers, and which of them a server means by a name.

use std::collections::BTreeSet;

use super::Request;

/// Names of tools on offer.
#[derive(Debug, Clone, Default)]
pub struct Offered(BTreeSet<String>);

impl Offered {
    /// The tools of `request`.
    pub fn in_request(request: &Request) -> Self {
        let names = request.tools.iter().filter_map(|tool| tool.get("name")?.as_str());
        Self(names.map(str::to_owned).collect())
    }

    /// Whether a tool of this name is on offer.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Returns the name of the tool that a server means. Some let tokens of the Harmony format through, or name the tool's space. What is no tool on offer
    /// keeps its name, so that the model is told what it called.
    pub fn clean(&self, raw: &str) -> String {
        let name = raw.split("<|").next().unwrap_or_default().trim();
        let last = name.rsplit(['.', ':', '/']).next().unwrap_or(name);
        if !self.has(name) && self.has(last) { last } else { name }.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_is_cleaned_to_a_tool_on_offer_and_no_further() {
        let tools = vec![json!({ "name": "look" }), json!({ "name": "a.look" })];
        let offered = Offered::in_request(&Request { tools, ..Request::default() });
        for (raw, name) in [
            ("look", "look"),
            (" look ", "look"),
            ("look<|channel|>commentary", "look"),
            ("functions.look", "look"),
            ("default:look", "look"),
            ("functions.look<|constrain|>json", "look"),
            ("a.look", "a.look"),
            ("functions.drop", "functions.drop"),
            ("<|x|>", ""),
        ] {
            assert_eq!(offered.clean(raw), name, "{raw}");
        }
    }
}
