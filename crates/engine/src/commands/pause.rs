//! Pausing and resuming a job or the whole cell. Attempts that execute go on; nothing new starts. A pause
//! holds groups back, it does not rewrite runs: pausing a job with a million waiting runs is one write.

use mainspring_model::{Job, Pause, Timestamp};
use mainspring_store::Write;

use crate::cell::Cell;
use crate::event::RequestId;
use crate::queue::Block;

impl Cell {
    pub(crate) fn pause_job(
        &mut self,
        now: Timestamp,
        request: RequestId,
        mut job: Job,
        pause: Option<Pause>,
    ) {
        let ix = self.shapes.job(job.id);
        job.pause.clone_from(&pause);
        job.revision += 1;
        job.updated_at = now;
        self.outbox.asked.push((Write::PutJob(Box::new(job)), request));
        let entry = &mut self.shapes.jobs[ix];
        let resumed = pause.is_none();
        entry.pause = pause;
        if resumed {
            // Whoever resumes a quarantined job has looked at it.
            entry.losses = 0;
            entry.lost_at = None;
            self.release_job(now, ix);
        }
    }

    /// Neither a pause nor a suspicion holds the job back any more.
    pub(crate) fn release_job(&mut self, now: Timestamp, ix: usize) {
        for group in self.shapes.jobs[ix].groups.clone() {
            self.queue.groups[group].full = None;
            if self.queue.groups[group].block == Some(Block::Job) {
                self.queue.unblock(group);
            }
        }
        self.place_waiting(now);
        self.unpark();
    }

    pub(crate) fn pause_cell(&mut self, now: Timestamp, request: RequestId, pause: Option<Pause>) {
        self.outbox.asked.push((Write::PauseCell(pause.clone().map(Box::new)), request));
        self.pause = pause;
        if self.pause.is_none() {
            self.place_waiting(now);
        }
    }
}
