//! `scritorio doctor`: what was found.

use std::fmt::Write;
use std::io::IsTerminal;

use clap::Args;
use serde_json::{Value, json};

use crate::tui::theme::Depth;
use crate::workbench::doctor::Report;
use crate::workbench::{Overrides, Surroundings};

use super::error::{CliError, Kind};
use super::{Context, output};

/// Say what was found: book, settings and who set them, keys, provider, terminal
#[derive(Debug, Args)]
pub(super) struct Doctor {}

impl Doctor {
    #[expect(clippy::unused_self, reason = "every verb is executed in the same way")]
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let report = match context.root() {
            Ok(_) => context.open(Overrides::default())?.doctor(),
            Err(_) => Report::without_book(
                &Surroundings::of_process().map_err(|e| CliError::new(Kind::Work, format!("{e}.")))?,
            ),
        };
        if context.global.json {
            let mut value = json!(report);
            value["terminal"] = terminal();
            return output::document(&value);
        }
        output::text(&text(&report))
    }
}

fn terminal() -> Value {
    let value = |name: &str| std::env::var(name).ok();
    json!({
        "input": std::io::stdin().is_terminal(),
        "output": std::io::stdout().is_terminal(),
        "term": value("TERM"),
        "colors": format!("{:?}", Depth::detect(value)).to_lowercase(),
    })
}

fn text(report: &Report) -> String {
    let mut out = String::new();
    let plain = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if report.book.is_null() {
        out.push_str("Book: none here\n");
    } else {
        let _ = writeln!(out, "Book: {}, in {}", plain(&report.book["title"]), plain(&report.book["folder"]));
    }
    for (what, count) in &report.counts {
        let _ = writeln!(out, "  {what}: {count}");
    }
    let chapters = report.book["chapters"].as_array().map(Vec::as_slice).unwrap_or_default();
    for chapter in chapters {
        let (number, path, from) = (&chapter["number"], plain(&chapter["path"]), plain(&chapter["from"]));
        let _ = writeln!(out, "  chapter {number}: {path} (number from the {from})");
    }
    for path in report.book["others"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let _ = writeln!(out, "  neither manuscript, canon nor notes: {}", plain(path));
    }
    for (name, chosen) in &report.settings {
        let _ = writeln!(out, "Setting {name}: {} ({})", plain(&chosen["value"]), plain(&chosen["from"]));
    }
    for provider in &report.providers {
        let chosen = if provider.chosen { " (chosen)" } else { "" };
        let reachable = match provider.reachable {
            Some(true) => ", takes connections",
            Some(false) => ", takes no connection",
            None => "",
        };
        let _ = writeln!(out, "Provider {}{chosen}: {}{reachable}", provider.name, provider.destination);
    }
    for key in &report.keychain {
        let problem = key.problem.as_deref().map(|p| format!(" ({p})")).unwrap_or_default();
        let _ = writeln!(out, "Key of {}: {}{problem}, variable {}", key.provider, key.source, key.variable);
    }
    for (machine, verdict) in &report.provenance {
        let _ = writeln!(out, "Provenance of {machine}: {verdict}");
    }
    if let Some(pid) = report.open_in {
        let _ = writeln!(out, "Open for writing in process {pid}");
    }
    let terminal = terminal();
    let _ = writeln!(out, "Terminal: {} ({} colors)", plain(&terminal["term"]), plain(&terminal["colors"]));
    if report.warnings.is_empty() {
        out.push_str("No warnings.\n");
    }
    for warning in &report.warnings {
        let (path, message) = (plain(&warning["path"]), plain(&warning["message"]));
        let _ = writeln!(out, "{path}:{}:{}: {message}", warning["line"], warning["column"]);
    }
    out
}
