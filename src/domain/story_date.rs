//! Dates of a story as authors write them: `2318-06-03`, `3 June 2318`, `June 2318`, `2316 to 2318`, `chapter 7`, `15th hammer, 5421`.
//!
//! What can be ordered is read; anything else is kept as it is written and says that it can't be compared. Nothing is guessed: a date
//! without a year, a day that its month does not have, `about 2300` and an invented calendar stay free text.

mod found;
mod read;

use serde_json::Value;

pub use found::found_in;

/// A point or a stretch of story time, as written and as understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoryDate {
    /// What the author wrote.
    pub text: String,
    /// What it means.
    pub when: When,
}

/// What a date means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// A stretch of the calendar.
    Calendar(Span),
    /// From the chapter with this number to the one with that number.
    Chapter(u32, u32),
    /// It can't be compared with anything.
    Free,
}

/// A minute of the (proleptic Gregorian) calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Year; before the common era negative, without a year 0.
    pub year: i32,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
    /// Minute of the day, from 0.
    pub minute: u16,
}

/// A stretch of the calendar, both ends included: of a year all its minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first minute.
    pub first: Moment,
    /// Its last minute.
    pub last: Moment,
}

/// Minutes of a day.
const DAY: u16 = 24 * 60;

impl StoryDate {
    /// Reads a date. Never fails: what has no meaning here is [`When::Free`].
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        Self { text: text.to_owned(), when: read::when(text) }
    }

    /// Reads the value of a key such as `date`. `None` where it says nothing; of a list the first item counts.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(Self::parse(text)).filter(|date| !date.text.is_empty()),
            Value::Number(number) => Some(Self::parse(&number.to_string())),
            Value::Array(items) => items.iter().find_map(Self::of),
            _ => None,
        }
    }

    /// Reads the value of a key that may also be a bare chapter number, such as `from` or `chapter`: up to three digits.
    pub fn of_place(value: &Value) -> Option<Self> {
        let date = Self::of(value)?;
        let number = crate::domain::numeral::parse(&date.text).filter(|_| date.when == When::Free);
        Some(match number.filter(|number| *number < 1000) {
            Some(number) => Self { when: When::Chapter(number, number), ..date },
            None => date,
        })
    }

    /// Returns the stretch of the calendar, where it is one.
    pub fn span(&self) -> Option<Span> {
        match self.when {
            When::Calendar(span) => Some(span),
            When::Chapter(..) | When::Free => None,
        }
    }
}

impl Span {
    /// Whether all of it lies before all of `other`.
    pub fn is_before(&self, other: &Self) -> bool {
        self.last < other.first
    }

    /// Whether the two have a minute in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.is_before(other) && !other.is_before(self)
    }

    /// Returns the days from its end to the beginning of a later one; 0 where they meet or overlap.
    pub fn days_until(&self, later: &Self) -> i64 {
        (later.first.day_number() - self.last.day_number()).max(0)
    }
}

impl Moment {
    /// Returns the days since 1 March of the year 0.
    /// <https://howardhinnant.github.io/date_algorithms.html#days_from_civil>
    pub fn day_number(self) -> i64 {
        let (year, month, day) = (i64::from(self.year), i64::from(self.month), i64::from(self.day));
        // A year of the common era is one more than the astronomical one before it.
        let year = if year < 0 { year + 1 } else { year } - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year
    }
}

impl std::fmt::Display for Moment {
    /// Writes `2318-06-03`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.year < 0 { "-" } else { "" };
        write!(f, "{sign}{:04}-{:02}-{:02}", self.year.unsigned_abs(), self.month, self.day)
    }
}

/// Whole months and years as stretches.
fn span_of(year: i32, month: Option<u8>, day: Option<u8>, minute: Option<u16>) -> Option<Span> {
    let at = |month, day, minute| Moment { year, month, day, minute };
    if year == 0 || month.is_some_and(|m| !(1..=12).contains(&m)) {
        return None;
    }
    let (first, last) = match (month, day) {
        (Some(month), Some(day)) if (1..=days_in(year, month)).contains(&day) => match minute {
            Some(minute) => (at(month, day, minute), at(month, day, minute)),
            None => (at(month, day, 0), at(month, day, DAY - 1)),
        },
        (_, Some(_)) => return None,
        _ if minute.is_some() => return None,
        (Some(month), None) => (at(month, 1, 0), at(month, days_in(year, month), DAY - 1)),
        (None, None) => (at(1, 1, 0), at(12, 31, DAY - 1)),
    };
    Some(Span { first, last })
}

fn days_in(year: i32, month: u8) -> u8 {
    let year = if year < 0 { year + 1 } else { year };
    match month {
        2 if year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// First and last day, or what else it is.
    fn read(text: &str) -> String {
        match StoryDate::parse(text).when {
            When::Calendar(span) if span.first.day_number() == span.last.day_number() => {
                span.first.to_string()
            }
            When::Calendar(span) => format!("{} to {}", span.first, span.last),
            When::Chapter(from, to) if from == to => format!("chapter {from}"),
            When::Chapter(from, to) => format!("chapters {from} to {to}"),
            When::Free => "free".to_owned(),
        }
    }

    #[test]
    fn dates_are_read_as_authors_write_them() {
        for (text, means) in [
            ("2318-06-03", "2318-06-03"),
            ("2318/6/3", "2318-06-03"),
            ("2318.06.03", "2318-06-03"),
            ("3.6.2318", "2318-06-03"),
            ("2318-06-03T14:30", "2318-06-03"),
            ("2318-06-03 at 2:30 pm", "2318-06-03"),
            ("3 June 2318", "2318-06-03"),
            ("3rd of June, 2318", "2318-06-03"),
            ("the 3rd of Jun. 2318", "2318-06-03"),
            ("June 3, 2318", "2318-06-03"),
            ("Monday, 3 June 2318", "2318-06-03"),
            ("3. Juni 2318", "2318-06-03"),
            ("3 févr. 2318", "2318-02-03"),
            ("3 de junio de 2318", "2318-06-03"),
            ("[[2318-06-03]]", "2318-06-03"),
            ("June 2318", "2318-06-01 to 2318-06-30"),
            ("2318-02", "2318-02-01 to 2318-02-28"),
            ("Feb 2320", "2320-02-01 to 2320-02-29"),
            ("2318", "2318-01-01 to 2318-12-31"),
            ("year 12", "0012-01-01 to 0012-12-31"),
            ("44 BC", "-0044-01-01 to -0044-12-31"),
            ("15 March 44 BC", "-0044-03-15"),
            ("2316 to 2318", "2316-01-01 to 2318-12-31"),
            ("2316-2318", "2316-01-01 to 2318-12-31"),
            ("2316\u{2013}2318", "2316-01-01 to 2318-12-31"),
            ("from 2318-06-03 until 2318-06-10", "2318-06-03 to 2318-06-10"),
            ("2318-06-03/2318-06-10", "2318-06-03 to 2318-06-10"),
            ("3 to 10 June 2318", "2318-06-03 to 2318-06-10"),
            ("3\u{2013}10 June 2318", "2318-06-03 to 2318-06-10"),
            ("June to August 2318", "2318-06-01 to 2318-08-31"),
            ("30 June - 2 July 2318", "2318-06-30 to 2318-07-02"),
        ] {
            assert_eq!(read(text), means, "{text}");
        }
    }

    #[test]
    fn a_chapter_is_a_place_in_story_time() {
        for (text, means) in [
            ("chapter 7", "chapter 7"),
            ("Ch. 3", "chapter 3"),
            ("Chapter Twelve", "chapter 12"),
            ("chapter VII: The Inquiry", "chapter 7"),
            ("chapters 3-5", "chapters 3 to 5"),
            ("ch. 3 to ch. 5", "chapters 3 to 5"),
        ] {
            assert_eq!(read(text), means, "{text}");
        }
        let place = |value: Value| StoryDate::of_place(&value).map(|date| date.when);
        assert_eq!(place(json!(7)), Some(When::Chapter(7, 7)));
        assert_eq!(place(json!("07")), Some(When::Chapter(7, 7)));
        assert_eq!(place(json!("seven")), Some(When::Chapter(7, 7)));
        assert_eq!(place(json!(2318)), Some(StoryDate::parse("2318").when));
        assert_eq!(place(json!(null)), None);
        assert_eq!(StoryDate::of(&json!(7)).unwrap().when, When::Free, "a number alone is no date");
    }

    #[test]
    fn what_can_not_be_ordered_is_kept_and_never_guessed() {
        for text in [
            "15th hammer, 5421",
            "about 2300",
            "before 2318",
            "03/06/2318",
            "2318-02-30",
            "31 June 2318",
            "2318-13",
            "3 June",
            "spring 2318",
            "three days later",
            "2320 to 2318",
            "0000",
            "1.5",
            "chapter",
            "99999999999999999999",
            "June June 2318",
            "2318 2319",
            "\u{2013}",
            "2318-06-03 24:00",
            "",
        ] {
            assert_eq!(read(text), "free", "{text}");
            assert_eq!(StoryDate::parse(text).text, text);
        }
    }

    #[test]
    fn a_date_told_less_exactly_is_a_longer_stretch() {
        let span = |text| StoryDate::parse(text).span().unwrap();
        assert!(span("2317").is_before(&span("2318-01-01")));
        assert!(span("2318").overlaps(&span("2318-06-03")));
        assert!(!span("2318").is_before(&span("2318-06-03")));
        assert!(span("2318-06-03 09:15").is_before(&span("2318-06-03 14:30")));
        assert_eq!(span("2318-06-03 2:30 pm"), span("2318-06-03 14:30"));
        assert_eq!(span("2318-06-03").days_until(&span("2318-07-03")), 30);
        assert_eq!(span("2319-12-31").days_until(&span("2320-03-01")), 61);
        assert_eq!(span("31 December 1 BC").days_until(&span("0001-01-01")), 1);
        assert_eq!(span("2318").days_until(&span("2318-06-03")), 0);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "[0-9a-zA-Zé./:, \\-–\\[\\]]{0,32}") {
            let date = StoryDate::parse(&text);
            proptest::prop_assert!(date.span().is_none_or(|span| span.first <= span.last));
            found_in(&text);
        }

        #[test]
        fn every_day_is_read_in_each_form(number in 0i64..1_000_000) {
            let all = |text: &str| StoryDate::parse(text).span().map(|span| span.first);
            let (year, month, day) = (1 + number / 372, 1 + number / 31 % 12, 1 + number % 31);
            let name = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"][month as usize - 1];
            let iso = all(&format!("{year:04}-{month:02}-{day:02}"));
            proptest::prop_assert_eq!(iso, all(&format!("{day} {name} {year:04}")));
            proptest::prop_assert_eq!(iso, all(&format!("{name} {day}, {year:04}")));
            proptest::prop_assert_eq!(iso.is_some(), day <= i64::from(days_in(year as i32, month as u8)));
        }
    }
}
