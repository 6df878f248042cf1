//! Counting: hour by hour over all triggers, so that an answer that is cut has whole hours.

use std::collections::BTreeMap;

use mainspring_cron::Micros;
use mainspring_model::Timestamp;
use mainspring_wire::api::{LoadReport, PoolLoad};

use super::crowd::crowds;
use super::plan::Plan;
use super::{HOUR_S, SECOND_US};

/// Which hours, and how much may be looked at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    /// The second in which the first begins.
    pub(super) from: i64,
    /// How many.
    pub(super) hours: usize,
    /// Moments that may be looked at one by one.
    pub(super) moments_max: usize,
}

/// A trigger on its way through the hours.
pub(super) struct Walk<'a> {
    pub(super) plan: &'a Plan,
    next: Option<Micros>,
    left: u64,
    last: Micros,
}

/// What a pool has to do, hour by hour.
struct Hours {
    firings: Vec<u64>,
    busy_us: Vec<u64>,
}

/// What these triggers plan.
pub(super) fn load(plans: &[Plan], span: Span) -> LoadReport {
    let mut pools: BTreeMap<&str, Hours> = BTreeMap::new();
    for plan in plans {
        pools.entry(&plan.pool).or_insert_with(|| Hours::new(span.hours));
    }
    let mut seconds = vec![0; span.hours * HOUR_S as usize];
    let mut walks: Vec<Walk<'_>> = plans.iter().map(|plan| Walk::new(plan, span)).collect();
    let hours = walk(&mut walks, &mut pools, &mut seconds, span);
    seconds.truncate(hours * HOUR_S as usize);
    for plan in plans {
        if let Some(pool) = pools.get_mut(&*plan.pool) {
            count_interval(plan, pool, &mut seconds, span.from, hours);
        }
    }
    let pools: Vec<PoolLoad> = pools.into_iter().map(|(name, of)| of.report(name, hours)).collect();
    let at = |second: i64| Timestamp::from_micros(second.saturating_mul(SECOND_US)).into();
    LoadReport {
        from: at(span.from),
        until: at(span.from + hours as i64 * HOUR_S),
        truncated: hours < span.hours,
        triggers: plans.len() as u64,
        following: 0,
        firings: pools.iter().flat_map(|pool| &pool.firings).sum(),
        pools,
        crowds: crowds(&walks, &seconds, span.from),
    }
}

/// Looks at the moments of all that must be looked at one by one. Answers how many hours were done.
fn walk(walks: &mut [Walk<'_>], pools: &mut BTreeMap<&str, Hours>, seconds: &mut [u32], span: Span) -> usize {
    let mut looked_at = 0;
    for hour in 0..span.hours {
        let until = (span.from + (hour as i64 + 1) * HOUR_S).saturating_mul(SECOND_US);
        for walk in &mut *walks {
            let Some(pool) = pools.get_mut(&*walk.plan.pool) else { continue };
            while let Some(fires_at) = walk.step(until) {
                looked_at += 1;
                if looked_at > span.moments_max {
                    return hour;
                }
                let second = fires_at.div_euclid(SECOND_US) - span.from;
                // What a jitter brought from before the first hour, or takes beyond the last, is not told.
                let Some(place) = usize::try_from(second).ok().filter(|second| *second < seconds.len())
                else {
                    continue;
                };
                walk.fired(fires_at);
                pool.add(place / HOUR_S as usize, 1, walk.plan.usual_us);
                seconds[place] += u32::from(walk.plan.crowds);
            }
        }
    }
    span.hours
}

/// Counts the firings of an interval without looking at each.
fn count_interval(plan: &Plan, pool: &mut Hours, seconds: &mut [u32], from: i64, hours: usize) {
    let Some(every) = plan.interval() else { return };
    let micros = |hour: usize| (from + hour as i64 * HOUR_S).saturating_mul(SECOND_US);
    for hour in 0..hours {
        if let Some((_, _, count)) = plan.moments(every, micros(hour), micros(hour + 1)) {
            pool.add(hour, count, plan.usual_us);
        }
    }
    if let Some((first, period, count)) = plan.moments(every, micros(0), micros(hours))
        && plan.crowds
    {
        let place = |at: Micros| usize::try_from(at.div_euclid(SECOND_US) - from).ok();
        let (Some(first), Some(step)) = (place(first), usize::try_from(period / SECOND_US).ok()) else {
            return;
        };
        seconds.iter_mut().skip(first).step_by(step).take(count as usize).for_each(|fires| *fires += 1);
    }
}

impl<'a> Walk<'a> {
    fn new(plan: &'a Plan, span: Span) -> Self {
        // What was planned before the first hour may fire in it.
        let jitter = i64::try_from(plan.trigger.jitter.as_micros()).unwrap_or(i64::MAX);
        let from = span.from.saturating_mul(SECOND_US).saturating_sub(jitter);
        let next = match plan.interval() {
            Some(_) => None,
            None => plan.first(from),
        };
        Self { plan, next, left: plan.left, last: Micros::MIN }
    }

    /// When the next moment before `until` fires.
    fn step(&mut self, until: Micros) -> Option<Micros> {
        let planned = self.next.filter(|next| *next < until && self.left > 0)?;
        self.next = self.plan.schedule.next(planned);
        Some(self.plan.fires_at(planned))
    }

    fn fired(&mut self, at: Micros) {
        self.left = self.left.saturating_sub(1);
        self.last = at;
    }

    /// Whether it fires in this second, among others.
    pub(super) fn crowds_in(&self, second: i64) -> bool {
        let from = second.saturating_mul(SECOND_US);
        let is_over = self.left == 0 && self.last < from;
        self.plan.crowds && !is_over && self.plan.first(from).is_some_and(|next| next < from + SECOND_US)
    }
}

impl Hours {
    fn new(hours: usize) -> Self {
        Self { firings: vec![0; hours], busy_us: vec![0; hours] }
    }

    fn add(&mut self, hour: usize, count: u64, usual_us: u64) {
        self.firings[hour] += count;
        self.busy_us[hour] = self.busy_us[hour].saturating_add(count.saturating_mul(usual_us));
    }

    fn report(mut self, pool: &str, hours: usize) -> PoolLoad {
        self.firings.truncate(hours);
        self.busy_us.truncate(hours);
        let busy_ms = self.busy_us.iter().map(|us| us / 1_000).collect();
        PoolLoad { pool: pool.to_owned(), firings: self.firings, busy_ms }
    }
}
