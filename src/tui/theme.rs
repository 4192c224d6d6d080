//! Themes: what each role on the screen looks like, for terminals with many colours, sixteen, or none.
//!
//! A theme never carries meaning alone: whoever draws a state also draws a symbol or a word. A mistake in an
//! author's theme is reported with its place, never drawn as something else.

pub mod depth;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use include_dir::{Dir, include_dir};
use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;

pub use depth::Depth;
use depth::{ANSI, Rgb, to_ansi16, to_indexed};

use super::nearest::suggestion;
use crate::domain::codex::EntryType;

static SHIPPED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/themes");

/// Declares the roles once: the enum, the list of all, and their names in theme files.
macro_rules! roles {
    ($($(#[$about:meta])+ $role:ident = $name:literal,)+) => {
        /// What something on the screen is, as far as its looks go.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Role {
            $($(#[$about])+ $role,)+
        }

        impl Role {
            /// All roles.
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// Returns its name in theme files.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$role => $name,)+
                }
            }
        }
    };
}

roles! {
    /// Everything that is nothing else. Its background is the screen's.
    Text = "text",
    /// What may be overlooked: hints, counts, times.
    Dim = "dim",
    /// Headings.
    Heading = "heading",
    /// Emphasised words.
    Emphasis = "emphasis",
    /// Strongly emphasised words.
    Strong = "strong",
    /// Code.
    Code = "code",
    /// Links.
    Link = "link",
    /// Block quotes and their bar.
    Quotation = "quotation",
    /// Bullets and numbers of lists.
    ListMarker = "list_marker",
    /// Markdown's marks in the manuscript.
    Markup = "markup",
    /// What should be seen first.
    Accent = "accent",
    /// Selected text.
    Selection = "selection",
    /// The line or list row with the cursor.
    CursorLine = "cursor_line",
    /// Frames.
    Border = "border",
    /// The frame of the focused pane.
    BorderFocused = "border_focused",
    /// Titles in frames.
    Title = "title",
    /// Names of characters in the prose.
    NameCharacter = "name_character",
    /// Names of locations.
    NameLocation = "name_location",
    /// Names of organizations.
    NameOrganization = "name_organization",
    /// Names of items.
    NameItem = "name_item",
    /// Names of concepts.
    NameConcept = "name_concept",
    /// Names of events.
    NameEvent = "name_event",
    /// Names of style entries.
    NameStyle = "name_style",
    /// Misspelled words.
    Misspelled = "misspelled",
    /// What the author asked.
    User = "user",
    /// The board member that answers.
    Persona = "persona",
    /// A tool row's words.
    ToolRow = "tool_row",
    /// The state of a tool that runs.
    ToolRunning = "tool_running",
    /// The state of a tool that answered.
    ToolDone = "tool_done",
    /// The state of a tool that failed.
    ToolFailed = "tool_failed",
    /// A quotation with a marker that the book holds.
    QuoteFound = "quote_found",
    /// A quotation without a marker that the book holds.
    QuoteNeutral = "quote_neutral",
    /// A quotation that the book does not hold.
    QuoteMissing = "quote_missing",
    /// Words that a change adds.
    Added = "added",
    /// Words that a change removes.
    Removed = "removed",
    /// The header of a change.
    Hunk = "hunk",
    /// The card of a proposal.
    Proposal = "proposal",
    /// Warnings.
    Warning = "warning",
    /// Errors.
    Error = "error",
    /// What went well.
    Success = "success",
    /// The status row.
    Status = "status",
    /// Small words on a coloured ground: the persona, a mode.
    Badge = "badge",
    /// The captured selection.
    Chip = "chip",
    /// The ground and text of popups.
    Popup = "popup",
    /// Letters that a filter or a search matched.
    Match = "match",
    /// Keys in hints.
    Key = "key",
    /// A fill level: progress, the goal of the day.
    Gauge = "gauge",
}

impl Role {
    /// Returns the role of a name in the prose, by the type of its entry.
    pub fn of_name(entry_type: EntryType) -> Self {
        match entry_type {
            EntryType::Character => Self::NameCharacter,
            EntryType::Location => Self::NameLocation,
            EntryType::Organization => Self::NameOrganization,
            EntryType::Item => Self::NameItem,
            EntryType::Concept => Self::NameConcept,
            EntryType::Event => Self::NameEvent,
            EntryType::Style => Self::NameStyle,
        }
    }
}

/// The looks of all roles at one colour depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    name: String,
    styles: Vec<Style>,
}

/// What is wrong with a theme file.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the theme \"{theme}\" can't be used:{}", problems.iter().fold(String::new(), |mut all, p| { let _ = write!(all, "\n  {p}"); all }))]
pub struct ThemeError {
    /// Which theme.
    pub theme: String,
    /// All that is wrong with it, each a sentence.
    pub problems: Vec<String>,
}

/// A theme file. A role that it leaves out looks as in its base.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    base: Option<String>,
    #[serde(default)]
    roles: BTreeMap<String, Look>,
}

/// The looks of one role.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Look {
    /// Text and ground, as `#rrggbb`.
    fg: Option<String>,
    bg: Option<String>,
    /// The same where there are sixteen colours, by name; without them the nearest is taken.
    fg16: Option<String>,
    bg16: Option<String>,
    /// Modifiers at every depth.
    #[serde(default)]
    modifiers: Vec<String>,
    /// More modifiers where there are no colours.
    #[serde(default)]
    mono: Vec<String>,
}

const MODIFIERS: [(&str, Modifier); 6] = [
    ("bold", Modifier::BOLD),
    ("dim", Modifier::DIM),
    ("italic", Modifier::ITALIC),
    ("underlined", Modifier::UNDERLINED),
    ("reversed", Modifier::REVERSED),
    ("crossed-out", Modifier::CROSSED_OUT),
];

/// The shipped dark theme in all colours.
impl Default for Theme {
    fn default() -> Self {
        Self::fallback(Depth::True)
    }
}

impl Theme {
    /// Lists the shipped themes by name, in alphabetical order.
    pub fn shipped() -> Vec<&'static str> {
        let mut names: Vec<_> =
            SHIPPED.files().filter_map(|f| f.path().file_stem().and_then(|s| s.to_str())).collect();
        names.sort_unstable();
        names
    }

    /// Returns the shipped theme of that name.
    pub fn named(name: &str, depth: Depth) -> Result<Self, ThemeError> {
        let Some(text) = Self::source(name) else {
            let known = Self::shipped();
            let help = suggestion(name, known.iter().copied());
            let problem = format!("there is no such theme.{help} Shipped are: {}", known.join(", "));
            return Err(ThemeError { theme: name.into(), problems: vec![problem] });
        };
        Self::parse(name, text, depth)
    }

    /// Returns the theme that always works, for when the chosen one can't be used.
    pub fn fallback(depth: Depth) -> Self {
        Self::named("dark", depth).unwrap_or_else(|error| Self { name: error.theme, styles: vec![] })
    }

    /// Reads a theme file, the author's own or a shipped one. Roles that it leaves out come from its `base`, a shipped
    /// theme (dark, when it names none).
    pub fn parse(name: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let fail = |problems| ThemeError { theme: name.into(), problems };
        let file: File = toml::from_str(text).map_err(|e| fail(vec![e.to_string()]))?;
        let base = file.base.as_deref().unwrap_or("dark");
        let Some(base_text) = Self::source(base) else {
            let help = suggestion(base, Self::shipped());
            return Err(fail(vec![format!("its base \"{base}\" is no shipped theme.{help}")]));
        };
        let base: File = toml::from_str(base_text).map_err(|e| fail(vec![e.to_string()]))?;

        let mut problems = vec![];
        for role in file.roles.keys().filter(|r| Role::ALL.iter().all(|known| known.as_str() != *r)) {
            let help = suggestion(role, Role::ALL.iter().map(|r| r.as_str()));
            problems.push(format!("\"{role}\" is no role.{help}"));
        }
        let none = Look::default();
        let styles = Role::ALL
            .iter()
            .map(|role| {
                let look = file.roles.get(role.as_str()).or_else(|| base.roles.get(role.as_str()));
                look.unwrap_or(&none).style(role.as_str(), depth, &mut problems)
            })
            .collect();
        if problems.is_empty() { Ok(Self { name: name.into(), styles }) } else { Err(fail(problems)) }
    }

    /// Returns its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what a role looks like.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    fn source(name: &str) -> Option<&'static str> {
        SHIPPED.get_file(format!("{name}.toml"))?.contents_utf8()
    }
}

impl Look {
    fn style(&self, role: &str, depth: Depth, problems: &mut Vec<String>) -> Style {
        let mut problem = |what: String| problems.push(format!("{role}: {what}"));
        let mut color = |hex: Option<&str>, name: Option<&str>| {
            let rgb = hex.and_then(|h| {
                rgb(h).or_else(|| {
                    problem(format!("\"{h}\" is no colour. Write colours as #rrggbb"));
                    None
                })
            });
            let ansi = name.and_then(|n| {
                let known = ANSI.iter().find(|(name, ..)| *name == n).map(|(_, color, _)| *color);
                known.or_else(|| {
                    let help = suggestion(n, ANSI.iter().map(|(name, ..)| *name));
                    problem(format!("\"{n}\" is none of the sixteen colours.{help}"));
                    None
                })
            });
            match depth {
                Depth::None => None,
                Depth::Ansi16 => ansi.or_else(|| rgb.map(to_ansi16)),
                Depth::Indexed256 => rgb.map(to_indexed),
                Depth::True => rgb.map(|(r, g, b)| Color::Rgb(r, g, b)),
            }
        };
        let fg = color(self.fg.as_deref(), self.fg16.as_deref());
        let bg = color(self.bg.as_deref(), self.bg16.as_deref());
        let mut added = Modifier::empty();
        for (names, counts) in [(&self.modifiers, true), (&self.mono, depth == Depth::None)] {
            for name in names {
                match MODIFIERS.iter().find(|(known, _)| known == name) {
                    Some((_, modifier)) if counts => added |= *modifier,
                    Some(_) => {}
                    None => {
                        let help = suggestion(name, MODIFIERS.iter().map(|(known, _)| *known));
                        problem(format!("\"{name}\" is no modifier.{help}"));
                    }
                }
            }
        }
        Style { fg, bg, ..Style::new() }.add_modifier(added)
    }
}

/// Reads `#rrggbb`.
fn rgb(hex: &str) -> Option<Rgb> {
    let digits =
        hex.strip_prefix('#').filter(|d| d.len() == 6 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some(((number >> 16) as u8, (number >> 8) as u8, number as u8))
}

#[cfg(test)]
mod tests {
    use super::depth::{contrast, indexed_rgb};
    use super::*;

    const DEPTHS: [Depth; 4] = [Depth::None, Depth::Ansi16, Depth::Indexed256, Depth::True];

    fn shown(color: Color) -> Rgb {
        match color {
            Color::Rgb(r, g, b) => (r, g, b),
            Color::Indexed(index) => indexed_rgb(index),
            named => ANSI.iter().find(|(_, color, _)| *color == named).unwrap().2,
        }
    }

    #[test]
    fn every_shipped_theme_defines_every_role_itself() {
        assert!(["dark", "light"].iter().all(|n| Theme::shipped().contains(n)));
        for name in Theme::shipped() {
            let file: File = toml::from_str(Theme::source(name).unwrap()).unwrap();
            let missing: Vec<_> =
                Role::ALL.iter().map(|r| r.as_str()).filter(|r| !file.roles.contains_key(*r)).collect();
            assert_eq!((name, missing), (name, vec![]));
            for depth in DEPTHS {
                Theme::named(name, depth).unwrap();
            }
        }
    }

    /// 4.5 is what the guidelines ask of text (7 of a theme for high contrast); frames are no text. In 16 colours the
    /// terminal decides what they look like, so that xterm's are an approximation.
    #[test]
    fn every_word_is_legible_on_every_ground_that_it_can_stand_on() {
        let mut wrong = vec![];
        for name in Theme::shipped() {
            for (depth, asked) in [(Depth::True, 4.5), (Depth::Indexed256, 4.0), (Depth::Ansi16, 4.0)] {
                let asked = if name == "high-contrast" && depth == Depth::True { 7.0 } else { asked };
                let theme = Theme::named(name, depth).unwrap();
                let text = theme.style(Role::Text);
                let grounds = [Role::Text, Role::Popup, Role::CursorLine];
                for role in Role::ALL.iter().filter(|r| !matches!(r, Role::Border)) {
                    let style = theme.style(*role);
                    let fg = shown(style.fg.or(text.fg).unwrap());
                    for ground in grounds {
                        let bg = shown(style.bg.or(theme.style(ground).bg).or(text.bg).unwrap());
                        let ratio = contrast(fg, bg);
                        if ratio < asked {
                            wrong.push(format!(
                                "{name} {depth:?}: {} on {}: {ratio:.2}",
                                role.as_str(),
                                ground.as_str()
                            ));
                        }
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }

    #[test]
    fn without_colours_nothing_is_coloured_and_what_matters_still_differs() {
        for name in Theme::shipped() {
            let theme = Theme::named(name, Depth::None).unwrap();
            let text = theme.style(Role::Text);
            for role in Role::ALL {
                let style = theme.style(*role);
                assert_eq!((style.fg, style.bg), (None, None), "{name}: {}", role.as_str());
            }
            for role in [
                Role::Selection,
                Role::BorderFocused,
                Role::Added,
                Role::Removed,
                Role::Match,
                Role::Error,
                Role::Heading,
                Role::Badge,
                Role::Chip,
                Role::QuoteFound,
                Role::QuoteMissing,
                Role::Key,
                Role::NameCharacter,
            ] {
                assert_ne!(theme.style(role), text, "{name}: {}", role.as_str());
            }
            assert_ne!(theme.style(Role::Added), theme.style(Role::Removed));
        }
    }

    #[test]
    fn changes_are_struck_and_underlined_at_every_depth() {
        for name in Theme::shipped() {
            for depth in DEPTHS {
                let theme = Theme::named(name, depth).unwrap();
                assert!(theme.style(Role::Added).add_modifier.contains(Modifier::UNDERLINED), "{name}");
                assert!(theme.style(Role::Removed).add_modifier.contains(Modifier::CROSSED_OUT), "{name}");
            }
        }
    }

    #[test]
    fn the_authors_theme_changes_what_it_names_and_keeps_its_base() {
        let text = "base = \"light\"\n[roles]\naccent = { fg = \"#ff0000\", modifiers = [\"bold\"] }";
        let theme = Theme::parse("mine", text, Depth::True).unwrap();
        assert_eq!(
            theme.style(Role::Accent),
            Style::new().fg(Color::Rgb(255, 0, 0)).add_modifier(Modifier::BOLD)
        );
        assert_eq!(theme.style(Role::Text), Theme::named("light", Depth::True).unwrap().style(Role::Text));
        assert_eq!(theme.name(), "mine");
        let sixteen = Theme::parse("mine", text, Depth::Ansi16).unwrap();
        assert_eq!(sixteen.style(Role::Accent).fg, Some(Color::LightRed));
    }

    #[test]
    fn mistakes_in_a_theme_are_named_with_what_was_meant() {
        let text = "[roles]\nacent = { fg = \"#000000\" }\ndim = { fg = \"grey\", fg16 = \"gren\", modifiers = [\"bald\"] }";
        let error = Theme::parse("mine", text, Depth::True).unwrap_err();
        assert_eq!(error.problems.len(), 4, "{error}");
        let said = error.to_string();
        assert!(said.contains("\"acent\" is no role. Did you mean \"accent\"?"), "{said}");
        assert!(said.contains("dim: \"grey\" is no colour. Write colours as #rrggbb"), "{said}");
        assert!(
            said.contains("dim: \"gren\" is none of the sixteen colours. Did you mean \"green\"?"),
            "{said}"
        );
        assert!(said.contains("dim: \"bald\" is no modifier. Did you mean \"bold\"?"), "{said}");
        let said = Theme::parse("mine", "base = \"drak\"", Depth::True).unwrap_err().to_string();
        assert!(said.contains("Did you mean \"dark\"?"), "{said}");
        let said = Theme::named("ligth", Depth::True).unwrap_err().to_string();
        assert!(said.contains("Did you mean \"light\"?"), "{said}");
        assert!(Theme::parse("mine", "roles = 3", Depth::True).is_err());
    }

    proptest::proptest! {
        #[test]
        fn no_theme_file_panics(fg in ".{0,9}", role in "[a-z_]{1,9}") {
            let text = format!("[roles.{role}]\nfg = {}\n", toml::Value::String(fg));
            for depth in DEPTHS {
                let _ = Theme::parse("mine", &text, depth);
            }
        }
    }
}
