//! The author's own themes: what the palette offers beyond those that are shipped.

use super::Workbench;

impl Workbench {
    /// Returns the author's own themes, in `themes/*.toml` beside `config.toml`: name and text, by name.
    pub fn own_themes(&self) -> Vec<(String, String)> {
        let folder = self.inner.surroundings.folders.config.join("themes");
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut themes: Vec<(String, String)> = files
            .filter_map(|file| {
                let path = file.path();
                let name = path.file_stem()?.to_str()?.to_owned();
                let is_theme = path.extension().is_some_and(|e| e == "toml");
                is_theme.then(|| std::fs::read_to_string(&path).ok().map(|text| (name, text))).flatten()
            })
            .collect();
        themes.sort();
        themes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workbench::{Overrides, Surroundings};

    #[test]
    fn a_theme_beside_the_settings_is_the_authors_own() {
        let folders = tempfile::tempdir().unwrap();
        let book = folders.path().join("book");
        std::fs::create_dir(&book).unwrap();
        let surroundings = Surroundings::in_folders(folders.path());
        let themes = surroundings.folders.config.join("themes");
        std::fs::create_dir_all(&themes).unwrap();
        std::fs::write(themes.join("mine.toml"), "base = \"light\"\n").unwrap();
        std::fs::write(themes.join("notes.txt"), "no theme").unwrap();
        let bench = Workbench::open_in(&book, Overrides::default(), surroundings).unwrap();
        assert_eq!(bench.own_themes(), [("mine".to_owned(), "base = \"light\"\n".to_owned())]);
    }
}
