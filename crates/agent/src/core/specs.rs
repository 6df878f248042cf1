//! The specifications that orders of this connection refer to.
//!
//! Both ends of a connection remember the same specifications of jobs: one more than [`SPECS_PER_CONNECTION_MAX`] makes
//! both begin anew. A run's own comes with each of its orders, just before it, and is counted by neither end.

use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::JobSpec;
use mainspring_wire::agent::{Malformed, SPECS_PER_CONNECTION_MAX, Spec, SpecKey};
use rustc_hash::FxHashMap;

type Key = (Bytes, u32);
/// Or why it cannot be read: a scheduler may be newer than this node.
type Read = Result<Arc<JobSpec>, Box<str>>;

#[derive(Debug, Default)]
pub(super) struct Specs {
    by_key: FxHashMap<Key, Read>,
    /// The last run's own, for the order that follows it.
    own: Option<(SpecKey, Read)>,
}

impl Specs {
    pub(super) fn learn(&mut self, spec: &Spec) -> Result<(), Malformed> {
        let key = spec.key.as_ref().ok_or_else(|| Malformed::missing("spec.key"))?;
        let read = serde_json::from_slice::<JobSpec>(&spec.json);
        let read = read.map(Arc::new).map_err(|wrong| wrong.to_string().into());
        if key.run.is_some() {
            self.own = Some((key.clone(), read));
            return Ok(());
        }
        let key = of(key);
        if self.by_key.len() >= SPECS_PER_CONNECTION_MAX && !self.by_key.contains_key(&key) {
            self.by_key.clear();
        }
        self.by_key.insert(key, read);
        Ok(())
    }

    pub(super) fn find(&self, key: &SpecKey) -> Option<Read> {
        if key.run.is_some() {
            return self.own.as_ref().filter(|(own, _)| own == key).map(|(_, read)| read.clone());
        }
        self.by_key.get(&of(key)).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.by_key.clear();
        self.own = None;
    }
}

fn of(key: &SpecKey) -> Key {
    (key.job.clone(), key.version)
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
    fn one_too_many_begins_anew() {
        let mut specs = Specs::default();
        for version in 1..=SPECS_PER_CONNECTION_MAX as u32 {
            specs.learn(&spec(None, version)).unwrap();
            specs.learn(&spec(None, version)).unwrap();
        }
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_some());
        specs.learn(&spec(None, 0)).unwrap();
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_none());
        assert!(specs.find(spec(None, 0).key.as_ref().unwrap()).is_some());
    }

    #[test]
    fn the_own_specifications_of_runs_are_not_counted() {
        let mut specs = Specs::default();
        specs.learn(&spec(None, 1)).unwrap();
        for version in 0..=SPECS_PER_CONNECTION_MAX as u32 {
            let own = spec(Some(1), version);
            specs.learn(&own).unwrap();
            assert!(specs.find(own.key.as_ref().unwrap()).is_some());
        }
        assert!(specs.find(spec(Some(1), 0).key.as_ref().unwrap()).is_none(), "its order is long past");
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_some(), "the owner counts on it");
    }

    #[test]
    fn nonsense_is_named() {
        let mut specs = Specs::default();
        assert_eq!(specs.learn(&Spec::default()), Err(Malformed::missing("spec.key")));
        let mut bad = spec(None, 1);
        bad.json = Bytes::from_static(b"{}");
        specs.learn(&bad).unwrap();
        assert!(matches!(specs.find(bad.key.as_ref().unwrap()), Some(Err(_))));
    }
}
