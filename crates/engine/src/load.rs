//! Taking a cell over: reading its active work before acting on anything.
//!
//! First the triggers, because some follow the ends of runs, and what is read may end at once; then shelf by shelf: what holds
//! a node, what waits (as much as memory takes), what is due soon, what arrived. Until then words of nodes are not listened to: an attempt that is not loaded yet must not be
//! taken for a stranger. A row whose specification cannot be read ends with that cause and stops nobody.

use mainspring_model::{Cause, CellId, Command, Node, RunState, Shelf, Timestamp};

use crate::cell::Cell;
use crate::event::{LoadedRun, ShelfRead};
use crate::runs::Phase;
use crate::timers::Wait;

/// Versions of jobs count from 1; this one stands for those that cannot be read.
const UNREADABLE_VERSION: u32 = 0;

/// How far loading is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Loading {
    /// What is being read; none while it is the triggers.
    shelf: Option<Shelf>,
}

impl Cell {
    pub(crate) fn begin_loading(&mut self, now: Timestamp, nodes: Vec<Node>) {
        for node in nodes {
            let revision = node.revision;
            let ix = self.nodes.insert(node, self.elapsed, revision);
            self.arm_node(ix);
        }
        self.overflow.horizon = now + self.config.timed_horizon;
        self.loading = Some(Loading { shelf: None });
        self.load_triggers();
    }

    /// The triggers are known: now the runs.
    pub(crate) fn load_runs(&mut self) {
        self.loading = Some(Loading { shelf: Some(Shelf::Flight) });
        self.read(Shelf::Flight, None, None, self.config.page_rows);
    }

    pub(crate) fn shelf_read(&mut self, now: Timestamp, read: ShelfRead) {
        match self.loading {
            Some(loading) if loading.shelf == Some(read.query.shelf) => self.load_on(now, read),
            Some(_) => {}
            None => match read.query.shelf {
                Shelf::Waiting if read.query.rank_max.is_some() => self.overdue_read(now, read),
                Shelf::Waiting => self.waiting_read(now, read),
                Shelf::Timed | Shelf::Arrived => self.more_read(now, read),
                Shelf::Flight => {}
            },
        }
    }

    fn load_on(&mut self, now: Timestamp, read: ShelfRead) {
        let shelf = read.query.shelf;
        let end =
            read.rows.last().map(|row| (row.run.status.place.map_or(0, |place| place.rank), row.run.head.id));
        let more = read.more && end.is_some();
        for row in read.rows {
            self.adopt(now, row);
        }
        if shelf == Shelf::Waiting
            && more
            && self.queue.waiting + self.config.page_rows > self.config.waiting_max
        {
            self.overflow.after = end;
            self.suspect_overdue(now);
        } else if more {
            return self.read(shelf, end, read.query.rank_max, self.config.page_rows);
        }
        let next = match shelf {
            Shelf::Flight => Shelf::Waiting,
            Shelf::Waiting => Shelf::Timed,
            Shelf::Timed => Shelf::Arrived,
            Shelf::Arrived => return self.loaded(now),
        };
        self.loading = Some(Loading { shelf: Some(next) });
        let rank_max = (next == Shelf::Timed).then_some(self.overflow.horizon.as_micros());
        self.read(next, None, rank_max, self.config.page_rows);
    }

    /// Everything is in memory: act. Silence is counted from now, because whoever was heard before was
    /// heard by somebody else.
    pub(crate) fn loaded(&mut self, now: Timestamp) {
        self.loading = None;
        let nodes: Vec<usize> = self.nodes.entries.iter().map(|(ix, _)| ix).collect();
        for ix in nodes {
            self.nodes.entries[ix].heard_at = self.elapsed;
            self.nodes.change(ix, |entry| entry.quiet = false);
            self.arm_node(ix);
        }
        self.arm_horizon();
        self.arm_poll();
        self.recall_triggers();
        self.look_for_calendar_news();
        self.follow_early(now);
        self.begin_early_calls(now);
        if self.overflow.after.is_some() {
            self.trim();
        }
        self.read_in();
        self.place_waiting(now);
    }

    /// More of the arrivals' or the timed shelf.
    fn more_read(&mut self, now: Timestamp, read: ShelfRead) {
        let end =
            read.rows.last().map(|row| (row.run.status.place.map_or(0, |place| place.rank), row.run.head.id));
        for row in read.rows {
            self.adopt(now, row);
        }
        if read.more && end.is_some() {
            self.read(read.query.shelf, end, read.query.rank_max, self.config.page_rows);
        }
    }

    /// Looks for runs that others inserted for this cell.
    pub(crate) fn poll_arrivals(&mut self, now: Timestamp) {
        self.read(Shelf::Arrived, None, None, self.config.page_rows);
        self.park_hopeless();
        if self.overflow.after.is_some() && self.queue.waiting > self.config.waiting_max / 2 {
            self.trim();
        }
        self.unpark_sometimes(now);
        self.read_in();
        self.sweep_nodes(now);
        self.sweep_pauses(now);
        self.sweep_memories(now);
        self.look_for_trigger_news();
        self.look_for_calendar_news();
        self.arm_poll();
    }

    fn arm_poll(&mut self) {
        let at = self.elapsed + self.config.poll_every;
        self.waits.arm(&mut self.poll_armed, Some(at), Wait::Poll);
    }

    /// Takes a run from the store into memory.
    pub(crate) fn adopt(&mut self, now: Timestamp, row: LoadedRun) -> Option<usize> {
        let LoadedRun { run, spec, pause } = row;
        if run.status.state.is_terminal() || run.status.cell != self.config.cell {
            return None;
        }
        if let Some(ix) = self.runs.find(run.head.id) {
            return Some(ix);
        }
        let Some(spec) = spec else {
            return self.give_up_unreadable(now, run);
        };
        // Only the home cell hears of a resume; what it gave to another cell was free to run when it did.
        let is_home = CellId::of(&run.head.namespace, self.config.cells) == self.config.cell;
        if let Some(pause) = pause.filter(|_| is_home) {
            self.learn_pause(run.head.job, pause);
        }
        let shelf = run.status.place.map(|place| place.shelf);
        let ix = self.enter(now, run.head, run.status, &spec);
        match shelf {
            Some(Shelf::Flight) => self.adopt_running(now, ix),
            Some(Shelf::Waiting) => self.adopt_waiting(now, ix),
            Some(Shelf::Timed) => self.arm_run(now, ix),
            Some(Shelf::Arrived) | None => self.adopt_arrived(now, ix),
        }
        Some(ix)
    }

    fn adopt_running(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.phase = Phase::Ordered { at: self.elapsed };
        entry.spoke_at = self.elapsed;
        entry.adopted = false;
        let Some(node_id) = entry.status.node else { return };
        let node_ix = match self.nodes.find(node_id) {
            Some(node_ix) => node_ix,
            None => self.nodes.insert(unknown_node(node_id, self.config.cell, now), self.elapsed, 0),
        };
        self.occupy(ix, node_ix, false);
        self.arm_run(now, ix);
    }

    fn adopt_waiting(&mut self, now: Timestamp, ix: usize) {
        let entry = &mut self.runs.entries[ix];
        entry.since = entry.status.waits_since().unwrap_or(now).min(now);
        self.queue.share.remember(entry.queue_key().0, entry.priority(), &entry.head.namespace);
        if !self.admit_read(ix) {
            self.forget(ix);
            return;
        }
        self.join_group(ix);
        if self.last_moment(ix).is_some_and(|last| last <= now) {
            return self.run_due(now, ix); // Its time passed while nobody looked: no node may get it.
        }
        self.arm_run(now, ix);
        if self.loading.is_none()
            && let Some(group) = self.runs.entries[ix].group
        {
            self.try_group(now, group as usize);
        }
    }

    /// A run that somebody else inserted or handed over.
    fn adopt_arrived(&mut self, now: Timestamp, ix: usize) {
        let entry = &self.runs.entries[ix];
        match entry.status.state {
            RunState::Ready if self.loading.is_some() && self.is_unbegun_call(ix) => {
                self.triggers.early_calls.push(ix as u32);
            }
            RunState::Ready => self.begin(now, ix),
            RunState::Waiting => self.line_up(now, ix),
            RunState::Running | RunState::Failed => {
                let due = entry.status.finished_at.unwrap_or(now);
                self.hold_until(now, ix, due);
            }
            RunState::Success | RunState::FinalFailed | RunState::Cancelled | RunState::Skipped => {}
        }
    }

    /// Puts a run whose specification is missing or damaged into memory, to be ended.
    pub(crate) fn enter_unreadable(&mut self, now: Timestamp, run: mainspring_model::Run) -> usize {
        let shape = self.shape(run.head.job, UNREADABLE_VERSION, &unreadable_spec());
        self.enter_as(now, run.head, run.status, shape)
    }

    /// A run whose specification is missing or damaged cannot go on.
    fn give_up_unreadable(&mut self, now: Timestamp, run: mainspring_model::Run) -> Option<usize> {
        let ix = self.enter_unreadable(now, run);
        let message = "the job version that the run pins cannot be read".into();
        let cause = Cause::Error { class: "invalid_spec".into(), message };
        let is_call = self.is_unbegun_call(ix);
        self.end_with(now, ix, Command::GiveUp, cause);
        if is_call {
            self.call_begun(now, ix);
        }
        Some(ix)
    }
}

/// Stands for a node whose row is gone while a run still names it: it is given up like any silent node.
fn unknown_node(id: mainspring_model::NodeId, cell: mainspring_model::CellId, now: Timestamp) -> Node {
    Node {
        id,
        cell,
        name: id.to_string().into(),
        pool: "".into(),
        labels: Default::default(),
        capacity: Default::default(),
        slots: 0,
        weight: 1,
        handlers: Vec::new(),
        state: mainspring_model::NodeState::Up,
        revision: 0,
        joined_at: now,
        updated_at: now,
    }
}

fn unreadable_spec() -> std::sync::Arc<mainspring_model::JobSpec> {
    use mainspring_model::spec::{Body, Handler};
    let name = "unreadable".parse().expect("a fixed name");
    let body = Body::Handler(Handler { name: "unreadable".into() });
    std::sync::Arc::new(mainspring_model::JobSpec::new(name, body))
}
