//! Wikilinks: `[[target]]`, `[[target|text]]`, `[[target#heading]]`, `[[target#^block]]` and `![[embed]]`, and the files that they mean.
//!
//! Reads only. A link that is not closed on its line, or holds another one, is none.

use std::collections::HashMap;
use std::ops::Range;

use super::ids::BookPath;
use super::passage::fold;

/// A wikilink in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link<'a> {
    /// Bytes of the text, marks included.
    pub range: Range<usize>,
    /// What it leads to: a path, a file's stem or a title; empty for a part of the same file.
    pub target: &'a str,
    /// The heading, or `^` and the name of a block, behind `#`.
    pub part: Option<&'a str>,
    /// The words that are shown instead of the target.
    pub label: Option<&'a str>,
    /// Written with `!`: the target is shown in its place.
    pub is_embed: bool,
    /// The byte of the text where the target begins, and where the part does.
    starts: (usize, usize),
}

impl<'a> Link<'a> {
    /// Returns the words that a reader sees: the label, else the last part of the target, else the heading.
    pub fn shown(&self) -> &'a str {
        match (self.label, self.target, self.part) {
            (Some(label), ..) => label,
            (None, "", Some(part)) => part.trim_start_matches('^'),
            _ => without_extension(self.target.rsplit('/').next().unwrap_or(self.target)),
        }
    }

    /// Returns the bytes of the text where the target stands.
    pub fn target_range(&self) -> Range<usize> {
        self.starts.0..self.starts.0 + self.target.len()
    }

    /// Returns the bytes of the text where the heading or the block's name stands.
    pub fn part_range(&self) -> Option<Range<usize>> {
        self.part.map(|part| self.starts.1..self.starts.1 + part.len())
    }

    /// Whether the target is written as a file name and not as words: `mira-okafor`, `people/mira_okafor`, `adrian-vale/dossier`.
    pub fn is_slug(&self) -> bool {
        let stem = self.shown();
        self.label.is_none()
            && !stem.contains(char::is_whitespace)
            && (stem.contains(['-', '_']) || (self.target.contains('/') && is_main_file(stem)))
    }
}

/// Whether a file of this stem stands for its folder.
fn is_main_file(stem: &str) -> bool {
    ["dossier", "index", "_index", "readme"].iter().any(|main| stem.eq_ignore_ascii_case(main))
}

/// Reads a wikilink that starts at byte `at` of `text`, where `[[` or `![[` stands.
pub fn link_at(text: &str, at: usize) -> Option<Link<'_>> {
    let from = text.get(at..)?;
    let is_embed = from.starts_with('!');
    let open = at + usize::from(is_embed);
    let inside = text.get(open..)?.strip_prefix("[[")?;
    let line = &inside[..inside.find('\n').unwrap_or(inside.len())];
    let inner = &line[..line.find("]]")?];
    if inner.contains('[') {
        return None;
    }
    let (place, label) = match inner.split_once('|') {
        // In a table the bar is escaped, so that it does not end the cell.
        Some((place, label)) => (place.trim_end_matches('\\'), Some(label.trim())),
        None => (inner, None),
    };
    let (target, part) = match place.find(['#', '^']) {
        // The mark of a block is a part of its name.
        Some(mark) => {
            let part = place[mark..].strip_prefix('#').unwrap_or(&place[mark..]);
            (&place[..mark], Some(part))
        }
        None => (place, None),
    };
    let first = open + "[[".len();
    let indent = |words: &str| words.len() - words.trim_start().len();
    let part_start = part.map_or(first, |part| first + place.len() - part.len() + indent(part));
    Some(Link {
        range: at..open + inner.len() + 4,
        target: target.trim(),
        part: part.map(str::trim),
        label: label.filter(|label| !label.is_empty()),
        is_embed,
        starts: (first + indent(target), part_start),
    })
}

/// Finds the wikilinks of a text, in order.
pub fn links(text: &str) -> Vec<Link<'_>> {
    let (mut found, mut from) = (vec![], 0);
    while let Some(open) = text[from..].find("[[").map(|at| from + at) {
        let start = if text[from..open].ends_with('!') { open - 1 } else { open };
        match link_at(text, start) {
            Some(link) => {
                from = link.range.end;
                found.push(link);
            }
            None => from = open + 1,
        }
    }
    found
}

fn without_extension(name: &str) -> &str {
    let name = name.trim();
    name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")).unwrap_or(name)
}

/// The files that links can lead to.
#[derive(Debug, Clone, Default)]
pub struct Targets {
    paths: Vec<BookPath>,
    /// By whole path without extension, and by last part; folded.
    by_name: HashMap<String, usize>,
}

impl Targets {
    /// Indexes the files of a book. Of several with the same last part the one with the shortest path counts.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a BookPath>) -> Self {
        let mut paths: Vec<BookPath> = paths.into_iter().cloned().collect();
        paths.sort_by(|a, b| (a.as_str().len(), a).cmp(&(b.as_str().len(), b)));
        let mut by_name = HashMap::with_capacity(2 * paths.len());
        for (at, path) in paths.iter().enumerate() {
            by_name.entry(path_key(path.as_str())).or_insert(at);
        }
        for (at, path) in paths.iter().enumerate() {
            let stem = if is_main_file(path.stem()) {
                path.parent().map(|parent| parent.rsplit('/').next().unwrap_or(parent))
            } else {
                Some(path.stem())
            };
            if let Some(stem) = stem {
                by_name.entry(fold(stem)).or_insert(at);
            }
        }
        Self { paths, by_name }
    }

    /// Returns the file that a link's target means: by its path, then by its last part, whatever letter case, hyphens and accents.
    pub fn find(&self, target: &str) -> Option<&BookPath> {
        let target = target.trim().trim_start_matches("./").trim_start_matches('/');
        if target.is_empty() {
            return None;
        }
        let last = || fold(without_extension(target.rsplit('/').next().unwrap_or(target)));
        let at = self.by_name.get(&path_key(target)).copied().or_else(|| {
            let at = self.by_name.get(&last()).copied()?;
            // A path that names a folder must lead into a folder of that name.
            let wanted = path_key(target);
            let fits = !target.contains('/') || path_key(self.paths[at].as_str()).ends_with(&wanted);
            fits.then_some(at)
        });
        at.map(|at| &self.paths[at])
    }
}

/// A path without its extension, folded part by part.
fn path_key(path: &str) -> String {
    without_extension(path).split('/').map(fold).collect::<Vec<_>>().join("/")
}

/// Returns the part of a Markdown text that `#heading` or `#^block` of a link means: the section below the heading, or the paragraph that ends in the
/// block's name. `None` if there is none.
pub fn part_of<'a>(text: &'a str, part: &str) -> Option<&'a str> {
    if let Some(block) = part.strip_prefix('^') {
        let named = |line: &str| {
            line.trim_end().rsplit_once('^').is_some_and(|(before, name)| {
                name == block && (before.is_empty() || before.ends_with(char::is_whitespace))
            })
        };
        let (mut at, mut start, mut paragraph) = (0, 0, None);
        for line in text.split_inclusive('\n') {
            at += line.len();
            if line.trim().is_empty() {
                start = at;
            } else if named(line) {
                paragraph = Some(&text[start..at]);
                break;
            }
        }
        let paragraph = paragraph?;
        return paragraph.trim_end().rsplit_once('^').map(|(before, _)| before.trim());
    }
    // A link may name the headings on the way: `#Places#Lantern`.
    let wanted = fold(part.rsplit('#').next().unwrap_or(part));
    let level = |line: &str| {
        let marks = line.bytes().take_while(|b| *b == b'#').count();
        let is_heading = (1..=6).contains(&marks) && line[marks..].starts_with([' ', '\t']);
        is_heading.then_some(marks)
    };
    let (mut at, mut open) = (0, None);
    for line in text.split_inclusive('\n') {
        if let Some(marks) = level(line) {
            match open {
                Some((start, own)) if marks <= own => return text.get(start..at),
                None if fold(line[marks..].trim().trim_end_matches('#')) == wanted => {
                    open = Some((at + line.len(), marks));
                }
                _ => {}
            }
        }
        at += line.len();
    }
    open.map(|(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_every_form_are_read() {
        let table = [
            ("[[Lantern]]", "Lantern", None, None, "Lantern"),
            ("[[Port Amity|the harbour]]", "Port Amity", None, Some("the harbour"), "the harbour"),
            ("[[Port Amity\\|the harbour]]", "Port Amity", None, Some("the harbour"), "the harbour"),
            ("[[people/Adrian Vale.md#Wound]]", "people/Adrian Vale.md", Some("Wound"), None, "Adrian Vale"),
            ("[[Lantern#^quay|the quay]]", "Lantern", Some("^quay"), Some("the quay"), "the quay"),
            ("[[#Wound]]", "", Some("Wound"), None, "Wound"),
            (
                "![[ people/mira # Voice | her voice ]]",
                "people/mira",
                Some("Voice"),
                Some("her voice"),
                "her voice",
            ),
            ("[[Lantern^quay]]", "Lantern", Some("^quay"), None, "Lantern"),
            ("[[a\\\\|b]]", "a", None, Some("b"), "b"),
            ("![[map.png|200]]", "map.png", None, Some("200"), "200"),
        ];
        for (text, target, part, label, shown) in table {
            let all = links(text);
            assert_eq!(all.len(), 1, "{text}");
            let link = &all[0];
            assert_eq!((link.target, link.part, link.label, link.shown()), (target, part, label, shown));
            assert_eq!(link.range, 0..text.len());
            assert_eq!(link.is_embed, text.starts_with('!'));
            assert_eq!(&text[link.target_range()], target);
            assert_eq!(link.part_range().map(|range| &text[range]), part);
        }
        assert!(links("[[open [[a\nb]] ] [one] [[").is_empty());
        assert_eq!(links("[[open [[a]]").iter().map(|l| l.target).collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn a_target_is_found_by_path_name_or_slug() {
        let paths = [
            "codex/characters/ilse-sondergaard.md",
            "codex/characters/adrian-vale/dossier.md",
            "old/Lantern.md",
            "codex/places/deep/Lantern.md",
        ]
        .map(|path| BookPath::new(path).unwrap());
        let targets = Targets::of(&paths);
        let found = |target: &str| targets.find(target).map(BookPath::as_str);
        assert_eq!(found("ilse-sondergaard"), Some("codex/characters/ilse-sondergaard.md"));
        assert_eq!(found("Ilse Søndergaard"), Some("codex/characters/ilse-sondergaard.md"));
        assert_eq!(found("adrian-vale"), Some("codex/characters/adrian-vale/dossier.md"));
        assert_eq!(found("Lantern"), Some("old/Lantern.md"), "the shortest path");
        assert_eq!(found("codex/places/deep/lantern.md"), Some("codex/places/deep/Lantern.md"));
        assert_eq!(found("nowhere/Lantern"), None);
        assert_eq!((found(""), found("gone")), (None, None));
    }

    #[test]
    fn a_part_is_a_section_or_a_block() {
        let text = "# A\n\nOne.\n\n## B\n\nTwo. ^here\n\n### C\nThree.\n\n## D\nFour.";
        assert_eq!(part_of(text, "B"), Some("\nTwo. ^here\n\n### C\nThree.\n\n"));
        assert_eq!(part_of(text, "A#D"), Some("Four."));
        assert_eq!(part_of(text, "^here"), Some("Two."));
        assert_eq!((part_of(text, "E"), part_of(text, "^gone")), (None, None));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[a!\\[\\]|#^/\\\\ \né.-]{0,40}", part in "[#^aé ]{0,4}") {
            for link in links(&text) {
                proptest::prop_assert!(text.get(link.range.clone()).is_some());
                proptest::prop_assert_eq!(text.get(link.target_range()), Some(link.target));
                proptest::prop_assert_eq!(link.part_range().and_then(|range| text.get(range)), link.part);
                link.shown();
            }
            part_of(&text, &part);
        }
    }
}
