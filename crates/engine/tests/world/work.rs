//! Jobs and runs: what callers ask of the cell.

use std::sync::Arc;

use mainspring_engine::{Event, Submission, priority_of};
use mainspring_model::spec::{Backoff, Balancer, Body, Curve, Dispatch, Jitter, Process};
use mainspring_model::{JobId, JobSpec, JobVersion, Namespace, Pause, RunHead, RunId, Timestamp};
use mainspring_store::{Transaction, Write};

use super::World;

/// A job as a test speaks of it.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) id: JobId,
    pub(crate) version: u32,
    pub(crate) namespace: Namespace,
    pub(crate) spec: Arc<JobSpec>,
}

impl World {
    /// A job with every default, but retries without a wait.
    pub(crate) fn job(&mut self) -> Job {
        self.job_with(|_| {})
    }

    /// A job as described.
    pub(crate) fn job_with(&mut self, change: impl FnOnce(&mut JobSpec)) -> Job {
        self.job_in("default", change)
    }

    /// A job of a namespace.
    pub(crate) fn job_in(&mut self, namespace: &str, change: impl FnOnce(&mut JobSpec)) -> Job {
        self.jobs += 1;
        let name = format!("job-{}", self.jobs);
        let mut spec = JobSpec::new(name.parse().expect("a name"), Body::Process(Process::new("true")));
        spec.retry.backoff = no_wait();
        change(&mut spec);
        let job = Job {
            id: JobId::new(self.now, self.jobs),
            version: 1,
            namespace: namespace.parse().expect("a namespace"),
            spec: Arc::new(spec),
        };
        let row = mainspring_model::Job {
            id: job.id,
            namespace: job.namespace.clone(),
            name: name.into(),
            current_version: 1,
            revision: 1,
            pause: None,
            created_at: self.now,
            updated_at: self.now,
        };
        let writes = vec![Write::PutJob(Box::new(row)), self.version_row(&job)];
        self.store.commit(&Transaction::unfenced(writes)).expect("a job");
        self.specs.insert((job.id, 1), job.spec.clone());
        job
    }

    /// The next version of a job.
    pub(crate) fn change_job(&mut self, job: &Job, change: impl FnOnce(&mut JobSpec)) -> Job {
        let mut spec = JobSpec::clone(&job.spec);
        change(&mut spec);
        let job = Job { version: job.version + 1, spec: Arc::new(spec), ..job.clone() };
        let write = self.version_row(&job);
        self.store.commit(&Transaction::unfenced(vec![write])).expect("a version");
        self.specs.insert((job.id, job.version), job.spec.clone());
        job
    }

    fn version_row(&self, job: &Job) -> Write {
        Write::InsertJobVersion(Box::new(JobVersion {
            job: job.id,
            version: job.version,
            spec: job.spec.clone(),
            created_at: self.now,
            created_by: "test".into(),
        }))
    }

    /// Nobody can read the job's specification any more.
    pub(crate) fn damage(&mut self, job: &Job) {
        self.specs.remove(&(job.id, job.version));
    }

    /// What a run of the job looks like before it is submitted. It gets the next name.
    pub(crate) fn head(&mut self, job: &Job) -> RunHead {
        let n = self.names.len() as u128 + 1;
        let id = RunId::new(self.now, n);
        self.names.insert(id, format!("r{n}"));
        RunHead {
            id,
            namespace: job.namespace.clone(),
            job: job.id,
            job_version: job.version,
            inline_spec: None,
            idempotency_key: None,
            priority: priority_of(&job.spec),
            created_at: self.now,
            not_before: None,
            deadline: None,
            params: Arc::from(*b"{}"),
            keys: None,
            submitted_by: "test".into(),
            fired: None,
            overlap: Default::default(),
        }
    }

    /// A run of the job.
    pub(crate) fn submit(&mut self, job: &Job) -> RunId {
        self.submit_with(job, |_| {})
    }

    /// So many runs of the job.
    pub(crate) fn submit_many(&mut self, job: &Job, count: usize) -> Vec<RunId> {
        (0..count).map(|_| self.submit(job)).collect()
    }

    /// A run with parameters.
    pub(crate) fn submit_params(&mut self, job: &Job, params: &str) -> RunId {
        self.submit_with(job, |head| head.params = params.as_bytes().into())
    }

    /// A run as described.
    pub(crate) fn submit_with(&mut self, job: &Job, change: impl FnOnce(&mut RunHead)) -> RunId {
        let mut head = self.head(job);
        change(&mut head);
        let id = head.id;
        self.submit_head(job, head);
        id
    }

    /// A submission as it is.
    pub(crate) fn submit_head(&mut self, job: &Job, head: RunHead) {
        let row = self.store.job(job.id);
        self.submit_read(job, head, row.as_ref());
    }

    /// A submission by somebody who read the job's row before.
    pub(crate) fn submit_read(&mut self, job: &Job, head: RunHead, row: Option<&mainspring_model::Job>) {
        let pause = row.and_then(|row| row.job_pause());
        let submission = Submission { request: self.request(), head, spec: job.spec.clone(), pause };
        self.handle(Event::Submit(Box::new(submission)));
    }

    /// Another scheduler inserts a run for this cell.
    pub(crate) fn insert_elsewhere(&mut self, job: &Job, change: impl FnOnce(&mut RunHead)) -> RunId {
        let mut head = self.head(job);
        change(&mut head);
        let id = head.id;
        let write = Write::insert_arrived(head, self.config.cell);
        self.store.commit(&Transaction::unfenced(vec![write])).expect("an arrival");
        id
    }

    pub(crate) fn cancel(&mut self, run: RunId) {
        self.cancel_by(run, false);
    }

    pub(crate) fn kill(&mut self, run: RunId) {
        self.cancel_by(run, true);
    }

    fn cancel_by(&mut self, run: RunId, kill: bool) {
        let (request, by) = (self.request(), "ann".into());
        let row = self.row_if_gone(run);
        self.handle(Event::Cancel { request, run, row, by, kill });
    }

    pub(crate) fn retry_now(&mut self, run: RunId) {
        let (request, by) = (self.request(), "ann".into());
        let row = self.row_if_gone(run);
        self.handle(Event::RetryNow { request, run, row, by });
    }

    pub(crate) fn prioritise(&mut self, run: RunId, priority: u16) {
        let (request, by) = (self.request(), "ann".into());
        let row = self.row_if_gone(run);
        self.handle(Event::Prioritise { request, run, row, by, priority });
    }

    fn row_if_gone(&self, run: RunId) -> Option<Box<mainspring_engine::LoadedRun>> {
        if self.cell.run(run).is_some() {
            return None;
        }
        self.store.run(run).map(|run| Box::new(self.loaded(run.clone())))
    }

    pub(crate) fn pause_job(&mut self, job: &Job, pause: Option<Pause>) {
        let row = self.store.job(job.id).expect("the job's row");
        let request = self.request();
        self.handle(Event::PauseJob { request, job: Box::new(row), pause });
    }

    pub(crate) fn pause_cell(&mut self, pause: Option<Pause>) {
        let request = self.request();
        self.handle(Event::PauseCell { request, pause });
    }
}

/// A pause by somebody.
pub(crate) fn paused(now: Timestamp) -> Pause {
    Pause { by: "ann".into(), note: "look at it first".into(), at: now }
}

/// Retries at once.
pub(crate) fn no_wait() -> Backoff {
    wait(Curve::None)
}

/// Retries after these waits, to the second.
pub(crate) fn wait(curve: Curve) -> Backoff {
    Backoff { jitter: Jitter::NONE, ..Backoff::new(curve) }
}

/// To one node, chosen so.
pub(crate) fn balancer(balancer: Balancer) -> Dispatch {
    Dispatch::Unicast { balancer: Some(balancer) }
}
