//! Times as an author reads them: `on 21 November 2025 at 14:03`, by the clock on her wall.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Writes a time that was stored as RFC 3339. What is no time is called `some time ago`.
pub(super) fn when(stored: &str) -> String {
    written(stored, TimeZone::system())
}

/// Writes the day and the hour in little space: `21 Nov 2025, 14:03`. Nothing for what is no time.
pub(super) fn day(stored: &str) -> String {
    match stored.parse::<Timestamp>() {
        Ok(at) => at.to_zoned(TimeZone::system()).strftime("%-d %b %Y, %H:%M").to_string(),
        Err(_) => String::new(),
    }
}

fn written(stored: &str, zone: TimeZone) -> String {
    match stored.parse::<Timestamp>() {
        Ok(at) => at.to_zoned(zone).strftime("on %-d %B %Y at %H:%M").to_string(),
        Err(_) => "some time ago".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_by_the_clock_on_the_wall() {
        let here = TimeZone::fixed(jiff::tz::offset(2));
        assert_eq!(written("2025-11-21T13:03:09.123Z", here.clone()), "on 21 November 2025 at 15:03");
        assert_eq!(written("2025-12-31T23:10:00Z", here.clone()), "on 1 January 2026 at 01:10");
        assert_eq!(written("yesterday", here), "some time ago");
    }
}
