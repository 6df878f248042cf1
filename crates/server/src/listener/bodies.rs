//! Bodies on their way: a request's body that has to move, and an answer's body that counts as a request in flight.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::BoxError;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::{Connection, InFlight};

/// A request's body. Each part comes within the time limit; before the connection has authenticated, all of it does.
pub(super) struct MovingBody<B> {
    inner: B,
    connection: Arc<Connection>,
    part_timeout: Duration,
    begun: Instant,
    /// Runs while a part is waited for.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<B> MovingBody<B> {
    pub(super) fn new(inner: B, connection: Arc<Connection>, part_timeout: Duration) -> Self {
        Self { inner, connection, part_timeout, begun: Instant::now(), waiting: None }
    }

    fn deadline(&self) -> Instant {
        let begun = if self.connection.is_authenticated() { Instant::now() } else { self.begun };
        begun + self.part_timeout
    }
}

impl<B> HttpBody for MovingBody<B>
where
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(context) {
            self.waiting = None;
            if matches!(frame, Some(Ok(_))) && self.deadline() <= Instant::now() {
                return Poll::Ready(Some(Err(late())));
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let deadline = self.deadline();
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        match waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Some(Err(late()))),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

fn late() -> BoxError {
    io::Error::new(io::ErrorKind::TimedOut, "the body did not come in time").into()
}

/// An answer's body. Its request is in flight until it is dropped.
pub(super) struct AnswerBody {
    inner: Body,
    _request: InFlight,
}

impl AnswerBody {
    pub(super) fn new(inner: Body, request: InFlight) -> Self {
        Self { inner, _request: request }
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;
    use tokio::time::{sleep, timeout};

    use super::super::admission::Admission;
    use super::super::limits::ListenLimits;
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// A body whose parts come from elsewhere.
    struct Parts(mpsc::Receiver<Bytes>);

    impl HttpBody for Parts {
        type Data = Bytes;
        type Error = BoxError;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
            self.0.poll_recv(context).map(|part| part.map(|part| Ok(Frame::data(part))))
        }
    }

    /// Sends a part every `pause`; tells how many came before the body was cut, if it was.
    async fn received(is_authenticated: bool, pause: Duration, parts: usize) -> Result<usize, usize> {
        let admission = Arc::new(Admission::new(&ListenLimits::default(), Default::default(), 100));
        let connection = admission.admit("192.0.2.1".parse().expect("an address")).expect("room");
        if is_authenticated {
            connection.authenticated();
        }
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(async move {
            for _ in 0..parts {
                sleep(pause).await;
                drop(sender.send(Bytes::from_static(b"x")).await);
            }
        });
        let body = Body::new(MovingBody::new(Parts(receiver), connection, 30 * SECOND));
        let mut stream = body.into_data_stream();
        let mut count = 0;
        loop {
            match futures_util::StreamExt::next(&mut stream).await {
                Some(Ok(_)) => count += 1,
                Some(Err(_)) => return Err(count),
                None => return Ok(count),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn an_upload_that_moves_is_not_cut_and_one_that_stops_is() {
        assert_eq!(received(true, 29 * SECOND, 100).await, Ok(100));
        assert_eq!(received(true, 31 * SECOND, 100).await, Err(0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stranger_has_one_time_for_the_whole_body() {
        assert_eq!(received(false, 14 * SECOND, 2).await, Ok(2));
        assert_eq!(received(false, 14 * SECOND, 100).await, Err(2));
        let never = timeout(31 * SECOND, received(false, 3_600 * SECOND, 1));
        assert_eq!(never.await, Ok(Err(0)));
    }
}
