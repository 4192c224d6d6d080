//! `propose_scene_create`: a new file of the manuscript. Never over one that is there.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::note::{begins_with_heading, new_file_draft};
use super::{changed_file, checked_name, line_end_of_most, new_file, without_frontmatter};
use crate::domain::book::Book;
use crate::domain::frontmatter::{self, Syntax};
use crate::domain::ids::{BookPath, ProposalId};
use crate::domain::manuscript::{Chapter, NumberFrom};
use crate::proposal::change::{self, settings, yaml};
use crate::proposal::{FileChange, Other, Proposal, Subject, path};
use crate::tools::{Desk, Draft, ProposeTool, ToolError};

/// Longest title, in characters.
const MAX_TITLE: usize = 120;

/// Longest scene, in characters.
const MAX_CONTENT: usize = 200_000;

/// Highest number of a chapter.
const MAX_NUMBER: u32 = 9_999;

/// See [`ProposeTool::about`].
pub(in crate::tools) struct CreateScene;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct Args {
    /// Title of the scene or chapter.
    title: String,
    /// Its prose as Markdown, without frontmatter.
    content: String,
    /// Its number; null: the next one.
    chapter_number: Option<u32>,
}

impl ProposeTool for CreateScene {
    type Args = Args;

    fn name(&self) -> &'static str {
        "propose_scene_create"
    }

    fn about(&self) -> &'static str {
        "Proposes a new scene or chapter as a new file of the manuscript; the author reviews it and nothing is written before that. It never replaces a chapter: for one that exists, write your text into the answer instead."
    }

    fn propose(&self, desk: &Desk<'_>, args: Args) -> Result<Draft, ToolError> {
        let book = desk.book;
        let title = checked_name("title", &args.title, MAX_TITLE)?;
        if args.content.chars().count() > MAX_CONTENT {
            let message = format!("`content` is longer than {MAX_CONTENT} characters");
            return Err(ToolError::in_field("content", message, &["a shorter scene"]));
        }
        let last = book.chapters.iter().map(|c| c.number).filter(|n| *n < MAX_NUMBER).max();
        let number = args.chapter_number.unwrap_or_else(|| last.map_or(1, |n| n + 1));
        if number > MAX_NUMBER {
            let message = format!("`chapterNumber` is above {MAX_NUMBER}");
            return Err(ToolError::in_field("chapterNumber", message, &["a number from 0 to 9999"]));
        }
        let (content, had_frontmatter) = without_frontmatter(&args.content);
        let mut warnings = vec![];
        if had_frontmatter {
            warnings.push("The frontmatter inside content is left out.".to_owned());
        }
        let place = path::scene(book, title, number);
        if let Some(taken) = book.chapters.iter().find(|c| c.number == number) {
            warnings.push(format!(
                "Chapter {number} exists already ({}); the new file stands beside it.",
                taken.path
            ));
        }
        let style = Style::of(book);
        if !place.numbered && style.number_key.is_none() && style.heading != Heading::Numbered {
            warnings.push("The chapters of this book carry no numbers, so that the new one stands where its file name or the order in scritorio.toml puts it.".to_owned());
        }
        let file = new_file(place.path, style.document(title, number, content, place.titled));
        let order = in_order(book, &file.path, number, &mut warnings);
        let proposal = Proposal {
            id: ProposalId::mint(),
            tool: self.name().to_owned(),
            subject: Subject::Other(Other::Scene),
            entry: title.to_owned(),
            summary: format!("New scene: {number}, {title}"),
            warnings,
            files: std::iter::once(file).chain(order).collect(),
            edited: false,
        };
        Ok(new_file_draft(desk, proposal))
    }
}

/// The settings with the new scene in the order of the manuscript, where they list one.
fn in_order(book: &Book, path: &BookPath, number: u32, warnings: &mut Vec<String>) -> Option<FileChange> {
    let order = &book.settings.order;
    let text = book.settings_text.as_deref().filter(|_| !order.is_empty())?;
    let spelled = Spelling::of(book);
    let at = |chapter: &Chapter| order.iter().position(|item| spelled.names(item, &chapter.path));
    let before = match book.chapters.iter().rfind(|c| c.number <= number) {
        // What is not listed comes after what is, by its name: so does the new one.
        Some(previous) => at(previous)? + 1,
        None => 0,
    };
    let settings = BookPath::new("scritorio.toml").ok()?;
    let item = spelled.spell(path);
    let next = (before < order.len()).then_some(before);
    let changed = settings::add_item(text, &["manuscript"], "order", next, &item);
    if changed.is_none() {
        let message =
            "The order in scritorio.toml could not be changed safely; add the new file there by hand.";
        warnings.push(message.to_owned());
    }
    Some(changed_file(&settings, text, changed?))
}

/// How the order of the settings spells its files.
struct Spelling<'a> {
    folder: Option<&'a str>,
    whole_path: bool,
    extension: bool,
}

impl<'a> Spelling<'a> {
    fn of(book: &'a Book) -> Self {
        let set = book
            .settings
            .manuscript_dir
            .as_deref()
            .map(|dir| dir.trim_matches('/'))
            .filter(|dir| *dir != ".");
        let common = || book.chapters.first()?.path.as_str().split_once('/').map(|(top, _)| top);
        let folder = set.or_else(common);
        let order = &book.settings.order;
        let starts = |item: &&String| folder.is_some_and(|f| item.starts_with(&format!("{f}/")));
        let has_extension =
            |item: &&String| book.chapters.iter().any(|c| c.path.as_str().ends_with(item.as_str()));
        Self {
            folder,
            whole_path: order.iter().filter(starts).count() * 2 > order.len(),
            extension: order.iter().filter(has_extension).count() * 2 >= order.len(),
        }
    }

    fn inside<'p>(&self, path: &'p str) -> &'p str {
        self.folder.and_then(|f| path.strip_prefix(f)?.strip_prefix('/')).unwrap_or(path)
    }

    fn names(&self, item: &str, path: &BookPath) -> bool {
        let item = self.inside(item.strip_prefix("./").unwrap_or(item));
        let inside = self.inside(path.as_str());
        item == inside || inside.rsplit_once('.').is_some_and(|(stem, _)| stem == item)
    }

    fn spell(&self, path: &BookPath) -> String {
        let path = if self.whole_path { path.as_str() } else { self.inside(path.as_str()) };
        match path.rsplit_once('.') {
            Some((stem, _)) if !self.extension => stem.to_owned(),
            _ => path.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// `# Title`
    Plain,
    /// `# Chapter 3: Title`
    Numbered,
    /// None.
    No,
}

/// How the chapters of a book begin.
struct Style {
    eol: &'static str,
    syntax: Syntax,
    title_key: Option<String>,
    number_key: Option<String>,
    heading: Heading,
}

impl Style {
    fn of(book: &Book) -> Self {
        let all = &book.chapters;
        let read: Vec<Map<String, Value>> = all.iter().map(|c| frontmatter::parse(&c.text).fields).collect();
        let most = |count: usize| count * 2 > all.len();
        let key = |names: &[&str]| {
            let held = |key: &&String| names.contains(&key.to_lowercase().as_str());
            let keys: Vec<&String> = read.iter().filter_map(|f| f.keys().find(held)).collect();
            most(keys.len()).then(|| keys.first().map(|k| (*k).clone())).flatten()
        };
        let syntax = |wanted: Syntax| {
            most(all.iter().filter(|c| frontmatter::split(&c.text).syntax == wanted).count())
        };
        let known = [Syntax::Yaml, Syntax::Toml, Syntax::Json].into_iter().find(|s| syntax(*s));
        let headed = all.iter().filter(|c| begins_with_heading(&c.text)).count();
        let numbered = all.iter().filter(|c| c.number_from == NumberFrom::Heading).count();
        Self {
            eol: line_end_of_most(all.iter().map(|c| &*c.text)),
            syntax: known.unwrap_or(Syntax::None),
            title_key: key(&["title", "name"]),
            number_key: key(&["chapter", "number", "chapter number"]),
            heading: match () {
                () if all.is_empty() => Heading::Plain,
                () if most(numbered) => Heading::Numbered,
                () if most(headed) => Heading::Plain,
                () => Heading::No,
            },
        }
    }

    /// `named` says that the file's name holds the title.
    fn document(&self, title: &str, number: u32, content: &str, named: bool) -> String {
        let eol = self.eol;
        let content = change::normalise(content, eol);
        let mut fields: Vec<(&str, Value)> = vec![];
        fields.extend(self.title_key.as_deref().map(|key| (key, json!(title))));
        fields.extend(self.number_key.as_deref().map(|key| (key, json!(number))));
        let mut out = self.block(&fields);
        let said = named || self.title_key.is_some();
        if (self.heading != Heading::No || !said) && !begins_with_heading(&content) {
            let label =
                if self.heading == Heading::Numbered { format!("Chapter {number}: ") } else { String::new() };
            out.push_str(&["# ", &label, title, eol, if content.is_empty() { "" } else { eol }].concat());
        }
        out.push_str(&content);
        if !out.ends_with('\n') {
            out.push_str(eol);
        }
        out
    }

    fn block(&self, fields: &[(&str, Value)]) -> String {
        let eol = self.eol;
        let lines = |line: &dyn Fn(&str, &Value) -> String| -> String {
            fields.iter().map(|(key, value)| line(key, value) + eol).collect()
        };
        match self.syntax {
            _ if fields.is_empty() => String::new(),
            Syntax::None => String::new(),
            Syntax::Yaml => ["---", eol, &lines(&|k, v| yaml::entry(k, v, eol)), "---", eol, eol].concat(),
            // A text in quotes with the escapes of JSON is one in TOML, too.
            Syntax::Toml => {
                ["+++", eol, &lines(&|k, v| format!("{} = {v}", quoted_key(k))), "+++", eol, eol].concat()
            }
            Syntax::Json => {
                let object: Map<String, Value> =
                    fields.iter().map(|(k, v)| ((*k).to_owned(), v.clone())).collect();
                let text = serde_json::to_string_pretty(&object).unwrap_or_default().replace('\n', eol);
                [&text, eol, eol].concat()
            }
        }
    }
}

/// A key of TOML: bare where it may be.
fn quoted_key(key: &str) -> String {
    let bare = key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if bare { key.to_owned() } else { json!(key).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Outcome;
    use crate::tools::testing::{Shelf, call};

    const ONE: &str = "---\ntitle: One\nchapter: 1\npov: Mira\n---\n\n# One\n\nText.\n";

    fn shelf() -> Shelf {
        Shelf::new()
            .chapter("manuscript/01-one.md", ONE)
            .chapter("manuscript/02-two.md", &ONE.replace("One", "Two").replace('1', "2"))
    }

    fn create(shelf: &Shelf, args: &Value) -> Result<Outcome, ToolError> {
        call(&shelf.desk(), "propose_scene_create", args)
    }

    fn files(outcome: &Outcome) -> Vec<(String, String)> {
        let files = &outcome.proposal.as_ref().unwrap().files;
        files.iter().map(|f| (f.path.to_string(), f.text().to_owned())).collect()
    }

    #[test]
    fn a_scene_is_the_next_file_and_begins_like_the_others() {
        let outcome = create(&shelf(), &json!({"title": "The Lamp", "content": "It went out.\n"})).unwrap();
        assert_eq!(
            files(&outcome),
            [(
                "manuscript/03-the-lamp.md".to_owned(),
                "---\ntitle: The Lamp\nchapter: 3\n---\n\n# The Lamp\n\nIt went out.\n".to_owned()
            )]
        );
        assert_eq!((&outcome.result["type"], &outcome.result["warnings"]), (&json!("scene"), &json!([])));
        let first = create(&Shelf::new(), &json!({"title": "The Lamp", "content": ""})).unwrap();
        assert_eq!(files(&first), [("manuscript/01-the-lamp.md".to_owned(), "# The Lamp\n".to_owned())]);
    }

    #[test]
    fn a_number_that_exists_gives_a_free_name_beside_it_and_a_warning() {
        let args = json!({"title": "Two", "content": "---\nx: y\n---\n# Two\n\nAgain.", "chapterNumber": 2});
        let outcome = create(&shelf(), &args).unwrap();
        assert_eq!(files(&outcome)[0].0, "manuscript/02-two-2.md");
        assert!(files(&outcome)[0].1.ends_with("---\n\n# Two\n\nAgain.\n"));
        let warnings = outcome.proposal.unwrap().warnings;
        assert!(warnings.iter().any(|w| w.contains("manuscript/02-two.md")), "{warnings:?}");
        assert!(warnings.iter().any(|w| w.contains("frontmatter")), "{warnings:?}");
    }

    #[test]
    fn toml_json_and_headings_with_numbers_are_kept_up() {
        for (text, expected) in [
            ("+++\ntitle = \"One\"\n+++\ntext\n", "+++\ntitle = \"The \\\"Lamp\\\"\"\n+++\n\nx\n"),
            ("{\"title\": \"One\"}\ntext\n", "{\n  \"title\": \"The \\\"Lamp\\\"\"\n}\n\nx\n"),
            ("text\r\n", "x\r\n"),
        ] {
            let shelf = Shelf::new().chapter("manuscript/01-one.md", text);
            let outcome = create(&shelf, &json!({"title": "The \"Lamp\"", "content": "x"})).unwrap();
            assert_eq!(files(&outcome)[0].1, expected);
        }
        let mut shelf = Shelf::new().chapter("manuscript/one.md", "# Chapter 1: One\n");
        shelf.book.chapters[0].number_from = NumberFrom::Heading;
        let outcome = create(&shelf, &json!({"title": "The Lamp", "content": "x"})).unwrap();
        assert_eq!(
            files(&outcome)[0],
            ("manuscript/the-lamp.md".into(), "# Chapter 2: The Lamp\n\nx\n".into())
        );
    }

    #[test]
    fn the_order_of_the_settings_gets_the_scene_where_it_belongs() {
        let toml = "# mine\n[manuscript]\norder = [\n  \"01-one\", # first\n  \"02-two\",\n]\n";
        let mut shelf = shelf();
        shelf.book.settings.order = vec!["01-one".into(), "02-two".into()];
        shelf.book.settings_text = Some(toml.into());
        let at = |number: Value| {
            let args = json!({"title": "The Lamp", "content": "x", "chapterNumber": number});
            let outcome = create(&shelf, &args).unwrap();
            let change = outcome.proposal.unwrap().files[1].clone();
            assert_eq!((change.path.as_str(), change.base.as_deref()), ("scritorio.toml", Some(toml)));
            change.text().to_owned()
        };
        assert_eq!(at(json!(null)), toml.replace("\"02-two\",\n", "\"02-two\",\n  \"03-the-lamp\",\n"));
        assert_eq!(at(json!(1)), toml.replace("\"02-two\"", "\"01-the-lamp\",\n  \"02-two\""));
        assert_eq!(at(json!(0)), toml.replace("\"01-one\"", "\"00-the-lamp\",\n  \"01-one\""));
        shelf.book.settings.order = vec!["01-one".into()];
        let outcome = create(&shelf, &json!({"title": "The Lamp", "content": "x"})).unwrap();
        assert_eq!(outcome.proposal.unwrap().files.len(), 1, "the one before is not listed either");
    }

    #[test]
    fn hostile_titles_and_numbers_are_errors_that_name_their_field() {
        for (field, args) in [
            ("title", json!({"title": "", "content": "x"})),
            ("title", json!({"title": "a\nb", "content": "x"})),
            ("title", json!({"title": "a\0", "content": "x"})),
            ("title", json!({"title": "x".repeat(10_000), "content": "x"})),
            ("content", json!({"title": "T", "content": "x".repeat(200_001)})),
            ("chapterNumber", json!({"title": "T", "content": "x", "chapterNumber": 10_000})),
            ("chapterNumber", json!({"title": "T", "content": "x", "chapterNumber": -1})),
        ] {
            let told = create(&shelf(), &args).unwrap_err().to_result();
            assert_eq!(told["error"]["field"], field, "{told}");
        }
    }
}
