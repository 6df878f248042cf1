//! The end of a run without what was asked and what came of it: enough for a health strip and for percentiles.

use mainspring_model::{JobId, Run, RunId, RunState, Timestamp};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunEnd {
    /// The run.
    pub run: RunId,
    /// Its job.
    pub job: JobId,
    /// Its terminal state.
    pub state: RunState,
    /// The last attempt; 0 when there was none.
    pub attempt: u32,
    /// When it was first queued.
    pub eligible_at: Option<Timestamp>,
    /// When the last attempt was made.
    pub placed_at: Option<Timestamp>,
    /// When the last attempt started, if known.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

impl RunEnd {
    /// Active runs of a job that a store looks past to find its ends: an end behind more newer runs than this may be
    /// left out.
    pub const LOOKED_PAST_MAX: usize = 20_000;

    /// The end of a run; none when it is not over.
    pub fn of(run: &Run) -> Option<Self> {
        let status = &run.status;
        status.state.is_terminal().then_some(Self {
            run: run.head.id,
            job: run.head.job,
            state: status.state,
            attempt: status.attempt,
            eligible_at: status.eligible_at,
            placed_at: status.placed_at,
            started_at: status.started_at,
            finished_at: status.finished_at,
        })
    }
}
