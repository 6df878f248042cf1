//! Pausing and resuming a job or the whole cell. Attempts that execute go on; nothing new starts. A pause
//! holds groups back, it does not rewrite runs: pausing a job with a million waiting runs is one write. It
//! takes effect when it is durable.

use std::time::Duration;

use mainspring_model::{Job, JobId, JobPause, Pause, Timestamp};
use mainspring_store::Write;

use crate::cell::Cell;
use crate::event::RequestId;
use crate::queue::Block;

/// Nobody acts on a row that was read longer ago.
const OLDEST_READ: Duration = Duration::from_secs(600);

impl Cell {
    pub(crate) fn pause_job(
        &mut self,
        now: Timestamp,
        request: RequestId,
        mut job: Job,
        pause: Option<Pause>,
    ) {
        job.pause = pause;
        job.revision += 1;
        job.updated_at = now;
        self.outbox.asked.push((Write::PutJob(Box::new(job)), request));
    }

    /// A job is durably paused or resumed.
    pub(crate) fn job_paused(&mut self, now: Timestamp, job: JobId, revision: u64, pause: Option<Pause>) {
        self.shapes.written.insert(job, (revision, now));
        let ix = self.shapes.job(job);
        let entry = &mut self.shapes.jobs[ix];
        let resumed = pause.is_none();
        entry.pause = pause;
        if resumed {
            self.acquit(now, ix);
            self.triggers_resumed(Some(job));
        }
    }

    /// A row that somebody read says that its job is paused. What this owner wrote since is newer.
    pub(crate) fn learn_pause(&mut self, job: JobId, read: JobPause) {
        let written = self.shapes.written.get(&job).map_or(0, |(revision, _)| *revision);
        if read.revision >= written {
            let ix = self.shapes.job(job);
            self.shapes.jobs[ix].pause.get_or_insert(read.pause);
        }
    }

    /// Forgets what was written so long ago that nobody still holds an older row.
    pub(crate) fn sweep_pauses(&mut self, now: Timestamp) {
        self.shapes.written.retain(|_, (_, at)| now.since(*at) < OLDEST_READ);
    }

    /// Somebody lets the job go on, and so has looked at what it did to its nodes.
    pub(crate) fn acquit(&mut self, now: Timestamp, ix: usize) {
        self.change_health(ix, |health| (health.losses, health.lost_at) = (0, None));
        self.release_job(now, ix);
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

    pub(crate) fn pause_cell(&mut self, request: RequestId, pause: Option<Pause>) {
        self.outbox.asked.push((Write::PauseCell(pause.map(Box::new)), request));
    }

    /// The cell is durably paused or resumed.
    pub(crate) fn cell_paused(&mut self, now: Timestamp, pause: Option<Pause>) {
        self.pause = pause;
        if self.pause.is_none() {
            self.place_waiting(now);
            self.triggers_resumed(None);
        }
    }
}
