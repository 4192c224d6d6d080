//! What was paid for: one line a response, over all books, in the data folder: `spending/2026-11.jsonl`.
//!
//! A month is what an author pays, whatever the book. Months are those of UTC, as the days of providers' bills are. Holds counts and amounts, never
//! words. A line that can't be read costs itself alone, and is told of, since a budget can't be kept by a sum that lacks it; one that a killed program
//! tore is not, since its request has no end in the ledger and is written down again when that is settled.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::domain::conversation::Usage;
use crate::domain::ids::TurnId;

use super::jsonl;

const FOLDER: &str = "spending";

/// What one response used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// When, RFC 3339 in UTC.
    pub at: String,
    /// The request, by its id in the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The turn that it was part of; `None` outside of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<TurnId>,
    /// Provider's name.
    pub provider: String,
    /// Model's name.
    pub model: String,
    /// Tier that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier_asked: Option<String>,
    /// Tier that the server used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// Tokens and cost.
    pub usage: Usage,
}

impl Spent {
    /// Returns what is known of the cost, in US dollars. An amount below zero or without end is none: nobody is paid for asking.
    pub fn dollars(&self) -> f64 {
        self.believed().unwrap_or(0.0)
    }

    fn believed(&self) -> Option<f64> {
        Some(self.usage.known()).filter(|known| known.is_finite() && *known >= 0.0)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Line {
    v: u32,
    #[serde(flatten)]
    spent: Spent,
}

/// What a month came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Month {
    /// The month, as `2026-11`.
    pub month: String,
    /// US dollars, as far as they are known.
    pub dollars: f64,
    /// Responses.
    pub responses: usize,
    /// Those of them whose cost is not known.
    pub unpriced: usize,
    /// Those of them whose cost is an estimate.
    pub estimated: usize,
    /// What can't be read, so that the month has cost more than is known, perhaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Unread>,
}

/// A file of what was spent that can't be read, or not all of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unread {
    /// The file.
    pub path: PathBuf,
    /// Why, in words that follow its name: `can't be read: ...`, `has 2 lines that ...`.
    pub why: String,
}

impl Unread {
    /// What is wrong with the file, without a full stop.
    pub fn words(&self) -> String {
        format!("{} {}", self.path.display(), self.why)
    }
}

impl Month {
    /// The month that holds `at`, RFC 3339 in UTC, with nothing in it.
    pub fn of(at: &str) -> Self {
        Self { month: month_of(at).to_owned(), ..Self::default() }
    }

    /// Takes one more line.
    pub fn add(&mut self, spent: &Spent) {
        self.dollars += spent.dollars();
        self.responses += 1;
        self.unpriced += usize::from(spent.usage.unknown() > 0 || spent.believed().is_none());
        self.estimated += usize::from(spent.usage.estimated);
    }

    /// Whether it may have cost more than is known.
    pub fn is_at_least(&self) -> bool {
        self.unpriced > 0 || self.unread.is_some()
    }
}

/// The spending of one author. Opening it writes nothing.
#[derive(Debug, Clone)]
pub struct Spending {
    folder: PathBuf,
}

impl Spending {
    /// Takes the program's data folder.
    pub fn new(data: &Path) -> Self {
        Self { folder: data.join(FOLDER) }
    }

    /// Adds lines, each to the month of its time, and takes those that are written off `lines`: where it fails, the rest can be tried again. Nothing waits for the
    /// disk: what leaves is noted there for good before, and is settled with the next question where its end is lost.
    pub fn append(&self, lines: &mut Vec<Spent>) -> io::Result<()> {
        while let Some(first) = lines.first() {
            let month = month_of(&first.at).to_owned();
            let path = self.path(&month)?;
            std::fs::create_dir_all(&self.folder)?;
            let (now, later): (Vec<Spent>, Vec<Spent>) =
                lines.iter().cloned().partition(|spent| month_of(&spent.at) == month);
            let now: Vec<Line> = now.into_iter().map(|spent| Line { v: jsonl::VERSION, spent }).collect();
            jsonl::append_soon(&path, &now)?;
            *lines = later;
        }
        Ok(())
    }

    /// Returns the lines of the month that holds `at`, RFC 3339 in UTC.
    pub fn lines(&self, at: &str) -> io::Result<Vec<Spent>> {
        Ok(self.read(at)?.0)
    }

    /// Returns the lines of the month that holds `at`, RFC 3339 in UTC, and what of them can't be read. The error says that none can be.
    pub fn month(&self, at: &str) -> Result<(Vec<Spent>, Option<Unread>), Unread> {
        let told = |why: String| Unread { path: self.folder.join(format!("{}.jsonl", month_of(at))), why };
        let (lines, unread) = self.read(at).map_err(|why| told(format!("can't be read: {why}")))?;
        let unread = match unread {
            0 => None,
            1 => Some("has 1 line that is damaged or of a later version of Scritorio".to_owned()),
            n => Some(format!("has {n} lines that are damaged or of a later version of Scritorio")),
        };
        Ok((lines, unread.map(told)))
    }

    fn read(&self, at: &str) -> io::Result<(Vec<Spent>, usize)> {
        let found = jsonl::read::<Line>(&self.path(month_of(at))?)?;
        let lines = found.records.into_iter().map(|line| line.spent).collect();
        Ok((lines, found.skipped - found.torn))
    }

    fn path(&self, month: &str) -> io::Result<PathBuf> {
        let is_one = month.len() == 7 && month.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if !is_one {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{month} is no month")));
        }
        Ok(self.folder.join(format!("{month}.jsonl")))
    }
}

fn month_of(at: &str) -> &str {
    at.get(..7).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(at: &str, cost: Option<f64>) -> Spent {
        Spent {
            at: at.into(),
            request: Some("e-1".into()),
            turn: Some(TurnId::new("t-1")),
            provider: "openai".into(),
            model: "gpt-5-mini".into(),
            tier_asked: Some("flex".into()),
            tier: Some("default".into()),
            usage: Usage { input_tokens: Some(10), output_tokens: Some(2), cost, ..Usage::default() },
        }
    }

    fn month(spending: &Spending, at: &str) -> Month {
        let mut month = Month::of(at);
        for spent in spending.lines(at).unwrap() {
            month.add(&spent);
        }
        month
    }

    #[test]
    fn a_month_is_summed_up_over_all_that_was_spent_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let spending = Spending::new(folder.path());
        assert_eq!(month(&spending, "2026-11-21T10:00:00Z").responses, 0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "reading makes nothing");
        let mut lines = vec![
            spent("2026-10-31T23:59:59.999Z", Some(7.0)),
            spent("2026-11-01T00:00:00Z", Some(0.25)),
            spent("2026-11-30T23:59:59Z", Some(0.5)),
            spent("2026-11-30T23:59:59Z", None),
        ];
        spending.append(&mut lines).unwrap();
        assert_eq!(lines, []);
        let month = month(&spending, "2026-11-21T10:00:00Z");
        assert_eq!(
            month,
            Month { month: "2026-11".into(), dollars: 0.75, responses: 3, unpriced: 1, ..Month::default() }
        );
    }

    #[test]
    fn a_torn_line_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        let spending = Spending::new(folder.path());
        spending.append(&mut vec![spent("2026-11-01T00:00:00Z", Some(1.0))]).unwrap();
        let path = folder.path().join("spending/2026-11.jsonl");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes.extend_from_slice(b"{\"v\":1,\"at\":\"2026-11");
        std::fs::write(&path, bytes).unwrap();
        spending.append(&mut vec![spent("2026-11-02T00:00:00Z", Some(2.0))]).unwrap();
        assert!((month(&spending, "2026-11-03").dollars - 3.0).abs() < 1e-9);
        assert_eq!(spending.month("2026-11-03").unwrap().1, None, "the ledger knows of it");
    }

    #[test]
    fn what_can_not_be_read_is_told_with_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let spending = Spending::new(folder.path());
        let path = folder.path().join("spending/2026-11.jsonl");
        spending.append(&mut vec![spent("2026-11-01T00:00:00Z", Some(1.0))]).unwrap();
        let ours = std::fs::read_to_string(&path).unwrap();
        let later = ours.replace("\"v\":1", "\"v\":2");
        std::fs::write(&path, format!("{ours}{later}\u{fffd}\n")).unwrap();
        let (lines, unread) = spending.month("2026-11-03").unwrap();
        assert_eq!(lines.len(), 1);
        let unread = unread.unwrap();
        assert_eq!((&unread.path, unread.why.contains("2 lines")), (&path, true), "{unread:?}");
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let unread = spending.month("2026-11-03").unwrap_err();
        assert!(unread.words().contains("2026-11.jsonl can't be read: "), "{unread:?}");
    }

    #[test]
    fn a_time_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let spending = Spending::new(folder.path());
        for at in ["", "../../x", "2026/11/01", "2026-1\u{e9}-01"] {
            assert!(spending.append(&mut vec![spent(at, None)]).is_err(), "{at}");
        }
    }

    #[test]
    fn what_is_written_is_not_written_again_when_the_rest_could_not_be() {
        let folder = tempfile::tempdir().unwrap();
        let spending = Spending::new(folder.path());
        // A folder stands where the second month would be.
        let blocked = folder.path().join("spending/2026-12.jsonl");
        std::fs::create_dir_all(&blocked).unwrap();
        let mut lines = vec![
            spent("2026-11-30T23:59:58Z", Some(0.25)),
            spent("2026-12-01T00:00:00Z", Some(4.0)),
            spent("2026-11-30T23:59:59Z", Some(0.5)),
        ];
        assert!(spending.append(&mut lines).is_err());
        assert_eq!(lines, [spent("2026-12-01T00:00:00Z", Some(4.0))]);
        std::fs::remove_dir(&blocked).unwrap();
        spending.append(&mut lines).unwrap();
        assert!((month(&spending, "2026-11-30").dollars - 0.75).abs() < 1e-9);
        assert!((month(&spending, "2026-12-01").dollars - 4.0).abs() < 1e-9);
    }

    #[test]
    fn nobody_is_paid_for_asking() {
        let mut month = Month::of("2026-11-01");
        for cost in [-1000.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.5] {
            month.add(&spent("2026-11-01T00:00:00Z", Some(cost)));
        }
        assert_eq!((month.dollars, month.responses, month.unpriced), (0.5, 5, 4), "and it is not hidden");
    }
}
