//! Why a run is not running, from the owner's memory, with numbers.

use mainspring_model::{Reason, RunId, RunState, Timestamp};

use crate::cell::Cell;
use crate::queue::Block;

impl Cell {
    /// Why the run waits; none when it is not in memory, runs or has ended.
    pub fn why(&self, run: RunId) -> Option<Reason> {
        let ix = self.runs.find(run)?;
        let entry = &self.runs.entries[ix];
        let due = || Timestamp::from_micros(entry.status.place.map_or(0, |place| place.rank));
        let spec = &self.shapes.shapes[entry.shape].spec;
        match entry.status.state {
            RunState::Ready => Some(Reason::BeginTime { until: due() }),
            RunState::Failed => Some(Reason::Backoff {
                until: due(),
                next_attempt: entry.status.attempt + 1,
                attempts_max: spec.retry.max + 1 + entry.status.losses,
            }),
            RunState::Waiting => Some(self.why_waiting(ix)),
            RunState::Running
            | RunState::Success
            | RunState::FinalFailed
            | RunState::Cancelled
            | RunState::Skipped => None,
        }
    }

    fn why_waiting(&self, ix: usize) -> Reason {
        if let Some(pause) = &self.pause {
            return Reason::CellPaused { by: pause.by.clone(), note: pause.note.clone() };
        }
        let entry = &self.runs.entries[ix];
        let Some(group) = entry.group.map(|group| &self.queue.groups[group]) else { return Reason::Overflow };
        let spec = &self.shapes.shapes[entry.shape].spec;
        match group.block {
            Some(Block::Job) => {
                let job = &self.shapes.jobs[group.job];
                match &job.pause {
                    Some(pause) => Reason::Paused { by: pause.by.clone(), note: pause.note.clone() },
                    None => Reason::Quarantined { losses: job.losses },
                }
            }
            Some(Block::Concurrency) => Reason::Concurrency {
                key: group.key.concurrency.clone(),
                running: self.concurrency.count(group.job, &group.key.concurrency),
                limit: spec.concurrency.as_ref().map_or(0, |concurrency| concurrency.limit.get()),
            },
            Some(Block::Rate(until)) => Reason::RateLimit {
                key: group.key.rate.clone(),
                limit: spec.rate_limit.as_ref().map_or(0, |rate| rate.limit.get()),
                until,
            },
            None => {
                let first = group.waiting.first_key_value().is_some_and(|(_, first)| *first == ix);
                match &self.queue.classes[group.class].why {
                    Some(why) if first || matches!(why, Reason::NoNode { .. }) => why.clone(),
                    _ => {
                        let position = group.waiting.range(..=entry.queue_key()).count() as u32;
                        Reason::Priority { position }
                    }
                }
            }
        }
    }

    /// What the cell counted since it was taken.
    pub fn stats(&self) -> crate::stats::Stats {
        self.stats
    }

    /// Runs that wait in memory.
    pub fn waiting(&self) -> usize {
        self.queue.waiting
    }

    /// Runs that hold a node.
    pub fn running(&self) -> usize {
        self.nodes.entries.iter().map(|(_, node)| node.runs.len()).sum()
    }
}
