//! The specifications that orders of this connection refer to. Both ends remember the same specifications of jobs: one more
//! than the limit makes both begin anew. A run's own comes with each of its orders, just before it, and is counted by
//! neither end.

use std::collections::HashMap;

use bytes::Bytes;
use mainspring_model::JobSpec;
use mainspring_model::spec::OnDisconnect;
use mainspring_wire::agent::{SPECS_PER_CONNECTION_MAX, Spec, SpecKey};

type Key = (Bytes, u32);

/// What a worker needs of a specification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Known {
    /// The function, where the body is one.
    pub(super) handler: Option<String>,
    /// Whether it goes on when the schedulers are lost.
    pub(super) keep: bool,
}

#[derive(Debug, Default)]
pub(super) struct Specs {
    by_key: HashMap<Key, Known>,
    /// The last run's own, for the order that follows it.
    own: Option<(SpecKey, Known)>,
}

impl Specs {
    /// One that cannot be read is remembered as without a function: its orders are refused, with a reason.
    pub(super) fn learn(&mut self, spec: &Spec) {
        let Some(key) = &spec.key else { return };
        let read = serde_json::from_slice::<JobSpec>(&spec.json).ok();
        let known = Known {
            handler: read.as_ref().and_then(|spec| spec.body.handler()).map(str::to_owned),
            keep: read.is_some_and(|spec| spec.on_disconnect == OnDisconnect::Keep),
        };
        if key.run.is_some() {
            self.own = Some((key.clone(), known));
            return;
        }
        let key = of(key);
        if self.by_key.len() >= SPECS_PER_CONNECTION_MAX && !self.by_key.contains_key(&key) {
            self.by_key.clear();
        }
        self.by_key.insert(key, known);
    }

    pub(super) fn find(&self, key: &SpecKey) -> Option<&Known> {
        if key.run.is_some() {
            return self.own.as_ref().filter(|(own, _)| own == key).map(|(_, known)| known);
        }
        self.by_key.get(&of(key))
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

    #[test]
    fn the_own_specifications_of_runs_are_not_counted() {
        let spec = |run: Option<u8>, version: u32| {
            let run = run.map(|run| Bytes::copy_from_slice(&[run; 16]));
            let key = SpecKey { job: Bytes::from_static(&[1; 16]), version, run };
            Spec { key: Some(key), json: Bytes::from_static(br#"{"name":"hello","handler":"hello"}"#) }
        };
        let mut specs = Specs::default();
        specs.learn(&spec(None, 1));
        for version in 0..=SPECS_PER_CONNECTION_MAX as u32 {
            let own = spec(Some(1), version);
            specs.learn(&own);
            assert!(specs.find(own.key.as_ref().unwrap()).is_some());
        }
        assert!(specs.find(spec(None, 1).key.as_ref().unwrap()).is_some(), "the owner counts on it");
    }
}
