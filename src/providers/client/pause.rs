//! Waiting before a request is sent again: for how long, and by which clock.
//!
//! The times are those of OpenAI's own clients: half a second, doubled each time up to eight, less up to a quarter by chance, so that
//! clients that failed together don't come back together. What a server asks for itself counts before that.
//! <https://github.com/openai/openai-python/blob/main/src/openai/_base_client.py>

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use regex::Regex;

use crate::providers::BoxFuture;

/// The longest wait that a server may ask for. Beyond it the author is told instead.
pub const LONGEST: Duration = Duration::from_mins(2);

const MOST: Duration = Duration::from_secs(8);
/// The part of a wait that chance may take away.
const JITTER: f64 = 0.25;

/// The clock that waits go by.
#[derive(Clone)]
pub struct Pauses(Arc<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>);

impl Pauses {
    /// Another clock: `wait` gives a future that is ready when the time is over.
    pub fn from_fn(wait: impl Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    /// Waits.
    pub async fn wait(&self, time: Duration) {
        if !time.is_zero() {
            (self.0)(time).await;
        }
    }
}

impl Default for Pauses {
    /// The clock on the wall.
    fn default() -> Self {
        Self::from_fn(|time| Box::pin(tokio::time::sleep(time)))
    }
}

impl fmt::Debug for Pauses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pauses")
    }
}

/// Returns how long to wait before the retry `n`, from 0, where the server does not say; `first` is the first wait, before chance.
pub fn backoff(first: Duration, n: u32) -> Duration {
    // The standard library seeds a new hasher by chance, which is all the chance that this needs.
    let chance = RandomState::new().hash_one(n) as f64 / u64::MAX as f64;
    full(first, n).mul_f64(1.0 - JITTER * chance)
}

fn full(first: Duration, n: u32) -> Duration {
    first.saturating_mul(2u32.saturating_pow(n)).min(MOST.max(first))
}

/// Returns how long the head of an answer asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date. A date is taken against
/// the server's own clock where it tells it, else against `now`; one that is over asks for nothing. A number that is too large is as long
/// as any.
pub fn in_head(header: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok();
    let after = number("retry-after-ms").map(|ms| ms / 1000.0).or_else(|| number("retry-after"));
    if let Some(seconds) = after {
        let is_time = seconds >= 0.0;
        return is_time.then(|| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let date = |name: &str| date_in(header(name)?.trim());
    let wait = date("retry-after")?.duration_since(date("date").unwrap_or(now));
    Duration::try_from(wait).ok().filter(|wait| !wait.is_zero())
}

/// Reads a date in each of the three forms of HTTP: as mail writes it, as RFC 850 did, as C does.
/// <https://www.rfc-editor.org/rfc/rfc9110#name-date-time-formats>
fn date_in(text: &str) -> Option<Timestamp> {
    if let Ok(zoned) = jiff::fmt::rfc2822::parse(text) {
        return Some(zoned.timestamp());
    }
    let old = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"];
    let date = old.into_iter().find_map(|form| DateTime::strptime(form, text).ok())?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// Returns how long a message asks to wait: `Please try again in 1.3s.`, `in 6m0s`, `retry in 20ms`.
pub fn in_words(message: &str) -> Option<Duration> {
    #[expect(clippy::expect_used, reason = "the patterns are constants that a test compiles")]
    static ASKED: LazyLock<[Regex; 2]> = LazyLock::new(|| {
        let time = r"\d{1,9}(?:\.\d{1,9})?\s*(?:ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?)";
        [
            format!(r"(?i)\b(?:try again|retry)\s+(?:in|after)\s+((?:{time}\b\s*|{time}\s*)+)"),
            format!("(?i){time}"),
        ]
        .map(|pattern| Regex::new(&pattern).expect("a valid pattern"))
    });
    let [asked, part] = &*ASKED;
    let times = asked.captures(message)?.get(1)?.as_str().to_lowercase();
    let mut whole = Duration::ZERO;
    for part in part.find_iter(&times) {
        let unit = part.as_str().find(char::is_alphabetic)?;
        let (number, unit) = part.as_str().split_at(unit);
        let seconds = match unit {
            "ms" => 0.001,
            unit if unit.starts_with("milli") => 0.001,
            unit if unit.starts_with('h') => 3600.0,
            unit if unit.starts_with('m') => 60.0,
            _ => 1.0,
        };
        let part = Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * seconds).ok()?;
        whole = whole.saturating_add(part);
    }
    Some(whole)
}

/// Writes a time as an author reads it: `60 milliseconds`, `1.3 seconds`, `2 minutes`.
pub fn in_plain_words(time: Duration) -> String {
    let rounded = (time.as_secs_f64() * 10.0).round() / 10.0;
    match time.as_secs() {
        0 if time.as_millis() < 500 => format!("{} milliseconds", time.as_millis()),
        0..2 if (rounded - 1.0).abs() < 0.05 => "a second".to_owned(),
        0..10 => format!("{rounded} seconds"),
        s @ 10..120 => format!("{s} seconds"),
        s @ 120..7200 => format!("{} minutes", s.div_ceil(60)),
        s @ 7200..172_800 => format!("{} hours", s.div_ceil(3600)),
        s @ 172_800..31_536_000 => format!("{} days", s.div_ceil(86_400)),
        _ => "more than a year".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head<'a>(lines: &'a [(&str, &str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| Some(lines.iter().find(|(n, _)| *n == name)?.1.to_owned())
    }

    #[test]
    fn waits_double_up_to_a_limit_and_chance_shortens_them() {
        let first = Duration::from_millis(500);
        let whole: Vec<_> = (0..7).map(|n| full(first, n).as_millis()).collect();
        assert_eq!(whole, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
        assert_eq!(full(first, u32::MAX), MOST);
        assert_eq!(full(LONGEST, 1), LONGEST, "an author may want longer waits");
        let drawn: Vec<_> = (0..200).map(|_| backoff(first, 1)).collect();
        assert!(
            drawn.iter().all(|wait| (Duration::from_millis(750)..=Duration::from_secs(1)).contains(wait))
        );
        assert!(drawn.iter().any(|wait| *wait != drawn[0]), "chance never varies");
    }

    #[test]
    fn a_server_may_ask_for_a_wait_in_every_form() {
        let now: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for (lines, wait) in [
            (&[("retry-after", "7")][..], Some(7000)),
            (&[("retry-after", " 0.5 ")], Some(500)),
            (&[("retry-after", "0")], Some(0)),
            (&[("retry-after", "60"), ("retry-after-ms", "1300")], Some(1300)),
            (&[("retry-after", "Thu, 01 Jan 2026 00:01:30 GMT")], Some(90_000)),
            (
                &[
                    ("retry-after", "Wed, 21 Oct 2015 07:28:05 GMT"),
                    ("date", "Wed, 21 Oct 2015 07:28:00 GMT"),
                ],
                Some(5000),
            ),
            (&[("retry-after", "Wed, 31 Dec 2025 00:00:00 GMT")], None),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[("retry-after", "NaN")], None),
            (&[("retry-after", "99999999999999999999999")], Some(u64::MAX)),
            (&[("retry-after", "1e400")], Some(u64::MAX)),
            (
                &[
                    ("date", "Sun, 06 Nov 1994 08:49:37 GMT"),
                    ("retry-after", "Sunday, 06-Nov-94 08:49:40 GMT"),
                ],
                Some(3000),
            ),
            (
                &[("date", "Sun Nov  6 08:49:37 1994"), ("retry-after", "Sun Nov  6 08:49:40 1994")],
                Some(3000),
            ),
            (&[("retry-after", "Thu Jan 01 00:00:05 2026")], Some(5000)),
            (&[("retry-after", "Thursday, 01-Jan-26 00:00:05 GMT")], Some(5000)),
            (&[("retry-after", "Thursday, 31-Feb-26 00:00:05 GMT")], None),
            (&[], None),
        ] {
            let wait = wait.map(|ms| if ms == u64::MAX { Duration::MAX } else { Duration::from_millis(ms) });
            assert_eq!(in_head(head(lines), now), wait, "{lines:?}");
        }
    }

    #[test]
    fn a_wait_is_read_out_of_the_words_of_a_server() {
        for (words, wait) in [
            ("Rate limit reached for gpt-x. Please try again in 1.3s. Visit", Some(1300)),
            ("Please try again in 20ms.", Some(20)),
            ("Please try again in 6m0s.", Some(360_000)),
            ("try again in 1h2m3.5s", Some(3_723_500)),
            ("Please retry in 31.5 seconds", Some(31_500)),
            ("Try again in 2 minutes", Some(120_000)),
            ("retry after 5 sec", Some(5000)),
            ("Try again later", None),
            ("The model has 8192 tokens; try again in a while", None),
        ] {
            assert_eq!(in_words(words), wait.map(Duration::from_millis), "{words}");
        }
    }

    #[test]
    fn times_are_told_as_people_say_them() {
        for (ms, words) in [
            (60, "60 milliseconds"),
            (999, "a second"),
            (1300, "1.3 seconds"),
            (30_000, "30 seconds"),
            (120_000, "2 minutes"),
            (125_000, "3 minutes"),
            (900_000, "15 minutes"),
            (7_200_000, "2 hours"),
            (172_800_000, "2 days"),
            (u64::MAX, "more than a year"),
        ] {
            assert_eq!(in_plain_words(Duration::from_millis(ms)), words);
        }
    }
}
