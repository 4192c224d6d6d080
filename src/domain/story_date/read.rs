//! Reading a text as a date: words and numbers in, a meaning out.

use super::{Span, When, span_of};
use crate::domain::numeral;
use crate::domain::passage::fold;

/// Longest text that can be a date, in bytes.
const MAX_BYTES: usize = 80;

/// The months in languages that write them beside a number and a year, folded, and how much of the name is enough.
const MONTHS: [[&str; 5]; 12] = [
    ["january", "januar", "janvier", "enero", "gennaio"],
    ["february", "februar", "fevrier", "febrero", "febbraio"],
    ["march", "marz", "mars", "marzo", "marz"],
    ["april", "april", "avril", "abril", "aprile"],
    ["may", "mai", "mai", "mayo", "maggio"],
    ["june", "juni", "juin", "junio", "giugno"],
    ["july", "juli", "juillet", "julio", "luglio"],
    ["august", "august", "aout", "agosto", "agosto"],
    ["september", "september", "septembre", "septiembre", "settembre"],
    ["october", "oktober", "octobre", "octubre", "ottobre"],
    ["november", "november", "novembre", "noviembre", "novembre"],
    ["december", "dezember", "decembre", "diciembre", "dicembre"],
];

/// Short forms, with or without a full stop.
const SHORT_MONTHS: [&[&str]; 12] = [
    &["jan", "janv", "ene", "gen"],
    &["feb", "fevr", "febb"],
    &["mar", "mrz"],
    &["apr", "avr", "abr"],
    &["mag"],
    &["jun", "giu"],
    &["jul", "juil", "lug"],
    &["aug", "ago"],
    &["sep", "sept", "set"],
    &["oct", "okt", "ott"],
    &["nov"],
    &["dec", "dez", "dic"],
];

const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Words inside a date that say nothing by themselves.
const SMALL: [&str; 8] = ["the", "of", "on", "at", "in", "de", "del", "le"];

/// Returns what a text means as a date.
pub(super) fn when(text: &str) -> When {
    if text.len() > MAX_BYTES {
        return When::Free;
    }
    let bare = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | '\''));
    if let Some((from, to)) = chapters(bare) {
        return When::Chapter(from, to);
    }
    calendar(bare).map_or(When::Free, When::Calendar)
}

/// `chapter 7`, `ch. 3-5`, `chapters 3 to 5`.
fn chapters(text: &str) -> Option<(u32, u32)> {
    let singular = ["chapters", "chs"].into_iter().find_map(|plural| {
        let head = text.get(..plural.len()).filter(|head| head.eq_ignore_ascii_case(plural))?;
        Some(format!("{}{}", &head[..plural.len() - 1], &text[plural.len()..]))
    });
    let text = singular.as_deref().unwrap_or(text);
    let separators = [" to ", " until ", " through ", "\u{2013}", "\u{2014}"];
    let (left, right) =
        separators.iter().find_map(|s| text.split_once(s)).map_or((text, None), |(l, r)| (l, Some(r)));
    let first = numeral::of_chapter(left.trim()).filter(|numbered| numbered.labelled)?;
    let last = right.unwrap_or(first.rest).trim();
    let last = numeral::of_chapter(last).filter(|n| n.labelled).map(|n| n.number).or_else(|| {
        // Behind a hyphen `rest` holds a bare number; any other rest is a title.
        numeral::parse(last).filter(|n| *n < 1000)
    });
    Some((first.number, last.filter(|last| *last >= first.number).unwrap_or(first.number)))
}

fn calendar(text: &str) -> Option<Span> {
    single(text).or_else(|| range(text))
}

/// One date, as exact as it is told.
pub(super) fn single(text: &str) -> Option<Span> {
    let mut parts = Parts::default();
    let separated = text.replace([',', '\u{a0}'], " ");
    let mut words = separated.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let word = word.to_lowercase();
        // `2318-06-03t14:30`
        let (date, time) = match word.split_once('t').filter(|(date, _)| date.len() >= 8) {
            Some((date, time)) if date.starts_with(|c: char| c.is_ascii_digit()) => (date, Some(time)),
            _ => (&*word, None),
        };
        if date.contains(':') {
            let half = words.next_if(|next| half_of_day(next).is_some()).and_then(half_of_day);
            parts.time(date, half)?;
        } else {
            parts.word(date)?;
        }
        if let Some(time) = time {
            parts.time(time.trim_end_matches('z'), None)?;
        }
    }
    parts.span()
}

/// Whether `am` or `pm` stands there: the hours to add, from 1 on.
fn half_of_day(word: &str) -> Option<bool> {
    match word.to_lowercase().replace('.', "").as_str() {
        "am" => Some(false),
        "pm" => Some(true),
        _ => None,
    }
}

/// What the words of a date have said so far.
#[derive(Default)]
struct Parts {
    /// Year, month and day of a date in digits.
    digits: Option<(i32, Option<u8>, Option<u8>)>,
    month: Option<u8>,
    /// Numbers beside a month's name, with how many digits they have.
    numbers: Vec<(u32, usize)>,
    /// The word `year` stands before, or an era behind.
    is_year: bool,
    before_common_era: bool,
    minute: Option<u16>,
}

impl Parts {
    /// Takes a word; `None` if it does not belong in a date.
    fn word(&mut self, word: &str) -> Option<()> {
        let plain = fold(word.trim_end_matches('.'));
        if SMALL.contains(&plain.as_str()) || WEEKDAYS.contains(&plain.as_str()) {
            return Some(());
        }
        if let Some(month) = month(&plain) {
            return self.month.replace(month).is_none().then_some(());
        }
        match plain.as_str() {
            "year" | "anno" | "ad" | "ce" => {
                self.is_year = true;
                return Some(());
            }
            "bc" | "bce" => {
                (self.is_year, self.before_common_era) = (true, true);
                return Some(());
            }
            _ => {}
        }
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 6 {
            return None;
        }
        let rest = &word[digits..];
        if matches!(rest, "" | "st" | "nd" | "rd" | "th" | ".") {
            self.numbers.push((word[..digits].parse().ok()?, if rest.is_empty() { digits } else { 2 }));
            return Some(());
        }
        let date = in_digits(word)?;
        self.digits.replace(date).is_none().then_some(())
    }

    fn time(&mut self, word: &str, afternoon: Option<bool>) -> Option<()> {
        let mut parts = word.split(':').map(|part| part.parse::<u16>().ok().filter(|_| part.len() <= 2));
        let (hour, minute) = (parts.next()??, parts.next()??);
        let hour = match afternoon {
            Some(_) if !(1..=12).contains(&hour) => return None,
            Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
            None => hour,
        };
        let fits = hour < 24 && minute < 60 && parts.all(|second| second.is_some());
        (fits && self.minute.replace(hour * 60 + minute).is_none()).then_some(())
    }

    fn span(self) -> Option<Span> {
        let sign = |year: u32| i32::try_from(year).ok().map(|y| if self.before_common_era { -y } else { y });
        let (year, month, day) = match (self.digits, self.month, &self.numbers[..]) {
            (Some(date), None, []) => date,
            (None, Some(month), [(year, digits)]) if *digits >= 3 || self.is_year => {
                (sign(*year)?, Some(month), None)
            }
            (None, Some(month), [(a, a_digits), (b, b_digits)]) => {
                let ((day, _), year) = match (*a_digits <= 2, *b_digits <= 2) {
                    (true, _) if *b_digits >= 3 || self.is_year => ((*a, *a_digits), *b),
                    (false, true) => ((*b, *b_digits), *a),
                    _ => return None,
                };
                (sign(year)?, Some(month), Some(u8::try_from(day).ok()?))
            }
            (None, None, [(year, digits)]) if *digits >= 4 || self.is_year => (sign(*year)?, None, None),
            _ => return None,
        };
        span_of(year, month, day, self.minute)
    }
}

/// `2318-06`, `2318-06-03`, `2318/6/3`, `3.6.2318`. Not `3/6/2318`: which is the month can't be told.
fn in_digits(word: &str) -> Option<(i32, Option<u8>, Option<u8>)> {
    let sign = word.chars().find(|c| !c.is_ascii_digit()).filter(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = word.split(sign).collect();
    if parts.iter().any(|part| part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit())) {
        return None;
    }
    let small = |part: &str| part.parse().ok().filter(|_| part.len() <= 2);
    let year = |part: &str| part.parse().ok().filter(|_| (4..=6).contains(&part.len()));
    match parts[..] {
        [y, m] if sign != '.' => Some((year(y)?, Some(small(m)?), None)),
        [d, m, y] if sign == '.' && y.len() >= 4 => Some((year(y)?, Some(small(m)?), Some(small(d)?))),
        [y, m, d] => Some((year(y)?, Some(small(m)?), Some(small(d)?))),
        _ => None,
    }
}

fn month(folded: &str) -> Option<u8> {
    let at = MONTHS
        .iter()
        .position(|names| names.contains(&folded))
        .or_else(|| SHORT_MONTHS.iter().position(|names| names.contains(&folded)))?;
    u8::try_from(at + 1).ok()
}

/// Two dates with something between them; the first may leave out what the second says.
fn range(text: &str) -> Option<Span> {
    let text = ["from ", "between "]
        .iter()
        .find_map(|word| text.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)))
        .map_or(text, |head| &text[head.len()..]);
    let separators =
        [" to ", " until ", " till ", " through ", " and ", " - ", "\u{2013}", "\u{2014}", "..", "/", "-"];
    separators.iter().find_map(|separator| {
        let (left, right) = text.split_once(separator)?;
        let end = single(right)?;
        let (year, month) = (end.last.year, MONTHS[usize::from(end.last.month) - 1][0]);
        // A hyphen joins only what can't be parts of one date.
        let is_year = |part: &str| part.len() >= 4 && part.bytes().all(|b| b.is_ascii_digit());
        if *separator == "-" && !(is_year(left) && is_year(right)) {
            return None;
        }
        let start = single(left)
            .or_else(|| single(&format!("{left} {month} {year:04}")))
            .or_else(|| single(&format!("{left} {year:04}")))?;
        (start.first <= end.last).then_some(Span { first: start.first, last: end.last })
    })
}
