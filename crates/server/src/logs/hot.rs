//! The log of an attempt that is not over, for followers and for the vault.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use mainspring_model::log::MARK_BYTES;
use mainspring_model::{NodeId, log};
use mainspring_wire::agent::LogChunk;
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::captured::Captured;
use super::lost;
use super::spool::{Bounds, Spool};

/// What became of a chunk.
#[derive(Debug)]
pub(super) enum Taken {
    /// It, or what was there before, ends at this offset of the node's stream.
    Have { offset: u64 },
    /// The log is whole.
    Whole { offset: u64, log: Captured },
}

/// A log that grows.
#[derive(Debug)]
pub(super) struct Hot {
    /// Whose attempt it is.
    pub(super) node: NodeId,
    held: Arc<Mutex<Held>>,
    /// How far it goes, for followers.
    extent: watch::Sender<Extent>,
}

/// How far a log goes by now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) length: u64,
    /// Nothing follows.
    pub(super) whole: bool,
    /// It is read from the vault from now on.
    kept: bool,
}

#[derive(Debug)]
struct Held {
    frames: Spool,
    /// Where the node's stream stands: its offsets go on over what it dropped.
    stream_end: u64,
    /// When the node last sent something.
    heard_at: Instant,
}

impl Hot {
    /// A log of which nothing is here yet.
    pub(super) fn new(node: NodeId, folder: Arc<Path>) -> Self {
        let frames = Spool::new(folder, Bounds::DEFAULT);
        let held = Held { frames, stream_end: 0, heard_at: Instant::now() };
        Self { node, held: Arc::new(Mutex::new(held)), extent: watch::Sender::new(Extent::default()) }
    }

    /// Whether the node has sent nothing for so long.
    pub(super) fn is_silent_for(&self, time: Duration) -> bool {
        self.held.try_lock().is_ok_and(|held| held.heard_at.elapsed() >= time)
    }

    /// Appends a chunk that follows what is here. One that does not is answered with where to go on.
    pub(super) async fn take(&self, chunk: LogChunk) -> io::Result<Taken> {
        let bytes = chunk.data.len() + MARK_BYTES;
        let (taken, length) = self
            .with(bytes, move |held| {
                let taken = held.take(&chunk)?;
                Ok((taken, held.frames.end()))
            })
            .await?;
        let whole = matches!(taken, Taken::Whole { .. });
        self.extent.send_if_modified(|known| {
            let now = Extent { length, whole: known.whole || whole, ..*known };
            std::mem::replace(known, now) != now
        });
        Ok(taken)
    }

    /// Bytes from `offset` on, where they begin (later, if something was dropped there), and how far the log goes.
    pub(super) async fn read(&self, offset: u64, limit: usize) -> io::Result<(u64, Bytes, Extent)> {
        let extent = *self.extent.borrow();
        let (begin, bytes) = self.with(0, move |held| held.frames.read(offset, limit)).await?;
        Ok((begin, bytes, extent))
    }

    /// Everything that is here, and how far the log goes.
    pub(super) async fn whole(&self) -> io::Result<(Captured, Extent)> {
        let extent = *self.extent.borrow();
        Ok((self.with(0, |held| held.frames.whole()).await?, extent))
    }

    /// Returns when the log is longer than `length`, or whole, or kept elsewhere.
    pub(super) async fn grown(&self, length: u64) {
        let more = |now: &Extent| now.length > length || now.whole || now.kept;
        drop(self.extent.subscribe().wait_for(more).await);
    }

    /// Followers find the log in the vault from now on.
    pub(super) fn kept(&self) {
        self.extent.send_modify(|extent| extent.kept = true);
    }

    /// Memory is touched at once; a file is not, because a disk may stand still, nor is anybody waited for who touches one.
    /// `bytes` are what the work may append.
    async fn with<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce(&mut Held) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        if let Ok(mut held) = self.held.try_lock()
            && held.frames.stays_in_memory(bytes)
        {
            return work(&mut held);
        }
        let held = Arc::clone(&self.held);
        spawn_blocking(move || work(&mut held.lock().unwrap_or_else(PoisonError::into_inner)))
            .await
            .map_err(|_| lost("the thread that reads a log is gone"))?
    }
}

impl Held {
    fn take(&mut self, chunk: &LogChunk) -> io::Result<Taken> {
        let LogChunk { offset, data, end, gap, dropped_bytes, .. } = chunk;
        self.heard_at = Instant::now();
        let follows = offset.checked_sub(*gap) == Some(self.stream_end);
        if !follows {
            return Ok(Taken::Have { offset: self.stream_end });
        }
        if *gap > 0 {
            // Both or none: a chunk that finds no room is said again, with its gap.
            let at = log::frames(data).next().map_or(0, |frame| frame.at_us);
            self.frames.append(&[&log::mark(at, *dropped_bytes, *gap)[..], data].concat())?;
        } else {
            self.frames.append(data)?;
        }
        self.stream_end = offset + data.len() as u64;
        if *end == Some(self.stream_end) {
            let log = self.frames.whole()?;
            return Ok(Taken::Whole { offset: self.stream_end, log });
        }
        Ok(Taken::Have { offset: self.stream_end })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn chunk(offset: u64, text: &str, gap: u64, end: Option<u64>) -> LogChunk {
        let mut data = log::header(log::FrameKind::Stdout, 1, text.len()).to_vec();
        data.extend_from_slice(text.as_bytes());
        LogChunk { token: None, offset, data: data.into(), end, gap, dropped_bytes: gap }
    }

    const FRAME: u64 = 13 + 3;

    fn hot() -> Hot {
        Hot::new(NodeId::MIN, std::env::temp_dir().into())
    }

    #[tokio::test]
    async fn chunks_follow_each_other_and_doubles_change_nothing() {
        let hot = hot();
        let take = async |chunk| match hot.take(chunk).await.expect("memory takes it") {
            Taken::Have { offset } => offset,
            Taken::Whole { offset, .. } => offset,
        };
        assert_eq!(take(chunk(0, "abc", 0, None)).await, FRAME);
        assert_eq!(take(chunk(0, "abc", 0, None)).await, FRAME, "doubled");
        assert_eq!(take(chunk(5 * FRAME, "zzz", 0, None)).await, FRAME, "something is missing");
        assert_eq!(take(chunk(FRAME, "def", 0, None)).await, 2 * FRAME);
        let (_, bytes, extent) = hot.read(FRAME, 1_000).await.expect("memory is read");
        assert_eq!((bytes.len() as u64, extent.length, extent.whole), (FRAME, 2 * FRAME, false));
    }

    #[tokio::test]
    async fn what_was_dropped_is_marked_and_the_end_is_recognised() {
        let hot = hot();
        hot.take(chunk(0, "abc", 0, None)).await.expect("memory takes it");
        let end = FRAME + 100 + FRAME;
        let taken = hot.take(chunk(FRAME + 100, "xyz", 100, Some(end))).await.expect("memory takes it");
        let Taken::Whole { offset, log: Captured { frames, .. } } = taken else { panic!("whole") };
        let (_, _, extent) = hot.read(0, 1_000).await.expect("memory is read");
        assert!(extent.whole, "followers need not wait until it is durable");
        assert_eq!(offset, end);
        let read: Vec<_> = log::frames(&frames).collect();
        assert_eq!(read[1].dropped_bytes(), Some(100));
        assert_eq!(read[2].content, b"xyz");
    }

    #[tokio::test]
    async fn nobody_waits_in_the_loop_for_a_disk() {
        let hot = hot();
        hot.take(chunk(0, "abc", 0, None)).await.expect("memory takes it");
        // Somebody writes to a disk that stands still, for as long as nobody says otherwise.
        let (go_on, told) = std::sync::mpsc::channel::<()>();
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let held = Arc::clone(&hot.held);
        let writer = std::thread::spawn(move || {
            let _held = held.lock().unwrap_or_else(PoisonError::into_inner);
            begun.send(()).expect("somebody waits");
            told.recv_timeout(Duration::from_secs(600)).is_ok()
        });
        has_begun.await.expect("it writes");
        let mut read = std::pin::pin!(hot.read(0, 1_000));
        assert!(futures_util::poll!(read.as_mut()).is_pending());
        go_on.send(()).expect("it still writes");
        assert!(writer.join().expect("a thread"), "whoever reads let the others go on");
        assert_eq!(read.await.expect("memory is read").1.len() as u64, FRAME);
        // What is too long for memory is moved to a file elsewhere, too.
        let stays =
            |bytes| hot.held.lock().unwrap_or_else(PoisonError::into_inner).frames.stays_in_memory(bytes);
        assert!(stays(100 * 1024) && !stays(200 * 1024));
        hot.take(chunk(FRAME, &"x".repeat(200 * 1024), 0, None)).await.expect("a file takes it");
        assert!(!stays(0));
    }

    #[tokio::test]
    async fn a_follower_wakes_when_there_is_more() {
        struct Woken(AtomicBool);
        impl std::task::Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let hot = hot();
        let woken = Arc::new(Woken(AtomicBool::new(false)));
        let waker = std::task::Waker::from(Arc::clone(&woken));
        let mut context = std::task::Context::from_waker(&waker);
        let mut follower = std::pin::pin!(hot.grown(0));
        assert!(follower.as_mut().poll(&mut context).is_pending(), "there is nothing yet");
        assert!(!woken.0.load(Ordering::SeqCst));
        hot.take(chunk(0, "abc", 0, None)).await.expect("memory takes it");
        assert!(woken.0.load(Ordering::SeqCst), "the follower is woken");
        assert!(follower.as_mut().poll(&mut context).is_ready());
    }
}
