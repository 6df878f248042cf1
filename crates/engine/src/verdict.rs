//! What follows from the end of an attempt: the job's retry policy, read once, in one place.
//!
//! Infrastructure's failures are counted apart from the job's own (I10) and capped; work that ended well
//! is never repeated (I25); a job that may execute at most once never executes again.

use std::time::Duration;

use mainspring_model::spec::{Action, Delivery};
use mainspring_model::{Cause, TimeoutKind, Timestamp, hash, limits};

use crate::cell::Cell;
use crate::event::Ending;
use crate::runs::Phase;

/// How long a run waits after its second refusal; the wait doubles with each.
const REFUSAL_PAUSE: Duration = Duration::from_millis(200);

/// What follows, and the cause that is recorded.
#[derive(Debug, Clone)]
pub(crate) enum Verdict {
    Succeed {
        cause: Cause,
    },
    Cancel {
        cause: Cause,
    },
    GiveUp {
        cause: Cause,
    },
    /// Back into the queue at once.
    Requeue {
        cause: Cause,
        counts_as_loss: bool,
    },
    /// Again at `due`.
    Retry {
        cause: Cause,
        due: Timestamp,
        counts_as_loss: bool,
    },
}

impl Verdict {
    pub(crate) fn cause(&self) -> &Cause {
        match self {
            Self::Succeed { cause }
            | Self::Cancel { cause }
            | Self::GiveUp { cause }
            | Self::Requeue { cause, .. }
            | Self::Retry { cause, .. } => cause,
        }
    }
}

impl Cell {
    pub(crate) fn verdict(&self, now: Timestamp, ix: usize, ending: &Ending) -> Verdict {
        let entry = &self.runs.entries[ix];
        let status = &entry.status;
        let spec = &self.shapes.of(entry).spec;
        if ending.cause.is_success() {
            return Verdict::Succeed { cause: ending.cause.clone() };
        }
        // A stop that we asked for has our cause, however the node saw the end of it.
        let infrastructure = ending.cause.is_infrastructure();
        let cause = match &entry.stopping {
            Some(asked) if ending.stopped || infrastructure => (**asked).clone(),
            _ => ending.cause.clone(),
        };
        if let Some(cancel) = status.cancel() {
            let overlapped = matches!(cause, Cause::Overlap);
            let cause = if overlapped { cause } else { Cause::Cancelled { by: cancel.by.clone() } };
            return Verdict::Cancel { cause };
        }
        if matches!(cause, Cause::Timeout { limit: TimeoutKind::Total } | Cause::Quarantined { .. }) {
            return Verdict::GiveUp { cause };
        }
        if cause.never_started() {
            return self.after_loss(now, ix, cause);
        }
        match spec.retry.decide(&cause) {
            Action::Ignore => return Verdict::Succeed { cause },
            Action::Fail => return Verdict::GiveUp { cause },
            Action::Retry => {}
        }
        if spec.delivery == Delivery::AtMostOnce {
            return Verdict::GiveUp { cause };
        }
        if cause.is_infrastructure() {
            return self.after_loss(now, ix, cause);
        }
        let counted = status.attempt.saturating_sub(status.losses);
        if counted > spec.retries_max() {
            return Verdict::GiveUp { cause };
        }
        let chance = hash::mix(entry.head.id.hash64() ^ u64::from(status.attempt));
        let due = now + spec.retry.backoff.delay(counted, chance);
        if self.is_too_late(ix, &cause, due) {
            return Verdict::GiveUp { cause };
        }
        Verdict::Retry { cause, due, counts_as_loss: false }
    }

    /// Another attempt follows at once. A node that refuses again, such as one with a full disk, would use up a run's patience
    /// within a moment: then each waits longer than the one before.
    fn after_loss(&self, now: Timestamp, ix: usize, cause: Cause) -> Verdict {
        let losses = self.runs.entries[ix].status.losses;
        let refused_before = losses.checked_sub(1).filter(|_| cause.never_started());
        let due = refused_before.map(|before| now + REFUSAL_PAUSE * 2_u32.saturating_pow(before));
        if losses >= limits::LOSSES_PER_RUN_MAX || self.is_too_late(ix, &cause, due.unwrap_or(now)) {
            return Verdict::GiveUp { cause };
        }
        match due {
            Some(due) => Verdict::Retry { cause, due, counts_as_loss: true },
            None => Verdict::Requeue { cause, counts_as_loss: true },
        }
    }

    /// Whether an attempt that begins at `due` would begin too long after the first, of which the one that just ended may be
    /// the first.
    fn is_too_late(&self, ix: usize, cause: &Cause, due: Timestamp) -> bool {
        let entry = &self.runs.entries[ix];
        let before = entry.status.extra.as_ref().and_then(|extra| extra.begun_at);
        let begun_at = if cause.never_started() { before } else { entry.status.begun_at() };
        let max = self.shapes.of(entry).spec.retry.max_elapsed;
        begun_at.zip(max).is_some_and(|(begun_at, max)| due.since(begun_at) > max)
    }

    /// Keeps the job's record: a success clears it, and the loss of a node while it executed adds to it.
    /// Several losses within one silence are one incident, most likely not the job's fault. A node that tells of the loss
    /// itself is there: it heard of no owner for too long, and that is not the job's doing.
    pub(crate) fn note_health(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.runs.entries[ix];
        let executed = matches!(entry.phase, Phase::Accepted { .. } | Phase::Started { .. });
        let node_is_gone =
            entry.status.node.and_then(|id| self.nodes.find(id)).is_none_or(|ix| self.nodes.get(ix).away);
        let (job_ix, sticky) = (self.shapes.of(entry).job, self.shapes.of(entry).sticky);
        let was_suspect = self.is_suspect(job_ix);
        match &entry.status.cause {
            Some(Cause::Lost { .. }) if executed && node_is_gone => {
                let silence = self.config.lost_after;
                self.change_health(job_ix, |health| {
                    if health.lost_at.is_none_or(|last| now.since(last) > silence) {
                        health.losses += 1;
                        health.lost_at = Some(now);
                    }
                });
            }
            // These say nothing about what the job does to its node.
            Some(
                Cause::Lost { .. } | Cause::Vanished { .. } | Cause::Refused { .. } | Cause::Cancelled { .. },
            )
            | None => {}
            Some(cause) => {
                let home = entry.status.node.filter(|_| sticky);
                let succeeded = cause.is_success();
                self.change_health(job_ix, |health| {
                    (health.losses, health.lost_at) = (0, None);
                    if succeeded {
                        health.sticky = home;
                    }
                });
            }
        }
        if was_suspect && !self.is_suspect(job_ix) {
            self.release_job(now, job_ix);
        }
    }

    /// A job became a suspect or was cleared: so are the attempts that it already has. Rare, so all that run are looked at.
    pub(crate) fn suspicion_changed(&mut self, job: usize) {
        let held = self
            .nodes
            .entries
            .iter()
            .flat_map(|(node, entry)| entry.runs.iter().map(move |run| (*run, node)));
        let of_job = held.filter(|(run, _)| self.shapes.of(&self.runs.entries[*run]).job == job);
        let attempts: Vec<(usize, usize)> = of_job.collect();
        let suspect = self.is_suspect(job);
        for (run, node) in attempts {
            if suspect {
                self.suspects.placed(run, job, node);
            } else {
                self.suspects.ended(run);
            }
        }
        // Those that kept away from it may go there now.
        self.room += u64::from(!suspect);
    }

    /// Whether the job lost a node and has not succeeded since.
    pub(crate) fn is_suspect(&self, job: usize) -> bool {
        self.shapes.jobs[job].health.losses > 0
    }

    /// Whether the job may not be placed because it keeps killing its nodes.
    pub(crate) fn is_quarantined(&self, job: usize) -> bool {
        self.shapes.jobs[job].health.losses >= limits::LOSSES_PER_JOB_MAX
    }
}
