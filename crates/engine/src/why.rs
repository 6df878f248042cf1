//! Why a run is not running, from the owner's memory, with numbers. What it finds lacking of nodes is in `no_room`.

use mainspring_model::{Reason, RunId, RunState, limits};

use crate::cell::Cell;
use crate::queue::{Block, Group};

impl Cell {
    /// Why the run waits; none when it is not in memory, runs or has ended.
    pub fn why(&self, run: RunId) -> Option<Reason> {
        let ix = self.runs.find(run)?;
        let entry = &self.runs.entries[ix];
        if entry.status.state == RunState::Waiting {
            return Some(self.why_waiting(ix));
        }
        let spec = &self.shapes.of(entry).spec;
        Reason::of_moment(&entry.status, spec.attempts_max(entry.status.losses))
    }

    pub(crate) fn why_waiting(&self, ix: usize) -> Reason {
        if let Some(pause) = &self.pause {
            return Reason::CellPaused { by: pause.by.clone(), note: pause.note.clone() };
        }
        let entry = &self.runs.entries[ix];
        let Some(group_ix) = entry.group.map(|group| group as usize) else { return Reason::Overflow };
        let group = &self.queue.groups[group_ix];
        if let Some(block) = group.block {
            return self.why_blocked(group, block);
        }
        // Whoever lists runs asks this for each: those far behind are not told how far.
        let position =
            group.waiting.range(..=entry.queue_key()).take(limits::QUEUE_PLACES_TOLD as usize).count() as u32;
        match self.why_no_room(group_ix) {
            Some(Reason::Resources { .. }) if position > 1 => Reason::Priority { position },
            Some(why) => why,
            // A node has room: its turn is now.
            None => Reason::Priority { position },
        }
    }

    pub(crate) fn why_blocked(&self, group: &Group, block: Block) -> Reason {
        let spec = &self.shapes.shapes[group.key.shape].spec;
        match block {
            Block::Job => {
                let job = &self.shapes.jobs[group.job];
                match &job.pause {
                    Some(pause) => Reason::Paused { by: pause.by.clone(), note: pause.note.clone() },
                    None => Reason::Quarantined { losses: job.health.losses },
                }
            }
            Block::Concurrency => Reason::Concurrency {
                key: group.key.concurrency().into(),
                running: self.concurrency.count(group.job, group.key.concurrency()),
                limit: spec.concurrency.as_ref().map_or(0, |concurrency| concurrency.limit.get()),
            },
            Block::Rate(until) => Reason::RateLimit {
                key: group.key.rate().into(),
                limit: spec.rate_limit.as_ref().map_or(0, |rate| rate.limit.get()),
                until,
            },
        }
    }
}
