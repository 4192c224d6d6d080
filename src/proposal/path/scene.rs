//! Where a new scene goes: beside the chapter before it, numbered and named like the chapters that are there.

use super::{Naming, extension, free, most_common};
use crate::domain::book::Book;
use crate::domain::ids::BookPath;
use crate::domain::manuscript::{Chapter, NumberFrom};

/// Where a new scene goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenePath {
    /// The file, which no file of the book is yet.
    pub path: BookPath,
    /// Whether its name holds its number.
    pub numbered: bool,
    /// Whether its name holds its title.
    pub titled: bool,
}

/// Suggests a path for a new scene with this number. A number that a chapter has already gives a free name beside it.
pub fn scene(book: &Book, title: &str, number: u32) -> ScenePath {
    let names: Vec<Numbered<'_>> = book.chapters.iter().filter_map(Numbered::of).collect();
    let numbered = book.chapters.is_empty() || names.len() * 2 >= book.chapters.len();
    let own: Vec<&str> = if numbered {
        names.iter().map(|n| n.words).filter(|words| !words.is_empty()).collect()
    } else {
        book.chapters.iter().map(|c| c.path.stem()).collect()
    };
    let slug = Naming::of_stems(&own, &own).slug(title, "scene");
    let stem = if numbered { numbered_stem(&names, number, &slug) } else { slug.clone() };
    let before = book.chapters.iter().rfind(|c| c.number <= number).or(book.chapters.first());
    let folder = before.map_or_else(|| empty_folder(book), |c| c.path.parent().map(str::to_owned));
    let extension = most_common(book.chapters.iter().filter_map(|c| extension(&c.path))).unwrap_or("md");
    let free_stem = |stem: &str| free(book, folder.as_deref(), stem, extension);
    let plain = free_stem(&stem).filter(|path| path.stem() == stem);
    // A name of nothing but a number that is taken gets the title, so that no second number stands in it.
    let path =
        plain.or_else(|| free_stem(&if stem.ends_with(&slug) { stem } else { format!("{stem} {slug}") }));
    let path = path.unwrap_or_else(fallback);
    let titled = path.stem().contains(&slug);
    ScenePath { path, numbered, titled }
}

fn empty_folder(book: &Book) -> Option<String> {
    match book.settings.manuscript_dir.as_deref().map(|dir| dir.trim_matches('/')) {
        Some(".") => None,
        Some(dir) if BookPath::new(dir).is_ok() => Some(dir.to_owned()),
        _ => Some("manuscript".to_owned()),
    }
}

#[expect(clippy::expect_used, reason = "a constant path is one inside the book")]
fn fallback() -> BookPath {
    BookPath::new("manuscript/scene.md").expect("constant")
}

/// A file name that holds its chapter's number: `01-the-lamp`, `Chapter 5 - Home`, `ch06`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbered<'a> {
    /// What stands before the number.
    label: &'a str,
    digits: &'a str,
    /// What stands between the number and the words.
    gap: &'a str,
    words: &'a str,
}

impl<'a> Numbered<'a> {
    fn of(chapter: &'a Chapter) -> Option<Self> {
        let stem = chapter.path.stem();
        let start = stem.find(|c: char| c.is_ascii_digit())?;
        let end = stem[start..].find(|c: char| !c.is_ascii_digit()).map_or(stem.len(), |at| start + at);
        let rest = &stem[end..];
        let words_at = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        let found = Self {
            label: &stem[..start],
            digits: &stem[start..end],
            gap: &rest[..words_at],
            words: &rest[words_at..],
        };
        let parted = !found.gap.is_empty() || found.words.is_empty();
        // A number that means something else (a year, the part) is not the chapter's.
        let is_own = found.digits.parse() == Ok(chapter.number)
            || start == 0 && chapter.number_from != NumberFrom::Position && found.digits.len() <= 4;
        (parted && is_own).then_some(found)
    }
}

fn numbered_stem(names: &[Numbered<'_>], number: u32, slug: &str) -> String {
    let label = names.iter().map(|n| n.label).max_by_key(|l| names.iter().filter(|n| n.label == *l).count());
    let titled = names.iter().filter(|n| !n.words.is_empty()).count() * 2 >= names.len();
    let gaps = names.iter().filter(|n| !n.words.is_empty()).map(|n| n.gap);
    let gap = most_common(gaps).unwrap_or("-");
    let width = if names.is_empty() { 2 } else { width(names) };
    let number = format!("{number:0width$}");
    let tail = if titled { [gap, slug].concat() } else { String::new() };
    [label.unwrap_or_default(), &number, &tail].concat()
}

/// Digits of a padded number; 1 where numbers are not padded.
fn width(names: &[Numbered<'_>]) -> usize {
    let padded = names.iter().filter(|n| n.digits.len() > 1 && n.digits.starts_with('0'));
    padded.map(|n| n.digits.len()).max().unwrap_or_else(|| {
        let shortest = names.iter().map(|n| n.digits.len()).min().unwrap_or(1);
        let single = names.iter().any(|n| n.digits.len() == 1);
        if single { 1 } else { shortest }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn book(paths: &[&str]) -> Book {
        let chapter = |(at, path): (usize, &&str)| {
            let path = BookPath::new(path).unwrap();
            let digits: String = path
                .stem()
                .chars()
                .skip_while(|c| !c.is_ascii_digit())
                .take_while(char::is_ascii_digit)
                .collect();
            let (number, number_from) = match digits.parse() {
                Ok(n) => (n, NumberFrom::FileName),
                Err(_) => (at as u32 + 1, NumberFrom::Position),
            };
            Chapter {
                path,
                number,
                number_from,
                title: String::new(),
                text: "".into(),
                body_start: 0,
                words: 0,
                time: crate::domain::manuscript::StoryTime::default(),
            }
        };
        Book { chapters: paths.iter().enumerate().map(chapter).collect(), ..Book::default() }
    }

    #[test]
    fn a_scene_is_numbered_and_named_like_its_neighbours() {
        for (paths, title, number, expected) in [
            (&[][..], "The Lamp", 1, "manuscript/01-the-lamp.md"),
            (&["manuscript/01-a-b.md", "manuscript/02-c.md"], "The Lamp", 3, "manuscript/03-the-lamp.md"),
            (&["text/001_A_B.md", "text/002_C.md"], "the lamp", 3, "text/003_The_Lamp.md"),
            (
                &["Manuscripts/Chapter 1 - A b.md", "Manuscripts/Chapter 2 - C d.md"],
                "The lamp",
                10,
                "Manuscripts/Chapter 10 - The Lamp.md",
            ),
            (&["chapters/ch01.md", "chapters/ch02.md"], "The Lamp", 3, "chapters/ch03.md"),
            (&["1. Start.markdown", "2. Go on.markdown"], "Stop", 3, "3. Stop.markdown"),
            (
                &["manuscript/part-a/01-x.md", "manuscript/part-b/02-y.md"],
                "z",
                3,
                "manuscript/part-b/03-z.md",
            ),
            (
                &["manuscript/part-a/01-x.md", "manuscript/part-b/03-y.md"],
                "z",
                2,
                "manuscript/part-a/02-z.md",
            ),
            (&["manuscript/prologue.md", "manuscript/the_storm.md"], "The Lamp", 3, "manuscript/the_lamp.md"),
            (&["manuscript/01-lamp.txt"], "Lamp", 1, "manuscript/01-lamp-2.txt"),
            (&["manuscript/01-lamp.md"], "Storm", 1, "manuscript/01-storm.md"),
            (&["chapters/ch01.md", "chapters/ch02.md"], "The Lamp", 2, "chapters/ch02 the-lamp.md"),
            (&["manuscript/9-a.md", "manuscript/10-b.md"], "c", 11, "manuscript/11-c.md"),
        ] {
            assert_eq!(scene(&book(paths), title, number).path.as_str(), expected);
        }
        assert!(!scene(&book(&["m/letters-x.md"]), "y", 2).numbered);
    }

    #[test]
    fn names_that_file_systems_refuse_are_made_safe() {
        let mut flat = book(&["a.md"]);
        assert_eq!(scene(&flat, "CON", 2).path.as_str(), "con-scene.md");
        assert_eq!(scene(&book(&[]), "../../etc/passwd", 1).path.as_str(), "manuscript/01-etc-passwd.md");
        assert!(scene(&book(&[]), &"é".repeat(10_000), 1).path.file_name().len() < 120);
        flat.chapters.clear();
        flat.settings.manuscript_dir = Some("../../x".into());
        assert_eq!(scene(&flat, "y", 1).path.as_str(), "manuscript/01-y.md");
    }

    proptest! {
        #[test]
        fn a_suggestion_is_new_and_in_the_manuscript(title in "\\PC{0,90}|[./\\\\:a1]{0,9}", number in 0_u32..9999, stem in "[a-zA-Z .]{0,5}[0-9]{0,3}[ a-z._-]{0,6}x") {
            let mut book = book(&["m/01-a.md", &format!("m/{stem}.md")]);
            for _ in 0..3 {
                let path = scene(&book, &title, number).path;
                prop_assert!(path.as_str().starts_with("m/") && path.as_str().matches('/').count() == 1);
                prop_assert!(!super::super::is_taken(&book, &path));
                book.others.push(path);
            }
        }
    }
}
