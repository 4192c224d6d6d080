//! A craft reading of a stretch of prose: numbers, what each board member looks at first, and examples to look up.

use std::ops::Range;

use super::Library;
use super::missing;
use super::quoting::{self, marked, quotable};
use crate::craft::{Prose, Reading, Sentence, stage};
use crate::domain::codex::EntryType;
use crate::domain::passage::count_words;

/// Quotations of one reading, where it holds so many sentences that can be quoted.
const MIN_QUOTES: usize = 2;

/// Most quotations of one reading.
const MAX_QUOTES: usize = 3;

/// Names in one line.
const MAX_NAMES: usize = 6;

/// Words in one line.
const MAX_WORDS: usize = 4;

/// Words below which numbers say little.
const SHORT: usize = 120;

/// Fewer sentences have no rhythm that could be even or varied.
const MIN_SENTENCES: usize = 5;

/// What a member may look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Focus {
    Dialogue,
    Echoes,
    Ends,
    Filters,
    Adverbs,
    Numbers,
    Openings,
    Passives,
    Questions,
    Rhythm,
    Readability,
    Unknown,
    World,
}

/// What the board member with this id looks at, in order.
fn focus(persona: &str) -> [Focus; 4] {
    use Focus::{
        Adverbs, Dialogue, Echoes, Ends, Filters, Numbers, Openings, Passives, Questions, Readability,
        Rhythm, Unknown, World,
    };
    match persona {
        "character-psychologist" => [Filters, Dialogue, Questions, Openings],
        "continuity-editor" => [Numbers, Unknown, World, Passives],
        "worldbuilding-auditor" => [World, Unknown, Numbers, Passives],
        "first-time-reader" => [Ends, Questions, Unknown, Readability],
        "writing-coach" => [Echoes, Adverbs, Filters, Passives],
        _ => [Ends, Rhythm, Dialogue, Echoes],
    }
}

/// The reading of one text.
struct Reader<'a> {
    prose: &'a Prose<'a>,
    reading: &'a Reading,
    library: &'a Library<'a>,
    quotes: Vec<String>,
}

/// Writes the reading of `text` as Markdown bullets; empty where there is no prose.
pub fn bullets(text: &str, library: &Library<'_>) -> Vec<String> {
    let prose = Prose::of(text);
    let reading = Reading::of(&prose);
    if reading.words == 0 {
        return vec![];
    }
    let mut reader = Reader { prose: &prose, reading: &reading, library, quotes: vec![] };
    let mut lines = vec![reader.numbers()];
    lines.extend(reader.on_stage());
    lines.extend(focus(library.persona).into_iter().filter_map(|focus| reader.look(focus)));
    // A reading without examples can't be checked.
    let sentences: Vec<Range<usize>> = prose.sentences().iter().map(|s| s.range.clone()).collect();
    while reader.quotes.len() < MIN_QUOTES {
        let Some(quote) = reader.quote(&sentences) else { break };
        lines.push(format!("It reads, for example: {quote}"));
    }
    if reading.words < SHORT {
        lines.push("So short a text says little in numbers.".into());
    }
    lines
}

impl Reader<'_> {
    fn numbers(&self) -> String {
        // As everywhere: what stands between white space.
        let words = self.prose.paragraphs().iter().map(|p| count_words(&self.prose.text()[p.clone()]));
        let (rhythm, share) = (&self.reading.rhythm, self.reading.dialogue.share * 100.0);
        format!(
            "{} in {}: {:.0} words each on average (spread {:.0}, longest {}); {share:.0} % dialogue; Flesch reading ease {:.0}.",
            count(words.sum(), "word"),
            count(rhythm.sentences, "sentence"),
            rhythm.mean,
            rhythm.spread,
            rhythm.longest_words,
            self.reading.readability.ease,
        )
    }

    fn on_stage(&self) -> Option<String> {
        let found = self.library.names.find(self.prose.text());
        let entries = &self.library.names.entries;
        let people = found.iter().filter(|m| entries[m.entry].entry_type == EntryType::Character);
        let stages =
            stage::on_stage(self.prose, people.map(|m| (entries[m.entry].name.as_str(), m.range.clone())));
        let named =
            join(stages.iter().take(MAX_NAMES).map(|s| format!("{} ({})", s.name, times(s.mentions))));
        (!named.is_empty()).then(|| format!("On stage: {named}."))
    }

    fn look(&mut self, focus: Focus) -> Option<String> {
        match focus {
            Focus::Dialogue => Some(self.dialogue()),
            Focus::Echoes => self.echoes(),
            Focus::Ends => self.ends(),
            Focus::Filters => {
                let places = self.reading.filter_words.clone();
                self.rate(&places, "filter word", "They put a watcher between the reader and the scene")
            }
            Focus::Adverbs => {
                let places = self.reading.adverbs.clone();
                self.rate(&places, "adverb in -ly", "A stronger verb often does without")
            }
            Focus::Passives => {
                let places = self.reading.passives.clone();
                self.rate(&places, "passive construction", "Each hides who acts")
            }
            Focus::Numbers => self.dates(),
            Focus::Openings => self.openings(),
            Focus::Questions => Some(self.questions()),
            Focus::Rhythm => self.longest(),
            Focus::Readability => Some(format!(
                "It asks for about {:.0} years of school (Flesch-Kincaid).",
                self.reading.readability.grade.max(0.0)
            )),
            Focus::Unknown => self.unknown(),
            Focus::World => self.world(),
        }
    }

    /// A quotation of the first sentence around one of `places` that can be quoted and was not yet.
    fn quote(&mut self, places: &[Range<usize>]) -> Option<String> {
        if self.quotes.len() >= MAX_QUOTES {
            return None;
        }
        let text = self.prose.text();
        let around = |place: &Range<usize>| {
            let sentence = &self.prose.sentences().iter().find(|s| s.range.contains(&place.start))?.range;
            let words = quotable(&text[sentence.clone()])?;
            // The piece must hold what it is quoted for.
            let start = sentence.start + text[sentence.clone()].find(words)?;
            (start < place.end && place.start < start + words.len()).then_some(words)
        };
        let mut quotes = places.iter().filter_map(around).map(marked);
        let quote = quotes.find(|quote| !self.quotes.contains(quote))?;
        self.quotes.push(quote.clone());
        Some(quote)
    }

    /// A line and, where one of `places` can be quoted, `lead` with the quotation.
    fn with_quote(&mut self, line: &str, lead: &str, places: &[Range<usize>]) -> String {
        match self.quote(places) {
            Some(quote) => format!("{line} {lead}: {quote}"),
            None => line.to_owned(),
        }
    }

    fn rate(&mut self, places: &[Range<usize>], what: &str, why: &str) -> Option<String> {
        if places.is_empty() {
            return None;
        }
        let rate = self.reading.per_thousand(places.len());
        let line = format!("{}, {rate:.0} in 1,000 words. {why}.", count(places.len(), what));
        Some(self.with_quote(&line, "For example", places))
    }

    fn dialogue(&self) -> String {
        let share = self.reading.dialogue.share * 100.0;
        let line = match share {
            0.0 => "Nobody speaks",
            ..15.0 => "Little is spoken, so narration carries the scene",
            15.0..50.0 => "Speech and narration share the scene",
            _ => "Speech carries the scene, so watch who is where",
        };
        format!("{line} ({share:.0} % dialogue).")
    }

    fn echoes(&mut self) -> Option<String> {
        let all = &self.reading.echoes;
        let heard: Vec<_> = all.iter().filter(|e| e.places.len() > 2).take(MAX_WORDS).collect();
        let places = heard.first()?.places.clone();
        let words = join(heard.iter().map(|e| format!("*{}* ({})", e.word, times(e.places.len()))));
        let line = format!("Words that return within a paragraph or so: {words}.");
        Some(self.with_quote(&line, "The first stands in", &places))
    }

    fn openings(&mut self) -> Option<String> {
        let run = self.reading.openings.runs.first()?.clone();
        let line = format!("{} sentences in a row begin with *{}*.", run.sentences.len(), run.word);
        Some(self.with_quote(&line, "For example", &run.sentences))
    }

    fn longest(&mut self) -> Option<String> {
        let rhythm = &self.reading.rhythm;
        let place = rhythm.longest.clone()?;
        if rhythm.sentences < MIN_SENTENCES {
            return None;
        }
        let verdict = if rhythm.spread < rhythm.mean * 0.5 { "even, which lulls" } else { "varied" };
        let line = format!(
            "Sentence lengths are {verdict}: from {} to {} words.",
            rhythm.shortest_words, rhythm.longest_words
        );
        Some(self.with_quote(&line, "The longest has", &[place]))
    }

    fn ends(&mut self) -> Option<String> {
        let sentences: Vec<Range<usize>> = self.prose.sentences().iter().map(|s| s.range.clone()).collect();
        let near = sentences.len().div_ceil(4).min(6);
        let first = self.quote(&sentences[..near])?;
        let last: Vec<Range<usize>> = sentences[sentences.len() - near..].iter().rev().cloned().collect();
        Some(match self.quote(&last) {
            Some(last) => {
                format!(
                    "Near its beginning stands {first} and near its end {last}. What has changed between the two?"
                )
            }
            None => format!("Near its beginning stands {first}"),
        })
    }

    fn questions(&mut self) -> String {
        let text = self.prose.text();
        let asks =
            |s: &&Sentence| text[s.range.clone()].trim_end_matches(['"', '”', '’', '\'']).ends_with('?');
        let asked: Vec<Range<usize>> =
            self.prose.sentences().iter().filter(asks).map(|s| s.range.clone()).collect();
        if asked.is_empty() {
            return "It asks no question aloud.".into();
        }
        let line = format!("It asks {}.", count(asked.len(), "question"));
        self.with_quote(&line, "For example", &asked)
    }

    /// Sentences with a number or a unit of time: what drifts.
    fn dates(&mut self) -> Option<String> {
        const TIMES: &str = " year years month months week weeks day days hour hours minutes o'clock ";
        let text = self.prose.text();
        let is_time = |word: &str| {
            word.contains(|c: char| c.is_ascii_digit())
                || TIMES.contains(&format!(" {} ", word.to_lowercase()))
        };
        let words = self.prose.words().iter().filter(|w| is_time(&text[(*w).clone()]));
        let places: Vec<Range<usize>> = words.cloned().collect();
        if places.is_empty() {
            return None;
        }
        let line = format!("{} to check against the timeline.", count(places.len(), "number or time"));
        let first = self.with_quote(&line, "For example", &places);
        let last: Vec<_> = places.into_iter().rev().collect();
        Some(match self.quote(&last) {
            Some(quote) => format!("{first} and {quote}"),
            None => first,
        })
    }

    fn unknown(&mut self) -> Option<String> {
        let text = self.prose.text();
        let candidates = missing::candidates(&[text], self.library);
        let places: Vec<Range<usize>> = quoting::positions(text, &candidates.first()?.name).collect();
        let shown = candidates.iter().take(MAX_WORDS);
        let line = format!(
            "Named here without a Codex entry: {}.",
            join(shown.map(|c| format!("{} ({})", c.name, times(c.mentions))))
        );
        Some(self.with_quote(&line, "The first stands in", &places))
    }

    /// Places, groups, things and rules of the world that the text names.
    fn world(&mut self) -> Option<String> {
        let entries = &self.library.names.entries;
        let mut seen: Vec<(String, Range<usize>)> = vec![];
        for mention in self.library.names.find(self.prose.text()) {
            let entry = &entries[mention.entry];
            if entry.entry_type != EntryType::Character && !seen.iter().any(|(name, _)| *name == entry.name) {
                seen.push((entry.name.clone(), mention.range));
            }
        }
        seen.truncate(MAX_NAMES);
        let (listed, places): (Vec<String>, Vec<Range<usize>>) = seen.into_iter().unzip();
        if listed.is_empty() {
            return None;
        }
        let line = format!("Of the world it names {}.", listed.join(", "));
        Some(self.with_quote(&line, "For example", &places))
    }
}

fn join(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

fn count(n: usize, what: &str) -> String {
    let number = thousands(n);
    match (n, what) {
        (1, _) => format!("1 {what}"),
        (_, "adverb in -ly") => format!("{number} adverbs in -ly"),
        (_, "number or time") => format!("{number} numbers and times"),
        _ => format!("{number} {what}s"),
    }
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

/// A count with commas.
pub fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
