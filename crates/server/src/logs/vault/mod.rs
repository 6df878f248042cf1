//! Where logs are kept when they are whole, and what there is of one whose node never came back: a folder of this machine
//! ([`folder`]), or a bucket that all servers share ([`bucket`]).

mod bucket;
mod folder;

use std::io;
use std::path::Path;

use bytes::Bytes;
use mainspring_blob::Blobs;
use mainspring_model::{AttemptToken, RunId};

use self::bucket::Bucket;
use self::folder::Folder;

/// A level that costs little; output of programs shrinks to a fifth.
const COMPRESSION_LEVEL: i32 = 1;
const DAY_US: i64 = 86_400_000_000;

/// A log that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) frames: Bytes,
    pub(super) whole: bool,
}

/// Whether all of a log is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Part,
}

/// The place of kept logs.
#[derive(Debug, Clone)]
pub(crate) enum Vault {
    /// A folder of this machine, or one that several machines share.
    Folder(Folder),
    /// A bucket.
    Bucket(Bucket),
}

impl Vault {
    /// Opens the folder, and makes it if there is none.
    pub(crate) fn folder(folder: &Path) -> io::Result<Self> {
        Folder::open(folder).map(Self::Folder)
    }

    /// Keeps logs in a bucket.
    pub(crate) fn bucket(blobs: Blobs) -> Self {
        Self::Bucket(Bucket(blobs))
    }

    /// Whether it may be this server's alone.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    /// Keeps a whole log; it is durable when this returns. Keeping it again changes nothing.
    pub(super) async fn keep(&self, token: AttemptToken, frames: Bytes) -> io::Result<()> {
        self.put(token, frames, Extent::Whole).await
    }

    /// Keeps what there is of a log, until all of it comes.
    pub(super) async fn keep_part(&self, token: AttemptToken, frames: Bytes) -> io::Result<()> {
        if self.has(token).await {
            return Ok(());
        }
        self.put(token, frames, Extent::Part).await
    }

    async fn put(&self, token: AttemptToken, frames: Bytes, extent: Extent) -> io::Result<()> {
        match self {
            Self::Folder(folder) => folder.put(token, frames, extent).await,
            Self::Bucket(bucket) => bucket.put(token, frames, extent).await,
        }
    }

    /// Whether the whole log is here.
    pub(super) async fn has(&self, token: AttemptToken) -> bool {
        match self {
            Self::Folder(folder) => folder.has(token).await,
            Self::Bucket(bucket) => bucket.has(token).await,
        }
    }

    /// The log, as far as it is here.
    pub(super) async fn read(&self, token: AttemptToken) -> io::Result<Option<Kept>> {
        for extent in [Extent::Whole, Extent::Part] {
            let frames = match self {
                Self::Folder(folder) => folder.read(token, extent).await?,
                Self::Bucket(bucket) => bucket.read(token, extent).await?,
            };
            if let Some(frames) = frames {
                return Ok(Some(Kept { frames, whole: extent == Extent::Whole }));
            }
        }
        Ok(None)
    }

    /// Every run that has a log here.
    pub(crate) async fn runs(&self) -> io::Result<Vec<RunId>> {
        match self {
            Self::Folder(folder) => folder.runs().await,
            Self::Bucket(bucket) => bucket.runs().await,
        }
    }

    /// Removes the logs of these runs.
    pub(crate) async fn remove(&self, runs: &[RunId]) -> io::Result<()> {
        match self {
            Self::Folder(folder) => folder.remove(runs).await,
            Self::Bucket(bucket) => bucket.remove(runs).await,
        }
    }
}

/// Where the logs of a run are, below the vault: by day, so that the oldest are found without looking at all.
fn place_of_run(run: RunId) -> String {
    let day = run.made_at().as_micros().div_euclid(DAY_US);
    format!("{day:06}/{run}")
}

/// Where a log is, below the vault.
fn place(token: AttemptToken, extent: Extent) -> String {
    let ending = match extent {
        Extent::Whole => "zst",
        Extent::Part => "part.zst",
    };
    format!("{}/{}-{}.{ending}", place_of_run(token.run), token.number, token.epoch.0)
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Epoch, Timestamp};

    use super::*;

    fn token(n: u128) -> AttemptToken {
        let at = Timestamp::from_micros(3 * DAY_US + 5_000);
        AttemptToken { run: RunId::new(at, n), number: 1, epoch: Epoch(1) }
    }

    fn bytes(byte: u8) -> Bytes {
        vec![byte; 10_000].into()
    }

    fn whole(byte: u8) -> Option<Kept> {
        Some(Kept { frames: bytes(byte), whole: true })
    }

    async fn keeps_reads_and_removes(vault: Vault) {
        assert_eq!(vault.read(token(1)).await.expect("it answers"), None);
        for n in 1..=3 {
            vault.keep(token(n), bytes(n as u8)).await.expect("it takes it");
        }
        vault.keep(token(1), bytes(1)).await.expect("once more");
        assert!(vault.has(token(2)).await);
        assert_eq!(vault.read(token(3)).await.expect("it answers"), whole(3));
        let mut runs = vault.runs().await.expect("it answers");
        runs.sort_unstable();
        assert_eq!(runs, [token(1).run, token(2).run, token(3).run]);
        vault.remove(&[token(3).run, token(9).run]).await.expect("it answers");
        assert!(!vault.has(token(3)).await);
        assert!(vault.has(token(1)).await, "others stay");
    }

    async fn a_part_is_read_until_all_of_it_is_there(vault: Vault) {
        vault.keep_part(token(5), bytes(5)).await.expect("it takes it");
        assert!(!vault.has(token(5)).await);
        let part = vault.read(token(5)).await.expect("it answers");
        assert_eq!(part, Some(Kept { frames: bytes(5), whole: false }));
        vault.keep(token(5), bytes(6)).await.expect("it takes it");
        vault.keep_part(token(5), bytes(5)).await.expect("it knows better");
        assert_eq!(vault.read(token(5)).await.expect("it answers"), whole(6));
        vault.remove(&[token(5).run]).await.expect("it answers");
        assert_eq!(vault.read(token(5)).await.expect("it answers"), None);
    }

    #[tokio::test]
    async fn in_a_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let vault = Vault::folder(&folder.path().join("logs")).expect("a folder");
        keeps_reads_and_removes(vault.clone()).await;
        a_part_is_read_until_all_of_it_is_there(vault).await;
    }

    #[tokio::test]
    async fn in_blobs() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let url = format!("file://{}", folder.path().display());
        let vault = Vault::bucket(Blobs::open(&url).expect("a folder"));
        keeps_reads_and_removes(vault.clone()).await;
        a_part_is_read_until_all_of_it_is_there(vault).await;
    }
}
