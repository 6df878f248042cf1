//! The lease: asking what [`mainspring_engine::Owner`] wants asked, and reading what a new owner has to know.

use std::sync::Arc;
use std::time::Duration;

use mainspring_engine::{LeaseAnswer, LeaseStep, Tenure};
use mainspring_model::CellId;
use mainspring_store::{Record, Result, Store};
use tokio::time::{sleep, timeout};
use tracing::warn;

use super::input::{Delivery, Handover};
use crate::clock::Clock;

/// Asks the store. No answer in time is an answer: the owner decides what to ask next.
pub(super) async fn ask(
    store: Arc<dyn Store>,
    cell: CellId,
    step: LeaseStep,
    patience: Duration,
    clock: Clock,
) -> Delivery {
    let answer = match timeout(patience, question(&*store, cell, step, &clock)).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(error)) => {
            warn!(
                cell = cell.0,
                error = &error as &dyn std::error::Error,
                "the store does not answer about the lease"
            );
            LeaseAnswer::Failed
        }
        Err(_) => LeaseAnswer::Failed,
    };
    Delivery::Lease(answer)
}

async fn question(store: &dyn Store, cell: CellId, step: LeaseStep, clock: &Clock) -> Result<LeaseAnswer> {
    Ok(match step {
        LeaseStep::Look => {
            LeaseAnswer::Seen(store.leases().await?.into_iter().find(|lease| lease.cell == cell))
        }
        LeaseStep::Acquire(request) => LeaseAnswer::Asked(store.acquire_lease(request).await?),
        LeaseStep::Renew { cell, member, epoch, expires_at } => {
            let asked = clock.elapsed();
            let renewed = store.renew_lease(cell, member, epoch, expires_at).await?;
            if let Some(store_now) = renewed {
                clock.read(asked, store_now);
            }
            LeaseAnswer::Renewed(renewed.is_some())
        }
    })
}

/// Reads what a new owner has to know, again and again until it is read or `patience` is over.
pub(super) async fn take_over(
    store: Arc<dyn Store>,
    cell: CellId,
    patience: Duration,
    clock: Clock,
) -> Delivery {
    let reading = async {
        let mut pause = Duration::from_millis(20);
        loop {
            match handover(&*store, cell, &clock).await {
                Ok(handover) => return handover,
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    warn!(cell = cell.0, error, "the cell cannot be read yet");
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    };
    Delivery::Tenure(timeout(patience, reading).await.ok().map(Box::new))
}

async fn handover(store: &dyn Store, cell: CellId, clock: &Clock) -> Result<Handover> {
    let asked = clock.elapsed();
    clock.read(asked, store.clock().await?);
    Ok(Handover {
        nodes: store.nodes(cell).await?,
        pause: store.cell_pause(cell).await?,
        memories: memories(store, cell).await?,
    })
}

async fn memories(store: &dyn Store, cell: CellId) -> Result<Vec<Record>> {
    let mut memories: Vec<Record> = Vec::new();
    loop {
        let after = memories.last().map(|record| record.key.clone());
        let page = store.records(Tenure::memories_of(cell, after)).await?;
        let is_last = !page.more || page.rows.is_empty();
        memories.extend(page.rows);
        if is_last {
            return Ok(memories);
        }
    }
}
