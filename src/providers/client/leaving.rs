//! A body that notes that it begins to leave. It is asked for only once a connection stands, name, proxy and encryption included: a request whose
//! body was never asked for has reached nobody.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

/// A body on its way.
pub(super) struct Leaving {
    body: reqwest::Body,
    left: Arc<AtomicBool>,
}

impl Leaving {
    /// Sets `left` as soon as the body is asked for.
    pub fn new(body: String, left: Arc<AtomicBool>) -> Self {
        Self { body: body.into(), left }
    }
}

impl Body for Leaving {
    type Data = <reqwest::Body as Body>::Data;
    type Error = reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.left.store(true, Ordering::Release);
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    // The length goes out with the head: some servers take no body without one.
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
