//! The peek view as text: the same in the popup and in `scritorio prompt`.

use std::fmt::Write;

use serde_json::Value;

use crate::domain::passage::count_words;
use crate::domain::price::dollars;
use crate::domain::safe_text;
use crate::proposal::diff;
use crate::providers::tokens;

use super::Peek;

const INSTRUCTIONS: &str = "Instructions";

/// The parts of a body that have a place of their own in the view; a wire calls them by one name or the other.
const PARTS: [(&str, &[&str]); 3] =
    [(INSTRUCTIONS, &["instructions", "system"]), ("Input", &["input", "messages"]), ("Tools", &["tools"])];

impl Peek {
    /// Renders everything that would be sent.
    pub fn text(&self) -> String {
        let mut out = self.head();
        let mut section = |title: &str, size: &str, text: &str| {
            let _ = writeln!(out, "\n== {title}{size}\n\n{}", safe_text::block(text.trim_end()));
        };
        section("Instructions", &sizes(&self.instructions), &self.instructions);
        match &self.context {
            Some(context) => section("Context", &sizes(context), context),
            None => section("Context", " (none)", "No document is open."),
        }
        section("Input", &sizes(&self.input), &self.input);
        let schemas = self.body.get("tools").map(ToString::to_string).unwrap_or_default();
        let (count, bytes, tokens) = (self.tools.len(), schemas.len(), tokens::estimate(&schemas));
        let size = match (count, self.is_sent) {
            (0, _) => String::new(),
            (_, false) => format!(" ({count})"),
            _ => format!(" ({count}, their schemas are {bytes} bytes, about {} tokens)", grouped(tokens)),
        };
        section("Tools", &size, &self.offered());
        section("Everything else in the request", "", &self.rest());
        let private = self.private.as_deref().unwrap_or("Nothing beyond the book itself.");
        section("Private to this turn, sent only if a tool asks", "", private);
        if let Some(besides) = &self.besides {
            section("Sent besides", "", besides);
        }
        out
    }

    /// Returns the body as it is sent, laid out for reading.
    pub fn pretty(&self) -> String {
        serde_json::to_string_pretty(&self.body).unwrap_or_else(|_| self.body.to_string())
    }

    /// Says what has changed since the request that opened the last turn, part by part; `None` where none is known.
    pub fn changes(&self) -> Option<String> {
        let previous = self.previous.as_ref()?;
        let mut out = String::from(if self.is_rebuilt {
            "Compared with the request of the last question, made again with the settings and the book of now: what was sent then, if anything, is not kept.\n"
        } else {
            "Compared with the request that opened the last turn, as it was sent.\n"
        });
        let mut compare = |title: &str, old: &str, new: &str| {
            if old == new && title == INSTRUCTIONS && self.had_other_instructions {
                let _ = writeln!(out, "\n== {title}: changed since, and what they were is not kept");
                return;
            }
            if old == new {
                let _ = writeln!(out, "\n== {title}: the same");
                return;
            }
            let unified = diff::unified("", old, new);
            // The two lines that name files say nothing here.
            let lines = unified.lines().filter(|line| !line.starts_with("--- ") && !line.starts_with("+++ "));
            let _ = writeln!(out, "\n== {title}: changed\n");
            for line in lines {
                let _ = writeln!(out, "{}", safe_text::block(line));
            }
        };
        for (title, names) in PARTS {
            compare(title, &part(previous, names), &part(&self.body, names));
        }
        compare("Everything else", &rest(previous), &rest(&self.body));
        Some(out)
    }

    /// The first lines: where it goes, how much it is, and what it costs.
    fn head(&self) -> String {
        let mut out = String::new();
        if self.is_sent {
            let _ = writeln!(out, "Goes to: {}", safe_text::line(&self.destination));
            let remembered = match self.remembered {
                0 => String::new(),
                n => format!(", with about {} that the server remembers from before", grouped(n)),
            };
            let _ = writeln!(
                out,
                "Whole request: {} bytes, about {} tokens{remembered}",
                self.bytes,
                grouped(self.estimate.input_tokens)
            );
            let _ = writeln!(out, "Cost: {}", self.cost());
            out.push_str("Tokens are estimated; the server's own count stands with the answer.\n");
        } else {
            let _ = writeln!(
                out,
                "Nothing is sent: the offline reader answers inside this program. It takes the question and what is open ({} bytes), and costs nothing.\n\
                 The instructions are shown as a model would get them: about {} tokens with everything else.",
                self.bytes,
                grouped(self.estimate.input_tokens)
            );
        }
        for notice in &self.notices {
            let _ = writeln!(out, "{}", safe_text::line(notice));
        }
        if let Some(to) = &self.read_to {
            let _ = writeln!(out, "The board member reads blind, {}.", safe_text::line(&to.to_string()));
        }
        out
    }

    /// What the request would cost, in words.
    fn cost(&self) -> String {
        let model = safe_text::line(&self.model);
        let tier = self.tier.as_deref().map(|tier| format!(", {tier} tier")).unwrap_or_default();
        match (&self.estimate.cost, &self.estimate.prices) {
            (Some(0.0), Some(prices)) => format!("nothing ({})", prices.source),
            (Some(cost), Some(prices)) => format!(
                "up to about {} with an answer of {} tokens ({model}{tier}, {}); every round with tools costs again",
                dollars(*cost),
                grouped(self.estimate.output_tokens),
                prices.source
            ),
            _ => format!(
                "not known: no price of {model}{tier}. Name it in config.toml under [prices.\"{model}\"]."
            ),
        }
    }

    /// The tools, each with its schema exactly as it is sent.
    fn offered(&self) -> String {
        if self.tools.is_empty() {
            return "None.".to_owned();
        }
        let schemas = self.body.get("tools").and_then(Value::as_array).cloned().unwrap_or_default();
        let described = self.tools.iter().enumerate().map(|(i, name)| match schemas.get(i) {
            Some(schema) if schema.is_object() => {
                format!("{name}\n    {}", safe_text::line(&schema.to_string()))
            }
            _ => name.clone(),
        });
        described.collect::<Vec<_>>().join("\n")
    }

    /// The fields of the body that no other part of the view shows: model, options, what is kept.
    fn rest(&self) -> String {
        let fields = self.body.as_object().into_iter().flatten();
        let shown = fields.filter(|(name, _)| !is_part(name));
        shown.map(|(name, value)| format!("{name}: {value}")).collect::<Vec<_>>().join("\n")
    }
}

fn is_part(name: &str) -> bool {
    PARTS.iter().any(|(_, names)| names.contains(&name))
}

fn sizes(text: &str) -> String {
    let (words, tokens) = (count_words(text), tokens::estimate(text));
    format!(" ({} bytes, {} words, about {} tokens)", text.len(), grouped(words as u64), grouped(tokens))
}

/// One part of a body, one line a line of text.
fn part(body: &Value, names: &[&str]) -> String {
    let mut out = String::new();
    for value in names.iter().filter_map(|name| body.get(name)) {
        readable(value, 0, &mut out);
    }
    out
}

fn rest(body: &Value) -> String {
    let mut out = String::new();
    for (name, value) in body.as_object().into_iter().flatten().filter(|(name, _)| !is_part(name)) {
        let _ = writeln!(out, "{name}: {value}");
    }
    out
}

/// Writes a value so that its texts can be compared line by line.
fn readable(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::String(text) => {
            for line in text.lines() {
                let _ = writeln!(out, "{indent}{line}");
            }
        }
        Value::Array(items) => items.iter().for_each(|item| readable(item, depth, out)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if text.lines().count() <= 1 => {
                        let _ = writeln!(out, "{indent}{name}: {text}");
                    }
                    Value::String(_) | Value::Array(_) | Value::Object(_) => {
                        let _ = writeln!(out, "{indent}{name}:");
                        readable(value, depth + 1, out);
                    }
                    other => {
                        let _ = writeln!(out, "{indent}{name}: {other}");
                    }
                }
            }
        }
        other => {
            let _ = writeln!(out, "{indent}{other}");
        }
    }
}

/// Writes a number with a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use crate::domain::ids::{SessionId, TurnId};
    use crate::providers::client::{ApiKey, Client, Timeouts};
    use crate::workbench::{Ask, Overrides, Surroundings, Workbench};

    fn bench(folder: &std::path::Path, provider: &str, settings: &str) -> Workbench {
        for name in ["book/manuscript", "config"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        fs::write(folder.join("book/manuscript/01.md"), "# One\n\nMira waits.\n").unwrap();
        fs::write(folder.join("config/config.toml"), settings).unwrap();
        let overrides = Overrides { provider: Some(provider.into()), ..Overrides::default() };
        Workbench::open_in(&folder.join("book"), overrides, Surroundings::in_folders(folder)).unwrap()
    }

    fn asks(question: &str) -> Ask {
        Ask { question: question.into(), ..Ask::default() }
    }

    #[test]
    fn where_nothing_is_sent_the_view_says_so_first() {
        let folder = tempfile::tempdir().unwrap();
        let text = bench(folder.path(), "offline", "").peek(&asks("Who?"), None).unwrap().text();
        assert!(
            text.starts_with("Nothing is sent: the offline reader answers inside this program."),
            "{text}"
        );
        assert!(!text.contains("Whole request"), "{text}");
    }

    #[test]
    fn tokens_and_cost_are_told_before_sending() {
        let folder = tempfile::tempdir().unwrap();
        let peek = bench(folder.path(), "openai", "").peek(&asks("Who?"), None).unwrap();
        let text = peek.text();
        assert!(text.starts_with("Goes to: https://api.openai.com/v1/responses\nWhole request: "), "{text}");
        assert!(text.contains("answer of 4,096 tokens (gpt-5-mini, price list of 20"), "{text}");
        assert!(peek.estimate.input_tokens > 1_000, "{}", peek.estimate.input_tokens);
        let unknown = bench(folder.path(), "openai", "[provider]\nmodel = 'brand-new'\n");
        let text = unknown.peek(&asks("Who?"), None).unwrap().text();
        assert!(text.contains("Cost: not known: no price of brand-new."), "{text}");
        let local = bench(folder.path(), "ollama", "[providers.ollama]\nmodel = 'qwen3'\n");
        let text = local.peek(&asks("Who?"), None).unwrap().text();
        assert!(text.contains("Cost: nothing (on this machine)"), "{text}");
    }

    #[tokio::test]
    async fn what_changed_since_the_last_turn_is_shown_part_by_part() {
        let folder = tempfile::tempdir().unwrap();
        let bench = bench(folder.path(), "openai", "");
        let session = SessionId::new("s-1");
        let sent = bench.peek(&asks("Who is\nMira?"), None).unwrap();
        assert_eq!(sent.changes(), None);
        let turn = TurnId::mint();
        bench.inner.opened.begin(&turn, &session);
        let witness = bench.inner.opened.watch(bench.root(), &turn, std::sync::Arc::new(()));
        // The real path: nobody listens there, but the body was about to go.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let client = Client::new(Timeouts::default()).unwrap();
        let base = format!("http://{free}/v1");
        let provider = crate::providers::remote::Remote::openai(client, Some(&base), ApiKey::none()).unwrap();
        let destination = bench.destination("openai").unwrap();
        let request = crate::agent::first_request(
            &bench.setup(&asks("Who is\nMira?"), "openai", &destination).unwrap(),
        );
        let (out, _heard) = tokio::sync::mpsc::unbounded_channel();
        let cancel = tokio_util::sync::CancellationToken::new();
        let exchange =
            crate::providers::Exchange { request: &request, out, cancel, witness: witness.as_ref() };
        crate::providers::Provider::stream(&provider, exchange).await.unwrap_err();
        let mut now = sent.clone();
        let (of, body) = bench.inner.opened.last(&session).unwrap();
        assert_eq!(crate::store::sessions::opening(bench.root(), &session), Some((of.clone(), body.clone())));
        assert_eq!(of, turn);
        now.previous = serde_json::from_str(&body).ok();
        let same = now.changes().unwrap();
        assert!(!same.contains("changed"), "{same}");
        now.body["input"] = json!("User: Who is\nAdrian?");
        now.body["service_tier"] = json!("flex");
        let changes = now.changes().unwrap();
        assert!(changes.contains("== Instructions: the same"), "{changes}");
        assert!(changes.contains("-Mira?\n") && changes.contains("+Adrian?\n"), "{changes}");
        assert!(changes.contains("+service_tier: \"flex\""), "{changes}");
    }
}
