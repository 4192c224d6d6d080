//! What an author is told before a question goes out, because nobody would guess it: who chose where it goes, and which earlier turns do not go with it.
//!
//! The same words stand in the chat, on standard error, in the JSON of `ask`, in the peek view and in the kept turn. A model gets none of them.

use std::collections::BTreeSet;

use crate::config::choice::Source;
use crate::config::user::ModelOptions;
use crate::domain::book::{Book, MemberOptions};
use crate::domain::conversation::Failure;
use crate::domain::ids::BookPath;
use crate::domain::safe_text;
use crate::persona::board;
use crate::providers::abilities::Abilities;
use crate::providers::{Request, leave_out};
use crate::store::sessions::Kept;

use super::ask::Ask;
use super::history::Before;
use super::money::host_of;
use super::provider::OFFLINE;
use super::{Overrides, Workbench};

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

/// Something that the book chooses over the author.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Choice {
    verb: &'static str,
    what: String,
}

impl Choice {
    fn new(verb: &'static str, what: &str) -> Self {
        Self { verb, what: safe_text::line(what).into_owned() }
    }

    /// Puts choices into one sentence's words, each verb once; `None` for nothing.
    fn listed(choices: &[&Self]) -> Option<String> {
        let mut verb = "";
        let words = choices.iter().map(|choice| {
            let again = std::mem::replace(&mut verb, choice.verb) == choice.verb;
            if again { choice.what.clone() } else { format!("{} {}", choice.verb, choice.what) }
        });
        let words: Vec<String> = words.collect();
        listed(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

impl Workbench {
    /// Says what the book's own settings, which may be another author's, choose over those of this author for the questions to a board member. `asked` is the
    /// provider that the question names itself. `None`: the author chose, or nothing leaves.
    pub(super) fn chosen_by_book(&self, name: &str, asked: Option<&str>, member: &str) -> Option<String> {
        let choices = self.choices_of_book(name, asked, member);
        let chosen = Choice::listed(&choices.iter().collect::<Vec<_>>())?;
        Some(format!("This book's scritorio.toml {chosen}; your own settings do not."))
    }

    /// Says the same of every board member: for the one who answers where nobody else is named, then what differs for each of the others.
    pub(super) fn chosen_by_book_for_all(&self, name: &str) -> Option<String> {
        let default = board::member(None);
        let common = self.choices_of_book(name, None, default.id);
        let others = board::members().iter().filter(|member| member.id != default.id).filter_map(|member| {
            let own = self.choices_of_book(name, None, member.id);
            let own: Vec<&Choice> = own.iter().filter(|choice| !common.contains(choice)).collect();
            let chosen = Choice::listed(&own)?;
            Some(format!(
                "For the {} this book's scritorio.toml {chosen}; your own settings do not.",
                member.name
            ))
        });
        let said: Vec<String> =
            self.chosen_by_book(name, None, default.id).into_iter().chain(others).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// What the book chooses over the author: who answers, with which model, how dear and long answers may be, and whether the web is searched.
    fn choices_of_book(&self, name: &str, asked: Option<&str>, member: &str) -> Vec<Choice> {
        if name == OFFLINE {
            return vec![];
        }
        let (book, user) = (self.outline(), self.settings());
        let provider = self.choices().provider;
        let mut chosen = vec![];
        if asked.is_none() && provider.from == Source::Book && user.provider.as_deref() != Some(name) {
            let destination = self.destination(name).unwrap_or_default();
            let host = host_of(&destination).unwrap_or(&destination);
            chosen.push(Choice::new("sends questions to", &format!("{name} ({host})")));
        }
        let model = self.model_of(name, Some(member));
        let of_user = || user.providers.get(name).and_then(|own| own.model.as_ref()).or(user.model.as_ref());
        if model.from == Source::Book && of_user() != Some(&model.value) {
            chosen.push(Choice::new("asks for", &format!("the model {}", model.value)));
        }
        let nothing = MemberOptions::default();
        let of_book = book.settings.board.get(member).map_or(&nothing, |board| &board.asks);
        let of_user = user.board.get(member).unwrap_or(&nothing);
        // A server is not asked for what it can't do.
        let can = self.preset(name).map(|preset| preset.abilities).unwrap_or_default();
        let said = &self.inner.overrides;
        chosen.extend(dearer(of_book, of_user, &user.options, said, &can));
        let own_web = of_user.web_search.or(user.options.web_search);
        if of_book.web_search == Some(true) && own_web != Some(true) && can.web_search {
            chosen.push(Choice::new("lets", "the model search the web"));
        }
        chosen
    }
}

/// What the book sets that an answer costs by, where the command line does not say it and the author's settings say something else.
fn dearer(
    of_book: &MemberOptions,
    of_user: &MemberOptions,
    of_all: &ModelOptions,
    said: &Overrides,
    can: &Abilities,
) -> Vec<Choice> {
    let mut chosen = vec![];
    let mut text = |what: &str, book: &Option<String>, own: &Option<String>, all: &Option<String>| {
        if let Some(value) = book.as_ref().filter(|value| own.as_ref().or(all.as_ref()) != Some(value)) {
            chosen.push(Choice::new("asks for", &format!("the {what} {value}")));
        }
    };
    if said.tier.is_none() && can.tier(of_book.tier.as_deref()).is_some() {
        text("tier", &of_book.tier, &of_user.tier, &of_all.service_tier);
    }
    if said.effort.is_none() && can.reasoning_effort {
        text("effort", &of_book.effort, &of_user.effort, &of_all.reasoning_effort);
    }
    if can.verbosity {
        text("verbosity", &of_book.verbosity, &of_user.verbosity, &of_all.verbosity);
    }
    let own = of_user.max_output_tokens.or(of_all.max_output_tokens);
    if let Some(limit) = of_book.max_output_tokens.filter(|limit| own != Some(*limit)) {
        chosen.push(Choice::new("asks for", &format!("answers of up to {limit} tokens")));
    }
    chosen
}

/// Options of the author's, with where the wires put them.
const OPTIONS: [(&str, &[&str]); 3] = [
    ("effort", &["/reasoning_effort", "/reasoning/effort", "/think", "/thinking"]),
    ("verbosity", &["/verbosity", "/text/verbosity"]),
    ("tier", &["/service_tier"]),
];

impl Workbench {
    /// Says which options of the author's are not sent, because the server has refused them lately.
    pub(super) fn refused_options(
        &self,
        ask: &Ask,
        name: &str,
        member: &str,
    ) -> Result<Option<String>, Failure> {
        // A smoke test asks as if for the first time.
        if ask.smoke || name == OFFLINE {
            return Ok(None);
        }
        let (preset, model, options) =
            (self.preset(name)?, self.model_of(name, Some(member)).value, self.options(member));
        let values = [&options.reasoning_effort, &options.verbosity, &options.service_tier].map(Clone::clone);
        let (wire, known) = (preset.wire.wire(), self.remote(name, &model)?.abilities());
        let request = Request { model, options, ..Request::default() };
        let [wanted, sent] = [&preset.abilities, &known].map(|can| wire.body(&request, can));
        let is_refused = |at: &&str| wanted.pointer(at).is_some() && sent.pointer(at).is_none();
        let refused = OPTIONS.iter().zip(values).filter(|((_, places), _)| places.iter().any(is_refused));
        let refused: Vec<_> = refused
            .filter_map(|((option, _), value)| Some(format!("{option} `{}`", safe_text::line(&value?))))
            .collect();
        let model = safe_text::line(&request.model);
        Ok((!refused.is_empty()).then(|| {
            format!(
                "{model} is not asked for {}: its server refused that lately. `scritorio providers --check {}` asks anew.",
                refused.join(" and "),
                safe_text::line(name)
            )
        }))
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
