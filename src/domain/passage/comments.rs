//! Comments in Markdown: what an author writes beside the text, and no reader sees.

use std::ops::Range;

/// Returns where `%% comments %%` and `<!-- comments -->` stand, in order. One that is not closed is text.
pub fn comments(text: &str) -> Vec<Range<usize>> {
    let mut found = vec![];
    let mut from = 0;
    while let Some(next) = [("%%", "%%"), ("<!--", "-->")]
        .into_iter()
        .filter_map(|(open, close)| {
            let at = from + text[from..].find(open)?;
            let inside = at + open.len();
            Some(at..inside + text[inside..].find(close)? + close.len())
        })
        .min_by_key(|range| (range.start, range.end))
    {
        from = next.end;
        found.push(next);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_where_they_begin_and_end() {
        let found =
            |text: &'static str| comments(text).into_iter().map(|range| &text[range]).collect::<Vec<_>>();
        assert_eq!(found("a %%b\nc%% d <!-- e --> f %% g"), ["%%b\nc%%", "<!-- e -->"]);
        assert_eq!(found("<!-- %% --> x %%é%%"), ["<!-- %% -->", "%%é%%"]);
        assert_eq!(found("<!-- open"), Vec::<&str>::new());
    }
}
