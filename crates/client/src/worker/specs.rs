//! The specifications that orders of this connection refer to. Both ends remember the same: one more than the limit makes
//! both begin anew.

use std::collections::HashMap;

use bytes::Bytes;
use mainspring_model::JobSpec;
use mainspring_model::spec::OnDisconnect;
use mainspring_wire::agent::{SPECS_PER_CONNECTION_MAX, Spec, SpecKey};

type Key = (Bytes, u32, Option<Bytes>);

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
}

impl Specs {
    /// One that cannot be read is remembered as without a function: its orders are refused, with a reason.
    pub(super) fn learn(&mut self, spec: &Spec) {
        let Some(key) = spec.key.as_ref().map(of) else { return };
        let read = serde_json::from_slice::<JobSpec>(&spec.json).ok();
        if self.by_key.len() >= SPECS_PER_CONNECTION_MAX && !self.by_key.contains_key(&key) {
            self.by_key.clear();
        }
        let known = Known {
            handler: read.as_ref().and_then(|spec| spec.body.handler()).map(str::to_owned),
            keep: read.is_some_and(|spec| spec.on_disconnect == OnDisconnect::Keep),
        };
        self.by_key.insert(key, known);
    }

    pub(super) fn find(&self, key: &SpecKey) -> Option<&Known> {
        self.by_key.get(&of(key))
    }

    pub(super) fn clear(&mut self) {
        self.by_key.clear();
    }
}

fn of(key: &SpecKey) -> Key {
    (key.job.clone(), key.version, key.run.clone())
}
