//! One request on its way: the provider's task and what it reports.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinError, JoinHandle};
use tokio_util::sync::CancellationToken;

use crate::agent::machine::Input;
use crate::domain::conversation::{Failure, FailureKind};
use crate::providers::{Event, Exchange, Provider, Request, Witness};

/// How long a provider has to come to its end after a cancel.
const GRACE: Duration = Duration::from_millis(50);

/// A request that is being answered. Dropping it stops the provider.
pub struct Stream {
    heard: UnboundedReceiver<Event>,
    task: JoinHandle<Result<(), Failure>>,
    result: Option<Result<(), Failure>>,
    cancel: CancellationToken,
}

impl Stream {
    /// Sends `request`; `witness` notes what leaves the machine.
    pub fn open(provider: Arc<dyn Provider>, request: Request, witness: Arc<dyn Witness>) -> Self {
        let (out, heard) = unbounded_channel();
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let task = tokio::spawn(async move {
            let exchange = Exchange { request: &request, out, cancel: stop, witness: witness.as_ref() };
            provider.stream(exchange).await
        });
        Self { heard, task, result: None, cancel }
    }

    /// Returns the next thing that the provider says; its end once it has said everything.
    pub async fn next(&mut self) -> Input {
        if self.result.is_none() {
            tokio::select! {
                biased;
                Some(event) = self.heard.recv() => return Input::Heard(event),
                ended = &mut self.task => self.result = Some(ended.unwrap_or_else(|e| Err(crashed(&e)))),
            }
        }
        match self.heard.try_recv() {
            Ok(event) => Input::Heard(event),
            Err(_) => Input::Broken(self.result.clone().and_then(Result::err).unwrap_or_else(cut_off)),
        }
    }

    /// Cancels the request, and returns what the provider still says within [`GRACE`].
    pub async fn close(mut self) -> Vec<Event> {
        self.cancel.cancel();
        let mut said = vec![];
        let drained = async {
            while let Input::Heard(event) = self.next().await {
                said.push(event);
            }
        };
        // What came before the time ran out is kept.
        if tokio::time::timeout(GRACE, drained).await.is_err() && self.result.is_none() {
            self.task.abort();
            // It ends at once, and tells its witness so, unless it keeps its thread busy.
            let _ = tokio::time::timeout(GRACE / 2, &mut self.task).await;
        }
        said
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.cancel.cancel();
        self.task.abort();
    }
}

fn cut_off() -> Failure {
    Failure {
        kind: FailureKind::Provider,
        message: "The provider's answer ended before it was whole.".into(),
        hint: "What had arrived is kept. Ask again.".into(),
    }
}

fn crashed(error: &JoinError) -> Failure {
    let why = if error.is_panic() { "failed inside the program" } else { "was stopped" };
    Failure {
        kind: FailureKind::Work,
        message: format!("The connection to the provider {why}."),
        hint: "What had arrived is kept. Ask again; if it happens twice, report it.".into(),
    }
}
