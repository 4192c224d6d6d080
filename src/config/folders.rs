//! Where settings and data live, and what the environment says.
//!
//! Nothing is made here. API keys are never among what is read: they are the business of `secrets`.

use std::collections::BTreeMap;
use std::path::PathBuf;

/// The environment variables that settings come from. Variables with keys are never among them.
const VARIABLES: [&str; 8] = [
    "SCRITORIO_CONFIG_DIR",
    "SCRITORIO_DATA_DIR",
    "SCRITORIO_PROVIDER",
    "SCRITORIO_MODEL",
    "SCRITORIO_ROUNDS",
    "SCRITORIO_THEME",
    "SCRITORIO_KEYCHAIN",
    "OPENAI_BASE_URL",
];

/// What the environment says about settings. An empty variable says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?))).collect()
    }

    /// Returns what a variable says.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.trim().is_empty())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}

/// The program's two folders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Settings: `config.toml`, `themes/`.
    pub config: PathBuf,
    /// Data: the example book, anchors of provenance, which keys the keychain holds.
    pub data: PathBuf,
}

/// No place for settings and data is known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no home folder is known; set SCRITORIO_CONFIG_DIR and SCRITORIO_DATA_DIR to folders of your choice")]
pub struct NoFolders;

impl Folders {
    /// Returns the platform's folders, or those that the environment names.
    pub fn find(environment: &Environment) -> Result<Self, NoFolders> {
        let platform = directories::ProjectDirs::from("", "", "scritorio");
        let folder = |variable, of: fn(&directories::ProjectDirs) -> &std::path::Path| {
            let named = environment.get(variable).map(PathBuf::from);
            named.or_else(|| platform.as_ref().map(|p| of(p).to_path_buf())).ok_or(NoFolders)
        };
        Ok(Self {
            config: folder("SCRITORIO_CONFIG_DIR", directories::ProjectDirs::config_dir)?,
            data: folder("SCRITORIO_DATA_DIR", directories::ProjectDirs::data_dir)?,
        })
    }

    /// Returns where the user's settings are.
    pub fn settings_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_environment_moves_both_folders() {
        let moved = environment(&[("SCRITORIO_CONFIG_DIR", "/c"), ("SCRITORIO_DATA_DIR", "/d")]);
        let folders = Folders::find(&moved).unwrap();
        assert_eq!(folders.settings_file(), PathBuf::from("/c").join("config.toml"));
        assert_eq!(folders.data, PathBuf::from("/d"));
    }

    #[test]
    fn an_empty_variable_says_nothing() {
        let empty = environment(&[("SCRITORIO_MODEL", " ")]);
        assert_eq!(empty.get("SCRITORIO_MODEL"), None);
        assert_eq!(empty.get("SCRITORIO_THEME"), None);
    }

    #[test]
    fn no_variable_that_is_read_holds_a_key() {
        assert!(VARIABLES.iter().all(|name| !name.contains("API_KEY")));
    }
}
