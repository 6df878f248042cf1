//! What the sidecar and the preparation tell about tasks, and what the end of the lease does to them.

use std::time::Duration;

use mainspring_model::{AttemptToken, Cause, Timestamp};
use rustc_hash::FxHashSet;

use super::attempt::{Held, Stage, StopBy};
use super::input::{KnownStage, KnownTask, TaskEnd};
use super::orders::some_bytes;
use super::{Core, Ending, Output, words};

impl Core {
    pub(super) fn prepared(&mut self, now: Timestamp, token: AttemptToken, outcome: Result<bool, String>) {
        let Some(held @ Held { stage: Stage::Preparing, .. }) = self.held.get_mut(&token) else {
            return; // Stopped in the meantime.
        };
        match outcome {
            Ok(publishes) => {
                held.publishes = publishes;
                let deadline = if held.keep { None } else { self.lease.valid_until() };
                held.stage = Stage::Launching { deadline };
                if self.attached {
                    self.out.push(Output::Launch { token, deadline });
                }
            }
            Err(message) => {
                let cause = Cause::StartFailed { message: message.into() };
                self.end(now, token, Ending::before_start(cause, false));
            }
        }
    }

    /// The sidecar is there. Its journal decides what executes; what was on its way to it is sent again.
    pub(super) fn attached(&mut self, now: Timestamp, known: Vec<KnownTask>) {
        self.attached = true;
        self.answered();
        let listed: FxHashSet<AttemptToken> = known.iter().map(|task| task.token).collect();
        for task in known {
            self.adopt(now, task);
        }
        let missing: Vec<AttemptToken> =
            self.held.keys().filter(|token| !listed.contains(token)).copied().collect();
        for token in missing {
            self.not_in_journal(now, token);
        }
        if let Some(deadline) = self.lease.valid_until().filter(|until| *until > now) {
            self.out.push(Output::Extend { deadline });
        }
    }

    fn adopt(&mut self, now: Timestamp, task: KnownTask) {
        if self.forgotten.contains(&task.token) && !self.held.contains_key(&task.token) {
            self.out.push(Output::Forgotten(task.token));
            return;
        }
        let held = self.held.entry(task.token).or_insert_with(|| {
            let mut held = Held::new(Stage::Executing { since: now });
            (held.keep, held.publishes) = (task.keep, task.publishes);
            held
        });
        match (task.stage, &held.stage) {
            (_, Stage::Over { .. } | Stage::Publishing { .. }) => {}
            (KnownStage::Over(end), _) => {
                if !matches!(held.stage, Stage::Executing { .. }) {
                    held.stage = Stage::Executing { since: now - end.begun_ago.unwrap_or_default() };
                }
                self.ended(now, task.token, end);
            }
            (KnownStage::Executing(elapsed), _) => {
                let news = matches!(held.stage, Stage::Launching { .. });
                held.stage = Stage::Executing { since: now - elapsed };
                let stop = held.stop;
                if news {
                    self.say_started(task.token);
                }
                if stop.is_some() {
                    self.out.push(Output::Stop { token: task.token, grace: Duration::ZERO });
                }
            }
        }
    }

    fn not_in_journal(&mut self, now: Timestamp, token: AttemptToken) {
        let Some(held) = self.held.get_mut(&token) else { return };
        match held.stage {
            Stage::Launching { .. } if held.stop.is_some() => {
                let cause = Cause::Refused { message: "stopped before it began".into() };
                let stopped = held.stop == Some(StopBy::Owner);
                self.end(now, token, Ending::before_start(cause, stopped));
            }
            Stage::Launching { ref mut deadline } => {
                if deadline.is_some() {
                    *deadline = self.lease.valid_until();
                }
                self.out.push(Output::Launch { token, deadline: *deadline });
            }
            Stage::Executing { since } => {
                let mut ending =
                    Ending::before_start(Cause::Vanished { node: self.profile.node }, held.stop.is_some());
                ending.begun_at = Some(since);
                self.end(now, token, ending);
            }
            Stage::Preparing | Stage::Publishing { .. } | Stage::Over { .. } => {}
        }
    }

    pub(super) fn started(&mut self, now: Timestamp, token: AttemptToken) {
        if let Some(held @ Held { stage: Stage::Launching { .. }, .. }) = self.held.get_mut(&token) {
            held.stage = Stage::Executing { since: now };
            self.say_started(token);
        }
    }

    fn say_started(&mut self, token: AttemptToken) {
        if let Some(session) = self.link.session() {
            self.out.push(Output::Say(words::started(session, self.lease.next_beat(), token)));
        }
    }

    pub(super) fn ended(&mut self, now: Timestamp, token: AttemptToken, end: TaskEnd) {
        let Some(held) = self.held.get_mut(&token) else { return };
        let since = match held.stage {
            Stage::Executing { since } => since,
            Stage::Launching { .. } => now,
            Stage::Preparing | Stage::Publishing { .. } | Stage::Over { .. } => return,
        };
        let TaskEnd { cause, stopped, begun_ago, result, usage } = end;
        let success = cause.is_success();
        // A task that was ended because the schedulers were lost was lost, whatever signal that took.
        let cause = match held.stop {
            Some(StopBy::Lease) if stopped && !success => Cause::Lost { node: self.profile.node },
            _ => cause,
        };
        let stopped = stopped || held.stop.is_some();
        let begun_at = begun_ago.map(|ago| now - ago);
        let ending = Ending { cause, stopped, begun_at, result: some_bytes(result), usage };
        if held.publishes && success {
            held.stage = Stage::Publishing { since, ending: Box::new(ending) };
            self.out.push(Output::Publish(token));
        } else {
            self.end(now, token, ending);
        }
    }

    pub(super) fn published(&mut self, now: Timestamp, token: AttemptToken, outcome: Result<(), String>) {
        let Some(Held { stage: Stage::Publishing { ending, .. }, .. }) = self.held.get(&token) else {
            return;
        };
        let mut ending = (**ending).clone();
        if let Err(message) = outcome {
            ending.cause = Cause::Error { class: "output".into(), message: message.into() };
        }
        self.end(now, token, ending);
    }

    /// The attempt is over: tell it now if somebody listens, and until it is acknowledged.
    pub(super) fn end(&mut self, now: Timestamp, token: AttemptToken, ending: Ending) {
        self.say_progress_of(token);
        let mut held = Held::over(ending);
        if let (Some(session), Stage::Over { ending, said_at }) = (self.link.session(), &mut held.stage) {
            *said_at = Some(now);
            let beat = self.lease.next_beat();
            self.out.push(Output::Say(words::finished(now, session, beat, token, ending)));
        }
        self.held.insert(token, held);
    }

    /// Ends what may not go on. Looked at whatever happens, before anything else.
    pub(super) fn watch_lease(&mut self, now: Timestamp) {
        let Some(until) = self.lease.valid_until().filter(|until| *until <= now) else { return };
        if !self.lease.act_on_end(until) {
            return;
        }
        let bound: Vec<AttemptToken> = self
            .held
            .iter()
            .filter(|(_, held)| match held.stage {
                Stage::Preparing => true,
                Stage::Launching { .. } | Stage::Executing { .. } => !held.keep,
                Stage::Publishing { .. } | Stage::Over { .. } => false,
            })
            .map(|(token, _)| *token)
            .collect();
        let any = !bound.is_empty();
        for token in bound {
            self.stop_held(now, token, StopBy::Lease, Duration::ZERO);
        }
        if any {
            self.last_call(now);
        }
    }
}
