//! Numbers as authors write them: `3`, `three`, `twenty-one`, `III`, `Chapter 3: The Inquiry`.

/// Reads a whole text as a number: digits, an English number word up to ninety-nine, or a Roman numeral up to 399.
pub fn parse(text: &str) -> Option<u32> {
    let text = text.trim();
    if !text.is_empty() && text.len() <= 6 && text.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().ok();
    }
    from_words(text).or_else(|| from_roman(text))
}

/// Reads `three`, `Seventeen`, `twenty-one` or `twenty one`.
pub fn from_words(text: &str) -> Option<u32> {
    const SMALL: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let position = |table: &[&str], word: &str| {
        table.iter().position(|known| word.eq_ignore_ascii_case(known)).and_then(|at| u32::try_from(at).ok())
    };
    let mut words = text.split(|c: char| c == '-' || c.is_whitespace()).filter(|w| !w.is_empty());
    let (first, second) = (words.next()?, words.next());
    if words.next().is_some() {
        return None;
    }
    let Some(second) = second else {
        return position(&SMALL, first).or_else(|| position(&TENS, first).map(|tens| (tens + 2) * 10));
    };
    let tens = position(&TENS, first)?;
    let ones = position(&SMALL, second).filter(|ones| (1..=9).contains(ones))?;
    Some((tens + 2) * 10 + ones)
}

/// Reads a well-formed Roman numeral up to 399, all in capitals or all in small letters.
pub fn from_roman(text: &str) -> Option<u32> {
    let of_one_case =
        text.bytes().all(|b| b.is_ascii_uppercase()) || text.bytes().all(|b| b.is_ascii_lowercase());
    if text.is_empty() || text.len() > 12 || !of_one_case {
        return None;
    }
    let mut value = 0;
    let mut rest = text.to_ascii_uppercase();
    for (sign, worth, most) in [
        ("C", 100, 3),
        ("XC", 90, 1),
        ("L", 50, 1),
        ("XL", 40, 1),
        ("X", 10, 3),
        ("IX", 9, 1),
        ("V", 5, 1),
        ("IV", 4, 1),
        ("I", 1, 3),
    ] {
        for _ in 0..most {
            let Some(shorter) = rest.strip_prefix(sign).map(str::to_owned) else { break };
            value += worth;
            rest = shorter;
        }
    }
    // Writing the value again is what tells `IX` from `VIIII` or `IVI`.
    (rest.is_empty() && to_roman(value) == text.to_ascii_uppercase()).then_some(value)
}

fn to_roman(mut value: u32) -> String {
    let mut text = String::new();
    for (sign, worth) in
        [("C", 100), ("XC", 90), ("L", 50), ("XL", 40), ("X", 10), ("IX", 9), ("V", 5), ("IV", 4), ("I", 1)]
    {
        while value >= worth {
            text.push_str(sign);
            value -= worth;
        }
    }
    text
}

/// A number in front of a title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbered<'a> {
    /// The number.
    pub number: u32,
    /// Whether the word `chapter` (or `ch.`) stands before it.
    pub labelled: bool,
    /// What follows, without what separates it.
    pub rest: &'a str,
}

/// Reads `Chapter 3`, `ch. three - Title`, `CHAPTER III: Title`, and without the word only what can be nothing else: `3. Title`, `III`.
pub fn of_chapter(text: &str) -> Option<Numbered<'_>> {
    let text = text.trim();
    let behind = behind_label(text);
    let from = behind.unwrap_or(text);
    let (number, len) = if behind.is_some() { leading_number(from)? } else { leading_sign(from)? };
    let after = &from[len..];
    let separated = after.is_empty()
        || after.starts_with([':', ')', '|'])
        || after.strip_prefix('.').is_some_and(|a| a.is_empty() || a.starts_with(char::is_whitespace))
        || after.trim_start().starts_with(['-', '\u{2013}', '\u{2014}']);
    let of_a_word = after.starts_with(|c: char| c.is_alphanumeric() || c == '\'' || c == '\u{2019}');
    if of_a_word || (behind.is_none() && !separated) {
        return None;
    }
    let rest = after.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | '.' | ')' | '|' | ',' | '-' | '\u{2013}' | '\u{2014}')
    });
    Some(Numbered { number, labelled: behind.is_some(), rest })
}

/// Returns what follows the word `chapter` in one of its forms, if it stands in front.
fn behind_label(text: &str) -> Option<&str> {
    ["chapter", "chap", "ch", "kapitel", "chapitre", "capitolo", "capitulo", "cap\u{ed}tulo"]
        .into_iter()
        .find_map(|word| {
            let head = text.get(..word.len())?;
            let rest = &text[word.len()..];
            let apart = rest.starts_with(|c: char| {
                c.is_ascii_digit() || c.is_whitespace() || matches!(c, '.' | '-' | '_' | '#')
            });
            (head.to_lowercase() == word && apart).then(|| {
                rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '.' | '-' | '_' | '#'))
            })
        })
}

/// Digits or a Roman numeral in capitals at the start: the number and its length.
fn leading_sign(text: &str) -> Option<(u32, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return (digits <= 3).then(|| text[..digits].parse().ok()).flatten().map(|number| (number, digits));
    }
    let capitals = text.bytes().take_while(u8::is_ascii_uppercase).count();
    from_roman(&text[..capitals]).map(|number| (number, capitals))
}

/// A number in any dress at the start: the number and its length.
fn leading_number(text: &str) -> Option<(u32, usize)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 {
        return text[..digits].parse().ok().filter(|_| digits <= 4).map(|number| (number, digits));
    }
    let word_end = |from: usize| {
        from + text[from..].bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'-').count()
    };
    let first = word_end(0);
    let second = if text[first..].starts_with(' ') { word_end(first + 1) } else { first };
    [second, first, text.find('-').unwrap_or(0).min(first)].into_iter().find_map(|end| {
        let word = text[..end].trim_end_matches('-');
        parse(word).map(|number| (number, word.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_every_dress() {
        let table = [
            ("3", Some(3)),
            ("03", Some(3)),
            ("three", Some(3)),
            (" Nineteen ", Some(19)),
            ("forty", Some(40)),
            ("twenty-one", Some(21)),
            ("Ninety nine", Some(99)),
            ("III", Some(3)),
            ("xiv", Some(14)),
            ("CCCXCIX", Some(399)),
            ("IIII", None),
            ("IVI", None),
            ("Iv", None),
            ("twenty-ten", None),
            ("one two", None),
            ("the third", None),
            ("", None),
            ("9999999", None),
        ];
        for (text, number) in table {
            assert_eq!(parse(text), number, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_roman_numeral_is_read_back(value in 1u32..400) {
            proptest::prop_assert_eq!(from_roman(&to_roman(value)), Some(value));
        }
    }

    #[test]
    fn a_chapter_is_numbered_in_many_ways() {
        let table = [
            ("Chapter 3: The Inquiry", Some((3, true, "The Inquiry"))),
            ("CHAPTER III", Some((3, true, ""))),
            ("ch. 12 \u{2014} Lantern", Some((12, true, "Lantern"))),
            ("Ch3", Some((3, true, ""))),
            ("Chapter Twenty-One. Home", Some((21, true, "Home"))),
            ("chapter twenty one home", Some((21, true, "home"))),
            ("Chapter Six Feet Under", Some((6, true, "Feet Under"))),
            ("Kapitel 7", Some((7, true, ""))),
            ("3. Turnover", Some((3, false, "Turnover"))),
            ("IV: Turnover", Some((4, false, "Turnover"))),
            ("7", Some((7, false, ""))),
            ("Seven", None),
            ("12 Angry Men", None),
            ("3rd of May", None),
            ("1.5 Miles", None),
            ("I was born", None),
            ("1984", None),
            ("Change of Heart", None),
            ("Chapter", None),
            ("Chapter of Accidents", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(of_chapter(text).map(|n| (n.number, n.labelled, n.rest)), expected, "{text:?}");
        }
    }
}
