//! A node lives. The answer lets it go on executing, so only an owner whose lease holds gives it.

use mainspring_model::{Cause, NodeId, NodeState, Timestamp};

use crate::cell::Cell;
use crate::event::{Ending, Heartbeat, Held};
use crate::message::Message;
use crate::runs::Phase;

impl Cell {
    pub(crate) fn heartbeat(&mut self, now: Timestamp, heartbeat: Heartbeat) {
        let Heartbeat { node, session, beat, mut held } = heartbeat;
        let Some(node_ix) = self.nodes.find(node).filter(|ix| self.nodes.get(*ix).session == session) else {
            let newer = self.nodes.find(node).is_some_and(|ix| self.nodes.get(ix).session > session);
            if !newer {
                self.outbox.now.push(Message::WhoAreYou { node });
            }
            return;
        };
        let entry = &mut self.nodes.entries[node_ix];
        // A heartbeat that was overtaken proves less than what is known.
        if beat > entry.seen_beat {
            entry.seen_beat = beat;
            entry.heard_at = self.elapsed;
            if entry.quiet {
                self.nodes.change(node_ix, |entry| entry.quiet = false);
                self.fill_node(now, node_ix);
            }
            held.sort_unstable_by_key(|held| held.token);
            for run in self.nodes.get(node_ix).runs.clone() {
                self.missing(now, run, node, beat, &held);
            }
            for held in &held {
                self.stop_stranger(now, node_ix, held);
            }
        }
        self.outbox.now.push(Message::Beat { node, session, beat });
    }

    /// An attempt that the node had accepted before this heartbeat and no longer lists is gone. What is held is sorted.
    fn missing(&mut self, now: Timestamp, run: usize, node: NodeId, beat: u64, held: &[Held]) {
        let Some(entry) = self.runs.entries.get(run) else { return };
        let known_since = match entry.phase {
            Phase::Accepted { beat, .. } | Phase::Started { beat, .. } => beat,
            Phase::Idle | Phase::Ordered { .. } => return,
        };
        if beat >= known_since && Held::find(held, entry.token()).is_none() {
            self.attempt_over(now, run, Ending::of(Cause::Vanished { node }));
        }
    }

    /// A node ends on purpose and held nothing: orders that were on their way to it are void, as on any connection that is
    /// over, and their runs look for another node. One that holds something all the same is silent from now on: it returns
    /// or is lost.
    pub(crate) fn goodbye(&mut self, now: Timestamp, node: NodeId, session: u64) {
        let Some(ix) = self.nodes.find(node).filter(|ix| self.nodes.get(*ix).session == session) else {
            return;
        };
        self.nodes.change(ix, |entry| entry.quiet = true);
        for run in self.nodes.get(ix).runs.clone() {
            if self.runs.entries.get(run).is_some_and(|entry| matches!(entry.phase, Phase::Ordered { .. })) {
                let cause = Cause::Refused { message: "the node left".into() };
                self.attempt_over(now, run, Ending::of(cause));
            }
        }
        if self.nodes.get(ix).runs.is_empty() {
            self.nodes.change(ix, |entry| {
                (entry.session, entry.away) = (0, true);
                // A node that is being emptied stays so when it returns.
                if !matches!(entry.node.state, NodeState::Draining { .. }) {
                    entry.node.state = NodeState::Left;
                }
                entry.node.updated_at = now;
            });
            self.mark_node(ix);
        }
    }
}
