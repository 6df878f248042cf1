//! Writing a batch beside the seat's task, until its outcome is known.
//!
//! A fenced batch may be sent again as often as it takes: its number makes it a no-op the second time (I13). Only a lost
//! fence ends it, or the seat, which drops its memory when the lease is over and reads what became of the batch from the
//! store.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use mainspring_store::{Error, Store, Transaction};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::input::{Delivery, Postbox};

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);

pub(super) fn write(
    store: Arc<dyn Store>,
    transaction: Transaction,
    given_up: CancellationToken,
    postbox: Postbox,
) {
    tokio::spawn(async move {
        let mut pause = FIRST_PAUSE;
        let outcomes = loop {
            match store.commit(transaction.clone()).await {
                Ok(outcomes) => break Some(outcomes),
                Err(Error::FenceLost { cell, epoch }) => {
                    info!(%cell, %epoch, "another scheduler owns the cell");
                    break None;
                }
                Err(error) if error.is_transient() => {
                    warn!(cause = error.source(), %error, "a batch is sent again");
                }
                Err(error) => {
                    error!(cause = error.source(), %error, "the store refused a batch; the cell is loaded anew");
                    break None;
                }
            }
            tokio::select! {
                () = given_up.cancelled() => return,
                () = sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
            }
        };
        if !given_up.is_cancelled() {
            postbox.post(Delivery::Committed(outcomes));
        }
    });
}
