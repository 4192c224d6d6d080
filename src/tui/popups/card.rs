//! The card of a Codex entry: what it is, and where the manuscript mentions it.

use std::sync::Arc;

use super::Popup;
use super::graph::GraphPopup;
use super::text::TextPopup;
use crate::canon::mentions::Names;
use crate::canon::relations::Graph;
use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::tui::document::Place;
use crate::tui::msg::Msg;

/// Opens the card of an entry.
pub(in crate::tui) fn open(book: &Book, entry: &Entry, names: &Names, graph: &Arc<Graph>) -> Popup {
    let words = markdown(book, entry, names, graph);
    let title = format!("{} · {}", entry.name, entry.entry_type);
    let opens = Msg::Show(entry.path.clone(), place(entry));
    let card = TextPopup::markdown(&title, &words).on_enter("opens it", opens);
    Popup::Text(match GraphPopup::of(graph, &entry.address()) {
        Some(popup) => card.on_key('g', "relationships", Msg::Popup(Box::new(Popup::Graph(popup)))),
        None => card,
    })
}

/// Where an entry starts in a file that holds many.
pub(in crate::tui) fn place(entry: &Entry) -> Option<Place> {
    entry.heading.as_ref()?;
    let start = entry.start();
    // Its heading's words are searched for where the file has changed meanwhile.
    let words = entry.own_text().lines().next().unwrap_or_default().to_owned();
    Some(Place { range: start..start + words.len(), words })
}

/// Writes what the preview in the Codex pane shows: the card without a count of mentions, which would cost a pass over the book.
pub(in crate::tui) fn preview(entry: &Entry, graph: &Graph) -> String {
    let mut words = facts(entry, graph);
    words.push_str(&format!("\n{}\n", entry.address()));
    words
}

/// Writes the card as Markdown.
fn markdown(book: &Book, entry: &Entry, names: &Names, graph: &Graph) -> String {
    let mut words = facts(entry, graph);
    words.push_str(&mentions(book, entry, names));
    words.push_str(&format!("\n{}\n", entry.address()));
    words
}

fn facts(entry: &Entry, graph: &Graph) -> String {
    let mut words = String::new();
    if !entry.summary.is_empty() {
        words.push_str(&format!("{}\n\n", entry.summary));
    }
    if !entry.aliases.is_empty() {
        words.push_str(&format!("**Also** {}\n\n", entry.aliases.join(", ")));
    }
    for (key, value) in entry.fields.iter().filter(|(k, _)| !SHOWN_ELSEWHERE.contains(&k.as_str())) {
        if let Some(value) = plain(value) {
            words.push_str(&format!("- {key}: {value}\n"));
        }
    }
    words.push_str(&related(entry, graph));
    for warning in &entry.warnings {
        words.push_str(&format!("\n⚠ line {}: {}\n", warning.line, warning.message));
    }
    words
}

/// Most relationships that a card lists.
const RELATED: usize = 12;

fn related(entry: &Entry, graph: &Graph) -> String {
    let Some(at) = graph.place(&entry.address()) else { return String::new() };
    let all = graph.neighbours(at);
    let mut words = String::from("\n**With**");
    for neighbour in all.iter().take(RELATED) {
        let name = &graph.nodes[neighbour.node].name;
        let kind = neighbour.kind().map(|kind| format!(" ({kind})")).unwrap_or_default();
        words.push_str(&format!(" {name}{kind},"));
    }
    words.pop();
    if all.len() > RELATED {
        words.push_str(&format!(" and {} more", all.len() - RELATED));
    }
    words.push('\n');
    words
}

fn mentions(book: &Book, entry: &Entry, names: &Names) -> String {
    let address = entry.address();
    let place = names.entries.iter().position(|n| n.address == address);
    let mut mentioned = vec![];
    for chapter in &book.chapters {
        let count = names.find(chapter.body()).iter().filter(|m| Some(m.entry) == place).count();
        if count > 0 {
            mentioned.push(format!("{} ({count})", chapter.number));
        }
    }
    if mentioned.is_empty() {
        "\nNot mentioned in the manuscript.\n".to_owned()
    } else {
        format!("\n**In chapters** {}\n", mentioned.join(", "))
    }
}

const SHOWN_ELSEWHERE: [&str; 10] =
    ["type", "kind", "category", "name", "title", "aliases", "alias", "aka", "summary", "description"];

/// Returns a value that fits on a line: a text, number or list of texts.
fn plain(value: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match value {
        Value::String(s) => Some(s.clone()),
        Value::Number(n) => Some(n.to_string()),
        Value::Bool(b) => Some(b.to_string()),
        Value::Array(all) if all.iter().all(Value::is_string) => {
            Some(all.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
        }
        _ => None,
    }
}
