//! The name in a heading: `[[Mira Okafor]] (aka the Ghost) #crew` is Mira Okafor, also known as the Ghost.
//!
//! Cuts off only what is surely no name; a heading that would be left without words stays whole.

use super::markup;
use crate::domain::codex::EntryType;

/// A name with the other names that stand beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
}

/// Reads the words of a heading. In a list of entries (`in_list`) a number in front, a remark in brackets and, for a character, what
/// follows a dash are no part of the name either.
pub fn of_heading(heading: &str, entry_type: EntryType, in_list: bool) -> Named {
    let mut name = without_tags(heading);
    let mut aliases = vec![];
    if let Some((before, inside)) = bracketed(name)
        && let Some(known) = also_known(inside)
    {
        aliases.extend(markup::split_names(known));
        name = before;
    } else if in_list && let Some((before, _)) = bracketed(name) {
        name = before;
    }
    if let Some((before, known)) = split_also(name) {
        aliases.extend(markup::split_names(known));
        name = before;
    }
    let mut name = name.to_owned();
    if entry_type == EntryType::Character
        && let Some((rest, nickname)) = nickname(&name)
    {
        aliases.push(nickname);
        name = rest;
    }
    if in_list {
        name = in_a_list(&name, entry_type).to_owned();
    }
    if !name.chars().any(char::is_alphanumeric) {
        return Named { name: heading.to_owned(), aliases: vec![] };
    }
    Named { name, aliases }
}

/// Leaves out what a page has behind its name when another tool exported it: an identifier of 32 hexadecimal digits.
pub fn without_id(stem: &str) -> &str {
    match stem.rsplit_once(' ') {
        Some((name, id)) if id.len() == 32 && id.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => stem,
    }
}

/// The part of a file's stem that is a name: not an identifier and, for an event, not the date in front (`5421 - The Flood`).
pub fn of_stem(stem: &str, entry_type: EntryType) -> &str {
    let stem = without_id(stem);
    match stem.split_once(" - ") {
        Some((date, name))
            if entry_type == EntryType::Event
                && date.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().any(char::is_alphabetic) =>
        {
            name
        }
        _ => stem,
    }
}

fn without_tags(heading: &str) -> &str {
    let mut rest = heading.trim();
    while let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
        && last.strip_prefix('#').is_some_and(|tag| tag.starts_with(char::is_alphabetic))
    {
        rest = before.trim_end();
    }
    // A footnote's mark.
    match rest.rsplit_once("[^") {
        Some((before, mark)) if mark.ends_with(']') && !before.trim().is_empty() => before.trim_end(),
        _ => rest,
    }
}

/// Splits `Name (words)`.
fn bracketed(name: &str) -> Option<(&str, &str)> {
    let inside = name.strip_suffix(')')?;
    let (before, inside) = inside.rsplit_once('(')?;
    let before = before.trim_end();
    before.chars().any(char::is_alphanumeric).then_some((before, inside))
}

const ALSO: [&str; 5] = ["aka ", "a.k.a. ", "a.k.a ", "also known as ", "alias "];

/// What follows `aka`.
fn also_known(words: &str) -> Option<&str> {
    let words = words.trim_start();
    ALSO.iter().find_map(|also| {
        let head = words.get(..also.len())?;
        head.eq_ignore_ascii_case(also).then(|| words[also.len()..].trim())
    })
}

/// Splits `Name, aka Other`.
fn split_also(name: &str) -> Option<(&str, &str)> {
    name.match_indices(' ').find_map(|(at, _)| {
        let known = also_known(&name[at..]).filter(|known| !known.is_empty())?;
        let before = name[..at].trim_end_matches([' ', ',', ';', ':']);
        (!before.is_empty()).then_some((before, known))
    })
}

/// Splits `Dr. Ilse "Needles" Quist` and `Mira, "Mouse"`.
fn nickname(name: &str) -> Option<(String, String)> {
    let open = name.find(['"', '“'])?;
    let start = open + name[open..].chars().next()?.len_utf8();
    let end = start + name[start..].find(['"', '”'])?;
    let after = &name[end + name[end..].chars().next()?.len_utf8()..];
    let (before, inside) =
        (name[..open].trim_end().trim_end_matches(',').trim_end(), name[start..end].trim());
    if before.is_empty() || inside.is_empty() || after.contains(['"', '“', '”']) {
        return None;
    }
    Some((format!("{before} {}", after.trim()).trim_end().to_owned(), inside.to_owned()))
}

fn in_a_list(name: &str, entry_type: EntryType) -> &str {
    let mut rest = name.trim();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let behind = &rest[digits..];
    if digits > 0
        && entry_type == EntryType::Event
        && let Some(words) = behind.trim_start().strip_prefix([':', '–', '—'])
    {
        // `2299: The Long Silence`; the year is a date and no name.
        rest = words.trim_start();
    } else if (1..=3).contains(&digits)
        && let Some(words) = behind.strip_prefix(['.', ')'])
    {
        rest = words.trim_start();
    }
    if entry_type == EntryType::Character {
        let dash = [" — ", " – ", " - "].iter().filter_map(|dash| rest.find(dash)).min();
        rest = dash.map_or(rest, |at| &rest[..at]);
    }
    if rest.chars().any(char::is_alphanumeric) { rest.trim_end() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_read_as_a_name_with_others() {
        use EntryType::{Character, Event, Location};
        let table: [(&str, EntryType, bool, &str, &[&str]); 18] = [
            ("Mira Okafor", Character, false, "Mira Okafor", &[]),
            ("Mira Okafor (aka Mouse, the Pilot)", Character, false, "Mira Okafor", &["Mouse", "the Pilot"]),
            ("Mira, AKA Mouse", Character, true, "Mira", &["Mouse"]),
            ("Mira a.k.a. Mouse", Character, true, "Mira", &["Mouse"]),
            ("Dr. Ilse \"Needles\" Quist", Character, true, "Dr. Ilse Quist", &["Needles"]),
            ("Mira, “Mouse”", Character, false, "Mira", &["Mouse"]),
            ("\"Mouse\"", Character, true, "\"Mouse\"", &[]),
            ("The \"Lantern\" Inn", Location, true, "The \"Lantern\" Inn", &[]),
            ("Saltgate #location/castle", Location, false, "Saltgate", &[]),
            ("Halcyon (ship)", Location, false, "Halcyon (ship)", &[]),
            ("Halcyon (ship)", Location, true, "Halcyon", &[]),
            ("Ilse Quist — ship's doctor", Character, true, "Ilse Quist", &[]),
            ("Port Amity — Docks", Location, true, "Port Amity — Docks", &[]),
            ("3. Mira", Character, true, "Mira", &[]),
            ("2299: The Long Silence", Event, true, "The Long Silence", &[]),
            ("3. Timeline", Event, true, "Timeline", &[]),
            ("Vilde[^1]", Character, false, "Vilde", &[]),
            ("(aka Nobody)", Character, true, "(aka Nobody)", &[]),
        ];
        for (heading, entry_type, in_list, name, aliases) in table {
            let named = of_heading(heading, entry_type, in_list);
            assert_eq!(
                (named.name.as_str(), &named.aliases[..]),
                (name, &aliases.iter().map(|a| (*a).to_owned()).collect::<Vec<_>>()[..]),
                "{heading}"
            );
        }
        assert_eq!(without_id("Aino 1f3a9c0d2b4e4f1a8c7d6e5f4a3b2c1d"), "Aino");
        assert_eq!(without_id("Aino Virtanen"), "Aino Virtanen");
        assert_eq!(of_stem("5421 - The Flood", Event), "The Flood");
        assert_eq!(of_stem("7 - Seven", Character), "7 - Seven");
    }

    proptest::proptest! {
        #[test]
        fn any_heading_has_a_name(heading in "[a-b1(),.\"“”—# é-]{0,24}|(aka |[A-Z]|\\(|\\)| ){0,8}", in_list: bool) {
            for entry_type in EntryType::ALL {
                let named = of_heading(&heading, entry_type, in_list);
                proptest::prop_assert!(!named.name.is_empty() || heading.is_empty());
            }
        }
    }
}
