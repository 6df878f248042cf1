//! Carrying out what the rules of a node say, and telling them what the sidecar and the preparations did.

use std::sync::Arc;

use mainspring_model::AttemptToken;
use mainspring_sidecar::AttemptKey;
use mainspring_sidecar::protocol::{Event, Request};

use crate::core::{Input, Order, Output, TaskEnd};
use crate::driver::{Done, Driver};
use crate::prepare::{self, Prepared};
use crate::sidecar::Link;
use crate::stream::Redial;
use crate::tasks::{self, Roll};

impl Driver {
    pub(crate) fn perform(&mut self, output: Output) {
        match output {
            Output::Say(word) => self.said.push(word),
            Output::Prepare(order) => self.prepare(*order),
            Output::Abandon(token) => {
                self.starts.remove(&token);
                if let Some(task) = self.under_way.remove(&token) {
                    task.abort();
                }
            }
            Output::Launch { token, deadline } => {
                let Some(mut start) = self.starts.remove(&token) else { return };
                start.deadline_us = deadline.map(|deadline| deadline.as_micros() as u64);
                // Kept until the sidecar says that it has it: it is told again if it is gone before.
                let request = Request::Start(start);
                self.ask(&request);
                if let Request::Start(start) = request {
                    self.starts.insert(token, start);
                }
            }
            Output::Stop { token, grace } => {
                let grace_ms = Some(u32::try_from(grace.as_millis()).unwrap_or(u32::MAX));
                self.ask(&Request::Stop { key: token.into(), grace_ms, signal: None });
            }
            Output::Extend { deadline } => {
                self.ask(&Request::Extend { key: None, deadline_us: Some(deadline.as_micros() as u64) });
            }
            Output::Probe => self.ask(&Request::GetNode),
            Output::ReplaceSidecar => self.replace_sidecar(),
            Output::Publish(token) => self.publish(token),
            Output::Forgotten(token) => {
                if self.logs.forgotten(token) {
                    self.release(token);
                }
            }
            Output::LogHave(have) => {
                let token = have.token.as_ref().map(AttemptToken::try_from);
                if let Some(Ok(token)) = token
                    && self.logs.have(token, &have)
                {
                    self.release(token);
                }
            }
            Output::Welcomed => {
                tracing::info!(node = %self.node, held = self.core.held_count(), "connected to the owner");
                self.logs.welcomed();
            }
            Output::Reconnect { to } => {
                self.drop_stream();
                let _ = self.redials.try_send(Redial { to });
            }
            Output::Farewell => self.leaving = true,
            Output::Malformed(malformed) => tracing::warn!(%malformed, "the scheduler sent nonsense"),
        }
    }

    fn prepare(&mut self, order: Order) {
        let token = order.token;
        match prepare::prepare(&order, &self.layout, self.fetcher.users()) {
            Ok(Prepared::Now(start)) => {
                self.starts.insert(token, start);
                self.handle(Input::Prepared { token, outcome: Ok(false) });
            }
            Ok(Prepared::Later) => {
                let (fetcher, done) = (Arc::clone(&self.fetcher), self.done_sender.clone());
                let task = tokio::spawn(async move {
                    let outcome = fetcher.prepare(&order).await;
                    let _ = done.send(Done::Prepared { token, outcome });
                });
                self.under_way.insert(token, task.abort_handle());
            }
            Err(message) => self.handle(Input::Prepared { token, outcome: Err(message) }),
        }
    }

    fn publish(&mut self, token: AttemptToken) {
        let (fetcher, done) = (Arc::clone(&self.fetcher), self.done_sender.clone());
        let task = tokio::spawn(async move {
            let outcome = fetcher.publish(token.into()).await;
            let _ = done.send(Done::Published { token, outcome });
        });
        self.under_way.insert(token, task.abort_handle());
    }

    pub(crate) fn finish(&mut self, done: Done) {
        match done {
            Done::Prepared { token, outcome } => {
                if self.under_way.remove(&token).is_none() {
                    return; // Abandoned in the meantime.
                }
                let outcome = outcome.map(|(start, publishes)| {
                    self.starts.insert(token, start);
                    publishes
                });
                self.handle(Input::Prepared { token, outcome });
            }
            Done::Published { token, outcome } => {
                self.under_way.remove(&token);
                self.handle(Input::Published { token, outcome });
            }
        }
    }

    /// What the sidecar says.
    pub(crate) fn hear(&mut self, event: Event) {
        if self.roll.is_some() {
            self.handle(Input::Stirred);
        }
        match event {
            Event::Started { key, .. } => {
                self.starts.remove(&key.into());
                self.handle(Input::Started { token: key.into() });
            }
            Event::Refused { key, refusal, message } => {
                self.starts.remove(&key.into());
                self.ended(key, tasks::refused(refusal, message, self.node));
            }
            Event::Log { key, offset, frames } => self.logs.captured(key.into(), offset, frames),
            Event::Progress { key, line } => {
                let (permille, message) = tasks::progress(&line);
                self.handle(Input::Progressed { token: key.into(), permille, message });
            }
            Event::Finished(finished) => match &mut self.roll {
                Some(roll) => {
                    roll.finished(finished);
                    self.attach_if_complete();
                }
                None => {
                    let token = AttemptToken::from(finished.key);
                    self.logs.reaches(token, finished.log_end, true);
                    self.ended(finished.key, tasks::end_of(&finished, self.node));
                }
            },
            Event::Listing { attempts } => {
                if let Some(roll) = &mut self.roll {
                    roll.listed(attempts);
                    self.attach_if_complete();
                }
            }
            Event::LogRead { key, offset, frames, end, over } => {
                self.logs.read(key.into(), offset, frames, end, over);
            }
            Event::Unknown { key } => {
                if self.logs.missing(key.into()) {
                    self.release(key.into());
                }
                let vanished = mainspring_model::Cause::Vanished { node: self.node };
                let end = TaskEnd {
                    cause: vanished,
                    stopped: false,
                    begun_ago: None,
                    result: None,
                    usage: <_>::default(),
                };
                self.handle(Input::Ended { token: key.into(), end });
            }
            Event::Welcome { node, .. } => {
                if node != Some(*self.node.as_bytes()) {
                    self.failure = Some(crate::error::Error::JournalLost);
                }
            }
            Event::Node { .. } => self.handle(Input::Answered),
            Event::Removed { .. } | Event::ShuttingDown { .. } => {}
        }
    }

    fn ended(&mut self, key: AttemptKey, end: TaskEnd) {
        let token = AttemptToken::from(key);
        if self.core.holds(&token) {
            self.handle(Input::Ended { token, end });
        } else {
            self.release(token);
        }
    }

    /// The journal was told in full: the rules learn what executes and what ended.
    pub(crate) fn attach_if_complete(&mut self) {
        let layout = &self.layout;
        let publishes = |key: &AttemptKey| prepare::publishes(layout, key);
        let Some(known) = self.roll.as_mut().and_then(|roll| roll.complete(self.node, publishes)) else {
            return;
        };
        self.roll = None;
        self.logs.reattached();
        for (token, log_end, over) in known.logs {
            self.logs.reaches(token, log_end, over);
        }
        self.handle(Input::Attached(known.tasks));
        for key in known.leftovers {
            if !self.core.holds(&key.into()) {
                self.ask(&Request::Remove { key });
            }
        }
    }

    pub(crate) fn lose_sidecar(&mut self, error: &std::io::Error) {
        tracing::warn!(%error, "the sidecar is gone");
        self.link = None;
        self.handle(Input::Detached);
        self.roll = Some(Roll::default());
        let (command, layout) = (self.options.sidecar.clone(), self.layout.clone());
        self.opening = Some(tokio::spawn(Link::open(command, layout)));
    }

    /// Its socket closes with it, so what follows is as if it had died by itself.
    fn replace_sidecar(&mut self) {
        if let Some(link) = &self.link {
            link.kill();
        }
    }

    pub(crate) fn opened(&mut self, link: Option<Link>) {
        self.opening = None;
        self.link = link;
        self.handle(Input::Stirred);
    }

    /// Nothing of the attempt is needed any more.
    pub(crate) fn release(&mut self, token: AttemptToken) {
        let key = AttemptKey::from(token);
        self.ask(&Request::Ack { key });
        self.ask(&Request::Remove { key });
    }

    /// Gives up what nobody took for too long.
    pub(crate) fn sweep(&mut self) {
        for token in self.logs.outdated(self.options.retain) {
            tracing::warn!(%token, "nobody took its log for too long; it is dropped");
            self.release(token);
        }
    }

    pub(crate) fn ask(&mut self, request: &Request) {
        if let Some(link) = &mut self.link {
            link.send(request);
        }
    }
}
