//! Who is on stage: whom a text names, how often, and in how much of it.

use std::ops::Range;

use super::Prose;

/// Someone whom a text names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnStage {
    /// The name, as it was given.
    pub name: String,
    /// How often the text names them.
    pub mentions: usize,
    /// Words of the paragraphs that name them.
    pub words: usize,
    /// Byte offset of the first mention.
    pub first: usize,
}

/// Sums mentions up: each is a name, whatever stands in the text for it, and its bytes. Most often named first, then in order of appearance.
pub fn on_stage<'n>(
    prose: &Prose<'_>,
    mentions: impl IntoIterator<Item = (&'n str, Range<usize>)>,
) -> Vec<OnStage> {
    let mut words = vec![0; prose.paragraphs().len()];
    for sentence in prose.sentences() {
        words[sentence.paragraph] += sentence.words.len();
    }
    let mut found: Vec<(OnStage, Vec<usize>)> = vec![];
    for (name, range) in mentions {
        // A name in a heading or in the frontmatter is nobody on stage.
        let Some(paragraph) = prose.paragraphs().iter().position(|p| p.contains(&range.start)) else {
            continue;
        };
        let place = found.iter().position(|(stage, _)| stage.name == name).unwrap_or_else(|| {
            found
                .push((OnStage { name: name.to_owned(), mentions: 0, words: 0, first: range.start }, vec![]));
            found.len() - 1
        });
        let (stage, paragraphs) = &mut found[place];
        stage.mentions += 1;
        stage.first = stage.first.min(range.start);
        if !paragraphs.contains(&paragraph) {
            paragraphs.push(paragraph);
            stage.words += words[paragraph];
        }
    }
    let mut stages: Vec<OnStage> = found.into_iter().map(|(stage, _)| stage).collect();
    stages.sort_by_key(|stage| (std::cmp::Reverse(stage.mentions), stage.first));
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_counts_once_for_everyone_in_it() {
        let text = "# Mira\n\nMira met Pell. Mira left.\n\nPell slept.\n\nNobody came.";
        let mentions =
            |name: &'static str| text.match_indices(name).map(move |(at, _)| (name, at..at + name.len()));
        let stages = on_stage(&Prose::of(text), mentions("Pell").chain(mentions("Mira")));
        let rows: Vec<_> = stages.iter().map(|s| (s.name.as_str(), s.mentions, s.words)).collect();
        assert_eq!(rows, [("Mira", 2, 5), ("Pell", 2, 7)]);
    }
}
