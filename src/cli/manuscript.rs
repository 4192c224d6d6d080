//! `scritorio manuscript`: the chapters.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::workbench::Overrides;

use super::error::CliError;
use super::{Context, output};

/// List, show and search the chapters
#[derive(Debug, Args)]
pub(super) struct Manuscript {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the chapters in reading order
    List,
    /// Show a chapter
    Show {
        /// Number, title, path or file stem
        #[arg(value_name = "REF")]
        reference: String,
    },
    /// Find a phrase, or paragraphs with all of the words
    Search {
        /// Words to look for
        query: String,
        /// Most results
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
}

impl Manuscript {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let workbench = context.open(Overrides::default())?;
        match self.verb {
            Verb::List => {
                let chapters = workbench.chapters();
                if context.global.json {
                    return output::document(&chapters);
                }
                let row = |c: &crate::workbench::look::ChapterRow| {
                    vec![
                        c.number.to_string(),
                        c.title.clone(),
                        format!("{} words", c.words),
                        c.path.to_string(),
                    ]
                };
                output::table(&chapters.iter().map(row).collect::<Vec<_>>())
            }
            Verb::Show { reference } => {
                let (chapter, text) = workbench.chapter(&reference)?;
                if context.global.json {
                    return output::document(&json!({
                        "number": chapter.number,
                        "title": chapter.title,
                        "path": chapter.path,
                        "words": chapter.words,
                        "text": text,
                    }));
                }
                output::file(&text)
            }
            Verb::Search { query, limit } => {
                let passages = workbench.search_manuscript(&query, limit);
                if context.global.json {
                    return output::document(&passages);
                }
                let row = |p: &crate::workbench::look::PassageRow| {
                    vec![format!("{}:{}:{}", p.path, p.line, p.column), p.excerpt.clone()]
                };
                output::found(&passages.iter().map(row).collect::<Vec<_>>())
            }
        }
    }
}
