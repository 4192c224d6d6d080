//! The author's own settings: `config.toml` in the platform's configuration folder.
//!
//! Read here, changed with [`super::toml_reader::with_setting`]; nothing here writes a file, and a key is never among the settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::book::BOARD_IDS;
use super::money::{self, Budget, OwnPrices};
use super::toml_reader::{Problem, Reader, Section};
use crate::domain::book::MemberOptions;

/// Values of `reasoning_effort`.
pub const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/// Values of `verbosity`.
pub const VERBOSITIES: [&str; 3] = ["low", "medium", "high"];
/// Values of `service_tier`.
pub const TIERS: [&str; 4] = ["auto", "default", "flex", "priority"];
/// Values of `wire`.
pub const WIRES: [&str; 4] = ["responses", "chat", "ollama", "anthropic"];
/// Values of `tool_choice`: how exactly a server can be told which tool to call.
pub const FORCINGS: [&str; 4] = ["never", "auto", "required", "named"];
/// Most rounds of tool calls that can be set.
pub const MAX_ROUNDS: u32 = 12;

/// What `config.toml` says. What it does not say is `None`, or the default where there is no other source.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserSettings {
    /// `[provider] name`
    pub provider: Option<String>,
    /// `[provider] model`
    pub model: Option<String>,
    /// `[provider] base_url`: of the `openai` provider, for a server that speaks the same protocol.
    pub base_url: Option<String>,
    /// `[provider] rounds`: most rounds of tool calls in a turn.
    pub rounds: Option<u32>,
    /// `[search] embeddings`: the model that makes vectors for searching by meaning; `None`: off.
    pub embeddings: Option<String>,
    /// `[network]`
    pub network: Network,
    /// `[options]`
    pub options: ModelOptions,
    /// `[budget]`
    pub budget: Budget,
    /// `[prices."MODEL"]`
    pub prices: BTreeMap<String, OwnPrices>,
    /// `[providers.<name>]`
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `[board.<id>]`
    pub board: BTreeMap<String, MemberOptions>,
    /// `[appearance]`
    pub appearance: Appearance,
    /// `[keys]`: command and its keys.
    pub keys: BTreeMap<String, Vec<String>>,
}

/// `[network]`: how long a server is waited for. `None`: the program's own limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Network {
    /// For a connection.
    pub connect: Option<Duration>,
    /// For the first byte of an answer.
    pub first_byte: Option<Duration>,
    /// For the first byte of an answer on the flex tier.
    pub flex_first_byte: Option<Duration>,
    /// Between two pieces of an answer.
    pub idle: Option<Duration>,
    /// For all of an answer.
    pub total: Option<Duration>,
    /// Before the first new attempt; doubled for each one after it.
    pub retry_wait: Option<Duration>,
}

/// `[options]`: what is passed to the model. `None` is left to the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelOptions {
    /// Most tokens of an answer, at least 16.
    pub max_output_tokens: Option<u32>,
    /// One of [`EFFORTS`].
    pub reasoning_effort: Option<String>,
    /// One of [`VERBOSITIES`].
    pub verbosity: Option<String>,
    /// One of [`TIERS`].
    pub service_tier: Option<String>,
    /// Whether the server keeps the conversation.
    pub store: Option<bool>,
    /// Whether the provider may search the web for the model. Default: no.
    pub web_search: Option<bool>,
}

/// `[providers.<name>]`: what the author says of one server. What is `None` is as its preset says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// Its address.
    pub base_url: Option<String>,
    /// Azure: name of the resource, which is part of the address.
    pub resource: Option<String>,
    /// One of [`WIRES`].
    pub wire: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The environment variable that its key may be in.
    pub key_variable: Option<String>,
    /// Whether it answers only with a key.
    pub needs_key: Option<bool>,
    /// Whether its model calls tools.
    pub tools: Option<bool>,
    /// One of [`FORCINGS`].
    pub tool_choice: Option<String>,
    /// Whether it keeps conversations.
    pub stateful: Option<bool>,
    /// Tokens that its model holds.
    pub context: Option<u32>,
    /// Most tokens of an answer where nobody says otherwise.
    pub output_limit: Option<u32>,
    /// Whether it takes a reasoning effort.
    pub reasoning_effort: Option<bool>,
    /// Whether it searches the web itself.
    pub web_search: Option<bool>,
}

/// `[appearance]`: what is drawn. Never changes tool calling, routing, evidence or provenance.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub struct Appearance {
    /// Name of a theme; `None`: by the terminal's background.
    pub theme: Option<String>,
    /// Detailed tool rows. Default: yes.
    pub tool_rows: bool,
    /// Tier and routing in the status row. Default: yes.
    pub tier_status: bool,
    /// The peek key in the hints. Default: yes.
    pub peek_key: bool,
    /// The mouse works in the interface; else it is the terminal's own. Default: yes.
    pub mouse: bool,
}

impl Default for Appearance {
    fn default() -> Self {
        Self { theme: None, tool_rows: true, tier_status: true, peek_key: true, mouse: true }
    }
}

/// Why the settings can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("can't read {path}: {source}")]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file says something wrong.
    #[error("{path}:{problem}", path = path.display())]
    Wrong {
        /// Which.
        path: PathBuf,
        /// What, and where.
        problem: Problem,
    },
}

impl UserSettings {
    /// Reads the settings in `path`; a file that does not exist says nothing. The warnings are about keys that nobody knows.
    pub fn load(path: &Path) -> Result<(Self, Vec<Problem>), ConfigError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
            Err(source) => return Err(ConfigError::Io { path: path.into(), source }),
        };
        Self::parse(&text).map_err(|problem| ConfigError::Wrong { path: path.into(), problem })
    }

    /// Reads settings from the text of a file.
    pub fn parse(text: &str) -> Result<(Self, Vec<Problem>), Problem> {
        let reader = Reader::parse(text)?;
        let settings = reader.root(Self::read)?;
        Ok((settings, reader.warnings()))
    }

    fn read(root: &Section<'_>) -> Result<Self, Problem> {
        let mut settings = root.section("provider", |s| {
            Ok(Self {
                provider: s.text("name")?,
                model: s.text("model")?,
                base_url: s.text("base_url")?,
                rounds: s.number("rounds", 1..=MAX_ROUNDS)?,
                ..Self::default()
            })
        })?;
        settings.embeddings = root.section("search", |s| s.text("embeddings"))?;
        settings.network = root.section("network", |s| {
            Ok(Network {
                connect: s.seconds("connect")?,
                first_byte: s.seconds("first_byte")?,
                flex_first_byte: s.seconds("flex_first_byte")?,
                idle: s.seconds("idle")?,
                total: s.seconds("total")?,
                retry_wait: s.seconds("retry_wait")?,
            })
        })?;
        settings.options = root.section("options", |s| {
            Ok(ModelOptions {
                max_output_tokens: s.number("max_output_tokens", 16..=u32::MAX)?,
                reasoning_effort: s.word("reasoning_effort", &EFFORTS)?,
                verbosity: s.word("verbosity", &VERBOSITIES)?,
                service_tier: s.word("service_tier", &TIERS)?,
                store: s.switch("store")?,
                web_search: s.switch("web_search")?,
            })
        })?;
        settings.budget = root.section("budget", Budget::read)?;
        settings.prices = root.section("prices", money::read)?;
        settings.providers = root.section("providers", |s| {
            let named = s.keys().into_iter();
            named.map(|name| Ok((name.clone(), s.section(&name, ProviderSettings::read)?))).collect()
        })?;
        settings.board = root.section("board", |s| {
            let ids = BOARD_IDS.into_iter();
            ids.map(|id| Ok((id.to_owned(), s.section(id, read_member)?))).collect()
        })?;
        settings.appearance = root.section("appearance", |s| {
            Ok(Appearance {
                theme: s.text("theme")?,
                tool_rows: s.switch("tool_rows")?.unwrap_or(true),
                tier_status: s.switch("tier_status")?.unwrap_or(true),
                peek_key: s.switch("peek_key")?.unwrap_or(true),
                mouse: s.switch("mouse")?.unwrap_or(true),
            })
        })?;
        settings.keys = root.section("keys", |s| {
            s.keys().into_iter().map(|key| Ok((key.clone(), s.list(&key)?.unwrap_or_default()))).collect()
        })?;
        Ok(settings)
    }
}

impl ProviderSettings {
    fn read(s: &Section<'_>) -> Result<Self, Problem> {
        Ok(Self {
            base_url: s.text("base_url")?,
            resource: s.text("resource")?,
            wire: s.word("wire", &WIRES)?,
            model: s.text("model")?,
            key_variable: s.text("key_variable")?,
            needs_key: s.switch("needs_key")?,
            tools: s.switch("tools")?,
            tool_choice: s.word("tool_choice", &FORCINGS)?,
            stateful: s.switch("stateful")?,
            context: s.number("context", 1..=u32::MAX)?,
            output_limit: s.number("output_limit", 16..=u32::MAX)?,
            reasoning_effort: s.switch("reasoning_effort")?,
            web_search: s.switch("web_search")?,
        })
    }
}

fn read_member(s: &Section<'_>) -> Result<MemberOptions, Problem> {
    Ok(MemberOptions {
        model: s.text("model")?,
        effort: s.word("effort", &EFFORTS)?,
        verbosity: s.word("verbosity", &VERBOSITIES)?,
        max_output_tokens: s.number("max_output_tokens", 16..=u32::MAX)?,
        tier: s.word("tier", &TIERS)?,
        web_search: s.switch("web_search")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read() {
        let text = "
            [provider]
            name = 'openai'
            model = 'gpt-x'
            base_url = 'http://localhost:1234/v1'
            rounds = 6
            [search]
            embeddings = 'small'
            [network]
            connect = 5
            first_byte = 0.25
            flex_first_byte = 1200
            idle = 30.5
            total = 600
            retry_wait = 2
            [options]
            max_output_tokens = 4096
            reasoning_effort = 'low'
            verbosity = 'high'
            service_tier = 'flex'
            store = false
            web_search = true
            [providers.lmstudio]
            base_url = 'http://10.0.0.5:1234/v1'
            model = 'qwen3'
            tools = false
            context = 16384
            [providers.my-box]
            base_url = 'http://box.local/v1'
            wire = 'chat'
            key_variable = 'BOX_KEY'
            tool_choice = 'required'
            [board.writing-coach]
            model = 'gpt-y'
            effort = 'high'
            tier = 'flex'
            max_output_tokens = 900
            [appearance]
            theme = 'night'
            tool_rows = false
            tier_status = false
            peek_key = false
            [keys]
            save = 'ctrl-s'
            quit = ['ctrl-q', 'f10']
        ";
        let (settings, warnings) = UserSettings::parse(text).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(settings.rounds, Some(6));
        assert_eq!(settings.embeddings.as_deref(), Some("small"));
        let network = settings.network;
        let waits = [network.connect, network.first_byte, network.flex_first_byte, network.idle];
        assert_eq!(waits, [5000, 250, 1_200_000, 30_500].map(|ms| Some(Duration::from_millis(ms))));
        let whole = [network.total, network.retry_wait];
        assert_eq!(whole, [600, 2].map(|s| Some(Duration::from_secs(s))));
        assert_eq!(settings.options.service_tier.as_deref(), Some("flex"));
        assert_eq!((settings.options.store, settings.options.web_search), (Some(false), Some(true)));
        assert_eq!(settings.providers["lmstudio"].tools, Some(false));
        assert_eq!(settings.providers["lmstudio"].context, Some(16_384));
        assert_eq!(settings.providers["my-box"].key_variable.as_deref(), Some("BOX_KEY"));
        assert_eq!(settings.board["writing-coach"].effort.as_deref(), Some("high"));
        assert_eq!(settings.board["first-time-reader"], MemberOptions::default());
        assert!(!settings.appearance.tool_rows && !settings.appearance.peek_key);
        assert_eq!(settings.keys["quit"], ["ctrl-q", "f10"]);
        assert_eq!(settings.keys["save"], ["ctrl-s"]);
    }

    #[test]
    fn a_limit_that_is_no_time_is_refused_and_an_unknown_one_is_a_warning() {
        for wrong in ["0", "-1", "'10s'", "nan", "inf", "86401", "true"] {
            let problem = UserSettings::parse(&format!("[network]\nidle = {wrong}\n")).unwrap_err();
            assert_eq!(problem.message, "`network.idle` must be a number of seconds, up to 86400", "{wrong}");
        }
        let (_, warnings) = UserSettings::parse("[network]\nidel = 3\n").unwrap();
        assert!(warnings[0].message.contains("did you mean `idle`"), "{warnings:?}");
    }

    #[test]
    fn a_slip_in_a_provider_or_a_member_is_told_with_what_was_meant() {
        let text =
            "[providers.ollama]\nbase_ulr = 'x'\n[board.writing-coach]\neffrt = 'low'\n[board.coach]\n";
        let (_, warnings) = UserSettings::parse(text).unwrap();
        let told: Vec<_> = warnings.iter().map(ToString::to_string).collect();
        assert_eq!(told[0], "2:1: unknown key `providers.ollama.base_ulr`; did you mean `base_url`?");
        assert_eq!(told[1], "4:1: unknown key `board.writing-coach.effrt`; did you mean `effort`?");
        assert!(told[2].contains("unknown key `board.coach`"), "{told:?}");
        let wrong = UserSettings::parse("[providers.x]\nwire = 'soap'\n").unwrap_err().to_string();
        assert!(wrong.contains("providers.x.wire") && wrong.contains("anthropic"), "{wrong}");
    }

    #[test]
    fn no_file_is_the_default_and_a_wrong_one_names_itself_and_the_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        assert_eq!(UserSettings::load(&path).unwrap().0, UserSettings::default());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        std::fs::write(&path, "[options]\nverbosity = 'loud'\n").unwrap();
        let error = UserSettings::load(&path).unwrap_err().to_string();
        let place = "config.toml:2:13: `options.verbosity` must be one of \"low\", \"medium\", \"high\"";
        assert!(error.ends_with(place), "{error}");
    }
}
