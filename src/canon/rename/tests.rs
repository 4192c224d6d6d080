//! Names in every form, and what only looks like one.

use super::*;
use crate::canon::shelf::{With, chapter, entry};
use crate::domain::frontmatter;

fn cast(prose: &str) -> Book {
    let body = "He is a captain. His coat is his own.";
    Book {
        chapters: vec![chapter("manuscript/01.md", 1, "One", prose)],
        entries: vec![
            Entry { body: 0..body.len(), ..entry("characters/vale.md", "Adrian Vale").text(body) }
                .title("Captain")
                .aliases(&["the Captain", "Old Vale"]),
            entry("characters/mira-okafor.md", "Mira Okafor").aliases(&["Miss Okafor"]),
            entry("characters/tobias.md", "Tobias Okafor"),
            entry("characters/will.md", "Will Stone"),
            entry("characters/jones.md", "Ann Jones"),
            entry("locations/street.md", "Vale Street"),
            entry("locations/cistern.md", "The Cistern"),
            entry("locations/lantern.md", "Lantern"),
            entry("items/halcyon.md", "Halcyon"),
            entry("events/arrival.md", "Arrival at Lantern"),
        ],
        ..Book::default()
    }
}

/// The prose with every chosen place changed, and the places that are not: `words: reason`.
fn renamed(prose: &str, old: &str, new: &str) -> (String, Vec<String>) {
    let book = cast(prose);
    let found = match find(&book, old, new, &[]) {
        Ok(found) => found,
        Err(RenameError::Nowhere { .. }) => return (prose.to_owned(), vec![]),
        Err(error) => panic!("{error}"),
    };
    let path = BookPath::new("manuscript/01.md").unwrap();
    let (files, refused) = file_edits(&book, &found, &found.chosen());
    assert_eq!(refused, [""; 0]);
    let text = files.into_iter().find(|f| f.path == path).and_then(|f| f.after);
    let doubts = found.places.iter().filter(|p| p.path == path && !p.chosen);
    let doubts = doubts.map(|p| format!("{}: {}", p.text, p.doubt.clone().unwrap_or_default())).collect();
    (text.unwrap_or_else(|| prose.to_owned()), doubts)
}

#[track_caller]
fn becomes(old: &str, new: &str, table: &[(&str, &str)]) {
    for (prose, expected) in table {
        let (text, doubts) = renamed(prose, old, new);
        assert_eq!(text, *expected, "{prose:?} {doubts:?}");
    }
}

#[track_caller]
fn doubted(old: &str, new: &str, table: &[(&str, &str)]) {
    for (prose, reason) in table {
        let (text, doubts) = renamed(prose, old, new);
        assert_eq!(text, *prose, "{doubts:?}");
        assert!(doubts.iter().any(|doubt| doubt.contains(reason)), "{prose:?} {doubts:?}");
    }
}

#[test]
fn a_person_is_renamed_in_every_form() {
    becomes(
        "Adrian Vale",
        "Julian Ross",
        &[
            ("Adrian Vale’s mug, and Captain Vale's.", "Julian Ross’s mug, and Captain Ross's."),
            ("the Vales, the Vales’ house", "the Rosses, the Rosses’ house"),
            ("CAPTAIN VALE: Yes. ADRIAN VALE.", "CAPTAIN ROSS: Yes. JULIAN ROSS."),
            ("Adrian\nVale came; Adrian\r\nVale.", "Julian\nRoss came; Julian\r\nRoss."),
            ("**Adrian** Vale and *Adrian Vale* and _Vale_", "**Julian** Ross and *Julian Ross* and _Ross_"),
            ("Vale, Adrian; A. Vale; Vale, A.", "Ross, Julian; J. Ross; Ross, J."),
            ("a Vale-like silence, pre-Vale", "a Ross-like silence, pre-Ross"),
            ("“Vale?” said Mr. Vale. Dr. Vale!", "“Ross?” said Mr. Ross. Dr. Ross!"),
            ("Vale\u{a0}is here—Vale is—", "Ross\u{a0}is here—Ross is—"),
            ("But Vale said so, but when. When Vale", "But Ross said so, but when. When Ross"),
            ("Adrian'll go; Adrian’d say", "Julian'll go; Julian’d say"),
            ("Adrian I like. Vale I don't.", "Julian I like. Ross I don't."),
            ("Old Vale slept.", "Old Ross slept."),
            ("> said Adrian\n> Vale", "> said Julian\n> Ross"),
            ("Valentine, Adriana, valet, Valerie, Adrianne", "Valentine, Adriana, valet, Valerie, Adrianne"),
            ("Adrian\n\nVale", "Julian\n\nRoss"),
        ],
    );
}

#[test]
fn what_could_be_somebody_else_is_listed_with_the_reason() {
    doubted(
        "Adrian Vale",
        "Julian Ross",
        &[
            ("down Vale Street again", "part of the name of Vale Street"),
            ("down Vale Road again", "`Vale Road` may be somebody or something else"),
            ("and Hedda Vale came", "`Hedda Vale` may be"),
            ("Hedda Vale came", "`Hedda Vale` may be"),
            ("said Mrs. Vale", "`Mrs. Vale` is hardly the same person"),
            ("a Smith-Vale, a Vale-Smith", "part of `"),
            ("this vale of tears", "in small letters"),
            ("see `Vale` there", "inside code"),
            ("```\nVale\n```", "inside code"),
            ("at https://vale.example/Vale now", "inside an address"),
            ("write to @Vale", "inside an address"),
            ("about #Vale", "a tag"),
            ("signed A. V.", "initials"),
            ("with Adrian Mole", "`Adrian Mole` may be"),
        ],
    );
    doubted(
        "Mira Okafor",
        "Nora Lind",
        &[
            ("and Okafor came", "Tobias Okafor bears this name, too"),
            ("the Okafors", "Tobias Okafor bears this name, too"),
            ("and Tobias Okafor", "part of the name of Tobias Okafor"),
            ("see [[Tobias Okafor]]", "a link to Tobias Okafor"),
            ("said Okaffor.", "perhaps a slip of the pen for `Okafor`"),
        ],
    );
    doubted(
        "Will Stone",
        "Ben Clay",
        &[("He will. Will you?", "an ordinary word, too, and it begins a sentence")],
    );
    becomes(
        "Will Stone",
        "Ben Clay",
        &[("He will ask Will.", "He will ask Ben."), ("Will Stone", "Ben Clay")],
    );
    becomes("Mira Okafor", "Nora Lind", &[("Miss Okafor. M. Okafor.", "Miss Lind. N. Lind.")]);
}

#[test]
fn possessives_and_plurals_follow_the_new_name() {
    becomes(
        "Ann Jones",
        "Eve Hart",
        &[
            ("Ann Jones’ hat. Jones's hat. the Joneses", "Eve Hart’s hat. Hart's hat. the Harts"),
            ("ANN JONES", "EVE HART"),
        ],
    );
    becomes("Adrian Vale", "Ann Finch", &[("Vale's, the Vales", "Finch's, the Finches")]);
}

#[test]
fn names_of_other_lengths_take_each_others_place() {
    becomes("Adrian Vale", "Crane", &[("Adrian Vale, Captain Vale", "Crane, Captain Crane")]);
    becomes(
        "Adrian Vale",
        "Jan van Dyck",
        &[("Adrian Vale’s. Captain Vale. Adrian.", "Jan van Dyck’s. Captain van Dyck. Jan.")],
    );
    becomes("Adrian Vale", "Jan Crane", &[("the **Adrian** Vale", "the **Jan** Crane")]);
    becomes("Halcyon", "Grey Heron", &[("*Halcyon*’s HALCYON", "*Grey Heron*’s GREY HERON")]);
    becomes("Vale Street", "Broadway", &[("on **Vale** Street,", "on **Broadway**,")]);
    doubted("Adrian Vale", "Crane", &[("with Adrian", "no first name in place of `Adrian`")]);
}

#[test]
fn articles_come_and_go_with_the_name() {
    becomes("The Cistern", "The Pool", &[("The Cistern, the Cistern", "The Pool, the Pool")]);
    becomes(
        "The Cistern",
        "Blackwater",
        &[("The Cistern. In the Cistern’s dark", "Blackwater. In Blackwater’s dark")],
    );
    becomes(
        "Halcyon",
        "The Heron",
        &[(
            "Halcyon sails. On Halcyon, the *Halcyon* and our Halcyon",
            "The Heron sails. On the Heron, the *Heron* and our Heron",
        )],
    );
    becomes(
        "Lantern",
        "Beacon",
        &[(
            "At Lantern. [[Arrival at Lantern]]. L-A-N-T-E-R-N",
            "At Beacon. [[Arrival at Lantern]]. L-A-N-T-E-R-N",
        )],
    );
}

#[test]
fn any_words_can_be_changed() {
    becomes(
        "grey coat",
        "blue coat",
        &[("Grey coats. A grey coat, a GREY COAT", "Blue coats. A blue coat, a BLUE COAT")],
    );
    becomes("nineteen", "twenty", &[("Nineteen of nineteen, nineteenth", "Twenty of twenty, nineteenth")]);
    becomes("Mira", "Nora", &[("Mira Okafor and Mira’s", "Nora Okafor and Nora’s")]);
    becomes(
        "Okafor",
        "Lind",
        &[("Mira Okafor, [[Tobias Okafor]], the Okafors", "Mira Lind, [[Tobias Lind]], the Linds")],
    );
    becomes("Bram Tully", "Rolf Tully", &[("Bram Tully tried", "Rolf Tully tried")]);
    doubted("Bram Tully", "Rolf Tully", &[("people like Bram", "the Codex has no Bram Tully")]);
    becomes("田中", "山本", &[("昨日田中さんは来た。", "昨日山本さんは来た。")]);
}

#[test]
fn links_keep_what_they_show_and_lead_to_the_new_name() {
    becomes(
        "Mira Okafor",
        "Nora Lind",
        &[
            (
                "[[Mira Okafor]], [[Mira Okafor|the girl]], [[Mira Okafor|Mira]]",
                "[[Nora Lind]], [[Nora Lind|the girl]], [[Nora Lind|Nora]]",
            ),
            ("[[mira-okafor]] [[mira-okafor|Mira]]", "[[mira-okafor]] [[mira-okafor|Nora]]"),
            ("[Mira](people/mira-okafor.md)", "[Nora](people/mira-okafor.md)"),
            ("![[Mira Okafor#Voice]]", "![[Nora Lind#Voice]]"),
        ],
    );
}

#[test]
fn the_frontmatter_is_still_what_it_was_with_the_new_name_in_it() {
    let front = |text: &str, new: &str| {
        let mut book = cast("");
        book.entries[0] =
            Entry { body: text.len()..text.len(), ..entry("characters/vale.md", "Adrian Vale").text(text) };
        let found = find(&book, "Adrian Vale", new, &[]).unwrap();
        let (files, refused) = file_edits(&book, &found, &found.chosen());
        let by_hand = found.places.iter().filter(|p| p.by_hand).count();
        let after = files.into_iter().find_map(|f| f.after).unwrap_or_else(|| text.to_owned());
        (after, by_hand + refused.len())
    };
    let text = "---\nname: \"Adrian Vale\"\nalso: 'Adrian Vale'\nplain: Adrian Vale\nVale: x\n# Vale\n---\n";
    let (after, by_hand) = front(text, "Ann \"O'Dee\"");
    assert_eq!(by_hand, 0);
    let fields = frontmatter::parse(&after);
    assert_eq!(fields.problems, []);
    for key in ["name", "also", "plain"] {
        assert_eq!(fields.fields[key], "Ann \"O'Dee\"", "{after}");
    }
    assert_eq!(fields.fields["Vale"], "x", "a key is no name");
    let (after, by_hand) = front(text, "Ann: the Cat");
    assert!(after.contains("plain: Adrian Vale\n") && by_hand > 0, "{after}");
    assert_eq!(frontmatter::parse(&after).problems, []);
    let list = "---\nname: Adrian Vale\naliases:\n  - Adrian\n  - Vale\nx: [Vale, Adrian]\n---\n";
    let (after, _) = front(list, "Ann Dee");
    assert_eq!(
        after,
        list.replace("Adrian Vale", "Ann Dee")
            .replace("- Adrian", "- Ann")
            .replace("- Vale", "- Dee")
            .replace("[Vale, Adrian]", "[Dee, Ann]")
    );
}

#[test]
fn every_text_of_the_book_is_looked_at_once() {
    let mut book = cast("Vale.");
    let shared = "# Adrian\nVale\n# Bess\nVale\n";
    book.entries
        .push(Entry { heading: Some("Adrian".into()), ..entry("characters/people.md", "X").text(shared) });
    book.entries
        .push(Entry { heading: Some("Bess".into()), ..entry("characters/people.md", "Y").text(shared) });
    book.notes.push(crate::domain::book::Note {
        path: BookPath::new("notes/a.md").unwrap(),
        title: "a".into(),
        tags: vec![],
        text: "Vale".into(),
    });
    let found = find(&book, "Adrian Vale", "Ann Dee", &[]).unwrap();
    let rows: Vec<_> = found.places.iter().map(|p| format!("{}:{}", p.path, p.line)).collect();
    let expected = [
        "manuscript/01.md:1",
        "codex/characters/people.md:1",
        "codex/characters/people.md:2",
        "notes/a.md:1",
        // What may be another one comes after all that is sure.
        "codex/characters/people.md:4",
    ];
    assert_eq!(rows, expected);
    let sure = found.places.iter().take_while(|p| p.chosen).count();
    assert_eq!(sure, found.chosen().len());
    let mut ids: Vec<_> = found.places.iter().map(|p| &p.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), found.places.len());
}

#[test]
fn a_file_that_bears_the_very_name_is_renamed_with_its_links() {
    let mut book = cast("[[Per Lind]]");
    book.entries.push(entry("characters/Per Lind.md", "Per Lind"));
    let found = find(&book, "Per Lind", "Ole Berg", &[]).unwrap();
    let file = found.places.iter().find(|p| p.kind == Kind::File).unwrap();
    assert!(file.chosen);
    assert_eq!(file.becomes, "codex/characters/Ole Berg.md");
    let (files, _) = file_edits(&book, &found, &found.chosen());
    let made: Vec<_> =
        files.iter().map(|f| (f.path.as_str(), f.before.is_some(), f.after.is_some())).collect();
    assert_eq!(
        made,
        [
            ("manuscript/01.md", true, true),
            ("codex/characters/Ole Berg.md", false, true),
            ("codex/characters/Per Lind.md", true, false)
        ]
    );
}

#[test]
fn an_exemption_holds_for_the_one_place_that_it_fits() {
    let prose = "They walked down Vale, and then down Vale, and home.";
    let book = cast(prose);
    let found = find(&book, "Adrian Vale", "Ann Dee", &[]).unwrap();
    assert_eq!(found.chosen().len(), 2);
    let exemption = found.places[1].exemption("Adrian Vale");
    let again = find(&book, "Adrian Vale", "Ann Dee", std::slice::from_ref(&exemption)).unwrap();
    let states: Vec<_> = again.places.iter().map(|p| (p.chosen, p.exempt)).collect();
    assert_eq!(states, [(true, false), (false, true)]);
    let other = find(&book, "Vale", "Dee", &[exemption]).unwrap();
    assert!(other.places.iter().any(|p| p.exempt), "it is the same entry");
}

proptest::proptest! {
    #[test]
    fn any_prose_can_be_searched_and_changed(
        prose in "(Adrian|Vale|Captain|Mira|Okafor| |’s|'|s|\n|\r\n|é|\u{301}|-|—|\\*|_|\\[\\[|\\]\\]|\\||#|`|http://|@|\\.|,|Street|---\n|: ){0,24}",
        new in "[A-Z][a-z]{0,3}( [A-Z][a-z]{0,3}){0,2}",
    ) {
        let book = cast(&prose);
        if let Ok(found) = find(&book, "Adrian Vale", &new, &[]) {
            let mut end = 0;
            let mut here: Vec<_> =
                found.places.iter().filter(|p| p.path.as_str() == "manuscript/01.md").collect();
            here.sort_by_key(|p| p.range.start);
            for place in here {
                proptest::prop_assert!(place.range.start >= end && prose.get(place.range.clone()) == Some(&place.text));
                end = place.range.end;
            }
            let all = found.places.iter().map(|p| p.id.clone()).collect();
            file_edits(&book, &found, &all);
            // With nothing chosen nothing changes.
            proptest::prop_assert_eq!(file_edits(&book, &found, &HashSet::new()).0, vec![]);
        }
    }
}
