//! The state of a sidecar, its start, and the turns of its loop.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustc_hash::FxHashMap;
use rustix::fs::{FlockOperation, Mode, flock, inotify};
use slab::Slab;

use super::connection::Connection;
use super::poller::{Poller, Source};
use super::recover;
use crate::birthmark::Birthmarks;
use crate::cgroup::{Cgroups, Group};
use crate::clock::boottime_us;
use crate::crash_point::CrashPoints;
use crate::detach::{READY, make_directories};
use crate::error::Error;
use crate::inherited;
use crate::journal::Journal;
use crate::keeper::{Keeper, Predecessor};
use crate::key::AttemptKey;
use crate::layout::Layout;
use crate::log::{CONTENT_AT, FrameKind};
use crate::open_files::TaskLimit;
use crate::options::Options;
use crate::procfs;
use crate::progress_fd::ProgressFd;
use crate::protocol::{Start, StopCause};
use crate::remover::Remover;
use crate::socket;
use crate::spare::Spares;
use crate::task::Task;
use crate::timers::Timers;

/// What one read of a pipe or of the socket takes at most.
const READ_BYTES: usize = 64 * 1024;
/// How long a sidecar that would end waits before it tries again to write what it knows.
const WRITE_AGAIN_US: u64 = 1_000_000;
/// How often the lock of a dead sidecar is tried, how often before its keeper is ended for it, and how long apart.
const LOCK_LOOKS: usize = 4_000;
const LOCK_LOOKS_PATIENT: usize = 2_000;
const LOCK_LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The whole state of a sidecar.
pub(super) struct Supervisor {
    pub(super) layout: Layout,
    pub(super) journal: Journal,
    pub(super) poller: Poller,
    pub(super) listener: UnixListener,
    signals: Signals,
    pub(super) watches: OwnedFd,
    pub(super) watched: FxHashMap<i32, usize>,
    pub(super) connections: Slab<Connection>,
    /// The connection that hears of everything.
    pub(super) subscriber: Option<usize>,
    pub(super) tasks: Slab<Task>,
    pub(super) by_key: FxHashMap<AttemptKey, usize>,
    pub(super) by_pid: FxHashMap<u32, usize>,
    /// The attempts that orphans came of, as far as that was found out.
    pub(super) parents: FxHashMap<u32, AttemptKey>,
    /// How many files tasks may have open.
    pub(super) task_limit: TaskLimit,
    /// The number of a task's progress file.
    pub(super) progress_fd: ProgressFd,
    pub(super) birthmarks: Birthmarks,
    /// The directory of the attempts as the kernel names it.
    pub(super) attempts: PathBuf,
    /// The largest resident size of this process, when it was last looked at.
    pub(super) own_peak_bytes: u64,
    /// Slots of tasks that are being killed in this turn.
    pub(super) struck: Vec<usize>,
    /// Slots whose first process has ended.
    pub(super) ended: Vec<usize>,
    /// Orders of this turn.
    pub(super) starts: Vec<(usize, Box<Start>)>,
    pub(super) timers: Timers,
    pub(super) cgroups: Option<Cgroups>,
    pub(super) spares: Arc<Spares>,
    pub(super) remover: Remover,
    /// Cgroups of attempts that are over.
    pub(super) leaving: Vec<Group>,
    pub(super) boot: [u8; 16],
    /// It stops every task and ends.
    pub(super) ending: bool,
    linger_us: u64,
    /// Without a task it ends at this time; an agent that subscribes before that keeps it.
    pub(super) ends_at_us: Option<u64>,
    /// Room for a frame's header, then for what is read.
    pub(super) buffer: Vec<u8>,
    /// Has the pipes too, for the next sidecar.
    pub(super) keeper: Option<Keeper>,
    /// Held for the lock on it.
    _lock: File,
}

/// Signals as bytes on sockets.
struct Signals {
    child: UnixStream,
    end: UnixStream,
}

/// Serves a directory until it is told to end, or has neither a task nor an agent for a while. The `main` of the sidecar's process.
pub fn run(options: Options) -> Result<(), Error> {
    inherited::close();
    let progress_fd = ProgressFd::reserve().map_err(Error::io("cannot open /dev/null"))?;
    let layout = Layout::new(&options.data);
    make_directories(&layout)?;
    let lock = lock(&layout)?;
    leave_starter();
    let predecessor = Predecessor::read(&lock);
    // Without one, what tasks write and leave while there is no sidecar is lost; nothing else.
    let keeper = Keeper::start().ok();
    Predecessor::of_self(keeper.as_ref()).write(&lock).map_err(Error::at("write", &layout.lock()))?;
    let mut supervisor = Supervisor::open(layout, &options, lock, keeper, progress_fd)?;
    supervisor.recover(predecessor)?;
    announce();
    supervisor.serve()
}

impl Supervisor {
    fn open(
        layout: Layout,
        options: &Options,
        lock: File,
        keeper: Option<Keeper>,
        progress_fd: ProgressFd,
    ) -> Result<Self, Error> {
        let crash = CrashPoints::new(options.crash_at);
        let journal = Journal::open(&layout.journal(), options.journal_compact_bytes, crash)?;
        let poller = Poller::new().map_err(Error::io("cannot make an epoll instance"))?;
        let signals = signals().map_err(Error::io("cannot listen for signals"))?;
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let watches = inotify::init(flags).map_err(|error| Error::io("cannot watch files")(error.into()))?;
        let listener = socket::listen(&layout.socket())?;
        let cgroups = if options.cgroups { recover::cgroups(&layout, &journal) } else { None };
        let (cgroups, leaving) = cgroups.map_or((None, Vec::new()), |(cgroups, left)| (Some(cgroups), left));
        let spares = Arc::new(Spares::find(layout.attempts()));
        let remover = Remover::start(layout.clone(), Arc::clone(&spares))?;
        let added = poller
            .add(&listener, Source::Listener)
            .and_then(|()| poller.add(&signals.child, Source::Signal))
            .and_then(|()| poller.add(&signals.end, Source::Signal))
            .and_then(|()| poller.add(&watches, Source::Watch));
        added.map_err(Error::io("cannot use epoll"))?;
        let attempts = layout.attempts();
        let attempts = attempts.canonicalize().unwrap_or(attempts);
        let linger_us = options.linger.as_micros() as u64;
        Ok(Self {
            layout,
            journal,
            poller,
            listener,
            signals,
            watches,
            watched: FxHashMap::default(),
            connections: Slab::new(),
            subscriber: None,
            tasks: Slab::new(),
            by_key: FxHashMap::default(),
            by_pid: FxHashMap::default(),
            parents: FxHashMap::default(),
            task_limit: TaskLimit::set_apart(),
            progress_fd,
            birthmarks: Birthmarks::new(),
            attempts,
            own_peak_bytes: 0,
            struck: Vec::new(),
            ended: Vec::new(),
            starts: Vec::new(),
            timers: Timers::default(),
            cgroups,
            spares,
            remover,
            leaving,
            boot: procfs::boot_id(),
            ending: false,
            linger_us,
            ends_at_us: Some(boottime_us() + linger_us),
            buffer: vec![0; CONTENT_AT + READ_BYTES],
            keeper,
            _lock: lock,
        })
    }

    fn serve(&mut self) -> Result<(), Error> {
        while !self.is_done() {
            let end_us = self.ends_at_us.filter(|_| self.tasks.is_empty());
            let wake_us = self.timers.next_us().into_iter().chain(end_us).min();
            let more = !self.ended.is_empty() || self.connections.iter().any(|(_, peer)| peer.has_work());
            let ready = match more {
                true => self.poller.ready(),
                false => self.poller.wait_until(wake_us),
            };
            let ready = ready.map_err(Error::io("cannot wait"))?;
            let mut children = false;
            for source in ready {
                children |= source == Source::Signal;
                self.take(source);
            }
            self.act_on_put_off();
            self.start_all();
            if children {
                self.reap();
            }
            self.act_on_time();
            self.finish_ended();
            // A journal that cannot be written now is tried again; what is pending stays in memory.
            let _ = self.journal.flush();
            let _ = self.journal.compact_if_due();
            self.flush_connections();
        }
        self.flush_connections();
        self.await_empty_groups();
        Ok(())
    }

    /// Whether nothing is left to do, for anybody.
    fn is_done(&mut self) -> bool {
        if !self.tasks.is_empty() || self.ending {
            return self.tasks.is_empty();
        }
        let now_us = boottime_us();
        let alone = self.ends_at_us.is_some_and(|at| at <= now_us);
        if alone && !self.journal.is_written() {
            // What ended is known here only. There may be room on the disk later.
            self.ends_at_us = Some(now_us + WRITE_AGAIN_US);
            return false;
        }
        alone
    }

    fn take(&mut self, source: Source) {
        match source {
            Source::Listener => self.accept(),
            Source::Signal => self.take_signals(),
            Source::Watch => self.read_progress(),
            Source::Connection(number) => self.read_requests(number),
            Source::Stdout(slot) => self.read_output(slot, FrameKind::Stdout),
            Source::Stderr(slot) => self.read_output(slot, FrameKind::Stderr),
            Source::Pidfd(slot) => self.await_status(slot),
            // What is due is looked at in every turn.
            Source::Time => {}
        }
    }

    fn accept(&mut self) {
        while let Some(stream) = socket::accept(&self.listener) {
            let number = self.connections.insert(Connection::new(stream));
            if self.poller.add(&self.connections[number].stream, Source::Connection(number)).is_err() {
                self.connections.remove(number);
            }
        }
    }

    fn take_signals(&mut self) {
        let mut bytes = [0; 64];
        while self.signals.child.read(&mut bytes).is_ok_and(|read| read > 0) {}
        if self.signals.end.read(&mut bytes).is_ok_and(|read| read > 0) {
            self.end(StopCause::Shutdown);
        }
    }

    pub(super) fn drop_connection(&mut self, number: usize) {
        self.connections.try_remove(number);
        if self.subscriber == Some(number) {
            self.subscriber = None;
            self.ends_at_us.get_or_insert(boottime_us() + self.linger_us);
        }
    }

    fn flush_connections(&mut self) {
        self.pay_owed();
        let mut gone = Vec::new();
        for (number, connection) in &mut self.connections {
            let outcome = connection.flush().and_then(|changed| match changed {
                Some(interest) => {
                    self.poller.change(&connection.stream, Source::Connection(number), interest)
                }
                None => Ok(()),
            });
            if outcome.is_err() {
                gone.push(number);
            }
        }
        gone.into_iter().for_each(|number| self.drop_connection(number));
    }

    /// Wakes when the task at `slot` has something due.
    pub(super) fn arm(&mut self, slot: usize) {
        if let Some(at_us) = self.tasks.get(slot).and_then(Task::next_us) {
            self.timers.wake(at_us, slot);
        }
    }
}

fn lock(layout: &Layout) -> Result<File, Error> {
    let path = layout.lock();
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
    let file = file.map_err(Error::at("open", &path))?;
    for looks in 1..=LOCK_LOOKS {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK) => {}
            Err(error) => return Err(Error::at("lock", &path)(error.into())),
        }
        // The keeper of a dead sidecar is about to let go, or stands still.
        let Some(dead) = Predecessor::read(&file).filter(|last| last.is_dead()) else { break };
        if looks == LOCK_LOOKS_PATIENT {
            dead.end_keeper();
        }
        std::thread::sleep(LOCK_LOOK_AGAIN);
    }
    Err(Error::AlreadyRunning(layout.data().to_owned()))
}

/// A session of its own, so that the end of the starter's terminal is not ours; orphans of tasks come to us. Capabilities
/// that the agent was given stay with the sidecar: ambient ones would come down to every task, whoever it runs as.
fn leave_starter() {
    let _ = rustix::thread::clear_ambient_capability_set();
    let _ = rustix::process::setsid();
    rustix::process::umask(Mode::from_raw_mode(0o022));
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

fn signals() -> std::io::Result<Signals> {
    let pair = |signals: &[i32]| {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        for signal in signals {
            signal_hook::low_level::pipe::register(*signal, theirs.try_clone()?)?;
        }
        Ok::<_, std::io::Error>(ours)
    };
    let child = pair(&[signal_hook::consts::SIGCHLD])?;
    let end = pair(&[signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT])?;
    Ok(Signals { child, end })
}

/// Tells the starter that we listen, and lets go of its pipe.
fn announce() {
    let _ = std::io::stdout().write_all(READY).and_then(|()| std::io::stdout().flush());
    if let Ok(nothing) = OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
}
