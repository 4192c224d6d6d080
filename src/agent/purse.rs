//! What a turn may spend.
//!
//! The loop asks before each request, so that a turn of many rounds stops before the request that a budget refuses. What was spent is noted where what leaves
//! is noted, by a [`Witness`](crate::providers::Witness).

use crate::domain::conversation::Failure;
use crate::providers::Request;

/// Who knows what requests may cost.
pub trait Purse: Send + Sync {
    /// Whether `request` may be sent. `tokens` counts what it comes to (estimated), which takes the whole body: only who has a limit asks.
    /// An error ends the turn before anything is sent.
    fn allow(&self, request: &Request, tokens: &dyn Fn() -> u64) -> Result<(), Failure>;
}

/// Knows no limit: where nothing costs anything, and for tests.
impl Purse for () {
    fn allow(&self, _request: &Request, _tokens: &dyn Fn() -> u64) -> Result<(), Failure> {
        Ok(())
    }
}
