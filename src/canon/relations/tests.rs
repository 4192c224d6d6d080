//! Every form in which authors state relationships.

use super::*;
use crate::canon::shelf::{With, book, entry};
use crate::domain::codex::Entry;

fn with_text(entry: Entry, text: &str) -> Entry {
    let start = crate::domain::frontmatter::split(text).body_start;
    let whole = entry.text(text);
    let end = whole.text.len();
    Entry { body: start..end, ..whole }
}

/// What Adrian Vale says, in a small Codex, as `target | kind | description | line`.
fn said(text: &str) -> Vec<String> {
    let book = book(vec![
        with_text(entry("characters/adrian-vale.md", "Adrian Vale"), text),
        entry("characters/mira-okafor.md", "Mira Okafor").aliases(&["Mira"]),
        entry("characters/tobias-okafor.md", "Tobias Okafor"),
        entry("locations/port-amity.md", "Port Amity"),
        entry("organizations/relay.md", "Relay Authority"),
        entry("characters/hope.md", "Hope"),
    ]);
    statements_of(&book, 0)
        .into_iter()
        .map(|s| {
            let name = match s.target {
                Target::Entry(at) => book.entries[at].name.clone(),
                Target::Unknown(name) => format!("?{name}"),
            };
            format!(
                "{name} | {} | {} | {}",
                s.kind.unwrap_or_default(),
                s.description.unwrap_or_default(),
                s.line
            )
        })
        .collect()
}

#[test]
fn frontmatter_lists_are_read_in_their_usual_forms() {
    let table: [(&str, &[&str]); 9] = [
        (
            "---\nrelationships:\n  - character: Mira\n    type: signals officer; owed\n  - character: \"[[Ghost]]\"\n    type: ghost\n---\n",
            &["Mira Okafor | signals officer; owed |  | 3", "?Ghost | ghost |  | 5"],
        ),
        (
            "---\nrelations:\n- {name: Tobias Okafor, relation: friend, description: an old one}\n---\n",
            &["Tobias Okafor | friend | an old one | 3"],
        ),
        (
            "---\nrelationships: [\"[[Mira Okafor]] (sister)\", \"[[tobias-okafor|Toby]]: foe. For years\"]\n---\n",
            &["Mira Okafor | sister |  | 2", "Tobias Okafor | foe | For years | 2"],
        ),
        (
            "---\nrelationships:\n  Mira: sister\n  Old Abe: teacher\n  allies: [Tobias Okafor]\n---\n",
            &["Mira Okafor | sister |  | 3", "?Old Abe | teacher |  | 4", "Tobias Okafor | ally |  | 5"],
        ),
        (
            "---\nrelationships:\n  Mira:\n    type: sister\n    notes: older\n---\n",
            &["Mira Okafor | sister | older | 3"],
        ),
        (
            "---\nbirthplace: \"[[Port Amity]]\"\nspouse: Hope\nmember_of: Relay Authority\nmood: Hope\nsloop: '[[Port Amity]]'\n---\n",
            &[
                "Port Amity | birthplace |  | 2",
                "Hope | spouse |  | 3",
                "Relay Authority | member of |  | 4",
                "Port Amity | sloop |  | 6",
            ],
        ),
        (
            "---\nallies:\n  - \"[[Mira]]\"\n  - Tobias Okafor\n---\n",
            &["Mira Okafor | ally |  | 3", "Tobias Okafor | ally |  | 4"],
        ),
        (
            "+++\nrelationships = [{ character = 'Mira', type = 'sister' }]\n+++\n",
            &["Mira Okafor | sister |  | 2"],
        ),
        ("---\nrelationships: none\nchapters: ['[[Mira]]']\nname: '[[Mira]]'\n---\n", &[]),
    ];
    for (text, expected) in table {
        assert_eq!(said(text), expected, "{text}");
        assert_eq!(said(&text.replace('\n', "\r\n")), expected, "CRLF: {text}");
    }
}

#[test]
fn lines_under_a_relationship_heading_are_read() {
    let text = "# Adrian Vale\n\nOften with [[Port Amity]].\n\n## Relationships\n\n- [[Mira Okafor]]: sister. Keeps the log\n- Mira Okafor, his sister\n* **Tobias Okafor**: cannot decide whether to kiss his hands.\n- [[Hope]] and [[Ghost]] (friends)\n- Old Abe: teacher\nHe met [[Relay Authority]] people.\n\n### Enemies\n- Tobias Okafor\n\n```\n- [[Hope]]: foe\n```\n\n## Voice\n\n- [[Port Amity]]: home\n";
    assert_eq!(
        said(text),
        [
            "Mira Okafor | sister | Keeps the log | 7",
            "Mira Okafor | sister |  | 8",
            "Tobias Okafor |  | cannot decide whether to kiss his hands. | 9",
            "Hope | friends |  | 10",
            "?Ghost | friends |  | 10",
            "?Old Abe | teacher |  | 11",
            "Relay Authority |  | He met Relay Authority people. | 12",
            "Tobias Okafor | enemy |  | 15",
        ]
    );
}

#[test]
fn groups_tables_fields_and_headings_that_name_somebody_are_read() {
    assert_eq!(
        said("## Relations\n- [Mira](../characters/mira-okafor.md) - sister. Older\n"),
        ["Mira Okafor | sister | Older | 2"]
    );
    assert_eq!(
        said("## Family\n- sister: [[Mira]]\n- [[Tobias Okafor]]\n"),
        ["Mira Okafor | sister |  | 2", "Tobias Okafor | family |  | 3"]
    );
    assert_eq!(
        said("## Connections\n| who | what |\n| --- | --- |\n| [[mira-okafor\\|Mira]] | sister | older |\n"),
        ["Mira Okafor | sister | older | 4"]
    );
    assert_eq!(
        said("Ship:: [[Port Amity]]\n- **Spouse:** Hope\nMood: Hope\nHe said: [[Mira]]\n"),
        ["Port Amity | ship |  | 1", "Hope | spouse |  | 2"]
    );
    assert_eq!(
        said("## Relationships\n\n### [[Mira]]\n\nHis sister, and the better engineer.\n"),
        ["Mira Okafor | sister | and the better engineer. | 5"]
    );
}

#[test]
fn a_key_in_the_authors_language_means_what_the_settings_say() {
    let text = "---\nBeziehungen:\n  Mira: Schwester\n---\n";
    let mut book =
        book(vec![with_text(entry("characters/a.md", "Ana"), text), entry("characters/mira.md", "Mira")]);
    assert_eq!(statements(&book), []);
    book.settings.codex_keys.insert("Beziehungen".into(), "relationships".into());
    assert_eq!(statements(&book)[0].kind.as_deref(), Some("Schwester"));
}

#[test]
fn nobody_has_a_relationship_with_oneself_and_one_statement_counts_once() {
    assert_eq!(said("---\nspouse: Adrian Vale\nally: Mira\n---\n"), ["Mira Okafor | ally |  | 3"]);
    assert_eq!(said("---\nallies: [Mira, Mira]\n---\n").len(), 1);
}

#[test]
fn entries_that_share_a_file_have_each_their_own() {
    let text =
        "---\nallies: [Mira Okafor]\n---\n# Juno\n## Relationships\n- [[Mira Okafor]]: friend\n# Bess\nx\n";
    let from = text.find("# Juno").unwrap() + 7;
    let to = text.find("# Bess").unwrap();
    let juno = Entry {
        body: from..to,
        heading: Some("Juno".into()),
        ..entry("characters/people.md", "Juno").text(text)
    };
    let juno = Entry { body: from..to, ..juno };
    let bess = Entry {
        body: to + 7..text.len(),
        heading: Some("Bess".into()),
        ..entry("characters/people.md", "Bess").text(text)
    };
    let bess = Entry { body: to + 7..text.len(), ..bess };
    let book = book(vec![juno, bess, entry("characters/mira.md", "Mira Okafor")]);
    let found = statements(&book);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].source, &found[0].target, found[0].line), (0, &Target::Entry(2), 6));
    assert_eq!(Graph::of(&book).nodes[0].id, "codex/characters/people.md#Juno");
}

fn small_graph() -> (Book, Graph) {
    let book = book(vec![
        with_text(
            entry("characters/a.md", "Ana"),
            "---\nsister: Bea\nenemy: Cid\nhome: \"[[Dove]]\"\nrelationships: [{name: \"Eve \\\"the \\\\ cat\\\"\", type: x}]\n---\n",
        ),
        with_text(entry("characters/b.md", "Bea"), "---\nbrother: Ana\nfriend: Cid\n---\n"),
        entry("characters/c.md", "Cid"),
        entry("locations/d.md", "Dove"),
        entry("characters/z.md", "Zoe"),
    ]);
    let graph = Graph::of(&book);
    (book, graph)
}

#[test]
fn both_directions_of_a_relationship_are_one_edge() {
    let (_, graph) = small_graph();
    let names: Vec<_> = graph.nodes.iter().map(|n| n.name.as_str()).collect();
    assert_eq!(names, ["Ana", "Bea", "Cid", "Dove", "Eve \"the \\ cat\""]);
    let edge = &graph.edges[0];
    assert_eq!((edge.from, edge.to), (0, 1));
    assert_eq!(
        (edge.said[0].kind.as_deref(), edge.back[0].kind.as_deref()),
        (Some("sister"), Some("brother"))
    );
    assert_eq!(graph.edges.len(), 5);
}

#[test]
fn neighbours_stand_in_circles_and_say_what_they_are_from_either_side() {
    let (_, graph) = small_graph();
    let rows = |node: usize| {
        graph
            .neighbours(node)
            .iter()
            .map(|n| format!("{}: {} {}", n.circle.as_str(), graph.nodes[n.node].name, n.words()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        rows(0),
        [
            "family: Bea sister",
            "enemies and rivals: Cid enemy",
            "places: Dove home",
            "not in the Codex: Eve \"the \\ cat\" x"
        ]
    );
    assert_eq!(rows(2), ["friends and allies: Bea ← friend", "enemies and rivals: Ana ← enemy"]);
}

#[test]
fn a_part_of_the_graph_goes_as_far_as_asked() {
    let (book, mut graph) = small_graph();
    let names = |graph: &Graph| graph.nodes.iter().map(|n| n.name.clone()).collect::<Vec<_>>();
    let dove = graph.place("codex/locations/d.md").unwrap();
    assert_eq!(names(&graph.around(dove, 0)), ["Dove"]);
    assert_eq!(names(&graph.around(dove, 1)), ["Ana", "Dove"]);
    assert_eq!(graph.around(dove, 2).nodes.len(), 5);
    assert_eq!(
        graph.around(dove, 2).edges.len(),
        4,
        "what two at the rim say of each other is a step further"
    );
    assert_eq!(graph.around(dove, 3).edges.len(), 5);
    let alone = graph.with_entry(&book, 4).unwrap();
    assert_eq!(names(&graph.around(alone, 3)), ["Zoe"]);
    assert_eq!(graph.with_entry(&book, 4), Some(alone));
}

#[test]
fn dot_is_escaped() {
    let (_, graph) = small_graph();
    let dot = graph.to_dot("The \"Book\"\n");
    assert!(dot.starts_with("digraph \"The \\\"Book\\\" \" {\n"), "{dot}");
    assert!(dot.contains("label=\"Eve \\\"the \\\\ cat\\\"\""), "{dot}");
    assert!(dot.contains("  n0 -> n1 [label=\"sister\"];\n  n1 -> n0 [label=\"brother\"];\n"), "{dot}");
    assert!(dot.ends_with("}\n"));
}

proptest::proptest! {
    #[test]
    fn any_entry_can_be_read(text in "(---\n|relationships|allies|: |- |\\[\\[|\\]\\]|Mira|\\(|\\)|\n|\r\n|# |## Relationships\n|\\||, |é|::|\\*\\*|\\{|\\}|\\[|\\]|\"){0,24}") {
        said(&text);
    }
}

#[test]
fn a_parenthesis_in_the_words_stays_whole() {
    assert_eq!(
        said(
            "# Adrian\n\n## Relationships\n\n- [[Mira Okafor]] - sister (dead)\n- [[Hope]]: uncle (by marriage)\n- Tobias Okafor (friend)\n"
        ),
        [
            "Mira Okafor | sister (dead) |  | 5",
            "Hope | uncle (by marriage) |  | 6",
            "Tobias Okafor | friend |  | 7"
        ]
    );
}
