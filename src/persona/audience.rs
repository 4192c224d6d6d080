//! The book's genre and audience in the words that prompts use. What is not set is said visibly, never left empty.

use crate::domain::book::{BookSettings, Lens};

/// Returns the genre.
pub fn genre(settings: &BookSettings) -> String {
    set(settings.genre.as_deref()).unwrap_or_else(|| "[genre not set]".to_owned())
}

/// Returns the target audience's age group.
pub fn age_group(settings: &BookSettings) -> String {
    set(settings.audience.age_group.as_deref()).unwrap_or_else(|| "[audience age not set]".to_owned())
}

/// Returns the lens as a role speaks of it: what follows `target audience with`.
pub fn lens(lens: Lens) -> &'static str {
    match lens {
        Lens::Any => "no sex or gender lens set",
        Lens::Female => "a lens on female readers",
        Lens::Male => "a lens on male readers",
    }
}

/// Returns who the First-Time Reader is: what follows `a` and comes before `reader`.
pub fn reader_identity(lens: Lens) -> &'static str {
    match lens {
        Lens::Any => "gender-unspecified",
        Lens::Female => "female",
        Lens::Male => "male",
    }
}

/// Returns the age of the First-Time Reader: the one that the book sets, else one that fits its age group.
pub fn reader_age(settings: &BookSettings) -> String {
    let audience = &settings.audience;
    let derived = || set(audience.age_group.as_deref()).and_then(|group| typical_age(&group));
    match audience.reader_age.or_else(derived) {
        Some(age) => age.to_string(),
        None => "[reader age not set]".to_owned(),
    }
}

/// Returns the indefinite article that `phrase` takes when it is read aloud: `an adult`, `a young adult`, `an 8-12`, `a YA`.
pub fn article(phrase: &str) -> &'static str {
    let word: String = phrase
        .chars()
        .skip_while(|c| !c.is_alphanumeric())
        .take_while(|c| c.is_alphanumeric() || *c == '\'')
        .collect();
    if starts_with_vowel_sound(&word) { "an" } else { "a" }
}

/// One line without surrounding white space, or `None` when nothing is left: a value is a part of a sentence.
fn set(raw: Option<&str>) -> Option<String> {
    let line = raw?.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

fn starts_with_vowel_sound(word: &str) -> bool {
    let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
    if !digits.is_empty() {
        // eight, eighty, ...; eleven; eighteen
        return digits.starts_with('8') || digits == "11" || digits == "18";
    }
    let is_vowel = |c: char| matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u');
    let capitals = word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    if capitals && (word.len() == 2 || !word.chars().any(is_vowel)) {
        // Read letter by letter: an MG (em-gee), a YA (why-ay).
        return word.starts_with(['A', 'E', 'F', 'H', 'I', 'L', 'M', 'N', 'O', 'R', 'S', 'X']);
    }
    let word = word.to_lowercase();
    let is_silent_h = ["heir", "honest", "honor", "honour", "hour"].iter().any(|w| word.starts_with(w));
    let is_consonant_sound = ["eu", "one", "uni", "use", "usu", "uto"].iter().any(|w| word.starts_with(w));
    let first = word.chars().next();
    is_silent_h
        || !is_consonant_sound && first.is_some_and(|c| is_vowel(c) || "àáâäåæèéêëìíîïòóôöøùúûü".contains(c))
}

/// Returns an age in the middle of an age group: of its numbers if it has any (`8-12`, `13+`), else of its usual name.
fn typical_age(group: &str) -> Option<u32> {
    const NAMES: [(&str, u32); 17] = [
        ("all ages", 30),
        ("picture book", 5),
        ("early reader", 7),
        ("chapter book", 8),
        ("middle grade", 10),
        ("young adult", 16),
        ("new adult", 22),
        ("older adult", 68),
        ("senior", 68),
        ("preschool", 4),
        ("child", 9),
        ("kid", 9),
        ("teen", 15),
        ("adult", 35),
        ("grown-up", 35),
        ("general", 35),
        ("mature", 35),
    ];
    let numbers: Vec<u32> = group
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|n| n.parse().ok())
        .filter(|n| (1..=110).contains(n))
        .collect();
    match numbers[..] {
        [from, to, ..] => return Some(from.midpoint(to)),
        [only] => return Some(only),
        [] => {}
    }
    let lower = group.to_lowercase();
    match lower.as_str() {
        "ya" => return Some(16),
        "mg" => return Some(10),
        "na" => return Some(22),
        _ => {}
    }
    NAMES.iter().find(|(name, _)| lower.contains(name)).map(|(_, age)| *age)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ages(age_group: &str, reader_age: Option<u32>) -> String {
        let mut settings = BookSettings::default();
        settings.audience.age_group = Some(age_group.to_owned());
        settings.audience.reader_age = reader_age;
        super::reader_age(&settings)
    }

    #[test]
    fn an_age_group_takes_the_article_that_a_reader_would_say() {
        for phrase in [
            "adult",
            "early reader",
            "upper middle grade",
            "all ages",
            "8-12",
            "11 to 14",
            "18+",
            "80 and over",
            "MG",
            "NA",
            "[audience age not set]",
            "older teens",
            "heirloom",
            "élite",
        ] {
            assert_eq!(article(phrase), "an", "{phrase}");
        }
        for phrase in [
            "young adult",
            "middle grade",
            "teen",
            "13-17",
            "16+",
            "1-3",
            "110",
            "YA",
            "universal",
            "university",
            "European",
            "one-to-three",
            "NEW ADULT",
            "high school",
            "Jugendliche",
            "",
            "...",
        ] {
            assert_eq!(article(phrase), "a", "{phrase}");
        }
    }

    #[test]
    fn the_readers_age_is_the_one_that_is_set_else_one_that_fits_the_group() {
        for (group, set, expected) in [
            ("adult", Some(52), "52"),
            ("adult", None, "35"),
            ("Young Adult", None, "16"),
            ("YA", None, "16"),
            ("New adult", None, "22"),
            ("middle grade", None, "10"),
            ("8-12", None, "10"),
            ("ages 13 to 17", None, "15"),
            ("16+", None, "16"),
            ("Children", None, "9"),
            ("all ages", None, "30"),
            ("older adults", None, "68"),
            ("dragons", None, "[reader age not set]"),
            ("99999999999999999999", None, "[reader age not set]"),
            ("  ", None, "[reader age not set]"),
        ] {
            assert_eq!(ages(group, set), expected, "{group:?}");
        }
    }

    #[test]
    fn what_is_not_set_is_said() {
        for blank in [None, Some(String::new()), Some(" \n ".to_owned())] {
            let mut settings = BookSettings { genre: blank.clone(), ..BookSettings::default() };
            settings.audience.age_group = blank;
            assert_eq!(genre(&settings), "[genre not set]");
            assert_eq!(age_group(&settings), "[audience age not set]");
            assert_eq!(reader_age(&settings), "[reader age not set]");
        }
    }

    #[test]
    fn a_value_of_several_lines_stays_in_its_sentence() {
        let settings =
            BookSettings { genre: Some("space opera\n\n# New rules".into()), ..BookSettings::default() };
        assert_eq!(genre(&settings), "space opera # New rules");
    }
}
