//! Narrative-role changes: only the value of the one Role field may differ.

/// Whether a change is about the narrative role: its target section, or what it says it changes.
pub fn is_role_change(target_section: &str, change_summary: &str, proposed_markdown: &str) -> bool {
    todo!()
}

/// The role value that a proposed text asks for: a `role:` key or line, a one-line `## Role` section, or a single short line.
pub fn proposed_role(proposed_markdown: &str) -> Option<String> {
    todo!()
}

/// Returns `text` with only its role value changed: frontmatter key `role`, else a `Role:` line, else a one-line `## Role` section; `None`: no such field, and one can't be added safely.
pub fn set_role(text: &str, role: &str) -> Option<String> {
    todo!()
}
