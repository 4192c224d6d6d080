//! The network as the author set it: how long a server is waited for.

use crate::config::user::Network;
use crate::domain::conversation::Failure;
use crate::providers::client::{Client, Timeouts};

use super::Workbench;

impl Workbench {
    /// Makes a client with the author's limits.
    pub(super) fn client(&self) -> Result<Client, Failure> {
        Client::new(timeouts(&self.settings().network))
    }
}

fn timeouts(said: &Network) -> Timeouts {
    let ours = Timeouts::default();
    Timeouts {
        connect: said.connect.unwrap_or(ours.connect),
        first_byte: said.first_byte.unwrap_or(ours.first_byte),
        flex_first_byte: said.flex_first_byte.unwrap_or(ours.flex_first_byte),
        idle: said.idle.unwrap_or(ours.idle),
        total: said.total.unwrap_or(ours.total),
        retry: said.retry_wait.unwrap_or(ours.retry),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_the_author_left_open_is_the_programs_own_limit() {
        let second = Some(Duration::from_secs(1));
        let limits = timeouts(&Network { idle: second, ..Network::default() });
        assert_eq!(limits, Timeouts { idle: Duration::from_secs(1), ..Timeouts::default() });
    }
}
