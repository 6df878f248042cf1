//! The pipes that carry a task's output.
//!
//! The task's end is open for reading too. So a task does not die of a broken pipe while its sidecar is dead: it
//! goes on, waits at worst when 64 KiB are full, and the next sidecar opens the pipe again through `/proc`.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};

use rustix::fs::OFlags;
use rustix::pipe::{PipeFlags, pipe_with};

use crate::attempt_dir::Owner;

/// A pipe: our end, which never blocks, and the task's. A task of another user gets the pipe itself too, or it could not
/// open it again as `/dev/stdout`.
pub(crate) fn create(owner: Option<Owner>) -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = pipe_with(PipeFlags::CLOEXEC)?;
    if let Some(owner) = owner {
        owner.take(&ours)?;
    }
    rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    let path = format!("/proc/self/fd/{}", theirs.as_raw_fd());
    let theirs = OpenOptions::new().read(true).write(true).open(path).map_or(theirs, OwnedFd::from);
    Ok((ours, theirs))
}

/// What names a pipe within a boot.
pub(crate) fn inode(pipe: &OwnedFd) -> u64 {
    rustix::fs::fstat(pipe).map_or(0, |stat| stat.st_ino)
}

/// Our end of the pipe `inode`, if a running task still has it as `descriptor`.
pub(crate) fn reopen(pid: u32, descriptor: u32, inode: u64) -> Option<OwnedFd> {
    let flags = OFlags::NONBLOCK.bits() as i32;
    let path = format!("/proc/{pid}/fd/{descriptor}");
    // Opening another kind of file than a pipe might block, or do whatever a device does.
    std::fs::metadata(&path)
        .ok()
        .filter(|metadata| metadata.file_type().is_fifo() && metadata.ino() == inode)?;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok().filter(|metadata| metadata.ino() == inode)?;
    Some(file.into())
}

/// What a read of a pipe gave.
pub(crate) enum Read {
    /// So many bytes.
    Bytes(usize),
    /// Nothing now.
    Nothing,
    /// Nobody has the other end any more.
    End,
}

/// Reads without waiting.
pub(crate) fn read(pipe: &OwnedFd, buffer: &mut [u8]) -> Read {
    loop {
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => return Read::End,
            Ok(bytes) => return Read::Bytes(bytes),
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => return Read::Nothing,
            Err(_) => return Read::End,
        }
    }
}
