//! Retention: history goes by age or count, what is not over never does (I30).

use mainspring_model::{Run, RunId, Timestamp};
use mainspring_store::{RecordKey, RecordKind, RecordRetention, Result, Retention, check, first_id_at};

use crate::change::Change;
use crate::core::MemCore;

impl MemCore {
    /// Removes ended runs as the rule says, the oldest first, at most `limit`.
    pub fn retain(&mut self, rule: &Retention, limit: usize) -> Result<u64> {
        check::retention(rule)?;
        let is_ended = |run: &&Run| run.status.state.is_terminal();
        let of_job = |run: &&Run| rule.job.is_none_or(|job| run.head.job == job);
        let ended: Vec<RunId> =
            self.runs.values().filter(is_ended).filter(of_job).map(|run| run.head.id).collect();
        let made_before = rule.made_before.map_or(RunId::MIN, first_id_at);
        let beyond = match rule.keep_newest {
            Some(keep) => ended.len().saturating_sub(usize::try_from(keep).unwrap_or(usize::MAX)),
            None => 0,
        };
        let goes = |&(position, id): &(usize, &RunId)| position < beyond || *id < made_before;
        let gone: Vec<RunId> = ended.iter().enumerate().filter(goes).take(limit).map(|(_, id)| *id).collect();
        for id in &gone {
            self.remove_run(*id);
        }
        Ok(gone.len() as u64)
    }

    /// Removes roll-ups of hours before `before`.
    pub fn retain_counters(&mut self, before: Timestamp) -> u64 {
        let had = self.counters.len();
        self.counters.retain(|(hour, ..), _| *hour >= before);
        (had - self.counters.len()) as u64
    }

    /// Removes records as the rule says, at most `limit`.
    pub fn retain_records(&mut self, rule: &RecordRetention, limit: usize) -> u64 {
        let mut gone: Vec<(Option<Timestamp>, (RecordKind, RecordKey))> = Vec::new();
        for (key, record) in &self.records {
            match rule {
                RecordRetention::Expired { at } => {
                    if record.expires_at.is_some_and(|end| end <= *at) {
                        gone.push((record.expires_at, key.clone()));
                    }
                }
                RecordRetention::Keys { kind, from, until } => {
                    if key.0 == *kind && key.1.as_bytes() >= &**from && key.1 < *until {
                        gone.push((None, key.clone()));
                    }
                }
            }
        }
        gone.sort();
        gone.truncate(limit);
        for (_, key) in &gone {
            self.records.remove(key);
        }
        gone.len() as u64
    }

    fn remove_run(&mut self, id: RunId) {
        let Some(Run { head, status }) = self.runs.remove(&id) else { return };
        debug_assert!(status.state.is_terminal(), "{id} is not over");
        if let Some(key) = &head.idempotency_key {
            self.keys.remove(&(head.namespace.clone(), key.clone()));
        }
        for attempt in self.attempts(id) {
            self.attempts.remove(&(id, attempt.token.number));
        }
        for event in self.events(id) {
            self.events.remove(&(id, event.version, event.ordinal));
        }
        self.note(|| Change { head, before: Some(status), after: None, fence: None });
    }
}
