//! Every registered tool, called with anything: nothing is written, nothing panics, and every answer is one that a model can act on.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on has failed")]

#[path = "support/book.rs"]
mod book;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::LazyLock;

use book::Folders;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use scritorio::canon::index::Index;
use scritorio::domain::book::Book;
use scritorio::domain::ids::BookPath;
use scritorio::store::book::read;
use scritorio::tools::desk::Limits;
use scritorio::tools::{Desk, Effect, Material, Registry, Seen, ToolError, ToolSpec};
use serde_json::{Map, Value, json};

static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::advisor);

const SECRET: &str = "outside-canary";

/// Texts that no honest model sends, and some that one does.
const TEXTS: [&str; 46] = [
    "",
    " ",
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\etc\\passwd",
    "C:\\Windows\\System32",
    "\u{ff0e}\u{ff0e}/etc/passwd",
    "%2e%2e/etc/passwd",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    ".git/hooks/pre-commit",
    ".scritorio/proposals.jsonl",
    "codex/outside/99-secret.md",
    "manuscript/99-secret.md",
    "notes/../../outside/99-secret.md",
    "scritorio.toml",
    "CON",
    "nul.md",
    "COM\u{b9}",
    "a\0b",
    "a\nb",
    "\u{1b}[2J\u{7}",
    "\u{202e}evil",
    "\u{feff}x",
    "\u{421}haracter",
    "M\u{456}ra",
    "\u{1F600}",
    "e\u{301}e\u{301}",
    "\u{0645}\u{06CC}\u{0631}\u{0627}",
    "{{genre}} {{nonsense}}",
    "---\nrole: [\n---\n",
    "```\nnever closed",
    "<!-- never closed",
    "# Role\n## Limits",
    "%%",
    "[[",
    "[[Mira Okafor]]",
    "Mira Okafor",
    "Mira",
    "Tobias",
    "character",
    "Voice",
    "Role",
    "soul",
    "append",
    "current",
];

/// A book with links that lead out of it.
fn folders() -> Folders {
    let folders = Folders::new();
    folders.write("../outside/99-secret.md", &format!("# Secret\n\n{SECRET}\n"));
    folders.write(
        "codex/people.md",
        "# Characters\n\n## Tobias\n\nRole: ally\n\n### Voice\n\nWarm.\n\n## Zed\n\n### Voice\n\nCold.\n",
    );
    folders.write("notes/ideas.md", "# Ideas\n\n- one\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("../../outside/99-secret.md", folders.book().join("manuscript/99-secret.md")).unwrap();
        symlink("../../outside", folders.book().join("codex/outside")).unwrap();
        symlink("../../outside/99-secret.md", folders.book().join("notes/secret.md")).unwrap();
    }
    folders
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(&TEXTS[..]).prop_map(str::to_owned),
        2 => "\\PC{0,24}",
        1 => "[#>`*\\-|:\\[\\]{}()%<!\n\r\t a-c]{0,40}",
        1 => (prop::sample::select(&TEXTS[..]), prop::sample::select(&TEXTS[..])).prop_map(|(a, b)| format!("{a} / {b}")),
        1 => (prop::sample::select(&TEXTS[..]), 100_usize..12_000).prop_map(|(a, n)| a.repeat(n / a.len().max(1))),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        8 => text().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::vec((text(), inner.clone()), 0..3)
                .prop_map(|all| Value::Object(all.into_iter().collect())),
            (inner.clone(), inner).prop_map(|(name, value)| json!([{"name": name, "value": value}])),
        ]
    })
}

/// Arguments for a tool: mostly of the right names, each with anything or with a value that its schema allows.
fn arguments(spec: &ToolSpec) -> BoxedStrategy<String> {
    let properties = spec.parameters["properties"].as_object().cloned().unwrap_or_default();
    let each: Vec<BoxedStrategy<Option<(String, Value)>>> = properties
        .into_iter()
        .map(|(name, schema)| {
            let allowed = allowed(&schema);
            let fitting = if allowed.is_empty() {
                text().prop_map(Value::from).boxed()
            } else {
                prop::sample::select(allowed).boxed()
            };
            let honest = prop::sample::select(honest(&name)).boxed();
            let any =
                prop_oneof![12 => honest, 5 => fitting, 2 => value().boxed(), 1 => Just(Value::Null).boxed()];
            prop::option::weighted(0.95, any.prop_map(move |v| (name.clone(), v))).boxed()
        })
        .collect();
    let object =
        each.prop_map(|all| Value::Object(all.into_iter().flatten().collect::<Map<_, _>>()).to_string());
    let deep = (1_usize..2_000, prop::bool::ANY).prop_map(|(n, closed)| {
        let end = if closed { "]".repeat(n) } else { String::new() };
        format!("{{\"name\":{}{end}}}", "[".repeat(n))
    });
    prop_oneof![
        20 => object,
        1 => value().prop_map(|v| v.to_string()),
        1 => deep,
        1 => text(),
        1 => Just("{\"name\":\"\\ud800\"}".to_owned()),
        1 => Just(format!("{{\"name\":\"{}\"}}", "x".repeat(300_000))),
    ]
    .boxed()
}

/// What an honest model might send: only behind such arguments lies the work of a tool.
fn honest(argument: &str) -> Vec<Value> {
    let texts = |all: &[&str]| all.iter().map(|text| json!(text)).collect();
    match argument {
        "entryType" => texts(&["character"]),
        "name" | "source" | "target" => texts(&["Mira Okafor", "Tobias", "Zed", "Hedda"]),
        "targetSection" => {
            texts(&["Voice", "Role", "soul", "aliases", "Habits", "Tobias / Voice", "frontmatter.born"])
        }
        "relationshipType" => texts(&["rival", "sister", "works for"]),
        "mode" => texts(&["replace", "append"]),
        "chapterNumber" => vec![json!(1), json!(7), Value::Null],
        "tags" => vec![json!(["sea"]), json!([]), Value::Null],
        "fields" | "customFields" => {
            vec![json!([{"name": "role", "value": "ally"}]), json!({"age": "5"}), Value::Null]
        }
        "editableMarkdown" => texts(&["Brief.", "## Tone\n\nDry, for {{genre}}."]),
        _ => texts(&["The Lamp", "Words.\n\nMore words.", "- one"]),
    }
}

fn allowed(schema: &Value) -> Vec<Value> {
    let own = schema["enum"].as_array().cloned().unwrap_or_default();
    let below = schema["anyOf"].as_array().into_iter().flatten().flat_map(allowed);
    own.into_iter().chain(below).collect()
}

/// Everything on the disk, the book's own folder included.
fn everything(folders: &Folders) -> BTreeMap<PathBuf, Vec<u8>> {
    folders.files()
}

fn is_well_formed(spec: &ToolSpec, error: &ToolError) {
    let told = error.to_result();
    let message = told["error"]["message"].as_str().unwrap();
    assert!(!message.trim().is_empty() && message.len() < 4_000, "{} {message}", spec.name);
    assert!(!message.contains("inside the program"), "{} {message}", spec.name);
    match error {
        ToolError::Arguments { field: Some(field), .. } => {
            let top = field.split(['.', '[']).next().unwrap();
            assert!(spec.arguments().any(|(name, _)| name == top), "{} {field}", spec.name);
        }
        ToolError::Arguments { field: None, .. } | ToolError::Refused { .. } => {}
        ToolError::Unknown { .. } => panic!("{} is registered", spec.name),
    }
}

/// A proposal is one that could be applied: paths of the book, texts with their hashes, new files that are not there.
fn is_sound(book: &Book, taken: &dyn Fn(&BookPath) -> bool, proposal: &scritorio::proposal::Proposal) {
    assert!(!proposal.files.is_empty());
    assert!(!proposal.summary.contains(char::is_control) && proposal.summary.chars().count() <= 300);
    for file in &proposal.files {
        assert!(!file.path.as_str().split('/').any(|part| part.starts_with('.')), "{}", file.path);
        assert_eq!(file.base_hash, file.base.as_deref().map(scritorio::domain::passage::sha256_hex));
        match &file.base {
            Some(base) => {
                let known =
                    book.document(&file.path).map(|(_, text)| &**text).or(book.settings_text.as_deref());
                assert_eq!(known, Some(base.as_str()), "{}", file.path);
                assert_ne!(file.proposed.as_ref(), Some(base), "{} changes nothing", file.path);
            }
            None => assert!(!taken(&file.path), "{} is there already", file.path),
        }
        assert!(!file.text().contains(SECRET) && !file.text().contains('\0'), "{}", file.path);
    }
    let paths: std::collections::BTreeSet<_> = proposal.files.iter().map(|f| &f.path).collect();
    assert_eq!(paths.len(), proposal.files.len(), "a file stands twice");
}

#[test]
fn no_call_of_any_tool_writes_panics_or_is_left_without_an_answer() {
    let folders = folders();
    let before = everything(&folders);
    let book = read(&folders.book()).unwrap();
    let index = Index::of(&book);
    let mut seen = Seen::default();
    for entry in &book.entries {
        seen.add(&[Material { path: entry.path.clone(), text: entry.text.to_string() }]);
    }
    let current = book.chapters[0].path.clone();
    let desk = Desk {
        book: &book,
        index: &index,
        meaning: None,
        current: Some(&current),
        chapter: None,
        selection: None,
        seen: &seen,
        persona: Some("writing-coach"),
        limits: Limits::default(),
    };
    for spec in REGISTRY.specs() {
        let proposed = Cell::new(0);
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
        let outcome = runner.run(&arguments(spec), |args| {
            match REGISTRY.run(&desk, spec.name, &args) {
                Ok(outcome) => {
                    assert!(
                        outcome.result.is_object() && outcome.result["error"].is_null(),
                        "{}",
                        outcome.result
                    );
                    assert!(!outcome.result.to_string().contains(SECRET));
                    assert!(outcome.proposal.is_none() || spec.effect == Effect::Proposes);
                    if let Some(proposal) = &outcome.proposal {
                        proposed.set(proposed.get() + 1);
                        is_sound(&book, &|path| path.under(&folders.book()).exists(), proposal);
                        assert_eq!(outcome.result["applied"], false);
                        assert_eq!(outcome.result["proposalId"], json!(proposal.id));
                    }
                }
                Err(error) => is_well_formed(spec, &error),
            }
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{}: {e}", spec.name));
        // Behind calls that all fail at their arguments nothing would be tried.
        assert_eq!(proposed.get() > 0, spec.effect == Effect::Proposes, "{}", spec.name);
    }
    assert!(everything(&folders) == before, "a tool has written");
}
