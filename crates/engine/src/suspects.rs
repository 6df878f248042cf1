//! Telling a job that kills its nodes from those that only stood beside it.
//!
//! A job whose attempt was lost with its node is a suspect until it succeeds. Suspects of different jobs
//! never share a node, so the next loss says whose fault it was: the innocent succeed and are cleared, the
//! guilty one is quarantined after [`mainspring_model::limits::LOSSES_PER_JOB_MAX`] losses in a row.

use std::collections::BTreeMap;

/// Attempts of suspects, by run: which job, on which node.
#[derive(Debug, Default)]
pub(crate) struct Suspects {
    attempts: BTreeMap<usize, (usize, usize)>,
}

impl Suspects {
    pub(crate) fn placed(&mut self, run: usize, job: usize, node: usize) {
        self.attempts.insert(run, (job, node));
    }

    pub(crate) fn ended(&mut self, run: usize) {
        self.attempts.remove(&run);
    }

    /// Nodes that hold a suspect of another job.
    pub(crate) fn nodes_of_others(&self, job: usize) -> impl Iterator<Item = usize> {
        self.attempts.values().filter(move |(other, _)| *other != job).map(|(_, node)| *node)
    }
}
