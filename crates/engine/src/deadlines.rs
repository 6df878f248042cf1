//! What happens when a time comes: begin times, back-offs, the five timeouts, unanswered orders, silence,
//! rate limits that open, classes that nobody here can take.

use mainspring_model::{
    Cause, CellId, Command, Elapsed, NodeState, Place, RunEventKind, RunState, Shelf, TimeoutKind, Timestamp,
    node_lease,
};

use crate::cell::Cell;
use crate::config::Config;
use crate::event::Ending;
use crate::message::Message;
use crate::nodes::NodeEntry;
use crate::overdue;
use crate::runs::Phase;
use crate::timers::{Armed, Subject, Wait};

/// Runs given to another cell at once.
const HAND_OVER_MAX: usize = 100;
/// Each hop doubles the wait before the next, up to so many times.
const HOPS_COUNTED_MAX: u16 = 10;

impl Cell {
    /// Makes sure that the run is looked at when its next time comes, on either clock.
    pub(crate) fn arm_run(&mut self, now: Timestamp, ix: usize) {
        let at = self.next_time(ix).map(|at| at.max(now));
        self.timers.arm(&mut self.runs.entries[ix].armed, at, Subject::Run(ix));
        let at = self.next_wait(ix).map(|at| at.max(self.elapsed));
        self.waits.arm(&mut self.runs.entries[ix].wait_armed, at, Wait::Attempt(ix));
    }

    /// The run is no longer looked at.
    pub(crate) fn disarm_run(&mut self, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        self.timers.disarm(&mut entry.armed, Subject::Run(ix));
        self.waits.disarm(&mut entry.wait_armed, Wait::Attempt(ix));
    }

    /// The next deadline of a run that is in the store's time.
    fn next_time(&self, ix: usize) -> Option<Timestamp> {
        let entry = &self.runs.entries[ix];
        let own = match entry.status.state {
            RunState::Ready | RunState::Failed => {
                entry.status.place.map(|place| Timestamp::from_micros(place.rank))
            }
            RunState::Waiting => {
                let spec = &self.shapes.of(entry).spec;
                return overdue::given_up_at(&entry.head, &entry.status, spec, entry.since);
            }
            RunState::Running => None,
            RunState::Success | RunState::FinalFailed | RunState::Cancelled | RunState::Skipped => {
                return None;
            }
        };
        if entry.stopping.is_some() { own } else { earliest(own, self.last_moment(ix)) }
    }

    /// The next deadline of a run's attempt.
    fn next_wait(&self, ix: usize) -> Option<Elapsed> {
        let entry = &self.runs.entries[ix];
        if entry.status.state != RunState::Running {
            return None;
        }
        let repeat = entry.spoke_at + self.config.repeat_every;
        let timeout = &self.shapes.of(entry).spec.timeout;
        match entry.phase {
            _ if entry.stopping.is_some() => Some(repeat),
            Phase::Idle | Phase::Ordered { .. } => earliest(Some(repeat), self.start_due(ix)),
            Phase::Accepted { .. } => self.start_due(ix),
            Phase::Started { at, .. } => {
                let run = timeout.run.map(|run| at + run);
                let quiet = timeout.heartbeat.map(|heartbeat| entry.spoke_at + heartbeat);
                earliest(run, quiet)
            }
        }
    }

    /// When the attempt must have started: counted from when its node could say so to this owner.
    fn start_due(&self, ix: usize) -> Option<Elapsed> {
        let entry = &self.runs.entries[ix];
        let node = self.nodes.get(self.nodes.find(entry.status.node?)?);
        let ordered_at = match entry.phase {
            Phase::Ordered { at } | Phase::Accepted { at, .. } => at,
            Phase::Idle | Phase::Started { .. } => return None,
        };
        (node.session > 0).then(|| ordered_at.max(node.met_at) + self.shapes.of(entry).spec.timeout.start)
    }

    /// When the run is given up whatever it does.
    pub(crate) fn last_moment(&self, ix: usize) -> Option<Timestamp> {
        let entry = &self.runs.entries[ix];
        overdue::last_moment(&entry.head, &entry.status, &self.shapes.of(entry).spec)
    }

    pub(crate) fn run_due(&mut self, now: Timestamp, ix: usize) {
        self.runs.entries[ix].armed = Armed::NOT;
        let too_late = self.last_moment(ix).is_some_and(|last| last <= now);
        let entry = &self.runs.entries[ix];
        let timeout = |limit| Cause::Timeout { limit };
        match entry.status.state {
            RunState::Ready | RunState::Waiting | RunState::Failed if too_late => {
                self.end_with(now, ix, Command::GiveUp, timeout(TimeoutKind::Total));
                return;
            }
            RunState::Ready | RunState::Failed => {
                if entry.status.place.is_none_or(|place| place.rank <= now.as_micros()) {
                    if entry.status.state == RunState::Ready {
                        self.begin(now, ix)
                    } else {
                        self.enqueue(now, ix)
                    }
                    return;
                }
            }
            RunState::Waiting => {
                let spec = &self.shapes.of(entry).spec;
                let retried_until = overdue::retried_until(&entry.status, spec);
                if spec.timeout.queue.is_some_and(|queue| entry.since + queue <= now) {
                    return self.end_with(now, ix, Command::GiveUp, timeout(TimeoutKind::Queue));
                }
                if retried_until.is_some_and(|until| until <= now) {
                    // Its cause is that of the last attempt.
                    return self.end(now, ix, Command::GiveUp);
                }
            }
            RunState::Running if too_late && entry.stopping.is_none() => {
                self.stop(now, ix, timeout(TimeoutKind::Total));
            }
            RunState::Running => {}
            RunState::Success | RunState::FinalFailed | RunState::Cancelled | RunState::Skipped => return,
        }
        if self.runs.entries.contains(ix) {
            self.arm_run(now, ix);
        }
    }

    /// A deadline of an attempt has come.
    pub(crate) fn attempt_due(&mut self, now: Timestamp, ix: usize) {
        self.runs.entries[ix].wait_armed = Armed::NOT;
        if self.runs.entries[ix].status.state == RunState::Running {
            self.look_at_attempt(now, ix);
            self.arm_run(now, ix);
        }
    }

    fn look_at_attempt(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.runs.entries[ix];
        let timeout = &self.shapes.of(entry).spec.timeout;
        let repeat = entry.spoke_at + self.config.repeat_every <= self.elapsed;
        if entry.stopping.is_some() {
            if repeat {
                self.send_stop(ix);
            }
            return;
        }
        let passed = |limit: Option<std::time::Duration>, from: Elapsed| {
            limit.is_some_and(|span| from + span <= self.elapsed)
        };
        let limit = match entry.phase {
            Phase::Started { at, .. } if passed(timeout.run, at) => Some(TimeoutKind::Run),
            Phase::Started { .. } if passed(timeout.heartbeat, entry.spoke_at) => {
                Some(TimeoutKind::Heartbeat)
            }
            Phase::Started { .. } => None,
            Phase::Idle | Phase::Ordered { .. } | Phase::Accepted { .. } => {
                self.start_due(ix).filter(|due| *due <= self.elapsed).map(|_| TimeoutKind::Start)
            }
        };
        if let Some(limit) = limit {
            self.stop(now, ix, Cause::Timeout { limit });
        } else if matches!(entry.phase, Phase::Ordered { .. }) && repeat {
            self.repeat_order(ix);
        }
    }

    /// Sends the order of the current attempt again; the node knows it by its token.
    pub(crate) fn repeat_order(&mut self, ix: usize) {
        self.runs.entries[ix].spoke_at = self.elapsed;
        // An attempt that is not durable yet is ordered by its commit.
        if self.runs.entries[ix].dirty || self.runs.entries[ix].in_flight {
            return;
        }
        let node = self.runs.entries[ix].status.node.and_then(|id| self.nodes.find(id));
        if let Some(node_ix) = node.filter(|node_ix| self.nodes.get(*node_ix).session > 0) {
            let order = self.order(ix, node_ix);
            self.outbox.now.push(Message::Start(order));
        }
    }

    /// Asks the node to end the attempt, for this cause. The attempt is over when the node says so or is lost.
    pub(crate) fn stop(&mut self, now: Timestamp, ix: usize, cause: Cause) {
        if self.runs.entries[ix].stopping.is_none() {
            self.runs.entries[ix].stopping = Some(Box::new(cause));
        }
        self.send_stop(ix);
        self.arm_run(now, ix);
    }

    pub(crate) fn send_stop(&mut self, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.spoke_at = self.elapsed;
        let kill = entry.status.cancel().is_some_and(|cancel| cancel.kill);
        let spec = &self.shapes.of(entry).spec;
        let grace = if kill { std::time::Duration::ZERO } else { spec.timeout.stop_grace };
        let token = entry.token();
        let Some(node) = entry.status.node.and_then(|id| self.nodes.find(id)).map(|ix| self.nodes.get(ix))
        else {
            return;
        };
        if node.session > 0 {
            let stop = Message::Stop { node: node.node.id, session: node.session, token, grace };
            self.after_commit(ix, stop);
        }
    }

    pub(crate) fn arm_node(&mut self, ix: usize) {
        let entry = &self.nodes.entries[ix];
        let silence = if entry.quiet { self.lost_after(entry) } else { self.config.quiet_after() };
        let silent = Some(entry.heard_at + silence);
        let (at, drained_at) = match entry.node.state {
            NodeState::Up => (silent, None),
            // It is away and holds nothing; it stays out of service until somebody says otherwise.
            NodeState::Draining { .. } if entry.away && entry.runs.is_empty() => (None, None),
            NodeState::Draining { deadline } => {
                (silent, Some(deadline).filter(|deadline| *deadline > self.last_now))
            }
            // A new owner may find a run on a node that was given up: it is given up with it.
            NodeState::Lost | NodeState::Left => (silent.filter(|_| !entry.runs.is_empty()), None),
        };
        let entry = &mut self.nodes.entries[ix];
        self.waits.arm(&mut entry.armed, at, Wait::Silence(ix));
        self.timers.arm(&mut entry.drain_armed, drained_at, Subject::Drain(ix));
    }

    /// The node is no longer looked at.
    pub(crate) fn disarm_node(&mut self, ix: usize) {
        let entry = &mut self.nodes.entries[ix];
        self.waits.disarm(&mut entry.armed, Wait::Silence(ix));
        self.timers.disarm(&mut entry.drain_armed, Subject::Drain(ix));
    }

    /// How long a node may be silent. One that has not said hello to an owner that took its cell from another may still have
    /// its lease extended by that one.
    fn lost_after(&self, entry: &NodeEntry) -> std::time::Duration {
        let lost_after = self.config.lost_after_of(entry.node.id);
        if entry.session == 0 && self.succeeds_other {
            let Config { lease_ttl, outage_max, .. } = self.config;
            return node_lease::successor_patience(lost_after, lease_ttl, outage_max);
        }
        lost_after
    }

    pub(crate) fn silence_due(&mut self, now: Timestamp, ix: usize) {
        self.nodes.entries[ix].armed = Armed::NOT;
        let entry = &self.nodes.entries[ix];
        let silence = self.elapsed.since(entry.heard_at);
        if silence >= self.lost_after(entry) {
            return self.lose_silent(now);
        }
        if silence >= self.config.quiet_after() && !entry.quiet {
            self.nodes.change(ix, |entry| entry.quiet = true);
        }
        self.arm_node(ix);
    }

    pub(crate) fn drain_due(&mut self, now: Timestamp, ix: usize) {
        self.nodes.entries[ix].drain_armed = Armed::NOT;
        self.stop_drained(now, ix);
        self.arm_node(ix);
    }

    /// The patience with a draining node may have ended: what it still has is stopped, to be moved.
    pub(crate) fn stop_drained(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.nodes.entries[ix];
        let NodeState::Draining { deadline } = entry.node.state else { return };
        if deadline > now {
            return;
        }
        let node = entry.node.id;
        for run in entry.runs.clone() {
            if self.runs.entries[run].stopping.is_none() {
                self.stop(now, run, Cause::Drained { node });
            }
        }
    }

    /// Nodes were silent for too long. By now each has ended what it executed (see `NodeLease`), unless the
    /// job said keep: such a task may still execute, and when its node returns the run says so.
    fn lose_silent(&mut self, now: Timestamp) {
        let is_silent = |entry: &NodeEntry| {
            let expected = match entry.node.state {
                NodeState::Up => true,
                NodeState::Draining { .. } => !entry.away,
                NodeState::Lost | NodeState::Left => false,
            };
            (expected || !entry.runs.is_empty())
                && self.elapsed.since(entry.heard_at) >= self.lost_after(entry)
        };
        let all = self.nodes.entries.iter();
        let silent = all.filter(|(_, entry)| is_silent(entry)).map(|(ix, _)| ix).collect();
        self.lose_all(now, silent);
    }

    /// These are given up. All of them leave service before the first run looks for another node.
    pub(crate) fn lose_all(&mut self, now: Timestamp, nodes: Vec<usize>) {
        for ix in &nodes {
            self.nodes.change(*ix, |entry| {
                (entry.session, entry.away) = (0, true);
                // A node that is being emptied stays so when it returns: it may be away for the very repair.
                if !matches!(entry.node.state, NodeState::Draining { .. }) {
                    entry.node.state = NodeState::Lost;
                }
                entry.node.updated_at = now;
            });
            self.disarm_node(*ix);
            self.stats.nodes_lost += 1;
            self.mark_node(*ix);
        }
        for ix in nodes {
            let node = self.nodes.get(ix).node.id;
            for run in self.nodes.get(ix).runs.clone() {
                let attempt = self.runs.entries[run].status.attempt;
                self.tell(now, run, RunEventKind::NodeLost { node, attempt });
                self.attempt_over(now, run, Ending::of(Cause::Lost { node }));
            }
        }
    }

    pub(crate) fn arm_group(&mut self, ix: usize, at: Timestamp) {
        self.timers.arm(&mut self.queue.groups[ix].armed, Some(at), Subject::Group(ix));
    }

    /// A rate limit may have opened.
    pub(crate) fn group_due(&mut self, now: Timestamp, ix: usize) {
        self.queue.groups[ix].armed = Armed::NOT;
        if matches!(self.queue.groups[ix].block, Some(crate::queue::Block::Rate(_))) {
            self.queue.unblock(ix);
            self.try_group(now, ix);
        }
    }

    /// A class that no node here can ever take is given to another cell after a while.
    pub(crate) fn arm_hand_over(&mut self, class_ix: usize) {
        if self.config.cells > 1 {
            let at = self.last_now + self.config.hand_over_after;
            self.timers.arm(&mut self.queue.classes[class_ix].armed, Some(at), Subject::Class(class_ix));
        }
    }

    pub(crate) fn class_due(&mut self, now: Timestamp, class_ix: usize) {
        self.queue.classes[class_ix].armed = Armed::NOT;
        if self.is_hopeless(class_ix) {
            self.give_away(now, class_ix);
        }
        if self.queue.classes.get(class_ix).is_some_and(|class| !class.order.is_empty()) {
            let at = Some(now + self.config.hand_over_after);
            self.timers.arm(&mut self.queue.classes[class_ix].armed, at, Subject::Class(class_ix));
        }
    }

    /// Gives those that waited long enough to the next cell, some at a time.
    fn give_away(&mut self, now: Timestamp, class_ix: usize) {
        let groups: Vec<usize> = self.queue.classes[class_ix].order.values().copied().collect();
        let to = CellId((self.config.cell.0 + 1) % self.config.cells);
        let mut given = 0;
        for group in groups {
            let waiting: Vec<usize> =
                self.queue.groups[group].waiting.values().map(|run| *run as usize).collect();
            for run in waiting {
                // A run that nobody could take so far travels less and less often.
                let entry = &self.runs.entries[run];
                let spec = &self.shapes.of(entry).spec;
                if spec.concurrency.is_some() || spec.rate_limit.is_some() {
                    continue; // Its limits are counted here.
                }
                if self.triggers.follow(&entry.head, spec.name.as_str()) {
                    continue; // Its end is waited for here.
                }
                let hops = entry.status.extra.as_ref().map_or(0, |extra| extra.hops);
                let waits = (2 << hops.min(HOPS_COUNTED_MAX)) - 1;
                let patience = self.config.hand_over_after.saturating_mul(waits);
                if given < HAND_OVER_MAX && entry.since + patience <= now {
                    given += 1;
                    self.hand_over(now, run, to);
                }
            }
        }
        if given > 0 {
            self.outbox.after_all(Message::Hint { cell: to });
        }
    }

    /// Gives a waiting run to the owner of another cell. It leaves memory when that is durable.
    pub(crate) fn hand_over(&mut self, now: Timestamp, ix: usize, to: CellId) {
        let waited_for = self.leave_queue(ix);
        self.fired_run_placed(ix); // Nobody here waits for it any more.
        self.stats.handed_over += 1;
        self.disarm_run(ix);
        let entry = &mut self.runs.entries[ix];
        entry.status.reason = waited_for.map(Box::new);
        entry.status.cell = to;
        entry.status.extra_mut().hops += 1;
        entry.status.place = Some(Place { shelf: Shelf::Arrived, rank: now.as_micros() });
        self.tell(now, ix, RunEventKind::HandedOver { to });
    }
}

pub(crate) fn earliest<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
