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
        if entry.session > 0 && now.since(entry.heard_at) < quiet_after {
            let message = format!(
                "{node} was heard within the last {} s, so it is not gone; end its agent, or drain it",
                quiet_after.as_secs().max(1)
            );
            return self.reply_now(request, Answer::Refused { code: ErrorCode::IllegalState, message });
        }
        if entry.node.state != NodeState::Left || !entry.runs.is_empty() {
            // One that was being emptied does not come back either.
            self.nodes.change(ix, |entry| entry.node.state = NodeState::Lost);
            self.lose_all(now, vec![ix]);
        }
        self.outbox.after_all(Message::Reply { request, answer: Answer::Done });
    }
}
