//! `scritorio codex`: the canon.

use clap::{Args, Subcommand};

use crate::domain::codex::EntryType;
use crate::workbench::Overrides;
use crate::workbench::graph::graph_json;
use crate::workbench::look::EntryRow;

use super::error::CliError;
use super::{Context, output};

/// List, show and search the Codex
#[derive(Debug, Args)]
pub(super) struct Codex {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the entries
    List {
        #[command(flatten)]
        of: OfType,
    },
    /// Show one entry, whole
    Show {
        /// Its name, an alias, its title, or its file's stem
        name: String,
        #[command(flatten)]
        of: OfType,
    },
    /// Search names, summaries and texts
    Search {
        /// Words to look for
        query: String,
        #[command(flatten)]
        of: OfType,
        /// Most results
        #[arg(long, default_value_t = 8)]
        limit: usize,
    },
    /// List the places of the manuscript that name an entry
    Mentions {
        /// Its name or an alias
        name: String,
    },
    /// Print the relationships that entries state, as a graph
    Graph {
        /// Only what is near to this entry
        name: Option<String>,
        /// Steps from the named entry
        #[arg(long, default_value_t = 1, requires = "name")]
        depth: usize,
        /// dot (Graphviz) or json
        #[arg(long, value_enum, default_value_t = GraphFormat::Dot)]
        format: GraphFormat,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum GraphFormat {
    Dot,
    Json,
}

#[derive(Debug, Args)]
struct OfType {
    /// Only entries of this type: character, location, organization, item, concept, event, style
    #[arg(long = "type", value_name = "TYPE", value_parser = entry_type)]
    entry_type: Option<EntryType>,
}

fn entry_type(raw: &str) -> Result<EntryType, String> {
    let known = EntryType::ALL.into_iter().find(|t| [t.as_str(), t.plural()].contains(&raw));
    known.ok_or_else(|| format!("the types are: {}", EntryType::ALL.map(EntryType::as_str).join(", ")))
}

impl Codex {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        match self.verb {
            Verb::List { of } => rows(context, &workbench.codex(of.entry_type)),
            Verb::Search { query, of, limit } => {
                rows(context, &workbench.search_codex(of.entry_type, &query, limit))
            }
            Verb::Show { name, of } => {
                let entry = workbench.entry(of.entry_type, &name)?;
                if context.global.json {
                    return output::document(&entry);
                }
                if !entry.also_matched.is_empty() {
                    output::progress(&format!("also: {}", entry.also_matched.join(", ")));
                }
                output::file(&entry.text)?;
                entry.soul.map_or(Ok(()), |soul| output::file(&soul))
            }
            Verb::Mentions { name } => {
                let mentions = workbench.mentions(&name)?;
                if context.global.json {
                    return output::document(&mentions);
                }
                let line =
                    |m: &crate::workbench::look::MentionRow| format!("{}:{}:{}", m.path, m.line, m.column);
                output::found(&mentions.iter().map(|m| vec![line(m), m.name.clone()]).collect::<Vec<_>>())
            }
            Verb::Graph { name, depth, format } => {
                let graph = match name {
                    Some(name) => workbench.graph_around(&name, depth)?.0,
                    None => workbench.graph(),
                };
                if context.global.json || format == GraphFormat::Json {
                    return output::document(&graph_json(&graph));
                }
                output::text(&graph.to_dot(workbench.book().title()))
            }
        }
    }
}

fn rows(context: &Context, rows: &[EntryRow]) -> Result<(), CliError> {
    if context.global.json {
        return output::document(&rows);
    }
    let row = |row: &EntryRow| vec![row.entry_type.to_string(), row.name.clone(), row.path.to_string()];
    output::found(&rows.iter().map(row).collect::<Vec<_>>())
}
