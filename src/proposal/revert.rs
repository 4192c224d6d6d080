//! Taking a change out of a text, or putting it in again, while the text may have changed since.
//!
//! A file that nothing has touched gets the exact bytes back. One that was changed elsewhere is merged, and where that can't be done without
//! losing words it is refused: nothing is ever taken back silently that the change did not bring.

use super::merge::{Merged, Region, merge};
use crate::domain::ids::BookPath;

/// What a proposal made of a file. `None`: the file does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// The file.
    pub path: BookPath,
    /// Its text without the proposal.
    pub without: Option<String>,
    /// Its text with it.
    pub with: Option<String>,
}

/// What a file must become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turned {
    /// It is so already.
    Already,
    /// This; `None`: it goes.
    To(Option<String>),
}

/// Why a file can't be turned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stuck {
    /// The same words have changed since. The regions are the whole file.
    Overlap(Vec<Region>),
    /// The file would go, and was edited since.
    Edited,
    /// The file would be made, and there is another one by now.
    Taken,
    /// The file would be changed, and is gone.
    Gone,
}

impl Stuck {
    /// Returns the first line of the file that is in the way, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        match self {
            Self::Overlap(regions) => regions.iter().find_map(Region::open).map(|sides| sides.line),
            _ => None,
        }
    }
}

impl Trace {
    /// Takes the change out of the text (`back`), or puts it in.
    pub fn turn(&self, now: Option<&str>, back: bool) -> Result<Turned, Stuck> {
        let (from, to) = if back { (&self.with, &self.without) } else { (&self.without, &self.with) };
        if now == to.as_deref() {
            return Ok(Turned::Already);
        }
        if now == from.as_deref() {
            return Ok(Turned::To(to.clone()));
        }
        match (from, now, to) {
            (Some(from), Some(now), Some(to)) => match merge(from, now, to) {
                Merged::Clean(text) if text == now => Ok(Turned::Already),
                Merged::Clean(text) => Ok(Turned::To(Some(text))),
                Merged::Conflict { regions } => Err(Stuck::Overlap(regions)),
            },
            (_, Some(_), None) => Err(Stuck::Edited),
            (None, Some(_), _) => Err(Stuck::Taken),
            (_, None, _) => Err(Stuck::Gone),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(without: Option<&str>, with: Option<&str>) -> Trace {
        let path = BookPath::new("a.md").unwrap();
        Trace { path, without: without.map(Into::into), with: with.map(Into::into) }
    }

    fn to(text: &str) -> Turned {
        Turned::To(Some(text.into()))
    }

    #[test]
    fn an_untouched_file_gets_the_exact_bytes_back() {
        let change = trace(Some("\u{feff}role: rival\r\n"), Some("\u{feff}role: ally"));
        assert_eq!(change.turn(Some("\u{feff}role: ally"), true), Ok(to("\u{feff}role: rival\r\n")));
        assert_eq!(change.turn(Some("\u{feff}role: rival\r\n"), true), Ok(Turned::Already));
        assert_eq!(change.turn(Some("\u{feff}role: rival\r\n"), false), Ok(to("\u{feff}role: ally")));
    }

    #[test]
    fn later_words_elsewhere_stay_and_in_the_same_place_refuse() {
        let change = trace(Some("one\n\ntwo\n"), Some("ONE\n\ntwo\n"));
        assert_eq!(change.turn(Some("ONE\n\ntwo\n\nmine\n"), true), Ok(to("one\n\ntwo\n\nmine\n")));
        let stuck = change.turn(Some("# T\n\nOnly\n\ntwo\n"), true).unwrap_err();
        assert_eq!(stuck.line(), Some(1), "{stuck:?}");
        assert!(matches!(stuck, Stuck::Overlap(_)));
    }

    #[test]
    fn a_file_that_was_made_goes_only_unedited_and_comes_only_where_none_is() {
        let made = trace(None, Some("new\n"));
        assert_eq!(made.turn(Some("new\n"), true), Ok(Turned::To(None)));
        assert_eq!(made.turn(None, true), Ok(Turned::Already));
        assert_eq!(made.turn(Some("new\nmine\n"), true), Err(Stuck::Edited));
        assert_eq!(made.turn(None, false), Ok(to("new\n")));
        assert_eq!(made.turn(Some("mine\n"), false), Err(Stuck::Taken));
    }

    #[test]
    fn a_file_that_was_removed_comes_back_only_where_none_is() {
        let removed = trace(Some("old\n"), None);
        assert_eq!(removed.turn(None, true), Ok(to("old\n")));
        assert_eq!(removed.turn(Some("mine\n"), true), Err(Stuck::Taken));
        assert_eq!(removed.turn(Some("old\n, edited"), false), Err(Stuck::Edited));
        assert_eq!(trace(Some("a"), Some("b")).turn(None, true), Err(Stuck::Gone));
    }
}
