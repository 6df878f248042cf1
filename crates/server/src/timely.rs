//! A store whose reads answer in time or fail, for whoever serves callers; and whether it answers.
//!
//! A database may hang without a word (its machine is paused, its disk stands still), and a caller who waits for ever learns
//! nothing. What writes is not cut short: its outcome would be unknown, and who waits for that has limits of their own
//! (`cells.rs`, the journal of `app`). Seats do not read through this: they wait as long as they own a cell.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use mainspring_model::{
    Attempt, CellId, CounterKey, Counts, Epoch, Job, JobId, JobVersion, Lease, Member, MemberId, Namespace,
    Node, NodeId, Pause, Run, RunEvent, RunId, Timestamp,
};
use mainspring_store::{
    CounterQuery, Error, JobPlace, LeaseGrant, LeaseRequest, Migration, Outcome, Page, Record, RecordKey,
    RecordKind, RecordQuery, RecordRetention, Result, Retention, RunEnd, RunQuery, ShelfQuery, Store,
    Transaction,
};
use tokio::time::{Instant, timeout};

/// For so long an answer says that the store answers.
const FRESH: Duration = Duration::from_secs(5);
/// How long whoever wants to know waits.
const PROBE_WAIT: Duration = Duration::from_secs(2);

/// A store that answers in time.
pub(crate) struct Timely {
    inner: Arc<dyn Store>,
    wait: Duration,
    /// When a read last came to something, and whether that was an answer.
    last: Mutex<Option<(Instant, bool)>>,
}

impl Timely {
    pub(crate) fn new(inner: Arc<dyn Store>, wait: Duration) -> Self {
        Self { inner, wait, last: Mutex::default() }
    }

    /// Whether the store answers. It is asked only when it was not heard a moment ago.
    pub(crate) async fn answers(&self) -> bool {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last {
            Some((at, true)) if at.elapsed() < FRESH => true,
            _ => self.within(PROBE_WAIT, self.inner.clock()).await.is_ok(),
        }
    }

    async fn within<T>(&self, wait: Duration, read: impl Future<Output = Result<T>>) -> Result<T> {
        let answer = match timeout(wait, read).await {
            Ok(answer) => answer,
            Err(late) => Err(Error::unavailable(late)),
        };
        let answers = !matches!(&answer, Err(error) if error.is_transient());
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), answers));
        answer
    }
}

macro_rules! timely {
    (reads { $($read:ident($($arg:ident: $kind:ty),*) -> $answer:ty;)* }
     pages { $($page:ident($($by:ident: $how:ty),*) -> $rows:ty;)* }
     writes { $($write:ident($($put:ident: $what:ty),*) -> $done:ty;)* }) => {
        #[async_trait]
        impl Store for Timely {
            $(async fn $read(&self, $($arg: $kind),*) -> Result<$answer> {
                self.within(self.wait, self.inner.$read($($arg),*)).await
            })*
            // A page of a long history may take a while, and is not asked for less by failing.
            $(async fn $page(&self, $($by: $how),*) -> Result<Page<$rows>> {
                self.within(self.wait * 2, self.inner.$page($($by),*)).await
            })*
            $(async fn $write(&self, $($put: $what),*) -> Result<$done> {
                self.inner.$write($($put),*).await
            })*
        }
    };
}

timely! {
    reads {
        leases() -> Vec<Lease>;
        members() -> Vec<Member>;
        cell_pause(cell: CellId) -> Option<Pause>;
        nodes(cell: CellId) -> Vec<Node>;
        runs_by_id(ids: &[RunId]) -> Vec<Run>;
        run_by_key(namespace: &Namespace, key: &str) -> Option<Run>;
        newest_ends(jobs: &[JobId], each: usize) -> Vec<RunEnd>;
        attempts(run: RunId) -> Vec<Attempt>;
        events(run: RunId) -> Vec<RunEvent>;
        job(id: JobId) -> Option<Job>;
        job_by_name(namespace: &Namespace, name: &str) -> Option<Job>;
        job_versions(keys: &[(JobId, u32)]) -> Vec<JobVersion>;
        node(id: NodeId) -> Option<Node>;
        record(kind: RecordKind, key: &RecordKey) -> Option<Record>;
        clock() -> Timestamp;
    }
    pages {
        shelf(query: ShelfQuery) -> Run;
        runs(query: RunQuery) -> Run;
        jobs(namespace: Option<&Namespace>, after: Option<JobId>, limit: usize) -> Job;
        jobs_by_name(namespace: Option<&Namespace>, after: Option<JobPlace>, limit: usize) -> Job;
        versions_of_job(job: JobId, after: Option<u32>, limit: usize) -> JobVersion;
        jobs_with_runs(after: Option<JobId>, limit: usize) -> JobId;
        all_nodes(after: Option<NodeId>, limit: usize) -> Node;
        records(query: RecordQuery) -> Record;
        counters(query: CounterQuery) -> (CounterKey, Counts);
    }
    writes {
        commit(transaction: Transaction) -> Vec<Outcome>;
        acquire_lease(request: LeaseRequest) -> LeaseGrant;
        renew_lease(cell: CellId, member: MemberId, epoch: Epoch, expires_at: Timestamp) -> Option<Timestamp>;
        release_lease(cell: CellId, member: MemberId, epoch: Epoch) -> bool;
        put_member(member: Member) -> ();
        remove_members(seen_before: Timestamp) -> u64;
        migrate() -> Vec<Migration>;
        retain(rule: Retention, limit: usize) -> u64;
        retain_counters(before: Timestamp) -> u64;
        retain_records(rule: RecordRetention, limit: usize) -> u64;
    }
}

#[cfg(test)]
mod tests {
    use mainspring_store_mem::MemStore;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_read_that_hangs_fails_in_time_and_the_next_answer_counts() {
        let store = Timely::new(Arc::new(MemStore::default()), 10 * SECOND);
        assert!(store.answers().await);
        let hangs = store.within(10 * SECOND, std::future::pending::<Result<()>>());
        assert!(matches!(hangs.await, Err(Error::Unavailable(_))));
        assert_eq!(store.last.lock().unwrap().map(|(_, answers)| answers), Some(false));
        assert!(store.answers().await, "it is asked, and answers again");
        let damaged = async { Err::<(), _>(Error::Invalid("no".into())) };
        assert!(store.within(SECOND, damaged).await.is_err());
        assert!(store.answers().await, "a refusal is an answer");
    }
}
