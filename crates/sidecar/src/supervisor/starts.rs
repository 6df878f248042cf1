//! Executing the orders of a turn: all of them are journalled in one write, then each is spawned, then all processes
//! are journalled in the next write of the loop.
//!
//! A sidecar that dies between the two writes leaves orders whose process is not known; the next one finds it by
//! its environment (see `recover`).

use rustc_hash::FxHashSet;

use super::Supervisor;
use super::poller::Source;
use crate::birthmark::Birthmark;
use crate::clock::{monotonic_us, wall_us};
use crate::journal::{Record, StartedRecord, StartingRecord};
use crate::log::Capture;
use crate::pipe;
use crate::progress::Progress;
use crate::protocol::{Event, Refusal, Start};
use crate::spawn::{self, Means, SpawnError, Spawned};
use crate::task::{Stage, Task, Terms};
use crate::tree::{self, Tree};
use crate::usage::Usage;

/// A task that lasts this long gets what only lasting tasks need.
const SETTLE_AFTER_US: u64 = 100_000;
/// Tasks are settled together at multiples of this.
const SETTLE_STEP_US: u64 = 50_000;

impl Supervisor {
    pub(super) fn start_all(&mut self) {
        let mut starts = std::mem::take(&mut self.starts);
        // The same order may be twice in a batch.
        let mut seen = FxHashSet::default();
        starts.retain(|(_, start)| seen.insert(start.key));
        if starts.is_empty() {
            return;
        }
        let now_us = monotonic_us();
        for (_, start) in &starts {
            let record = starting_record(start, self.boot, now_us);
            self.journal.append(Record::Starting(Box::new(record)));
            if start.durable {
                self.journal.sync_next();
            }
        }
        let journalled = self.journal.flush();
        for (number, start) in starts {
            let outcome = match &journalled {
                Ok(()) => self.start(&start, now_us),
                Err(error) => {
                    self.journal.withdraw(&start.key);
                    Err(SpawnError {
                        refusal: Refusal::NoRoom,
                        message: format!("cannot write the journal: {error}"),
                    })
                }
            };
            match outcome {
                Ok(event) => self.answer(number, event),
                Err(SpawnError { refusal, message }) => {
                    if journalled.is_ok() {
                        self.journal.append(Record::Over { key: start.key, refused: true });
                    }
                    self.answer(number, Event::Refused { key: start.key, refusal, message });
                }
            }
        }
    }

    fn start(&mut self, start: &Start, now_us: u64) -> Result<Event, SpawnError> {
        let means = Means { limit: self.task_limit, progress_fd: self.progress_fd.number() };
        let prepared = spawn::prepare(&self.layout, &self.spares, start, means)?;
        let birthmark = self.birthmarks.wear_next();
        let mut group = None;
        let spawned = match self.cgroups.as_mut().filter(|_| start.caps.is_any()) {
            Some(cgroups) => {
                let refused = |error: std::io::Error| SpawnError {
                    refusal: Refusal::NoRoom,
                    message: format!("cannot make its cgroup: {error}"),
                };
                let made = group.insert(cgroups.create(&start.caps).map_err(refused)?);
                let spawned = cgroups
                    .inside(made, &start.caps, || prepared.spawn(&mut self.progress_fd))
                    .map_err(refused)
                    .and_then(|spawned| spawned);
                if spawned.is_err() {
                    made.remove();
                }
                spawned?
            }
            None => prepared.spawn(&mut self.progress_fd)?,
        };
        let started_at_us = wall_us();
        let mut task = self.task(start, spawned, group, started_at_us, now_us);
        task.tree.birthmark = birthmark;
        let (key, pid) = (task.key, task.pid);
        let slot = self.adopt(task);
        self.journal.append(Record::Started(Box::new(self.started_record(slot))));
        Ok(Event::Started { key, pid, started_at_us })
    }

    fn task(
        &self,
        start: &Start,
        spawned: Spawned,
        group: Option<crate::cgroup::Group>,
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
            },
            launched: !start.rlimits.is_empty(),
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
            pipes: [pipe::inode(&spawned.stdout), pipe::inode(&spawned.stderr)],
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
