//! A book's settings: `scritorio.toml` as a [`BookSettings`].
//!
//! Reads text, never a file. A key that is not known is a warning, so that a book written with a newer version opens; a
//! value of the wrong type is an error, so that a setting is never silently ignored.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::user::{EFFORTS, TIERS, VERBOSITIES};
use crate::domain::book::{BoardSettings, BookSettings};
use crate::domain::codex::EntryType;
use crate::domain::frontmatter::Problem;
use crate::domain::ids::BookPath;
use crate::domain::nearness::nearest;
use crate::domain::passage::line_column;
use crate::domain::privacy;

/// Name of the settings file in a book's folder.
pub const FILE: &str = "scritorio.toml";

/// Ids of the board members, which `[board.<id>]` may name.
pub const BOARD_IDS: [&str; 6] = [
    "developmental-editor",
    "character-psychologist",
    "continuity-editor",
    "worldbuilding-auditor",
    "first-time-reader",
    "writing-coach",
];

/// Reads `scritorio.toml`. Gives the settings with warnings in the order of the file, or the first error; both have line and column.
pub fn parse(text: &str) -> Result<(BookSettings, Vec<Problem>), Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = DeTable::parse(text)
        .map_err(|error| Problem::at(text, error.span().map_or(0, |span| span.start), error.message()))?;
    let mut draft = Draft { text, settings: BookSettings::default(), warnings: vec![] };
    for (key, item) in in_file_order(root.get_ref()) {
        let name = key.get_ref().as_ref();
        if name == "board" {
            draft.board(&Cell { text, path: "[board]".to_owned(), item })?;
        } else if name == "ai" {
            draft.ai(&Cell { text, path: "[ai]".to_owned(), item });
        } else if let Some((_, keys)) = TABLES.iter().find(|(known, _)| *known == name) {
            draft.table(&Cell { text, path: format!("[{name}]"), item }, keys)?;
        } else if means_ai(name, item.get_ref()) {
            let what = format!("`{name}` is not a known section; did you mean `[ai]` with the key `never`?");
            draft.refuse(Problem::at(text, key.span().start, what));
        } else {
            let known = TABLES.iter().map(|(known, _)| *known).chain(["board", "ai"]);
            draft.unknown(key, &format!("`{name}` is not a known section"), known);
        }
    }
    Ok((draft.settings, draft.warnings))
}

/// Takes one value over into the settings.
type Set = fn(&mut Draft<'_>, &Cell<'_>) -> Result<(), Problem>;

/// Every section with its keys: what is read here is what is known.
const TABLES: &[(&str, &[(&str, Set)])] = &[
    (
        "book",
        &[
            ("title", |d, v| v.text().map(|text| d.settings.title = text)),
            ("author", |d, v| v.text().map(|text| d.settings.author = text)),
            ("genre", |d, v| v.text().map(|text| d.settings.genre = text)),
            ("language", |d, v| v.text().map(|text| d.settings.language = text)),
        ],
    ),
    (
        "audience",
        &[
            ("age_group", |d, v| v.text().map(|text| d.settings.audience.age_group = text)),
            ("lens", |d, v| v.lens().map(|lens| d.settings.audience.lens = lens)),
            ("reader_age", |d, v| v.whole().map(|age| d.settings.audience.reader_age = Some(age))),
        ],
    ),
    (
        "manuscript",
        &[
            ("dir", |d, v| d.folder(v).map(|dir| d.settings.manuscript_dir = dir)),
            ("order", |d, v| v.texts().map(|order| d.settings.order = order)),
        ],
    ),
    (
        "codex",
        &[
            ("dirs", |d, v| d.folders(v).map(|dirs| d.settings.codex_dirs = dirs)),
            ("types", |d, v| d.codex_types(&Cell { path: "[codex.types]".to_owned(), ..*v })),
            ("keys", |d, v| d.codex_keys(&Cell { path: "[codex.keys]".to_owned(), ..*v })),
        ],
    ),
    ("notes", &[("dir", |d, v| d.folder(v).map(|dir| d.settings.notes_dir = dir))]),
    (
        "provider",
        &[
            ("name", |d, v| v.text().map(|text| d.settings.provider = text)),
            ("model", |d, v| v.text().map(|text| d.settings.model = text)),
        ],
    ),
    ("tools", &[("disabled", |d, v| v.texts().map(|names| d.settings.disabled_tools = names))]),
    (
        "goals",
        &[
            ("words", |d, v| v.whole().map(|words| d.settings.goal_words = Some(words))),
            ("per_day", |d, v| v.whole().map(|words| d.settings.goal_per_day = Some(words))),
            ("deadline", |d, v| v.date().map(|date| d.settings.deadline = date)),
        ],
    ),
];

/// Keys of an entry that have a meaning here, to which `[codex.keys]` may map others.
pub const ENTRY_KEYS: [&str; 11] = [
    "type",
    "name",
    "title",
    "aliases",
    "summary",
    "tags",
    "role",
    "date",
    "chapter",
    "progressions",
    "relationships",
];

const BOARD_KEYS: [&str; 10] = [
    "notes",
    "editable",
    "enabled",
    "blind",
    "model",
    "effort",
    "verbosity",
    "max_output_tokens",
    "tier",
    "web_search",
];

/// What has been read so far.
struct Draft<'a> {
    text: &'a str,
    settings: BookSettings,
    warnings: Vec<Problem>,
}

impl Draft<'_> {
    fn table(&mut self, section: &Cell<'_>, keys: &[(&str, Set)]) -> Result<(), Problem> {
        for (key, item) in in_file_order(section.table()?) {
            let name = key.get_ref().as_ref();
            match keys.iter().find(|(known, _)| *known == name) {
                Some((_, set)) => set(self, &section.child(name, item))?,
                None => self.unknown_key(section, key, item, keys.iter().map(|(known, _)| *known)),
            }
        }
        Ok(())
    }

    /// `[ai]`: what is meant to keep something from AI is never passed over. What can't be obeyed is noted, and what can is.
    fn ai(&mut self, section: &Cell<'_>) {
        let table = match section.table() {
            Ok(table) => table,
            Err(problem) => return self.refuse(problem),
        };
        for (key, item) in in_file_order(table) {
            if key.get_ref() != "never" {
                let what = format!("`{}` is not a known key of [ai]; the key is `never`", key.get_ref());
                self.refuse(Problem::at(self.text, key.span().start, what));
                continue;
            }
            let value = section.child(key.get_ref(), item);
            let items = match item.get_ref() {
                DeValue::String(_) => Ok(vec![section.child(key.get_ref(), item)]),
                _ => value.items(),
            };
            match items {
                Ok(items) => items.iter().for_each(|item| self.never(item)),
                Err(problem) => self.refuse(problem),
            }
        }
    }

    fn never(&mut self, item: &Cell<'_>) {
        let DeValue::String(raw) = item.item.get_ref() else {
            return self.refuse(item.must_be("a list of texts, such as [\"notes/private\"]"));
        };
        match privacy::pattern(raw) {
            Ok(_) => {
                let start = item.item.span().start;
                self.settings.ai_never.push(raw.trim().to_owned());
                self.settings.ai_never_at.push(line_column(self.text, start));
            }
            Err(why) => self.refuse(item.problem(format!("{}: `{raw}` {why}", item.path))),
        }
    }

    /// What is likely meant to keep files from AI, and stands where nobody looks for it.
    fn misplaced(&mut self, section: &Cell<'_>, key: &Key<'_>) {
        let what = format!(
            "`{}` does nothing in {}; what AI never reads stands in a section of its own: `[ai]`, and below it the key `never`",
            key.get_ref(),
            section.path
        );
        self.refuse(Problem::at(self.text, key.span().start, what));
    }

    fn refuse(&mut self, problem: Problem) {
        self.warnings.push(problem.clone());
        self.settings.ai_refused.push(problem);
    }

    fn board(&mut self, section: &Cell<'_>) -> Result<(), Problem> {
        for (id, item) in in_file_order(section.table()?) {
            let name = id.get_ref().as_ref();
            let member = Cell { text: self.text, path: format!("[board.{name}]"), item };
            let mut read = BoardSettings::default();
            for (key, item) in in_file_order(member.table()?) {
                let value = member.child(key.get_ref(), item);
                match key.get_ref().as_ref() {
                    "notes" => read.notes = value.text()?,
                    "editable" => read.editable = value.text()?,
                    "enabled" => read.enabled = Some(value.truth()?),
                    "blind" => read.blind = Some(value.truth()?),
                    "model" => read.asks.model = value.text()?,
                    "effort" => read.asks.effort = Some(value.word(&EFFORTS)?),
                    "verbosity" => read.asks.verbosity = Some(value.word(&VERBOSITIES)?),
                    "max_output_tokens" => read.asks.max_output_tokens = Some(value.tokens()?),
                    "tier" => read.asks.tier = Some(value.word(&TIERS)?),
                    "web_search" => read.asks.web_search = Some(value.truth()?),
                    _ => self.unknown_key(&member, key, item, BOARD_KEYS),
                }
            }
            if BOARD_IDS.contains(&name) {
                self.settings.board.insert(name.to_owned(), read);
            } else if means_ai(name, &DeValue::Boolean(true)) {
                self.misplaced(section, id);
            } else {
                self.unknown(id, &format!("there is no board member `{name}`"), BOARD_IDS);
            }
        }
        Ok(())
    }

    /// `[codex.types]`: what is no type is a warning, and the word is not mapped.
    fn codex_types(&mut self, cell: &Cell<'_>) -> Result<(), Problem> {
        for (word, item) in in_file_order(cell.table()?) {
            let value = cell.child(word.get_ref(), item);
            let Some(named) = value.text()? else { continue };
            let found = EntryType::ALL.into_iter().find(|t| t.as_str() == named || t.plural() == named);
            match found {
                Some(entry_type) => {
                    self.settings.codex_types.insert(word.get_ref().to_string(), entry_type);
                }
                None => {
                    self.unknown_value(&value, "type", &named, EntryType::ALL.map(EntryType::as_str));
                }
            }
        }
        Ok(())
    }

    /// `[codex.keys]`: what is no key with a meaning is a warning, and the name is not mapped.
    fn codex_keys(&mut self, cell: &Cell<'_>) -> Result<(), Problem> {
        for (word, item) in in_file_order(cell.table()?) {
            let value = cell.child(word.get_ref(), item);
            let Some(named) = value.text()? else { continue };
            if ENTRY_KEYS.contains(&named.as_str()) {
                self.settings.codex_keys.insert(word.get_ref().to_string(), named);
            } else {
                self.unknown_value(&value, "key", &named, ENTRY_KEYS);
            }
        }
        Ok(())
    }

    fn unknown_value<'k>(
        &mut self,
        cell: &Cell<'_>,
        what: &str,
        named: &str,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        let hint = hint(named, known);
        self.warnings.push(cell.problem(format!("{}: there is no {what} `{named}`; {hint}", cell.path)));
    }

    fn unknown_key<'k>(
        &mut self,
        section: &Cell<'_>,
        key: &Key<'_>,
        item: &Spanned<DeValue<'_>>,
        known: impl IntoIterator<Item = &'k str> + Clone,
    ) {
        if means_ai(key.get_ref(), item.get_ref()) {
            return self.misplaced(section, key);
        }
        let what = format!("`{}` is not a known key of {}", key.get_ref(), section.path);
        self.unknown(key, &what, known);
    }

    fn unknown<'k>(&mut self, key: &Key<'_>, what: &str, known: impl IntoIterator<Item = &'k str> + Clone) {
        let hint = hint(key.get_ref(), known);
        self.warnings.push(Problem::at(self.text, key.span().start, format!("{what}; {hint}")));
    }

    /// A folder inside the book, or `.` for the book's own; anything else is a warning and no folder.
    fn folder(&mut self, cell: &Cell<'_>) -> Result<Option<String>, Problem> {
        let Some(raw) = cell.text()? else { return Ok(None) };
        let dir = raw.strip_prefix("./").unwrap_or(&raw).trim_end_matches('/');
        match BookPath::new(dir) {
            _ if dir == "." || raw == "./" => Ok(Some(".".to_owned())),
            Ok(dir) => Ok(Some(dir.into())),
            Err(bad) => {
                self.warnings.push(cell.problem(format!("{} is ignored: {bad}", cell.path)));
                Ok(None)
            }
        }
    }

    fn folders(&mut self, cell: &Cell<'_>) -> Result<Vec<String>, Problem> {
        let mut dirs = vec![];
        for item in cell.items()? {
            dirs.extend(self.folder(&item)?);
        }
        Ok(dirs)
    }
}

/// Whether a key that is not known is likely meant to keep files from AI.
fn means_ai(name: &str, item: &DeValue<'_>) -> bool {
    let is_never = |key: &str| {
        ["never", "ai_never", "ai-never"].iter().any(|known| key.trim().eq_ignore_ascii_case(known))
    };
    let holds_never = |item: &DeValue<'_>| matches!(item, DeValue::Table(table) if table.keys().any(|key| is_never(key.get_ref())));
    name.trim().eq_ignore_ascii_case("ai")
        || is_never(name)
        || holds_never(item)
        || matches!(item, DeValue::Array(items) if items.iter().any(|item| holds_never(item.get_ref())))
}

/// What may have been meant instead of `word`.
fn hint<'k>(word: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

type Key<'a> = Spanned<std::borrow::Cow<'a, str>>;

/// The keys of a table as they stand in the file.
fn in_file_order<'t, 'a>(table: &'t DeTable<'a>) -> Vec<(&'t Key<'a>, &'t Spanned<DeValue<'a>>)> {
    let mut keys: Vec<_> = table.iter().collect();
    keys.sort_by_key(|(key, _)| key.span().start);
    keys
}

/// A value with what an error about it needs.
struct Cell<'a> {
    text: &'a str,
    /// What the author calls it, e.g. ``[book] title``.
    path: String,
    item: &'a Spanned<DeValue<'a>>,
}

impl<'a> Cell<'a> {
    fn child<'c>(&'c self, key: &str, item: &'c Spanned<DeValue<'c>>) -> Cell<'c> {
        Cell { text: self.text, path: format!("`{} {key}`", self.path), item }
    }

    fn problem(&self, message: String) -> Problem {
        Problem::at(self.text, self.item.span().start, message)
    }

    fn must_be(&self, wanted: &str) -> Problem {
        let found = match self.item.get_ref() {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a fraction",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a section",
        };
        self.problem(format!("{} must be {wanted}, but here is {found}", self.path))
    }

    fn table(&self) -> Result<&'a DeTable<'a>, Problem> {
        match self.item.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.must_be("a section")),
        }
    }

    /// Text; blank text is as good as none.
    fn text(&self) -> Result<Option<String>, Problem> {
        match self.item.get_ref() {
            DeValue::String(text) => Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty())),
            _ => Err(self.must_be("text in quotes")),
        }
    }

    fn items(&self) -> Result<Vec<Cell<'_>>, Problem> {
        match self.item.get_ref() {
            DeValue::Array(items) => {
                Ok(items.iter().map(|item| Cell { text: self.text, path: self.path.clone(), item }).collect())
            }
            _ => Err(self.must_be("a list of texts, such as [\"one\", \"two\"]")),
        }
    }

    fn texts(&self) -> Result<Vec<String>, Problem> {
        let mut texts = vec![];
        for item in self.items()? {
            texts.extend(item.text()?);
        }
        Ok(texts)
    }

    /// One of a few words.
    fn word(&self, allowed: &[&str]) -> Result<String, Problem> {
        let said = self.text()?.unwrap_or_default();
        if allowed.contains(&said.as_str()) {
            return Ok(said);
        }
        Err(self.problem(format!("{} must be one of {}", self.path, allowed.join(", "))))
    }

    /// A limit of an answer: no server takes less than 16.
    fn tokens(&self) -> Result<u32, Problem> {
        let tokens: u32 = self.whole()?;
        if tokens >= 16 {
            Ok(tokens)
        } else {
            Err(self.problem(format!("{} must be at least 16", self.path)))
        }
    }

    fn truth(&self) -> Result<bool, Problem> {
        match self.item.get_ref() {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err(self.must_be("true or false")),
        }
    }

    fn whole<N: TryFrom<u64>>(&self) -> Result<N, Problem> {
        let wanted = "a whole number, 0 or more";
        let DeValue::Integer(number) = self.item.get_ref() else { return Err(self.must_be(wanted)) };
        u64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .and_then(|number| N::try_from(number).ok())
            .ok_or_else(|| self.problem(format!("{} must be {wanted}, but here is {number}", self.path)))
    }

    fn lens(&self) -> Result<crate::domain::book::Lens, Problem> {
        let raw = self.text()?.unwrap_or_else(|| "any".to_owned());
        raw.parse().map_err(|()| {
            self.problem(format!(
                "{} must be \"any\", \"female\" or \"male\", but here is \"{raw}\"",
                self.path
            ))
        })
    }

    /// A date, written as TOML has it or as text.
    fn date(&self) -> Result<Option<String>, Problem> {
        let raw = match self.item.get_ref() {
            DeValue::Datetime(date) => Some(date.to_string()),
            DeValue::String(_) => self.text()?,
            _ => return Err(self.must_be("a date such as 2027-01-31")),
        };
        match raw {
            Some(raw) if raw.parse::<jiff::civil::Date>().is_err() => {
                Err(self
                    .problem(format!("{} must be a date such as 2027-01-31, but here is {raw}", self.path)))
            }
            date => Ok(date),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::book::Lens;

    fn warnings(text: &str) -> Vec<(usize, usize, String)> {
        parse(text).unwrap().1.into_iter().map(|p| (p.line, p.column, p.message)).collect()
    }

    fn error(text: &str) -> (usize, usize, String) {
        let problem = parse(text).unwrap_err();
        (problem.line, problem.column, problem.message)
    }

    #[test]
    fn every_key_is_read() {
        let text = r#"
            [book]
            title = "The Long Silence"
            author = "H. M. Carraway"
            genre = "science fiction"
            language = "en"
            [audience]
            age_group = "adult"
            lens = "female"
            reader_age = 34
            [manuscript]
            dir = "./text/"
            order = ["b.md", "a.md"]
            [codex]
            dirs = ["Story_Bible", "lore"]
            [notes]
            dir = "."
            [board.continuity-editor]
            notes = "Real dates."
            editable = "Be brief."
            enabled = false
            [provider]
            name = "ollama"
            model = "qwen"
            [tools]
            disabled = ["search_codex"]
            [goals]
            words = 90_000
            per_day = 500
            deadline = 2027-01-31
        "#;
        let (settings, warnings) = parse(text).unwrap();
        assert_eq!(warnings, []);
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(settings.title, some("The Long Silence"));
        assert_eq!(settings.author, some("H. M. Carraway"));
        assert_eq!(settings.genre, some("science fiction"));
        assert_eq!(settings.language, some("en"));
        assert_eq!(settings.audience.age_group, some("adult"));
        assert_eq!(settings.audience.lens, Lens::Female);
        assert_eq!(settings.audience.reader_age, Some(34));
        assert_eq!(settings.manuscript_dir, some("text"));
        assert_eq!(settings.order, ["b.md", "a.md"]);
        assert_eq!(settings.codex_dirs, ["Story_Bible", "lore"]);
        assert_eq!(settings.notes_dir, some("."));
        let member = &settings.board["continuity-editor"];
        assert_eq!(
            (member.notes.as_deref(), member.editable.as_deref(), member.enabled),
            (Some("Real dates."), Some("Be brief."), Some(false))
        );
        assert_eq!((settings.provider, settings.model), (some("ollama"), some("qwen")));
        assert_eq!(settings.disabled_tools, ["search_codex"]);
        assert_eq!((settings.goal_words, settings.goal_per_day), (Some(90_000), Some(500)));
        assert_eq!(settings.deadline, some("2027-01-31"));
        assert_eq!(parse("\u{feff}").unwrap().0, BookSettings::default());
    }

    #[test]
    fn the_board_is_the_board() {
        let mut known = BOARD_IDS;
        let mut members: Vec<_> = crate::persona::board::members().iter().map(|member| member.id).collect();
        known.sort_unstable();
        members.sort_unstable();
        assert_eq!(members, known);
    }

    #[test]
    fn an_unknown_key_is_a_warning_with_the_nearest_known_one() {
        let text = "[book]\ntitel = 'x'\n\n[gaols]\nwords = 1\n[board.continuity-edit]\nnotes = ''\n[board.writing-coach]\n  colour = 1\n";
        let found = warnings(text);
        assert_eq!(
            found[0],
            (2, 1, "`titel` is not a known key of [book]; did you mean `title`?".to_owned())
        );
        assert_eq!(found[1], (4, 2, "`gaols` is not a known section; did you mean `goals`?".to_owned()));
        assert_eq!((found[2].0, found[2].1), (6, 8));
        assert!(found[2].2.ends_with("did you mean `continuity-editor`?"), "{found:?}");
        assert_eq!((found[3].0, found[3].1), (9, 3));
        assert!(found[3].2.ends_with("known are notes, editable, enabled, blind, model, effort, verbosity, max_output_tokens, tier, web_search"), "{found:?}");
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn the_authors_words_are_mapped_to_types_and_keys() {
        let text = "[codex.types]\npersonaggi = 'character'\n\"luoghi\" = 'locations'\norte = 'locaton'\nx = 'zzz'\n[codex.keys]\nsoprannomi = 'aliases'\nnome = 'nmae'\n";
        let (settings, found) = parse(text).unwrap();
        let types: Vec<_> = settings.codex_types.iter().map(|(word, t)| (word.as_str(), *t)).collect();
        assert_eq!(types, [("luoghi", EntryType::Location), ("personaggi", EntryType::Character)]);
        assert_eq!(settings.codex_keys["soprannomi"], "aliases");
        assert_eq!(settings.codex_keys.len(), 1);
        let found: Vec<_> = found.iter().map(|p| (p.line, p.column, p.message.as_str())).collect();
        assert_eq!(
            found,
            [
                (4, 8, "`[codex.types] orte`: there is no type `locaton`; did you mean `location`?"),
                (
                    5,
                    5,
                    "`[codex.types] x`: there is no type `zzz`; known are character, location, organization, item, concept, event, style"
                ),
                (8, 8, "`[codex.keys] nome`: there is no key `nmae`; did you mean `name`?"),
            ]
        );
        assert_eq!(error("[codex]\ntypes = 'x'").0, 2);
        assert_eq!(error("[codex.types]\nx = 1").0, 2);
    }

    #[test]
    fn a_wrong_type_is_an_error_with_its_place() {
        assert_eq!(
            error("[book]\ntitle = 3\n"),
            (2, 9, "`[book] title` must be text in quotes, but here is a whole number".to_owned())
        );
        assert_eq!(
            error("book = 1"),
            (1, 8, "[book] must be a section, but here is a whole number".to_owned())
        );
        for (text, line) in [
            ("[goals]\nwords = -1", 2),
            ("[goals]\nwords = 1.5", 2),
            ("[goals]\ndeadline = 'soon'", 2),
            ("[audience]\n\nlens = 'femle'", 3),
            ("[audience]\nreader_age = 99999999999", 2),
            ("[codex]\ndirs = 'codex'", 2),
            ("[manuscript]\norder = [\n'a',\n3]", 4),
            ("[board.writing-coach]\nenabled = 'no'", 2),
            ("board = []", 1),
            ("[book\n", 1),
            ("[book]\ntitle = 'a'\ntitle = 'b'", 3),
        ] {
            assert_eq!(error(text).0, line, "{text:?}: {:?}", error(text));
        }
    }

    #[test]
    fn what_of_ai_never_can_be_obeyed_is_and_the_rest_is_noted_and_never_passed_over() {
        let refused = |text: &str| {
            let (settings, warnings) = parse(text).unwrap();
            let refused: Vec<_> = settings.ai_refused.iter().map(|p| (p.line, p.message.clone())).collect();
            assert!(settings.ai_refused.iter().all(|problem| warnings.contains(problem)));
            (settings.ai_never, refused)
        };
        let (never, none) = refused("[ai]\nnever = ['/notes', 'codex/characters/*.md', \"a/b/\"]\n");
        assert_eq!((never.len(), none.len()), (3, 0));
        assert_eq!(refused("[ai]\nnever = 'notes'\n"), (vec!["notes".to_owned()], vec![]));
        let (never, problems) = refused("[ai]\nnever = ['notes', '../out',\n3]\nnevr = ['x']\n");
        assert_eq!(never, ["notes"]);
        assert_eq!(problems.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3, 4]);
        assert!(problems[0].1.contains("`../out` leads out of the book"), "{problems:?}");
        assert!(problems[2].1.contains("`nevr` is not a known key of [ai]"), "{problems:?}");
        for text in [
            "[AI]\nnever = ['notes']\n",
            "[aai]\nnever = ['notes']\n",
            "never = ['notes']\n",
            "ai = 'never'\n",
            "[[ai]]\nnever = ['notes']\n",
            "[ai.never]\nnotes = true\n",
            "[ai]\nnever = ''\n",
            "[ai]\nnever = true\n",
            "[[aai]]\nnever = ['notes']\n",
        ] {
            assert_eq!(refused(text).1.len(), 1, "{text}");
        }
    }

    #[test]
    fn what_keeps_files_from_ai_in_a_wrong_section_is_refused_by_its_own_name_and_place() {
        for (text, line, key, section) in [
            ("[goals]\nwords = 1\nai.never = ['notes']\n", 3, "ai", "[goals]"),
            ("[goals]\nai = 'never'\n", 2, "ai", "[goals]"),
            ("[goals]\nnever = ['notes']\n", 2, "never", "[goals]"),
            ("[book.ai]\nnever = ['notes']\n", 1, "ai", "[book]"),
            ("[board.writing-coach]\nnever = ['notes']\n", 2, "never", "[board.writing-coach]"),
            ("[board]\nnever = {}\n", 2, "never", "[board]"),
        ] {
            let (settings, warnings) = parse(text).unwrap();
            assert_eq!(settings.ai_refused.len(), 1, "{text}");
            assert_eq!(settings.ai_refused, warnings, "{text}");
            let told = &warnings[0];
            assert_eq!(told.line, line, "{text}");
            let begin = format!("`{key}` does nothing in {section}; ");
            assert!(told.message.starts_with(&begin), "{told:?}");
        }
        let (settings, _) = parse("[codex.types]\nai = 'character'\nnever = 'item'\n").unwrap();
        assert!(settings.ai_refused.is_empty(), "an author's own words for types");
    }

    #[test]
    fn a_folder_outside_the_book_is_not_taken() {
        let (settings, found) =
            parse("[manuscript]\ndir = '../other'\n[codex]\ndirs = ['/etc', 'codex']").unwrap();
        assert_eq!(settings.manuscript_dir, None);
        assert_eq!(settings.codex_dirs, ["codex"]);
        assert_eq!(found.iter().map(|p| (p.line, p.column)).collect::<Vec<_>>(), [(2, 7), (4, 9)]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(\\[[a-z.]{0,6}\\]\n)?([a-z]{1,5} = [a-z0-9'\"\\[\\]{}., é-]{0,12}\n){0,4}") {
            if let Err(problem) = parse(&text) {
                proptest::prop_assert!(problem.line >= 1 && problem.column >= 1);
            }
        }
    }
}
