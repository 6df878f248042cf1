//! Jobs that are removed: the name is free again, and what ran can still be explained.

use std::sync::Arc;

use mainspring_model::Job;
use mainspring_store::{Conflict, Outcome, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, commit, job, job_id, job_version, missing, namespace, put, read_run, run_id, run_with, stale,
};

cases! { "job_removal":
    a_job_is_removed_by_its_revision,
    another_revision_conflicts_and_names_the_row,
    a_missing_job_is_missing,
    the_name_is_free_again,
    a_name_freed_in_a_batch_may_be_taken_later_in_it,
    a_name_freed_in_a_batch_is_taken_before,
    versions_and_runs_stay,
    a_removed_job_may_come_again,
}

async fn a_job_is_removed_by_its_revision(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1)), put_job(job(2))]).await;
    put(&store, vec![put_job(Job { revision: 2, ..job(1) })]).await;
    put(&store, vec![remove(1, 2)]).await;
    assert_eq!(store.job(job_id(1)).await.unwrap(), None);
    assert_eq!(store.jobs(None, None, 10).await.unwrap().rows, [job(2)]);
}

async fn another_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    put(&store, vec![put_job(Job { revision: 2, ..job(1) })]).await;
    for expected in [0, 1, 3] {
        assert_eq!(commit(&store, vec![remove(1, expected)]).await, [stale(2)], "{expected}");
    }
    assert!(store.job(job_id(1)).await.unwrap().is_some());
}

async fn a_missing_job_is_missing(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    for expected in [APPLIED, missing()] {
        assert_eq!(commit(&store, vec![remove(1, 1)]).await, [expected]);
    }
}

async fn the_name_is_free_again(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    put(&store, vec![remove(1, 1)]).await;
    assert_eq!(store.job_by_name(&namespace("acme"), &job(1).name).await.unwrap(), None);
    let heir = Job { name: job(1).name, ..job(2) };
    put(&store, vec![put_job(heir.clone())]).await;
    assert_eq!(store.job_by_name(&namespace("acme"), &heir.name).await.unwrap(), Some(heir));
}

async fn a_name_freed_in_a_batch_may_be_taken_later_in_it(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    put(&store, vec![remove(1, 1), put_job(Job { name: job(1).name, ..job(2) })]).await;
}

async fn a_name_freed_in_a_batch_is_taken_before(store: Arc<dyn Store>) {
    put(&store, vec![put_job(job(1))]).await;
    let batch = vec![put_job(Job { name: job(1).name, ..job(2) }), remove(1, 1)];
    assert_eq!(commit(&store, batch).await, [Outcome::Conflict(Conflict::KeyTaken(None)), APPLIED]);
}

async fn versions_and_runs_stay(store: Arc<dyn Store>) {
    let run = run_with(7, |head, _| head.job = job_id(1));
    let version = Write::InsertJobVersion(Box::new(job_version(1, 1)));
    put(&store, vec![put_job(job(1)), version, Write::InsertRun(run.clone())]).await;
    put(&store, vec![remove(1, 1)]).await;
    assert_eq!(read_run(&store, run_id(7)).await, Some(run));
    assert_eq!(store.job_versions(&[(job_id(1), 1)]).await.unwrap(), [job_version(1, 1)]);
    assert_eq!(store.versions_of_job(job_id(1), None, 10).await.unwrap().rows.len(), 1);
}

async fn a_removed_job_may_come_again(store: Arc<dyn Store>) {
    for _ in 0..2 {
        put(&store, vec![put_job(job(1))]).await;
        put(&store, vec![remove(1, 1)]).await;
    }
}

fn remove(n: u64, expected: u64) -> Write {
    Write::RemoveJob { id: job_id(n), expected }
}

fn put_job(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}
