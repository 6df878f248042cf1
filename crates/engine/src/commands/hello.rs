//! A node (re)connects and tells everything it holds. From here on orders of its earlier connections are void.

use mainspring_model::{Cause, Node, NodeId, NodeState, RunEventKind, Timestamp};
use mainspring_store::Conflict;

use crate::cell::Cell;
use crate::event::{Ending, Held, Hello, Stage};
use crate::message::Message;
use crate::room::Room;
use crate::runs::Phase;

impl Cell {
    pub(crate) fn hello(&mut self, now: Timestamp, hello: Hello) {
        let Hello { node, session, beat, mut held } = hello;
        held.sort_unstable_by_key(|held| held.token);
        let id = node.id;
        if let Some(known) = self.nodes.find(id)
            && self.nodes.get(known).session >= session
        {
            return; // An old hello that travelled slowly.
        }
        let node_ix = self.introduce(now, node);
        let elapsed = self.elapsed;
        self.nodes.change(node_ix, |entry| {
            if entry.session == 0 {
                entry.met_at = elapsed;
            }
            entry.session = session;
            entry.seen_beat = beat;
            entry.heard_at = elapsed;
            (entry.quiet, entry.away) = (false, false);
        });
        self.arm_node(node_ix);
        self.outbox.now.push(Message::Welcome { node: id, session, beat, epoch: self.epoch });
        for run in self.nodes.get(node_ix).runs.clone() {
            self.reconcile(now, run, id, beat, &held);
        }
        for held in &held {
            self.stop_stranger(now, node_ix, held);
        }
        self.fill_node(now, node_ix);
        self.unpark();
    }

    /// Puts the node into the table, or brings what is there up to date.
    fn introduce(&mut self, now: Timestamp, mut node: Node) -> usize {
        node.cell = self.config.cell;
        node.handlers.sort();
        let Some(ix) = self.nodes.find(node.id) else {
            node.state = NodeState::Up;
            node.joined_at = now;
            node.updated_at = now;
            let ix = self.nodes.insert(node, self.elapsed, 0);
            self.mark_node(ix);
            return ix;
        };
        let known = &self.nodes.get(ix).node;
        node.state = match known.state {
            NodeState::Draining { deadline } => NodeState::Draining { deadline },
            NodeState::Up | NodeState::Lost | NodeState::Left => NodeState::Up,
        };
        (node.revision, node.joined_at, node.updated_at) =
            (known.revision, known.joined_at, known.updated_at);
        if node != *known {
            node.updated_at = now;
            let held = self.held_room(ix);
            self.nodes.replace(ix, node, &held);
            self.mark_node(ix);
        }
        ix
    }

    /// What the owner believes the node holds, against what it says, sorted.
    fn reconcile(&mut self, now: Timestamp, run: usize, node: NodeId, beat: u64, held: &[Held]) {
        let entry = &mut self.runs.entries[run];
        let token = entry.token();
        if let Some(held) = Held::find(held, token) {
            let survived = matches!(entry.phase, Phase::Ordered { .. })
                && entry.status.epoch < self.epoch
                && !matches!(held.stage, Stage::Over);
            entry.phase = match held.stage {
                Stage::Executing(elapsed) => {
                    let placed_at = entry.status.placed_at.unwrap_or(Timestamp::ZERO);
                    entry.status.started_at = Some((now - elapsed).max(placed_at));
                    Phase::Started { at: self.elapsed - elapsed, beat }
                }
                Stage::Accepted | Stage::Over => Phase::Accepted { at: self.elapsed, beat },
            };
            entry.spoke_at = self.elapsed;
            self.stats.reattached += 1;
            if survived {
                self.tell(now, run, RunEventKind::Reattached { node, attempt: token.number });
            }
            if self.runs.entries[run].stopping.is_some() {
                self.send_stop(run);
            } else if let Some(cancel) = self.runs.entries[run].status.cancel().cloned() {
                self.stop(now, run, Cause::Cancelled { by: cancel.by });
            }
            return self.arm_run(now, run);
        }
        let accepted = matches!(entry.phase, Phase::Accepted { .. } | Phase::Started { .. });
        if accepted {
            self.attempt_over(now, run, Ending::of(Cause::Vanished { node }));
        } else if entry.stopping.is_some() {
            // A new owner may hear a hello that is older than the order: the node says whether it began.
            self.send_stop(run);
        } else if let Some(cancel) = entry.status.cancel().cloned() {
            self.stop(now, run, Cause::Cancelled { by: cancel.by });
        } else {
            self.repeat_order(run);
        }
    }

    /// An attempt that the node holds and nobody wants: end it. If its run has gone on elsewhere, two may
    /// have executed at once, and the run says so.
    pub(crate) fn stop_stranger(&mut self, now: Timestamp, node_ix: usize, held: &Held) {
        if held.stage == Stage::Over {
            return; // It is reported until it is acknowledged.
        }
        let token = held.token;
        let node = self.nodes.get(node_ix);
        let (node_id, session) = (node.node.id, node.session);
        let current = self.runs.find(token.run).map(|ix| (ix, self.runs.entries[ix].token()));
        if let Some((ix, current)) = current {
            let here = self.runs.entries[ix].status.node == Some(node_id);
            if current == token && here && node.runs.contains(&ix) {
                return;
            }
            if matches!(held.stage, Stage::Executing(_)) && current.number > token.number {
                self.flag_doubled(now, ix, token.number);
            }
        }
        self.stats.stale_tokens += 1;
        let grace = std::time::Duration::ZERO;
        self.outbox.now.push(Message::Stop { node: node_id, session, token, grace });
    }

    fn flag_doubled(&mut self, now: Timestamp, ix: usize, attempt: u32) {
        let extra = self.runs.entries[ix].status.extra_mut();
        if !std::mem::replace(&mut extra.maybe_doubled, true) {
            self.tell(now, ix, RunEventKind::MaybeDoubled { attempt });
        }
    }

    /// The sum of what a node's runs reserve.
    pub(crate) fn held_room(&self, node_ix: usize) -> Room {
        let mut sum = Room::default();
        for run in &self.nodes.get(node_ix).runs {
            let shape = self.shapes.of(&self.runs.entries[*run]);
            let need = &self.queue.classes[shape.class].key.need;
            sum.slots += need.slots;
            sum.cpu_milli += need.cpu_milli;
            sum.memory_bytes += need.memory_bytes;
            for (name, milli) in &need.named {
                match sum.named.iter_mut().find(|(have, _)| have == name) {
                    Some((_, total)) => *total += milli,
                    None => sum.named.push((name.clone(), *milli)),
                }
            }
        }
        sum
    }

    /// A node that holds more than it has gets back into service when that is no longer so.
    pub(crate) fn recount_overbooked(&mut self, node_ix: usize) {
        if self.nodes.get(node_ix).overbooked {
            let held = self.held_room(node_ix);
            let node = self.nodes.get(node_ix).node.clone();
            self.nodes.replace(node_ix, node, &held);
        }
    }

    /// The row was written by somebody else in between: take its revision and write again.
    pub(crate) fn node_conflict(&mut self, ix: usize, conflict: &Conflict) {
        let Some(entry) = self.nodes.entries.get_mut(ix) else { return };
        entry.stored_revision = match conflict {
            Conflict::Version(actual) => *actual,
            Conflict::Exists => 1,
            Conflict::Missing | Conflict::KeyTaken(_) => 0,
        };
        self.mark_node(ix);
    }
}
