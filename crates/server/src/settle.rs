//! Writing what needs no owner, until its outcome is known.

use std::time::Duration;

use mainspring_store::{Error, Outcome, Result, Store, Transaction, resend};
use tokio::time::{Instant, sleep, timeout_at};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// Commits an unfenced batch, again and again while the store does not answer, at most for `patience`. A batch that was
/// written although the answer was lost counts as written.
pub(crate) async fn settle(
    store: &dyn Store,
    transaction: Transaction,
    patience: Duration,
) -> Result<Vec<Outcome>> {
    let end = Instant::now() + patience;
    let mut pause = FIRST_PAUSE;
    let mut answer = in_time(end, store.commit(transaction.clone())).await;
    while let Err(error) = &answer
        && error.is_transient()
        && Instant::now() + pause < end
    {
        sleep(pause).await;
        pause = (pause * 2).min(PAUSE_MAX);
        answer = in_time(end, resend(store, transaction.clone())).await;
    }
    answer
}

/// The store goes on with what nobody waits for any longer.
async fn in_time<T>(end: Instant, answer: impl Future<Output = Result<T>>) -> Result<T> {
    timeout_at(end, answer).await.unwrap_or_else(|late| Err(Error::unknown(late)))
}
