//! How many colours a terminal shows, and the nearest of them to a colour that it can't show.

use ratatui::style::Color;

/// A colour as red, green, blue.
pub type Rgb = (u8, u8, u8);

/// How many colours the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: bold, underlined and reversed text say everything.
    None,
    /// The sixteen whose look the terminal's own settings decide.
    Ansi16,
    /// The sixteen, a cube of 216 and 24 greys.
    Indexed256,
    /// All.
    True,
}

impl Depth {
    /// Tells the depth from the environment, which `value` looks up: `NO_COLOR`, `COLORTERM`, `TERM` and `WT_SESSION`.
    ///
    /// `NO_COLOR` counts when it is not empty: <https://no-color.org>. What is unknown gets sixteen colours, which every
    /// terminal of the last decades shows.
    pub fn detect(value: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name| value(name).unwrap_or_default().to_lowercase();
        let (colorterm, term) = (value("COLORTERM"), value("TERM"));
        let direct = ["-direct", "truecolor", "kitty", "alacritty", "wezterm", "foot", "ghostty"];
        if !value("NO_COLOR").is_empty() || term == "dumb" {
            Self::None
        } else if matches!(colorterm.as_str(), "truecolor" | "24bit")
            || direct.iter().any(|name| term.contains(name))
            || !value("WT_SESSION").is_empty()
        {
            Self::True
        } else if term.contains("256color") {
            Self::Indexed256
        } else {
            Self::Ansi16
        }
    }
}

/// The sixteen colours by name, as xterm shows them unless told otherwise: <https://en.wikipedia.org/wiki/ANSI_escape_code#3-bit_and_4-bit>.
pub const ANSI: [(&str, Color, Rgb); 16] = [
    ("black", Color::Black, (0, 0, 0)),
    ("red", Color::Red, (205, 0, 0)),
    ("green", Color::Green, (0, 205, 0)),
    ("yellow", Color::Yellow, (205, 205, 0)),
    ("blue", Color::Blue, (0, 0, 238)),
    ("magenta", Color::Magenta, (205, 0, 205)),
    ("cyan", Color::Cyan, (0, 205, 205)),
    ("gray", Color::Gray, (229, 229, 229)),
    ("dark-gray", Color::DarkGray, (127, 127, 127)),
    ("light-red", Color::LightRed, (255, 0, 0)),
    ("light-green", Color::LightGreen, (0, 255, 0)),
    ("light-yellow", Color::LightYellow, (255, 255, 0)),
    ("light-blue", Color::LightBlue, (92, 92, 255)),
    ("light-magenta", Color::LightMagenta, (255, 0, 255)),
    ("light-cyan", Color::LightCyan, (0, 255, 255)),
    ("white", Color::White, (255, 255, 255)),
];

/// Returns the nearest of the sixteen.
pub fn to_ansi16(rgb: Rgb) -> Color {
    let nearest = ANSI.iter().min_by_key(|(.., shown)| distance(rgb, *shown));
    nearest.map_or(Color::Reset, |(_, color, _)| *color)
}

/// Returns the nearest of the 240 colours whose look is fixed.
pub fn to_indexed(rgb: Rgb) -> Color {
    let nearest = (16..=255u8).min_by_key(|i| distance(rgb, indexed_rgb(*i)));
    nearest.map_or(Color::Reset, Color::Indexed)
}

/// Returns what colour 16 to 255 looks like: <https://en.wikipedia.org/wiki/ANSI_escape_code#8-bit>.
pub fn indexed_rgb(index: u8) -> Rgb {
    if index >= 232 {
        let grey = 8 + 10 * (index - 232);
        return (grey, grey, grey);
    }
    let cube = index.saturating_sub(16);
    let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * n };
    (level(cube / 36), level(cube / 6 % 6), level(cube % 6))
}

fn distance(a: Rgb, b: Rgb) -> u32 {
    let square = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    // The eye is most sensitive to green and least to blue.
    3 * square(a.0, b.0) + 6 * square(a.1, b.1) + 2 * square(a.2, b.2)
}

/// Returns the contrast between two colours, 1 to 21: <https://www.w3.org/TR/WCAG21/#dfn-contrast-ratio>.
pub fn contrast(a: Rgb, b: Rgb) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

/// Relative luminance, 0 to 1: <https://www.w3.org/TR/WCAG21/#dfn-relative-luminance>.
fn luminance((r, g, b): Rgb) -> f64 {
    let linear = |c: u8| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth_of(environment: &[(&str, &str)]) -> Depth {
        Depth::detect(|name| environment.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).into()))
    }

    #[test]
    fn the_environment_tells_how_many_colours_there_are() {
        assert_eq!(depth_of(&[]), Depth::Ansi16);
        assert_eq!(depth_of(&[("TERM", "xterm")]), Depth::Ansi16);
        assert_eq!(depth_of(&[("TERM", "screen-256color")]), Depth::Indexed256);
        assert_eq!(depth_of(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth_of(&[("TERM", "xterm-kitty")]), Depth::True);
        assert_eq!(depth_of(&[("TERM", "dumb")]), Depth::None);
        assert_eq!(depth_of(&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")]), Depth::None);
        assert_eq!(depth_of(&[("NO_COLOR", ""), ("COLORTERM", "24bit")]), Depth::True);
    }

    #[test]
    fn a_colour_becomes_the_nearest_that_there_is() {
        assert_eq!(to_indexed((255, 255, 255)), Color::Indexed(231));
        assert_eq!(to_indexed((0, 0, 0)), Color::Indexed(16));
        assert_eq!(to_indexed((128, 128, 128)), Color::Indexed(244));
        assert_eq!(to_indexed((255, 95, 0)), Color::Indexed(202));
        assert_eq!(to_ansi16((250, 250, 250)), Color::White);
        assert_eq!(to_ansi16((200, 10, 10)), Color::Red);
        for index in 16..=255u8 {
            let Color::Indexed(again) = to_indexed(indexed_rgb(index)) else { panic!() };
            assert_eq!(indexed_rgb(again), indexed_rgb(index));
        }
    }

    #[test]
    fn contrast_is_as_the_guidelines_compute_it() {
        assert!((contrast((0, 0, 0), (255, 255, 255)) - 21.0).abs() < 1e-9);
        assert!((contrast((119, 119, 119), (255, 255, 255)) - 4.48).abs() < 0.01);
        assert!((contrast((7, 7, 7), (7, 7, 7)) - 1.0).abs() < 1e-9);
    }
}
