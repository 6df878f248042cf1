//! Fetched artifacts by their digest, kept for later attempts up to a bound.
//!
//! A task gets a copy, never the file itself: what it does to its copy stays with it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mainspring_model::spec::{Artifact, Digest};
use rustc_hash::FxHashMap;
use tokio::task::spawn_blocking;

/// The artifacts of a node.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
    bytes_max: u64,
    /// Those in use: fetched once however many attempts want them, and not removed meanwhile.
    in_use: Mutex<FxHashMap<Digest, Arc<tokio::sync::Mutex<()>>>>,
}

impl Cache {
    pub(crate) fn new(directory: PathBuf, bytes_max: u64) -> Self {
        // What was being fetched when an agent died is nobody's.
        let _ = fs::remove_dir_all(directory.join("incoming"));
        Self { directory, bytes_max, in_use: Mutex::default() }
    }

    /// Puts an artifact at `to`, fetching it if it is not here yet.
    pub(crate) async fn place(
        &self,
        artifact: &Artifact,
        incoming: impl AsyncFnOnce(PathBuf) -> Result<u64, String>,
        to: PathBuf,
    ) -> Result<(), String> {
        let turn = self.turn(artifact.digest);
        let kept = self.path(&artifact.digest);
        let outcome = {
            let _turn = turn.lock().await;
            self.fetch(incoming, &kept).await
        };
        let outcome = match outcome {
            Ok(()) => copy(kept, to, if artifact.executable { 0o755 } else { 0o644 }).await,
            Err(error) => Err(error),
        };
        drop(turn);
        self.let_go(artifact.digest);
        outcome
    }

    async fn fetch(
        &self,
        fetch: impl AsyncFnOnce(PathBuf) -> Result<u64, String>,
        kept: &Path,
    ) -> Result<(), String> {
        if fs::File::open(kept).and_then(|file| file.set_modified(SystemTime::now())).is_ok() {
            return Ok(());
        }
        let incoming = self.directory.join("incoming").join(uuid::Uuid::now_v7().simple().to_string());
        for directory in [incoming.parent(), kept.parent()].into_iter().flatten() {
            fs::create_dir_all(directory)
                .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        }
        let bytes = fetch(incoming.clone()).await?;
        fs::rename(&incoming, kept).map_err(|error| format!("cannot keep it: {error}"))?;
        self.make_room(bytes);
        Ok(())
    }

    /// Removes what was not used for longest until everything is within the bound.
    fn make_room(&self, newest: u64) {
        let mut kept: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for folder in fs::read_dir(self.directory.join("sha256")).into_iter().flatten().flatten() {
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                if let Ok(metadata) = file.metadata() {
                    let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                    kept.push((used, metadata.len(), file.path()));
                }
            }
        }
        let mut total: u64 = kept.iter().map(|(_, size, _)| size).sum();
        if total <= self.bytes_max || total == newest {
            return;
        }
        let in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let busy: Vec<PathBuf> = in_use.keys().map(|digest| self.path(digest)).collect();
        kept.sort();
        for (_, size, path) in kept {
            if total <= self.bytes_max {
                break;
            }
            if !busy.contains(&path) && fs::remove_file(&path).is_ok() {
                total -= size;
            }
        }
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(mainspring_blob::content_key(digest))
    }

    fn turn(&self, digest: Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(in_use.entry(digest).or_default())
    }

    fn let_go(&self, digest: Digest) {
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        if in_use.get(&digest).is_some_and(|turn| Arc::strong_count(turn) == 1) {
            in_use.remove(&digest);
        }
    }
}

async fn copy(from: PathBuf, to: PathBuf, mode: u32) -> Result<(), String> {
    let copied = spawn_blocking(move || {
        fs::copy(&from, &to)?;
        fs::set_permissions(&to, fs::Permissions::from_mode(mode))
    });
    let copied = copied.await.map_err(|error| error.to_string())?;
    copied.map_err(|error| format!("cannot place it: {error}"))
}
