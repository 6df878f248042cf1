//! The nodes that are connected here: what they are told, in batches, and what they use.
//!
//! A node that does not read its words is disconnected, never waited for: the engine says what matters again, and the node
//! says hello again.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use mainspring_engine::{Message, Order};
use mainspring_model::{AttemptToken, JobId, JobSpec, NodeId, RunId};
use mainspring_wire::agent::{
    Beat, Forget, OwnerWord, Spec, SpecKey, Start, Stop, ToNode, Welcome, WhoAreYou, owner_word::Word,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::input::{Outward, Usage};

/// Specifications that a connection remembers. One more, and both sides begin anew.
const SPECS_PER_CONNECTION_MAX: usize = mainspring_wire::agent::SPECS_PER_CONNECTION_MAX;
/// Specifications whose JSON is kept.
const JSON_KEPT_MAX: usize = 1_024;

/// How nodes keep in touch.
#[derive(Debug)]
pub(crate) struct Rhythm {
    pub(crate) heartbeat_every: Duration,
    pub(crate) engine: mainspring_engine::Config,
}

#[derive(Debug)]
pub(super) struct Connections {
    rhythm: Rhythm,
    by_node: FxHashMap<NodeId, Connection>,
    json: FxHashMap<(JobId, u32), Bytes>,
    /// Nodes with words that are not sent yet.
    unsent: Vec<NodeId>,
}

#[derive(Debug)]
struct Connection {
    session: u64,
    /// The version of the agent.
    agent: Arc<str>,
    outward: Outward,
    specs: FxHashSet<(JobId, u32)>,
    words: Vec<OwnerWord>,
    usage: Usage,
}

impl Connections {
    pub(super) fn new(rhythm: Rhythm) -> Self {
        Self { rhythm, by_node: FxHashMap::default(), json: FxHashMap::default(), unsent: Vec::new() }
    }

    /// A node connected; an earlier connection of it is dropped.
    pub(super) fn connect(&mut self, node: NodeId, session: u64, agent: Arc<str>, outward: Outward) {
        let known = self.by_node.get(&node).map_or(0, |connection| connection.session);
        if known < session {
            let connection = Connection {
                session,
                agent,
                outward,
                specs: FxHashSet::default(),
                words: Vec::new(),
                usage: Usage::default(),
            };
            self.by_node.insert(node, connection);
        }
    }

    pub(super) fn disconnect(&mut self, node: NodeId, session: u64) {
        if self.by_node.get(&node).is_some_and(|connection| connection.session == session) {
            self.by_node.remove(&node);
        }
    }

    /// The node has to connect again.
    pub(super) fn drop_node(&mut self, node: NodeId) {
        self.by_node.remove(&node);
    }

    /// Everybody has to look for the owner anew.
    pub(super) fn disconnect_all(&mut self) {
        self.by_node.clear();
        self.unsent.clear();
    }

    pub(super) fn uses(&mut self, node: NodeId, usage: Usage) {
        if let Some(connection) = self.by_node.get_mut(&node) {
            connection.usage = usage;
        }
    }

    /// The version of the agent of a connected node.
    pub(super) fn agent(&self, node: NodeId) -> Option<Arc<str>> {
        self.by_node.get(&node).map(|connection| Arc::clone(&connection.agent))
    }

    /// What a connected node's machine uses.
    pub(super) fn usage(&self, node: NodeId) -> Option<Usage> {
        self.by_node.get(&node).map(|connection| connection.usage)
    }

    /// Keeps a message for its node until [`Self::flush`]. One for a node that is not here is dropped: it would be void on
    /// another connection.
    pub(super) fn tell(&mut self, message: Message) {
        match message {
            Message::Welcome { node, session, beat, epoch } => {
                let Rhythm { heartbeat_every, engine } = &self.rhythm;
                let (heartbeat_every, lost_after) = (*heartbeat_every, engine.lost_after_of(node));
                self.say(
                    node,
                    Word::Welcome(Welcome {
                        session,
                        beat,
                        epoch: epoch.0,
                        heartbeat_every_us: micros(heartbeat_every),
                        lost_after_us: micros(lost_after),
                    }),
                );
            }
            Message::Beat { node, session, beat } => self.say(node, Word::Beat(Beat { session, beat })),
            Message::WhoAreYou { node } => self.say(node, Word::WhoAreYou(WhoAreYou {})),
            Message::Start(order) => self.start(&order),
            Message::Stop { node, session, token, grace } => {
                let stop = Stop { session, token: Some(token.into()), grace_us: micros(grace) };
                self.say(node, Word::Stop(stop));
            }
            Message::Forget { node, token, stale } => self.forget(node, token, stale),
            Message::Reply { .. }
            | Message::Read(_)
            | Message::ReadTriggers(_)
            | Message::ReadSpecs(_)
            | Message::ReadMoments(_)
            | Message::Damaged { .. }
            | Message::Hint { .. } => {}
        }
    }

    fn forget(&mut self, node: NodeId, token: AttemptToken, stale: bool) {
        self.say(node, Word::Forget(Forget { token: Some(token.into()), stale }));
    }

    fn start(&mut self, order: &Order) {
        let Some(connection) = self.by_node.get_mut(&order.node) else { return };
        let head = &order.head;
        let own: Option<RunId> = head.inline_spec.is_some().then_some(head.id);
        let key = SpecKey::new(head.job, head.job_version, own);
        let shared = (head.job, head.job_version);
        if own.is_some() || !connection.specs.contains(&shared) {
            let json = match &head.inline_spec {
                Some(json) => Bytes::copy_from_slice(json),
                None => json_of(&mut self.json, shared, &order.spec),
            };
            if own.is_none() {
                if connection.specs.len() == SPECS_PER_CONNECTION_MAX {
                    connection.specs.clear();
                }
                connection.specs.insert(shared);
            }
            let spec = Spec { key: Some(key.clone()), json };
            connection.words.push(OwnerWord { word: Some(Word::Spec(spec)) });
        }
        let start = Start {
            session: order.session,
            seen_beat: order.seen_beat,
            token: Some(order.token.into()),
            spec: Some(key),
            namespace: head.namespace.as_str().to_owned(),
            params: Bytes::copy_from_slice(&head.params),
            checkpoint: order.checkpoint.as_deref().map(Bytes::copy_from_slice),
            attempts_max: order.attempts_max,
            deadline_us: head.deadline.map(|deadline| deadline.as_micros()),
        };
        self.say(order.node, Word::Start(start));
    }

    fn say(&mut self, node: NodeId, word: Word) {
        let Some(connection) = self.by_node.get_mut(&node) else { return };
        if connection.words.is_empty() || self.unsent.last() != Some(&node) {
            self.unsent.push(node);
        }
        connection.words.push(OwnerWord { word: Some(word) });
    }

    /// Sends what was kept, one batch for each node.
    pub(super) fn flush(&mut self) {
        for node in std::mem::take(&mut self.unsent) {
            let Some(connection) = self.by_node.get_mut(&node) else { continue };
            if connection.words.is_empty() {
                continue;
            }
            let words = std::mem::take(&mut connection.words);
            if connection.outward.words.try_send(ToNode { words }).is_err() {
                self.by_node.remove(&node);
            }
        }
    }
}

fn json_of(kept: &mut FxHashMap<(JobId, u32), Bytes>, key: (JobId, u32), spec: &Arc<JobSpec>) -> Bytes {
    if let Some(json) = kept.get(&key) {
        return json.clone();
    }
    // A specification that was read can be written; an empty one is refused by the node, and the run says so.
    let json = Bytes::from(serde_json::to_vec(&**spec).unwrap_or_default());
    if kept.len() == JSON_KEPT_MAX {
        kept.clear();
    }
    kept.insert(key, json.clone());
    json
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
