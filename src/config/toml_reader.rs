//! Reads TOML key by key: a wrong type is an error with its place, a key that nobody asked for a warning with the nearest known one.
//!
//! Asking for a key is what makes it known, so that no second list of keys exists.

use std::cell::RefCell;
use std::ops::Range;
use std::time::Duration;

use toml_edit::{Item, TableLike, Value};

use crate::domain::nearness::nearest;
use crate::domain::passage::line_column;

/// Something wrong in a settings file, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct Problem {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl Problem {
    fn at(text: &str, span: Option<Range<usize>>, message: String) -> Self {
        let (line, column) = line_column(text, span.map_or(0, |s| s.start));
        Self { line, column, message }
    }
}

/// A settings file that is being read.
pub struct Reader {
    document: toml_edit::Document<String>,
    warnings: RefCell<Vec<Problem>>,
}

impl Reader {
    /// Parses `text`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        // A BOM would make the first key an unknown one.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let document = toml_edit::Document::parse(text.to_owned())
            .map_err(|e| Problem::at(text, e.span(), e.message().lines().collect::<Vec<_>>().join(", ")))?;
        Ok(Self { document, warnings: RefCell::default() })
    }

    /// Reads the whole file as one section.
    pub fn root<T>(&self, read: impl FnOnce(&Section<'_>) -> Result<T, Problem>) -> Result<T, Problem> {
        Section {
            reader: self,
            name: String::new(),
            table: Some(self.document.as_table()),
            asked: RefCell::default(),
        }
        .read(read)
    }

    /// Returns the warnings, in the order of their places.
    pub fn warnings(self) -> Vec<Problem> {
        let mut warnings = self.warnings.into_inner();
        warnings.sort_by_key(|w| (w.line, w.column));
        warnings
    }
}

/// One table of the file, present or not.
pub struct Section<'a> {
    reader: &'a Reader,
    name: String,
    table: Option<&'a dyn TableLike>,
    asked: RefCell<Vec<String>>,
}

impl<'a> Section<'a> {
    /// Reads the table `key` with `read`. A table that is missing is an empty one.
    pub fn section<T>(
        &self,
        key: &str,
        read: impl FnOnce(&Section<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let table = match self.item(key) {
            None => None,
            Some(item) => Some(
                item.as_table_like().ok_or_else(|| self.wrong(key, item, &format!("a table `[{key}]`")))?,
            ),
        };
        Section { reader: self.reader, name: self.path(key), table, asked: RefCell::default() }.read(read)
    }

    /// Returns the keys of this table, in file order. They all count as known.
    pub fn keys(&self) -> Vec<String> {
        let keys: Vec<String> =
            self.table.map(|t| t.iter().map(|(k, _)| k.to_owned()).collect()).unwrap_or_default();
        self.asked.borrow_mut().extend(keys.iter().cloned());
        keys
    }

    /// Returns a text.
    pub fn text(&self, key: &str) -> Result<Option<String>, Problem> {
        self.value(key, "a text in quotes", |v| v.as_str().map(str::to_owned))
    }

    /// Returns one of the words in `allowed`.
    pub fn word(&self, key: &str, allowed: &[&str]) -> Result<Option<String>, Problem> {
        let expected =
            format!("one of {}", allowed.iter().map(|w| format!("\"{w}\"")).collect::<Vec<_>>().join(", "));
        self.value(key, &expected, |v| v.as_str().filter(|s| allowed.contains(s)).map(str::to_owned))
    }

    /// Returns a switch.
    pub fn switch(&self, key: &str) -> Result<Option<bool>, Problem> {
        self.value(key, "true or false", Value::as_bool)
    }

    /// Returns a whole number within `range`.
    pub fn number(&self, key: &str, range: std::ops::RangeInclusive<u32>) -> Result<Option<u32>, Problem> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        self.value(key, &expected, |v| {
            v.as_integer().and_then(|n| u32::try_from(n).ok()).filter(|n| range.contains(n))
        })
    }

    /// Returns a time, written as a number of seconds, whole or not, above zero and up to a day.
    pub fn seconds(&self, key: &str) -> Result<Option<Duration>, Problem> {
        self.value(key, "a number of seconds, up to 86400", |v| {
            #[expect(clippy::cast_precision_loss, reason = "what is within the range is exact")]
            let seconds = v.as_float().or_else(|| v.as_integer().map(|n| n as f64))?;
            Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|time| !time.is_zero() && *time <= Duration::from_hours(24))
        })
    }

    /// Returns a list of texts; a single text is a list of one.
    pub fn list(&self, key: &str) -> Result<Option<Vec<String>>, Problem> {
        self.value(key, "a text or a list of texts", |v| match v {
            Value::String(one) => Some(vec![one.value().clone()]),
            Value::Array(many) => many.iter().map(|v| v.as_str().map(str::to_owned)).collect(),
            _ => None,
        })
    }

    /// Returns an amount of US dollars, written as a number, whole or not.
    pub fn amount(&self, key: &str) -> Result<Option<f64>, Problem> {
        self.value(key, "an amount in US dollars, 0 or more", |v| {
            let amount = v.as_float().or_else(|| v.as_integer().map(|n| n as f64))?;
            (amount.is_finite() && amount >= 0.0).then_some(amount)
        })
    }

    /// Returns an amount of US dollars that must be there.
    pub fn required_amount(&self, key: &str) -> Result<f64, Problem> {
        let missing =
            || self.problem(key, format!("`{}` is missing: an amount in US dollars", self.path(key)));
        self.amount(key)?.ok_or_else(missing)
    }

    /// Whether there is a table `key`, or anything else by that name.
    pub fn has(&self, key: &str) -> bool {
        self.item(key).is_some()
    }

    /// Says that the value of `key` is wrong for a reason that its type does not tell.
    pub fn problem(&self, key: &str, message: String) -> Problem {
        let span = self.table.and_then(|t| t.get(key)).and_then(Item::span);
        Problem::at(self.reader.document.raw(), span, message)
    }

    fn value<T>(
        &self,
        key: &str,
        expected: &str,
        take: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(item) = self.item(key) else { return Ok(None) };
        item.as_value().and_then(take).map(Some).ok_or_else(|| self.wrong(key, item, expected))
    }

    fn item(&self, key: &str) -> Option<&'a Item> {
        self.asked.borrow_mut().push(key.to_owned());
        self.table?.get(key)
    }

    fn wrong(&self, key: &str, item: &Item, expected: &str) -> Problem {
        let message = format!("`{}` must be {expected}", self.path(key));
        Problem::at(self.reader.document.raw(), item.span(), message)
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn read<T>(self, read: impl FnOnce(&Section<'_>) -> Result<T, Problem>) -> Result<T, Problem> {
        let value = read(&self)?;
        let Some(table) = self.table else { return Ok(value) };
        let asked = self.asked.borrow();
        for (key, item) in table.iter().filter(|(key, _)| !asked.iter().any(|a| a == key)) {
            let mut message = format!("unknown key `{}`; it has no effect", self.path(key));
            if let Some(near) = nearest(key, asked.iter().map(String::as_str)) {
                message = format!("unknown key `{}`; did you mean `{near}`?", self.path(key));
            }
            let span = table.key(key).and_then(toml_edit::Key::span).or_else(|| item.span());
            self.reader.warnings.borrow_mut().push(Problem::at(self.reader.document.raw(), span, message));
        }
        Ok(value)
    }
}

/// Returns `text` with one setting changed, or removed with `None`. Comments, order and everything else stay as they are.
pub fn with_setting(text: &str, path: &[&str], value: Option<Value>) -> Result<String, Problem> {
    let (bom, body) = match text.strip_prefix('\u{feff}') {
        Some(rest) => ("\u{feff}", rest),
        None => ("", text),
    };
    let mut document: toml_edit::DocumentMut = body
        .parse()
        .map_err(|e: toml_edit::TomlError| Problem::at(body, e.span(), e.message().to_owned()))?;
    let Some((key, tables)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for name in tables {
        let item = table.entry(name).or_insert_with(toml_edit::table);
        table = item.as_table_like_mut().ok_or_else(|| Problem {
            line: 1,
            column: 1,
            message: format!("`{name}` is no table, so `{}` can't be set", path.join(".")),
        })?;
    }
    match (value, table.get_mut(key)) {
        (None, _) => {
            table.remove(key);
        }
        (Some(mut value), Some(Item::Value(old))) => {
            // What stands around the old value, a comment behind it for instance, stays.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        (Some(value), _) => {
            table.insert(key, Item::Value(value));
        }
    }
    Ok(format!("{bom}{document}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# mine\ntheme = \"dark\"  # at night\n\n[provider]\n# which\nname = \"openai\"\nrounds = 4\n";

    #[test]
    fn an_unknown_key_is_a_warning_with_its_place_and_the_nearest_known_one() {
        let reader = Reader::parse("[provider]\nnmae = \"x\"\nzzzzzz = 1\n").unwrap();
        reader.root(|root| root.section("provider", |s| s.text("name"))).unwrap();
        let warnings = reader.warnings();
        assert_eq!(warnings[0].to_string(), "2:1: unknown key `provider.nmae`; did you mean `name`?");
        assert_eq!(warnings[1].to_string(), "3:1: unknown key `provider.zzzzzz`; it has no effect");
    }

    #[test]
    fn a_wrong_type_is_an_error_with_its_place() {
        let read = |text: &str| {
            let reader = Reader::parse(text).unwrap();
            reader.root(|root| root.section("a", |s| s.number("n", 1..=12))).map_err(|p| p.to_string())
        };
        assert_eq!(read("[a]\nn = \"4\""), Err("2:5: `a.n` must be a whole number from 1 to 12".into()));
        assert_eq!(read("[a]\nn = 13"), Err("2:5: `a.n` must be a whole number from 1 to 12".into()));
        assert_eq!(read("a = 1"), Err("1:5: `a` must be a table `[a]`".into()));
        assert_eq!(read("[a]\nn = 12"), Ok(Some(12)));
        assert_eq!(read(""), Ok(None));
    }

    #[test]
    fn what_is_no_toml_is_an_error_with_its_place() {
        let problem = Reader::parse("a = 1\nb = \"open\n").err().unwrap();
        assert_eq!(problem.line, 2, "{problem}");
    }

    #[test]
    fn a_setting_is_written_back_without_losing_comments_or_order() {
        let text = with_setting(TEXT, &["theme"], Some("light".into())).unwrap();
        assert_eq!(text, TEXT.replace("\"dark\"", "\"light\""));
        let text = with_setting(TEXT, &["provider", "rounds"], Some(6.into())).unwrap();
        assert_eq!(text, TEXT.replace('4', "6"));
        let text = with_setting(TEXT, &["provider", "rounds"], None).unwrap();
        assert_eq!(text, TEXT.replace("rounds = 4\n", ""));
        let text = with_setting(TEXT, &["appearance", "tool_rows"], Some(false.into())).unwrap();
        assert_eq!(text, format!("{TEXT}\n[appearance]\ntool_rows = false\n"));
        assert_eq!(with_setting("", &["a"], Some(1.into())).unwrap(), "a = 1\n");
        assert!(with_setting("provider = 1", &["provider", "name"], Some("x".into())).is_err());
    }

    proptest::proptest! {
        #[test]
        fn a_text_that_is_set_is_the_text_that_is_read(value in "\\PC{0,30}|[\\x00-\\x1f\"'\\\\]{0,9}") {
            let text = with_setting(TEXT, &["provider", "name"], Some(value.as_str().into())).unwrap();
            let reader = Reader::parse(&text).unwrap();
            let read = reader.root(|root| {
                root.text("theme")?;
                root.section("provider", |s| { s.number("rounds", 1..=12)?; s.text("name") })
            });
            proptest::prop_assert_eq!(read.unwrap(), Some(value));
            proptest::prop_assert!(reader.warnings().is_empty());
        }
    }
}
