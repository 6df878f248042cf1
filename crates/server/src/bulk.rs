//! Carrying bulk operations out, in the cells that this process owns.

use std::sync::Arc;
use std::time::Duration;

use mainspring_app::{App, BulkProgress};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// How often a server looks for operations that were started elsewhere.
const POLL_SHARED: Duration = Duration::from_secs(3);
/// The same where nothing is started elsewhere: after a restart, and after what failed.
const POLL_LONE: Duration = Duration::from_secs(30);
/// How long to wait after a failure: the store may be away, or the cell is being taken over.
const AFTER_FAILURE: Duration = Duration::from_secs(1);

/// Works until `stop` is cancelled.
pub(crate) async fn run(app: Arc<App>, is_shared: bool, stop: CancellationToken) {
    let poll = if is_shared { POLL_SHARED } else { POLL_LONE };
    let work = async {
        loop {
            let pause = match app.work_on_bulk().await {
                Ok(BulkProgress::More) => continue,
                Ok(BulkProgress::Rest) => poll,
                Err(error) => {
                    warn!(%error, "a bulk operation does not go on for the moment");
                    AFTER_FAILURE
                }
            };
            tokio::select! {
                () = app.bulk_news() => {}
                () = sleep(pause) => {}
            }
        }
    };
    stop.run_until_cancelled(work).await;
}
