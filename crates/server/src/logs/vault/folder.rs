//! A folder of logs: one compressed file for each attempt.
//!
//! Logs that become whole at about the same time are made durable together: written one after the other, then one wait for the
//! disk answers for all of them. Nobody is kept waiting by that: readers have a log as soon as it is whole, and the node
//! keeps its copy for a moment longer.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use mainspring_model::{AttemptToken, RunId};
use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use zstd::bulk::Compressor;

use super::super::lost;
use super::{COMPRESSION_LEVEL, Extent, place, place_of_run};

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
    frames: Bytes,
    done: oneshot::Sender<io::Result<()>>,
}

impl Folder {
    /// Opens the folder, and makes it if there is none.
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let (deposits, received) = mpsc::channel::<Deposit>(AT_ONCE);
        let folder: Arc<Path> = folder.into();
        let compressor = Compressor::new(COMPRESSION_LEVEL)?;
        let writer = Writer { folder: Arc::clone(&folder), compressor };
        thread::Builder::new().name("log-vault".into()).spawn(move || writer.run(received))?;
        Ok(Self { folder, deposits })
    }

    pub(super) async fn put(&self, token: AttemptToken, frames: Bytes, extent: Extent) -> io::Result<()> {
        let (done, kept) = oneshot::channel();
        let gone = || lost("the thread that keeps logs is gone");
        let path = self.folder.join(place(token, extent));
        self.deposits.send(Deposit { path, frames, done }).await.map_err(|_| gone())?;
        kept.await.map_err(|_| gone())?
    }

    pub(super) async fn has(&self, token: AttemptToken) -> bool {
        let path = self.folder.join(place(token, Extent::Whole));
        spawn_blocking(move || path.exists()).await.unwrap_or(false)
    }

    pub(super) async fn read(&self, token: AttemptToken, extent: Extent) -> io::Result<Option<Bytes>> {
        let path = self.folder.join(place(token, extent));
        let read = spawn_blocking(move || match File::open(&path) {
            Ok(file) => zstd::decode_all(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        });
        let frames = read.await.map_err(|_| lost("the thread that reads a log is gone"))??;
        Ok(frames.map(Bytes::from))
    }

    pub(super) async fn runs(&self) -> io::Result<Vec<RunId>> {
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

    pub(super) async fn remove(&self, runs: &[RunId]) -> io::Result<()> {
        let folders: Vec<PathBuf> = runs.iter().map(|run| self.folder.join(place_of_run(*run))).collect();
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

/// The thread that writes.
struct Writer {
    folder: Arc<Path>,
    compressor: Compressor<'static>,
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

    fn write_all(&mut self, batch: impl Iterator<Item = Deposit>) {
        let mut written = Vec::new();
        for Deposit { path, frames, done } in batch {
            match self.write(&path, &frames) {
                Ok(()) => written.push(done),
                Err(error) => drop(done.send(Err(error))),
            }
        }
        let synced = File::open(&self.folder).and_then(|folder| Ok(rustix::fs::syncfs(&folder)?));
        for done in written {
            let answer =
                synced.as_ref().copied().map_err(|error| io::Error::new(error.kind(), error.to_string()));
            drop(done.send(answer));
        }
    }

    /// A log is there whole or not at all, also after a crash in the middle.
    fn write(&mut self, path: &Path, frames: &[u8]) -> io::Result<()> {
        let compressed = self.compressor.compress(frames)?;
        let unfinished = path.with_extension("new");
        let mut put = fs::write(&unfinished, &compressed);
        if put.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
            && let Some(parent) = path.parent()
        {
            fs::create_dir_all(parent)?;
            put = fs::write(&unfinished, &compressed);
        }
        put?;
        fs::rename(&unfinished, path)
    }
}
