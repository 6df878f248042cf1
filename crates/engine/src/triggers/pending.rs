//! Ends that triggers have not followed yet.
//!
//! Each trigger that follows ends has a record for them beside its row. Only the owner of the cell writes it, so it is never
//! refused, and it is written in the transaction of the end itself: an end that is in the store is followed, whoever dies. An
//! end leaves the record in the transaction of the line that tells what became of it. Where the store may refuse the run, an end
//! is written all the same, and says so: whoever takes over looks whether it is there.

use std::collections::BTreeMap;

use mainspring_model::{CellId, Epoch, JobId, RunId, RunState, Timestamp};
use mainspring_store::{Record, RecordKind, RecordQuery, Write};
use serde::{Deserialize, Serialize};

use super::Triggers;
use super::row::{PAGE_ROWS, TriggerKey};

/// Ends that triggers have not followed yet: by cell, job and name.
const ENDS: RecordKind = RecordKind(1_004);

/// An end that a trigger has not followed yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// The run that ended.
    pub run: RunId,
    /// The moment planned for it.
    pub planned: Timestamp,
    /// How many runs, each of which followed the one before, led to it.
    #[serde(default)]
    pub depth: u16,
    /// Who wrote it, where the store may not have taken it: the run was new, or had changed. That is asked before it is followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsure: Option<Epoch>,
    /// When the run ended, where the store may not have taken it. A row that ended at another time is not this end: an old
    /// copy of it was read and ended once more, and the first end was followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Whether the end is in the store.
    #[serde(skip, default = "yes")]
    pub(super) durable: bool,
    /// Whether its line is on the way.
    #[serde(skip)]
    pub(super) told: bool,
}

fn yes() -> bool {
    true
}

/// The ends of one trigger.
#[derive(Debug)]
pub(crate) struct Ends {
    key: TriggerKey,
    /// Of the record; 0 when there is none.
    revision: u64,
    pub(super) list: Vec<End>,
    dirty: bool,
}

/// The ends of all triggers of a cell.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// A trigger that is gone stays here, because its record does.
    of: BTreeMap<(JobId, u64), Ends>,
    dirty: Vec<(JobId, u64)>,
}

impl End {
    pub(super) fn new(
        run: RunId,
        planned: Timestamp,
        depth: u16,
        unsure: Option<(Epoch, Option<Timestamp>)>,
    ) -> Self {
        let (unsure, ended_at) = unsure.unzip();
        let ended_at = ended_at.flatten();
        Self { run, planned, depth, unsure, ended_at, durable: false, told: false }
    }

    /// Whether the store has this end, where its run is like this.
    pub fn is_of(&self, state: RunState, epoch: Epoch, finished_at: Option<Timestamp>) -> bool {
        state.is_terminal()
            && self.unsure.is_none_or(|unsure| unsure == epoch)
            && (self.ended_at.is_none() || self.ended_at == finished_at)
    }

    /// Whether an owner before this one wrote it and the store may not have taken it.
    pub(super) fn is_doubted_by(&self, epoch: Epoch) -> bool {
        !self.durable && self.unsure.is_some_and(|unsure| unsure != epoch)
    }

    /// Reads the ends of a trigger; none when the record is not one of them.
    pub fn read(record: &Record) -> Option<(TriggerKey, Vec<Self>)> {
        let key = TriggerKey::placed(record.key.as_bytes())?;
        let list = serde_json::from_slice(&record.value).ok()?;
        (record.kind == ENDS).then_some((key, list))
    }

    /// The ends that the triggers of a cell have not followed yet.
    pub fn of_cell(cell: CellId) -> RecordQuery {
        let prefix = Box::from(cell.0.to_be_bytes());
        RecordQuery { kind: ENDS, prefix, after: None, reverse: false, limit: PAGE_ROWS }
    }

    pub(super) fn is_asked(query: &RecordQuery) -> bool {
        query.kind == ENDS
    }
}

impl Pending {
    pub(super) fn load(&mut self, key: TriggerKey, revision: u64, mut list: Vec<End>) {
        list.iter_mut().for_each(|end| end.durable = end.unsure.is_none());
        let place = Triggers::place(key.job, &key.name);
        self.of.insert(place, Ends { key, revision, list, dirty: false });
    }

    pub(super) fn list(&self, key: &TriggerKey) -> &[End] {
        self.of.get(&Triggers::place(key.job, &key.name)).map_or(&[], |ends| &ends.list)
    }

    pub(super) fn get_mut(&mut self, key: &TriggerKey) -> Option<&mut Vec<End>> {
        self.of.get_mut(&Triggers::place(key.job, &key.name)).map(|ends| &mut ends.list)
    }

    pub(super) fn push(&mut self, key: &TriggerKey, end: End) {
        let place = Triggers::place(key.job, &key.name);
        let fresh = || Ends { key: key.clone(), revision: 0, list: Vec::new(), dirty: false };
        self.of.entry(place).or_insert_with(fresh).list.push(end);
        self.mark(place);
    }

    /// The end of this run is in the store; false when there is none of it here. Nobody has to ask for it from now on: a
    /// trigger may be paused for longer than the run is kept.
    pub(super) fn confirm(&mut self, key: &TriggerKey, run: RunId) -> bool {
        let place = Triggers::place(key.job, &key.name);
        let list = self.of.get_mut(&place).map(|ends| ends.list.as_mut_slice()).unwrap_or_default();
        let Some(end) = list.iter_mut().find(|end| end.run == run) else { return false };
        end.durable = true;
        end.ended_at = None;
        if end.unsure.take().is_some() {
            self.mark(place);
        }
        true
    }

    /// The end of this run is of no interest any more, or was none.
    pub(super) fn remove(&mut self, key: &TriggerKey, run: RunId) -> bool {
        let place = Triggers::place(key.job, &key.name);
        let Some(ends) = self.of.get_mut(&place) else { return false };
        let before = ends.list.len();
        ends.list.retain(|end| end.run != run);
        let removed = ends.list.len() < before;
        if removed {
            self.mark(place);
        }
        removed
    }

    /// The trigger follows nothing of this any more.
    pub(super) fn clear(&mut self, key: &TriggerKey) {
        let place = Triggers::place(key.job, &key.name);
        if let Some(ends) = self.of.get_mut(&place).filter(|ends| !ends.list.is_empty()) {
            ends.list.clear();
            self.mark(place);
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &TriggerKey> {
        self.of.values().map(|ends| &ends.key)
    }

    fn mark(&mut self, place: (JobId, u64)) {
        if let Some(ends) = self.of.get_mut(&place).filter(|ends| !ends.dirty) {
            ends.dirty = true;
            self.dirty.push(place);
        }
    }

    pub(crate) fn is_dirty(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Writes what changed.
    pub(super) fn cut(&mut self, cell: CellId) -> Vec<Write> {
        let mut writes = Vec::with_capacity(self.dirty.len());
        for place in std::mem::take(&mut self.dirty) {
            let Some(ends) = self.of.get_mut(&place) else { continue };
            ends.dirty = false;
            ends.revision += 1;
            writes.push(Write::PutRecord(Box::new(Record {
                kind: ENDS,
                key: ends.key.place(cell),
                revision: ends.revision,
                expires_at: None,
                // Plain data can always be written.
                value: serde_json::to_vec(&ends.list).unwrap_or_default().into(),
            })));
        }
        writes
    }
}
