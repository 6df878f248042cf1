//! What backfills promise: each moment of the range has one run of the backfill, or a reason; never are more active than may
//! be, none is made after it was stopped, no moment has two, and the row counts what the ledger says.

use std::collections::{BTreeMap, BTreeSet};

use mainspring_engine::{Backfill, Occurrence, TriggerKey, TriggerRow};
use mainspring_model::{
    BackfillId, BackfillOrder, Calendars, JobId, Reprocess, Run, RunHead, RunId, RunState, Timestamp,
};
use mainspring_store_mem::{Change, MemCore};

use crate::calendars::Versions;
use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;
use crate::timed::{self, Planned};
use crate::written::Written;

/// A backfill, as its row has it, and what was seen of it.
#[derive(Debug)]
struct Known {
    key: TriggerKey,
    row: Backfill,
    lines: BTreeMap<Timestamp, Occurrence>,
    made: BTreeMap<Timestamp, RunId>,
}

/// All backfills.
#[derive(Debug, Default)]
pub(crate) struct Backfills {
    schedules: BTreeMap<(JobId, Box<str>), (Planned, Versions)>,
    /// The versions of the calendar that were in force.
    calendars: BTreeSet<usize>,
    of: BTreeMap<BackfillId, Known>,
}

/// What was seen of them: how many there were and were stopped, their runs, and moments that were left alone.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seen {
    pub begun: u64,
    pub stopped: u64,
    pub made: u64,
    pub left: u64,
}

fn violation<T>(id: BackfillId, key: &TriggerKey, what: String) -> Result<T, Violation> {
    Err(Violation {
        invariant: "backfill",
        what: format!("{id} of {} of {}: {what}", key.name, key.job),
        about: vec![key.job.to_string(), id.to_string()],
    })
}

impl Backfills {
    pub(crate) fn new(jobs: &[SimJob]) -> Self {
        let mut schedules = BTreeMap::new();
        for sim in jobs {
            for trigger in &sim.spec.triggers {
                if let Some(planned) = Planned::new(sim, trigger, Calendars::NONE) {
                    let place = (sim.job.id, trigger.name.as_str().into());
                    schedules.insert(place, (planned, Versions::new(sim, trigger)));
                }
            }
        }
        Self { schedules, calendars: BTreeSet::from([0]), of: BTreeMap::new() }
    }

    /// From now on this version of the calendar is in force.
    pub(crate) fn calendar_changed(&mut self, version: usize) {
        self.calendars.insert(version);
    }

    pub(crate) fn seen(&self) -> Seen {
        let rows = || self.of.values().map(|known| &known.row);
        Seen {
            begun: rows().count() as u64,
            stopped: rows().filter(|row| row.stopped_by.is_some()).count() as u64,
            made: rows().map(|row| row.tally.made).sum(),
            left: rows().map(|row| row.tally.left).sum(),
        }
    }

    /// A transaction was done.
    pub(crate) fn committed(&mut self, written: &Written, changes: &[Change], core: &MemCore) -> Verdict {
        for (key, line) in &written.lines {
            if let Some(id) = line.backfill {
                self.told(id, key, line, core)?;
            }
        }
        for change in changes.iter().filter(|change| change.before.is_none()) {
            if let Some(id) = change.head.fired.as_ref().and_then(|fired| fired.backfill) {
                self.made(id, &change.head, core)?;
            }
        }
        for row in &written.rows {
            for one in row.state.backfills() {
                self.stands(&row.key, one)?;
            }
        }
        Ok(())
    }

    /// A line is about a moment of the range, and says the same as before.
    fn told(&mut self, id: BackfillId, key: &TriggerKey, line: &Occurrence, core: &MemCore) -> Verdict {
        let Some(known) = self.of.get_mut(&id) else {
            return violation(id, key, format!("no row has it, told is {line:?}"));
        };
        let planned = line.planned;
        let is_in = known.row.from <= planned && planned < known.row.until;
        let schedule = self.schedules.get(&(key.job, Box::from(&*key.name)));
        let is_planned = |(schedule, versions): &(Planned, Versions)| {
            schedule.has(planned) && versions.any_has(self.calendars.iter(), planned)
        };
        if !is_in || !schedule.is_some_and(is_planned) {
            return violation(id, key, format!("{planned} is none of its moments"));
        }
        let run = line.run.and_then(|run| core.run(run)).and_then(|run| run.head.fired.as_ref());
        if line.run.is_some() && run.is_none_or(|fired| fired.planned != planned) {
            return violation(id, key, format!("{line:?} names no run of its moment"));
        }
        match known.lines.insert(planned, line.clone()).filter(|before| before.run != line.run) {
            Some(before) => violation(id, key, format!("{planned} is told twice: {before:?} and {line:?}")),
            None => Ok(()),
        }
    }

    /// A run was made.
    fn made(&mut self, id: BackfillId, head: &RunHead, core: &MemCore) -> Verdict {
        let Some(fired) = &head.fired else { return Ok(()) };
        let Some(known) = self.of.get_mut(&id) else {
            return fail("backfill", head.id, format!("is of {id}, which no row has"));
        };
        let planned = fired.planned;
        if known.row.looked_at_all {
            return fail("backfill", head.id, format!("was made after {id} was stopped or done"));
        }
        if known.lines.get(&planned).is_none_or(|line| line.run != Some(head.id)) {
            return fail("I3", head.id, format!("has no line of {id} at {planned}"));
        }
        if let Some(other) = known.made.insert(planned, head.id) {
            return fail("I1", head.id, format!("{id} had {other} made for {planned}"));
        }
        let is_next = match known.row.order {
            BackfillOrder::Oldest => known.row.cursor.is_none_or(|cursor| planned > cursor),
            BackfillOrder::Newest => known.row.cursor.is_none_or(|cursor| planned < cursor),
        };
        if !is_next {
            return fail("backfill", head.id, format!("{planned} is behind {:?}", known.row.cursor));
        }
        let is_of = |run: &&Run| run.head.fired.as_ref().is_some_and(|fired| fired.backfill == Some(id));
        let active = core.all_runs().filter(is_of).filter(|run| !run.status.state.is_terminal()).count();
        if active > known.row.max_active.get() as usize {
            let what = format!("{active} runs of {id} are active, {} may", known.row.max_active);
            return fail("backfill", head.id, what);
        }
        let mut before =
            of_moment(core, head.job, &fired.trigger, planned).filter(|run| run.head.id != head.id);
        let may = |state: RunState| match known.row.reprocess {
            _ if state == RunState::Skipped => true,
            Reprocess::None => false,
            Reprocess::Failed => state == RunState::FinalFailed,
            Reprocess::All => state.is_terminal(),
        };
        let states: Vec<RunState> = before.by_ref().map(|run| run.status.state).collect();
        let is_wanted = states.is_empty() || states.iter().any(|state| may(*state));
        if !is_wanted || states.iter().any(|state| !state.is_terminal()) {
            let what = format!("{planned} had runs that are {states:?}, {id} is {:?}", known.row.reprocess);
            return fail("backfill", head.id, what);
        }
        Ok(())
    }

    /// What a row says of a backfill.
    fn stands(&mut self, key: &TriggerKey, row: &Backfill) -> Verdict {
        let Some(known) = self.of.get_mut(&row.id) else {
            let (lines, made) = Default::default();
            self.of.insert(row.id, Known { key: key.clone(), row: row.clone(), lines, made });
            return Ok(());
        };
        let wish = |one: &Backfill| (one.from, one.until, one.order, one.reprocess, one.max_active);
        if wish(&known.row) != wish(row) {
            return violation(row.id, key, format!("{:?} became {row:?}", known.row));
        }
        if known.row.looked_at_all && !row.looked_at_all
            || known.row.ended_at.is_some() && row.ended_at.is_none()
        {
            return violation(row.id, key, "was over, and goes on".into());
        }
        if row.active.len() > row.max_active.get() as usize {
            return violation(
                row.id,
                key,
                format!("{} are active, {} may", row.active.len(), row.max_active),
            );
        }
        known.row = row.clone();
        Ok(())
    }

    /// Somebody was told that it is begun, or stopped.
    pub(crate) fn answered(&self, id: BackfillId, is_stop: bool) -> Verdict {
        match self.of.get(&id) {
            Some(known) if !is_stop || known.row.looked_at_all => Ok(()),
            Some(known) => violation(id, &known.key, "was answered to be stopped, and goes on".into()),
            None => Err(Violation {
                invariant: "backfill",
                what: format!("{id} was answered and is nowhere"),
                about: vec![id.to_string()],
            }),
        }
    }

    /// When all is over: every moment has a run or a reason.
    pub(crate) fn check_rest(&self, core: &MemCore, jobs: &[SimJob], cells: u16) -> Verdict {
        for (id, known) in &self.of {
            let sim = jobs.iter().find(|sim| sim.job.id == known.key.job);
            let rows = sim.map(|sim| timed::rows_of(core, sim, cells)).unwrap_or_default();
            let is_there = |row: &TriggerRow| row.state.backfills().iter().any(|one| one == &known.row);
            if !rows.iter().any(|row| row.key == known.key && is_there(row)) {
                return violation(*id, &known.key, "is lost".into());
            }
            if known.row.ended_at.is_none() || !known.row.active.is_empty() {
                return violation(*id, &known.key, format!("does not end: {:?}", known.row));
            }
            if let Some(schedule) = self.schedules.get(&(known.key.job, Box::from(&*known.key.name))) {
                check_moments(*id, known, schedule, &self.calendars, core)?;
            }
            check_ends(*id, known, core)?;
        }
        Ok(())
    }
}

/// Each moment that was looked at has its line, or another run that is the reason why not.
fn check_moments(
    id: BackfillId,
    known: &Known,
    (schedule, versions): &(Planned, Versions),
    calendars: &BTreeSet<usize>,
    core: &MemCore,
) -> Verdict {
    let Known { key, row, lines, .. } = known;
    let is_looked_at = |planned: &Timestamp| match (row.stopped_by.is_some(), row.order) {
        (false, _) => true,
        (true, BackfillOrder::Oldest) => row.cursor.is_some_and(|cursor| *planned <= cursor),
        (true, BackfillOrder::Newest) => row.cursor.is_some_and(|cursor| *planned >= cursor),
    };
    let mut left = 0;
    for planned in schedule.between(row.from, row.until).filter(is_looked_at) {
        if lines.contains_key(&planned) || !versions.all_have(calendars.iter(), planned) {
            continue;
        }
        left += 1;
        if of_moment(core, key.job, &key.name, planned).next().is_none() {
            return violation(id, key, format!("{planned} has no run and no reason"));
        }
    }
    let made = lines.values().filter(|line| line.run.is_some()).count() as u64;
    let refused = lines.len() as u64 - made;
    let tally = row.tally;
    // Which moments a calendar left out depends on when somebody looked.
    let left_fits = if versions.are_heeded() { tally.left >= left } else { tally.left == left };
    if (tally.made, tally.refused) != (made, refused) || !left_fits {
        let what = format!("{made} were made, {left} left, {refused} refused, and the row says {tally:?}");
        return violation(id, key, what);
    }
    Ok(())
}

/// The row counts how the runs ended.
fn check_ends(id: BackfillId, known: &Known, core: &MemCore) -> Verdict {
    let tally = known.row.tally;
    let runs = || known.lines.values().filter_map(|line| core.run(line.run?));
    let is_own = |run: &&Run| run.head.fired.as_ref().is_some_and(|fired| fired.backfill == Some(id));
    let count = |state| runs().filter(is_own).filter(|run| run.status.state == state).count() as u64;
    // What another had made already is not heard of.
    let others = runs().filter(|run| !is_own(run)).count() as u64;
    let (succeeded, failed) = (count(RunState::Success), count(RunState::FinalFailed));
    let fits = |told: u64, seen: u64| (seen..=seen + others).contains(&told);
    let is_whole = tally.made == tally.succeeded + tally.failed + tally.other;
    if !is_whole || !fits(tally.succeeded, succeeded) || !fits(tally.failed, failed) {
        let what =
            format!("{succeeded} succeeded, {failed} failed, {others} are of others, the row says {tally:?}");
        return violation(id, &known.key, what);
    }
    if let Some(run) = runs().filter(is_own).find(|run| !run.status.state.is_terminal()) {
        return violation(id, &known.key, format!("is over, and {} is {:?}", run.head.id, run.status.state));
    }
    Ok(())
}

/// The runs of a moment.
fn of_moment<'a>(
    core: &'a MemCore,
    job: JobId,
    trigger: &'a str,
    planned: Timestamp,
) -> impl Iterator<Item = &'a Run> {
    core.all_runs().filter(move |run| {
        let fired = run.head.fired.as_ref();
        run.head.job == job
            && fired.is_some_and(|fired| fired.planned == planned && *fired.trigger == *trigger)
    })
}
