//! Markdown as prose: paragraphs, sentences and words, as byte ranges of the text.
//!
//! Headings, scene breaks, frontmatter, code and comments are no prose.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::lexicon;

/// A sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sentence {
    /// Its bytes, without white space around it.
    pub range: Range<usize>,
    /// Its words, as indices into [`Prose::words`]; never empty.
    pub words: Range<usize>,
    /// Its paragraph, as an index into [`Prose::paragraphs`].
    pub paragraph: usize,
}

/// A text, cut into its parts.
#[derive(Debug, Clone)]
pub struct Prose<'a> {
    text: &'a str,
    paragraphs: Vec<Range<usize>>,
    sentences: Vec<Sentence>,
    words: Vec<Range<usize>>,
}

impl<'a> Prose<'a> {
    /// Reads Markdown.
    pub fn of(text: &'a str) -> Self {
        let mut prose = Self { text, paragraphs: paragraphs(text), sentences: vec![], words: vec![] };
        for (paragraph, range) in prose.paragraphs.iter().enumerate() {
            for sentence in sentences(&text[range.clone()]) {
                let start = range.start + sentence.start;
                let first = prose.words.len();
                let words = text[start..range.start + sentence.end].unicode_word_indices();
                prose.words.extend(words.map(|(at, word)| start + at..start + at + word.len()));
                if prose.words.len() > first {
                    prose.sentences.push(Sentence {
                        range: start..range.start + sentence.end,
                        words: first..prose.words.len(),
                        paragraph,
                    });
                }
            }
        }
        prose
    }

    /// Returns the whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the paragraphs.
    pub fn paragraphs(&self) -> &[Range<usize>] {
        &self.paragraphs
    }

    /// Returns the sentences, in order.
    pub fn sentences(&self) -> &[Sentence] {
        &self.sentences
    }

    /// Returns the words, in order. A word with an apostrophe is one, a hyphen parts two.
    pub fn words(&self) -> &[Range<usize>] {
        &self.words
    }

    /// Returns the letters of the word at `index`.
    pub(super) fn word(&self, index: usize) -> &'a str {
        self.words.get(index).map_or("", |range| &self.text[range.clone()])
    }
}

/// Finds the paragraphs of prose.
fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = vec![];
    let (mut skip_to, mut joined, mut at) = (None, false, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let trimmed = line.trim_start_matches('\u{feff}').trim();
        if let Some(end) = skip_to {
            if ends(trimmed, end) {
                skip_to = None;
            }
            joined = false;
            continue;
        }
        skip_to = match trimmed {
            "---" | "+++" if start == 0 => Some(trimmed),
            _ if trimmed.starts_with("```") => Some("```"),
            _ if trimmed.starts_with("~~~") => Some("~~~"),
            _ if trimmed.starts_with("<!--") && !trimmed.ends_with("-->") => Some("-->"),
            _ => None,
        };
        if skip_to.is_some() || !is_prose(trimmed) {
            joined = false;
            continue;
        }
        let range = start + (line.len() - line.trim_start().len())..start + line.trim_end().len();
        match found.last_mut().filter(|_| joined) {
            Some(paragraph) => paragraph.end = range.end,
            None => found.push(range),
        }
        joined = true;
    }
    found
}

fn ends(line: &str, mark: &str) -> bool {
    if mark == "-->" { line.ends_with(mark) } else { line.starts_with(mark) }
}

/// Whether a line is neither blank nor a heading, a scene break or a comment.
fn is_prose(line: &str) -> bool {
    !line.starts_with('#') && !line.starts_with("<!--") && line.chars().any(char::is_alphanumeric)
}

/// Cuts a paragraph into sentences, without white space around them.
fn sentences(paragraph: &str) -> Vec<Range<usize>> {
    let (mut found, mut start) = (vec![], 0);
    let mut push = |range: Range<usize>| {
        let sentence = &paragraph[range.clone()];
        let inner = sentence.trim();
        if !inner.is_empty() {
            let at = range.start + (sentence.len() - sentence.trim_start().len());
            found.push(at..at + inner.len());
        }
    };
    let mut rest = paragraph.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        if !is_terminator(c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((i, next)) = rest.next_if(|(_, next)| is_terminator(*next) || is_closing(*next)) {
            end = i + next.len_utf8();
        }
        if is_wide_stop(c)
            || (begins_anew(&paragraph[end..]) && !is_abbreviation(&paragraph[start..end], &paragraph[end..]))
        {
            push(start..end);
            start = end;
        }
    }
    push(start..paragraph.len());
    found
}

fn is_terminator(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…') || is_wide_stop(c)
}

/// Full stops of scripts that put no space behind them.
fn is_wide_stop(c: char) -> bool {
    matches!(c, '。' | '！' | '？')
}

fn is_closing(c: char) -> bool {
    matches!(c, '"' | '\'' | '”' | '’' | '»' | '›' | ')' | ']' | '*' | '_' | '」' | '』')
}

/// Whether what follows a full stop can be a new sentence: the end, or a space and then no small letter.
fn begins_anew(rest: &str) -> bool {
    let Some(first) = rest.chars().next() else { return true };
    if !first.is_whitespace() {
        return false;
    }
    let opens = |c: char| {
        c.is_whitespace() || matches!(c, '"' | '\'' | '“' | '‘' | '«' | '„' | '(' | '[' | '*' | '_')
    };
    rest.trim_start_matches(opens).chars().next().is_none_or(|c| !c.is_lowercase())
}

/// Whether a text ends with an abbreviation that `rest` goes on from: `Mr.`, `St.`, an initial, `No.` before a number.
fn is_abbreviation(text: &str, rest: &str) -> bool {
    let Some(text) = text.strip_suffix('.') else { return false };
    let word = text.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    let mut letters = word.chars();
    let initial = matches!((letters.next(), letters.next()), (Some(c), None) if c.is_uppercase() && c != 'I');
    let before_a_number = rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
    initial
        || lexicon::TITLES.contains(word)
        || (matches!(word, "No" | "no" | "Vol" | "vol" | "Ch" | "ch" | "p" | "pp") && before_a_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences_of(text: &str) -> Vec<&str> {
        Prose::of(text).sentences().iter().map(|s| &text[s.range.clone()]).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_hears_the_end() {
        for (text, expected) in [
            ("It rained. It stopped.", vec!["It rained.", "It stopped."]),
            ("\"Who would?\" asked Mira. \"Nobody.\"", vec!["\"Who would?\" asked Mira.", "\"Nobody.\""]),
            ("“Stop!” He ran.", vec!["“Stop!”", "He ran."]),
            ("Mr. Pell met Dr. J. R. Vale. They spoke.", vec!["Mr. Pell met Dr. J. R. Vale.", "They spoke."]),
            ("No. Not I. Said no. Never.", vec!["No.", "Not I.", "Said no.", "Never."]),
            ("Post No. 9 fell. In 2307.", vec!["Post No. 9 fell.", "In 2307."]),
            (
                "Wait... what? 3.5 metres. *Really?* Yes",
                vec!["Wait... what?", "3.5 metres.", "*Really?*", "Yes"],
            ),
            ("One line\nand its end. Two", vec!["One line\nand its end.", "Two"]),
            ("雨だ。帰ろう！", vec!["雨だ。", "帰ろう！"]),
            ("... !", vec![]),
        ] {
            assert_eq!(sentences_of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_prose_is_read() {
        let text = "\u{feff}---\ntitle: No. One.\n---\n# Turnover. Now\n\nOne.\nStill one.\n\n* * *\n\n```\ncode. here\n```\n<!-- a\ncomment. -->\n> Two.\r\n\r\n---\n";
        assert_eq!(sentences_of(text), ["One.", "Still one.", "> Two."]);
        let prose = Prose::of(text);
        assert_eq!(prose.paragraphs().len(), 2);
        assert_eq!(prose.sentences()[2].paragraph, 1);
    }

    #[test]
    fn a_word_keeps_its_apostrophe() {
        let prose = Prose::of("Don't he’ll well-known, naïve.");
        let words: Vec<_> = (0..prose.words().len()).map(|i| prose.word(i)).collect();
        assert_eq!(words, ["Don't", "he’ll", "well", "known", "naïve"]);
    }
}
