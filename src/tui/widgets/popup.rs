//! shim
use ratatui::{Frame, layout::Rect, widgets::{Block, Clear}};
use crate::tui::theme::{Role, Theme};
pub fn frame(frame: &mut Frame<'_>, theme: &Theme, title: &str, hint: &str, (w, h): (u16, u16)) -> Rect {
    let s = frame.area();
    let (w, h) = (w.min(s.width), (h).min(s.height));
    let area = Rect { x: s.x + (s.width - w) / 2, y: s.y + (s.height - h) / 2, width: w, height: h };
    frame.render_widget(Clear, area);
    frame.buffer_mut().set_style(area, theme.style(Role::Popup));
    let b = Block::bordered().title(title.to_owned()).title_bottom(hint.to_owned());
    let i = b.inner(area);
    frame.render_widget(b, area);
    i
}
