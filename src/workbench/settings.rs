//! Settings: which one wins, and changing one.

use std::sync::{Arc, PoisonError};

use crate::config::choice::{Chosen, Source};
use crate::config::toml_reader::{Problem, with_setting};
use crate::config::user::{MAX_ROUNDS, UserSettings};
use crate::domain::book::MemberOptions;
use crate::providers::{Options, presets};
use crate::store::atomic;

use super::Workbench;
use super::provider::{OFFLINE, OPENAI};

/// Rounds of tool calls where nobody says otherwise.
pub const DEFAULT_ROUNDS: u32 = 4;

/// The settings that several places can say, each with the one that won.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    /// Who answers.
    pub provider: Chosen<String>,
    /// Which model.
    pub model: Chosen<String>,
    /// Most rounds of tool calls in a turn.
    pub rounds: Chosen<u32>,
    /// Address of the `openai` provider; `None`: OpenAI's own.
    pub base_url: Chosen<Option<String>>,
    /// Name of the theme; `None`: by the terminal's background.
    pub theme: Chosen<Option<String>>,
}

/// Why a setting was not changed.
#[derive(Debug, thiserror::Error)]
pub enum SettingError {
    /// The file can't be read or written.
    #[error("can't change {path}: {source}")]
    Io {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file, or the new value, is wrong.
    #[error("config.toml:{0}")]
    Wrong(#[from] Problem),
}

impl Workbench {
    /// Returns the settings in force, each with who set it. Never asks the keychain.
    pub fn choices(&self) -> Choices {
        let (user, book) = (self.settings(), self.outline());
        let (said, environment) = (&self.inner.overrides, &self.inner.surroundings.environment);
        let text = |name| environment.get(name).map(str::to_owned);
        let fallback = if self.inner.keys.is_likely(OPENAI) { OPENAI } else { OFFLINE };
        let provider = Chosen::first(
            [
                (Source::CommandLine, said.provider.clone()),
                (Source::Environment, text("SCRITORIO_PROVIDER")),
                (Source::Book, book.settings.provider.clone()),
                (Source::User, user.provider.clone()),
            ],
            fallback.to_owned(),
        );
        let model = self.model_of(&provider.value, None);
        let of_openai = user.providers.get(OPENAI).and_then(|own| own.base_url.clone());
        let rounds = text("SCRITORIO_ROUNDS").and_then(|n| n.trim().parse().ok());
        Choices {
            provider,
            model,
            rounds: Chosen::first(
                [
                    (Source::CommandLine, said.rounds),
                    (Source::Environment, rounds.filter(|n| (1..=MAX_ROUNDS).contains(n))),
                    (Source::User, user.rounds),
                ],
                DEFAULT_ROUNDS,
            ),
            base_url: Chosen::first(
                [
                    (Source::Environment, text("OPENAI_BASE_URL").map(Some)),
                    (Source::User, of_openai.or_else(|| user.base_url.clone()).map(Some)),
                ],
                None,
            ),
            theme: Chosen::first(
                [
                    (Source::Environment, text("SCRITORIO_THEME").map(Some)),
                    (Source::User, user.appearance.theme.clone().map(Some)),
                ],
                None,
            ),
        }
    }

    /// Returns the model of a provider, for a board member who may have one of its own; empty where nobody names one.
    ///
    /// A file that names another provider means that one's model.
    pub(super) fn model_of(&self, provider: &str, member: Option<&str>) -> Chosen<String> {
        if provider == OFFLINE {
            // It is no model, so that no setting can name another.
            return Chosen { value: OFFLINE.to_owned(), from: Source::Default };
        }
        let (user, book) = (self.settings(), self.outline());
        let said = &self.inner.overrides;
        let environment = &self.inner.surroundings.environment;
        let means = |named: &Option<String>| named.as_deref().is_none_or(|name| name == provider);
        let of_book = member.and_then(|id| book.settings.board.get(id)?.asks.model.clone());
        let of_book = of_book.or_else(|| book.settings.model.clone());
        let of_member = member.and_then(|id| user.board.get(id)?.model.clone());
        let of_server = || user.providers.get(provider)?.model.clone();
        let of_user = of_member.filter(|_| means(&user.provider)).or_else(of_server);
        let of_user = of_user.or_else(|| user.model.clone().filter(|_| means(&user.provider)));
        let default = presets::named(provider).and_then(|preset| preset.model).unwrap_or_default();
        Chosen::first(
            [
                (Source::CommandLine, said.model.clone()),
                (Source::Environment, environment.get("SCRITORIO_MODEL").map(str::to_owned)),
                (Source::Book, of_book.filter(|_| means(&book.settings.provider))),
                (Source::User, of_user),
            ],
            default,
        )
    }

    /// Returns the author's own settings.
    pub fn settings(&self) -> Arc<UserSettings> {
        Arc::clone(&self.inner.settings.read().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Returns what is odd in the author's `config.toml`.
    pub fn settings_warnings(&self) -> Vec<Problem> {
        self.inner.settings.read().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Changes one of the author's settings, or removes it with `None`. The rest of `config.toml` stays as it is, byte for byte;
    /// a value that is not allowed is refused and nothing is written.
    pub fn set_setting(&self, path: &[&str], value: Option<toml_edit::Value>) -> Result<(), SettingError> {
        let file = self.inner.surroundings.folders.settings_file();
        let failed = |source| SettingError::Io { path: file.clone(), source };
        let text = match std::fs::read_to_string(&file) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            other => other.map_err(failed)?,
        };
        let text = with_setting(&text, path, value)?;
        let (settings, warnings) = UserSettings::parse(&text)?;
        let folder = &self.inner.surroundings.folders.config;
        std::fs::create_dir_all(folder).map_err(failed)?;
        atomic::write(folder, &file, text.as_bytes()).map_err(failed)?;
        *self.inner.settings.write().unwrap_or_else(PoisonError::into_inner) = (Arc::new(settings), warnings);
        Ok(())
    }

    /// Returns the options that go to the model of a board member: as the command line says, else the book of this member, else the
    /// author's settings of this member, else those for everybody.
    pub(super) fn options(&self, member: &str) -> Options {
        let (user, book, said) = (self.settings(), self.outline(), &self.inner.overrides);
        let options = &user.options;
        let nothing = MemberOptions::default();
        let of_book = book.settings.board.get(member).map_or(&nothing, |board| &board.asks);
        let of_user = user.board.get(member).unwrap_or(&nothing);
        let text =
            |said: Option<&String>, field: fn(&MemberOptions) -> Option<&String>, all: &Option<String>| {
                said.or(field(of_book)).or(field(of_user)).or(all.as_ref()).cloned()
            };
        Options {
            max_output_tokens: of_book
                .max_output_tokens
                .or(of_user.max_output_tokens)
                .or(options.max_output_tokens),
            reasoning_effort: text(said.effort.as_ref(), |m| m.effort.as_ref(), &options.reasoning_effort),
            verbosity: text(None, |m| m.verbosity.as_ref(), &options.verbosity),
            service_tier: text(said.tier.as_ref(), |m| m.tier.as_ref(), &options.service_tier),
            response_format: None,
            store: options.store.unwrap_or(true),
            web_search: of_book.web_search.or(of_user.web_search).or(options.web_search).unwrap_or(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::folders::Environment;
    use crate::workbench::{Overrides, Surroundings};

    fn bench(folder: &std::path::Path, overrides: Overrides, variables: &[(&str, &str)]) -> Workbench {
        let mut surroundings = Surroundings::in_folders(folder);
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        surroundings.environment = variables.collect::<Environment>();
        Workbench::open_in(&folder.join("book"), overrides, surroundings).unwrap()
    }

    #[test]
    fn the_stronger_source_wins_and_is_named() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("book")).unwrap();
        fs::create_dir(folder.path().join("config")).unwrap();
        let model = |overrides: Overrides, variables: &[(&str, &str)]| {
            let choices = bench(folder.path(), overrides, variables).choices();
            (choices.model.value, choices.model.from)
        };
        let openai = [("SCRITORIO_PROVIDER", "openai")];
        let both = [openai[0], ("SCRITORIO_MODEL", "from-environment")];
        let said = Overrides { model: Some("from-command-line".into()), ..Overrides::default() };
        assert_eq!(model(Overrides::default(), &openai).1, Source::Default);
        fs::write(folder.path().join("config/config.toml"), "[provider]\nmodel = 'from-user'").unwrap();
        assert_eq!(model(Overrides::default(), &openai), ("from-user".into(), Source::User));
        fs::write(folder.path().join("book/scritorio.toml"), "[provider]\nmodel = 'from-book'").unwrap();
        assert_eq!(model(Overrides::default(), &openai), ("from-book".into(), Source::Book));
        assert_eq!(model(Overrides::default(), &both), ("from-environment".into(), Source::Environment));
        assert_eq!(model(said.clone(), &both), ("from-command-line".into(), Source::CommandLine));
        assert_eq!(model(said, &[]), (OFFLINE.to_owned(), Source::Default), "without a key nothing is sent");
    }

    #[test]
    fn a_members_own_options_win_over_those_for_everybody_and_only_for_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("book")).unwrap();
        fs::create_dir(folder.path().join("config")).unwrap();
        fs::write(
            folder.path().join("config/config.toml"),
            "[provider]\nname = 'openai'\nmodel = 'all'\n[options]\nreasoning_effort = 'low'\nverbosity = 'low'\n\
             [providers.ollama]\nmodel = 'qwen3'\n\
             [board.writing-coach]\nmodel = 'mine'\neffort = 'high'\nweb_search = true\n",
        )
        .unwrap();
        fs::write(
            folder.path().join("book/scritorio.toml"),
            "[board.writing-coach]\neffort = 'medium'\nmax_output_tokens = 700\n[board.first-time-reader]\nmodel = 'book'\n",
        )
        .unwrap();
        let workbench = bench(folder.path(), Overrides::default(), &[]);
        let coach = workbench.options("writing-coach");
        assert_eq!(coach.reasoning_effort.as_deref(), Some("medium"), "the book is nearer than the settings");
        assert_eq!((coach.verbosity.as_deref(), coach.max_output_tokens), (Some("low"), Some(700)));
        assert!(coach.web_search && !workbench.options("first-time-reader").web_search);
        let model = |provider: &str, member: &str| workbench.model_of(provider, Some(member)).value;
        assert_eq!(model("openai", "writing-coach"), "mine");
        assert_eq!(model("openai", "first-time-reader"), "book");
        assert_eq!(model("openai", "continuity-editor"), "all");
        assert_eq!(model("ollama", "writing-coach"), "qwen3", "the settings mean OpenAI's model");
        assert_eq!(model("lmstudio", "continuity-editor"), "", "nobody names one");
        let said =
            Overrides { effort: Some("none".into()), model: Some("said".into()), ..Overrides::default() };
        let workbench = bench(folder.path(), said, &[]);
        assert_eq!(workbench.options("writing-coach").reasoning_effort.as_deref(), Some("none"));
        assert_eq!(workbench.model_of("ollama", Some("writing-coach")).value, "said");
    }

    #[test]
    fn members_with_a_model_of_their_own_are_told_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("book")).unwrap();
        let settings = "[provider]\nname = 'openai'\nmodel = 'quick'\n\
                        [board.continuity-editor]\nmodel = 'deep'\n[board.writing-coach]\nmodel = 'quick'\n";
        fs::write(folder.path().join("book/scritorio.toml"), settings).unwrap();
        let own = |overrides| bench(folder.path(), overrides, &[]).models_of_members();
        assert_eq!(
            own(Overrides::default()).into_iter().collect::<Vec<_>>(),
            [("continuity-editor".to_owned(), "deep".to_owned())]
        );
        let offline = Overrides { provider: Some("offline".to_owned()), ..Overrides::default() };
        assert!(own(offline).is_empty(), "it has no models");
    }

    #[test]
    fn a_setting_is_kept_with_all_comments_and_a_wrong_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("book")).unwrap();
        let bench = bench(folder.path(), Overrides::default(), &[]);
        bench.set_setting(&["appearance", "tool_rows"], Some(false.into())).unwrap();
        let file = folder.path().join("config/config.toml");
        let text = "# mine\n".to_owned() + &fs::read_to_string(&file).unwrap();
        fs::write(&file, &text).unwrap();
        assert!(!bench.settings().appearance.tool_rows);
        assert!(bench.set_setting(&["options", "verbosity"], Some("loud".into())).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        bench.set_setting(&["appearance", "tool_rows"], Some(true.into())).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text.replace("false", "true"));
    }
}
