//! Fetched artifacts by their digest, kept for later attempts up to a bound.
//!
//! A task gets a copy, never the file itself: what it does to its copy stays with it. What another process left here is
//! believed only after its digest was looked at. What came from a URL is for those who name the same URL: to know a digest
//! is not to be allowed to have the file.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use mainspring_blob::{Content, Digester};
use mainspring_model::spec::{Artifact, Digest};
use rustc_hash::FxHashMap;
use tokio::task::spawn_blocking;

const READ_BYTES: usize = 256 * 1024;

/// The artifacts of a node.
#[derive(Debug)]
pub(crate) struct Cache {
    directory: PathBuf,
    bytes_max: u64,
    /// Those in use: fetched once however many attempts want them, and not removed meanwhile.
    in_use: Mutex<FxHashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
    /// The sizes of those that this process fetched or has looked at.
    verified: Mutex<FxHashMap<PathBuf, u64>>,
}

impl Cache {
    pub(crate) fn new(directory: PathBuf, bytes_max: u64) -> Self {
        // What was being fetched when an agent died is nobody's.
        let _ = fs::remove_dir_all(directory.join("incoming"));
        Self { directory, bytes_max, in_use: Mutex::default(), verified: Mutex::default() }
    }

    /// Puts an artifact at `to`, fetching it if it is not here yet.
    pub(crate) async fn place(
        &self,
        artifact: &Artifact,
        incoming: impl AsyncFnOnce(PathBuf) -> Result<u64, String>,
        to: PathBuf,
    ) -> Result<(), String> {
        let using = self.using(self.path(artifact));
        {
            let _turn = using.turn.lock().await;
            self.fetch(&artifact.digest, incoming, &using.kept).await?;
        }
        copy(using.kept.clone(), to, if artifact.executable { 0o755 } else { 0o644 }).await
    }

    async fn fetch(
        &self,
        digest: &Digest,
        fetch: impl AsyncFnOnce(PathBuf) -> Result<u64, String>,
        kept: &Path,
    ) -> Result<(), String> {
        if self.is_good(digest, kept).await {
            return Ok(());
        }
        let incoming = self.directory.join("incoming").join(uuid::Uuid::now_v7().simple().to_string());
        for directory in [incoming.parent(), kept.parent()].into_iter().flatten() {
            fs::create_dir_all(directory)
                .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        }
        // Whatever is left of it goes, also when nobody waits for it any more.
        let incoming = Incoming(incoming);
        let bytes = fetch(incoming.0.clone()).await?;
        let to = kept.to_owned();
        let moved =
            spawn_blocking(move || settle(&incoming.0, &to)).await.map_err(|error| error.to_string())?;
        moved.map_err(|error| format!("cannot keep it: {error}"))?;
        self.verified.lock().unwrap_or_else(PoisonError::into_inner).insert(kept.to_owned(), bytes);
        self.make_room(bytes);
        Ok(())
    }

    /// Whether an artifact is here and is what it should be; the digest is looked at once.
    async fn is_good(&self, digest: &Digest, kept: &Path) -> bool {
        let Ok(file) = fs::File::open(kept) else { return false };
        let size = file.metadata().map(|metadata| metadata.len()).ok();
        let known = self.verified.lock().unwrap_or_else(PoisonError::into_inner).get(kept).copied();
        if known.is_none() || known != size {
            let wanted = *digest;
            let content = spawn_blocking(move || content_of(file)).await;
            let Some(content) = content.ok().flatten().filter(|content| content.digest == wanted) else {
                tracing::warn!(path = %kept.display(), "a cached artifact is damaged; it is fetched again");
                return false;
            };
            self.verified
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(kept.to_owned(), content.size);
        }
        // It was used now.
        fs::File::open(kept).and_then(|file| file.set_modified(SystemTime::now())).is_ok()
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
        kept.sort();
        for (_, size, path) in kept {
            if total <= self.bytes_max {
                break;
            }
            if !in_use.contains_key(&path) && fs::remove_file(&path).is_ok() {
                self.verified.lock().unwrap_or_else(PoisonError::into_inner).remove(&path);
                total -= size;
            }
        }
    }

    fn path(&self, artifact: &Artifact) -> PathBuf {
        let mut key = mainspring_blob::content_key(&artifact.digest);
        if let Some(url) = &artifact.url {
            let mut digester = Digester::new(u64::MAX);
            // There is no bound that it could exceed.
            let _ = digester.add(url.as_bytes());
            let digest = digester.finish().digest.to_string();
            key = format!("{key}-{}", digest.trim_start_matches("sha256:"));
        }
        self.directory.join(key)
    }

    fn using(&self, kept: PathBuf) -> Using<'_> {
        let mut in_use = self.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = Arc::clone(in_use.entry(kept.clone()).or_default());
        Using { cache: self, kept, turn }
    }
}

/// An artifact in use; it is let go when its user is done, or was given up.
struct Using<'a> {
    cache: &'a Cache,
    kept: PathBuf,
    turn: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        let mut in_use = self.cache.in_use.lock().unwrap_or_else(PoisonError::into_inner);
        // The cache has one, and this is the other.
        if Arc::strong_count(&self.turn) == 2 {
            in_use.remove(&self.kept);
        }
    }
}

/// A file that is being fetched.
struct Incoming(PathBuf);

impl Drop for Incoming {
    fn drop(&mut self) {
        // One that was moved to its place is not there any more.
        let _ = fs::remove_file(&self.0);
    }
}

/// Moves a file to its place once its content is on the disk: a crash leaves it whole or not at all.
fn settle(from: &Path, to: &Path) -> io::Result<()> {
    fs::File::open(from)?.sync_all()?;
    fs::rename(from, to)
}

fn content_of(mut file: fs::File) -> Option<Content> {
    let mut digester = Digester::new(u64::MAX);
    let mut bytes = vec![0; READ_BYTES];
    loop {
        match file.read(&mut bytes).ok()? {
            0 => return Some(digester.finish()),
            read => digester.add(&bytes[..read]).ok()?,
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{Context, Waker};

    use super::*;

    const GOOD: &str = "hello world";

    fn artifact() -> Artifact {
        let mut digester = Digester::new(100);
        digester.add(GOOD.as_bytes()).unwrap();
        let digest = digester.finish().digest;
        Artifact { url: None, digest, path: Some("tool".into()), executable: false }
    }

    async fn place(cache: &Cache, fetches: &AtomicU32, to: &Path) {
        let fetch = async |to: PathBuf| {
            fetches.fetch_add(1, Ordering::SeqCst);
            fs::write(to, GOOD).unwrap();
            Ok(GOOD.len() as u64)
        };
        cache.place(&artifact(), fetch, to.to_owned()).await.unwrap();
        assert_eq!(fs::read_to_string(to).unwrap(), GOOD);
    }

    #[tokio::test]
    async fn who_knows_the_digest_of_a_file_does_not_have_it() {
        let ground = tempfile::tempdir().unwrap();
        let cache = Cache::new(ground.path().join("cache"), 1_000);
        let to = ground.path().join("tool");
        place(&cache, &AtomicU32::new(0), &to).await;
        let guess = Artifact { url: Some("https://elsewhere/nothing".into()), ..artifact() };
        let placed = cache.place(&guess, async |_| Err("there is nothing".to_owned()), to).await;
        assert_eq!(placed, Err("there is nothing".to_owned()));
    }

    #[tokio::test]
    async fn what_was_given_up_leaves_nothing_behind() {
        let ground = tempfile::tempdir().unwrap();
        let cache = Cache::new(ground.path().join("cache"), 1_000);
        let fetch = async |to: PathBuf| {
            fs::write(to, "hel").unwrap();
            std::future::pending().await
        };
        let incoming = || fs::read_dir(ground.path().join("cache/incoming")).unwrap().count();
        {
            let artifact = artifact();
            let mut place = std::pin::pin!(cache.place(&artifact, fetch, ground.path().join("tool")));
            assert!(place.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            assert_eq!((incoming(), cache.in_use.lock().unwrap().len()), (1, 1));
        }
        assert_eq!((incoming(), cache.in_use.lock().unwrap().len()), (0, 0));
        place(&cache, &AtomicU32::new(0), &ground.path().join("tool")).await;
        assert_eq!((incoming(), cache.in_use.lock().unwrap().len()), (0, 0));
    }

    #[tokio::test]
    async fn what_was_damaged_is_fetched_again() {
        let ground = tempfile::tempdir().unwrap();
        let (directory, to) = (ground.path().join("cache"), ground.path().join("tool"));
        let fetches = AtomicU32::new(0);
        let cache = Cache::new(directory.clone(), 1_000);
        place(&cache, &fetches, &to).await;
        place(&cache, &fetches, &to).await;
        assert_eq!(fetches.load(Ordering::SeqCst), 1);
        let kept = cache.path(&artifact());
        // Cut off, seen by its size; and the same size with other bytes, seen by the next process.
        fs::write(&kept, "hello").unwrap();
        place(&cache, &fetches, &to).await;
        assert_eq!(fetches.load(Ordering::SeqCst), 2);
        fs::write(&kept, "hello\0\0\0\0\0\0").unwrap();
        let cache = Cache::new(directory, 1_000);
        place(&cache, &fetches, &to).await;
        place(&cache, &fetches, &to).await;
        assert_eq!(fetches.load(Ordering::SeqCst), 3);
    }
}
