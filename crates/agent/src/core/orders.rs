//! What the owner orders: start, stop, forget.

use std::time::Duration;

use bytes::Bytes;
use mainspring_model::spec::OnDisconnect;
use mainspring_model::{AttemptToken, Cause, Timestamp, limits};
use mainspring_wire::agent::{Forget, Malformed, Start, Stop, Token};

use super::attempt::{Held, Stage, StopBy};
use super::{Core, Ending, Order, Output, words};

impl Core {
    pub(super) fn start(&mut self, now: Timestamp, start: Start) -> Result<(), Malformed> {
        let token = token_of(start.token.as_ref())?;
        let Some(session) = self.link.session().filter(|session| *session == start.session) else {
            return Ok(()); // Meant for a connection that is over.
        };
        if self.held.contains_key(&token) {
            self.tell_again(now, session, token);
            return Ok(());
        }
        if self.forgotten.contains(&token) {
            return Ok(());
        }
        if !self.lease.may_start(start.seen_beat, now) {
            self.refuse(now, token, "the order travelled too long");
            return Ok(());
        }
        if self.draining {
            self.refuse(now, token, "the node takes no more work");
            return Ok(());
        }
        let key = start.spec.as_ref().ok_or_else(|| Malformed::missing("start.spec"))?;
        let Some(spec) = self.specs.find(key) else {
            // The owner believes that it said it. On a new connection it says everything anew.
            self.reconnect(None);
            return Err(Malformed::new("start.spec", "it was never said on this connection"));
        };
        let spec = match spec {
            Ok(spec) => spec,
            Err(why) => {
                self.refuse(now, token, &format!("this node cannot read the specification: {why}"));
                return Ok(());
            }
        };
        let mut held = Held::new(Stage::Preparing);
        held.keep = spec.on_disconnect == OnDisconnect::Keep;
        self.held.insert(token, held);
        self.out.push(Output::Prepare(Box::new(Order {
            token,
            spec,
            namespace: start.namespace,
            params: start.params,
            checkpoint: start.checkpoint,
            attempts_max: start.attempts_max,
            deadline: start.deadline_us.map(Timestamp::from_micros),
        })));
        Ok(())
    }

    /// An order that is known came again: the owner has not heard what was said about it.
    fn tell_again(&mut self, now: Timestamp, session: u64, token: AttemptToken) {
        let beat = self.lease.next_beat();
        let Some(held) = self.held.get_mut(&token) else { return };
        let word = match &mut held.stage {
            // Not on disk yet. It would be forgotten with the agent, so the owner should go on asking.
            Stage::Preparing | Stage::Launching { .. } => return,
            Stage::Executing { .. } | Stage::Publishing { .. } => words::started(session, beat, token),
            Stage::Over { ending, said_at } => {
                *said_at = Some(now);
                words::finished(now, session, beat, token, ending)
            }
        };
        self.out.push(Output::Say(word));
    }

    fn refuse(&mut self, now: Timestamp, token: AttemptToken, why: &str) {
        self.held.insert(token, Held::new(Stage::Preparing));
        self.end(now, token, Ending::before_start(Cause::Refused { message: why.into() }, false));
    }

    pub(super) fn stop(&mut self, now: Timestamp, stop: &Stop) -> Result<(), Malformed> {
        let token = token_of(stop.token.as_ref())?;
        if self.link.session() != Some(stop.session) {
            return Ok(());
        }
        if self.forgotten.contains(&token) {
            return Ok(());
        }
        // Unknown: it must never begin on this connection, so it is over from now on.
        self.held.entry(token).or_insert_with(|| Held::new(Stage::Preparing));
        let grace = Duration::from_micros(stop.grace_us).min(limits::DURATION_MAX);
        self.stop_held(now, token, StopBy::Owner, grace);
        Ok(())
    }

    pub(super) fn stop_held(&mut self, now: Timestamp, token: AttemptToken, by: StopBy, grace: Duration) {
        let Some(held) = self.held.get_mut(&token) else { return };
        match held.stage {
            Stage::Preparing => {
                self.out.push(Output::Abandon(token));
                let why = match by {
                    StopBy::Owner => "stopped before it began",
                    StopBy::Lease => "the node lost the schedulers before it began",
                };
                let cause = Cause::Refused { message: why.into() };
                self.end(now, token, Ending::before_start(cause, by == StopBy::Owner));
            }
            Stage::Launching { .. } | Stage::Executing { .. } => {
                held.stop.get_or_insert(by);
                self.out.push(Output::Stop { token, grace });
            }
            // The task is over already, and a lease that ends stops no copy; the owner may.
            Stage::Publishing { ref ending, .. } => {
                let message = "it was stopped while its outputs were copied".into();
                let mut ending = Ending::clone(ending);
                ending.cause = Cause::Error { class: "output".into(), message };
                ending.stopped = true;
                self.out.push(Output::Abandon(token));
                self.end(now, token, ending);
            }
            Stage::Over { .. } => {
                if let Some(session) = self.link.session() {
                    self.tell_again(now, session, token);
                }
            }
        }
    }

    pub(super) fn forget(&mut self, forget: &Forget) -> Result<(), Malformed> {
        let token = token_of(forget.token.as_ref())?;
        if matches!(self.held.get(&token), Some(Held { stage: Stage::Over { .. }, .. })) {
            self.held.remove(&token);
            self.forgotten.insert(token);
            self.out.push(Output::Forgotten(token));
        }
        Ok(())
    }
}

pub(super) fn token_of(token: Option<&Token>) -> Result<AttemptToken, Malformed> {
    AttemptToken::try_from(token.ok_or_else(|| Malformed::missing("token"))?)
}

/// A result that is empty is none.
pub(super) fn some_bytes(bytes: Option<Bytes>) -> Option<Bytes> {
    bytes.filter(|bytes| !bytes.is_empty())
}
