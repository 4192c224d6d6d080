//! The frame of a popup: centred, never larger than the screen, with a title above and the keys that work in it below.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};

use super::super::theme::{Role, Theme};
use super::text;

/// A popup without its content.
#[derive(Debug, Clone, Copy)]
pub struct Popup<'a> {
    /// What it is about.
    pub title: &'a str,
    /// Keys and what they do, most important first; those that find no room are left out.
    pub hints: &'a [(String, &'a str)],
    /// Columns of the content.
    pub width: u16,
    /// Rows of the content.
    pub height: u16,
}

impl Popup<'_> {
    /// Returns where it stands, frame included.
    pub fn area(&self, screen: Rect) -> Rect {
        let width = self.width.saturating_add(4).min(screen.width);
        let height = self.height.saturating_add(2).min(screen.height);
        Rect {
            x: screen.x + (screen.width - width) / 2,
            y: screen.y + (screen.height - height) / 2,
            width,
            height,
        }
    }

    /// Returns where its content stands.
    pub fn inner(&self, screen: Rect) -> Rect {
        let area = self.area(screen);
        if area.width < 5 || area.height < 3 {
            return area;
        }
        Rect { x: area.x + 2, y: area.y + 1, width: area.width - 4, height: area.height - 2 }
    }

    /// Clears its place and draws the frame; returns where the content goes. On a screen too small for a frame there is none.
    pub fn draw(&self, screen: Rect, buffer: &mut Buffer, theme: &Theme) -> Rect {
        let (area, inner) = (self.area(screen), self.inner(screen));
        Clear.render(area, buffer);
        let ground = theme.style(Role::Popup);
        if area == inner {
            Block::new().style(ground).render(area, buffer);
            return inner;
        }
        let room = usize::from(area.width - 4);
        let title = text::fit(self.title, room);
        Block::bordered()
            .border_type(BorderType::Rounded)
            .style(ground)
            .border_style(theme.style(Role::BorderFocused))
            .title(Span::styled(format!(" {title} "), theme.style(Role::Title)))
            .title_bottom(hints(self.hints, room, theme))
            .render(area, buffer);
        inner
    }
}

/// Returns keys and what they do in one row, as many as fit: ` Enter open  Esc close `.
pub fn hints(hints: &[(String, &str)], columns: usize, theme: &Theme) -> Line<'static> {
    let mut spans = vec![];
    let mut used = 1;
    for (key, about) in hints.iter().filter(|(key, _)| !key.is_empty()) {
        let wide = text::width(key) + text::width(about) + 3;
        if used + wide > columns + 1 {
            break;
        }
        used += wide;
        spans.push(Span::styled(format!(" {}", text::fit(key, columns)), theme.style(Role::Key)));
        spans.push(Span::styled(format!(" {} ", text::fit(about, columns)), Style::new()));
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(popup: &Popup<'_>, screen: Rect) -> (Vec<String>, Rect) {
        let mut buffer = Buffer::empty(screen);
        let inner = popup.draw(screen, &mut buffer, &Theme::default());
        let row = |y| (0..screen.width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        ((0..screen.height).map(row).collect(), inner)
    }

    #[test]
    fn a_popup_stands_in_the_middle_with_its_title_and_keys() {
        let hints = [("Enter".to_owned(), "open"), ("Esc".to_owned(), "close"), (String::new(), "no key")];
        let popup = Popup { title: "Go to", hints: &hints, width: 24, height: 1 };
        let (rows, inner) = drawn(&popup, Rect::new(0, 0, 32, 5));
        let expected = [
            "                                ",
            "  ╭ Go to ───────────────────╮  ",
            "  │                          │  ",
            "  ╰ Enter open  Esc close ───╯  ",
            "                                ",
        ];
        assert_eq!(rows, expected);
        assert_eq!(inner, Rect::new(4, 2, 24, 1));
    }

    #[test]
    fn keys_that_find_no_room_are_left_out() {
        let hints = [("Enter".to_owned(), "open"), ("Esc".to_owned(), "close")];
        let popup = Popup { title: "A title that is far too long", hints: &hints, width: 12, height: 1 };
        let (rows, _) = drawn(&popup, Rect::new(0, 0, 16, 3));
        assert_eq!(rows[0], "╭ A title tha… ╮");
        assert_eq!(rows[2], "╰ Enter open ──╯");
    }

    proptest::proptest! {
        #[test]
        fn a_popup_stays_on_the_screen(x in 0u16..9, y in 0u16..9, w in 0u16..20, h in 0u16..9, width: u16, height: u16) {
            let screen = Rect::new(x, y, w, h);
            let hints = [("Esc".to_owned(), "close")];
            let popup = Popup { title: "日本\x1b語", hints: &hints, width, height };
            let mut buffer = Buffer::empty(screen);
            let inner = popup.draw(screen, &mut buffer, &Theme::default());
            proptest::prop_assert_eq!(screen.intersection(inner), inner);
            proptest::prop_assert_eq!(screen.intersection(popup.area(screen)), popup.area(screen));
        }
    }
}
