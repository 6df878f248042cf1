//! When the jobs that triggers need last succeeded.

use std::collections::BTreeMap;

use mainspring_engine::Success;
use mainspring_model::{JobSpec, Name, Namespace, Run, RunState, Timestamp};
use mainspring_store::{Result, RunQuery, Store};

/// Of the newest so many runs of a job, the last success counts.
const LOOKED_AT_MAX: usize = 500;
const PAGE_ROWS: usize = 50;

/// Last successes that are read together: those of each job once.
#[derive(Debug, Default)]
pub struct LastSuccesses(BTreeMap<(Namespace, Name), Option<Timestamp>>);

impl LastSuccesses {
    /// The last successes of the jobs that the triggers of a job need.
    pub async fn of_job(
        &mut self,
        store: &dyn Store,
        namespace: &Namespace,
        spec: &JobSpec,
    ) -> Result<Vec<Success>> {
        let mut found = Vec::new();
        for need in spec.triggers.iter().flat_map(|trigger| &trigger.needs) {
            let place = (namespace.clone(), need.job.clone());
            let at = match self.0.get(&place) {
                Some(at) => *at,
                None => last_success(store, namespace, &need.job).await?,
            };
            self.0.insert(place, at);
            found.extend(at.map(|at| Success { job: need.job.clone(), at }));
        }
        Ok(found)
    }
}

async fn last_success(store: &dyn Store, namespace: &Namespace, job: &Name) -> Result<Option<Timestamp>> {
    let job = match store.job_by_name(namespace, job.as_str()).await {
        Err(error) if !error.is_transient() => None,
        found => found?,
    };
    let Some(job) = job else { return Ok(None) };
    let mut query = RunQuery { job: Some(job.id), limit: PAGE_ROWS, ..RunQuery::default() };
    for _ in 0..LOOKED_AT_MAX / PAGE_ROWS {
        let page = match store.runs(query.clone()).await {
            Err(error) if !error.is_transient() => return Ok(None),
            page => page?,
        };
        let last = page.rows.iter().filter_map(ended_well).max();
        query.after = page.rows.last().map(|run| run.head.id).filter(|_| page.more);
        if last.is_some() || query.after.is_none() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// When a run succeeded; none when it did not, or is of a backfill.
fn ended_well(run: &Run) -> Option<Timestamp> {
    let is_of_backfill = run.head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some());
    run.status.finished_at.filter(|_| run.status.state == RunState::Success && !is_of_backfill)
}
