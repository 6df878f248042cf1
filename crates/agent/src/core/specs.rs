//! The specifications that orders of this connection refer to.
//!
//! Those of jobs are said once per connection. Those of single runs come right before their order and are kept for the
//! last few runs only: a busy connection would otherwise collect them without end.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::JobSpec;
use mainspring_wire::agent::{Malformed, Spec, SpecKey};
use rustc_hash::FxHashMap;

/// Specifications of single runs that are remembered.
const OWN_MAX: usize = 1024;

type Key = (Bytes, u32, Option<Bytes>);

#[derive(Debug, Default)]
pub(super) struct Specs {
    by_key: FxHashMap<Key, Arc<JobSpec>>,
    /// Keys of specifications of single runs, the oldest first.
    own: VecDeque<Key>,
}

impl Specs {
    pub(super) fn learn(&mut self, spec: &Spec) -> Result<(), Malformed> {
        let key = spec.key.as_ref().ok_or_else(|| Malformed::missing("spec.key"))?;
        let read = serde_json::from_slice::<JobSpec>(&spec.json)
            .map_err(|wrong| Malformed::new("spec.json", wrong.to_string()))?;
        let key = of(key);
        if self.by_key.insert(key.clone(), Arc::new(read)).is_none() && key.2.is_some() {
            self.own.push_back(key);
            if self.own.len() > OWN_MAX
                && let Some(oldest) = self.own.pop_front()
            {
                self.by_key.remove(&oldest);
            }
        }
        Ok(())
    }

    pub(super) fn find(&self, key: &SpecKey) -> Option<Arc<JobSpec>> {
        self.by_key.get(&of(key)).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.by_key.clear();
        self.own.clear();
    }
}

fn of(key: &SpecKey) -> Key {
    (key.job.clone(), key.version, key.run.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(run: Option<u8>, version: u32) -> Spec {
        let run = run.map(|run| Bytes::copy_from_slice(&[run; 16]));
        let key = SpecKey { job: Bytes::from_static(&[1; 16]), version, run };
        Spec { key: Some(key), json: Bytes::from_static(br#"{"name":"hello","process":"/bin/true"}"#) }
    }

    #[test]
    fn jobs_are_remembered_and_single_runs_for_a_while() {
        let mut specs = Specs::default();
        specs.learn(&spec(None, 1)).unwrap();
        for _ in 0..2 {
            specs.learn(&spec(Some(1), 0)).unwrap();
        }
        for index in 0..OWN_MAX as u32 {
            let mut other = spec(Some(2), 0);
            other.key.as_mut().unwrap().version = index + 1;
            specs.learn(&other).unwrap();
        }
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_some());
        assert!(specs.find(spec(None, 2).key.as_ref().unwrap()).is_none());
        assert!(specs.find(spec(Some(1), 0).key.as_ref().unwrap()).is_none(), "the oldest goes");
        assert_eq!(specs.by_key.len(), OWN_MAX + 1);
    }

    #[test]
    fn nonsense_is_named() {
        let mut specs = Specs::default();
        assert_eq!(specs.learn(&Spec::default()), Err(Malformed::missing("spec.key")));
        let mut bad = spec(None, 1);
        bad.json = Bytes::from_static(b"{}");
        assert_eq!(specs.learn(&bad).map_err(|wrong| wrong.field), Err("spec.json"));
    }
}
