//! Board members that read blind: what they may see of the book and of the conversation.
//!
//! A blind member works with a smaller book ([`crate::canon::blind`]), which ends with the open chapter, else with the one that was open last, else
//! with the first one: what is not known is not assumed to have been read. It gets no tool that proposes, since a change that was drafted
//! against the smaller book does not fit the files. Of the conversation it gets only turns of members who read blind and no further than it
//! does now: questions, answers and results of all others may tell what comes later. No server is asked to go on from an earlier response, in
//! either direction, since it would have kept what the member must not have.

use std::sync::Arc;

use crate::canon::blind;
use crate::domain::book::Book;
use crate::domain::conversation::{Failure, FailureKind, ReadTo};
use crate::domain::ids::BookPath;
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{comments, count_words};
use crate::persona::board::Member;
use crate::store::sessions::Kept;
use crate::tools::Selection;

use super::{Ask, Workbench};

/// What a turn works with.
pub(super) struct View {
    pub book: Arc<Book>,
    pub current: Option<BookPath>,
    pub chapter: Option<BookPath>,
    pub selection: Option<Selection>,
    /// Up to where the member reads, if it reads blind.
    pub read_to: Option<ReadTo>,
}

/// Returns up to where a member would read if it were asked now; `None` for one that reads everything. `current` is the open document,
/// `last` the chapter that was open last.
pub fn read_to(
    book: &Book,
    member: &Member,
    current: Option<&BookPath>,
    last: Option<&BookPath>,
) -> Option<ReadTo> {
    member.reads_blind(&book.settings).then(|| horizon(book, current, last))
}

impl Workbench {
    /// Returns what `member` may see of `book` and of what lies open.
    pub(super) fn view(book: Arc<Book>, member: &Member, ask: &Ask) -> Result<View, Failure> {
        let current = ask.current.as_ref().map(|(path, _)| path);
        let Some(read_to) = read_to(&book, member, current, ask.chapter.as_ref()) else {
            let selection = ask.selection.clone();
            let (current, chapter) = (current.cloned(), ask.chapter.clone());
            return Ok(View { book, current, chapter, selection, read_to: None });
        };
        let smaller = match &read_to.path {
            Some(chapter) => blind::until(&book, chapter),
            None => Book { name: book.name.clone(), ..Book::default() },
        };
        let selection = ask.selection.as_ref().map(|selection| {
            as_read(&book, &smaller, selection).ok_or_else(|| not_to_be_shown(member, &read_to, selection))
        });
        Ok(View {
            current: current.filter(|path| smaller.document(path).is_some()).cloned(),
            chapter: read_to.path.clone(),
            selection: selection.transpose()?,
            book: Arc::new(smaller),
            read_to: Some(read_to),
        })
    }
}

/// Keeps the turns that a member who reads up to `read_to` may know.
pub(super) fn turns_known(turns: Vec<Kept>, book: &Book, read_to: &ReadTo) -> Vec<Kept> {
    let known = |path: &BookPath| book.chapter(path).is_some();
    let within = |kept: &Kept| match &kept.turn.read_to {
        Some(ReadTo { path: Some(path), .. }) => read_to.path.is_some() && known(path),
        Some(ReadTo { path: None, .. }) => true,
        None => false,
    };
    turns.into_iter().filter(within).collect()
}

fn horizon(book: &Book, current: Option<&BookPath>, last: Option<&BookPath>) -> ReadTo {
    let of = |chapter: &Chapter, assumed| ReadTo {
        path: Some(chapter.path.clone()),
        number: Some(chapter.number),
        title: chapter.title.clone(),
        assumed,
    };
    let open = [current, last].into_iter().flatten().find_map(|path| book.chapter(path));
    match open {
        Some(chapter) => of(chapter, false),
        None => book.chapters.first().map(|chapter| of(chapter, true)).unwrap_or_default(),
    }
}

/// A selection without comments and frontmatter; `None` unless it is from a chapter that was read, and still stands there.
fn as_read(book: &Book, smaller: &Book, selection: &Selection) -> Option<Selection> {
    let read = smaller.chapter(&selection.path)?;
    let chapter = book.chapter(&selection.path)?;
    let range = selection.start..selection.start.checked_add(selection.text.len())?;
    if chapter.text.get(range.clone()) != Some(&*selection.text) {
        return None;
    }
    let mut from = range.start.max(chapter.body_start);
    let mut text = String::new();
    for comment in comments(chapter.body()) {
        let comment = comment.start + chapter.body_start..comment.end + chapter.body_start;
        text.push_str(chapter.text.get(from..comment.start.min(range.end)).unwrap_or_default());
        from = from.max(comment.end);
    }
    text.push_str(chapter.text.get(from..range.end).unwrap_or_default());
    Some(Selection {
        title: read.title.clone(),
        source_words: count_words(&read.text),
        text: text.into(),
        ..selection.clone()
    })
}

fn not_to_be_shown(member: &Member, read_to: &ReadTo, selection: &Selection) -> Failure {
    Failure {
        kind: FailureKind::Work,
        message: format!(
            "{} reads blind, {}, and can't be shown words from {}.",
            member.name, read_to, selection.path
        ),
        hint: format!(
            "Select words of a chapter up to there, ask another board member, or set `blind = false` in [board.{}].",
            member.id
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::persona::board::member;
    use crate::workbench::{Overrides, Surroundings};

    const SECOND: &str = "---\nsynopsis: it ends badly\n---\nCalm. %%She drowns.%% Still calm.\n";

    fn bench(settings: &str) -> (tempfile::TempDir, Workbench) {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        for (path, text) in [
            ("scritorio.toml", settings),
            ("manuscript/1.md", "# One\n\nMira waits.\n"),
            ("manuscript/2.md", SECOND),
            ("manuscript/3.md", "# The Drowning\n\nMira drowns.\n"),
            ("codex/characters/mira.md", "# Mira\n\nShe drowns.\n"),
        ] {
            fs::create_dir_all(book.join(path).parent().unwrap()).unwrap();
            fs::write(book.join(path), text).unwrap();
        }
        let bench =
            Workbench::open_in(&book, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap();
        (folder, bench)
    }

    fn path(raw: &str) -> BookPath {
        BookPath::new(raw).unwrap()
    }

    fn ask(open: Option<&str>, last: Option<&str>) -> Ask {
        Ask {
            persona: Some("first-time-reader".into()),
            question: "Who is Mira?".into(),
            current: open.map(|raw| (path(raw), None)),
            chapter: last.map(path),
            ..Ask::default()
        }
    }

    #[test]
    fn the_horizon_is_the_open_chapter_else_the_last_one_else_the_first() {
        let (_folder, bench) = bench("");
        let reader = member(Some("first-time-reader"));
        let number = |open: Option<&str>, last: Option<&str>| {
            let (open, last) = (open.map(path), last.map(path));
            let read_to = read_to(&bench.book(), reader, open.as_ref(), last.as_ref()).unwrap();
            (read_to.number, read_to.assumed)
        };
        let (two, three, mira) =
            (Some("manuscript/2.md"), Some("manuscript/3.md"), Some("codex/characters/mira.md"));
        assert_eq!(number(two, three), (Some(2), false));
        assert_eq!(number(mira, two), (Some(2), false));
        assert_eq!(number(mira, None), (Some(1), true));
        assert_eq!(number(None, mira), (Some(1), true));
        assert!(read_to(&bench.book(), member(None), None, None).is_none(), "the others read everything");
    }

    #[test]
    fn the_switch_makes_a_member_blind_or_not() {
        let (_folder, bench) =
            bench("[board.first-time-reader]\nblind = false\n[board.writing-coach]\nblind = true\n");
        assert!(read_to(&bench.book(), member(Some("first-time-reader")), None, None).is_none());
        assert!(read_to(&bench.book(), member(Some("writing-coach")), None, None).is_some());
    }

    #[test]
    fn a_blind_turn_works_with_the_smaller_book_and_can_not_propose() {
        let (_folder, bench) = bench("");
        let setup = bench.prepare(&ask(Some("manuscript/2.md"), None)).unwrap();
        assert_eq!(setup.book.chapters.len(), 2);
        assert!(setup.registry.specs().all(|spec| spec.effect != crate::tools::Effect::Proposes));
        assert_eq!(setup.read_to.as_ref().unwrap().number, Some(2));
        let peek = bench.peek(&ask(Some("manuscript/2.md"), None), Some("chat")).unwrap();
        assert!(peek.text().contains("reads blind, up to chapter 2"), "{}", peek.text());
        assert!(!peek.body.to_string().to_lowercase().contains("drown"));
        let setup = bench.prepare(&ask(Some("codex/characters/mira.md"), Some("manuscript/2.md"))).unwrap();
        assert_eq!(setup.current, Some(path("codex/characters/mira.md")));
        assert!(!setup.book.document(&path("codex/characters/mira.md")).unwrap().1.contains("drowns"));
    }

    #[test]
    fn a_selection_is_given_without_what_no_reader_sees_or_refused() {
        let (_folder, bench) = bench("");
        let selected = |file: &str, words: std::ops::Range<usize>| {
            let mut ask = ask(Some("manuscript/2.md"), None);
            ask.selection = Some(bench.select(&path(file), words.start, words.end).unwrap());
            bench.prepare(&ask).map(|setup| setup.selection.unwrap().text.to_string())
        };
        assert_eq!(selected("manuscript/2.md", 0..SECOND.len()).unwrap(), "Calm.  Still calm.\n");
        let inside = SECOND.find("drowns").unwrap();
        assert_eq!(selected("manuscript/2.md", inside..SECOND.len()).unwrap(), " Still calm.\n");
        assert_eq!(selected("manuscript/2.md", inside..inside + 4).unwrap(), "");
        for file in ["manuscript/3.md", "codex/characters/mira.md"] {
            let refused = selected(file, 0..6).unwrap_err();
            assert!(refused.message.contains("reads blind, up to chapter 2"), "{}", refused.message);
        }
    }

    #[test]
    fn a_tool_that_is_called_for_a_blind_member_sees_no_more() {
        let (_folder, bench) = bench("");
        let call = |name: &str, arguments: &str| {
            bench.call_tool(name, arguments, &ask(Some("manuscript/1.md"), None))
        };
        let told = call("get_character_context", r#"{"name": "Mira"}"#).unwrap();
        assert_eq!((&told["found"], &told["excerpt"]), (&true.into(), &"".into()));
        let told = call("get_manuscript_context", r#"{"ref": "3"}"#).unwrap();
        assert_eq!(told["units"][0]["missing"], true);
        assert!(!told.to_string().contains("Drown"));
        assert!(call("propose_codex_update", "{}").is_err());
    }
}
