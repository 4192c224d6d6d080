//! shim
use ratatui::{Frame, layout::{Position, Rect}};
use crate::tui::theme::Theme;
use crossterm::event::KeyEvent;
#[derive(Debug, Default, Clone)]
pub struct Input { text: String }
impl Input {
    pub fn with(t: &str) -> Self { Self { text: t.to_owned() } }
    pub fn masked() -> Self { Self::default() }
    pub fn text(&self) -> &str { &self.text }
    pub fn clear(&mut self) { self.text.clear(); }
    pub fn insert(&mut self, t: &str) { self.text.push_str(t); }
    pub fn key(&mut self, k: &KeyEvent) -> bool { if let crossterm::event::KeyCode::Char(c) = k.code { self.text.push(c); true } else { false } }
    pub fn draw(&self, f: &mut Frame<'_>, r: Rect, _t: &Theme) -> Position { f.render_widget(self.text.as_str(), r); Position::new(r.x, r.y) }
}
