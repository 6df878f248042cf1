//! Which files a job or a run may name: those that its own namespace has (I32). A digest is no secret, so knowing one must
//! not be enough to read what somebody else put there.
//!
//! That a namespace has a file is believed for a moment, so that a batch of one job asks once.

use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use mainspring_model::spec::Digest;
use mainspring_model::{ErrorCode, JobSpec, Namespace};
use rustc_hash::FxHashMap;

use crate::app::App;
use crate::artifacts;
use crate::error::{Error, Result};
use crate::record;

/// Files remembered at most; then the memory begins anew.
const REMEMBERED_MAX: usize = 10_000;

/// The memory of which namespace has which file.
#[derive(Debug)]
pub(crate) struct HeldFiles {
    ttl: Duration,
    known: RwLock<FxHashMap<(Digest, Namespace), Instant>>,
}

impl HeldFiles {
    pub(crate) fn new(ttl: Duration) -> Self {
        Self { ttl, known: RwLock::default() }
    }

    /// A file was removed.
    pub(crate) fn forget(&self) {
        self.known.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn has(&self, key: &(Digest, Namespace)) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(key).is_some_and(|read_at| read_at.elapsed() < self.ttl)
    }

    fn remember(&self, key: (Digest, Namespace), read_at: Instant) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= REMEMBERED_MAX {
            known.clear();
        }
        known.insert(key, read_at);
    }
}

impl App {
    /// Goes on only if the namespace has every file of the repository that the specification names. `prefix` is before the
    /// paths of problems: `spec.`.
    pub(crate) async fn check_artifacts(
        &self,
        namespace: &Namespace,
        spec: &JobSpec,
        prefix: &str,
    ) -> Result<()> {
        for (at, artifact) in spec.artifacts.iter().enumerate() {
            // What comes from a URL is the node's to fetch, and never out of the repository.
            if artifact.url.is_some() {
                continue;
            }
            let key = (artifact.digest, namespace.clone());
            if self.held_files.has(&key) {
                continue;
            }
            let read_at = Instant::now();
            let row = artifacts::key(artifact.digest, namespace);
            if self.store.record(record::ARTIFACT, &row).await?.is_none() {
                let path = format!("{prefix}artifacts[{at}].digest");
                let message =
                    format!("`{namespace}` has no such file; `mainspring artifact push` puts it there");
                return Err(Error::field(ErrorCode::InvalidSpec, path, message));
            }
            self.held_files.remember(key, read_at);
        }
        Ok(())
    }
}
