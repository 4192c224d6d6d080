//! Servers that are known by name: where they are, how they are spoken to, and what they take.
//!
//! The files in `presets/` are part of the program and checked by a test. The author's settings correct a preset or name a server of their
//! own; a book's settings can only choose among those, so that no book sends a key somewhere else.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::abilities::Abilities;
use super::client::{ApiKey, Client, Server};
use super::remote::Remote;
use super::wire::Protocol;
use crate::domain::conversation::{Failure, FailureKind};

/// The preset of every server that has none of its own.
pub const CUSTOM: &str = "custom";

/// The files, by name, in the order in which they are listed.
const SHIPPED: [(&str, &str); 13] = [
    ("openai", include_str!("presets/openai.toml")),
    ("anthropic", include_str!("presets/anthropic.toml")),
    ("openrouter", include_str!("presets/openrouter.toml")),
    ("kilo", include_str!("presets/kilo.toml")),
    ("groq", include_str!("presets/groq.toml")),
    ("mistral", include_str!("presets/mistral.toml")),
    ("deepseek", include_str!("presets/deepseek.toml")),
    ("azure", include_str!("presets/azure.toml")),
    ("ollama", include_str!("presets/ollama.toml")),
    ("lmstudio", include_str!("presets/lmstudio.toml")),
    ("llamacpp", include_str!("presets/llamacpp.toml")),
    ("vllm", include_str!("presets/vllm.toml")),
    (CUSTOM, include_str!("presets/custom.toml")),
];

/// A server as a preset or the author describes it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Name in settings.
    #[serde(skip)]
    pub name: String,
    /// Name for people.
    pub title: String,
    /// Address, up to what the wire appends; `{resource}` stands for the author's resource name. `None`: the author has to say it.
    #[serde(default)]
    pub base_url: Option<String>,
    /// What stands for `{resource}`.
    #[serde(skip)]
    pub resource: Option<String>,
    /// How it is spoken to.
    pub wire: Protocol,
    /// The environment variable that its key may be in.
    pub key_variable: String,
    /// Whether it answers only with a key.
    pub needs_key: bool,
    /// The header that the key goes in, where that is not `Authorization`.
    #[serde(default)]
    pub key_header: Option<String>,
    /// What every request carries besides.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The model where the author names none.
    #[serde(default)]
    pub model: Option<String>,
    /// The port on which it usually listens on this machine.
    #[serde(default)]
    pub port: Option<u16>,
    /// What it takes.
    #[serde(default)]
    pub abilities: Abilities,
}

/// Returns the names of all presets, the best known first.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|(name, _)| *name)
}

/// Returns the preset of this name.
pub fn named(name: &str) -> Option<Preset> {
    let (name, text) = SHIPPED.iter().find(|(known, _)| *known == name)?;
    Some(Preset { name: (*name).to_owned(), ..parsed(text) })
}

/// Returns what a server of this name is where the author says nothing: its preset, or that of any other server.
pub fn named_or_custom(name: &str) -> Preset {
    let variable = || {
        let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        format!("{}_API_KEY", name.chars().map(upper).collect::<String>())
    };
    named(name).unwrap_or_else(|| Preset {
        name: name.to_owned(),
        title: name.to_owned(),
        key_variable: variable(),
        ..named(CUSTOM).unwrap_or_else(|| parsed(SHIPPED[SHIPPED.len() - 1].1))
    })
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and a test parses every one")]
fn parsed(text: &str) -> Preset {
    toml::from_str(text).expect("a shipped preset")
}

impl Preset {
    /// Returns the address of the server that requests go to.
    pub fn server(&self) -> Result<Server, Failure> {
        let base = self.base()?;
        let server = Server::new(&self.name, &base, self.wire.wire().path(), Some(&self.key_variable))?;
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(server.with_headers(self.key_header.as_deref(), headers))
    }

    /// Makes the server that is asked with `key`.
    pub fn remote(&self, client: Client, key: ApiKey) -> Result<Remote, Failure> {
        Ok(Remote::at(client, self.server()?, self.wire.wire(), self.abilities.clone(), key))
    }

    /// Returns the address at which the server lists its models.
    pub fn models(&self) -> Result<Server, Failure> {
        let base = self.base()?;
        let base = base.trim().trim_end_matches('/');
        let base = base.strip_suffix(self.wire.wire().path()).unwrap_or(base);
        let path = if self.wire == Protocol::Ollama { "/api/tags" } else { "/models" };
        let server = Server::new(&self.name, base, path, Some(&self.key_variable))?;
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Ok(server.with_headers(self.key_header.as_deref(), headers))
    }

    fn base(&self) -> Result<String, Failure> {
        let name = &self.name;
        let missing = |what: &str, example: &str| Failure {
            kind: FailureKind::Provider,
            message: format!("The provider `{name}` needs {what}."),
            hint: format!("Put it into config.toml: `{example}` under [providers.{name}]."),
        };
        let Some(base) = &self.base_url else {
            return Err(missing("an address", "base_url = \"http://localhost:8080/v1\""));
        };
        if !base.contains("{resource}") {
            return Ok(base.clone());
        }
        let is_one = |r: &&String| !r.is_empty() && r.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        match self.resource.as_ref().filter(is_one) {
            Some(resource) => Ok(base.replace("{resource}", resource)),
            None => Err(missing("the name of your resource", "resource = \"my-resource\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::providers::abilities::Forcing;

    #[test]
    fn every_shipped_preset_is_one() {
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/providers/presets")).unwrap();
        assert_eq!(files.count(), SHIPPED.len(), "a file is not in the list");
        for name in names() {
            let mut preset = named(name).unwrap();
            assert_eq!(preset.name, name);
            assert!(!preset.title.is_empty() && preset.key_variable.ends_with("_API_KEY"), "{name}");
            preset.resource = Some("mine".into());
            match preset.server() {
                Ok(server) => {
                    let at_home = server.address().starts_with("http://127.0.0.1:");
                    assert_eq!(at_home, preset.port.is_some(), "{name}: {}", server.address());
                    assert_eq!(at_home, !preset.needs_key, "{name}");
                    assert!(at_home || server.address().starts_with("https://"), "{name}");
                    assert!(preset.port.is_none_or(|port| server.address().contains(&format!(":{port}/"))));
                    // A local server may otherwise answer without an end.
                    assert!(!at_home || preset.abilities.output_limit.is_some(), "{name}");
                }
                Err(failure) => assert!(name == CUSTOM && failure.hint.contains("base_url"), "{failure:?}"),
            }
            let stateful = preset.abilities.stateful;
            assert!(!stateful || preset.wire == Protocol::Responses, "{name}: only responses are kept");
        }
    }

    #[test]
    fn models_are_listed_beside_what_is_asked() {
        let at = |name: &str| named(name).unwrap().models().unwrap().address().to_owned();
        assert_eq!(at("openai"), "https://api.openai.com/v1/models");
        assert_eq!(at("anthropic"), "https://api.anthropic.com/v1/models");
        assert_eq!(at("ollama"), "http://127.0.0.1:11434/api/tags");
        let base_url = Some("http://h/v1/chat/completions/".to_owned());
        let whole = Preset { base_url, ..named("lmstudio").unwrap() };
        assert_eq!(whole.models().unwrap().address(), "http://h/v1/models");
    }

    #[test]
    fn an_unknown_name_is_a_server_of_the_authors_own() {
        let mine = named_or_custom("my-box");
        assert_eq!((mine.name.as_str(), mine.key_variable.as_str()), ("my-box", "MY_BOX_API_KEY"));
        assert_eq!((mine.wire, mine.abilities.tool_choice), (Protocol::Chat, Forcing::Named));
        assert!(mine.server().unwrap_err().message.contains("my-box"));
        let azure = named("azure").unwrap();
        assert!(azure.server().unwrap_err().hint.contains("resource = "));
        let evil = Preset { resource: Some("evil.com/".into()), ..azure };
        assert!(evil.server().is_err());
    }
}
