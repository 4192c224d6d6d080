//! The part of a file that belongs to one entry: the whole body, or what stands below its heading where the file holds many.
//!
//! What is found or added here lies inside the part: a section of another entry in the same file is never touched.

use std::ops::Range;

use super::{
    Section, append_section, core_of, gap_before, line_end_before, normalise, replace_section, sections,
};
use crate::domain::codex::Entry;
use crate::domain::frontmatter;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its bytes, without a rule (`---`) that parts it from the next entry.
    pub range: Range<usize>,
    /// Level of a section right below the entry.
    pub level: u8,
}

impl Part {
    /// The part of an entry in its main file.
    pub fn of(entry: &Entry) -> Self {
        match &entry.heading {
            Some(_) => Self::below(&entry.text, entry.body.clone()),
            None => Self::file(&entry.text),
        }
    }

    /// The whole body of a file.
    pub fn file(text: &str) -> Self {
        let all = sections(text);
        let titled =
            all.first().is_some_and(|s| s.level == 1 && s.content.end == text.len() && all.len() > 1);
        let level = all.iter().skip(usize::from(titled)).map(|s| s.level).min();
        let only_title = all.len() == 1 && all[0].level == 1;
        let level = level.filter(|_| !only_title).unwrap_or(2);
        Self { range: frontmatter::split(text).body_start..text.len(), level }
    }

    /// `body` begins right below the entry's own heading.
    fn below(text: &str, body: Range<usize>) -> Self {
        let above = sections(text).iter().rfind(|s| s.start < body.start).map_or(2, |s| s.level);
        let range = if body.end < text.len() { body.start..before_rule(text, &body) } else { body };
        Self { range, level: (above + 1).min(6) }
    }

    /// Returns the sections inside the part, in file order.
    pub fn sections(&self, text: &str) -> Vec<Section> {
        sections(text).iter().filter_map(|s| self.inside(s)).collect()
    }

    /// Returns every section inside the part that `target` names. Sections around it count as parents. See [`super::find_sections`].
    pub fn find(&self, text: &str, target: &str) -> Vec<Section> {
        let all = sections(text);
        super::find_sections_where(&all, target, |s| self.range.contains(&s.start))
            .into_iter()
            .filter_map(|s| self.inside(s))
            .collect()
    }

    fn inside(&self, section: &Section) -> Option<Section> {
        let within = self.range.contains(&section.start) && section.content.start <= self.range.end;
        let cut = |range: &Range<usize>| range.start..range.end.clamp(range.start, self.range.end);
        within.then(|| Section { content: cut(&section.content), own: cut(&section.own), ..section.clone() })
    }

    /// Returns `text` with a new section at the end of the part.
    pub fn add_section(&self, text: &str, heading: &str, markdown: &str) -> String {
        let is_body = self.range.start == frontmatter::split(text).body_start;
        if self.range.end == text.len() && (is_body || !text[self.range.clone()].trim().is_empty()) {
            return append_section(text, heading, self.level, markdown);
        }
        insert_section(text, &self.range, heading, self.level, markdown)
    }

    /// Returns `text` with a new section below `parent`, after the sections that are there.
    pub fn add_below(&self, text: &str, parent: &Section, heading: &str, markdown: &str) -> String {
        let level = (parent.level + 1).min(6);
        if parent.content.end == text.len() && !text[parent.content.clone()].trim().is_empty() {
            return append_section(text, heading, level, markdown);
        }
        insert_section(text, &parent.content, heading, level, markdown)
    }
}

/// Puts a section at the end of a stretch that something follows, or that is empty.
fn insert_section(text: &str, range: &Range<usize>, heading: &str, level: u8, markdown: &str) -> String {
    let eol = line_end_before(text, range.start);
    let words = super::heading_words(heading);
    let hashes = "#".repeat(usize::from(level));
    let block = [&hashes, " ", &words, eol, eol, &normalise(markdown, eol)].concat();
    let core = core_of(text, range);
    if core.is_empty() {
        let place = Section {
            heading: String::new(),
            level,
            start: range.start,
            content: range.clone(),
            own: range.clone(),
        };
        return replace_section(text, &place, &block);
    }
    let rest = &text[core.end..];
    [&text[..core.end], eol, eol, &block, gap_before(rest, eol), rest].concat()
}

/// The end of the text before a rule that parts an entry from the next: `---`, `***` or `___` after a blank line.
fn before_rule(text: &str, body: &Range<usize>) -> usize {
    let kept = text[body.clone()].trim_end();
    let line_start = kept.rfind('\n').map_or(0, |at| at + 1);
    let bare: String = kept[line_start..].chars().filter(|c| !c.is_whitespace()).collect();
    let is_rule = bare.len() >= 3 && ['-', '*', '_'].iter().any(|mark| bare.chars().all(|c| c == *mark));
    let before = &kept[..line_start];
    let blank_above = before.lines().next_back().is_none_or(|line| line.trim().is_empty());
    if is_rule && blank_above { body.start + line_start } else { body.end }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# People\n\n## Mira\n\nShe listens.\n\n### Voice\n\nDry.\n\n---\n\n## Tobias\n\nHer brother.\n\n### Voice\n\nWarm.\n";

    fn part(text: &str, heading: &str) -> Part {
        let all = sections(text);
        let section = all.iter().find(|s| s.heading == heading).unwrap();
        Part::below(text, section.content.clone())
    }

    #[test]
    fn a_section_of_another_entry_in_the_file_is_not_found() {
        for (entry, words) in [("Mira", "\nDry.\n\n"), ("Tobias", "\nWarm.\n")] {
            let part = part(FILE, entry);
            for target in ["Voice", &format!("{entry} / Voice"), &format!("People / {entry} / Voice")] {
                let found = part.find(FILE, target);
                assert_eq!(found.len(), 1, "{target}");
                assert_eq!(&FILE[found[0].content.clone()], words);
            }
            assert_eq!(part.level, 3);
        }
        assert_eq!(part(FILE, "Mira").find(FILE, "Tobias / Voice"), []);
        assert_eq!(part(FILE, "Mira").find(FILE, "Tobias"), []);
    }

    #[test]
    fn a_new_section_goes_to_the_end_of_the_entrys_part_and_above_the_rule_that_follows() {
        assert_eq!(
            part(FILE, "Mira").add_section(FILE, "Habits", "Tea."),
            FILE.replace("Dry.\n\n---", "Dry.\n\n### Habits\n\nTea.\n\n---")
        );
        assert_eq!(
            part(FILE, "Tobias").add_section(FILE, "Habits", "Tea."),
            format!("{FILE}\n### Habits\n\nTea.\n")
        );
        for (text, expected) in [
            ("# A\n# B\n", "# A\n\n## H\n\nx\n\n# B\n"),
            ("# A\n\n# B\n", "# A\n\n## H\n\nx\n\n# B\n"),
            ("# A\r\ntext\r\n# B\r\n", "# A\r\ntext\r\n\r\n## H\r\n\r\nx\r\n# B\r\n"),
        ] {
            let changed = part(text, "A").add_section(text, "H", "x");
            assert_eq!(changed, expected);
            assert_eq!(sections(&changed).len(), 3);
        }
    }

    #[test]
    fn a_line_of_dashes_under_words_is_a_heading_and_no_rule() {
        let text = "# A\n\nwords\n---\n\n# B\n";
        assert_eq!(part(text, "A").range.end, text.find("# B").unwrap());
    }

    #[test]
    fn a_new_section_has_the_level_of_its_neighbours() {
        for (text, level) in [
            ("", 2),
            ("text\n", 2),
            ("# Title\n", 2),
            ("# Title\n\n## A\n\n### B\n", 2),
            ("# Title\n\n### A\n", 3),
            ("### A\n\n### B\n", 3),
            ("# A\n\n# B\n", 1),
        ] {
            assert_eq!(Part::file(text).level, level, "{text:?}");
        }
    }

    #[test]
    fn a_section_can_be_added_below_another() {
        let text = "# A\n\n## B\n\nb\n\n## C\n\nc\n";
        let all = sections(text);
        assert_eq!(
            Part::file(text).add_below(text, &all[1], "D", "d"),
            "# A\n\n## B\n\nb\n\n### D\n\nd\n\n## C\n\nc\n"
        );
        assert_eq!(Part::file(text).add_below(text, &all[2], "D", "d"), format!("{text}\n### D\n\nd\n"));
    }
}
