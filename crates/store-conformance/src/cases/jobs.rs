//! Jobs and their versions: inserted under revision 1, replaced by compare-and-set, paged by id.

use std::sync::Arc;

use mainspring_model::{Job, JobVersion, Run};
use mainspring_store::{Conflict, Outcome, Store, Write};

use crate::case::cases;
use crate::fixture::{
    APPLIED, at, commit, ended, exists, full_job, job, job_id, job_version, missing, namespace, pause, put,
    spec, stale,
};

cases! { "jobs":
    a_job_is_kept_with_every_field,
    an_absent_job_is_absent,
    a_job_is_replaced_by_the_next_revision,
    an_id_that_exists_conflicts,
    a_missing_job_is_missing,
    an_older_revision_conflicts_and_names_the_row,
    a_newer_revision_conflicts_and_names_the_row,
    the_same_replacement_twice_is_applied_once,
    a_pause_comes_and_goes,
    pages_are_ordered_by_id,
    pages_say_whether_more_follow,
    pages_hold_a_namespace_and_all_below,
    a_namespace_is_no_pattern,
    pages_by_name_are_ordered_by_namespace_and_name,
    pages_by_name_hold_a_namespace_and_all_below,
    a_version_is_kept,
    a_version_that_exists_stays,
    versions_are_read_by_key,
    a_job_and_its_version_share_a_batch,
    the_versions_of_a_job_come_newest_first,
    the_versions_of_a_job_come_in_pages,
    jobs_with_runs_are_listed_once_whether_or_not_they_have_a_row,
    more_jobs_with_runs_than_a_statement_finds,
}

async fn a_job_is_kept_with_every_field(store: Arc<dyn Store>) {
    let full = full_job();
    put(&store, vec![insert(full.clone())]).await;
    assert_eq!(store.job(full.id).await.unwrap().as_ref(), Some(&full));
    assert_eq!(store.job_by_name(&full.namespace, &full.name).await.unwrap(), Some(full));
}

async fn an_absent_job_is_absent(store: Arc<dyn Store>) {
    assert_eq!(store.job(job_id(1)).await.unwrap(), None);
    assert_eq!(store.job_by_name(&namespace("acme"), "job-1").await.unwrap(), None);
    assert_eq!(store.jobs(None, None, 10).await.unwrap().rows, []);
}

async fn a_job_is_replaced_by_the_next_revision(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1))]).await;
    let second = Job { current_version: 9, updated_at: at(99), ..revised(job(1), 2) };
    put(&store, vec![insert(second.clone())]).await;
    assert_eq!(store.job(job_id(1)).await.unwrap(), Some(second));
}

async fn an_id_that_exists_conflicts(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1))]).await;
    let other = Job { name: "other".into(), ..job(1) };
    assert_eq!(commit(&store, vec![insert(other)]).await, [exists()]);
    assert_eq!(store.job(job_id(1)).await.unwrap(), Some(job(1)));
    assert_eq!(store.job_by_name(&namespace("acme"), "other").await.unwrap(), None);
}

async fn a_missing_job_is_missing(store: Arc<dyn Store>) {
    assert_eq!(commit(&store, vec![insert(revised(job(1), 2))]).await, [missing()]);
    assert_eq!(store.job(job_id(1)).await.unwrap(), None);
}

async fn an_older_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    for revision in 1..=3 {
        put(&store, vec![insert(revised(job(1), revision))]).await;
    }
    assert_eq!(commit(&store, vec![insert(revised(job(1), 2))]).await, [stale(3)]);
    assert_eq!(commit(&store, vec![insert(revised(job(1), 3))]).await, [stale(3)]);
}

async fn a_newer_revision_conflicts_and_names_the_row(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1))]).await;
    assert_eq!(commit(&store, vec![insert(revised(job(1), 3))]).await, [stale(1)]);
    assert_eq!(store.job(job_id(1)).await.unwrap(), Some(job(1)));
}

async fn the_same_replacement_twice_is_applied_once(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1))]).await;
    for expected in [APPLIED, stale(2), stale(2)] {
        assert_eq!(commit(&store, vec![insert(revised(job(1), 2))]).await, [expected]);
    }
}

async fn a_pause_comes_and_goes(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1))]).await;
    for (revision, note) in [(2, Some("wait")), (3, Some("")), (4, None)] {
        let row = Job { pause: note.map(pause), ..revised(job(1), revision) };
        put(&store, vec![insert(row.clone())]).await;
        assert_eq!(store.job(job_id(1)).await.unwrap(), Some(row));
    }
}

async fn pages_are_ordered_by_id(store: Arc<dyn Store>) {
    put(&store, [5, 1, 4, 2, 3].map(|n| insert(job(n))).to_vec()).await;
    assert_eq!(page(&store, None, None, 10).await, (vec![1, 2, 3, 4, 5], false));
    assert_eq!(page(&store, None, Some(2), 10).await, (vec![3, 4, 5], false));
    assert_eq!(page(&store, None, Some(5), 10).await, (vec![], false));
}

async fn pages_say_whether_more_follow(store: Arc<dyn Store>) {
    put(&store, (1..=5).map(|n| insert(job(n))).collect()).await;
    assert_eq!(page(&store, None, None, 2).await, (vec![1, 2], true));
    assert_eq!(page(&store, None, Some(2), 3).await, (vec![3, 4, 5], false));
    assert_eq!(page(&store, None, Some(2), 2).await, (vec![3, 4], true));
}

async fn pages_hold_a_namespace_and_all_below(store: Arc<dyn Store>) {
    let spaces = ["acme", "acme/data", "acme2", "acme/data/etl", "beta/acme", "acme-x", "acme.x"];
    put(&store, (1..).zip(spaces).map(|(n, space)| insert(job_in(n, space))).collect()).await;
    assert_eq!(page(&store, Some("acme"), None, 10).await, (vec![1, 2, 4], false));
    assert_eq!(page(&store, Some("acme/data"), None, 10).await, (vec![2, 4], false));
    assert_eq!(page(&store, Some("acme"), Some(1), 1).await, (vec![2], true));
    assert_eq!(page(&store, Some("acme/data/etl/x"), None, 10).await, (vec![], false));
}

async fn a_namespace_is_no_pattern(store: Arc<dyn Store>) {
    put(&store, vec![insert(job_in(1, "a_b/c")), insert(job_in(2, "axb/c")), insert(job_in(3, "a_b"))]).await;
    assert_eq!(page(&store, Some("a_b"), None, 10).await, (vec![1, 3], false));
}

async fn pages_by_name_are_ordered_by_namespace_and_name(store: Arc<dyn Store>) {
    let rows = [("b", "a"), ("a", "z"), ("a/b", "A"), ("a", "B"), ("a-b", "b"), ("a", "a"), ("a", "a2")];
    put(&store, (1..).zip(rows).map(|(n, (space, name))| insert(named(n, space, name))).collect()).await;
    let order = vec![4, 6, 7, 2, 5, 3, 1];
    assert_eq!(by_name(&store, None, None, 10).await, (order.clone(), false));
    let mut walked = Vec::new();
    let mut after = None;
    loop {
        let page = store.jobs_by_name(None, after, 2).await.unwrap();
        walked.extend(page.rows.iter().map(number));
        after = page.rows.last().map(|job| (job.namespace.clone(), job.name.clone()));
        if !page.more {
            break;
        }
    }
    assert_eq!(walked, order);
    let gone = Some(("a", "a1"));
    assert_eq!(by_name(&store, None, gone, 2).await, (vec![7, 2], true), "a place need not be taken");
}

async fn pages_by_name_hold_a_namespace_and_all_below(store: Arc<dyn Store>) {
    let spaces = ["acme/data", "acme2", "acme", "acme/data/etl", "beta/acme", "acme-x", "acme.x"];
    put(&store, (1..).zip(spaces).map(|(n, space)| insert(job_in(n, space))).collect()).await;
    assert_eq!(by_name(&store, Some("acme"), None, 10).await, (vec![3, 1, 4], false));
    assert_eq!(by_name(&store, Some("acme"), Some(("acme", "job-3")), 1).await, (vec![1], true));
    assert_eq!(by_name(&store, Some("acme/data"), Some(("acme", "x")), 9).await, (vec![1, 4], false));
}

async fn a_version_is_kept(store: Arc<dyn Store>) {
    let mut spec = spec("nightly");
    spec.description = Some("line\nwith \"quotes\" and 数据".into());
    spec.labels.insert("team", "data").unwrap();
    let row = JobVersion { spec: Arc::new(spec), ..job_version(1, 1) };
    put(&store, vec![insert_version(row.clone())]).await;
    assert_eq!(store.job_versions(&[(job_id(1), 1)]).await.unwrap(), [row]);
}

async fn a_version_that_exists_stays(store: Arc<dyn Store>) {
    put(&store, vec![insert_version(job_version(1, 1))]).await;
    let other = JobVersion { created_by: "another".into(), ..job_version(1, 1) };
    let batch = vec![insert_version(other), insert_version(job_version(1, 2))];
    assert_eq!(commit(&store, batch).await, [exists(), APPLIED]);
    assert_eq!(store.job_versions(&[(job_id(1), 1)]).await.unwrap(), [job_version(1, 1)]);
}

async fn versions_are_read_by_key(store: Arc<dyn Store>) {
    let keys = [(1, 1), (1, 2), (2, 1), (2, u32::MAX)];
    put(&store, keys.map(|(job, version)| insert_version(job_version(job, version))).to_vec()).await;
    let asked = [(job_id(2), u32::MAX), (job_id(1), 2), (job_id(1), 3), (job_id(9), 1), (job_id(1), 2)];
    let mut read = store.job_versions(&asked).await.unwrap();
    read.sort_by_key(|row| (row.job, row.version));
    assert_eq!(read, [job_version(1, 2), job_version(2, u32::MAX)]);
    assert_eq!(store.job_versions(&[]).await.unwrap(), []);
}

async fn a_job_and_its_version_share_a_batch(store: Arc<dyn Store>) {
    put(&store, vec![insert(job(1)), insert_version(job_version(1, 1))]).await;
    let second = Job { current_version: 2, ..revised(job(1), 3) };
    let batch = vec![insert(second), insert_version(job_version(1, 2))];
    assert_eq!(commit(&store, batch).await, [Outcome::Conflict(Conflict::Version(1)), APPLIED]);
}

async fn the_versions_of_a_job_come_newest_first(store: Arc<dyn Store>) {
    let keys = [(1, 2), (1, u32::MAX), (1, 1), (2, 7), (0, 9), (1, 300)];
    put(&store, keys.map(|(job, version)| insert_version(job_version(job, version))).to_vec()).await;
    let page = store.versions_of_job(job_id(1), None, 10).await.unwrap();
    assert_eq!(page.rows, [u32::MAX, 300, 2, 1].map(|version| job_version(1, version)));
    assert_eq!(store.versions_of_job(job_id(3), None, 10).await.unwrap().rows, []);
}

async fn the_versions_of_a_job_come_in_pages(store: Arc<dyn Store>) {
    put(&store, (1..=5).map(|version| insert_version(job_version(1, version))).collect()).await;
    for (after, limit, found, more) in [
        (None, 2, &[5, 4][..], true),
        (Some(4), 2, &[3, 2], true),
        (Some(2), 2, &[1], false),
        (Some(1), 2, &[], false),
        (Some(99), 5, &[5, 4, 3, 2, 1], false),
        (None, 0, &[], true),
    ] {
        let page = store.versions_of_job(job_id(1), after, limit).await.unwrap();
        let versions: Vec<u32> = page.rows.iter().map(|row| row.version).collect();
        assert_eq!((versions.as_slice(), page.more), (found, more), "{after:?} {limit}");
    }
}

async fn page(
    store: &Arc<dyn Store>,
    space: Option<&str>,
    after: Option<u64>,
    limit: usize,
) -> (Vec<u64>, bool) {
    let page = store.jobs(space.map(namespace).as_ref(), after.map(job_id), limit).await.unwrap();
    (page.rows.iter().map(number).collect(), page.more)
}

async fn by_name(
    store: &Arc<dyn Store>,
    space: Option<&str>,
    after: Option<(&str, &str)>,
    limit: usize,
) -> (Vec<u64>, bool) {
    let after = after.map(|(space, name)| (namespace(space), name.into()));
    let page = store.jobs_by_name(space.map(namespace).as_ref(), after, limit).await.unwrap();
    (page.rows.iter().map(number).collect(), page.more)
}

fn number(job: &Job) -> u64 {
    (0..100).find(|n| job_id(*n) == job.id).unwrap()
}

fn named(n: u64, space: &str, name: &str) -> Job {
    Job { namespace: namespace(space), name: name.into(), ..job(n) }
}

fn revised(job: Job, revision: u64) -> Job {
    Job { revision, ..job }
}

fn job_in(n: u64, space: &str) -> Job {
    Job { namespace: namespace(space), ..job(n) }
}

fn insert(job: Job) -> Write {
    Write::PutJob(Box::new(job))
}

fn insert_version(version: JobVersion) -> Write {
    Write::InsertJobVersion(Box::new(version))
}

async fn jobs_with_runs_are_listed_once_whether_or_not_they_have_a_row(store: Arc<dyn Store>) {
    assert_eq!(store.jobs_with_runs(None, 10).await.unwrap().rows, []);
    put(&store, vec![insert(job(2)), insert(job(9))]).await;
    put(&store, (0..12).map(|n| Write::InsertRun(of_job(n, n % 4))).collect()).await;
    let all = store.jobs_with_runs(None, 10).await.unwrap();
    assert_eq!((all.rows, all.more), ((0..4).map(job_id).collect(), false));
    let first = store.jobs_with_runs(None, 3).await.unwrap();
    assert_eq!((first.rows, first.more), ((0..3).map(job_id).collect(), true));
    let last = store.jobs_with_runs(Some(job_id(2)), 3).await.unwrap();
    assert_eq!((last.rows, last.more), (vec![job_id(3)], false));
    assert_eq!(store.jobs_with_runs(Some(job_id(3)), 3).await.unwrap().rows, []);
}

async fn more_jobs_with_runs_than_a_statement_finds(store: Arc<dyn Store>) {
    put(&store, (0..1001).map(|n| Write::InsertRun(of_job(n, n))).collect()).await;
    let page = store.jobs_with_runs(None, 1000).await.unwrap();
    assert_eq!((page.rows, page.more), ((0..1000).map(job_id).collect(), true));
}

/// An ended run of a job.
fn of_job(n: u64, job: u64) -> Run {
    let mut run = ended(n);
    Arc::make_mut(&mut run.head).job = job_id(job);
    run
}
