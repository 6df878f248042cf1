//! When the jobs that triggers need last succeeded.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use mainspring_engine::Success;
use mainspring_model::{JobSpec, Name, Namespace, Run, RunState, Timestamp};
use mainspring_store::{Result, RunQuery, Store};

/// Successful runs of a job that are looked at together, the newest first: that of them which ended last counts.
const LOOKED_AT: usize = 50;
/// Where none of them counts, older ones are looked at, up to so many times as many.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::spec::{self, Format};
    use mainspring_model::{
        BackfillId, CellId, Fired, Job, JobId, JobVersion, Payload, RunHead, RunId, RunStatus,
    };
    use mainspring_store::{Transaction, Write};
    use mainspring_store_mem::MemStore;

    use super::*;

    fn second(n: u64) -> Timestamp {
        Timestamp::ZERO + std::time::Duration::from_secs(n)
    }

    /// A success of a second; one of a backfill does not count.
    fn success(job: JobId, n: u64, is_of_backfill: bool) -> Write {
        let fired = Fired {
            trigger: "daily".into(),
            planned: second(n),
            depth: 0,
            backfill: Some(BackfillId::new(second(n), 1)),
        };
        let head = RunHead {
            id: RunId::new(second(n), 1),
            namespace: "acme".parse().unwrap(),
            job,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at: second(n),
            not_before: None,
            deadline: None,
            params: Payload::from(*b"{}"),
            keys: None,
            submitted_by: "ann".into(),
            fired: is_of_backfill.then(|| Box::new(fired)),
            overlap: Default::default(),
        };
        let mut status = RunStatus::arrived(CellId(0), second(n));
        (status.state, status.place, status.finished_at) = (RunState::Success, None, Some(second(n)));
        Write::InsertRun(Run { head: Arc::new(head), status })
    }

    /// What is found behind so many successes that do not count.
    async fn check(in_front: u64, expected: Option<Timestamp>) {
        let store = MemStore::default();
        let spec = Arc::new(spec::parse("name: import\nscript: 'true'", Format::Yaml).unwrap());
        let id = JobId::new(second(0), 1);
        let namespace: Namespace = "acme".parse().unwrap();
        let row = Job {
            id,
            namespace: namespace.clone(),
            name: spec.name.as_str().into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: second(0),
            updated_at: second(0),
        };
        let version =
            JobVersion { job: id, version: 1, spec, created_at: second(0), created_by: "ann".into() };
        let mut writes = vec![Write::PutJob(Box::new(row)), Write::InsertJobVersion(Box::new(version))];
        writes.push(success(id, 1, false));
        writes.extend((2..2 + in_front).map(|n| success(id, n, true)));
        store.commit(Transaction::unfenced(writes)).await.unwrap();
        let found = last_success(&store, &namespace, &"import".parse().unwrap()).await.unwrap();
        assert_eq!(found, expected, "behind {in_front}");
    }

    #[tokio::test]
    async fn a_success_is_found_behind_backfills_up_to_a_limit() {
        let all = (LOOKED_AT * LOOKS_MAX) as u64;
        for in_front in [0, 1, LOOKED_AT as u64, all - 1] {
            check(in_front, Some(second(1))).await;
        }
        check(all, None).await;
    }
}
