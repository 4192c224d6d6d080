//! Dates that exclude each other.

use super::rows::{DATES, line_in, line_of, line_of_step, time_of_event};
use super::{Checked, Place, Severity, finding};
use crate::canon::label;
use crate::canon::story_time::{field, in_order, place_in, steps};
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::manuscript::Chapter;
use crate::domain::passage::{fold, line_column};
use crate::domain::story_date::{Span, StoryDate};

/// Keys of a chapter's date, for finding its line.
const CHAPTER_DATES: [&str; 4] = ["story date", "date", "when", "start"];

fn place_of(chapter: &Chapter) -> Place {
    Place::at(&chapter.path, line_of(&chapter.text, chapter.body_start, &CHAPTER_DATES))
}

/// Chapters whose dates run backwards in reading order, and that do not say that they mean to.
pub(super) fn chapters_run_backwards(book: &Book) -> Checked {
    const RULE: &str = "chapters-run-backwards";
    let dated: Vec<(&Chapter, Span)> =
        book.chapters.iter().filter_map(|c| Some((c, in_order(c)?.span()?))).collect();
    let mut found = vec![];
    let mut latest: Option<(&Chapter, Span)> = None;
    for (chapter, span) in &dated {
        match latest {
            Some((before, until)) if span.is_before(&until) => {
                let message = format!(
                    "Chapter {} is dated {}, before chapter {} ({}). If that is meant, say `flashback: true` in its frontmatter.",
                    chapter.number,
                    written(chapter),
                    before.number,
                    written(before),
                );
                found.push(finding(
                    RULE,
                    Severity::Error,
                    place_of(chapter),
                    message,
                    vec![place_of(before)],
                ));
            }
            // A later chapter surely lies behind the latest beginning, however long the chapter is that has it.
            Some((_, until)) if span.first < until.first => {}
            _ => latest = Some((chapter, *span)),
        }
    }
    let free =
        book.chapters.iter().filter(|c| c.time.date.as_ref().is_some_and(|d| d.span().is_none())).count();
    let left_out = (free > 0).then(|| format!("{free} with a date that can't be ordered left out."));
    Checked::new(
        RULE,
        found,
        dated.len().saturating_sub(1),
        ("pair of chapters", "pairs of chapters"),
        left_out,
    )
}

fn written(chapter: &Chapter) -> &str {
    chapter.time.date.as_ref().map_or("", |date| &date.text)
}

/// Events with a date and a chapter that has another date.
pub(super) fn events_and_their_chapters(book: &Book) -> Checked {
    const RULE: &str = "event-and-chapter";
    let (mut found, mut compared, mut left_out) = (vec![], 0, 0);
    for event in book.entries_of(EntryType::Event) {
        let time = time_of_event(book, event);
        let (Some(date), Some(place)) = (&time.date, time.chapter) else { continue };
        let chapter = &book.chapters[place];
        let spans = (date.span(), chapter.time.date.as_ref().and_then(StoryDate::span));
        let (Some(own), Some(there)) = spans else {
            left_out += 1;
            continue;
        };
        compared += 1;
        if !own.overlaps(&there) {
            let message = format!(
                "\"{}\" is dated {} and belongs to chapter {}, which is dated {}.",
                event.name,
                date.text,
                chapter.number,
                written(chapter)
            );
            let at = Place::at(&event.path, line_in(event, &DATES));
            found.push(finding(RULE, Severity::Error, at, message, vec![place_of(chapter)]));
        }
    }
    let left_out = (left_out > 0)
        .then(|| format!("{left_out} left out: one of the two has no date that can be ordered."));
    Checked::new(
        RULE,
        found,
        compared,
        ("event with a dated chapter", "events with a dated chapter"),
        left_out,
    )
}

/// A date of an event, and where it stands.
struct Dated {
    date: StoryDate,
    at: Place,
}

/// Events that have one date here and another there: under two keys, in a `Date:` line, in a second entry of that name, or in a line of another
/// entry that begins with a date and goes on with the event's name.
pub(super) fn events_with_two_dates(book: &Book) -> Checked {
    const RULE: &str = "event-two-dates";
    let (mut found, mut compared, mut free) = (vec![], 0, 0);
    let events: Vec<&Entry> = book.entries_of(EntryType::Event).collect();
    let mut all: Vec<(&Entry, Vec<Dated>)> =
        events.iter().map(|event| (*event, own_dates(book, event))).collect();
    told_elsewhere(book, &mut all);
    for (at, (event, dates)) in all.iter().enumerate() {
        let same_name = all[..at].iter().filter(|(other, _)| fold(&other.name) == fold(&event.name));
        let earlier = same_name.flat_map(|(_, dates)| dates.iter().take(1));
        let mut with_span = earlier.chain(dates).filter_map(|dated| Some((dated, dated.date.span()?)));
        free += dates.iter().filter(|dated| dated.date.span().is_none()).count();
        let Some((first, span)) = with_span.next() else { continue };
        for (other, there) in with_span {
            compared += 1;
            if !span.overlaps(&there) {
                let message = format!(
                    "\"{}\" is dated {} here and {} in {}, line {}.",
                    event.name, other.date.text, first.date.text, first.at.path, first.at.line
                );
                found.push(finding(RULE, Severity::Error, other.at.clone(), message, vec![first.at.clone()]));
            }
        }
    }
    let left_out = (free > 0).then(|| format!("{free} dates that can't be ordered left out."));
    Checked::new(RULE, found, compared, ("second date", "second dates"), left_out)
}

fn own_dates(book: &Book, event: &Entry) -> Vec<Dated> {
    let mut dates = vec![];
    if let Some(date) = time_of_event(book, event).date {
        let at = Place::at(&event.path, line_in(event, &DATES));
        dates.push(Dated { date, at });
    }
    // The same key twice: under another name, or as a line of the text.
    for key in DATES {
        let value = field(&event.fields, &[key]).and_then(StoryDate::of);
        let at = Place::at(&event.path, line_in(event, &[key]));
        dates.extend(value.map(|date| Dated { date, at }));
    }
    let first = line_column(&event.text, event.body.start).0;
    for (line, text) in (first..).zip(event.body().lines()) {
        let bare = text.trim_start_matches(|c: char| !c.is_alphanumeric());
        let Some((label, value)) = bare.split_once(':') else { continue };
        if DATES.contains(&fold(label.trim_end_matches('*')).as_str()) {
            let date = StoryDate::parse(value.trim_matches(|c: char| matches!(c, ':' | '*' | '_' | ' ')));
            dates.push(Dated { date, at: Place::at(&event.path, line) });
        }
    }
    let mut seen: Vec<StoryDate> = vec![];
    dates.retain(|dated| {
        let is_new = !seen.contains(&dated.date);
        seen.push(dated.date.clone());
        is_new
    });
    dates
}

/// The names of events, each with the place of its event among those that were given.
pub(super) struct EventNames(Vec<(String, usize)>);

impl EventNames {
    pub(super) fn of<'a>(events: impl IntoIterator<Item = &'a Entry>) -> Self {
        let names = events.into_iter().enumerate().flat_map(|(at, event)| {
            std::iter::once(&event.name).chain(&event.aliases).map(move |name| (fold(name), at))
        });
        let bare = names.map(|(name, at)| (name.strip_prefix("the ").unwrap_or(&name).to_owned(), at));
        Self(bare.filter(|(name, _)| !name.is_empty()).collect())
    }

    /// Returns the event whose name words begin with, unless they go on as another sentence does: `the Inquiry ends` has a date of its own.
    pub(super) fn begins(&self, words: &str) -> Option<usize> {
        let words = fold(&words.replace(['[', ']', '*'], ""));
        let words = words.strip_prefix("the ").unwrap_or(&words);
        let goes_on = |behind: &str| {
            let behind = behind.trim_start_matches(' ');
            let mut verbs = ["begins", "starts", "opens", "takes place"].iter();
            !verbs.any(|verb| behind.starts_with(verb))
                && behind.starts_with(|c: char| c.is_alphanumeric() || c == '\'')
        };
        let begins = |name: &str| words.strip_prefix(name).is_some_and(|behind| !goes_on(behind));
        let longest = self.0.iter().filter(|(name, _)| begins(name)).max_by_key(|(name, _)| name.len());
        longest.map(|(_, at)| *at)
    }
}

/// Adds the dates that other entries give: `- 2318-06-03: the Inquiry`.
fn told_elsewhere(book: &Book, events: &mut [(&Entry, Vec<Dated>)]) {
    let names = EventNames::of(events.iter().map(|(event, _)| *event));
    if names.0.is_empty() {
        return;
    }
    for entry in &book.entries {
        let first = line_column(&entry.text, entry.body.start).0;
        for (line, text) in (first..).zip(entry.body().lines()) {
            if !text.contains(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let Some(date) = label::place(text, false).filter(|date| date.span().is_some()) else { continue };
            let Some(at) = names.begins(label::behind(text)) else { continue };
            let Some((event, dates)) = events.get_mut(at) else { continue };
            if event.path != entry.path || event.heading != entry.heading {
                dates.push(Dated { date, at: Place::at(&entry.path, line) });
            }
        }
    }
}

/// Progressions that name a chapter and a date that is not that chapter's.
pub(super) fn progressions_with_two_times(book: &Book) -> Checked {
    const RULE: &str = "progression-and-chapter";
    let (mut found, mut compared, mut left_out) = (vec![], 0, 0);
    for entry in &book.entries {
        for step in steps(entry) {
            let chapter = step.places.iter().find_map(|place| place_in(book, place));
            let date = step.places.iter().find(|place| place.span().is_some());
            let (Some(chapter), Some(date)) = (chapter.map(|at| &book.chapters[at]), date) else { continue };
            let there = chapter.time.date.as_ref().and_then(StoryDate::span);
            let (Some(own), Some(there)) = (date.span(), there) else {
                left_out += 1;
                continue;
            };
            compared += 1;
            if !own.overlaps(&there) {
                let message = format!(
                    "A progression of \"{}\" begins in chapter {} ({}) and on {}.",
                    entry.name,
                    chapter.number,
                    written(chapter),
                    date.text
                );
                let at = Place::at(&entry.path, line_of_step(&entry.text, entry.body.start, &date.text));
                found.push(finding(RULE, Severity::Error, at, message, vec![place_of(chapter)]));
            }
        }
    }
    let left_out = (left_out > 0)
        .then(|| format!("{left_out} left out: their chapter has no date that can be ordered."));
    let what = ("progression with both", "progressions with a chapter and a date");
    Checked::new(RULE, found, compared, what, left_out)
}
