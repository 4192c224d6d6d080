//! `propose_codex_update`, and its older form for characters.

use schemars::JsonSchema;
use serde::Deserialize;

use super::revise::revise;
use super::target::Revision;
use crate::domain::codex::EntryType;
use crate::tools::{Desk, Draft, ProposeTool, ToolError};

/// See [`ProposeTool::about`].
pub(in crate::tools) struct UpdateEntry;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct UpdateCharacter;

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Replace,
    Append,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct UpdateArgs {
    /// Type of the entry.
    entry_type: EntryType,
    /// Name of the entry that exists.
    name: String,
    /// What changes and why, in one sentence for the author.
    change_summary: String,
    /// Heading of the section to change (`Parent / Child` where a heading stands twice), or a frontmatter key such as `role` or `aliases`. A heading that the entry does not have becomes a new section.
    target_section: String,
    /// For `replace`: the whole new text of the section, without its heading. For `append`: only what is added to it.
    proposed_markdown: String,
    /// `replace` (also when null) or `append`.
    mode: Option<Mode>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct CharacterArgs {
    /// Name of the character.
    name: String,
    /// What changes and why, in one sentence for the author.
    change_summary: String,
    /// Heading of the section to change, or a frontmatter key such as `role`.
    target_section: String,
    /// The whole new text of the section, without its heading.
    proposed_markdown: String,
}

impl ProposeTool for UpdateEntry {
    type Args = UpdateArgs;

    fn name(&self) -> &'static str {
        "propose_codex_update"
    }

    fn about(&self) -> &'static str {
        "Proposes a change to one section or field of an existing Codex entry; the author reviews it and nothing is written before that. Read the entry first: a section that was not returned whole in this conversation is not replaced. A change of the narrative role changes the Role field only."
    }

    fn propose(&self, desk: &Desk<'_>, args: UpdateArgs) -> Result<Draft, ToolError> {
        revise(
            desk,
            &Revision {
                tool: self.name(),
                entry_type: args.entry_type,
                name: args.name.trim(),
                summary: args.change_summary.trim(),
                target: args.target_section.trim(),
                markdown: &args.proposed_markdown,
                append: args.mode == Some(Mode::Append),
            },
        )
    }
}

impl ProposeTool for UpdateCharacter {
    type Args = CharacterArgs;

    fn name(&self) -> &'static str {
        "propose_character_update"
    }

    fn about(&self) -> &'static str {
        "Proposes a change to one section of a character's entry (older form of propose_codex_update, which is preferred). The author reviews it and nothing is written before that."
    }

    fn propose(&self, desk: &Desk<'_>, args: CharacterArgs) -> Result<Draft, ToolError> {
        revise(
            desk,
            &Revision {
                tool: self.name(),
                entry_type: EntryType::Character,
                name: args.name.trim(),
                summary: args.change_summary.trim(),
                target: args.target_section.trim(),
                markdown: &args.proposed_markdown,
                append: false,
            },
        )
    }
}
