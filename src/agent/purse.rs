//! What a turn may spend, and what it has spent.
//!
//! The loop asks before each request, so that a turn of many rounds stops before the request that a budget refuses, and tells after each response,
//! also after one that broke off: then with an estimate of what it used.

use crate::domain::conversation::{Failure, Usage};
use crate::providers::Request;

/// Who knows what requests cost.
pub trait Purse: Send + Sync {
    /// Whether `request` may be sent. An error ends the turn before anything is sent.
    fn allow(&self, request: &Request) -> Result<(), Failure>;

    /// Told what one response used. Returns that with what it cost.
    fn spent(&self, used: &Used<'_>) -> Usage;
}

/// What one response used.
#[derive(Debug, Clone, Copy, Default)]
pub struct Used<'a> {
    /// As far as the server said it. Nothing, where its answer broke off.
    pub told: Usage,
    /// Tokens of the request, estimated.
    pub sent: u64,
    /// Tokens of what arrived, estimated: words, calls, and thoughts as far as they were told.
    pub arrived: u64,
    /// The tier, as far as the server said it.
    pub tier: Option<&'a str>,
}

impl Used<'_> {
    /// Returns what the server said, with an estimate of the tokens that it did not tell.
    pub fn whole(&self) -> Usage {
        let Usage { input_tokens, output_tokens, .. } = self.told;
        Usage {
            input_tokens: input_tokens.or(Some(self.sent)),
            output_tokens: output_tokens.or(Some(self.arrived)),
            estimated: input_tokens.is_none() || output_tokens.is_none(),
            ..self.told
        }
    }
}

/// Knows no price and no limit: where nothing costs anything, and for tests.
impl Purse for () {
    fn allow(&self, _request: &Request) -> Result<(), Failure> {
        Ok(())
    }

    fn spent(&self, used: &Used<'_>) -> Usage {
        used.told
    }
}
