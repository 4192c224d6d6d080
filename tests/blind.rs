//! A board member that reads blind gets nothing of what comes after the open chapter, whatever it asks.
//!
//! A book of ten chapters has a word of its own in every chapter, title, name, alias, fact, section, date, event, path, comment, soul, note and
//! summary. For any call of any registered tool, as of any chapter, two things hold: no word of what comes later is in the result, the error or the
//! author's row; and the answer is the same as that of a book in which nothing of what comes later was ever written.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that can't go on should fail loudly"
)]

use std::fmt::Write as _;
use std::fs;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use proptest::prelude::*;
use proptest::sample::select;
use scritorio::agent::{TurnSetup, first_request};
use scritorio::domain::ids::BookPath;
use scritorio::tools::Seen;
use scritorio::workbench::{Ask, Overrides, Surroundings, Workbench};
use serde_json::{Map, Value, json};

/// Chapters of the book.
const CHAPTERS: usize = 10;
/// What no reader ever sees is told "in" this chapter.
const NEVER: usize = 11;
/// What each word is of.
const KINDS: [&str; 24] = [
    "prz", "hed", "tit", "nam", "ali", "fct", "sec", "lin", "dtd", "evt", "loc", "pth", "com", "fro", "sol",
    "nte", "sum", "fld", "und", "sty", "brd", "oth", "tag", "ttl",
];
const SYLLABLES: [&str; 12] =
    ["bam", "cel", "dif", "gop", "huk", "jar", "lem", "nis", "pod", "rul", "tav", "vex"];

/// The word of a thing: unique, and no part of another.
fn word(kind: &str, a: usize, b: usize) -> String {
    assert!(KINDS.contains(&kind));
    let (head, rest) = kind.split_at(1);
    format!("{}{rest}{}{}", head.to_uppercase(), SYLLABLES[a], SYLLABLES[b])
}

fn date(chapter: usize) -> String {
    format!("2318-{chapter:02}-10")
}

/// The files of a book that ends with chapter `end`; with `whole` also everything in it that no reader sees.
fn files(end: usize, whole: bool) -> Vec<(String, String)> {
    let never = |kind: &str, a: usize| if whole { word(kind, a, NEVER) } else { String::new() };
    let mut files = vec![];
    let mut toml =
        format!("[book]\ntitle = \"Planted\"\n\n[board.first-time-reader]\nnotes = \"\"\"\nBe kind.\n\n");
    for m in 1..=end {
        write!(toml, "In chapter {m} mind {}.\n\n", word("brd", m, m)).unwrap();
    }
    files.push(("scritorio.toml".to_owned(), toml + "\"\"\"\n"));
    for m in 1..=end {
        let path = format!("manuscript/{m:02}-{}.md", word("ttl", m, m).to_lowercase());
        let mut text = format!(
            "---\ntitle: {}\ndate: {}\nsynopsis: \"{}\"\n---\n\n## {}\n\nIt was {}.",
            word("tit", m, m),
            date(m),
            never("fro", m),
            word("hed", m, m),
            word("prz", m, m),
        );
        if whole {
            write!(text, "%% {} %%<!-- {} -->", never("com", m), never("com", 0)).unwrap();
        }
        for n in 1..=m {
            write!(text, " Then {} spoke of {}.", word("nam", n, n), word("ali", n, m)).unwrap();
        }
        write!(text, "\n\nAt {} they saw {}.\n", word("loc", m, m), word("evt", m, m)).unwrap();
        files.push((path, text));
    }
    for n in 1..=end {
        files.extend(character(n, end, whole));
        let name = word("loc", n, n);
        let place =
            format!("---\nname: {name}\nsummary: \"{}\"\n---\n\n{}\n", never("sum", n), never("und", n));
        files.push((format!("codex/locations/{}.md", name.to_lowercase()), place));
        let name = word("evt", n, n);
        let event = format!(
            "---\nname: {name}\nchapter: {n}\ndate: {}\nwhere: \"{}\"\n---\n\n{}\n\n- ch. {n}: {}\n",
            date(n),
            never("fld", n),
            never("und", 0),
            word("lin", 0, n),
        );
        files.push((format!("codex/events/{}.md", name.to_lowercase()), event));
    }
    let mut style = format!("# House Style\n\nShort {}.\n\n", word("sty", 0, 0));
    for m in 1..=end {
        write!(style, "- In chapter {m} use {}.\n", word("sty", m, m)).unwrap();
    }
    files.push(("codex/style/house-style.md".to_owned(), style));
    if whole {
        let note = format!(
            "---\nchapter: 1\ntags: [{}]\n---\n# {}\n\nCh. 1: {}\n",
            never("tag", 0),
            never("nte", 1),
            never("nte", 2)
        );
        files.push((format!("notes/{}.md", never("nte", 0)), note));
        files.push((format!("{}.md", never("oth", 0)), never("oth", 1)));
    }
    files
}

/// A character that is named in chapter `n`, has an alias, a fact, a section, and two lines of each chapter, and is all secrets besides.
fn character(n: usize, end: usize, whole: bool) -> Vec<(String, String)> {
    let never = |kind: &str| if whole { word(kind, n, NEVER) } else { String::new() };
    let name = word("nam", n, n);
    let aliases: Vec<String> = (n..=end).map(|m| word("ali", n, m)).collect();
    let mut text = format!("---\nname: {name}\naliases: [{}]\n", aliases.join(", "));
    if whole {
        write!(text, "title: {}\nrole: {}\nsummary: {}\n", never("tag"), never("fld"), never("sum")).unwrap();
        writeln!(text, "{}: yes", never("fct")).unwrap();
    }
    text.push_str("progressions:\n");
    for m in 1..=end {
        writeln!(
            text,
            "  - from: {}\n    knows: {}",
            if m % 2 == 0 { m.to_string() } else { date(m) },
            word("fct", n, m)
        )
        .unwrap();
    }
    if whole {
        writeln!(text, "  - from: 1\n    will: end as {} in chapter 10", word("fct", 0, NEVER)).unwrap();
    }
    text.push_str("---\n\n");
    if whole {
        write!(text, "{}\n\n%% {} %%\n\n", never("und"), never("com")).unwrap();
    }
    for m in 1..=end {
        writeln!(text, "- ch. {m}: {}\n- {}: {}", word("lin", n, m), date(m), word("dtd", n, m)).unwrap();
    }
    for m in 1..=end {
        write!(text, "\n## Chapter {m}\n\nThere was {}.\n", word("sec", n, m)).unwrap();
        if whole && end == CHAPTERS {
            write!(text, "\nBut in chapter 10 it was {}.\n", word("sec", 0, NEVER)).unwrap();
        }
    }
    let folder = if whole {
        format!("codex/characters/{}-{}", name.to_lowercase(), never("pth").to_lowercase())
    } else {
        format!("codex/characters/{}", name.to_lowercase())
    };
    if whole && n % 3 == 0 {
        return vec![(format!("{folder}/dossier.md"), text), (format!("{folder}/soul.md"), never("sol"))];
    }
    vec![(format!("{folder}.md"), text)]
}

struct Shelf {
    _folder: tempfile::TempDir,
    bench: Workbench,
}

impl Shelf {
    fn of(files: &[(String, String)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let book = folder.path().join("book");
        for (path, text) in files {
            let path = book.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let bench =
            Workbench::open_in(&book, Overrides::default(), Surroundings::in_folders(folder.path())).unwrap();
        Self { _folder: folder, bench }
    }

    /// A turn with the First-Time Reader: the chapter is open, or a place that it was read of is, after the chapter.
    fn setup(&self, chapter: usize, open_place: bool) -> TurnSetup {
        let path = |raw: String| BookPath::new(raw).unwrap();
        let chapter_path =
            path(format!("manuscript/{chapter:02}-{}.md", word("ttl", chapter, chapter).to_lowercase()));
        let place = path(format!("codex/locations/{}.md", word("loc", 1, 1).to_lowercase()));
        let ask = Ask {
            persona: Some("first-time-reader".into()),
            question: "What do you think?".into(),
            current: Some((if open_place { place } else { chapter_path.clone() }, None)),
            chapter: Some(chapter_path),
            ..Ask::default()
        };
        self.bench.prepare(&ask).unwrap()
    }
}

/// The whole book as it is known at a chapter, and the book that ends there; with the chapter open, and with a place open.
struct Known {
    whole: [TurnSetup; 2],
    cut: [TurnSetup; 2],
    _shelf: Shelf,
}

static WHOLE: LazyLock<Shelf> = LazyLock::new(|| Shelf::of(&files(CHAPTERS, true)));
static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = |chapter: usize| {
        let shelf = Shelf::of(&files(chapter, false));
        let setups = |shelf: &Shelf| [shelf.setup(chapter, false), shelf.setup(chapter, true)];
        Known { whole: setups(&WHOLE), cut: setups(&shelf), _shelf: shelf }
    };
    (1..CHAPTERS).map(known).collect()
});

/// For every chapter the words that are not known there, and how they are found.
static LATER: LazyLock<Vec<(Vec<String>, AhoCorasick)>> = LazyLock::new(|| {
    let words = (1..CHAPTERS).map(later);
    words.map(|words| (words.clone(), AhoCorasick::new(&words).unwrap())).collect()
});

/// Every word that is not known at a chapter.
fn later(chapter: usize) -> Vec<String> {
    let mut words = vec![];
    for kind in KINDS {
        for a in 0..SYLLABLES.len() {
            let pairs = (0..SYLLABLES.len()).filter(|b| a.max(*b) > chapter);
            words.extend(pairs.map(|b| word(kind, a, b).to_lowercase()));
        }
    }
    words
}

/// What the model and the author's row get.
fn answer(setup: &TurnSetup, tool: &str, arguments: &str) -> String {
    let seen = Seen::default();
    match setup.registry.run(&setup.desk(&seen), tool, arguments) {
        Ok(outcome) => {
            assert!(outcome.proposal.is_none());
            format!("{} {:?} {:?}", outcome.result, outcome.evidence, outcome.material)
        }
        Err(error) => format!("{} {error}", error.to_result()),
    }
}

fn check(chapter: usize, open_place: bool, tool: &str, arguments: &str) {
    let known = &KNOWN[chapter - 1];
    let place = usize::from(open_place);
    let whole = answer(&known.whole[place], tool, arguments);
    assert_eq!(
        whole,
        answer(&known.cut[place], tool, arguments),
        "{tool} {arguments} as of chapter {chapter}"
    );
    // What was asked may be repeated; that nothing else of it is told was just compared.
    let (words, automaton) = &LATER[chapter - 1];
    let asked = arguments.to_lowercase();
    for found in automaton.find_overlapping_iter(&whole.to_lowercase()) {
        let word = &words[found.pattern().as_usize()];
        assert!(asked.contains(word), "{word} as of chapter {chapter}: {tool} {arguments}: {whole}");
    }
}

/// A word of the book, also with a slip, cut short, or in a phrase.
fn words() -> impl Strategy<Value = String> {
    let planted = (select(&KINDS[..]), 0..SYLLABLES.len(), 0..SYLLABLES.len())
        .prop_map(|(kind, a, b)| word(kind, a, b));
    let named = (1..=CHAPTERS, 0..=CHAPTERS)
        .prop_map(|(n, m)| if m < n { word("nam", n, n) } else { word("ali", n, m) });
    let slipped = (prop_oneof![planted.clone(), named.clone()], 0..9usize, "[a-z]").prop_map(
        |(mut word, at, letter)| {
            word.replace_range(at..=at, &letter);
            word
        },
    );
    let short = (prop_oneof![planted.clone(), named.clone()], 3..8usize)
        .prop_map(|(word, length)| word[..length].to_owned());
    let place = (1..=CHAPTERS + 2, 0..7usize).prop_map(|(n, form)| match form {
        0 => n.to_string(),
        1 => format!("chapter {n}"),
        2 => format!("ch. {n}"),
        3 => word("tit", n.min(CHAPTERS), n.min(CHAPTERS)),
        4 => format!("manuscript/{n:02}-{}.md", word("ttl", n.min(CHAPTERS), n.min(CHAPTERS)).to_lowercase()),
        5 => format!("{n:02}-{}", word("ttl", n.min(CHAPTERS), n.min(CHAPTERS)).to_lowercase()),
        _ => date(n),
    });
    let common = select(
        &["current", "selection", "there was", "house style", "the", "character", "\u{e9}\u{0}", ""][..],
    );
    let one = prop_oneof![4 => planted, 3 => named, 2 => slipped, 1 => short, 3 => place, 1 => common.prop_map(str::to_owned)];
    prop::collection::vec(one, 1..3).prop_map(|words| words.join(" "))
}

/// A value for a field of a schema: mostly one that fits.
fn value(schema: &Value) -> BoxedStrategy<Value> {
    let of_enum = schema["enum"].as_array().cloned().unwrap_or_default();
    let fitting: BoxedStrategy<Value> = if !of_enum.is_empty() {
        select(of_enum).boxed()
    } else if schema.to_string().contains("\"array\"") {
        prop::collection::vec(words(), 0..4).prop_map(|all| json!(all)).boxed()
    } else if schema.to_string().contains("\"integer\"") {
        (0..40u32).prop_map(|n| json!(n)).boxed()
    } else {
        words().prop_map(Value::from).boxed()
    };
    let odd = select(vec![json!(null), json!(true), json!({"a": 1}), json!([[]]), json!(-1), json!(7)]);
    prop_oneof![8 => fitting, 1 => odd, 1 => words().prop_map(Value::from)].boxed()
}

/// A call of any registered tool, of one that is not offered, or of none; the arguments may be no JSON at all.
fn call() -> impl Strategy<Value = (String, String)> {
    let specs: Vec<(String, Value)> = scritorio::tools::Registry::advisor()
        .specs()
        .map(|spec| (spec.name.to_owned(), spec.parameters.clone()))
        .chain([("read_everything".to_owned(), json!({"properties": {"path": {}}}))])
        .collect();
    let well_formed = select(specs).prop_flat_map(|(tool, schema)| {
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let fields: Vec<BoxedStrategy<(String, Option<Value>)>> = properties
            .into_iter()
            .map(|(name, property)| {
                let given = prop::option::weighted(0.8, value(&property));
                given.prop_map(move |value| (name.clone(), value)).boxed()
            })
            .collect();
        fields.prop_map(move |fields| {
            let fields: Map<String, Value> =
                fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
            (tool.clone(), Value::Object(fields).to_string())
        })
    });
    let broken = (well_formed.clone(), 0..60usize)
        .prop_map(|((tool, arguments), length)| (tool, arguments.chars().take(length).collect()));
    prop_oneof![9 => well_formed, 1 => broken]
}

proptest! {
    #[test]
    fn no_call_tells_a_blind_member_what_comes_later(
        (tool, arguments) in call(),
        chapter in prop_oneof![2 => Just(5), 1 => 1..CHAPTERS],
        open_place in any::<bool>(),
    ) {
        check(chapter, open_place, &tool, &arguments);
    }
}

#[test]
fn every_word_is_asked_of_every_tool_once() {
    let known = &KNOWN[4].whole[0];
    // Of the words that stand nowhere alone every eleventh is enough. Names are all asked, those that were read too, and places.
    let mut all: Vec<String> = later(5).into_iter().step_by(11).collect();
    for n in 1..=CHAPTERS {
        all.extend(["nam", "loc", "evt", "tit"].map(|kind| word(kind, n, n)));
        all.extend((n..=CHAPTERS).map(|m| word("ali", n, m)));
        all.extend([n.to_string(), format!("chapter {n}"), date(n)]);
    }
    all.push("House Style".to_owned());
    for spec in known.registry.specs() {
        for asked in &all {
            let mut arguments = Map::new();
            for (field, may_be_null) in spec.arguments() {
                if field == "entryType" && !may_be_null {
                    arguments.insert(field.to_owned(), json!("character"));
                } else if !may_be_null || field == "ref" {
                    arguments.insert(field.to_owned(), json!(asked));
                }
            }
            check(5, false, spec.name, &Value::Object(arguments).to_string());
        }
    }
}

#[test]
fn what_is_sent_before_any_call_tells_nothing_either() {
    for (chapter, known) in (1..).zip(KNOWN.iter()) {
        for (whole, cut) in known.whole.iter().zip(&known.cut) {
            let sent = |setup: &TurnSetup| setup.provider.body(&first_request(setup)).to_string();
            assert_eq!(sent(whole), sent(cut), "as of chapter {chapter}");
            let sent = sent(whole).to_lowercase();
            assert!(later(chapter).iter().all(|word| !sent.contains(word)), "as of chapter {chapter}");
            assert!(sent.contains(&format!("up to chapter {chapter}")), "{sent}");
        }
    }
}

/// The test above would pass for a member that is told nothing at all.
#[test]
fn what_was_read_is_told() {
    let told =
        answer(&KNOWN[4].whole[0], "get_character_context", &json!({"name": word("ali", 2, 4)}).to_string());
    for known in [
        word("nam", 2, 2),
        word("ali", 2, 5),
        word("fct", 2, 5),
        word("sec", 2, 1),
        word("lin", 2, 3),
        word("dtd", 2, 4),
    ] {
        assert!(told.contains(&known), "{known}: {told}");
    }
    let told = answer(&KNOWN[4].whole[0], "get_manuscript_context", r#"{"ref": 5}"#);
    assert!(told.contains(&word("prz", 5, 5)), "{told}");
    let told = answer(&KNOWN[4].whole[0], "list_codex_entries", r#"{"entryType": "event"}"#);
    assert!(told.contains("\"count\":5"), "{told}");
    // And a member that does not read blind is told everything.
    let mut ask = Ask { persona: Some("continuity-editor".into()), ..Ask::default() };
    ask.question = "Who?".into();
    let told = answer(
        &WHOLE.bench.prepare(&ask).unwrap(),
        "get_character_context",
        &json!({"name": word("nam", 9, 9)}).to_string(),
    );
    assert!(told.contains(&word("ali", 9, 10)) && told.contains(&word("sol", 9, NEVER)), "{told}");
}
