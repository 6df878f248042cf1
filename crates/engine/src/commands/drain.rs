//! Emptying a node, and taking it back into service.

use std::time::Duration;

use mainspring_model::{ErrorCode, NodeId, NodeState, Timestamp};

use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

/// A node that is gone is remembered for so long, in case it returns.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

impl Cell {
    pub(crate) fn drain(
        &mut self,
        now: Timestamp,
        request: RequestId,
        node: NodeId,
        deadline: Option<Timestamp>,
    ) {
        let Some(ix) = self.nodes.find(node) else {
            let message = format!("{node} is not in this cell");
            return self.reply_now(request, Answer::Refused { code: ErrorCode::NotFound, message });
        };
        let state = self.nodes.get(ix).node.state;
        // A lost node may be drained before it returns.
        let next = match (state, deadline) {
            (NodeState::Left, _) | (NodeState::Lost, None) => {
                let message = format!("{node} is {}", state.name());
                return self.reply_now(request, Answer::Refused { code: ErrorCode::IllegalState, message });
            }
            (NodeState::Up | NodeState::Lost | NodeState::Draining { .. }, Some(deadline)) => {
                NodeState::Draining { deadline }
            }
            (NodeState::Up | NodeState::Draining { .. }, None) => NodeState::Up,
        };
        self.nodes.change(ix, |entry| {
            entry.node.state = next;
            entry.node.updated_at = now;
        });
        self.mark_node(ix);
        self.arm_node(ix);
        self.outbox.after_all(Message::Reply { request, answer: Answer::Done });
        self.stop_drained(now, ix);
        self.fill_node(now, ix);
        self.unpark();
    }

    /// Forgets nodes that went some time ago and hold nothing; their rows tell what became of them.
    pub(crate) fn sweep_nodes(&mut self, now: Timestamp) {
        if self.outbox.in_flight.is_some() {
            return;
        }
        let gone: Vec<usize> = self
            .nodes
            .entries
            .iter()
            .filter(|(_, entry)| {
                matches!(entry.node.state, NodeState::Lost | NodeState::Left)
                    && entry.runs.is_empty()
                    && !entry.dirty
                    && now.since(entry.node.updated_at) >= FORGOTTEN_AFTER
            })
            .map(|(ix, _)| ix)
            .collect();
        for ix in gone {
            self.disarm_node(ix);
            self.nodes.remove(ix);
        }
    }
}
