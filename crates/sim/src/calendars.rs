//! A calendar that changes while triggers heed it, and what they promise: nothing fires at a moment that every version leaves
//! out which an owner may have read last. That what no version leaves out is accounted for is looked at with the ledgers.

use std::collections::BTreeMap;
use std::sync::Arc;

use mainspring_engine::{calendar_news, calendar_news_key};
use mainspring_model::spec::Trigger;
use mainspring_model::{CalendarSpec, Calendars, JobId, JobSpec, Namespace, Timestamp};
use mainspring_store::{Transaction, Write};
use mainspring_store_mem::{Change, MemCore};

use crate::checker::{Verdict, fail};
use crate::jobs::SimJob;
use crate::plan::{BUSY_UNTIL, SECOND};
use crate::rng::Rng;
use crate::timed::Planned;
use crate::written::Written;

/// What it is called, wherever it is heeded.
const NAME: &str = "rests";
/// What it may say: days that are off, and times of every day.
const VERSIONS: [(&[&str], &[&str]); 5] = [
    (&[], &[]),
    (&[], &["00:00-00:01"]),
    (&[], &["00:01-00:02"]),
    (&["1970-01-01"], &[]),
    (&["01-02"], &["12:00-13:00"]),
];
/// What an owner read is no older than this when it fires, on a clock that may be slow, and it looks now and then.
const FRESH: i64 = 12 * SECOND;

/// The calendars that a job names, as a version says.
pub(crate) fn of(spec: &JobSpec, version: usize) -> Calendars {
    let mut names = spec.triggers.iter().flat_map(|trigger| &trigger.calendar);
    match names.any(|name| name.as_str() == NAME) {
        true => named(version),
        false => Calendars::default(),
    }
}

fn named(version: usize) -> Calendars {
    let (off, blackouts) = VERSIONS[version];
    let texts = |texts: &[&str]| texts.iter().map(|text| Box::from(*text)).collect();
    let spec = CalendarSpec { off: texts(off), blackouts: texts(blackouts), ..CalendarSpec::default() };
    let calendar = spec.read().expect("a fixed calendar");
    std::iter::once((NAME.into(), Arc::new(calendar))).collect()
}

/// The moments of a trigger by each version of the calendar, if it heeds one.
#[derive(Debug)]
pub(crate) struct Versions(Vec<Planned>);

impl Versions {
    pub(crate) fn new(sim: &SimJob, trigger: &Trigger) -> Self {
        let count = if trigger.calendar.is_empty() { 0 } else { VERSIONS.len() };
        Self((0..count).filter_map(|n| Planned::new(sim, trigger, &named(n))).collect())
    }

    /// Whether there is a calendar.
    pub(crate) fn are_heeded(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether none of these versions leaves a moment out.
    pub(crate) fn all_have<'a>(&self, mut versions: impl Iterator<Item = &'a usize>, at: Timestamp) -> bool {
        !self.are_heeded() || versions.all(|version| self.0[*version].has(at))
    }

    /// Whether one of these versions does not leave a moment out.
    pub(crate) fn any_has<'a>(&self, mut versions: impl Iterator<Item = &'a usize>, at: Timestamp) -> bool {
        !self.are_heeded() || versions.any(|version| self.0[*version].has(at))
    }
}

/// The calendar: what is going to happen to it, and what has.
#[derive(Debug, Default)]
pub(crate) struct Heeded {
    to_come: Vec<(i64, usize)>,
    /// From when on which version was in force.
    history: Vec<(i64, usize)>,
    places: Vec<Namespace>,
    of: BTreeMap<(JobId, Box<str>), Versions>,
    /// Runs of moments that some version leaves out, and some does not.
    pub judged: u64,
}

impl Heeded {
    pub(crate) fn new(seed: u64, jobs: &[SimJob]) -> Self {
        let mut rng = Rng::new(seed, "calendars");
        let change = |_| (rng.range(2 * SECOND, BUSY_UNTIL), rng.index(VERSIONS.len()));
        let mut to_come: Vec<(i64, usize)> = (0..4).map(change).collect();
        to_come.sort_unstable();
        to_come.truncate(1 + rng.index(4));
        let mut heeded = Self { to_come, history: vec![(0, 0)], ..Self::default() };
        for sim in jobs {
            for trigger in sim.spec.triggers.iter().filter(|trigger| !trigger.calendar.is_empty()) {
                heeded.places.push(sim.job.namespace.clone());
                heeded.of.insert((sim.job.id, trigger.name.as_str().into()), Versions::new(sim, trigger));
            }
        }
        heeded.places.sort_unstable();
        heeded.places.dedup();
        heeded
    }

    /// How often it was changed.
    pub(crate) fn changes(&self) -> u64 {
        self.history.len() as u64 - 1
    }

    /// What is in force.
    pub(crate) fn version(&self) -> usize {
        self.history.last().map_or(0, |(_, version)| *version)
    }

    /// It is changed now, if its time has come: the news of that.
    pub(crate) fn change(
        &mut self,
        now: i64,
        clock: Timestamp,
        core: &MemCore,
    ) -> Option<(usize, Transaction)> {
        let (_, version) = *self.to_come.first().filter(|(at, _)| *at <= now)?;
        self.to_come.remove(0);
        self.history.push((now, version));
        let news = |place: &Namespace| -> Write {
            let (kind, key) = calendar_news_key(place, NAME);
            let standing = core.record(kind, &key).map(|record| record.revision);
            calendar_news(place, NAME, standing, clock)
        };
        Some((version, Transaction::all_or_nothing(self.places.iter().map(news).collect())))
    }

    /// A transaction was done. `decided` is when an owner did so, from what its clock said; what it read may have been on its
    /// way for `late`.
    pub(crate) fn committed(
        &mut self,
        now: i64,
        written: &Written,
        changes: &[Change],
        decided: impl Fn(Timestamp) -> Option<i64>,
        late: i64,
    ) -> Verdict {
        for change in changes.iter().filter(|change| change.before.is_none()) {
            let head = &change.head;
            let Some(fired) = head.fired.as_ref().filter(|fired| fired.backfill.is_none()) else { continue };
            let Some(versions) = self.of.get(&(head.job, fired.trigger.clone())) else { continue };
            let line = written.lines.iter().find(|(_, line)| line.run == Some(head.id));
            let is_by_hand = line.is_some_and(|(_, line)| line.by_hand);
            let Some(at) = decided(head.created_at).filter(|_| !is_by_hand) else { continue };
            let since = at.min(now) - FRESH - late;
            // Each goes until the next.
            let until = self.history.iter().skip(1).map(|(at, _)| *at).chain(std::iter::once(i64::MAX));
            let read = self.history.iter().zip(until).filter(|(_, until)| *until > since);
            let read: Vec<usize> = read.map(|((_, version), _)| *version).collect();
            if !versions.any_has(read.iter(), fired.planned) {
                let what = format!("{} fired, which versions {read:?} leave out", fired.planned);
                return fail("calendar", head.id, what);
            }
            let all = self.history.iter().map(|(_, version)| version);
            self.judged += u64::from(!versions.all_have(all, fired.planned));
        }
        Ok(())
    }
}
