//! What the owner orders, what functions say, and how they end.

use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{AttemptToken, Cause, Timestamp, limits};
use mainspring_wire::agent::{LogHave, Start, Stop, Token, node_word};
use tokio::sync::watch;
use tokio::task::JoinError;

use super::attempts::{Stage, StopBy, Task};
use super::context::{Context, Order};
use super::handler::{Outcome, TaskError};
use super::node::Node;
use super::voice::Voice;
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
        let voice = Arc::new(Voice::new(token, self.wake.clone()));
        let context = Context { order: Arc::new(order), cancel: cancelled, voice: Arc::clone(&voice) };
        // A task of its own, so that a panic stays in it; called inside it, because calling may panic too.
        let task = tokio::spawn(async move { handler(context).await });
        let abort = task.abort_handle();
        self.running.spawn(async move { (token, task.await) });
        let task = Task { cancel, abort, keep, stop: None };
        self.attempts.held.insert(token, Stage::Executing { since: now, task });
        self.attempts.voices.insert(token, voice);
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
        let now = self.now();
        let stopped_by = match self.attempts.held.get(&token) {
            Some(Stage::Executing { task, .. }) => task.stop.map(|(by, _)| by),
            _ => None,
        };
        let (cause, result) = verdict(outcome, stopped_by, self.identity.node());
        self.attempts.end(token, &cause, result);
        // What it said before its end belongs to it.
        self.say_news(token);
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
                let bytes = ending.result.as_ref().map_or(0, bytes::Bytes::len) + limits::MESSAGE_BYTES_MAX;
                let finished = words::finished(now, *begun_at, ending);
                said.push((bytes, words::report(session, beat, *token, finished)));
            }
        }
        self.say_all(said);
    }

    /// Passes on what an attempt's function said, as far as there is room; the rest is said when there is some.
    pub(super) fn pass_on(&mut self, token: AttemptToken) {
        if let Some(voice) = self.attempts.voices.get(&token) {
            voice.spoken().heard();
        }
        if self.has_room() {
            self.say_news(token);
        }
        self.say_log(token);
    }

    /// Passes on what waited for room.
    pub(super) fn pass_on_all(&mut self) {
        self.wants_room = false;
        let tokens: Vec<AttemptToken> = self.attempts.voices.keys().copied().collect();
        for token in tokens {
            self.pass_on(token);
        }
    }

    /// Says progress and a checkpoint that this owner has not heard, also those of a function that has ended since: the next
    /// attempt goes on from there.
    pub(super) fn say_news(&mut self, token: AttemptToken) {
        let Some(session) = self.session() else { return };
        if !self.attempts.held.contains_key(&token) {
            return;
        }
        if let Some(news) = self.attempts.voices.get(&token).and_then(|voice| voice.spoken().news()) {
            self.say(vec![words::report(session, self.lease.next_beat(), token, news)]);
        }
    }

    pub(super) fn say_all_news(&mut self) {
        let Some(session) = self.session() else { return };
        let beat = self.lease.next_beat();
        let held = |(token, _): &(&AttemptToken, &Arc<Voice>)| self.attempts.held.contains_key(*token);
        let voices = self.attempts.voices.iter().filter(held);
        let said: Vec<_> = voices
            .filter_map(|(token, voice)| {
                let mut spoken = voice.spoken();
                Some((spoken.news_bytes(), words::report(session, beat, *token, spoken.news()?)))
            })
            .collect();
        self.say_all(said);
    }

    pub(super) fn say_log(&mut self, token: AttemptToken) {
        while self.session().is_some() {
            let now = self.now();
            let Some(voice) = self.attempts.voices.get(&token) else { return };
            let voice = Arc::clone(voice);
            if !self.has_room() {
                return;
            }
            let Some(mut chunk) = voice.spoken().log.next(now) else { return };
            chunk.token = Some(token.into());
            self.say(vec![words::word(node_word::Word::Log(chunk))]);
        }
    }

    pub(super) fn log_have(&mut self, now: Timestamp, have: &LogHave) {
        let Some(token) = token_of(have.token.as_ref()) else { return };
        if have.stored {
            self.attempts.stored(token);
        } else if let Some(voice) = self.attempts.voices.get(&token) {
            voice.spoken().log.have(now, have.offset);
            self.say_log(token);
        }
    }

    /// Says again what nobody answered for.
    pub(super) fn nudge_logs(&mut self, now: Timestamp) {
        let mut quiet = Vec::new();
        for (token, voice) in &self.attempts.voices {
            if voice.spoken().log.nudge(now) {
                quiet.push(*token);
            }
        }
        for token in quiet {
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
    let error = |class: String, message: String| Cause::Error {
        class: words::short(class).into(),
        message: words::short(message).into(),
    };
    match outcome {
        Ok(Ok(result)) if result.len() > limits::RESULT_BYTES_MAX => {
            (error("result_too_large".into(), format!("{} bytes", result.len())), None)
        }
        Ok(Ok(result)) => (Cause::Exit { code: 0 }, Some(result.into())),
        _ if stopped_by == Some(StopBy::Lease) => (Cause::Lost { node }, None),
        Ok(Err(TaskError { class, message })) => (error(class, message), None),
        Err(end) if end.is_panic() => {
            let panic = end.into_panic();
            let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
            let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
            (error("panic".into(), words.unwrap_or_else(|| "the function panicked".to_owned())), None)
        }
        Err(_) => (error("stopped".into(), "the function was stopped before it returned".to_owned()), None),
    }
}

pub(super) fn token_of(token: Option<&Token>) -> Option<AttemptToken> {
    token.and_then(|token| AttemptToken::try_from(token).ok())
}
