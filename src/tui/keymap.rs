//! Which key means which command, and how keys are written in `[keys]`, help and hints.
//!
//! A conflict is an error that names both commands: no key is ever taken silently from one by another.
//! Terminals report the same key in several ways; all are brought to one [`Chord`] here.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::nearest::suggestion;
use crate::command::{self, COMMANDS, Command, Context};

/// A key with its modifiers, in the one form that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Keys with a name: as written, as shown, and what they are. The first name of a key is the one that messages use.
const NAMED: &[(&str, &str, KeyCode)] = &[
    ("enter", "Enter", KeyCode::Enter),
    ("return", "Enter", KeyCode::Enter),
    ("esc", "Esc", KeyCode::Esc),
    ("escape", "Esc", KeyCode::Esc),
    ("tab", "Tab", KeyCode::Tab),
    ("space", "Space", KeyCode::Char(' ')),
    ("backspace", "Backspace", KeyCode::Backspace),
    ("delete", "Del", KeyCode::Delete),
    ("del", "Del", KeyCode::Delete),
    ("insert", "Ins", KeyCode::Insert),
    ("left", "Left", KeyCode::Left),
    ("right", "Right", KeyCode::Right),
    ("up", "Up", KeyCode::Up),
    ("down", "Down", KeyCode::Down),
    ("home", "Home", KeyCode::Home),
    ("end", "End", KeyCode::End),
    ("pgup", "PgUp", KeyCode::PageUp),
    ("pageup", "PgUp", KeyCode::PageUp),
    ("pgdn", "PgDn", KeyCode::PageDown),
    ("pagedown", "PgDn", KeyCode::PageDown),
];

const MODIFIERS: &[(&str, KeyModifiers)] = &[
    ("ctrl", KeyModifiers::CONTROL),
    ("control", KeyModifiers::CONTROL),
    ("alt", KeyModifiers::ALT),
    ("option", KeyModifiers::ALT),
    ("meta", KeyModifiers::ALT),
    ("shift", KeyModifiers::SHIFT),
    ("super", KeyModifiers::SUPER),
    ("cmd", KeyModifiers::SUPER),
];

impl Chord {
    /// Reads a key as it is written in settings: `ctrl-k`, `alt-enter`, `shift-tab`, `f11`, `pgup`, `?`.
    /// The error is a sentence for the author.
    pub fn parse(written: &str) -> Result<Self, String> {
        let (mut rest, mut modifiers) = (written.trim(), KeyModifiers::NONE);
        // `-` is a key too: `ctrl--` ends with it.
        while let Some((modifier, after)) =
            rest.split_once('-').filter(|(m, a)| !m.is_empty() && !a.is_empty())
        {
            let lower = modifier.to_lowercase();
            let known = MODIFIERS.iter().find(|(name, _)| *name == lower);
            let (_, bit) = known.ok_or_else(|| {
                let help = suggestion(&lower, MODIFIERS.iter().map(|(name, _)| *name));
                format!("\"{written}\" is no key: \"{modifier}\" is no modifier.{help}")
            })?;
            modifiers |= *bit;
            rest = after;
        }
        let code = Self::code(rest).ok_or_else(|| {
            let help = suggestion(rest, NAMED.iter().map(|(name, ..)| *name));
            format!(
                "\"{written}\" is no key.{help} Write keys as ctrl-k, alt-enter, shift-tab, f11, pgup or ?"
            )
        })?;
        // `Ctrl-K` is how help shows it, and means no Shift.
        let code = match code {
            KeyCode::Char(c) if !(modifiers - KeyModifiers::SHIFT).is_empty() => KeyCode::Char(lowered(c)),
            code => code,
        };
        if modifiers == KeyModifiers::CONTROL
            && let Some(same) = sent_as(code)
        {
            return Err(format!("\"{written}\" can't be used: most terminals send the same for {same}"));
        }
        Ok(Self::normal(code, modifiers))
    }

    /// Returns the key of an event; `None` for the release of a key.
    pub fn of(key: &KeyEvent) -> Option<Self> {
        (key.kind != KeyEventKind::Release).then(|| Self::normal(key.code, key.modifiers))
    }

    fn code(name: &str) -> Option<KeyCode> {
        let mut chars = name.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return (!c.is_control() && c != ' ').then_some(KeyCode::Char(c));
        }
        let lower = name.to_lowercase();
        if let Some((.., code)) = NAMED.iter().find(|(written, ..)| *written == lower) {
            return Some(*code);
        }
        let number: u8 = lower.strip_prefix('f')?.parse().ok()?;
        (1..=24).contains(&number).then_some(KeyCode::F(number))
    }

    /// Brings the ways in which terminals report one key to one form: Shift is a modifier on letters and part of
    /// the character elsewhere, `BackTab` is Shift-Tab, NUL is Ctrl-Space, and Ctrl-H is Backspace.
    fn normal(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let kept = KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT | KeyModifiers::SUPER;
        let modifiers = modifiers & kept;
        let (code, modifiers) = match code {
            KeyCode::BackTab => (KeyCode::Tab, modifiers | KeyModifiers::SHIFT),
            KeyCode::Null => (KeyCode::Char(' '), modifiers | KeyModifiers::CONTROL),
            KeyCode::Char('@') if modifiers.contains(KeyModifiers::CONTROL) => {
                (KeyCode::Char(' '), modifiers - KeyModifiers::SHIFT)
            }
            KeyCode::Char('h') if modifiers == KeyModifiers::CONTROL => {
                (KeyCode::Backspace, KeyModifiers::NONE)
            }
            KeyCode::Char(c) if c.is_uppercase() => {
                (KeyCode::Char(lowered(c)), modifiers | KeyModifiers::SHIFT)
            }
            KeyCode::Char(c) if !c.is_lowercase() => (code, modifiers - KeyModifiers::SHIFT),
            _ => (code, modifiers),
        };
        Self { code, modifiers }
    }

    /// Whether it puts a character into a text.
    pub fn types_a_character(self) -> bool {
        matches!(self.code, KeyCode::Char(_)) && (self.modifiers - KeyModifiers::SHIFT).is_empty()
    }

    /// The same key without Shift.
    fn unshifted(self) -> Option<Self> {
        self.modifiers
            .contains(KeyModifiers::SHIFT)
            .then(|| Self { modifiers: self.modifiers - KeyModifiers::SHIFT, ..self })
    }
}

/// What a terminal without a keyboard protocol sends instead of a control key.
fn sent_as(code: KeyCode) -> Option<&'static str> {
    match code {
        KeyCode::Char('h') => Some("Backspace"),
        KeyCode::Char('i') => Some("Tab"),
        KeyCode::Char('m') => Some("Enter"),
        KeyCode::Char('[') => Some("Esc"),
        _ => None,
    }
}

/// Lower case, where that is one character.
fn lowered(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}

/// Shown as in `Ctrl-K`, `Alt-Enter`, `F11`, `?`.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (bit, name) in [
            (KeyModifiers::SUPER, "Super-"),
            (KeyModifiers::CONTROL, "Ctrl-"),
            (KeyModifiers::ALT, "Alt-"),
            (KeyModifiers::SHIFT, "Shift-"),
        ] {
            if self.modifiers.contains(bit) {
                f.write_str(name)?;
            }
        }
        if let Some((_, shown, _)) = NAMED.iter().find(|(.., code)| *code == self.code) {
            return f.write_str(shown);
        }
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => write!(f, "{c}"),
            KeyCode::Char(c) => write!(f, "{}", c.to_uppercase()),
            KeyCode::F(n) => write!(f, "F{n}"),
            other => write!(f, "{other}"),
        }
    }
}

/// The keys of all commands.
#[derive(Debug, Clone)]
pub struct Keymap {
    commands: HashMap<(Context, Chord), &'static Command>,
    keys: HashMap<&'static str, Vec<Chord>>,
}

/// The keys of the table in [`COMMANDS`].
impl Default for Keymap {
    fn default() -> Self {
        let parsed = |c: &Command| c.keys.iter().filter_map(|k| Chord::parse(k).ok()).collect();
        let keys: HashMap<_, Vec<Chord>> = COMMANDS.iter().map(|c| (c.name, parsed(c))).collect();
        let commands = COMMANDS
            .iter()
            .flat_map(|command| keys[command.name].iter().map(move |k| ((command.context, *k), command)))
            .collect();
        Self { commands, keys }
    }
}

impl Keymap {
    /// Returns the default keys with the author's in their place: each name gets the keys of its list and no others,
    /// an empty list takes its keys away. The errors are sentences for the author, all that were found.
    pub fn with(overrides: &BTreeMap<String, Vec<String>>) -> Result<Self, Vec<String>> {
        let mut problems = vec![];
        let mut keys = Self::default().keys;
        for (name, written) in overrides {
            let Some(command) = command::find(name) else {
                let help = suggestion(name, COMMANDS.iter().map(|c| c.name));
                problems.push(format!("[keys]: there is no command \"{name}\".{help}"));
                continue;
            };
            let mut chords = vec![];
            for key in written {
                match Chord::parse(key) {
                    Ok(chord) if chord.types_a_character() && command.context.takes_text() => {
                        let place = command.context.as_str();
                        problems.push(format!(
                            "[keys] {name}: \"{key}\" is text in the {place}. Add ctrl or alt, or use another key"
                        ));
                    }
                    Ok(chord) => chords.push(chord),
                    Err(problem) => problems.push(format!("[keys] {name}: {problem}")),
                }
            }
            keys.insert(command.name, chords);
        }
        let mut commands: HashMap<(Context, Chord), &'static Command> = HashMap::new();
        for command in COMMANDS {
            for chord in &keys[command.name] {
                let before = commands.insert((command.context, *chord), command);
                if let Some(before) = before.filter(|b| *b != command) {
                    problems.push(format!(
                        "[keys]: {chord} is given to both \"{}\" and \"{}\" ({}). Give one of them another key, or []",
                        before.name,
                        command.name,
                        command.context.as_str()
                    ));
                }
            }
        }
        if problems.is_empty() { Ok(Self { commands, keys }) } else { Err(problems) }
    }

    /// Returns what a key means in a context, its parents after it. Where text is typed, a plain character means nothing.
    ///
    /// A key of a [moving](Command::moves) command is found with Shift too: the caller then extends the selection.
    pub fn lookup(&self, context: Context, key: &KeyEvent) -> Option<&'static Command> {
        let chord = Chord::of(key)?;
        if chord.types_a_character() && context.takes_text() {
            return None;
        }
        let find = |chord: Chord| {
            std::iter::successors(Some(context), |c| c.parent())
                .find_map(|c| self.commands.get(&(c, chord)).copied())
        };
        find(chord).or_else(|| find(chord.unshifted()?).filter(|c| c.moves()))
    }

    /// Returns all keys of a command for help, as in `F1, ?`; empty when it has none.
    pub fn keys_of(&self, name: &str) -> String {
        let chords = self.keys.get(name).map(Vec::as_slice).unwrap_or_default();
        chords.iter().map(Chord::to_string).collect::<Vec<_>>().join(", ")
    }

    /// Returns its keys for help, those that type a character apart: those mean nothing where text is typed.
    pub fn keys_apart(&self, name: &str) -> (String, String) {
        let chords = self.keys.get(name).map(Vec::as_slice).unwrap_or_default();
        let (typed, others): (Vec<Chord>, Vec<Chord>) = chords.iter().partition(|c| c.types_a_character());
        let listed = |chords: Vec<Chord>| chords.iter().map(Chord::to_string).collect::<Vec<_>>().join(", ");
        (listed(others), listed(typed))
    }

    /// Returns the first key of a command for a hint, as in `Ctrl-J`.
    pub fn key_of(&self, name: &str) -> Option<String> {
        self.keys.get(name)?.first().map(Chord::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    fn meaning(context: Context, code: KeyCode, modifiers: KeyModifiers) -> Option<&'static str> {
        Keymap::default().lookup(context, &press(code, modifiers)).map(|c| c.name)
    }

    fn overrides(of: &[(&str, &[&str])]) -> BTreeMap<String, Vec<String>> {
        of.iter().map(|(name, keys)| ((*name).into(), keys.iter().map(|k| (*k).into()).collect())).collect()
    }

    #[test]
    fn every_default_key_is_a_key_and_belongs_to_one_command() {
        for command in COMMANDS {
            for key in command.keys {
                let chord = Chord::parse(key).unwrap();
                assert!(!(chord.types_a_character() && command.context.takes_text()), "{key}");
            }
        }
        assert_eq!(Keymap::with(&BTreeMap::new()).map(|k| k.commands.len()).unwrap(), {
            COMMANDS.iter().map(|c| c.keys.len()).sum::<usize>()
        });
    }

    #[test]
    fn keys_are_found_in_their_context_then_in_its_parents() {
        let ctrl = KeyModifiers::CONTROL;
        let plain = KeyModifiers::NONE;
        assert_eq!(meaning(Context::Chat, KeyCode::Enter, plain), Some("send"));
        assert_eq!(meaning(Context::Conversation, KeyCode::Enter, plain), Some("open-row"));
        assert_eq!(meaning(Context::Conversation, KeyCode::PageUp, plain), Some("scroll-up"));
        assert_eq!(meaning(Context::Codex, KeyCode::Down, plain), Some("list-down"));
        assert_eq!(meaning(Context::Manuscript, KeyCode::Enter, plain), None);
        for context in Context::ALL {
            assert_eq!(meaning(context, KeyCode::Char('p'), ctrl), Some("palette"));
        }
    }

    #[test]
    fn a_question_mark_is_help_outside_of_text_and_text_inside() {
        for (code, modifiers) in
            [(KeyCode::Char('?'), KeyModifiers::NONE), (KeyCode::Char('?'), KeyModifiers::SHIFT)]
        {
            assert_eq!(meaning(Context::Codex, code, modifiers), Some("help"));
            assert_eq!(meaning(Context::Diff, code, modifiers), Some("help"));
            for text in [Context::Manuscript, Context::Chat, Context::List] {
                assert_eq!(meaning(text, code, modifiers), None);
            }
        }
    }

    #[test]
    fn one_key_is_one_key_however_the_terminal_reports_it() {
        let (none, ctrl, shift) = (KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::SHIFT);
        let same = |a: (KeyCode, KeyModifiers), b: (KeyCode, KeyModifiers)| {
            assert_eq!(Chord::of(&press(a.0, a.1)), Chord::of(&press(b.0, b.1)));
        };
        same((KeyCode::BackTab, none), (KeyCode::Tab, shift));
        same((KeyCode::BackTab, shift), (KeyCode::Tab, shift));
        same((KeyCode::Null, none), (KeyCode::Char(' '), ctrl));
        same((KeyCode::Char('h'), ctrl), (KeyCode::Backspace, none));
        same((KeyCode::Char('K'), ctrl), (KeyCode::Char('k'), ctrl | shift));
        same((KeyCode::Char('K'), shift), (KeyCode::Char('k'), shift));
        same((KeyCode::Char('?'), shift), (KeyCode::Char('?'), none));
        same((KeyCode::Char('ß'), none), (KeyCode::Char('ß'), none));
        assert_eq!(meaning(Context::Manuscript, KeyCode::Null, none), Some("selection-mode"));
        let release = KeyEvent::new_with_kind(KeyCode::Char('s'), ctrl, KeyEventKind::Release);
        assert_eq!(Keymap::default().lookup(Context::Global, &release), None);
    }

    #[test]
    fn shift_extends_where_a_key_moves_and_nowhere_else() {
        let shift = KeyModifiers::SHIFT;
        assert_eq!(meaning(Context::Manuscript, KeyCode::Left, shift), Some("move-left"));
        assert_eq!(
            meaning(Context::Manuscript, KeyCode::Right, shift | KeyModifiers::CONTROL),
            Some("move-word-right")
        );
        assert_eq!(meaning(Context::Diff, KeyCode::Char('A'), shift), Some("accept-all-seen"));
        assert_eq!(meaning(Context::Diff, KeyCode::Char('R'), shift), None);
        assert_eq!(meaning(Context::Chat, KeyCode::Enter, shift), Some("new-line"));
        assert_eq!(meaning(Context::List, KeyCode::Up, shift), None);
    }

    #[test]
    fn the_author_gives_a_command_other_keys() {
        let keymap = Keymap::with(&overrides(&[("save", &["F12", "Ctrl-Alt-W"]), ("peek", &[])])).unwrap();
        let save = press(KeyCode::Char('w'), KeyModifiers::CONTROL | KeyModifiers::ALT);
        assert_eq!(keymap.lookup(Context::Chat, &save).map(|c| c.name), Some("save"));
        let old = press(KeyCode::Char('s'), KeyModifiers::CONTROL);
        assert_eq!(keymap.lookup(Context::Chat, &old), None);
        assert_eq!(keymap.keys_of("save"), "F12, Ctrl-Alt-W");
        assert_eq!(keymap.keys_of("peek"), "");
        assert_eq!(keymap.key_of("peek"), None);
        assert_eq!(keymap.key_of("new-line").as_deref(), Some("Ctrl-J"));
        assert_eq!(keymap.keys_of("help"), "F1, ?");
        assert_eq!(keymap.keys_of("toggle-hunk"), "Space");
    }

    #[test]
    fn mistakes_in_settings_are_named_all_at_once_with_what_was_meant() {
        let wrong = overrides(&[
            ("svae", &["f12"]),
            ("find", &["ctl-f"]),
            ("peek", &["ctrl-entr"]),
            ("send", &["x"]),
            ("redo", &["ctrl-z"]),
            ("go-to", &["ctrl-i"]),
        ]);
        let problems = Keymap::with(&wrong).unwrap_err();
        let all = problems.join("\n");
        assert_eq!(problems.len(), 6, "{all}");
        assert!(all.contains("there is no command \"svae\". Did you mean \"save\"?"), "{all}");
        assert!(all.contains("\"ctl\" is no modifier. Did you mean \"ctrl\"?"), "{all}");
        assert!(all.contains("\"ctrl-entr\" is no key. Did you mean \"enter\"?"), "{all}");
        assert!(all.contains("\"x\" is text in the chat"), "{all}");
        assert!(all.contains("Ctrl-Z is given to both \"undo\" and \"redo\""), "{all}");
        assert!(all.contains("send the same for Tab"), "{all}");
    }

    #[test]
    fn a_key_may_mean_one_thing_here_and_another_there() {
        let keymap = Keymap::with(&overrides(&[("accept-proposal", &["ctrl-s"])])).unwrap();
        let key = press(KeyCode::Char('s'), KeyModifiers::CONTROL);
        assert_eq!(keymap.lookup(Context::Diff, &key).map(|c| c.name), Some("accept-proposal"));
        assert_eq!(keymap.lookup(Context::Chat, &key).map(|c| c.name), Some("save"));
    }

    #[test]
    fn a_hyphen_is_a_key_too() {
        assert_eq!(Chord::parse("-").unwrap().to_string(), "-");
        assert_eq!(Chord::parse("ctrl--").unwrap().to_string(), "Ctrl--");
        assert_eq!(Chord::parse("shift-tab").unwrap().to_string(), "Shift-Tab");
        for wrong in ["", " ", "-x", "ctrl-", "f0", "f25", "f999", "ctrl-ctrl-", "\u{1b}"] {
            assert!(Chord::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_can_be_written(n in 1u8..=24, c in "[a-z0-9/.,;=-]", ctrl: bool, alt: bool, shift: bool) {
            let mut prefix = String::new();
            for (on, name) in [(ctrl, "ctrl-"), (alt, "alt-"), (shift, "shift-")] {
                if on { prefix.push_str(name); }
            }
            for key in [format!("{prefix}f{n}"), format!("{prefix}{c}"), format!("{prefix}pgup")] {
                if let Ok(chord) = Chord::parse(&key) {
                    proptest::prop_assert_eq!(Chord::parse(&chord.to_string()), Ok(chord));
                }
            }
        }

        #[test]
        fn nothing_that_is_written_panics(written in ".{0,12}") {
            let _ = Chord::parse(&written);
        }
    }
}
