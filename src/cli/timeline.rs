//! `scritorio timeline`: the story in the order of its time.
//!
//! With `--json` one object: `rows` [ { kind: birth|chapter|event|progression|death, title, type, path, line, chapter, date, from, to,
//! placed: date|chapter|order|none, out_of_order, facts } ] in their order, where `chapter` is a number, `date` is as written, and `from` and `to` are its
//! first and last day (ISO); `gaps` and `conflicts` [ { rule, severity, verdict, path, line, column, message, related } ] as `check` has them; and
//! `rules` [ { rule, verdict: found|clean|not_evaluated, message } ], one for every rule.

use clap::Args;

use crate::workbench::Overrides;
use crate::workbench::timeline::{Finding, Placed, Row};

use super::error::CliError;
use super::{Context, output};

/// Show chapters, events, progressions, births and deaths in the order of the story, its gaps and its conflicts
#[derive(Debug, Args)]
pub(super) struct TimelineVerb {}

impl TimelineVerb {
    #[expect(clippy::unused_self, reason = "every verb is executed in the same way")]
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let timeline = context.open(Overrides::default())?.timeline();
        if context.global.json {
            return output::document(&timeline);
        }
        output::table(&timeline.rows.iter().map(cells).collect::<Vec<_>>())?;
        section("Gaps", &timeline.gaps)?;
        section("Conflicts", &timeline.conflicts)?;
        output::text("\nRules")?;
        let rule = |rule: &crate::workbench::timeline::Rule| {
            vec![format!("  {}", rule.rule), rule.verdict.as_str().to_owned(), rule.message.clone()]
        };
        output::table(&timeline.rules.iter().map(rule).collect::<Vec<_>>())
    }
}

fn cells(row: &Row) -> Vec<String> {
    let date = match (&row.date, row.placed) {
        (Some(date), Placed::None | Placed::Order | Placed::Chapter) => format!("({date})"),
        (Some(date), Placed::Date) => date.clone(),
        (None, _) => "-".to_owned(),
    };
    let chapter = row.chapter.map_or_else(|| "-".to_owned(), |chapter| format!("ch. {chapter}"));
    let mut title = row.title.clone();
    if row.out_of_order {
        title.push_str(" (out of order)");
    }
    if !row.facts.is_empty() {
        let facts: Vec<String> =
            row.facts.iter().map(|(key, value)| format!("{key}: {}", plain(value))).collect();
        title = format!("{title}: {}", facts.join("; "));
    }
    vec![date, chapter, row.kind.as_str().to_owned(), title, row.path.to_string()]
}

fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn section(title: &str, findings: &[Finding]) -> Result<(), CliError> {
    if findings.is_empty() {
        return output::text(&format!("\n{title}: none found"));
    }
    output::text(&format!("\n{title}"))?;
    let line = |f: &Finding| {
        format!("  {}:{}:{}: {}: {} [{}]", f.path, f.line, f.column, f.severity.as_str(), f.message, f.rule)
    };
    output::text(&findings.iter().map(line).collect::<Vec<_>>().join("\n"))
}
