//! When the jobs that triggers need last succeeded.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use mainspring_engine::Success;
use mainspring_model::{JobSpec, Name, Namespace, Run, RunState, Timestamp};
use mainspring_store::{Result, RunQuery, Store};

/// Successful runs of a job that are looked at together, the newest first: that of them which ended last counts. Further ones
/// only where none of them does.
const LOOKED_AT: usize = 50;
/// How often, at most.
const LOOKS_MAX: usize = 20;

/// Jobs that are asked for at the same time.
const AT_ONCE: usize = 16;

/// When jobs last succeeded, each of them read once.
#[derive(Debug, Default)]
pub struct LastSuccesses(BTreeMap<(Namespace, Name), Timestamp>);

impl LastSuccesses {
    /// Reads those of all jobs that the triggers of these jobs need.
    pub async fn read<'a>(
        store: &dyn Store,
        needy: impl Iterator<Item = (&'a Namespace, &'a JobSpec)>,
    ) -> Result<Self> {
        let places =
            needy.flat_map(|(namespace, spec)| needed(spec).map(|job| (namespace.clone(), job.clone())));
        let places: BTreeSet<(Namespace, Name)> = places.collect();
        let ask = |place: (Namespace, Name)| async move {
            let at = last_success(store, &place.0, &place.1).await?;
            Ok(at.map(|at| (place, at)))
        };
        let mut answers = stream::iter(places).map(ask).buffer_unordered(AT_ONCE);
        let mut last = BTreeMap::new();
        while let Some(answer) = answers.next().await {
            last.extend(answer?);
        }
        Ok(Self(last))
    }

    /// The last successes of the jobs that the triggers of a job need.
    pub fn of_job(&self, namespace: &Namespace, spec: &JobSpec) -> Vec<Success> {
        let last = |job: &Name| self.0.get(&(namespace.clone(), job.clone())).copied();
        needed(spec).filter_map(|job| Some(Success { job: job.clone(), at: last(job)? })).collect()
    }
}

fn needed(spec: &JobSpec) -> impl Iterator<Item = &Name> {
    spec.triggers.iter().flat_map(|trigger| &trigger.needs).map(|need| &need.job)
}

async fn last_success(store: &dyn Store, namespace: &Namespace, job: &Name) -> Result<Option<Timestamp>> {
    let job = match store.job_by_name(namespace, job.as_str()).await {
        Err(error) if !error.is_transient() => None,
        found => found?,
    };
    let Some(job) = job else { return Ok(None) };
    let states = vec![RunState::Success];
    let mut query = RunQuery { job: Some(job.id), states, limit: LOOKED_AT, ..RunQuery::default() };
    for _ in 0..LOOKS_MAX {
        let page = match store.runs(query.clone()).await {
            Err(error) if !error.is_transient() => {
                tracing::warn!(job = %job.name, %error, "whether a job succeeded that others need cannot be read");
                return Ok(None);
            }
            page => page?,
        };
        let moment = |run: &Run| Success::moment(&run.head, &run.status);
        let last = page.rows.iter().filter_map(moment).max();
        if last.is_some() || !page.more {
            return Ok(last);
        }
        query.after = page.rows.last().map(|run| run.head.id);
    }
    Ok(None)
}
