//! `scritorio demo`: the example book.

use clap::Args;
use serde_json::json;

use crate::workbench::demo;

use super::error::{CliError, Kind};
use super::{Context, interface, output};

/// Open the example book: a copy in the data folder, as it was left
#[derive(Debug, Args)]
pub(super) struct Demo {
    /// Make another copy; none is ever deleted
    #[arg(long)]
    fresh: bool,
}

impl Demo {
    pub(super) fn execute(self, context: &Context) -> Result<(), CliError> {
        let folder = demo::copy(self.fresh).map_err(|e| {
            CliError::new(Kind::Work, format!("The example can't be copied: {e}."))
                .hint("Set SCRITORIO_DATA_DIR to a folder that can be written to.")
        })?;
        if context.global.json {
            return output::document(&json!({ "folder": folder }));
        }
        if !interface::is_possible() {
            return output::text(&folder.display().to_string());
        }
        interface::open(&folder, None)
    }
}
