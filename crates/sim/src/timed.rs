//! What triggers promise: each planned moment is one run or one line of the ledger, never two, never early, whoever died in
//! between (I1–I4, I6). The schedule is asked again and compared with the ledger, moment by moment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_engine::{End, Merged, Occurrence, Outcome, TriggerKey, TriggerRow, merge, news_key};
use mainspring_model::spec::{Trigger, When};
use mainspring_model::{
    BackfillId, Calendars, CellId, Job, JobId, JobSpec, JobVersion, RunHead, RunId, Timestamp,
};
use mainspring_store::{Transaction, Write};
use mainspring_store_mem::MemCore;

use crate::calendars;
use crate::checker::{Verdict, Violation, fail};
use crate::jobs::SimJob;

/// Lines read at once: more than there can be.
pub(crate) const LINES_MAX: usize = 10_000;

/// The rows of a job's triggers, as whoever puts the job writes them.
pub(crate) fn rows(sim: &SimJob, cells: u16) -> Vec<Write> {
    let (namespace, job) = (&sim.job.namespace, sim.job.id);
    let cell = CellId::of(namespace, cells);
    let now = Timestamp::ZERO;
    merge(
        &[],
        Merged {
            cell,
            namespace,
            job,
            version: 1,
            spec: Some(&sim.spec),
            now,
            calendars: Calendars::NONE,
            news: None,
            gone: &[],
        },
    )
}

/// A job is put anew, by somebody who reads the rows and writes them: the transaction of that.
pub(crate) fn put(
    core: &MemCore,
    sim: &SimJob,
    (cells, calendar): (u16, usize),
    now: Timestamp,
) -> Option<Transaction> {
    let job = core.job(sim.job.id)?;
    let version = job.current_version + 1;
    let spec = sim.spec_of(version);
    let (namespace, cell) = (&sim.job.namespace, CellId::of(&sim.job.namespace, cells));
    let (kind, key) = news_key(cell, job.id);
    let news = core.record(kind, &key).map(|record| record.revision);
    let calendars = &calendars::of(spec, calendar);
    let page = core.records(&TriggerRow::of_job(cell, job.id)).expect("a page");
    let gone: Vec<_> = page.rows.iter().filter_map(TriggerRow::read_gone).collect();
    let (spec, gone, id) = (Some(&**spec), &*gone, job.id);
    let merged = Merged { cell, namespace, job: id, version, spec, now, calendars, news, gone };
    let row = JobVersion { version, spec: sim.spec_of(version).clone(), ..sim.version() };
    let mut writes = merge(&rows_of(core, sim, cells), merged);
    writes.push(Write::InsertJobVersion(Box::new(row)));
    let (revision, updated_at) = (job.revision + 1, now);
    writes.push(Write::PutJob(Box::new(Job { current_version: version, revision, updated_at, ..job })));
    Some(Transaction::all_or_nothing(writes))
}

/// The moments of a trigger that follows a clock.
pub(crate) struct Planned(Box<dyn Fn(i64) -> Option<i64>>);

impl std::fmt::Debug for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Planned")
    }
}

impl Planned {
    /// None when the trigger follows no clock.
    pub(crate) fn new(sim: &SimJob, trigger: &Trigger, calendars: &Calendars) -> Option<Self> {
        let seed = Trigger::seed(&sim.job.namespace, sim.spec.name.as_str());
        let schedule = trigger.schedule(seed, calendars)?;
        Some(Self(Box::new(move |after| schedule.next(after))))
    }

    pub(crate) fn after(&self, after: Timestamp) -> Option<Timestamp> {
        (self.0)(after.as_micros()).map(Timestamp::from_micros)
    }

    pub(crate) fn has(&self, at: Timestamp) -> bool {
        (self.0)(at.as_micros() - 1) == Some(at.as_micros())
    }

    /// From one to before another.
    pub(crate) fn between(&self, from: Timestamp, until: Timestamp) -> impl Iterator<Item = Timestamp> {
        let first = self.after(from - Duration::from_micros(1));
        std::iter::successors(first, |last| self.after(*last)).take_while(move |at| *at < until)
    }
}

/// Whose moment a run is of, and which backfill made it.
type Moment = (JobId, Box<str>, Timestamp, Option<BackfillId>);

/// Firings that were seen.
#[derive(Debug, Default)]
pub(crate) struct Firings(BTreeMap<Moment, RunId>);

impl Firings {
    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// I1, I4: a run was inserted.
    pub(crate) fn inserted(&mut self, head: &RunHead, spec: &JobSpec) -> Verdict {
        let Some(fired) = &head.fired else { return Ok(()) };
        // What a backfill makes up for had passed when it was asked for, whatever clocks do since; a call has no time of its own.
        let is_planned = fired.backfill.is_none() && !is_call(spec, &fired.trigger);
        if is_planned && head.created_at < fired.planned {
            return fail("I4", head.id, format!("fired at {} for {}", head.created_at, fired.planned));
        }
        let moment = (head.job, fired.trigger.clone(), fired.planned, fired.backfill);
        let earlier = self.0.insert(moment, head.id);
        match earlier.filter(|earlier| *earlier != head.id) {
            Some(earlier) => fail("I1", head.id, format!("{earlier} is of the same moment")),
            None => Ok(()),
        }
    }
}

fn is_call(spec: &JobSpec, name: &str) -> bool {
    let mut triggers = spec.triggers.iter();
    triggers.any(|trigger| trigger.name.as_str() == name && matches!(trigger.when, When::Webhook { .. }))
}

/// A trigger that follows the clock and has not come to its end, or has a backfill that has not.
pub(crate) fn not_over(
    core: &MemCore,
    jobs: &[SimJob],
    cells: u16,
    may_wait: impl Fn(&TriggerRow) -> bool,
) -> Option<TriggerRow> {
    let of = |sim: &SimJob| rows_of(core, sim, cells);
    let is_over = |row: &TriggerRow| {
        let is_silent = row.state.fires_at.is_none()
            || (row.state.delay_us > 0 && row.state.pause.is_some())
            || may_wait(row);
        is_silent && row.state.backfills().iter().all(|one| one.ended_at.is_some())
    };
    jobs.iter().filter(|sim| sim.is_timed()).flat_map(of).find(|row| !is_over(row))
}

/// A trigger whose next moment should have been dealt with before `at`. What is paused waits.
pub(crate) fn late(
    core: &MemCore,
    jobs: &[SimJob],
    cells: u16,
    at: Timestamp,
    may_wait: impl Fn(&TriggerRow) -> bool,
) -> Option<TriggerRow> {
    let runs = |sim: &&SimJob| {
        let is_paused = core.job(sim.job.id).is_none_or(|job| job.pause.is_some());
        sim.is_timed() && !is_paused && core.cell_pause(CellId::of(&sim.job.namespace, cells)).is_none()
    };
    let is_late = |row: &TriggerRow| {
        row.state.fires_at.is_some_and(|due| due < at) && row.state.pause.is_none() && !may_wait(row)
    };
    jobs.iter().filter(runs).flat_map(|sim| rows_of(core, sim, cells)).find(is_late)
}

/// Whether every trigger has come to its end, and followed every end.
pub(crate) fn are_over(
    core: &MemCore,
    jobs: &[SimJob],
    cells: u16,
    may_wait: impl Fn(&TriggerRow) -> bool,
) -> bool {
    if not_over(core, jobs, cells, may_wait).is_some() {
        return false;
    }
    let follow = |sim: &SimJob| CellId::of(&sim.job.namespace, cells);
    let cells: BTreeSet<CellId> = jobs.iter().map(follow).collect();
    let lists = cells.iter().flat_map(|cell| core.records(&End::of_cell(*cell)).expect("a page").rows);
    let keep: BTreeSet<JobId> = jobs.iter().filter(|sim| keeps_ends(sim)).map(|sim| sim.job.id).collect();
    let is_followed = |(key, list): (TriggerKey, Vec<End>)| list.is_empty() || keep.contains(&key.job);
    lists.filter_map(|record| End::read(&record)).all(is_followed)
}

/// Whether a list of ends of it may never be empty: that of a delay that is paused.
fn keeps_ends(sim: &SimJob) -> bool {
    sim.spec.triggers.iter().any(|trigger| matches!(trigger.when, When::Delay { .. }))
}

pub(crate) fn rows_of(core: &MemCore, sim: &SimJob, cells: u16) -> Vec<TriggerRow> {
    let cell = CellId::of(&sim.job.namespace, cells);
    let page = core.records(&TriggerRow::of_job(cell, sim.job.id)).expect("a page");
    page.rows.iter().filter_map(TriggerRow::read).collect()
}

/// I2, I3, I6: when the faults are over, the ledger and the runs say what the schedule says.
pub(crate) fn check(core: &MemCore, jobs: &[SimJob], cells: u16, calendar: usize) -> Verdict {
    for sim in jobs {
        for row in rows_of(core, sim, cells) {
            let found = sim.spec.triggers.iter().find(|trigger| *trigger.name.as_str() == *row.key.name);
            let Some(trigger) = found else { continue };
            check_next(&row, trigger, Planned::new(sim, trigger, &calendars::of(&sim.spec, calendar)))?;
            let page = core.records(&row.key.occurrences(None, LINES_MAX)).expect("a page");
            let mut lines: Vec<Occurrence> = page.rows.iter().filter_map(Occurrence::read).collect();
            lines.reverse();
            check_runs(core, &row.key, &lines)?;
            let is_made_up = |line: &&Occurrence| line.backfill.is_some() && line.run.is_some();
            let made_up = lines.iter().filter(is_made_up).map(|line| line.planned).collect();
            lines.retain(|line| line.backfill.is_none() && !line.by_hand);
            if !trigger.calendar.is_empty() {
                continue; // Which moments there were depends on when somebody looked: that was checked then.
            }
            check_moments((sim, trigger), &row, &lines, &made_up)?;
        }
    }
    Ok(())
}

/// A trigger that has come to its end has no moment left.
fn check_next(row: &TriggerRow, trigger: &Trigger, schedule: Option<Planned>) -> Verdict {
    let is_spent = trigger.count.is_some_and(|count| row.state.fired >= u64::from(count.get()));
    let next = schedule.and_then(|schedule| schedule.after(row.state.cursor));
    match next.filter(|_| !is_spent && row.state.fires_at.is_none()) {
        Some(next) => {
            violation("I2", &row.key, format!("{next} is planned, and nobody looks: {:?}", row.state))
        }
        None => Ok(()),
    }
}

fn violation<T>(invariant: &'static str, key: &TriggerKey, what: String) -> Result<T, Violation> {
    Err(Violation {
        invariant,
        what: format!("{} of {}: {what}", key.name, key.job),
        about: vec![key.job.to_string()],
    })
}

/// Every moment up to the cursor is in the ledger once, in order, and nothing else is. What a backfill made up for may have
/// no other line.
fn check_moments(
    (sim, trigger): (&SimJob, &Trigger),
    row: &TriggerRow,
    lines: &[Occurrence],
    made_up: &BTreeSet<Timestamp>,
) -> Verdict {
    let Some(schedule) = Planned::new(sim, trigger, Calendars::NONE) else { return Ok(()) };
    let next = |after| schedule.after(after);
    // The last one before another that was told.
    let pass = |seen: Timestamp, to: Timestamp| {
        let mut seen = seen;
        while let Some(at) = next(seen).filter(|at| *at < to && made_up.contains(at)) {
            seen = at;
        }
        seen
    };
    let mut seen = Timestamp::ZERO;
    for line in lines {
        seen = pass(seen, line.planned);
        let through = line.through.unwrap_or(line.planned);
        if next(seen) != Some(line.planned) {
            return violation(
                "I2",
                &row.key,
                format!("after {seen} comes {:?}, told is {line:?}", next(seen)),
            );
        }
        let mut count = 0;
        while seen < through {
            match next(seen).filter(|at| *at <= through) {
                Some(at) => (seen, count) = (at, count + 1),
                None => return violation("I6", &row.key, format!("nothing is planned at {through}")),
            }
        }
        if line.count.is_some_and(|told| told != count) {
            return violation("I2", &row.key, format!("{count} moments, told is {line:?}"));
        }
    }
    seen = pass(seen, row.state.cursor + Duration::from_micros(1));
    match next(seen).filter(|next| *next <= row.state.cursor) {
        Some(lost) => violation("I2", &row.key, format!("{lost} is accounted for and not told")),
        None => Ok(()),
    }
}

/// Whatever the ledger says was fired is a run of that moment.
fn check_runs(core: &MemCore, key: &TriggerKey, lines: &[Occurrence]) -> Verdict {
    for line in lines.iter().filter(|line| matches!(line.outcome, Outcome::Fired | Outcome::Skipped)) {
        let run = line.run.and_then(|run| core.run(run));
        let is_right =
            run.and_then(|run| run.head.fired.as_ref()).is_some_and(|fired| fired.planned == line.planned);
        if !is_right {
            return violation("I3", key, format!("{line:?} names no run of its moment"));
        }
    }
    Ok(())
}
