//! The task that does what the machine asks for.

use tokio::sync::mpsc::UnboundedReceiver;
use tokio_util::sync::CancellationToken;

use super::TurnSetup;
use super::event::TurnEvent;

/// A running turn.
pub struct Running {
    /// Its events, in order; `Ended` is the last.
    pub events: UnboundedReceiver<TurnEvent>,
    /// Stops it: within 100 ms it answers open calls with "cancelled" and ends.
    pub cancel: CancellationToken,
}

/// Starts a turn in the background. Must be called inside a tokio runtime.
pub fn start(setup: TurnSetup) -> Running {
    todo!()
}
