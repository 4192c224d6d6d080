//! Which files are canon, what they are, and why; why the others are none.
//!
//! What a file is depends on its text, its place and the book's words, not on other files, so that files are read side by side.

use std::collections::HashSet;
use std::sync::Arc;

use super::entry::{self, Facts, Fields, Shape, folder_name};
use super::kind::{Typed, Vocabulary};
use super::layout::{self, Layout, Zone};
use super::load::Loaded;
use super::many::{self, Place};
use super::markup::Page;
use super::{chapter, fields, names, parts};
use crate::domain::book::Note;
use crate::domain::codex::{Entry, EntryType, TypeFrom};
use crate::domain::ids::BookPath;
use crate::domain::passage::readable_stem;

/// What became of a file.
#[derive(Debug, Clone)]
pub enum Piece {
    /// A file of the manuscript.
    Chapter(Loaded),
    /// A note.
    Note(Note, Loaded),
    /// Canon: one entry, or many.
    Canon(Vec<Entry>, Loaded),
    /// `soul.md`, with the type that it gives itself or takes from its folder.
    Soul(Loaded, Option<Typed>),
    /// Anything else; why it is no canon, where it could have been.
    Other(Loaded, Option<String>),
}

impl Piece {
    /// Returns the file.
    pub fn file(&self) -> &Loaded {
        match self {
            Self::Chapter(file)
            | Self::Note(_, file)
            | Self::Canon(_, file)
            | Self::Soul(file, _)
            | Self::Other(file, _) => file,
        }
    }

    /// Returns the entries in it.
    pub fn entries(&self) -> &[Entry] {
        match self {
            Self::Canon(entries, _) => entries,
            _ => &[],
        }
    }
}

/// What is known of a book before its files are read.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Which folder holds what.
    pub layout: Layout,
    /// Which word means which type.
    pub words: Vocabulary,
    /// Folders that hold a `dossier.md`.
    pub dossiers: HashSet<String>,
    /// Files of the manuscript that are no chapters by their names.
    pub aside: HashSet<BookPath>,
}

impl Rules {
    /// Collects the folders that are one entry.
    pub fn new<'a>(
        layout: Layout,
        words: Vocabulary,
        order: &[String],
        paths: impl IntoIterator<Item = &'a BookPath> + Clone,
    ) -> Self {
        let aside = parts::aside(paths.clone(), &layout, |path| layout.zone(path, &words), order);
        let (mut dossiers, mut souls) = (HashSet::new(), HashSet::new());
        for path in paths {
            match (Shape::of(path), path.parent()) {
                (Shape::Dossier, Some(folder)) => dossiers.insert(folder.to_owned()),
                (Shape::Soul, Some(folder)) => souls.insert(folder.to_owned()),
                _ => false,
            };
        }
        // `people/lore/` with a dossier and a soul is somebody called Lore; `lore/` with a dossier is a folder of lore.
        let is_entry = |folder: &String| {
            let mut names = folder.rsplit('/');
            names.next().is_some_and(|name| words.folder(name).is_none())
                || souls.contains(folder) && names.any(|name| words.folder(name).is_some())
        };
        dossiers.retain(is_entry);
        Self { layout, words, dossiers, aside }
    }

    /// Whether a file of the manuscript is no chapter by its name, and does not say itself that it is one.
    fn is_aside(&self, file: &Loaded) -> bool {
        self.aside.contains(&file.path) && !chapter::has_number(&file.front.fields)
    }

    /// Says which part of the book a path belongs to.
    pub fn zone(&self, path: &BookPath) -> Zone {
        self.layout.zone(path, &self.words)
    }

    /// Says what a file is.
    pub fn piece(&self, file: Loaded) -> Piece {
        match self.zone(&file.path) {
            Zone::Manuscript if self.is_aside(&file) => Piece::Note(note(&file), file),
            Zone::Manuscript => Piece::Chapter(file),
            Zone::Notes => Piece::Note(note(&file), file),
            zone => self.maybe_canon(file, zone),
        }
    }

    fn maybe_canon(&self, file: Loaded, zone: Zone) -> Piece {
        let none = |file, why: Option<String>| match zone {
            Zone::Flat if !is_of_a_project(&file) && self.is_aside(&file) => Piece::Note(note(&file), file),
            Zone::Flat if !is_of_a_project(&file) => Piece::Chapter(file),
            _ => Piece::Other(file, why),
        };
        let folders = || file.path.parent().into_iter().flat_map(|parent| parent.split('/'));
        if folders().any(layout::is_for_templates) {
            return Piece::Other(file, Some("it stands in a folder of templates".to_owned()));
        }
        if zone != Zone::Codex && !self.layout.takes_canon_elsewhere() {
            return none(file, Some("it stands in no folder that `[codex] dirs` names".to_owned()));
        }
        if entry::is_of_a_plugin(&file.front.fields) {
            return Piece::Other(file, Some("it is a drawing or a board of a plugin".to_owned()));
        }
        match self.canon(&file, zone) {
            Found::Entries(entries) => Piece::Canon(entries, file),
            Found::Soul(typed) => Piece::Soul(file, typed),
            Found::No(why) => none(file, why),
        }
    }

    /// Reads a file as canon, if it is.
    pub fn canon(&self, file: &Loaded, zone: Zone) -> Found {
        let page = Page::of(file.body());
        let words = &self.words;
        let shape = Shape::of(&file.path);
        let of_folder = if self.counts_folder(file, shape) { self.folder_type(&file.path) } else { None };
        let place = match (zone, &of_folder) {
            (Zone::Flat, _) => Place::AmongChapters,
            (_, Some((entry_type, _))) => Place::Typed(*entry_type),
            (Zone::Codex, None) => Place::Codex,
            _ => Place::Elsewhere,
        };
        if shape != Shape::Soul {
            let entries = many::entries(file, &page, place, words);
            if !entries.is_empty() {
                return Found::Entries(entries);
            }
        }
        // Among chapters a tag or a field in the text says nothing about the file.
        let lines = if zone == Zone::Flat { &[][..] } else { &page.lines[..] };
        let fields = Fields::of(&file.front.fields, &file.renamed, lines, words);
        let own = fields.own_type(lines, words);
        if shape == Shape::Soul {
            return Found::Soul(own.or(of_folder));
        }
        let typed = own.or_else(|| self.folder_or_stem(file, of_folder, place)).or_else(|| {
            let inline = entry::inline_tag(lines, zone == Zone::Codex, words);
            inline.filter(|_| shape == Shape::Own)
        });
        let Some(typed) = typed else { return Found::No(Some(self.why_none(file, &fields, shape))) };
        let facts = Facts::of_file(fields, &page, &file.path, typed.0, words);
        Found::Entries(vec![facts.whole(file, typed)])
    }

    /// Reads a file as one entry of a type that is known by now.
    pub fn alone(&self, file: &Loaded, typed: Typed) -> Entry {
        let page = Page::of(file.body());
        let fields = Fields::of(&file.front.fields, &file.renamed, &page.lines, &self.words);
        Facts::of_file(fields, &page, &file.path, typed.0, &self.words).whole(file, typed)
    }

    /// Whether a folder's name says something about a file: not about what lies beside a dossier, and not about the index of a folder of entries. (A
    /// style folder may be one guide.)
    fn counts_folder(&self, file: &Loaded, shape: Shape) -> bool {
        let beside_dossier = !matches!(shape, Shape::Dossier | Shape::Soul)
            && file.path.parent().is_some_and(|parent| self.dossiers.contains(parent));
        let holds_entries =
            |name: &str| self.words.folder(name).is_some_and(|folder| folder != EntryType::Style);
        if shape == Shape::Dossier || shape == Shape::Soul {
            // An entry is of the type of the folder that it stands in, whatever it is called itself.
            if file.path.parent().is_some_and(|dir| self.dossiers.contains(dir)) {
                return true;
            }
        }
        let is_index_of_many = matches!(shape, Shape::Dossier | Shape::Index | Shape::FolderNote)
            && (file.path.parent().is_none_or(|dir| self.layout.is_codex(dir))
                || folder_name(&file.path).is_some_and(holds_entries));
        !beside_dossier && !is_index_of_many
    }

    /// The type that the nearest folder above a file names.
    fn folder_type(&self, path: &BookPath) -> Option<Typed> {
        let own = path.parent().filter(|folder| self.dossiers.contains(*folder));
        path.parent()?
            .rsplit('/')
            .skip(usize::from(own.is_some()))
            .find_map(|name| Some((self.words.folder(name)?, TypeFrom::Folder(name.to_owned()))))
    }

    /// The type of a file that gives itself none: that of its folder or, where no folder has one, of its name.
    fn folder_or_stem(&self, file: &Loaded, of_folder: Option<Typed>, place: Place) -> Option<Typed> {
        let meaning = entry::stem_type(&file.path, &self.words);
        // A list in which no heading names an entry is no entry itself; a text on cultures may be.
        let is_list =
            meaning.is_some_and(|m| m.many && m.entry_type != EntryType::Concept) && !many::has_name(file);
        if is_list && (of_folder.is_none() || is_named_like(&file.path, of_folder.as_ref())) {
            return None;
        }
        if of_folder.is_some() {
            return of_folder;
        }
        let shape = Shape::of(&file.path);
        let named = meaning.filter(|_| shape == Shape::Own && !self.is_beside_dossier(&file.path))?;
        let says_enough = place == Place::Codex
            || named.entry_type == EntryType::Style && entry::is_guide(file.path.stem())
            || place == Place::Elsewhere && self.words.stem(file.path.stem()).is_some();
        says_enough.then(|| (named.entry_type, TypeFrom::File(file.path.file_name().to_owned())))
    }

    fn is_beside_dossier(&self, path: &BookPath) -> bool {
        path.parent().is_some_and(|parent| self.dossiers.contains(parent))
    }

    fn why_none(&self, file: &Loaded, fields: &Fields, shape: Shape) -> String {
        if let Some((key, value)) = super::kind::unread_type(&fields.all) {
            let key = fields.renamed.0.iter().find(|(name, _)| name == key).map_or(key, |(_, own)| own);
            return format!(
                "its {key} `{value}` is no known type; `[codex.types]` in scritorio.toml can map it"
            );
        }
        if self.is_beside_dossier(&file.path) {
            return "it lies beside a dossier and gives no type itself".to_owned();
        }
        if matches!(shape, Shape::Dossier | Shape::Index | Shape::FolderNote) {
            return "it is the index of a folder and gives no type itself".to_owned();
        }
        if entry::stem_type(&file.path, &self.words).is_some_and(|meaning| meaning.many) {
            return "it is named like a list, but no heading in it names an entry".to_owned();
        }
        "no key, tag, folder or file name gives it a type".to_owned()
    }
}

/// What a file that may be canon turned out to be.
#[derive(Debug)]
pub enum Found {
    /// One entry, or many.
    Entries(Vec<Entry>),
    /// The inner life of the entry beside it.
    Soul(Option<Typed>),
    /// No canon; why.
    No(Option<String>),
}

/// Whether a file is named like the folder that gives it its type: `Characters/Characters.md`.
fn is_named_like(path: &BookPath, of_folder: Option<&Typed>) -> bool {
    matches!(of_folder, Some((_, TypeFrom::Folder(name))) if fields::same(name, path.stem()))
}

/// Files that a project keeps beside its text.
fn is_of_a_project(file: &Loaded) -> bool {
    matches!(
        file.path.stem().to_lowercase().as_str(),
        "readme" | "license" | "licence" | "changelog" | "contributing"
    )
}

/// Reads a note.
pub fn note(file: &Loaded) -> Note {
    let front = &file.front.fields;
    let heading = || Page::of(file.body()).headings.into_iter().next().map(|heading| heading.text);
    Note {
        path: file.path.clone(),
        title: fields::get(front, &["title"])
            .and_then(fields::text)
            .or_else(heading)
            .unwrap_or_else(|| readable_stem(names::without_id(file.path.stem()))),
        tags: super::kind::tags(front),
        text: Arc::clone(&file.text),
    }
}
