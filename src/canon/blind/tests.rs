use serde_json::json;

use super::*;
use crate::canon::lookup;
use crate::canon::shelf::{With, chapter, dated, entry};
use crate::domain::book::{BoardSettings, MemberOptions, Note};
use crate::domain::codex::{Entry, Soul};

/// Six chapters, the third and the fifth dated; Mira is named in the second, the Keeper in the fifth.
fn shelf(entries: Vec<Entry>) -> Book {
    let mut chapters = vec![
        chapter("m/1.md", 1, "The Harbour", "The gulls were quiet. %%Mira comes later%% Nobody spoke."),
        chapter("m/2.md", 2, "The Wall", "It was cold. Then Mira counted the gulls. She stopped.\n"),
        dated("m/3.md", 3, "2318-06-03"),
        chapter("m/4.md", 4, "The Stairs", "Captain Vale met Old Heron there.\n"),
        dated("m/5.md", 5, "2318-07-01"),
        chapter("m/6.md", 6, "The Drowning", "The Keeper drowned Mira Okafor.\n"),
    ];
    chapters[0].text = format!("---\nsynopsis: leads to the drowning\n---\n{}", chapters[0].text).into();
    chapters[0].body_start = chapters[0].text.find("The gulls").unwrap();
    let mut book = Book { name: "shelf".into(), chapters, entries, ..Book::default() };
    book.entries.sort_by_key(|e| (e.entry_type, e.name.clone()));
    book
}

fn at(number: usize, entries: Vec<Entry>) -> Book {
    let book = shelf(entries);
    until(&book, &book.chapters[number - 1].path)
}

/// The one entry of the book, at a chapter.
fn seen_at(number: usize, entry: Entry) -> Entry {
    let mut book = at(number, vec![entry]);
    assert_eq!(book.entries.len(), 1);
    book.entries.remove(0)
}

fn mira() -> Entry {
    entry("characters/mira.md", "Mira Okafor").aliases(&["Mira"])
}

#[test]
fn chapters_end_at_the_horizon_and_are_as_a_reader_sees_them() {
    let book = at(2, vec![]);
    assert_eq!(book.chapters.len(), 2);
    assert_eq!(&*book.chapters[0].text, "The gulls were quiet.  Nobody spoke.");
    assert_eq!((book.chapters[0].words, book.chapters[0].body_start), (6, 0));
    let nowhere = until(&shelf(vec![]), &BookPath::new("codex/x.md").unwrap());
    assert!(nowhere.chapters.is_empty());
}

#[test]
fn an_entry_is_there_once_the_story_names_it_and_under_the_name_that_was_read() {
    assert!(at(1, vec![mira()]).entries.is_empty(), "a comment is no mention");
    let known = seen_at(2, mira());
    assert_eq!((known.name.as_str(), known.aliases.len()), ("Mira", 0));
    assert_eq!(known.summary, "Named first in chapter 2: Then Mira counted the gulls.");
    let known = seen_at(6, mira());
    assert_eq!((known.name.as_str(), &*known.aliases), ("Mira Okafor", &["Mira".to_owned()][..]));
    let vale =
        entry("characters/vale.md", "Adrian Vale").title("Captain").aliases(&["Old Heron", "The Coward"]);
    let known = seen_at(4, vale);
    assert_eq!((known.name.as_str(), known.title.as_deref()), ("Old Heron", Some("Captain")));
    assert!(known.aliases.is_empty());
}

#[test]
fn a_name_that_is_told_later_does_not_tell_who_bears_it() {
    let heron = || {
        entry("characters/vale.md", "Adrian Vale")
            .title("Captain")
            .aliases(&["Old Heron"])
            .text("- ch. 4: Old Heron is his name among thieves.\n- ch. 4: He is tall.\n")
    };
    let secret = heron().field("progressions", json!([{"from": 5, "aliases": ["Old Heron"]}]));
    let known = seen_at(4, secret.clone());
    assert_eq!((known.name.as_str(), known.body()), ("Captain Vale", "- ch. 4: He is tall."));
    assert!(!known.summary.contains("Old Heron") || known.summary.contains("Captain Vale"));
    assert_eq!(seen_at(5, secret).name, "Old Heron");
}

#[test]
fn what_was_written_for_all_time_is_kept_back_and_what_is_tied_to_a_read_chapter_stays() {
    let text = "Mira drowns in the end.\n\n## Chapter 2\n\nShe counts.\n\nBut in chapter 6 she drowns.\n\n### Chapter 6\n\nDrowned.\n\n## Chapter 6: The Drowning\n\nDead.\n\n## Voice\n\nLow.\n\n- ch. 3: finds the key\n  and hides it\n- ch. 6: dies\n  - by the wall\n- **Ch. 2** - alone; see chapters 1 and 6\n\n| ch. 2 | at the wall |\n| ch. 6 | in the water |\n\nChapter 3\n---------\n\nUnder a line.\n\n- from: 6\n  status: dead\n";
    let mira = mira()
        .text(text)
        .summary("She drowns.")
        .field("role", json!("victim"))
        .field("chapter", json!(6))
        .field(
            "progressions",
            json!([
                {"from": 2, "status": "counting", "will": "drown in chapter 6"},
                {"from": "2318-06-03", "knows": "the key"},
                {"from": "2307-03-14", "knows": "a backstory"},
                {"from": "2318-06-20", "knows": "something between"},
                {"from": "2318", "knows": "some time that year"},
                {"from": 6, "status": "dead"},
                {"from": 2, "date": "2318-12-01", "knows": "two minds"},
                {"status": "timeless"},
            ]),
        );
    let known = seen_at(3, mira.clone());
    let told = json!([{"from": "2", "status": "counting"}, {"from": "2318-06-03", "knows": "the key"}]);
    assert_eq!(serde_json::Value::Object(known.fields.clone()), json!({"progressions": told}));
    assert_eq!(
        known.body(),
        "## Chapter 2\n\nShe counts.\n\n- ch. 3: finds the key\n  and hides it\n\n| ch. 2 | at the wall |\n\nChapter 3\n---------\n\nUnder a line."
    );
    let last = seen_at(6, mira);
    assert!(last.body().contains("Drowned.") && last.fields.contains_key("chapter"));
    assert!(!last.body().contains("in the end"), "what is tied to nothing is kept back to the last");
}

#[test]
fn names_that_are_not_known_yet_take_their_passage_with_them() {
    let keeper = entry("characters/keeper.md", "The Keeper");
    let style = entry("style/house.md", "House Style")
        .summary("Plain.")
        .text("Short words.\n\nThe Keeper speaks in riddles.\n\nIn chapter 6 the tense changes.\n");
    let mira = mira().text("- ch. 2: watched by The Keeper\n- ch. 2: not alone\n");
    let book = at(2, vec![mira, keeper, style]);
    let bodies: Vec<_> = book.entries.iter().map(|e| (e.name.as_str(), e.body())).collect();
    assert_eq!(bodies, [("Mira", "- ch. 2: not alone"), ("House Style", "Short words.")]);
    assert_eq!(book.entries[1].summary, "Plain.");
}

#[test]
fn a_path_says_no_more_than_the_names() {
    let paths = |path: &str| seen_at(2, entry(path, "Mira")).path.as_str().to_owned();
    assert_eq!(paths("characters/mira.md"), "codex/characters/mira.md");
    assert_eq!(paths("characters/01-mira/dossier.md"), "codex/characters/01-mira/dossier.md");
    assert_eq!(paths("characters/mira-who-drowns.md"), "codex/characters/mira.md");
    assert_eq!(paths("characters/drowned/mira.md"), "codex/characters/mira.md");
    let both =
        at(2, vec![entry("characters/mira-who-drowns.md", "Mira"), entry("characters/mira.md", "Nobody")]);
    assert_eq!(both.entries[0].path.as_str(), "codex/characters/mira-2.md", "never that of another file");
}

#[test]
fn no_reader_has_souls_notes_files_warnings_or_plans() {
    let mut book = shelf(vec![mira()]);
    let path = |raw| BookPath::new(raw).unwrap();
    book.entries[0].soul = Some(Soul { path: path("codex/soul.md"), text: "She will drown.".into() });
    book.notes.push(Note {
        path: path("notes/n.md"),
        title: "Plan".into(),
        tags: vec![],
        text: "Ch. 1".into(),
    });
    book.others.push(path("drowning.md"));
    book.settings.order = vec!["6.md".into()];
    let words = "Be kind.\n\nShe drowns in chapter 6.";
    let board = BoardSettings {
        asks: MemberOptions::default(),
        notes: Some(words.into()),
        editable: Some("- As\n- it is\n\n  still.".into()),
        enabled: None,
        blind: None,
    };
    book.settings.board.insert("first-time-reader".into(), board);
    let seen = until(&book, &book.chapters[1].path);
    assert!(seen.entries[0].soul.is_none() && seen.notes.is_empty() && seen.others.is_empty());
    assert!(seen.settings.order.is_empty());
    let board = &seen.settings.board["first-time-reader"];
    assert_eq!(
        (board.notes.as_deref(), board.editable.as_deref()),
        (Some("Be kind."), Some("- As\n- it is\n\n  still."))
    );
}

#[test]
fn a_date_counts_only_between_the_first_dated_chapter_and_the_next_one() {
    let event = |date: &str| {
        let event = entry("events/gulls.md", "Mira").field("date", json!(date));
        seen_at(4, event).fields.contains_key("date")
    };
    assert!(event("2318-06-03"));
    for untold in ["2307", "2318-06-02", "2318-06-04", "2318-06", "2318-07-01", "15th hammer", "chapter 5"] {
        assert!(!event(untold), "{untold}");
    }
    let known = at(4, vec![entry("events/gulls.md", "Mira")]);
    assert!(lookup::find(&known, None, "gulls").best.is_none(), "a file's name is no name");
}
