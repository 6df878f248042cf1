//! When the jobs that triggers need last succeeded.

use std::collections::BTreeMap;

use mainspring_engine::Success;
use mainspring_model::{JobSpec, Name, Namespace, Run, RunState, Timestamp};
use mainspring_store::{Result, RunQuery, Store};

/// Of the newest so many successful runs of a job, that which ended last counts.
const LOOKED_AT_MAX: usize = 20;

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
    let states = vec![RunState::Success];
    let query = RunQuery { job: Some(job.id), states, limit: LOOKED_AT_MAX, ..RunQuery::default() };
    match store.runs(query).await {
        Err(error) if !error.is_transient() => {
            tracing::warn!(job = %job.name, %error, "whether a job succeeded that others need cannot be read");
            Ok(None)
        }
        page => Ok(page?.rows.iter().filter_map(ended_well).max()),
    }
}

/// When a run of the job succeeded; none when it is of a backfill.
fn ended_well(run: &Run) -> Option<Timestamp> {
    let is_of_backfill = run.head.fired.as_ref().is_some_and(|fired| fired.backfill.is_some());
    run.status.finished_at.filter(|_| !is_of_backfill && run.head.inline_spec.is_none())
}
