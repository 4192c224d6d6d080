//! Two entries, in every form in which authors write down who is what to whom.

use serde_json::{Value, json};

use crate::domain::codex::Entry;
use crate::proposal::change;
use crate::tools::testing::{Shelf, call};
use crate::tools::{Outcome, ToolError};

const MIRA: &str = "---\ntype: character\nname: Mira Okafor\naliases: [Mira]\nrelationships:\n  - character: Adrian Vale # the old man\n    type: captain\nborn: 2281   # keep\n---\n\n# Mira Okafor\n\nShe listens.\n";
const TOBIAS: &str = "---\ntype: character\nname: Tobias Okafor\n---\n\n# Tobias Okafor\n\nHer brother.\n\n## Connections\n\n* Kostas Leventis: teacher\n\n## Voice\n\nWarm.\n";
const VALE: &str = "# Adrian Vale\r\n\r\nHe commands.\r\n";

fn shelf() -> Shelf {
    Shelf::new()
        .entry("codex/characters/mira-okafor/dossier.md", MIRA)
        .entry("codex/characters/tobias-okafor.md", TOBIAS)
        .entry("codex/characters/adrian-vale.md", VALE)
}

fn relate(shelf: &Shelf, source: &str, target: &str, kind: &str, words: &str) -> Result<Outcome, ToolError> {
    let args = json!({"source": source, "target": target, "relationshipType": kind, "description": words});
    call(&shelf.desk(), "propose_relationship", &args)
}

fn files(outcome: &Outcome) -> Vec<(String, String)> {
    let files = &outcome.proposal.as_ref().unwrap().files;
    files.iter().map(|f| (f.path.to_string(), f.text().to_owned())).collect()
}

#[test]
fn both_entries_get_it_each_in_its_own_form() {
    let outcome =
        relate(&shelf(), "Mira Okafor", "Tobias Okafor", "brother", "He writes\nevery Sunday.").unwrap();
    let mira = MIRA.replace(
        "captain\n",
        "captain\n  - character: Tobias Okafor\n    type: brother\n    description: He writes every Sunday.\n",
    );
    let tobias = TOBIAS.replace("teacher\n", "teacher\n* Mira Okafor: sibling. He writes every Sunday.\n");
    assert_eq!(
        files(&outcome),
        [
            ("codex/characters/mira-okafor/dossier.md".to_owned(), mira),
            ("codex/characters/tobias-okafor.md".to_owned(), tobias)
        ]
    );
    assert_eq!(outcome.proposal.unwrap().warnings, [""; 0]);
}

#[test]
fn an_entry_without_such_a_place_gets_a_section_in_its_own_line_ends() {
    let outcome = relate(&shelf(), "Adrian Vale", "Tobias Okafor", "handler", "").unwrap();
    assert_eq!(
        files(&outcome)[0].1,
        format!("{VALE}\r\n## Relationships\r\n\r\n- Tobias Okafor: handler\r\n")
    );
    assert!(files(&outcome)[1].1.contains("* Adrian Vale: handler of\n"));
}

#[test]
fn the_book_links_as_it_does_already() {
    let by_name = shelf().note("notes/a.md", "See [[Mira Okafor]].");
    let outcome = relate(&by_name, "Adrian Vale", "Tobias Okafor", "rival", "").unwrap();
    assert!(files(&outcome)[0].1.ends_with("- [[Tobias Okafor]]: rival\r\n"));
    assert!(files(&outcome)[1].1.contains("* [[Adrian Vale]]: rival\n"));
    let by_file = shelf().note("notes/a.md", "See [[mira-okafor]] and [[codex/characters/adrian-vale|him]].");
    let outcome = relate(&by_file, "Adrian Vale", "Mira", "rival", "").unwrap();
    assert!(
        files(&outcome)[0].1.ends_with("- [[mira-okafor|Mira Okafor]]: rival\r\n"),
        "{:?}",
        files(&outcome)
    );
    assert!(
        files(&outcome)[1].1.contains("  - character: Adrian Vale\n    type: rival\n"),
        "its own form is plain"
    );
}

#[test]
fn lists_of_every_shape_grow_by_one_of_the_same_shape() {
    for (list, item) in [
        (
            "  - who: \"[[Ada]]\"\n    kind: aunt\n    notes: old\n",
            "  - who: \"[[Mira Okafor]]\"\n    kind: rival\n    notes: Since school.\n",
        ),
        (
            "  - {target: Ada, type: aunt}\n",
            "  - {target: Mira Okafor, type: rival, description: Since school.}\n",
        ),
        ("  - Ada: aunt\n", "  - Mira Okafor: rival\n"),
        ("  - \"[[Ada]]: aunt\"\n", "  - \"[[Mira Okafor]]: rival. Since school.\"\n"),
        ("  - Ada (aunt)\n", "  - Mira Okafor (rival). Since school.\n"),
    ] {
        let text = format!("---\nname: Juno Pask\nRelationships:\n{list}# end\n---\nText\n");
        let shelf = shelf().entry("codex/characters/juno.md", &text).note("notes/n.md", "[[Mira Okafor]]");
        let outcome = relate(&shelf, "Juno Pask", "Mira Okafor", "rival", "Since school.").unwrap();
        assert_eq!(files(&outcome)[0].1, text.replace(list, &format!("{list}{item}")));
    }
}

#[test]
fn what_is_recorded_already_is_refused_with_its_place() {
    let mut shelf = shelf();
    let outcome = relate(&shelf, "Mira", "Tobias Okafor", "brother", "").unwrap();
    let [mira, tobias] = [0, 1].map(|at| files(&outcome)[at].1.clone());
    for (half, changed) in [(vec![("mira", &mira)], "tobias"), (vec![("tobias", &tobias)], "mira")] {
        let shelf = with(&half);
        let outcome = relate(&shelf, "Mira", "Tobias Okafor", "Brother", "").unwrap();
        assert_eq!(files(&outcome).len(), 1);
        assert!(files(&outcome)[0].0.contains(changed));
        assert!(outcome.proposal.unwrap().warnings[0].contains("already"));
    }
    shelf.book = with(&[("mira", &mira), ("tobias", &tobias)]).book;
    for (source, target, kind) in [("Mira", "Tobias Okafor", "brother"), ("Tobias Okafor", "Mira", "sibling")]
    {
        let told = relate(&shelf, source, target, kind, "x");
        if kind == "brother" {
            let told = told.unwrap_err().to_result();
            assert!(told["error"]["message"].as_str().unwrap().contains("dossier.md, line 5"), "{told}");
            assert_eq!(told["error"]["details"]["recorded"].as_array().unwrap().len(), 2);
        }
    }
    let outcome = relate(&shelf, "Mira", "Tobias Okafor", "rival", "").unwrap();
    assert!(outcome.proposal.unwrap().warnings.iter().any(|w| w.contains("`brother` already")));
}

fn with(texts: &[(&str, &String)]) -> Shelf {
    let text = |name: &str, old: &str| {
        texts.iter().find(|(n, _)| *n == name).map_or(old.to_owned(), |(_, t)| (*t).clone())
    };
    Shelf::new()
        .entry("codex/characters/mira-okafor/dossier.md", &text("mira", MIRA))
        .entry("codex/characters/tobias-okafor.md", &text("tobias", TOBIAS))
}

#[test]
fn an_entry_that_is_unknown_or_may_be_several_gives_an_error_that_helps() {
    let shelf = shelf();
    let told = |source: &str, target: &str| {
        relate(&shelf, source, target, "rival", "").unwrap_err().to_result()["error"].clone()
    };
    assert_eq!(told("Mira Okafro", "Adrian Vale")["details"]["near"][0], "Mira Okafor");
    assert_eq!(told("Adrian Vale", "Zanzibar")["details"]["field"], "target");
    assert_eq!(told("Okafor", "Adrian Vale")["details"]["candidates"].as_array().unwrap().len(), 2);
    assert_eq!(told("Mira", "Mira Okafor")["field"], "target");
    assert_eq!(told("", "Mira Okafor")["field"], "source");
    for kind in ["", "...", "a: b", "x".repeat(99).as_str(), "[[x]]", "a\0"] {
        let told = relate(&shelf, "Mira", "Adrian Vale", kind, "").unwrap_err().to_result();
        assert_eq!(told["error"]["field"], "relationshipType", "{kind:?}");
    }
    let told = relate(&shelf, "Mira", "Adrian Vale", "rival", &"x".repeat(700)).unwrap_err().to_result();
    assert_eq!(told["error"]["field"], "description");
}

#[test]
fn a_frontmatter_that_can_not_be_read_is_refused_with_what_to_do() {
    let text = "---\nname: Juno Pask\nrelationships:\n  - {who: A, type: b\n---\n";
    let twice = "---\nname: Juno Pask\nrelationships:\n  - who: A\n    type: b\nname: x\n---\n";
    for text in [text, twice] {
        let shelf = shelf().entry("codex/characters/juno.md", text);
        if let Err(error) = relate(&shelf, "Juno Pask", "Mira", "rival", "") {
            assert!(error.to_string().contains("line"), "{error}");
        }
    }
}

/// Two entries below headings of one file.
fn one_file() -> (Shelf, &'static str) {
    const FILE: &str = "# People\n\n## Mira\n\nListens.\n\n### Relationships\n\n- Ada: aunt\n\n---\n\n## Tobias\n\nSings.\n\n## Zed\n\n### Relationships\n\n- Ada: aunt\n";
    let mut shelf = Shelf::new().entry("codex/characters.md", FILE);
    let whole = shelf.book.entries.remove(0);
    let sections = change::sections(FILE);
    shelf.book.entries = ["Mira", "Tobias", "Zed"]
        .into_iter()
        .map(|name| Entry {
            name: name.into(),
            heading: Some(name.into()),
            body: sections.iter().find(|s| s.heading == name).unwrap().content.clone(),
            ..whole.clone()
        })
        .collect();
    (shelf, FILE)
}

#[test]
fn one_file_that_holds_both_is_one_change_and_the_others_in_it_are_left_alone() {
    let (shelf, file) = one_file();
    let expected = file
        .replacen("- Ada: aunt\n", "- Ada: aunt\n- Tobias: brother\n", 1)
        .replace("Sings.\n", "Sings.\n\n### Relationships\n\n- Mira: sibling\n");
    let outcome = relate(&shelf, "Mira", "Tobias", "brother", "").unwrap();
    assert_eq!(files(&outcome), [("codex/characters.md".to_owned(), expected)]);
    let outcome = relate(&shelf, "Tobias", "Mira", "sister", "").unwrap();
    let expected = file
        .replacen("- Ada: aunt\n", "- Ada: aunt\n- Tobias: sibling\n", 1)
        .replace("Sings.\n", "Sings.\n\n### Relationships\n\n- Mira: sister\n");
    assert_eq!(files(&outcome)[0].1, expected);
}

#[test]
fn what_was_proposed_reads_as_the_same_relationship() {
    let value: Value =
        json!({"source": "Adrian Vale", "target": "Mira", "relationshipType": "rival", "description": ""});
    let shelf = shelf();
    let outcome = call(&shelf.desk(), "propose_relationship", &value).unwrap();
    let [captain, officer] = [0, 1].map(|at| files(&outcome)[at].1.clone());
    let again = Shelf::new()
        .entry("codex/characters/mira-okafor/dossier.md", &officer)
        .entry("codex/characters/adrian-vale.md", &captain);
    assert!(call(&again.desk(), "propose_relationship", &value).is_err());
}
