//! Keeper of the pipes: a second process that shares the table of open files with the sidecar and does nothing.
//!
//! A pipe and what is in it are gone when its last reader and its last writer are. A task may write and end while there is
//! no sidecar; the keeper is the reader that is left, so the next sidecar still finds what the task wrote (`recover`).
//! Because the table is shared, a task costs nothing for it.
//!
//! When the sidecar dies, the keeper closes everything but the pipes at once: the lock, the socket and the connections,
//! which others wait for. The next sidecar ends it. A keeper that is killed too costs no more than that output.

#![expect(unsafe_code, reason = "no safe call makes a process that shares the table of open files")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::FileExt;
use std::time::Duration;

use nix::sched::{CloneFlags, clone};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal, setpgid};

use crate::procfs;

const STACK_BYTES: usize = 64 * 1024;
/// How long it keeps the pipes of a sidecar that no other follows.
const PATIENCE: Duration = Duration::from_secs(600);

/// The keeper of this sidecar.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub(crate) pid: u32,
    pidfd: OwnedFd,
    /// Of the sidecar: the keeper waits on it.
    _sidecar: OwnedFd,
}

/// Two processes by which the next sidecar knows the last one and its keeper; the content of the lock file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Predecessor {
    sidecar: (u32, u64),
    keeper: (u32, u64),
}

impl Keeper {
    /// Starts it. To be called while this process has one thread.
    pub(crate) fn start() -> io::Result<Self> {
        let sidecar = pidfd_open(getpid(), PidfdFlags::empty())?;
        let mut stack = vec![0; STACK_BYTES];
        let keep = Box::new(|| {
            keep(&sidecar);
            0
        });
        // SAFETY: the child has a copy of this memory and a stack of its own; no other thread exists that could hold a lock.
        let pid = unsafe { clone(keep, &mut stack, CloneFlags::CLONE_FILES, Some(nix::libc::SIGCHLD)) }?;
        let raw = Pid::from_raw(pid.as_raw()).ok_or(io::ErrorKind::NotFound)?;
        let pidfd = pidfd_open(raw, PidfdFlags::empty())?;
        Ok(Self { pid: pid.as_raw() as u32, pidfd, _sidecar: sidecar })
    }
}

impl Drop for Keeper {
    /// A sidecar that ends has no task whose pipes matter.
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.pidfd, Signal::KILL);
    }
}

impl Predecessor {
    /// This sidecar, for the next one.
    pub(crate) fn of_self(keeper: Option<&Keeper>) -> Self {
        let named = |pid| (pid, procfs::process(pid).map_or(0, |process| process.start_ticks));
        Self { sidecar: named(std::process::id()), keeper: keeper.map_or((0, 0), |keeper| named(keeper.pid)) }
    }

    /// Writes it over what the file had.
    pub(crate) fn write(self, lock: &File) -> io::Result<()> {
        let ((sidecar, since), (keeper, kept_since)) = (self.sidecar, self.keeper);
        let text = format!("{sidecar} {since} {keeper} {kept_since}\n");
        lock.write_all_at(text.as_bytes(), 0)?;
        lock.set_len(text.len() as u64)
    }

    /// The last one that had the file; `None` if it does not say.
    pub(crate) fn read(lock: &File) -> Option<Self> {
        let mut text = [0; 128];
        let length = lock.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?.strip_suffix('\n')?;
        let numbers: Vec<u64> = text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
        let [sidecar, since, keeper, kept_since] = numbers.try_into().ok()?;
        Some(Self { sidecar: (sidecar as u32, since), keeper: (keeper as u32, kept_since) })
    }

    /// Whether the sidecar itself is gone, whoever has its files.
    pub(crate) fn is_dead(self) -> bool {
        !lives(self.sidecar)
    }

    /// Ends its keeper, and the pipes with it that nobody else has.
    pub(crate) fn end_keeper(self) {
        let (pid, _) = self.keeper;
        let opened = Pid::from_raw(pid as i32).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        // The number is looked at while it cannot be given to another.
        if let Some(pidfd) = opened.filter(|_| self.is_dead() && lives(self.keeper)) {
            let _ = pidfd_send_signal(&pidfd, Signal::KILL);
        }
    }
}

fn lives((pid, start_ticks): (u32, u64)) -> bool {
    procfs::process(pid).is_some_and(|process| process.start_ticks == start_ticks && !process.is_dead())
}

/// The life of the keeper.
fn keep(sidecar: &OwnedFd) {
    // A signal for the group of the sidecar is not for it.
    let _ = setpgid(None, None);
    let _ = rustix::thread::set_name(c"keeper");
    loop {
        match poll(&mut [PollFd::new(sidecar, PollFlags::IN)], None) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
            Ok(_) => break,
        }
    }
    if close_all_but_pipes() {
        std::thread::sleep(PATIENCE);
    }
}

/// Answers whether there are pipes. The table of files is this process's alone by now.
fn close_all_but_pipes() -> bool {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let mut numbers: Vec<RawFd> =
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    let mut kept = false;
    for number in numbers {
        // SAFETY: it is asked about within this block; a number that is free by now is an error.
        let file = unsafe { BorrowedFd::borrow_raw(number) };
        // The listing itself had one, which is closed.
        let Ok(stat) = fstat(file) else { continue };
        let is_pipe = FileType::from_raw_mode(stat.st_mode) == FileType::Fifo;
        let reads = fcntl_getfl(file).is_ok_and(|flags| (flags & OFlags::RWMODE) == OFlags::RDONLY);
        if number > 2 && is_pipe && reads {
            kept = true;
        } else {
            // SAFETY: the owner of every number was the sidecar, which is gone, or is code that does not run here.
            drop(unsafe { OwnedFd::from_raw_fd(number) });
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predecessor_is_known_by_what_it_wrote() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(Predecessor::read(&file), None);
        let here = Predecessor::of_self(None);
        here.write(&file).unwrap();
        assert_eq!(Predecessor::read(&file), Some(here));
        assert!(!here.is_dead());
        let other_start = (here.sidecar.0, here.sidecar.1 + 1);
        assert!(Predecessor { sidecar: other_start, ..here }.is_dead());
        for damaged in ["1 2 3 4", "1 2 3\n", "1 2 3 x\n", "1 2 3 4 5\n"] {
            file.set_len(0).unwrap();
            file.write_all_at(damaged.as_bytes(), 0).unwrap();
            assert_eq!(Predecessor::read(&file), None, "{damaged:?}");
        }
    }
}
