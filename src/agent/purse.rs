//! What a turn may spend.
//!
//! The loop asks before each request, so that a turn of many rounds stops before the request that a budget refuses. What was spent is noted where what leaves
//! is noted, by a [`Witness`](crate::providers::Witness).

use serde_json::Value;

use crate::domain::conversation::Failure;
use crate::providers::Request;

/// Who knows what requests may cost.
pub trait Purse: Send + Sync {
    /// Whether `request` may be sent. `body` makes the whole body that would be: only who has a limit asks for it.
    /// An error ends the turn before anything is sent.
    fn allow(&self, request: &Request, body: &dyn Fn() -> Value) -> Result<(), Failure>;
}

/// Knows no limit: where nothing costs anything, and for tests.
impl Purse for () {
    fn allow(&self, _request: &Request, _body: &dyn Fn() -> Value) -> Result<(), Failure> {
        Ok(())
    }
}
