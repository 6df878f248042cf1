//! The queue: what waits, and for what.

use mainspring_model::{JobId, Namespace, RunId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{Reason, Time};

/// What waits, from the memory of the owners.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Queue {
    /// When it was looked at.
    pub at: Time,
    /// Runs that wait, those of all items.
    pub waiting: u64,
    /// The most numerous first.
    pub items: Vec<QueueItem>,
    /// More runs wait than are counted: there are more items than fit, or runs were spilled to the store.
    pub partial: bool,
    /// Cells whose owner did not answer: what waits there is not counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<u16>,
}

/// Runs of one job that wait for the same thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueItem {
    /// Their job.
    pub job: JobId,
    /// Its name.
    pub job_name: String,
    /// Where they belong.
    pub namespace: Namespace,
    /// The pool that they ask for.
    pub pool: String,
    /// What the first of them waits for, and what would unblock it.
    pub reason: Reason,
    /// How many they are.
    pub count: u64,
    /// Since when the one that has waited longest does.
    pub oldest: Time,
    /// The one that comes first.
    pub first: RunId,
}

impl Queue {
    /// Most items in one answer.
    pub const ITEMS_MAX: usize = 1_000;

    /// Adds what another owner knows.
    pub fn add(&mut self, other: Self) {
        self.waiting += other.waiting;
        self.partial |= other.partial;
        self.unanswered.retain(|cell| other.unanswered.contains(cell));
        self.items.extend(other.items);
        self.arrange();
    }

    /// Puts items about the same together, the most numerous first, and keeps as many as fit.
    pub fn arrange(&mut self) {
        self.items.sort_by(|a, b| a.subject().cmp(&b.subject()));
        self.items.dedup_by(|next, kept| {
            let is_same = next.subject() == kept.subject();
            if is_same {
                kept.count += next.count;
                kept.oldest = kept.oldest.min(next.oldest);
            }
            is_same
        });
        self.items.sort_by_key(|item| (std::cmp::Reverse(item.count), item.oldest));
        self.partial |= self.items.len() > Self::ITEMS_MAX;
        self.items.truncate(Self::ITEMS_MAX);
    }
}

impl QueueItem {
    /// What makes two items one.
    fn subject(&self) -> impl Ord + '_ {
        let Reason { kind, key, lacks, wanted, .. } = &self.reason;
        (&self.namespace, self.job, &self.pool, kind, key, lacks, wanted)
    }
}
