//! What a caller may not ask: the whole request is refused as invalid and nothing is written.

use std::sync::Arc;

use mainspring_model::{Counts, JobId, Place, Run, RunId, RunState, Shelf, limits};
use mainspring_store::{
    CounterQuery, Error, Record, RecordKind, RecordQuery, Retention, RunQuery, RunUpdate, ShelfQuery, Store,
    Transaction, Write,
};

use crate::case::cases;
use crate::fixture::{
    Owner, at, attempt, counter_key, event, hour, job, job_id, job_version, next, node, node_id, put_record,
    read_run, record, remove_record, run, run_id, run_with, shelf_query, update,
};

cases! { "refusals":
    a_batch_of_10001,
    two_inserts_of_one_run => refused(&[Write::InsertRun(run(1)), Write::InsertRun(run(1))]),
    an_insert_and_an_update_of_one_run => refused(&[Write::InsertRun(run(1)), update(&next(&run(1), |_| {}))]),
    two_updates_of_one_run => refused(&[update(&next(&run(1), |_| {})), update(&next(&run(1), |_| {}))]),
    one_attempt_twice => refused(&[write_attempt(1), write_attempt(1)]),
    one_event_twice => refused(&[write_event(1), write_event(1)]),
    one_job_twice => refused(&[write_job(1), write_job(2)]),
    one_job_version_twice => refused(&[write_version(), write_version()]),
    one_node_twice => refused(&[write_node(1), write_node(2)]),
    one_counter_twice => refused(&[add_counts(), add_counts()]),
    two_pauses_of_the_cell => refused(&[Write::PauseCell(None), Write::PauseCell(None)]),
    a_job_of_revision_0 => refused(&[write_job(0)]),
    a_node_of_revision_0 => refused(&[write_node(0)]),
    an_update_that_skips_a_version => refused(&[version_jump(1, 3)]),
    an_update_that_keeps_the_version => refused(&[version_jump(1, 1)]),
    an_update_that_goes_back => refused(&[version_jump(5, 4)]),
    a_live_run_without_a_place => refused(&[Write::InsertRun(placed(RunState::Waiting, false))]),
    an_ended_run_with_a_place => refused(&[Write::InsertRun(placed(RunState::Success, true))]),
    an_update_to_a_live_run_without_a_place => refused(&[update(&next(&placed(RunState::Waiting, false), |_| {}))]),
    a_key_of_256_bytes => refused(&[Write::InsertRun(keyed(256))]),
    a_job_name_of_129_bytes => refused(&[long_name()]),
    parameters_over_the_limit => refused(&[Write::InsertRun(with_params(limits::PARAMS_BYTES_MAX + 1))]),
    a_result_over_the_limit => refused(&[Write::InsertRun(with_result(limits::RESULT_BYTES_MAX + 1))]),
    one_record_twice => refused(&[put_record(record("k", "a")), put_record(record("k", "b"))]),
    a_record_put_and_removed => refused(&[put_record(record("k", "a")), remove_record("k", 1)]),
    a_record_of_revision_0 => refused(&[put_record(Record { revision: 0, ..record("k", "") })]),
    a_record_without_a_key => refused(&[put_record(record("", "x"))]),
    a_record_with_a_key_of_513_bytes => refused(&[put_record(record(&"k".repeat(513), "x"))]),
    a_record_with_a_value_over_the_limit => refused(&[put_record(record("k", &"x".repeat(256 * 1024 + 1)))]),
    a_removal_of_a_record_without_a_key => refused(&[remove_record("", 1)]),
    removals_under_a_fence,
    an_all_or_nothing_batch_under_a_fence,
    pages_over_the_limit,
    too_many_ids,
    retention_without_a_rule,
    retention_by_count_without_a_job,
}

/// A batch with these writes and a good one is invalid, with and without a fence, and the good one is not
/// written.
async fn refused(store: Arc<dyn Store>, writes: &[Write]) {
    let mut batch = vec![Write::InsertRun(run(77))];
    batch.extend_from_slice(writes);
    let mut owner = Owner::of(&store, 0).await;
    let fenced = owner.batch(batch.clone());
    for transaction in [fenced, Transaction::unfenced(batch)] {
        invalid(store.commit(transaction).await);
        assert_eq!(read_run(&store, run_id(77)).await, None);
    }
    assert_eq!(store.leases().await.unwrap()[0].seq, 0, "a refused batch does not use up its seq");
}

async fn a_batch_of_10001(store: Arc<dyn Store>) {
    let count = limits::TRANSACTION_WRITES_MAX as u64 + 1;
    invalid(
        store.commit(Transaction::unfenced((0..count).map(|n| Write::InsertRun(run(n))).collect())).await,
    );
    assert_eq!(read_run(&store, run_id(0)).await, None);
}

async fn pages_over_the_limit(store: Arc<dyn Store>) {
    let limit = limits::PAGE_ROWS_MAX + 1;
    invalid(store.runs(RunQuery { limit, ..RunQuery::default() }).await);
    invalid(store.shelf(ShelfQuery { limit, ..shelf_query(0, Shelf::Waiting) }).await);
    invalid(store.jobs(None, None, limit).await);
    let counters =
        CounterQuery { namespace: None, job: None, from: hour(0), until: hour(1), after: None, limit };
    invalid(store.counters(counters).await);
    invalid(store.records(RecordQuery::all(RecordKind(1), limit)).await);
    invalid(store.all_nodes(None, limit).await);
    invalid(store.versions_of_job(job_id(1), None, limit).await);
}

async fn removals_under_a_fence(store: Arc<dyn Store>) {
    let (job, node) = (job_id(1), node_id(1));
    for removal in [
        remove_record("k", 1),
        Write::RemoveJob { id: job, expected: 1 },
        Write::RemoveNode { id: node, expected: 1 },
    ] {
        let mut owner = Owner::of(&store, 0).await;
        invalid(owner.try_commit(vec![Write::InsertRun(run(77)), removal]).await);
        assert_eq!(read_run(&store, run_id(77)).await, None);
    }
}

async fn an_all_or_nothing_batch_under_a_fence(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let batch = owner.batch(vec![Write::InsertRun(run(77))]);
    invalid(store.commit(Transaction { all_or_nothing: true, ..batch }).await);
    assert_eq!(read_run(&store, run_id(77)).await, None);
}

async fn too_many_ids(store: Arc<dyn Store>) {
    let count = limits::PAGE_ROWS_MAX as u64 + 1;
    invalid(store.runs_by_id(&(0..count).map(run_id).collect::<Vec<RunId>>()).await);
    invalid(store.job_versions(&(0..count).map(|n| (job_id(n), 1)).collect::<Vec<(JobId, u32)>>()).await);
}

async fn retention_without_a_rule(store: Arc<dyn Store>) {
    for job in [None, Some(job_id(1))] {
        invalid(store.retain(Retention { job, made_before: None, keep_newest: None }, 10).await);
    }
}

async fn retention_by_count_without_a_job(store: Arc<dyn Store>) {
    for made_before in [None, Some(at(5))] {
        invalid(store.retain(Retention { job: None, made_before, keep_newest: Some(1) }, 10).await);
    }
}

fn invalid<T: std::fmt::Debug>(answer: mainspring_store::Result<T>) {
    assert!(matches!(answer, Err(Error::Invalid(_))), "{answer:?}");
}

fn write_attempt(number: u32) -> Write {
    Write::InsertAttempt(Box::new(attempt(run_id(1), number)))
}

fn write_event(version: u64) -> Write {
    Write::InsertEvent(Box::new(event(run_id(1), version, 0)))
}

fn write_job(revision: u64) -> Write {
    Write::PutJob(Box::new(mainspring_model::Job { revision, ..job(1) }))
}

fn long_name() -> Write {
    let name = "n".repeat(limits::NAME_BYTES_MAX + 1).into();
    Write::PutJob(Box::new(mainspring_model::Job { name, ..job(1) }))
}

fn write_version() -> Write {
    Write::InsertJobVersion(Box::new(job_version(1, 1)))
}

fn write_node(revision: u64) -> Write {
    Write::PutNode(Box::new(mainspring_model::Node { revision, ..node(1) }))
}

fn add_counts() -> Write {
    Write::AddCounts(Box::new((counter_key(1, 1), Counts::default())))
}

fn version_jump(expected: u64, version: u64) -> Write {
    let mut status = run(1).status;
    status.version = version;
    Write::UpdateRun(RunUpdate { id: run_id(1), expected, status })
}

fn placed(state: RunState, place: bool) -> Run {
    run_with(1, |_, status| {
        status.state = state;
        status.place = place.then_some(Place { shelf: Shelf::Waiting, rank: 0 });
    })
}

fn keyed(bytes: usize) -> Run {
    run_with(1, |head, _| head.idempotency_key = Some("k".repeat(bytes).into()))
}

fn with_params(bytes: usize) -> Run {
    run_with(1, |head, _| head.params = vec![7; bytes].into())
}

fn with_result(bytes: usize) -> Run {
    run_with(1, |_, status| status.extra_mut().result = Some(vec![7; bytes].into()))
}
