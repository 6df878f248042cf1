//! What triggers promise at every step: what a commit says of a planned moment, its run, its line and how far the row got, is
//! one (I3), no moment is told twice (I1, I2), none is passed over (I2), and nothing is told that no schedule has (I6).
//!
//! The schedule is asked for every moment; how the engine catches up is of no interest here.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};

use mainspring_engine::{End, Occurrence, Outcome, TriggerKey, TriggerRow};
use mainspring_model::spec::{On, Trigger, When};
use mainspring_model::{Calendars, JobId, RunId, RunStatus, Shelf, Timestamp};
use mainspring_store_mem::{Change, MemCore};

use crate::calendars::Versions;
use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;
use crate::spoil::POISON;
use crate::timed::Planned;
use crate::written::Written;

/// What was told.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Told {
    /// Moments that made no run, and ends that were followed.
    pub passed: u64,
    pub follows: u64,
    /// Lines that were told anew.
    pub anew: u64,
    /// Runs of delays, triggers that came to the end of their count, and those that paused themselves.
    pub delays: u64,
    pub spent: u64,
    pub self_paused: u64,
    /// Moments that a calendar left out.
    pub left_out: u64,
    /// Moments whose templates could not be rendered, and were told as missed.
    pub poisoned: u64,
}

/// A trigger and all that was told of it.
#[derive(Debug)]
struct Known {
    trigger: Trigger,
    schedule: Option<Planned>,
    /// Its moments by each version of the calendar, where it heeds one.
    versions: Versions,
    /// The job whose ends it follows.
    follows: Option<(JobId, On)>,
    lines: BTreeMap<Timestamp, Occurrence>,
    by_hand: BTreeSet<RunId>,
    /// Moments that have a run of a backfill. That is told of them, where they were not told of before.
    made_up: BTreeSet<Timestamp>,
    /// Every moment up to here has a line.
    covered: Timestamp,
    /// The ends that it has to follow, and those that it has not followed yet.
    ended: BTreeSet<RunId>,
    pending: Vec<End>,
    is_paused: bool,
}

/// All triggers.
#[derive(Debug, Default)]
pub(crate) struct Ledgers {
    of: BTreeMap<(JobId, Box<str>), Known>,
    /// The versions of the calendar that were in force.
    calendars: BTreeSet<usize>,
    pub told: Told,
}

fn violation<T>(invariant: &'static str, key: &TriggerKey, what: String) -> Result<T, Violation> {
    Err(Violation {
        invariant,
        what: format!("{} of {}: {what}", key.name, key.job),
        about: vec![key.job.to_string()],
    })
}

impl Ledgers {
    pub(crate) fn new(jobs: &[SimJob]) -> Self {
        let mut ledgers = Self { calendars: BTreeSet::from([0]), ..Self::default() };
        for sim in jobs {
            for trigger in &sim.spec.triggers {
                let follows = match &trigger.when {
                    When::After { after } => {
                        let other = jobs.iter().find(|sim| sim.spec.name.as_str() == after.job.as_str());
                        other.map(|other| (other.job.id, after.on))
                    }
                    _ => None,
                };
                let known = Known {
                    trigger: trigger.clone(),
                    schedule: Planned::new(sim, trigger, Calendars::NONE),
                    versions: Versions::new(sim, trigger),
                    follows,
                    lines: BTreeMap::new(),
                    by_hand: BTreeSet::new(),
                    made_up: BTreeSet::new(),
                    covered: Timestamp::ZERO,
                    ended: BTreeSet::new(),
                    pending: Vec::new(),
                    is_paused: false,
                };
                ledgers.of.insert((sim.job.id, trigger.name.as_str().into()), known);
            }
        }
        ledgers
    }

    /// A transaction was done: whatever of it was written agrees.
    pub(crate) fn committed(&mut self, written: &Written, changes: &[Change], core: &MemCore) -> Verdict {
        let mut told = Vec::new();
        let mut lists = BTreeSet::new();
        for (key, list) in &written.ends {
            if let Some(known) = self.known(key) {
                // As whoever takes over reads it.
                let is_there = |end: &&End| {
                    let run = core.run(end.run);
                    end.unsure.is_none()
                        || run.is_some_and(|run| {
                            end.is_of(run.status.state, run.status.epoch, run.status.finished_at)
                        })
                };
                known.pending = list.iter().filter(is_there).copied().collect();
                lists.insert(key.clone());
            }
        }
        for (key, line) in &written.lines {
            told.extend(self.tell(key, line).map(|planned| (key, planned)));
            lists.insert(key.clone());
        }
        for change in changes {
            lists.extend(self.ended(change));
        }
        for (key, planned) in told {
            self.check_line(key, planned, core)?;
        }
        for row in &written.rows {
            self.check_row(row)?;
        }
        for key in &lists {
            self.check_ends(key)?;
        }
        for change in changes {
            self.check_run(change, core)?;
        }
        Ok(())
    }

    /// From now on this version of the calendar is in force.
    pub(crate) fn calendar_changed(&mut self, version: usize) {
        self.calendars.insert(version);
    }

    fn known(&mut self, key: &TriggerKey) -> Option<&mut Known> {
        self.of.get_mut(&(key.job, Box::from(&*key.name)))
    }

    fn tell(&mut self, key: &TriggerKey, line: &Occurrence) -> Option<Timestamp> {
        let known = self.known(key)?;
        if line.backfill.is_some() {
            known.made_up.extend(line.run.map(|_| line.planned));
            return None;
        }
        if line.by_hand {
            known.by_hand.extend(line.run);
            return None;
        }
        let (planned, passed, count) = (line.planned, line.run.is_none(), line.count.unwrap_or(1));
        let before = known.lines.insert(planned, line.clone());
        if before.as_ref() == Some(line) {
            return None; // It was there.
        }
        self.told.anew += u64::from(before.is_some());
        self.told.passed += if passed { count } else { 0 };
        Some(planned)
    }

    /// A run ended: whose trigger follows it has to know in the same commit.
    fn ended(&mut self, change: &Change) -> Vec<TriggerKey> {
        let Some(after) = change.after.as_ref().filter(|after| after.state.is_terminal()) else {
            return Vec::new();
        };
        let mut followers = Vec::new();
        for ((job, name), known) in &mut self.of {
            if known.follows.is_some_and(|(of, on)| of == change.head.job && on.counts(after.state)) {
                known.ended.insert(change.head.id);
                followers.push(TriggerKey { job: *job, name: (**name).into() });
            }
        }
        followers
    }

    /// A line names moments of the schedule that no other names, and a run of its moment.
    fn check_line(&mut self, key: &TriggerKey, planned: Timestamp, core: &MemCore) -> Verdict {
        let Some(known) = self.of.get(&(key.job, Box::from(&*key.name))) else { return Ok(()) };
        let Some(line) = known.lines.get(&planned) else { return Ok(()) };
        let through = line.through.unwrap_or(planned);
        if let Some(schedule) = &known.schedule {
            for at in [planned, through] {
                if !schedule.has(at) || !known.versions.any_has(self.calendars.iter(), at) {
                    return violation("I6", key, format!("{at} is not planned, told is {line:?}"));
                }
            }
        }
        let before = known.lines.range(..planned).next_back().map(|(_, line)| line);
        let after = known.lines.range((Excluded(planned), Unbounded)).next().map(|(_, line)| line);
        let overlaps = before.filter(|line| line.through.unwrap_or(line.planned) >= planned);
        if let Some(other) = overlaps.or(after.filter(|line| line.planned <= through)) {
            return violation("I2", key, format!("a moment is told twice: {line:?} and {other:?}"));
        }
        let has_run = matches!(line.outcome, Outcome::Fired | Outcome::Skipped) && line.run.is_some();
        let run = line.run.and_then(|run| core.run(run)).and_then(|run| run.head.fired.as_ref());
        if has_run && run.is_none_or(|fired| fired.planned != planned) {
            return violation("I3", key, format!("{line:?} names no run of its moment"));
        }
        if line.run.is_some_and(|run| core.run(run).is_none()) {
            return violation("I3", key, format!("{line:?} names a run that never was"));
        }
        let is_poison = !known.trigger.parameters.is_empty() && known.trigger.parameters_at(planned).is_err();
        if is_poison && line.run.is_some() && line.outcome != Outcome::Merged {
            return violation(
                "I20",
                key,
                format!("{line:?} has a run, and its parameters cannot be rendered"),
            );
        }
        let is_told =
            line.outcome == Outcome::Missed && POISON.iter().any(|words| line.reason.contains(words));
        self.told.poisoned += u64::from(is_told);
        let fired = known.lines.values().filter(|line| line.outcome == Outcome::Fired).count();
        match known.trigger.count.map(|count| count.get() as usize) {
            Some(count) if fired > count => {
                violation("count", key, format!("{fired} moments fired, {count} may"))
            }
            Some(count) if fired == count && line.outcome == Outcome::Fired => {
                self.told.spent += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Every moment that the row takes for told has a line, and none after it has one.
    fn check_row(&mut self, row: &TriggerRow) -> Verdict {
        let key = &row.key;
        let Some(known) = self.of.get_mut(&(key.job, Box::from(&*key.name))) else { return Ok(()) };
        let is_paused = row.state.pause.as_ref().is_some_and(|pause| &*pause.by == "mainspring");
        self.told.self_paused += u64::from(is_paused && !known.is_paused);
        known.is_paused = is_paused;
        if row.state.is_called {
            // Whoever comes after counts what is told behind the cursor.
            let counts = |(_, line): &(&Timestamp, &Occurrence)| line.outcome == Outcome::Fired;
            let fired = known.lines.range(..=row.state.cursor).filter(counts).count() as u64;
            if fired != row.state.fired {
                let what = format!("{fired} calls made runs up to {}", row.state.cursor);
                return violation("count", key, format!("{what}, its row says {}", row.state.fired));
            }
        }
        let Some(schedule) = &known.schedule else { return Ok(()) };
        let moved = row.state.moved.clone().unwrap_or_default();
        let until = moved.jumped.as_ref().map_or(row.state.cursor, |jumped| jumped.from);
        let fired = known.lines.values().filter(|line| line.outcome == Outcome::Fired).count();
        let is_spent = known.trigger.count.is_some_and(|count| fired >= count.get() as usize);
        known.covered = known.covered.min(until);
        // What would come after the last that counts is not planned.
        let planned_until = if is_spent { known.covered } else { until };
        loop {
            let next = schedule.after(known.covered).filter(|at| *at <= planned_until);
            let Some(at) = next else { break };
            let line = known.lines.range(..=at).next_back().map(|(_, line)| line);
            match line.map(|line| line.through.unwrap_or(line.planned)).filter(|through| *through >= at) {
                Some(through) => known.covered = through.min(until).max(at),
                None if known.made_up.contains(&at) => known.covered = at,
                None if !known.versions.all_have(self.calendars.iter(), at) => {
                    known.covered = at;
                    self.told.left_out += 1;
                }
                None => return violation("I2", key, format!("{at} is accounted for and not told")),
            }
        }
        let last = known.lines.last_key_value().map(|(_, line)| line.through.unwrap_or(line.planned));
        // What the calendar leaves out by now is of no interest to a row that somebody put.
        let last = last.filter(|last| known.versions.all_have(self.calendars.iter(), *last));
        match last.filter(|last| *last > until && !moved.put && moved.told.is_none_or(|told| *last > told)) {
            Some(last) => violation("I3", key, format!("{last} is told, and the row is at {until}")),
            None => Ok(()),
        }
    }

    /// Each end is followed, or known to be not followed yet.
    fn check_ends(&mut self, key: &TriggerKey) -> Verdict {
        let Some(known) = self.of.get_mut(&(key.job, Box::from(&*key.name))) else { return Ok(()) };
        if known.follows.is_none() {
            return Ok(());
        }
        let (ended, lines, pending) = (known.ended.len(), known.lines.len(), known.pending.len());
        if ended != lines + pending {
            let what =
                format!("{ended} ends, {lines} were followed, {pending} are to be: {:?}", known.pending);
            return violation("after", key, what);
        }
        self.told.follows = self.told.follows.max(lines as u64);
        Ok(())
    }

    /// A run of a moment has its line in the same commit, that of a delivery with a key when it begins, and the run of a delay
    /// is alone.
    fn check_run(&mut self, change: &Change, core: &MemCore) -> Verdict {
        let head = &change.head;
        let Some(fired) = head.fired.as_ref().filter(|fired| fired.backfill.is_none()) else { return Ok(()) };
        let Some(known) = self.of.get(&(head.job, fired.trigger.clone())) else { return Ok(()) };
        let is_delivery =
            matches!(known.trigger.when, When::Webhook { .. }) && head.idempotency_key.is_some();
        let is_due = match is_delivery {
            true => change.after.as_ref().is_some_and(|after| !has_not_begun(after)),
            false => change.before.is_none(),
        };
        if !is_due || known.by_hand.contains(&head.id) {
            return Ok(());
        }
        if known.lines.get(&fired.planned).is_none_or(|line| line.run != Some(head.id)) {
            return fail("I3", head.id, format!("the run of {} has no line", fired.planned));
        }
        if !matches!(known.trigger.when, When::Delay { .. }) {
            return Ok(());
        }
        self.told.delays += 1;
        let beside = core.all_runs().find(|run| {
            let fired = run.head.fired.as_ref().is_some_and(|other| other.trigger == fired.trigger);
            run.head.job == head.job
                && fired
                && run.head.id != head.id
                && !run.status.state.is_terminal()
                && !known.by_hand.contains(&run.head.id)
        });
        match beside {
            Some(run) => fail("delay", head.id, format!("fired beside {}", run.head.id)),
            None => Ok(()),
        }
    }

    /// When all is over, nothing is left to be followed.
    pub(crate) fn check_rest(&self) -> Verdict {
        for ((job, name), known) in &self.of {
            if known.follows.is_some() && !known.pending.is_empty() {
                let key = TriggerKey { job: *job, name: (**name).into() };
                return violation("after", &key, format!("{} ends were not followed", known.pending.len()));
            }
        }
        Ok(())
    }
}

fn has_not_begun(status: &RunStatus) -> bool {
    status.place.is_some_and(|place| place.shelf == Shelf::Arrived)
}
