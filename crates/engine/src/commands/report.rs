//! What a node tells about an attempt. Only the current attempt's token changes anything (I9); an ending is
//! acknowledged when it is durable, and repeated by the node until then (I25, I27).

use mainspring_model::{Cause, NodeId, Timestamp, limits};

use crate::cell::Cell;
use crate::event::{Ending, News, Report};
use crate::message::Message;
use crate::runs::Phase;

impl Cell {
    pub(crate) fn report(&mut self, now: Timestamp, report: Report) {
        let Report { node, session, beat, token, news } = report;
        let Some(ix) = self.runs.find(token.run) else {
            return self.acknowledge_stale(node, token, &news);
        };
        let entry = &self.runs.entries[ix];
        let current = entry.token() == token && entry.status.node == Some(node);
        if current && entry.status.state.is_terminal() {
            // The ending came again before it was durable: the same commit answers for it.
            if matches!(news, News::Finished(_)) {
                self.after_commit(ix, Message::Forget { node, token, stale: false });
            }
            return;
        }
        if !current || entry.phase == Phase::Idle {
            return self.acknowledge_stale(node, token, &news);
        }
        if self.nodes.find(node).is_none_or(|node_ix| self.nodes.get(node_ix).session != session) {
            // From a connection that is over. An ending is repeated on the new one; the rest is in its hello.
            return;
        }
        match news {
            News::Accepted => self.accepted(now, ix, beat),
            News::Started => self.started(now, ix, beat),
            News::Progressed { progress, checkpoint } => {
                self.started(now, ix, beat);
                self.progressed(ix, progress, checkpoint);
            }
            News::Finished(ending) => {
                self.attempt_over(now, ix, bounded(ending));
                self.after_commit(ix, Message::Forget { node, token, stale: false });
            }
        }
    }

    fn acknowledge_stale(&mut self, node: NodeId, token: mainspring_model::AttemptToken, news: &News) {
        self.stats.stale_tokens += 1;
        if matches!(news, News::Finished(_)) {
            // Held back until what is known of the run is durable, because the token may be stale only by
            // a change that is not yet.
            self.after_commit_of(token.run, Message::Forget { node, token, stale: true });
        }
    }

    fn accepted(&mut self, now: Timestamp, ix: usize, beat: u64) {
        let entry = &mut self.runs.entries[ix];
        if let Phase::Ordered { at } = entry.phase {
            entry.phase = Phase::Accepted { at, beat };
            self.arm_run(now, ix);
        }
    }

    fn started(&mut self, now: Timestamp, ix: usize, beat: u64) {
        let entry = &mut self.runs.entries[ix];
        match entry.phase {
            Phase::Ordered { .. } => entry.phase = Phase::Started { at: self.elapsed, beat },
            Phase::Accepted { beat, .. } => entry.phase = Phase::Started { at: self.elapsed, beat },
            Phase::Started { .. } | Phase::Idle => return,
        }
        entry.status.started_at = Some(now);
        entry.spoke_at = self.elapsed;
        self.arm_run(now, ix);
    }

    /// Progress is live only; a checkpoint is written, because the next attempt continues from it.
    fn progressed(
        &mut self,
        ix: usize,
        progress: Option<mainspring_model::Progress>,
        checkpoint: Option<mainspring_model::Payload>,
    ) {
        let entry = &mut self.runs.entries[ix];
        // Once the attempt is to stop, this counts from the last stop, which is repeated whatever the task says.
        if entry.stopping.is_none() {
            entry.spoke_at = self.elapsed;
        }
        let extra = entry.status.extra_mut();
        if let Some(progress) = progress {
            extra.progress = Some(progress);
        }
        if let Some(checkpoint) = checkpoint.filter(|bytes| bytes.len() <= limits::CHECKPOINT_BYTES_MAX) {
            extra.checkpoint = Some(checkpoint);
            self.mark(ix);
        }
    }
}

/// What is too large to keep is said to be so, and never wedges the run.
fn bounded(mut ending: Ending) -> Ending {
    if ending.result.as_ref().is_some_and(|result| result.len() > limits::RESULT_BYTES_MAX) {
        let bytes = ending.result.take().map_or(0, |result| result.len());
        let message =
            format!("the result has {bytes} bytes, at most {} are allowed", limits::RESULT_BYTES_MAX);
        ending.cause = Cause::Error { class: "result_too_large".into(), message: message.into() };
    }
    ending.cause = short(ending.cause);
    ending
}

/// The node's and the task's words, no longer than is kept; what was cut is said.
fn short(cause: Cause) -> Cause {
    let cut = |message: Box<str>| {
        if message.len() <= limits::MESSAGE_BYTES_MAX {
            return message;
        }
        let kept = message.floor_char_boundary(limits::MESSAGE_BYTES_MAX);
        format!("{}… ({} bytes more)", &message[..kept], message.len() - kept).into()
    };
    match cause {
        Cause::Refused { message } => Cause::Refused { message: cut(message) },
        Cause::StartFailed { message } => Cause::StartFailed { message: cut(message) },
        Cause::Error { class, message } => Cause::Error { class: cut(class), message: cut(message) },
        other => other,
    }
}
