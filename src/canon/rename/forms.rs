//! The forms in which a name may stand in a text, each with the form that takes its place.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::domain::codex::{Entry, EntryType};
use crate::domain::passage::{Searchable, fold};

/// Which part of a name a form is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// Another name of the same entry that holds a part of it.
    Own,
    /// A person's first name alone.
    Given,
    /// A person's last name alone.
    Family,
    /// The first letters.
    Initials,
    /// Letter by letter.
    Spelled,
    /// As in file names and tags.
    Slug,
}

/// How the letters of a form stand in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Exact,
    Upper,
    Lower,
    /// With its first letter as a capital, which the name itself has not.
    Capital,
}

/// A piece of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    /// What stays as it is.
    Fixed(String),
    /// A word, and what takes its place; nothing: it goes, with the space before it.
    Word { old: String, new: String },
}

/// One form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    pub segments: Vec<Segment>,
    pub part: Part,
    pub plural: bool,
    /// Why it is never sure.
    pub doubt: Option<String>,
    /// The new name brings an article with it that the old one has not.
    pub article: bool,
}

impl Form {
    fn new(part: Part, segments: Vec<Segment>) -> Self {
        Self { segments, part, plural: false, doubt: None, article: false }
    }

    /// The old words, as they stand in the name.
    pub fn old(&self) -> String {
        let text = |s: &Segment| match s {
            Segment::Fixed(text) | Segment::Word { old: text, .. } => text.clone(),
        };
        self.segments.iter().map(text).collect()
    }

    /// Whether it is one word.
    pub fn is_single(&self) -> bool {
        !self.old().contains(' ')
    }
}

/// A form in one spelling, as it is searched for.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    pub form: usize,
    pub case: Case,
    /// Bytes of the pattern and the segment that stands there, words only.
    pub words: Vec<(Range<usize>, usize)>,
    text: String,
}

/// All forms of a name.
#[derive(Debug)]
pub(super) struct Forms {
    pub all: Vec<Form>,
    pub patterns: Vec<Pattern>,
    pub automaton: Option<AhoCorasick>,
    /// The old words are the whole name of the entry.
    pub is_whole_name: bool,
    /// The old words, without an article.
    pub core: String,
    stems: Vec<(String, String)>,
}

/// Forms of address, and other words that stand before a name and are no part of it.
pub(super) const TITLES: [&str; 58] = [
    "mr",
    "mrs",
    "ms",
    "miss",
    "mx",
    "dr",
    "doctor",
    "sir",
    "dame",
    "lady",
    "lord",
    "madam",
    "madame",
    "mister",
    "mistress",
    "master",
    "saint",
    "st",
    "professor",
    "prof",
    "captain",
    "capt",
    "colonel",
    "col",
    "major",
    "lieutenant",
    "lt",
    "sergeant",
    "sgt",
    "corporal",
    "private",
    "general",
    "admiral",
    "commander",
    "officer",
    "inspector",
    "detective",
    "constable",
    "warden",
    "director",
    "superintendent",
    "auditor",
    "king",
    "queen",
    "prince",
    "princess",
    "duke",
    "duchess",
    "count",
    "countess",
    "baron",
    "baroness",
    "father",
    "mother",
    "brother",
    "sister",
    "uncle",
    "aunt",
];

pub(super) fn is_title(word: &str) -> bool {
    TITLES.contains(&word.trim_end_matches('.').to_lowercase().as_str())
}

/// Brings words to the form in which texts are searched.
pub(super) fn plain(words: &str) -> String {
    Searchable::new(words.trim()).plain().to_owned()
}

/// Splits an article off: its letters, and the rest.
fn article(name: &str) -> (Option<&str>, &str) {
    match name.split_once(' ') {
        Some((first, rest)) if first.eq_ignore_ascii_case("the") => (Some(first), rest),
        _ => (None, name),
    }
}

/// A person's first name, and last name with its particles.
fn person(name: &str) -> Option<(String, String)> {
    let words: Vec<&str> = name.split(' ').skip_while(|word| is_title(word)).collect();
    let is_particle = |word: &str| word.chars().next().is_some_and(char::is_lowercase);
    if words.len() < 2 || is_particle(words[0]) || !words[0].chars().next().is_some_and(char::is_alphabetic) {
        return None;
    }
    let mut from = words.len() - 1;
    while from > 1 && is_particle(words[from - 1]) {
        from -= 1;
    }
    Some((words[0].to_owned(), words[from..].join(" ")))
}

/// Puts the words of `new` in the place of those of `old`, one by one; what is left over stands with the last, or goes.
fn aligned(old: &str, new: &str) -> Vec<Segment> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    let mut segments = vec![];
    for (at, word) in old.iter().enumerate() {
        if at > 0 {
            segments.push(Segment::Fixed(" ".to_owned()));
        }
        let new = match new.get(at) {
            None => String::new(),
            Some(_) if at + 1 == old.len() => new[at..].join(" "),
            Some(new) => (*new).to_owned(),
        };
        segments.push(Segment::Word { old: (*word).to_owned(), new });
    }
    segments
}

/// The plural of a name or word; of a name its letters stay (`the Kennedys`).
pub(super) fn plural(word: &str) -> String {
    let lower = word.to_lowercase();
    let is_name = word.chars().next().is_some_and(char::is_uppercase);
    let before_last = lower.chars().rev().nth(1);
    if lower.ends_with(['s', 'x', 'z']) || lower.ends_with("ch") || lower.ends_with("sh") {
        format!("{word}es")
    } else if !is_name && lower.ends_with('y') && before_last.is_some_and(|c| !"aeiou".contains(c)) {
        format!("{}ies", &word[..word.len() - 1])
    } else {
        format!("{word}s")
    }
}

/// The same form with its last word in the plural.
fn in_plural(form: &Form) -> Option<Form> {
    let mut plural_form = Form { plural: true, ..form.clone() };
    let new_words =
        form.segments.iter().filter(|s| matches!(s, Segment::Word { new, .. } if !new.is_empty())).count();
    let (mut nth, mut is_last) = (0, false);
    let segments = plural_form.segments.len();
    for (at, segment) in plural_form.segments.iter_mut().enumerate() {
        if let Segment::Word { old, new } = segment {
            nth += usize::from(!new.is_empty());
            if at + 1 == segments {
                is_last = old.chars().last().is_some_and(char::is_alphabetic);
                *old = plural(old);
            }
            // Where the new name is shorter, its own last word takes the ending.
            if !new.is_empty() && nth == new_words {
                *new = plural(new);
            }
        }
    }
    is_last.then_some(plural_form)
}

fn upper_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Brings new words to the letters in which the old ones stand.
pub(super) fn cased(text: &str, case: Case, is_first: bool) -> String {
    match case {
        Case::Upper => text.to_uppercase(),
        Case::Lower => text.to_lowercase(),
        Case::Capital if is_first => upper_first(text),
        Case::Exact | Case::Capital => text.to_owned(),
    }
}

/// Words joined as in file names.
fn slug(name: &str, with: &str) -> String {
    let plain: String = fold(name).chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    // An apostrophe joins: `o-brien` is nobody's choice.
    plain.replace(" s ", "s ").split_whitespace().collect::<Vec<_>>().join(with)
}

impl Forms {
    pub fn of(entry: Option<&Entry>, old: &str, new: &str) -> Self {
        let is_whole_name = entry.is_some_and(|e| e.name == old);
        let is_person = entry.is_none_or(|e| e.entry_type == EntryType::Character);
        let (old_article, core) = article(old);
        let (new_article, new_core) = article(new);
        let mut all = vec![];
        match (old_article, new_article) {
            (Some(_), None) => {
                let words = |article: &str| aligned(&format!("{article} {core}"), new);
                all.push(Form::new(Part::Whole, words("The")));
                all.push(Form::new(Part::Whole, words("the")));
                all.push(Form::new(Part::Whole, aligned(core, new)));
            }
            (None, Some(_)) => {
                all.push(Form { article: true, ..Form::new(Part::Whole, aligned(core, new_core)) });
            }
            _ => all.push(Form::new(Part::Whole, aligned(core, new_core))),
        }
        let names = person(old).filter(|_| is_person && (is_whole_name || entry.is_none()));
        if let Some(names) = &names {
            parts(&mut all, names, new, (entry.is_none()).then_some(old));
        }
        if let Some(entry) = entry.filter(|_| is_whole_name) {
            others(&mut all, entry, (core, new_core), names.as_ref().zip(person(new).as_ref()));
        }
        let plurals: Vec<Form> = all
            .iter()
            .filter(|f| matches!(f.part, Part::Whole | Part::Given | Part::Family))
            .filter_map(in_plural)
            .collect();
        all.extend(plurals);
        let mut stems = vec![(old.to_owned(), new.to_owned()), (core.to_owned(), new_core.to_owned())];
        // A tag is made of a name, not of any word.
        if core.contains(' ') {
            for (old, new) in slugs(core, new_core) {
                all.push(Form {
                    doubt: Some("a tag or an id".to_owned()),
                    ..Form::new(Part::Slug, vec![Segment::Word { old: old.clone(), new: new.clone() }])
                });
                stems.push((old, new));
            }
        } else {
            stems.push((slug(core, "-"), slug(new_core, "-")));
        }
        spelled(&mut all, core, new_core);
        let patterns = patterns(&all);
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .build(patterns.iter().map(|p| &p.text))
            .ok()
            .filter(|_| !patterns.is_empty());
        Self { all, patterns, automaton, is_whole_name, core: core.to_owned(), stems }
    }

    /// Returns the new stem of a file whose stem is made of the name; a number in front stays.
    pub fn slug_of(&self, stem: &str) -> Option<String> {
        self.stems.iter().find_map(|(old, new)| {
            let front = stem.strip_suffix(old.as_str())?;
            let fits = !front.contains(char::is_alphabetic)
                && (front.is_empty() || !front.ends_with(char::is_numeric));
            (fits && !new.contains(['/', '\\', ':'])).then(|| format!("{front}{new}"))
        })
    }
}

/// First name, last name, and their first letters. `unknown`: the name, where the Codex has no such person.
fn parts(all: &mut Vec<Form>, names: &(String, String), new: &str, unknown: Option<&str>) {
    let (given, family) = names;
    let new_names = person(new);
    let (new_given, new_family) = match &new_names {
        Some((given, family)) => (given.as_str(), family.as_str()),
        None => (new, new),
    };
    let doubt =
        |part: &str| unknown.map(|name| format!("the Codex has no {name}, so `{part}` alone may be anybody"));
    let form = |part: Part, old: &str, new: &str, doubt: Option<String>| Form {
        doubt,
        ..Form::new(part, aligned(old, new))
    };
    all.push(form(Part::Family, family, new_family, doubt(family)));
    let last = family.rsplit(' ').next().unwrap_or(family);
    if last != family {
        // Without its particles the old name is replaced by the new one without them.
        let new_last =
            if new_family.starts_with(char::is_lowercase) { new_family.rsplit(' ').next() } else { None };
        all.push(form(Part::Family, last, new_last.unwrap_or(new_family), doubt(last)));
    }
    let has_no_first =
        new_names.is_none().then(|| format!("the new name has no first name in place of `{given}`"));
    all.push(form(Part::Given, given, new_given, doubt(given).or(has_no_first)));
    if new_names.is_some() {
        initials(all, (given, family), (new_given, new_family));
    }
}

fn initials(all: &mut Vec<Form>, old: (&str, &str), new: (&str, &str)) {
    let letter = |name: &str| name.chars().next().map(String::from).unwrap_or_default();
    let word = |old: String, new: String| Segment::Word { old, new };
    let fixed = |text: &str| Segment::Fixed(text.to_owned());
    let given = || word(letter(old.0), letter(new.0));
    for gap in [". ", "."] {
        let mut segments = vec![given(), fixed(gap)];
        segments.extend(aligned(old.1, new.1));
        all.push(Form::new(Part::Own, segments));
    }
    let mut listed = aligned(old.1, new.1);
    listed.extend([fixed(", "), given(), fixed(".")]);
    all.push(Form::new(Part::Own, listed));
    for gap in [". ", "."] {
        let both = vec![given(), fixed(gap), word(letter(old.1), letter(new.1)), fixed(".")];
        all.push(Form { doubt: Some("initials".to_owned()), ..Form::new(Part::Initials, both) });
    }
}

type Names<'a> = (&'a (String, String), &'a (String, String));

/// The entry's other names, with the words changed that they share with the name.
fn others(all: &mut Vec<Form>, entry: &Entry, core: (&str, &str), people: Option<Names<'_>>) {
    let known: Vec<String> = all.iter().map(Form::old).collect();
    let words_of = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut pairs: Vec<(Vec<String>, String)> = vec![(words_of(core.0), core.1.to_owned())];
    if let Some((old, new)) = people {
        pairs.push((words_of(&old.1), new.1.clone()));
        pairs.push((words_of(&old.0), new.0.clone()));
    } else if entry.entry_type != EntryType::Character {
        let (old, new) = (words_of(core.0), words_of(core.1));
        if old.len() == new.len() && old.len() > 1 {
            let bare = |word: &String| word.chars().next().is_some_and(char::is_uppercase);
            pairs.extend(
                old.into_iter().zip(new).filter(|(word, _)| bare(word)).map(|(word, new)| (vec![word], new)),
            );
        }
    }
    // What differs in its capitals only is found as it is.
    let is_new = |name: &String| !known.iter().any(|old| old == name || old.to_uppercase() == *name);
    for name in entry.names().into_iter().filter(is_new) {
        let words = words_of(&name);
        let mut segments: Vec<Segment> = vec![];
        let (mut at, mut changed) = (0, false);
        while at < words.len() {
            if at > 0 {
                segments.push(Segment::Fixed(" ".to_owned()));
            }
            let fits = |pair: &&(Vec<String>, String)| {
                let part = words.get(at..at + pair.0.len());
                part.is_some_and(|part| {
                    part.iter().zip(&pair.0).all(|(a, b)| a.to_lowercase() == b.to_lowercase())
                })
            };
            if let Some((old, new)) = pairs.iter().find(fits) {
                let said = words[at..at + old.len()].join(" ");
                let is_small = said.starts_with(char::is_lowercase) && old[0].starts_with(char::is_uppercase);
                segments.extend(aligned(&said, &if is_small { new.to_lowercase() } else { new.clone() }));
                at += old.len();
                changed = true;
            } else {
                segments.push(Segment::Fixed(words[at].clone()));
                at += 1;
            }
        }
        if changed {
            let is_word = words.len() == 1 && name.starts_with(char::is_lowercase);
            let doubt = is_word.then(|| format!("`{name}` is an ordinary word, too"));
            all.push(Form { doubt, ..Form::new(Part::Own, segments) });
        }
    }
}

/// The name as files and tags have it, old and new.
fn slugs(old: &str, new: &str) -> Vec<(String, String)> {
    let mut all = vec![];
    for with in ["-", "_"] {
        all.push((slug(old, with), slug(new, with)));
        all.push((old.replace(' ', with), new.replace(' ', with)));
    }
    let joined = |name: &str| name.split(' ').map(upper_first).collect::<String>();
    all.push((joined(old), joined(new)));
    all.retain(|(old_slug, new_slug)| old_slug != old && !old_slug.is_empty() && !new_slug.is_empty());
    all.dedup();
    all
}

/// `L-A-N-T-E-R-N`, as it is keyed or chanted.
fn spelled(all: &mut Vec<Form>, old: &str, new: &str) {
    let letters = |word: &str| word.to_uppercase().chars().map(String::from).collect::<Vec<_>>().join("-");
    let is_word = |name: &str| name.chars().nth(2).is_some() && name.chars().all(char::is_alphabetic);
    if is_word(old) && new.chars().all(char::is_alphabetic) {
        let segment = Segment::Word { old: letters(old), new: letters(new) };
        all.push(Form { doubt: Some("spelled out".to_owned()), ..Form::new(Part::Spelled, vec![segment]) });
    }
}

/// Every form in every spelling; of equal ones the first, and the name's own letters before any other.
fn patterns(forms: &[Form]) -> Vec<Pattern> {
    let mut all: Vec<Pattern> = vec![];
    let mut seen = std::collections::HashSet::new();
    for case in [Case::Exact, Case::Capital, Case::Upper, Case::Lower] {
        for (at, form) in forms.iter().enumerate() {
            let as_written = matches!(form.part, Part::Slug | Part::Spelled | Part::Initials);
            let old = form.old();
            let is_small = old.starts_with(char::is_lowercase);
            let fits = match case {
                Case::Exact => true,
                Case::Capital => is_small && !as_written,
                Case::Upper => !as_written && old.chars().filter(|c| c.is_alphabetic()).nth(1).is_some(),
                Case::Lower => !as_written && form.part != Part::Own,
            };
            if !fits {
                continue;
            }
            let pattern = pattern(form, at, case);
            if pattern.text.chars().any(char::is_alphanumeric) && seen.insert(pattern.text.clone()) {
                all.push(pattern);
            }
        }
    }
    all
}

fn pattern(form: &Form, at: usize, case: Case) -> Pattern {
    let (mut text, mut words) = (String::new(), vec![]);
    for (nth, segment) in form.segments.iter().enumerate() {
        match segment {
            Segment::Fixed(fixed) if fixed.trim().is_empty() => text.push_str(fixed),
            Segment::Fixed(fixed) => {
                let said = cased(fixed, case, nth == 0);
                // Marks such as `. ` keep their space, which the plain form of a text has, too.
                let kept = if said.ends_with(' ') { " " } else { "" };
                text.push_str(&plain(&said));
                text.push_str(kept);
            }
            Segment::Word { old, .. } => {
                let start = text.len();
                text.push_str(&plain(&cased(old, case, nth == 0)));
                words.push((start..text.len(), nth));
            }
        }
    }
    Pattern { form: at, case, words, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_take_the_plural_of_names() {
        for (one, many) in [
            ("Vale", "Vales"),
            ("Jones", "Joneses"),
            ("Kennedy", "Kennedys"),
            ("city", "cities"),
            ("boy", "boys"),
            ("Finch", "Finches"),
        ] {
            assert_eq!(plural(one), many);
        }
    }

    #[test]
    fn a_person_has_a_first_and_a_last_name() {
        let names = |name: &str| person(name).map(|(given, family)| format!("{given}|{family}"));
        assert_eq!(names("Captain Adrian Vale").as_deref(), Some("Adrian|Vale"));
        assert_eq!(names("Ludwig van Beethoven").as_deref(), Some("Ludwig|van Beethoven"));
        assert_eq!(names("Ana Maria Vega").as_deref(), Some("Ana|Vega"));
        assert_eq!(names("Anselm"), None);
        assert_eq!(names("the old man"), None);
    }

    #[test]
    fn words_take_each_others_places() {
        let shown = |old: &str, new: &str| {
            let text = |s: Segment| match s {
                Segment::Fixed(text) => text,
                Segment::Word { old, new } => format!("{old}>{new}"),
            };
            aligned(old, new).into_iter().map(text).collect::<String>()
        };
        assert_eq!(shown("Adrian Vale", "Julian Crane"), "Adrian>Julian Vale>Crane");
        assert_eq!(shown("Vale", "van der Berg"), "Vale>van der Berg");
        assert_eq!(shown("Ana Maria Vega", "Lu Cho"), "Ana>Lu Maria>Cho Vega>");
    }
}
