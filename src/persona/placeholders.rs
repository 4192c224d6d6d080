//! Placeholders such as `{{genre}}` in prompts: rendered in one pass, so that a value is never taken for a placeholder.

use super::audience;
use crate::domain::book::BookSettings;
use crate::domain::safe_text;

/// Every placeholder that a prompt may use.
pub const KNOWN: [&str; 6] = [
    "genre",
    "audienceAgeGroupArticle",
    "audienceAgeGroup",
    "audienceSexGenderLens",
    "readerSexGenderIdentity",
    "readerProfileAge",
];

/// Most characters of an unknown name that an error repeats.
const SHOWN_NAME: usize = 40;

/// An unknown placeholder in an author's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown placeholder `{{{{{name}}}}}` in line {line} of {origin}; known are {known}")]
pub struct UnknownPlaceholder {
    /// Its name.
    pub name: String,
    /// Line, from 1.
    pub line: usize,
    /// Which text: `[board.<id>] editable`, ...
    pub origin: String,
    /// The known placeholders.
    pub known: String,
}

/// Puts the values of `settings` in place of the placeholders of `text`. `origin` names the text in an error.
///
/// `{{` without a `}}` on the same line is ordinary text.
pub fn render(text: &str, settings: &BookSettings, origin: &str) -> Result<String, UnknownPlaceholder> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        let inside = &rest[open + 2..];
        let on_this_line = inside.lines().next().unwrap_or_default();
        let Some(close) = on_this_line.find("}}") else {
            out.push_str(&rest[..open + 2]);
            rest = inside;
            continue;
        };
        let name = inside[..close].trim();
        let Some(value) = value(name, settings) else {
            let line = 1 + text[..text.len() - inside.len()].matches('\n').count();
            return Err(unknown(name, line, origin));
        };
        out.push_str(&rest[..open]);
        out.push_str(&value);
        rest = &inside[close + 2..];
    }
    out.push_str(rest);
    Ok(out)
}

fn value(name: &str, settings: &BookSettings) -> Option<String> {
    let lens = settings.audience.lens;
    Some(match name {
        "genre" => audience::genre(settings),
        "audienceAgeGroupArticle" => audience::article(&audience::age_group(settings)).to_owned(),
        "audienceAgeGroup" => audience::age_group(settings),
        "audienceSexGenderLens" => audience::lens(lens).to_owned(),
        "readerSexGenderIdentity" => audience::reader_identity(lens).to_owned(),
        "readerProfileAge" => audience::reader_age(settings),
        _ => return None,
    })
}

fn unknown(name: &str, line: usize, origin: &str) -> UnknownPlaceholder {
    let mut shown: String = name.chars().take(SHOWN_NAME).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    let known: Vec<String> = KNOWN.iter().map(|name| format!("`{{{{{name}}}}}`")).collect();
    UnknownPlaceholder {
        name: safe_text::line(&shown).into_owned(),
        line,
        origin: origin.to_owned(),
        known: known.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::book::{Audience, Lens};

    fn settings() -> BookSettings {
        BookSettings {
            genre: Some("science fiction".into()),
            audience: Audience { age_group: Some("adult".into()), lens: Lens::Female, reader_age: Some(41) },
            ..BookSettings::default()
        }
    }

    #[test]
    fn every_placeholder_has_a_value_set_or_not() {
        let text = KNOWN.map(|name| format!("{{{{{name}}}}}")).join(" | ");
        assert_eq!(
            render(&text, &settings(), "a test").unwrap(),
            "science fiction | an | adult | a lens on female readers | female | 41"
        );
        assert_eq!(
            render(&text, &BookSettings::default(), "a test").unwrap(),
            "[genre not set] | an | [audience age not set] | no sex or gender lens set | gender-unspecified | \
             [reader age not set]"
        );
    }

    #[test]
    fn an_unknown_placeholder_is_named_with_its_line_and_origin() {
        let error = render("Fine: {{genre}}\n\nNot: {{ mood }}", &settings(), "[board.writing-coach] notes")
            .unwrap_err();
        assert_eq!((error.name.as_str(), error.line), ("mood", 3));
        assert_eq!(
            error.to_string(),
            "unknown placeholder `{{mood}}` in line 3 of [board.writing-coach] notes; known are `{{genre}}`, \
             `{{audienceAgeGroupArticle}}`, `{{audienceAgeGroup}}`, `{{audienceSexGenderLens}}`, \
             `{{readerSexGenderIdentity}}`, `{{readerProfileAge}}`"
        );
        assert!(render("{{}}", &settings(), "a test").is_err());
        assert!(render("{{Genre}}", &settings(), "a test").is_err());
    }

    #[test]
    fn an_error_repeats_little_of_a_hostile_name_and_nothing_that_a_terminal_obeys() {
        let text = format!("{{{{\x1b[2J{}}}}}", "é".repeat(5000));
        let shown = render(&text, &settings(), "a test").unwrap_err().name;
        assert!(
            shown.starts_with("␛[2J") && shown.ends_with("é…") && shown.chars().count() == SHOWN_NAME + 1
        );
    }

    #[test]
    fn braces_that_open_nothing_are_text() {
        for text in ["", "{{", "a {{ b", "{{gen\nre}}", "}} {", "{genre}"] {
            assert_eq!(render(text, &settings(), "a test").unwrap(), text);
        }
    }

    #[test]
    fn a_value_is_not_rendered_again() {
        let settings = BookSettings { genre: Some("{{nonsense}}".into()), ..BookSettings::default() };
        assert_eq!(render("{{genre}}", &settings, "a test").unwrap(), "{{nonsense}}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_rendered_or_refused(text in "(\\{\\{|\\}\\}|genre|é|\n| |\\PC){0,12}") {
            if let Err(error) = render(&text, &settings(), "a test") {
                proptest::prop_assert!(error.line <= 1 + text.matches('\n').count());
            }
        }
    }
}
