//! Looking for words in everything that was asked and answered.
//!
//! Letter case, accents and typographic marks make no difference. All words have to stand in the same question or answer, words in double
//! quotation marks side by side.

use std::borrow::Cow;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde::Serialize;

use crate::agent::grounding::hide_markers;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::passage::{fold, fold_with_places};
use crate::store::sessions;

use super::super::Workbench;
use super::SessionError;

/// Characters of a passage before and after the words that were found.
const BEFORE: usize = 60;
const AFTER: usize = 160;

/// Where words were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// In which conversation.
    pub session: SessionId,
    /// Its name.
    pub title: String,
    /// In which turn.
    pub turn: TurnId,
    /// The number of its question, from 1.
    pub number: usize,
    /// In the question or in the answer.
    pub from: Part,
    /// Id of the board member that was asked.
    pub persona: String,
    /// When it was asked, RFC 3339 in UTC.
    pub asked_at: String,
    /// The words around.
    pub excerpt: String,
}

/// Which part of a turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The author asked it.
    Question,
    /// A board member answered it.
    Answer,
}

impl Workbench {
    /// Looks for words in all conversations: the one in which something was said last comes first, at most `limit` passages.
    pub fn search_conversations(&self, query: &str, limit: usize) -> Result<Vec<Passage>, SessionError> {
        let parts = parts(query);
        if parts.is_empty() {
            return Ok(vec![]);
        }
        let mut all =
            sessions::all_said(self.root()).map_err(SessionError::io("the conversations can't be read"))?;
        all.sort_by(|(a, _), (b, _)| (&b.last_at, &b.session).cmp(&(&a.last_at, &a.session)));
        let mut found = vec![];
        for (summary, said) in all {
            for (at, said) in said.into_iter().enumerate() {
                let answer = hide_markers(&said.answer);
                for (from, text) in [(Part::Question, &said.question), (Part::Answer, &answer)] {
                    // Words that stand in Markdown alone, such as the address of a link, are shown with it.
                    let shown = passage(&plain(text), &parts).or_else(|| passage(text, &parts));
                    let Some(excerpt) = shown else { continue };
                    found.push(Passage {
                        session: summary.session.clone(),
                        title: summary.title.clone(),
                        turn: said.turn.clone(),
                        number: at + 1,
                        from,
                        persona: said.persona.clone(),
                        asked_at: said.asked_at.clone(),
                        excerpt,
                    });
                    if found.len() == limit {
                        return Ok(found);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The words of a query, and its phrases, folded.
fn parts(query: &str) -> Vec<String> {
    let pieces = query.split(['"', '\u{201c}', '\u{201d}']).enumerate();
    let parts = pieces.flat_map(|(n, piece)| {
        let words: Vec<String> =
            if n % 2 == 1 { vec![fold(piece)] } else { piece.split_whitespace().map(fold).collect() };
        words
    });
    parts.filter(|part| !part.is_empty()).collect()
}

/// The words around the first place of the longest part, if all parts stand in the text.
fn passage(text: &str, parts: &[String]) -> Option<String> {
    let (folded, places) = fold_with_places(text);
    if !parts.iter().all(|part| folded.contains(part.as_str())) {
        return None;
    }
    let longest = parts.iter().max_by_key(|part| part.len())?;
    let start = folded.find(longest.as_str())?;
    Some(around(text, *places.get(start)?))
}

/// The words of a Markdown text without its marks.
fn plain(markdown: &str) -> Cow<'_, str> {
    let may_have_marks =
        markdown.contains(['*', '_', '`', '#', '>', '[', '<', '|', '~', '\\', '&', '-', '+', ')', '.']);
    if !may_have_marks {
        return Cow::Borrowed(markdown);
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut words = String::with_capacity(markdown.len());
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) | Event::Html(text) => {
                words.push_str(&text);
            }
            // Items and cells have nothing between them but their marks.
            Event::End(TagEnd::TableCell) => words.push(' '),
            Event::SoftBreak
            | Event::HardBreak
            | Event::Rule
            | Event::Start(Tag::Item)
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::CodeBlock
                | TagEnd::Item
                | TagEnd::TableHead
                | TagEnd::TableRow,
            ) => words.push('\n'),
            _ => {}
        }
    }
    Cow::Owned(words)
}

fn around(text: &str, at: usize) -> String {
    let before: usize = text[..at].chars().rev().take(BEFORE).map(char::len_utf8).sum();
    let after: usize = text[at..].chars().take(AFTER).map(char::len_utf8).sum();
    let (mut start, mut end) = (at - before, at + after);
    // Whole words, unless one is longer than that.
    if start > 0 {
        start = text[start..at].find(char::is_whitespace).map_or(start, |space| start + space);
    }
    if end < text.len() {
        end = text[at..end].rfind(char::is_whitespace).map_or(end, |space| at + space);
    }
    let words: Vec<&str> = text[start..end].split_whitespace().collect();
    let (open, close) = (if start > 0 { "... " } else { "" }, if end < text.len() { " ..." } else { "" });
    format!("{open}{}{close}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_case_and_typography_make_no_difference() {
        let text = "Ask Ilse Søndergaard\u{2019}s brother about the relay \u{2014} he was there.";
        let found = |query: &str| passage(text, &parts(query)).is_some();
        for query in [
            "sondergaard",
            "SØNDERGAARD'S brother",
            "relay he",
            "\"the relay he\"",
            "\u{201c}ilse sondergaard\u{201d}",
        ] {
            assert!(found(query), "{query}");
        }
        for query in ["relay sister", "\"relay the\"", "\"brother relay\""] {
            assert!(!found(query), "{query}");
        }
        assert!(parts("  \"\" ").is_empty());
    }

    #[test]
    fn an_answer_is_found_and_shown_without_the_marks_of_markdown() {
        let text = "## Roles\n\n- **Adrian** Vale: *captain* of `the-relay`\n- [Mira](mira.md), a snake_case\n\n| a | b |\n|---|---|\n| c | d |\n\n1 \\* 2";
        let shown = plain(text);
        let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(shown, "Roles Adrian Vale: captain of the-relay Mira, a snake_case a b c d 1 * 2");
        assert!(passage(&plain(text), &parts("\"adrian vale\"")).is_some(), "a phrase goes on over marks");
        assert_eq!(plain("no marks"), "no marks");
    }

    #[test]
    fn a_passage_is_made_of_whole_words_around_the_place() {
        let text = format!("{} the needle {}", "before ".repeat(40), "after ".repeat(60));
        let found = passage(&text, &parts("Needle")).unwrap();
        assert!(found.starts_with("... before ") && found.ends_with(" after ..."), "{found}");
        assert!(found.contains("the needle after") && found.chars().count() < BEFORE + AFTER + 12);
        assert_eq!(passage("one needle", &parts("needle")).unwrap(), "one needle");
    }

    proptest::proptest! {
        #[test]
        fn any_words_of_any_text_are_found(text in "\\PC{0,80}", from in 0usize..40) {
            let words: Vec<&str> = text.split_whitespace().collect();
            if let Some(word) = words.get(from % words.len().max(1)) {
                let query = parts(&word.replace(['"', '\u{201c}', '\u{201d}'], " "));
                if !query.is_empty() {
                    proptest::prop_assert!(passage(&text, &query).is_some(), "{query:?}");
                }
            }
        }
    }
}
