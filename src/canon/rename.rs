//! Every place of a book that a change of a name, or of any words, would touch.
//!
//! Pure: text in, places out. Nothing here writes, and nothing is decided that a reader could doubt: such a place is listed with the reason, and not
//! chosen. The new words take the form that the old ones have in each place: possessive, plural, capitals, first or last name alone.

mod anchor;
mod doubt;
mod edits;
mod forms;
mod regions;
mod scan;

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::links::Directory;
use super::lookup;
use crate::domain::book::Book;
use crate::domain::codex::{Entry, EntryType};
use crate::domain::exemption::Exemption;
use crate::domain::ids::BookPath;

pub use edits::{FileEdit, file_edits};

/// What kind of place it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The entry's own name.
    Name,
    /// One of its aliases.
    Alias,
    /// A value of the frontmatter.
    Field,
    /// The target of a link.
    Link,
    /// A heading.
    Heading,
    /// In the text.
    Mention,
    /// In the text, as the one whom something belongs to.
    Possessive,
    /// In the text, in the plural.
    Plural,
    /// A tag, an id, a picture's name.
    Tag,
    /// The name of a file.
    File,
}

impl Kind {
    /// Returns the word for lists and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Alias => "alias",
            Self::Field => "field",
            Self::Link => "link",
            Self::Heading => "heading",
            Self::Mention => "mention",
            Self::Possessive => "possessive",
            Self::Plural => "plural",
            Self::Tag => "tag",
            Self::File => "file",
        }
    }
}

/// A change of some bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The bytes.
    pub range: Range<usize>,
    /// What takes their place.
    pub text: String,
}

/// A place where the old words stand.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says another thing of a place, and they go together freely"
)]
pub struct Place {
    /// The same as long as the words around it are: for command lines.
    pub id: String,
    /// The file.
    pub path: BookPath,
    /// Bytes of the file; empty for the name of a file.
    pub range: Range<usize>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What kind of place it is.
    pub kind: Kind,
    /// The words as they stand there.
    pub text: String,
    /// What they would become.
    pub becomes: String,
    /// The words before, on one line.
    pub before: String,
    /// The words behind, on one line.
    pub after: String,
    /// Whether it is surely meant.
    pub chosen: bool,
    /// Why it is not chosen.
    pub doubt: Option<String>,
    /// The author said that it is not meant.
    pub exempt: bool,
    /// It can't be changed safely: only by hand.
    pub by_hand: bool,
    /// It names the entry's file, and is right only if the file is renamed, too.
    pub follows_file: bool,
    edits: Vec<Edit>,
    anchor: anchor::Anchor,
}

impl Place {
    /// Returns what keeps this place from being taken for `is_not` again.
    pub fn exemption(&self, is_not: &str) -> Exemption {
        Exemption {
            is_not: is_not.to_owned(),
            file: self.path.clone(),
            words: self.text.clone(),
            before: self.anchor.before.clone(),
            after: self.anchor.after.clone(),
        }
    }
}

/// All places, and what is known of the names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rename {
    /// The old words.
    pub old: String,
    /// The new words.
    pub new: String,
    /// Name, type and file of the entry that bears the old ones.
    pub entry: Option<(String, EntryType, BookPath)>,
    /// The places that are surely meant, then the others, then the name of the file: in each the entry's own file first, then manuscript, Codex and notes
    /// in their order.
    pub places: Vec<Place>,
    /// What the author should know.
    pub hints: Vec<String>,
    /// Who bears the new name already, in words: renaming would make one of two.
    pub taken: Option<String>,
}

impl Rename {
    /// Returns the ids of the places that are surely meant.
    pub fn chosen(&self) -> HashSet<String> {
        self.places.iter().filter(|p| p.chosen).map(|p| p.id.clone()).collect()
    }
}

/// Why nothing can be renamed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// There are no old words.
    #[error("there is nothing to rename: the old name is empty")]
    NoOld,
    /// The new words can't stand in a text.
    #[error("the new name can't be used: {0}")]
    BadNew(&'static str),
    /// Both are the same.
    #[error("the old and the new name are the same")]
    Same,
    /// The old words stand nowhere.
    #[error("`{old}` stands nowhere in the book")]
    Nowhere {
        /// The old words.
        old: String,
        /// Near names.
        near: Vec<String>,
    },
}

/// Why words in a file that is no part of the book are not surely meant.
const OUTSIDE: &str = "the file belongs neither to manuscript nor Codex nor notes";

/// Longest name, in characters.
const MAX_NAME: usize = 200;

/// Finds every place where `old` stands in any of its forms, and what it would become with `new` instead.
pub fn find(book: &Book, old: &str, new: &str, exemptions: &[Exemption]) -> Result<Rename, RenameError> {
    let (old, new) = checked(old, new)?;
    let directory = Directory::of(book);
    let target = bearer(book, &directory, &old);
    let entry = target.map(|at| &book.entries[at]);
    let forms = forms::Forms::of(entry, &old, &new);
    let judge = doubt::Judge::of(book, target, &forms);
    let mut places = vec![];
    let mut ids = anchor::Ids::default();
    for document in documents(book, entry) {
        let found = scan::scan(&document, &forms);
        let regions = regions::Regions::of(document.text);
        for hit in found {
            let place = place(&document, &regions, &hit, (&forms, &judge, &directory, target));
            places.extend(place.map(|place| ids.given(place)));
        }
    }
    exempt(&mut places, exemptions, &old, entry);
    let moved = entry.and_then(|entry| file_place(book, entry, &forms, &new));
    let follows = moved.as_ref().is_some_and(|place| place.chosen);
    for place in places.iter_mut().filter(|p| p.follows_file && !p.exempt) {
        place.chosen = follows;
        if follows {
            place.doubt = None;
        }
    }
    let hints = hints(book, entry, &old, moved.as_ref());
    places.extend(moved.map(|place| ids.given(place)));
    // A name that many bear has a long list: what is surely meant comes first, and the file's own name last.
    places.sort_by_key(|place| (place.kind == Kind::File, !place.chosen));
    if places.is_empty() {
        return Err(RenameError::Nowhere { near: lookup::near_names(book, None, &old, 3), old });
    }
    let entry = entry.map(|e| (e.name.clone(), e.entry_type, e.path.clone()));
    let taken = taken(book, target, &new);
    Ok(Rename { old, new, entry, places, hints, taken })
}

/// Says who bears the new name already. One entry may change between its own names.
fn taken(book: &Book, target: Option<usize>, new: &str) -> Option<String> {
    let target = target.map(|at| book.entries[at].address());
    let bearers = lookup::same_name(book, new).into_iter().filter(|e| Some(e.address()) != target);
    let bearers: Vec<String> = bearers.map(|e| format!("{} ({})", e.name, e.address())).collect();
    (!bearers.is_empty()).then(|| {
        format!("`{new}` is a name already, of {}: nobody could tell them apart.", bearers.join(" and "))
    })
}

fn checked(old: &str, new: &str) -> Result<(String, String), RenameError> {
    let single = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if old.chars().chain(new.chars()).any(char::is_control) {
        return Err(RenameError::BadNew("a name stands on one line, without control characters"));
    }
    let (old, new) = (single(old), single(new));
    if !old.chars().any(char::is_alphanumeric) {
        return Err(RenameError::NoOld);
    }
    if !new.chars().any(char::is_alphanumeric) {
        return Err(RenameError::BadNew("it is empty"));
    }
    if new.chars().count() > MAX_NAME || old.chars().count() > MAX_NAME {
        return Err(RenameError::BadNew("it is longer than 200 characters"));
    }
    if new.contains("[[") || new.contains("]]") || new.contains('|') {
        return Err(RenameError::BadNew("`[[`, `]]` and `|` would break links"));
    }
    if old == new { Err(RenameError::Same) } else { Ok((old, new)) }
}

/// The entry that is meant by the old words: the one that bears them as its name, else as an alias or a part of a person's name that no other bears.
fn bearer(book: &Book, directory: &Directory<'_>, old: &str) -> Option<usize> {
    let by_name = book.entries.iter().position(|e| e.name == old);
    by_name.or_else(|| directory.named(old)).or_else(|| {
        let has = |e: &Entry| {
            e.entry_type == EntryType::Character && e.name.split_whitespace().any(|word| word == old)
        };
        let mut bearers = (0..book.entries.len()).filter(|at| has(&book.entries[*at]));
        bearers.next().filter(|_| bearers.next().is_none())
    })
}

/// A text of the book.
struct Document<'a> {
    path: &'a BookPath,
    text: &'a Arc<str>,
    /// It is the file of the entry that is renamed.
    is_own: bool,
    /// It belongs to no part of the book.
    is_outside: bool,
}

fn documents<'a>(book: &'a Book, entry: Option<&'a Entry>) -> Vec<Document<'a>> {
    let mut all: BTreeMap<(u8, usize), Document<'a>> = BTreeMap::new();
    let mut seen: HashSet<&BookPath> = HashSet::new();
    let is_own = |path: &BookPath| {
        entry.is_some_and(|e| &e.path == path || e.soul.as_ref().is_some_and(|soul| &soul.path == path))
    };
    let mut put = |order: u8, path: &'a BookPath, text: &'a Arc<str>| {
        if seen.insert(path) {
            let order = if is_own(path) { 0 } else { order };
            let at = all.len();
            let is_outside = book.others.contains(path);
            all.insert((order, at), Document { path, text, is_own: order == 0, is_outside });
        }
    };
    for chapter in &book.chapters {
        put(1, &chapter.path, &chapter.text);
    }
    for entry in &book.entries {
        put(2, &entry.path, &entry.text);
        if let Some(soul) = &entry.soul {
            put(2, &soul.path, &soul.text);
        }
    }
    for note in &book.notes {
        put(3, &note.path, &note.text);
    }
    all.into_values().collect()
}

type Known<'a> = (&'a forms::Forms, &'a doubt::Judge<'a>, &'a Directory<'a>, Option<usize>);

/// Makes a place of what was found; `None` where it would change nothing, or is the name of a key.
fn place(
    document: &Document<'_>,
    regions: &regions::Regions,
    hit: &scan::Hit,
    known: Known<'_>,
) -> Option<Place> {
    let (forms, judge, directory, target) = known;
    let text = document.text;
    let region = regions.of_range(text, &hit.range)?;
    let made = edits::edits(text, hit, forms, &region);
    if made.edits.is_empty() {
        return None;
    }
    let form = &forms.all[hit.form];
    let leads = match &region {
        regions::Region::Target { page, part } => {
            Some(directory.resolve(&text[page.clone()], part.clone().map(|part| &text[part])))
        }
        _ => None,
    };
    let kind = regions::kind(&region, document.is_own, form, hit);
    // A link by the file's name is right as long as the file keeps it.
    let by_file = form.part == forms::Part::Slug || hit.case == forms::Case::Lower;
    let follows_file = match leads {
        Some(to) => to.is_some() && to == target && by_file,
        None => region == regions::Region::Address && form.part == forms::Part::Slug,
    };
    let by_hand = made.unsafe_because.is_some();
    let doubt = made.unsafe_because.map(str::to_owned).or_else(|| {
        if follows_file {
            Some("it names the file, which keeps its name".to_owned())
        } else {
            let outside = document.is_outside && leads.is_none();
            judge.doubt(document, hit, &region, leads).or_else(|| outside.then(|| OUTSIDE.to_owned()))
        }
    });
    let range = edits::span(hit, &made.edits);
    let anchor = anchor::Anchor::of(text, &range);
    let (before, after) = anchor::context(text, &range);
    let (line, column) = crate::domain::passage::line_column(text, range.start);
    Some(Place {
        id: String::new(),
        path: document.path.clone(),
        range: range.clone(),
        line,
        column,
        kind,
        text: text[range.clone()].to_owned(),
        becomes: edits::applied(text, &range, &made.edits),
        before,
        after,
        chosen: doubt.is_none(),
        doubt,
        exempt: false,
        by_hand,
        follows_file,
        edits: made.edits,
        anchor,
    })
}

/// Takes out what the author has said is not meant: each exemption holds for the one place that it fits best.
fn exempt(places: &mut [Place], exemptions: &[Exemption], old: &str, entry: Option<&Entry>) {
    let is_meant = |e: &Exemption| e.is_not == old || entry.is_some_and(|entry| entry.name == e.is_not);
    for exemption in exemptions.iter().filter(|e| is_meant(e)) {
        let fit = |p: &Place| exemption.fits(&p.text, &p.anchor.before, &p.anchor.after);
        let best = places
            .iter()
            .enumerate()
            .filter(|(_, p)| p.path == exemption.file && !p.exempt)
            .filter_map(|(at, p)| Some((fit(p)?, std::cmp::Reverse(at))))
            .max();
        if let Some((_, std::cmp::Reverse(at))) = best {
            places[at].exempt = true;
            places[at].chosen = false;
            places[at].doubt = Some(format!("you said that this is not {}", exemption.is_not));
        }
    }
}

/// The entry's own file, where it is one that can simply be renamed.
fn file_place(book: &Book, entry: &Entry, forms: &forms::Forms, new: &str) -> Option<Place> {
    if !forms.is_whole_name || entry.heading.is_some() {
        return None;
    }
    let stem = entry.path.stem();
    let slug = forms.slug_of(stem)?;
    let extension = entry.path.file_name().strip_prefix(stem)?;
    let name = format!("{slug}{extension}");
    let path = match entry.path.parent() {
        Some(folder) => BookPath::new(format!("{folder}/{name}")),
        None => BookPath::new(name),
    }
    .ok()?;
    let taken = book.document(&path).is_some() || book.others.contains(&path);
    if taken || path.as_str().to_lowercase() == entry.path.as_str().to_lowercase() {
        return None;
    }
    // Where files bear the very names, links go by them.
    let by_name = stem == entry.name && slug == new;
    Some(Place {
        id: String::new(),
        path: entry.path.clone(),
        range: 0..0,
        line: 1,
        column: 1,
        kind: Kind::File,
        text: entry.path.to_string(),
        becomes: path.to_string(),
        before: String::new(),
        after: String::new(),
        chosen: by_name,
        doubt: (!by_name).then(|| "the file may keep its name".to_owned()),
        exempt: false,
        by_hand: false,
        follows_file: false,
        edits: vec![],
        anchor: anchor::Anchor::default(),
    })
}

fn hints(book: &Book, entry: Option<&Entry>, old: &str, moved: Option<&Place>) -> Vec<String> {
    let mut hints = vec![];
    if let Some(entry) = entry
        && entry.name != old
    {
        hints.push(format!(
            "`{old}` is taken for {} ({}); the whole name can be renamed, too.",
            entry.name, entry.path
        ));
    }
    if let Some(place) = moved.filter(|place| !place.chosen) {
        hints.push(format!(
            "The file keeps its name, {}. Its place at the end of the list makes it {} (--files does so, too).",
            place.path, place.becomes
        ));
    } else if moved.is_none()
        && let Some(entry) = entry
        && entry.name == old
        && entry.heading.is_none()
    {
        hints.push(format!("The file keeps its name, {}: it is not made of this one.", entry.path));
    }
    if book.settings_text.as_deref().is_some_and(|text| text.contains(old)) {
        hints.push(format!("scritorio.toml holds `{old}`, too: change it there by hand."));
    }
    let unread = book.others.iter().filter(|path| book.document(path).is_none()).count();
    if unread > 0 {
        let (files, are) = if unread == 1 { ("file was", "belongs") } else { ("files were", "belong") };
        hints.push(format!(
            "{unread} other Markdown {files} not looked at: {are} neither to manuscript nor Codex nor notes."
        ));
    }
    hints
}

#[cfg(test)]
mod tests;
