//! Committing what needs no owner, together with its entries of the audit.
//!
//! Every commit runs to its end in a task of its own, however long its caller waits. A record of the audit that could not be
//! written is left with the chain and written when the store is back, in a transaction of its own: it may be there already,
//! and must not undo what others ask for. Denials that come while others are written wait and share a record.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mainspring_model::{ErrorCode, Timestamp};
use mainspring_store::{Error, Outcome, Store, Transaction, Write, resend};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::chain::Draft;
use super::{Chain, Entry, told};
use crate::error::Result;

/// Commits at the same time: each has a chain of its own, and a few chains are easier to follow than many.
const COMMITS_MAX: usize = 16;
/// Records that were left over in one transaction.
const LEFT_OVER_BATCH: usize = 100;
/// How long to wait before what was left over is tried again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Tells the time that rows go by.
pub(crate) type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Writes for the use cases.
#[derive(Clone)]
pub(crate) struct Journal {
    inner: Arc<Inner>,
}

struct Inner {
    store: Arc<dyn Store>,
    now: Now,
    chain: Arc<Chain>,
    /// Entries that wait for the commit under way.
    waiting: Mutex<Vec<Entry>>,
    /// One commit of entries alone at a time.
    turn: tokio::sync::Mutex<()>,
    commits: Semaphore,
    /// How long a caller waits for a commit, which goes on without them.
    wait: Duration,
}

impl Journal {
    pub(crate) fn new(store: Arc<dyn Store>, now: Now, chain: Arc<Chain>, wait: Duration) -> Self {
        let (waiting, turn) = Default::default();
        let commits = Semaphore::new(COMMITS_MAX);
        Self { inner: Arc::new(Inner { store, now, chain, waiting, turn, commits, wait }) }
    }

    /// Writes all of it, or nothing but the entry and an error.
    pub(crate) async fn write(&self, writes: Vec<Write>, entry: Entry) -> Result<()> {
        let outcomes = self.commit(writes, entry).await?;
        match outcomes.iter().all(|outcome| *outcome == Outcome::Applied) {
            true => Ok(()),
            false => Err(crate::Error::new(ErrorCode::Conflict, "it changed meanwhile")),
        }
    }

    /// Writes all of it, or nothing but the entry. Answers for each write in order.
    pub(crate) async fn commit(&self, writes: Vec<Write>, entry: Entry) -> Result<Vec<Outcome>> {
        told();
        let inner = self.inner.clone();
        let task = tokio::spawn(async move { inner.commit(writes, entry).await });
        let ended = timeout(self.inner.wait, task).await.map_err(Error::unknown)?;
        let outcomes = ended.map_err(|error| {
            tracing::error!(%error, "a commit ended early");
            crate::Error::new(ErrorCode::Internal, "the change ended early")
        })?;
        Ok(outcomes?)
    }

    /// Writes an entry alone.
    pub(crate) async fn note(&self, entry: Entry) {
        told();
        lock(&self.inner.waiting).push(entry);
        let inner = self.inner.clone();
        let task = tokio::spawn(async move { inner.write_waiting().await });
        // It is written when the store is back, whether or not somebody waits.
        if let Ok(Err(error)) = timeout(self.inner.wait, task).await {
            tracing::error!(%error, "an entry of the audit was not written");
        }
    }

    /// Writes what is left over whenever something is, again and again until the store takes it. Never returns.
    pub(crate) async fn write_left_over(&self) {
        loop {
            self.inner.chain.until_left_over().await;
            let mut pause = FIRST_PAUSE;
            while !self.inner.write_left_over().await {
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
            }
        }
    }

    /// Tries once to write what is left over; true when nothing is.
    pub(crate) async fn try_left_over(&self) -> bool {
        self.inner.write_left_over().await
    }
}

impl Inner {
    async fn commit(&self, mut writes: Vec<Write>, entry: Entry) -> std::result::Result<Vec<Outcome>, Error> {
        // Never closed.
        let _permit = self.commits.acquire().await;
        let count = writes.len();
        let Some(draft) = self.chain.draft((self.now)(), vec![entry]) else { return Ok(Vec::new()) };
        writes.extend(draft.records().iter().cloned());
        let mut answer = self.send(Transaction::all_or_nothing(writes)).await;
        let is_written =
            |outcomes: &Vec<Outcome>| outcomes.iter().all(|outcome| *outcome == Outcome::Applied);
        match &mut answer {
            Ok(outcomes) => {
                let all = is_written(outcomes);
                outcomes.truncate(count);
                if all {
                    draft.written()
                } else {
                    self.write_alone(draft).await
                }
                self.write_left_over().await;
            }
            // It is not the store that is away.
            Err(Error::Invalid(_)) => {
                self.write_alone(draft).await;
                self.write_left_over().await;
            }
            // Left over.
            Err(_) => drop(draft),
        }
        answer
    }

    async fn write_waiting(&self) {
        let _turn = self.turn.lock().await;
        let entries = std::mem::take(&mut *lock(&self.waiting));
        if let Some(draft) = self.chain.draft((self.now)(), entries) {
            self.write_alone(draft).await;
        }
    }

    /// Writes these records without what the calls wrote, now or when the store is back.
    async fn write_alone(&self, draft: Draft) {
        match self.send(Transaction::unfenced(draft.records().to_vec())).await {
            Ok(_) => draft.written(),
            Err(error @ Error::Invalid(_)) => {
                tracing::error!(error = &error as &dyn std::error::Error, "a record of the audit is lost");
                draft.refused();
            }
            Err(error) => {
                tracing::warn!(error = &error as &dyn std::error::Error, "the audit waits for the store");
                drop(draft);
            }
        }
    }

    /// Writes the records that were left over; true when none is left. One that is there already is as good as written.
    async fn write_left_over(&self) -> bool {
        let mut left = self.chain.take_left_over();
        while !left.is_empty() {
            let batch: Vec<Write> = left.iter().take(LEFT_OVER_BATCH).cloned().collect();
            match self.send(Transaction::unfenced(batch.clone())).await {
                Ok(_) => {}
                Err(Error::Invalid(_)) => self.write_one_by_one(batch.clone()).await,
                Err(_) => {
                    self.chain.leave(left);
                    return false;
                }
            }
            left.drain(..batch.len());
        }
        true
    }

    /// One record that no store takes must not keep the others out.
    async fn write_one_by_one(&self, records: Vec<Write>) {
        for record in records {
            match self.send(Transaction::unfenced(vec![record.clone()])).await {
                Ok(_) => {}
                Err(error @ Error::Invalid(_)) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "a record of the audit is lost"
                    );
                }
                Err(_) => self.chain.leave(vec![record]),
            }
        }
    }

    /// Commits; when the answer was lost, asks again.
    async fn send(&self, transaction: Transaction) -> std::result::Result<Vec<Outcome>, Error> {
        match self.store.commit(transaction.clone()).await {
            Err(Error::Unknown(_)) => resend(&*self.store, transaction).await,
            answer => answer,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use mainspring_model::MemberId;
    use mainspring_store::{Record, RecordQuery};
    use mainspring_store_mem::MemStore;

    use super::super::{Outcome as Judged, verify};
    use super::*;
    use crate::operation::Operation;
    use crate::record;

    struct World {
        store: MemStore,
        chain: Arc<Chain>,
        journal: Journal,
    }

    fn world() -> World {
        let store = MemStore::default();
        let chain = Arc::new(Chain::new(MemberId::MIN, Duration::from_secs(60)));
        let now: Now = Arc::new(|| Timestamp::from_micros(5));
        let journal = Journal::new(Arc::new(store.clone()), now, Arc::clone(&chain), Duration::from_secs(10));
        World { store, chain, journal }
    }

    fn entry(detail: &str) -> Entry {
        Entry {
            at: Timestamp::from_micros(5),
            actor: "ann".into(),
            token: None,
            operation: Operation::TokenCreate,
            namespace: None,
            target: None,
            outcome: Judged::Allowed,
            detail: Some(detail.into()),
            request_id: None,
            from: None,
        }
    }

    fn put(key: &str, bytes: usize) -> Write {
        Write::PutRecord(Box::new(Record {
            kind: record::TOKEN,
            key: key.into(),
            revision: 1,
            expires_at: None,
            value: vec![0; bytes].into(),
        }))
    }

    impl World {
        fn draft(&self, detail: &str) -> Draft {
            self.chain.draft(Timestamp::from_micros(5), vec![entry(detail)]).unwrap()
        }

        /// A record whose transaction came to nothing.
        fn leave(&self, detail: &str) {
            drop(self.draft(detail));
        }

        /// The audit is whole and says so much.
        #[track_caller]
        fn check(&self, records: usize) {
            let rows = self.store.core().records(&RecordQuery::all(record::AUDIT, 100)).unwrap().rows;
            assert_eq!((rows.len(), verify(&rows)), (records, Vec::new()));
        }
    }

    #[tokio::test]
    async fn what_was_left_over_is_written_whatever_becomes_of_the_next_commit() {
        let world = world();
        world.journal.write(vec![put("a", 1)], entry("one")).await.unwrap();
        world.leave("two");
        let again = world.journal.write(vec![put("a", 1), put("b", 1)], entry("three")).await;
        assert_eq!(again.unwrap_err().code, ErrorCode::Conflict);
        world.check(3);
    }

    #[tokio::test]
    async fn what_was_left_over_and_is_there_undoes_nothing() {
        let world = world();
        let draft = world.draft("one");
        world.store.commit(Transaction::unfenced(draft.records().to_vec())).await.unwrap();
        drop(draft);
        world.journal.write(vec![put("a", 1)], entry("two")).await.unwrap();
        assert!(world.store.record(record::TOKEN, &"a".into()).await.unwrap().is_some());
        world.check(2);
    }

    #[tokio::test]
    async fn a_commit_that_no_store_takes_is_told_and_leaves_nothing_behind() {
        let world = world();
        let large = put("a", mainspring_model::limits::RECORD_VALUE_BYTES_MAX + 1);
        assert!(world.journal.write(vec![large.clone()], entry("one")).await.is_err());
        world.check(1);
        world.chain.leave(vec![large]);
        world.leave("two");
        world.journal.write(vec![put("b", 1)], entry("three")).await.unwrap();
        world.check(3);
        assert!(world.chain.take_left_over().is_empty());
    }

    #[tokio::test]
    async fn an_answer_that_was_lost_is_asked_for_again() {
        let world = world();
        world.store.lose_next_answer();
        world.journal.write(vec![put("a", 1)], entry("one")).await.unwrap();
        world.check(1);
    }

    #[tokio::test]
    async fn a_kill_leaves_no_hole_whichever_records_were_on_their_way() {
        let world = world();
        for name in ["a", "b"] {
            world.journal.write(vec![put(name, 1)], entry(name)).await.unwrap();
        }
        // On their way when the process is killed: of one nobody knows whether it was written, the other was not.
        let (unknown, lost) = (world.draft("unknown"), world.draft("lost"));
        world.store.commit(Transaction::unfenced(unknown.records().to_vec())).await.unwrap();
        for name in ["c", "d"] {
            world.journal.write(vec![put(name, 1)], entry(name)).await.unwrap();
        }
        world.check(5);
        std::mem::forget((unknown, lost));
    }

    #[tokio::test]
    async fn what_was_left_over_is_written_by_itself() {
        let world = world();
        let journal = world.journal.clone();
        let writing = tokio::spawn(async move { journal.write_left_over().await });
        world.leave("one");
        while world.store.core().records(&RecordQuery::all(record::AUDIT, 100)).unwrap().rows.is_empty() {
            tokio::task::yield_now().await;
        }
        world.check(1);
        writing.abort();
    }

    #[tokio::test]
    async fn what_is_dropped_is_counted_in_the_chain() {
        let world = world();
        let left: Vec<Draft> = (0..1_003).map(|_| world.draft("left")).collect();
        drop(left);
        // It tells of the three, and is dropped itself.
        world.leave("no room");
        assert_eq!(world.chain.take_left_over().len(), 1_000);
        world.journal.write(vec![put("a", 1)], entry("next")).await.unwrap();
        let rows = world.store.core().records(&RecordQuery::all(record::AUDIT, 100)).unwrap().rows;
        let text = String::from_utf8_lossy(&rows[0].value);
        assert!(text.contains("next; 4 records of the audit before this one were dropped"), "{text}");
    }
}
