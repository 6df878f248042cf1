//! Writing a batch beside the seat's task, until its outcome is known.
//!
//! A fenced batch may be sent again as often as it takes: its number makes it a no-op the second time (I13). Only a lost
//! fence ends it, or the seat, which drops its memory when the lease is over and reads what became of the batch from the
//! store.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use mainspring_app::audit::Draft;
use mainspring_store::{Error, Outcome, Store, Transaction};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::input::Delivery;
use crate::health::StoreHealth;
use crate::settle::settle;

const FIRST_PAUSE: Duration = Duration::from_millis(10);
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// How long one answer of the store is waited for; the next question may reach a server that lives.
const ANSWER_WAIT: Duration = Duration::from_secs(30);
const AUDIT_PATIENCE: Duration = Duration::from_secs(60);

/// A batch on its way.
pub(super) struct Batch {
    pub(super) transaction: Transaction,
    /// The last of its writes: what was asked.
    pub(super) audit: Option<Draft>,
    pub(super) given_up: CancellationToken,
    pub(super) health: Arc<StoreHealth>,
}

/// Writes a batch. What was asked is written down even when the batch is not written.
pub(super) async fn write(store: Arc<dyn Store>, batch: Batch) -> Delivery {
    let Batch { transaction, audit, given_up, health } = batch;
    let outcomes = outcomes(&*store, &transaction, &given_up, &health).await;
    health.settled();
    match (&outcomes, audit) {
        (Some(_), Some(audit)) => audit.written(),
        (None, Some(audit)) => drop(tokio::spawn(write_alone(store, audit))),
        (_, None) => {}
    }
    Delivery::Committed(outcomes)
}

/// Sends the batch until its outcome is known; none when the fence is lost or nobody wants to know any more.
async fn outcomes(
    store: &dyn Store,
    transaction: &Transaction,
    given_up: &CancellationToken,
    health: &StoreHealth,
) -> Option<Vec<Outcome>> {
    let mut pause = FIRST_PAUSE;
    loop {
        let answer = tokio::select! {
            answer = timeout(ANSWER_WAIT, store.commit(transaction.clone())) => answer,
            () = given_up.cancelled() => return None,
        };
        match answer {
            Ok(Ok(outcomes)) => return Some(outcomes),
            Err(_) => warn!("the store does not answer; a batch is sent again"),
            Ok(Err(Error::FenceLost { cell, epoch })) => {
                info!(cell = cell.0, epoch = epoch.0, "another scheduler owns the cell");
                return None;
            }
            Ok(Err(error)) if error.is_transient() => {
                warn!(cause = error.source(), %error, "a batch is sent again");
            }
            Ok(Err(error)) => {
                error!(cause = error.source(), %error, "the store refused a batch; the cell is loaded anew");
                return None;
            }
        }
        health.failed();
        tokio::select! {
            () = given_up.cancelled() => return None,
            () = sleep(pause) => pause = (pause * 2).min(PAUSE_MAX),
        }
    }
}

/// Writes the audit of what was not done, now or when the store is back. A record that exists already stays as it is.
pub(super) async fn write_alone(store: Arc<dyn Store>, audit: Draft) {
    let writing = settle(&*store, Transaction::unfenced(audit.records().to_vec()), AUDIT_PATIENCE);
    match writing.await {
        Ok(_) => audit.written(),
        // Left over: it is written later.
        Err(error) => {
            error!(cause = error.source(), %error, "what was asked could not be written down yet");
        }
    }
}
