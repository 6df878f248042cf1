//! Executing the orders of a turn: all of them are journalled in one write, with the pipes and the cgroup that each of
//! them is going to have; then each is spawned; then all processes are journalled in the next write of the loop.
//!
//! A sidecar that dies between the two writes leaves orders whose process is not known; the next one finds it by
//! its environment or its pipes (see `recover`).

use rustc_hash::FxHashSet;

use super::Supervisor;
use super::poller::Source;
use crate::birthmark::Birthmark;
use crate::cgroup::Group;
use crate::clock::{boottime_us, wall_us};
use crate::journal::{Record, StartedRecord, StartingRecord};
use crate::log::Capture;
use crate::progress::Progress;
use crate::protocol::{Event, Refusal, Start};
use crate::spawn::{self, Means, Outputs, SpawnError, Spawned};
use crate::task::{Stage, Task, Terms};
use crate::tree::{self, Tree};
use crate::usage::Usage;

/// A task that lasts this long gets what only lasting tasks need.
const SETTLE_AFTER_US: u64 = 100_000;
/// Tasks are settled together at multiples of this.
const SETTLE_STEP_US: u64 = 50_000;

/// Orders that are journalled together: each of them has some files open until it is spawned.
const ORDERS_AT_ONCE: usize = 64;

/// An order with what is made before it is journalled.
struct Outset {
    connection: usize,
    start: Box<Start>,
    outputs: Outputs,
    pipes: [u64; 2],
    group: Option<Group>,
}

impl Supervisor {
    pub(super) fn start_all(&mut self) {
        let mut starts = std::mem::take(&mut self.starts);
        // The same order may be twice in a batch.
        let mut seen = FxHashSet::default();
        starts.retain(|(_, start)| seen.insert(start.key));
        let mut starts = starts.into_iter().peekable();
        while starts.peek().is_some() {
            let some = starts.by_ref().take(ORDERS_AT_ONCE);
            self.start_together(some.collect());
        }
    }

    fn start_together(&mut self, starts: Vec<(usize, Box<Start>)>) {
        let now_us = boottime_us();
        let mut outsets = Vec::with_capacity(starts.len());
        for (connection, start) in starts {
            match self.set_out(&start) {
                Ok((outputs, group)) => {
                    let pipes = outputs.inodes();
                    self.journal.crash.pass();
                    self.journal_order(&start, pipes, group.as_ref(), now_us);
                    outsets.push(Outset { connection, start, outputs, pipes, group });
                }
                Err(error) => self.refuse(connection, &start, error),
            }
        }
        let journalled = self.journal.flush();
        for outset in outsets {
            let (connection, key) = (outset.connection, outset.start.key);
            let outcome = match &journalled {
                Ok(()) => self.start(outset, now_us),
                Err(error) => {
                    self.journal.withdraw(&key);
                    self.leaving.extend(outset.group);
                    let message = format!("cannot write the journal: {error}");
                    Err((outset.start, SpawnError { refusal: Refusal::NoRoom, message }))
                }
            };
            match outcome {
                Ok(event) => self.answer(connection, event),
                Err((start, error)) => {
                    if journalled.is_ok() {
                        self.journal.append(Record::Over { key, refused: true });
                    }
                    self.refuse(connection, &start, error);
                }
            }
        }
    }

    fn refuse(&mut self, connection: usize, start: &Start, SpawnError { refusal, message }: SpawnError) {
        self.answer(connection, Event::Refused { key: start.key, refusal, message });
    }

    /// Makes what the journal names: the pipes, and the cgroup if the task is born in one.
    fn set_out(&mut self, start: &Start) -> Result<(Outputs, Option<Group>), SpawnError> {
        let outputs = Outputs::open(start)?;
        let cgroups = self.cgroups.as_mut().filter(|_| start.caps.is_needed_at_birth());
        let group = cgroups.map(|cgroups| cgroups.create(&start.caps)).transpose().map_err(no_cgroup)?;
        Ok((outputs, group))
    }

    fn journal_order(&mut self, start: &Start, pipes: [u64; 2], group: Option<&Group>, now_us: u64) {
        let starting = starting_record(start, self.boot, now_us);
        let cgroup = group.map_or(Vec::new(), Group::names);
        let expected = StartedRecord { key: start.key, pid: 0, start_ticks: 0, pipes, cgroup };
        self.journal.append(Record::Starting(Box::new(starting)));
        self.journal.append(Record::Started(Box::new(expected)));
        if start.durable {
            self.journal.sync_next();
        }
    }

    fn start(&mut self, outset: Outset, now_us: u64) -> Result<Event, (Box<Start>, SpawnError)> {
        let Outset { start, outputs, pipes, group, .. } = outset;
        let birthmark = self.birthmarks.wear_next();
        let spawned = match self.spawn(&start, outputs, group.as_ref()) {
            Ok(spawned) => spawned,
            Err(error) => {
                self.leaving.extend(group);
                self.remove_groups();
                return Err((start, error));
            }
        };
        self.journal.crash.pass();
        let started_at_us = wall_us();
        let mut task = self.task(&start, spawned, group, started_at_us, now_us);
        task.pipes = pipes;
        task.tree.birthmark = birthmark;
        let (key, pid) = (task.key, task.pid);
        let slot = self.adopt(task);
        self.journal.append(Record::Started(Box::new(self.started_record(slot))));
        Ok(Event::Started { key, pid, started_at_us })
    }

    fn spawn(
        &mut self,
        start: &Start,
        outputs: Outputs,
        group: Option<&Group>,
    ) -> Result<Spawned, SpawnError> {
        let means = Means { limit: self.task_limit, progress_fd: self.progress_fd.number() };
        let prepared = spawn::prepare(&self.layout, &self.spares, start, means, outputs)?;
        match self.cgroups.as_ref().zip(group) {
            Some((cgroups, group)) => cgroups
                .inside(group, &start.caps, || prepared.spawn(&mut self.progress_fd))
                .map_err(no_cgroup)
                .and_then(|spawned| spawned),
            None => prepared.spawn(&mut self.progress_fd),
        }
    }

    fn task(
        &self,
        start: &Start,
        spawned: Spawned,
        group: Option<Group>,
        started_at_us: i64,
        now_us: u64,
    ) -> Task {
        let pid = spawned.child.id();
        let output = self.layout.output(&start.key);
        Task {
            key: start.key,
            pid,
            started_at_us,
            terms: Terms {
                grace_ms: start.grace_ms,
                stop_signal: start.stop_signal,
                timeout_at_us: timeout_at_us(start, now_us),
                deadline_us: start.deadline_us,
                result_bytes_max: start.result_bytes_max,
                durable: start.durable,
                pids: start.caps.pids,
            },
            tree: Tree {
                root: pid,
                start_ticks: spawned.start_ticks,
                marks: tree::marks(&start.key, &output.to_string_lossy()),
                has_root: true,
                has_group: true,
                birthmark: Birthmark::NONE,
                own: true,
            },
            child: Some(spawned.child),
            pidfd: None,
            pipes: [0; 2],
            stdout: Some(spawned.stdout),
            stderr: Some(spawned.stderr),
            capture: Capture::new(self.layout.attempt(&start.key), start.log),
            progress: Progress::default(),
            watches: [None; 2],
            settled_ticks: group.as_ref().map(|_| 0),
            group,
            settle_at_us: Some((now_us + SETTLE_AFTER_US).next_multiple_of(SETTLE_STEP_US)),
            exit: None,
            orphans_used: Usage::default(),
            awaits_status: None,
            stage: Stage::Running,
            signalled: FxHashSet::default(),
            stopped_by: None,
        }
    }

    /// Takes a task into the loop.
    pub(super) fn adopt(&mut self, task: Task) -> usize {
        let slot = self.tasks.insert(task);
        let task = &self.tasks[slot];
        self.by_key.insert(task.key, slot);
        if task.child.is_some() {
            self.by_pid.insert(task.pid, slot);
        }
        let sources = [
            (&task.stdout, Source::Stdout(slot)),
            (&task.stderr, Source::Stderr(slot)),
            (&task.pidfd, Source::Pidfd(slot)),
        ];
        for (descriptor, source) in sources {
            if let Some(descriptor) = descriptor {
                // Without memory for it the output is read when the task ends.
                let _ = self.poller.add(descriptor, source);
            }
        }
        self.arm(slot);
        slot
    }

    pub(super) fn started_record(&self, slot: usize) -> StartedRecord {
        let task = &self.tasks[slot];
        StartedRecord {
            key: task.key,
            pid: task.pid,
            start_ticks: task.tree.start_ticks,
            pipes: task.pipes,
            cgroup: task.group.as_ref().map_or(Vec::new(), |group| group.names()),
        }
    }
}

fn no_cgroup(error: std::io::Error) -> SpawnError {
    SpawnError { refusal: Refusal::NoRoom, message: format!("cannot make its cgroup: {error}") }
}

fn starting_record(start: &Start, boot: [u8; 16], now_us: u64) -> StartingRecord {
    StartingRecord {
        key: start.key,
        boot,
        started_at_us: wall_us(),
        grace_ms: start.grace_ms,
        stop_signal: start.stop_signal,
        log: start.log,
        timeout_at_us: timeout_at_us(start, now_us),
        deadline_us: start.deadline_us,
        result_bytes_max: start.result_bytes_max,
        durable: start.durable,
    }
}

fn timeout_at_us(start: &Start, now_us: u64) -> Option<u64> {
    start.run_timeout_ms.map(|timeout_ms| now_us.saturating_add(timeout_ms.saturating_mul(1000)))
}
