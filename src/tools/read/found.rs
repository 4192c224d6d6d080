//! What the searches for a model have in common: their limits, and how a result is told.
//!
//! An excerpt is a stretch of its file to the letter, so that it can be quoted. Together they hold no more characters than one call may return.

use std::ops::Range;

use serde_json::{Value, json};

use crate::domain::ids::BookPath;
use crate::domain::passage;
use crate::tools::{Desk, Evidence, Material, Reading, ToolError};

/// How many results a search gives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limit {
    /// Where nothing is asked for.
    pub usual: usize,
    /// What may be asked for.
    pub most: usize,
}

impl Limit {
    /// Checks what was asked for.
    pub(super) fn of(self, asked: Option<u32>) -> Result<usize, ToolError> {
        match asked.map_or(self.usual, |limit| limit as usize) {
            limit if (1..=self.most).contains(&limit) => Ok(limit),
            limit => {
                let message = format!("`limit` is {limit}; the most is {}", self.most);
                Err(ToolError::in_field("limit", message, &[&format!("1 to {}", self.most)]))
            }
        }
    }
}

/// Returns a query without white space around it; an error where nothing else is in it.
pub(super) fn not_empty(query: &str) -> Result<&str, ToolError> {
    match query.trim() {
        "" => Err(ToolError::in_field("query", "`query` is empty", &["words to look for"])),
        query => Ok(query),
    }
}

/// A score as it is told.
pub(super) fn rounded(score: f64) -> f64 {
    (score * 10_000.0).round() / 10_000.0
}

/// Results in the making.
pub(super) struct Found {
    lines: Vec<Value>,
    room: usize,
    pub evidence: Evidence,
    material: Vec<Material>,
}

impl Found {
    pub(super) fn new(desk: &Desk<'_>) -> Self {
        Self { lines: vec![], room: desk.limits.prose, evidence: Evidence::default(), material: vec![] }
    }

    /// Adds a result with the stretch `shown` of the file's text as its excerpt, as far as there is room.
    pub(super) fn add(
        &mut self,
        mut line: Value,
        score: f64,
        path: &BookPath,
        text: &str,
        shown: Range<usize>,
    ) {
        let (whole_start, whole_end) = (shown.start, shown.end);
        let part = text.get(shown).unwrap_or_default();
        let excerpt = passage::cut(part, self.room);
        self.room = self.room.saturating_sub(excerpt.chars().count());
        self.evidence.truncated |= excerpt.len() < part.len();
        if !excerpt.is_empty() {
            line["excerpt"] = json!(excerpt);
            self.material.push(Material { path: path.clone(), text: excerpt.to_owned() });
            let more =
                |side: &str| !side.is_empty() && !side.ends_with('\n') && !side.starts_with(['\n', '\r']);
            if more(&text[..whole_start]) || more(&text[whole_end..]) {
                line["excerptIsPart"] = json!(true);
            }
        }
        line["score"] = json!(rounded(score));
        if !self.evidence.resolved.contains(path) {
            self.evidence.resolved.push(path.clone());
        }
        let words = self.evidence.words.unwrap_or(0) + passage::count_words(excerpt);
        self.evidence.words = Some(words);
        self.lines.push(line);
    }

    /// Returns the result: `head` with the count and the results under the name `list`.
    pub(super) fn reading(mut self, mut head: Value, list: &str, limit: usize) -> Reading {
        let count = self.lines.len();
        head["count"] = json!(count);
        head[list] = json!(self.lines);
        if count == limit {
            head["note"] =
                json!(format!("The best {limit}. Narrow the query, or raise the limit, for others."));
        }
        if self.evidence.truncated {
            head["truncated"] = json!(true);
        }
        self.evidence.results = count;
        self.evidence.missing = count == 0;
        Reading { result: head, evidence: self.evidence, material: self.material }
    }
}
