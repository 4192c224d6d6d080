//! shim
use crate::proposal::diff::Hunk; use crate::tui::theme::Theme; use ratatui::text::Line;
pub struct Shown<'a> { pub old: &'a str, pub new: &'a str, pub hunks: &'a [Hunk], pub chosen: &'a [bool], pub current: Option<usize>, pub whole: bool }
pub struct Drawn { pub lines: Vec<Line<'static>>, pub starts: Vec<usize> }
pub fn unified(_: &Shown<'_>, _: u16, _: &Theme) -> Drawn { Drawn { lines: vec![], starts: vec![] } }
pub fn side_by_side(_: &Shown<'_>, _: u16, _: &Theme) -> Drawn { Drawn { lines: vec![], starts: vec![] } }
