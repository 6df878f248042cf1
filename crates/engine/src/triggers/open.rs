//! Calls that were taken and have not begun: their runs are being inserted, and may turn out to be earlier ones.
//!
//! The row of a webhook counts what is told up to its cursor, and the cursor stays before the first call that has not begun. So
//! whoever takes over counts the lines after the cursor, and nothing twice, whatever was written of the last owner's.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use mainspring_model::{RunId, Timestamp};
use rustc_hash::FxHashMap;

use super::{Asked, Wanted};
use crate::cell::Cell;
use crate::event::RequestId;

/// What is known of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    /// It has not begun.
    Open,
    /// Its line is written, and counts as a run that the trigger made.
    Counts,
    /// Its line is written, and made no run.
    Passed,
}

/// The calls of one trigger from the first on that has not begun.
#[derive(Debug, Default)]
pub(super) struct Open {
    calls: BTreeMap<Timestamp, Call>,
    /// Calls that repeat one of these, or are too many if all of these count.
    pub(super) waiting: Asked,
}

/// What deliveries came to lately. Whoever sends one again may have looked for its run before that was in the store.
#[derive(Debug, Default)]
pub(super) struct Settled {
    /// Each run, and since when it is known.
    runs: FxHashMap<Arc<str>, (RunId, Timestamp)>,
    order: VecDeque<Arc<str>>,
}

impl Settled {
    /// Deliveries that are remembered: more than come between a look at the store and the word of the owner.
    const MAX: usize = 16_384;

    /// The run of a delivery, for a call that came before it was known. A later one has looked, and knows better: the run may
    /// be removed by now.
    pub(super) fn get(&self, delivery: &str, called_at: Timestamp) -> Option<RunId> {
        self.runs.get(delivery).filter(|(_, since)| called_at <= *since).map(|(run, _)| *run)
    }

    pub(super) fn insert(&mut self, delivery: &str, run: RunId, now: Timestamp) {
        let delivery: Arc<str> = delivery.into();
        if self.runs.insert(Arc::clone(&delivery), (run, now)).is_some() {
            return;
        }
        self.order.push_back(delivery);
        if self.order.len() > Self::MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.runs.remove(&oldest);
        }
    }
}

impl Cell {
    /// A moment of its own for a call: that is where its line stands.
    pub(super) fn call_moment(&self, ix: usize, wished: Timestamp) -> Timestamp {
        let state = &self.triggers.entries[ix].row.state;
        wished.max(state.reached() + Duration::from_micros(1))
    }

    /// A call has a moment, and begins when its run is in the store.
    pub(super) fn call_opened(&mut self, ix: usize, planned: Timestamp) {
        self.triggers.open.entry(ix as u32).or_default().calls.insert(planned, Call::Open);
        self.pass_calls(ix);
    }

    /// What became of a call is told with the next batch.
    pub(super) fn call_told(&mut self, ix: usize, planned: Timestamp, counts: bool) {
        let state = &mut self.triggers.entries[ix].row.state;
        if state.moved.as_ref().is_some_and(|moved| moved.put) {
            // The ledger is read when this is in it, and counted.
            state.fires_at = Some(self.last_now);
            self.forget_book(ix);
        } else if planned > state.cursor {
            // What is before the cursor was called by what the trigger was before.
            let call = if counts { Call::Counts } else { Call::Passed };
            self.triggers.open.entry(ix as u32).or_default().calls.insert(planned, call);
        }
        self.pass_calls(ix);
    }

    /// Moves the cursor to before the first call that has not begun.
    fn pass_calls(&mut self, ix: usize) {
        let state = &mut self.triggers.entries[ix].row.state;
        if let Some(open) = self.triggers.open.get_mut(&(ix as u32)) {
            while let Some(first) = open.calls.first_entry().filter(|first| *first.get() != Call::Open) {
                let (planned, call) = first.remove_entry();
                state.cursor = state.cursor.max(planned);
                state.fired += u64::from(call == Call::Counts);
            }
            let told = open.calls.keys().next_back().copied();
            if told.is_some() || state.moved.is_some() {
                state.moved.get_or_insert_default().told = told;
            }
            if state.moved.as_deref() == Some(&Default::default()) {
                state.moved = None;
            }
            let waiting = std::mem::take(&mut open.waiting);
            if open.calls.is_empty() {
                self.triggers.open.remove(&(ix as u32));
            }
            if !waiting.is_empty() {
                self.triggers.entries[ix].asked.get_or_insert_default().extend(waiting);
                self.arm_trigger(ix);
            }
        }
        self.mark_trigger(ix);
    }

    /// How many runs the trigger has made if every call that has not begun makes one; and how many it has made.
    pub(super) fn calls_counted(&self, ix: usize) -> (u64, u64) {
        let fired = self.triggers.entries[ix].row.state.fired;
        let calls = || self.triggers.open.get(&(ix as u32)).into_iter().flat_map(|open| open.calls.values());
        let count = |which: Call| calls().filter(|call| **call == which).count() as u64;
        let made = fired + count(Call::Counts);
        (made + count(Call::Open), made)
    }

    /// A call waits until it is known whether those before it make runs.
    pub(super) fn hold_call(&mut self, ix: usize, request: RequestId, wanted: Wanted) {
        self.triggers.open.entry(ix as u32).or_default().waiting.push((request, wanted));
    }
}
