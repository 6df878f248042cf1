//! Giving a node up before its lease is over, because somebody knows that the machine is gone.
//!
//! A lease protects from what cannot be known: whether a silent machine still executes. Who has seen it burn need not wait, which
//! matters where leases are long. A node that is heard is never given up like this.

use mainspring_model::{ErrorCode, NodeId, NodeState, Timestamp};

use crate::cell::Cell;
use crate::event::RequestId;
use crate::message::{Answer, Message};

impl Cell {
    pub(crate) fn lose(&mut self, now: Timestamp, request: RequestId, node: NodeId) {
        let Some(ix) = self.nodes.find(node) else {
            let message = format!("{node} is not in this cell");
            return self.reply_now(request, Answer::Refused { code: ErrorCode::NotFound, message });
        };
        let entry = self.nodes.get(ix);
        let quiet_after = self.config.quiet_after();
        // Whoever just took over has heard nobody yet, and gives everybody as much time.
        if !entry.away && self.elapsed.since(entry.heard_at) < quiet_after {
            let message = format!(
                "{node} was not silent for {} s, so it may not be gone; end its agent, drain it, or wait",
                quiet_after.as_secs().max(1)
            );
            return self.reply_now(request, Answer::Refused { code: ErrorCode::IllegalState, message });
        }
        if !entry.node.is_gone() || !entry.runs.is_empty() {
            // Not even one that was being emptied is expected back.
            self.nodes.change(ix, |entry| entry.node.state = NodeState::Lost);
            self.lose_all(now, vec![ix]);
        }
        self.outbox.after_all(Message::Reply { request, answer: Answer::Done });
    }
}
