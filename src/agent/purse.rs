//! What a turn may spend, and what it has spent.
//!
//! The loop asks before each request, so that a turn of many rounds stops before the request that a budget refuses, and tells after each response.

use crate::domain::conversation::{Failure, Usage};
use crate::providers::Request;

/// Who knows what requests cost.
pub trait Purse: Send + Sync {
    /// Whether `request` may be sent. `spent` is what this turn has cost so far in US dollars, where that is known. An error ends the turn before anything is sent.
    fn allow(&self, request: &Request, spent: Option<f64>) -> Result<(), Failure>;

    /// Told what one response used, and on which tier, as far as the server said it. Returns the same with what it cost.
    fn spent(&self, usage: Usage, tier: Option<&str>) -> Usage;
}

/// Knows no price and no limit: where nothing costs anything, and for tests.
impl Purse for () {
    fn allow(&self, _request: &Request, _spent: Option<f64>) -> Result<(), Failure> {
        Ok(())
    }

    fn spent(&self, usage: Usage, _tier: Option<&str>) -> Usage {
        usage
    }
}
