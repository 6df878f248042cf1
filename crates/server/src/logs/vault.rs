//! Where whole logs are kept: one compressed file for each attempt, in a folder for each run, in a folder for each day.
//!
//! Logs that become whole at about the same time are made durable together: written one after the other, then one wait for the
//! disk answers for all of them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use mainspring_model::{AttemptToken, RunId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;

use super::lost;

/// A level that costs little; output of programs shrinks to a fifth.
const COMPRESSION_LEVEL: i32 = 1;
/// Logs that are made durable at once.
const AT_ONCE: usize = 256;
const DAY_US: i64 = 86_400_000_000;

/// The folder of whole logs.
#[derive(Debug, Clone)]
pub(crate) struct Vault {
    folder: Arc<Path>,
    deposits: mpsc::Sender<Deposit>,
}

#[derive(Debug)]
struct Deposit {
    token: AttemptToken,
    frames: Bytes,
    done: oneshot::Sender<io::Result<()>>,
}

impl Vault {
    /// Opens the folder, and makes it if there is none.
    pub(crate) fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        let (deposits, mut received) = mpsc::channel::<Deposit>(AT_ONCE);
        let vault = Self { folder: folder.into(), deposits };
        let folder = Arc::clone(&vault.folder);
        std::thread::Builder::new().name("log-vault".into()).spawn(move || {
            let mut batch = Vec::with_capacity(AT_ONCE);
            while received.blocking_recv_many(&mut batch, AT_ONCE) > 0 {
                write_batch(&folder, batch.drain(..));
            }
        })?;
        Ok(vault)
    }

    /// Keeps a whole log; it is durable when this returns. Keeping it again changes nothing.
    pub(super) async fn keep(&self, token: AttemptToken, frames: Bytes) -> io::Result<()> {
        let (done, kept) = oneshot::channel();
        let gone = || lost("the thread that keeps logs is gone");
        self.deposits.send(Deposit { token, frames, done }).await.map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }

    pub(super) async fn has(&self, token: AttemptToken) -> bool {
        let path = path(&self.folder, token);
        spawn_blocking(move || path.exists()).await.unwrap_or(false)
    }

    /// The whole log, if it is here.
    pub(super) async fn read(&self, token: AttemptToken) -> io::Result<Option<Bytes>> {
        let path = path(&self.folder, token);
        let read = spawn_blocking(move || match File::open(&path) {
            Ok(file) => zstd::decode_all(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        });
        let frames = read.await.map_err(|_| lost("the thread that reads a log is gone"))??;
        Ok(frames.map(Bytes::from))
    }

    /// Every run that has a log here.
    pub(crate) async fn runs(&self) -> io::Result<Vec<RunId>> {
        let folder = Arc::clone(&self.folder);
        let listed = spawn_blocking(move || {
            let mut runs = Vec::new();
            for day in fs::read_dir(&folder)? {
                let day = day?.path();
                let before = runs.len();
                for run in fs::read_dir(&day)? {
                    runs.extend(run?.file_name().to_str().and_then(|name| name.parse::<RunId>().ok()));
                }
                if runs.len() == before {
                    // An empty day; one that fills again meanwhile stays.
                    drop(fs::remove_dir(&day));
                }
            }
            Ok(runs)
        });
        listed.await.map_err(|_| lost("the thread that lists logs is gone"))?
    }

    /// Removes the logs of these runs.
    pub(crate) async fn remove(&self, runs: &[RunId]) -> io::Result<()> {
        let folders: Vec<PathBuf> = runs.iter().map(|run| run_folder(&self.folder, *run)).collect();
        let removed = spawn_blocking(move || {
            for folder in folders {
                match fs::remove_dir_all(&folder) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {}
                }
            }
            Ok(())
        });
        removed.await.map_err(|_| lost("the thread that removes logs is gone"))?
    }
}

fn write_batch(folder: &Path, batch: impl Iterator<Item = Deposit>) {
    let mut written = Vec::new();
    for Deposit { token, frames, done } in batch {
        match write(folder, token, &frames) {
            Ok(()) => written.push(done),
            Err(error) => drop(done.send(Err(error))),
        }
    }
    let synced = File::open(folder).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
    for done in written {
        let answer =
            synced.as_ref().copied().map_err(|error| io::Error::new(error.kind(), error.to_string()));
        drop(done.send(answer));
    }
}

/// A log is there whole or not at all, also after a crash in the middle.
fn write(folder: &Path, token: AttemptToken, frames: &[u8]) -> io::Result<()> {
    let compressed = zstd::encode_all(frames, COMPRESSION_LEVEL)?;
    let path = path(folder, token);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let unfinished = path.with_extension("part");
    fs::write(&unfinished, compressed)?;
    fs::rename(&unfinished, &path)
}

fn path(folder: &Path, token: AttemptToken) -> PathBuf {
    run_folder(folder, token.run).join(format!("{}-{}.zst", token.number, token.epoch.0))
}

/// By day, so that the oldest are found without looking at all.
fn run_folder(folder: &Path, run: RunId) -> PathBuf {
    let day = run.made_at().as_micros().div_euclid(DAY_US);
    folder.join(format!("{day:06}")).join(run.to_string())
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Epoch, Timestamp};

    use super::*;

    fn token(n: u128) -> AttemptToken {
        let at = Timestamp::from_micros(3 * DAY_US + 5_000);
        AttemptToken { run: RunId::new(at, n), number: 1, epoch: Epoch(1) }
    }

    #[tokio::test]
    async fn logs_are_kept_read_and_removed() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let vault = Vault::open(folder.path().join("logs")).expect("a folder");
        assert_eq!(vault.read(token(1)).await.expect("the disk answers"), None);
        for n in 1..=3 {
            vault.keep(token(n), Bytes::from(vec![n as u8; 10_000])).await.expect("the disk takes it");
        }
        vault.keep(token(1), Bytes::from(vec![1; 10_000])).await.expect("once more");
        assert!(vault.has(token(2)).await);
        assert_eq!(vault.read(token(3)).await.expect("the disk answers"), Some(vec![3; 10_000].into()));
        vault.remove(&[token(3).run, token(9).run]).await.expect("the disk answers");
        assert!(!vault.has(token(3)).await);
        assert!(vault.has(token(1)).await, "others stay");
    }
}
