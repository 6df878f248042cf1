//! The specifications that orders of this connection refer to.
//!
//! Both ends of a connection remember the same: one more than [`SPECS_PER_CONNECTION_MAX`] makes both begin anew.

use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::JobSpec;
use mainspring_wire::agent::{Malformed, SPECS_PER_CONNECTION_MAX, Spec, SpecKey};
use rustc_hash::FxHashMap;

type Key = (Bytes, u32, Option<Bytes>);

#[derive(Debug, Default)]
pub(super) struct Specs {
    /// Or why it cannot be read: a scheduler may be newer than this node.
    by_key: FxHashMap<Key, Result<Arc<JobSpec>, Box<str>>>,
}

impl Specs {
    pub(super) fn learn(&mut self, spec: &Spec) -> Result<(), Malformed> {
        let key = spec.key.as_ref().ok_or_else(|| Malformed::missing("spec.key"))?;
        let read = serde_json::from_slice::<JobSpec>(&spec.json);
        let read = read.map(Arc::new).map_err(|wrong| wrong.to_string().into());
        let key = of(key);
        if self.by_key.len() >= SPECS_PER_CONNECTION_MAX && !self.by_key.contains_key(&key) {
            self.by_key.clear();
        }
        self.by_key.insert(key, read);
        Ok(())
    }

    pub(super) fn find(&self, key: &SpecKey) -> Option<Result<Arc<JobSpec>, Box<str>>> {
        self.by_key.get(&of(key)).cloned()
    }

    pub(super) fn clear(&mut self) {
        self.by_key.clear();
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
    fn one_too_many_begins_anew() {
        let mut specs = Specs::default();
        for version in 1..=SPECS_PER_CONNECTION_MAX as u32 {
            specs.learn(&spec(None, version)).unwrap();
            specs.learn(&spec(None, version)).unwrap();
        }
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_some());
        specs.learn(&spec(Some(1), 0)).unwrap();
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_none());
        assert!(specs.find(spec(Some(1), 0).key.as_ref().unwrap()).is_some());
        assert!(specs.find(spec(Some(2), 0).key.as_ref().unwrap()).is_none());
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
