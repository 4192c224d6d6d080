//! Comments in Markdown: what an author writes beside the text, and no reader sees.

use std::ops::Range;

/// Returns where `%% comments %%` and `<!-- comments -->` stand, in order. One that is not closed is text.
///
/// Passes a text once, however many marks it holds.
pub fn comments(text: &str) -> Vec<Range<usize>> {
    const MARKS: [(&str, &str); 2] = [("%%", "%%"), ("<!--", "-->")];
    let (mut found, mut from) = (vec![], 0);
    // Where the next comment of each kind starts; looked for again only when it lies behind.
    let mut next = MARKS.map(|(open, _)| text.find(open));
    loop {
        for (place, (open, _)) in next.iter_mut().zip(MARKS) {
            if place.is_some_and(|start| start < from) {
                *place = text[from..].find(open).map(|at| from + at);
            }
        }
        let starts = next.iter().enumerate().filter_map(|(kind, start)| Some((kind, (*start)?)));
        let Some((kind, start)) = starts.min_by_key(|(_, start)| *start) else { return found };
        let (open, close) = MARKS[kind];
        let inside = start + open.len();
        match text[inside..].find(close) {
            Some(at) => {
                from = inside + at + close.len();
                found.push(start..from);
            }
            // Nothing of this kind is closed from here on.
            None => next[kind] = None,
        }
    }
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
