//! Concurrency limits. What counts against a key is the set of its runs that hold a node, not a number
//! that goes up and down: nothing can leak, and the set is rebuilt from rows by whoever takes over.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

#[derive(Debug, Default)]
pub(crate) struct Concurrency {
    keys: FxHashMap<(usize, Box<str>), Slot>,
}

/// One key of one job.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Runs that hold a node.
    pub(crate) running: BTreeSet<usize>,
    /// Groups that wait for one of them to end.
    pub(crate) blocked: BTreeSet<usize>,
}

impl Concurrency {
    pub(crate) fn running(&self, job: usize, key: &str) -> Option<&BTreeSet<usize>> {
        self.keys.get(&(job, key.into())).map(|slot| &slot.running)
    }

    /// The keys that are held, and by whom.
    pub(crate) fn holding(&self) -> impl Iterator<Item = ((usize, &str), &BTreeSet<usize>)> {
        let held = self.keys.iter().filter(|(_, slot)| !slot.running.is_empty());
        held.map(|((job, key), slot)| ((*job, &**key), &slot.running))
    }

    pub(crate) fn count(&self, job: usize, key: &str) -> u32 {
        self.running(job, key).map_or(0, |running| running.len() as u32)
    }

    pub(crate) fn start(&mut self, job: usize, key: &str, run: usize) {
        self.keys.entry((job, key.into())).or_default().running.insert(run);
    }

    /// A run no longer holds a node; answers the groups that may go on.
    pub(crate) fn end(&mut self, job: usize, key: &str, run: usize) -> BTreeSet<usize> {
        self.edit(job, key, |slot| {
            slot.running.remove(&run);
            std::mem::take(&mut slot.blocked)
        })
        .unwrap_or_default()
    }

    pub(crate) fn block(&mut self, job: usize, key: &str, group: usize) {
        self.keys.entry((job, key.into())).or_default().blocked.insert(group);
    }

    /// A group went away.
    pub(crate) fn forget_group(&mut self, job: usize, key: &str, group: usize) {
        self.edit(job, key, |slot| slot.blocked.remove(&group));
    }

    fn edit<T>(&mut self, job: usize, key: &str, edit: impl FnOnce(&mut Slot) -> T) -> Option<T> {
        let id = (job, Box::<str>::from(key));
        let slot = self.keys.get_mut(&id)?;
        let answer = edit(slot);
        if slot.running.is_empty() && slot.blocked.is_empty() {
            self.keys.remove(&id);
        }
        Some(answer)
    }
}
