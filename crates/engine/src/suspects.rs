//! Telling a job that kills its nodes from those that only stood beside it.
//!
//! A job whose attempt was lost with its node is a suspect until it succeeds. Suspects of different jobs
//! never share a node, so the next loss says whose fault it was: the innocent succeed and are cleared, the
//! guilty one is quarantined after [`mainspring_model::limits::LOSSES_PER_JOB_MAX`] losses in a row.

use rustc_hash::FxHashMap;

/// Attempts of suspects.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    /// By run: which job, on which node.
    attempts: FxHashMap<usize, (usize, usize)>,
    /// By node: the jobs of its attempts, one entry for each.
    jobs_on: FxHashMap<usize, Vec<usize>>,
}

impl Suspects {
    pub(crate) fn placed(&mut self, run: usize, job: usize, node: usize) {
        if self.attempts.insert(run, (job, node)).is_none() {
            self.jobs_on.entry(node).or_default().push(job);
        }
    }

    pub(crate) fn ended(&mut self, run: usize) {
        let Some((job, node)) = self.attempts.remove(&run) else { return };
        let Some(jobs) = self.jobs_on.get_mut(&node) else { return };
        if let Some(position) = jobs.iter().position(|on| *on == job) {
            jobs.swap_remove(position);
        }
        if jobs.is_empty() {
            self.jobs_on.remove(&node);
        }
    }

    /// Whether a node holds a suspect of another job.
    pub(crate) fn others_on(&self, node: usize, job: usize) -> bool {
        self.jobs_on.get(&node).is_some_and(|jobs| jobs.iter().any(|on| *on != job))
    }
}
