//! The six board members and their shipped prompts.

use crate::domain::book::BookSettings;

/// One member of the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Id in settings and on the command line.
    pub id: &'static str,
    /// Name on screen.
    pub name: &'static str,
    /// What the member is for, in a few words.
    pub purpose: &'static str,
    /// Short badge, two or three letters.
    pub badge: &'static str,
    /// Locked sections, Markdown with placeholders.
    pub locked: &'static str,
    /// Editable sections, Markdown with placeholders.
    pub editable: &'static str,
}

const MEMBERS: [Member; 6] = [
    Member {
        id: "developmental-editor",
        name: "Developmental Editor",
        purpose: "story architecture, stakes, pacing, scene purpose, payoff",
        badge: "DE",
        locked: include_str!("library/developmental-editor.locked.md"),
        editable: include_str!("library/developmental-editor.editable.md"),
    },
    Member {
        id: "character-psychologist",
        name: "Character Psychologist",
        purpose: "motivation, emotional continuity, relationships, agency, subtext",
        badge: "CP",
        locked: include_str!("library/character-psychologist.locked.md"),
        editable: include_str!("library/character-psychologist.editable.md"),
    },
    Member {
        id: "continuity-editor",
        name: "Continuity Editor",
        purpose: "canon facts, timeline drift, contradictions, terminology, confirmations",
        badge: "CE",
        locked: include_str!("library/continuity-editor.locked.md"),
        editable: include_str!("library/continuity-editor.editable.md"),
    },
    Member {
        id: "worldbuilding-auditor",
        name: "Worldbuilding Auditor",
        purpose: "systems logic, consequences, technology, institutions, daily life",
        badge: "WA",
        locked: include_str!("library/worldbuilding-auditor.locked.md"),
        editable: include_str!("library/worldbuilding-auditor.editable.md"),
    },
    Member {
        id: "first-time-reader",
        name: "First-Time Reader",
        purpose: "blind reader experience, curiosity, confusion, engagement, drift",
        badge: "FR",
        locked: include_str!("library/first-time-reader.locked.md"),
        editable: include_str!("library/first-time-reader.editable.md"),
    },
    Member {
        id: "writing-coach",
        name: "Writing Coach",
        purpose: "craft patterns, teachable revision habits, exercises, author growth",
        badge: "WC",
        locked: include_str!("library/writing-coach.locked.md"),
        editable: include_str!("library/writing-coach.editable.md"),
    },
];

/// The member that reads blind unless a book says otherwise.
const BLIND: &str = "first-time-reader";

impl Member {
    /// Whether this member knows nothing of what comes after the open chapter: `[board.<id>] blind`, else the First-Time Reader alone.
    pub fn reads_blind(&self, settings: &BookSettings) -> bool {
        let said = settings.board.get(self.id).and_then(|board| board.blind);
        said.unwrap_or(self.id == BLIND)
    }
}

/// Returns the six members, the default first.
pub fn members() -> &'static [Member] {
    &MEMBERS
}

/// Returns the member with this id; a missing or invalid id falls back to the developmental editor.
pub fn member(id: Option<&str>) -> &'static Member {
    id.and_then(|id| MEMBERS.iter().find(|m| m.id == id)).unwrap_or(&MEMBERS[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sentence that five of the six share, word for word.
    const SHAPE: &str = "You specialise in {{genre}} books, for {{audienceAgeGroupArticle}} {{audienceAgeGroup}} target \
                         audience with {{audienceSexGenderLens}}.";

    #[test]
    fn a_missing_or_invalid_id_falls_back_to_the_developmental_editor() {
        for id in [None, Some(""), Some("nobody"), Some("Writing-Coach"), Some("../writing-coach")] {
            assert_eq!(member(id).id, "developmental-editor", "{id:?}");
        }
        for m in members() {
            assert_eq!(member(Some(m.id)), m);
        }
    }

    #[test]
    fn ids_names_and_badges_tell_the_members_apart() {
        for part in [|m: &Member| m.id, |m: &Member| m.name, |m: &Member| m.badge, |m: &Member| m.purpose] {
            let all: std::collections::BTreeSet<_> = members().iter().map(part).collect();
            assert_eq!(all.len(), 6);
        }
        assert!(members().iter().all(|m| (2..=3).contains(&m.badge.len())));
    }

    #[test]
    fn five_members_have_a_role_of_one_shape() {
        for m in members().iter().filter(|m| m.id != "first-time-reader") {
            let opening = format!(
                "# {name}\n\n## Role\n\nYou are the {name} on this author's board. {SHAPE} ",
                name = m.name
            );
            assert!(m.locked.starts_with(&opening), "{}", m.id);
        }
    }

    #[test]
    fn the_first_time_reader_is_embodied() {
        let locked = member(Some("first-time-reader")).locked;
        assert!(locked.starts_with(
            "# First-Time Reader\n\n## Role\n\nYou take the perspective of a {{readerSexGenderIdentity}} reader who is \
             {{readerProfileAge}} years old, fits the {{audienceAgeGroup}} audience and actively enjoys {{genre}} books. "
        ));
        assert!(!locked.contains(SHAPE));
    }

    #[test]
    fn every_member_has_duties_limits_and_a_way_to_answer_and_lets_its_tone_be_changed() {
        for m in members() {
            for section in ["\n## Role\n", "\n## Duties\n", "\n## Limits\n", "\n## How you answer\n"] {
                assert!(m.locked.contains(section), "{} lacks {section:?}", m.id);
                assert!(!m.editable.contains(section), "{} lets {section:?} be replaced", m.id);
            }
            for section in ["## Tone\n", "## Emphasis\n", "## House preferences\n"] {
                assert!(m.editable.contains(section), "{} lacks {section:?}", m.id);
                assert!(!m.locked.contains(section), "{} locks {section:?}", m.id);
            }
        }
    }
}
