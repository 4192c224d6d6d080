//! Where time is missing.

use super::rows::line_of;
use super::{Checked, Kind, Place, Row, Severity, finding};
use crate::canon::story_time::in_order;
use crate::domain::book::Book;
use crate::domain::story_date::{Span, StoryDate};

/// Fewer stretches than this say nothing of what is long.
const ENOUGH: usize = 4;

/// How many times as long as the middle one a stretch is long.
const TIMES: i64 = 5;

/// A shorter stretch is never long, in days.
const LEAST_DAYS: i64 = 14;

/// Stretches between dated chapters and events that are much longer than the rest. What lies before the first or behind the last dated chapter,
/// and what stands out of the order of time, does not count.
pub(super) fn long_stretches(book: &Book, rows: &[Row]) -> Checked {
    const RULE: &str = "timeline-gap";
    let told = book.chapters.iter().filter_map(|c| in_order(c)?.span());
    let (first, last) = told.fold((None, None), |(first, last), span: Span| {
        (
            Some(first.map_or(span.first, |f| span.first.min(f))),
            Some(last.map_or(span.last, |l| span.last.max(l))),
        )
    });
    let within = |row: &&Row| matches!(row.kind, Kind::Chapter | Kind::Event) && !row.out_of_order;
    let dated = rows.iter().filter(within).filter_map(|row| {
        let span = StoryDate::parse(row.date.as_deref()?).span()?;
        (Some(span.first) >= first && Some(span.last) <= last).then_some((row, span))
    });
    let mut stretches: Vec<(i64, &Row, &Row)> = vec![];
    let mut before: Option<(&Row, Span)> = None;
    for (row, span) in dated {
        if let Some((earlier, until)) = before {
            stretches.push((until.days_until(&span), earlier, row));
        }
        if before.is_none_or(|(_, until)| until.last <= span.last) {
            before = Some((row, span));
        }
    }
    stretches.retain(|(days, ..)| *days > 0);
    let mut days: Vec<i64> = stretches.iter().map(|(days, ..)| *days).collect();
    days.sort_unstable();
    if days.len() < ENOUGH {
        let why = format!(
            "There are {} stretches between dates; {ENOUGH} are needed to tell which is long.",
            days.len()
        );
        return Checked::new(RULE, vec![], 0, ("stretch", "stretches"), Some(why));
    }
    let middle = days[days.len() / 2];
    let long = stretches.into_iter().filter(|(days, ..)| *days >= LEAST_DAYS && *days > TIMES * middle);
    let found = long.map(|(days, from, to)| {
        let message = format!(
            "{days} days pass between \"{}\" ({}) and \"{}\" ({}); half of the stretches are no longer than {middle}.",
            from.title,
            from.date.as_deref().unwrap_or_default(),
            to.title,
            to.date.as_deref().unwrap_or_default(),
        );
        let (from, to) = (Place::at(&from.path, from.line), Place::at(&to.path, to.line));
        finding(RULE, Severity::Hint, to, message, vec![from])
    });
    Checked::new(RULE, found.collect(), days.len(), ("stretch", "stretches"), None)
}

/// Chapters without a date between dated ones.
pub(super) fn chapters_without_date(book: &Book) -> Checked {
    const RULE: &str = "chapter-without-date";
    let dated: Vec<usize> =
        (0..book.chapters.len()).filter(|i| in_order(&book.chapters[*i]).is_some()).collect();
    let (Some(first), Some(last)) = (dated.first(), dated.last()) else {
        return Checked::new(RULE, vec![], 0, ("dated chapter", "dated chapters"), None);
    };
    let mut found = vec![];
    for chapter in &book.chapters[*first..=*last] {
        let free = match &chapter.time.date {
            None => "has no date".to_owned(),
            Some(date) if date.span().is_none() => {
                format!("is dated \"{}\", which can't be ordered,", date.text)
            }
            Some(_) => continue,
        };
        let message = format!(
            "Chapter {}, \"{}\", {free} and stands between dated ones.",
            chapter.number, chapter.title
        );
        let line = line_of(&chapter.text, chapter.body_start, &["date"]);
        found.push(finding(RULE, Severity::Hint, Place::at(&chapter.path, line), message, vec![]));
    }
    Checked::new(RULE, found, last - first + 1, ("chapter", "chapters"), None)
}
