//! Paragraphs, and cutting a text where one ends.

use std::ops::Range;

/// Returns the byte ranges of the paragraphs of `text`: what stands between blank lines, without surrounding white space.
pub fn paragraphs(text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut open: Option<Range<usize>> = None;
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for line in text[at..].split_inclusive('\n') {
        let words = line.trim();
        if words.is_empty() {
            found.extend(open.take());
        } else {
            let start = at + (line.len() - line.trim_start().len());
            let end = start + words.len();
            open = Some(open.map_or(start, |o| o.start)..end);
        }
        at += line.len();
    }
    found.extend(open);
    found
}

/// Cuts `text` to at most `max_chars` characters on a paragraph boundary (or, in a paragraph that is itself longer, a word).
/// Returns the kept part; it is `text` itself when everything fits.
pub fn cut(text: &str, max_chars: usize) -> &str {
    let Some((limit, _)) = text.char_indices().nth(max_chars) else { return text };
    if text[limit..].trim().is_empty() {
        return &text[..limit];
    }
    if let Some(last) = paragraphs(text).iter().take_while(|p| p.end <= limit).last() {
        return &text[..last.end];
    }
    let head = &text[..limit];
    let word_ends = text[limit..].starts_with(char::is_whitespace);
    let end = if word_ends { limit } else { head.rfind(char::is_whitespace).unwrap_or(limit) };
    let kept = head[..end].trim_end();
    if kept.is_empty() { head } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<&str> {
        paragraphs(text).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn blank_lines_part_paragraphs() {
        assert_eq!(
            parts("\u{feff}# One\r\n\r\n  Two\r\ngoes on \r\n \t\r\n\r\nThree"),
            ["# One", "Two\r\ngoes on", "Three"]
        );
        assert!(parts(" \n\n\t\n").is_empty());
        assert!(parts("").is_empty());
    }

    #[test]
    fn a_text_is_cut_where_a_paragraph_ends() {
        let text = "One two.\n\nThree four.\n\nFive.";
        assert_eq!(cut(text, 100), text);
        assert_eq!(cut(text, 28), text);
        assert_eq!(cut(text, 27), "One two.\n\nThree four.");
        assert_eq!(cut(text, 10), "One two.");
        assert_eq!(cut(text, 6), "One");
        assert_eq!(cut(text, 2), "On");
        assert_eq!(cut(text, 0), "");
        assert_eq!(cut("Ünübersehbar", 3), "Ünü");
        assert_eq!(cut("One two.\n", 8), "One two.");
    }

    proptest::proptest! {
        #[test]
        fn what_is_kept_is_a_beginning_that_fits(text in "[a-zé日👩 \n.]{0,80}", max in 0usize..90) {
            let kept = cut(&text, max);
            proptest::prop_assert!(text.starts_with(kept));
            proptest::prop_assert!(kept.chars().count() <= max);
        }

        #[test]
        fn paragraphs_hold_all_words_in_order(text in "[a-zé日 \r\n\t.]{0,80}") {
            let joined: Vec<&str> = paragraphs(&text).into_iter().flat_map(|r| text[r].split_whitespace()).collect();
            proptest::prop_assert_eq!(joined, text.split_whitespace().collect::<Vec<_>>());
        }
    }
}
