//! The (namespace, job) pairs that this handle knows to be in `run_jobs`, so that an ordinary commit does not write
//! them again. Rows are never removed there, so what was known once stays true.

use std::sync::{PoisonError, RwLock};

use mainspring_model::{JobId, Namespace};
use mainspring_store::Write;
use rustc_hash::FxHashMap;

/// Pairs remembered; beyond that all are forgotten and learned again.
const PAIRS_MAX: usize = 100_000;

/// A pair.
pub(crate) type Pair = (Namespace, JobId);

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct KnownJobs(RwLock<Known>);

#[derive(Debug, Default)]
struct Known {
    /// Where each job has runs: nearly always in one namespace.
    namespaces: FxHashMap<JobId, Vec<Namespace>>,
    pairs: usize,
}

impl KnownJobs {
    /// The pairs of new runs that are not known, sorted, each once.
    pub(crate) fn missing(&self, writes: &[Write]) -> Vec<Pair> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let mut missing: Vec<Pair> = Vec::new();
        for write in writes {
            let Write::InsertRun(run) = write else { continue };
            let (namespace, job) = (&run.head.namespace, run.head.job);
            if !known.namespaces.get(&job).is_some_and(|known| known.contains(namespace)) {
                missing.push((namespace.clone(), job));
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
        if known.pairs + pairs.len() > PAIRS_MAX {
            *known = Known::default();
        }
        for (namespace, job) in pairs {
            let namespaces = known.namespaces.entry(job).or_default();
            // Two commits may have met the same pair at once.
            if !namespaces.contains(&namespace) {
                namespaces.push(namespace);
                known.pairs += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mainspring_model::{CellId, Payload, RunHead, RunId, Timestamp};

    use super::*;

    fn pair(namespace: &str, job: u128) -> Pair {
        (namespace.parse().unwrap(), JobId::new(Timestamp::ZERO, job))
    }

    fn insert((namespace, job): Pair) -> Write {
        let head = RunHead {
            id: RunId::MIN,
            namespace,
            job,
            job_version: 1,
            inline_spec: None,
            idempotency_key: None,
            priority: 0,
            created_at: Timestamp::ZERO,
            not_before: None,
            deadline: None,
            params: Payload::from([]),
            keys: None,
            submitted_by: Arc::from("x"),
            fired: None,
            overlap: Default::default(),
        };
        Write::insert_arrived(head, CellId(0))
    }

    #[test]
    fn what_was_noted_is_not_missing_any_more() {
        let known = KnownJobs::default();
        let all = [pair("b", 1), pair("a", 1), pair("a", 2), pair("a", 1)];
        let writes: Vec<Write> = all.iter().cloned().map(insert).collect();
        assert_eq!(known.missing(&writes), [pair("a", 1), pair("a", 2), pair("b", 1)]);
        known.note(vec![pair("a", 1), pair("a", 2)]);
        assert_eq!(known.missing(&writes), [pair("b", 1)]);
        known.note(vec![pair("b", 1), pair("b", 1)]);
        assert_eq!(known.missing(&writes), []);
    }
}
