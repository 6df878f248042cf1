//! Names of jobs: unique in their namespace, compared byte by byte, free again after a rename.

use std::sync::Arc;

use mainspring_model::Job;
use mainspring_store::{Conflict, Outcome, Store, Write};

use crate::case::cases;
use crate::fixture::{APPLIED, commit, job, job_id, namespace, put};

cases! { "names":
    case => two_names("Job-A", "job-a"),
    trailing_space => two_names("job", "job "),
    accent => two_names("resume", "résumé"),
    composed_and_decomposed => two_names("\u{e9}", "e\u{301}"),
    nul_inside => two_names("a\0b", "ab"),
    nul_after => two_names("a", "a\0"),
    emoji => two_names("🚀", "🛸"),
    wildcards => two_names("a%", "a_"),
    the_last_of_128_bytes => two_names(&format!("{}a", "n".repeat(127)), &format!("{}b", "n".repeat(127))),
    a_taken_name_conflicts,
    a_name_belongs_to_its_namespace,
    of_two_jobs_with_one_name_in_a_batch_the_first_has_it,
    a_rename_frees_the_old_name,
    a_rename_onto_a_taken_name_conflicts,
    a_name_freed_in_a_batch_may_be_taken_later_in_it,
    a_name_freed_in_a_batch_is_taken_before,
    a_move_to_another_namespace_frees_the_name,
    an_older_revision_weighs_more_than_a_taken_name,
}

async fn two_names(store: Arc<dyn Store>, one: &str, other: &str) {
    put(&store, vec![named(1, one)]).await;
    put(&store, vec![named(2, other)]).await;
    for (n, name) in [(1, one), (2, other)] {
        assert_eq!(holder(&store, name).await, Some(n), "{name:?}");
        assert_eq!(commit(&store, vec![named(3, name)]).await, [taken()]);
    }
}

async fn a_taken_name_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x")]).await;
    assert_eq!(commit(&store, vec![named(2, "x")]).await, [taken()]);
    assert_eq!(store.job(job_id(2)).await.unwrap(), None);
}

async fn a_name_belongs_to_its_namespace(store: Arc<dyn Store>) {
    for (n, space) in (1..).zip(["acme", "acme2", "acme/data"]) {
        put(&store, vec![put_job(Job { namespace: namespace(space), name: "x".into(), ..job(n) })]).await;
    }
    let found = store.job_by_name(&namespace("acme2"), "x").await.unwrap();
    assert_eq!(found.map(|job| job.id), Some(job_id(2)));
    assert_eq!(store.job_by_name(&namespace("acme/data/etl"), "x").await.unwrap(), None);
}

async fn of_two_jobs_with_one_name_in_a_batch_the_first_has_it(store: Arc<dyn Store>) {
    assert_eq!(commit(&store, vec![named(9, "x"), named(3, "x")]).await, [APPLIED, taken()]);
    assert_eq!(holder(&store, "x").await, Some(9));
}

async fn a_rename_frees_the_old_name(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x")]).await;
    put(&store, vec![renamed(1, 2, "y")]).await;
    assert_eq!((holder(&store, "x").await, holder(&store, "y").await), (None, Some(1)));
    put(&store, vec![named(2, "x")]).await;
}

async fn a_rename_onto_a_taken_name_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x"), named(2, "y")]).await;
    assert_eq!(commit(&store, vec![renamed(2, 2, "x")]).await, [taken()]);
    assert_eq!((holder(&store, "x").await, holder(&store, "y").await), (Some(1), Some(2)));
    assert_eq!(store.job(job_id(2)).await.unwrap().unwrap().revision, 1);
}

async fn a_name_freed_in_a_batch_may_be_taken_later_in_it(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x")]).await;
    put(&store, vec![renamed(1, 2, "y"), named(2, "x")]).await;
    assert_eq!((holder(&store, "x").await, holder(&store, "y").await), (Some(2), Some(1)));
}

async fn a_name_freed_in_a_batch_is_taken_before(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x")]).await;
    assert_eq!(commit(&store, vec![named(2, "x"), renamed(1, 2, "y")]).await, [taken(), APPLIED]);
    assert_eq!((holder(&store, "x").await, holder(&store, "y").await), (None, Some(1)));
}

async fn a_move_to_another_namespace_frees_the_name(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x")]).await;
    let moved = Job { namespace: namespace("beta"), name: "x".into(), revision: 2, ..job(1) };
    put(&store, vec![put_job(moved)]).await;
    assert_eq!(holder(&store, "x").await, None);
    put(&store, vec![named(2, "x")]).await;
}

async fn an_older_revision_weighs_more_than_a_taken_name(store: Arc<dyn Store>) {
    put(&store, vec![named(1, "x"), named(2, "y")]).await;
    put(&store, vec![renamed(2, 2, "z")]).await;
    let outcomes = commit(&store, vec![renamed(2, 2, "x")]).await;
    assert_eq!(outcomes, [Outcome::Conflict(Conflict::Version(2))]);
}

async fn holder(store: &Arc<dyn Store>, name: &str) -> Option<u64> {
    let found = store.job_by_name(&namespace("acme"), name).await.unwrap()?;
    assert_eq!(&*found.name, name);
    (0..100).find(|n| job_id(*n) == found.id)
}

fn named(n: u64, name: &str) -> Write {
    renamed(n, 1, name)
}

fn renamed(n: u64, revision: u64, name: &str) -> Write {
    put_job(Job { name: name.into(), revision, ..job(n) })
}

fn put_job(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}

fn taken() -> Outcome {
    Outcome::Conflict(Conflict::KeyTaken(None))
}
