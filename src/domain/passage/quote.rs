//! Finding a quotation in spite of typography.
//!
//! Both sides are brought into one plain form (straight quotes, one kind of dash and of ellipsis, single spaces, no
//! emphasis, nothing invisible), together with a map back to the bytes of the original. Words are never changed
//! and never skipped.

use std::ops::Range;
use std::sync::Arc;

use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::fold::{fold_char, is_dash, is_invisible, is_quote};

/// A place where a quotation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its bytes in the searched text.
    pub range: Range<usize>,
    /// Whether the bytes are the very bytes of the quotation.
    pub exact: bool,
}

/// Finds every place of `quote` in `text`, in order, without overlaps. Where it stands to the byte, only such places are given.
///
/// Tolerates what models change: straight or curly, single or double quotes and apostrophes, dashes, ellipses, runs of white space, line
/// breaks and invisible characters, Markdown emphasis, the letter case of the first letter, a comma or full stop at the end of the
/// quotation, quotation marks around it. Never tolerates changed words; matches start and end at word boundaries.
pub fn find_quote(text: &str, quote: &str) -> Vec<Found> {
    let exact = find_exact(text, quote.trim());
    if exact.is_empty() { Plain::of(text, false).find(text, quote) } else { exact }
}

/// A text prepared for many searches: the plain form is built once.
#[derive(Debug, Clone)]
pub struct Searchable {
    text: Arc<str>,
    plain: Plain,
}

impl Searchable {
    /// Prepares `text` for [`Searchable::find`].
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let plain = Plain::of(&text, false);
        Self { text, plain }
    }

    /// Prepares `text` for a reader's search: letter case and accents do not count either.
    pub fn caseless(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        let plain = Plain::of(&text, true);
        Self { text, plain }
    }

    /// Returns the text that was prepared.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the plain form, in which names can be searched with other means.
    pub fn plain(&self) -> &str {
        &self.plain.text
    }

    /// Translates a stretch of the plain form into bytes of the text.
    pub fn original(&self, plain: Range<usize>) -> Range<usize> {
        self.plain.original(plain)
    }

    /// The same as [`find_quote`].
    pub fn find(&self, quote: &str) -> Vec<Found> {
        let exact = if self.plain.caseless { vec![] } else { find_exact(&self.text, quote.trim()) };
        if exact.is_empty() { self.plain.find(&self.text, quote) } else { exact }
    }

    /// Finds `phrase` where a word begins; its last word may go on (`mug` finds `mugs`).
    pub fn find_prefix(&self, phrase: &str) -> Vec<Range<usize>> {
        let pattern = Plain::of(phrase, self.plain.caseless).text;
        if !has_word(&pattern) {
            return vec![];
        }
        let found = occurrences(&self.plain.text, &pattern, |text, start, _| is_boundary(text, start));
        found.into_iter().map(|r| self.plain.original(r)).collect()
    }
}

/// Whether a match may start or end at byte `at`: not inside a word, nor between a word and its `'t`.
pub(crate) fn is_boundary(text: &str, at: usize) -> bool {
    let (mut before, mut after) = (text[..at].chars().rev(), text[at..].chars());
    let (Some(last), Some(next)) = (before.next(), after.next()) else { return true };
    match (is_of_word(last), is_of_word(next)) {
        (true, true) => false,
        (true, false) => !(is_apostrophe(next) && after.next().is_some_and(is_of_word)),
        (false, true) => !(is_apostrophe(last) && before.next().is_some_and(is_of_word)),
        (false, false) => true,
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2bc}')
}

fn has_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn find_exact(text: &str, quote: &str) -> Vec<Found> {
    if !has_word(quote) {
        return vec![];
    }
    let both = |text: &str, start, end| is_boundary(text, start) && is_boundary(text, end);
    occurrences(text, quote, both).into_iter().map(|range| Found { range, exact: true }).collect()
}

/// Finds `pattern` (not empty) wherever `accept(text, start, end)` agrees, without overlaps.
fn occurrences(text: &str, pattern: &str, accept: impl Fn(&str, usize, usize) -> bool) -> Vec<Range<usize>> {
    let step = pattern.chars().next().map_or(1, char::len_utf8);
    let (mut found, mut from) = (vec![], 0);
    while let Some(at) = text[from..].find(pattern) {
        let (start, end) = (from + at, from + at + pattern.len());
        if accept(text, start, end) {
            found.push(start..end);
            from = end;
        } else {
            from = start + step;
        }
    }
    found
}

/// A stretch of the plain form and where it comes from.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Where it starts in the plain form.
    plain: usize,
    /// Where it starts in the original.
    original: usize,
    /// Where it ends in the original, if it stands for something else; `None` for bytes that were copied.
    end: Option<usize>,
}

/// The plain form of a text.
#[derive(Debug, Clone)]
struct Plain {
    text: String,
    runs: Vec<Run>,
    caseless: bool,
    /// White space of the original that becomes one space if a word follows.
    space: Option<Range<usize>>,
}

impl Plain {
    fn of(original: &str, caseless: bool) -> Self {
        let mut plain =
            Self { text: String::with_capacity(original.len()), runs: vec![], caseless, space: None };
        let mut at = 0;
        while at < original.len() {
            if at == 0 || original.as_bytes()[at - 1] == b'\n' {
                let marks = block_quote_marks(&original[at..]);
                if marks > 0 {
                    plain.white_space(at..at + marks);
                    at += marks;
                    continue;
                }
            }
            let copied = common_prefix_len(&original.as_bytes()[at..]);
            if copied > 0 {
                plain.copy(at, &original[at..at + copied]);
                at += copied;
            } else {
                at += plain.take(original, at);
            }
        }
        plain
    }

    /// Takes over the character at `at` and whatever belongs to it; returns how many bytes that was.
    fn take(&mut self, original: &str, at: usize) -> usize {
        let rest = &original[at..];
        let Some(c) = rest.chars().next() else { return 1 };
        let len = c.len_utf8();
        let next = rest[len..].chars().next();
        match c {
            _ if c.is_whitespace() => self.white_space(at..at + len),
            '*' => {}
            '_' if !is_inside_word(original, at, next) => {}
            '~' if next == Some('~') => return 2,
            // A Markdown escape: the mark itself is taken next.
            '\\' if next.is_some_and(|n| n.is_ascii_punctuation() || n == '\n' || n == '\r') => {}
            '.' | '\u{2026}' => {
                let dots = ellipsis_len(rest);
                if dots == 0 {
                    self.copy(at, ".");
                } else {
                    self.space = None;
                    self.put(at..at + dots, "\u{2026}");
                    return dots;
                }
            }
            '\u{200d}' if self.text.chars().next_back().is_some_and(is_pictograph) => {
                self.copy(at, &rest[..len]);
            }
            _ if is_quote(c) => self.put(at..at + len, "'"),
            _ if is_dash(c) => self.dash(at..at + len),
            _ if is_invisible(c) => {}
            _ if c.is_ascii() || !c.is_alphanumeric() && !is_combining_mark(c) => self.copy(at, &rest[..len]),
            _ => self.letter(c, at..at + len),
        }
        len
    }

    /// A letter outside ASCII, taken apart so that composed and decomposed accents are the same.
    fn letter(&mut self, c: char, range: Range<usize>) {
        let mut parts = String::new();
        if self.caseless {
            fold_char(c, &mut |part| parts.push(part));
        } else {
            decompose_canonical(c, |part| parts.push(part));
        }
        if !parts.is_empty() {
            self.put(range, &parts);
        }
    }

    /// A dash; white space around it and more dashes belong to it.
    fn dash(&mut self, range: Range<usize>) {
        self.space = None;
        if self.text.ends_with('-')
            && let Some(run) = self.runs.last_mut()
        {
            run.end = Some(range.end);
        } else {
            self.put(range, "-");
        }
    }

    fn white_space(&mut self, range: Range<usize>) {
        self.space = Some(self.space.as_ref().map_or(range.start, |s| s.start)..range.end);
    }

    /// Writes the pending white space, unless it stands at the start or after a dash or an ellipsis.
    fn flush(&mut self) {
        if let Some(space) = self.space.take()
            && !self.text.is_empty()
            && !self.text.ends_with(['-', '\u{2026}'])
        {
            self.runs.push(Run { plain: self.text.len(), original: space.start, end: Some(space.end) });
            self.text.push(' ');
        }
    }

    fn put(&mut self, range: Range<usize>, standing_for_it: &str) {
        self.flush();
        self.runs.push(Run { plain: self.text.len(), original: range.start, end: Some(range.end) });
        self.text.push_str(standing_for_it);
    }

    fn copy(&mut self, at: usize, part: &str) {
        self.flush();
        let plain = self.text.len();
        let goes_on =
            self.runs.last().is_some_and(|run| run.end.is_none() && run.original + (plain - run.plain) == at);
        if !goes_on {
            self.runs.push(Run { plain, original: at, end: None });
        }
        self.text.push_str(part);
        if self.caseless {
            self.text[plain..].make_ascii_lowercase();
        }
    }

    /// Translates a range of the plain form, not empty and on character boundaries.
    fn original(&self, plain: Range<usize>) -> Range<usize> {
        let run_at =
            |byte: usize| self.runs[self.runs.partition_point(|run| run.plain <= byte).saturating_sub(1)];
        if self.runs.is_empty() || plain.is_empty() {
            return 0..0;
        }
        let (first, last) = (run_at(plain.start), run_at(plain.end - 1));
        let start = first.end.map_or(first.original + (plain.start - first.plain), |_| first.original);
        start..last.end.unwrap_or(last.original + (plain.end - last.plain))
    }

    fn find(&self, text: &str, quote: &str) -> Vec<Found> {
        let quote = quote.trim();
        let pattern = Self::of(quote, self.caseless).text;
        for variant in variants(&pattern) {
            let found = self.find_either_case(variant);
            if !found.is_empty() {
                let found = found.into_iter().map(|plain| self.original(plain));
                return found.map(|range| Found { exact: text[range.clone()] == *quote, range }).collect();
            }
        }
        vec![]
    }

    /// Finds `pattern` as it is and with its first letter in the other case.
    fn find_either_case(&self, pattern: &str) -> Vec<Range<usize>> {
        let both = |text: &str, start, end| is_boundary(text, start) && is_boundary(text, end);
        let mut found = occurrences(&self.text, pattern, both);
        if !self.caseless
            && let Some(other) = with_first_letter_flipped(pattern)
        {
            found.extend(occurrences(&self.text, &other, both));
            found.sort_by_key(|range| range.start);
        }
        found
    }
}

/// The ways in which a plain quotation may stand in the text, the most faithful first: as it is, without its last
/// comma or full stop, without the quotation marks around it, without an ellipsis at its ends.
fn variants(pattern: &str) -> Vec<&str> {
    let bare = pattern.trim_matches('\'').trim();
    let trimmed = without_last_stop(bare).trim_matches('\'').trim();
    let words = without_last_stop(trimmed.trim_matches(['\u{2026}', '\'', ' ']));
    let mut all: Vec<&str> = vec![];
    for variant in [pattern, without_last_stop(pattern), bare, trimmed, words] {
        if has_word(variant) && !all.contains(&variant) {
            all.push(variant);
        }
    }
    all
}

fn without_last_stop(pattern: &str) -> &str {
    pattern.strip_suffix([',', '.']).unwrap_or(pattern).trim_end()
}

/// Returns the text with its first letter in the other case, if that letter begins its first word and has another case of one character.
fn with_first_letter_flipped(pattern: &str) -> Option<String> {
    let (at, first) = pattern.char_indices().find(|(_, c)| c.is_alphanumeric())?;
    let other: Vec<char> =
        if first.is_uppercase() { first.to_lowercase().collect() } else { first.to_uppercase().collect() };
    match other[..] {
        [other] if other != first => {
            Some(format!("{}{other}{}", &pattern[..at], &pattern[at + first.len_utf8()..]))
        }
        _ => None,
    }
}

/// Returns how many bytes need no thought: letters, digits and marks that stand for themselves, with single spaces between them.
fn common_prefix_len(bytes: &[u8]) -> usize {
    let plain =
        |b: u8| b.is_ascii_alphanumeric() || matches!(b, b',' | b'!' | b'?' | b';' | b':' | b'(' | b')');
    let mut len = 0;
    while let Some(&b) = bytes.get(len) {
        let is_gap = b == b' ' && len > 0 && bytes.get(len + 1).is_some_and(|next| plain(*next));
        if !plain(b) && !is_gap {
            break;
        }
        len += 1;
    }
    len
}

/// Returns the length of the `>` marks that open a line of a block quote.
fn block_quote_marks(line: &str) -> usize {
    let rest = line.trim_start_matches([' ', '\t']);
    if rest.starts_with('>') { line.len() - rest.trim_start_matches(['>', ' ', '\t']).len() } else { 0 }
}

/// Returns the length of the ellipsis at the start of `text`, of any make (`…`, `...`, `. . .`), or 0.
fn ellipsis_len(text: &str) -> usize {
    let (mut dots, mut end) = (0, 0);
    let mut spaced = false;
    for (at, c) in text.char_indices() {
        match c {
            '.' => dots += 1,
            '\u{2026}' => dots += 3,
            ' ' | '\u{a0}' | '\u{2009}' | '\u{200a}' | '\u{202f}' if !spaced => {
                spaced = true;
                continue;
            }
            _ => break,
        }
        spaced = false;
        end = at + c.len_utf8();
    }
    if dots >= 3 { end } else { 0 }
}

/// Whether the underscore at `at` has a letter or digit on both sides.
fn is_inside_word(original: &str, at: usize, next: Option<char>) -> bool {
    original[..at].chars().next_back().is_some_and(char::is_alphanumeric)
        && next.is_some_and(char::is_alphanumeric)
}

/// Whether a joiner after `c` makes one picture of two.
fn is_pictograph(c: char) -> bool {
    c >= '\u{2190}' && !c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "\u{feff}# One\r\n\r\n“Noted,” said the Captain—which was what *he* said when he had no\r\nanswer . . . and wanted you to know he’d looked for one.\n\n> The lamp\n> was lit; nobody can’t see it.\n\nHe said it at 7.30, in the well-known caf\u{e9}, to 👩\u{200d}🚀 Ilse Søndergaard.";

    /// The stretch of [`TEXT`] that a quotation is found at, if it is found once.
    fn found(quote: &str) -> Option<&'static str> {
        match &find_quote(TEXT, quote)[..] {
            [one] => Some(&TEXT[one.range.clone()]),
            _ => None,
        }
    }

    #[test]
    fn words_are_found_in_other_typography() {
        let table = [
            ("\"Noted,\" said the Captain", "“Noted,” said the Captain"),
            ("'Noted,' said the Captain", "“Noted,” said the Captain"),
            ("noted", "Noted"),
            ("Noted.", "Noted"),
            ("“Noted,”", "“Noted,”"),
            ("the Captain - which was", "the Captain—which was"),
            ("the Captain -- which was", "the Captain—which was"),
            ("Captain–which was what he said", "Captain—which was what *he* said"),
            ("what _he_ said", "what *he* said"),
            ("he had no answer... and wanted", "he had no\r\nanswer . . . and wanted"),
            ("He had no answer", "he had no\r\nanswer"),
            (
                "no answer … and wanted you to know he'd looked for one,",
                "no\r\nanswer . . . and wanted you to know he’d looked for one",
            ),
            ("no\u{a0}\u{2009}ans\u{ad}wer", "no\r\nanswer"),
            ("\u{2060}wanted you", "wanted you"),
            ("“wanted you to know”", "wanted you to know"),
            ("…wanted you to know…", "wanted you to know"),
            ("The lamp was lit", "The lamp\n> was lit"),
            ("cafe\u{301}, to", "caf\u{e9}, to"),
            ("👩\u{200d}🚀 Ilse", "👩\u{200d}🚀 Ilse"),
            ("Søndergaard", "Søndergaard"),
        ];
        for (quote, place) in table {
            assert_eq!(found(quote), Some(place), "{quote:?}");
        }
    }

    #[test]
    fn changed_words_and_parts_of_words_are_not_found() {
        for quote in [
            "said a Captain",
            "said Captain",
            "said the Captains",
            "aptain",
            "wanted you to kno",
            "he had no question",
            "nobody can",
            "t see it",
            "cafe, to",
            "had no answer and wanted",
            "",
            "...",
            "“”",
            "said the captain",
            "7.3",
            "which Was what he said",
        ] {
            assert_eq!(find_quote(TEXT, quote), [], "{quote:?}");
        }
    }

    #[test]
    fn the_very_bytes_are_told_from_a_variant() {
        assert_eq!(find_quote("a b. A b", "A b"), [Found { range: 5..8, exact: true }]);
        assert!(!find_quote("“a” b", "\"a\" b")[0].exact);
        let all = find_quote("It was, *it* was; IT was", "it was");
        assert_eq!(all.len(), 2, "{all:?}");
    }

    #[test]
    fn a_hit_inside_a_word_does_not_hide_the_one_behind_it() {
        assert_eq!(find_quote("xab ab ab", "ab ab"), [Found { range: 4..9, exact: true }]);
        assert_eq!(find_quote("xéa éa éa", "éa\u{a0}éa").len(), 1);
    }

    #[test]
    fn a_reader_searches_without_case_and_accents() {
        let text = Searchable::caseless("The MUGS of Ilse\nSØNDERGAARD");
        let ranges = |found: Vec<Range<usize>>| {
            found.into_iter().map(|r| text.text()[r].to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ranges(text.find_prefix("mug")), ["MUG"]);
        assert_eq!(
            ranges(text.find("ilse sondergaard").into_iter().map(|f| f.range).collect()),
            ["Ilse\nSØNDERGAARD"]
        );
        assert!(text.find_prefix("ugs").is_empty());
    }

    /// One word in the passage and as a model might write what comes after it.
    fn gap() -> impl Strategy<Value = (&'static str, &'static str)> {
        let kinds: [&[&str]; 5] = [
            &[" ", "\u{a0}", "\n", "\r\n", "  ", " \u{2060}", "\n\n", "\n> ", " *", "* ", "\\\n"],
            &["—", "–", " – ", " — ", "--", " - ", "\u{2009}—\u{2009}"],
            &["…", "...", " … ", ". . .", " ...", "\u{2026}\n"],
            &["’s ", "'s ", "\u{2bc}s "],
            &[", “", ", \"", ", ‘", ",\n‘", ", *“", ", «"],
        ];
        (0..kinds.len(), any::<prop::sample::Index>(), any::<prop::sample::Index>()).prop_map(
            move |(kind, a, b)| {
                (kinds[kind][a.index(kinds[kind].len())], kinds[kind][b.index(kinds[kind].len())])
            },
        )
    }

    proptest! {
        #[test]
        fn a_quotation_is_found_where_it_stands_and_a_changed_one_nowhere(
            words in prop::collection::vec(("[a-hé日ø]{1,6}", gap()), 2..9),
            capital in any::<bool>(), stop in "[,.]?", wrap in any::<bool>(), which in any::<prop::sample::Index>(),
        ) {
            let (before, after) = ("Zz zz, ", "; zz zz");
            let last = words.len() - 1;
            let (mut passage, mut quote) = (String::new(), String::new());
            for (at, (word, (there, here))) in words.iter().enumerate() {
                passage += word;
                quote += word;
                if at < last {
                    passage += there;
                    quote += here;
                }
            }
            if capital && quote.starts_with(|c: char| c.is_ascii_lowercase()) {
                quote[..1].make_ascii_uppercase();
            }
            quote += &stop;
            if wrap {
                quote = format!("“{quote}”");
            }
            let text = format!("{before}{passage}{after}");
            let place = before.len()..before.len() + passage.len();
            let all = find_quote(&text, &quote);
            prop_assert!(all.iter().any(|f| f.range == place), "{quote:?} in {text:?}: {all:?}");
            prop_assert_eq!(&Searchable::new(text.as_str()).find(&quote), &all);

            let changed = which.index(words.len());
            let others: Vec<String> = words.iter().enumerate().map(|(at, (word, (_, here)))| {
                let word = if at == changed { "qqq" } else { word.as_str() };
                format!("{word}{here}")
            }).collect();
            prop_assert_eq!(find_quote(&text, &others.concat()), vec![]);
            if changed > 0 && changed < last {
                let text = format!("{before}{}{after}", others.concat());
                let fewer: Vec<&str> =
                    words.iter().enumerate().filter(|(at, _)| *at != changed).flat_map(|(_, (w, (_, here)))| [w.as_str(), *here]).collect();
                prop_assert_eq!(find_quote(&text, &fewer.concat()), vec![], "a word of the text was left out");
            }
        }

        #[test]
        fn any_text_can_be_searched_for_anything(text in "\\PC{0,60}|[a-c .…—'’\"*_>\n\r\u{a0}\u{200d}\u{301}é~\\\\-]{0,40}", from in any::<prop::sample::Index>(), quote in "\\PC{0,8}|[a-c .…—'’*_\u{301}é-]{0,6}") {
            for found in find_quote(&text, &quote) {
                prop_assert!(text.get(found.range).is_some());
            }
            let mut own: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            own.push(text.len());
            let part = &text[own[from.index(own.len())]..];
            for found in Searchable::caseless(text.as_str()).find(part) {
                prop_assert!(text.get(found.range).is_some());
            }
        }
    }
}
