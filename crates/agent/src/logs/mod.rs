//! Captured output on its way to the owner: in order, no faster than it is taken, and kept here until it is stored there.
//!
//! `flow` is one log; here are all of them. Offsets count as if nothing were ever dropped.
//!
//! The sidecar pushes what is captured; what could not be taken at that moment is asked for again when there is room. A log
//! that is empty when it ends is never spoken of. Of any other, something is said before the end of its attempt is told.

mod flow;

use std::time::{Duration, Instant};

use bytes::Bytes;
use mainspring_model::AttemptToken;
use mainspring_sidecar::AttemptKey;
use mainspring_sidecar::protocol::Request;
use mainspring_wire::agent::node_word::Word;
use mainspring_wire::agent::{LogChunk, LogHave, NodeWord};
use rustc_hash::{FxHashMap, FxHashSet};

use flow::{Flow, Step};

/// Bytes of all logs together that are on their way and not taken.
const UNTAKEN_MAX: u64 = 8 * 1024 * 1024;
/// The most bytes asked of the sidecar at once.
const READ_BYTES: u32 = 128 * 1024;
/// How long an owner that could not store a log is left alone.
const STORE_PATIENCE: Duration = Duration::from_secs(3);

/// The logs of a node that are not stored by an owner yet.
#[derive(Debug, Default)]
pub(crate) struct Logs {
    flows: FxHashMap<AttemptToken, Flow>,
    /// Those that may have something to say.
    ready: FxHashSet<AttemptToken>,
}

impl Logs {
    /// The sidecar captured something.
    pub(crate) fn captured(&mut self, token: AttemptToken, offset: u64, frames: Bytes) {
        self.flow(token).captured(offset, frames);
        self.ready.insert(token);
    }

    /// The log goes so far by now, or that is where it ends.
    pub(crate) fn reaches(&mut self, token: AttemptToken, end: u64, over: bool) {
        if end > 0 || self.flows.contains_key(&token) {
            self.flow(token).reaches(end, over);
            self.ready.insert(token);
        }
    }

    /// The sidecar answered what was asked of it.
    pub(crate) fn read(&mut self, token: AttemptToken, offset: u64, frames: Bytes, end: u64, over: bool) {
        if let Some(flow) = self.flows.get_mut(&token) {
            flow.read(offset, frames, end, over);
            self.ready.insert(token);
        }
    }

    /// The sidecar does not have the log: there is nothing more to say of it.
    pub(crate) fn missing(&mut self, token: AttemptToken) -> bool {
        self.ready.remove(&token);
        self.flows.remove(&token).is_some_and(|flow| flow.forgotten_at.is_some())
    }

    /// The owner has so much. True when all of it is stored and the attempt forgotten: nothing of it is needed.
    pub(crate) fn have(&mut self, token: AttemptToken, have: &LogHave) -> bool {
        let Some(flow) = self.flows.get_mut(&token) else { return false };
        if have.stored {
            let forgotten = flow.forgotten_at.is_some();
            if forgotten {
                self.flows.remove(&token);
            } else {
                flow.store();
            }
            return forgotten;
        }
        flow.taken(have.offset);
        self.ready.insert(token);
        false
    }

    /// The owner forgot the attempt. True when nothing of it is needed any more; otherwise its log is still to be stored.
    pub(crate) fn forgotten(&mut self, token: AttemptToken) -> bool {
        match self.flows.get_mut(&token) {
            Some(flow) if !flow.is_stored() => {
                flow.forgotten_at.get_or_insert_with(Instant::now);
                false
            }
            _ => {
                self.flows.remove(&token);
                true
            }
        }
    }

    /// A new connection: what was not taken on the old one is said again.
    pub(crate) fn welcomed(&mut self) {
        for (token, flow) in &mut self.flows {
            flow.restart();
            self.ready.insert(*token);
        }
    }

    /// The sidecar is another: it owes no answers.
    pub(crate) fn reattached(&mut self) {
        for (token, flow) in &mut self.flows {
            flow.unask();
            self.ready.insert(*token);
        }
    }

    /// Says again what nobody has answered for so long: whoever heard it could not take it at that moment.
    pub(crate) fn nudge(&mut self, patience: Duration) {
        for (token, flow) in &mut self.flows {
            if flow.is_unanswered(patience) || flow.is_unstored(STORE_PATIENCE) {
                flow.restart();
                self.ready.insert(*token);
            }
        }
    }

    /// What can be said now, and what must be asked of the sidecar first.
    pub(crate) fn pump(&mut self, say: &mut Vec<NodeWord>, mut ask: impl FnMut(Request)) {
        if self.ready.is_empty() {
            return;
        }
        let mut untaken: u64 = self.flows.values().map(Flow::untaken).sum();
        let ready: Vec<AttemptToken> = self.ready.drain().collect();
        for token in ready {
            let Some(flow) = self.flows.get_mut(&token) else { continue };
            loop {
                if untaken >= UNTAKEN_MAX {
                    self.ready.insert(token);
                    break;
                }
                match flow.step() {
                    Step::Say { offset, data, gap, end } => {
                        untaken += data.len() as u64;
                        let (token, dropped_bytes) = (Some(token.into()), gap);
                        let chunk = LogChunk { token, offset, data, end, gap, dropped_bytes };
                        say.push(NodeWord { word: Some(Word::Log(chunk)) });
                    }
                    Step::Ask { offset } => {
                        let key = AttemptKey::from(token);
                        ask(Request::Log { key, offset, limit: READ_BYTES });
                    }
                    Step::Nothing => break,
                }
            }
        }
    }

    /// Forgotten attempts whose log nobody took for so long: they are given up.
    pub(crate) fn outdated(&mut self, age: Duration) -> Vec<AttemptToken> {
        let old = |flow: &Flow| flow.forgotten_at.is_some_and(|at| at.elapsed() >= age);
        self.flows.extract_if(|_, flow| old(flow)).map(|(token, _)| token).collect()
    }

    fn flow(&mut self, token: AttemptToken) -> &mut Flow {
        self.flows.entry(token).or_insert_with(Flow::new)
    }
}
