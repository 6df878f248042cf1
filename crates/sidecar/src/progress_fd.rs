//! The number under which every task finds its progress file open: one of ours, lent for the moment of a spawn.
//!
//! Tasks are started by one thread, so a number that only they inherit need not be arranged for each of them: it is kept
//! from the start, closed on exec except while a task is spawned.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::{DupFlags, dup2, dup3, fcntl_dupfd_cloexec};

/// The first number after the standard ones, if nobody has it.
const NUMBER_MIN: i32 = 3;

/// The number, and what keeps it between spawns.
#[derive(Debug)]
pub(crate) struct ProgressFd {
    kept: OwnedFd,
    nothing: OwnedFd,
}

impl ProgressFd {
    /// Takes the number. To be called before anything is opened.
    pub(crate) fn reserve() -> io::Result<Self> {
        let nothing = File::open("/dev/null")?;
        let kept = fcntl_dupfd_cloexec(&nothing, NUMBER_MIN)?;
        let nothing = OwnedFd::from(nothing);
        // Whichever came first has the smaller one.
        Ok(match nothing.as_raw_fd() == NUMBER_MIN {
            true => Self { kept: nothing, nothing: kept },
            false => Self { kept, nothing },
        })
    }

    pub(crate) fn number(&self) -> i32 {
        self.kept.as_raw_fd()
    }

    /// What is started meanwhile has `file` under the number.
    pub(crate) fn lend<T>(&mut self, file: &File, spawn: impl FnOnce() -> T) -> io::Result<T> {
        dup2(file, &mut self.kept)?;
        let spawned = spawn();
        dup3(&self.nothing, &mut self.kept, DupFlags::CLOEXEC)?;
        Ok(spawned)
    }
}
