//! Which setting wins: command line, environment, book, user, default, in this order; and who said it, for `scritorio doctor`.

use serde::Serialize;

/// Who said what a setting is, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// An option of this run.
    CommandLine,
    /// An environment variable.
    Environment,
    /// The book's `scritorio.toml`.
    Book,
    /// The author's `config.toml`.
    User,
    /// Nobody.
    Default,
}

impl Source {
    /// Returns the words for a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CommandLine => "command line",
            Self::Environment => "environment",
            Self::Book => "book",
            Self::User => "user",
            Self::Default => "default",
        }
    }
}

/// A setting and who set it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Chosen<T> {
    /// What it is.
    pub value: T,
    /// Who said so.
    pub from: Source,
}

impl<T> Chosen<T> {
    /// Takes the first of `said`, which is in order of [`Source`], that is there.
    pub fn first(said: impl IntoIterator<Item = (Source, Option<T>)>, default: T) -> Self {
        said.into_iter()
            .find_map(|(from, value)| value.map(|value| Self { value, from }))
            .unwrap_or(Self { value: default, from: Source::Default })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_that_spoke_wins() {
        let sources = [Source::CommandLine, Source::Environment, Source::Book, Source::User];
        for (n, strongest) in sources.into_iter().enumerate() {
            let said = sources.into_iter().enumerate().map(|(i, s)| (s, (i >= n).then_some(i)));
            assert_eq!(Chosen::first(said, 9), Chosen { value: n, from: strongest });
        }
        assert_eq!(Chosen::first([(Source::User, None)], 9), Chosen { value: 9, from: Source::Default });
    }
}
