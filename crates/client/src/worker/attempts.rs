//! The attempts that this worker holds: executing, or over and not yet acknowledged.
//!
//! Invariant: an attempt is over only when its function has really ended, so what is told to the owner is true.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mainspring_model::{AttemptToken, Cause, Timestamp};
use mainspring_wire::agent::{self as wire, Finished, held};
use tokio::sync::watch;
use tokio::task::AbortHandle;

use super::voice::Voice;

/// Logs of acknowledged attempts that wait to be stored.
const LOGS_KEPT_MAX: usize = 256;

#[derive(Debug)]
pub(super) enum Stage {
    Executing { since: Timestamp, task: Task },
    Over { ending: Finished, begun_at: Option<Timestamp>, said_at: Option<Timestamp> },
}

/// A function that runs.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) cancel: watch::Sender<bool>,
    pub(super) abort: AbortHandle,
    /// Whether it goes on when the schedulers are lost.
    pub(super) keep: bool,
    /// Who asked for its end, and when it is dropped.
    pub(super) stop: Option<(StopBy, Timestamp)>,
}

/// Who asked for an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopBy {
    Owner,
    Lease,
    Worker,
}

#[derive(Debug, Default)]
pub(super) struct Attempts {
    pub(super) held: BTreeMap<AttemptToken, Stage>,
    /// Acknowledged on this connection: their orders may still be on the way.
    pub(super) forgotten: BTreeSet<AttemptToken>,
    /// What the functions said: of those that are held, and of those whose log is not stored.
    pub(super) voices: BTreeMap<AttemptToken, Arc<Voice>>,
}

impl Attempts {
    /// How many execute.
    pub(super) fn executing(&self) -> usize {
        self.held.values().filter(|stage| matches!(stage, Stage::Executing { .. })).count()
    }

    /// What a hello or a heartbeat says about them.
    pub(super) fn words(&self, now: Timestamp) -> Vec<wire::Held> {
        let one = |(token, stage): (&AttemptToken, &Stage)| {
            let stage = match stage {
                Stage::Executing { since, .. } => {
                    held::Stage::ExecutingUs(u64::try_from(now.since(*since).as_micros()).unwrap_or(u64::MAX))
                }
                Stage::Over { .. } => held::Stage::Over(true),
            };
            wire::Held { token: Some((*token).into()), stage: Some(stage) }
        };
        self.held.iter().map(one).collect()
    }

    /// Asks a function to end, and drops it after the grace.
    pub(super) fn stop(&mut self, now: Timestamp, token: AttemptToken, by: StopBy, grace: Duration) {
        if let Some(Stage::Executing { task, .. }) = self.held.get_mut(&token) {
            let kill_at = now + grace;
            let (first_by, earlier) = task.stop.unwrap_or((by, kill_at));
            task.stop = Some((first_by, kill_at.min(earlier)));
            let _ = task.cancel.send(true);
            if grace.is_zero() {
                task.abort.abort();
            }
        }
    }

    /// Drops the functions whose grace is over, and stops those whose lease is.
    pub(super) fn enforce(&mut self, now: Timestamp, lease_until: Option<Timestamp>) {
        let lease_over = lease_until.is_some_and(|until| now >= until);
        for stage in self.held.values_mut() {
            let Stage::Executing { task, .. } = stage else { continue };
            if lease_over && !task.keep && task.stop.is_none_or(|(_, kill_at)| kill_at > now) {
                task.stop = Some((StopBy::Lease, now));
                let _ = task.cancel.send(true);
            }
            if task.stop.is_some_and(|(_, kill_at)| kill_at <= now) {
                task.abort.abort();
            }
        }
    }

    /// When a grace is over next.
    pub(super) fn next_kill(&self) -> Option<Timestamp> {
        let kill_at = |stage: &Stage| match stage {
            Stage::Executing { task, .. } if !task.abort.is_finished() => {
                task.stop.map(|(_, kill_at)| kill_at)
            }
            _ => None,
        };
        self.held.values().filter_map(kill_at).min()
    }

    /// An order that will not be executed.
    pub(super) fn refuse(&mut self, token: AttemptToken, cause: &Cause, stopped: bool) {
        let ending = Finished { cause: Some(cause.into()), stopped, silent: true, ..Finished::default() };
        self.held.insert(token, Stage::Over { ending, begun_at: None, said_at: None });
    }

    /// A function has ended.
    pub(super) fn end(&mut self, token: AttemptToken, cause: &Cause, result: Option<Bytes>) {
        let Some(Stage::Executing { since, task }) = self.held.get(&token) else { return };
        let stopped = task.stop.is_some_and(|(by, _)| by == StopBy::Owner);
        let voice = self.voices.get(&token);
        // Nobody waits for a log that says nothing, and nobody has to store one.
        let silent = voice.is_none_or(|voice| voice.spoken().log.end(super::identity::wall_clock()));
        let ending = Finished { cause: Some(cause.into()), stopped, result, silent, ..Finished::default() };
        let begun_at = Some(*since);
        self.held.insert(token, Stage::Over { ending, begun_at, said_at: None });
    }

    /// The owner has the ending.
    pub(super) fn forget(&mut self, token: AttemptToken) {
        if matches!(self.held.get(&token), Some(Stage::Over { .. })) {
            self.held.remove(&token);
            self.forgotten.insert(token);
            self.settle(token);
            // Logs that no owner stores do not pile up; the oldest go first.
            while self.voices.len() > self.held.len() + LOGS_KEPT_MAX {
                let Some(oldest) = self.voices.keys().find(|token| !self.held.contains_key(token)).copied()
                else {
                    break;
                };
                self.voices.remove(&oldest);
            }
        }
    }

    /// The owner has stored the log.
    pub(super) fn stored(&mut self, token: AttemptToken) {
        if let Some(voice) = self.voices.get(&token) {
            voice.spoken().log.store();
        }
        if !self.held.contains_key(&token) {
            self.voices.remove(&token);
        }
    }

    /// Nothing but its log is of interest now, if that is not stored.
    fn settle(&mut self, token: AttemptToken) {
        let Some(voice) = self.voices.get(&token) else { return };
        let mut spoken = voice.spoken();
        spoken.settle();
        let told = spoken.log.is_told();
        drop(spoken);
        if told {
            self.voices.remove(&token);
        }
    }
}
