//! What an acknowledged change of a job promises, in the order of commits: from the answer on no firing goes by an older
//! version, no moment of a removed trigger fires, and no end is missed that the change follows. Changes are put at any
//! scheduler, mostly one that does not own the cell.

use std::collections::BTreeMap;

use mainspring_engine::{Answer, Confirmation, End, TriggerKey};
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{CellId, JobId, JobSpec, RunHead};
use mainspring_store_mem::{Change, MemCore};

use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;
use crate::plan::SECOND;
use crate::plant::Plant;
use crate::rng::Rng;

/// The owner is asked again after this.
const ASK_AGAIN: i64 = 2 * SECOND;

/// A change that is written and not acknowledged yet.
#[derive(Debug)]
pub(crate) struct Unconfirmed {
    pub id: JobId,
    pub version: u32,
    pub cell: CellId,
    /// Under which the owner is asked.
    pub request: u64,
    /// The scheduler that took it, in one of its lives: whoever waits is not answered by another.
    pub server: (usize, u64),
    confirmation: Confirmation,
    asked_at: i64,
}

/// All changes.
#[derive(Debug)]
pub(crate) struct Changes {
    plant: Option<Plant>,
    /// Where they are put, and whether anybody waits for the answer.
    pub rng: Rng,
    waiting: Vec<Unconfirmed>,
    /// The last version of each job that was acknowledged.
    acknowledged: BTreeMap<JobId, u32>,
    /// Changes that were acknowledged, by the owner's word and by a new owner; ends that they followed.
    pub confirmed: u64,
    pub outlived: u64,
    pub ends: u64,
}

impl Unconfirmed {
    pub(crate) fn new((id, version): (JobId, u32), cell: CellId, request: u64, server: (usize, u64)) -> Self {
        let (confirmation, asked_at) = (Confirmation::default(), -ASK_AGAIN);
        Self { id, version, cell, request, server, confirmation, asked_at }
    }
}

impl Changes {
    pub(crate) fn new(seed: u64, plant: Option<Plant>) -> Self {
        let rng = Rng::new(seed, "changes-at");
        let (waiting, acknowledged) = (Vec::new(), BTreeMap::new());
        Self { plant, rng, waiting, acknowledged, confirmed: 0, outlived: 0, ends: 0 }
    }

    /// A change is in the store.
    pub(crate) fn written(&mut self, change: Unconfirmed) {
        match self.plant {
            Some(Plant::HastyPut) => self.acknowledge(change.id, change.version),
            _ => self.waiting.push(change),
        }
    }

    /// What has to be asked now. `lives` says whether the scheduler that took a change is in the same life, and none while it
    /// does nothing; the store is none while it is away.
    pub(crate) fn ask(
        &mut self,
        now: i64,
        core: Option<&MemCore>,
        lives: impl Fn((usize, u64)) -> Option<bool>,
    ) -> Vec<(usize, CellId, JobId, u64)> {
        self.waiting.retain(|change| lives(change.server) != Some(false));
        let mut asked = Vec::new();
        let mut outlived = Vec::new();
        for change in self.waiting.iter_mut().filter(|change| lives(change.server) == Some(true)) {
            if let Some(core) = core {
                let leases = core.leases();
                let lease = leases.iter().find(|lease| lease.cell == change.cell);
                if change.confirmation.lease_seen(lease) {
                    outlived.push((change.request, change.id, change.version));
                    continue;
                }
            }
            if change.asked_at + ASK_AGAIN <= now {
                change.asked_at = now;
                asked.push((change.server.0, change.cell, change.id, change.request));
            }
        }
        self.outlived += outlived.len() as u64;
        for (request, id, version) in outlived {
            self.waiting.retain(|change| change.request != request);
            self.acknowledge(id, version);
        }
        asked
    }

    /// A scheduler answered.
    pub(crate) fn answered(&mut self, request: u64, answer: &Answer) {
        let place = self.waiting.iter().position(|change| change.request == request);
        if let Some(place) = place.filter(|_| *answer == Answer::Done) {
            let change = self.waiting.remove(place);
            self.confirmed += 1;
            self.acknowledge(change.id, change.version);
        }
    }

    fn acknowledge(&mut self, job: JobId, version: u32) {
        let known = self.acknowledged.entry(job).or_default();
        *known = version.max(*known);
    }

    /// A transaction was done.
    pub(crate) fn committed(
        &mut self,
        changes: &[Change],
        (core, cells): (&MemCore, u16),
        jobs: &[SimJob],
    ) -> Verdict {
        for change in changes {
            if change.before.is_none() && change.after.is_some() {
                self.check_version(&change.head, jobs)?;
            }
            let ended = change.after.as_ref().filter(|after| after.state.is_terminal());
            if let Some(after) = ended {
                self.check_end(&change.head, after.state, (core, cells), jobs)?;
            }
        }
        Ok(())
    }

    fn check_version(&self, head: &RunHead, jobs: &[SimJob]) -> Verdict {
        let Some(fired) = &head.fired else { return Ok(()) };
        let acknowledged = self.acknowledged.get(&head.job).copied().unwrap_or_default();
        if head.job_version < acknowledged {
            let what = format!(
                "`{}` fired version {} after version {acknowledged} was acknowledged",
                fired.trigger, head.job_version
            );
            return fail("change", head.id, what);
        }
        let spec = jobs.iter().find(|sim| sim.job.id == head.job).map(|sim| sim.spec_of(head.job_version));
        if spec.is_some_and(|spec| named(spec, &fired.trigger).is_none()) {
            let what = format!("version {} has no trigger `{}`", head.job_version, fired.trigger);
            return fail("change", head.id, what);
        }
        Ok(())
    }

    /// The end of a run is followed by every trigger that was acknowledged before, and is the current one.
    fn check_end(
        &mut self,
        head: &RunHead,
        state: mainspring_model::RunState,
        (core, cells): (&MemCore, u16),
        jobs: &[SimJob],
    ) -> Verdict {
        for (id, version) in &self.acknowledged {
            let Some(sim) = jobs.iter().find(|sim| sim.job.id == *id) else { continue };
            if sim.job.namespace != head.namespace
                || core.job(*id).is_none_or(|job| job.current_version != *version)
            {
                continue;
            }
            for trigger in &sim.spec_of(*version).triggers {
                if !follows(trigger, head, state, jobs) {
                    continue;
                }
                let key = TriggerKey { job: *id, name: trigger.name.as_str().into() };
                self.ends += 1;
                if !is_known(core, CellId::of(&sim.job.namespace, cells), &key, head) {
                    let what = format!("`{}` of {id} was acknowledged and misses the end", key.name);
                    return Err(Violation {
                        invariant: "change",
                        what: format!("{what} of {}", head.id),
                        about: vec![id.to_string(), head.id.to_string()],
                    });
                }
            }
        }
        Ok(())
    }
}

fn named<'a>(spec: &'a JobSpec, name: &str) -> Option<&'a Trigger> {
    spec.triggers.iter().find(|trigger| trigger.name.as_str() == name)
}

fn follows(trigger: &Trigger, head: &RunHead, state: mainspring_model::RunState, jobs: &[SimJob]) -> bool {
    let When::After { after } = &trigger.when else { return false };
    let of = jobs.iter().find(|sim| sim.job.id == head.job);
    of.is_some_and(|sim| sim.spec.name.as_str() == after.job.as_str()) && after.on.counts(state)
}

/// Whether the store has the end among those that the trigger has to follow.
fn is_known(core: &MemCore, cell: CellId, key: &TriggerKey, head: &RunHead) -> bool {
    let page = core.records(&End::of_cell(cell)).expect("a page");
    let mut lists = page.rows.iter().filter_map(End::read).filter(|(of, _)| of == key);
    lists.any(|(_, list)| list.iter().any(|end| end.run == head.id))
}
