//! Job versions as the cell works with them: the specification once per version, the job's own state, and
//! the class of its placement. All are counted by their users and go away with the last.

use std::collections::BTreeSet;
use std::sync::Arc;

use mainspring_model::spec::{Balancer, Concurrency, Dispatch, Overlap, PriorityClass};
use mainspring_model::{JobId, JobSpec, Pause, Timestamp};
use rustc_hash::FxHashMap;
use slab::Slab;

use crate::memory::Health;
use crate::runs::RunEntry;

/// A job version in use.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) job: usize,
    pub(crate) version: u32,
    pub(crate) spec: Arc<JobSpec>,
    pub(crate) class: usize,
    /// Whether it matters where the job's other attempts are.
    pub(crate) spreads: bool,
    /// Whether the job wants its last node again.
    pub(crate) sticky: bool,
    /// Whether its waiting runs never leave memory, because newcomers look at them.
    pub(crate) kept: bool,
    /// Runs in memory that pin it.
    pub(crate) runs: u32,
}

/// What the cell knows about a job beside its versions.
#[derive(Debug)]
pub(crate) struct JobEntry {
    pub(crate) id: JobId,
    pub(crate) pause: Option<Pause>,
    pub(crate) health: Health,
    /// Attempts by node, for those that hold any; only kept for jobs that spread.
    pub(crate) nodes: FxHashMap<usize, u32>,
    /// Groups in which its runs wait.
    pub(crate) groups: BTreeSet<usize>,
    /// Shapes in use.
    shapes: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Shapes {
    pub(crate) shapes: Slab<Shape>,
    by_version: FxHashMap<(JobId, u32), usize>,
    pub(crate) jobs: Slab<JobEntry>,
    job_by_id: FxHashMap<JobId, usize>,
    /// How jobs fared under earlier owners, for those that have no entry yet.
    pub(crate) remembered: FxHashMap<JobId, Health>,
    /// Rows of jobs that this owner wrote of late: their revisions, and when.
    pub(crate) written: FxHashMap<JobId, (u64, Timestamp)>,
}

impl Shapes {
    /// The shape of a run.
    pub(crate) fn of(&self, entry: &RunEntry) -> &Shape {
        &self.shapes[entry.shape as usize]
    }

    pub(crate) fn find(&self, job: JobId, version: u32) -> Option<usize> {
        self.by_version.get(&(job, version)).copied()
    }

    /// What is known about a job, if any of its runs is here.
    pub(crate) fn find_job(&self, job: JobId) -> Option<&JobEntry> {
        self.job_by_id.get(&job).map(|ix| &self.jobs[*ix])
    }

    /// Whether somebody paused a job.
    pub(crate) fn is_paused(&self, job: JobId) -> bool {
        self.pause_of(job).is_some()
    }

    /// Who paused a job, and why.
    pub(crate) fn pause_of(&self, job: JobId) -> Option<&Pause> {
        self.job_by_id.get(&job).and_then(|ix| self.jobs[*ix].pause.as_ref())
    }

    /// How a job fares.
    pub(crate) fn health(&self, job: JobId) -> Health {
        match self.job_by_id.get(&job) {
            Some(ix) => self.jobs[*ix].health,
            None => self.remembered.get(&job).copied().unwrap_or_default(),
        }
    }

    /// The job's entry, made if need be.
    pub(crate) fn job(&mut self, id: JobId) -> usize {
        if let Some(ix) = self.job_by_id.get(&id) {
            return *ix;
        }
        let ix = self.jobs.insert(JobEntry {
            id,
            pause: None,
            health: self.remembered.remove(&id).unwrap_or_default(),
            nodes: FxHashMap::default(),
            groups: BTreeSet::new(),
            shapes: 0,
        });
        self.job_by_id.insert(id, ix);
        ix
    }

    pub(crate) fn insert(&mut self, job: usize, version: u32, spec: Arc<JobSpec>, class: usize) -> usize {
        self.jobs[job].shapes += 1;
        let balancer = balancer_of(&spec);
        let spreads = spec.placement.spread.is_some() || balancer == Balancer::Spread;
        let sticky = spec.placement.sticky.is_some() || balancer == Balancer::Sticky;
        let kept = is_kept(&spec);
        let ix = self.shapes.insert(Shape { job, version, spec, class, spreads, sticky, kept, runs: 0 });
        self.by_version.insert((self.jobs[job].id, version), ix);
        ix
    }

    /// One run fewer. Answers the class of a shape that went away.
    pub(crate) fn release(&mut self, ix: usize) -> Option<usize> {
        let shape = &mut self.shapes[ix];
        shape.runs -= 1;
        if shape.runs > 0 {
            return None;
        }
        let shape = self.shapes.remove(ix);
        let job = &mut self.jobs[shape.job];
        job.shapes -= 1;
        self.by_version.remove(&(job.id, shape.version));
        // A pause and a loss are remembered while no run of the job is here, and so is where it last ran.
        if job.shapes == 0 && job.pause.is_none() && job.health == Health::default() {
            self.job_by_id.remove(&job.id);
            self.jobs.remove(shape.job);
        }
        Some(shape.class)
    }

    /// Forgets how jobs fared that have no runs here, if it is out of date.
    pub(crate) fn forget_healths(&mut self, expired: impl Fn(JobId) -> bool) {
        self.remembered.retain(|job, _| !expired(*job));
        let idle = |entry: &JobEntry| entry.shapes == 0 && entry.pause.is_none() && entry.groups.is_empty();
        let gone = self.jobs.iter().filter(|(_, entry)| idle(entry) && expired(entry.id));
        for (ix, job) in gone.map(|(ix, entry)| (ix, entry.id)).collect::<Vec<_>>() {
            self.jobs.remove(ix);
            self.job_by_id.remove(&job);
        }
    }

    /// Adds to or takes from the attempts of a job on a node.
    pub(crate) fn count_node(&mut self, job: usize, node: usize, up: bool) {
        let nodes = &mut self.jobs[job].nodes;
        let count = nodes.entry(node).or_insert(0);
        *count = if up { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            nodes.remove(&node);
        }
    }
}

/// Whether what happens to a new run depends on those that wait.
pub(crate) fn is_kept(spec: &JobSpec) -> bool {
    let looks = |concurrency: &Concurrency| {
        concurrency.overlap != Overlap::QueueAll || concurrency.queue_max.is_some()
    };
    spec.concurrency.as_ref().is_some_and(looks)
}

/// The number that orders runs by importance: larger goes first.
pub fn priority_of(spec: &JobSpec) -> u16 {
    let class = PriorityClass::ALL.iter().position(|class| *class == spec.priority.class).unwrap_or(0);
    (class as u16) << 8 | u16::from(spec.priority.level)
}

/// The balancer that a specification names, or the one that suits its body.
pub(crate) fn balancer_of(spec: &JobSpec) -> Balancer {
    let Dispatch::Unicast { balancer } = &spec.dispatch;
    balancer.clone().unwrap_or_else(|| spec.body.default_balancer())
}
