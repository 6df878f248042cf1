//! Which planned moments fire, and which do not and why. Pure: a schedule, how far it got, and now.
//!
//! What it costs depends on the policy, not on how many moments passed (I2): nobody walks through ninety days of seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use mainspring_cron::Schedule;
use mainspring_model::Timestamp;
use mainspring_model::spec::{Misfire, MisfirePolicy, Trigger};

/// Moments that are in time and fire at once; more follow at the next look.
const AT_ONCE_MAX: usize = 100;
/// Moments that are counted; more are "many".
const COUNTED_MAX: u64 = 10_000;

/// Several moments in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// How many; none when they are many.
    pub(super) count: Option<u64>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CatchUp {
    /// They pass.
    pub(super) missed: Option<Stretch>,
    /// They are covered by the first that fires.
    pub(super) merged: Option<Stretch>,
    /// They fire, in this order.
    pub(super) fire: Vec<Timestamp>,
}

/// What is to be done about the moments after `cursor` that are due.
pub(super) fn catch_up(
    trigger: &Trigger,
    schedule: &Schedule,
    seed: u64,
    cursor: Timestamp,
    now: Timestamp,
) -> CatchUp {
    let moments = Moments(schedule);
    let mut plan = CatchUp::default();
    // Whatever the jitter, what is before this is late.
    let late_before = now - Misfire::GRACE - trigger.jitter;
    let mut cursor = cursor;
    if let Some(first) = moments.after(cursor).filter(|first| *first < late_before) {
        let latest = |count| moments.latest(cursor.max(now - trigger.misfire.window), late_before, count);
        let last = moments.latest(cursor, late_before, 1).pop().unwrap_or(first);
        let stretch = |last| moments.stretch(first, last);
        let in_time = moments.due(trigger, seed, last, now, 1);
        match trigger.misfire.policy {
            MisfirePolicy::Skip => plan.missed = stretch(Some(last)),
            MisfirePolicy::Once if !in_time.is_empty() => plan.merged = stretch(Some(last)),
            MisfirePolicy::Once => {
                plan.fire = latest(1);
                match plan.fire.as_slice() {
                    [] => plan.missed = stretch(Some(last)),
                    [one, ..] => plan.merged = stretch(moments.before(first, *one)),
                }
            }
            MisfirePolicy::All => {
                plan.fire = latest(trigger.misfire.max.get() as usize);
                let before = match plan.fire.first() {
                    Some(oldest) => moments.before(first, *oldest),
                    None => Some(last),
                };
                plan.missed = stretch(before);
            }
        }
        cursor = last;
    }
    plan.fire.extend(moments.due(trigger, seed, cursor, now, AT_ONCE_MAX));
    plan
}

impl CatchUp {
    /// How far this gets; none when nothing was due.
    pub(super) fn cursor(&self) -> Option<Timestamp> {
        let stretches = [self.missed, self.merged].into_iter().flatten().map(|stretch| stretch.last);
        stretches.chain(self.fire.last().copied()).max()
    }
}

/// The moments of a schedule.
pub(super) struct Moments<'a>(pub(super) &'a Schedule);

impl Moments<'_> {
    pub(super) fn after(&self, after: Timestamp) -> Option<Timestamp> {
        self.0.next(after.as_micros()).map(Timestamp::from_micros)
    }

    fn iter(&self, after: Timestamp) -> impl Iterator<Item = Timestamp> {
        std::iter::successors(self.after(after), |last| self.after(*last))
    }

    /// Those after `cursor` whose time has come, the oldest first.
    fn due(
        &self,
        trigger: &Trigger,
        seed: u64,
        cursor: Timestamp,
        now: Timestamp,
        max: usize,
    ) -> Vec<Timestamp> {
        self.iter(cursor).take_while(|at| trigger.fires_at(seed, *at) <= now).take(max).collect()
    }

    /// The latest so many after `after` and before `before`, in order.
    fn latest(&self, after: Timestamp, before: Timestamp, count: usize) -> Vec<Timestamp> {
        let mut found = Vec::new();
        let mut before = before;
        while found.len() < count
            && let Some(last) = self.last(after, before)
        {
            found.push(last);
            before = last;
        }
        found.reverse();
        found
    }

    /// The last one after `after` and before `before`. What follows a moment is never earlier than what follows an earlier
    /// one, so it is found by halves, however many are in between.
    pub(super) fn last(&self, after: Timestamp, before: Timestamp) -> Option<Timestamp> {
        let follows = |at: i64| self.after(Timestamp::from_micros(at)).filter(|next| *next < before);
        let mut best = follows(after.as_micros())?;
        let (mut low, mut high) = (best.as_micros(), before.as_micros());
        while low < high {
            let middle = low + (high - low) / 2;
            match follows(middle) {
                Some(next) => (best, low) = (next, next.as_micros().max(middle + 1)),
                None => high = middle,
            }
        }
        Some(best)
    }

    /// The last one from `first` on that is before another; none when there is none.
    fn before(&self, first: Timestamp, other: Timestamp) -> Option<Timestamp> {
        self.latest(first - Duration::from_micros(1), other, 1).pop()
    }

    /// The last one from `first` on, which is one, that is not after another.
    pub(super) fn until(&self, first: Timestamp, last: Timestamp) -> Option<Timestamp> {
        self.before(first, last + Duration::from_micros(1))
    }

    /// The parts of a stretch between moments that have a run, each of which begins where a line began before.
    pub(super) fn parts(
        &self,
        stretch: Stretch,
        kept: &BTreeSet<Timestamp>,
        old: &BTreeMap<Timestamp, u64>,
    ) -> Vec<Stretch> {
        let Stretch { first, last, .. } = stretch;
        let is_planned = |at: &Timestamp| self.after(*at - Duration::from_micros(1)) == Some(*at);
        let mut cuts: Vec<Timestamp> = kept.range(first..=last).copied().collect();
        cuts.extend(old.range(first..=last).map(|(at, _)| *at));
        cuts.retain(is_planned);
        cuts.sort_unstable();
        if cuts.is_empty() {
            return vec![stretch];
        }
        let mut parts = Vec::new();
        let mut begin = Some(first);
        for cut in cuts {
            let Some(at) = begin.filter(|at| *at <= cut) else { continue };
            if at < cut {
                parts.extend(self.stretch(at, self.before(at, cut)));
            }
            begin = if kept.contains(&cut) { self.after(cut) } else { Some(cut) };
        }
        parts.extend(begin.filter(|at| *at <= last).and_then(|at| self.stretch(at, Some(last))));
        parts
    }

    /// From one to another, counted.
    pub(super) fn stretch(&self, first: Timestamp, last: Option<Timestamp>) -> Option<Stretch> {
        let last = last?;
        let count =
            1 + self.iter(first).take_while(|at| *at <= last).take(COUNTED_MAX as usize).count() as u64;
        Some(Stretch { first, last, count: (count <= COUNTED_MAX).then_some(count) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mainspring_model::Calendars;
    use mainspring_model::spec::{self, Format};
    use mainspring_model::time::text;

    fn trigger(rest: &str) -> Trigger {
        let yaml = format!("name: x\nscript: 'true'\ntriggers: [{{{rest}}}]");
        spec::parse(&yaml, Format::Yaml).unwrap().triggers.remove(0)
    }

    fn at(time: &str) -> Timestamp {
        text::parse(&format!("2026-11-{time}Z")).unwrap()
    }

    /// What becomes of the moments between two times, in words.
    fn check(rest: &str, cursor: &str, now: &str, expected: &str) {
        let trigger = trigger(rest);
        let schedule = trigger.schedule(7, Calendars::NONE).unwrap();
        let plan = catch_up(&trigger, &schedule, 7, at(cursor), at(now));
        let short = |at: &Timestamp| text::format(*at)[8..19].to_owned();
        let mut said = Vec::new();
        for (word, stretch) in [("missed", plan.missed), ("merged", plan.merged)] {
            if let Some(Stretch { first, last, count }) = stretch {
                let count = count.map_or("many".to_owned(), |count| count.to_string());
                said.push(format!("{word} {count} {}..{}", short(&first), short(&last)));
            }
        }
        said.extend(plan.fire.iter().map(|at| format!("fire {}", short(at))));
        assert_eq!(said.join(", "), expected, "{rest} from {cursor} at {now}");
    }

    #[test]
    fn what_is_in_time_fires() {
        check("cron: '0 * * * *'", "16T00:00:00", "16T00:59:59", "");
        check("cron: '0 * * * *'", "16T00:00:00", "16T01:00:00", "fire 16T01:00:00");
        check("cron: '0 * * * *', misfire: skip", "16T00:00:00", "16T01:01:00", "fire 16T01:00:00");
        check("every: 20s", "16T00:00:00", "16T00:00:41", "fire 16T00:00:20, fire 16T00:00:40");
    }

    #[test]
    fn what_is_late_goes_by_the_policy() {
        check(
            "cron: '0 * * * *', misfire: skip",
            "16T00:00:00",
            "16T03:30:00",
            "missed 3 16T01:00:00..16T03:00:00",
        );
        check(
            "cron: '0 * * * *'",
            "16T00:00:00",
            "16T03:30:00",
            "merged 2 16T01:00:00..16T02:00:00, fire 16T03:00:00",
        );
        check("cron: '0 * * * *'", "16T00:00:00", "16T01:30:00", "fire 16T01:00:00");
        let all = "cron: '0 * * * *', misfire: {policy: all, window: 2h, max: 9}";
        check(
            all,
            "16T00:00:00",
            "16T04:30:00",
            "missed 2 16T01:00:00..16T02:00:00, fire 16T03:00:00, fire 16T04:00:00",
        );
        let two = "cron: '0 * * * *', misfire: {policy: all, window: 1d, max: 2}";
        check(
            two,
            "16T00:00:00",
            "16T04:30:00",
            "missed 2 16T01:00:00..16T02:00:00, fire 16T03:00:00, fire 16T04:00:00",
        );
        check("cron: '0 3 * * *'", "14T04:00:00", "16T23:30:00", "missed 2 15T03:00:00..16T03:00:00");
    }

    #[test]
    fn what_is_in_time_covers_what_is_late() {
        check(
            "cron: '* * * * *'",
            "16T00:00:00",
            "16T00:05:30",
            "merged 4 16T00:01:00..16T00:04:00, fire 16T00:05:00",
        );
    }

    #[test]
    fn many_cost_what_the_policy_costs() {
        check(
            "cron: '* * * * * *', misfire: skip, until: 2026-11-16T00:00:00Z",
            "01T00:00:00",
            "17T00:00:00",
            "missed many 01T00:00:01..15T23:59:59",
        );
        check(
            "cron: '* * * * * *', until: 2026-11-16T00:00:00Z",
            "01T00:00:00",
            "16T00:30:00",
            "merged many 01T00:00:01..15T23:59:58, fire 15T23:59:59",
        );
    }

    #[test]
    fn every_moment_is_accounted_for_once() {
        for policy in ["skip", "once", "{policy: all, max: 7, window: 3h}"] {
            for jitter in ["0s", "45s", "10m"] {
                let trigger = trigger(&format!("every: 90s, jitter: {jitter}, misfire: {policy}"));
                let schedule = trigger.schedule(7, Calendars::NONE).unwrap();
                let mut cursor = at("16T00:00:00");
                let (mut now, mut seen) = (cursor, cursor);
                for step in [10_u64, 80, 300, 5, 20_000, 60, 61, 59, 100_000, 1, 91] {
                    now = now + Duration::from_secs(step);
                    let plan = catch_up(&trigger, &schedule, 7, cursor, now);
                    let mut moments: Vec<Timestamp> = plan.fire.clone();
                    for stretch in [plan.missed, plan.merged].into_iter().flatten() {
                        moments.extend(
                            Moments(&schedule)
                                .iter(stretch.first - Duration::from_micros(1))
                                .take_while(|at| *at <= stretch.last),
                        );
                    }
                    moments.sort_unstable();
                    for at in moments {
                        assert_eq!(Some(at), Moments(&schedule).after(seen), "{policy} {jitter}");
                        seen = at;
                    }
                    cursor = plan.cursor().unwrap_or(cursor);
                    assert_eq!(cursor, seen);
                }
            }
        }
    }
}
