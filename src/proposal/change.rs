//! Surgical edits of one Markdown file: a section's text, a frontmatter key. Every other byte stays.

use std::ops::Range;

/// A section of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The heading's words.
    pub heading: String,
    /// Heading level, 1 to 6.
    pub level: u8,
    /// Bytes of its text: after the heading's line, up to the next heading of the same or a higher level.
    pub content: Range<usize>,
}

/// Lists the sections of `text` (frontmatter, code blocks and comments do not count as headings).
pub fn sections(text: &str) -> Vec<Section> {
    todo!()
}

/// Finds the section that `target` names: a heading at any level (case-insensitive, with or without `#`), or `Parent / Child` for a duplicate.
pub fn find_section<'a>(sections: &'a [Section], target: &str) -> Option<&'a Section> {
    todo!()
}

/// Replaces the content of a section, keeping blank lines around it and the file's line endings.
pub fn replace_section(text: &str, section: &Section, markdown: &str) -> String {
    todo!()
}

/// Adds to the end of a section (or, with `None`, as a new `## heading` section at the end of the file).
pub fn append(text: &str, section: Option<&Section>, heading: &str, markdown: &str) -> String {
    todo!()
}

/// Changes or adds one frontmatter key, byte for byte lossless elsewhere (order, comments, quoting style, line endings).
/// Returns `None` when the frontmatter can't be edited safely.
pub fn set_key(text: &str, key: &str, value: &serde_json::Value) -> Option<String> {
    todo!()
}
