//! The six board members and their shipped prompts.

/// One member of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Id in settings and on the command line.
    pub id: &'static str,
    /// Name on screen.
    pub name: &'static str,
    /// What the member is for, in a few words.
    pub purpose: &'static str,
    /// Short badge, two or three letters.
    pub badge: &'static str,
    /// Locked sections, Markdown with placeholders.
    pub locked: &'static str,
    /// Editable sections, Markdown with placeholders.
    pub editable: &'static str,
}

/// Returns the six members, the default first.
pub fn members() -> &'static [Member] {
    todo!()
}

/// Returns the member with this id; a missing or invalid id falls back to the developmental editor.
pub fn member(id: Option<&str>) -> &'static Member {
    todo!()
}
