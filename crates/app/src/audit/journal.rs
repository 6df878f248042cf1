//! Committing what needs no owner, together with its entries of the audit.
//!
//! Every commit runs to its end in a task of its own, however long its caller waits, and a record of the audit that could
//! not be written goes with the next one. Denials that come while others are written wait and share a record.

use std::sync::{Arc, Mutex, PoisonError};

use mainspring_store::{Error, Outcome, Store, Transaction, Write, resend};

use super::{Chain, Entry, told};
use crate::error::Result;
use crate::ports::Cells;

/// Records that are kept for the next commit when the store was away; more are only logged.
const LEFT_OVER_MAX: usize = 1_000;

/// Writes for the use cases.
#[derive(Clone)]
pub(crate) struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    cells: Arc<dyn Cells>,
    chain: Arc<Chain>,
    /// Entries that wait for the commit under way.
    waiting: Mutex<Vec<Entry>>,
    /// One commit of entries alone at a time.
    turn: tokio::sync::Mutex<()>,
    /// Records that were made and not written.
    left_over: Mutex<Vec<Write>>,
}

impl Journal {
    pub(crate) fn new(store: Arc<dyn Store>, cells: Arc<dyn Cells>, chain: Arc<Chain>) -> Self {
        let (waiting, turn, left_over) = Default::default();
        Self { inner: Arc::new(Inner { store, cells, chain, waiting, turn, left_over }) }
    }

    /// Writes all of it, or nothing but the entry. Answers for each write in order.
    pub(crate) async fn commit(&self, writes: Vec<Write>, entry: Entry) -> Result<Vec<Outcome>> {
        told();
        let inner = self.inner.clone();
        let task = tokio::spawn(async move { inner.commit(writes, entry).await });
        let outcomes = task.await.map_err(|error| {
            tracing::error!(%error, "a commit ended early");
            crate::Error::new(mainspring_model::ErrorCode::Internal, "the change ended early")
        })?;
        Ok(outcomes?)
    }

    /// Writes an entry alone.
    pub(crate) async fn note(&self, entry: Entry) {
        told();
        lock(&self.inner.waiting).push(entry);
        let inner = self.inner.clone();
        let task = tokio::spawn(async move { inner.write_waiting().await });
        if let Err(error) = task.await {
            tracing::error!(%error, "an entry of the audit was not written");
        }
    }
}

impl Inner {
    async fn commit(&self, mut writes: Vec<Write>, entry: Entry) -> std::result::Result<Vec<Outcome>, Error> {
        let count = writes.len();
        let records = self.chain.record(self.cells.now(), vec![entry]);
        writes.extend(records.iter().cloned());
        writes.append(&mut lock(&self.left_over));
        match self.send(Transaction::all_or_nothing(writes)).await {
            Ok(mut outcomes) => {
                let undone = outcomes.iter().any(|outcome| *outcome != Outcome::Applied);
                outcomes.truncate(count);
                if undone {
                    self.write_alone(records).await;
                }
                Ok(outcomes)
            }
            Err(error) => {
                self.leave(records);
                Err(error)
            }
        }
    }

    async fn write_waiting(&self) {
        let _turn = self.turn.lock().await;
        let entries = std::mem::take(&mut *lock(&self.waiting));
        let records = self.chain.record(self.cells.now(), entries);
        self.write_alone(records).await;
    }

    async fn write_alone(&self, mut records: Vec<Write>) {
        records.append(&mut lock(&self.left_over));
        if records.is_empty() {
            return;
        }
        if let Err(error) = self.send(Transaction::unfenced(records.clone())).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "the audit waits for the store");
            self.leave(records);
        }
    }

    /// Commits; when the answer was lost, asks again.
    async fn send(&self, transaction: Transaction) -> std::result::Result<Vec<Outcome>, Error> {
        match self.store.commit(transaction.clone()).await {
            Err(Error::Unknown(_)) => resend(&*self.store, transaction).await,
            answer => answer,
        }
    }

    fn leave(&self, records: Vec<Write>) {
        let mut left_over = lock(&self.left_over);
        let room = LEFT_OVER_MAX.saturating_sub(left_over.len());
        if records.len() > room {
            tracing::error!(lost = records.len() - room, "records of the audit are lost");
        }
        left_over.extend(records.into_iter().take(room));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
