//! `epoll` with names for what can happen.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{Timespec, epoll};

use crate::clock::Timer;

/// What became ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// A peer wants to connect.
    Listener,
    /// A signal arrived.
    Signal,
    /// A progress file changed.
    Watch,
    /// A connection by its number.
    Connection(usize),
    /// The output of a task by its slot.
    Stdout(usize),
    /// The error output of a task.
    Stderr(usize),
    /// The end of a task of an earlier sidecar.
    Pidfd(usize),
    /// The time that was waited for.
    Time,
}

impl Source {
    fn token(self) -> u64 {
        let (kind, number) = match self {
            Self::Listener => (0, 0),
            Self::Signal => (1, 0),
            Self::Watch => (2, 0),
            Self::Connection(number) => (3, number),
            Self::Stdout(slot) => (4, slot),
            Self::Stderr(slot) => (5, slot),
            Self::Pidfd(slot) => (6, slot),
            Self::Time => (7, 0),
        };
        kind << 56 | number as u64
    }

    fn from_token(token: u64) -> Self {
        let number = (token & ((1 << 56) - 1)) as usize;
        match token >> 56 {
            0 => Self::Listener,
            1 => Self::Signal,
            2 => Self::Watch,
            3 => Self::Connection(number),
            4 => Self::Stdout(number),
            5 => Self::Stderr(number),
            6 => Self::Pidfd(number),
            _ => Self::Time,
        }
    }
}

/// What is to be told of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interest {
    /// There is something to read.
    pub(super) input: bool,
    /// There is room to write.
    pub(super) room: bool,
}

/// The one thing that the loop waits on.
pub(super) struct Poller {
    epoll: OwnedFd,
    timer: Timer,
    ready: Vec<epoll::Event>,
}

const READY_MAX: usize = 256;

impl Poller {
    pub(super) fn new() -> io::Result<Self> {
        let (epoll, timer) = (epoll::create(epoll::CreateFlags::CLOEXEC)?, Timer::new()?);
        let poller = Self { epoll, timer, ready: Vec::with_capacity(READY_MAX) };
        poller.add(&poller.timer, Source::Time)?;
        Ok(poller)
    }

    /// Tells when there is something to read. Closing the descriptor ends it.
    pub(super) fn add(&self, fd: impl AsFd, source: Source) -> io::Result<()> {
        let data = epoll::EventData::new_u64(source.token());
        Ok(epoll::add(&self.epoll, fd, data, epoll::EventFlags::IN)?)
    }

    /// Tells nothing more of it.
    pub(super) fn forget(&self, fd: impl AsFd) {
        let _ = epoll::delete(&self.epoll, fd);
    }

    /// Tells of something else from now on.
    pub(super) fn change(&self, fd: impl AsFd, source: Source, interest: Interest) -> io::Result<()> {
        let data = epoll::EventData::new_u64(source.token());
        let mut flags = epoll::EventFlags::empty();
        flags.set(epoll::EventFlags::IN, interest.input);
        flags.set(epoll::EventFlags::OUT, interest.room);
        Ok(epoll::modify(&self.epoll, fd, data, flags)?)
    }

    /// Waits until something is ready or it is `at_us`.
    pub(super) fn wait_until(&mut self, at_us: Option<u64>) -> io::Result<Vec<Source>> {
        self.timer.set(at_us)?;
        self.look(None)
    }

    /// Says what is ready now.
    pub(super) fn ready(&mut self) -> io::Result<Vec<Source>> {
        self.look(Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))
    }

    fn look(&mut self, timeout: Option<&Timespec>) -> io::Result<Vec<Source>> {
        self.ready.clear();
        match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut self.ready), timeout) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let sources: Vec<Source> =
            self.ready.iter().map(|event| Source::from_token(event.data.u64())).collect();
        if sources.contains(&Source::Time) {
            self.timer.take_fired();
        }
        Ok(sources)
    }
}
