//! How well names and descriptions find their entries: the labelled queries of `retrieval/queries.toml` over the example book with five thousand entries more.

#![allow(clippy::unwrap_used, reason = "a test that can't go on should fail loudly")]

#[path = "support/vault.rs"]
mod vault;

use std::collections::BTreeMap;
use std::path::Path;

use scritorio::canon::index::Index;
use scritorio::canon::search;
use scritorio::domain::book::Book;

/// Entries are looked for among so many more.
const ENTRIES: usize = 5_000;

/// Names that must be found at once.
const NAMES_AT_ONCE: f64 = 0.95;

/// Mean reciprocal rank that descriptions must reach.
const DESCRIPTIONS: f64 = 0.85;

/// Results that are looked at.
const DEPTH: usize = 8;

fn book() -> Book {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/the-long-silence");
    let mut book = scritorio::store::book::read(&root).unwrap();
    book.entries.extend(vault::entries(ENTRIES, 0));
    book.entries.sort_by(|a, b| (a.entry_type, &a.name).cmp(&(b.entry_type, &b.name)));
    book
}

/// Queries by kind, with the names that are right.
fn queries() -> BTreeMap<String, Vec<(String, Vec<String>)>> {
    let table: toml::Table = include_str!("retrieval/queries.toml").parse().unwrap();
    let names = |value: &toml::Value| match value {
        toml::Value::Array(names) => names.iter().map(|name| name.as_str().unwrap().to_owned()).collect(),
        name => vec![name.as_str().unwrap().to_owned()],
    };
    let queries = |kind: &toml::Value| {
        kind.as_table().unwrap().iter().map(|(query, value)| (query.clone(), names(value))).collect()
    };
    table.iter().map(|(kind, value)| (kind.clone(), queries(value))).collect()
}

/// What a kind of query came to.
#[derive(Default)]
struct Score {
    queries: usize,
    /// Found at once by a lookup of the name.
    looked_up: usize,
    /// First in a search.
    first: usize,
    /// Sum of the reciprocal ranks in a search.
    reciprocal: f64,
    missed: Vec<String>,
}

#[test]
fn names_and_descriptions_find_their_entries() {
    let (book, queries) = (book(), queries());
    assert!(queries.values().map(Vec::len).sum::<usize>() >= 150);
    for name in queries.values().flatten().flat_map(|(_, names)| names) {
        assert_eq!(book.entries.iter().filter(|entry| &entry.name == name).count(), 1, "{name}");
    }
    let index = Index::of(&book);
    let mut table =
        String::from("| queries | | lookup, first | search, first | search, mean reciprocal rank |\n");
    let mut bad = vec![];
    for (kind, queries) in &queries {
        let mut score = Score { queries: queries.len(), ..Score::default() };
        for (query, right) in queries {
            let is_right = |name: &String| right.contains(name);
            let looked_up = index.known().find(&book, None, query).best;
            let found = looked_up.is_some_and(|(entry, _)| is_right(&entry.name));
            let ranked = search::codex(&index, &book, None, query, DEPTH);
            let rank = ranked.iter().position(|m| is_right(&m.entry.name));
            score.looked_up += usize::from(found);
            score.first += usize::from(rank == Some(0));
            score.reciprocal += rank.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
            if rank != Some(0) || (kind != "description" && !found) {
                let first = ranked.first().map_or("nothing", |m| m.entry.name.as_str());
                let looked_up = looked_up.map_or("nothing", |(entry, _)| entry.name.as_str());
                score.missed.push(format!(
                    "{kind}: {query:?}: lookup {looked_up}, search {first}, {right:?} at {rank:?}"
                ));
            }
        }
        let of = |count: usize| count as f64 / score.queries as f64;
        let mean = score.reciprocal / score.queries as f64;
        let lookup =
            if kind == "description" { "-".to_owned() } else { format!("{:.3}", of(score.looked_up)) };
        table += &format!("| {kind} | {} | {lookup} | {:.3} | {mean:.3} |\n", score.queries, of(score.first));
        let good = match kind.as_str() {
            "description" => mean >= DESCRIPTIONS,
            _ => of(score.looked_up) >= NAMES_AT_ONCE && of(score.first) >= NAMES_AT_ONCE,
        };
        if !good {
            bad.push(kind.clone());
        }
        for missed in &score.missed {
            table += &format!("    {missed}\n");
        }
    }
    println!("{table}");
    assert!(bad.is_empty(), "{bad:?}\n{table}");
}
