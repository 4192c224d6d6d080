//! The relationships of the book, as every front end shows them.

use serde::Serialize;
use serde_json::{Value, json};

use crate::canon::lookup;
use crate::canon::relations::{Edge, Graph, Node, Said};
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

use super::Workbench;
use super::look::NotFound;

/// A node of the graph, in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct NodeRow<'a> {
    /// The entry's address, or the words themselves where the Codex knows no such entry.
    id: &'a str,
    #[serde(rename = "type")]
    entry_type: Option<EntryType>,
    name: &'a str,
    path: Option<&'a BookPath>,
}

impl<'a> NodeRow<'a> {
    fn of(node: &'a Node) -> Self {
        Self { id: &node.id, entry_type: node.entry_type, name: &node.name, path: node.path.as_ref() }
    }
}

impl Workbench {
    /// Returns the relationships of the whole Codex: everyone and everything that has one.
    pub fn graph(&self) -> Graph {
        let book = self.book();
        self.index_of(&book).graph(&book).clone()
    }

    /// Returns the part of the graph within `depth` steps of the entry of that name, and its place in it.
    pub fn graph_around(&self, name: &str, depth: usize) -> Result<(Graph, usize), NotFound> {
        let book = self.book();
        let found = lookup::find(&book, None, name);
        let missing = || NotFound { what: "entry", asked: name.to_owned(), near: found.near.clone() };
        let (entry, _) = found.best.ok_or_else(missing)?;
        let at = book.entries.iter().position(|e| std::ptr::eq(e, entry)).ok_or_else(missing)?;
        let mut graph = Graph::of(&book);
        let middle = graph.with_entry(&book, at).ok_or_else(missing)?;
        let id = graph.nodes[middle].id.clone();
        let part = graph.around(middle, depth);
        let place = part.place(&id).ok_or_else(missing)?;
        Ok((part, place))
    }
}

/// Returns a graph as one JSON document: `{ nodes: [{ id, type, name, path }], edges: [{ from, to, kind, description, places, back }] }`. `from` and `to`
/// are ids of nodes, `places` are the lines that say it, and `back` is what the other side says, `null` where it says nothing.
pub fn graph_json(graph: &Graph) -> Value {
    let nodes: Vec<NodeRow<'_>> = graph.nodes.iter().map(NodeRow::of).collect();
    let edges: Vec<Value> = graph.edges.iter().map(|edge| edge_json(graph, edge)).collect();
    json!({ "nodes": nodes, "edges": edges })
}

fn edge_json(graph: &Graph, edge: &Edge) -> Value {
    let mut row = side(&edge.said);
    let back = if edge.back.is_empty() { Value::Null } else { side(&edge.back) };
    if let Value::Object(row) = &mut row {
        row.insert("from".into(), json!(graph.nodes[edge.from].id));
        row.insert("to".into(), json!(graph.nodes[edge.to].id));
        row.insert("back".into(), back);
    }
    row
}

/// What one side says, in one row: all its kinds, all its descriptions, and where they stand.
fn side(said: &[Said]) -> Value {
    let join = |words: Vec<&str>, with: &str| (!words.is_empty()).then(|| words.join(with));
    let mut kinds: Vec<&str> = vec![];
    for kind in said.iter().filter_map(|s| s.kind.as_deref()) {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let descriptions = said.iter().filter_map(|s| s.description.as_deref()).collect();
    let places: Vec<Value> = said.iter().map(|s| json!({ "path": s.path, "line": s.line })).collect();
    json!({ "kind": join(kinds, ", "), "description": join(descriptions, " "), "places": places })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::workbench::{Overrides, Surroundings};

    #[test]
    fn the_example_knows_who_belongs_to_whom() {
        let folder = tempfile::tempdir().unwrap();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence");
        let bench =
            Workbench::open_in(&root, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap();
        let (graph, middle) = bench.graph_around("Tobias", 1).unwrap();
        let rows: Vec<_> = graph
            .neighbours(middle)
            .iter()
            .map(|n| format!("{}: {} = {}", n.circle.as_str(), graph.nodes[n.node].name, n.words()))
            .collect();
        assert_eq!(
            rows,
            [
                "family: Mira Okafor = sister",
                "friends and allies: Kostas Leventis = teacher",
                "people: Adrian Vale = cannot decide whether to kiss his hands.",
                "people: Ruth Adeyinka = made him take the choir.",
                "places: Lantern = location",
                "things: Black Notebook = ← owner",
            ]
        );
        let json = graph_json(&graph);
        let mira = json["edges"].as_array().unwrap().iter().find(|e| e["kind"] == "brother").unwrap();
        assert_eq!(mira["back"]["kind"], "sister");
        assert_eq!(
            mira["back"]["places"][0],
            json!({ "path": "codex/characters/tobias-okafor.md", "line": 10 })
        );
        assert!(bench.graph_around("Zanzibar", 1).is_err());
        assert!(!fs::exists(root.join(".scritorio")).unwrap());
    }
}
