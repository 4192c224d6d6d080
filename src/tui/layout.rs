//! Where the panes are, for every size of screen.

use ratatui::layout::Rect;

/// The three panes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    /// The text that the author writes.
    Manuscript,
    /// The conversation with the board.
    Chat,
    /// The story bible.
    Codex,
}

impl Pane {
    pub(super) const ALL: [Self; 3] = [Self::Manuscript, Self::Chat, Self::Codex];

    /// Returns the title of the pane.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Manuscript => "Manuscript",
            Self::Chat => "Chat",
            Self::Codex => "Codex",
        }
    }
}

/// Narrowest and lowest screen that is drawn.
pub(super) const SMALLEST: (u16, u16) = (40, 10);
/// From this width on, all three panes stand side by side.
const THREE: u16 = 120;
/// From this width on, two panes stand side by side.
const TWO: u16 = 80;

/// The areas of one frame. A pane that is not on screen has none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// Whether the screen is too small for anything but a message.
    pub(super) too_small: bool,
    /// The row of tabs, when panes are shown one at a time.
    pub(super) tabs: Option<Rect>,
    /// The manuscript pane.
    pub(super) manuscript: Option<Rect>,
    /// The chat pane.
    pub(super) chat: Option<Rect>,
    /// The Codex pane.
    pub(super) codex: Option<Rect>,
    /// The lines between panes.
    pub(super) rules: [Option<Rect>; 2],
    /// The bottom row.
    pub(super) status: Rect,
}

impl Areas {
    /// Lays a screen out. `side` is the pane that stands beside the manuscript where only two fit.
    pub(super) fn of(screen: Rect, focus: Pane, side: Pane, focus_mode: bool) -> Self {
        if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
            return Self { too_small: true, ..Self::default() };
        }
        let status = Rect { y: screen.bottom() - 1, height: 1, ..screen };
        let body = Rect { height: screen.height - 1, ..screen };
        let mut areas = Self { status, ..Self::default() };
        if focus_mode {
            areas.manuscript = Some(body);
        } else if screen.width >= THREE {
            let codex = (screen.width / 5).clamp(26, 40);
            let chat = (screen.width * 36 / 100).clamp(42, 84);
            let (left, rest) = split(body, screen.width - codex - chat - 2);
            areas.rules[0] = Some(Rect { width: 1, ..rest });
            let (middle, rest) = split(Rect { x: rest.x + 1, width: rest.width - 1, ..rest }, chat);
            areas.rules[1] = Some(Rect { width: 1, ..rest });
            areas.manuscript = Some(left);
            areas.chat = Some(middle);
            areas.codex = Some(Rect { x: rest.x + 1, width: rest.width - 1, ..rest });
        } else if screen.width >= TWO {
            let (left, rest) = split(body, screen.width / 2);
            areas.rules[0] = Some(Rect { width: 1, ..rest });
            areas.manuscript = Some(left);
            let right = Rect { x: rest.x + 1, width: rest.width - 1, ..rest };
            match side {
                Pane::Codex => areas.codex = Some(right),
                _ => areas.chat = Some(right),
            }
        } else {
            areas.tabs = Some(Rect { height: 1, ..body });
            let pane = Rect { y: body.y + 1, height: body.height - 1, ..body };
            match focus {
                Pane::Manuscript => areas.manuscript = Some(pane),
                Pane::Chat => areas.chat = Some(pane),
                Pane::Codex => areas.codex = Some(pane),
            }
        }
        areas
    }

    /// Returns the area of a pane, if it is on screen.
    pub(super) fn of_pane(&self, pane: Pane) -> Option<Rect> {
        match pane {
            Pane::Manuscript => self.manuscript,
            Pane::Chat => self.chat,
            Pane::Codex => self.codex,
        }
    }
}

fn split(area: Rect, width: u16) -> (Rect, Rect) {
    (Rect { width, ..area }, Rect { x: area.x + width, width: area.width - width, ..area })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn areas(width: u16, height: u16) -> Areas {
        Areas::of(Rect::new(0, 0, width, height), Pane::Chat, Pane::Codex, false)
    }

    #[test]
    fn the_number_of_panes_follows_the_width() {
        let shown = |w| Pane::ALL.iter().filter(|p| areas(w, 24).of_pane(**p).is_some()).count();
        assert_eq!((shown(40), shown(79), shown(80), shown(119), shown(120), shown(300)), (1, 1, 2, 2, 3, 3));
        assert!(areas(39, 24).too_small && areas(80, 9).too_small);
    }

    proptest::proptest! {
        #[test]
        fn panes_never_overlap_and_never_leave_the_screen(
            w in 40_u16..400, h in 10_u16..200, f in 0_usize..3, s in 0_usize..3, focus_mode: bool
        ) {
            let screen = Rect::new(0, 0, w, h);
            let a = Areas::of(screen, Pane::ALL[f], Pane::ALL[s], focus_mode);
            let all: Vec<Rect> = Pane::ALL.iter().filter_map(|p| a.of_pane(*p))
                .chain(a.rules.into_iter().flatten()).chain(a.tabs).chain([a.status]).collect();
            for (i, r) in all.iter().enumerate() {
                proptest::prop_assert_eq!(r.intersection(screen), *r);
                proptest::prop_assert!(r.width > 0 && r.height > 0);
                for other in &all[i + 1..] {
                    proptest::prop_assert!(r.intersection(*other).is_empty());
                }
            }
            let cells: u32 = all.iter().map(|r| u32::from(r.width) * u32::from(r.height)).sum();
            proptest::prop_assert_eq!(cells, u32::from(w) * u32::from(h));
        }
    }
}
