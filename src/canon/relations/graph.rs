//! The graph of a book: entries as nodes, relationships as edges that hold what either side says.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::{Circle, Statement, Target, statements};
use crate::domain::book::Book;
use crate::domain::codex::EntryType;
use crate::domain::ids::BookPath;

/// Someone or something that has a relationship.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What tells it from all others: an entry's [address](crate::domain::codex::Entry::address), or the words themselves where the Codex knows none.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its type; `None` for a name that the Codex does not know.
    pub entry_type: Option<EntryType>,
    /// Its file.
    pub path: Option<BookPath>,
    /// First byte of its text in that file.
    pub start: usize,
    /// The entry's summary.
    pub summary: String,
}

/// What one side says of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// What the other is to the one who says it, as written.
    pub kind: Option<String>,
    /// More words about it.
    pub description: Option<String>,
    /// The file that says it.
    pub path: BookPath,
    /// Its line there, from 1.
    pub line: usize,
}

/// A relationship between two nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// Node that states it; where both do, the one that stands first.
    pub from: usize,
    /// The other.
    pub to: usize,
    /// What `from` says of `to`. Never empty.
    pub said: Vec<Said>,
    /// What `to` says of `from`.
    pub back: Vec<Said>,
}

/// A neighbour of a node, and what is said on either side.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    /// Its place in [`Graph::nodes`].
    pub node: usize,
    /// Where it is shown.
    pub circle: Circle,
    /// What the node in the middle says of it.
    pub said: &'a [Said],
    /// What it says of the node in the middle.
    pub back: &'a [Said],
}

impl Neighbour<'_> {
    /// Returns what the middle calls it, else, behind an arrow, what it calls the middle.
    pub fn kind(&self) -> Option<String> {
        kinds(self.said).or_else(|| kinds(self.back).map(|kind| format!("\u{2190} {kind}")))
    }

    /// Returns the words for a row: the kind, else the first words about it.
    pub fn words(&self) -> String {
        if let Some(kind) = self.kind() {
            return kind;
        }
        let mut both = self.said.iter().chain(self.back);
        both.find_map(|said| said.description.clone()).unwrap_or_default()
    }
}

/// The kinds that are said, each once.
fn kinds(said: &[Said]) -> Option<String> {
    let mut all: Vec<&str> = vec![];
    for kind in said.iter().filter_map(|said| said.kind.as_deref()) {
        if !all.contains(&kind) {
            all.push(kind);
        }
    }
    (!all.is_empty()).then(|| all.join(", "))
}

/// Everyone and everything that has a relationship, and the relationships.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// In the book's order; names that the Codex does not know at the end.
    pub nodes: Vec<Node>,
    /// In the order of their nodes.
    pub edges: Vec<Edge>,
    /// Place of each node, by its id.
    places: HashMap<String, usize>,
    /// Edges of each node.
    beside: Vec<Vec<usize>>,
}

impl Graph {
    /// Reads all relationships of a book. Both directions of one are one edge.
    pub fn of(book: &Book) -> Self {
        Self::from_statements(book, &statements(book), &[])
    }

    fn from_statements(book: &Book, all: &[Statement], also: &[usize]) -> Self {
        let mut used: HashSet<usize> = also.iter().copied().collect();
        let mut unknown: BTreeMap<String, String> = BTreeMap::new();
        for statement in all {
            used.insert(statement.source);
            match &statement.target {
                Target::Entry(at) => {
                    used.insert(*at);
                }
                Target::Unknown(name) => {
                    unknown.entry(crate::domain::passage::fold(name)).or_insert_with(|| name.clone());
                }
            }
        }
        let mut nodes = vec![];
        let mut places: HashMap<usize, usize> = HashMap::new();
        for (at, entry) in book.entries.iter().enumerate().filter(|(at, _)| used.contains(at)) {
            places.insert(at, nodes.len());
            nodes.push(Node {
                id: entry.address(),
                name: entry.name.clone(),
                entry_type: Some(entry.entry_type),
                path: Some(entry.path.clone()),
                start: entry.body.start,
                summary: entry.summary.clone(),
            });
        }
        let mut strangers: HashMap<String, usize> = HashMap::new();
        for (folded, name) in unknown {
            strangers.insert(folded, nodes.len());
            nodes.push(Node {
                id: name.clone(),
                name,
                entry_type: None,
                path: None,
                start: 0,
                summary: String::new(),
            });
        }
        let mut edges: BTreeMap<(usize, usize), Edge> = BTreeMap::new();
        for statement in all {
            let to = match &statement.target {
                Target::Entry(at) => places.get(at),
                Target::Unknown(name) => strangers.get(&crate::domain::passage::fold(name)),
            };
            let (Some(&from), Some(&to)) = (places.get(&statement.source), to) else { continue };
            let said = Said {
                kind: statement.kind.clone(),
                description: statement.description.clone(),
                path: statement.path.clone(),
                line: statement.line,
            };
            let edge = edges.entry((from.min(to), from.max(to))).or_insert_with(|| Edge {
                from,
                to,
                said: vec![],
                back: vec![],
            });
            if edge.from == from { edge.said.push(said) } else { edge.back.push(said) }
        }
        Self::new(nodes, edges.into_values().collect())
    }

    fn new(nodes: Vec<Node>, edges: Vec<Edge>) -> Self {
        let places = nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        let mut beside = vec![vec![]; nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            beside[edge.from].push(at);
            beside[edge.to].push(at);
        }
        Self { nodes, edges, places, beside }
    }

    /// Returns the place of the node of the entry at `address`.
    pub fn place(&self, address: &str) -> Option<usize> {
        self.places.get(address).copied()
    }

    /// Returns the neighbours of a node, by circle, then by name.
    pub fn neighbours(&self, node: usize) -> Vec<Neighbour<'_>> {
        let beside = self.beside.get(node).map_or(&[][..], Vec::as_slice);
        let mut all: Vec<Neighbour<'_>> = beside
            .iter()
            .filter_map(|at| {
                let edge = self.edges.get(*at)?;
                let (other, said, back) = if edge.from == node {
                    (edge.to, &edge.said, &edge.back)
                } else {
                    (edge.from, &edge.back, &edge.said)
                };
                let kinds: Vec<&str> = said.iter().chain(back).filter_map(|s| s.kind.as_deref()).collect();
                let circle = Circle::of(self.nodes.get(other)?.entry_type, &kinds);
                Some(Neighbour { node: other, circle, said, back })
            })
            .collect();
        all.sort_by_key(|n| (n.circle, self.nodes[n.node].name.to_lowercase(), n.node));
        all
    }

    /// Returns the part within `depth` steps of a node, which stays even where it has no relationship.
    #[must_use]
    pub fn around(&self, middle: usize, depth: usize) -> Self {
        let mut near: HashMap<usize, usize> = HashMap::from([(middle, 0)]);
        let mut queue = VecDeque::from([middle]);
        while let Some(node) = queue.pop_front() {
            let steps = near[&node];
            if steps == depth {
                continue;
            }
            for at in &self.beside[node] {
                let edge = &self.edges[*at];
                let other = if edge.from == node { edge.to } else { edge.from };
                if let std::collections::hash_map::Entry::Vacant(place) = near.entry(other) {
                    place.insert(steps + 1);
                    queue.push_back(other);
                }
            }
        }
        let kept: Vec<usize> = (0..self.nodes.len()).filter(|at| near.contains_key(at)).collect();
        let place = |old: usize| kept.binary_search(&old).ok();
        let nodes = kept.iter().map(|at| self.nodes[*at].clone()).collect();
        // Between two nodes at the rim a relationship is a step further.
        let is_within =
            |e: &&Edge| near.get(&e.from).zip(near.get(&e.to)).is_some_and(|(a, b)| (*a).min(*b) < depth);
        let edges = self.edges.iter().filter(is_within);
        let edges = edges.filter_map(|e| Some(Edge { from: place(e.from)?, to: place(e.to)?, ..e.clone() }));
        Self::new(nodes, edges.collect())
    }

    /// Adds an entry that has no relationship, so that it can stand in the middle all the same; returns its place.
    pub fn with_entry(&mut self, book: &Book, entry: usize) -> Option<usize> {
        let found = book.entries.get(entry)?;
        if let Some(at) = self.place(&found.address()) {
            return Some(at);
        }
        let alone = Self::from_statements(book, &[], &[entry]);
        for node in alone.nodes {
            self.places.insert(node.id.clone(), self.nodes.len());
            self.nodes.push(node);
            self.beside.push(vec![]);
        }
        Some(self.nodes.len() - 1)
    }

    /// Writes it in the DOT language of Graphviz (<https://graphviz.org/doc/info/lang.html>): an arrow from the one who says it, labelled with the kind.
    pub fn to_dot(&self, title: &str) -> String {
        let mut dot = format!("digraph {} {{\n", quoted(title));
        dot.push_str("  graph [charset=\"UTF-8\"];\n  node [shape=box];\n");
        for (at, node) in self.nodes.iter().enumerate() {
            let shape = match node.entry_type {
                Some(EntryType::Character) => "ellipse",
                None => "plaintext",
                Some(_) => "box",
            };
            let label = quoted(&node.name);
            dot.push_str(&format!("  n{at} [label={label}, shape={shape}, tooltip={}];\n", quoted(&node.id)));
        }
        for edge in &self.edges {
            for (from, to, said) in [(edge.from, edge.to, &edge.said), (edge.to, edge.from, &edge.back)] {
                if said.is_empty() {
                    continue;
                }
                let label = kinds(said).map(|kind| format!("label={}", quoted(&kind)));
                let about = said.iter().find_map(|s| s.description.as_deref());
                let tooltip = about.map(|about| format!("tooltip={}", quoted(about)));
                let attributes: Vec<String> = label.into_iter().chain(tooltip).collect();
                dot.push_str(&format!("  n{from} -> n{to} [{}];\n", attributes.join(", ")));
            }
        }
        dot.push_str("}\n");
        dot
    }
}

/// A quoted string of DOT: only the quotation mark is special, and a backslash, which would begin an escape in a label.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
