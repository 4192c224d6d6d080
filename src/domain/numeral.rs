//! Numbers as authors write them: `3`, `three`, `twenty-one`, `III`.

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
}
