//! Whether a place is surely meant, or why a reader could doubt it.
//!
//! Evidence comes from the book alone: who else bears a word, which words are ordinary in its prose, what stands beside the place.

use std::collections::{HashMap, HashSet};

use super::Document;
use super::forms::{Case, Forms, Part, is_title, plain};
use super::regions::Region;
use super::scan::Hit;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::{Searchable, count_words};

/// Bytes on either side in which a longer name is looked for.
const REACH: usize = 120;

/// Where a link leads: nowhere that the Codex knows, or to an entry.
pub(super) type Leads = Option<Option<usize>>;

/// What is known for judging.
pub(super) struct Judge<'a> {
    book: &'a Book,
    forms: &'a Forms,
    target: Option<usize>,
    /// The old words are a part of a name, or no name: whoever bears them is meant.
    by_words: bool,
    /// Words that stand in small letters in the manuscript.
    ordinary: HashSet<String>,
    /// Words of other people's names, each with one who bears it.
    shared: HashMap<String, &'a str>,
    /// Longer names of other entries that hold the old words: the name in its plain form, and whose it is.
    longer: Vec<(String, &'a Entry)>,
    /// Words of the entry's own names, in small letters.
    own: HashSet<String>,
    gender: Option<Gender>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gender {
    He,
    She,
}

impl<'a> Judge<'a> {
    pub fn of(book: &'a Book, target: Option<usize>, forms: &'a Forms) -> Self {
        let entry = target.map(|at| &book.entries[at]);
        let others = || book.entries.iter().enumerate().filter(|(at, _)| Some(*at) != target).map(|(_, e)| e);
        let mut shared = HashMap::new();
        for other in others().filter(|e| e.entry_type == EntryType::Character) {
            let names = std::iter::once(&other.name).chain(&other.aliases);
            for word in
                names.flat_map(|name| name.split_whitespace()).filter(|w| w.starts_with(char::is_uppercase))
            {
                shared.entry(plain(word)).or_insert(other.name.as_str());
            }
        }
        let by_words = !forms.is_whole_name;
        let mut longer = vec![];
        let singles: Vec<String> = forms.all.iter().filter(|f| !f.plural).map(|f| plain(&f.old())).collect();
        for other in others() {
            for name in other.names().iter().map(|name| plain(name)) {
                let holds = singles.iter().any(|old| holds_beside_a_capital(&name, old));
                if holds && !(by_words && other.entry_type == EntryType::Character) {
                    longer.push((name, other));
                }
            }
        }
        let own_names = entry.map(Entry::names).unwrap_or_default();
        let own = own_names.iter().flat_map(|name| name.split_whitespace()).map(str::to_lowercase).collect();
        Self {
            book,
            forms,
            target,
            by_words,
            ordinary: ordinary_words(book),
            shared,
            longer,
            own,
            gender: entry.and_then(gender),
        }
    }

    /// Returns why a place is not surely meant.
    pub fn doubt(&self, document: &Document<'_>, hit: &Hit, region: &Region, leads: Leads) -> Option<String> {
        let text: &str = document.text;
        let form = &self.forms.all[hit.form];
        match region {
            Region::Code => return Some("inside code".to_owned()),
            Region::Address => return Some("inside an address".to_owned()),
            _ => {}
        }
        if text[..hit.range.start].ends_with('#') {
            return Some("a tag".to_owned());
        }
        if hit.slip {
            return Some(format!("perhaps a slip of the pen for `{}`", form.old()));
        }
        if let Some(Some(to)) = leads {
            return self.of_link(to);
        }
        let is_its_name = match region {
            Region::Field(key) => matches!(key.as_str(), "name" | "aliases" | "alias" | "aka"),
            Region::Aliases | Region::Heading => true,
            _ => false,
        };
        let is_alone = self.target.is_some_and(|at| self.book.entries[at].heading.is_none());
        if document.is_own && is_alone && is_its_name && hit.case != Case::Lower {
            return None;
        }
        if form.doubt.is_some() {
            return form.doubt.clone();
        }
        if hit.case == Case::Lower {
            return Some("in small letters".to_owned());
        }
        Self::of_compound(text, hit)
            .or_else(|| self.of_longer(text, hit))
            .or_else(|| self.of_bearers(text, hit))
            .or_else(|| self.of_neighbours(text, hit, region))
            .or_else(|| self.of_sentence(text, hit))
    }

    fn of_link(&self, to: usize) -> Option<String> {
        let entry = self.book.entries.get(to)?;
        let bears = || entry.names().iter().any(|name| holds(&plain(name), &plain(&self.forms.core)));
        let is_meant = Some(to) == self.target || (self.by_words && bears());
        (!is_meant).then(|| format!("a link to {}", entry.name))
    }

    /// `Vale-Smith` is another name; `Vale-like` is not.
    fn of_compound(text: &str, hit: &Hit) -> Option<String> {
        let is_hyphen = |c: &char| matches!(c, '-' | '\u{2010}' | '\u{2011}');
        let before = text[..hit.range.start].strip_suffix(|c| is_hyphen(&c)).and_then(|rest| {
            let word = rest.rsplit(|c: char| !c.is_alphanumeric()).next()?;
            word.starts_with(char::is_uppercase).then(|| format!("{word}-{}", &text[hit.range.clone()]))
        });
        let after = || {
            let rest = text[hit.range.end..].strip_prefix(|c| is_hyphen(&c))?;
            let word = rest.split(|c: char| !c.is_alphanumeric()).next()?;
            let is_name = word.starts_with(char::is_uppercase) && hit.case != Case::Upper;
            is_name.then(|| format!("{}-{word}", &text[hit.range.clone()]))
        };
        let whole = before.filter(|_| hit.case != Case::Upper).or_else(after)?;
        Some(format!("part of `{whole}`"))
    }

    /// The old words within a longer name that another entry bears.
    fn of_longer(&self, text: &str, hit: &Hit) -> Option<String> {
        if self.longer.is_empty() {
            return None;
        }
        let from = text.floor_char_boundary(hit.range.start.saturating_sub(REACH));
        let to = text.ceil_char_boundary((hit.range.end + REACH).min(text.len()));
        let window = Searchable::new(&text[from..to]);
        let (start, end) = (hit.range.start - from, hit.range.end - from);
        self.longer.iter().find_map(|(name, entry)| {
            let covers = window.find(name).iter().any(|found| {
                let range = &found.range;
                range.start <= start && end <= range.end && range.len() > end - start
            });
            covers.then(|| format!("part of the name of {}", entry.name))
        })
    }

    fn of_bearers(&self, text: &str, hit: &Hit) -> Option<String> {
        let form = &self.forms.all[hit.form];
        let old = form.old();
        if form.part == Part::Own || form.part == Part::Whole {
            let same = |e: &Entry| e.name == old || e.aliases.contains(&old);
            let mut others = self.book.entries.iter().enumerate().filter(|(at, _)| Some(*at) != self.target);
            let (_, other) = others.find(|(_, e)| same(e)).filter(|_| !self.by_words)?;
            return Some(format!("{} bears this name, too", other.name));
        }
        if self.by_words || !matches!(form.part, Part::Given | Part::Family) {
            return None;
        }
        // Behind a form of address that only this entry has, its own name would have been found.
        let word = if form.plural { text[hit.range.clone()].to_owned() } else { old };
        let bearer = self.shared.get(&plain(&word)).or_else(|| {
            let single = |f: &&super::forms::Form| f.part == form.part && !f.plural;
            self.forms.all.iter().filter(single).find_map(|f| self.shared.get(&plain(&f.old())))
        });
        bearer.map(|name| format!("{name} bears this name, too"))
    }

    fn of_neighbours(&self, text: &str, hit: &Hit, region: &Region) -> Option<String> {
        let form = &self.forms.all[hit.form];
        let words = &text[hit.range.clone()];
        let is_name = form.is_single() && matches!(form.part, Part::Given | Part::Family | Part::Whole);
        if !is_name || !words.starts_with(char::is_uppercase) {
            return None;
        }
        if form.part != Part::Given
            && let Some((word, at)) = word_before(text, hit.range.start)
        {
            if let Some(doubt) = self.of_title(word, words) {
                return Some(doubt);
            }
            let known = is_title(word) || self.own.contains(&word.to_lowercase());
            let begins = starts_sentence(text, at);
            let is_ordinary = begins && self.ordinary.contains(&word.to_lowercase());
            // A person of one name may be called `Dear Anselm`; a last name has a first one before it.
            let is_greeting = begins && form.part == Part::Whole;
            let in_capitals = hit.case == Case::Upper || *region == Region::Heading;
            if !known && !is_ordinary && !is_greeting && !in_capitals {
                return Some(format!("`{word} {words}` may be somebody or something else"));
            }
        }
        if form.plural || hit.possessive.is_some() || hit.case == Case::Upper || *region == Region::Heading {
            return None;
        }
        let word = word_behind(text, hit.range.end)?;
        let known = self.own.contains(&word.to_lowercase());
        (!known).then(|| format!("`{words} {word}` may be somebody or something else"))
    }

    /// `Mrs. Vale` where the entry tells of a man.
    fn of_title(&self, title: &str, name: &str) -> Option<String> {
        const HE: [&str; 13] = [
            "mr", "mister", "sir", "lord", "king", "prince", "duke", "count", "baron", "father", "brother",
            "uncle", "master",
        ];
        const SHE: [&str; 16] = [
            "mrs", "ms", "miss", "mistress", "lady", "dame", "madam", "madame", "queen", "princess",
            "duchess", "countess", "baroness", "mother", "sister", "aunt",
        ];
        let word = title.trim_end_matches('.').to_lowercase();
        let other = match self.gender? {
            Gender::He => SHE.contains(&word.as_str()),
            Gender::She => HE.contains(&word.as_str()),
        };
        (other && !self.by_words).then(|| format!("`{title} {name}` is hardly the same person"))
    }

    fn of_sentence(&self, text: &str, hit: &Hit) -> Option<String> {
        let form = &self.forms.all[hit.form];
        let word = text[hit.range.clone()].to_lowercase();
        let may_be_a_word = form.is_single()
            && matches!(form.part, Part::Given | Part::Family | Part::Whole)
            && hit.case == Case::Exact
            && form.old().starts_with(char::is_uppercase)
            && self.ordinary.contains(&word);
        (may_be_a_word && starts_sentence(text, hit.range.start))
            .then(|| "an ordinary word, too, and it begins a sentence".to_owned())
    }
}

/// Whether `name` holds `old` as whole words.
fn holds(name: &str, old: &str) -> bool {
    let (name, old): (Vec<&str>, Vec<&str>) = (name.split(' ').collect(), old.split(' ').collect());
    name.windows(old.len()).any(|part| part == old)
}

/// Whether `name` is longer than `old` and holds it beside a word with a capital: `Vale Street`, but not `House of Vale`.
fn holds_beside_a_capital(name: &str, old: &str) -> bool {
    let (name, old): (Vec<&str>, Vec<&str>) = (name.split(' ').collect(), old.split(' ').collect());
    let is_capital =
        |word: Option<&&str>| word.is_some_and(|w| w.starts_with(char::is_uppercase) && !is_article(w));
    name.windows(old.len()).enumerate().any(|(at, part)| {
        part == old && (at > 0 && is_capital(name.get(at - 1)) || is_capital(name.get(at + old.len())))
    })
}

fn is_article(word: &str) -> bool {
    matches!(word, "The" | "A" | "An")
}

/// The words that stand in small letters in the manuscript.
fn ordinary_words(book: &Book) -> HashSet<String> {
    let mut words = HashSet::new();
    for chapter in &book.chapters {
        for token in chapter.body().split_whitespace() {
            // Links, addresses and ids say nothing about words.
            if token.contains(['[', ']', '|', '/', '_', '@', '#', '`', '-']) {
                continue;
            }
            let bare = token.trim_matches(|c: char| !c.is_alphanumeric());
            let word = bare.split(|c: char| !c.is_alphanumeric()).next().unwrap_or(bare);
            if word.starts_with(char::is_lowercase) && !words.contains(word) {
                words.insert(word.to_owned());
            }
        }
    }
    words
}

/// Whether an entry tells of a man or of a woman, by its pronouns; `None` where that is not clear.
fn gender(entry: &Entry) -> Option<Gender> {
    let soul = entry.soul.as_ref().map(|soul| &*soul.text).unwrap_or_default();
    let (mut he, mut she) = (0, 0);
    for text in [entry.body(), entry.summary.as_str(), soul] {
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()) {
            match word.to_lowercase().as_str() {
                "he" | "him" | "his" | "himself" => he += 1,
                "she" | "her" | "hers" | "herself" => she += 1,
                _ => {}
            }
        }
    }
    if he > 2 * she { Some(Gender::He) } else { (she > 2 * he).then_some(Gender::She) }
}

/// The word with a capital right before a place, and where it stands: only spaces, or one line break, are between.
fn word_before(text: &str, at: usize) -> Option<(&str, usize)> {
    let before = text[..at].trim_end_matches(['*', '_']);
    let trimmed = before.trim_end();
    let gap = &before[trimmed.len()..];
    if gap.is_empty() || gap.matches('\n').count() > 1 {
        return None;
    }
    let start = trimmed
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '\'' | '\u{2019}' | '-')))
        .map_or(0, |i| i + trimmed[i..].chars().next().map_or(1, char::len_utf8));
    let word = &trimmed[start..];
    let letters = word.trim_end_matches('.');
    // A full stop ends a sentence, unless it belongs to a form of address or to initials.
    let is_short = letters.contains('.') || letters.chars().count() == 1 || is_title(letters);
    let belongs = !word.ends_with('.') || is_short;
    let is_possessive = letters.ends_with("'s") || letters.ends_with("\u{2019}s");
    (word.starts_with(char::is_uppercase) && belongs && !is_possessive && word != "I")
        .then_some((word, start))
}

/// The word with a capital right behind a place.
fn word_behind(text: &str, at: usize) -> Option<&str> {
    let rest = text[at..].trim_start_matches(['*', '_']);
    let word = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
    if word.len() == rest.len() {
        return None;
    }
    let end = word
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '\u{2019}' | '-')))
        .unwrap_or(word.len());
    let word = &word[..end];
    let base = word.split(['\'', '\u{2019}']).next().unwrap_or(word);
    (word.starts_with(char::is_uppercase) && base != "I" && count_words(word) == 1).then_some(base)
}

/// Whether a sentence, a line of speech or a block of text begins at a byte.
pub(super) fn starts_sentence(text: &str, at: usize) -> bool {
    let is_mark = |c: char| {
        matches!(c, '*' | '_' | '(' | '[' | '>' | '\u{2018}' | '\u{201c}' | '"' | '\'' | '\u{ab}' | '\u{bb}')
    };
    let before = text[..at].trim_end_matches(is_mark);
    if text[before.len()..at].contains(['\u{201c}', '"', '\u{ab}', '\u{2018}']) {
        return true;
    }
    let trimmed = before.trim_end();
    let gap = &before[trimmed.len()..];
    if trimmed.is_empty() || gap.matches('\n').count() > 1 {
        return true;
    }
    let line = trimmed.rsplit('\n').next().unwrap_or(trimmed);
    let is_block = gap.contains('\n') && line.trim_start().starts_with(['#', '-', '*', '|', '+']);
    let is_marker = line.trim().chars().all(|c| matches!(c, '#' | '-' | '+' | '|' | '\u{2022}'));
    if is_block || is_marker {
        return true;
    }
    let word = trimmed.rsplit(char::is_whitespace).next().unwrap_or_default();
    match trimmed.chars().next_back() {
        Some('.') => !is_title(word.trim_matches(|c: char| !c.is_alphabetic())),
        Some(last) => {
            matches!(last, '!' | '?' | '\u{2026}' | ':' | '|')
                || (matches!(last, '\u{201d}' | '"')
                    && trimmed.trim_end_matches(['\u{201d}', '"']).ends_with(['.', '!', '?', '\u{2026}']))
        }
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_where_a_reader_says() {
        let table = [
            ("|Will", true),
            ("No. |Will", true),
            ("Mr. |Will", false),
            ("and |Will", false),
            ("said “|Will", true),
            ("“Go!” |Will", true),
            ("“Go,” |Will", false),
            ("# A\n|Will", true),
            ("a line\n|Will", false),
            ("a\n\n|Will", true),
            ("- |Will", true),
        ];
        for (marked, expected) in table {
            let at = marked.find('|').unwrap();
            assert_eq!(starts_sentence(&marked.replacen('|', "", 1), at), expected, "{marked}");
        }
    }

    #[test]
    fn the_words_beside_a_name_are_seen() {
        let before = |text: &str| word_before(text, text.len()).map(|(word, _)| word.to_owned());
        assert_eq!(before("with Mrs. ").as_deref(), Some("Mrs."));
        assert_eq!(before("S.O. ").as_deref(), Some("S.O."));
        assert_eq!(before("Hedda\n").as_deref(), Some("Hedda"));
        for none in ["It rained. ", "said, ", "Hedda\n\n", "Hedda, ", "Mira's ", "He ended. ", ""] {
            assert_eq!(before(none).filter(|w| w != "It"), None, "{none:?}");
        }
        let behind = |text: &str| word_behind(text, 0).map(str::to_owned);
        assert_eq!(behind(" Street, he said").as_deref(), Some("Street"));
        assert_eq!(behind("* Road").as_deref(), Some("Road"));
        for none in [" I think", " I'm", ", Street", " street", "\nThe", ""] {
            assert_eq!(behind(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_name_is_part_of_a_longer_one_only_beside_a_capital() {
        assert!(holds_beside_a_capital("Vale Street", "Vale"));
        assert!(holds_beside_a_capital("Tobias Okafor", "Okafor"));
        assert!(!holds_beside_a_capital("House of Vale", "Vale"));
        assert!(!holds_beside_a_capital("Arrival at Lantern", "Lantern"));
        assert!(!holds_beside_a_capital("The Vale", "Vale"));
    }
}
