//! Text that is safe to send to a terminal.
//!
//! Files, models and servers are not trusted: a control character or an escape sequence in their
//! text is shown as a visible symbol and never reaches the terminal as itself.

use std::borrow::Cow;

/// Returns the symbol that stands for `c` on screen, or `None` where `c` may be shown as it is.
///
/// C0 controls become their Unicode control pictures, DEL and C1 controls, bidirectional overrides and
/// isolates, line and paragraph separators and non-characters become a visible symbol. Tab and line feed
/// are controls too: whoever lays text out handles them before asking.
pub fn symbol(c: char) -> Option<char> {
    match c {
        '\u{0}'..='\u{1f}' => char::from_u32(0x2400 + c as u32),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0001}'
        | '\u{e0020}'..='\u{e007f}' => Some('\u{fffd}'),
        '\u{2028}' | '\u{2029}' => Some('\u{2424}'),
        _ => None,
    }
}

/// Makes one line of text safe: every control character becomes a symbol, a tab becomes a space.
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| symbol(c).is_some()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if c == '\t' { ' ' } else { symbol(c).unwrap_or(c) }).collect())
}

/// Makes text of several lines safe: keeps line feeds, and tabs as four spaces; CRLF becomes LF.
pub fn block(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && symbol(c).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => out.push('\n'),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\t' => out.push_str("    "),
            _ => out.push(symbol(c).unwrap_or(c)),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_sequence_is_shown_and_not_sent() {
        assert_eq!(line("a\x1b[31mred\x07"), "a␛[31mred␇");
        assert_eq!(block("a\r\nb\tc\r\x1b]0;x"), "a\nb    c␍␛]0;x");
        assert_eq!(line("\u{9b}31m\u{202e}"), "\u{fffd}31m\u{fffd}");
    }

    #[test]
    fn ordinary_text_is_borrowed() {
        assert!(matches!(line("Ilse Søndergaard 日本 👩‍🚀"), Cow::Borrowed(_)));
    }

    proptest::proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(text in "\\PC*|[\\x00-\\x9f\u{2028}\u{202e}a-z]{0,80}") {
            proptest::prop_assert!(!line(&text).chars().any(char::is_control));
            proptest::prop_assert!(!block(&text).chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
