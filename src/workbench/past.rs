//! Earlier conversations, and the author's own themes: what the palette offers beyond the book.

use crate::domain::ids::SessionId;
use crate::store::sessions;

use super::Workbench;

/// An earlier conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastConversation {
    /// Which.
    pub session: SessionId,
    /// What was asked first.
    pub question: String,
    /// When, RFC 3339 in UTC.
    pub asked_at: String,
    /// How many questions it holds.
    pub turns: usize,
}

impl Workbench {
    /// Returns the conversations that were used last, the latest first, at most `limit`.
    pub fn past_conversations(&self, limit: usize) -> Vec<PastConversation> {
        let sessions = sessions::list(self.root()).unwrap_or_default();
        let described = |session: SessionId| {
            let turns = self.turns(&session);
            let first = turns.first()?;
            Some(PastConversation {
                question: first.question.clone(),
                asked_at: first.asked_at.clone(),
                turns: turns.len(),
                session,
            })
        };
        sessions.into_iter().take(limit).filter_map(described).collect()
    }

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
        assert!(bench.past_conversations(10).is_empty());
    }
}
