//! Inserting a run: it is there exactly as it was asked for, or the answer says what is there instead.

use std::sync::Arc;

use mainspring_model::{Place, Run, RunState, Shelf};
use mainspring_store::{Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, commit, ended, every_cause, every_reason, exists, full_extra, full_head, full_status, key_taken,
    namespace, put, read_run, run, run_id, run_with, shelf,
};

cases! { "insert_run":
    a_new_run_is_applied_and_read_back,
    every_field_is_kept,
    a_run_that_arrived_is_as_the_model_makes_it,
    an_absent_run_is_absent,
    a_run_may_be_inserted_placed,
    a_run_may_be_inserted_ended,
    an_id_that_exists_conflicts,
    an_id_that_exists_leaves_the_row_alone,
    an_id_that_exists_weighs_more_than_its_key,
    an_id_that_exists_does_not_take_its_new_key,
    a_taken_key_names_its_run,
    a_taken_key_is_taken_by_a_run_that_is_over,
    a_key_belongs_to_its_namespace,
    of_two_runs_with_one_key_in_a_batch_the_first_has_it,
    of_three_keys_in_a_batch_only_the_repeated_conflicts,
    every_state_is_kept,
    every_cause_is_kept,
    every_reason_is_kept,
    each_rare_part_is_kept_alone,
    the_same_insert_again_says_exists,
    runs_of_one_millisecond_are_told_apart,
}

async fn a_new_run_is_applied_and_read_back(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
}

async fn every_field_is_kept(store: Arc<dyn Store>) {
    let full = Run { head: Arc::new(full_head(1)), status: full_status() };
    put(&store, vec![Write::InsertRun(full.clone())]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(full.clone()));
    let key = full.head.idempotency_key.as_deref().unwrap();
    assert_eq!(store.run_by_key(&full.head.namespace, key).await.unwrap(), Some(full));
}

async fn a_run_that_arrived_is_as_the_model_makes_it(store: Arc<dyn Store>) {
    let run = run(4);
    put(&store, vec![Write::insert_arrived((*run.head).clone(), run.status.cell)]).await;
    assert_eq!(read_run(&store, run_id(4)).await, Some(run));
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, [run_id(4)]);
}

async fn an_absent_run_is_absent(store: Arc<dyn Store>) {
    assert_eq!(read_run(&store, run_id(1)).await, None);
    assert_eq!(store.run_by_key(&namespace("acme"), "k").await.unwrap(), None);
}

async fn a_run_may_be_inserted_placed(store: Arc<dyn Store>) {
    let placed = run_with(1, |_, status| {
        status.state = RunState::Running;
        status.place = Some(Place { shelf: Shelf::Flight, rank: 17 });
        status.attempt = 1;
    });
    put(&store, vec![Write::InsertRun(placed.clone())]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(placed));
    assert_eq!(shelf(&store, 0, Shelf::Flight).await, [run_id(1)]);
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, []);
}

async fn a_run_may_be_inserted_ended(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(ended(1))]).await;
    assert_eq!(read_run(&store, run_id(1)).await, Some(ended(1)));
    for place in Shelf::ALL {
        assert_eq!(shelf(&store, 0, place).await, [], "{place:?}");
    }
}

async fn an_id_that_exists_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(run(1))]).await, [exists()]);
}

async fn an_id_that_exists_leaves_the_row_alone(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    let other = Run { head: Arc::new(full_head(1)), status: full_status() };
    assert_eq!(commit(&store, vec![Write::InsertRun(other.clone())]).await, [exists()]);
    assert_eq!(read_run(&store, run_id(1)).await, Some(run(1)));
    assert_eq!(shelf(&store, 0, Shelf::Arrived).await, [run_id(1)]);
    assert_eq!(shelf(&store, other.status.cell.0, Shelf::Flight).await, []);
}

async fn an_id_that_exists_weighs_more_than_its_key(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(keyed(1, "k")), Write::InsertRun(run(2))]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(1, "k"))]).await, [exists()]);
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(2, "k"))]).await, [exists()]);
}

async fn an_id_that_exists_does_not_take_its_new_key(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(run(1))]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(1, "k"))]).await, [exists()]);
    assert_eq!(store.run_by_key(&namespace("acme"), "k").await.unwrap(), None);
    put(&store, vec![Write::InsertRun(keyed(2, "k"))]).await;
}

async fn a_taken_key_names_its_run(store: Arc<dyn Store>) {
    put(&store, vec![Write::InsertRun(keyed(7, "k"))]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(8, "k"))]).await, [key_taken(run_id(7))]);
    assert_eq!(read_run(&store, run_id(8)).await, None);
    assert_eq!(store.run_by_key(&namespace("acme"), "k").await.unwrap(), Some(keyed(7, "k")));
}

async fn a_taken_key_is_taken_by_a_run_that_is_over(store: Arc<dyn Store>) {
    let over = run_with(1, |head, status| {
        head.idempotency_key = Some("k".into());
        (status.state, status.place) = (RunState::Cancelled, None);
    });
    put(&store, vec![Write::InsertRun(over)]).await;
    assert_eq!(commit(&store, vec![Write::InsertRun(keyed(2, "k"))]).await, [key_taken(run_id(1))]);
}

async fn a_key_belongs_to_its_namespace(store: Arc<dyn Store>) {
    let spaces = ["acme", "acme2", "acme/data", "beta"];
    for (n, space) in spaces.iter().enumerate() {
        put(&store, vec![Write::InsertRun(keyed_in(n as u64, space, "k"))]).await;
    }
    for (n, space) in spaces.iter().enumerate() {
        let found = store.run_by_key(&namespace(space), "k").await.unwrap().unwrap();
        assert_eq!(found.head.id, run_id(n as u64), "{space}");
    }
    assert_eq!(store.run_by_key(&namespace("acme/data/etl"), "k").await.unwrap(), None);
}

async fn of_two_runs_with_one_key_in_a_batch_the_first_has_it(store: Arc<dyn Store>) {
    // The ids are against the order of the batch: it is the batch that counts.
    let batch = vec![Write::InsertRun(keyed(9, "k")), Write::InsertRun(keyed(3, "k"))];
    assert_eq!(commit(&store, batch).await, [APPLIED, key_taken(run_id(9))]);
    assert_eq!(read_run(&store, run_id(3)).await, None);
}

async fn of_three_keys_in_a_batch_only_the_repeated_conflicts(store: Arc<dyn Store>) {
    let batch =
        [(5, "a"), (4, "b"), (3, "a"), (2, "c")].map(|(n, key)| Write::InsertRun(keyed(n, key))).to_vec();
    assert_eq!(commit(&store, batch).await, [APPLIED, APPLIED, key_taken(run_id(5)), APPLIED]);
}

async fn every_state_is_kept(store: Arc<dyn Store>) {
    for (n, state) in RunState::ALL.into_iter().enumerate() {
        let row = run_with(n as u64, |_, status| {
            status.state = state;
            status.place = status.place.filter(|_| !state.is_terminal());
        });
        kept(&store, row).await;
    }
}

async fn every_cause_is_kept(store: Arc<dyn Store>) {
    for (n, cause) in every_cause().into_iter().enumerate() {
        kept(&store, run_with(n as u64, |_, status| status.cause = Some(cause))).await;
    }
}

async fn every_reason_is_kept(store: Arc<dyn Store>) {
    for (n, reason) in every_reason().into_iter().enumerate() {
        kept(&store, run_with(n as u64, |_, status| status.reason = Some(Box::new(reason)))).await;
    }
}

async fn each_rare_part_is_kept_alone(store: Arc<dyn Store>) {
    let full = full_extra();
    let set = |n, change: &dyn Fn(&mut mainspring_model::RunExtra)| {
        run_with(n, |_, status| change(status.extra_mut()))
    };
    let rows = [
        set(1, &|extra| extra.cancel = full.cancel.clone()),
        set(2, &|extra| extra.failed_nodes = full.failed_nodes.clone()),
        set(3, &|extra| extra.progress = full.progress.clone()),
        set(4, &|extra| extra.checkpoint = full.checkpoint.clone()),
        set(5, &|extra| extra.result = full.result.clone()),
        set(6, &|extra| extra.usage = full.usage),
        set(7, &|extra| extra.maybe_doubled = true),
        set(8, &|extra| extra.hops = 1),
        set(9, &|extra| extra.result = Some(Arc::from([]))),
    ];
    for row in rows {
        kept(&store, row).await;
    }
}

async fn the_same_insert_again_says_exists(store: Arc<dyn Store>) {
    // How a sender of an insert without a fence learns that its lost answer was "applied".
    for expected in [APPLIED, exists(), exists()] {
        assert_eq!(commit(&store, vec![Write::InsertRun(keyed(1, "k"))]).await, [expected]);
    }
}

async fn runs_of_one_millisecond_are_told_apart(store: Arc<dyn Store>) {
    let twin =
        |random| run_with(1, |head, _| head.id = mainspring_model::RunId::new(head.created_at, random));
    put(&store, (0..50).map(|n| Write::InsertRun(twin(n))).collect()).await;
    for n in 0..50 {
        assert_eq!(read_run(&store, twin(n).head.id).await, Some(twin(n)));
    }
}

async fn kept(store: &Arc<dyn Store>, row: Run) {
    put(store, vec![Write::InsertRun(row.clone())]).await;
    assert_eq!(read_run(store, row.head.id).await, Some(row));
}

fn keyed(n: u64, key: &str) -> Run {
    keyed_in(n, "acme", key)
}

fn keyed_in(n: u64, space: &str, key: &str) -> Run {
    run_with(n, |head, _| {
        head.namespace = namespace(space);
        head.idempotency_key = Some(key.into());
    })
}
