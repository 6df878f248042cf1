//! Where logs are kept when they are whole, and what there is of one whose node never came back: a folder of this machine
//! ([`folder`]), or a bucket that all servers share ([`bucket`]).

mod bucket;
mod folder;

use std::io;
use std::path::Path;

use mainspring_blob::Blobs;
use mainspring_model::{AttemptToken, RunId};

use self::bucket::Bucket;
use self::folder::Folder;
use super::captured::{Captured, Gap};

/// A level that costs little; output of programs shrinks to a fifth.
const COMPRESSION_LEVEL: i32 = 1;
const DAY_US: i64 = 86_400_000_000;

/// The magic number of a part of a compressed file that decoders pass over. What is missing in a log is written there.
const SKIPPED_MAGIC: u32 = 0x184d_2a5d;
const SKIPPED_BYTES: usize = 8 + 16;

/// A log that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) log: Captured,
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
    pub(super) async fn keep(&self, token: AttemptToken, log: Captured) -> io::Result<()> {
        self.put(token, log, Extent::Whole).await
    }

    /// The same for frames of which nothing is missing.
    pub(crate) async fn keep_whole(&self, token: AttemptToken, frames: Vec<u8>) -> io::Result<()> {
        self.keep(token, Captured { frames: frames.into(), gap: None }).await
    }

    /// Keeps what there is of a log, until all of it comes.
    pub(super) async fn keep_part(&self, token: AttemptToken, log: Captured) -> io::Result<()> {
        if self.has(token).await {
            return Ok(());
        }
        self.put(token, log, Extent::Part).await
    }

    async fn put(&self, token: AttemptToken, log: Captured, extent: Extent) -> io::Result<()> {
        match self {
            Self::Folder(folder) => folder.put(token, log, extent).await,
            Self::Bucket(bucket) => bucket.put(token, log, extent).await,
        }
    }

    /// Whether the whole log is here.
    pub(crate) async fn has(&self, token: AttemptToken) -> bool {
        match self {
            Self::Folder(folder) => folder.has(token).await,
            Self::Bucket(bucket) => bucket.has(token).await,
        }
    }

    /// The log, as far as it is here.
    pub(super) async fn read(&self, token: AttemptToken) -> io::Result<Option<Kept>> {
        for extent in [Extent::Whole, Extent::Part] {
            let log = match self {
                Self::Folder(folder) => folder.read(token, extent).await?,
                Self::Bucket(bucket) => bucket.read(token, extent).await?,
            };
            if let Some(log) = log {
                return Ok(Some(Kept { log, whole: extent == Extent::Whole }));
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

/// A compressed log together with what is missing in it.
fn seal(mut compressed: Vec<u8>, gap: Option<Gap>) -> Vec<u8> {
    if let Some(gap) = gap {
        compressed.extend_from_slice(&SKIPPED_MAGIC.to_le_bytes());
        compressed.extend_from_slice(&16_u32.to_le_bytes());
        compressed.extend_from_slice(&gap.to_bytes());
    }
    compressed
}

/// The log in a compressed file.
fn open(compressed: &[u8]) -> io::Result<Captured> {
    let frames = zstd::decode_all(compressed)?.into();
    let gap = compressed.last_chunk::<SKIPPED_BYTES>().and_then(|end| {
        let (magic, gap) = (end.first_chunk::<4>()?, end.last_chunk::<16>()?);
        (u32::from_le_bytes(*magic) == SKIPPED_MAGIC).then(|| Gap::from_bytes(*gap))
    });
    Ok(Captured { frames, gap })
}

#[cfg(test)]
mod tests {
    use mainspring_model::{Epoch, Timestamp};

    use super::*;

    fn token(n: u128) -> AttemptToken {
        let at = Timestamp::from_micros(3 * DAY_US + 5_000);
        AttemptToken { run: RunId::new(at, n), number: 1, epoch: Epoch(1) }
    }

    /// Every other one has a gap.
    fn log(byte: u8) -> Captured {
        let gap = byte.is_multiple_of(2).then_some(Gap { begin: 5, end: u64::MAX });
        Captured { frames: vec![byte; 10_000].into(), gap }
    }

    fn whole(byte: u8) -> Option<Kept> {
        Some(Kept { log: log(byte), whole: true })
    }

    async fn keeps_reads_and_removes(vault: Vault) {
        assert_eq!(vault.read(token(1)).await.expect("it answers"), None);
        for n in 1..=3 {
            vault.keep(token(n), log(n as u8)).await.expect("it takes it");
        }
        vault.keep(token(1), log(1)).await.expect("once more");
        assert!(vault.has(token(2)).await);
        assert_eq!(vault.read(token(3)).await.expect("it answers"), whole(3));
        assert_eq!(vault.read(token(2)).await.expect("it answers"), whole(2));
        let mut runs = vault.runs().await.expect("it answers");
        runs.sort_unstable();
        assert_eq!(runs, [token(1).run, token(2).run, token(3).run]);
        vault.remove(&[token(3).run, token(9).run]).await.expect("it answers");
        assert!(!vault.has(token(3)).await);
        assert!(vault.has(token(1)).await, "others stay");
    }

    async fn a_part_is_read_until_all_of_it_is_there(vault: Vault) {
        vault.keep_part(token(5), log(5)).await.expect("it takes it");
        assert!(!vault.has(token(5)).await);
        let part = vault.read(token(5)).await.expect("it answers");
        assert_eq!(part, Some(Kept { log: log(5), whole: false }));
        vault.keep(token(5), log(6)).await.expect("it takes it");
        vault.keep_part(token(5), log(5)).await.expect("it knows better");
        assert_eq!(vault.read(token(5)).await.expect("it answers"), whole(6));
        vault.remove(&[token(5).run]).await.expect("it answers");
        assert_eq!(vault.read(token(5)).await.expect("it answers"), None);
    }

    #[tokio::test]
    async fn in_a_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let vault = Vault::folder(&folder.path().join("logs")).expect("a folder");
        std::fs::write(folder.path().join("logs/000000"), "somebody's notes").expect("a file");
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
