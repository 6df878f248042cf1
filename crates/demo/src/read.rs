//! What the engine asks of the store in virtual time: active work, and what jobs say.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_app::{CalendarShelf, LastSuccesses};
use mainspring_engine::{LoadedRun, ShelfRead, SpecRead};
use mainspring_model::{Job, JobId, JobSpec, Run};
use mainspring_store::{Result, ShelfQuery, Store, Versions};

type Specs = BTreeMap<(JobId, u32), Arc<JobSpec>>;

/// A page of active work, with what it pins.
pub(crate) async fn shelf(store: &dyn Store, query: ShelfQuery) -> Result<ShelfRead> {
    let page = store.shelf(query.clone()).await?;
    let keys: Vec<_> = page.rows.iter().map(|run| (run.head.job, run.head.job_version)).collect();
    let (specs, jobs) = (versions(store, &keys).await?, jobs(store, &keys).await?);
    let load = |run: Run| LoadedRun {
        spec: specs.get(&(run.head.job, run.head.job_version)).cloned(),
        pause: jobs.get(&run.head.job).and_then(Job::job_pause),
        run,
    };
    Ok(ShelfRead { query, rows: page.rows.into_iter().map(load).collect(), more: page.more })
}

/// What these versions of jobs say, and what their triggers heed.
pub(crate) async fn specs(store: &dyn Store, keys: &[(JobId, u32)]) -> Result<Vec<SpecRead>> {
    let (specs, jobs) = (versions(store, keys).await?, jobs(store, keys).await?);
    let needy = keys.iter().filter_map(|key| Some((&jobs.get(&key.0)?.namespace, &**specs.get(key)?)));
    let last = LastSuccesses::read(store, needy).await?;
    let (mut calendars, mut read) = (CalendarShelf::default(), Vec::with_capacity(keys.len()));
    for key in keys {
        let mut one = SpecRead {
            job: key.0,
            version: key.1,
            spec: specs.get(key).cloned(),
            pause: jobs.get(&key.0).and_then(Job::job_pause),
            calendars: Default::default(),
            successes: Vec::new(),
        };
        if let (Some(spec), Some(job)) = (&one.spec, jobs.get(&key.0)) {
            one.calendars = calendars.of_job(store, &job.namespace, spec).await?;
            one.successes = last.of_job(&job.namespace, spec);
        }
        read.push(one);
    }
    Ok(read)
}

async fn versions(store: &dyn Store, keys: &[(JobId, u32)]) -> Result<Specs> {
    let read = Versions::read(store, keys).await?.readable;
    Ok(read.into_iter().map(|version| ((version.job, version.version), version.spec)).collect())
}

async fn jobs(store: &dyn Store, keys: &[(JobId, u32)]) -> Result<BTreeMap<JobId, Job>> {
    let mut jobs = BTreeMap::new();
    for (id, _) in keys {
        jobs.extend(store.job(*id).await?.map(|job| (*id, job)));
    }
    Ok(jobs)
}
