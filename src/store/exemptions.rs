//! What the author said is not what it looks like: `.scritorio/exemptions.toml`, in git, written by hand or by us.
//!
//! Each exemption is a table:
//!
//! ```toml
//! [[exemption]]
//! rule = "name"                   # what it holds for: renaming and finding names
//! is_not = "Adrian Vale"          # whom the words do not mean
//! file = "manuscript/03.md"
//! words = "Vale"                  # as they stand there
//! before = "the whole length of"  # the words around them, which may change a little
//! after = "Street, where nobody"
//! ```
//!
//! Adding one leaves every other byte of the file as it is. A file that is no TOML is never written to.

use std::io;
use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::domain::exemption::Exemption;
use crate::domain::ids::BookPath;

use super::{atomic, home};

const FILE: &str = "exemptions.toml";
const TABLE: &str = "exemption";
/// The rule that exemptions of names belong to.
const NAME: &str = "name";

const HEADER: &str = "\
# Words that look like a name and are not it. Renaming leaves them alone. Each is known again by the words around it, so that it outlives edits;
# delete one here to have its place asked about again.
";

/// Reads the exemptions of names of the book in `root`. Tables of other rules, and tables that lack something, are left out.
pub fn load(root: &Path) -> io::Result<Vec<Exemption>> {
    let Some(document) = read(root)? else { return Ok(vec![]) };
    let tables = document.get(TABLE).and_then(Item::as_array_of_tables);
    Ok(tables.into_iter().flatten().filter_map(exemption).collect())
}

/// Adds one, durably. Makes `.scritorio`. One that is there already is not added again.
pub fn add(root: &Path, exemption: &Exemption) -> io::Result<()> {
    let mut document = match read(root)? {
        Some(document) => document,
        None => HEADER.parse().unwrap_or_default(),
    };
    let tables = document.entry(TABLE).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let Some(tables) = tables.as_array_of_tables_mut() else {
        return Err(invalid(&format!("`{TABLE}` is not a list of tables")));
    };
    if tables.iter().filter_map(self::exemption).any(|known| known == *exemption) {
        return Ok(());
    }
    let mut table = Table::new();
    for (key, text) in [
        ("rule", NAME),
        ("is_not", &exemption.is_not),
        ("file", exemption.file.as_str()),
        ("words", &exemption.words),
        ("before", &exemption.before),
        ("after", &exemption.after),
    ] {
        table.insert(key, value(text));
    }
    if !tables.is_empty() {
        table.decor_mut().set_prefix("\n");
    }
    tables.push(table);
    atomic::write(root, &home::make(root, FILE)?, document.to_string().as_bytes())
}

fn read(root: &Path) -> io::Result<Option<DocumentMut>> {
    let text = match std::fs::read_to_string(home::path(root, FILE)?) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e),
    };
    let text = text.trim_start_matches('\u{feff}');
    text.parse().map(Some).map_err(|e: toml_edit::TomlError| invalid(e.message()))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{}/{FILE} can't be read: {why}", home::NAME))
}

fn exemption(table: &Table) -> Option<Exemption> {
    let text = |key: &str| table.get(key).and_then(Item::as_str);
    if text("rule").is_some_and(|rule| rule != NAME) {
        return None;
    }
    Some(Exemption {
        is_not: text("is_not")?.to_owned(),
        file: BookPath::new(text("file")?).ok()?,
        words: text("words")?.to_owned(),
        before: text("before").unwrap_or_default().to_owned(),
        after: text("after").unwrap_or_default().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn street(after: &str) -> Exemption {
        Exemption {
            is_not: "Adrian Vale".into(),
            file: BookPath::new("manuscript/01.md").unwrap(),
            words: "Vale".into(),
            before: "he said \"down".into(),
            after: after.into(),
        }
    }

    #[test]
    fn an_exemption_is_read_back_and_reading_makes_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(load(root.path()).unwrap(), []);
        assert!(!root.path().join(home::NAME).exists());
        add(root.path(), &street("Street")).unwrap();
        add(root.path(), &street("Road")).unwrap();
        add(root.path(), &street("Street")).unwrap();
        assert_eq!(load(root.path()).unwrap(), [street("Street"), street("Road")]);
        let ignored = fs::read_to_string(root.path().join(".scritorio/.gitignore")).unwrap();
        assert!(!ignored.contains("exemptions"), "they are shared");
    }

    #[test]
    fn every_byte_that_the_author_wrote_stays() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(".scritorio/exemptions.toml");
        fs::create_dir(root.path().join(".scritorio")).unwrap();
        let mine = "# mine\n[[exemption]]  # the street\nis_not = 'Adrian Vale'\nfile   = \"manuscript/01.md\"\nwords = \"Vale\"\n\n[[exemption]]\nrule = \"dates\"\n\n[other]\nkept = true\n";
        fs::write(&file, mine).unwrap();
        assert_eq!(load(root.path()).unwrap().len(), 1);
        add(root.path(), &street("Street")).unwrap();
        let now = fs::read_to_string(&file).unwrap();
        for line in mine.lines() {
            assert!(now.lines().any(|l| l == line), "{line}\n{now}");
        }
        assert_eq!(load(root.path()).unwrap().len(), 2);
    }

    #[test]
    fn a_broken_file_is_not_written_to() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join(".scritorio/exemptions.toml");
        fs::create_dir(root.path().join(".scritorio")).unwrap();
        for broken in ["[[exemption\n", "exemption = 1\n"] {
            fs::write(&file, broken).unwrap();
            assert!(add(root.path(), &street("Street")).is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        }
    }
}
