//! The tool rows of a turn: one record a call, told again whenever it changes.

use serde_json::Value;

use super::machine::Call;
use crate::domain::conversation::{ToolRecord, ToolStatus};
use crate::domain::ids::CallId;
use crate::domain::safe_text;
use crate::tools::Evidence;

/// Most characters of a call's arguments or name in a row.
const MAX_SHOWN: usize = 80;

/// The provider's own tool that searches the web.
const WEB_SEARCH: &str = "web_search";

/// What is said of what the web says.
const NOT_CANON: &str = "web, not canon";

/// The rows in the order in which the calls began.
#[derive(Debug, Default)]
pub struct Rows(Vec<ToolRecord>);

impl Rows {
    /// Whether no call was shown.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ends the turn: gives the rows away.
    pub fn into_records(self) -> Vec<ToolRecord> {
        self.0
    }

    /// A call waits, or more is known of its arguments.
    pub fn queue(&mut self, call: &Call) -> ToolRecord {
        let row = self.row(&call.id);
        row.name = one_line(&call.name);
        row.arguments = shorten(&call.arguments);
        row.forced = call.forced;
        row.clone()
    }

    /// A call runs.
    pub fn run(&mut self, call: &Call) -> ToolRecord {
        self.queue(call);
        self.set(&call.id, ToolStatus::Running, None, 0)
    }

    /// A call answered.
    pub fn done(&mut self, id: &CallId, evidence: Evidence, ms: u64) -> ToolRecord {
        let row = self.row(id);
        row.resolved = evidence.resolved;
        row.title = evidence.title;
        row.kind = evidence.kind;
        row.results = evidence.results;
        row.words = evidence.words;
        row.missing = evidence.missing;
        row.truncated = evidence.truncated;
        self.set(id, ToolStatus::Done, None, ms)
    }

    /// The provider searched the web for the model. No file was resolved, so that nothing of it counts as read from the book.
    pub fn web(&mut self, query: &str) -> ToolRecord {
        let call_id = CallId::new(format!("web-{}", self.0.len() + 1));
        let row = self.row(&call_id);
        WEB_SEARCH.clone_into(&mut row.name);
        row.arguments = one_line(query);
        row.title = Some(NOT_CANON.to_owned());
        row.kind = Some("web".to_owned());
        self.set(&call_id, ToolStatus::Done, None, 0)
    }

    /// A call ended without an answer, or with an error.
    pub fn end(&mut self, id: &CallId, status: ToolStatus, error: Option<&str>, ms: u64) -> ToolRecord {
        self.set(id, status, error, ms)
    }

    fn set(&mut self, id: &CallId, status: ToolStatus, error: Option<&str>, ms: u64) -> ToolRecord {
        let row = self.row(id);
        row.status = status;
        row.error = error.map(|e| safe_text::block(e).into_owned());
        row.ms = ms;
        row.clone()
    }

    fn row(&mut self, id: &CallId) -> &mut ToolRecord {
        let at = self.0.iter().position(|row| &row.call_id == id).unwrap_or_else(|| {
            self.0.push(blank(id));
            self.0.len() - 1
        });
        &mut self.0[at]
    }
}

fn blank(id: &CallId) -> ToolRecord {
    ToolRecord {
        call_id: id.clone(),
        name: String::new(),
        arguments: String::new(),
        status: ToolStatus::Queued,
        resolved: vec![],
        title: None,
        kind: None,
        results: 0,
        words: None,
        missing: false,
        truncated: false,
        forced: false,
        ms: 0,
        error: None,
    }
}

/// Arguments on one safe line: without those that are null, cut to a length. What is no JSON object is shown as it is.
fn shorten(arguments: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(arguments) else { return one_line(arguments) };
    fields.retain(|_, value| !value.is_null());
    one_line(&Value::Object(fields).to_string())
}

fn one_line(text: &str) -> String {
    // White space collapses lazily: arguments may be megabytes.
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().take(MAX_SHOWN + 1));
        if line.chars().count() > MAX_SHOWN {
            break;
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(MAX_SHOWN) {
        line.truncate(cut);
        line.push('…');
    }
    safe_text::line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_shown_on_one_safe_line() {
        for (arguments, shown) in [
            (r#"{"name":"Mira Okafor","entryType":null}"#, r#"{"name":"Mira Okafor"}"#.to_owned()),
            ("{}", "{}".to_owned()),
            ("", String::new()),
            ("{\"ref\": \"cur", "{\"ref\": \"cur".to_owned()),
            ("not\n\n JSON \x1b[2J", "not JSON ␛[2J".to_owned()),
            (
                &format!("{{\"a\":\"{}\"}}", "é\\n".repeat(100_000)),
                format!("{{\"a\":\"{}é\\…", "é\\n".repeat(24)),
            ),
        ] {
            let line = shorten(arguments);
            assert!(line.chars().count() <= MAX_SHOWN + 1, "{line}");
            assert_eq!(line, shown);
        }
    }

    #[test]
    fn a_search_of_the_web_is_marked_and_counts_as_nothing_that_was_read() {
        let mut rows = Rows::default();
        let row = rows.web("lamp \u{1b}oil");
        assert_eq!((row.name.as_str(), row.title.as_deref()), ("web_search", Some("web, not canon")));
        assert_eq!((row.status, row.arguments.as_str()), (ToolStatus::Done, "lamp \u{241b}oil"));
        assert!(row.resolved.is_empty() && row.results == 0 && row.words.is_none());
        rows.web("gulls");
        assert_eq!(rows.into_records().len(), 2);
    }

    #[test]
    fn a_row_is_one_record_from_queued_to_done() {
        let mut rows = Rows::default();
        let call = Call {
            id: CallId::new("c1"),
            name: "search_codex".into(),
            arguments: r#"{"query":"x"}"#.into(),
            forced: true,
        };
        assert_eq!(rows.queue(&call).status, ToolStatus::Queued);
        assert_eq!(rows.run(&call).status, ToolStatus::Running);
        let done = rows.done(&call.id, Evidence { results: 3, ..Evidence::default() }, 7);
        assert_eq!((done.status, done.results, done.ms, done.forced), (ToolStatus::Done, 3, 7, true));
        assert_eq!(rows.into_records(), [done]);
    }
}
