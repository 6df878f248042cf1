//! What the owner orders, what functions say, and how they end.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{AttemptToken, Cause, Timestamp};
use mainspring_wire::agent::{LogHave, Progress, Start, Stop, Token, node_word};
use tokio::sync::watch;
use tokio::task::JoinError;

use super::attempts::{Stage, StopBy, Task};
use super::context::{Context, Order, Said};
use super::handler::{Outcome, TaskError};
use super::identity::wall_clock;
use super::node::Node;
use super::output::LogBuffer;
use super::words;

impl Node {
    pub(super) fn start(&mut self, now: Timestamp, start: Start) {
        let Some(token) = token_of(start.token.as_ref()) else { return };
        let Some(session) = self.session().filter(|session| *session == start.session) else { return };
        if let Some(stage) = self.attempts.held.get(&token) {
            // It came again: the owner has not heard what was said about it.
            let news = match stage {
                Stage::Executing { .. } => words::started(),
                Stage::Over { ending, begun_at, .. } => words::finished(now, *begun_at, ending),
            };
            return self.say(vec![words::report(session, self.lease.next_beat(), token, news)]);
        }
        if self.attempts.forgotten.contains(&token) {
            return;
        }
        match self.check(now, &start) {
            Err(message) => {
                self.attempts.refuse(token, &Cause::Refused { message: message.into() }, false);
                self.say_endings(now, Duration::MAX);
            }
            Ok((name, keep)) => self.execute(now, session, token, start, &name, keep),
        }
    }

    /// The function for an order, or why there is none.
    fn check(&self, now: Timestamp, start: &Start) -> Result<(String, bool), String> {
        if !self.lease.may_start(start.seen_beat, now) {
            return Err("the order travelled too long".into());
        }
        if self.leaving_since.is_some() {
            return Err("the worker is stopping".into());
        }
        let known = start.spec.as_ref().and_then(|key| self.specs.find(key));
        let known = known.ok_or("the specification was not sent before the order")?;
        match &known.handler {
            Some(name) if self.setup.handlers.contains_key(name) => Ok((name.clone(), known.keep)),
            Some(name) => Err(format!("this worker has no function `{name}`")),
            None => Err("this worker runs functions only, and the job's body is none".into()),
        }
    }

    fn execute(
        &mut self,
        now: Timestamp,
        session: u64,
        token: AttemptToken,
        start: Start,
        name: &str,
        keep: bool,
    ) {
        let Some(handler) = self.setup.handlers.get(name).cloned() else { return };
        let order = Order {
            token,
            namespace: start.namespace,
            params: start.params,
            checkpoint: start.checkpoint,
            attempts_max: start.attempts_max,
            deadline: start.deadline_us.map(Timestamp::from_micros),
        };
        let (cancel, cancelled) = watch::channel(false);
        let context = Context { order: Arc::new(order), cancel: cancelled, said: self.said.clone() };
        // A task of its own, so that a panic stays in it; called inside it, because calling may panic too.
        let task = tokio::spawn(async move { handler(context).await });
        let abort = task.abort_handle();
        self.running.spawn(async move { (token, task.await) });
        let task = Task { cancel, abort, keep, stop: None };
        self.attempts.held.insert(token, Stage::Executing { since: now, task });
        self.attempts.logs.insert(token, LogBuffer::default());
        let beat = self.lease.next_beat();
        let report = |news| words::report(session, beat, token, news);
        self.say(vec![report(words::accepted()), report(words::started())]);
    }

    pub(super) fn stop(&mut self, now: Timestamp, stop: &Stop) {
        let Some(token) = token_of(stop.token.as_ref()) else { return };
        if self.session() != Some(stop.session) || self.attempts.forgotten.contains(&token) {
            return;
        }
        if !self.attempts.held.contains_key(&token) {
            // It must never begin on this connection.
            let cause = Cause::Refused { message: "stopped before it began".into() };
            self.attempts.refuse(token, &cause, true);
        }
        self.attempts.stop(now, token, StopBy::Owner, Duration::from_micros(stop.grace_us));
        self.say_endings(now, Duration::MAX);
    }

    pub(super) fn ended(&mut self, token: AttemptToken, outcome: Result<Outcome, JoinError>) {
        // What it said before its end belongs to it.
        while let Ok((token, said)) = self.hears.try_recv() {
            self.tell(token, said);
        }
        let now = self.now();
        let stopped_by = match self.attempts.held.get(&token) {
            Some(Stage::Executing { task, .. }) => task.stop.map(|(by, _)| by),
            _ => None,
        };
        let (cause, result) = verdict(outcome, stopped_by, self.identity.node());
        self.attempts.end(token, &cause, result);
        self.say_log(token);
        self.say_endings(now, Duration::MAX);
    }

    /// Says the endings that were not said, or not within this time.
    pub(super) fn say_endings(&mut self, now: Timestamp, unless_within: Duration) {
        let Some(session) = self.session() else { return };
        let beat = self.lease.next_beat();
        let mut said = Vec::new();
        for (token, stage) in &mut self.attempts.held {
            if let Stage::Over { ending, begun_at, said_at } = stage
                && said_at.is_none_or(|at| unless_within.is_zero() || now.since(at) >= unless_within)
            {
                *said_at = Some(now);
                let finished = words::finished(now, *begun_at, ending);
                said.push(words::report(session, beat, *token, finished));
            }
        }
        if !said.is_empty() {
            self.say(said);
        }
    }

    pub(super) fn tell(&mut self, token: AttemptToken, said: Said) {
        let news = match said {
            Said::Log(text) => {
                if let Some(log) = self.attempts.logs.get_mut(&token) {
                    log.push(wall_clock(), &text);
                }
                return self.say_log(token);
            }
            Said::Progress { permille, message } => {
                words::progressed(Some(Progress { permille, message }), None)
            }
            Said::Checkpoint(bytes) => words::progressed(None, Some(bytes)),
        };
        if let (Some(session), Some(Stage::Executing { .. })) =
            (self.session(), self.attempts.held.get(&token))
        {
            self.say(vec![words::report(session, self.lease.next_beat(), token, news)]);
        }
    }

    pub(super) fn say_log(&mut self, token: AttemptToken) {
        if self.session().is_none() {
            return;
        }
        while let Some(mut chunk) = self.attempts.logs.get_mut(&token).and_then(LogBuffer::next) {
            chunk.token = Some(token.into());
            self.say(vec![words::word(node_word::Word::Log(chunk))]);
        }
    }

    pub(super) fn log_have(&mut self, have: &LogHave) {
        let Some(token) = token_of(have.token.as_ref()) else { return };
        if have.stored {
            self.attempts.logs.remove(&token);
        } else if let Some(log) = self.attempts.logs.get_mut(&token) {
            log.have(have.offset);
            self.say_log(token);
        }
    }
}

/// What an end means to the run.
fn verdict(
    outcome: Result<Outcome, JoinError>,
    stopped_by: Option<StopBy>,
    node: mainspring_model::NodeId,
) -> (Cause, Option<bytes::Bytes>) {
    let error = |class: &str, message: String| Cause::Error { class: class.into(), message: message.into() };
    match outcome {
        Ok(Ok(result)) if result.len() > mainspring_model::limits::RESULT_BYTES_MAX => {
            (error("result_too_large", format!("{} bytes", result.len())), None)
        }
        Ok(Ok(result)) => (Cause::Exit { code: 0 }, Some(result.into())),
        _ if stopped_by == Some(StopBy::Lease) => (Cause::Lost { node }, None),
        Ok(Err(TaskError { class, message })) => (error(&class, message), None),
        Err(end) if end.is_panic() => {
            let panic = end.into_panic();
            let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
            let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
            (error("panic", words.unwrap_or_else(|| "the function panicked".to_owned())), None)
        }
        Err(_) => (error("stopped", "the function was stopped before it returned".to_owned()), None),
    }
}

pub(super) fn token_of(token: Option<&Token>) -> Option<AttemptToken> {
    token.and_then(|token| AttemptToken::try_from(token).ok())
}
