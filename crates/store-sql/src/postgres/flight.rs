//! Requests sent together: each is put on the wire before the first is answered, and PostgreSQL answers in order.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

/// A request that has not been sent yet.
pub(super) type Request<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Sends all requests in order, then waits for all answers. A driver's request goes out when it is first
/// polled, so polling in order is sending in order.
pub(super) async fn together<T>(requests: Vec<Request<'_, T>>) -> Vec<T> {
    let mut open: Vec<Result<T, Request<'_, T>>> = requests.into_iter().map(Err).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for slot in &mut open {
            if let Err(request) = slot {
                match request.as_mut().poll(context) {
                    Poll::Ready(answer) => *slot = Ok(answer),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    open.into_iter().filter_map(Result::ok).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn all_are_sent_in_order_before_any_is_answered() {
        let sent = Mutex::new(Vec::new());
        let request = |name: u8| -> Request<'_, u8> {
            let sent = &sent;
            Box::pin(async move {
                sent.lock().unwrap().push(name);
                tokio::task::yield_now().await;
                sent.lock().unwrap().push(name + 10);
                name
            })
        };
        let answers = together(vec![request(1), request(2), request(3)]).await;
        assert_eq!(answers, [1, 2, 3]);
        assert_eq!(*sent.lock().unwrap(), [1, 2, 3, 11, 12, 13]);
    }
}
