//! The (namespace, job) pairs that this handle knows to be in `run_jobs`, so that an ordinary commit does not write
//! them again. Rows are never removed there, so what was known once stays true.

use std::collections::HashSet;
use std::sync::{PoisonError, RwLock};

use mainspring_model::{JobId, Namespace};
use mainspring_store::Write;

/// Pairs remembered; beyond that all are forgotten and learned again.
const PAIRS_MAX: usize = 100_000;

/// A pair.
pub(crate) type Pair = (Namespace, JobId);

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct KnownJobs(RwLock<HashSet<Pair>>);

impl KnownJobs {
    /// The pairs of new runs that are not known, sorted, each once.
    pub(crate) fn missing(&self, writes: &[Write]) -> Vec<Pair> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut missing: Vec<Pair> = Vec::new();
        let mut last = None;
        for write in writes {
            let Write::InsertRun(run) = write else { continue };
            let pair = (&run.head.namespace, run.head.job);
            // Runs of one job often come together.
            if last != Some(pair) {
                last = Some(pair);
                let pair = (run.head.namespace.clone(), run.head.job);
                if !known.contains(&pair) {
                    missing.push(pair);
                }
            }
        }
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Remembers pairs that are there now.
    pub(crate) fn note(&self, pairs: Vec<Pair>) {
        if pairs.is_empty() {
            return;
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() + pairs.len() > PAIRS_MAX {
            known.clear();
        }
        known.extend(pairs);
    }
}
