use serde_json::json;

use super::*;
use crate::canon::shelf::{With, book, chapter, dated, entry};
use crate::domain::book::Book;
use crate::domain::codex::Entry;
use crate::domain::manuscript::Chapter;

fn shelf(chapters: Vec<Chapter>, entries: Vec<Entry>) -> Book {
    Book { chapters, ..book(entries) }
}

fn event(name: &str, date: &str) -> Entry {
    let path = format!("events/{}.md", name.to_lowercase().replace(' ', "-"));
    entry(&path, name).field("date", json!(date))
}

fn person(name: &str) -> Entry {
    entry(&format!("characters/{}.md", name.to_lowercase()), name)
}

/// Rule and message of everything that was found, and what became of a rule.
fn conflicts(book: &Book) -> Vec<String> {
    Timeline::of(book).conflicts.into_iter().map(|f| format!("{}: {}", f.rule, f.message)).collect()
}

fn rule(book: &Book, name: &str) -> (Verdict, String) {
    let rule = Timeline::of(book).rules.into_iter().find(|rule| rule.rule == name).unwrap();
    (rule.verdict, rule.message)
}

#[test]
fn everything_with_a_time_stands_in_its_order() {
    let mut flashback = dated("m/4.md", 4, "2307-03-17");
    flashback.time.out_of_order = true;
    let mira = person("Mira").field("born", json!("11 February 2287")).field(
        "progressions",
        json!([{"from": 3, "knows": "the key"}, {"from": "someday", "knows": "more"}]),
    );
    let book = shelf(
        vec![
            chapter("m/1.md", 1, "Before", "Text."),
            dated("m/2.md", 2, "2318-06-03"),
            chapter("m/3.md", 3, "Between", "Text."),
            flashback,
            dated("m/5.md", 5, "2318-09-04"),
        ],
        vec![
            event("Turnover", "2318-09-04").field("chapter", json!(5)),
            event("The Fall", "15th hammer, 5421").field("order", json!(2)),
            event("The Rise", "14th hammer, 5421").field("order", json!("1.5")),
            event("The Feast", "some day"),
            entry("events/landing.md", "Landing").field("chapter", json!("[[Before]]")),
            mira,
            person("Vale").field("died", json!("yes")),
        ],
    );
    let shown: Vec<String> = rows(&book)
        .iter()
        .map(|row| {
            let placed = serde_json::to_value(row.placed).unwrap();
            format!("{} {} {}", row.kind.as_str(), row.title, placed.as_str().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "birth Mira date",
            "chapter Chapter 4 date",
            "chapter Before chapter",
            "event Landing chapter",
            "chapter Chapter 2 date",
            "chapter Between chapter",
            "progression Mira chapter",
            "chapter Chapter 5 date",
            "event Turnover date",
            "event The Rise order",
            "event The Fall order",
            "event The Feast none",
            "progression Mira none",
        ]
    );
    let all = rows(&book);
    assert_eq!(
        (all[0].from.as_deref(), all[0].date.as_deref()),
        (Some("2287-02-11"), Some("11 February 2287"))
    );
    assert_eq!(all[6].facts, *json!({"knows": "the key"}).as_object().unwrap());
    assert_eq!((all[8].chapter, all[3].chapter), (Some(5), Some(1)));
}

#[test]
fn a_list_of_dates_is_events_of_their_own_and_no_event_itself() {
    let text = "# Timeline\n\n- 2290: the War\n- 2301: Post Nine is founded\n- 2318-06-03: the Inquiry\n";
    let list = entry("events/timeline.md", "Timeline").text(text);
    let told =
        entry("events/war.md", "The War").text("# The War\n\n- 2290-02-01: it begins\n- 2291: peace\n");
    let inquiry = event("The Inquiry", "2318-06-03");
    let all = rows(&shelf(vec![], vec![list, told, inquiry]));
    let shown: Vec<_> = all.iter().map(|row| (row.title.as_str(), row.date.as_deref(), row.line)).collect();
    assert_eq!(
        shown,
        [
            ("The War: it begins", Some("2290-02-01"), 3),
            ("The War: peace", Some("2291"), 4),
            ("Post Nine is founded", Some("2301"), 4),
            ("The Inquiry", Some("2318-06-03"), 1),
            ("The War", None, 1),
        ]
    );
    assert!(all[..4].iter().all(|row| row.kind == Kind::Event && row.placed == Placed::Date));
}

#[test]
fn dates_in_the_text_of_an_entry_count_where_its_keys_give_none() {
    let text = "# Mira\n\nShe keeps the log.\n\n## Facts\n\n**Born**: 1862\n**Died**: at sea\n";
    let mira = person("Mira").text(text);
    let vale = person("Vale").text("# Vale\n\nProse.\n\n- Born: 1850\n").field("born", json!("1851"));
    let town = entry("locations/amity.md", "Port Amity").text("# Port Amity\n\nA town.\n\nFounded:: 1840\n");
    let fire = entry("events/fire.md", "The Fire").text("# The Fire\n\nIt burnt.\n\n**Year**: 1870\n");
    let all = rows(&shelf(vec![], vec![mira, vale, town, fire]));
    let shown: Vec<_> =
        all.iter().map(|row| (row.kind.as_str(), &*row.title, row.from.as_deref(), row.line)).collect();
    assert_eq!(
        shown,
        [
            ("founding", "Port Amity", Some("1840-01-01"), 5),
            ("birth", "Vale", Some("1851-01-01"), 1),
            ("birth", "Mira", Some("1862-01-01"), 7),
            ("event", "The Fire", Some("1870-01-01"), 5),
        ]
    );
}

#[test]
fn what_has_only_a_chapter_stands_right_behind_it() {
    let in_chapter = |name: &str, number: u32| {
        entry(&format!("events/{}.md", name.to_lowercase()), name).field("chapter", json!(number))
    };
    let book = shelf(
        vec![
            dated("m/1.md", 1, "2318-06-01"),
            dated("m/2.md", 2, "2318-06-03 to 2318-06-08"),
            chapter("m/3.md", 3, "Three", "Text."),
            dated("m/4.md", 4, "2318-06-20"),
        ],
        vec![
            event("Feast", "2318-06-05"),
            in_chapter("Alarm", 2),
            in_chapter("Breach", 1),
            in_chapter("Calm", 3),
            event("Zenith", "2318-06-03"),
        ],
    );
    let titles: Vec<String> = rows(&book).into_iter().map(|row| row.title).collect();
    assert_eq!(
        titles,
        ["Chapter 1", "Breach", "Chapter 2", "Alarm", "Three", "Calm", "Zenith", "Feast", "Chapter 4"]
    );
    let undated: Vec<Chapter> =
        (1..=3).map(|n| chapter(&format!("m/{n}.md"), n, &format!("Chapter {n}"), "Text.")).collect();
    let titles: Vec<String> = rows(&shelf(undated, vec![in_chapter("Alarm", 2), in_chapter("Breach", 1)]))
        .into_iter()
        .map(|row| row.title)
        .collect();
    assert_eq!(titles, ["Chapter 1", "Breach", "Chapter 2", "Alarm", "Chapter 3"]);
}

#[test]
fn a_long_stretch_is_long_beside_the_others() {
    let day = |n: u32, date: &str| dated(&format!("m/{n}.md"), n, date);
    let dates = ["2318-06-01", "2318-06-03", "2318-06-04", "2318-06-07", "2318-09-01", "2318-09-02"];
    let chapters: Vec<_> = (1..).zip(dates).map(|(n, date)| day(n, date)).collect();
    let backstory = event("The War", "2290");
    let found = Timeline::of(&shelf(chapters.clone(), vec![backstory.clone()])).gaps;
    assert_eq!(found.len(), 1);
    assert!(
        found[0].message.starts_with("86 days pass between \"Chapter 4\" (2318-06-07) and"),
        "{}",
        found[0].message
    );
    let inside = event("The Feast", "2318-06-20 to 2318-08-25");
    assert!(Timeline::of(&shelf(chapters.clone(), vec![inside])).gaps.is_empty());
    let few = rule(&shelf(chapters[..3].to_vec(), vec![backstory]), "timeline-gap");
    assert_eq!(few.0, Verdict::NotEvaluated);
    assert!(few.1.contains("4 are needed"), "{}", few.1);
}

#[test]
fn a_chapter_without_a_date_between_dated_ones_is_a_gap() {
    let book = shelf(
        vec![
            chapter("m/1.md", 1, "One", ""),
            dated("m/2.md", 2, "2318-06-01"),
            chapter("m/3.md", 3, "Three", ""),
            dated("m/4.md", 4, "15th hammer"),
            dated("m/5.md", 5, "2318-06-03"),
            chapter("m/6.md", 6, "Six", ""),
        ],
        vec![],
    );
    let found: Vec<_> =
        Timeline::of(&book).gaps.into_iter().map(|f| (f.path.to_string(), f.message)).collect();
    assert_eq!(found[0].0, "m/3.md");
    assert_eq!(
        found[1].1,
        "Chapter 4, \"Chapter 4\", is dated \"15th hammer\", which can't be ordered, and stands between dated ones."
    );
    assert_eq!(found.len(), 2);
}

#[test]
fn chapters_that_run_backwards_are_a_conflict_unless_they_mean_to() {
    let mut book = shelf(
        vec![
            dated("m/1.md", 1, "2318-06-03"),
            dated("m/2.md", 2, "2307-03-17"),
            dated("m/3.md", 3, "2318-06"),
            dated("m/4.md", 4, "2318-06-01"),
            dated("m/5.md", 5, "2318-07-01"),
        ],
        vec![],
    );
    let found = conflicts(&book);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("Chapter 2 is dated 2307-03-17, before chapter 1 (2318-06-03)"), "{found:?}");
    assert!(found[1].contains("Chapter 4 is dated 2318-06-01, before chapter 1"), "{found:?}");
    book.chapters[1].time.out_of_order = true;
    book.chapters[3].time.out_of_order = true;
    assert_eq!(conflicts(&book), Vec::<String>::new());
    assert_eq!(rule(&book, "chapters-run-backwards").0, Verdict::Clean);
    let free = shelf(vec![dated("m/1.md", 1, "15th hammer"), dated("m/2.md", 2, "14th hammer")], vec![]);
    let (verdict, message) = rule(&free, "chapters-run-backwards");
    assert_eq!(verdict, Verdict::NotEvaluated);
    assert!(message.contains("2 with a date that can't be ordered"), "{message}");
}

#[test]
fn an_event_must_fit_its_chapter() {
    let chapters = || vec![dated("m/1.md", 1, "2318-06-03"), chapter("m/2.md", 2, "Two", "")];
    let with = |date: &str, chapter: u32| {
        shelf(chapters(), vec![event("Turnover", date).field("chapter", json!(chapter))])
    };
    assert_eq!(
        conflicts(&with("2318-06-04", 1)),
        [
            "event-and-chapter: \"Turnover\" is dated 2318-06-04 and belongs to chapter 1, which is dated 2318-06-03."
        ]
    );
    assert!(conflicts(&with("June 2318", 1)).is_empty(), "the month holds the day");
    let (verdict, message) = rule(&with("2318-06-04", 2), "event-and-chapter");
    assert_eq!(verdict, Verdict::NotEvaluated);
    assert!(message.contains("1 left out"), "{message}");
}

#[test]
fn two_dates_of_one_event_are_found_wherever_they_stand() {
    let with = |entries: Vec<Entry>| {
        let book = shelf(vec![], entries);
        let found = Timeline::of(&book).conflicts;
        found.into_iter().map(|f| format!("{}:{} {}", f.path, f.line, f.message)).collect::<Vec<_>>()
    };
    let inquiry = || event("The Inquiry", "2308-02-05");
    let text = |text: &str| inquiry().text(text);
    assert_eq!(
        with(vec![text("# The Inquiry\n\n**Date:** 2308-02-07\n")]),
        [
            "codex/events/the-inquiry.md:3 \"The Inquiry\" is dated 2308-02-07 here and 2308-02-05 in codex/events/the-inquiry.md, line 1."
        ]
    );
    assert!(with(vec![text("Date: 5 February 2308\n\nUpdate: 2308-02-07\n")]).is_empty());
    assert_eq!(with(vec![inquiry().field("when", json!("2308-03"))]).len(), 1);
    let vale = person("Vale").text("- 2308-02-09: the [[Inquiry]] begins\n- 2308-02-10: after the inquiry\n- 2308-02-11: The Inquiry's end\n- 2308-02-12: the Inquiry ends\n");
    let found = with(vec![inquiry().aliases(&["Inquiry"]), vale]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("codex/characters/vale.md:1 "), "{found:?}");
    let mut twin = event("The Inquiry", "2309");
    twin.path = BookPath::new("codex/events/other.md").unwrap();
    assert_eq!(with(vec![inquiry(), twin]).len(), 1);
    let book = shelf(vec![], vec![event("The Fall", "15th hammer").field("when", json!("16th hammer"))]);
    assert_eq!(rule(&book, "event-two-dates").0, Verdict::NotEvaluated);
}

#[test]
fn the_dead_may_be_remembered_but_not_speak() {
    let kostas = || person("Kostas").field("died", json!("2313-10-08")).field("born", json!("2250"));
    let told = |text: &str, date: &str, cast: &[&str]| {
        let mut only = dated("m/1.md", 1, date);
        only.text = text.into();
        only.time.cast = cast.iter().map(|name| (*name).to_owned()).collect();
        let timeline = Timeline::of(&shelf(vec![only], vec![kostas()]));
        let rule = timeline.rules.into_iter().find(|rule| rule.rule == "presence").unwrap();
        (timeline.conflicts.into_iter().map(|f| (f.severity, f.message)).collect::<Vec<_>>(), rule)
    };
    let (found, rule) = told("She thought of Kostas all day.", "2318-06-03", &[]);
    assert!(found.is_empty());
    assert_eq!((rule.verdict, rule.message.contains("memories: in 1 chapters")), (Verdict::Clean, true));
    let (found, _) = told("\u{201c}Yes,\u{201d} said Kostas.", "2318-06-03", &[]);
    assert_eq!(
        found,
        [(
            Severity::Warning,
            "Kostas speaks or acts in chapter 1 (2318-06-03), but the entry says died: 2313-10-08."
                .to_owned()
        )]
    );
    let (found, _) = told("Nobody.", "2318-06-03", &["Kostas"]);
    assert_eq!(found[0].0, Severity::Error);
    assert!(told("Kostas said so.", "2313", &["Kostas"]).0.is_empty(), "it may have been before");
    let (found, _) = told("Kostas said so.", "2249", &[]);
    assert!(found[0].1.ends_with("but the entry says born: 2250."), "{found:?}");
    let (found, rule) = told("Kostas said so.", "15th hammer", &[]);
    assert_eq!((found.len(), rule.verdict), (0, Verdict::NotEvaluated));
}

#[test]
fn who_dies_in_a_chapter_is_not_there_after_it_and_not_at_later_events() {
    let vale = person("Vale").field("died", json!("chapter 1"));
    let mut chapters =
        vec![chapter("m/1.md", 1, "One", "Vale said no."), chapter("m/2.md", 2, "Two", "Vale said yes.")];
    let found = conflicts(&shelf(chapters.clone(), vec![vale.clone()]));
    assert_eq!(found, ["presence: Vale speaks or acts in chapter 2, but the entry says died: chapter 1."]);
    chapters[1].time.out_of_order = true;
    assert!(conflicts(&shelf(chapters, vec![vale])).is_empty());
    let mira = person("Mira").field("died", json!({"date": "2310", "place": "Lantern"}));
    let feast = event("The Feast", "2318").field("characters", json!(["Mira", "Nobody"]));
    let found = conflicts(&shelf(vec![], vec![mira, feast]));
    assert_eq!(
        found,
        ["presence: Mira is listed as present at \"The Feast\" (2318), but the entry says died: 2310."]
    );
}

#[test]
fn a_progression_must_fit_its_chapter() {
    let with = |date: &str| {
        let mira = person("Mira").field("progressions", json!([{"from": 1, "date": date, "knows": "all"}]));
        conflicts(&shelf(vec![dated("m/1.md", 1, "2318-06-03")], vec![mira]))
    };
    assert_eq!(
        with("2318-07-01"),
        [
            "progression-and-chapter: A progression of \"Mira\" begins in chapter 1 (2318-06-03) and on 2318-07-01."
        ]
    );
    assert!(with("2318").is_empty() && with("15th hammer").is_empty());
}

#[test]
fn an_empty_book_has_a_timeline_on_which_nothing_was_evaluated() {
    let timeline = Timeline::of(&Book::default());
    assert!(timeline.rows.is_empty() && timeline.gaps.is_empty() && timeline.conflicts.is_empty());
    assert!(timeline.rules.iter().all(|rule| rule.verdict == Verdict::NotEvaluated), "{:?}", timeline.rules);
}
