//! `scritorio init`: a new book.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::workbench::init;

use super::error::CliError;
use super::{Context, output};

/// Make a new book, or add settings to a manuscript that is there
#[derive(Debug, Args)]
pub(super) struct Init {
    /// Its folder
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Init {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let (root, made) = init::init(&self.folder)?;
        if context.global.json {
            return output::document(&json!({ "folder": root, "made": made }));
        }
        output::text(&format!("{}\n{}", root.display(), made.join("\n")))
    }
}
