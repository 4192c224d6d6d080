//! Dialogue: what stands between quotation marks.

use std::ops::Range;

use super::Prose;

/// The spoken parts of a text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// Bytes of each speech, quotation marks included, in order.
    pub spoken: Vec<Range<usize>>,
    /// Words of all speeches.
    pub words: usize,
    /// Share of the words that are spoken, 0 to 1.
    pub share: f64,
}

impl Dialogue {
    /// Finds speech between double marks (straight, curly, low, guillemets) or, in a text without any, between single curly ones.
    ///
    /// A speech that its paragraph leaves open ends with the paragraph: the next one opens anew.
    pub fn of(prose: &Prose<'_>) -> Self {
        let double = spoken(prose, double_close);
        let spoken = if double.is_empty() { spoken(prose, single_close) } else { double };
        let mut dialogue = Self { spoken, ..Self::default() };
        dialogue.words = prose.words().iter().filter(|w| dialogue.holds(w.start)).count();
        if dialogue.words > 0 {
            dialogue.share = dialogue.words as f64 / prose.words().len() as f64;
        }
        dialogue
    }

    /// Whether the byte at `offset` is spoken.
    pub fn holds(&self, offset: usize) -> bool {
        let after = self.spoken.partition_point(|s| s.end <= offset);
        self.spoken.get(after).is_some_and(|s| s.contains(&offset))
    }
}

/// What closes a speech that `open` opens.
type Close = fn(open: char) -> Option<&'static [char]>;

fn double_close(open: char) -> Option<&'static [char]> {
    match open {
        '"' => Some(&['"']),
        '“' => Some(&['”', '"']),
        '„' => Some(&['“', '”']),
        '«' => Some(&['»']),
        '»' => Some(&['«']),
        '「' => Some(&['」']),
        _ => None,
    }
}

fn single_close(open: char) -> Option<&'static [char]> {
    (open == '‘').then_some(&['’'])
}

fn spoken(prose: &Prose<'_>, close: Close) -> Vec<Range<usize>> {
    let mut found = vec![];
    for paragraph in prose.paragraphs() {
        let text = &prose.text()[paragraph.clone()];
        let mut open: Option<(usize, &[char])> = None;
        for (at, c) in text.char_indices() {
            match open {
                None => open = close(c).map(|marks| (at, marks)),
                Some((start, marks)) if marks.contains(&c) && !is_apostrophe(c, &text[at..]) => {
                    found.push(paragraph.start + start..paragraph.start + at + c.len_utf8());
                    open = None;
                }
                Some(_) => {}
            }
        }
        if let Some((start, _)) = open {
            found.push(paragraph.start + start..paragraph.end);
        }
    }
    found
}

/// A closing single mark that a letter follows is an apostrophe.
fn is_apostrophe(mark: char, rest: &str) -> bool {
    mark == '’' && rest.chars().nth(1).is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn speeches(text: &str) -> Vec<&str> {
        Dialogue::of(&Prose::of(text)).spoken.iter().map(|r| &text[r.clone()]).collect()
    }

    #[test]
    fn speech_is_found_between_the_marks_of_many_countries() {
        for (text, expected) in [
            ("\"No,\" she said, \"not now.\"", vec!["\"No,\"", "\"not now.\""]),
            ("“It’s ‘fine’,” he said.", vec!["“It’s ‘fine’,”"]),
            ("„Nein“, sagte er. «Non.» »Ja«", vec!["„Nein“", "«Non.»", "»Ja«"]),
            ("‘I don’t know,’ he said.", vec!["‘I don’t know,’"]),
            ("\"One paragraph,\n\n\"and its end.\" Out.", vec!["\"One paragraph,", "\"and its end.\""]),
            ("It's nothing.", vec![]),
        ] {
            assert_eq!(speeches(text), expected, "{text:?}");
        }
    }

    #[test]
    fn the_share_is_of_words() {
        let dialogue = Dialogue::of(&Prose::of("\"One two,\" he said. Then he was gone."));
        assert_eq!(dialogue.words, 2);
        assert!((dialogue.share - 0.25).abs() < 1e-9);
        assert!(dialogue.holds(1) && !dialogue.holds(12));
    }
}
