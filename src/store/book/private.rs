//! The book as AI may know it: without the files that the author keeps from it.
//!
//! [`without`] makes a smaller [`Book`], and everything that a persona gets is made of that book alone, so that no text, name, alias, title, summary or path of
//! such a file can stand in a result, a near name, a count, a path or an error, whatever is asked, and no tool needs to know of it. What other files
//! say of it is theirs, and stays: but an entry that shows a private file (`![[file]]`), or a name that only such a file gives (`[[slug]]`), is read again without it.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Settings, with_text};
use crate::domain::book::{Book, Warning};
use crate::domain::frontmatter::Problem;
use crate::domain::ids::BookPath;
use crate::domain::links::{self, Targets};
use crate::domain::nearness::nearest;
use crate::domain::privacy;

/// Returns the book without [`Book::private`]; `None` where there is nothing to leave out.
pub fn without(book: &Book) -> Option<Book> {
    if book.private.is_empty() && book.settings.ai_never.is_empty() {
        return None;
    }
    let is_open = |path: &BookPath| !book.private.contains(path);
    let mut open = book.clone();
    open.chapters.retain(|chapter| is_open(&chapter.path));
    open.entries.retain(|entry| is_open(&entry.path));
    for entry in &mut open.entries {
        entry.soul.take_if(|soul| !is_open(&soul.path));
        entry.warnings.retain(|warning| is_open(&warning.path));
    }
    open.notes.retain(|note| is_open(&note.path));
    open.others.retain(is_open);
    open.not_canon.retain(|path, _| is_open(path));
    open.embedded.retain(|path, _| is_open(path));
    open.old_mac.retain(is_open);
    open.warnings.retain(|warning| is_open(&warning.path));
    let is_kept = |folder: &String| {
        BookPath::new(folder).is_ok_and(|folder| privacy::is_below(&folder, &book.settings.ai_never))
    };
    open.folders.retain(|folder| !is_kept(folder));
    open.settings.ai_never.clear();
    open.private.clear();
    open.kept.clear();
    for path in showing(book) {
        let text = open.entry(&path).filter(|entry| entry.path == path).map(|entry| entry.text.clone());
        if let Some(text) = text {
            open = with_text(&open, &path, text);
        }
    }
    Some(open)
}

/// Looks for what the settings keep from AI among the files of the book. What is not there is a warning; only a pattern may be meant for what is to come, and
/// anything else can't be obeyed.
pub(super) fn missing<'a>(
    settings: &mut Settings,
    root: &Path,
    files: &(impl Iterator<Item = &'a BookPath> + Clone),
) -> Vec<Warning> {
    let mut warnings = vec![];
    let places = settings.read.ai_never_at.clone();
    for (raw, (line, column)) in settings.read.ai_never.clone().into_iter().zip(places) {
        let Ok(name) = privacy::pattern(&raw) else { continue };
        let is_glob = privacy::is_glob(&name);
        let is_there = name == "."
            || files.clone().any(|path| privacy::is_below(path, std::slice::from_ref(&raw)))
            || !is_glob && root.join(&name).exists();
        if is_there {
            continue;
        }
        let hint = if raw.contains(['[', ']', '{', '}']) {
            Some("in a pattern `*`, `**` and `?` stand for other letters, and nothing else does".to_owned())
        } else if let Some(near) = meant(&name, files.clone()) {
            Some(format!("did you mean `{near}`?"))
        } else if raw.starts_with('/') {
            // It may be a path outside of the book, or that of a file of it from the root of the disk.
            Some("a path begins in the book's folder".to_owned())
        } else {
            // It may be a file under another name, and what is sent can't be taken back.
            (!is_glob).then(|| format!("what is still to come can be named by a pattern, such as `{name}*`"))
        };
        let message = format!("there is no folder or file `{raw}` that AI could leave alone");
        let message = hint.as_ref().map_or(message.clone(), |hint| format!("{message}; {hint}"));
        if hint.is_some() {
            settings.read.ai_refused.push(Problem { line, column, message: message.clone() });
        } else {
            settings.read.ai_missing.push(message.clone());
        }
        warnings.push(Warning { path: settings.path.clone(), line, column, message });
    }
    warnings
}

/// The folder or file that a name was most likely meant to be; of a pattern, its parts before the first sign that stands for others.
fn meant<'a>(name: &str, files: impl Iterator<Item = &'a BookPath>) -> Option<String> {
    let plain: Vec<&str> = name.split('/').take_while(|part| !privacy::is_glob(part)).collect();
    let name = plain.join("/");
    let mut known: BTreeSet<&str> = BTreeSet::new();
    for path in files {
        let path = path.as_str();
        known.insert(path);
        known.extend(path.match_indices('/').map(|(at, _)| &path[..at]));
    }
    // A folder that is there and holds nothing of the kind is no slip, and neither is one to come in it.
    if name.is_empty() || known.contains(name.as_str()) {
        return None;
    }
    if let Some(path) = known.iter().find(|path| ends_with(path, &name)) {
        return Some((*path).to_owned());
    }
    nearest(&name, known.into_iter().filter(|known| !name.starts_with(&format!("{known}/"))))
        .map(str::to_owned)
}

/// Whether a path ends with a name, with or without the ending of a file.
fn ends_with(path: &str, name: &str) -> bool {
    let (path, name) = (path.to_lowercase(), name.to_lowercase());
    let is_end = |path: &str| path.strip_suffix(&*name).is_some_and(|rest| rest.ends_with('/'));
    is_end(&path) || path.rsplit_once('.').is_some_and(|(stem, ending)| !ending.contains('/') && is_end(stem))
}

/// The files of entries that show a private file, or another file that does.
fn showing(book: &Book) -> BTreeSet<BookPath> {
    let texts = texts(book);
    let linked: Vec<_> = texts.iter().filter(|(_, text)| text.contains("[[")).collect();
    if linked.is_empty() {
        return BTreeSet::new();
    }
    let targets = Targets::of(texts.iter().map(|(path, _)| *path));
    let leads = |text: &str, to: &BTreeSet<BookPath>, all: bool| {
        let links = links::links(text);
        links
            .iter()
            .any(|l| (all || l.is_embed) && targets.find(l.target).is_some_and(|path| to.contains(path)))
    };
    let mut through = book.private.clone();
    loop {
        let more =
            linked.iter().filter(|(path, text)| !through.contains(*path) && leads(text, &through, false));
        let more: Vec<BookPath> = more.map(|(path, _)| (*path).clone()).collect();
        if more.is_empty() {
            break;
        }
        through.extend(more);
    }
    let named = linked.iter().filter(|(_, text)| leads(text, &book.private, true));
    let named: Vec<BookPath> = named.map(|(path, _)| (*path).clone()).collect();
    through.into_iter().chain(named).filter(|path| !book.private.contains(path)).collect()
}

fn texts(book: &Book) -> Vec<(&BookPath, &str)> {
    let chapters = book.chapters.iter().map(|c| (&c.path, &*c.text));
    let entries = book.entries.iter().map(|e| (&e.path, &*e.text));
    let souls = book.entries.iter().filter_map(|e| e.soul.as_ref()).map(|soul| (&soul.path, &*soul.text));
    let notes = book.notes.iter().map(|note| (&note.path, &*note.text));
    let embedded = book.embedded.iter().map(|(path, text)| (path, &**text));
    chapters.chain(entries).chain(souls).chain(notes).chain(embedded).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::book::read;

    fn book(files: &[(&str, &str)]) -> Book {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        read(dir.path()).unwrap()
    }

    fn open(files: &[(&str, &str)]) -> Book {
        without(&book(files)).unwrap()
    }

    #[test]
    fn a_book_without_a_mark_is_taken_as_it_is() {
        assert!(without(&book(&[("manuscript/1.md", "One")])).is_none());
    }

    #[test]
    fn every_kind_of_file_can_be_kept_from_ai() {
        let never = "---\nai: never\n---\nSecret.\n";
        let open = open(&[
            ("manuscript/1.md", "# One\n"),
            ("manuscript/2.md", "+++\nai = \"never\"\n+++\n# Secret\n"),
            ("manuscript/3.md", "{\n\"ai\": \"never\"\n}\nSecret.\n"),
            ("codex/characters/mira/dossier.md", "# Mira\n"),
            ("codex/characters/mira/soul.md", never),
            ("codex/characters/secret.md", never),
            ("codex/characters.md", "---\nai: never\n---\n## Secretia\n\nOne.\n\n## Secreto\n\nTwo.\n"),
            ("codex/items/key.md", "# Key\n\nai:: never\n\nSecret.\n"),
            ("notes/secret.md", never),
            ("loose/secret.md", never),
        ]);
        assert!(!format!("{open:?}").to_lowercase().contains("secret"), "{open:?}");
        assert_eq!((open.chapters.len(), open.entries.len(), open.notes.len()), (1, 1, 0));
        assert!(open.private.is_empty());
    }

    #[test]
    fn a_mark_that_is_not_written_as_it_should_be_is_obeyed_in_every_kind_of_file() {
        for head in [
            "\n\n---\nai: never\n---\n",
            "----\nai: never\n----\n",
            "---\nai never\n---\n",
            "---\nname: Mira\nai never\n---\n",
            "<!-- mine -->\n---\nai: never\n---\n",
            "ai: never\n\n",
            "ai:: never\n\n",
            "Some [ai:: never] text.\n\n",
            "Some (ai:: never) text.\n\n",
        ] {
            let text = format!("{head}# Secret\n\nSecret.\n");
            let files = ["manuscript/1.md", "codex/items/a.md", "notes/a.md", "loose/a.md"]
                .map(|path| (path, &*text));
            let full = book(&files);
            assert_eq!(full.private.len(), files.len(), "{head:?} {:?}", full.private);
            assert!(!format!("{:?}", without(&full)).contains("Secret"), "{head:?}");
        }
    }

    #[test]
    fn prose_that_speaks_of_ai_stays_readable() {
        for text in [
            "# One\n\nShe said: ai: never again.\n",
            "She said:\nAI: Never!\n",
            "# One\n\nText.\n\n---\n\nai: never\n\n---\n",
            "To keep a note, write `ai:: never`.\n\n```\n[ai:: never]\n```\n",
        ] {
            assert!(book(&[("manuscript/1.md", text), ("notes/a.md", text)]).private.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn a_folder_of_the_settings_is_kept_with_everything_below_it_and_one_that_is_missing_is_told() {
        let files = [
            ("scritorio.toml", "[ai]\nnever = [\"notes/private/\", \"codex/items/key.md\", \"gone\"]\n"),
            ("notes/private/deep/secret.md", "Secret."),
            ("notes/privateer.md", "Open."),
            ("codex/items/key.md", "# Secret\n"),
        ];
        let full = book(&files);
        assert_eq!(full.private.len(), 2);
        assert!(full.warnings.iter().any(|w| w.message.contains("`gone`")), "{:?}", full.warnings);
        let open = open(&files);
        assert_eq!((open.notes.len(), open.entries.len()), (1, 0));
    }

    #[test]
    fn a_name_in_the_settings_that_is_not_there_can_not_be_obeyed_and_a_pattern_for_what_is_to_come_can() {
        let files = [("notes/private/a.md", "Secret."), ("codex/characters/ruth.md", "# Ruth\n")];
        let read = |never: &str| {
            let toml = format!("[ai]\nnever = [{never}]\n");
            let book = book(&[&[("scritorio.toml", toml.as_str())], &files[..]].concat());
            let refused: Vec<String> = book.settings.ai_refused.iter().map(|p| p.message.clone()).collect();
            (book.private.len(), refused, book.settings.ai_missing.len(), book.warnings.len())
        };
        assert_eq!(read("'/notes', 'codex/characters/*.md'"), (2, vec![], 0, 0));
        assert_eq!(read("'gone*'"), (0, vec![], 1, 1));
        assert_eq!(read("'codex/characters/*.txt'"), (0, vec![], 1, 1));
        for (slip, hint) in [
            ("notes/privat", "did you mean `notes/private`?"),
            ("characters", "did you mean `codex/characters`?"),
            ("Ruth.md", "did you mean `codex/characters/ruth.md`?"),
            ("ruth", "did you mean `codex/characters/ruth.md`?"),
            ("characters/ruth", "did you mean `codex/characters/ruth.md`?"),
            ("gone", "a pattern, such as `gone*`"),
            ("notes/gone.md", "a pattern, such as `notes/gone.md*`"),
            ("codex/charcters/*.md", "did you mean `codex/characters`?"),
            ("codex/{characters,items}", "nothing else does"),
            ("/home/me/book/notes", "begins in the book's folder"),
        ] {
            let (private, refused, missing, _) = read(&format!("'{slip}'"));
            assert_eq!((private, refused.len(), missing), (0, 1, 0), "{slip}");
            assert!(refused[0].contains(hint), "{refused:?}");
        }
    }

    #[test]
    fn what_is_wrong_in_the_settings_is_told_with_the_place_where_it_stands() {
        let toml = "[notes]\ndir = 'notes'\n\n[ai]\nnever = ['notes/a.md', \"note\"]\n";
        let full = book(&[("scritorio.toml", toml), ("notes/a.md", "Secret.")]);
        let refused = &full.settings.ai_refused[0];
        assert_eq!((refused.line, refused.column), (5, 24), "{refused:?}");
        assert_eq!(full.warnings.iter().map(|w| w.line).collect::<Vec<_>>(), [5]);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_a_private_file_is_no_way_around() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["manuscript", "notes/private"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("scritorio.toml"), "[ai]\nnever = ['notes/private']\n").unwrap();
        fs::write(dir.path().join("notes/private/s.md"), "Secret.").unwrap();
        std::os::unix::fs::symlink("../notes/private/s.md", dir.path().join("manuscript/1.md")).unwrap();
        let full = read(dir.path()).unwrap();
        let typed = with_text(&full, &BookPath::new("manuscript/1.md").unwrap(), "Secret. And more.");
        let typed = with_text(&typed, &BookPath::new("notes/private/s.md").unwrap(), "Secret. And more.");
        for book in [full, typed] {
            let open = without(&book).unwrap();
            assert!(open.chapters.is_empty() && open.notes.is_empty(), "{open:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn settings_that_are_a_link_to_nothing_can_not_be_obeyed() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("notes/deep")).unwrap();
        fs::write(dir.path().join("notes/deep/n.md"), "Text.").unwrap();
        std::os::unix::fs::symlink("elsewhere.toml", dir.path().join("scritorio.toml")).unwrap();
        let book = read(dir.path()).unwrap();
        assert_eq!(book.settings.ai_refused.len(), 1);
        let told: Vec<_> =
            book.warnings.iter().map(|w| (w.path.as_str(), w.message.contains("a link"))).collect();
        assert_eq!(told, [("scritorio.toml", true)], "told once");
        let root = dir.path().canonicalize().unwrap();
        assert_eq!(crate::store::book::find_root(&root.join("notes/deep")), Some(root));
    }

    #[test]
    fn what_an_entry_shows_of_a_private_file_is_gone_too() {
        let open = open(&[
            ("codex/characters/mira.md", "---\nfriend: \"[[old-heron]]\"\n---\n![[plan]]\n\nShe flies.\n"),
            ("codex/characters/old-heron.md", "---\nai: never\nname: Adrian Secret\n---\nSecret.\n"),
            ("notes/plan.md", "![[fate]]\n"),
            ("notes/fate.md", "---\nai: never\n---\nSecret end.\n"),
        ]);
        assert!(!format!("{open:?}").contains("Secret"), "{open:?}");
        assert_eq!(open.entries[0].summary, "She flies.");
    }

    #[test]
    fn unsaved_text_sets_the_mark_and_takes_it_off() {
        let full = book(&[("notes/n.md", "Text.\n"), ("notes/m.md", "---\nai: never\n---\n")]);
        let path = |raw| BookPath::new(raw).unwrap();
        let marked = with_text(&full, &path("notes/n.md"), "---\nai: never\n---\nText.\n");
        assert_eq!(marked.private.len(), 2);
        let free = with_text(&full, &path("notes/m.md"), "Text.\n");
        assert!(free.private.is_empty());
    }
}
