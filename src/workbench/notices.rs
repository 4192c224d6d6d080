//! What an author is told before a question goes out, because nobody would guess it: who chose where it goes, and which earlier turns do not go with it.
//!
//! The same words stand in the chat, on standard error, in the JSON of `ask`, in the peek view and in the kept turn. A model gets none of them.

use std::collections::BTreeSet;

use crate::config::choice::Source;
use crate::domain::book::Book;
use crate::domain::ids::BookPath;
use crate::domain::safe_text;
use crate::providers::leave_out;
use crate::store::sessions::Kept;

use super::Workbench;
use super::history::Before;
use super::money::host_of;
use super::provider::OFFLINE;

/// Most files that one notice names.
const MOST_NAMED: usize = 3;

/// Earlier turns that are not sent again, since they hold something of files that AI never reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct KeptBack {
    /// How many would have been sent.
    pub turns: usize,
    /// The files.
    pub of: BTreeSet<BookPath>,
}

impl KeptBack {
    /// Says so, if there is anything to say.
    pub fn notice(&self) -> Option<String> {
        let turns = match self.turns {
            0 => return None,
            1 => "1 earlier turn is left out: it holds".to_owned(),
            n => format!("{n} earlier turns are left out: they hold"),
        };
        let mut files: Vec<&str> = self.of.iter().map(BookPath::as_str).take(MOST_NAMED).collect();
        let more = self.of.len().saturating_sub(files.len());
        let others = format!("{more} more {}", if more == 1 { "file" } else { "files" });
        if more > 0 {
            files.push(&others);
        }
        let names = listed(&files)?;
        let which = if self.of.len() == 1 { "which AI never reads" } else { "which AI never reads any of" };
        Some(format!("{turns} something of {names}, {which}."))
    }
}

/// `a, b and c`; `None` for nothing.
fn listed(words: &[&str]) -> Option<String> {
    let (last, others) = words.split_last()?;
    Some(if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) })
}

/// Leaves out of a conversation what the same model could not take with an earlier question, and returns how many turns that is. What a server remembers by
/// itself stays counted.
pub(super) fn leave_out_again(before: &mut Before, turns: &[Kept], destination: &str, model: &str) -> usize {
    let same = |kept: &&Kept| {
        kept.turn.is_answered()
            && kept.destination == destination
            && kept.turn.model == model
            && kept.turn.read_to.is_none()
    };
    let left_out = turns.iter().rev().find(same).map_or(0, |kept| kept.left_out);
    if left_out == 0 {
        return 0;
    }
    let all = before.history.len();
    leave_out(&mut before.history, left_out);
    let gone = all - before.history.len();
    if let Some((known, _)) = &mut before.continue_from {
        *known = known.saturating_sub(gone);
    }
    left_out
}

/// Whether the numbers of the chapters that a model may read show that the author keeps others.
pub(super) fn numbers_missing(whole: &Book, told: &Book) -> bool {
    let last = told.chapters.iter().map(|chapter| chapter.number).max().unwrap_or_default();
    let is_told = |number: u32| told.chapters.iter().any(|chapter| chapter.number == number);
    let kept = whole.chapters.iter().filter(|chapter| whole.private.contains(&chapter.path));
    kept.map(|chapter| chapter.number).any(|number| number < last && !is_told(number))
}

impl Workbench {
    /// Says what the book's own settings, which may be another author's, choose over those of this author: who answers, with which model, and whether it searches the
    /// web. `asked` is the provider that the question names itself. `None`: the author chose, or nothing leaves.
    pub(super) fn chosen_by_book(&self, name: &str, asked: Option<&str>, member: &str) -> Option<String> {
        if name == OFFLINE {
            return None;
        }
        let (book, user) = (self.outline(), self.settings());
        let provider = self.choices().provider;
        let by_book =
            asked.is_none() && provider.from == Source::Book && user.provider.as_deref() != Some(name);
        let model = self.model_of(name, Some(member));
        let of_user = || user.providers.get(name).and_then(|own| own.model.as_ref()).or(user.model.as_ref());
        let other_model = model.from == Source::Book && of_user() != Some(&model.value);
        let asks = book.settings.board.get(member).map(|board| &board.asks);
        let of_user = user.board.get(member).and_then(|own| own.web_search).or(user.options.web_search);
        // A server that can't search is not asked to.
        let can = || self.preset(name).is_ok_and(|preset| preset.abilities.web_search);
        let web = asks.is_some_and(|asks| asks.web_search == Some(true)) && of_user != Some(true) && can();
        let mut chosen = vec![];
        if by_book {
            let destination = self.destination(name).unwrap_or_default();
            let host = host_of(&destination).unwrap_or(&destination);
            chosen.push(format!("sends questions to {name} ({})", safe_text::line(host)));
        }
        if other_model {
            chosen.push(format!("asks for the model {}", safe_text::line(&model.value)));
        }
        if web {
            chosen.push("lets the model search the web".to_owned());
        }
        let chosen = listed(&chosen.iter().map(String::as_str).collect::<Vec<_>>())?;
        Some(format!("This book's scritorio.toml {chosen}; your own settings do not."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_up_to_three() {
        let paths = |n: usize| (1..=n).map(|n| BookPath::new(format!("notes/{n}.md")).unwrap()).collect();
        let said = |turns, n| KeptBack { turns, of: paths(n) }.notice();
        assert_eq!(said(0, 1), None);
        assert_eq!(
            said(1, 1).unwrap(),
            "1 earlier turn is left out: it holds something of notes/1.md, which AI never reads."
        );
        assert_eq!(
            said(2, 5).unwrap(),
            "2 earlier turns are left out: they hold something of notes/1.md, notes/2.md, notes/3.md and 2 more files, which AI never reads any of."
        );
    }
}
