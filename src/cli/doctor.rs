//! `scritorio doctor`: what was found.

use std::fmt::Write;
use std::io::IsTerminal;

use clap::Args;
use serde_json::{Value, json};

use crate::domain::price::{dollars, of_unknown_cost};
use crate::tui::theme::Depth;
use crate::workbench::Overrides;
use crate::workbench::doctor::Report;
use crate::workbench::doctor::canon::{self, Canon};

use super::error::CliError;
use super::providers::on_this_machine;
use super::{Context, output};

/// Say what was found: book, settings and who set them, keys, provider, terminal
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// List every entry with its type and what gave it, and every file that is no canon
    #[arg(long)]
    canon: bool,
}

/// Warnings that are shown.
const WARNINGS: usize = 100;

/// Lines of a kind that are shown where there may be thousands.
const SHOWN: usize = 12;

impl Doctor {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let mut entries = vec![];
        let workbench = context.open_anywhere(Overrides::default())?;
        let report = if context.root().is_ok() {
            if self.canon {
                entries = canon::table(&workbench.book());
            }
            workbench.doctor()
        } else {
            workbench.doctor().without_book()
        };
        if context.global.json {
            let mut value = json!(report);
            value["terminal"] = terminal();
            if self.canon {
                value["entries"] = json!(entries);
            }
            return output::document(&value);
        }
        if !self.canon {
            return output::text(&text(&report));
        }
        let row = |e: canon::Taken| vec![e.address, e.entry_type.to_string(), e.name, e.from];
        output::table(&entries.into_iter().map(row).collect::<Vec<_>>())?;
        let none = report.canon.iter().flat_map(|canon| &canon.not_canon);
        let row = |n: &canon::NotCanon| {
            vec![n.path.to_string(), "no canon".to_owned(), n.why.clone().unwrap_or_default()]
        };
        output::table(&none.map(row).collect::<Vec<_>>())
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
    if let Some(canon) = &report.canon {
        out.push_str(&of_canon(canon));
    }
    for (name, chosen) in &report.settings {
        let value = match (&chosen["value"], *name) {
            (Value::Null, "base_url") => "the provider's own".to_owned(),
            (Value::Null, "theme") => "by the terminal's background".to_owned(),
            (Value::Null, _) => "none".to_owned(),
            (Value::String(empty), "model") if empty.is_empty() => {
                "none (`scritorio models` lists them)".to_owned()
            }
            (value, _) => plain(value),
        };
        let _ = writeln!(out, "Setting {}: {value} ({})", name.replace('_', " "), plain(&chosen["from"]));
    }
    for (what, folder) in &report.folders {
        let _ = writeln!(out, "Folder of {what}: {}", folder.display());
    }
    for words in [&report.chosen_by_book, &report.by_meaning].into_iter().flatten() {
        let _ = writeln!(out, "Note: {words}");
    }
    for provider in &report.providers {
        let chosen = if provider.chosen { " (chosen)" } else { "" };
        let reachable = match provider.reachable {
            Some(true) => ", takes connections",
            Some(false) => ", takes no connection",
            None => "",
        };
        let _ = writeln!(out, "Provider {}{chosen}: {}{reachable}", provider.name, provider.destination);
        if let Some(next) = &provider.next {
            let _ = writeln!(out, "  Next: {next}");
        }
    }
    let _ = writeln!(out, "{}", on_this_machine(&report.local_servers));
    for key in &report.keychain {
        let problem = key.problem.as_deref().map(|p| format!(" ({p})")).unwrap_or_default();
        let _ = writeln!(out, "Key of {}: {}{problem}, variable {}", key.provider, key.source, key.variable);
    }
    out.push_str(&of_spending(&report.spending));
    for (machine, verdict) in &report.provenance {
        let _ = writeln!(out, "Provenance of {machine}: {verdict}");
    }
    if let Some(pid) = report.open_in {
        let _ = writeln!(out, "Open for writing in process {pid}");
    }
    let terminal = terminal();
    let term = terminal["term"].as_str().unwrap_or("of no known kind");
    let _ = writeln!(out, "Terminal: {term} ({} colors)", plain(&terminal["colors"]));
    let all_is_well = report.providers.iter().all(|provider| provider.next.is_none());
    if report.warnings.is_empty() && all_is_well {
        out.push_str("No warnings.\n");
    }
    for warning in report.warnings.iter().take(WARNINGS) {
        let (path, message) = (plain(&warning["path"]), plain(&warning["message"]));
        let _ = writeln!(out, "{path}:{}:{}: {message}", warning["line"], warning["column"]);
    }
    if report.warnings.len() > WARNINGS {
        let _ = writeln!(out, "and {} more warnings (--json has all)", report.warnings.len() - WARNINGS);
    }
    out
}

/// What this month has cost, and what it may.
fn of_spending(spending: &Value) -> String {
    let amount = |value: &Value| value.as_f64().map(dollars);
    let (month, budget) = (&spending["month"], &spending["budget"]);
    let (unpriced, estimated) =
        (month["unpriced"].as_u64().unwrap_or(0), month["estimated"].as_u64().unwrap_or(0));
    let at_least = if unpriced > 0 || month["unread"].is_object() { "at least " } else { "" };
    let spent = amount(&month["dollars"]).unwrap_or_default();
    let about = if estimated > 0 && spent.starts_with('$') { "about " } else { "" };
    let mut out = format!("Spent this month: {at_least}{about}{spent}");
    if unpriced > 0 {
        out.push_str(&format!(", and {}", of_unknown_cost(unpriced)));
    }
    let limits = [("warns from", "warn"), ("refuses beyond", "refuse"), ("one question at most", "per_turn")];
    let set: Vec<String> = limits
        .iter()
        .filter_map(|(words, key)| Some(format!("{words} {}", amount(&budget[*key])?)))
        .collect();
    let budget = if set.is_empty() { "no budget".to_owned() } else { format!("budget {}", set.join(", ")) };
    out + &format!(" ({budget})\n")
}

/// What was taken as what and why, in a few lines however many entries there are.
fn of_canon(canon: &Canon) -> String {
    let mut out = String::new();
    for of in &canon.types {
        let mut ways: Vec<String> =
            of.from.iter().take(SHOWN / 2).map(|(from, times)| format!("{times} by {from}")).collect();
        let left: usize = of.from.iter().skip(SHOWN / 2).map(|(_, times)| times).sum();
        if left > 0 {
            ways.push(format!("{left} otherwise"));
        }
        let _ = writeln!(out, "  canon, {}: {} ({})", of.entry_type.plural(), of.count, ways.join(", "));
    }
    let lines = |out: &mut String, all: Vec<String>| {
        let left = all.len().saturating_sub(SHOWN);
        for line in all.into_iter().take(SHOWN) {
            let _ = writeln!(out, "  {line}");
        }
        if left > 0 {
            let _ = writeln!(out, "  and {left} more (scritorio doctor --canon lists all)");
        }
    };
    let lists =
        canon.lists.iter().map(|list| format!("many entries in one file: {} ({})", list.path, list.entries));
    lines(&mut out, lists.collect());
    let none = canon.not_canon.iter().map(|file| {
        let why = file.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("neither manuscript, canon nor notes: {}{why}", file.path)
    });
    lines(&mut out, none.collect());
    let aside = canon.no_chapters.iter().map(|file| {
        let why = file.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        format!("among the chapters, read as a note: {}{why}", file.path)
    });
    lines(&mut out, aside.collect());
    let folders = canon.unread.iter();
    lines(
        &mut out,
        folders.map(|f| format!("folder `{}` ({} files) {}", f.folder, f.files, f.hint)).collect(),
    );
    out
}
