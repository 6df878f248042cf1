//! The log of an attempt that is not over: small ones in memory, others in a file without a name.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use mainspring_model::log;
use mainspring_wire::agent::LogChunk;
use tempfile::SpooledTempFile;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::lost;

/// Logs up to this size need no file.
const IN_MEMORY_MAX: usize = 128 * 1024;

/// What became of a chunk.
#[derive(Debug)]
pub(super) enum Taken {
    /// It, or what was there before, ends at this offset of the node's stream.
    Have { offset: u64 },
    /// The log is whole.
    Whole { offset: u64, frames: Bytes },
}

/// A log that grows.
#[derive(Debug)]
pub(super) struct Hot {
    held: Arc<Mutex<Held>>,
    /// The length, for followers; closed when the log is kept elsewhere.
    length: watch::Sender<u64>,
}

#[derive(Debug)]
struct Held {
    frames: SpooledTempFile,
    length: u64,
    /// Where the node's stream stands: its offsets go on over what it dropped.
    stream_end: u64,
}

impl Default for Hot {
    fn default() -> Self {
        let held = Held { frames: SpooledTempFile::new(IN_MEMORY_MAX), length: 0, stream_end: 0 };
        Self { held: Arc::new(Mutex::new(held)), length: watch::Sender::new(0) }
    }
}

impl Hot {
    /// Appends a chunk that follows what is here. One that does not is answered with where to go on.
    pub(super) async fn take(&self, chunk: LogChunk) -> io::Result<Taken> {
        let (taken, length) = self
            .with(move |held| {
                let taken = held.take(&chunk)?;
                Ok((taken, held.length))
            })
            .await?;
        self.length.send_if_modified(|known| std::mem::replace(known, length) != length);
        Ok(taken)
    }

    /// Bytes from `offset` on, and the length.
    pub(super) async fn read(&self, offset: u64, limit: usize) -> io::Result<(Bytes, u64)> {
        self.with(move |held| {
            let wanted = held.length.saturating_sub(offset).min(limit as u64);
            Ok((held.read(offset.min(held.length), wanted as usize)?, held.length))
        })
        .await
    }

    /// Returns when the log is longer than `length`, or kept elsewhere.
    pub(super) async fn grown(&self, length: u64) {
        drop(self.length.subscribe().wait_for(|now| *now > length || *now == KEPT).await);
    }

    /// Followers find the log in the vault from now on.
    pub(super) fn kept(&self) {
        self.length.send_replace(KEPT);
    }

    /// Memory is touched at once; a file is not, because a disk may stand still.
    async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Held) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        {
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            if !held.frames.is_rolled() {
                return work(&mut held);
            }
        }
        let held = Arc::clone(&self.held);
        spawn_blocking(move || work(&mut held.lock().unwrap_or_else(PoisonError::into_inner)))
            .await
            .map_err(|_| lost("the thread that reads a log is gone"))?
    }
}

/// No log is so long.
const KEPT: u64 = u64::MAX;

impl Held {
    fn take(&mut self, chunk: &LogChunk) -> io::Result<Taken> {
        let LogChunk { offset, data, end, gap, dropped_bytes, .. } = chunk;
        let follows = offset.checked_sub(*gap) == Some(self.stream_end);
        if !follows {
            return Ok(Taken::Have { offset: self.stream_end });
        }
        self.frames.seek(SeekFrom::Start(self.length))?;
        if *gap > 0 {
            let at = log::frames(data).next().map_or(0, |frame| frame.at_us);
            let mark = log::mark(at, *dropped_bytes, *gap);
            self.frames.write_all(&mark)?;
            self.length += mark.len() as u64;
        }
        self.frames.write_all(data)?;
        self.length += data.len() as u64;
        self.stream_end = offset + data.len() as u64;
        if *end == Some(self.stream_end) {
            let frames = self.read(0, self.length as usize)?;
            return Ok(Taken::Whole { offset: self.stream_end, frames });
        }
        Ok(Taken::Have { offset: self.stream_end })
    }

    fn read(&mut self, offset: u64, length: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.frames.seek(SeekFrom::Start(offset))?;
        self.frames.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(offset: u64, text: &str, gap: u64, end: Option<u64>) -> LogChunk {
        let mut data = log::header(log::FrameKind::Stdout, 1, text.len()).to_vec();
        data.extend_from_slice(text.as_bytes());
        LogChunk { token: None, offset, data: data.into(), end, gap, dropped_bytes: gap }
    }

    const FRAME: u64 = 13 + 3;

    #[tokio::test]
    async fn chunks_follow_each_other_and_doubles_change_nothing() {
        let hot = Hot::default();
        let take = async |chunk| match hot.take(chunk).await.expect("memory takes it") {
            Taken::Have { offset } => offset,
            Taken::Whole { offset, .. } => offset,
        };
        assert_eq!(take(chunk(0, "abc", 0, None)).await, FRAME);
        assert_eq!(take(chunk(0, "abc", 0, None)).await, FRAME, "doubled");
        assert_eq!(take(chunk(5 * FRAME, "zzz", 0, None)).await, FRAME, "something is missing");
        assert_eq!(take(chunk(FRAME, "def", 0, None)).await, 2 * FRAME);
        let (bytes, length) = hot.read(FRAME, 1_000).await.expect("memory is read");
        assert_eq!((bytes.len() as u64, length), (FRAME, 2 * FRAME));
    }

    #[tokio::test]
    async fn what_was_dropped_is_marked_and_the_end_is_recognised() {
        let hot = Hot::default();
        hot.take(chunk(0, "abc", 0, None)).await.expect("memory takes it");
        let end = FRAME + 100 + FRAME;
        let taken = hot.take(chunk(FRAME + 100, "xyz", 100, Some(end))).await.expect("memory takes it");
        let Taken::Whole { offset, frames } = taken else { panic!("whole") };
        assert_eq!(offset, end);
        let read: Vec<_> = log::frames(&frames).collect();
        assert_eq!(read[1].dropped_bytes(), Some(100));
        assert_eq!(read[2].content, b"xyz");
    }

    #[tokio::test]
    async fn a_follower_wakes_when_there_is_more() {
        let hot = Arc::new(Hot::default());
        let follower = tokio::spawn({
            let hot = Arc::clone(&hot);
            async move { hot.grown(0).await }
        });
        hot.take(chunk(0, "abc", 0, None)).await.expect("memory takes it");
        follower.await.expect("the follower is told");
    }
}
