//! How one relationship reads from its other end.
//!
//! In the source's entry stands what the target is to the source: `Tobias: brother`. In the target's entry the same bond has to read true
//! as well: `Mira: sibling`. Where no word for that is known, the direction is said: `handler` becomes `handler of`, and a phrase
//! such as `works for` is written out with the entry's own name. Whoever reads the entries back may take `x of` as `x` reversed.

/// Kinds that are the same from both ends.
const SAME: [&str; 31] = [
    "sibling",
    "siblings",
    "twin",
    "cousin",
    "spouse",
    "partner",
    "friend",
    "friends",
    "rival",
    "rivals",
    "enemy",
    "enemies",
    "nemesis",
    "ally",
    "allies",
    "lover",
    "lovers",
    "colleague",
    "classmate",
    "shipmate",
    "roommate",
    "neighbour",
    "neighbor",
    "acquaintance",
    "relative",
    "confidant",
    "confidante",
    "comrade",
    "counterpart",
    "peer",
    "stranger",
];

/// Kinds with the word for the other end.
const PAIRS: [(&str, &str); 47] = [
    ("mother", "child"),
    ("father", "child"),
    ("parent", "child"),
    ("child", "parent"),
    ("son", "parent"),
    ("daughter", "parent"),
    ("brother", "sibling"),
    ("sister", "sibling"),
    ("husband", "spouse"),
    ("wife", "spouse"),
    ("grandmother", "grandchild"),
    ("grandfather", "grandchild"),
    ("grandparent", "grandchild"),
    ("grandchild", "grandparent"),
    ("grandson", "grandparent"),
    ("granddaughter", "grandparent"),
    ("aunt", "niece or nephew"),
    ("uncle", "niece or nephew"),
    ("niece", "aunt or uncle"),
    ("nephew", "aunt or uncle"),
    ("girlfriend", "partner"),
    ("boyfriend", "partner"),
    ("mentor", "prot\u{e9}g\u{e9}"),
    ("prot\u{e9}g\u{e9}", "mentor"),
    ("protege", "mentor"),
    ("mentee", "mentor"),
    ("teacher", "student"),
    ("student", "teacher"),
    ("pupil", "teacher"),
    ("apprentice", "master"),
    ("master", "apprentice"),
    ("employer", "employee"),
    ("employee", "employer"),
    ("boss", "subordinate"),
    ("superior", "subordinate"),
    ("subordinate", "superior"),
    ("guardian", "ward"),
    ("ward", "guardian"),
    ("landlord", "tenant"),
    ("tenant", "landlord"),
    ("doctor", "patient"),
    ("patient", "doctor"),
    ("works for", "employs"),
    ("employs", "works for"),
    ("owns", "owned by"),
    ("owned by", "owns"),
    ("creator", "creation"),
];

/// Phrases that are the same from both ends.
const SAME_PHRASES: [&str; 6] =
    ["married to", "engaged to", "related to", "friends with", "allied with", "in love with each other"];

/// Returns what the source is to the target, for a target (called `target`) that is `kind` to the source.
pub(super) fn inverse(kind: &str, target: &str) -> String {
    let folded = kind.to_lowercase();
    if SAME_PHRASES.contains(&folded.as_str()) {
        return kind.to_owned();
    }
    if let Some((_, other)) = PAIRS.iter().find(|(known, _)| *known == folded) {
        return (*other).to_owned();
    }
    if let Some(word) = kind.strip_suffix(" of") {
        return word.to_owned();
    }
    let (before, last) =
        kind.rsplit_once([' ', '-']).map_or(("", kind), |(_, last)| (&kind[..kind.len() - last.len()], last));
    let last_folded = last.to_lowercase();
    if SAME.contains(&last_folded.as_str()) {
        return kind.to_owned();
    }
    // `former teacher`, `half-brother`: what comes first holds for both ends.
    if let Some((_, other)) = PAIRS.iter().find(|(known, _)| *known == last_folded) {
        return format!("{before}{other}");
    }
    if is_phrase(&folded) { format!("{kind} {target}") } else { format!("{kind} of") }
}

/// Whether a kind is said of the source (`works for`, `owns`) and is no name for the target.
fn is_phrase(kind: &str) -> bool {
    const LINKS: [&str; 16] = [
        "to", "for", "by", "with", "from", "in", "at", "on", "over", "under", "against", "about", "after",
        "towards", "toward", "into",
    ];
    const VERBS: [&str; 20] = [
        "loves",
        "hates",
        "fears",
        "knows",
        "trusts",
        "distrusts",
        "serves",
        "protects",
        "hunts",
        "follows",
        "leads",
        "admires",
        "envies",
        "owes",
        "betrayed",
        "killed",
        "saved",
        "raised",
        "commands",
        "resents",
    ];
    let mut words = kind.split_whitespace();
    let first = words.next().unwrap_or_default();
    let last = words.next_back().unwrap_or(first);
    LINKS.contains(&last) || VERBS.contains(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_read_true() {
        for (kind, other) in [
            ("sister", "sibling"),
            ("half-brother", "half-sibling"),
            ("adoptive mother", "adoptive child"),
            ("former teacher", "former student"),
            ("Rival", "Rival"),
            ("old friend", "old friend"),
            ("married to", "married to"),
            ("handler", "handler of"),
            ("handler of", "handler"),
            ("member of", "member"),
            ("works for", "employs"),
            ("in debt to", "in debt to The Choir"),
            ("fears", "fears The Choir"),
            ("birthplace", "birthplace of"),
            ("captain", "captain of"),
        ] {
            assert_eq!(inverse(kind, "The Choir"), other, "{kind}");
        }
    }

    #[test]
    fn a_kind_that_has_no_other_word_comes_back_when_it_is_turned_twice() {
        for kind in ["handler", "rival", "teacher", "employer", "ward", "owner"] {
            assert_eq!(inverse(&inverse(kind, "x"), "y"), kind);
        }
    }
}
