//! A fenced batch that is sent twice is written once and answers the same, conflicts included (I13).

use std::sync::Arc;

use mainspring_model::{CellId, Counts, Epoch, Job, Node, NodeState, Run, RunState, Timestamp};
use mainspring_store::{Conflict, CounterQuery, Outcome, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, Owner, at, attempt, counter_key, event, exists, job, job_version, key_taken, missing, next,
    node, pause, put, put_record, read_run, record, run, run_id, run_with, shelf, stale, update,
};

cases! { "replay":
    of_inserts,
    of_an_insert_that_conflicted,
    of_an_insert_whose_key_was_taken,
    of_two_inserts_with_one_key,
    of_updates,
    of_an_update_that_conflicted,
    of_an_update_after_the_owners_own_of_the_same_version,
    of_an_update_that_found_nothing,
    of_attempts_and_events,
    of_jobs_and_their_versions,
    of_jobs_that_conflicted,
    of_nodes,
    of_counts_does_not_double,
    of_a_pause,
    of_an_empty_batch,
    of_a_batch_of_1000_with_a_conflict_in_the_middle,
    many_times,
    after_a_renewal,
    of_the_batch_before_the_last_is_invalid,
    goes_on_with_the_next_batch,
    of_every_kind_of_write_at_once,
}

/// Sends the batch three times: each time the answer is the expected one, and the seq moves once.
async fn thrice(store: &Arc<dyn Store>, owner: &mut Owner, writes: Vec<Write>, expected: &[Outcome]) {
    let batch = owner.batch(writes);
    for time in 1..=3 {
        assert_eq!(store.commit(batch.clone()).await.unwrap(), expected, "time {time}");
        assert_eq!(store.leases().await.unwrap()[0].seq, owner.fence.seq, "time {time}");
    }
}

async fn of_inserts(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let rows = [mine(&owner, 1), mine(&owner, 2)];
    let writes = rows.clone().map(Write::InsertRun).to_vec();
    thrice(&store, &mut owner, writes, &[APPLIED, APPLIED]).await;
    for row in rows {
        assert_eq!(read_run(&store, row.head.id).await, Some(row));
    }
}

async fn of_an_insert_that_conflicted(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let writes = vec![Write::InsertRun(mine(&owner, 1)), Write::InsertRun(mine(&owner, 2))];
    thrice(&store, &mut owner, writes, &[exists(), APPLIED]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
}

async fn of_an_insert_whose_key_was_taken(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(keyed(run(1)))]).await;
    let writes = vec![Write::InsertRun(keyed(mine(&owner, 2))), Write::InsertRun(mine(&owner, 3))];
    thrice(&store, &mut owner, writes, &[key_taken(run_id(1)), APPLIED]).await;
    assert_eq!(read_run(&store, run_id(2)).await, None);
}

async fn of_two_inserts_with_one_key(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let writes = vec![Write::InsertRun(keyed(mine(&owner, 2))), Write::InsertRun(keyed(mine(&owner, 1)))];
    thrice(&store, &mut owner, writes, &[APPLIED, key_taken(run_id(2))]).await;
}

async fn of_updates(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1)), Write::InsertRun(run(2))]).await;
    let rows = [1, 2].map(|n| next(&run(n), |status| status.epoch = owner.fence.epoch));
    thrice(&store, &mut owner, rows.each_ref().map(update).to_vec(), &[APPLIED, APPLIED]).await;
    for row in rows {
        assert_eq!(read_run(&store, row.head.id).await, Some(row));
    }
}

async fn of_an_update_that_conflicted(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    put(&store, vec![update(&next(&run(1), |_| {}))]).await;
    let late = next(&run(1), |status| (status.epoch, status.losses) = (owner.fence.epoch, 7));
    thrice(&store, &mut owner, vec![update(&late)], &[stale(2)]).await;
    assert_eq!(read_run(&store, run_id(1)).await.unwrap().status.losses, 0);
}

/// An owner acts on a row that it read before its own last write: the conflict stays one, however often it
/// is sent.
async fn of_an_update_after_the_owners_own_of_the_same_version(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let epoch = owner.fence.epoch;
    let over = next(&run(1), |status| {
        (status.epoch, status.state, status.place) = (epoch, RunState::Cancelled, None);
    });
    assert_eq!(owner.commit(vec![update(&over)]).await, [APPLIED]);
    let late = next(&run(1), |status| (status.epoch, status.state) = (epoch, RunState::Waiting));
    thrice(&store, &mut owner, vec![update(&late)], &[stale(2)]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(over));
}

async fn of_an_update_that_found_nothing(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let row = next(&run(1), |status| status.epoch = owner.fence.epoch);
    thrice(&store, &mut owner, vec![update(&row)], &[missing()]).await;
    assert_eq!(read_run(&store, run_id(1)).await, None);
}

async fn of_attempts_and_events(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let writes = vec![
        Write::InsertAttempt(Box::new(attempt(run_id(1), 1))),
        Write::InsertEvent(Box::new(event(run_id(1), 2, 0))),
    ];
    thrice(&store, &mut owner, writes, &[APPLIED, APPLIED]).await;
    assert_eq!(store.attempts(run_id(1)).await.unwrap().len(), 1);
    assert_eq!(store.events(run_id(1)).await.unwrap().len(), 1);
}

async fn of_jobs_and_their_versions(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![put_job(job(1))]).await;
    let second = Job { revision: 2, current_version: 2, ..job(1) };
    let writes =
        vec![put_job(second.clone()), put_job(job(2)), Write::InsertJobVersion(Box::new(job_version(1, 2)))];
    thrice(&store, &mut owner, writes, &[APPLIED, APPLIED, APPLIED]).await;
    assert_eq!(store.job(job(1).id).await.unwrap(), Some(second));
}

async fn of_jobs_that_conflicted(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![put_job(job(1)), put_job(job(2)), put_job(job(3))]).await;
    put(&store, vec![put_job(Job { revision: 2, updated_at: at(5), ..job(2) })]).await;
    let taken = Outcome::Conflict(Conflict::KeyTaken(None));
    let writes = vec![
        put_job(Job { current_version: 9, ..job(1) }),
        // Another wrote the same revision with other words: that is no sign of this batch.
        put_job(Job { revision: 2, updated_at: at(6), ..job(2) }),
        put_job(Job { revision: 2, name: job(1).name, ..job(3) }),
        put_job(Job { name: job(1).name, ..job(4) }),
        put_job(Job { revision: 2, ..job(5) }),
    ];
    thrice(&store, &mut owner, writes, &[exists(), stale(2), taken.clone(), taken, missing()]).await;
}

async fn of_nodes(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![put_node(node(1)), put_node(node(2))]).await;
    let writes = vec![
        put_node(Node { revision: 2, state: NodeState::Lost, ..node(1) }),
        put_node(Node { slots: 99, ..node(2) }),
        put_node(node(3)),
        put_node(Node { revision: 7, ..node(4) }),
    ];
    thrice(&store, &mut owner, writes, &[APPLIED, exists(), APPLIED, missing()]).await;
    assert_eq!(store.nodes(CellId(0)).await.unwrap().len(), 3);
}

async fn of_counts_does_not_double(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let one = Counts { success: 1, running_us: 10, ..Counts::default() };
    let add = |job| Write::AddCounts(Box::new((counter_key(job, 1), one)));
    thrice(&store, &mut owner, vec![add(1), add(2)], &[APPLIED, APPLIED]).await;
    assert_eq!(counts(&store).await, [one, one]);
}

async fn of_a_pause(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    thrice(&store, &mut owner, vec![Write::PauseCell(Some(Box::new(pause("p"))))], &[APPLIED]).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), Some(pause("p")));
    thrice(&store, &mut owner, vec![Write::PauseCell(None)], &[APPLIED]).await;
    assert_eq!(store.cell_pause(CellId(0)).await.unwrap(), None);
}

async fn of_an_empty_batch(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    thrice(&store, &mut owner, vec![], &[]).await;
}

async fn of_a_batch_of_1000_with_a_conflict_in_the_middle(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(500))]).await;
    let writes = (0..1000).map(|n| Write::InsertRun(mine(&owner, n))).collect();
    let mut expected = vec![APPLIED; 1000];
    expected[500] = exists();
    thrice(&store, &mut owner, writes, &expected).await;
}

async fn many_times(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    for n in 1..=4 {
        let writes = vec![Write::InsertRun(mine(&owner, n))];
        thrice(&store, &mut owner, writes, &[APPLIED]).await;
    }
    assert_eq!(shelf(&store, 0, mainspring_model::Shelf::Arrived).await.len(), 4);
}

async fn after_a_renewal(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let batch = owner.batch(vec![Write::InsertRun(mine(&owner, 1))]);
    store.commit(batch.clone()).await.unwrap();
    assert!(
        store.renew_lease(CellId(0), owner.member, owner.fence.epoch, at(99_999)).await.unwrap().is_some()
    );
    assert_eq!(store.commit(batch).await.unwrap(), [APPLIED]);
}

async fn of_the_batch_before_the_last_is_invalid(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let first = owner.batch(vec![Write::InsertRun(mine(&owner, 1))]);
    store.commit(first.clone()).await.unwrap();
    owner.put(vec![Write::InsertRun(mine(&owner, 2))]).await;
    let answer = store.commit(first).await;
    assert!(matches!(answer, Err(mainspring_store::Error::Invalid(_))), "{answer:?}");
}

async fn goes_on_with_the_next_batch(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    let first = mine(&owner, 1);
    thrice(&store, &mut owner, vec![Write::InsertRun(first.clone())], &[APPLIED]).await;
    let over = next(&first, |status| (status.state, status.place) = (RunState::Success, None));
    thrice(&store, &mut owner, vec![update(&over)], &[APPLIED]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(over));
}

async fn of_every_kind_of_write_at_once(store: Arc<dyn Store>) {
    let mut owner = Owner::of(&store, 0).await;
    put(&store, vec![Write::InsertRun(run(2))]).await;
    let one = Counts { success: 1, ..Counts::default() };
    let writes = vec![
        Write::InsertRun(mine(&owner, 1)),
        Write::InsertRun(mine(&owner, 2)),
        put_job(job(1)),
        Write::AddCounts(Box::new((counter_key(1, 1), one))),
        Write::InsertAttempt(Box::new(attempt(run_id(2), 1))),
        put_node(node(1)),
        Write::InsertEvent(Box::new(event(run_id(2), 2, 0))),
        Write::PauseCell(Some(Box::new(pause("p")))),
        Write::InsertJobVersion(Box::new(job_version(1, 1))),
        put_record(record("k", "x")),
    ];
    let mut expected = vec![APPLIED; 10];
    expected[1] = exists();
    thrice(&store, &mut owner, writes, &expected).await;
    assert_eq!(counts(&store).await, [one]);
}

async fn counts(store: &Arc<dyn Store>) -> Vec<Counts> {
    let query = CounterQuery {
        namespace: None,
        job: None,
        from: Timestamp::ZERO,
        until: Timestamp::MAX,
        after: None,
        limit: 10,
    };
    store.counters(query).await.unwrap().rows.into_iter().map(|(_, counts)| counts).collect()
}

/// A run as its owner writes it: under its own epoch.
fn mine(owner: &Owner, n: u64) -> Run {
    let epoch: Epoch = owner.fence.epoch;
    run_with(n, |_, status| status.epoch = epoch)
}

fn keyed(run: Run) -> Run {
    let mut head = (*run.head).clone();
    head.idempotency_key = Some("k".into());
    Run { head: Arc::new(head), status: run.status }
}

fn put_job(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}

fn put_node(node: Node) -> Write {
    Write::PutNode(Box::new(node))
}
