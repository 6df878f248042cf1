//! A folder of logs: one compressed file for each attempt.
//!
//! Logs that become whole at about the same time are made durable together: written one after the other, then one wait for the
//! disk answers for all of them, and one more for their names. Nobody is kept waiting by that: readers have a log as soon as it is whole, and the node
//! keeps its copy for a moment longer.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mainspring_model::{AttemptToken, RunId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use tracing::warn;
use zstd::bulk::Compressor;

use super::super::captured::Captured;
use super::super::lost;
use super::{COMPRESSION_LEVEL, Extent, open, place, place_of_run, seal};

/// Logs that are made durable at once.
const AT_ONCE: usize = 1_024;
/// How long others are waited for.
const LINGER: Duration = Duration::from_millis(100);

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    folder: Arc<Path>,
    deposits: mpsc::Sender<Deposit>,
}

#[derive(Debug)]
struct Deposit {
    path: PathBuf,
    log: Captured,
    done: oneshot::Sender<io::Result<()>>,
}

impl Folder {
    /// Opens the folder, and makes it if there is none.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let (deposits, received) = mpsc::channel::<Deposit>(AT_ONCE);
        let folder: Arc<Path> = folder.into();
        let compressor = Compressor::new(COMPRESSION_LEVEL)?;
        let sync = Box::new(sync_file_system);
        let writer = Writer { folder: Arc::clone(&folder), compressor, sync };
        thread::Builder::new().name("log-vault".into()).spawn(move || writer.run(received))?;
        Ok(Self { folder, deposits })
    }

    pub(super) async fn put(&self, token: AttemptToken, log: Captured, extent: Extent) -> io::Result<()> {
        let (done, kept) = oneshot::channel();
        let gone = || lost("the thread that keeps logs is gone");
        let path = self.folder.join(place(token, extent));
        self.deposits.send(Deposit { path, log, done }).await.map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }

    pub(super) async fn has(&self, token: AttemptToken) -> bool {
        let path = self.folder.join(place(token, Extent::Whole));
        spawn_blocking(move || is_durable(&path)).await.unwrap_or(false)
    }

    pub(super) async fn read(&self, token: AttemptToken, extent: Extent) -> io::Result<Option<Captured>> {
        let path = self.folder.join(place(token, extent));
        let read = spawn_blocking(move || match fs::read(&path) {
            Ok(compressed) => open(&compressed).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        });
        read.await.map_err(|_| lost("the thread that reads a log is gone"))?
    }

    pub(super) async fn runs(&self) -> io::Result<Vec<RunId>> {
        let folder = Arc::clone(&self.folder);
        let listed = spawn_blocking(move || {
            let mut runs = Vec::new();
            for day in fs::read_dir(&folder)?.flatten() {
                match runs_of_day(&day.path()) {
                    // An empty day; one that fills again meanwhile stays.
                    Ok(found) if found.is_empty() => drop(fs::remove_dir(day.path())),
                    Ok(mut found) => runs.append(&mut found),
                    Err(error) => {
                        warn!(path = %day.path().display(), %error, "not a folder of logs; left as it is")
                    }
                }
            }
            Ok(runs)
        });
        listed.await.map_err(|_| lost("the thread that lists logs is gone"))?
    }

    pub(super) async fn remove(&self, runs: &[RunId]) -> io::Result<()> {
        let folders: Vec<PathBuf> = runs.iter().map(|run| self.folder.join(place_of_run(*run))).collect();
        let removed = spawn_blocking(move || {
            let mut outcome = Ok(());
            for folder in folders {
                match fs::remove_dir_all(&folder) {
                    // The others are removed all the same.
                    Err(error) if error.kind() != io::ErrorKind::NotFound => outcome = Err(error),
                    _ => {}
                }
            }
            outcome
        });
        removed.await.map_err(|_| lost("the thread that removes logs is gone"))?
    }
}

/// Waits for the disk below a folder.
type Sync = Box<dyn FnMut(&Path) -> io::Result<()> + Send>;

/// The thread that writes.
struct Writer {
    folder: Arc<Path>,
    compressor: Compressor<'static>,
    sync: Sync,
}

impl Writer {
    fn run(mut self, mut received: mpsc::Receiver<Deposit>) {
        let mut batch = Vec::with_capacity(AT_ONCE);
        while received.blocking_recv_many(&mut batch, AT_ONCE) > 0 {
            if batch.len() < AT_ONCE {
                thread::sleep(LINGER);
                while batch.len() < AT_ONCE
                    && let Ok(deposit) = received.try_recv()
                {
                    batch.push(deposit);
                }
            }
            self.write_all(batch.drain(..));
        }
    }

    /// The content is on the disk before it has its name, and the name before anybody is told: what is found under its name
    /// is a whole log, also after a crash in the middle.
    fn write_all(&mut self, batch: impl Iterator<Item = Deposit>) {
        let written = self.each(batch, |writer, deposit| writer.write(deposit));
        let named =
            self.each(written.into_iter(), |_, deposit| fs::rename(unfinished(&deposit.path), &deposit.path));
        for deposit in named {
            drop(deposit.done.send(Ok(())));
        }
    }

    /// Takes a step for each and waits for the disk; whoever fails is told so and goes no further.
    fn each(
        &mut self,
        batch: impl Iterator<Item = Deposit>,
        mut step: impl FnMut(&mut Self, &Deposit) -> io::Result<()>,
    ) -> Vec<Deposit> {
        let mut taken = Vec::new();
        for deposit in batch {
            match step(self, &deposit) {
                Ok(()) => taken.push(deposit),
                Err(error) => drop(deposit.done.send(Err(error))),
            }
        }
        if !taken.is_empty()
            && let Err(error) = (self.sync)(&self.folder)
        {
            for deposit in taken.drain(..) {
                drop(deposit.done.send(Err(io::Error::new(error.kind(), error.to_string()))));
            }
        }
        taken
    }

    fn write(&mut self, Deposit { path, log, .. }: &Deposit) -> io::Result<()> {
        let compressed = seal(self.compressor.compress(&log.frames)?, log.gap);
        let unfinished = unfinished(path);
        let mut put = fs::write(&unfinished, &compressed);
        if put.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && let Some(parent) = path.parent()
        {
            fs::create_dir_all(parent)?;
            put = fs::write(&unfinished, &compressed);
        }
        put
    }
}

fn runs_of_day(day: &Path) -> io::Result<Vec<RunId>> {
    let names = fs::read_dir(day)?.flatten().map(|run| run.file_name());
    Ok(names.filter_map(|name| name.to_str()?.parse().ok()).collect())
}

/// What a log is called until it is durable.
fn unfinished(path: &Path) -> PathBuf {
    path.with_extension("new")
}

fn sync_file_system(folder: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(folder)?)?)
}

/// Whether the log is there and stays: its name may be a moment old.
fn is_durable(path: &Path) -> bool {
    let folder = || File::open(path.parent()?).ok()?.sync_all().ok();
    path.exists() && folder().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_has_its_name_only_when_its_content_is_on_the_disk() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("day/run/1-1.zst");
        // The disk fails before the content is on it, then before the name is, then not.
        for (fails_at, named, kept) in [(1, false, false), (2, true, false), (3, true, true)] {
            let (seen, mut asked) = (path.clone(), 0);
            let sync = Box::new(move |_: &Path| {
                asked += 1;
                assert_eq!(seen.exists(), asked == 2, "sync {asked} of {fails_at}");
                if asked == fails_at { Err(io::Error::other("no disk")) } else { Ok(()) }
            });
            let compressor = Compressor::new(COMPRESSION_LEVEL).expect("memory");
            let mut writer = Writer { folder: folder.path().into(), compressor, sync };
            let (done, mut told) = oneshot::channel();
            let log = Captured { frames: vec![1; 100].into(), gap: None };
            writer.write_all([Deposit { path: path.clone(), log, done }].into_iter());
            assert_eq!(told.try_recv().expect("an answer").is_ok(), kept, "{fails_at}");
            assert_eq!(path.exists(), named, "{fails_at}");
            drop(fs::remove_file(&path));
        }
    }
}
